"""Measuring a stretch of code without a decorator."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from . import _core, _report
from ._backend import RECORDS, TIME, no_device
from ._measured import Measured
from ._words import plain
from .exceptions import ProfilerException
from .utils import VerbosityLevel

if TYPE_CHECKING:
    from ._settings import StateControl
    from .results import ProfileResults
    from .table import Table

_WARNING = 1


@contextmanager
def _explained() -> Iterator[None]:
    """What the core cannot do, as the package's own exception."""
    try:
        yield
    except _core.Error as error:
        raise ProfilerException(plain(error)) from error


def _default(verbosity: int) -> tuple[str, ...]:
    why = no_device()
    if not why:
        return (RECORDS, "time")
    if verbosity >= VerbosityLevel.INFO:
        print(f"warpmeter: times of the host, since there is no GPU to measure: {why}")
    return ("time",)


def _checked(metrics: str | Sequence[str]) -> tuple[str, ...]:
    given = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    if not given:
        raise ProfilerException("metrics is empty: give one name or more")
    for each in given:
        if not isinstance(each, str):
            raise TypeError(f"metrics holds {each!r}: only texts are accepted")
    names = tuple(name.strip() for name in given)
    for name in names:
        if name.startswith("group:"):
            raise ProfilerException(
                f"{name!r} is a group of metrics, which takes a decorated function: name metrics"
            )
        if not name or "," in name or not name.isprintable():
            raise ProfilerException(
                f"unknown metric {name!r}: a name is not empty, printable and has no comma"
            )
        with _explained():
            _core.metrics_plan(name)
    return tuple(dict.fromkeys(names))


def _log(level: int, line: str) -> None:
    if level <= _WARNING:
        print(f"warpmeter: warning: {line}", file=sys.stderr)


class session:
    """Measures code and the regions in it; each `with` is a run.

        with warpmeter.session() as s:
            step()
        print(s.results.to_dataframe())

    Entered again, it makes one more run, and the statistics are over the runs; start() and stop()
    do the same, in two cells of a notebook for example. Regions are what warpmeter.annotate marks,
    in any thread; code that marks none is one region under the session's name. An exception in the
    block goes on, and its run is kept.

    metrics: a name or several. None: the times of kernels ("kernel_time") and of the host ("time"),
    or the host's alone where there is no GPU, with one line that says so. by_entry: a sample for
    each entry of a region, not for each run. keep_records: every kernel is kept, for kernels().
    verbosity: SILENT prints nothing, not even the warnings, which go to stderr.

    The first launch of a kernel loads it, and may compile it. It counts, so where that matters the
    code runs once before.

    The thread that starts a run ends it. One session or decorated function measures at a time.

    Making one raises ProfilerException for metrics that are not known or cannot be had here, and
    start() where something measures already. It raises ValueError for metrics that take several
    passes: those need a decorated function."""

    def __init__(
        self,
        name: str = "session",
        *,
        metrics: str | Sequence[str] | None = None,
        by_entry: bool = False,
        keep_records: bool = True,
        state: StateControl = "auto",
        verbosity: VerbosityLevel = VerbosityLevel.INFO,
    ) -> None:
        self.name = name or "session"
        if state not in ("auto", "on", "off"):
            raise ValueError(f"state is {state!r}: 'auto', 'on' or 'off' is accepted")
        self._state = state
        again = _report.again is not None  # the GPU is ncu's, and this is none of its business
        self.metrics: tuple[str, ...] = ("time",)
        if not again:
            self.metrics = _default(verbosity) if metrics is None else _checked(metrics)
        by_records = TIME in self.metrics and RECORDS not in self.metrics
        self._shown = {RECORDS: TIME} if by_records else {}
        known = [RECORDS if by_records and each == TIME else each for each in self.metrics]
        with _explained():
            self._core = _core.Session(
                name=self.name,
                metrics=",".join(known),
                log=_log if verbosity > VerbosityLevel.SILENT else None,
                by_entry=by_entry,
                keep_records=keep_records,
                keep_first=True,
                state="off" if again else state,
                nvtx_domain="warpmeter.unseen" if again else None,
            )

    def start(self) -> None:
        """Begin a run."""
        with _explained():
            self._core.start()

    def stop(self) -> None:
        """End the run. ProfilerException: none has begun."""
        with _explained():
            self._core.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def results(self) -> ProfileResults:
        """What the runs so far measured. Later runs do not change it."""
        from .results import ProfileResults

        return ProfileResults(
            Measured(
                results=self._core.table(),
                samples=self._core.samples(),
                kernels=self._core.kernels(),
                function=self.name,
                metrics=self.metrics,
                shown=self._shown,
                state=self._state == "on",
            )
        )

    def samples(self) -> Table:
        """Every sample of the runs so far."""
        return self.results.samples()

    def kernels(self) -> Table:
        """Every kernel of the runs so far; no rows without keep_records."""
        return self.results.kernels()
