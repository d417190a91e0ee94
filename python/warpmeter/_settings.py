"""The arguments of analyze.kernel, checked where a function is decorated."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, SupportsFloat, TypeAlias, cast

from ._collect import normalised
from .info_collector import CollectionScope, InfoCollector
from .utils import VerbosityLevel

DEFAULT_METRICS = ("gpu__time_duration.sum",)
"""What is measured where nothing is asked for. Known by identity: the same names given by the
caller are asked for."""

ClockControl: TypeAlias = Literal["base", "none"] | float
CacheControl: TypeAlias = Literal["all", "none"]
ReplayMode: TypeAlias = Literal["auto", "kernel", "range"]
ThermalMode: TypeAlias = Literal["auto", "manual", "off"]
StateControl: TypeAlias = Literal["auto", "on", "off"]
Throttled: TypeAlias = Literal["tag", "keep", "discard"]
Report: TypeAlias = Literal["auto", "ncu"] | None
Order: TypeAlias = Literal["sequential", "interleaved", "random"]
Scope: TypeAlias = Literal["process", "thread"]
Backend: TypeAlias = Literal["auto", "cuda", "cpu"]
How: TypeAlias = Literal["auto", "sum", "mean", "weighted", "max", "min", "one"]
Combine: TypeAlias = Callable[[Any, Any], Any] | Mapping[str, How] | Literal["auto"] | None
Derived: TypeAlias = float | tuple[float, str] | Mapping[str, float | tuple[float, str]]
Derive: TypeAlias = Callable[..., Derived]
Collector: TypeAlias = (
    InfoCollector | tuple[str, Callable[..., Any], str | CollectionScope] | Callable[..., Any]
)
Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]

_HOWS = ("auto", "sum", "mean", "weighted", "max", "min", "one")
_RUNS_MAX = 1_000_000_000  # of the core
_LONGEST_S = 1e9
_THERMAL = ("thermal_wait", "thermal_cont", "thermal_timeout", "thermal_device")
_DEGREES_MAX, _DEVICE_MAX = 150, 1023  # of the core
_LOWEST_HZ, _HIGHEST_HZ = 1e6, 1e11  # a number of MHz is below, and no clock is above


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The arguments of analyze.kernel. Times are in seconds, ratios are shares of 1.

    Making one raises ValueError or TypeError for what is not accepted, ProfilerException for names
    of collectors that are taken, OSError where the folder of output_prefix cannot be made."""

    configs: Iterable[Any] | None
    runs: int
    derive_metric: Derive | None
    normalize_against: str | None
    verbosity: int
    metrics: Sequence[str]
    ignore_kernel_list: Sequence[str] | None
    clock_control: ClockControl
    cache_control: CacheControl
    replay_mode: ReplayMode
    thermal_mode: ThermalMode
    thermal_wait: int | None
    thermal_cont: int | None
    thermal_timeout: float | None
    thermal_device: int | None
    combine_kernel_metrics: Combine
    output_prefix: Path | None
    output_csv: bool
    info_collectors: Sequence[Collector] | None
    counter_runs: int | None
    order: Order
    min_time: float | None
    max_noise: float | None
    target_ci: float | None
    scope: Scope
    warmup: int
    backend: Backend
    state: StateControl
    throttled: Throttled
    report: Report
    nvtx_domain: str = "warpmeter"
    """Under which other tools see the annotations."""

    def __post_init__(self) -> None:
        self._normalise()
        self._check_choices()
        self._check_numbers()
        _check_combine(self.combine_kernel_metrics)
        _check_callable("derive_metric", self.derive_metric)
        _check_text("normalize_against", self.normalize_against)
        self._check_clock()
        self._check_thermal()
        self._check_report()
        if self.output_prefix is not None:
            os.makedirs(os.path.dirname(self.prefix) or ".", exist_ok=True)

    @property
    def silent(self) -> bool:
        return self.verbosity < VerbosityLevel.INFO

    @property
    def finds_runs(self) -> bool:
        """Whether the number of runs is found while running."""
        return any(x is not None for x in (self.min_time, self.max_noise, self.target_ci))

    @property
    def prefix(self) -> str:
        """output_prefix, or ""."""
        return "" if self.output_prefix is None else os.fsdecode(self.output_prefix)

    @property
    def collectors(self) -> Sequence[InfoCollector]:
        """info_collectors, each as an InfoCollector."""
        return cast("Sequence[InfoCollector]", self.info_collectors)

    @property
    def controls_heat(self) -> bool:
        """Whether control of temperatures was asked for, not merely left as it is."""
        given = any(getattr(self, name) is not None for name in _THERMAL)
        return self.thermal_mode == "manual" or (given and self.thermal_mode != "off")

    def _normalise(self) -> None:
        if self.metrics is not DEFAULT_METRICS:
            self._set("metrics", tuple(m.strip() for m in _texts("metrics", self.metrics)))
        if self.ignore_kernel_list is not None:
            ignored = _texts("ignore_kernel_list", self.ignore_kernel_list)
            self._set("ignore_kernel_list", ignored)
        if self.output_prefix is not None:
            self._set("output_prefix", os.fsdecode(self.output_prefix))
        self._set("info_collectors", normalised(self.info_collectors or ()))
        if isinstance(self.configs, Iterator):
            self._set("configs", list(self.configs))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_choices(self) -> None:
        choices = {
            "cache_control": ("all", "none"),
            "replay_mode": ("auto", "kernel", "range"),
            "thermal_mode": ("auto", "manual", "off"),
            "order": ("sequential", "interleaved", "random"),
            "scope": ("process", "thread"),
            "backend": ("auto", "cuda", "cpu"),
            "state": ("auto", "on", "off"),
            "throttled": ("tag", "keep", "discard"),
            "report": (None, "auto", "ncu"),
        }
        for name, accepted in choices.items():
            if getattr(self, name) not in accepted:
                raise ValueError(_refusal(name, getattr(self, name), _either(accepted)))

    def _check_numbers(self) -> None:
        self._set("verbosity", _whole("verbosity", self.verbosity, 0))
        self._set("runs", _whole("runs", self.runs, 1))
        self._set("warmup", _whole("warmup", self.warmup, 0))
        if self.counter_runs is not None:
            self._set("counter_runs", _whole("counter_runs", self.counter_runs, 1))
        for name, most in (("min_time", _LONGEST_S), ("max_noise", 1.0), ("target_ci", 1.0)):
            value = getattr(self, name)
            if value is not None:
                self._set(name, _positive(name, value, most))

    def _check_clock(self) -> None:
        hz = self.clock_control
        if isinstance(hz, str) and hz in ("base", "none"):
            return
        accepted = "'base', 'none' or a frequency in Hz, such as 1.41e9,"
        if isinstance(hz, str | bool) or not isinstance(hz, SupportsFloat):
            raise ValueError(_refusal("clock_control", hz, accepted))
        self._set("clock_control", float(hz))
        if not _LOWEST_HZ <= float(hz) <= _HIGHEST_HZ:
            raise ValueError(_refusal("clock_control", hz, accepted))

    def _check_thermal(self) -> None:
        wait, cont = self.thermal_wait, self.thermal_cont
        if wait is not None and cont is not None and cont <= wait:
            raise ValueError(
                f"thermal_cont is {cont}: it must be above thermal_wait, which is {wait}"
            )
        for name, least, most in (
            ("thermal_wait", 0, _DEGREES_MAX - 1),
            ("thermal_cont", 1, _DEGREES_MAX),
            ("thermal_device", 0, _DEVICE_MAX),
        ):
            value = getattr(self, name)
            if value is not None:
                self._set(name, _whole(name, value, least, most))
        if self.thermal_timeout is not None:
            timeout = _positive("thermal_timeout", self.thermal_timeout, _LONGEST_S)
            self._set("thermal_timeout", timeout)

    def _check_report(self) -> None:
        if self.report == "ncu" and self.output_prefix is None:
            raise ValueError("report='ncu' writes files: output_prefix says where")


