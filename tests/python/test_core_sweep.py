"""_core.Sweep: the core calls a Python function as often as it says."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import threading
import traceback
import weakref

import pytest
from fake_gpu import BYTES, Gpu, on_gpu

from warpmeter import _core

pytestmark = pytest.mark.usefixtures("on_cpu")


def rows(table, *columns):
    return list(zip(*(table.column(name).to_list() for name in columns), strict=True))


def sweep_of(session, *options, configs=(), combine=None):
    made = _core.Sweep(session, "f", ["--warmup", "0", "--runs", "2", *options], combine)
    for config in configs:
        made.add_config(list(config), list(config.values()))
    return made


def nothing():
    pass


# ---- calls ----


def test_each_configuration_has_its_arguments(session):
    calls = []
    sweep = sweep_of(session, "--warmup", "1", configs=[{"n": 1}, {"n": 2}])
    result = sweep.run(lambda *a, **k: calls.append((a, k)), [(1, "x"), ()], [{}, {"key": 2}])
    assert result is None
    assert calls == [((1, "x"), {})] * 3 + [((), {"key": 2})] * 3
    assert sweep.calls == 6
    assert rows(session.table(), "n", "samples", "status") == [(1, 2, "ok"), (2, 2, "ok")]


def test_without_configurations_there_is_one(session):
    calls = []
    sweep = sweep_of(session)
    sweep.run(function=calls.append, arguments=iter([("only",)]))
    assert calls == ["only"] * 2
    assert sweep.config_keys() == [""]


def test_axes_are_configurations_too(session):
    calls = []
    sweep = sweep_of(session, "--axis", "n=[4,8]")
    sweep.run(calls.append, [("first",), ("second",)])
    assert calls == ["first"] * 2 + ["second"] * 2
    assert sweep.config_keys() == ["n=4", "n=8"]


def test_steps(session):
    steps = []
    sweep = sweep_of(session, "--warmup", "2", configs=[{"n": 1, "t": "x"}, {"n": 2, "t": "y"}])
    sweep.run(nothing, [(), ()], on_step=steps.append)
    fields = ("config", "config_key", "run", "pass_", "warmup", "first_pass")
    assert [tuple(getattr(step, field) for field in fields) for step in steps] == [
        (config, key, run, 0, run < 0, True)
        for config, key in enumerate(["n=1,t=x", "n=2,t=y"])
        for run in (-2, -1, 0, 1)
    ]
    assert {type(step.warmup) for step in steps} == {bool}
    with pytest.raises(AttributeError):
        steps[0].run = 1
    with pytest.raises(TypeError):
        type(steps[0])()


def test_on_step_comes_when_the_run_is_kept(session):
    seen = []
    sweep = sweep_of(session)

    def on_step(step):
        assert not _core.active()
        seen.append(sweep.calls)

    sweep.run(nothing, [()], on_step=on_step)
    assert seen == [1, 2]


@pytest.mark.parametrize(
    ("value", "returned"), [(None, False), (0, True), (False, True), ("", True)]
)
def test_returned(session, value, returned):
    sweep = sweep_of(session)
    assert sweep.returned is False
    sweep.run(lambda: value, [()])
    assert sweep.returned is returned


def test_the_function_is_measured_with_its_regions(session):
    def f():
        assert _core.active()
        with _core.annotate("outer"):
            for _ in range(3):
                with _core.annotate("inner"):
                    pass

    sweep_of(session).run(f, [()])
    assert rows(session.table(), "region", "entries", "samples") == [
        ("outer", 2, 2),
        ("outer/inner", 6, 2),
    ]


def test_several_sweeps_of_a_session(session):
    for n in (1, 2):
        sweep_of(session, configs=[{"n": n}]).run(nothing, [()])
    assert session.table().column("n").to_list() == [1, 2]


def test_config_keys_and_plan(session):
    sweep = sweep_of(session, configs=[{"n": 1}, {"s": 'a "b", c'}, {"x": 0.5, "flag": True}])
    assert sweep.config_keys() == []
    plan = sweep.plan()
    assert plan.kind == "plan"
    assert plan.context["configurations"] == 3
    assert plan.context["calls_max"] == 6
    assert sweep.calls == 0
    sweep.run(nothing, [()] * 3)
    keys = sweep.config_keys()
    assert keys[0] == "n=1"
    assert keys == session.table().column("config_key").to_list()
    keys.clear()
    assert len(sweep.config_keys()) == 3
    with pytest.raises(_core.Error) as caught:
        sweep.add_config(["n"], [3])
    assert caught.value.status == "WM_ESTATE"


# ---- exceptions ----


class Failure(Exception):
    pass


def test_what_the_function_raises_ends_the_sweep(session):
    error = Failure("too small")

    def f(n):
        if n == 2:
            raise error

    told = []
    sweep = sweep_of(session, configs=[{"n": n} for n in (1, 2, 3)])
    with pytest.raises(Failure) as caught:
        sweep.run(f, [(1,), (2,), (3,)], on_step=told.append)
    assert caught.value is error
    assert traceback.extract_tb(error.__traceback__)[-1].name == "f"
    assert sweep.calls == 3
    assert len(told) == 2
    assert sweep.config_keys() == ["n=1", "n=2"]  # those that had a step
    assert rows(session.table(), "n", "status", "reason") == [
        (1, "ok", None),
        (2, "failed", "Failure: too small"),
        (3, "missing", "no sample was taken"),
    ]


class Unprintable(Exception):
    def __str__(self):
        raise LookupError


class Odd(Exception):
    def __str__(self):
        return "\ud800 é"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (SystemExit(3), "SystemExit: 3"),
        (Odd(), "Odd: ? é"),
        (Failure("a %s b"), "Failure: a %s b"),
    ],
)
def test_reasons_of_failures(session, error, reason):
    def f():
        raise error

    with pytest.raises(type(error)) as caught:
        sweep_of(session).run(f, [()])
    assert caught.value is error
    assert session.table().column("reason").to_list() == [reason]


def test_an_exception_without_a_text(session):
    def f():
        raise Unprintable

    with pytest.raises(Unprintable):
        sweep_of(session).run(f, [()])
    assert session.table().column("status").to_list() == ["failed"]


def test_the_session_goes_on_after_a_failure(session):
    with pytest.raises(ZeroDivisionError):
        sweep_of(session, configs=[{"n": 1}]).run(lambda: 1 / 0, [()])
    assert not _core.active()
    sweep_of(session, configs=[{"n": 2}]).run(nothing, [()])
    assert session.table().column("status").to_list() == ["failed", "ok"]


def test_what_on_step_raises_ends_the_sweep(session):
    def on_step(step):
        if step.run == 1:
            raise Failure

    sweep = sweep_of(session, "--runs", "5")
    with pytest.raises(Failure):
        sweep.run(nothing, [()], on_step=on_step)
    assert sweep.calls == 2
    assert rows(session.table(), "status", "samples") == [("ok", 2)]


def test_signals_are_handled_between_calls(session):
    # The C function raises the signal; no Python code runs in the call that could handle it.
    raise_signal = ctypes.PyDLL(None)["raise"]
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sweep = sweep_of(session, "--runs", "5")
        with pytest.raises(KeyboardInterrupt):
            sweep.run(raise_signal, [(int(signal.SIGINT),)])
    finally:
        signal.signal(signal.SIGINT, previous)
    assert sweep.calls == 1
    assert rows(session.table(), "status", "samples") == [("ok", 1)]


def test_a_handler_that_raises_nothing_ends_nothing(session):
    handled = []
    raise_signal = ctypes.PyDLL(None)["raise"]
    previous = signal.signal(signal.SIGUSR1, lambda *_: handled.append(sweep.calls))
    try:
        sweep = sweep_of(session)
        sweep.run(raise_signal, [(int(signal.SIGUSR1),)])
    finally:
        signal.signal(signal.SIGUSR1, previous)
    assert handled == [1, 2]


def test_a_configuration_without_arguments(session):
    sweep = sweep_of(session, configs=[{"n": 1}, {"n": 2}])
    with pytest.raises(ValueError, match="configuration 1 has no arguments"):
        sweep.run(nothing, [()])
    assert sweep.calls == 2


def test_functions_are_called_in_one_thread(session):
    sweep = sweep_of(session, "--threads", "2")
    with pytest.raises(ValueError, match="--threads"):
        sweep.run(nothing, [()])
    assert sweep.calls == 0


@pytest.mark.parametrize(
    ("arguments", "keywords", "error"),
    [
        ([1], None, TypeError),
        ([[1]], None, TypeError),
        (1, None, TypeError),
        ([()], [()], TypeError),
        ([()], [None], TypeError),
        ([()], [], ValueError),
        ([()], [{}, {}], ValueError),
    ],
)
def test_wrong_arguments_of_run(session, arguments, keywords, error):
    sweep = sweep_of(session)
    with pytest.raises(error):
        sweep.run(nothing, arguments, keywords)
    sweep.run(nothing, [()])  # which counted as no run


def test_what_cannot_be_called(session):
    with pytest.raises(TypeError, match="not callable"):
        sweep_of(session).run(None, [()])
    with pytest.raises(TypeError, match="not callable"):
        sweep_of(session).run(nothing, [()], None, 3)


# ---- one run, one call at a time ----


def test_a_sweep_runs_once(session):
    sweep = sweep_of(session)
    sweep.run(nothing, [()])
    with pytest.raises(RuntimeError, match="once"):
        sweep.run(nothing, [()])
    assert sweep.calls == 2


def test_a_sweep_that_failed_ran(session):
    sweep = sweep_of(session)
    with pytest.raises(ZeroDivisionError):
        sweep.run(lambda: 1 / 0, [()])
    with pytest.raises(RuntimeError, match="once"):
        sweep.run(nothing, [()])


def calls_of(session, sweep):
    return [
        session.start,
        session.stop,
        session.table,
        session.samples,
        session.kernels,
        sweep.plan,
        sweep.close,
        lambda: sweep.run(nothing, [()]),
        lambda: sweep.add_config(["n"], [1]),
        lambda: sweep.put(0, 0, None, "m", 1.0),
        lambda: _core.Sweep(session, "g"),
    ]


def test_no_call_inside_a_call(session):
    sweep = sweep_of(session)
    refused = []

    def f(*_):
        for call in calls_of(session, sweep):
            with pytest.raises(RuntimeError, match="in use"):
                call()
            refused.append(call)

    sweep.run(f, [()], on_step=f)
    assert len(refused) == 4 * len(calls_of(session, sweep))
    assert rows(session.table(), "status", "samples") == [("ok", 2)]


def test_no_call_in_another_thread_meanwhile(session):
    sweep = sweep_of(session, "--runs", "1")
    refused = []

    def other():
        for call in calls_of(session, sweep):
            with pytest.raises(RuntimeError, match="in use"):
                call()
            refused.append(call)

    def f():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

    sweep.run(f, [()])
    assert len(refused) == len(calls_of(session, sweep))


def test_another_thread_may_go_on_with_it(session):
    done = []

    def work():
        sweep = sweep_of(session)
        sweep.run(lambda: _core.record("m", 1.0), [()])
        done.append(sweep)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    done[0].put(0, 0, None, "n", 2.0)
    assert session.table().column("metric").to_list() == ["time", "m", "n"]


def test_another_session_must_wait(session):
    other = _core.Session()

    def f():
        with pytest.raises(_core.Error) as caught:
            sweep_of(other).run(nothing, [()])
        assert caught.value.status == "WM_EBUSY"
        _core.record("m", 1.0)  # belongs to the outer sweep still

    sweep_of(session).run(f, [()])
    assert session.table().column("metric").to_list() == ["time", "m"]
    assert set(other.table().column("status")) == {"missing"}


def child_of_fork(child):
    """Exit status of a child that calls the function: 0 if it returned."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            child()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_no_call_in_a_child_of_fork(session):
    sweep = sweep_of(session)
    sweep.run(nothing, [()])
    calls = calls_of(session, sweep)

    def child():
        for call in calls:
            with pytest.raises(RuntimeError, match="forked"):
                call()

    assert child_of_fork(child) == 0
    assert rows(session.table(), "status", "samples") == [("ok", 2)]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("error", [None, Failure("in the child")])
