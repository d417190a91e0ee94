from . import core, cupti, ncu

__all__ = ["core", "cupti", "ncu"]
