"""Decorated functions on the CPU: calls, runs, regions, failures, warnings, files."""

import contextlib
import functools
import gc
import io
import os
import pickle
import subprocess
import sys
import threading
import warnings

import numpy as np
import pandas as pd
import pytest

import warpmeter
from warpmeter import VerbosityLevel, _core, analyze, annotate
from warpmeter._state import STATE
from warpmeter.exceptions import ProfilerException

pytestmark = pytest.mark.usefixtures("on_cpu")

SILENT, INFO, DEBUG = VerbosityLevel.SILENT, VerbosityLevel.INFO, VerbosityLevel.DEBUG
cpu = functools.partial(analyze.kernel, backend="cpu", verbosity=SILENT, cache_control="none")


@pytest.fixture
def calls():
    return []


@pytest.fixture
def record(calls):
    """A function that notes what it is called with, and marks a region."""

    def function(n):
        calls.append(n)
        with annotate("region"):
            pass

    return function


def rows(results, *columns):
    frame = results.to_dataframe()
    return list(frame[list(columns)].itertuples(index=False, name=None))


# ---- decorating and calling ----


def test_with_and_without_parentheses(calls):
    @analyze.kernel
    def bare():
        calls.append("bare")

    @analyze.kernel()
    def parentheses():
        calls.append("parentheses")

    for function in (bare, parentheses):
        assert len(function().to_dataframe()) == 1
    assert calls == ["bare", "parentheses"]


def test_the_decorated_function_looks_like_the_function():
    @analyze.kernel
    def function(n):
        """What it does."""

    assert (function.__name__, function.__doc__) == ("function", "What it does.")
    assert function.__wrapped__(1) is None


def test_configurations_at_the_decorator_the_call_or_as_arguments(record, calls):
    cpu(configs=[1, 2])(record)()
    cpu()(record)(configs=[3])
    cpu()(record)(4)
    assert calls == [1, 2, 3, 4]


def test_configurations_in_two_places_or_none(record, calls):
    for call in (
        lambda: cpu(configs=[1])(record)(configs=[2]),
        lambda: cpu(configs=[1])(record)(2),
        lambda: cpu()(record)(2, configs=[1]),
        lambda: cpu()(record)(),
        lambda: cpu(configs=[])(record)(),
        lambda: cpu(configs=[(1, 2)])(record)(),
    ):
        with pytest.raises(ProfilerException):
            call()
    assert calls == []


def test_keyword_arguments_are_refused(record, calls):
    with pytest.raises(ProfilerException, match="keyword arguments are not accepted: n"):
        cpu()(record)(n=1)
    assert calls == []


def test_configurations_of_an_iterator_serve_every_call(record, calls):
    function = cpu(configs=iter([1, 2]))(record)
    function()
    function()
    assert calls == [1, 2, 1, 2]


def test_values_are_bound_by_every_kind_of_parameter(calls):
    @cpu(configs=[(1, "x", 3.5), (2, "y", 4.5)])
    def function(a, /, b, *rest, c, d=9, **more):
        calls.append((a, b, rest, c, d, more))

    results = function()
    assert calls == [(1, "x", (), 3.5, 9, {}), (2, "y", (), 4.5, 9, {})]
    assert rows(results, "a", "b", "c", "d") == [(1, "x", 3.5, 9), (2, "y", 4.5, 9)]


def test_methods_lambdas_partial_functions_and_objects(calls):
    class Thing:
        def method(self, n):
            calls.append(("method", n))

        @staticmethod
        @cpu(configs=[5])
        def static(n):
            calls.append(("static", n))

        @cpu
        def decorated(self, n):
            calls.append(("decorated", n))

        def __call__(self, n):
            calls.append(("object", n))

    def both(a, b):
        calls.append((a, b))

    thing = Thing()
    found = [
        cpu(configs=[1])(thing.method)(),
        Thing.static(),
        thing.decorated(6),
        cpu(configs=[2])(thing)(),
        cpu(configs=["partial"])(functools.partial(both, b=3))(),
        cpu(configs=[4])(lambda n: calls.append(("lambda", n)))(),
    ]
    assert calls == [
        ("method", 1),
        ("static", 5),
        ("decorated", 6),
        ("object", 2),
        ("partial", 3),
        ("lambda", 4),
    ]
    named = [rows(results, "Annotation")[0][0] for results in found]
    assert named == ["method", "static", "decorated", "Thing", "both", "<lambda>"]


