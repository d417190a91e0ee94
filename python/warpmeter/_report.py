"""ncu as a second witness of a call: the program runs once more under it, up to that call.

The program is started anew with the same words. In that second run decorated calls return what the
first run found, which it left in a private folder; the call in question runs its function under
ncu and measures nothing; and there the program ends."""

from __future__ import annotations

import contextlib
import copy
import itertools
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from . import _core
from ._backend import Choice
from ._words import plain
from .exceptions import NCUNotAvailableError, ProfilerException
from .results import ProfileResults
from .utils import VerbosityLevel

if TYPE_CHECKING:
    from ._core import RawTable
    from ._measured import Measured
    from ._settings import Settings

_VARIABLE = "WARPMETER_REPORT"
_PROFILE = "WARPMETER_PROFILE"
_PARTS = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
"""Where launchers say how many processes a program consists of."""

_process = os.getpid()
_numbers = itertools.count()


def _folder() -> str | None:
    with contextlib.suppress(OSError):
        return os.getcwd()
    return None


_home = _folder()


def number() -> int:
    """The number of a decorated call that begins, in this process, from 0."""
    return next(_numbers)


# ---- whether it can be done ----


def why_not() -> str:
    """Why this program cannot be run again; "" where it can."""
    main = sys.modules.get("__main__")
    begun = sys.argv[0] if sys.argv else ""  # "-c", a path, or its input
    if again is not None:
        return "this is that second run"
    if hasattr(sys, "ps1") or sys.flags.interactive or "get_ipython" in vars(main or sys):
        return "it is interactive"
    if begun != "-c" and (begun in ("", "-") or not getattr(main, "__file__", None)):
        return "it did not come from a file"
    multiprocessing = sys.modules.get("multiprocessing")
    forked = os.getpid() != _process
    if forked or (multiprocessing and multiprocessing.parent_process() is not None):
        return "this is a process that another one has started for a part of the work"
    if any(os.environ.get(name, "1") not in ("", "1") for name in _PARTS):
        return "it consists of several processes"
    return ""


_told: set[str] = set()


def find(settings: Settings, choice: Choice) -> str:
    """The path of ncu, where a report is wanted and can be made; else "", and with "auto" a line
    says why.

    ProfilerException, NCUNotAvailableError: it is to be, and cannot."""
    if settings.report is None or settings.output_prefix is None or again is not None:
        return ""
    try:
        return _found(choice)
    except (ProfilerException, NCUNotAvailableError) as error:
        if settings.report == "ncu":
            raise
        text = str(error)
        if not settings.silent and text not in _told:
            _told.add(text)
            print(f"warpmeter: no report of ncu: {text}")
        return ""


def _found(choice: Choice) -> str:
    if choice.backend != "cuda":
        raise ProfilerException("nothing is measured on a GPU, which is all that ncu sees")
    why = why_not()
    if why:
        raise ProfilerException(f"the program cannot be run again under ncu: {why}")
    try:
        return _core.ncu_find()
    except (_core.Error, ValueError) as error:
        raise NCUNotAvailableError(plain(error)) from error


# ---- what earlier calls came to ----

_kept: dict[int, bytes | ProfileResults | weakref.ref[ProfileResults]] = {}
_strong = False


def wanted() -> None:
    """A decorated function may want a report: what calls come to is kept from now on."""
    global _strong
    _strong = True


_room = 250_000
"""So many rows of tables are kept, some 50 MB, where no report is wanted so far."""


def keep(call: int, outcome: ProfileResults | BaseException) -> None:
    """Keep what a call returned or raised: where no report is wanted so far, large results only as
    long as others do."""
    global _room
    results = outcome if isinstance(outcome, ProfileResults) else getattr(outcome, "results", None)
    rows = _rows(results) if isinstance(results, ProfileResults) else 0
    if not _strong and rows > _room:
        if isinstance(outcome, ProfileResults):
            _kept[call] = weakref.ref(outcome)
        return
    _room -= rows
    if isinstance(outcome, ProfileResults):
        _kept[call] = outcome
    else:  # itself would keep all that its traceback holds
        _kept[call] = _dumped_error(outcome)


def _rows(results: ProfileResults) -> int:
    measured = results._measured
    tables = (measured.results, measured.samples, measured.kernels)
    return sum(table.num_rows for table in tables if table is not None)


def _dumped_error(error: BaseException) -> bytes:
    try:
        lean = copy.copy(error)
        vars(lean).pop("warpmeter_results", None)
        return pickle.dumps(("", lean))
    except Exception:  # noqa: BLE001 - exceptions raise what they like
        return pickle.dumps(("", ProfilerException(repr(error))))


def _left(call: int) -> bytes:
    """What a call came to, for another process: its function's name, and how it ended."""
    outcome = _kept.get(call)
    if isinstance(outcome, bytes):
        return outcome
    results = outcome() if isinstance(outcome, weakref.ref) else outcome
    if results is None:
        raise ProfilerException(
            "no report of ncu: what an earlier decorated call came to is not known any more;"
            " decorate the function that wants a report before others are called"
        )
    measured = replace(results._measured, configs=())  # the second run has its own
    name = measured.function
    return _dumped((name, measured), lambda: (name, _plain(measured)))


