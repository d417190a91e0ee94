"""What several kernels of a region make: told to the core, or folded by the caller's function."""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _core
from ._backend import RECORDS, Choice
from ._settings import Settings

if TYPE_CHECKING:
    from ._core import RawTable, Sweep


def option(settings: Settings, choice: Choice) -> str | None:
    """What --combine is given; None: nothing, so each metric has its own rule."""
    how = settings.combine_kernel_metrics
    if isinstance(how, Mapping):
        core_name = {shown: core for core, shown in choice.shown.items()}
        return ",".join(f"{core_name.get(m, m)}={each}" for m, each in how.items()) or None
    return "one" if how is None and choice.replay != "range" else None


# ---- values by place ----

Place: TypeAlias = tuple[int, str, int]
"""Number of the configuration, region, run."""


@dataclass(frozen=True)
class Target:
    """Where values are put: a sweep of `function`, whose configurations have `numbers` by their
    keys."""

    sweep: Sweep
    function: str
    numbers: Mapping[str, int]

    def put(self, place: Place, metric: str, value: float | None, unit: str) -> None:
        """Say a value, or that there is none: None, and a number that is not finite.

        ValueError: the core does not take the metric's name, or its unit was another before."""
        number, region, run = place
        if value is not None and not math.isfinite(value):
            value = None
        try:
            self.sweep.put(number, run, region, metric, value, unit)
        except _core.Error as error:
            if error.status != "WM_ENOTFOUND" or region != self.function:
                raise
            self.sweep.put(number, run, None, metric, value, unit)

    def samples(self, table: RawTable) -> Iterator[tuple[Place, str, float | None, str]]:
        """Place, metric, value and unit of each sample."""
        names = ("config_key", "region", "run", "metric", "value", "unit")
        columns = (table.column(name).to_list() for name in names)
        for key, region, run, metric, value, unit in zip(*columns, strict=True):
            place = (self.numbers[str(key)], str(region), _int(run))
            yield place, str(metric), None if value is None else float(value), str(unit or "")


def _int(value: float | str | None) -> int:
    return int(value or 0)


# ---- a function of two ----


class Fold:
    """A function of two, folded from the left over the kernels of a region and run, in the order of
    their launches. It is given arrays with a value for each metric, which is NaN where that is not
    read of kernels or has no value in the run.

    The core calls it with what it read, and gets a token for that: values take the tokens' places
    when the sweep is over."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        """ImportError: there is no numpy."""
        import numpy  # noqa: F401 - found missing now, not when all was measured

        self._function = function
        self._noted: list[list[float]] = []
        self._of_kernels = {RECORDS}

    def __call__(self, metric: str, values: list[float], weights_ns: list[float]) -> float:
        self._of_kernels.add(metric)
        self._noted.append(values)
        return float(len(self._noted) - 1)

    def put(
        self, metrics: Sequence[str], target: Target, samples: RawTable, kernels: RawTable
    ) -> None:
        """Replace what was combined, of `metrics` (the core's names, in the order of the arrays).

        What the function raises is raised. ValueError: it returned no array like those it got."""
        times = _Times(target, kernels)
        found: dict[Place, dict[str, list[float]]] = defaultdict(dict)
        units: dict[str, str] = {}
        for place, metric, value, unit in target.samples(samples):
            if metric not in self._of_kernels:
                continue
            if value is None:  # an annotation of the function's name comes after the function
                found[place].pop(metric, None)
                continue
            units[metric] = unit
            noted = times.of(place) if metric == RECORDS else self._noted[int(value)]
            found[place][metric] = noted
        for place, values in found.items():
            if not values:
                continue
            for metric, value in self._fold(metrics, values).items():
                target.put(place, metric, value, units[metric])

    def _fold(
        self, metrics: Sequence[str], values: dict[str, list[float]]
    ) -> dict[str, float | None]:
        counts = {len(each) for each in values.values()}
        if len(counts) > 1 or 0 in counts:  # passes saw different kernels
            return dict.fromkeys(values)
        import numpy as np

        nothing = [math.nan] * counts.pop()
        columns = [values.get(metric, nothing) for metric in metrics]
        folded = functools.reduce(self._function, np.array(columns, dtype=float).T)
        try:
            result = np.broadcast_to(np.asarray(folded, dtype=float), len(metrics))
        except (TypeError, ValueError):
            raise ValueError(
                f"combine_kernel_metrics returned {folded!r}: an array like those that it is given,"
                f" of {len(metrics)} numbers, is accepted"
            ) from None
        return {m: float(x) for m, x in zip(metrics, result, strict=True) if m in values}


class _Times:
    """How long the kernels of each place ran, in the order of their launches [ns]."""

    def __init__(self, target: Target, kernels: RawTable) -> None:
        self._function = target.function
        self._rows: dict[tuple[int, int], list[tuple[str, float]]] = defaultdict(list)
        names = ("config_key", "run", "region", "duration_ns", "kind", "ignored")
        columns = (kernels.column(name).to_list() for name in names)
        for key, run, region, ns, kind, ignored in zip(*columns, strict=True):
            if kind != "kernel" or ignored:
                continue
            spot = target.numbers[str(key)], _int(run)
            self._rows[spot].append((str(region or ""), math.nan if ns is None else float(ns)))

    def of(self, place: Place) -> list[float]:
        """Those in the region and in the regions within it."""
        number, region, run = place
        rows, within = self._rows[number, run], f"{region}/"
        found = [ns for at, ns in rows if at == region or at.startswith(within)]
        if found or region != self._function:  # an annotation may have the function's name
            return found
        return [ns for _, ns in rows]
