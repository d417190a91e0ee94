"""What fails is left out; times alone, by Tool.CUPTI."""

import os

os.environ["NSPY_NCU_INIT_AT_IMPORT"] = "0"

import nsight
from work import launch

nsight.activate(nsight.Tool.CUPTI)


@nsight.analyze.kernel
def benchmark(size: int, broken: bool = False) -> None:
    with nsight.analyze.ignore_failures():
        raise OSError("no such file")
    with nsight.annotate("sound"):
        launch("alpha")
    with nsight.annotate("fragile", ignore_failures=True):
        launch("beta")
        if broken:
            raise RuntimeError("out of memory")


if __name__ == "__main__":
    frame = benchmark(configs=[(1, False), (2, True)]).to_dataframe()
    print(nsight.get_active_tool().value)
    nsight.deactivate()
    columns = ["Annotation", "size", "broken", "AvgValue", "NumRuns"]
    print(frame[columns].to_json(orient="values"))
