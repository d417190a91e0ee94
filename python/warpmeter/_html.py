"""Tables as HTML for notebooks: plain, escaped, and without anything from elsewhere."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ._core import Column, RawTable, _Value

_ALIGNED = {True: ' style="text-align: right"', False: ' style="text-align: left"'}


def table(raw: RawTable, names: Sequence[str], rows: int) -> str:
    """The named columns of the first rows. A null is "-" where it does not apply, or its reason."""
    columns = [raw.column(name) for name in names]
    shown = min(rows, raw.num_rows)
    return "".join(
        (
            "<table>\n",
            f"<caption>{escape(_caption(raw, shown))}</caption>\n",
            f"<thead><tr>{''.join(map(_head, columns))}</tr></thead>\n<tbody>\n",
            *_lines(raw, columns, shown),
            "</tbody>\n</table>",
        )
    )


def _caption(raw: RawTable, shown: int) -> str:
    whole = f"{raw.kind}: {raw.num_rows} {'row' if raw.num_rows == 1 else 'rows'}"
    return whole if shown == raw.num_rows else f"{whole}, the first {shown} shown"


def _is_number(column: Column) -> bool:
    return column.type in ("i64", "f64")


def _head(column: Column) -> str:
    unit = f" [{column.unit}]" if column.unit not in ("", "row") else ""
    return f'<th scope="col"{_ALIGNED[_is_number(column)]}>{escape(column.name + unit)}</th>'


def _lines(raw: RawTable, columns: Sequence[Column], rows: int) -> Iterator[str]:
    for row in range(rows):
        cells = (
            f"<td{_ALIGNED[_is_number(column)]}>{escape(_cell(raw, row, column))}</td>"
            for column in columns
        )
        yield f"<tr>{''.join(cells)}</tr>\n"


def _cell(raw: RawTable, row: int, column: Column) -> str:
    value = column[row]
    if value is None:
        reason = raw.reason(row, column.name)
        return "-" if reason == "not-applicable" else f"({reason})"
    return _text(value)


def _text(value: _Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
