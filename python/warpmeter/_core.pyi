"""The C core. What is here is a thin cover over include/warpmeter.h, which is the reference:
names, units and errors are those of the functions named in the docstrings. Every call releases the
interpreter lock while the core works, but for marks that cannot wait."""

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Literal, TypeVar, final

__version__: str

_F = TypeVar("_F", bound=Callable[..., Any])
_Value = bool | int | float | str | None

class Error(Exception):
    """A failed call. str(e): the message. Base of all exceptions that the core raises, except
    MemoryError and ValueError (WM_EINVAL and WM_EPARSE)."""

    status: str  # "WM_ENOTFOUND"

# ---- regions ----

@final
class Annotation:
    """A region, to enter with `with`, any number of times, nested, in any thread; and a decorator.
    Where ignore_failures is set an Exception that leaves it is swallowed (BaseExceptions such as
    KeyboardInterrupt go on), and the region has no value in that run (wm_abandon_id)."""

    name: str
    ignore_failures: bool
    def __enter__(self) -> Annotation: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool: ...
    def __call__(self, function: _F) -> _F: ...  # warpmeter.annotation.decorate

def annotate(name: str, ignore_failures: bool = False) -> Annotation:
    """The region of that name. Equal arguments give the same object. TypeError, and ValueError
    for "" and for a name with a NUL."""

def active() -> bool:
    """Whether a session is taking marks."""

# ---- tables ----

class Column:
    """One column. Numbers and bools are also a buffer (formats "d", "q", "?"; nulls are 0), so that
    numpy.asarray(column) copies nothing; the buffer lives as long as any user of it."""

    name: str
    unit: str
    type: Literal["i64", "f64", "str", "bool"]
    null_count: int
    valid: memoryview | None  # "?", for each row whether it has a value; None: all have
    def __len__(self) -> int: ...
    def __getitem__(self, row: int) -> _Value: ...  # None for a null; negative rows as in a list
    def to_list(self) -> list[_Value]: ...  # equal texts are one object

@final
class RawTable:
    """wm_table: it does not change. Reading is safe in any thread."""

    kind: str
    num_rows: int
    column_names: list[str]
    context: dict[str, _Value]
    @staticmethod
    def read(path: str, format: str | None = None) -> RawTable: ...  # wm_table_read; OSError for WM_EIO
    def column(self, name: str | int) -> Column: ...  # KeyError, IndexError
    def reason(self, row: int, name: str | int) -> str: ...  # slug of a null; "" where there is a value
    def write(self, path: str, format: str | None = None) -> None: ...  # wm_table_write; OSError
    def text(self, format: str = "text", width: int = 0, unicode: bool = True, color: bool = False) -> str: ...
    def select(self, columns: str | None = None, sort: str | None = None, filter: str | None = None) -> RawTable: ...
    def compare(self, contender: RawTable, threshold: float = 0.01) -> RawTable: ...  # self is the baseline
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...  # wm_table_arrow

# ---- sessions and sweeps ----

Log = Callable[[int, str], None]  # level 0 error, 1 warning, 2 info, 3 debug; and the line

@final
class Session:
    """wm_session. `log` may be called in any thread; what it raises is reported as unraisable.
    start and stop: each pair is a run; `metrics`, `by_entry` and `name` are for them."""

    def __init__(
        self,
        *,
        name: str = "session",
        metrics: str = "",
        log: Log | None = None,
        ring_marks: int = 0,
        by_entry: bool = False,
        keep_records: bool = False,
    ) -> None: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def table(self) -> RawTable: ...
    def samples(self) -> RawTable: ...
    def kernels(self) -> RawTable: ...

@final
class Step:
    """wm_step: what is due. Valid while it is at hand."""

    config: int
    config_key: str
    run: int
    pass_: int
    warmup: bool
    first_pass: bool

# metric, values and weights_ns (wm_benchmark.combine); not finite: no value
Combine = Callable[[str, list[float], list[float]], float]

@final
class Sweep:
    """wm_sweep of one Python function. options: as on a benchmark's command line,
    ["--runs", "5", "--metrics", "time"]. `combine` is called in a step; what it raises makes the value
    null, and is raised by run() at the end of that step.
    ValueError (what is wrong with an option), Error."""

    def __init__(
        self, session: Session, name: str, options: Sequence[str] = (), combine: Combine | None = None
    ) -> None: ...
    def add_config(self, names: Sequence[str], values: Sequence[bool | int | float | str]) -> None: ...
    def plan(self) -> RawTable: ...
    def run(
        self,
        function: Callable[..., object],
        arguments: Sequence[tuple[object, ...]],
        keywords: Sequence[dict[str, object]] | None = None,
        on_step: Callable[[Step], None] | None = None,
    ) -> None:
        """Call the function as often as the core says, with the arguments (and keywords) of each
        configuration, by its number. on_step is called before each call, outside what is measured. What the function
        or on_step raises ends the sweep (the configuration fails) and is raised; signals are handled
        between calls. What was measured so far stays in the session. Once only."""
    calls: int  # made so far, warm-ups and all passes
    returned: bool  # some call returned something else than None
    def config_keys(self) -> list[str]: ...  # by number, of those that had a step; "" else
    def put(
        self, config: int, run: int, region: str | None, metric: str, value: float | None, unit: str = ""
    ) -> None: ...  # wm_sweep_put; None: a null, "not-finite"

# During a call of the function, in the thread that makes it (RuntimeError elsewhere):
def record(metric: str, value: float, unit: str = "") -> None: ...  # wm_record
def add_flops(region: str | None, count: float) -> None: ...
def add_bytes(region: str | None, count: float) -> None: ...
def add_items(region: str | None, count: float) -> None: ...
def skip(why: str) -> None: ...  # wm_skip: the configuration is left out; the function should return

# ---- the machine ----

def doctor() -> RawTable: ...  # wm_doctor
def metrics(pattern: str | None = None, chip: str | None = None) -> RawTable: ...  # wm_metrics
def metrics_plan(metrics: str, chip: str | None = None) -> RawTable: ...  # wm_metrics_plan
