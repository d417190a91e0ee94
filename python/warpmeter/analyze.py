"""Measure a function over configurations: the decorator `kernel`."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NoReturn, TypeAlias, overload

from . import _report
from ._backend import Choice
from ._collect import check_names
from ._configs import Parameters, bind, name_of
from ._files import write_csv
from ._measured import Measured
from ._settings import (
    DEFAULT_METRICS,
    Backend,
    CacheControl,
    ClockControl,
    Collector,
    Combine,
    Derive,
    Order,
    Path,
    ReplayMode,
    Report,
    Scope,
    Settings,
    StateControl,
    ThermalMode,
    Throttled,
)
from ._sweep import Call, Function, Outcome
from .exceptions import ProfilerException, SeveralKernelsError
from .results import ProfileResults
from .table import need_pandas
from .utils import VerbosityLevel

__all__ = ["ignore_failures", "kernel", "plot"]

Profiled: TypeAlias = Callable[..., ProfileResults]
"""A decorated function: it takes (*args, configs=None) and returns what was measured."""


@overload
def kernel(_func: Function) -> Profiled: ...
@overload
def kernel(
    _func: None = None,
    *,
    configs: Iterable[Any] | None = None,
    runs: int = 1,
    derive_metric: Derive | None = None,
    normalize_against: str | None = None,
    verbosity: VerbosityLevel = VerbosityLevel.INFO,
    metrics: Sequence[str] = DEFAULT_METRICS,
    ignore_kernel_list: Sequence[str] | None = None,
    clock_control: ClockControl = "none",
    cache_control: CacheControl = "all",
    replay_mode: ReplayMode = "auto",
    thermal_mode: ThermalMode = "auto",
    thermal_wait: int | None = None,
    thermal_cont: int | None = None,
    thermal_timeout: float | None = None,
    thermal_device: int | None = None,
    combine_kernel_metrics: Combine = None,
    output_prefix: Path | None = None,
    output_csv: bool = False,
    info_collectors: Sequence[Collector] | None = None,
    counter_runs: int | None = None,
    order: Order = "sequential",
    min_time: float | None = None,
    max_noise: float | None = None,
    target_ci: float | None = None,
    scope: Scope = "process",
    warmup: int = 0,
    backend: Backend = "auto",
    state: StateControl = "auto",
    throttled: Throttled = "tag",
    report: Report = None,
) -> Callable[[Function], Profiled]: ...
def kernel(
    _func: Function | None = None,
    *,
    configs: Iterable[Any] | None = None,
    runs: int = 1,
    derive_metric: Derive | None = None,
    normalize_against: str | None = None,
    verbosity: VerbosityLevel = VerbosityLevel.INFO,
    metrics: Sequence[str] = DEFAULT_METRICS,
    ignore_kernel_list: Sequence[str] | None = None,
    clock_control: ClockControl = "none",
    cache_control: CacheControl = "all",
    replay_mode: ReplayMode = "auto",
    thermal_mode: ThermalMode = "auto",
    thermal_wait: int | None = None,
    thermal_cont: int | None = None,
    thermal_timeout: float | None = None,
    thermal_device: int | None = None,
    combine_kernel_metrics: Combine = None,
    output_prefix: Path | None = None,
    output_csv: bool = False,
    info_collectors: Sequence[Collector] | None = None,
    counter_runs: int | None = None,
    order: Order = "sequential",
    min_time: float | None = None,
    max_noise: float | None = None,
    target_ci: float | None = None,
    scope: Scope = "process",
    warmup: int = 0,
    backend: Backend = "auto",
    state: StateControl = "auto",
    throttled: Throttled = "tag",
    report: Report = None,
) -> Profiled | Callable[[Function], Profiled]:
    """Decorate a function so that calling it measures it, with or without parentheses.

    The decorated function takes (*args, configs=None) and returns ProfileResults: it calls the
    function for each configuration `runs` times and measures the regions that it marks with
    warpmeter.annotate, or the whole function where it marks none. What it returns is dropped, with
    a RuntimeWarning. Any thread may call it; one measurement is under way in a process at a time.

    configs: configurations, each a sequence of values for the parameters in order, keyword-only
        ones too; defaults fill what is missing. A text, and what is no sequence, is the value of
        the only parameter. Given here or at the call, where `*args` are one configuration.
    runs: calls of each configuration that are measured. With min_time, max_noise or target_ci the
        core finds the number, from `runs` on (from 10 where that is 1).
    derive_metric: function of (*metrics, *arguments), called run by run. It returns a number, which
        makes a metric of its own name without a unit, (number, unit), or a dict of these by name.
    normalize_against: annotation whose mean all values are divided by in to_dataframe().
    verbosity: SILENT, INFO or DEBUG.
    metrics: names of metrics, or group:NAME. Without them the time of kernels [ns], which is "time"
        where there is no GPU.
    ignore_kernel_list: kernels to leave out, by their own names without types and parameters.
    clock_control: hold the clocks of the GPU meanwhile: "base", or a frequency in Hz, such as
        1.41e9. Where that cannot be, for want of a right for instance, the call completes with a
        RuntimeWarning, and the rows say why. "none" leaves them.
    cache_control: "all" evicts the caches before each kernel in a region, and those of the CPU
        before each run where it is measured; "none" leaves them.
    replay_mode: how counters that take several passes are read. "auto": the function is called
        again for each pass where that is cheaper; INFO says how many calls that adds, and for times
        it is none. "kernel": the driver runs each kernel again, and no calls are added. "range": a
        region is counted as a whole.
    thermal_mode: "auto" and "manual" let the GPU cool down between runs when it is within
        thermal_wait degrees (10) of the temperature at which it slows down, until thermal_cont
        degrees (20) are left; "auto" finds out how many have to be. "off" does not look.
    thermal_timeout: wait so many seconds at a time (180), then raise CoolingTimeoutError with the
        results so far.
    thermal_device: number of the GPU to look at, as CUDA counts them; the one in use else.
    combine_kernel_metrics: what several kernels of a region make. None: an error, after all was
        measured. "auto": what each metric's kind says: times and bytes add up, rates and
        percentages are weighted. A dict gives "sum", "mean", "weighted", "max", "min" or "one" by
        metric. A function of two arrays, with a value for each metric, is folded over them in the
        order of their launches.
    output_prefix: folder (with a slash at its end) or beginning of the names of files; it is made.
    output_csv: write <prefix>profiled_data-<function>-<id>.csv, a row for each run and metric, and
        <prefix>processed_data-<function>-<id>.csv, the rows of to_dataframe(). Without a prefix in
        a new folder for temporary files.
    info_collectors: functions whose values become columns: those that experimental.collect marks,
        (name, function, scope) or InfoCollector. What raises has no value, and there is one
        RuntimeWarning.
    counter_runs: read counters in so many runs at most.
    order: "sequential", "interleaved" or "random": how runs of configurations follow one another.
    min_time, max_noise, target_ci: run until the measured time adds up to so many seconds; until
        the relative standard deviation is at most this; until half the 95 % interval is at most
        this share of the mean.
    scope: "process": kernels that a thread without an open region launches belong to the only
        region that is open; "thread": they do not.
    warmup: calls of each configuration before those that are measured.
    backend: "cuda", "cpu", or "auto": CUDA where there is a device.
    state: read clocks, temperature, power and throttling beside each run: "auto" where it costs
        less than 1 %, for the tables; "on" always, and as columns of to_dataframe(); "off".
    throttled: of runs in which a clock was held down by heat or power, "tag" says so in Note,
        "keep" does not, and "discard" runs them again.
    report: "ncu" runs the program once more under Nsight Compute for this call, keeps
        <prefix>ncu-output-<function>-<id>.ncu-rep and .log, and results.report has what it says.
        "auto" does so where ncu is there. Both need output_prefix.

    Raises ValueError or TypeError here for arguments that are not accepted. A call raises
    ProfilerException where it cannot be measured so (configurations that do not fit, metrics that
    are not known or cannot be had), before anything runs; SeveralKernelsError, a RuntimeError with
    the results, for several kernels where one was expected; ValueError for a derive_metric of other
    arguments; and whatever the function raises, unchanged, with what was measured until then in its
    attribute `warpmeter_results`."""
    settings = Settings(
        configs=configs,
        runs=runs,
        derive_metric=derive_metric,
        normalize_against=normalize_against,
        verbosity=verbosity,
        metrics=metrics,
        ignore_kernel_list=ignore_kernel_list,
        clock_control=clock_control,
        cache_control=cache_control,
        replay_mode=replay_mode,
        thermal_mode=thermal_mode,
        thermal_wait=thermal_wait,
        thermal_cont=thermal_cont,
        thermal_timeout=thermal_timeout,
        thermal_device=thermal_device,
        combine_kernel_metrics=combine_kernel_metrics,
        output_prefix=output_prefix,
        output_csv=output_csv,
        info_collectors=info_collectors,
        counter_runs=counter_runs,
        order=order,
        min_time=min_time,
        max_noise=max_noise,
        target_ci=target_ci,
        scope=scope,
        warmup=warmup,
        backend=backend,
        state=state,
        throttled=throttled,
        report=report,
    )
    return decorated(_func, settings)


def decorated(
    function: Function | None, settings: Settings
) -> Profiled | Callable[[Function], Profiled]:
    """What `kernel` returns: with a function it decorates that."""
    decorate = functools.partial(_decorate, settings=settings)
    return decorate if function is None else decorate(function)


def _decorate(function: Function, *, settings: Settings) -> Profiled:
    if not callable(function):
        raise TypeError(f"kernel decorates a function, not {function!r}")
    if _runs_later(function):
        raise TypeError(
            f"kernel cannot measure {name_of(function)}, of which a call runs nothing yet (it is"
            " async, or a generator): decorate a function that runs it, as with asyncio.run"
        )
    parameters = Parameters.of(function)
    check_names(settings.collectors, parameters)
    files = _Files(settings)

    if settings.report is not None:
        _report.wanted()

    @functools.wraps(function)
    def profiled(
        *args: Any, configs: Iterable[Any] | None = None, **keywords: Any
    ) -> ProfileResults:
        number = _report.number()
        try:
            if keywords:
                names = ", ".join(keywords)
                raise ProfilerException(
                    f"keyword arguments are not accepted: {names}; use configs="
                )
            bound = bind(parameters, args, configs, settings.configs)
            results = _measure(function, parameters, bound, settings, files, number)
        except BaseException as error:
            _report.keep(number, error)
            raise
        _report.keep(number, results)
        return results

    return profiled


def _measure(
    function: Function,
    parameters: Parameters,
    configs: list[tuple[object, ...]],
    settings: Settings,
    files: _Files,
    number: int,
) -> ProfileResults:
    """One call of a decorated function; `number` is that of the call in the process."""
    if settings.output_csv:
        need_pandas()
    if _report.again is not None:
        if number < _report.again.call:
            return _report.again.recall(number, name_of(function), configs)
        with _report.again.watched():
            plainly = _report.plainly(settings)
            _run(Call(function, parameters, configs, plainly, _report.UNMEASURED))
    call = Call(function, parameters, configs, settings)
    ncu = _report.find(settings, call.choice)
    outcome = _run(call)
    for category, text in _warnings(settings, outcome):
        warnings.warn(text, category, stacklevel=3)
    results = ProfileResults(outcome.measured)
    if outcome.several_kernels:
        raise SeveralKernelsError(_several_kernels(outcome.several_kernels), results)
    try:
        files.write(outcome.measured, ncu, call.choice, number)
    except Exception as error:
        _attach(results, error)
        raise
    return results


def _runs_later(function: Function) -> bool:
    kinds = (inspect.iscoroutinefunction, inspect.isasyncgenfunction, inspect.isgeneratorfunction)
    call = getattr(type(function), "__call__", None)  # noqa: B004 - that of an object's class
    return any(kind(each) for kind in kinds for each in (function, call))


def _run(call: Call) -> Outcome:
    with contextlib.closing(call):
        try:
            return call.run()
        except BaseException as error:
            for text in call.warnings():
                warnings.warn(text, RuntimeWarning, stacklevel=4)
            measured = call.measured_so_far()
            if measured is not None:
                _attach(ProfileResults(measured), error)
            raise


def _attach(results: ProfileResults, error: BaseException) -> None:
    with contextlib.suppress(AttributeError, TypeError):  # some take no attributes
        error.warpmeter_results = results  # type: ignore[attr-defined]


# ---- what is said afterwards ----


def _warnings(settings: Settings, outcome: Outcome) -> Iterator[tuple[type[Warning], str]]:
    measured = outcome.measured
    for text in outcome.warnings:
        yield RuntimeWarning, text
    if outcome.returned:
        text = f"{measured.function} returned something, which is dropped: what was measured is"
        yield RuntimeWarning, f"{text} returned instead"
    for name in measured.derived:
        if name in measured.unitless:
            text = f"derive_metric gave no unit for {name!r}: return (number, unit) to give one"
            yield UserWarning, text


def _several_kernels(found: Mapping[str, str]) -> str:
    where = "; ".join(f"in annotation {region!r}: {kernels}" for region, kernels in found.items())
    return (
        f"several kernels ran where one was expected, {where}."
        " Combine them with combine_kernel_metrics='auto' or a function of two values, leave some"
        " out with ignore_kernel_list, or measure regions as a whole with replay_mode='range'"
    )


class _Files:
    """The files of a decorated function, some for each call, numbered from 0."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._numbers = itertools.count()

    def write(self, measured: Measured, ncu: str, choice: Choice, call: int) -> None:
        """Those of one call. ncu: its path, where it is to make a report; "" else."""
        number = next(self._numbers)
        if self._settings.output_csv:
            prefix = self._settings.prefix
            if self._settings.output_prefix is None:
                prefix = os.path.join(tempfile.mkdtemp(prefix="warpmeter_"), "")
            paths = write_csv(measured, prefix, number)
            self._say(f"wrote {' and '.join(map(str, paths))}")
        if ncu:
            beginning = f"{self._settings.prefix}ncu-output-{measured.function}-{number}"
            self._report(measured, ncu, choice, call, beginning)

    def _report(
        self, measured: Measured, ncu: str, choice: Choice, call: int, beginning: str
    ) -> None:
        self._say(f"{measured.function}: running the program again under {ncu}")
        try:
            measured.report = _report.make(ncu, self._settings, choice, call, beginning)
        except ProfilerException as error:
            if self._settings.report == "ncu":
                raise
            self._say(str(error))
            return
        self._say(f"wrote {beginning}.ncu-rep and {beginning}.log")

    def _say(self, text: str) -> None:
        if not self._settings.silent:
            print(f"warpmeter: {text}")


