"""What was measured as a data frame: nsight-python's columns, then ours. Nothing else
knows them.

Statistics are the core's. What is reckoned here are ratios to the baseline's means, and geometric
means over configurations."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from . import _units
from ._columns import array, counts, floats_of, mapped, numbered, numbers, objects, text, valid
from ._measured import collected_names
from ._rows import Rows, choose
from ._state import CLOCKS, STATE, THROTTLED
from ._words import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ._collect import Collected
    from ._core import RawTable
    from ._measured import Measured

    _Ints = NDArray[np.int64]
    _Floats = NDArray[np.float64]
    _Objects = NDArray[np.object_]

# Statistics in the unit of the row: the frame's name, the table's.
_STATISTICS = {
    "AvgValue": "mean",
    "StdDev": "stddev",
    "MinValue": "min",
    "MaxValue": "max",
    "CI95_Lower": "ci95_low",
    "CI95_Upper": "ci95_high",
    "Median": "median",
    "P05": "p05",
    "P95": "p95",
}


# ---- what tells of a row ----


def _labels(m: Measured, rows: Rows) -> dict[str, Any]:
    return {
        "Annotation": objects([region for _, region in rows.annotations])[rows.annotation],
        "Metric": objects(rows.metrics)[rows.metric],
    }


def _where(m: Measured, rows: Rows) -> dict[str, Any]:
    """On which machine and device, of which kernels."""
    table = m.results
    gpu = _or_else(text(table, "device"), table.context.get("gpu"))[rows.source]
    return {
        "Kernel": mapped(text(table, "kernel"), _kernel_name(m.ranges))[rows.source],
        "GPU": gpu,
        "Host": _or_else(text(table, "host"), table.context.get("host"))[rows.source],
        "ComputeClock": _clock(table, gpu, "rated_hz"),
        "MemoryClock": _clock(table, gpu, "memory_rated_hz"),
        "Unit": _unit(m, rows),
    }


def _or_else(values: _Objects, other: object) -> _Objects:
    filled = values.copy()
    filled[values == ""] = other or ""
    return filled


def _kernel_name(ranges: bool) -> Callable[[str], str]:
    return lambda names: "range" if ranges and names else names.replace(", ", "|")


def _clock(table: RawTable, gpu: _Objects, what: str) -> _Ints | _Floats:
    """Of each row's device, in kHz, on paper; NaN where it is not known."""
    context = table.context
    by_name: dict[str, float] = {}
    for key, name in context.items():
        if key == "gpu" or (key.startswith("gpu_") and key[4:].isdigit()):
            hz = context.get(f"{key}_{what}")
            if isinstance(name, str) and isinstance(hz, int | float):
                by_name.setdefault(name, hz / 1000)
    khz = mapped(gpu, lambda name: by_name.get(name, np.nan)).astype(np.float64)
    return khz if np.isnan(khz).any() else np.rint(khz).astype(np.int64)


