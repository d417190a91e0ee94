"""Where scripts look for what collects. Measuring itself is in the core."""

from . import core, cupti, ncu

__all__ = ["core", "cupti", "ncu"]
