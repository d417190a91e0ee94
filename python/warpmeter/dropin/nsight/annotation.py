"""Regions as nsight-python has them: not nested, and each name once in a run of a decorated
function. warpmeter.annotate allows both."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, TypeVar

from warpmeter import _core, _runs
from warpmeter.annotation import decorate

__all__ = ["annotate", "clear_active_annotations"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Thread(threading.local):
    """What a thread has marked in the run that it last marked in."""

    def __init__(self) -> None:
        self.run = 0
        self.used: set[str] = set()
        self.inside: str | None = None


_thread = _Thread()


def _claim(name: str, run: int) -> None:
    if _thread.run != run:
        _thread.run, _thread.inside = run, None
        _thread.used.clear()
    if _thread.inside is not None:
        raise ValueError(
            f"Nested annotations are not supported in nsight: {name!r} is entered within "
            f"{_thread.inside!r}; warpmeter.annotate allows it"
        )
    if name in _thread.used:
        raise ValueError(
            f"Annotation name {name!r} has already been used in this run: "
            f"nsight allows each once; warpmeter.annotate adds the entries up"
        )
    _thread.used.add(name)
    _thread.inside = name


def clear_active_annotations() -> None:
    """Forget what this thread has marked in the run at hand. Each run begins so by itself."""
    _thread.run = 0


class annotate:
    """A region of the code: a context manager, and a decorator, for any thread.

    name: not empty. ignore_failures: an Exception that leaves the region is swallowed, and the
    region has no value in that run.

    Entering raises ValueError where the thread is inside another region, or has used the name in
    this run of a decorated function already. Outside of such runs nothing is refused."""

    __slots__ = ("_region", "ignore_failures", "name")

    def __init__(self, name: str, ignore_failures: bool = False) -> None:
        self.name = name
        self.ignore_failures = ignore_failures
        self._region = _core.annotate(name, ignore_failures)

    def __enter__(self) -> annotate:
        if _runs.current:
            _claim(self.name, _runs.current)
        self._region.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        _thread.inside = None
        return self._region.__exit__(kind, value, traceback)

    def __call__(self, function: Callable[_P, _R]) -> Callable[_P, _R]:
        return decorate(self, function)
