"""A training step by its parts: forward, backward, optimizer.

PyTorch launches the kernels of a backward pass from a thread of its own. They belong to the region
that is open at that time, so loss.backward() is measured like everything else. Regions nest:
"step" holds the other three, whose names begin with its own. Needs PyTorch and a GPU."""

import sys

import warpmeter

try:
    import torch
except ImportError:
    sys.exit("this example needs PyTorch: pip install torch")
if not torch.cuda.is_available():
    sys.exit("this example needs a GPU, and PyTorch finds none")

model = torch.nn.Sequential(
    torch.nn.Linear(1024, 4096),
    torch.nn.GELU(),
    torch.nn.Linear(4096, 1024),
).cuda()
optimizer = torch.optim.AdamW(model.parameters())
x = torch.randn(2048, 1024, device="cuda")


@warpmeter.analyze.kernel(runs=10, warmup=2, cache_control="none", combine_kernel_metrics="auto")
def train():
    with warpmeter.annotate("step"):
        with warpmeter.annotate("forward"):
            loss = model(x).square().mean()
        with warpmeter.annotate("backward"):
            loss.backward()
        with warpmeter.annotate("optimizer"):
            optimizer.step()
            optimizer.zero_grad()


results = train()
frame = results.to_dataframe()
columns = ["Annotation", "AvgValue", "StdDev", "Unit", "NumRuns"]
print(frame[columns].to_string(index=False))

kernels = results.kernels().to_dataframe()
kernels = kernels[(kernels["run"] == 0) & (kernels["kind"] == "kernel")]
counts = kernels.groupby(["region", "thread"]).size().reset_index(name="kernels")
print(counts.to_string(index=False))
