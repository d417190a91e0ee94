"""A script written for nsight-python: what its tutorial shows, without plots."""

import os
import sys

import nsight
import pandas as pd
import torch
from nsight.utils import VerbosityLevel

prefix = sys.argv[1]
TIME = "gpu__time_duration.sum"
SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"


def tflops(time, n, dtype):
    return 2 * n**3 / time / 1e3


@nsight.analyze.kernel(
    configs=[(1024, torch.float16), (2048, torch.float16)],
    runs=5,
    derive_metric=tflops,
    normalize_against="once",
    output_prefix=prefix,
    output_csv=True,
    verbosity=VerbosityLevel.SILENT,
)
def product(n, dtype):
    a = torch.randn(n, n, device="cuda", dtype=dtype)
    b = torch.randn(n, n, device="cuda", dtype=dtype)
    with nsight.annotate("once"):
        a @ b
    with nsight.annotate("again"):
        b @ a


frame = product().to_dataframe()
assert list(frame.columns[:5]) == ["Annotation", "Metric", "n", "dtype", "AvgValue"]
assert (frame.loc[frame["Annotation"] == "once", "AvgValue"].round(9) == 1).all()
raw = pd.read_csv(os.path.join(prefix, "profiled_data-product-0.csv"))
assert len(raw) == 2 * 2 * 2 * 5, raw


@nsight.analyze.kernel(
    configs=[1024, 2048],
    runs=3,
    metrics=[TIME, SM],
    cache_control="all",
    verbosity=VerbosityLevel.SILENT,
)
def square(n):
    a = torch.randn(n, n, device="cuda", dtype=torch.float16)
    with nsight.annotate("several", ignore_failures=True):
        a @ a
    try:
        with nsight.annotate("outer"), nsight.annotate("inner"):
            raise AssertionError("nested annotations are refused here")
    except ValueError:
        pass


frame = square().to_dataframe()
time = frame[(frame["Metric"] == TIME) & (frame["Annotation"] == "several")]
sm = frame[(frame["Metric"] == SM) & (frame["Annotation"] == "several")]
assert (time["AvgValue"] > 1000).all(), frame
assert sm["AvgValue"].between(1, 100).all(), frame
print(frame.to_string())
print("done")
