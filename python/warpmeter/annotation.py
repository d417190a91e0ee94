"""What makes an annotation a decorator."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from contextlib import AbstractContextManager
    from typing import Any

_P = ParamSpec("_P")
_R = TypeVar("_R")


def decorate(
    annotation: AbstractContextManager[object], function: Callable[_P, _R]
) -> Callable[_P, _R]:
    """The function with its whole call inside the annotation: what `annotate("name")` makes of what
    it decorates. The wrapper keeps the function's name, documentation and signature.

    Of an async function the annotation is around its awaited body, from the first step to the last:
    what other tasks of the event loop do meanwhile counts, too. Where the annotation swallows an
    exception the call returns None.

    Raises TypeError for what is no function, and for generator functions, whose body runs in pieces
    between which the caller works: put a `with` block around the loop, or inside the body.
    """
    _check(function)
    if inspect.iscoroutinefunction(function):
        return cast("Callable[_P, _R]", _around_coroutine(annotation, function))

    @functools.wraps(function)
    def annotated(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with annotation:
            return function(*args, **kwargs)
        return cast("_R", None)  # the annotation swallowed an exception

    return annotated


def _around_coroutine(
    annotation: AbstractContextManager[object], function: Callable[_P, Coroutine[Any, Any, object]]
) -> Callable[_P, Coroutine[Any, Any, object]]:
    @functools.wraps(function)
    async def annotated(*args: _P.args, **kwargs: _P.kwargs) -> object:
        with annotation:
            return await function(*args, **kwargs)
        return None  # the annotation swallowed an exception

    return annotated


def _check(function: Callable[..., object]) -> None:
    if isinstance(function, (staticmethod, classmethod)):
        raise TypeError(f"annotate goes below @{type(function).__name__}, not above it")
    if not callable(function) or isinstance(function, type):
        raise TypeError(f"annotate decorates functions, not {function!r}")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(
            f"annotate does not decorate generator functions such as {function!r}: "
            "use `with annotate(...)` around the loop over it, or inside it"
        )
