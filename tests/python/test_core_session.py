"""_core.Session: runs between start and stop, their options, and who may call when."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import weakref

import pytest

from warpmeter import _core

pytestmark = pytest.mark.usefixtures("on_cpu")


def rows(table, *columns):
    return list(zip(*(table.column(name).to_list() for name in columns), strict=True))


def of_regions(table, *columns):
    return rows(table.select(filter="region!=session"), *columns)


def one_run(session, *names):
    session.start()
    for name in names:
        with _core.annotate(name):
            pass
    session.stop()


def test_each_pair_is_a_run():
    session = _core.Session()
    for _ in range(3):
        one_run(session, "a", "b")
    assert rows(session.table(), "region", "metric", "samples", "status") == [
        ("a", "time", 3, "ok"),
        ("b", "time", 3, "ok"),
    ]
    assert sorted(of_regions(session.samples(), "region", "run")) == [
        (name, run) for name in "ab" for run in range(3)
    ]
    assert session.kernels().num_rows == 0
    assert [session.table().kind, session.samples().kind, session.kernels().kind] == [
        "results",
        "samples",
        "kernels",
    ]


def test_its_name():
    session = _core.Session(name="training")
    one_run(session)
    assert rows(session.table(), "benchmark", "region") == [("training", "training")]


def test_by_entry():
    for by_entry, samples in ((False, 1), (True, 3)):
        session = _core.Session(by_entry=by_entry)
        one_run(session, "a", "a", "a")
        assert of_regions(session.table(), "region", "samples", "entries") == [("a", samples, 3)]


def test_metrics():
    session = _core.Session(metrics="cpu_time")
    one_run(session)
    assert session.table().column("metric").to_list() == ["cpu_time"]


def test_metrics_of_several_passes_need_a_sweep():
    session = _core.Session(metrics="time,cpu_time")
    with pytest.raises(ValueError, match="one pass"):
        session.start()
    assert not _core.active()


def test_unknown_metrics_are_found_at_the_start():
    session = _core.Session(metrics="no_such_metric")
    with pytest.raises(_core.Error, match="no_such_metric") as caught:
        session.start()
    assert caught.value.status == "WM_ENOTFOUND"
    assert not _core.active()


def test_ring_marks():
    session = _core.Session(ring_marks=4)
    one_run(session, *["a"] * 10)
    # 22 marks with those of the whole run; 4 have room
    assert set(rows(session.table(), "status", "reason")) == {
        ("error", "18 marks were dropped because a ring was full")
    }


def test_start_and_stop_in_turn():
    session = _core.Session()
    with pytest.raises(_core.Error) as caught:
        session.stop()
    assert caught.value.status == "WM_ESTATE"
    session.start()
    with pytest.raises(_core.Error) as caught:
        session.start()
    assert caught.value.status in ("WM_ESTATE", "WM_EBUSY")
    session.stop()
    assert session.table().column("samples").to_list() == [1]


def test_one_is_active_at_a_time():
    first, second = _core.Session(), _core.Session()
    first.start()
    with pytest.raises(_core.Error) as caught:
        second.start()
    assert caught.value.status == "WM_EBUSY"
    first.stop()
    one_run(second)
    assert second.table().column("samples").to_list() == [1]


def test_one_that_is_dropped_stops():
    session = _core.Session()
    session.start()
    assert _core.active()
    del session
    assert not _core.active()


def test_tables_outlive_it():
    session = _core.Session()
    one_run(session, "a")
    table = session.table()
    one_run(session, "a")
    del session
    gc.collect()
    assert rows(table, "region", "samples") == [("a", 1)]


def test_a_pair_belongs_to_one_thread():
    session = _core.Session()
    thread = threading.Thread(target=session.start)
    thread.start()
    thread.join()
    assert _core.active()
    session.stop()
    assert rows(session.table(), "status", "reason") == [
        ("error", "2 begins or ends have no partner")
    ]
    thread = threading.Thread(target=one_run, args=(session, "a"))
    thread.start()
    thread.join()
    assert of_regions(session.table(), "region", "status", "samples") == [("a", "ok", 1)]


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"unknown": 1}, TypeError),
        ({"name": 1}, TypeError),
        ({"name": None}, TypeError),
        ({"metrics": None}, TypeError),
        ({"log": 3}, TypeError),
        ({"ring_marks": "4"}, TypeError),
        ({"ring_marks": -1}, ValueError),
        ({"ring_marks": 2**62}, ValueError),
        ({"name": "a\0b"}, ValueError),
        ({"metrics": "\ud800"}, ValueError),
    ],
)
def test_wrong_options(keywords, error):
    with pytest.raises(error):
        _core.Session(**keywords)


def test_options_have_names():
    with pytest.raises(TypeError):
        _core.Session("name")


# ---- log ----


def swept(session, function, *options):
    sweep = _core.Sweep(session, "f", ["--warmup", "0", "--runs", "2", *options])
    sweep.run(function, [()])


def test_the_state_is_read_or_not():
    for state in (None, "auto", "on", "off"):
        _core.Session(state=state, nvtx_domain="mine").start()
    with pytest.raises(ValueError, match="sometimes"):
        _core.Session(state="sometimes")


def test_log():
    lines = []
    session = _core.Session(log=lambda level, line: lines.append((level, line)))
    swept(session, lambda: _core.skip("too small"))
    assert (2, "f skipped: too small") in lines
    with pytest.raises(ValueError, match="bad"):
        swept(session, lambda: int("bad"), "--axis", "n=1")
    (error,) = [line for level, line in lines if level == 0]
    assert error.startswith("f n=1 failed: ValueError: invalid literal")
    assert {type(level) for level, _ in lines} == {int}
    assert not any("\n" in line for _, line in lines)


def test_what_log_raises_is_unraisable(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda about: seen.append(about.exc_type))

    def log(level, line):
        raise LookupError

    session = _core.Session(log=log)
    swept(session, lambda: None)
    assert set(seen) == {LookupError}
    assert session.table().column("status").to_list() == ["ok"]


def test_an_interrupt_of_the_log_comes_when_the_core_has_returned(monkeypatch):
    seen, lines = [], []
    monkeypatch.setattr(sys, "unraisablehook", seen.append)

    def log(level, line):
        lines.append(line)
        if len(lines) == 1:
            signal.raise_signal(signal.SIGINT)

    session = _core.Session(log=log)
    with pytest.raises(KeyboardInterrupt):
        swept(session, lambda: None)
    assert seen == []
    assert not _core.active()


def test_log_leaves_the_exception_at_hand_alone():
    session = _core.Session(log=lambda level, line: [][:level])
    with pytest.raises(ZeroDivisionError):
        swept(session, lambda: 1 / 0)


def test_log_may_not_call_the_session(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda about: seen.append(about.exc_type))
    session = _core.Session(log=lambda level, line: session.table())
    swept(session, lambda: None)
    assert set(seen) == {RuntimeError}
    assert session.table().column("status").to_list() == ["ok"]


def test_a_log_that_holds_the_session_is_found():
    def make():
        def log(level, line):
            return session

        session = _core.Session(log=log)
        return weakref.ref(log)

    seen = make()
    gc.collect()
    assert seen() is None


# ---- processes ----


def python(code):
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{code}"],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "code",
    [
        "session = _core.Session(log=print); session.start()",
        "_core.annotate('open').__enter__(); session = _core.Session(); session.start()",
        "import sys; sys.kept = _core.Session(); sys.kept.start()",
        # a cycle through a module, which the end of the interpreter takes apart
        "session = _core.Session(log=lambda *a: sweep); sweep = _core.Sweep(session, 'f')\n"
        "sweep.run(lambda: None, [()]); table = session.table(); view = table.column(0).codes",
        "import threading; session = _core.Session(); session.start()\n"
        "def work():\n"
        "    with _core.annotate('endless'): event.wait()\n"
        "event = threading.Event(); threading.Thread(target=work, daemon=True).start()",
    ],
)
def test_the_end_of_the_interpreter(code):
    done = python(f"from warpmeter import _core\n{code}\n")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_module_may_be_loaded_again():
    done = python(
        "import sys\n"
        "from warpmeter import _core\n"
        "first = _core\n"
        "del sys.modules['warpmeter._core']\n"
        "import importlib\n"
        "second = importlib.import_module('warpmeter._core')\n"
        "assert second is not first\n"
        "assert second.annotate('a') is not first.annotate('a')\n"
        "session = first.Session()\n"
        "session.start()\n"
        "with second.annotate('a'), first.annotate('b'): pass\n"
        "session.stop()\n"
        "assert list(session.table().column('region')) == ['a', 'a/b']\n"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_of_fork_may_not_call_it():
    session = _core.Session()
    session.start()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            assert not _core.active()
            with _core.annotate("in the child"):
                pass
            for call in (session.stop, session.table, session.start):
                with pytest.raises(RuntimeError, match="forked"):
                    call()
            del session, call
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    session.stop()
    assert rows(session.table(), "region", "status") == [("session", "ok")]


# ---- nothing is left behind ----


def fails(call, *arguments, **keywords):
    try:
        call(*arguments, **keywords)
    except (
        ArithmeticError,
        LookupError,
        OSError,
        RuntimeError,
        TypeError,
        ValueError,
        _core.Error,
    ):
        return
    raise AssertionError("it did not fail")


def measure():
    session = _core.Session(log=lambda *_: None)
    one_run(session, "a", "b")
    sweep = _core.Sweep(session, "f", ["--warmup", "0", "--runs", "2"], combine=max)
    sweep.add_config(["n", "s"], [1, "x"])
    sweep.plan()
    sweep.run(
        lambda n, **_: _core.record("m", n), [(1.5,)], [{"k": n} for n in (1,)], lambda _: None
    )
    sweep.put(0, 0, None, "score", 1.0)
    fails(sweep.run, print, [()])
    return session


def read():
    table = measure().table()
    for name in table.column_names:
        column = table.column(name)
        column.to_list(), column.valid, column.codes, column.texts, list(column)
        fails(column.__getitem__, len(column))
    table.context, table.kind, table.num_rows, table.reason(0, "mean"), table.text(), table.select()
    table.compare(table), table.__arrow_c_stream__()
    fails(table.text, "zz")
    fails(table.column, "nothing")
    fails(table.select, "nothing")
    fails(table.write, "/nowhere/a.json")
    fails(_core.RawTable.read, "/nowhere/a.json")


def fail():
    session = _core.Session()
    sweep = _core.Sweep(session, "f", ["--warmup", "0"])
    fails(sweep.add_config, ["n"], [2**70])
    fails(sweep.run, print, [()], [])
    fails(sweep.run, lambda: 1 / 0, [()])
    fails(_core.Sweep, session, "f", ["--runs", "x"])
    fails(_core.Sweep, session, "f", [1])
    fails(session.stop)


def collect():
    session = _core.Session()

    def raises(*_):
        raise LookupError

    def function():
        with _core.annotate("left behind"):
            pass

    options, kinds = ["--warmup", "0", "--runs", "2"], [("r", "run"), ("a", "annotation")]
    sweep = _core.Sweep(session, "f", options, None, kinds, lambda *_: 1, lambda *_: 2)
    sweep.run(function, [()])
    sweep.collect("r", "run", 0, 0, None, "x")
    fails(sweep.collect, "r", "run", 9, 9, None, "x")
    fails(sweep.collect, "r", "never", 0, 0, None, "x")
    sweep.outcome(), _core.facts(), session.table()
    fails(_core.Sweep(session, "f", options, None, kinds, raises).run, function, [()])
    fails(_core.Sweep(session, "f", options, entered=raises).run, function, [()])
    fails(_core.Sweep, session, "f", options, collectors=[("x", "never")])
    fails(_core.Sweep, session, "f", options, collectors=[("x", "run"), 5])
    _core.ncu_command(["a", "b"], ncu="/nowhere/ncu", report="r", extra=["--x"])
    fails(_core.ncu_command, [])
    fails(_core.ncu_command, ["a", 5], ncu="/nowhere/ncu")
    fails(_core.ncu_read, "/nowhere/a.ncu-rep", ncu="/nowhere/ncu")


def mark():
    with _core.annotate("left behind", ignore_failures=True):
        raise ValueError
    _core.annotate("left behind")(mark)
    fails(_core.annotate, "")
    fails(_core.annotate, "a", wrong=1)
    fails(_core.record, "m", 1.0)
    fails(_core.annotate("a"), int)


@pytest.mark.parametrize("work", [measure, read, fail, collect, mark])
def test_nothing_is_left_behind(work):
    count = 200

    def blocks():
        gc.collect()
        return sys.getallocatedblocks()

    for _ in range(50):  # until caches and free lists are full
        work()
    before = blocks()
    for _ in range(count):
        work()
    assert blocks() - before < count  # one object left by each would make it as many
