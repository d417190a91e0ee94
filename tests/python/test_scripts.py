"""Whole scripts as people write them for nsight-python: under the launcher, and with the one line
`import warpmeter as nsight`; on the made-up GPU, whose times are known, and without one. They read
pandas frames."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import fake_gpu
import pytest

import warpmeter

SCRIPTS = Path(__file__).absolute().parent / "data/scripts"
HOME = str(Path(warpmeter.__file__).absolute().parents[1])


# Without a GPU the caches are evicted before each run, which takes long: once is enough.
@pytest.fixture(
    params=[("launched", True), ("edited", True), ("edited", False)],
    ids=["launched-GPU", "edited-GPU", "edited-CPU"],
)
def way(request):
    """How a script is run, and whether there is a GPU."""
    return request.param


@pytest.fixture
def gpu(way):
    return way[1]


@pytest.fixture
def run(way, tmp_path):
    """Runs a script in an empty folder: its lines on stdout. Nothing may be on stderr but that the
    machine is busy."""

    how, gpu = way

    def run(name, *arguments):
        text = (SCRIPTS / name).read_text()
        command = [SCRIPTS / name, *arguments]
        if how == "edited":
            assert text.count("\nimport nsight\n") == 1
            command[0] = tmp_path / name
            command[0].write_text(
                text.replace("\nimport nsight\n", "\nimport warpmeter as nsight\n")
            )
        else:
            command[:0] = ["-m", "warpmeter.nsight"]
        return lines(command, tmp_path, gpu)

    return run


def lines(command, folder, gpu, **more):
    if gpu and not fake_gpu.there():
        pytest.skip("this build has no made-up GPU")
    environment = fake_gpu.environment()
    environment["PYTHONPATH"] = os.pathsep.join([str(SCRIPTS), HOME, environment["PYTHONPATH"]])
    if not gpu:
        environment["WARPMETER_LIBCUDA"] = "/nowhere/libcuda.so.1"
    environment |= more
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for line in done.stderr.splitlines():
        assert line.startswith("warpmeter: warning: the load is "), done.stderr
    return done.stdout.splitlines()


def of_column(rows, number):
    return [row[number] for row in rows]


def test_compare(run, gpu):
    *said, last = run("compare.py")
    rows = json.loads(last)
    assert (
        said[-1]
        == f"warpmeter: benchmark: 2 configurations, 3 runs each, {'cuda' if gpu else 'cpu'}"
    )
    assert of_column(rows, 0) == ["plain"] * 2 + ["better"] * 2 + ["fused"] * 2
    assert of_column(rows, 1) == [16, 32] * 3
    assert of_column(rows, 2)[:2] == [1, 1]
    if gpu:
        assert of_column(rows, 2) == [1, 1, 0.5, 0.5, 0.25, 0.25]
    else:
        assert all(value > 0 for value in of_column(rows, 2))
    assert [row[3:] for row in rows] == [[3, "plain", ""]] * 6


def test_derive(run, gpu, way, tmp_path):
    files, counts, last = run("derive.py", tmp_path)
    reports = [f"ncu-output-multiply-{i}.{suffix}" for i in (0, 1) for suffix in ("log", "ncu-rep")]
    assert ast.literal_eval(files) == [
        *(reports if way == ("launched", True) else []),
        "processed_data-multiply-0.csv",
        "processed_data-multiply-1.csv",
        "profiled_data-multiply-0.csv",
        "profiled_data-multiply-1.csv",
    ]
    assert ast.literal_eval(counts) == {(10, 20): 2, (20, 20): 2}
    rows = json.loads(last)
    time = "gpu__time_duration.sum" if gpu else "time"
    assert [row[:3] + row[4:] for row in rows] == [
        [time, 10, 20, 2, "ns"],
        [time, 20, 20, 2, "ns"],
        ["Elements", 10, 20, 2, "1"],
        ["Rate", 10, 20, 2, "1/second"],
        ["Elements", 20, 20, 2, "1"],
        ["Rate", 20, 20, 2, "1/second"],
    ]
    values = of_column(rows, 3)
    assert values[2::2] == [200, 400]
    if gpu:
        assert values[:2] == [2000, 2000]
        assert values[3::2] == [1e8, 2e8]


def test_failures(run, gpu):
    *_, tool, last = run("failures.py")
    rows = json.loads(last)
    assert tool == "cupti"
    assert [row[:3] for row in rows] == [
        [name, *config] for name in ("sound", "fragile") for config in ((1, False), (2, True))
    ]
    assert of_column(rows, 4) == [1, 1, 1, 0]
    values = of_column(rows, 3)
    assert values[3] is None
    if gpu:
        assert values[:3] == [1000, 1000, 2000]
    else:
        assert all(value > 0 for value in values[:3])


def test_tutorial(tmp_path):
    sections = ["configurations", "what_is_returned", "how_often_it_is_called", "failures"]
    sections += ["annotations", "arguments", "derived", "several_kernels", "normalized", "tools"]
    sections += ["frame_and_files", "collectors", "temperatures", "children", "silence"]
    command = ["-m", "warpmeter.nsight", SCRIPTS / "tutorial.py"]
    # Clocks are for administrators there.
    assert lines(command, tmp_path, gpu=True, FAKE_GPU="forbidden") == sections
