"""What measures, and under which names the core knows what was asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NoReturn

from . import _core
from ._settings import DEFAULT_METRICS, Settings
from ._words import plain
from .exceptions import ProfilerException
from .tools import Tool, activate, get_active_tool

TIME = DEFAULT_METRICS[0]
RECORDS = "kernel_time"
"""The core's own name for the times of kernels. It reads them without disturbing the program."""

_ON_A_GPU = re.compile(r"^'[^']*' is measured on a GPU: ")
_NOT_BUILT = (
    "warpmeter was built without CUDA's headers: docs/python.md tells how to build with them"
)


@dataclass(frozen=True)
class Choice:
    """How one call of a decorated function is measured."""

    backend: Literal["cuda", "cpu"]
    asked: tuple[str, ...]
    metrics: tuple[str, ...]
    """The same under the core's names."""
    replay: Literal["auto", "kernel", "range"] = "auto"
    cold: bool = False
    """Caches are evicted."""
    clocks: bool = True
    """Clocks may be held."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """The name asked for, by the core's name, where they differ."""
    why_cpu: str = ""
    """Why there is no GPU where one would have been used."""


def choose(settings: Settings) -> Choice:
    """The backend and the metrics of a call.

    ProfilerException: a metric is not known, or cannot be had here. ValueError: the active tool
    does not measure it. Nothing runs."""
    if get_active_tool() is None:
        activate(Tool.NCU)
    times_only = get_active_tool() is Tool.CUPTI
    if times_only:
        _check_times_only(settings.metrics)
    choice = _by_default(settings) if settings.metrics is DEFAULT_METRICS else _by_name(settings)
    if times_only:
        return replace(choice, cold=False, clocks=False, replay="auto")
    return replace(choice, cold=settings.cache_control == "all")


def _check_times_only(metrics: Sequence[str]) -> None:
    for name in metrics:
        if name not in (TIME, RECORDS):
            raise ValueError(f"metrics holds {name!r}: with Tool.CUPTI only {TIME!r} is accepted")


# ---- what is there ----


def no_device() -> str:
    """Why the times of kernels cannot be read here; "" where they can.

    ProfilerException: there is a device, but its times cannot be read now."""
    try:
        plan = _core.metrics_plan(RECORDS)
    except _core.Error as error:
        if error.status == "WM_ENOTFOUND":  # the core has no such metric
            return _NOT_BUILT
        if error.status != "WM_EUNSUPPORTED":
            raise ProfilerException(plain(error)) from error
        return _ON_A_GPU.sub("", plain(error))
    return "" if plan.column("pass")[0] is not None else str(plan.column("reason")[0])


@dataclass(frozen=True)
class _Plan:
    """What the core says of a set of metrics."""

    devices: bool
    """Something is read of a device."""
    clean: bool
    """Something is read without disturbing times."""
    counter_passes: int


def _plan(names: Sequence[str]) -> _Plan:
    table = _core.metrics_plan(",".join(names))
    disturbs = table.column("disturbs").to_list()
    return _Plan(
        devices="cuda" in table.column("backend").to_list(),
        clean=False in disturbs,
        counter_passes=int(table.context["counter_passes"] or 0),
    )


# ---- choosing ----


def _by_default(settings: Settings) -> Choice:
    why = "" if settings.backend == "cpu" else no_device()
    if why and settings.backend == "cuda":
        raise ProfilerException(f"backend='cuda': there is no GPU to measure: {why}")
    if why or settings.backend == "cpu":
        return Choice("cpu", ("time",), ("time",), why_cpu=why)
    replay: Literal["auto", "range"] = "range" if settings.replay_mode == "range" else "auto"
    return Choice("cuda", (TIME,), (RECORDS,), replay, shown={RECORDS: TIME})


def _by_name(settings: Settings) -> Choice:
    asked = _names(settings.metrics)
    by_records = TIME in asked and RECORDS not in asked
    metrics = tuple(RECORDS if by_records and name == TIME else name for name in asked)
    try:
        plan = _plan(metrics)
    except (_core.Error, ValueError) as error:
        _refuse(asked, error)
    _check_backend(settings, plan, asked)
    backend: Literal["cuda", "cpu"] = "cuda" if plan.devices else "cpu"
    replay = settings.replay_mode
    if plan.counter_passes and by_records and replay == "kernel":
        return Choice(backend, asked, asked, replay)
    if replay == "auto" and plan.counter_passes == 1 and not plan.clean:
        replay = "kernel"
    return Choice(backend, asked, metrics, replay, shown={RECORDS: TIME} if by_records else {})


def _names(metrics: Sequence[str]) -> tuple[str, ...]:
    if not metrics:
        raise ProfilerException("metrics is empty: give one name or more")
    for name in metrics:
        if not name or "," in name or not name.isprintable():
            raise ProfilerException(
                f"unknown metric {name!r}: a name is not empty, printable and has no comma"
            )
    return tuple(dict.fromkeys(metrics))


def _check_backend(settings: Settings, plan: _Plan, asked: Sequence[str]) -> None:
    if settings.backend == "cpu" and plan.devices:
        of_gpu = next(name for name in asked if name == TIME or _plan([name]).devices)
        raise ProfilerException(f"{of_gpu!r} is measured on a GPU, but backend is 'cpu'")
    if settings.backend == "cuda" and not plan.devices and (why := no_device()):
        raise ProfilerException(f"backend='cuda': there is no GPU to measure: {why}")


def _refuse(asked: Sequence[str], error: Exception) -> NoReturn:
    """Name every metric that is the matter, with the reason of each."""
    reasons: list[str] = []
    for name in asked:
        try:
            _core.metrics_plan(RECORDS if name == TIME else name)
        except (_core.Error, ValueError) as each:
            reasons.append(plain(each).replace(f"'{RECORDS}'", f"'{name}'"))
    raise ProfilerException("; ".join(dict.fromkeys(reasons)) or plain(error)) from error
