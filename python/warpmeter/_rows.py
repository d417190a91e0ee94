"""Which rows of a table of results a data frame has, and in which order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ._columns import numbered, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ._measured import Measured

    _Ints = NDArray[np.int64]
    _Bools = NDArray[np.bool_]
    _Objects = NDArray[np.object_]

_RATES = ("flop_rate", "byte_rate", "item_rate")


@dataclass(slots=True)
class Rows:
    """Rows of the frame, in its order. Annotations, configurations and metrics are numbers."""

    source: _Ints
    """Row of the results table."""
    annotation: _Ints
    config: _Ints
    metric: _Ints
    annotations: list[tuple[str, str]]
    """Benchmark and region of each."""
    configs: list[tuple[str, str]]
    """Benchmark and config_key of each."""
    metrics: list[str]
    """Name of each, as it is shown; those of derive_metric are the last."""
    derived: int
    """Number of the first of those."""

    def only(self, chosen: _Bools | _Ints) -> Rows:
        return replace(
            self,
            source=self.source[chosen],
            annotation=self.annotation[chosen],
            config=self.config[chosen],
            metric=self.metric[chosen],
        )


def _numbered_pairs(first: _Objects, second: _Objects) -> tuple[_Ints, list[tuple[str, str]]]:
    """The same for pairs of texts."""
    (a, firsts), (b, seconds) = numbered(first), numbered(second)
    width = max(len(seconds), 1)
    codes, pairs = pd.factorize(a * width + b)
    return codes, [(firsts[pair // width], seconds[pair % width]) for pair in pairs]


def choose(m: Measured) -> Rows:
    rows, given = _all_rows(m)
    empty = np.flatnonzero(rows.annotation < 0)
    chosen = rows.only((rows.annotation >= 0) & (rows.metric >= 0) & ~_unasked(m, rows, given))
    if len(empty):
        chosen = _with_empty(m, chosen, rows.only(empty))
    last = chosen.metric >= chosen.derived
    return chosen.only(np.lexsort((chosen.metric, chosen.config, chosen.annotation, last)))


def _all_rows(m: Measured) -> tuple[Rows, _Bools]:
    """Every row of the table, in its own order, and whether its value was given by the function. A
    metric that is not shown is -1, and so is the annotation of a configuration without values."""
    table = m.results
    benchmark, region = text(table, "benchmark"), text(table, "region")
    metric, names, given = _metrics(m)
    config, configs = _numbered_pairs(benchmark, text(table, "config_key"))
    order = sorted(range(len(configs)), key=lambda i: m.numbers.get(configs[i][1], i))
    config = np.argsort(order)[config] if order else config
    annotation, annotations = _annotations(benchmark, region, config)
    rows = Rows(
        source=np.arange(table.num_rows),
        annotation=annotation,
        config=config,
        metric=metric,
        annotations=annotations,
        configs=[configs[i] for i in order],
        metrics=names,
        derived=len(names) - len(m.derived),
    )
    return rows, given


def _metrics(m: Measured) -> tuple[_Ints, list[str], _Bools]:
    """The metric of each row of the table, all their names, and the rows whose values were given:
    first what was asked for, then what was given or made by formulas, then what is derived."""
    codes, known = numbered(text(m.results, "metric"))
    given = (text(m.results, "backend") == "user") | np.isin(
        codes, [i for i, name in enumerate(known) if name in _RATES]
    )
    beside = np.unique(codes[given | (text(m.results, "evaluated") != "")])
    shown = [m.shown.get(name, name) for name in known]
    asked = m.metrics or [name for name in shown if name] or [""]
    measured = dict.fromkeys((*asked, *(shown[i] for i in beside)))
    names = [*(name for name in measured if name not in m.derived), *m.derived]
    numbers = {name: i for i, name in enumerate(names)}
    return _looked_up(codes, [numbers.get(name, -1) for name in shown]), names, given


def _looked_up(codes: _Ints, numbers: Sequence[int]) -> _Ints:
    return np.array(numbers, dtype=np.int64)[codes]


def _annotations(
    benchmark: _Objects, region: _Objects, config: _Ints
) -> tuple[_Ints, list[tuple[str, str]]]:
    """Numbered by first appearance when configurations come in order."""
    order = np.argsort(config, kind="stable")
    order = order[region[order] != ""]
    codes = np.full(len(region), -1)
    codes[order], annotations = _numbered_pairs(benchmark[order], region[order])
    return codes, annotations


def _with_empty(m: Measured, rows: Rows, empty: Rows) -> Rows:
    """With rows for configurations without any value: for each of them one for each annotation and
    metric that others of the benchmark have, else for what was asked of the whole function."""
    annotations = list(rows.annotations)
    pairs: dict[str, list[tuple[int, int]]] = {}
    for annotation, metric in dict.fromkeys(_pairs(rows.annotation, rows.metric)):
        if metric < rows.derived:
            pairs.setdefault(annotations[annotation][0], []).append((annotation, metric))
    more = []
    for source, config in _pairs(empty.source, empty.config):
        benchmark = rows.configs[config][0]
        if benchmark not in pairs:
            pairs[benchmark] = [(len(annotations), i) for i in range(len(m.metrics) or 1)]
            annotations.append((benchmark, benchmark))
        more += [(source, annotation, config, metric) for annotation, metric in pairs[benchmark]]
    source, annotation, config, metric = np.array(more, dtype=np.int64).T
    return replace(
        rows,
        source=np.concatenate((rows.source, source)),
        annotation=np.concatenate((rows.annotation, annotation)),
        config=np.concatenate((rows.config, config)),
        metric=np.concatenate((rows.metric, metric)),
        annotations=annotations,
    )


def _pairs(first: _Ints, second: _Ints) -> Iterator[tuple[int, int]]:
    return zip(first.tolist(), second.tolist(), strict=True)


def _unasked(m: Measured, rows: Rows, given: _Bools) -> _Bools:
    """Rows of the whole function that stand beside those of annotations, because marks were lost in
    it or values given. An annotation may have the function's name: its rows come later."""
    is_whole = np.array([*(b == r for b, r in rows.annotations), False])
    whole = is_whole[rows.annotation]
    again = pd.Series((rows.config * len(rows.annotations) + rows.annotation) * len(rows.metrics))
    again += rows.metric
    earlier = whole & np.asarray(again.duplicated(keep="last"))
    lost = text(m.results, "status") == "error"
    there = whole & (lost | (given & (rows.metric < rows.derived)))
    beside = np.isin(rows.config, rows.config[there])
    beside &= np.isin(rows.config, rows.config[~whole & (rows.annotation >= 0)])
    if any(b == r == m.normalize_against for b, r in rows.annotations):
        beside[:] = False
    later = np.asarray(again.duplicated(keep="first"))
    left_out: _Bools = earlier | (whole & beside & ~given & ~later)
    return left_out
