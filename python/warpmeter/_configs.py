"""Configurations: what a caller gives, bound to a signature, and what the core takes."""

from __future__ import annotations

import functools
import inspect
import operator
import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from .exceptions import ProfilerException

CoreValue = bool | int | float | str


def name_of(function: Callable[..., object]) -> str:
    """What a function is called; for a partial one the function's in it."""
    while isinstance(function, functools.partial) and not hasattr(function, "__name__"):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True)
class Parameters:
    """The parameters of a function that a configuration gives values to, in order."""

    all: tuple[inspect.Parameter, ...]

    @staticmethod
    def of(function: Callable[..., object]) -> Parameters:
        """ValueError or TypeError where the function does not tell its signature."""
        parameters = inspect.signature(function).parameters.values()
        return Parameters(tuple(p for p in parameters if p.kind not in _VARIADIC))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.all)

    @property
    def required(self) -> int:
        """How many values a configuration has at least."""
        needed = (i for i, p in enumerate(self.all, 1) if p.default is inspect.Parameter.empty)
        return max(needed, default=0)

    def fill(self, values: Sequence[object]) -> tuple[object, ...]:
        """The values, with defaults for those that are not there."""
        return (*values, *(p.default for p in self.all[len(values) :]))

    def arguments(self, values: Sequence[object]) -> tuple[tuple[object, ...], dict[str, object]]:
        """Values of all parameters, as a call takes them."""
        pairs = list(zip(self.all, values, strict=True))
        keyword_only = inspect.Parameter.KEYWORD_ONLY
        positional = tuple(value for p, value in pairs if p.kind is not keyword_only)
        return positional, {p.name: value for p, value in pairs if p.kind is keyword_only}


# ---- what the caller gives ----


def bind(
    parameters: Parameters,
    args: tuple[object, ...],
    at_call: Iterable[object] | None,
    at_decoration: Iterable[object] | None,
) -> list[tuple[object, ...]]:
    """The configurations of a call, each with a value for every parameter.

    ProfilerException: none are given, or in two places, or they do not fit the parameters."""
    given = _source(parameters, args, at_call, at_decoration)
    values = [_values(parameters, config) for config in given]
    if not values:
        raise ProfilerException("configs is empty: give one configuration or more")
    _check_counts(parameters, [len(v) for v in values])
    return [parameters.fill(v) for v in values]


def _source(
    parameters: Parameters,
    args: tuple[object, ...],
    at_call: Iterable[object] | None,
    at_decoration: Iterable[object] | None,
) -> Iterable[object]:
    places = {
        "as arguments of the call": args or None,
        "as configs= of the call": at_call,
        "where the function is decorated": at_decoration,
    }
    used = [place for place, value in places.items() if value is not None]
    if len(used) > 1:
        raise ProfilerException(f"configurations are given twice, {' and '.join(used)}: give one")
    if args:
        return [args]
    given = at_decoration if at_call is None else at_call
    if given is not None:
        return _iterable(given)
    if parameters.required:
        names = ", ".join(parameters.names)
        raise ProfilerException(
            f"no configurations for {names}: give configs= to the decorator or to the call,"
            " or values as arguments of the call"
        )
    return [()]


def _iterable(configs: object) -> Iterable[object]:
    if isinstance(configs, Iterable) and not isinstance(configs, str | bytes):
        return configs
    raise ProfilerException(f"configs is {configs!r}: an iterable of configurations is accepted")


def _values(parameters: Parameters, config: object) -> tuple[object, ...]:
    """A sequence holds a value for each parameter; anything else is the value of one."""
    if isinstance(config, str | bytes):
        return (config,)
    if isinstance(config, Sequence):
        return tuple(config)
    takes_one = len(parameters.all) == 1 or getattr(config, "ndim", 1) == 0
    return tuple(config) if isinstance(config, Iterable) and not takes_one else (config,)


def _check_counts(parameters: Parameters, counts: list[int]) -> None:
    if len(set(counts)) > 1:
        shown = ", ".join(map(str, counts[:20])) + (", ..." if len(counts) > 20 else "")
        raise ProfilerException(f"configurations have different numbers of values: {shown}")
    least, most = parameters.required, len(parameters.all)
    if least <= counts[0] <= most:
        return
    accepted = str(most) if least == most else f"between {least} and {most}"
    names = f" ({', '.join(parameters.names)})" if most else ""
    raise ProfilerException(
        f"configurations have {counts[0]} values, but the function takes {accepted}{names}"
    )


