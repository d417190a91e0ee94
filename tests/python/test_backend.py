"""What measures: the CPU or a made-up GPU, metrics, replay modes, tools; names to import."""

import functools
import importlib
import inspect
import json
import os
import pickle
import subprocess
import sys
import threading

import pytest
from fake_gpu import BYTES, SM, TIME, Gpu, on_gpu
from made_results import made

import warpmeter
from warpmeter import Tool, VerbosityLevel, _core, analyze, annotate, tools
from warpmeter.exceptions import ProfilerException

silent = functools.partial(analyze.kernel, verbosity=VerbosityLevel.SILENT, cache_control="none")


pytestmark = pytest.mark.usefixtures("on_cpu")


@pytest.fixture
def restored():
    """The tool that is active is so again afterwards."""
    before = tools.get_active_tool()
    yield
    tools.deactivate()
    if before is not None:
        tools.activate(before)


def rows(results, *columns):
    frame = results.to_dataframe()
    return list(frame[list(columns)].itertuples(index=False, name=None))


def refused(error=ProfilerException, **given):
    """What is said where a call is refused before the function is called."""
    calls = []
    with pytest.raises(error) as caught:
        silent(**given)(lambda: calls.append(1))()
    assert calls == []
    return str(caught.value)


# ---- without a GPU ----


def test_by_default_the_cpu_is_measured():
    results = silent()(lambda: None)()
    assert rows(results, "Metric", "Unit", "GPU", "Kernel") == [("time", "ns", "", "")]


def test_a_build_without_the_headers_of_cuda_says_so(capsys, monkeypatch):
    def plan(names):
        error = _core.Error(f"unknown metric '{names}'")
        error.status = "WM_ENOTFOUND"
        raise error

    monkeypatch.setattr(_core, "metrics_plan", plan)
    silent(verbosity=VerbosityLevel.INFO)(lambda: None)()
    assert capsys.readouterr().out.startswith(
        "warpmeter: measuring the CPU, as there is no GPU to measure: warpmeter was built without"
        " CUDA's headers: docs/python.md tells how to build with them\n"
    )


def test_cpu_is_said_without_a_reason(capsys):
    silent(backend="cpu", verbosity=VerbosityLevel.INFO)(lambda: None)()
    assert capsys.readouterr().out == "warpmeter: <lambda>: 1 configuration, 1 run each, cpu\n"


def test_cuda_is_refused_with_the_reason():
    for given in ({}, {"metrics": ["time"]}):
        said = refused(backend="cuda", **given)
        assert said.startswith("backend='cuda': there is no GPU to measure: ")
        assert "/nowhere/libcuda.so.1" in said


@pytest.mark.parametrize("metric", [TIME, BYTES, SM, "kernel_time"])
def test_a_metric_of_gpus_is_refused_with_the_reason(metric):
    said = refused(metrics=[metric])
    assert f"'{metric}' is measured on a GPU" in said
    assert "/nowhere/libcuda.so.1" in said


def test_every_metric_that_is_refused_is_named():
    said = refused(metrics=["time", SM, "nobody_knows", BYTES, "nor_this"])
    for name in (SM, "nobody_knows", BYTES, "nor_this"):
        assert f"'{name}'" in said
    assert "'time'" not in said


@pytest.mark.parametrize(
    "name", ["nope", "", " ", "a,b", "a b", "x\0y", "\ud800", "a\nb", "é*?", "%s{}"]
)
def test_unknown_metrics_are_named(name):
    assert repr(name.strip()) in refused(metrics=["time", name])


def test_an_unknown_group_is_named():
    assert "no group of metrics 'none'" in refused(metrics=["time", "group:none"])


def test_very_long_names_are_named_in_part():
    assert "unknown metric 'mmmmmmmm" in refused(metrics=["m" * 100_000])


def test_no_metrics_are_refused():
    assert "metrics is empty" in refused(metrics=[])


def test_metrics_of_the_cpu_and_blanks_around_names():
    results = silent(metrics=[" time ", "time"])(lambda: None)()
    assert rows(results, "Metric") == [("time",)]


def test_a_metric_of_gpus_does_not_go_with_the_cpu():
    for metric in (TIME, BYTES):
        assert repr(metric) in refused(metrics=["time", metric], backend="cpu")


def test_modes_of_replay_do_not_matter_to_the_cpu():
    calls = []
    for mode in ("auto", "kernel", "range"):
        silent(replay_mode=mode, runs=2)(lambda: calls.append(1))()
    assert len(calls) == 6


