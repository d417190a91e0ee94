"""One call of a decorated function: a sweep of the core in which the function is the step."""

from __future__ import annotations

import contextlib
import functools
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _core, _runs
from ._backend import Choice, choose
from ._collect import Collecting, core_names, for_core, scope_of
from ._combine import Fold, Target, option
from ._configs import Parameters, core_configs, name_of
from ._derive import Derived, check_arity, derive
from ._measured import Measured
from ._settings import ClockControl, Settings
from ._words import plain
from .exceptions import CoolingTimeoutError, ProfilerException, ThermalControlError
from .results import ProfileResults
from .utils import VerbosityLevel

if TYPE_CHECKING:
    from ._core import RawTable, Step

Function = Callable[..., object]


@dataclass(frozen=True)
class Outcome:
    """What was measured, and what is to be said of it."""

    measured: Measured
    returned: bool
    """Some call of the function returned something."""
    several_kernels: dict[str, str]
    """The kernels of regions that have no value because there were several, by region."""
    warnings: tuple[str, ...]
    """RuntimeWarnings of the measurement."""


class Call:
    """One call of a decorated function, ready to run. In one thread.

    ProfilerException: it cannot be measured so, or another measurement is under way. ValueError:
    derive_metric takes other arguments, or the active tool does not measure that."""

    def __init__(
        self,
        function: Function,
        parameters: Parameters,
        configs: Sequence[tuple[object, ...]],
        settings: Settings,
        choice: Choice | None = None,
    ) -> None:
        self._function = function
        self._name = name_of(function)
        self._parameters = parameters
        self._configs = configs
        self._settings = settings
        if _core.active():
            raise ProfilerException(self._busy())
        _check_device(settings)
        self._choice = choice or choose(settings)
        how = settings.combine_kernel_metrics
        self._fold = Fold(how) if callable(how) else None
        self._collecting = Collecting(settings.collectors, configs)
        self._said: list[str] = []
        try:
            self._prepare()
        except (_core.Error, ValueError) as error:
            raise _explained(error) from error
        self._read = tuple(map(str, self._plan.column("metric").to_list()))
        if settings.derive_metric is not None:
            read = [self._choice.shown.get(name, name) for name in self._read]
            check_arity(settings.derive_metric, read, parameters.names)

    def _prepare(self) -> None:
        on_gpu = self._choice.backend == "cuda"
        log = functools.partial(_log, self._settings, self._said)  # holds nothing of the session
        domain = self._settings.nvtx_domain
        self._session = _core.Session(log=log, keep_records=on_gpu, nvtx_domain=domain)
        options = core_options(self._settings, self._choice)
        collecting = self._collecting
        self._names = core_names(collecting.collected, self._session, self._parameters.names)
        self._sweep = _core.Sweep(
            self._session,
            self._name,
            options,
            self._fold,
            [(self._names[each.name], scope_of(each)) for each in collecting.collected.values()],
            collecting.due,
            collecting.entered if collecting.of_annotations else None,
        )
        for names, values in core_configs(self._parameters.names, self._configs):
            self._sweep.add_config(names, values)
        self._plan = self._sweep.plan()

    def _busy(self) -> str:
        return (
            f"{self._name} cannot be measured now: another measurement is under way in this"
            " process, maybe of a function that calls this one"
        )

    @property
    def choice(self) -> Choice:
        return self._choice

    def run(self) -> Outcome:
        """Measure. What the function raises, or another that the caller gave, is raised;
        measured_so_far() has what was measured until then."""
        self._announce()
        try:
            self._step_through()
        finally:
            self._hand_over()
        self._announce_more()
        if self._fold:
            self._fold.put(
                self._read, self._target(), self._session.samples(), self._session.kernels()
            )
            self._fold = None
        self._check_outcome()
        measured = self.measured(self._derive())
        warnings = tuple(self.warnings())
        return Outcome(measured, self._sweep.returned, several_kernels(measured), warnings)

    def warnings(self) -> Iterator[str]:
        """What is to be said of the measurement, after it."""
        for line in self._said:
            unlocked, uncooled = _UNLOCKED.match(line), _UNCOOLED.match(line)
            if unlocked:
                how = f"clock_control={self._settings.clock_control!r}"
                yield f"{how}: clocks were free to change, as they are not held: {unlocked[1]}"
            elif uncooled and self._settings.controls_heat:
                yield f"temperatures were not controlled: {uncooled[1]}"
        yield from self._collecting.failures

    def close(self) -> None:
        """Give back what is held of a device."""
        self._sweep.close()

    # ---- running ----

    def _step_through(self) -> None:
        arguments = [self._parameters.arguments(config) for config in self._configs]
        progress = None if self._settings.silent else _Progress.on_terminal(self._calls("max"))
        _runs.begin()
        try:
            self._sweep.run(
                self._function,
                [positional for positional, _ in arguments],
                [keywords for _, keywords in arguments],
                progress.step if progress else _next_run,
            )
        except _core.Error as error:
            if error.__traceback__ and error.__traceback__.tb_next:  # the function's own
                raise
            if error.status == "WM_EBUSY":
                raise ProfilerException(self._busy()) from error
            raise _explained(error) from error
        finally:
            _runs.end()
            if progress:
                progress.end()

    def _check_outcome(self) -> None:
        """CoolingTimeoutError: the device stayed too hot for some configuration. Of others that
        failed their rows tell."""
        try:
            self._sweep.outcome()
        except _core.Error as error:
            if error.status != "WM_EHOT":
                return
            measured = self.measured(Derived())
            reasons = map(str, measured.results.column("reason").to_list())
            why = next((plain(each) for each in reasons if "did not cool" in each), "")
            text = ": ".join(filter(None, (plain(error), why)))
            raise CoolingTimeoutError(text, ProfileResults(measured)) from error

    def _hand_over(self) -> None:
        """Let the core's tables have what collectors said."""
        for each in self._collecting.collected.values():
            name, scope = self._names[each.name], scope_of(each)
            for (config, run, region), value in for_core(each):
                with contextlib.suppress(_core.Error):  # of a run or region that was not kept
                    self._sweep.collect(name, scope, config, run, region or None, value)

    def _target(self) -> Target:
        keys = enumerate(self._sweep.config_keys())
        keyless = not self._parameters.names and len(self._configs) == 1  # its key is ""
        numbers = {key: number for number, key in keys if key or keyless}
        return Target(self._sweep, self._name, numbers)

    def _derive(self) -> Derived:
        function = self._settings.derive_metric
        if function is None:
            return Derived()
        results, samples = self._session.table(), self._session.samples()
        shown, target = self._choice.shown, self._target()
        return derive(function, self._read, shown, self._configs, target, results, samples)

    # ---- what was measured ----

    def measured_so_far(self) -> Measured | None:
        """After an exception. None: kernels are not combined yet, so there are no values."""
        return None if self._fold else self.measured(Derived())

    def measured(self, derived: Derived) -> Measured:
        results = self._session.table()
        shown = self._choice.shown
        found = (str(name) for name in results.column("metric").to_list() if name is not None)
        metrics = dict.fromkeys([*self._read, *found])
        return Measured(
            results,
            self._session.samples(),
            self._session.kernels(),
            self._name,
            self._parameters.names,
            self._configs,
            self._numbers(results),
            tuple(shown.get(name, name) for name in metrics if name not in derived.names),
            shown,
            tuple(derived.names),
            frozenset(derived.unitless),
            self._settings.normalize_against,
            self._choice.replay == "range",
            state=self._settings.state == "on",
            clocks=self._choice.clocks and self._settings.clock_control != "none",
            collected=list(self._collecting.collected.values()),
        )

    def _numbers(self, results: RawTable) -> dict[str, int]:
        """Number of each configuration, by its key. Those that were not reached after an exception
        have rows, too, in the order of their numbers."""
        numbers = dict(self._target().numbers)
        others = iter(sorted(set(range(len(self._configs))).difference(numbers.values())))
        for key in results.column("config_key").to_list():
            if key and key not in numbers:
                numbers[str(key)] = next(others)
        return numbers

    # ---- what is said ----

    def _calls(self, which: str) -> int:
        return int(self._plan.context[f"calls_{which}"] or 0)

    def _calls_of_runs(self) -> int:
        runs = int(self._plan.context["runs_min"] or 0) + self._settings.warmup
        return len(self._configs) * runs

    def _announce(self) -> None:
        if self._settings.silent:
            return
        if self._choice.why_cpu:
            why = self._choice.why_cpu
            print(f"warpmeter: measuring the CPU, as there is no GPU to measure: {why}")
        added = self._calls("min") - self._calls_of_runs()
        more = f"; {_count(added, 'call')} more, for passes that read counters" if added else ""
        print(f"warpmeter: {self._name}: {self._extent()}, {self._choice.backend}{more}")
        if self._settings.verbosity >= VerbosityLevel.DEBUG:
            print(self._plan.text(), end="")

    def _extent(self) -> str:
        runs = _count(self._settings.runs, "run")
        if self._settings.finds_runs:
            runs = "as many runs as it takes"
        return f"{_count(len(self._configs), 'configuration')}, {runs} each"

    def _announce_more(self) -> None:
        """Calls that became due on the way."""
        planned = self._calls("min")
        if self._settings.silent or self._settings.finds_runs or self._sweep.calls <= planned:
            return
        added = self._sweep.calls - planned
        print(f"warpmeter: {self._name}: {_count(added, 'call')} more than planned, for counters")


