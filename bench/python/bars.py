"""What measuring from Python costs, on this machine: each figure beside a plain loop in the same
process, or a fresh process of its own.

    python bench/python/bars.py [--quick] [--only PART[,PART]] [--json FILE]

Parts: import, annotate, frame (any machine); loop, products, sweep (PyTorch and an NVIDIA GPU).
Exit status 1: a bar was missed. A row whose bar is "-" is there to be read."""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

Row = tuple[str, str, str, bool | None]

SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
TIME = "gpu__time_duration.sum"


def seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def median_of(count: int, work: Callable[[], float]) -> float:
    return statistics.median(work() for _ in range(count))


def fresh(code: str) -> str:
    """What a Python process of its own prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return done.stdout


# ---- any machine ----


def import_time(quick: bool) -> Iterator[Row]:
    code = (
        "import sys, time; begin = time.perf_counter(); import warpmeter; warpmeter.annotate;"
        "print(time.perf_counter() - begin);"
        "print(sorted({'numpy', 'pandas', 'matplotlib', 'torch'} & set(sys.modules)))"
    )
    runs = [fresh(code).splitlines() for _ in range(5 if quick else 15)]
    took = statistics.median(float(run[0]) for run in runs)
    loaded = runs[0][1]
    passed = took <= 0.05 and loaded == "[]"
    text = f"{took * 1e3:.1f} ms; heavy modules loaded: {loaded}"
    yield "import warpmeter", "<= 50 ms", text, passed


def annotate_pair(quick: bool) -> Iterator[Row]:
    import warpmeter

    count = 100_000

    def marked() -> None:
        for _ in range(count):
            with warpmeter.annotate("region"):
                pass

    def plain() -> None:
        for _ in range(count):
            pass

    def pair() -> float:
        return (seconds(marked) - seconds(plain)) / count

    repeats = 5 if quick else 15
    idle = median_of(repeats, pair)
    measured = warpmeter.session(verbosity=warpmeter.VerbosityLevel.SILENT, metrics=["time"])

    def run() -> float:
        with measured:
            return pair()

    active = median_of(repeats, run)
    text = f"{active * 1e9:.0f} ns, without a session {idle * 1e9:.0f} ns"
    yield "annotate, a pair", "<= 0.3 us", text, active <= 0.3e-6


def frame_time(quick: bool) -> Iterator[Row]:
    import pandas  # noqa: F401  loading it is not what is measured

    import warpmeter

    measured = warpmeter.session(
        verbosity=warpmeter.VerbosityLevel.SILENT, metrics=["time"], by_entry=True
    )
    names = [f"region{i}" for i in range(10)]
    for _ in range(10):
        with measured:
            for _ in range(10_000):
                for name in names:
                    with warpmeter.annotate(name):
                        pass

    def convert() -> float:
        begin = time.perf_counter()
        frame = measured.results.to_dataframe()
        took = time.perf_counter() - begin
        assert frame["NumRuns"].sum() == 1_000_000, frame["NumRuns"]
        return took

    took = median_of(3 if quick else 9, convert)
    text = f"{took * 1e3:.0f} ms for 10 rows, statistics included"
    yield "1,000,000 samples to a DataFrame of rows", "<= 0.1 s", text, took <= 0.1


# ---- PyTorch and a GPU ----


def loop(quick: bool) -> Iterator[Row]:
    import torch

    import warpmeter

    count = 20_000
    a = torch.randn(64, 64, device="cuda")
    b = torch.randn(64, 64, device="cuda")
    c = torch.empty(64, 64, device="cuda")

    def plain() -> None:
        for _ in range(count):
            torch.mm(a, b, out=c)
        torch.cuda.synchronize()

    def marked() -> None:
        for _ in range(count):
            with warpmeter.annotate("product"):
                torch.mm(a, b, out=c)
        torch.cuda.synchronize()

    measured = warpmeter.session(
        verbosity=warpmeter.VerbosityLevel.SILENT, metrics=["kernel_time"], keep_records=False
    )

    def whole() -> None:
        with measured:
            marked()

    plain()
    whole()  # switches records on
    inside: list[float] = []
    bare: list[float] = []
    all_of: list[float] = []
    for _ in range(3 if quick else 9):
        bare.append(seconds(plain))
        begin = time.perf_counter()
        with measured:
            inside.append(seconds(marked))
        all_of.append(time.perf_counter() - begin)
    less = statistics.median(bare)
    running = (statistics.median(inside) - less) / count
    total = (statistics.median(all_of) - less) / count
    kernels = measured.results.to_dataframe()["Kernels"].iloc[0]
    assert kernels == count * (len(all_of) + 1), kernels
    text = f"{total * 1e6:.2f} us over {less / count * 1e6:.2f}"
    text += f", of which {running * 1e6:.2f} while it runs"
    yield "20,000 products of 64, a region", "<= 2.5 us", text, total <= 2.5e-6


def products(quick: bool) -> Iterator[Row]:
    import torch

    import warpmeter

    runs = 500 if quick else 2000
    sizes = [1024, 2048, 4096]
    of = {n: [torch.randn(n, n, device="cuda") for _ in range(3)] for n in sizes}

    def product(n: int) -> None:
        a, b, c = of[n]
        torch.mm(a, b, out=c)

    def plain() -> None:
        for n in sizes:
            for _ in range(runs):
                product(n)
        torch.cuda.synchronize()

    @warpmeter.analyze.kernel(
        configs=sizes,
        runs=runs,
        cache_control="none",
        verbosity=warpmeter.VerbosityLevel.SILENT,
        combine_kernel_metrics="auto",
    )
    def measured(n: int) -> None:
        with warpmeter.annotate("product"):
            product(n)

    plain()
    measured()
    bare, marked = [], []
    for _ in range(2 if quick else 3):
        bare.append(seconds(plain))
        marked.append(seconds(measured))
    ratio = min(marked) / min(bare) - 1
    text = f"{100 * ratio:+.2f} % over {min(bare):.3f} s ({3 * runs} runs)"
    yield "products of 1024, 2048 and 4096, times only", "<= 0.5 %", text, ratio <= 0.005


SWEEP = """
import sys, time
import torch, warpmeter

