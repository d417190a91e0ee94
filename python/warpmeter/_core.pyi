"""The C core. What is here is a thin cover over include/warpmeter.h, which is the reference:
names, units and errors are those of the functions named in the docstrings. The interpreter lock is
given up while the core works, waits or calls back; marks and mere look-ups keep it, but for marks
that may wait for a device. In the main interpreter only: ImportError in others."""

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from types import TracebackType
from typing import Literal, ParamSpec, Self, TypeVar, final

__version__: str

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Path = str | bytes | PathLike[str] | PathLike[bytes]
_Value = bool | int | float | str | None

class Error(Exception):
    """A failed call. str(e): the message. Other exceptions for failures of the core: MemoryError,
    ValueError (WM_EINVAL, WM_EPARSE) and, where a table is read or written, OSError (WM_EIO, with
    errno where there is one). Misuse of this cover raises TypeError, ValueError or RuntimeError."""

    status: str  # "WM_ENOTFOUND"

# ---- regions ----

@final
class Annotation:
    """A region, to enter with `with`, any number of times, nested, in any thread; and a decorator.
    Where ignore_failures is set an Exception that leaves it is swallowed (BaseExceptions such as
    KeyboardInterrupt go on), and the region has no value in that run (wm_abandon_id). A block that
    was entered before a run began is not measured in it; one that is left after its run has ended
    is an error of that run's row, as wm_begin_id says."""

    @property
    def name(self) -> str: ...
    @property
    def ignore_failures(self) -> bool: ...
    def __enter__(self) -> Annotation: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool: ...
    def __call__(
        self, function: Callable[_P, _R], /
    ) -> Callable[_P, _R]: ...  # warpmeter.annotation.decorate

def annotate(name: str, ignore_failures: bool = False) -> Annotation:
    """The region of that name. Equal arguments give the same object, which is kept for good.
    TypeError, and ValueError for "" and for a name with a NUL."""

def active() -> bool:
    """Whether a session is taking marks."""

# ---- tables ----

