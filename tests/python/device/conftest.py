"""Tests that need PyTorch and an NVIDIA GPU; without them all are skipped. Those that need an
interpreter in which nothing has happened yet run a script of scripts/."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

_HERE = Path(__file__).parent


def _why_not() -> str:
    try:
        import torch
    except ImportError:
        return "there is no PyTorch"
    return "" if torch.cuda.is_available() else "PyTorch finds no GPU"


_MISSING = _why_not()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = [item for item in items if item.path.is_relative_to(_HERE)]
    if _MISSING:
        for item in here:
            item.add_marker(pytest.mark.skip(reason=_MISSING))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Status 77 is CTest's skip; where a GPU is needed, to be without one is a failure."""
    if _MISSING and session.exitstatus in (0, 5):  # 5: no test was collected
        session.exitstatus = 1 if os.environ.get("WARPMETER_NEED_DEVICE") else 77


@pytest.fixture
def run_script() -> Callable[..., str]:
    """Runs scripts/NAME in an interpreter of its own, and gives what it printed."""

    def run(name: str, *arguments: str, launcher: bool = False, timeout: int = 180) -> str:
        command = [sys.executable, *(["-m", "warpmeter.nsight"] if launcher else [])]
        done = subprocess.run(
            [*command, str(_HERE / "scripts" / name), *arguments],
            capture_output=True,
            text=True,
            timeout=timeout,
            env=dict(os.environ),
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run
