"""Ways to do one thing, compared over sizes."""

import nsight
from work import launch


@nsight.annotate("fused")
def fused(n: int) -> None:
    launch("alpha")


@nsight.analyze.kernel(configs=[(16,), (32,)], runs=3, normalize_against="plain")
def benchmark(n: int) -> None:
    with nsight.annotate("plain"):
        launch("gamma")
    with nsight.annotate("better"):
        launch("beta")
    fused(n)


if __name__ == "__main__":
    frame = benchmark().to_dataframe()
    columns = ["Annotation", "n", "AvgValue", "NumRuns", "Normalized", "Unit"]
    print(frame[columns].to_json(orient="values"))