def _refusal(name: str, value: object, accepted: str) -> str:
    return f"{name} is {value!r}: {accepted} is accepted"


def _either(choices: Sequence[str | None]) -> str:
    *first, last = map(repr, choices)
    return f"{', '.join(first)} or {last}"


def _texts(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable):
        raise TypeError(_refusal(name, value, "a sequence of names"))
    texts = tuple(value)
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"{name} holds {text!r}: only texts are accepted")
    return texts


def _whole(name: str, value: object, least: int, most: int = _RUNS_MAX) -> int:
    try:
        whole = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(_refusal(name, value, "a whole number")) from None
    if not least <= whole <= most:
        raise ValueError(_refusal(name, value, f"a whole number from {least} to {most:,}"))
    return whole


def _positive(name: str, value: float, most: float) -> float:
    accepted = f"a number above 0 and at most {most:g}"
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(_refusal(name, value, accepted)) from None
    if not 0 < number <= most:
        raise ValueError(_refusal(name, value, accepted))
    return number


def _check_callable(name: str, value: object) -> None:
    if value is not None and not callable(value):
        raise TypeError(_refusal(name, value, "a function"))


def _check_text(name: str, value: object) -> None:
    if value is not None and not isinstance(value, str):
        raise TypeError(_refusal(name, value, "a text"))


def _check_combine(how: object) -> None:
    if how is None or how == "auto" or callable(how):
        return
    name, accepted = (
        "combine_kernel_metrics",
        "'auto', a function of two values or a dict by metric",
    )
    if isinstance(how, str):
        raise ValueError(_refusal(name, how, accepted))
    if not isinstance(how, Mapping):
        raise TypeError(_refusal(name, how, accepted))
    for metric, each in how.items():
        if each not in _HOWS:
            raise ValueError(_refusal(f"{name}[{metric!r}]", each, _either(_HOWS)))
