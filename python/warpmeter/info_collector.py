"""Facts that a script collects beside the measurements."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["CollectionScope", "InfoCollector"]


class CollectionScope(enum.Enum):
    """How often a collector is called: once a call of the decorated function, once a configuration,
    once a run, or each time an annotation is entered."""

    ONCE = "once"
    CONFIG = "config"
    RUN = "run"
    ANNOTATION = "annotation"


@dataclass
class InfoCollector:
    """A function whose values make the column `name`."""

    name: str
    callback: Callable[..., Any]
    scope: CollectionScope

    def collect(self, *args: Any) -> Any:
        """Call the function: without arguments for ONCE, else with `args`, which are those of the
        configuration, after the annotation's name for ANNOTATION."""
        return self.callback() if self.scope is CollectionScope.ONCE else self.callback(*args)
