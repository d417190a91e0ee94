"""What bounds a kernel: arithmetic, memory, or neither?

Two counters answer it: the shares that the kernel reached of the peak of the multiprocessors (SM)
and of the memory (DRAM). The larger one bounds it; where both are small the kernel waits, for a
launch, for a round trip to memory, or for work enough to fill the GPU. metrics=["group:roofline"]
reads more. Needs PyTorch and a GPU."""

import sys

import warpmeter

try:
    import torch
except ImportError:
    sys.exit("this example needs PyTorch: pip install torch")
if not torch.cuda.is_available():
    sys.exit("this example needs a GPU, and PyTorch finds none")

SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed"

a, b = torch.randn(2, 4096, 4096, device="cuda", dtype=torch.float16)
large = torch.randn(64 * 2**20, device="cuda")
small = torch.randn(1024, device="cuda")


@warpmeter.analyze.kernel(runs=3, metrics=[SM, DRAM])
def work():
    with warpmeter.annotate("product"):
        a @ b
    with warpmeter.annotate("scale 256 MiB"):
        large * 2.0
    with warpmeter.annotate("scale 4 KiB"):
        small * 2.0


def bound(row):
    if row.max() < 60:
        return "neither"
    return "arithmetic" if row[SM] > row[DRAM] else "memory"


frame = work().to_dataframe()
shares = frame.pivot(index="Annotation", columns="Metric", values="AvgValue")
shares["bound by"] = shares.apply(bound, axis=1)
shares = shares.rename(columns={SM: "SM %", DRAM: "DRAM %"}).reset_index()
print(shares[["Annotation", "SM %", "DRAM %", "bound by"]].to_string(index=False))
