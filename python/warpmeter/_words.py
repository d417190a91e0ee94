"""What the core says, in the words of Python's callers."""

from __future__ import annotations

import re

_ARGUMENTS = {
    "--combine": "combine_kernel_metrics",
    "--ignore-kernels": "ignore_kernel_list",
    "--list-metrics": "warpmeter.metrics()",
    "--replay": "replay_mode",
}


def plain(said: object) -> str:
    """What the core says, with the names of arguments for its options."""
    return re.sub(r"--[a-z]+(?:-[a-z]+)*", lambda m: _argument(m[0]), str(said))


def _argument(option: str) -> str:
    return _ARGUMENTS.get(option, option[2:].replace("-", "_"))