# ---- with a GPU ----


def launching(gpu, calls):
    def function(n):
        calls.append(n)
        with annotate("region"):
            gpu.launch("gamma")

    return function


@on_gpu()
def test_by_default_times_of_kernels_are_measured():
    gpu, calls = Gpu(), []
    results = silent(configs=[1, 2], runs=3)(launching(gpu, calls))()
    assert (
        rows(results, "Metric", "AvgValue", "NumRuns", "Unit", "Kernel", "GPU")
        == [(TIME, 4000.0, 3, "ns", "gamma", "NVIDIA Fake H200")] * 2
    )
    assert calls == [1, 1, 1, 2, 2, 2]


@on_gpu()
def test_a_time_is_shown_under_the_name_that_was_asked_for():
    gpu = Gpu()
    for metrics in ([TIME], ["kernel_time"], [TIME, "kernel_time"], "time", [BYTES, TIME]):
        results = silent(metrics=metrics, configs=[1])(launching(gpu, []))()
        asked = [metrics] if isinstance(metrics, str) else metrics
        assert [name for (name,) in rows(results, "Metric")] == asked


@on_gpu()
def test_kernels_of_another_thread_belong_to_the_open_region():
    gpu = Gpu()

    def function():
        with annotate("forward"):
            gpu.launch("alpha")
        with annotate("backward"):
            thread = threading.Thread(target=gpu.launch, args=("gamma",))
            thread.start()
            thread.join()

    assert rows(silent()(function)(), "Annotation", "AvgValue", "Kernel") == [
        ("forward", 1000.0, "alpha"),
        ("backward", 4000.0, "gamma"),
    ]
    by_thread = rows(silent(scope="thread")(function)(), "Annotation", "NumRuns", "Status")
    assert by_thread == [("forward", 1, "ok"), ("backward", 0, "missing")]


@on_gpu()
def test_times_and_counters_of_one_pass_add_no_calls():
    gpu = Gpu()
    for metrics in ([TIME], [BYTES]):
        calls = []
        results = silent(metrics=metrics, configs=[1], runs=4)(launching(gpu, calls))()
        assert len(calls) == 4
        assert rows(results, "NumRuns") == [(4,)]


@on_gpu()
def test_modes_of_replay():
    for mode, metrics, most in (
        ("kernel", [SM], 2),
        ("kernel", [TIME, BYTES, SM], 2),
        ("range", [TIME], 2),
        ("auto", [SM], None),
        ("range", [SM], None),
    ):
        gpu, calls = Gpu(), []
        function = silent(metrics=metrics, configs=[1], runs=2, replay_mode=mode)
        results = function(launching(gpu, calls))()
        known = {TIME: 4000.0, BYTES: 1000.0, SM: 50.0}
        shown = "range" if mode == "range" else "gamma"
        assert rows(results, "Metric", "AvgValue", "NumRuns", "Kernel") == [
            (metric, known[metric], 2, shown) for metric in metrics
        ]
        assert len(calls) == most if most else len(calls) > 2


@on_gpu()
def test_one_line_says_how_many_calls_are_added():
    import contextlib
    import io

    gpu, calls = Gpu(), []
    function = silent(metrics=[SM], configs=[1, 2], runs=3, verbosity=VerbosityLevel.INFO)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        function(launching(gpu, calls))()
    added = len(calls) - 2 * 3
    assert added > 0
    assert said.getvalue() == (
        "warpmeter: function: 2 configurations, 3 runs each, cuda;"
        f" {added} calls more, for passes that read counters\n"
    )


@on_gpu()
def test_counters_are_read_in_some_runs_only():
    gpu, calls = Gpu(), []
    results = silent(metrics=[TIME, SM], configs=[1], runs=5, counter_runs=2)(
        launching(gpu, calls)
    )()
    assert rows(results, "Metric", "AvgValue", "NumRuns") == [(TIME, 4000.0, 5), (SM, 50.0, 2)]
    every = []
    silent(metrics=[TIME, SM], configs=[1], runs=5)(launching(gpu, every))()
    assert len(calls) < len(every)


@on_gpu()
def test_caches_are_evicted_unless_they_are_to_be_left():
    gpu = Gpu()
    launched = {}
    for control in ("none", "all"):
        before = gpu.launches
        silent(cache_control=control, configs=[1], runs=3)(launching(gpu, []))()
        launched[control] = gpu.launches - before
    assert launched["none"] == 3
    assert launched["all"] > 3


