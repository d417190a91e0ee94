"""Meets the messages that docs/python.md explains and prints them, a line each: exceptions,
warnings, what is said on stdout and stderr, and reasons in frames. The GPU is made up, or not
there."""

import importlib
import os
import sys
import tempfile
import warnings

import warpmeter
from warpmeter import analyze

on_gpu = "WARPMETER_LIBCUDA" in os.environ and "nowhere" not in os.environ["WARPMETER_LIBCUDA"]
launch = importlib.import_module("torch").launch if on_gpu else len
SILENT = warpmeter.VerbosityLevel.SILENT


def meet(action):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = action()
            if isinstance(result, warpmeter.ProfileResults):
                print(*result.to_dataframe()["Reason"], sep="\n")
        except Exception as error:  # noqa: BLE001 - any of them
            print(error)
    for warning in caught:
        print(warning.message)


def region(n):
    with warpmeter.annotate("r"):
        launch("alpha")


def kernel(function=region, **arguments):
    return lambda: analyze.kernel(**{"configs": [1], "verbosity": SILENT} | arguments)(function)()


def outer():
    analyze.kernel(verbosity=SILENT)(print)()


def fails(n):
    with warpmeter.annotate("r", ignore_failures=True):
        raise MemoryError


def several(n):
    with warpmeter.annotate("r"):
        launch("alpha")
        launch("beta")


def nothing(n):
    with warpmeter.annotate("r"):
        pass


def counted():
    with warpmeter.session(metrics="dram__bytes_read.sum"):
        pass


def without_pandas():
    sys.modules["pandas"] = None
    analyze.kernel(verbosity=SILENT)(nothing)(1).to_dataframe()


meet(kernel(verbosity=warpmeter.VerbosityLevel.INFO))
meet(kernel(metrics=["dram__bytes_read.sum"]))
meet(kernel(metrics=["bogus__bytes.sum"]))
meet(kernel(metrics=["dram__bytes_read.sum"], backend="cpu"))
meet(kernel(backend="cuda"))
meet(kernel(several))
meet(kernel(configs=None))
meet(lambda: analyze.kernel(configs=[1])(region)(2))
meet(kernel(configs=[(1,), (1, 2)]))
meet(kernel(configs=[(1, 2)]))
meet(lambda: analyze.kernel(region)(n=1))
meet(kernel(derive_metric=lambda a: a))
meet(kernel(derive_metric=lambda a, n: 1))
meet(kernel(normalize_against="other"))
meet(kernel(outer, configs=None))
meet(kernel(lambda n: n))
meet(kernel(clock_control="base"))
meet(counted)
meet(kernel(nothing))
meet(kernel(fails))
meet(kernel(thermal_mode="manual"))
meet(kernel(thermal_device=9))
meet(kernel(info_collectors=[("name", len, "once")]))
meet(kernel(info_collectors=[("GPU", len, "once")]))
meet(kernel(info_collectors=[("n", len, "once")]))
with tempfile.TemporaryDirectory() as folder:
    meet(kernel(report="ncu", output_prefix=f"{folder}/"))
    os.environ["WORLD_SIZE"] = "2"
    meet(kernel(report="ncu", output_prefix=f"{folder}/"))
meet(lambda: analyze.plot("plot.png")(kernel()))
meet(without_pandas)