def test_a_function_that_returns_in_a_child_of_fork(session, error):
    parent = os.getpid()
    statuses = []

    def f():
        child = os.fork()
        if child:
            statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        elif error:
            raise error

    sweep = sweep_of(session)
    try:
        sweep.run(f, [()])
    except BaseException as e:
        if os.getpid() == parent:
            raise
        # The child leaves the core alone; an exception of the function's own goes on.
        expected = e is error if error else type(e) is RuntimeError and "forked" in str(e)
        os._exit(7 if expected else 1)
    assert os.getpid() == parent or os._exit(1)
    assert statuses == [7, 7]
    assert rows(session.table(), "status", "samples") == [("ok", 2)]


# ---- close ----


def test_close(session):
    sweep = sweep_of(session, configs=[{"n": 1}])
    sweep.run(nothing, [()])
    sweep.close()
    sweep.close()
    for call in (
        sweep.plan,
        lambda: sweep.run(nothing, [()]),
        lambda: sweep.put(0, 0, None, "m", 1),
    ):
        with pytest.raises(RuntimeError, match="closed"):
            call()
    assert (sweep.calls, sweep.returned, sweep.config_keys()) == (2, False, ["n=1"])
    assert session.table().num_rows == 1


def test_close_before_the_run(session):
    sweep = sweep_of(session)
    sweep.close()
    with pytest.raises(RuntimeError, match="closed"):
        sweep.run(nothing, [()])
    with pytest.raises(RuntimeError, match="closed"):
        sweep.add_config(["n"], [1])
    assert sweep.calls == 0


