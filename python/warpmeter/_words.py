"""What the core says, in the words of Python's callers."""

from __future__ import annotations

import re

_ARGUMENTS = {
    "--combine": "combine_kernel_metrics",
    "--ignore-kernels": "ignore_kernel_list",
    "--list-metrics": "warpmeter.metrics()",
    "--lock-clocks": "clock_control",
    "--thermal": "thermal_mode",
    "--replay": "replay_mode",
}


def plain(said: object) -> str:
    """What the core says, with the names of arguments for its options, and of functions for its
    own."""
    text = re.sub(r"\bwm_(record|skip|add_flops|add_bytes|add_items)\b", r"\1", str(said))
    text = text.removesuffix("; try:base goes on without")  # as clock_control does
    return re.sub(r"--[a-z]+(?:-[a-z]+)*", lambda m: _argument(m[0]), text)


def _argument(option: str) -> str:
    return _ARGUMENTS.get(option, option[2:].replace("-", "_"))
