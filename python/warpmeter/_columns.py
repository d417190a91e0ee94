"""Columns of the core as arrays of numpy and pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ._core import Column, RawTable


def valid(column: Column) -> NDArray[np.bool_]:
    """For each row, whether it has a value."""
    if column.valid is None:
        return np.ones(len(column), dtype=np.bool_)
    return np.asarray(column.valid, dtype=np.bool_)


def floats(column: Column) -> NDArray[np.float64]:
    """A copy of a column of numbers, with NaN for nulls."""
    values = np.array(column, dtype=np.float64)
    if column.null_count:
        values[~valid(column)] = np.nan
    return values


def floats_of(values: list[Any]) -> NDArray[np.float64]:
    """Numbers of any kind, with NaN for None."""
    return np.array([np.nan if value is None else float(value) for value in values], np.float64)


def ints(column: Column) -> NDArray[np.int64]:
    """A copy of a column of whole numbers, with 0 for nulls."""
    return np.array(column, dtype=np.int64)


def objects(values: list[Any]) -> NDArray[np.object_]:
    """The values themselves in an array, sequences among them too."""
    return np.fromiter(values, dtype=np.object_, count=len(values))


def texts(column: Column) -> NDArray[np.object_]:
    """A column of texts, with None for nulls."""
    uniques = objects([*(column.texts or ()), None])  # a null's code is -1, the last of them
    values: NDArray[np.object_] = uniques[np.asarray(column.codes)]
    return values


def array(column: Column) -> Any:
    """What a data frame holds of a column, of its own memory: float64 with NaN for nulls, int64 or
    bool, pandas' Int64 or boolean where those have nulls, objects (None for nulls) for texts."""
    if column.type == "f64":
        return floats(column)
    if column.type == "str":
        return texts(column)
    values = np.array(column)
    if not column.null_count:
        return values
    masked = pd.arrays.IntegerArray if column.type == "i64" else pd.arrays.BooleanArray
    return masked(values, ~valid(column))


def frame(table: RawTable) -> pd.DataFrame:
    """The whole table, with a column for each of its own."""
    columns = {}
    for name in table.column_names:
        values = array(table.column(name))
        columns[name] = pd.Series(values, dtype=values.dtype, copy=False)
    return pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows), copy=False)


# ---- columns of a table, where it has them ----


def text(table: RawTable, name: str) -> NDArray[np.object_]:
    """Empty for nulls."""
    if name not in table.column_names:
        return np.full(table.num_rows, "", dtype=np.object_)
    column = table.column(name)
    values = texts(column)
    if column.null_count:
        values[~valid(column)] = ""
    return values


def numbers(table: RawTable, name: str) -> NDArray[np.float64]:
    """NaN for nulls."""
    if name not in table.column_names:
        return np.full(table.num_rows, np.nan)
    return floats(table.column(name))


def counts(table: RawTable, name: str) -> NDArray[np.int64]:
    """0 for nulls."""
    return np.nan_to_num(numbers(table, name)).astype(np.int64)


def mapped(values: NDArray[np.object_], function: Callable[[str], Any]) -> NDArray[np.object_]:
    """The function of each text, called once for equal ones."""
    codes, uniques = numbered(values)
    return objects([function(value) for value in uniques])[codes]


def numbered(values: NDArray[np.object_]) -> tuple[NDArray[np.int64], list[Any]]:
    """Numbers of equal texts by their first appearance, and the texts."""
    codes, uniques = pd.factorize(values)
    return codes, list(uniques)
