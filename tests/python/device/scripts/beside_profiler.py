"""Measures beside PyTorch's profiler, which stays in the process once it was used: who comes second
is told what is lost, and nobody who came first loses anything.

    beside_profiler.py warpmeter|torch    who comes first"""

import sys

import torch
from torch.profiler import ProfilerActivity, profile

import warpmeter

SILENT = warpmeter.VerbosityLevel.SILENT
RUNS = 5
x = torch.randn(1 << 20, device="cuda")


@warpmeter.analyze.kernel(runs=RUNS, warmup=1, verbosity=SILENT)
def double():
    with warpmeter.annotate("twice"):
        x * 2


def ours():
    """Runs that have a time, and what is said of those that have none."""
    try:
        row = double().to_dataframe().loc[0]
    except warpmeter.exceptions.ProfilerException as refused:
        return 0, str(refused)
    return row["NumRuns"], row["Reason"]


def theirs(work):
    """Kernels that PyTorch's profiler saw while `work` ran."""
    with profile(activities=[ProfilerActivity.CUDA]) as p:
        work()
        torch.cuda.synchronize()
    return sum(event.device_type.name == "CUDA" for event in p.events())


def launch():
    for _ in range(RUNS):
        x * 2


def told(runs, why):
    print(runs, why)
    return runs == RUNS or "PyTorch" in why


if sys.argv[1] == "warpmeter":
    assert ours() == (RUNS, "")
    session = warpmeter.session(metrics="kernel_time", verbosity=SILENT)
    with session, warpmeter.annotate("outer"):
        seen = theirs(launch)
    row = session.results.to_dataframe().loc[0]
    print("inside a session PyTorch saw", seen, "and the session", row["Kernels"], row["Reason"])
    assert (row["Kernels"] == RUNS and row["AvgValue"] > 0) or row["Reason"]
else:
    assert theirs(launch) == RUNS
    assert told(*ours())
    theirs(lambda: told(*ours()))
    assert theirs(launch) == RUNS  # as before
print("done")
