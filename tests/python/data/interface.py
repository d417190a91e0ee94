"""The public interface of nsight-python 1.1.0: what its documentation names. The script
says "done" with nsight-python itself, too."""

import importlib
import inspect

NAMES = {
    "nsight": [
        *["CollectionScope", "InfoCollector", "Tool", "VerbosityLevel", "__version__", "activate"],
        *["analyze", "annotate", "col_panel", "collection", "deactivate", "exceptions"],
        *["experimental", "get_active_tool", "row_panel", "utils"],
    ],
    "nsight.analyze": ["ignore_failures", "kernel", "plot"],
    "nsight.annotation": ["annotate", "clear_active_annotations"],
    "nsight.collection": ["core", "cupti", "ncu"],
    "nsight.collection.core": ["ProfileResults"],
    "nsight.collection.cupti": ["CUPTI_AVAILABLE"],
    "nsight.collection.ncu": ["injection_load_error"],
    "nsight.exceptions": [
        *["CoolingTimeoutError", "NCUNotAvailableError", "ProfilerException"],
        "ThermalControlError",
    ],
    "nsight.experimental": ["collect"],
    "nsight.info_collector": ["CollectionScope", "InfoCollector"],
    "nsight.tools_manager": ["Tool", "activate", "deactivate", "get_active_tool"],
    "nsight.utils": ["CUDA_CORE_AVAILABLE", "VerbosityLevel", "col_panel", "row_panel"],
}

PARAMETERS = {
    "nsight.analyze.kernel": {
        "_func": None,
        "configs": None,
        "runs": 1,
        "derive_metric": None,
        "normalize_against": None,
        "verbosity": 3,
        "metrics": ["gpu__time_duration.sum"],
        "ignore_kernel_list": None,
        "clock_control": "none",
        "cache_control": "all",
        "replay_mode": ...,
        "thermal_mode": "auto",
        "thermal_wait": None,
        "thermal_cont": None,
        "thermal_timeout": None,
        "thermal_device": None,
        "combine_kernel_metrics": None,
        "output_prefix": None,
        "output_csv": False,
        "info_collectors": None,
    },
    "nsight.analyze.plot": {
        "filename": "plot.png",
        "metric": None,
        "title": "Nsight Analyze Kernel Plot Results",
        "ylabel": None,
        "annotate_points": False,
        "show_aggregate": None,
        "plot_type": "line",
        "plot_width": 6,
        "plot_height": 4,
        "row_panels": None,
        "col_panels": None,
        "x_keys": None,
        "print_data": False,
        "variant_fields": None,
        "variant_annotations": None,
        "plot_callback": None,
    },
    "nsight.annotation.annotate": {"name": ..., "ignore_failures": False},
    "nsight.experimental.collect": {"_func": None, "scope": ...},
    "nsight.info_collector.InfoCollector": {"name": ..., "callback": ..., "scope": ...},
    "nsight.tools_manager.activate": {"tool": ...},
    "nsight.tools_manager.deactivate": {},
    "nsight.tools_manager.get_active_tool": {},
}
"""With their defaults, in order; `...`: none, or another one."""

MEMBERS = {
    "nsight.info_collector.CollectionScope": {
        "ONCE": "once",
        "CONFIG": "config",
        "RUN": "run",
        "ANNOTATION": "annotation",
    },
    "nsight.tools_manager.Tool": {"NCU": "ncu", "CUPTI": "cupti"},
    "nsight.utils.VerbosityLevel": {"SILENT": 0, "INFO": 3, "DEBUG": 4},
}


def found(path):
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def default(parameter):
    value = parameter.default
    return list(value) if isinstance(value, (list, tuple)) else value


for module, names in NAMES.items():
    for name in names:
        assert hasattr(importlib.import_module(module), name), f"{module}.{name}"
for path, expected in PARAMETERS.items():
    parameters = list(inspect.signature(found(path)).parameters.values())
    assert [each.name for each in parameters][: len(expected)] == list(expected), path
    for parameter, value in zip(parameters, expected.values(), strict=False):
        assert value is ... or default(parameter) == value, f"{path}: {parameter}"
    for more in parameters[len(expected) :]:
        assert more.kind is more.KEYWORD_ONLY and more.default is not more.empty, f"{path}: {more}"
for path, expected in MEMBERS.items():
    assert {each.name: each.value for each in found(path)} == expected, path

import nsight

assert nsight.__version__ == "1.1.0"
assert isinstance(nsight.VerbosityLevel.INFO, int)
assert nsight.Tool.CUPTI == "cupti"
assert nsight.annotate is nsight.annotation.annotate
for name in ["Tool", "activate", "deactivate", "get_active_tool"]:
    assert getattr(nsight, name) is getattr(nsight.tools_manager, name)
for name in ["VerbosityLevel", "col_panel", "row_panel"]:
    assert getattr(nsight, name) is getattr(nsight.utils, name)
for name in ["CollectionScope", "InfoCollector"]:
    assert getattr(nsight, name) is getattr(nsight.info_collector, name)
assert issubclass(nsight.exceptions.CoolingTimeoutError, nsight.exceptions.ThermalControlError)
print("done")
