"""Which tool measures. Both are the same core; a tool says what is meant by a call.

Tool.NCU, active from the start, allows every metric and setting. Tool.CUPTI allows times only, and
leaves caches and clocks alone. Any thread may call these functions."""

import enum
import os

__all__ = ["Tool", "activate", "deactivate", "get_active_tool"]


class Tool(str, enum.Enum):
    """What is meant by a call of a decorated function."""

    NCU = "ncu"
    CUPTI = "cupti"


_at_import = os.environ.get("NSPY_NCU_INIT_AT_IMPORT", "1") != "0"
_active: Tool | None = Tool.NCU if _at_import else None


def activate(tool: Tool) -> None:
    """Choose the tool of this process. Again the same one: nothing happens.

    ValueError: not a Tool. RuntimeError: the other one is active; deactivate() it first."""
    global _active
    if not isinstance(tool, Tool):
        raise ValueError(  # not TypeError: scripts expect this
            f"activate takes Tool.NCU or Tool.CUPTI, not {tool!r}"
        )
    if _active not in (None, tool):
        raise RuntimeError(f"{_active} is active: call deactivate() before {tool} is activated")
    _active = tool


def deactivate() -> None:
    """Let no tool be active. The next call of a decorated function activates Tool.NCU."""
    global _active
    _active = None


def get_active_tool() -> Tool | None:
    """The active tool, or None."""
    return _active
