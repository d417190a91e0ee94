"""nsight-python's CSV files of a call of a decorated function."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from .table import need_pandas

if TYPE_CHECKING:
    import pandas as pd

    from ._measured import Measured


def write_csv(measured: Measured, prefix: str, number: int) -> tuple[str, str]:
    """Write PREFIXprofiled_data-FUNCTION-NUMBER.csv, a row for each run and metric, and
    PREFIXprocessed_data-FUNCTION-NUMBER.csv, the frame of results; return their paths. `number`
    counts the calls of one decorated function in this process, from 0. Each file appears in full
    or not at all, in place of one that was there.

    OSError where they cannot be written; ImportError where there is no pandas; ValueError where
    normalize_against names no annotation."""
    need_pandas()
    from ._frame import results_frame, samples_frame

    tag = f"{measured.function}-{number}.csv"
    raw, processed = f"{prefix}profiled_data-{tag}", f"{prefix}processed_data-{tag}"
    _write(samples_frame(measured), raw)
    _write(results_frame(measured), processed)
    return raw, processed


def _write(frame: pd.DataFrame, path: str) -> None:
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        with open(beside, "x", encoding="utf-8", errors="backslashreplace", newline="") as file:
            frame.to_csv(file, index=False)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)
        raise