@final
class Column:
    """One column. Numbers and bools are also a buffer (formats "d", "q", "?"; nulls are 0), so
    that numpy.asarray(column) copies nothing; the buffer lives as long as any user of it. Texts
    have codes and texts instead: numpy.asarray(texts, object)[numpy.asarray(codes)], or a
    Categorical."""

    @property
    def name(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def type(self) -> Literal["i64", "f64", "str", "bool"]: ...
    @property
    def null_count(self) -> int: ...
    @property
    def valid(self) -> memoryview | None: ...  # "?", whether each row has a value; None: all have
    @property
    def codes(self) -> memoryview | None: ...  # "i", number in texts of each row, -1 for a null
    @property
    def texts(self) -> tuple[str, ...] | None: ...  # each once, in the order of their coming
    def __len__(self) -> int: ...
    def __getitem__(self, row: int, /) -> _Value: ...  # None for a null; negative rows as in a list
    def __iter__(self) -> Iterator[_Value]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...  # BufferError for texts
    def to_list(self) -> list[_Value]: ...  # equal texts are one object

@final
class RawTable:
    """wm_table: it does not change. Reading is safe in any thread."""

    @property
    def kind(self) -> str: ...
    @property
    def num_rows(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    @property
    def context(self) -> dict[str, _Value]: ...
    @classmethod
    def read(cls, path: _Path, format: str | None = None) -> RawTable: ...  # wm_table_read; OSError
    def column(self, name: str | int, /) -> Column: ...  # KeyError, IndexError
    def reason(self, row: int, name: str | int, /) -> str: ...  # slug of a null; "" for a value
    def write(self, path: _Path, format: str | None = None) -> None: ...  # wm_table_write; OSError
    def text(
        self, format: str = "text", width: int = 0, unicode: bool = True, color: bool = False
    ) -> str: ...
    def select(
        self, columns: str | None = None, sort: str | None = None, filter: str | None = None
    ) -> RawTable: ...
    def compare(self, contender: RawTable, threshold: float = 0.01) -> RawTable:
        """wm_table_compare; self is the baseline."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """wm_table_arrow, as a capsule; a requested schema is passed over."""

# ---- sessions and sweeps ----

Log = Callable[[int, str], None]  # level 0 error, 1 warning, 2 info, 3 debug; and the line

@final
class Session:
    """wm_session. `log` may be called in any thread; what it raises is reported as unraisable.
    start and stop: each pair is a run, in one thread; `metrics`, `by_entry` and `name` are for
    them. A session and its sweeps take one call at a time, and none in a child of fork:
    RuntimeError."""

    def __new__(
        cls,
        *,
        name: str = "session",
        metrics: str = "",
        log: Log | None = None,
        ring_marks: int = 0,
        by_entry: bool = False,
        keep_records: bool = False,
        keep_first: bool = False,
        state: str | None = None,
        nvtx_domain: str | None = None,
    ) -> Self: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def table(self) -> RawTable: ...
    def samples(self) -> RawTable: ...
    def kernels(self) -> RawTable: ...

@final
class Step:
    """wm_step: a call that was made."""

    @property
    def config(self) -> int: ...
    @property
    def config_key(self) -> str: ...
    @property
    def run(self) -> int: ...
    @property
    def pass_(self) -> int: ...
    @property
    def warmup(self) -> bool: ...
    @property
    def first_pass(self) -> bool: ...

# metric, values and weights_ns (wm_benchmark.combine); not finite: no value
Combine = Callable[[str, list[float], list[float]], float]
Scope = Literal["once", "config", "run", "annotation"]  # wm_collect_scope
Collect = Callable[[int, int, int], object]  # numbers of the collector, configuration and run
Entered = Callable[[int, int, str, str], object]  # configuration, run, name and path

@final
class Sweep:
    """wm_sweep of one Python function. options: as on a benchmark's command line, ["--runs", "5",
    "--metrics", "time"]. `combine` is called in a step, or, for counters, when the configuration
    ends; what it raises makes the value null, and is raised by run() at the end of that step, or
    of the next one. `collectors`, names with scopes, are declared (wm_collector); `collect` is
    called when one of the scopes "once" (configuration and run are -1 then), "config" and "run" is
    due, and `entered` before an annotation is entered, in the thread that enters it, in measured
    runs of the first pass (not where a run is made again). What they return is dropped: collect()
    says the values. What `collect` raises is raised by run() before the function is called; what
    `entered` raises, by the annotation. ValueError (what is wrong with an option), Error."""

    def __new__(
        cls,
        session: Session,
        name: str,
        options: Sequence[str] = (),
        combine: Combine | None = None,
        collectors: Sequence[tuple[str, Scope]] = (),
        collect: Collect | None = None,
        entered: Entered | None = None,
    ) -> Self: ...
    def add_config(
        self, names: Sequence[str], values: Sequence[bool | int | float | str]
    ) -> None: ...
    def plan(self) -> RawTable: ...
    def run(
        self,
        function: Callable[..., object],
        arguments: Sequence[tuple[object, ...]],
        keywords: Sequence[dict[str, object]] | None = None,
        on_step: Callable[[Step], None] | None = None,
    ) -> None:
        """Call the function as often as the core says, with the arguments (and keywords) of each
        configuration, by its number. on_step is called after each call, when its measurement has
        ended and is kept. What the function raises fails the configuration, ends the sweep and is
        raised; what on_step raises ends the sweep and is raised. Signals are handled between
        calls, and while the core waits for a device to cool. What was measured so far stays in the
        session. Once only (RuntimeError). ValueError for a configuration without arguments, once it
        is due."""
    @property
    def calls(self) -> int: ...  # made so far, warm-ups and all passes
    @property
    def returned(self) -> bool: ...  # some call returned something else than None
    def config_keys(self) -> list[str]: ...  # by number, of those that had a step; "" else
    def put(
        self,
        config: int,
        run: int,
        region: str | None,
        metric: str,
        value: float | None,
        unit: str = "",
    ) -> None:
        """wm_sweep_put. None, and a number that is not finite, is a null, "not-finite"."""
    def outcome(self) -> None:
        """wm_sweep_outcome: Error (WM_EFAILED, WM_EHOT) where a configuration failed."""
    def collect(
        self,
        name: str,
        scope: Scope,
        config: int,
        run: int,
        region: str | None,
        value: bool | float | str | None,
    ) -> None:
        """wm_sweep_collect. None is a null, "not-collected"; a number that is not finite is one,
        too, "not-finite". What the scope has not (a run, a region) is passed over."""
    def close(self) -> None:
        """Give back what the sweep holds of a device (profiler, records), without waiting for its
        last reference: a traceback keeps those for long. run, put and plan raise RuntimeError
        then."""

# During a call of the function, in the thread that makes it (RuntimeError elsewhere):
def record(metric: str, value: float, unit: str = "") -> None: ...  # wm_record
def add_flops(region: str | None, count: float) -> None: ...
def add_bytes(region: str | None, count: float) -> None: ...
def add_items(region: str | None, count: float) -> None: ...
def skip(why: str, /) -> None:
    """wm_skip: the configuration is left out; the function should return."""

# ---- the machine ----

def doctor() -> RawTable: ...  # wm_doctor
def facts() -> dict[str, _Value]: ...  # of the GPUs, as in a table's context: "gpu", "gpu_uuid"
def metrics(pattern: str | None = None, chip: str | None = None) -> RawTable: ...  # wm_metrics
def metrics_plan(metrics: str, chip: str | None = None) -> RawTable: ...  # wm_metrics_plan

# ---- Nsight Compute ----

def ncu_find() -> str: ...  # wm_ncu_find
def ncu_command(
    argv: Sequence[str],
    *,
    ncu: str | None = None,
    report: str | None = None,
    log: str | None = None,
    metrics: str | None = None,
    nvtx_domain: str | None = None,
    cold: bool = False,
    clocks: str | None = None,
    replay: str | None = None,
    extra: Sequence[str] = (),
) -> list[str]: ...  # wm_ncu_command
def ncu_read(
    report: _Path,
    *,
    ncu: str | None = None,
    metrics: str | None = None,
    nvtx_domain: str | None = None,
) -> RawTable: ...  # wm_ncu_read; OSError
