from warpmeter.utils import VerbosityLevel, col_panel, row_panel

CUDA_CORE_AVAILABLE = True
"""Whether annotate(ignore_failures=True) works: here it needs no other package."""

__all__ = ["CUDA_CORE_AVAILABLE", "VerbosityLevel", "col_panel", "row_panel"]