def test_configurations_keep_the_objects(calls):
    values = [None, {"a": 1}, [1, 2], object(), np.arange(3), float("nan"), 10**30, len, {1}, b"b"]
    results = cpu(configs=[(v,) for v in values])(lambda n: calls.append(n))()
    assert all(got is value for got, value in zip(calls, values, strict=True))
    shown = results.to_dataframe()["n"]
    assert all(got is value for got, value in zip(shown, values, strict=True))


def test_equal_configurations_have_rows_of_their_own(record, calls):
    results = cpu(configs=[7, 7, "a", "a", 7], runs=2)(record)()
    assert rows(results, "n", "NumRuns") == [(7, 2), (7, 2), ("a", 2), ("a", 2), (7, 2)]
    assert calls == [7, 7, 7, 7, "a", "a", "a", "a", 7, 7]
    assert "repeat" not in results.to_dataframe()


def test_a_thousand_configurations(record, calls):
    results = cpu(configs=range(1000))(record)()
    assert calls == list(range(1000))
    assert rows(results, "n", "Annotation") == [(i, "region") for i in range(1000)]


@pytest.mark.parametrize(
    "name", ["metric", "region", "mean", "run", "status", "config_key", "repeat", "runs", "größe"]
)
def test_parameters_may_have_any_name(name):
    scope = {}
    exec(f"def function({name}): pass", scope)
    results = cpu(configs=[3, 3])(scope["function"])()
    assert rows(results, name) == [(3,), (3,)]


# ---- how often, and in which order ----


@pytest.mark.parametrize(
    ("order", "expected"),
    [("sequential", [1, 1, 2, 2]), ("interleaved", [1, 2, 1, 2])],
)
def test_order(record, calls, order, expected):
    cpu(configs=[1, 2], runs=2, order=order)(record)()
    assert calls == expected


def test_random_order_is_each_configuration_as_often(record, calls):
    cpu(configs=range(20), runs=5, order="random")(record)()
    assert sorted(calls) == sorted([*range(20)] * 5)
    assert calls != sorted(calls)


def test_warm_ups_are_calls_that_are_not_measured(record, calls):
    results = cpu(configs=[1, 2], runs=3, warmup=2)(record)()
    assert calls == [1] * 5 + [2] * 5
    assert rows(results, "NumRuns") == [(3,), (3,)]
    samples = results.samples().to_dataframe()
    assert list(samples["run"][samples["region"] == "region"]) == [0, 1, 2] * 2


def test_runs_are_found_by_rules(record, calls):
    results = cpu(configs=[1], max_noise=1, target_ci=1, runs=12)(record)()
    assert 12 <= len(calls)
    assert rows(results, "NumRuns") == [(len(calls),)]


def test_runs_are_found_from_ten_on(record, calls):
    cpu(configs=[1], min_time=1e-9)(record)()
    assert len(calls) >= 10


def test_min_time_adds_up(record, calls):
    results = cpu(configs=[1], min_time=0.002, runs=2)(record)()
    frame = results.to_dataframe()
    assert frame["AvgValue"][0] * frame["NumRuns"][0] >= 2e6
    assert len(calls) == frame["NumRuns"][0]


# ---- regions ----


def test_regions_that_come_and_go(calls):
    @cpu(configs=[1, 2, 3], runs=4)
    def function(n):
        calls.append(n)
        with annotate("always"):
            pass
        if n == 2:
            with annotate("two"):
                pass
        if len(calls) % 2:
            with annotate("odd"):
                pass

    assert rows(function(), "Annotation", "n", "NumRuns", "Status") == [
        ("always", 1, 4, "ok"),
        ("always", 2, 4, "ok"),
        ("always", 3, 4, "ok"),
        ("odd", 1, 2, "ok"),
        ("odd", 2, 2, "ok"),
        ("odd", 3, 2, "ok"),
        ("two", 2, 4, "ok"),
    ]


def test_recursion_in_a_region():
    @annotate("depth")
    def down(n):
        if n:
            down(n - 1)

    results = cpu(configs=[3])(lambda n: down(n))()
    assert [name for (name,) in rows(results, "Annotation")] == [
        "depth",
        "depth/depth",
        "depth/depth/depth",
        "depth/depth/depth/depth",
    ]


