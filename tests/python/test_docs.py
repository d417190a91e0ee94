"""docs/python.md and README.md: their Python runs, in the order of the page, on a made-up GPU; the
messages that are explained are those that come; and the outputs can be filled in."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import fake_gpu
import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).parent / "data"
GUIDE = (ROOT / "docs/python.md").read_text(encoding="utf-8")
PAGES = {"docs/python.md": GUIDE, "README.md": (ROOT / "README.md").read_text(encoding="utf-8")}
BLOCK = re.compile(r"^```python( not run)?\n(.*?)^```$", re.DOTALL | re.MULTILINE)

# Explained, and not met here: muParser may be installed, and how busy the machine is differs.
NOT_MET = {
    "muParser was not found …",
    "the load is … on … processors, so other programs are running: …",
}


def run(*command: str, env: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        env=os.environ | env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def environment() -> dict[str, str]:
    if not fake_gpu.there():
        pytest.skip("this build has no made-up GPU")
    env = fake_gpu.environment()
    path = os.pathsep.join([str(DATA / "fake_gpu"), env["PYTHONPATH"]])
    return env | {"PYTHONPATH": path}


@pytest.mark.parametrize("page", PAGES)
def test_its_python_runs(page: str, tmp_path: Path) -> None:
    blocks = BLOCK.findall(PAGES[page])
    assert blocks
    for _, code in blocks:
        compile(code, page, "exec")
    script = tmp_path / "page.py"
    script.write_text("\n".join(code for skipped, code in blocks if not skipped), encoding="utf-8")
    run(str(script), env=environment())


def test_every_block_of_python_is_seen() -> None:
    for text in PAGES.values():
        assert len(BLOCK.findall(text)) == len(re.findall("^ *```python", text, re.MULTILINE))


@pytest.fixture(scope="module")
def met() -> str:
    """What is said in the situations that the guide explains, with a GPU and without."""
    script = str(DATA / "messages.py")
    env = environment()
    nowhere = {"WARPMETER_LIBCUDA": "/nowhere/libcuda.so.1"}
    beside = "import warpmeter\ntry: warpmeter.session()\nexcept Exception as e: print(e)"
    another = run("-c", beside, env=env | {"FAKE_GPU": "subscriber"})
    hot = (
        "import warpmeter\ntry: warpmeter.analyze.kernel(thermal_timeout=0.01)(lambda: None)()\n"
        "except Exception as e: print(e)"
    )
    env |= {"FAKE_NCU": "permission"}
    too_hot = run("-c", hot, env=env | {"FAKE_GPU": "margin=5"})
    return run(script, env=env) + run(script, env=env | nowhere) + another + too_hot


def explained() -> list[str]:
    """The messages in bold face at the beginning of the entries."""
    entries = GUIDE[GUIDE.index("## Troubleshooting") :]
    return re.findall(r"\*\*`([^`]+)`\*\*", entries)


def test_the_entries_are_found() -> None:
    assert len(explained()) > len(NOT_MET)
    assert set(explained()) >= NOT_MET


@pytest.mark.parametrize("message", [each for each in explained() if each not in NOT_MET])
def test_a_message_that_is_explained_comes(message: str, met: str) -> None:
    # An ellipsis stands for something, or at the end for nothing.
    pattern = "(.+)".join(map(re.escape, message.removesuffix("…").split("…")))
    assert re.search(pattern, met), met


def test_every_column_of_the_frame_is_listed(tmp_path: Path) -> None:
    script = tmp_path / "columns.py"
    script.write_text(
        "import warpmeter\n"
        "kernel = warpmeter.analyze.kernel(normalize_against='f', verbosity=0, backend='cpu')\n"
        "@kernel\ndef f(): pass\n"
        "print(*f().to_dataframe().columns)\n"
    )
    path = os.pathsep.join(filter(None, sys.path))
    columns = run(str(script), env={"PYTHONPATH": path}).split("\n")[-2].split()
    section = GUIDE[GUIDE.index("## The frame") : GUIDE.index("## Tables and files")]
    listed = set(re.findall(r"`(\w+)`", section))
    assert "AvgValue" in columns
    raw = {"RawAvgValue", "RawStdDev", "RawUnit"}
    assert raw <= set(columns)
    assert {c for c in columns if not c.startswith("Raw")} <= listed


def test_every_parameter_is_listed() -> None:
    import inspect

    from warpmeter import analyze

    section = GUIDE[GUIDE.index("## The decorator") : GUIDE.index("## Regions")]
    first = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    listed = re.findall(r"`(\w+)`", " ".join(first))
    parameters = [name for name in inspect.signature(analyze.kernel).parameters if name != "_func"]
    assert sorted(listed) == sorted(parameters)


class TestFillOutputs:
    fill = staticmethod(runpy.run_path(str(ROOT / "docs/fill-outputs"))["fill"])
    PAGE = "a\n\n<!-- output of examples/python/01 -->\n```\nold\nlines\n```\n\n```\nkept\n```\n"

    def test_the_block_after_the_mark_is_replaced(self, tmp_path: Path) -> None:
        (tmp_path / "01.txt").write_text("new \n  \\1 line\n")
        text, missing = self.fill(self.PAGE, tmp_path)
        assert text == self.PAGE.replace("old\nlines", "new\n  \\1 line")
        assert missing == []

    def test_without_its_file_it_stays(self, tmp_path: Path) -> None:
        assert self.fill(self.PAGE, tmp_path) == (self.PAGE, ["01"])

    def test_each_example_has_its_place(self) -> None:
        numbers = re.findall(r"<!-- output of examples/python/(\d\d) -->\n```\n", GUIDE)
        examples = (ROOT / "examples/python").glob("[0-9]*.py")
        assert sorted(numbers) == sorted(path.name[:2] for path in examples)