def _plain(measured: Measured) -> Measured:
    """Without collected values that cannot be pickled."""
    plainer = [
        replace(each, values={place: _picklable(value) for place, value in each.values.items()})
        for each in measured.collected
    ]
    return replace(measured, collected=plainer)


def _picklable(value: object) -> object:
    try:
        pickle.dumps(value)
    except Exception:  # noqa: BLE001 - objects raise what they like
        return None
    return value


def _dumped(value: object, simpler: Callable[[], object]) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception:  # noqa: BLE001 - objects raise what they like
        return pickle.dumps(simpler())


# ---- the second run ----

UNMEASURED = Choice("cuda", ("time",), ("time",))
"""Of the call that ncu watches: nothing of ours is read, or asked for."""


def plainly(settings: Settings) -> Settings:
    """For that call: what the caller's other functions do was done in the first run."""
    return replace(
        settings,
        verbosity=VerbosityLevel.SILENT,
        info_collectors=None,
        derive_metric=None,
        combine_kernel_metrics=None,
        clock_control="none",
        thermal_mode="off",
        output_csv=False,
    )


@dataclass(frozen=True)
class Again:
    """This process is the second run."""

    folder: Path
    call: int
    """Number of the call that ncu watches."""
    runs: int

    def recall(
        self, call: int, function: str, configs: Sequence[tuple[object, ...]]
    ) -> ProfileResults:
        """What an earlier call returned in the first run; or what it raised is raised."""
        known, outcome = pickle.loads((self.folder / f"{call}").read_bytes())
        if isinstance(outcome, BaseException):
            raise outcome
        if known != function:
            self.end(f"call {call} is of {function}, and was of {known} in the first run")
        return ProfileResults(replace(outcome, configs=configs))

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Around the call that ncu watches: the core measures nothing, and the program ends."""
        os.environ[_PROFILE] = f"ncu:{self.runs}"
        try:
            yield
        except BaseException as error:  # noqa: BLE001 - the program ends here, whatever it is
            self.end(f"the function raised {type(error).__name__}: {error}")
        self.end("")

    def end(self, why: str) -> NoReturn:
        """Without the rest of the program, and what it left for its end: all of it belongs to the
        first run."""
        (self.folder / "end").write_text(why, encoding="utf-8", errors="replace")
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        os._exit(1 if why else 0)


def _again() -> Again | None:
    """Processes that this one starts are none of it."""
    folder, _, rest = os.environ.pop(_VARIABLE, "").rpartition(":")
    call, _, runs = rest.partition(",")
    return Again(Path(folder), int(call), int(runs)) if folder else None


again = _again()


# ---- the first run ----


def make(ncu: str, settings: Settings, choice: Choice, call: int, beginning: str) -> RawTable:
    """Run the program again under ncu up to that call. BEGINNING.ncu-rep and .log are kept.

    ProfilerException: there is no report, and why."""
    report, log = f"{os.path.abspath(beginning)}.ncu-rep", f"{os.path.abspath(beginning)}.log"
    folder = tempfile.mkdtemp(prefix="warpmeter_")
    names = ",".join(choice.metrics)
    try:
        command = _core.ncu_command(
            [sys.executable, *sys.orig_argv[1:]],
            ncu=ncu,
            report=report,
            log=log,
            metrics=names,
            nvtx_domain=settings.nvtx_domain,
            cold=choice.cold,
            clocks="base" if settings.clock_control == "base" else None,
            replay="range" if choice.replay == "range" else None,
        )
        for earlier in range(call):
            Path(folder, f"{earlier}").write_bytes(_left(earlier))
        status = _run(command, folder, f"{folder}:{call},{settings.runs}")
        end = Path(folder, "end")
        ended = end.read_text(encoding="utf-8") if end.exists() else None
        if ended != "" or not os.path.exists(report):
            raise ProfilerException(_complaint(ended, status, log, Path(folder, "output")))
        return _core.ncu_read(report, ncu=ncu, metrics=names, nvtx_domain=settings.nvtx_domain)
    except (_core.Error, ValueError, OSError) as error:
        raise ProfilerException(f"no report of ncu: {plain(error)}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: Sequence[str], folder: str, told: str) -> int:
    """The exit status. What the program says is not said twice."""
    with open(os.path.join(folder, "output"), "wb") as output:
        process = subprocess.Popen(
            command,
            cwd=_home,
            env={**os.environ, _VARIABLE: told},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return process.wait()
        finally:
            _end(process)


def _end(process: subprocess.Popen[Any]) -> None:
    """ncu, and what it runs."""
    if process.poll() is not None:
        return
    for how in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
            return


def _complaint(ended: str | None, status: int, log: str, output: Path) -> str:
    """What went wrong: by the second run itself, by ncu, or by the last that was said."""
    if ended:
        return f"no report of ncu: in the second run {ended}"
    errors = [line.split("==ERROR==")[1].strip() for line in _lines(log) if "==ERROR==" in line]
    if ended is None:
        errors += ["the second run did not come to this call", *_lines(output)[-1:]]
    return f"no report of ncu (status {status}): {'; '.join(errors) or 'it wrote none'}"


def _lines(path: str | Path) -> list[str]:
    with contextlib.suppress(OSError):
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        return [line for line in text.splitlines() if line.strip()]
    return []