def test_a_region_of_another_thread():
    def work():
        with annotate("there"):
            pass

    def function():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    assert rows(cpu()(function)(), "Annotation", "NumRuns") == [("there", 1)]


def test_a_call_from_another_thread(record):
    found = []
    thread = threading.Thread(target=lambda: found.append(cpu(configs=[1], runs=2)(record)()))
    thread.start()
    thread.join()
    assert rows(found[0], "n", "NumRuns") == [(1, 2)]


# ---- failures ----


class Stop(BaseException):
    __slots__ = ()


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit, Stop])
def test_what_the_function_raises_is_raised_and_the_next_call_works(calls, error):
    def function(n):
        calls.append(n)
        with annotate("region"):
            if n == 2 and len(calls) < 6:
                raise error("here")

    decorated = cpu(configs=[1, 2, 3], runs=2)(function)
    before = cpu(configs=[1], runs=2)(function)()
    kept = before.to_dataframe()
    with pytest.raises(error, match="here") as caught:
        decorated()
    assert calls == [1, 1, 1, 1, 2]
    assert caught.traceback[-1].name == "function"
    if error is not Stop:
        so_far = rows(caught.value.warpmeter_results, "Annotation", "n", "NumRuns")
        assert ("region", 1, 2) in so_far
    pd.testing.assert_frame_equal(before.to_dataframe(), kept)
    calls += [0, 0]
    assert rows(decorated(), "n", "NumRuns") == [(1, 2), (2, 2), (3, 2)]


def test_what_the_function_raises_can_be_pickled_with_what_was_measured():
    @cpu(configs=[1])
    def function(n):
        raise LookupError("mine")

    with pytest.raises(LookupError) as caught:
        function()
    error = pickle.loads(pickle.dumps(caught.value))
    assert (type(error), error.args) == (LookupError, ("mine",))
    assert rows(error.warpmeter_results, "Status", "n") == [("failed", 1)]


def test_an_error_of_the_core_raised_by_the_function_is_not_taken_for_its_own():
    error = warpmeter._core.Error("mine")

    def function():
        raise error

    with pytest.raises(warpmeter._core.Error) as caught:
        cpu()(function)()
    assert caught.value is error


def test_a_failure_that_is_ignored_leaves_a_run_without_value(calls):
    @cpu(configs=[1, 2], runs=3)
    def function(n):
        calls.append(n)
        with annotate("region", ignore_failures=True):
            if n == 2 and len(calls) % 2:
                raise ValueError("lost")
        with annotate("other"):
            pass

    results = function()
    assert rows(results, "Annotation", "n", "NumRuns") == [
        ("region", 1, 3),
        ("region", 2, 2),
        ("other", 1, 3),
        ("other", 2, 3),
    ]


def test_only_exceptions_are_ignored():
    @cpu
    def function():
        with annotate("region", ignore_failures=True):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        function()


def test_failures_of_every_run_leave_a_row_that_says_so():
    @cpu(runs=2)
    def function():
        with annotate("region", ignore_failures=True):
            raise ValueError("lost")

    frame = function().to_dataframe()
    assert list(frame["Annotation"]) == ["region"]
    assert frame["AvgValue"].isna().all()
    assert list(frame["NumRuns"]) == [0]
    assert frame["Reason"][0] != ""


def test_ignore_failures_swallows_exceptions_of_its_block(record, calls):
    @cpu(configs=[1])
    def function(n):
        with analyze.ignore_failures():
            raise ValueError("preparing")
        record(n)

    assert rows(function(), "Annotation", "NumRuns") == [("region", 1)]
    assert calls == [1]
    with pytest.raises(KeyboardInterrupt), analyze.ignore_failures():
        raise KeyboardInterrupt


def test_a_decorated_call_within_another_is_refused(record):
    inner = cpu(configs=[1])(record)

    def function():
        inner()

    with pytest.raises(ProfilerException, match="another measurement is under way"):
        cpu()(function)()
    assert rows(inner(), "n") == [(1,)]


def test_a_decorated_function_that_calls_itself_is_refused():
    @cpu(configs=[1])
    def function(n):
        function(configs=[n - 1])

    with pytest.raises(ProfilerException):
        function()


