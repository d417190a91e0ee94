"""Collectors: what a caller's functions say beside the measurements, kept until the frame is made.

The core says when a configuration or a run is due, and an annotation when it is entered; here is
decided who is called. What they return stays as it is for the frame; the core is handed numbers and
texts of it."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ._configs import CoreValue, clean, core_value
from .exceptions import ProfilerException
from .info_collector import CollectionScope, InfoCollector

if TYPE_CHECKING:
    from ._configs import Parameters
    from ._core import Scope, Session

RESERVED = frozenset(
    ("Annotation", "Value", "Metric", "Kernel", "GPU", "Host", "ComputeClock", "MemoryClock")
    + ("Unit", "AvgValue", "StdDev", "MinValue", "MaxValue", "NumRuns", "CI95_Lower", "CI95_Upper")
    + ("RelativeStdDevPct", "StableMeasurement", "Geomean", "Normalized", "NormalizationValue")
)
"""nsight-python's columns, whose names a collector does not take."""

Place = tuple[int, int, str]
"""Of a value: configuration, run and annotation; -1 and "" for what the scope has not."""


# ---- what the caller gives ----


def normalised(given: Iterable[object]) -> tuple[InfoCollector, ...]:
    """Each as an InfoCollector with a CollectionScope.

    TypeError, ValueError: what is no collector, or has no such scope. ProfilerException: a name
    that is there twice, or that nsight-python's columns have."""
    if isinstance(given, InfoCollector | str) or not isinstance(given, Iterable):
        raise TypeError(f"info_collectors is {given!r}: a sequence of collectors is accepted")
    collectors = tuple(map(_normalised, given))
    seen: set[str] = set()
    for each in collectors:
        if each.name in seen:
            raise ProfilerException(f"info_collectors: there are two of the name {each.name!r}")
        if each.name in RESERVED:
            raise ProfilerException(
                f"info_collectors: {each.name!r} is the name of a column of results: take another"
            )
        seen.add(each.name)
    return collectors


def _normalised(given: object) -> InfoCollector:
    if isinstance(given, InfoCollector):
        name, function, scope = given.name, given.callback, given.scope
    elif isinstance(given, tuple):
        if len(given) != 3:
            accepted = "(name, function, scope) is accepted"
            raise ValueError(f"info_collectors holds {given!r}: {accepted}")
        name, function, scope = given
    elif isinstance(marked := getattr(given, "_warpmeter_collector", None), tuple):
        (name, scope), function = marked, given  # type: ignore[assignment]
    else:
        raise ValueError(
            f"info_collectors holds {given!r}: a function marked by experimental.collect,"
            " (name, function, scope) or an InfoCollector is accepted"
        )
    if not isinstance(name, str) or not name or not callable(function):
        raise TypeError(
            f"info_collectors holds {given!r}: the name is a text, and the function can be called"
        )
    try:
        return InfoCollector(name, function, CollectionScope(scope))
    except ValueError:
        accepted = ", ".join(repr(each.value) for each in CollectionScope)
        raise ValueError(
            f"info_collectors: the scope of {name!r} is {scope!r}: {accepted} or a"
            " CollectionScope is accepted"
        ) from None


def check_names(collectors: Sequence[InfoCollector], parameters: Parameters) -> None:
    """ProfilerException: a name that a parameter of the function has."""
    for each in collectors:
        if each.name in parameters.names:
            raise ProfilerException(
                f"info_collectors: {each.name!r} is the name of a parameter of the function, too"
            )


# ---- what is collected ----


@dataclass(slots=True)
class Collected:
    """The values of one collector in a call, by place."""

    name: str
    scope: CollectionScope
    values: dict[Place, Any] = field(default_factory=dict)

    @property
    def numeric(self) -> bool:
        """Whether it makes four columns: some value is a number, and none is anything else."""
        if self.scope is CollectionScope.ONCE:
            return False
        values = [value for value in self.values.values() if value is not None]
        return bool(values) and all(map(is_number, values))

    def place(self, config: int, run: int, region: str) -> Place:
        """Where the value for a run and region is kept."""
        if self.scope is CollectionScope.ONCE:
            return -1, -1, ""
        if self.scope is CollectionScope.CONFIG:
            return config, -1, ""
        return config, run, region if self.scope is CollectionScope.ANNOTATION else ""


