"""The first kernel: how long does a GPU take to multiply two matrices?

The decorated function is called once for each configuration and run. What counts is what it
launches inside the annotation, timed by the GPU itself: making the matrices is not in the numbers,
nor is Python. Needs PyTorch and a GPU."""

import sys

import warpmeter

try:
    import torch
except ImportError:
    sys.exit("this example needs PyTorch: pip install torch")
if not torch.cuda.is_available():
    sys.exit("this example needs a GPU, and PyTorch finds none")


@warpmeter.analyze.kernel(configs=[1024, 2048, 4096], runs=10)
def product(n):
    a = torch.randn(n, n, device="cuda")
    b = torch.randn(n, n, device="cuda")
    with warpmeter.annotate("a @ b"):
        a @ b


frame = product().to_dataframe()
columns = ["Annotation", "n", "Metric", "AvgValue", "StdDev", "Unit", "NumRuns"]
print(frame[columns].to_string(index=False))