def test_a_refused_call_within_another_leaves_that_as_it_was(calls):
    @cpu(runs=2)
    def function():
        with annotate("before"):
            pass
        with pytest.raises(ProfilerException):
            cpu()(lambda: None)()
        with annotate("after"):
            pass

    assert rows(function(), "Annotation", "NumRuns") == [("before", 2), ("after", 2)]


def test_a_call_while_another_thread_measures_is_refused(record):
    refusals = []

    def try_it():
        try:
            cpu(configs=[1])(record)()
        except ProfilerException as error:
            refusals.append(str(error))

    def function():
        thread = threading.Thread(target=try_it)
        thread.start()
        thread.join()

    assert rows(cpu()(function)(), "Annotation") == [("function",)]
    assert "record" not in refusals[0]
    assert len(refusals) == 1
    assert "another measurement is under way" in refusals[0]


def test_a_call_in_a_session_is_refused(record):
    with (
        warpmeter.session(metrics="time", verbosity=SILENT),
        pytest.raises(ProfilerException, match="under way"),
    ):
        cpu(configs=[1])(record)()


# ---- warnings ----


def warned(function):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function()
    return [(w.category, str(w.message), w.filename) for w in found]


def test_what_the_function_returns_is_dropped_with_one_warning():
    ((category, text, file),) = warned(cpu(configs=[1, 2], runs=3)(lambda n: n))
    assert category is RuntimeWarning
    assert "<lambda> returned something" in text
    assert file == __file__


def test_defaults_warn_of_nothing():
    assert warned(cpu(runs=2)(lambda: None)) == []


@pytest.mark.parametrize("clock", ["base", 1.41e9])
def test_clocks_that_cannot_be_held_are_told_of_once_and_in_the_rows(clock, capfd):
    found = []
    ((category, text, file),) = warned(
        lambda: found.append(cpu(clock_control=clock, configs=[1, 2])(lambda n: None)())
    )
    assert (category, file) == (RuntimeWarning, __file__)
    assert text.startswith(f"clock_control={clock!r}: clocks were free to change")
    assert all("clocks were not held: " in note for (note,) in rows(found[0], "Note"))
    assert [run for (run,) in rows(found[0], "NumRuns")] == [1, 1]
    assert found[0].to_dataframe()["ClockRequested"].isna().all()
    assert rows(cpu()(lambda: None)(), "Note") == [("",)]
    assert "not held" not in capfd.readouterr().err


def test_the_state_is_in_the_frame_where_it_was_asked_for(record):
    def state(**arguments):
        frame = cpu(configs=[1], **arguments)(record)().to_dataframe()
        return [name for name in frame if name.startswith(("GPU", "CPU", "Throttled"))]

    assert state() == state(state="off") == state(state="auto") == ["GPU"]
    assert state(state="on") == ["GPU", *STATE, "Throttled"]


def test_raw_values_have_the_state_behind_the_parameters(tmp_path, record):
    cpu(configs=[1], state="on", output_csv=True, output_prefix=f"{tmp_path}/")(record)()
    with open(tmp_path / "profiled_data-function-0.csv", encoding="utf-8") as file:
        names = file.readline().strip().split(",")
    assert names[names.index("n") :] == ["n", *STATE]


def test_what_fails_without_an_exception_is_told_of_in_the_rows():
    def function(n):
        warpmeter.record("time", n)

    results = cpu(configs=[1])(function)()
    ((status, reason),) = rows(results, "Status", "Reason")
    assert status == "failed"
    assert reason.startswith("record takes a name of its own")


# ---- what is said ----


def said(capsys, function):
    capsys.readouterr()
    function()
    return capsys.readouterr().out


def test_silence_is_silent(capsys, record, tmp_path):
    function = analyze.kernel(
        configs=[1],
        verbosity=SILENT,
        cache_control="none",
        output_csv=True,
        output_prefix=f"{tmp_path}/",
        clock_control="base",
        derive_metric=lambda time, n: time,
        min_time=1e-9,
    )(record)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert said(capsys, function) == ""
    assert len(list(tmp_path.iterdir())) == 2


def test_one_line_says_what_runs(capsys, record):
    function = cpu(configs=[1, 2], runs=3, verbosity=INFO)(record)
    assert said(capsys, function) == "warpmeter: function: 2 configurations, 3 runs each, cpu\n"


