"""What the tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from warpmeter import _core

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a GPU, whatever this one has: the core looks for one once in a process."""
    monkeypatch.setenv("WARPMETER_LIBCUDA", "/nowhere/libcuda.so.1")


@pytest.fixture
def session() -> _core.Session:
    return _core.Session()


@pytest.fixture
def swept(session: _core.Session) -> Callable[..., _core.Sweep]:
    """Runs a sweep of a function over configurations ({"n": 1}, ...), which it gets as keywords."""

    def sweep(function: Callable[..., object], *options: str, configs=({},), **rest) -> _core.Sweep:
        made = _core.Sweep(session, "f", ["--warmup", "0", *options], rest.pop("combine", None))
        for config in configs if configs != ({},) else ():
            made.add_config(list(config), list(config.values()))
        made.run(function, [()] * len(configs), list(configs), **rest)
        return made

    return sweep