@on_gpu()
def test_backends_where_there_is_a_gpu():
    gpu, calls = Gpu(), []
    function = launching(gpu, calls)
    assert rows(silent(backend="cuda", configs=[1])(function)(), "Metric") == [(TIME,)]
    assert rows(silent(backend="cpu", configs=[1])(function)(), "Metric") == [("time",)]
    assert rows(silent(metrics="time", configs=[1])(function)(), "Metric") == [("time",)]
    calls.clear()
    with pytest.raises(ProfilerException, match="backend is 'cpu'"):
        silent(metrics=[TIME], backend="cpu", configs=[1])(function)()
    assert calls == []


@on_gpu()
def test_a_function_that_raises_leaves_the_gpu_usable():
    gpu, calls = Gpu(), []

    def function(n):
        calls.append(n)
        with annotate("region"):
            gpu.launch("alpha")
            if n == 2 and len(calls) < 5:
                raise KeyboardInterrupt

    for metrics in ([TIME], [BYTES], [SM], [TIME, SM]):
        calls.clear()
        decorated = silent(metrics=metrics, configs=[1, 2], replay_mode="kernel")(function)
        with pytest.raises(KeyboardInterrupt) as caught:
            decorated()
        assert calls == [1, 2]
        first = rows(caught.value.warpmeter_results, "Annotation", "n", "NumRuns")[0]
        assert first == ("region", 1, 1)
        calls += [0] * 5
        assert rows(decorated(), "NumRuns") == [(1,)] * 2 * len(metrics)


@on_gpu()
def test_a_failure_that_is_ignored_leaves_other_runs_whole():
    gpu, calls = Gpu(), []

    def function():
        calls.append(1)
        with annotate("region", ignore_failures=True):
            gpu.launch("alpha")
            if len(calls) == 2:
                raise ValueError("lost")
        with annotate("other"):
            gpu.launch("beta")

    assert rows(silent(runs=3)(function)(), "Annotation", "AvgValue", "NumRuns") == [
        ("region", 1000.0, 2),
        ("other", 2000.0, 3),
    ]


@on_gpu(FAKE_GPU="subscriber")
def test_a_gpu_that_another_profiler_holds_is_no_reason_to_measure_the_cpu():
    with pytest.raises(ProfilerException):
        silent()(lambda: None)()


# ---- tools ----


def test_activate_and_deactivate(restored):
    assert tools.get_active_tool() is Tool.NCU
    tools.activate(Tool.NCU)
    with pytest.raises(RuntimeError, match="deactivate"):
        tools.activate(Tool.CUPTI)
    tools.deactivate()
    assert tools.get_active_tool() is None
    tools.deactivate()
    tools.activate(Tool.CUPTI)
    assert tools.get_active_tool() is Tool.CUPTI
    with pytest.raises(RuntimeError):
        tools.activate(Tool.NCU)


@pytest.mark.parametrize("other", ["ncu", "NCU", None, 1, Tool])
def test_what_is_no_tool_is_refused(restored, other):
    with pytest.raises(ValueError, match=r"Tool\.NCU or Tool\.CUPTI"):
        tools.activate(other)
    assert tools.get_active_tool() is Tool.NCU


def test_a_call_without_a_tool_activates_one(restored):
    tools.deactivate()
    silent()(lambda: None)()
    assert tools.get_active_tool() is Tool.NCU


def test_with_cupti_only_times_are_measured(restored):
    tools.deactivate()
    tools.activate(Tool.CUPTI)
    for metric in (BYTES, "time", "nope"):
        assert repr(metric) in refused(ValueError, metrics=[metric])
    assert rows(silent()(lambda: None)(), "NumRuns") == [(1,)]


@on_gpu()
def test_with_cupti_caches_are_left_and_calls_are_not_replayed():
    tools.deactivate()
    tools.activate(Tool.CUPTI)
    gpu, calls = Gpu(), []
    for mode in ("auto", "kernel", "range"):
        before = gpu.launches
        results = silent(cache_control="all", replay_mode=mode, configs=[1], runs=2)(
            launching(gpu, calls)
        )()
        assert rows(results, "Metric", "AvgValue", "Kernel") == [(TIME, 4000.0, "gamma")]
        assert gpu.launches - before == 2
    with pytest.raises(ValueError, match=r"dram__bytes_read\.sum"):
        silent(metrics=[TIME, BYTES], configs=[1])(launching(gpu, calls))()
    assert len(calls) == 6


