"""What is behind the names is warpmeter's own, by each way of importing it."""

import inspect

import nsight
import warpmeter

for name in ["plot", "ignore_failures"]:
    assert getattr(nsight.analyze, name) is getattr(warpmeter.analyze, name)
assert inspect.signature(nsight.analyze.kernel) == inspect.signature(warpmeter.analyze.kernel)
for name in ["Tool", "activate", "deactivate", "get_active_tool", "VerbosityLevel"]:
    assert getattr(nsight, name) is getattr(warpmeter, name)
for name in ["row_panel", "col_panel", "CollectionScope", "InfoCollector"]:
    assert getattr(nsight, name) is getattr(warpmeter, name)
for name in nsight.exceptions.__all__:
    assert getattr(nsight.exceptions, name) is getattr(warpmeter.exceptions, name)
assert nsight.get_active_tool() is nsight.Tool.NCU
assert nsight.experimental.collect is warpmeter.experimental.collect
assert nsight.collection.ncu.injection_load_error is None
assert nsight.collection.cupti.CUPTI_AVAILABLE
assert nsight.collection.core.ProfileResults is warpmeter.ProfileResults
assert warpmeter.collection.ncu.injection_load_error is None

from nsight import analyze, annotate, exceptions
from nsight.collection import core, cupti, ncu
from nsight.exceptions import ProfilerException

assert (analyze, annotate, exceptions) == (nsight.analyze, nsight.annotate, nsight.exceptions)
assert (core, cupti, ncu) == tuple(map(vars(nsight.collection).get, ["core", "cupti", "ncu"]))
assert ProfilerException is warpmeter.exceptions.ProfilerException

everything = {}
exec("from nsight import *", everything)
assert {"analyze", "annotate", "Tool", "VerbosityLevel"} <= everything.keys()
assert set(nsight.__all__) <= everything.keys()
print("done")
