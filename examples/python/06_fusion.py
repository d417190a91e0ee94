"""What fusion saves: a + b * c as two kernels, and as the one that torch.compile makes of it.

The first way writes b * c to memory and reads it again: six arrays are moved instead of four, and
the counters say how many bytes that was. normalize_against gives each value as a ratio to the
region of that name. warmup=1 calls the function once before, unmeasured: that is when it is
compiled. Needs PyTorch 2 with Triton, and a GPU."""

import sys

import warpmeter

try:
    import torch
    import triton  # noqa: F401 - torch.compile needs it
except ImportError as error:
    sys.exit(f"this example needs PyTorch and Triton: pip install torch triton ({error})")
if not torch.cuda.is_available():
    sys.exit("this example needs a GPU, and PyTorch finds none")

a, b, c = torch.randn(3, 64 * 2**20, device="cuda")  # 256 MiB each


def unfused(a, b, c):
    return a + b * c


fused = torch.compile(unfused)


def moved(time_ns, read, written):
    return read + written, "byte"


@warpmeter.analyze.kernel(
    runs=5,
    warmup=1,
    metrics=["gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum"],
    derive_metric=moved,
    combine_kernel_metrics="auto",
    normalize_against="unfused",
)
def multiply_add():
    with warpmeter.annotate("unfused"):
        unfused(a, b, c)
    with warpmeter.annotate("fused"):
        fused(a, b, c)


frame = multiply_add().to_dataframe()
frame = frame[frame["Metric"].isin(["gpu__time_duration.sum", "moved"])]
columns = ["Annotation", "Metric", "AvgValue", "CI95_Lower", "CI95_Upper", "RawAvgValue"]
print(frame[columns].to_string(index=False))
