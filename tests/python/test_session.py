"""warpmeter.session: any stretch of code, without a decorator."""

import contextlib
import ctypes
import gc
import io
import math
import os
import re
import threading

import pytest
from fake_gpu import BYTES, TIME, Gpu, on_gpu

import warpmeter
from warpmeter import _core
from warpmeter.exceptions import ProfilerException

SILENT = warpmeter.VerbosityLevel.SILENT
MINUTE_NS = 60e9


def rows(table, *columns):
    return list(zip(*(table.column(name).to_list() for name in columns), strict=True))


def of_regions(table, *columns):
    """The rows of regions, without those of the whole session."""
    return rows(table.select(filter="region!=session"), *columns)


def measure(session, *regions):
    with session:
        for name in regions:
            with warpmeter.annotate(name):
                pass


def test_each_with_is_a_run():
    s = warpmeter.session(metrics="time", verbosity=SILENT)
    for _ in range(3):
        measure(s, "one", "two")
    frame = s.results.to_dataframe()
    assert list(frame["Annotation"]) == ["one", "two"]
    assert list(frame["Metric"]) == ["time", "time"]
    assert list(frame["Unit"]) == ["ns", "ns"]
    assert list(frame["NumRuns"]) == [3, 3]
    assert frame["AvgValue"].between(0, MINUTE_NS, inclusive="neither").all()
    assert sorted(of_regions(s.samples(), "region", "run")) == [
        (region, run) for region in ("one", "two") for run in range(3)
    ]
    assert s.kernels().num_rows == 0


def test_it_gives_itself():
    with warpmeter.session("mine", metrics="time", verbosity=SILENT) as s:
        assert isinstance(s, warpmeter.session)
        assert _core.active()
    assert not _core.active()
    assert s.name == "mine"


def test_code_without_regions_is_one_region():
    with warpmeter.session("whole", metrics="time", verbosity=SILENT) as s:
        sum(range(1000))
    assert list(s.results.to_dataframe()["Annotation"]) == ["whole"]
    (mean,) = s.results.to_dataframe()["AvgValue"]
    assert 0 < mean < MINUTE_NS


def test_results_do_not_change_afterwards():
    s = warpmeter.session(metrics="time", verbosity=SILENT)
    measure(s, "a")
    first = s.results
    measure(s, "a")
    assert list(first.to_dataframe()["NumRuns"]) == [1]
    assert list(s.results.to_dataframe()["NumRuns"]) == [2]
    assert of_regions(first.samples(), "run") == [(0,)]
    assert of_regions(s.samples(), "run") == [(0,), (1,)]


def test_start_and_stop_are_a_run_too():
    s = warpmeter.session(metrics="time", verbosity=SILENT)
    for _ in range(2):
        s.start()
        with warpmeter.annotate("cell"):
            pass
        s.stop()
    assert list(s.results.to_dataframe()["NumRuns"]) == [2]


