"""The arguments of analyze.kernel, checked where a function is decorated."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .info_collector import CollectionScope, InfoCollector
from .utils import VerbosityLevel

DEFAULT_METRICS = ("gpu__time_duration.sum",)
"""What is measured where nothing is asked for. Known by identity: the same names given by the
caller are asked for."""

ClockControl: TypeAlias = Literal["base", "none"]
CacheControl: TypeAlias = Literal["all", "none"]
ReplayMode: TypeAlias = Literal["auto", "kernel", "range"]
ThermalMode: TypeAlias = Literal["auto", "manual", "off"]
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

_HOWS = ("auto", "sum", "mean", "weighted", "max", "min", "one")
_RUNS_MAX = 1_000_000_000  # of the core
_LONGEST_S = 1e9
_THERMAL = ("thermal_wait", "thermal_cont", "thermal_timeout", "thermal_device")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The arguments of analyze.kernel. Times are in seconds, ratios are shares of 1.

    Making one raises ValueError or TypeError for what is not accepted, NotImplementedError for what
    is asked for and is not there yet, OSError where the folder of output_prefix cannot be made."""

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
    thermal_timeout: int | None
    thermal_device: int | None
    combine_kernel_metrics: Combine
    output_prefix: str | os.PathLike[str] | None
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

    def __post_init__(self) -> None:
        self._normalise()
        self._check_choices()
        self._check_numbers()
        _check_combine(self.combine_kernel_metrics)
        _check_callable("derive_metric", self.derive_metric)
        _check_text("normalize_against", self.normalize_against)
        self._check_thermal()
        self._refuse_what_is_to_come()
        if self.output_prefix is not None:
            os.makedirs(os.path.dirname(self.output_prefix) or ".", exist_ok=True)

    @property
    def silent(self) -> bool:
        return self.verbosity < VerbosityLevel.INFO

    @property
    def finds_runs(self) -> bool:
        """Whether the number of runs is found while running."""
        return any(x is not None for x in (self.min_time, self.max_noise, self.target_ci))

    def _normalise(self) -> None:
        if self.metrics is not DEFAULT_METRICS:
            self._set("metrics", tuple(m.strip() for m in _texts("metrics", self.metrics)))
        if self.ignore_kernel_list is not None:
            ignored = _texts("ignore_kernel_list", self.ignore_kernel_list)
            self._set("ignore_kernel_list", ignored)
        if self.output_prefix is not None:
            self._set("output_prefix", os.fspath(self.output_prefix))
        if isinstance(self.configs, Iterator):
            self._set("configs", list(self.configs))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_choices(self) -> None:
        choices = {
            "clock_control": ("base", "none"),
            "cache_control": ("all", "none"),
            "replay_mode": ("auto", "kernel", "range"),
            "thermal_mode": ("auto", "manual", "off"),
            "order": ("sequential", "interleaved", "random"),
            "scope": ("process", "thread"),
            "backend": ("auto", "cuda", "cpu"),
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

    def _check_thermal(self) -> None:
        wait, cont = self.thermal_wait, self.thermal_cont
        if wait is not None and cont is not None and cont <= wait:
            raise ValueError(
                f"thermal_cont is {cont}: it must be above thermal_wait, which is {wait}"
            )

    def _refuse_what_is_to_come(self) -> None:
        given = [name for name in _THERMAL if getattr(self, name) is not None]
        if self.thermal_mode == "manual" or (given and self.thermal_mode != "off"):
            asked = given[0] if given else "thermal_mode='manual'"
            raise NotImplementedError(f"{asked}: temperatures are not controlled yet; leave it out")
        if self.info_collectors:
            raise NotImplementedError("info_collectors: they are not called yet; leave them out")


def _refusal(name: str, value: object, accepted: str) -> str:
    return f"{name} is {value!r}: {accepted} is accepted"


def _either(choices: Sequence[str]) -> str:
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