def test_a_sweep_may_be_dropped_while_another_runs(session):
    others = [sweep_of(session) for _ in range(3)]
    sweep = sweep_of(session)
    sweep.run(others.clear, [()])
    assert session.table().column("status").to_list() == ["ok"]


# ---- put ----


def test_put(session):
    sweep = sweep_of(session, configs=[{"n": 1}, {"n": 2}])

    def f():
        with _core.annotate("part"):
            pass

    sweep.run(f, [(), ()])
    for config in range(2):
        for run in range(2):
            sweep.put(config, run, "part", "score", 10 * config + run, "pt")
    table = session.table().select(filter="metric=score")
    assert rows(table, "region", "n", "mean", "min", "max", "unit") == [
        ("part", 1, 0.5, 0.0, 1.0, "pt"),
        ("part", 2, 10.5, 10.0, 11.0, "pt"),
    ]


def test_put_in_place_of_what_was_measured(session):
    sweep = sweep_of(session)
    sweep.run(nothing, [()])
    for run, value in enumerate([3.0, 5.0]):
        sweep.put(config=0, run=run, region=None, metric="time", value=value, unit="ns")
    assert rows(session.table(), "metric", "mean") == [("time", 4.0)]


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), -float("inf")])
def test_put_nothing(session, value):
    sweep = sweep_of(session)
    sweep.run(nothing, [()])
    sweep.put(0, 0, None, "score", value)
    sweep.put(0, 1, None, "score", 1.0)
    samples = session.samples().select(filter="metric=score")
    assert rows(samples, "value", "reason") == [(None, "not-finite"), (1.0, None)]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((2, 0, None, "m", 1.0), "WM_ENOTFOUND"),
        ((0, 9, None, "m", 1.0), "WM_ENOTFOUND"),
        ((0, 0, "nowhere", "m", 1.0), "WM_ENOTFOUND"),
        ((-1, 0, None, "m", 1.0), ValueError),
        ((0, 0, None, "", 1.0), ValueError),
        ((0, 0, None, "m", "1"), TypeError),
        ((0, 0, 3, "m", 1.0), TypeError),
        (("0", 0, None, "m", 1.0), TypeError),
        ((0, 0, None, "m"), TypeError),
        ((0, 0, None, "m", 10**400), OverflowError),
        ((0, 2**70, None, "m", 1.0), OverflowError),
    ],
)
def test_wrong_puts(session, arguments, error):
    sweep = sweep_of(session)
    sweep.run(nothing, [()])
    if isinstance(error, str):
        with pytest.raises(_core.Error) as caught:
            sweep.put(*arguments)
        assert caught.value.status == error
    else:
        with pytest.raises(error):
            sweep.put(*arguments)
    assert session.table().column("metric").to_list() == ["time"]


