"""A sweep over sizes and precisions, in TFLOP/s.

A configuration has a value for each parameter of the function; any object will do, a dtype too.
derive_metric makes a new metric of those measured, run by run: it is given their values, then the
parameters'. Some products take two kernels: combine_kernel_metrics="auto" adds their times. Needs
PyTorch and a GPU."""

import itertools
import sys

import warpmeter

try:
    import torch
except ImportError:
    sys.exit("this example needs PyTorch: pip install torch")
if not torch.cuda.is_available():
    sys.exit("this example needs a GPU, and PyTorch finds none")

SIZES = [512, 1024, 2048, 4096]
DTYPES = [torch.float32, torch.float16]


def rate(time_ns, n, dtype):
    return 2 * n**3 / time_ns / 1e3, "TFLOP/s"


@warpmeter.analyze.kernel(
    configs=itertools.product(SIZES, DTYPES),
    runs=10,
    derive_metric=rate,
    combine_kernel_metrics="auto",
)
def product(n, dtype):
    a = torch.randn(n, n, device="cuda", dtype=dtype)
    b = torch.randn(n, n, device="cuda", dtype=dtype)
    with warpmeter.annotate("a @ b"):
        a @ b


frame = product().to_dataframe()
rates = frame[frame["Metric"] == "rate"]
columns = ["n", "dtype", "AvgValue", "CI95_Lower", "CI95_Upper", "Unit", "NumRuns"]
print(rates[columns].to_string(index=False))
