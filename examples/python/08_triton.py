"""A Triton kernel, and how large its blocks should be.

Triton's kernels are measured like all others. warmup=1 calls the function once before it is
measured, for every configuration: Triton compiles it then. The kernel has its own name in the
table. Needs PyTorch, Triton and a GPU."""

import sys

import warpmeter

try:
    import torch
    import triton
    import triton.language as tl
except ImportError as error:
    sys.exit(f"this example needs PyTorch and Triton: pip install torch triton ({error})")
if not torch.cuda.is_available():
    sys.exit("this example needs a GPU, and PyTorch finds none")

N = 16 * 2**20
x, y = torch.randn(2, N, device="cuda")
total = torch.empty_like(x)


@triton.jit
def add_kernel(x, y, total, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(total + at, tl.load(x + at, inside) + tl.load(y + at, inside), inside)


def rate(time_ns, block):
    return 3 * 4 * N / time_ns, "GB/s"


@warpmeter.analyze.kernel(
    configs=[128, 256, 512, 1024, 2048, 4096], runs=10, warmup=1, derive_metric=rate
)
def add(block):
    with warpmeter.annotate("x + y"):
        add_kernel[(triton.cdiv(N, block),)](x, y, total, N, BLOCK=block)


frame = add().to_dataframe()
frame = frame[frame["Metric"] == "rate"]
columns = ["block", "AvgValue", "CI95_Lower", "CI95_Upper", "Unit", "Kernel"]
print(frame[columns].to_string(index=False))
