"""Units as nsight-python's frames have them."""

from __future__ import annotations

import re

_SPELLED = {
    "B": "byte",
    "B/s": "byte/second",
    "B/cycle": "byte/cycle",
    "Hz": "hz",
    "1/s": "1/second",
    "ns/s": "ns/second",
    "item/s": "item/second",
}
# The core's counts have no unit; there it is what the counter's name says that it counts.
_COUNTED = {
    "sectors": "sector",
    "requests": "request",
    "warps": "warp",
    "threads": "thread",
    "cycles": "cycle",
    "ctas": "block",
    "inst": "inst",
}
_COUNTER = re.compile(
    rf"\w+__(?:\w*?_)??({'|'.join(_COUNTED)})(?:_\w+)?"
    r"\.(?:sum|avg|min|max)(?:\.per_(second|cycle)\w*)?"
)


def shown(unit: str, metric: str) -> str:
    """The unit of a metric's values, which the core calls `unit`: "B" is "byte", and a count of
    smsp__inst_executed.sum, which has none there, is "inst"."""
    counter = _COUNTER.fullmatch(metric) if unit in ("", "1/s") else None
    if counter is None:
        return _SPELLED.get(unit, unit)
    counted, per = _COUNTED[counter[1]], counter[2]
    if per is None or (counted == "warp" and per == "cycle"):
        return counted  # warps in each cycle are warps
    return f"{counted}/{per}"
