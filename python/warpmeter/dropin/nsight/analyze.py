from __future__ import annotations

import functools
import inspect
from typing import Any

from warpmeter import analyze as _analyze
from warpmeter._settings import Settings
from warpmeter.analyze import ignore_failures, plot

__all__ = ["ignore_failures", "kernel", "plot"]

_signature = inspect.signature(_analyze.kernel)


@functools.wraps(_analyze.kernel)
def kernel(*args: Any, **given: Any) -> Any:
    """warpmeter's, with what scripts expect: a report of ncu's beside the other files, where
    output_prefix says where those go and ncu is there."""
    bound = _signature.bind(*args, **given)
    bound.apply_defaults()
    arguments = dict(bound.arguments)
    function = arguments.pop("_func")
    if "report" not in given and arguments["output_prefix"] is not None:
        arguments["report"] = "auto"
    return _analyze.decorated(function, Settings(**arguments, nvtx_domain="nsight-python"))