_UNLOCKED = re.compile(r"clocks are not held: (.*)", re.DOTALL)
_UNCOOLED = re.compile(r".*: thermal control is off: (.*)", re.DOTALL)
_COOLING = re.compile(r".*: (waiting for the GPU to cool|the GPU has cooled)", re.DOTALL)


def _log(settings: Settings, said: list[str], level: int, line: str) -> None:
    line = plain(line)
    if _UNLOCKED.match(line) or _UNCOOLED.match(line):
        said.append(line)
        return
    if settings.silent:
        return
    if level <= 1:
        kind = "warning" if level else "error"
        print(f"warpmeter: {kind}: {line}", file=sys.stderr)
    elif settings.verbosity >= VerbosityLevel.DEBUG or _COOLING.match(line):
        clear = "\r\x1b[K" if _on_terminal() else ""  # of the line of progress
        print(f"{clear}warpmeter: {line}", flush=True)


def _on_terminal() -> bool:
    isatty = getattr(sys.stdout, "isatty", None)  # stdout may be None, or any object
    return bool(isatty and isatty())


def _check_device(settings: Settings) -> None:
    """ThermalControlError: thermal_device is not there."""
    number = settings.thermal_device
    if number is None or settings.thermal_mode == "off":
        return
    count = sum(bool(re.fullmatch(r"gpu(_\d+)?", key)) for key in _core.facts())
    if number >= count:
        there = f"CUDA has {count}, from 0 on" if count else "there is none"
        raise ThermalControlError(f"thermal_device is {number}: no GPU has that number; {there}")