def _unit(m: Measured, rows: Rows) -> _Objects:
    units, known = numbered(text(m.results, "unit"))
    unit = units[rows.source]
    pairs, which = pd.factorize(unit * len(rows.metrics) + rows.metric)
    width = len(rows.metrics)
    spelled = [_unit_of(m, known[pair // width], rows.metrics[pair % width]) for pair in which]
    return objects(spelled)[pairs]


def _unit_of(m: Measured, unit: str, metric: str) -> str | float:
    return np.nan if metric in m.unitless else _units.shown(unit, metric)


# ---- parameters ----

_PLAIN = ({int}, {float}, {int, float}, {bool}, {str})


def _parameters(m: Measured, rows: Rows, taken: Sequence[str]) -> dict[str, Any]:
    """The caller's own objects; for a table from a file its columns."""
    if m.numbers:
        numbers = [m.numbers[key] for _, key in rows.configs]
        columns = {
            name: _own([m.configs[number][i] for number in numbers]).take(rows.config)
            for i, name in enumerate(m.parameters)
        }
    else:
        columns = {
            name: pd.Series(array(m.results.column(name))).take(rows.source)
            for name in m.parameters
        }
    free: dict[str, Any] = {}
    for own, values in columns.items():
        name = own
        while name in taken or (name != own and (name in columns or name in free)):
            name = f"param_{name}"
        free[name] = values.reset_index(drop=True)
    return free


def _own(values: list[object]) -> pd.Series[Any]:
    """Plain numbers and texts in a column of their type, all else as the objects that they are."""
    kinds = set(map(type, values))
    if kinds in _PLAIN or (len(kinds) == 1 and issubclass(kinds.pop(), np.generic)):
        with contextlib.suppress(UnicodeEncodeError):  # pandas takes no half of a surrogate pair
            return pd.Series(values)
    return pd.Series(objects(values), dtype=object)


# ---- statistics ----


def _statistics(m: Measured, rows: Rows) -> dict[str, _Floats]:
    return {shown: numbers(m.results, name)[rows.source] for shown, name in _STATISTICS.items()}


def baseline(m: Measured, annotations: Sequence[str]) -> str:
    """The annotation that normalize_against means: that name, else the only path that ends in it.

    ValueError where there is none."""
    name = m.normalize_against
    ends = [each for each in annotations if each.endswith(f"/{name}")]
    if name in annotations:
        return str(name)
    if len(ends) == 1:
        return ends[0]
    raise ValueError(
        f"normalize_against is {name!r}: there are the annotations {', '.join(annotations)}"
    )


def _scale(m: Measured, rows: Rows, mean: _Floats) -> _Floats:
    """The baseline's mean for each row's configuration and metric; NaN for none, and for zero."""
    base = baseline(m, [region for _, region in rows.annotations])
    key = rows.config * len(rows.metrics) + rows.metric
    means = np.full(len(rows.configs) * len(rows.metrics), np.nan)
    chosen = np.array([region == base for _, region in rows.annotations])[rows.annotation]
    means[key[chosen]] = mean[chosen]
    means[means == 0] = np.nan
    scale: _Floats = means[key]
    return scale


_ENDS = (("MinValue", "MaxValue"), ("CI95_Lower", "CI95_Upper"), ("P05", "P95"))


def _scaled(own: dict[str, _Floats], scale: _Floats) -> dict[str, _Floats]:
    """A scale below zero turns the ends of a range around; a spread is never below zero."""
    scaled = {name: values / scale for name, values in own.items()}
    scaled["StdDev"] = own["StdDev"] / np.abs(scale)
    for low, high in _ENDS:
        ends = scaled[low], scaled[high]
        scaled[low] = np.where(scale < 0, ends[1], ends[0])
        scaled[high] = np.where(scale < 0, ends[0], ends[1])
    return scaled


def _geomean(rows: Rows, values: _Floats) -> _Floats:
    """Over the configurations that have a value, for each annotation and metric."""
    group = rows.annotation * len(rows.metrics) + rows.metric
    has = ~np.isnan(values)
    groups = len(rows.annotations) * len(rows.metrics)
    with np.errstate(divide="ignore", invalid="ignore"):
        sums = np.bincount(group[has], np.log(values[has]), groups)
        means = np.exp(sums / np.bincount(group[has], minlength=groups))
    geomeans: _Floats = means[group]
    return geomeans


# ---- collectors ----


def _collected(m: Measured, rows: Rows) -> dict[str, Any]:
    """Of numbers the statistics over the runs, of anything else the first value; of a collector
    that is called once its value."""
    if not m.collected:
        return _collected_of_file(m.results, rows)
    assert m.samples is not None
    samples, of = _samples(m, rows)
    run = np.asarray(m.samples.column("run"))[samples]
    columns: dict[str, Any] = {}
    for each in m.collected:
        values = _said(m, rows.only(of), each, run)
        if each.numeric:
            columns |= _spread(each.name, floats_of(values), of, len(rows.source))
        else:  # a row without samples may have what was said of its configuration
            of_rows = _said(m, rows, each, np.full(len(rows.source), -1))
            columns[each.name] = _first(values, of.tolist(), of_rows)
    return columns


def _collected_of_file(table: RawTable, rows: Rows) -> dict[str, Any]:
    """What a file of results holds of it, under the frame's names."""
    names = collected_names(table)
    columns: dict[str, Any] = {}
    for name in names:
        base, _, ending = name.rpartition("_")
        spread = all(f"{base}_{each}" in names for each in ("avg", "std", "min", "max"))
        shown = f"{base}_{ending.capitalize()}" if spread else name
        columns[shown] = array(table.column(name))[rows.source]
    return columns


def _said(m: Measured, rows: Rows, collected: Collected, run: _Ints) -> list[Any]:
    """What the collector said in the run of that number, for each row."""
    configs = [m.numbers.get(key, 0) for _, key in rows.configs]
    regions = [region for _, region in rows.annotations]
    where = zip(rows.config.tolist(), run.tolist(), rows.annotation.tolist(), strict=True)
    return [
        collected.values.get(collected.place(configs[config], number, regions[annotation]))
        for config, number, annotation in where
    ]


def _spread(name: str, values: _Floats, of: _Ints, rows: int) -> dict[str, _Floats]:
    group = pd.Series(values).groupby(of)
    columns = {"Avg": group.mean(), "Std": group.std(), "Min": group.min(), "Max": group.max()}
    spread: dict[str, _Floats] = {}
    for ending, column in columns.items():
        spread[f"{name}_{ending}"] = np.asarray(column.reindex(pd.RangeIndex(rows)))
    return spread


def _first(values: Sequence[object], of: Sequence[int], column: list[object]) -> _Objects:
    for row, value in zip(of, values, strict=True):
        if column[row] is None:
            column[row] = value
    return objects(column)


# ---- frames ----


def results_frame(m: Measured) -> pd.DataFrame:
    """A row for each annotation, configuration and metric, as docs/python.md describes it.

    ValueError where normalize_against names no annotation."""
    rows = choose(m)
    own = _statistics(m, rows)
    where = _where(m, rows)
    scaled = own
    if m.normalize_against is not None and len(rows.source):
        scale = _scale(m, rows, own["AvgValue"])
        scaled = _scaled(own, scale)
    theirs = _theirs(m, rows, scaled, where)
    frame = theirs | {k: v for k, v in _ours(m, rows, scaled).items() if k not in theirs}
    if m.normalize_against is not None:
        frame |= {f"Raw{name}": values for name, values in own.items()}
        frame |= {"RawUnit": where["Unit"], "Unit": np.full(len(rows.source), "", dtype=object)}
    labels = _labels(m, rows)
    return pd.DataFrame(labels | _parameters(m, rows, (*labels, *frame)) | frame)


def _theirs(
    m: Measured, rows: Rows, statistics: dict[str, _Floats], where: dict[str, Any]
) -> dict[str, Any]:
    """nsight-python's columns behind the parameters."""
    spread = numbers(m.results, "rel_stddev")[rows.source] * 100
    against = m.normalize_against
    return {
        **{name: statistics[name] for name in ("AvgValue", "StdDev", "MinValue", "MaxValue")},
        "NumRuns": counts(m.results, "samples")[rows.source],
        **where,
        **_collected(m, rows),
        **{name: statistics[name] for name in ("CI95_Lower", "CI95_Upper")},
        "RelativeStdDevPct": spread,
        "StableMeasurement": _nullable_bool(m.results, "stable")[rows.source],
        "Normalized": np.full(len(rows.source), False if against is None else against),
        "Geomean": _geomean(rows, statistics["AvgValue"]),
    }


def _nullable_bool(table: RawTable, name: str) -> pd.arrays.BooleanArray:
    column = table.column(name)
    return pd.arrays.BooleanArray(np.array(column), ~valid(column))


def _ours(m: Measured, rows: Rows, statistics: dict[str, _Floats]) -> dict[str, Any]:
    table = m.results
    columns = {
        **{name: statistics[name] for name in ("Median", "P05", "P95")},
        "Outliers": numbers(table, "outliers")[rows.source],
        "SMClock": numbers(table, "sm_clock_hz")[rows.source],
        "Kernels": numbers(table, "kernels")[rows.source],
        "Entries": counts(table, "entries")[rows.source],
        "Timer": text(table, "timer")[rows.source],
        "PassTimeRatio": numbers(table, "pass_time_ratio")[rows.source],
        "Bound": text(table, "bound")[rows.source],
        **_state(m, rows),
        "Note": text(table, "note")[rows.source],
        "Status": text(table, "status")[rows.source],
        "Reason": mapped(text(table, "reason"), plain)[rows.source],
    }
    benchmarks = objects([benchmark for benchmark, _ in rows.annotations])
    if len(set(benchmarks)) > 1:
        columns["Benchmark"] = benchmarks[rows.annotation]
    return columns


def _state(m: Measured, rows: Rows) -> dict[str, Any]:
    """The machine's, as far as it was asked for."""
    table = m.results
    asked = STATE | THROTTLED if m.state else {}
    asked = asked | (CLOCKS if m.clocks else {})
    return {shown: _either(table, name)[rows.source] for shown, name in asked.items()}


def _either(table: RawTable, name: str) -> NDArray[Any]:
    """A column of texts or of numbers."""
    known = name in table.column_names and table.column(name).type == "str"
    return text(table, name) if known else numbers(table, name)


def samples_frame(m: Measured) -> pd.DataFrame:
    """A row for each run and metric, in nsight-python's columns for raw values."""
    rows = choose(m)
    assert m.samples is not None
    samples, of = _samples(m, rows)
    run = np.asarray(m.samples.column("run"))[samples]
    order = np.lexsort(
        (
            rows.metric[of],
            run,
            rows.config[of],
            rows.annotation[of],
            rows.metric[of] >= rows.derived,
        )
    )
    rows, samples, run = rows.only(of[order]), samples[order], run[order]
    labels = _labels(m, rows)
    frame = {
        "Annotation": labels["Annotation"],
        "Value": numbers(m.samples, "value")[samples],
        "Metric": labels["Metric"],
        **_where(m, rows),
        **{each.name: _raw(_said(m, rows, each, run), each.numeric) for each in m.collected},
    }
    state = {shown: _either(m.samples, name)[samples] for shown, name in STATE.items()}
    more = state if m.state else {}
    return pd.DataFrame(frame | _parameters(m, rows, (*frame, *more)) | more)


def _raw(values: list[Any], numeric: bool) -> _Floats | _Objects:
    return floats_of(values) if numeric else objects(values)


def _samples(m: Measured, rows: Rows) -> tuple[_Ints, _Ints]:
    """The samples of those rows: their numbers, and the numbers of the rows."""
    assert m.samples is not None
    columns = ("region", "config_key", "metric")
    keys = {name: text(m.samples, name) for name in columns}
    ours = {name: text(m.results, name)[rows.source] for name in columns}
    codes = np.zeros(len(rows.source) + m.samples.num_rows, dtype=np.int64)
    for name in columns:
        more, known = numbered(np.concatenate((ours[name], keys[name])))
        codes = pd.factorize(codes * max(len(known), 1) + more)[0]
    row_of = np.full(len(codes) + 1, -1)
    row_of[codes[: len(rows.source)]] = np.arange(len(rows.source))
    of = row_of[codes[len(rows.source) :]]
    run = np.asarray(m.samples.column("run"))
    again = pd.DataFrame({"row": of, "run": run}).duplicated(keep="last")
    kept = np.flatnonzero((of >= 0) & ~np.asarray(again))
    return kept, of[kept]
