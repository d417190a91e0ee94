"""examples/python: each runs to its end and prints the columns that it names, on a made-up GPU;
says in one line what it lacks elsewhere. The one for the CPU runs as it is."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

import fake_gpu
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = {path.stem[:2]: path for path in sorted((ROOT / "examples/python").glob("[0-9]*.py"))}
ON_A_GPU = sorted(set(EXAMPLES) - {"09"})
MADE_UP = str(Path(__file__).parent / "data/fake_gpu")

# What the last table of each has: its columns, and how many rows.
TABLES = {
    "01": ("Annotation n Metric AvgValue StdDev Unit NumRuns", 3),
    "02": ("Way NumRuns AvgValue CI95_Lower CI95_Upper Stopped by", 5),
    "03": ("cache_control Metric AvgValue Unit RelativeStdDevPct SMClock", 4),
    "04": ("n dtype AvgValue CI95_Lower CI95_Upper Unit NumRuns", 8),
    "05": ("Annotation SM % DRAM % bound by", 3),
    "06": ("Annotation Metric AvgValue CI95_Lower CI95_Upper RawAvgValue", 4),
    "07": ("region thread kernels", 3),
    "08": ("block AvgValue CI95_Lower CI95_Upper Unit Kernel", 6),
    "09": ("Annotation n AvgValue CI95_Lower CI95_Upper RawAvgValue RawUnit", 6),
}


def run(code: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", code]
    return subprocess.run(
        command, env=os.environ | env, capture_output=True, text=True, timeout=120, check=False
    )


def script(number: str, before: str = "") -> str:
    return f"{before}\nimport runpy; runpy.run_path({str(EXAMPLES[number])!r}, run_name='__main__')"


@functools.cache
def printed(number: str) -> list[list[str]]:
    """The words of each line on stdout, the example being run once on the made-up GPU."""
    if not fake_gpu.there():
        pytest.skip("this build has no made-up GPU")
    env = fake_gpu.environment()
    env["PYTHONPATH"] = os.pathsep.join([MADE_UP, env["PYTHONPATH"]])
    done = run(script(number), env)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split() for line in done.stdout.splitlines()]


def column(number: str, name: str) -> list[str]:
    """Of the last table, in which no cell of the columns from `name` on has a blank."""
    columns, rows = TABLES[number]
    after = len(columns.split()) - columns.split().index(name)
    return [line[-after] for line in printed(number)[-rows:]]


def test_there_is_a_table_of_each() -> None:
    assert set(EXAMPLES) == set(TABLES)


@pytest.mark.parametrize("number", ON_A_GPU)
def test_it_prints_its_columns(number: str) -> None:
    columns, rows = TABLES[number]
    assert printed(number)[-rows - 1] == columns.split()


class TestValues:
    """Each kernel of the made-up GPU lasts 1000 ns and reads 1000 of everything."""

    def test_times(self) -> None:
        assert column("01", "AvgValue") == ["1000.0"] * 3

    def test_runs_and_why_they_ended(self) -> None:
        # 2 ms are 2000 kernels; the core looks at the spread from 10 runs on
        assert column("02", "by") == ["runs", "runs", "min-time", "max-noise", "target-ci"]
        assert [line[1] for line in printed("02")[-5:]] == ["5", "100", "2000", "10", "10"]

    def test_tflops(self) -> None:
        expected = [2 * n**3 / 1000 / 1e3 for n in (512, 512, 1024, 1024, 2048, 2048, 4096, 4096)]
        assert list(map(float, column("04", "AvgValue"))) == pytest.approx(expected)

    def test_neither_bound_reaches_half_its_peak(self) -> None:
        assert column("05", "by") == ["neither"] * 3

    def test_one_kernel_of_two(self) -> None:
        assert column("06", "AvgValue") == ["1.0", "0.5"] * 2
        assert column("06", "RawAvgValue") == ["2000.0", "1000.0", "4000.0", "2000.0"]

    def test_the_step_holds_its_parts(self) -> None:
        regions = {line[0]: float(line[1]) for line in printed("07") if line[2:3] == ["0.0"]}
        assert regions == {
            "step": 5000,
            "step/forward": 3000,
            "step/backward": 1000,
            "step/optimizer": 1000,
        }
        kernels = {line[0]: (line[1], line[2]) for line in printed("07")[-3:]}
        assert {region: int(count) for region, (_, count) in kernels.items()} == {
            "step/forward": 3,
            "step/backward": 1,
            "step/optimizer": 1,
        }
        assert kernels["step/backward"][0] != kernels["step/forward"][0]

    def test_the_kernels_own_name(self) -> None:
        assert column("08", "Kernel") == ["add_kernel"] * 6


@pytest.mark.parametrize("number", ON_A_GPU)
@pytest.mark.parametrize(
    ("lacking", "message"),
    [
        ("import sys; sys.modules['torch'] = None", "this example needs PyTorch"),
        ("", "this example needs a GPU, and PyTorch finds none"),
    ],
    ids=["no torch", "no GPU"],
)
def test_it_says_what_it_lacks(number: str, lacking: str, message: str) -> None:
    path = os.pathsep.join([MADE_UP, *filter(None, sys.path)])
    done = run(script(number, lacking), {"PYTHONPATH": path, "FAKE_TORCH": "no-gpu"})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1


def test_numpy_on_the_cpu() -> None:
    done = run(script("09"), {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    columns, rows = TABLES["09"]
    assert lines[-rows - 1].split() == columns.split()
    values = [line.split()[-6:] for line in lines[-rows:]]
    assert [row[0] for row in values] == ["10000", "1000000"] * 3
    assert [float(row[1]) for row in values[:2]] == [1, 1]
    assert all(float(row[4]) > 0 for row in values)
    assert {row[5] for row in values} == {"ns"}
