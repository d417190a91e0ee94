"""What scripts written for nsight-python 1.1 rely on, in one go, on the made-up GPU: alpha lasts
1000 ns, beta 2000, gamma 4000; counters are 1000 of everything for each kernel."""

import contextlib
import functools
import io
import math
import os
import subprocess
import sys
import threading
import warnings

import nsight
import numpy as np
import pandas as pd
from work import gpu, launch

BYTES = "dram__bytes_read.sum"
SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
TIME = "gpu__time_duration.sum"
SILENT = nsight.VerbosityLevel.SILENT

kernel = functools.partial(nsight.analyze.kernel, verbosity=SILENT)


@contextlib.contextmanager
def refused(kind, *words):
    try:
        yield
    except kind as error:
        for word in words:
            assert word in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}")


def warned(function):
    """What a call returns, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function()
    return result, [(each.category, str(each.message)) for each in caught]


def column(frame, name):
    return frame[name].to_list()


# ---- calls ----


def configurations():
    seen = []

    @kernel
    def bare(size):
        seen.append(size)
        launch("alpha")

    @kernel(configs=[(1, "a"), (2, "b")], runs=2)
    def given(first, second, third=3.5, *rest, keyword=None, **more):
        seen.append((first, second, third, rest, keyword, more))
        launch("alpha")

    @kernel()
    def ordered(first, *, second):
        seen.append((first, second))
        launch("alpha")

    thing = object()
    frame = bare(configs=["text", 5, (thing,), None]).to_dataframe()
    assert seen == ["text", 5, thing, None]
    assert column(frame, "size") == seen
    assert column(frame, "Annotation") == ["bare"] * 4

    seen.clear()
    frame = given().to_dataframe()
    assert sorted(seen) == [(1, "a", 3.5, (), None, {})] * 2 + [(2, "b", 3.5, (), None, {})] * 2
    assert column(frame, "third") == [3.5, 3.5]
    assert column(frame, "NumRuns") == [2, 2]

    seen.clear()
    ordered(1, 2)
    ordered(configs=[(3, 4)])
    assert seen == [(1, 2), (3, 4)]

    seen.clear()
    wrong = nsight.exceptions.ProfilerException
    for args, configs in [((1, "a"), None), ((), [(1, "a")])]:
        with refused(wrong):
            given(*args, configs=configs)
    for configs in (None, [], [(1,), (1, 2)], [(1, 2, 3)]):
        with refused(wrong):
            ordered(configs=configs)
    assert not seen


def what_is_returned():
    @kernel(configs=[1, 2], runs=2)
    def returns(n):
        launch("alpha")
        return n

    results, caught = warned(returns)
    assert [category for category, _ in caught] == [RuntimeWarning]
    assert isinstance(results, nsight.collection.core.ProfileResults)


def how_often_it_is_called():
    calls = []

    def function(n):
        calls.append(n)
        with nsight.annotate("region"):
            launch("alpha")

    results = kernel(configs=[1, 2], runs=3, metrics=[BYTES, SM], replay_mode="kernel")(function)()
    assert sorted(calls) == [1] * 3 + [2] * 3
    frame = results.to_dataframe()
    assert column(frame, "Metric") == [BYTES, SM] * 2
    assert column(frame, "AvgValue") == [1000, 50] * 2
    assert column(frame, "Unit") == ["byte", "%"] * 2

    calls.clear()
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        nsight.analyze.kernel(configs=[1, 2], runs=3)(function)()
    assert len(calls) == 6
    assert "more, for passes" not in out.getvalue()
    calls.clear()
    with contextlib.redirect_stdout(out):
        nsight.analyze.kernel(configs=[1], runs=2, metrics=[TIME, SM])(function)()
    assert f"{len(calls) - 2} calls more, for passes that read counters" in out.getvalue()


def failures():
    @kernel(configs=[0, 1], runs=2)
    def fails(n):
        with nsight.analyze.ignore_failures():
            raise OSError("swallowed")
        with nsight.annotate("fragile", ignore_failures=True):
            launch("alpha")
            if n:
                raise RuntimeError("swallowed")
        with nsight.annotate("sound"):
            launch("beta")

    frame = fails().to_dataframe()
    assert column(frame, "Annotation") == ["fragile"] * 2 + ["sound"] * 2
    assert math.isnan(frame["AvgValue"][1])
    assert column(frame.drop(1), "AvgValue") == [1000, 2000, 2000]
    assert column(frame, "NumRuns") == [2, 0, 2, 2]

    @kernel
    def raises(n):
        with nsight.annotate("sound"):
            raise KeyError("mine")

    with refused(KeyError, "mine"):
        raises(1)


def annotations():
    @nsight.annotate("decorated")
    def decorated():
        launch("alpha")
        return "value"

    @kernel(configs=[1], runs=2)
    def function(n):
        assert decorated() == "value"
        with nsight.annotate("outer"):
            launch("beta")
            with refused(ValueError, "Nested annotations are not supported"):
                nsight.annotate("inner").__enter__()
            with refused(ValueError, "Nested"):
                decorated()
        with refused(ValueError, "Annotation name 'outer' has already been used"):
            nsight.annotate("outer").__enter__()
        with nsight.annotate("backward"):
            thread = threading.Thread(target=launch, args=("gamma",))
            thread.start()
            thread.join()

    frame = function().to_dataframe()
    assert column(frame, "Annotation") == ["decorated", "outer", "backward"]
    assert column(frame, "AvgValue") == [1000, 2000, 4000]


def arguments():
    for wrong in (
        {"clock_control": "boost"},
        {"cache_control": "some"},
        {"replay_mode": "application"},
        {"thermal_mode": "manual", "thermal_wait": 20, "thermal_cont": 10},
    ):
        with refused(ValueError):
            nsight.analyze.kernel(**wrong)
    with refused(ValueError):
        nsight.analyze.plot(plot_type="pie")
    with refused(nsight.exceptions.ProfilerException, "no__such.sum", "nor__this.avg"):
        kernel(metrics=["no__such.sum", TIME, "nor__this.avg"])(lambda n: launch("alpha"))(1)

    @kernel(clock_control="base")
    def locked(n):
        launch("alpha")

    results, caught = warned(lambda: locked(1))
    assert [category for category, _ in caught] == [RuntimeWarning]
    (row,) = results.to_dataframe().to_dict("records")
    assert row["AvgValue"] == 1000
    assert "clocks were not held" in row["Note"]


def derived():
    def rate(time, n):
        return n / time

    def function(n):
        with nsight.annotate("region"):
            launch("beta")

    def measure(derive, **more):
        return kernel(configs=[2, 4], runs=2, derive_metric=derive, **more)(function)()

    results, caught = warned(lambda: measure(rate))
    frame = results.to_dataframe()
    assert [category for category, _ in caught] == [UserWarning]
    assert column(frame, "Metric") == [TIME, TIME, "rate", "rate"]
    assert column(frame, "AvgValue") == [2000, 2000, 0.001, 0.002]
    assert column(frame.fillna({"Unit": "none"}), "Unit") == ["ns", "ns", "none", "none"]

    frame = measure(lambda time, n: (n / 2, "apple")).to_dataframe()
    assert column(frame, "Unit") == ["ns", "ns", "apple", "apple"]

    def several(read, time, n):
        return {"Intensity": (n / read, "1"), "Rate": (read / time, "byte/ns")}

    frame = measure(several, metrics=[BYTES, TIME]).to_dataframe()
    assert column(frame, "Metric") == [BYTES, TIME] * 2 + ["Intensity", "Rate"] * 2
    np.testing.assert_allclose(frame["AvgValue"][4:], [0.002, 0.5, 0.004, 0.5])

    with refused(ValueError):
        measure(lambda time: time)


def several_kernels():
    def function(n):
        with nsight.annotate("several"):
            launch("alpha", "gamma", *["beta"] * n)

    def measure(**how):
        return kernel(configs=[0, 1], runs=2, **how)(function)()

    with refused(
        *[RuntimeError, "'several'", "alpha", "gamma", "combine_kernel_metrics"],
        *["ignore_kernel_list", "replay_mode='range'"],
    ):
        measure()
    try:
        measure()
    except RuntimeError as error:
        assert len(error.results.to_dataframe()) == 2

    frame = measure(combine_kernel_metrics=lambda x, y: x + y).to_dataframe()
    assert column(frame, "AvgValue") == [5000, 7000]
    assert column(frame, "Kernel") == ["alpha|gamma", "alpha|gamma|beta"]

    shapes = set()

    def from_the_left(x, y):
        shapes.update([np.shape(x), np.shape(y)])
        return 10 * x + y

    frame = measure(
        combine_kernel_metrics=from_the_left, metrics=[BYTES, TIME], replay_mode="kernel"
    ).to_dataframe()
    assert shapes == {(2,)}
    assert column(frame[frame["Metric"] == BYTES], "AvgValue") == [11_000, 111_000]
    times = column(frame[frame["Metric"] == TIME], "AvgValue")
    assert times == [10 * 1000 + 4000, 10 * (10 * 1000 + 4000) + 2000]

    assert column(measure(combine_kernel_metrics="auto").to_dataframe(), "AvgValue") == [5000, 7000]
    frame = measure(combine_kernel_metrics={TIME: "max"}).to_dataframe()
    assert column(frame, "AvgValue") == [4000, 4000]
    frame = measure(ignore_kernel_list=["alpha", "beta", "gam"]).to_dataframe()
    assert column(frame, "AvgValue") == [4000, 4000]
    frame = measure(replay_mode="range", metrics=[BYTES]).to_dataframe()
    assert column(frame, "AvgValue") == [2000, 3000]
    assert column(frame, "Kernel") == ["range", "range"]


def normalized():
    @kernel(configs=[1, 2], runs=2, normalize_against="base")
    def function(n):
        with nsight.annotate("base"):
            launch("beta")
        with nsight.annotate("other"):
            launch(["alpha", "gamma"][n - 1])

    frame = function().to_dataframe()
    assert column(frame, "AvgValue") == [1, 1, 0.5, 2]
    assert column(frame, "Normalized") == ["base"] * 4
    assert column(frame, "Unit") == [""] * 4
    assert column(frame, "RawAvgValue") == [2000, 2000, 1000, 4000]


def tools():
    assert nsight.get_active_tool() is nsight.Tool.NCU
    with refused(ValueError):
        nsight.activate("ncu")
    assert nsight.collection.ncu.injection_load_error is None
    nsight.deactivate()
    nsight.activate(nsight.Tool.CUPTI)

    @kernel(configs=[1], runs=2)
    def times(n):
        launch("alpha")

    assert column(times().to_dataframe(), "AvgValue") == [1000]
    with refused(ValueError, BYTES):
        kernel(metrics=[BYTES])(lambda n: launch("alpha"))(1)
    nsight.deactivate()
    nsight.activate(nsight.Tool.NCU)


# ---- the frame, files, children ----

COLUMNS = (
    "Annotation Metric size note AvgValue StdDev MinValue MaxValue NumRuns Kernel GPU Host"
    " ComputeClock MemoryClock Unit CI95_Lower CI95_Upper RelativeStdDevPct StableMeasurement"
    " Normalized Geomean"
).split()
RAW = "Annotation Value Metric Kernel GPU Host ComputeClock MemoryClock Unit size note".split()
NUMBERS = (
    "AvgValue StdDev MinValue MaxValue CI95_Lower CI95_Upper RelativeStdDevPct Geomean".split()
)


def frame_and_files():
    folder = os.path.join(os.getcwd(), "made", "here")
    note = {"any": "object"}

    @kernel(
        configs=[(1, note), (2, None)],
        runs=2,
        metrics=[TIME, BYTES],
        output_csv=True,
        output_prefix=folder + os.sep,
    )
    def function(size, note):
        with nsight.annotate("first"):
            launch("alpha")
        with nsight.annotate("second"):
            launch("gamma")

    assert os.path.isdir(folder)
    frame = function().to_dataframe()
    assert list(frame.columns[: len(COLUMNS)]) == COLUMNS
    assert column(frame, "Annotation") == ["first"] * 4 + ["second"] * 4
    assert column(frame, "size") == [1, 1, 2, 2] * 2
    assert column(frame, "Metric") == [TIME, BYTES] * 4
    assert all(each is note for each in frame["note"][frame["size"] == 1])
    assert all(frame[name].dtype == np.float64 for name in NUMBERS)
    assert frame["StableMeasurement"].dtype == "boolean"
    assert column(frame, "AvgValue") == [1000] * 4 + [4000, 1000] * 2
    assert column(frame, "Unit") == ["ns", "byte"] * 4
    assert column(frame, "ComputeClock") == [1_980_000] * 8
    assert column(frame, "Kernel") == ["alpha"] * 4 + ["gamma"] * 4
    assert column(frame, "Normalized") == [False] * 8

    function()
    assert sorted(each for each in os.listdir(folder) if each.endswith(".csv")) == [
        f"{kind}_data-function-{call}.csv" for kind in ("processed", "profiled") for call in (0, 1)
    ]
    newest = sorted(each for each in os.listdir(folder) if each.startswith("profiled"))[-1]
    raw = pd.read_csv(os.path.join(folder, newest))
    assert list(raw.columns) == RAW
    assert len(raw) == 2 * 2 * 2 * 2
    assert raw[raw["Metric"] == TIME].groupby("Annotation")["Value"].mean().to_dict() == {
        "first": 1000,
        "second": 4000,
    }
    processed = pd.read_csv(os.path.join(folder, "processed_data-function-0.csv"))
    assert list(processed.columns) == list(frame.columns)


def collectors():
    @nsight.experimental.collect(scope=nsight.CollectionScope.CONFIG)
    def elements(n):
        return n * n

    def broken():
        raise OSError

    @kernel(
        configs=[2, 4],
        runs=2,
        info_collectors=[
            ("version", lambda: "1.0", "once"),
            elements,
            nsight.InfoCollector("size", lambda n: f"<{n}>", nsight.CollectionScope.RUN),
            ("where", lambda annotation, n: (annotation, n), "annotation"),
            ("broken", broken, "run"),
        ],
    )
    def function(n):
        with nsight.annotate("region"):
            launch("alpha")

    results, caught = warned(function)
    assert [category for category, _ in caught] == [RuntimeWarning]
    frame = results.to_dataframe()
    names = list(frame)
    assert names[names.index("Unit") + 1 : names.index("CI95_Lower")] == [
        "version",
        *[f"elements_{each}" for each in ("Avg", "Std", "Min", "Max")],
        *["size", "where", "broken"],
    ]
    assert column(frame, "elements_Avg") == [4, 16]
    assert column(frame, "where") == [("region", 2), ("region", 4)]
    assert column(frame, "broken") == [None, None]
    for taken in ("n", "Kernel", "version"):
        with refused(nsight.exceptions.ProfilerException, taken):
            kernel(info_collectors=[(taken, broken, "run"), ("version", broken, "run")])(
                lambda n: None
            )


def temperatures():
    for settings in (
        {},
        {"thermal_mode": "off"},
        {"thermal_mode": "manual", "thermal_wait": 5, "thermal_cont": 15},
        {"thermal_wait": 25, "thermal_timeout": 60, "thermal_device": 0},
    ):
        results, caught = warned(lambda s=settings: kernel(**s)(lambda n: launch("alpha"))(1))
        assert caught == []
        assert column(results.to_dataframe(), "AvgValue") == [1000]
    with refused(nsight.exceptions.ThermalControlError, "thermal_device"):
        kernel(thermal_device=9)(lambda n: launch("alpha"))(1)


def children():
    code = "import nsight; print(nsight.__version__, nsight.__file__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{nsight.__version__} {nsight.__file__}\n"


def silence():
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        kernel(configs=[1, 2], runs=2, metrics=[TIME, SM])(lambda n: launch("alpha"))()
    assert out.getvalue() == ""
    with contextlib.redirect_stdout(out):
        nsight.analyze.kernel(verbosity=nsight.VerbosityLevel.DEBUG)(lambda n: launch("alpha"))(1)
    assert out.getvalue().startswith("warpmeter: <lambda>: 1 configuration, 1 run each, cuda\n")
    assert "kernel_time" in out.getvalue()


if __name__ == "__main__":
    sections = [configurations, what_is_returned, how_often_it_is_called, failures, annotations]
    sections += [arguments, derived, several_kernels, normalized, tools]
    sections += [frame_and_files, collectors, temperatures, children, silence]
    for section in sections:
        section()
        print(section.__name__)
    assert gpu.launches > 0
