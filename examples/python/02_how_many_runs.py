"""How many runs are enough?

A mean is known as well as its 95 % confidence interval is narrow. The number of runs can be given,
or found while running: by the time that was measured, or by how well the mean is known by then.
Needs PyTorch and a GPU."""

import sys

import warpmeter

try:
    import pandas as pd
    import torch
except ImportError as error:
    sys.exit(f"this example needs PyTorch and pandas: pip install torch pandas ({error})")
if not torch.cuda.is_available():
    sys.exit("this example needs a GPU, and PyTorch finds none")

WAYS = {
    "runs=5": {"runs": 5},
    "runs=100": {"runs": 100},
    "min_time=0.002": {"min_time": 0.002},  # until the kernels took 2 ms together
    "max_noise=0.02": {"max_noise": 0.02},  # until the runs differ by 2 %: they may never
    "target_ci=0.002": {"target_ci": 0.002},  # until the mean is known to ± 0.2 %
}
x = torch.randn(4096, 4096, device="cuda")


def softmax():
    with warpmeter.annotate("softmax"):
        torch.softmax(x, dim=1)


frames = {}
for way, how in WAYS.items():
    measure = warpmeter.analyze.kernel(verbosity=warpmeter.VerbosityLevel.SILENT, **how)
    results = measure(softmax)()
    frames[way] = results.to_dataframe()
    frames[way]["Stopped by"] = results.table()["stop_reason"].to_list()

frame = pd.concat(frames, names=["Way"]).reset_index("Way")
columns = ["Way", "NumRuns", "AvgValue", "CI95_Lower", "CI95_Upper", "Stopped by"]
print(frame[columns].to_string(index=False))