def test_put_before_the_first_step(session):
    with pytest.raises(_core.Error) as caught:
        sweep_of(session).put(0, 0, None, "m", 1.0)
    assert caught.value.status == "WM_ESTATE"


# ---- making one ----


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--runs", "x"], ValueError),
        (["--no-such-option"], ValueError),
        (["--runs"], ValueError),
        (["a\0b"], ValueError),
        (["\ud800"], ValueError),
        (["--metrics", "no_such_metric"], _core.Error),
        ("--runs 5", TypeError),
        ([5], TypeError),
        (5, TypeError),
    ],
)
def test_wrong_options(session, options, error):
    with pytest.raises(error):
        _core.Sweep(session, "f", options)
    sweep_of(session).run(nothing, [()])  # nothing is left in use


def test_wrong_sweeps(session):
    for arguments in ((), (session,), (None, "f"), (session, None), (session, "f", [], 3)):
        with pytest.raises(TypeError):
            _core.Sweep(*arguments)
    with pytest.raises(ValueError, match="null"):
        _core.Sweep(session, "a\0b")


@pytest.mark.parametrize(
    ("names", "values", "error"),
    [
        (["n"], [1, 2], ValueError),
        (["n", "n"], [1, 2], ValueError),
        ([""], [1], ValueError),
        (["n"], [2**63], ValueError),
        (["n"], [-(2**63) - 1], ValueError),
        (["n"], ["a\0b"], ValueError),
        (["n\0"], [1], ValueError),
        (["n"], [None], TypeError),
        (["n"], [b"x"], TypeError),
        ([1], [1], TypeError),
        (1, [1], TypeError),
        (["n"], 1, TypeError),
    ],
)
def test_wrong_configurations(session, names, values, error):
    sweep = sweep_of(session)
    with pytest.raises(error):
        sweep.add_config(names, values)
    sweep.run(nothing, [()])
    assert sweep.config_keys() == [""]


