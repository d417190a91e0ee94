from warpmeter.utils import VerbosityLevel, col_panel, row_panel

__all__ = ["VerbosityLevel", "col_panel", "row_panel"]
