"""Collectors that are ready to use:

    from warpmeter import collectors

    @warpmeter.analyze.kernel(info_collectors=[collectors.gpu_name, collectors.git_commit])
    def function(): ...

All are called once, and have no value where there is nothing to say. GPUs are those that CUDA
numbers first."""

from __future__ import annotations

import os
import subprocess

from . import _core
from .experimental import collect
from .info_collector import CollectionScope, InfoCollector

__all__ = ["driver_version", "environment", "git_commit", "gpu_name", "gpu_uuid"]


@collect(scope=CollectionScope.ONCE)
def driver_version() -> str | None:
    """The release of NVIDIA's driver, such as "580.159.03"."""
    return _fact("gpu_driver")


@collect(scope=CollectionScope.ONCE)
def gpu_name() -> str | None:
    """Such as "NVIDIA H200"."""
    return _fact("gpu")


@collect(scope=CollectionScope.ONCE)
def gpu_uuid() -> str | None:
    """Such as "GPU-6f3c...": which one of several that have the same name."""
    return _fact("gpu_uuid")


@collect(scope=CollectionScope.ONCE)
def git_commit() -> str | None:
    """The commit of the working directory's repository, with "-dirty" where files that git knows
    differ from it."""
    command = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false", "describe")
    options = ("--always", "--dirty", "--abbrev=64", "--exclude=*")
    try:
        done = subprocess.run(
            [*command, *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except OSError:  # there is no git
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def environment(name: str) -> InfoCollector:
    """A variable of the environment, in the column env_NAME."""
    return InfoCollector(f"env_{name}", lambda: os.environ.get(name), CollectionScope.ONCE)


def _fact(key: str) -> str | None:
    value = _core.facts().get(key)
    return None if value is None else str(value)