@pytest.mark.parametrize(("value", "tool"), [("0", "None"), ("1", "Tool.NCU"), (None, "Tool.NCU")])
def test_the_environment_may_leave_no_tool_active(value, tool):
    env = {k: v for k, v in os.environ.items() if k != "NSPY_NCU_INIT_AT_IMPORT"}
    env |= {} if value is None else {"NSPY_NCU_INIT_AT_IMPORT": value}
    code = "import warpmeter; print(warpmeter.get_active_tool())"
    ran = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == tool


# ---- names ----


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("warpmeter", warpmeter.__all__),
        ("warpmeter.analyze", ["kernel", "plot", "ignore_failures"]),
        ("warpmeter.collection.core", ["ProfileResults"]),
        ("warpmeter.collection.ncu", ["injection_load_error"]),
        ("warpmeter.collection.cupti", ["CUPTI_AVAILABLE"]),
        ("warpmeter.experimental", ["collect"]),
        ("warpmeter.utils", ["VerbosityLevel", "col_panel", "row_panel"]),
        (
            "warpmeter.exceptions",
            [
                "CoolingTimeoutError",
                "NCUNotAvailableError",
                "ProfilerException",
                "SeveralKernelsError",
                "ThermalControlError",
            ],
        ),
    ],
)
def test_names_that_can_be_imported(module, names):
    loaded = importlib.import_module(module)
    assert [name for name in names if not hasattr(loaded, name)] == []
    assert set(getattr(loaded, "__all__", names)) <= set(dir(loaded))


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'warpmeter' has no attribute 'nothing'"):
        warpmeter.nothing  # noqa: B018


def test_injection_is_never_missing():
    assert warpmeter.collection.ncu.injection_load_error is None


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys, json, warpmeter; warpmeter.annotate; warpmeter.VerbosityLevel;"
        "print(json.dumps([m for m in ('numpy', 'pandas', 'matplotlib') if m in sys.modules]))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == []


def test_levels_of_verbosity():
    assert [(level.name, int(level)) for level in VerbosityLevel] == [
        ("SILENT", 0),
        ("INFO", 3),
        ("DEBUG", 4),
    ]


def test_defaults():
    parameters = inspect.signature(analyze.kernel).parameters
    defaults = {name: p.default for name, p in parameters.items() if name != "_func"}
    expected = {
        "runs": 1,
        "configs": None,
        "metrics": (TIME,),
        "clock_control": "none",
        "cache_control": "all",
        "replay_mode": "auto",
        "thermal_mode": "auto",
        "combine_kernel_metrics": None,
        "output_csv": False,
        "verbosity": VerbosityLevel.INFO,
        "order": "sequential",
        "scope": "process",
        "backend": "auto",
        "warmup": 0,
    }
    assert {name: defaults[name] for name in expected} == expected


def test_several_kernels_are_a_runtime_error_and_cooling_a_thermal_one():
    known = warpmeter.exceptions
    assert issubclass(known.SeveralKernelsError, RuntimeError)
    assert issubclass(known.CoolingTimeoutError, known.ThermalControlError)


def test_several_kernels_can_be_pickled():
    error = warpmeter.exceptions.SeveralKernelsError("a, b", made([{"r": {"s": [1.5]}}]))
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == "a, b"
    assert again.results.table().to_pylist() == error.results.table().to_pylist()


# ---- collectors ----


@pytest.mark.parametrize(
    "scope", [*warpmeter.CollectionScope, "once", "config", "run", "annotation"]
)
def test_collectors_are_marked_and_stay_as_they_are(scope):
    def collector(*args):
        return args

    assert warpmeter.experimental.collect(scope=scope)(collector) is collector
    assert warpmeter.experimental.collect(collector, scope=scope) is collector
    assert collector(1) == (1,)


def test_other_scopes_and_what_is_no_function_are_refused():
    for scope in ("never", None, 1, "ONCE"):
        with pytest.raises(ValueError, match="CollectionScope"):
            warpmeter.experimental.collect(scope=scope)
    with pytest.raises(TypeError, match="marks a function"):
        warpmeter.experimental.collect(5, scope="once")


def test_a_collector_is_given_what_its_scope_says():
    collect = warpmeter.InfoCollector("name", lambda *args: args, warpmeter.CollectionScope.ONCE)
    assert collect.collect(1, 2) == ()
    collect = warpmeter.InfoCollector("name", lambda *args: args, warpmeter.CollectionScope.RUN)
    assert collect.collect(1, 2) == (1, 2)