def test_values_at_their_limits(session):
    values = {"a": 2**63 - 1, "b": -(2**63), "c": 5e-324, "d": "", "e": False}
    sweep_of(session, configs=[values]).run(nothing, [()])
    table = session.table()
    assert {name: table.column(name)[0] for name in values} == values
    assert type(table.column("e")[0]) is bool


# ---- what the function says ----

SAYINGS = [
    lambda: _core.record("m", 1.0),
    lambda: _core.add_flops(None, 1.0),
    lambda: _core.add_bytes(None, 1.0),
    lambda: _core.add_items(None, 1.0),
    lambda: _core.skip("why"),
]


@pytest.mark.parametrize("say", SAYINGS)
def test_nothing_is_said_outside(session, say):
    refused = []

    def outside(*_):
        with pytest.raises(RuntimeError, match="while a sweep calls its function"):
            say()
        refused.append(say)

    def f():
        thread = threading.Thread(target=outside)
        thread.start()
        thread.join()

    outside()
    session.start()
    outside()
    session.stop()
    sweep_of(session, "--runs", "1").run(f, [()], on_step=outside)
    outside()
    with pytest.raises(ZeroDivisionError):
        sweep_of(session, configs=[{"n": 2}]).run(lambda: 1 / 0, [()])
    outside()
    assert len(refused) == 6


def test_record(session):
    def f():
        _core.record("loss", 0.25)
        with _core.annotate("part"):
            _core.record("distance", 2.0, "m")
            _core.record(metric="distance", value=1, unit="m")
            _core.record("lost", float("nan"))

    sweep_of(session).run(f, [()])
    table = session.table().select(filter="metric!=time")
    assert rows(table, "region", "metric", "mean", "unit") == [
        ("f", "loss", 0.25, ""),
        ("part", "distance", 3.0, "m"),
        ("part", "lost", None, ""),
    ]


def test_work_gives_rates(session):
    sweep = sweep_of(session)

    def f():
        with _core.annotate("part"):
            _core.add_flops("part", 100)
            _core.add_bytes("part", 200.0)
            _core.add_items(region="part", count=300)
        _core.add_items(None, 400)

    sweep.run(f, [()])
    samples = session.samples()
    times = {
        (region, run): value
        for region, run, value in rows(
            samples.select(filter="metric=time"), "region", "run", "value"
        )
    }
    found = {
        (region, metric, run): value * times[region, run] / 1e9
        for region, metric, run, value in rows(
            samples.select(filter="metric!=time"), "region", "metric", "run", "value"
        )
    }
    assert found == {
        (region, metric, run): pytest.approx(count)
        for region, metric, count in [
            ("part", "flop_rate", 100),
            ("part", "byte_rate", 200),
            ("part", "item_rate", 300),
            ("f", "item_rate", 400),
        ]
        for run in range(2)
    }


