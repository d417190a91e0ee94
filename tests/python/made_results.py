"""Results made of given numbers: a sweep of the core whose values are put into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import warpmeter
from warpmeter import _core
from warpmeter._measured import Measured
from warpmeter.results import ProfileResults

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Values = Mapping[str, Mapping[str, Sequence[float | None]]]  # region, metric: one for each run


def measured(
    values: Sequence[Values],
    configs: Sequence[tuple[object, ...]] | None = None,
    parameters: Sequence[str] = ("n",),
    units: Mapping[str, str] | None = None,
    **more: object,
) -> Measured:
    """Values for each configuration; the metrics are those that are not in `derived`. For the core
    a configuration is its number."""
    runs = max((len(each) for v in values for m in v.values() for each in m.values()), default=1)
    regions = dict.fromkeys(region for each in values for region in each)
    metrics = dict.fromkeys(name for v in values for m in v.values() for name in m)
    units = units or {}

    def function() -> None:
        for region in regions:
            with warpmeter.annotate(region):
                pass

    session = _core.Session()
    options = ["--warmup", "0", "--runs", str(runs), "--metrics", "time"]
    sweep = _core.Sweep(session, "f", options)
    for number in range(len(values)):
        sweep.add_config(["number"], [number])
    sweep.run(function, [()] * len(values))
    for number, of_config in enumerate(values):
        for region, of_region in of_config.items():
            for metric, each in of_region.items():
                for run, value in enumerate(each):
                    sweep.put(number, run, region, metric, value, units.get(metric, ""))
    derived = more.pop("derived", ())
    return Measured(
        results=session.table(),
        samples=session.samples(),
        kernels=session.kernels(),
        function="f",
        parameters=parameters,
        configs=configs or [(number,) for number in range(len(values))],
        numbers={key: number for number, key in enumerate(sweep.config_keys()) if key},
        metrics=more.pop("metrics", [name for name in metrics if name not in derived]),
        derived=derived,
        **more,
    )


def made(values: Sequence[Values], *args: object, **more: object) -> ProfileResults:
    return ProfileResults(measured(values, *args, **more))
