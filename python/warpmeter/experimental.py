"""What may still change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from .info_collector import CollectionScope

__all__ = ["collect"]

_F = TypeVar("_F", bound=Callable[..., Any])


def _scope_of(scope: CollectionScope | str) -> CollectionScope:
    try:
        return CollectionScope(scope)
    except ValueError:
        accepted = ", ".join(repr(each.value) for each in CollectionScope)
        raise ValueError(
            f"scope is {scope!r}: a CollectionScope or one of {accepted} is accepted"
        ) from None


@overload
def collect(_func: _F, *, scope: CollectionScope | str) -> _F: ...
@overload
def collect(_func: None = None, *, scope: CollectionScope | str) -> Callable[[_F], _F]: ...
def collect(_func: _F | None = None, *, scope: CollectionScope | str) -> _F | Callable[[_F], _F]:
    """Mark a function as a collector of that scope, under its own name. It stays as it is.

    ValueError: no such scope. TypeError: what is marked is no function."""
    found = _scope_of(scope)

    def mark(function: _F) -> _F:
        if not callable(function):
            raise TypeError(f"collect marks a function, not {function!r}")
        function._warpmeter_collector = function.__name__, found  # type: ignore[attr-defined]
        return function

    return mark if _func is None else mark(_func)