def is_number(value: object) -> bool:
    """Numbers of Python and scalars of numpy, as far as a float holds them; True and False are
    none."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


class Collecting:
    """The collectors of one call, at work. Each is called once for each place of its scope,
    whatever is measured again. entered() may be called in any thread."""

    def __init__(
        self, collectors: Sequence[InfoCollector], configs: Sequence[tuple[object, ...]]
    ) -> None:
        self._configs = configs
        self._calls = [_Call(each.name, each.callback, _takes(each)) for each in collectors]
        self._of_annotations = [
            call
            for call, each in zip(self._calls, collectors, strict=True)
            if each.scope is CollectionScope.ANNOTATION
        ]
        self._failed: dict[str, str] = {}
        self.collected = {each.name: Collected(each.name, each.scope) for each in collectors}

    @property
    def of_annotations(self) -> bool:
        """Whether some collector is called where annotations are entered."""
        return bool(self._of_annotations)

    @property
    def failures(self) -> Iterator[str]:
        """A line for each collector that raised something."""
        yield from self._failed.values()

    def due(self, number: int, config: int, run: int) -> None:
        """One that has another scope is due: in the call, where config is below 0, in a
        configuration, or in a run."""
        call = self._calls[number]
        place = self.collected[call.name].place(config, run, "")
        self._collect(call, place, self._configs[config] if config >= 0 else ())

    def entered(self, config: int, run: int, name: str, path: str) -> None:
        """An annotation is about to be entered."""
        for call in self._of_annotations:
            self._collect(call, (config, run, path), (name, *self._configs[config]))

    def _collect(self, call: _Call, place: Place, arguments: Sequence[object]) -> None:
        values = self.collected[call.name].values
        value: object = self  # who comes first
        if values.setdefault(place, value) is not value:
            return
        value = None
        try:
            value = call.function(*arguments[: call.takes])
        except Exception as error:  # noqa: BLE001 - whatever it is, the measurement goes on
            kind = type(error).__name__
            text = f"the collector {call.name!r} raised {kind}: {error}; it has no value there"
            self._failed.setdefault(call.name, text)
        finally:
            values[place] = value


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    function: Callable[..., Any]
    takes: int | None
    """How many arguments it is given at most."""


def _takes(collector: InfoCollector) -> int | None:
    """How many arguments the function takes by position; None: any number. An annotation's name is
    always given."""
    if collector.scope is CollectionScope.ONCE:
        return 0
    try:
        parameters = inspect.signature(collector.callback).parameters.values()
    except (TypeError, ValueError):  # some built-in ones do not tell
        return None
    kinds = [parameter.kind for parameter in parameters]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return None
    by_position = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    takes = sum(kind in by_position for kind in kinds)
    return max(takes, 1) if collector.scope is CollectionScope.ANNOTATION else takes


# ---- for the core ----

_ENDINGS = ("", "_avg", "_std", "_min", "_max")


def core_names(
    collected: Collection[str], session: Session, parameters: Iterable[str]
) -> dict[str, str]:
    """The name in the core's tables for each: its own, or a longer one where columns of them, or
    parameters, have it."""
    names: dict[str, str] = {}
    if not collected:
        return names
    columns = (*session.table().column_names, *session.samples().column_names)
    taken = {"nulls", *columns, *map(clean, parameters)}
    for each in collected:
        name = clean(each)
        while any(name + ending in taken for ending in _ENDINGS):
            name = f"collected_{name}"
        names[each] = name
        taken.update(name + ending for ending in _ENDINGS)
    return names


def scope_of(collected: Collected) -> Scope:
    return collected.scope.value


def for_core(collected: Collected) -> Iterator[tuple[Place, CoreValue | None]]:
    """The values as the core holds them, place by place: all numbers, or texts of all."""
    numeric = collected.numeric
    for place, value in collected.values.items():
        if value is None:
            yield place, None
        elif numeric:
            yield place, float(value)
        else:
            yield place, core_value(value, max(place[0], 0))
