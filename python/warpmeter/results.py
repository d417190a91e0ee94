"""What a call of a decorated function, or a session, measured."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn, final

from . import _core
from ._measured import Measured, collected_names
from .exceptions import NCUNotAvailableError
from .table import Table, need_pandas

if TYPE_CHECKING:
    import pandas as pd

_Path = str | os.PathLike[str]

# Columns without which results cannot be shown as a data frame.
_REQUIRED = frozenset(
    ("benchmark", "region", "metric", "unit", "samples", "rel_stddev", "stable", "status")
    + ("mean", "stddev", "min", "max", "median", "p05", "p95", "ci95_low", "ci95_high")
    + ("config_key",)
)


@final
class ProfileResults:
    """Results, the samples behind them, and the kernels that ran. They do not change, and can be
    read in any thread."""

    __slots__ = ("__weakref__", "_measured")

    def __init__(self, measured: Measured) -> None:
        self._measured = measured

    def to_dataframe(self) -> pd.DataFrame:
        """A row for each annotation, configuration and metric, with nsight-python's columns and
        then more; docs/python.md lists them. Another frame each time. What was not measured is NaN,
        and the columns Status and Reason say why.

        ValueError where normalize_against names none of the annotations; ImportError where there is
        no pandas."""
        need_pandas()
        from ._frame import results_frame

        return results_frame(self._measured)

    def table(self) -> Table:
        """The core's table of results, which the frame is made of."""
        return Table(self._measured.results)

    def samples(self) -> Table:
        """Every value of every run. LookupError for results from a file, loaded without them."""
        return _there(self._measured.samples, "samples")

    def kernels(self) -> Table:
        """Every kernel, copy and set of memory of the runs in which times were taken. LookupError
        for results from a file, loaded without them."""
        return _there(self._measured.kernels, "kernels")

    @property
    def report(self) -> Table | None:
        """What ncu counted of the same call, as a table of results: for report="ncu". Compare it
        with warpmeter.compare(results.report, results)."""
        return None if self._measured.report is None else Table(self._measured.report)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table of results for Arrow's readers."""
        return self._measured.results.__arrow_c_stream__(requested_schema)

    def save(
        self,
        path: _Path,
        format: str | None = None,
        *,
        samples: _Path | None = None,
        kernels: _Path | None = None,
    ) -> None:
        """Write the table of results as Table.save does and, where paths are given, the samples and
        the kernels to files of their own."""
        tables = ((self.samples, samples), (self.kernels, kernels))
        more = [(table(), beside) for table, beside in tables if beside is not None]
        self.table().save(path, format)
        for table, beside in more:
            table.save(beside)

    def plot(self, *args: object, **kwargs: object) -> NoReturn:
        """Not there yet: NotImplementedError."""
        raise NotImplementedError("plots are not there yet: draw what to_dataframe() returns")

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


def load(
    path: _Path, *, samples: _Path | None = None, kernels: _Path | None = None
) -> ProfileResults | Table:
    """Read a file, JSON or CSV, that save() or the tool `warpmeter` wrote. Results are
    ProfileResults, with the samples and kernels of the files that are named beside them; their
    parameters are as the file holds them, not the objects that they were. Any other table, and
    results of which columns were left out, is a Table.

    A report of ncu's (.ncu-rep) is read, too, by ncu: NCUNotAvailableError where that is not there.

    OSError where a file cannot be read; ValueError and warpmeter's Error for what it holds."""
    try:
        raw = _core.RawTable.read(os.fspath(path))
    except _core.Error as error:
        if error.status == "WM_ENOTFOUND" and os.fsdecode(path).endswith(".ncu-rep"):
            raise NCUNotAvailableError(str(error)) from error
        raise
    beside = [_read_kind(samples, "samples"), _read_kind(kernels, "kernels")]
    if raw.kind == "results" and _REQUIRED.issubset(raw.column_names):
        return ProfileResults(_measured(raw, *beside))
    if samples is not None or kernels is not None:
        raise ValueError(
            f"{os.fspath(path)} is no whole table of results, which samples and kernels belong to"
        )
    return Table(raw)


def compare(
    baseline: ProfileResults | Table, contender: ProfileResults | Table, threshold: float = 0.01
) -> Table:
    """Both row by row: the ratio of the contender's mean to the baseline's, with its 95 % interval
    and a verdict. Ratios within 1 ± threshold count as the same.

    TypeError for what is no results; warpmeter's Error where they have no row in common."""
    tables = [
        each.table() if isinstance(each, ProfileResults) else each for each in (baseline, contender)
    ]
    for table in tables:
        if not isinstance(table, Table):
            raise TypeError(f"compare takes results or tables of them, not {table!r}")
    return tables[0].compare(tables[1], threshold)


def _there(raw: _core.RawTable | None, what: str) -> Table:
    if raw is None:
        raise LookupError(f"the {what} are not in the file of results: load(path, {what}=FILE)")
    return Table(raw)


def _read_kind(path: _Path | None, kind: str) -> _core.RawTable | None:
    if path is None:
        return None
    raw = _core.RawTable.read(os.fspath(path))
    if raw.kind != kind:
        raise ValueError(f"{os.fspath(path)} is a table of {raw.kind}, not of {kind}")
    return raw


def _measured(
    raw: _core.RawTable, samples: _core.RawTable | None, kernels: _core.RawTable | None
) -> Measured:
    names, collected = raw.column_names, collected_names(raw)
    benchmarks = raw.column("benchmark")
    return Measured(
        results=raw,
        samples=samples,
        kernels=kernels,
        function=str(benchmarks[0]) if raw.num_rows else "",
        parameters=[n for n in names[names.index("config_key") + 1 :] if n not in collected],
    )
