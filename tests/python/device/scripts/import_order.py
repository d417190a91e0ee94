"""Measures a kernel, with warpmeter imported before or after PyTorch and CUDA's context."""

import sys

order = sys.argv[1]
if order == "import first":
    import warpmeter
import torch

if order == "cuda first":
    torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
import warpmeter

x = torch.randn(1 << 20, device="cuda") if order == "cuda first" else None


@warpmeter.analyze.kernel(runs=3, warmup=1, verbosity=warpmeter.VerbosityLevel.SILENT)
def double():
    y = torch.ones(1 << 20, device="cuda") if x is None else x
    with warpmeter.annotate("double"):
        y * 2


frame = double().to_dataframe()
print(frame["Annotation"][0], frame["NumRuns"][0], 0 < frame["AvgValue"][0] < 1e6)
