"""Cold or warm caches, and the clock that the kernel really ran at.

With cache_control="all", the default, the L2 is emptied before each measured kernel: it reads its
input from DRAM. With "none" it finds there what the run before left. Counters show the difference:
16 MiB are read from DRAM, or next to nothing. Where counters are read the clock is measured as
well. Needs PyTorch and a GPU."""

import sys

import warpmeter

try:
    import pandas as pd
    import torch
except ImportError as error:
    sys.exit(f"this example needs PyTorch and pandas: pip install torch pandas ({error})")
if not torch.cuda.is_available():
    sys.exit("this example needs a GPU, and PyTorch finds none")

x = torch.randn(4 * 2**20, device="cuda")  # 16 MiB, less than the L2 of a large GPU holds
y = torch.empty_like(x)


def scale():
    with warpmeter.annotate("x * 2"):
        torch.mul(x, 2.0, out=y)


frames = {}
for caches in ("all", "none"):
    measure = warpmeter.analyze.kernel(
        runs=20,
        cache_control=caches,
        metrics=["gpu__time_duration.sum", "dram__bytes_read.sum"],
    )
    frames[caches] = measure(scale)().to_dataframe()

frame = pd.concat(frames, names=["cache_control"]).reset_index("cache_control")
columns = ["cache_control", "Metric", "AvgValue", "Unit", "RelativeStdDevPct", "SMClock"]
print(frame[columns].to_string(index=False))