# ---- what the core takes ----


def core_configs(
    names: Sequence[str], configs: Sequence[Sequence[object]]
) -> Iterator[tuple[list[str], list[CoreValue]]]:
    """Names and values for the core, one pair a configuration, no two of them equal.

    Numbers and texts stay as they are, all else becomes a text that is the same in every run of the
    program. Where two are equal the text of the later one gets a number; where there is no text to
    be numbered all get a parameter more, "repeat"."""
    rows = [[core_value(v, number) for v in config] for number, config in enumerate(configs)]
    seen: dict[tuple[object, ...], int] = {}
    repeats = [_tell_apart(row, seen) for row in rows]
    if not any(repeats):
        yield from ((list(names), row) for row in rows)
        return
    extra = "repeat"
    while extra in names:
        extra += "_"
    for row, repeat in zip(rows, repeats, strict=True):
        yield [*names, extra], [*row, repeat]


def _tell_apart(row: list[CoreValue], seen: dict[tuple[object, ...], int]) -> int:
    """Number the first text of a row that was there before, or say how often it was."""
    key = _key(row)
    before = seen.get(key, 0)
    seen[key] = before + 1
    at = next((i for i, value in enumerate(row) if isinstance(value, str)), None)
    if not before or at is None:
        return before
    text = row[at]
    while key in seen:
        row[at] = f"{text}#{before + 1}"
        before += 1
        key = _key(row)
    seen[key] = 1
    return 0


def _key(row: list[CoreValue]) -> tuple[object, ...]:
    return tuple((type(value), repr(value)) for value in row)


def core_value(value: object, number: int) -> CoreValue:
    """What the core holds of a value; `number` tells apart those that have no text of their own."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return clean(str.__str__(value))
    native = _number(value)
    return text_of(value, number) if native is None else native


def _number(value: object) -> bool | int | float | None:
    """The number as Python's own, or None where it is none that the core holds."""
    if isinstance(value, float):
        return _finite(float(value))
    kind = type(value)
    if kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_"):
        return bool(value)  # numpy 1 takes it for an index
    try:
        whole = operator.index(value)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001 - any object is accepted, and most are no numbers
        return _numpy_scalar(value)
    return whole if -(2**63) <= whole < 2**63 and not _is_array(value) else None


def _numpy_scalar(value: object) -> bool | float | None:
    if type(value).__module__ != "numpy" or getattr(value, "shape", None) != ():
        return None
    native = value.item()  # type: ignore[attr-defined]
    if isinstance(native, bool):
        return native
    return _finite(native) if isinstance(native, float) else None


def _finite(value: float) -> float | None:
    return value if value - value == 0.0 else None


# ---- texts of objects ----

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{5,}")
_LONGEST = 120


class _Repr(reprlib.Repr):
    """Like repr, of bounded length, and with sets in order."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 4
        self.maxtuple = self.maxlist = self.maxdict = self.maxset = self.maxfrozenset = 32
        self.maxstring = self.maxlong = self.maxother = 4 * _LONGEST

    def repr_set(self, x: set[Any], level: int) -> str:
        return "{" + ", ".join(sorted(self.repr1(v, level - 1) for v in x)) + "}"

    def repr_frozenset(self, x: frozenset[Any], level: int) -> str:
        return f"frozenset({self.repr_set(set(x), level)})"


def text_of(value: object, number: int) -> str:
    """A text for an object that is the same in every run of the program: its own, if that is short
    and holds no address, else the name of its type with the configuration's number."""
    text = clean(_own_text(value))
    if len(text) > _LONGEST or "\n" in text or _ADDRESS.search(text):
        return f"{type(value).__qualname__}:{number}"
    return text


def _own_text(value: object) -> str:
    if isinstance(value, type) or inspect.isroutine(value):
        return str(value.__qualname__)
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, list | tuple | dict | set | frozenset):
        return _Repr().repr(value)
    try:
        return _shape(value) if _is_array(value) else str(value)
    except Exception:  # noqa: BLE001 - any object is accepted, one whose text fails too
        return f"0x{id(value):08x}"


def _is_array(value: object) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype") and getattr(value, "shape", ()) != ()


def _shape(value: Any) -> str:
    """An array by its shape: its elements may be many, or on a device."""
    return f"{type(value).__name__}({'x'.join(map(str, value.shape))}, {value.dtype})"


def clean(text: str) -> str:
    """A text as the core takes it: UTF-8 without NUL."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
