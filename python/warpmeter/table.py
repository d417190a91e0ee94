"""Tables: typed columns with units, nulls with reasons, and a context; see docs/format.md."""

from __future__ import annotations

import copyreg
import os
from typing import TYPE_CHECKING, final

from . import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pandas as pd

    from ._core import Column, RawTable, _Value

_TEXT_LINES = 60
_TEXT_ROWS = 20_000
_HTML_ROWS = 40
# What a notebook shows of results; all of it is in to_dataframe().
_HEADLINE = (
    "benchmark",
    "region",
    "metric",
    "unit",
    "mean",
    "ci95_low",
    "ci95_high",
    "median",
    "min",
    "max",
    "samples",
    "ratio",
    "kernel",
    "bound",
    "status",
    "reason",
    "note",
)


def need_pandas() -> None:
    """ImportError, with the remedy, where pandas or what it needs is missing."""
    try:
        import pandas  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"data frames need pandas 2.0 or later: pip install 'pandas>=2.0' ({error})",
            name=error.name,
        ) from error


@final
class Table:
    """A table of the core. It does not change, and can be read in any thread."""

    __slots__ = ("__weakref__", "_raw")

    def __init__(self, raw: RawTable) -> None:
        self._raw = raw

    @property
    def kind(self) -> str:
        """One of results, samples, kernels, comparison, plan, metrics and doctor."""
        return self._raw.kind

    @property
    def num_rows(self) -> int:
        return self._raw.num_rows

    @property
    def column_names(self) -> list[str]:
        return list(self._raw.column_names)

    @property
    def context(self) -> dict[str, _Value]:
        """Facts about the machine and the measurement; None for what is not known."""
        return dict(self._raw.context)

    def __len__(self) -> int:
        return self._raw.num_rows

    __iter__ = None  # rows or columns? to_pylist() and column_names say which

    def column(self, name: str) -> Column:
        """The column of that name; KeyError where there is none."""
        return self._raw.column(name)

    def __getitem__(self, name: str) -> Column:
        return self._raw.column(name)

    def reason(self, row: int, name: str) -> str:
        """Why a cell is null, such as "few-samples"; "" where it is not."""
        return self._raw.reason(row, name)

    # ---- the whole table in other shapes ----

    def to_dataframe(self) -> pd.DataFrame:
        """A pandas DataFrame of its own memory. Numbers are float64 with NaN for nulls; whole
        numbers and truth values are int64 and bool, or Int64 and boolean where there are nulls;
        texts are objects, None for nulls. ImportError where there is no pandas."""
        need_pandas()
        from ._columns import frame

        return frame(self._raw)

    def to_pylist(self) -> list[dict[str, _Value]]:
        """A dict for each row, None for nulls."""
        names = self._raw.column_names
        columns = [self._raw.column(name).to_list() for name in names]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table for Arrow's readers: pyarrow.table(t), polars.DataFrame(t), DuckDB."""
        return self._raw.__arrow_c_stream__(requested_schema)

    def save(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write a file, in full or not at all. The format is "json" and "csv", which warpmeter.load
        reads, or "text", "markdown" and "gbench-json"; None: from the path's suffix.

        OSError where it cannot be written; ValueError for an unknown format."""
        self._raw.write(os.fspath(path), format)

    # ---- other tables of it ----

    def select(
        self,
        columns: str | Iterable[str] | None = None,
        *,
        sort: str | Iterable[str] | None = None,
        filter: str | Iterable[str] | None = None,
    ) -> Table:
        """Some columns, in that order, and rows: filter="metric=time,mean>100", sort="-mean".

        ValueError or warpmeter's Error for what is not understood, and unknown names."""
        return Table(self._raw.select(_list(columns), _list(sort), _list(filter)))

    def compare(self, contender: Table, threshold: float = 0.01) -> Table:
        """Both tables of results row by row, this one as the baseline. Ratios within 1 ± threshold
        count as the same."""
        if not isinstance(contender, Table):
            kind = type(contender).__name__
            raise TypeError(f"compare takes a Table, as results.table() is, not a {kind}")
        return Table(self._raw.compare(contender._raw, threshold))

    # ---- to look at ----

    def __repr__(self) -> str:
        if self.num_rows > _TEXT_ROWS:
            names = ", ".join(self._raw.column_names)
            return f"<Table of {self.kind}: {self.num_rows} rows of {names}>"
        lines = self._raw.text().splitlines()
        more = len(lines) - _TEXT_LINES
        if more > 0:
            lines[_TEXT_LINES:] = [f"... and {more} {'line' if more == 1 else 'lines'} more"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from . import _html

        return _html.table(self._raw, self._headline(), _HTML_ROWS)

    def _headline(self) -> list[str]:
        """Columns to look at: those that hold something, of results the ones that matter most."""
        names = self._raw.column_names
        if self.kind == "results" and "config_key" in names:
            parameters = names[names.index("config_key") + 1 :]
            names = [*_HEADLINE[:2], *parameters, *_HEADLINE[2:]]
            names = [name for name in names if name in self._raw.column_names]
        rows = self.num_rows
        return [n for n in names if not rows or self._raw.column(n).null_count < rows]


def _list(names: str | Iterable[str] | None) -> str | None:
    return names if names is None or isinstance(names, str) else ",".join(names)


# ---- pickles: results come back from other processes, alone or with an exception ----


def _unpickled(text: str) -> RawTable:
    with open(os.memfd_create("table"), "w+", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        return _core.RawTable.read(f"/proc/self/fd/{file.fileno()}", "json")


def _pickled(raw: RawTable) -> tuple[Callable[[str], RawTable], tuple[str]]:
    return _unpickled, (raw.text("json"),)


copyreg.pickle(_core.RawTable, _pickled)


# ---- tables of the machine ----


def doctor() -> Table:
    """What this machine can measure, what it cannot, why, and what to do about it."""
    return Table(_core.doctor())


def metrics(pattern: str | None = None, chip: str | None = None) -> Table:
    """The metrics that can be asked for here, or of any GPU's chip ("GH100"), with units and a line
    of text each. pattern: as of a shell, "dram__*".

    warpmeter's Error where the chip or its counters are not known."""
    return Table(_core.metrics(pattern, chip))


def metrics_plan(metrics: str, chip: str | None = None) -> Table:
    """In which pass each of these metrics would be read, parted by commas, here or on a chip.

    warpmeter's Error, and ValueError, for those that are not known."""
    return Table(_core.metrics_plan(metrics, chip))
