"""Measure kernels from inside the program that runs them.

    import warpmeter

    @warpmeter.analyze.kernel(configs=[512, 1024, 2048], runs=10)
    def matmul(n):
        ...
        with warpmeter.annotate("matmul"):
            a @ b

    print(matmul().to_dataframe())

Importing this package loads nothing else; what is used is loaded when it is used."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import analyze, collection, collectors, exceptions, experimental, utils
    from ._core import (
        __version__,
        add_bytes,
        add_flops,
        add_items,
        annotate,
        record,
        skip,
    )
    from ._session import session
    from .info_collector import CollectionScope, InfoCollector
    from .results import ProfileResults, compare, load
    from .table import Table, doctor, metrics, metrics_plan
    from .tools import Tool, activate, deactivate, get_active_tool
    from .utils import VerbosityLevel, col_panel, row_panel

_MODULES = ("analyze", "collection", "collectors", "exceptions", "experimental", "utils")
_HOMES = {
    "._core": (
        "__version__",
        "add_bytes",
        "add_flops",
        "add_items",
        "annotate",
        "record",
        "skip",
    ),
    "._session": ("session",),
    ".info_collector": ("CollectionScope", "InfoCollector"),
    ".results": ("ProfileResults", "compare", "load"),
    ".table": ("Table", "doctor", "metrics", "metrics_plan"),
    ".tools": ("Tool", "activate", "deactivate", "get_active_tool"),
    ".utils": ("VerbosityLevel", "col_panel", "row_panel"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "CollectionScope",
    "InfoCollector",
    "ProfileResults",
    "Table",
    "Tool",
    "VerbosityLevel",
    "__version__",
    "activate",
    "add_bytes",
    "add_flops",
    "add_items",
    "analyze",
    "annotate",
    "col_panel",
    "collection",
    "collectors",
    "compare",
    "deactivate",
    "doctor",
    "exceptions",
    "experimental",
    "get_active_tool",
    "load",
    "metrics",
    "metrics_plan",
    "record",
    "row_panel",
    "session",
    "skip",
    "utils",
]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