def test_one_line_says_that_the_cpu_is_measured_and_why(record):
    code = (
        "import warpmeter\n"
        "@warpmeter.analyze.kernel\n"
        "def function(): pass\n"
        "print(len(function().to_dataframe()))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "WARPMETER_LIBCUDA": "/nowhere/libcuda.so.1"},
        capture_output=True,
        text=True,
        check=True,
    )
    first, second, third = ran.stdout.splitlines()
    assert first.startswith("warpmeter: measuring the CPU, as there is no GPU to measure: ")
    assert "/nowhere/libcuda.so.1" in first
    assert (second, third) == ("warpmeter: function: 1 configuration, 1 run each, cpu", "1")


def test_debug_shows_the_plan(capsys, record):
    out = said(capsys, cpu(configs=[1], verbosity=DEBUG)(record))
    assert len(out.splitlines()) > 1
    assert "time" in out


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Bare:
    """As little as print() needs."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text


def test_a_terminal_sees_the_progress_of_calls_and_a_clean_line_at_the_end(record):
    with contextlib.redirect_stdout(Terminal()) as terminal:
        cpu(configs=[1, 2], verbosity=INFO)(record)()
    assert "call 1 of 2: n=1" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


@pytest.mark.parametrize("stdout", [None, Bare()])
def test_stdout_may_be_nothing_or_anything(monkeypatch, record, calls, stdout):
    monkeypatch.setattr(sys, "stdout", stdout)
    cpu(configs=[1], verbosity=INFO)(record)()
    assert calls == [1]


# ---- memory ----


def sessions():
    return sum(type(each) is _core.Session for each in gc.get_objects())


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_the_session_of_a_call_does_not_wait_for_the_collector(no_collector, record):
    before = sessions()
    cpu(configs=[1, 2], derive_metric=lambda t, n: (t, "ns"))(record)()
    assert sessions() == before


def test_the_session_of_a_call_that_failed_goes_with_the_error(no_collector):
    def function(n):
        raise LookupError

    before = sessions()
    with contextlib.suppress(LookupError):
        cpu(configs=[1, 2])(function)()
    assert sessions() == before


# ---- files ----


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_files_are_numbered_by_calls_of_each_decorated_function(tmp_path, record):
    prefix = f"{tmp_path}/run/"
    first = cpu(configs=[1], runs=3, output_csv=True, output_prefix=prefix)(record)
    other = cpu(output_csv=True, output_prefix=prefix)(lambda: None)
    first()
    first()
    other()
    assert names(tmp_path / "run") == [
        "processed_data-<lambda>-0.csv",
        "processed_data-function-0.csv",
        "processed_data-function-1.csv",
        "profiled_data-<lambda>-0.csv",
        "profiled_data-function-0.csv",
        "profiled_data-function-1.csv",
    ]
    assert len(pd.read_csv(tmp_path / "run/profiled_data-function-1.csv")) == 3


def test_a_prefix_that_is_no_folder_begins_the_names(tmp_path, record):
    cpu(configs=[1], output_csv=True, output_prefix=tmp_path / "mine_")(record)()
    assert names(tmp_path) == [
        "mine_processed_data-function-0.csv",
        "mine_profiled_data-function-0.csv",
    ]


def test_without_a_prefix_files_are_in_a_new_folder(capsys, monkeypatch, tmp_path, record):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    function = cpu(configs=[1], output_csv=True, verbosity=INFO)(record)
    out = said(capsys, function)
    (folder,) = tmp_path.iterdir()
    assert names(folder) == ["processed_data-function-0.csv", "profiled_data-function-0.csv"]
    for name in names(folder):
        assert str(folder / name) in out


def test_no_files_without_output_csv(tmp_path, record):
    cpu(configs=[1], output_prefix=f"{tmp_path}/")(record)()
    assert names(tmp_path) == []


def test_a_call_that_fails_writes_nothing_and_has_no_number(tmp_path, calls):
    @cpu(configs=[1], output_csv=True, output_prefix=f"{tmp_path}/")
    def function(n):
        calls.append(n)
        if len(calls) == 1:
            raise ValueError("once")

    with pytest.raises(ValueError, match="once"):
        function()
    assert names(tmp_path) == []
    function()
    assert names(tmp_path) == ["processed_data-function-0.csv", "profiled_data-function-0.csv"]
