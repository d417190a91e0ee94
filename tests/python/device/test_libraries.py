"""Kernels of Triton, CuPy and plain launches, and what else wants CUPTI."""

from __future__ import annotations

import shutil

import pytest

import warpmeter

torch = pytest.importorskip("torch")

SILENT = warpmeter.VerbosityLevel.SILENT
N = 1 << 22
BYTES = 4 * N


def test_triton():
    pytest.importorskip("triton")
    from .kernels import triton_double

    x = torch.randn(N, device="cuda")
    y = torch.empty_like(x)

    @warpmeter.analyze.kernel(
        configs=[256, 1024],
        runs=4,
        warmup=1,
        metrics=["gpu__time_duration.sum", "dram__bytes_read.sum"],
        verbosity=SILENT,
    )
    def double(block):
        with warpmeter.annotate("double"):
            triton_double(x, y, block)

    frame = double().to_dataframe()
    assert torch.equal(y, x * 2)
    assert set(frame["Kernel"]) == {"double_kernel"}
    assert list(frame["Status"]) == ["ok"] * 4
    read = frame[frame["Metric"] == "dram__bytes_read.sum"]
    assert (read["AvgValue"] - BYTES).abs().max() < 0.02 * BYTES


def test_cupy():
    cupy = pytest.importorskip("cupy")
    x = cupy.arange(N, dtype=cupy.float32)

    @warpmeter.analyze.kernel(
        runs=4,
        warmup=1,
        metrics=["gpu__time_duration.sum", "dram__bytes_read.sum"],
        verbosity=SILENT,
    )
    def double():
        with warpmeter.annotate("double"):
            x * 2

    frame = double().to_dataframe()
    assert list(frame["Status"]) == ["ok"] * 2
    assert "multiply" in frame["Kernel"][0]
    assert abs(frame["AvgValue"][1] - BYTES) < 0.02 * BYTES


def test_raw_launches():
    cupy = pytest.importorskip("cupy")
    source = 'extern "C" __global__ void mine(float *x) { x[threadIdx.x] = threadIdx.x; }'
    kernel = cupy.RawKernel(source, "mine")
    x = cupy.zeros(256, dtype=cupy.float32)

    @warpmeter.analyze.kernel(runs=4, warmup=1, verbosity=SILENT)
    def launch():
        with warpmeter.annotate("launch"):
            kernel((1,), (256,), (x,))

    results = launch()
    frame = results.to_dataframe()
    assert list(frame["Kernel"]) == ["mine"]
    rows = [row for row in results.kernels().to_pylist() if row["kind"] == "kernel"]
    assert [row["block_x"] for row in rows] == [256] * 4


@pytest.mark.parametrize("order", ["import first", "cuda first", "torch first"])
def test_the_order_of_imports_does_not_matter(run_script, order):
    assert run_script("import_order.py", order) == "double 3 True\n"


@pytest.mark.parametrize("first", ["warpmeter", "torch"])
def test_beside_pytorchs_profiler(run_script, first):
    lines = run_script("beside_profiler.py", first).splitlines()
    assert lines[-1] == "done"


def test_a_script_that_imports_nsight(run_script, tmp_path):
    assert run_script("nsight_script.py", f"{tmp_path}/", launcher=True).splitlines()[-1] == "done"
    names = sorted(path.name for path in tmp_path.iterdir())
    tables = ["processed_data-product-0.csv", "profiled_data-product-0.csv"]
    reports = ["ncu-output-product-0.log", "ncu-output-product-0.ncu-rep"]
    assert names == sorted(tables + (reports if shutil.which("ncu") else []))


def test_a_counter_of_another_chip_is_refused_by_name():
    with pytest.raises(warpmeter.exceptions.ProfilerException, match="bogus__x.sum"):

        @warpmeter.analyze.kernel(metrics=["bogus__x.sum"], verbosity=SILENT)
        def nothing():
            raise AssertionError("must not be called")

        nothing()
