"""Small types that scripts name in their calls."""

import enum

__all__ = ["VerbosityLevel", "col_panel", "row_panel"]


class VerbosityLevel(enum.IntEnum):
    """How much a call says; a level includes those below it.

    SILENT: nothing on stdout, and no warnings of the measurement on stderr. INFO: what is run, and
    progress where stdout is a terminal. DEBUG: the plan as well."""

    SILENT = 0
    INFO = 3
    DEBUG = 4


class row_panel:
    """Marks a parameter whose values make the rows of a grid of plots."""


class col_panel:
    """Marks a parameter whose values make the columns of a grid of plots."""
