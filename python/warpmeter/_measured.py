"""What one call of a decorated function measured, before anyone reads it: made by _sweep.py, read
by results.py, _frame.py and _files.py."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._collect import Collected
    from ._core import RawTable


@dataclass(slots=True)
class Measured:
    """Tables of the core, and what only Python knows of the call."""

    results: RawTable
    samples: RawTable | None
    kernels: RawTable | None
    """None: a file of results does not hold them."""
    function: str
    """Name of the function; the core's benchmark and region of the whole function."""
    parameters: Sequence[str] = ()
    """Names of the function's parameters, in order."""
    configs: Sequence[tuple[object, ...]] = ()
    """The caller's own objects, one for each parameter, by the number of the configuration."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    """Number of the configuration, by the core's config_key."""
    metrics: Sequence[str] = ()
    """Asked for, in that order, under the names that were asked for; groups are spelled out."""
    shown: Mapping[str, str] = field(default_factory=dict)
    """The name asked for, by the core's name, where they differ: gpu__time_duration.sum."""
    derived: Sequence[str] = ()
    """Metrics of derive_metric, in the order of their coming."""
    unitless: frozenset[str] = frozenset()
    """Those of them that came without a unit: their Unit is NaN."""
    normalize_against: str | None = None
    ranges: bool = False
    """Regions were counted whole (replay_mode="range"): the kernel is called "range"."""
    state: bool = False
    """The machine's state was asked for."""
    clocks: bool = False
    """Clocks were to be locked."""
    collected: Sequence[Collected] = ()
    """What collectors said, in the order in which they were given."""
    report: RawTable | None = None
    """What ncu counted of the same call; None where it was not asked, or had no say."""


def collected_names(table: RawTable) -> list[str]:
    """The columns of a table that hold what collectors said. They lie behind the parameters."""
    given = re.findall(r"(?:\\.|[^,\\])+", str(table.context.get("collected") or ""), re.DOTALL)
    names = [re.sub(r"\\(.)", r"\1", name, flags=re.DOTALL) for name in given]
    return [name for name in table.column_names if name in names]
