"""What the tests share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from warpmeter import _core

if TYPE_CHECKING:
    from collections.abc import Callable


_NO_LIBCUDA = "/nowhere/libcuda.so.1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The core looks for a GPU once in a process: it finds none, but in the tests that need one."""
    if not any("device" in item.path.relative_to(Path(__file__).parent).parts for item in items):
        os.environ["WARPMETER_LIBCUDA"] = _NO_LIBCUDA


@pytest.fixture
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a GPU, whatever this one has."""
    monkeypatch.setenv("WARPMETER_LIBCUDA", _NO_LIBCUDA)


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
