"""Run a script that says `import nsight` on warpmeter, without an edit:

    python -m warpmeter.nsight script.py [arguments]
    python -m warpmeter.nsight -m module [arguments]
    python -m warpmeter.nsight -c code [arguments]

The interpreter starts itself anew with the same options (`python -O -m warpmeter.nsight ...`). So
the script runs as under python alone, but for one thing: PYTHONPATH begins with a folder in which
the package `nsight` is warpmeter. Python looks there after the script's own folder and before
site-packages, so an installed nsight-python loses. Interpreters that the script starts inherit it.
An `nsight` in the script's own folder wins, as ever; python's option -P leaves that folder out.

It does not reach interpreters that are started with -I or -E, or with an environment without
PYTHONPATH. Those of another virtual environment need warpmeter installed there."""

from __future__ import annotations

import contextlib
import glob
import importlib.util
import os
import re
import site
import sys
from collections.abc import Sequence
from typing import NoReturn

_USAGE = """\
usage: python [option] ... -m warpmeter.nsight (script | -m module | -c code | -) [argument] ...

Run a script written for nsight-python on warpmeter: `import nsight` is warpmeter, in the script and
in interpreters that it starts (but for those started with -I, -E or without PYTHONPATH).

  -h, --help     print this and exit
  -V, --version  print the versions of warpmeter and of the nsight it stands for, and exit
"""


def _refuse(why: str) -> NoReturn:
    sys.stderr.write(f"warpmeter.nsight: {why}\n")
    sys.exit(2)


def _python_path(given: str, search: Sequence[str], installed: Sequence[str]) -> str:
    """PYTHONPATH for the script: the drop-in's folder, what was `given`, and at the end the folder
    of warpmeter, where that was in the `search` path without being `installed`."""
    package = os.path.dirname(os.path.abspath(__file__))
    dropin, home = os.path.join(package, "dropin"), os.path.dirname(package)
    found = home in map(os.path.abspath, search) and home not in map(os.path.abspath, installed)
    kept = [each for each in given.split(os.pathsep) if each != dropin] if given else []
    last = [home] if found and home not in kept else []
    return os.pathsep.join([dropin, *kept, *last])


def _reader() -> list[str]:
    """The folder of ncu's own module ncu_report, for scripts that open reports, where ncu has one
    and none is installed."""
    if importlib.util.find_spec("ncu_report") is not None:
        return []
    from . import _core

    places = []
    with contextlib.suppress(_core.Error, ValueError):
        ncu = _core.ncu_find()
        for folder in {os.path.dirname(ncu): None, os.path.dirname(os.path.realpath(ncu)): None}:
            places += [folder, f"{folder}/..", f"{folder}/../nsight-compute-*"]
    places.append("/opt/nvidia/nsight-compute/*")
    for place in places:
        found = glob.glob(f"{place}/extras/python/ncu_report.py")
        if found:
            return [os.path.dirname(os.path.abspath(max(found, key=_release)))]
    return []


def _release(path: str) -> list[int]:
    """The numbers in a path, to find the newest."""
    return [int(number) for number in re.findall(r"\d+", path)]


def _options(command: Sequence[str]) -> list[str]:
    """The options of python in a command line that ends in `-m warpmeter.nsight`, which may be
    written as one word and joined to the option before it."""
    *options, last = command[1:]
    if last == "warpmeter.nsight":
        last = options.pop() + last
    last = last.removesuffix("mwarpmeter.nsight")
    return options if last == "-" else [*options, last]


def main() -> NoReturn:
    """Become the interpreter that runs the script. Status 2: an option that is not accepted."""
    arguments = sys.argv[1:]
    first = arguments[0] if arguments else ""
    if first in ("-h", "--help"):
        sys.stdout.write(_USAGE)
        sys.exit(0)
    if first in ("-V", "--version"):
        from . import __version__

        sys.stdout.write(f"warpmeter {__version__} (nsight 1.1.0)\n")
        sys.exit(0)
    if not first:
        _refuse("a script, -m module or -c code is needed; --help says more")
    if first.startswith("-") and first != "-" and first[:2] not in ("-m", "-c"):
        _refuse(f"unknown option '{first}'; options of python go before -m warpmeter.nsight")
    if sys.flags.ignore_environment:
        _refuse("python's options -I and -E hide PYTHONPATH, through which nsight is found")

    installed = [*site.getsitepackages(), site.getusersitepackages()]
    path = _python_path(os.environ.get("PYTHONPATH", ""), sys.path, installed)
    path = os.pathsep.join([path, *_reader()])
    options = _options(sys.orig_argv[: len(sys.orig_argv) - len(arguments)])
    command = [sys.executable, *options, *arguments]
    os.execve(sys.executable, command, {**os.environ, "PYTHONPATH": path})


if __name__ == "__main__":
    main()
