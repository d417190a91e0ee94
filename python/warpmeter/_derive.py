"""derive_metric: metrics that a function of the caller's makes of those that were measured, run by
run."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ._combine import Place, Target
from ._configs import name_of
from ._settings import Derive

if TYPE_CHECKING:
    from ._core import RawTable

_Value: TypeAlias = tuple[float | None, str | None]
"""A number and its unit; None: it has none."""


@dataclass
class Derived:
    """The metrics that came, in the order of their coming; and those of them without a unit."""

    names: list[str] = field(default_factory=list)
    unitless: set[str] = field(default_factory=set)


def check_arity(function: Derive, metrics: Sequence[str], parameters: Sequence[str]) -> None:
    """ValueError: the function does not take a value of each metric and then of each parameter."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a builtin that does not tell
        return
    try:
        signature.bind(*metrics, *parameters)
    except TypeError as error:
        expected = len(metrics) + len(parameters)
        raise ValueError(
            f"derive_metric expects {expected} arguments ({', '.join([*metrics, *parameters])}),"
            f" but {name_of(function)}{signature} does not take them: {error}"
        ) from None


def derive(
    function: Derive,
    metrics: Sequence[str],
    shown: Mapping[str, str],
    configs: Sequence[Sequence[object]],
    target: Target,
    results: RawTable,
    samples: RawTable,
) -> Derived:
    """Call the function for each region, configuration and run in which all `metrics` have a value,
    and put what it returns into the sweep. `metrics` are the core's names, `shown` has those that
    were asked for where they differ. Runs without a value have none of the derived metrics either.

    What the function raises is raised. TypeError: it returned no number; ValueError: a name that is
    measured already, or another unit than before."""
    measured = {*metrics, *shown.values(), *map(str, results.column("metric").to_list())}
    outcomes: dict[Place, dict[str, _Value]] = {}
    for place, values in _values(target, results, samples).items():
        if any(values.get(metric) is None for metric in metrics):
            outcomes[place] = {}
            continue
        returned = function(*_numbers([values[m] for m in metrics]), *configs[place[0]])
        outcomes[place] = _outcome(function, returned)
    derived, units = Derived(), _units(outcomes)
    for name, unit in units.items():
        if name in measured:
            raise ValueError(
                f"derive_metric returned {name!r}, which is measured: name it otherwise"
            )
        derived.names.append(name)
        if unit is None:
            derived.unitless.add(name)
    for place in sorted(outcomes, key=lambda p: (p[0], p[2])):
        for name, unit in units.items():
            value, own = outcomes[place].get(name, (None, unit))
            target.put(place, name, value, own or "")
    return derived


def _values(
    target: Target, results: RawTable, samples: RawTable
) -> dict[Place, dict[str, float | None]]:
    """What was measured in the regions that have rows."""
    regions = set(results.column("region").to_list())
    found: dict[Place, dict[str, float | None]] = defaultdict(dict)
    for place, metric, value, _ in target.samples(samples):
        if place[1] in regions:
            found[place][metric] = value
    return found


def _numbers(values: Sequence[float | None]) -> Sequence[float]:
    """As numpy's numbers, of which a division by zero is no error; without numpy Python's own."""
    try:
        import numpy as np
    except ImportError:
        return [float(value or 0.0) for value in values]
    return list(np.array(values, dtype=float))


def _units(outcomes: Mapping[Place, Mapping[str, _Value]]) -> dict[str, str | None]:
    units: dict[str, str | None] = {}
    for outcome in outcomes.values():
        for name, (_, unit) in outcome.items():
            units.setdefault(name, unit)
    return units


# ---- what the function returned ----


def _outcome(function: Derive, returned: object) -> dict[str, _Value]:
    if isinstance(returned, Mapping):
        return {str(name): _value(str(name), each) for name, each in returned.items()}
    name = name_of(function)
    return {name: _value(name, returned)}


def _is_clean(text: str) -> bool:
    """Whether the core can hold it: no NUL, and no half of a surrogate pair."""
    return "\0" not in text and text.encode(errors="replace").decode() == text


def _value(name: str, returned: object) -> _Value:
    if not name or not _is_clean(name):
        raise ValueError(f"derive_metric returned a metric named {name!r}: name it otherwise")
    number, unit = returned, None
    if isinstance(returned, tuple) and len(returned) == 2:
        number, unit = returned
    if isinstance(unit, float):  # NaN, which says that there is none
        unit = None
    if unit is not None and not (isinstance(unit, str) and _is_clean(unit)):
        raise TypeError(
            f"derive_metric returned the unit {unit!r} for {name!r}: a text is accepted"
        )
    if number is None:
        return None, unit
    try:
        return float(number), unit  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise TypeError(
            f"derive_metric returned {returned!r} for {name!r}:"
            " a number, (number, unit) or a dict of these is accepted"
        ) from None
