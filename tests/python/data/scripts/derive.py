"""Metrics of one's own, over two parameters, kept in files."""

import os
import sys

import nsight
import pandas as pd
from work import launch


def rates(time_ns: float, m: int, n: int) -> dict[str, object]:
    return {"Elements": (m * n, "1"), "Rate": (m * n / time_ns * 1e9, "1/second")}


@nsight.analyze.kernel(
    runs=2,
    derive_metric=rates,
    output_csv=True,
    output_prefix=os.path.join(sys.argv[1], "made", ""),
    verbosity=nsight.VerbosityLevel.SILENT,
)
def multiply(m: int, n: int) -> None:
    with nsight.annotate("multiply"):
        launch("beta")


if __name__ == "__main__":
    multiply(4, 8)
    frame = multiply(configs=[(10, 20), (20, 20)]).to_dataframe()
    folder = os.path.join(sys.argv[1], "made")
    files = sorted(os.listdir(folder))
    newest = max(each for each in files if each.startswith("profiled_data"))
    raw = pd.read_csv(os.path.join(folder, newest))
    print(files)
    rates_of = raw[raw["Metric"] == "Rate"]
    print(rates_of.groupby(["m", "n"]).size().to_dict())
    columns = ["Metric", "m", "n", "AvgValue", "NumRuns", "Unit"]
    print(frame[columns].to_json(orient="values"))
