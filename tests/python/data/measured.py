"""A script as people write them."""

import nsight


@nsight.analyze.kernel(
    configs=[(10,), (1000,)],
    runs=2,
    metrics=["time"],
    cache_control="none",
    verbosity=nsight.VerbosityLevel.SILENT,
)
def sums(n: int) -> None:
    with nsight.annotate("sum"):
        sum(range(n))
    with nsight.annotate("list"):
        list(range(n))


frame = sums().to_dataframe()
assert list(frame.columns[:3]) == ["Annotation", "Metric", "n"]
assert list(frame["Annotation"]) == ["sum", "sum", "list", "list"]
assert list(frame["n"]) == [10, 1000] * 2
assert list(frame["NumRuns"]) == [2] * 4
assert (frame["AvgValue"] > 0).all()
print("done")