# ---- what is to come ----


def plot(
    filename: str = "plot.png",
    metric: str | None = None,
    *,
    title: str = "Nsight Analyze Kernel Plot Results",
    ylabel: str | None = None,
    annotate_points: bool = False,
    show_aggregate: str | None = None,
    plot_type: Literal["line", "bar"] = "line",
    plot_width: int = 6,
    plot_height: int = 4,
    row_panels: Sequence[str] | None = None,
    col_panels: Sequence[str] | None = None,
    x_keys: Sequence[str] | None = None,
    print_data: bool = False,
    variant_fields: Sequence[str] | None = None,
    variant_annotations: Sequence[str] | None = None,
    plot_callback: Callable[[Any], None] | None = None,
) -> Callable[[Profiled], Profiled]:
    """Decorate what `kernel` made so that its results are plotted. Nothing is plotted yet: the
    decorator raises NotImplementedError.

    ValueError: plot_type is neither "line" nor "bar"."""
    if plot_type not in ("line", "bar"):
        raise ValueError(f"plot_type is {plot_type!r}: 'line' or 'bar' is accepted")

    def decorate(function: Profiled) -> NoReturn:
        name = getattr(function, "__name__", repr(function))
        raise NotImplementedError(f"plot does not plot {name} yet; use to_dataframe()")

    return decorate


@contextlib.contextmanager
def ignore_failures() -> Iterator[None]:
    """Swallow an Exception that leaves the block, outside of annotations: code that only prepares a
    run may fail so. For a region there is annotate(name, ignore_failures=True)."""
    with contextlib.suppress(Exception):
        yield