def test_regions_of_other_threads():
    def mark():
        with warpmeter.annotate("elsewhere"):
            pass

    with warpmeter.session(metrics="time", verbosity=SILENT) as s, warpmeter.annotate("here"):
        threads = [threading.Thread(target=mark) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert rows(s._core.table(), "region", "entries", "threads") == [
        ("here", 1, 1),
        ("elsewhere", 4, 4),
    ]


def test_by_entry_there_is_a_sample_for_each_entry():
    s = warpmeter.session(metrics="time", by_entry=True, verbosity=SILENT)
    measure(s, "a", "a", "b", "a")
    assert sorted(of_regions(s.samples(), "region")) == [("a",), ("a",), ("a",), ("b",)]


def test_an_exception_goes_on_and_its_run_is_kept():
    s = warpmeter.session(metrics="time", verbosity=SILENT)
    with pytest.raises(LookupError, match="lost"), s, warpmeter.annotate("a"):
        raise LookupError("lost")
    assert not _core.active()
    assert list(s.results.to_dataframe()["NumRuns"]) == [1]
    measure(s, "a")
    assert list(s.results.to_dataframe()["NumRuns"]) == [2]


def test_regions_may_nest_and_repeat():
    with warpmeter.session(metrics="time", verbosity=SILENT) as s:
        for _ in range(2):
            with warpmeter.annotate("outer"), warpmeter.annotate("inner"):
                pass
    assert rows(s._core.table(), "region", "entries") == [("outer", 2), ("outer/inner", 2)]


def test_runs_in_turn_by_several_threads():
    s = warpmeter.session(metrics="time", verbosity=SILENT)
    for _ in range(3):
        thread = threading.Thread(target=measure, args=(s, "a"))
        thread.start()
        thread.join()
    assert rows(s._core.table(), "region", "samples", "threads") == [("a", 3, 1)]


def test_a_region_of_another_thread_that_outlasts_the_run():
    inside, over = threading.Event(), threading.Event()

    def mark():
        with warpmeter.annotate("late"):
            inside.set()
            over.wait(60)

    s = warpmeter.session(metrics="time", verbosity=SILENT)
    thread = threading.Thread(target=mark)
    with s, warpmeter.annotate("in time"):
        thread.start()
        assert inside.wait(60)
    over.set()
    thread.join()
    measure(s, "in time")
    by_name = {row["Annotation"]: row for row in s.results.to_dataframe().to_dict("records")}
    assert by_name["in time"]["NumRuns"] == 2
    assert by_name["late"]["NumRuns"] == 0
    assert math.isnan(by_name["late"]["AvgValue"])
    assert by_name["late"]["Reason"] != ""


def test_results_are_read_while_it_runs():
    s = warpmeter.session(metrics="time", verbosity=SILENT)
    measure(s, "a")
    with s, warpmeter.annotate("a"):
        assert list(s.results.to_dataframe()["NumRuns"]) == [1]
    assert list(s.results.to_dataframe()["NumRuns"]) == [2]


def test_an_annotation_may_swallow_what_fails():
    s = warpmeter.session(metrics="time", verbosity=SILENT)
    for fails in (True, False):
        with s, warpmeter.annotate("a", ignore_failures=True):
            if fails:
                raise LookupError("lost")
    assert [(run, value is None) for run, value in of_regions(s.samples(), "run", "value")] == [
        (0, True),
        (1, False),
    ]
    assert list(s.results.to_dataframe()["NumRuns"]) == [1]


def test_a_keyboard_interrupt_ends_the_run():
    s = warpmeter.session(metrics="time", verbosity=SILENT)
    with pytest.raises(KeyboardInterrupt), s:
        raise KeyboardInterrupt
    assert not _core.active()
    measure(s, "a")


def in_child(function):
    """What the function returns, a text, in a child of fork."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writer, function().encode())
        except (RuntimeError, ProfilerException) as error:
            os.write(writer, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.usefixtures("on_cpu")
class TestFork:
    def test_the_child_has_no_part_in_the_session(self):
        s = warpmeter.session(metrics="time", verbosity=SILENT)
        refused = "RuntimeError: the session belongs to the process that this one was forked from"
        assert in_child(s.start) == refused
        with s, warpmeter.annotate("a"):
            assert in_child(s.stop) == refused
            assert in_child(lambda: str(s.results)) == refused
        assert list(s.results.to_dataframe()["NumRuns"]) == [1]

    def test_after_the_first_run_children_cannot_measure(self):
        def own():
            with warpmeter.session(metrics="time", verbosity=SILENT):
                return "measured"

        s = warpmeter.session(metrics="time", verbosity=SILENT)
        measure(s, "a")
        said = in_child(own)
        assert said.startswith("ProfilerException: ")
        assert "this is a forked child" in said
        measure(s, "a")
        assert list(s.results.to_dataframe()["NumRuns"]) == [2]

    def test_what_was_measured_before_stays_readable(self):
        s = warpmeter.session(metrics="time", verbosity=SILENT)
        measure(s, "a")
        results = s.results
        assert in_child(lambda: str(results.to_dataframe()["NumRuns"][0])) == "1"


@pytest.mark.usefixtures("on_cpu")
class TestMetrics:
    def test_without_a_gpu_it_says_that_times_are_the_hosts(self, capsys):
        s = warpmeter.session()
        out = capsys.readouterr().out
        assert s.metrics == ("time",)
        assert out.startswith("warpmeter: times of the host, since there is no GPU to measure: ")
        assert "/nowhere/libcuda.so.1" in out
        assert out.count("\n") == 1

    def test_silent_says_nothing(self, capsys):
        s = warpmeter.session(verbosity=SILENT)
        measure(s, "a")
        s.results.to_dataframe()
        assert s.metrics == ("time",)
        assert capsys.readouterr() == ("", "")

    @pytest.mark.parametrize("name", ["kernel_time", "gpu__time_duration.sum", "dram__bytes.sum"])
    def test_a_gpus_metric_is_refused_with_the_reason(self, name):
        with pytest.raises(ProfilerException, match=f"^'{name}' is measured on a GPU: .*nowhere"):
            warpmeter.session(metrics=["time", name])

    @pytest.mark.parametrize("name", ["bogus", "Time"])
    def test_an_unknown_metric_is_named(self, name):
        with pytest.raises(ProfilerException, match=f"^unknown metric '{name}'"):
            warpmeter.session(metrics=name)

    @pytest.mark.parametrize("name", ["time,time_sum", ""])
    def test_one_name_is_one_metric(self, name):
        with pytest.raises(
            ProfilerException, match="a name is not empty, printable and has no comma"
        ) as e:
            warpmeter.session(metrics=[name])
        assert repr(name) in str(e.value)

    def test_none_at_all(self):
        with pytest.raises(ProfilerException, match=r"^metrics is empty: give one name or more$"):
            warpmeter.session(metrics=[])

    def test_no_text(self):
        with pytest.raises(TypeError, match=r"^metrics holds 5: only texts are accepted$"):
            warpmeter.session(metrics=[5])

    def test_several_in_the_order_asked_for(self):
        s = warpmeter.session(metrics=["time_sum", "time", "time_sum"], verbosity=SILENT)
        measure(s, "a")
        assert s.metrics == ("time_sum", "time")
        assert list(s.results.to_dataframe()["Metric"]) == ["time_sum", "time"]


class TestOneAtATime:
    def test_nested_sessions(self):
        inner = warpmeter.session(metrics="time", verbosity=SILENT)
        with warpmeter.session(metrics="time", verbosity=SILENT) as outer:
            with pytest.raises(ProfilerException, match=r"^a session is active already in this"):
                inner.start()
            with warpmeter.annotate("a"):
                pass
        assert list(outer.results.to_dataframe()["Annotation"]) == ["a"]
        measure(inner, "b")
        assert list(inner.results.to_dataframe()["Annotation"]) == ["b"]

    def test_the_same_one_nested(self):
        with warpmeter.session(metrics="time", verbosity=SILENT) as s:
            with pytest.raises(ProfilerException, match=r"^the session is running already$"):
                s.start()
            assert _core.active()

    def test_stopped_without_a_start(self):
        s = warpmeter.session(metrics="time", verbosity=SILENT)
        with pytest.raises(ProfilerException, match=r"^the session is not running$"):
            s.stop()

    def test_a_decorated_function_within(self):
        @warpmeter.analyze.kernel(metrics=["time"], verbosity=SILENT)
        def function():
            pass

        with (
            warpmeter.session(metrics="time", verbosity=SILENT),
            pytest.raises(ProfilerException, match="another measurement is under way"),
        ):
            function()

    def test_within_a_decorated_function(self):
        @warpmeter.analyze.kernel(metrics=["time"], cache_control="none", verbosity=SILENT)
        def function():
            with pytest.raises(ProfilerException, match=r"^a session is active already"):
                s.start()

        s = warpmeter.session(metrics="time", verbosity=SILENT)
        assert list(function().to_dataframe()["NumRuns"]) == [1]
        measure(s, "a")

    def test_one_that_is_forgotten_while_it_runs(self):
        s = warpmeter.session(metrics="time", verbosity=SILENT)
        s.start()
        del s
        gc.collect()
        assert not _core.active()


def test_without_a_run_there_are_no_rows():
    s = warpmeter.session(metrics="time", verbosity=SILENT)
    assert s.results.to_dataframe().empty
    assert (s.samples().num_rows, s.kernels().num_rows) == (0, 0)


@on_gpu()
def test_times_of_kernels():
    gpu = Gpu()
    s = warpmeter.session(verbosity=SILENT)
    assert s.metrics == ("kernel_time", "time")
    for _ in range(4):
        with s:
            with warpmeter.annotate("one"):
                gpu.launch("alpha")
            with warpmeter.annotate("two"):
                gpu.launch("alpha", "gamma")
    frame = s.results.to_dataframe()
    assert list(frame["Annotation"]) == ["one", "one", "two", "two"]
    assert list(frame["Metric"]) == ["kernel_time", "time"] * 2
    times = frame[frame["Metric"] == "kernel_time"]
    assert list(times["AvgValue"]) == list(times["MaxValue"]) == [1000, 5000]
    assert s.kernels().column("kernel").to_list() == ["alpha", "alpha", "gamma"] * 4
    assert s.kernels().column("region").to_list() == ["one", "two", "two"] * 4


@on_gpu()
def test_the_first_launch_of_a_kernel_counts():
    gpu = Gpu()
    with warpmeter.session(metrics="kernel_time", verbosity=SILENT) as s, warpmeter.annotate("one"):
        gpu.launch("alpha")
    assert s.kernels().column("first").to_list() == [True]
    (row,) = s.results.to_dataframe().to_dict("records")
    assert (row["AvgValue"], row["NumRuns"], row["Reason"]) == (1000, 1, "")


@on_gpu()
def test_by_entry_without_records():
    gpu = Gpu()
    s = warpmeter.session(metrics=TIME, keep_records=False, by_entry=True, verbosity=SILENT)
    with s:
        for _ in range(5):
            with warpmeter.annotate("one"):
                gpu.launch("beta")
    (row,) = s.results.to_dataframe().to_dict("records")
    assert (row["Metric"], row["AvgValue"], row["NumRuns"]) == (TIME, 2000, 5)
    assert s.kernels().num_rows == 0


@on_gpu()
def test_kernels_of_a_thread_that_marks_nothing():
    gpu = Gpu()
    gpu.launch("alpha")
    s = warpmeter.session(metrics=TIME, verbosity=SILENT)
    for _ in range(2):
        with s, warpmeter.annotate("backward"):
            thread = threading.Thread(target=gpu.launch, args=("beta",))
            thread.start()
            thread.join()
    (row,) = s.results.to_dataframe().to_dict("records")
    assert (row["Annotation"], row["AvgValue"], row["Kernel"]) == ("backward", 2000, "beta")


@on_gpu()
def test_counters_need_a_decorated_function():
    for metrics, message in [
        (BYTES, f"'{BYTES}' takes further runs of the code"),
        (["kernel_time", BYTES], f"'kernel_time' and '{BYTES}' cannot be read in one pass"),
    ]:
        s = warpmeter.session(metrics=metrics, verbosity=SILENT)
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            s.start()
        assert not _core.active()


def test_warnings_go_to_stderr(capsys, monkeypatch):
    monkeypatch.setattr(_core, "Session", lambda **options: options["log"])
    log = warpmeter.session(metrics="time")._core
    log(1, "the clock is coarse")
    log(2, "for information")
    assert capsys.readouterr() == ("", "warpmeter: warning: the clock is coarse\n")


CELLS = [
    "import warpmeter",
    "s = warpmeter.session(metrics='time')",
    "s.start()\nwith warpmeter.annotate('first'):\n    total = sum(range(1000))",
    "for _ in range(2):\n    with warpmeter.annotate('second'):\n        total += 1",
    "s.stop()",
    "s.results",
    "with s, warpmeter.annotate('first'):\n    raise LookupError('lost')",
    "frame = s.results.to_dataframe()",
]


@pytest.mark.usefixtures("on_cpu")
def test_cells_of_a_notebook(capsys):
    ipython = pytest.importorskip("IPython.core.interactiveshell")
    shell = ipython.InteractiveShell()
    done = [shell.run_cell(cell) for cell in CELLS]
    assert [type(each.error_in_exec) for each in done if not each.success] == [LookupError]
    shown = done[5].result
    assert shown.to_dataframe()[["Annotation", "NumRuns"]].values.tolist() == [
        ["first", 1],
        ["second", 1],
    ]
    html = shell.display_formatter.format(shown)[0]["text/html"]
    assert all(each in html for each in ("<table", "first", "second"))
    frame = shell.user_ns["frame"].set_index("Annotation")
    assert frame["NumRuns"].to_dict() == {"first": 2, "second": 1}
    assert shell.user_ns["total"] == sum(range(1000)) + 2
    assert not _core.active()
    assert "Traceback" in capsys.readouterr().out


# ---- beside other profilers, such as PyTorch's: CUPTI has one subscriber and one taker of records


@on_gpu(FAKE_GPU="subscriber")
def test_a_profiler_that_came_first():
    for asked in (None, TIME, ["time", TIME]):
        with pytest.raises(ProfilerException, match="another profiler is in this process") as e:
            warpmeter.session(metrics=asked, verbosity=SILENT)
        assert "PyTorch's profiler" in str(e.value)
        assert "or measure before it begins" in str(e.value)
    s = warpmeter.session(metrics="time", verbosity=SILENT)
    measure(s, "a")
    assert list(s.results.to_dataframe()["NumRuns"]) == [1]

    @warpmeter.analyze.kernel(verbosity=SILENT)
    def function():
        raise AssertionError("it was called")

    with pytest.raises(ProfilerException, match="another profiler is in this process"):
        function()


def _launch_in_runs(gpu, s, runs):
    for _ in range(runs):
        with s, warpmeter.annotate("one"):
            gpu.launch("alpha")


def _launched_twice(verbosity=SILENT):
    """A session with two runs of a kernel, of which the first is its first launch."""
    gpu, s = Gpu(), warpmeter.session(metrics=TIME, verbosity=verbosity)
    _launch_in_runs(gpu, s, 2)
    return gpu, s


def _of_last_run(s):
    return of_regions(s.samples(), "run", "value", "reason")[-1]


@on_gpu()
def test_a_profiler_that_comes_later_gets_no_subscription_and_changes_nothing():
    gpu, s = _launched_twice()
    gpu._fake.fake_other_subscriber(True)
    _launch_in_runs(gpu, s, 1)
    assert _of_last_run(s) == (2, 1000, None)


@on_gpu()
def test_a_profiler_that_takes_the_records_is_told_of():
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        gpu, s = _launched_twice(warpmeter.VerbosityLevel.INFO)
        assert "another profiler" not in err.getvalue()
        gpu._fake.fake_foreign_buffer(ctypes.c_size_t(1 << 16))
        gpu._fake.fake_no_records(True)
        _launch_in_runs(gpu, s, 1)
        gpu._fake.fake_no_records(False)
        _launch_in_runs(gpu, s, 1)
        frame = s.results.to_dataframe()
    assert "warpmeter: warning: another profiler in this process (PyTorch's" in err.getvalue()
    assert of_regions(s.samples(), "run", "value", "reason") == [
        (0, 1000, None),
        (1, 1000, None),
        (2, None, "no-record"),
        (3, 1000, None),
    ]
    assert frame[["AvgValue", "NumRuns", "Status"]].values.tolist() == [[1000, 3, "ok"]]
    assert "another profiler" in str(s.results)
    gpu._fake.fake_foreign_untouched.restype = ctypes.c_bool
    assert gpu._fake.fake_foreign_untouched()


@on_gpu()
def test_without_records_there_is_a_reason():
    gpu, s = Gpu(), warpmeter.session(metrics=TIME, verbosity=SILENT)
    gpu._fake.fake_no_records(True)
    _launch_in_runs(gpu, s, 2)
    (row,) = s.results.to_dataframe().to_dict("records")
    assert (math.isnan(row["AvgValue"]), row["NumRuns"], row["Status"]) == (True, 0, "missing")
    assert row["Reason"] == "a launch was seen but no record of it came"
    assert _of_last_run(s) == (1, None, "no-record")


@on_gpu()
def test_a_lost_record_costs_its_run():
    gpu, s = _launched_twice()
    gpu._fake.fake_drop_records(ctypes.c_size_t(1))
    _launch_in_runs(gpu, s, 1)
    assert _of_last_run(s) == (2, None, "no-record")
    _launch_in_runs(gpu, s, 1)
    assert _of_last_run(s) == (3, 1000, None)


# ---- metrics that a session does not read ----


def test_groups_take_a_decorated_function(on_cpu):
    with pytest.raises(ProfilerException, match="'group:quick' is a group"):
        warpmeter.session(metrics="group:quick")


@pytest.mark.parametrize("metrics", [" ", ["time", "\t"]])
def test_empty_names_are_none(metrics, on_cpu):
    with pytest.raises(ProfilerException, match="unknown metric ''"):
        warpmeter.session(metrics=metrics)


def test_names_may_have_spaces_around(on_cpu):
    with warpmeter.session(metrics=" time ", verbosity=SILENT) as s:
        pass
    assert list(s.results.to_dataframe()["Metric"]) == ["time"]