def test_skip(session):
    def f(n):
        if n == 1:
            _core.skip("100 %s too small: é")

    sweep = sweep_of(session, configs=[{"n": 1}, {"n": 2}])
    sweep.run(f, [(1,), (2,)])
    assert sweep.calls == 3
    assert rows(session.table(), "n", "status", "reason") == [
        (1, "skipped", "100 %s too small: é"),
        (2, "ok", None),
    ]


def test_wrong_sayings(session):
    def f():
        for call in (
            lambda: _core.record("m"),
            lambda: _core.record(None, 1.0),
            lambda: _core.record("m", "1"),
            lambda: _core.add_flops("part"),
            lambda: _core.add_flops(1, 1.0),
            lambda: _core.skip(None),
            lambda: _core.skip(b"why"),
        ):
            with pytest.raises(TypeError):
                call()
        for call in (lambda: _core.record("a\0b", 1.0), lambda: _core.add_bytes("a\0b", 1.0)):
            with pytest.raises(ValueError, match="null"):
                call()

    sweep_of(session).run(f, [()])
    assert rows(session.table(), "metric", "status") == [("time", "ok")]


# ---- collectors ----


def collects(session, *pairs, options=(), **more):
    return _core.Sweep(
        session, "f", ["--warmup", "1", "--runs", "2", *options], collectors=pairs, **more
    )


def test_collectors_are_called_when_they_are_due(session):
    due = []
    sweep = collects(
        session,
        ("o", "once"),
        ("c", "config"),
        ("r", "run"),
        ("a", "annotation"),
        collect=lambda *numbers: due.append(numbers),
    )
    for n in (5, 6):
        sweep.add_config(["n"], [n])
    sweep.run(lambda n: due.append(n), [(5,), (6,)])
    of_one = [(1, 0, -1), 5, (2, 0, 0), 5, (2, 0, 1), 5]
    of_other = [(1, 1, -1), 6, (2, 1, 0), 6, (2, 1, 1), 6]
    assert due == [(0, -1, -1), *of_one, *of_other]


def test_entered_is_called_before_the_mark_in_measured_runs(session):
    entered = []
    sweep = collects(session, entered=lambda *what: entered.append(what))

    def function():
        with _core.annotate("a"), _core.annotate("b"):
            pass
        thread = threading.Thread(target=_core.annotate("t").__enter__)
        thread.start()
        thread.join()

    sweep.run(function, [()])
    assert entered == [
        (0, run, name, path)
        for run in (0, 1)
        for name, path in (("a", "a"), ("b", "a/b"), ("t", "t"))
    ]
    with _core.annotate("a"):
        pass
    assert len(entered) == 6


def test_what_entered_raises_comes_from_the_annotation(session):
    inside = []

    def entered(*_):
        raise LookupError("no")

    def function():
        with _core.annotate("r"):
            inside.append(1)

    with pytest.raises(LookupError, match="no"):
        collects(session, entered=entered).run(function, [()])
    assert inside == [1]  # while it warmed up
    assert not _core.active()


def test_what_collect_raises_comes_before_the_function_is_called(session):
    called = []

    def collect(*_):
        raise LookupError("no")

    for scope in ("once", "config", "run"):
        sweep = collects(session, ("x", scope), options=["--warmup", "0"], collect=collect)
        with pytest.raises(LookupError, match="no"):
            sweep.run(lambda: called.append(1), [()])
    assert called == []


def test_values_are_handed_over_afterwards(session):
    sweep = collects(session, ("c", "config"), ("r", "run"), ("t", "annotation"), ("n", "once"))

    def function():
        with _core.annotate("r"):
            pass

    sweep.run(function, [()])
    sweep.collect("c", "config", 0, -1, None, True)
    sweep.collect("r", "run", 0, 0, None, 2)
    sweep.collect("r", "run", 0, 1, None, 4.5)
    for run in (0, 1):
        sweep.collect("t", "annotation", 0, run, "r", "text")
    sweep.collect("n", "once", -1, -1, None, None)
    sweep.collect("late", "once", -1, -1, None, "added")
    table = session.table().select(filter="region=r")
    assert rows(table, "c", "r_avg", "t", "n", "late") == [(True, 3.25, "text", None, "added")]
    assert table.reason(0, "n") == "not-collected"
    with pytest.raises(_core.Error) as caught:
        sweep.collect("t", "annotation", 0, 0, "nowhere", "text")
    assert caught.value.status == "WM_ENOTFOUND"
    with pytest.raises(TypeError):
        sweep.collect("r", "run", 0, 0, None, [1])
    with pytest.raises(ValueError, match="scope"):
        sweep.collect("r", "never", 0, 0, None, 1)


