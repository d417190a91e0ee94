"""What a call of a decorated function returns."""

from ..results import ProfileResults

__all__ = ["ProfileResults"]
