"""warpmeter under the names of nsight-python 1.1, found only under `python -m warpmeter.nsight`.

Everything is warpmeter's own but `annotate`, which is as strict as scripts expect. What
nsight-python keeps to itself (its collectors, its readers of reports, its plots) is not here."""

from warpmeter.info_collector import CollectionScope, InfoCollector
from warpmeter.tools import Tool, activate, deactivate, get_active_tool
from warpmeter.utils import VerbosityLevel, col_panel, row_panel

from . import analyze, collection, exceptions, experimental, info_collector, tools_manager, utils
from .annotation import annotate

__version__ = "1.1.0"
"""The release of nsight-python whose names and meanings these are, since scripts compare it.
warpmeter's own is warpmeter.__version__."""

__all__ = [
    "CollectionScope",
    "InfoCollector",
    "Tool",
    "VerbosityLevel",
    "activate",
    "analyze",
    "annotate",
    "col_panel",
    "collection",
    "deactivate",
    "exceptions",
    "experimental",
    "get_active_tool",
    "info_collector",
    "row_panel",
    "tools_manager",
    "utils",
]