@warpmeter.analyze.kernel(
    configs={sizes}, runs=10, metrics={metrics}, cache_control="all", {more}
    combine_kernel_metrics="auto", verbosity=warpmeter.VerbosityLevel.SILENT)
def three(n):
    a = torch.randn(n, n, device="cuda", dtype=torch.float16)
    b = torch.randn(n, n, device="cuda", dtype=torch.float16)
    x = torch.randn(n, n, device="cuda")
    y = torch.zeros(n, n, device="cuda")
    with warpmeter.annotate("product"):
        a @ b
    with warpmeter.annotate("scale"):
        x * 2.0
    with warpmeter.annotate("softmax"):
        torch.softmax(x, dim=-1)

{before}
begin = time.perf_counter()
results = three()
took = time.perf_counter() - begin
frame = results.to_dataframe()
assert len(frame) == 2 * 3 * {count}, frame
shown = frame[["Annotation", "Metric", "AvgValue", "Status", "Reason"]]
assert frame["AvgValue"].notna().all(), shown
print(took)
"""


def sweep_time(sizes: list[int], more: str, before: str) -> float:
    """How long the call took in a process of its own."""
    metrics = [TIME, SM, DRAM]
    fields = {"metrics": metrics, "count": len(metrics), "before": before}
    return float(fresh(SWEEP.format(sizes=sizes, more=more, **fields)))


def sweep(quick: bool) -> Iterator[Row]:
    """The sweep of bench/device/sweep.cu with PyTorch's kernels, and one of larger matrices."""
    context = "torch.zeros(1, device='cuda')"
    for title, sizes, more, bar in (
        ("60 kernels among 140, three metrics, cold", [512, 1024], "", 2.8),
        ("the same, counters of one run", [512, 1024], "counter_runs=1,", 0.9),
        ("60 kernels of 2048 and 4096, three metrics, cold", [2048, 4096], "", None),
        ("the same, counters of one run", [2048, 4096], "counter_runs=1,", None),
    ):
        took = statistics.median(sweep_time(sizes, more, context) for _ in range(1 if quick else 3))
        whole = sweep_time(sizes, more, "")
        text = f"{took:.2f} s; {whole:.2f} s where the call also makes CUDA's context"
        yield title, f"<= {bar} s" if bar else "-", text, took <= bar if bar else None


PARTS: dict[str, Callable[[bool], Iterator[Row]]] = {
    "import": import_time,
    "annotate": annotate_pair,
    "frame": frame_time,
    "loop": loop,
    "products": products,
    "sweep": sweep,
}
NEED_GPU = {"loop", "products", "sweep"}


def has_gpu() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


def main() -> int:
    parser = argparse.ArgumentParser(description="what measuring from Python costs")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    parser.add_argument("--json", help="write the rows to a file too")
    options = parser.parse_args()
    wanted = options.only.split(",")
    unknown = [part for part in wanted if part not in PARTS]
    if unknown:
        parser.error(f"there is no part '{unknown[0]}'; there are {', '.join(PARTS)}")
    rows: list[Row] = []
    for part in wanted:
        if part in NEED_GPU and not has_gpu():
            print(f"{part}: skipped, there is no PyTorch with a GPU")
            continue
        for row in PARTS[part](options.quick):
            rows.append(row)
            verdict = "-" if row[3] is None else "yes" if row[3] else "NO"
            print(f"| {row[0]} | {row[1]} | {row[2]} | {verdict} |", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    return int(any(row[3] is False for row in rows))


if __name__ == "__main__":
    sys.exit(main())