def _explained(error: Exception) -> Exception:
    """A failure of the core as the package's own exception."""
    return ProfilerException(plain(error))


def _next_run(_: Step) -> None:
    _runs.begin()


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


# ---- the core's options ----


def core_options(settings: Settings, choice: Choice) -> list[str]:
    """As on a benchmark's command line."""
    given: dict[str, str | None] = {
        "metrics": ",".join(choice.metrics),
        "warmup": str(settings.warmup),
        "order": settings.order,
        "scope": settings.scope,
        "cache-control": "all" if choice.cold else "none",
        "replay": choice.replay,
        "first-launch": "keep",
        "counter-runs": None if settings.counter_runs is None else str(settings.counter_runs),
        "combine": option(settings, choice),
        "ignore-kernels": ",".join(map(_pattern, settings.ignore_kernel_list or ())) or None,
        "normalize-against": settings.normalize_against or None,
        "state": settings.state,
        "throttled": settings.throttled,
        "lock-clocks": _clocks(settings.clock_control) if choice.clocks else None,
        **_thermal_options(settings),
        **_runs_options(settings),
    }
    return [f"--{name}={value}" for name, value in given.items() if value is not None]


def _runs_options(settings: Settings) -> dict[str, str | None]:
    if not settings.finds_runs:
        return {"runs": str(settings.runs)}
    seconds = settings.min_time
    return {
        "min-runs": str(settings.runs) if settings.runs > 1 else None,
        "min-time": None if seconds is None else f"{max(1, round(seconds * 1e9))}ns",
        "timeout": None if seconds is None else f"{30 + 2 * seconds!r}s",  # 30 s without
        "max-noise": _ratio(settings.max_noise),
        "target-ci": _ratio(settings.target_ci),
    }


