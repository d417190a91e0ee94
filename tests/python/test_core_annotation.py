"""_core.annotate: regions, as context managers and decorators."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import enum
import gc
import inspect
import subprocess
import sys
import threading
import weakref

import pytest

from warpmeter import _core


def rows(table, *columns):
    return list(zip(*(table.column(name).to_list() for name in columns), strict=True))


@pytest.fixture
def measured():
    """Runs a function in a run of its own; gives what the columns say of its regions."""

    def measure(function, *columns):
        session = _core.Session(metrics="time")
        session.start()
        try:
            function()
        finally:
            session.stop()
        return rows(session.table().select(filter="region!=session"), *columns)

    return measure


# ---- the object ----


def test_equal_arguments_give_the_same_object():
    made = _core.annotate("same")
    assert _core.annotate("".join(["sa", "me"])) is made
    assert _core.annotate(name="same") is made
    assert _core.annotate("same", False) is made
    assert _core.annotate("same", ignore_failures=0) is made
    ignoring = _core.annotate("same", True)
    assert ignoring is not made
    assert _core.annotate(ignore_failures="yes", name="same") is ignoring
    assert _core.annotate("other") is not made


def test_it_knows_its_arguments():
    made = _core.annotate("known", ignore_failures=True)
    assert (made.name, made.ignore_failures) == ("known", True)
    assert _core.annotate("known").ignore_failures is False
    assert repr(made) == "annotate('known', ignore_failures=True)"
    assert repr(_core.annotate("known")) == "annotate('known')"
    for attribute in ("name", "ignore_failures"):
        with pytest.raises(AttributeError):
            setattr(made, attribute, "x")
    with pytest.raises(TypeError):
        type(made)("known")


class Phase(str, enum.Enum):
    FORWARD = "forward pass"


class Odd(str):
    __slots__ = ()

    def __hash__(self):
        return 1

    def __eq__(self, other):
        return False


def test_subclasses_of_str_are_their_text():
    made = _core.annotate("forward pass")
    assert _core.annotate(Phase.FORWARD) is made  # whose hash is that of another text
    assert _core.annotate(Odd("forward pass")) is made
    first = _core.annotate(Odd("met as a subclass"))
    assert type(first.name) is str
    assert _core.annotate("met as a subclass") is first


def test_names_of_every_kind(measured):
    names = ["é µ", "\U0001f600", "a, b=c", 'quoted "x"', " ", "x" * 1000]

    def f():
        for name in names:
            with _core.annotate(name):
                pass

    assert sorted(measured(f, "region")) == sorted((name,) for name in names)


@pytest.mark.parametrize(
    ("arguments", "keywords", "error"),
    [
        ((), {}, TypeError),
        ((1,), {}, TypeError),
        ((None,), {}, TypeError),
        ((b"bytes",), {}, TypeError),
        (("a", False, 1), {}, TypeError),
        (("a",), {"name": "a"}, TypeError),
        (("a",), {"unknown": 1}, TypeError),
        ((), {"ignore_failures": True}, TypeError),
        (("",), {}, ValueError),
        (("a\0b",), {}, ValueError),
        (("\0",), {}, ValueError),
        (("\ud800",), {}, ValueError),  # a lone surrogate: UnicodeEncodeError
    ],
)
def test_wrong_arguments(arguments, keywords, error):
    for _ in range(2):  # no half-made region is kept
        with pytest.raises(error):
            _core.annotate(*arguments, **keywords)


def test_an_error_of_truth_goes_on():
    class Neither:
        def __bool__(self):
            raise LookupError("neither")

    with pytest.raises(LookupError, match="neither"):
        _core.annotate("a", Neither())


def test_exit_takes_three_arguments():
    a = _core.annotate("a")
    for arguments in ((), (None,), (None,) * 4):
        with pytest.raises(TypeError):
            a.__exit__(*arguments)
    with pytest.raises(TypeError):
        a.__enter__(1)


# ---- with ----


def test_with_gives_the_annotation_and_is_measured(measured):
    given = []

    def f():
        for _ in range(3):
            with _core.annotate("one") as a:
                given.append(a)

    assert measured(f, "region", "status", "entries") == [("one", "ok", 3)]
    assert given == [_core.annotate("one")] * 3


def test_nesting_makes_paths(measured):
    def f():
        a = _core.annotate("a")
        with a, _core.annotate("b"), a:
            pass
        with a:
            pass

    assert measured(f, "region", "entries") == [("a", 2), ("a/b", 1), ("a/b/a", 1)]


def test_without_a_session_nothing_happens():
    assert not _core.active()
    with _core.annotate("nobody"):
        assert not _core.active()


def test_active_in_a_run_only():
    session = _core.Session(metrics="time")
    session.start()
    assert _core.active() is True
    session.stop()
    assert _core.active() is False


def test_a_block_entered_before_the_run_is_not_in_it():
    session = _core.Session(metrics="time")
    with _core.annotate("early"):
        session.start()
        with _core.annotate("inside"):
            pass
    session.stop()
    assert rows(session.table(), "region", "status", "reason") == [("inside", "ok", None)]


def test_a_block_left_after_the_run_is_an_error_of_its_row():
    session = _core.Session(metrics="time")
    session.start()
    with _core.annotate("late"):
        session.stop()
    assert rows(session.table(), "region", "status", "reason") == [
        ("late", "error", "1 begin or end has no partner")
    ]


def test_threads(measured):
    def work():
        for _ in range(50):
            with _core.annotate("shared"):
                pass

    def f():
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert measured(f, "region", "status", "entries", "threads") == [("shared", "ok", 150, 3)]


def test_equal_objects_in_all_threads():
    names = [f"thread {i}" for i in range(100)]
    ready = threading.Barrier(4)
    found = []

    def work():
        ready.wait()
        found.append([_core.annotate(name) for name in names])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(a is b for others in found[1:] for a, b in zip(found[0], others, strict=True))


def test_exit_stack(measured):
    def f():
        with contextlib.ExitStack() as stack:
            for name in ("outer", "inner"):
                assert stack.enter_context(_core.annotate(name)) is _core.annotate(name)

    assert measured(f, "region", "status") == [("outer", "ok"), ("outer/inner", "ok")]


# ---- failures ----


def test_exceptions_go_on_and_the_region_is_measured(measured):
    error = ValueError("mine")

    def f():
        with pytest.raises(ValueError, match="mine") as caught, _core.annotate("raises"):
            raise error
        assert caught.value is error

    assert measured(f, "region", "status", "samples") == [("raises", "ok", 1)]


def failing_then_not(session, kind):
    """Two runs of a region that ignores failures: one that fails, one that does not."""
    for error in (kind, None):
        session.start()
        with _core.annotate("around"), _core.annotate("ignored", ignore_failures=True):
            if error:
                raise error("x")
        session.stop()


class Mine(Exception):
    pass


@pytest.mark.parametrize("kind", [Exception, ValueError, StopIteration, Mine])
def test_ignored_failures_leave_no_value_in_that_run(kind):
    session = _core.Session(metrics="time")
    failing_then_not(session, kind)
    samples = session.samples()
    found = sorted(
        (region, run, value is not None, reason)
        for region, run, value, reason in rows(samples, "region", "run", "value", "reason")
        if region != "session"
    )
    assert found == [
        ("around", 0, True, None),
        ("around", 1, True, None),
        ("around/ignored", 0, False, "failed"),
        ("around/ignored", 1, True, None),
    ]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit, BaseException])
def test_other_exceptions_are_not_ignored(measured, kind):
    def f():
        with pytest.raises(kind), _core.annotate("stopped", ignore_failures=True):
            raise kind

    assert measured(f, "region", "status", "samples") == [("stopped", "ok", 1)]


def test_failures_are_ignored_without_a_session_too():
    with _core.annotate("nobody", ignore_failures=True):
        raise ValueError
    a = _core.annotate("nobody", ignore_failures=True)
    assert a.__exit__(ValueError, ValueError(), None) is True
    assert a.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None) is False
    assert a.__exit__(None, None, None) is False
    assert _core.annotate("nobody").__exit__(ValueError, ValueError(), None) is False


# ---- decorators ----


def test_a_decorated_function(measured):
    @_core.annotate("decorated")
    def add(a: int, b: int = 2) -> int:
        """Adds."""
        return a + b

    got = []

    def f():
        got.extend([add(1), add(1, b=5)])

    assert measured(f, "region", "entries") == [("decorated", 2)]
    assert got == [3, 6]
    assert (add.__name__, add.__doc__) == ("add", "Adds.")
    assert list(inspect.signature(add).parameters) == ["a", "b"]


def test_a_decorated_method(measured):
    class Model:
        def __init__(self):
            self.calls = 0

        @_core.annotate("method")
        def forward(self):
            self.calls += 1

        @staticmethod
        @_core.annotate("static")
        def helper():
            return "helped"

    model = Model()

    def f():
        model.forward()
        assert Model.helper() == "helped"

    assert measured(f, "region", "entries") == [("method", 1), ("static", 1)]
    assert model.calls == 1


def test_recursion(measured):
    @_core.annotate("r")
    def count(n):
        return 0 if n == 0 else 1 + count(n - 1)

    assert measured(lambda: count(2), "region", "entries") == [("r", 1), ("r/r", 1), ("r/r/r", 1)]


def test_a_decorated_function_that_raises(measured):
    @_core.annotate("goes on")
    def fails():
        raise ValueError("mine")

    @_core.annotate("is ignored", ignore_failures=True)
    def ignored():
        raise ValueError("mine")

    def f():
        with pytest.raises(ValueError, match="mine"):
            fails()
        assert ignored() is None
        with _core.annotate("is measured"):
            pass

    assert ("goes on", "ok", 1) in measured(f, "region", "status", "samples")


def test_a_decorated_coroutine(measured):
    @_core.annotate("awaited")
    async def double(n):
        await asyncio.sleep(0)
        with _core.annotate("body"):
            return 2 * n

    assert inspect.iscoroutinefunction(double)

    def f():
        assert asyncio.run(double(21)) == 42

    assert measured(f, "region", "entries") == [("awaited", 1), ("awaited/body", 1)]


def test_a_decorated_coroutine_that_raises():
    @_core.annotate("awaited", ignore_failures=True)
    async def fails(kind):
        raise kind

    assert asyncio.run(fails(ValueError)) is None
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(fails(asyncio.CancelledError))


def plain_generator():
    yield 1


async def async_generator():
    yield 1


@pytest.mark.parametrize(
    "function",
    [plain_generator, async_generator, staticmethod(len), classmethod(len), int, None, 3, "len"],
)
def test_what_cannot_be_decorated(function):
    with pytest.raises(TypeError, match="annotate"):
        _core.annotate("a")(function)


def test_decorating_takes_one_function():
    for call in (lambda a: a(), lambda a: a(len, len), lambda a: a(function=len)):
        with pytest.raises(TypeError):
            call(_core.annotate("a"))


# ---- the module ----


def test_a_copy_is_refused():
    # A copy would be another object with equal arguments.
    for copied in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            copied(_core.annotate("a"))


def test_decorated_functions_are_not_kept():
    def function():
        pass

    seen = weakref.ref(function)
    decorated = _core.annotate("a")(function)
    decorated()
    del function, decorated
    gc.collect()
    assert seen() is None


SUBINTERPRETER = """
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters
import warpmeter._core
code = '''
import sys
sys.path[:] = %r
try:
    import warpmeter._core
except ImportError as e:
    assert "main interpreter" in str(e), e
    raise SystemError("refused as it should be")
'''
import sys
made = interpreters.create()
try:
    failed = interpreters.run_string(made, code % sys.path)
except Exception as e:
    failed = e
assert "refused as it should be" in str(failed), failed
interpreters.destroy(made)
with warpmeter._core.annotate("still works"):
    pass
"""


def test_subinterpreters_are_refused():
    if sys.version_info >= (3, 13):
        pytest.importorskip("_interpreters")
    else:
        pytest.importorskip("_xxsubinterpreters")
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{SUBINTERPRETER}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