@pytest.mark.parametrize(
    ("pairs", "error"),
    [
        ([("x", "never")], ValueError),
        ([("x",)], TypeError),
        ([5], TypeError),
        ([("mean", "once")], ValueError),
        ([("", "once")], ValueError),
        ([("x", "once"), ("x", "run")], ValueError),
    ],
)
def test_other_collectors_are_refused(session, pairs, error):
    with pytest.raises(error):
        collects(session, *pairs)
    with pytest.raises(TypeError, match="collect takes a function"):
        collects(session, collect=5)


def test_how_configurations_went(session):
    sweep = sweep_of(session)
    sweep.run(nothing, [()])
    assert sweep.outcome() is None
    failing = sweep_of(session)
    failing.run(lambda: _core.record("time", 1), [()])
    with pytest.raises(_core.Error) as caught:
        failing.outcome()
    assert caught.value.status == "WM_EFAILED"


# ---- combine ----


def launching(*kernels):
    """A sweep of two runs that launch these; and its session."""
    gpu = Gpu()

    def f():
        gpu.launch(*kernels)
        gpu.wait()

    return _core.Session(), f


@on_gpu()
def test_combine_makes_one_value_of_several():
    session, f = launching("alpha", "gamma")
    given = []

    def combine(metric, values, weights):
        given.append((metric, values, weights))
        return sum(values) + 0.5

    sweep = sweep_of(session, "--metrics", BYTES, combine=combine)
    sweep.run(f, [()])
    assert len(given) == 2
    for metric, values, weights in given:
        assert metric == BYTES
        assert values == [1000.0, 1000.0]  # of each kernel
        assert len(weights) == 2
        assert all(type(value) is float for value in values + weights)
    samples = session.samples().select(filter=f"metric={BYTES}")
    assert samples.column("value").to_list() == [2000.5, 2000.5]


@on_gpu()
def test_combine_may_find_no_value():
    session, f = launching("alpha", "gamma")
    sweep_of(session, "--metrics", BYTES, combine=lambda *_: float("nan")).run(f, [()])
    samples = session.samples().select(filter=f"metric={BYTES}")
    assert samples.column("value").to_list() == [None, None]


@on_gpu()
def test_what_combine_raises_is_raised_by_run():
    for combine, error in (
        (lambda *_: 1 / 0, ZeroDivisionError),
        (lambda *_: "a text", TypeError),
        (lambda: 0.0, TypeError),
    ):
        session, f = launching("alpha", "gamma")
        sweep = sweep_of(session, "--metrics", BYTES, combine=combine)
        with pytest.raises(error):
            sweep.run(f, [()])
        samples = session.samples().select(filter=f"metric={BYTES}")
        assert set(samples.column("value").to_list()) <= {None}
        assert not _core.active()
        sweep.close()  # the next one needs the profiler


# ---- what is kept ----


def test_functions_and_arguments_are_not_kept(session):
    class Argument:
        pass

    argument = Argument()

    def f(a, *, key):
        pass

    def on_step(step):
        pass

    seen = [weakref.ref(each) for each in (argument, f, on_step)]
    sweep = sweep_of(session)
    gc.disable()
    try:
        sweep.run(f, [(argument,)], [{"key": argument}], on_step)
        del argument, f, on_step
        assert [ref() for ref in seen] == [None] * 3
    finally:
        gc.enable()
    assert sweep.calls == 2


def test_a_failed_run_keeps_no_function(session):
    def f():
        raise Failure

    seen = weakref.ref(f)
    sweep = sweep_of(session)
    with pytest.raises(Failure) as caught:
        sweep.run(f, [()])
    del f, caught
    gc.collect()
    assert seen() is None
    assert sweep.calls == 1


def test_cycles_are_found(session):
    def make():
        def combine(*_):
            return sweep.calls

        sweep = sweep_of(session, combine=combine)
        return weakref.ref(combine)

    seen = make()
    gc.collect()
    assert seen() is None