_WAIT, _CONT, _HOTTEST = 10, 20, 150  # degrees: the core's defaults, and its limit


def _thermal_options(settings: Settings) -> dict[str, str | None]:
    """Of two thresholds of which one is given the other makes way."""
    wait, cont = settings.thermal_wait, settings.thermal_cont
    if wait is not None and cont is None and wait >= _CONT:
        cont = min(wait + _CONT - _WAIT, _HOTTEST)
    elif cont is not None and wait is None and cont <= _WAIT:
        wait = cont - 1
    seconds = settings.thermal_timeout
    return {
        "thermal": settings.thermal_mode,
        "thermal-wait": None if wait is None else str(wait),
        "thermal-cont": None if cont is None else str(cont),
        "thermal-timeout": None if seconds is None else f"{max(1, round(seconds * 1e9))}ns",
        "thermal-device": None if settings.thermal_device is None else str(settings.thermal_device),
    }


def _clocks(control: ClockControl) -> str | None:
    """Where clocks cannot be held the call goes on without."""
    if control == "none":
        return None
    return f"try:{control if isinstance(control, str) else f'{control / 1e6!r}MHz'}"


def _ratio(value: float | None) -> str | None:
    return None if value is None else repr(value)


def _pattern(kernel: str) -> str:
    """A shell pattern for that name alone; a comma, which parts patterns, is any character."""
    return re.sub(r"([*?\[\]\\])", r"\\\1", kernel).replace(",", "?")


# ---- several kernels ----


def several_kernels(measured: Measured) -> dict[str, str]:
    """Names of the kernels of regions that have no value because there were several, by region."""
    samples, results = measured.samples, measured.results
    if samples is None:
        return {}
    reasons = samples.column("reason")
    if "several-kernels" not in (reasons.texts or ()):
        return {}
    names = ("config_key", "region", "run", "metric")
    places = zip(*(samples.column(name).to_list() for name in names), strict=True)
    # An annotation may have the function's name: its samples come after those of the function.
    last = dict(zip(places, reasons.to_list(), strict=True))
    found = {str(place[1]) for place, reason in last.items() if reason == "several-kernels"}
    rows = results.column("region").to_list(), results.column("kernel").to_list()
    named: dict[str, dict[str, None]] = {}
    for region, kernels in zip(*rows, strict=True):
        if region in found and kernels:
            named.setdefault(str(region), {}).update(dict.fromkeys(str(kernels).split(", ")))
    return {region: ", ".join(names) for region, names in named.items()}


# ---- progress ----


class _Progress:
    """A line on a terminal that says how many calls were made."""

    _EVERY_S = 0.1

    def __init__(self, calls: int) -> None:
        self._calls = calls
        self._made = 0
        self._due = 0.0

    @classmethod
    def on_terminal(cls, calls: int) -> _Progress | None:
        return cls(calls) if _on_terminal() else None

    def step(self, step: Step) -> None:
        _runs.begin()
        self._made += 1
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + self._EVERY_S
        self._show(f"call {self._made} of {self._calls}: {step.config_key}"[:78])

    def end(self) -> None:
        self._show("")

    def _show(self, text: str) -> None:
        sys.stdout.write(f"\r\x1b[K{text}")
        sys.stdout.flush()
