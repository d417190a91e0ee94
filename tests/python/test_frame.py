"""ProfileResults.to_dataframe(): its columns, rows and numbers."""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
from dataclasses import dataclass

import pytest
from fake_gpu import BYTES, TIME, Gpu, on_gpu
from made_results import made, measured

import warpmeter
from warpmeter import _units
from warpmeter._frame import samples_frame

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")

SILENT = warpmeter.VerbosityLevel.SILENT
THEIRS_BEFORE = ["Annotation", "Metric"]
THEIRS_BEHIND = [
    *("AvgValue", "StdDev", "MinValue", "MaxValue", "NumRuns", "Kernel", "GPU", "Host"),
    *("ComputeClock", "MemoryClock", "Unit", "CI95_Lower", "CI95_Upper", "RelativeStdDevPct"),
    *("StableMeasurement", "Normalized", "Geomean"),
]
OURS = [
    *("Median", "P05", "P95", "Outliers", "SMClock", "Kernels", "Entries", "Timer"),
    *("PassTimeRatio", "Bound", "Note", "Status", "Reason"),
]
STATISTICS = [
    *("AvgValue", "StdDev", "MinValue", "MaxValue", "CI95_Lower", "CI95_Upper"),
    *("Median", "P05", "P95"),
]
T_2 = 4.302652729749464  # 97.5 % quantile of Student's t with 2 degrees of freedom: tables


def of(frame, annotation, metric=None):
    chosen = frame[frame["Annotation"] == annotation]
    return chosen if metric is None else chosen[chosen["Metric"] == metric]


# ---- columns ----


def test_columns_in_order():
    results = made([{"a": {"s": [1.0]}}], [(1, 2, 3)], ("n", "m", "k"))
    assert list(results.to_dataframe().columns) == [
        *THEIRS_BEFORE,
        *("n", "m", "k"),
        *THEIRS_BEHIND,
        *OURS,
    ]


def test_types_of_columns():
    frame = made([{"a": {"s": [1.0, 2.0, 4.0]}}]).to_dataframe()
    for name in (*STATISTICS, "RelativeStdDevPct", "Geomean", "ComputeClock", "MemoryClock"):
        assert frame[name].dtype == np.float64, name
    for name in ("NumRuns", "Entries"):
        assert frame[name].dtype == np.int64, name
    for name in ("Outliers", "SMClock", "Kernels", "PassTimeRatio"):
        assert frame[name].dtype == np.float64, name
    assert frame["StableMeasurement"].dtype == pd.BooleanDtype()
    assert frame["Normalized"].dtype == np.bool_
    assert isinstance(frame.index, pd.RangeIndex)
    for name in ("Annotation", "Metric", "Kernel", "GPU", "Host", "Unit", "Status", "Reason"):
        assert [type(value) for value in frame[name]] == [str], name


def test_another_frame_each_time():
    results = made([{"a": {"s": [1.0]}}])
    first = results.to_dataframe()
    first.loc[0, "AvgValue"] = -1.0
    first["mine"] = 1
    assert list(results.to_dataframe()["AvgValue"]) == [1.0]
    assert "mine" not in results.to_dataframe()


# ---- rows ----


def test_rows_by_annotation_configuration_and_metric_and_derived_last():
    each = {
        "z": {"t": [1.0], "made": [1.0], "s": [1.0]},
        "a": {"made": [1.0], "s": [1.0], "t": [1.0]},
    }
    frame = made([each, each], [(20,), (10,)], derived=("made",)).to_dataframe()
    assert list(zip(frame["Annotation"], frame["n"], frame["Metric"], strict=True)) == [
        *(("z", 20, "t"), ("z", 20, "s"), ("z", 10, "t"), ("z", 10, "s")),
        *(("a", 20, "t"), ("a", 20, "s"), ("a", 10, "t"), ("a", 10, "s")),
        *(("z", 20, "made"), ("z", 10, "made"), ("a", 20, "made"), ("a", 10, "made")),
    ]


def test_only_what_was_asked_for():
    frame = made([{"a": {"s": [1.0]}}]).to_dataframe()
    assert list(frame["Metric"]) == ["s"]  # the core measured the time too


def test_no_rows():
    m = measured([{"a": {"s": [1.0]}}], [(1,)])
    m.results = m.results.select(filter="region=nowhere")
    m.samples = m.samples.select(filter="region=nowhere")
    frame = warpmeter.ProfileResults(m).to_dataframe()
    assert len(frame) == 0
    assert list(frame.columns) == [*THEIRS_BEFORE, "n", *THEIRS_BEHIND, *OURS]
    assert frame["AvgValue"].dtype == np.float64
    assert frame["StableMeasurement"].dtype == pd.BooleanDtype()
    assert len(samples_frame(m)) == 0
    m.normalize_against = "a"
    assert len(warpmeter.ProfileResults(m).to_dataframe()) == 0


def test_a_configuration_that_was_left_out_has_rows():
    @warpmeter.analyze.kernel(configs=[(1,), (2,)], runs=2, metrics=["time"], backend="cpu")
    def function(n):
        if n == 2:
            warpmeter.skip("it is too large")
            return
        with warpmeter.annotate("a"):
            pass

    frame = function().to_dataframe()
    assert list(zip(frame["Annotation"], frame["n"], frame["Metric"], strict=True)) == [
        ("a", 1, "time"),
        ("a", 2, "time"),
    ]
    assert list(frame["Status"]) == ["ok", "skipped"]
    assert frame["Reason"][0] == ""
    assert "it is too large" in frame["Reason"][1]
    assert list(frame["NumRuns"]) == [2, 0]
    assert frame.loc[1, STATISTICS].isna().all()


# ---- numbers ----


def test_statistics():
    values = [3.0, 1.5, 7.25, 2.0, 1.0, 40.0, 2.5]
    (row,) = made([{"a": {"s": values}}]).to_dataframe().to_dict("records")
    mean, spread = statistics.fmean(values), statistics.stdev(values)
    half = 2.4469118511449692 * spread / math.sqrt(7)  # Student's t, 6 degrees of freedom: tables
    q1, q3 = np.percentile(values, [25, 75])
    fences = q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1)
    expected = {
        "AvgValue": mean,
        "StdDev": spread,
        "MinValue": 1.0,
        "MaxValue": 40.0,
        "Median": 2.5,
        "P05": np.percentile(values, 5),
        "P95": np.percentile(values, 95),
        "CI95_Lower": mean - half,
        "CI95_Upper": mean + half,
        "RelativeStdDevPct": 100 * spread / mean,
        "Geomean": mean,
        "NumRuns": 7,
        "Outliers": sum(not fences[0] <= value <= fences[1] for value in values),
    }
    assert {name: row[name] for name in expected} == pytest.approx(expected, rel=1e-12)
    assert row["StableMeasurement"] is False or row["StableMeasurement"] == np.False_


def test_statistics_are_those_of_the_samples():
    @warpmeter.analyze.kernel(configs=[(10,), (1000,)], runs=9, metrics=["time"], backend="cpu")
    def function(n):
        with warpmeter.annotate("a"):
            sum(range(n))
        with warpmeter.annotate("b"):
            sum(range(2 * n))

    results = function()
    frame, samples = results.to_dataframe(), results.samples().to_dataframe()
    groups = samples.groupby(["region", "n"])["value"]
    expected = pd.DataFrame(
        {
            "AvgValue": groups.mean(),
            "StdDev": groups.std(ddof=1),
            "MinValue": groups.min(),
            "MaxValue": groups.max(),
            "Median": groups.median(),
            "P05": groups.quantile(0.05),
            "P95": groups.quantile(0.95),
        }
    )
    assert len(frame) == 4
    for _, row in frame.iterrows():
        reckoned = expected.loc[(row["Annotation"], row["n"])]
        assert list(row[list(expected.columns)]) == pytest.approx(list(reckoned), rel=1e-9)


def test_one_run_has_no_spread():
    frame = made([{"a": {"s": [2.5]}}]).to_dataframe()
    (row,) = frame.to_dict("records")
    assert [row[name] for name in ("AvgValue", "MinValue", "MaxValue", "Median")] == [2.5] * 4
    for name in ("StdDev", "CI95_Lower", "CI95_Upper", "RelativeStdDevPct"):
        assert math.isnan(row[name]), name
    assert frame["StableMeasurement"].isna().all()
    assert (row["NumRuns"], row["Status"], row["Reason"]) == (1, "ok", "")


def test_what_was_not_measured_is_nan_with_a_reason():
    frame = made([{"a": {"s": [None, None]}, "b": {"s": [4.0, None]}}]).to_dataframe()
    lost, kept = frame.to_dict("records")
    for name in (*STATISTICS, "RelativeStdDevPct", "Geomean", "Outliers"):
        assert math.isnan(lost[name]), name
    assert frame["StableMeasurement"].isna().tolist() == [True, True]
    assert lost["NumRuns"] == 0
    assert (lost["Status"], lost["Reason"]) == ("missing", "the result is not a finite number")
    assert (kept["AvgValue"], kept["NumRuns"], kept["Status"]) == (4.0, 1, "ok")


def test_stable_is_whether_the_spread_is_small():
    steady = [100.0, 100.1, 99.9]
    frame = made([{"a": {"s": steady}, "b": {"s": [1.0, 2.0, 4.0]}}]).to_dataframe()
    assert list(frame["StableMeasurement"]) == [True, False]


def test_geomean_is_over_configurations():
    values = {"a": [2.0, 8.0, None], "b": [3.0, 5.0, 7.0]}
    each = [{name: {"s": [values[name][i]]} for name in values} for i in range(3)]
    frame = made(each).to_dataframe()
    assert list(of(frame, "a")["Geomean"]) == pytest.approx([4.0] * 3)
    assert list(of(frame, "b")["Geomean"]) == pytest.approx(
        [statistics.geometric_mean([3, 5, 7])] * 3
    )


def test_geomean_of_zero_and_below():
    frame = made([{"a": {"s": [0.0]}, "b": {"s": [-1.0]}}, {"a": {"s": [4.0]}, "b": {"s": [4.0]}}])
    frame = frame.to_dataframe()
    assert list(of(frame, "a")["Geomean"]) == [0.0, 0.0]
    assert of(frame, "b")["Geomean"].isna().all()


# ---- normalize_against ----

PAIR = [
    {"base": {"s": [2.0, 4.0, 6.0], "t": [10.0]}, "b": {"s": [1.0, 2.0, 6.0], "t": [5.0]}},
    {"base": {"s": [10.0, 10.0, 10.0]}, "b": {"s": [15.0, 15.0, 30.0]}},
]


def test_ratios_to_a_baseline():
    raw = made(PAIR, units={"s": "ns"}).to_dataframe()
    frame = made(PAIR, units={"s": "ns"}, normalize_against="base").to_dataframe()
    assert list(frame.columns) == [*raw.columns, *(f"Raw{name}" for name in STATISTICS), "RawUnit"]
    means = {("s", 0): 4.0, ("t", 0): 10.0, ("s", 1): 10.0}
    scale = [means.get(key, math.nan) for key in zip(frame["Metric"], frame["n"], strict=True)]
    for name in STATISTICS:
        assert list(frame[name]) == pytest.approx(list(raw[name] / scale), nan_ok=True), name
        assert list(frame[f"Raw{name}"]) == pytest.approx(list(raw[name]), nan_ok=True), name
    b = of(frame, "b", "s")
    assert list(b["AvgValue"]) == [0.75, 2.0]
    assert list(b["StdDev"]) == pytest.approx([math.sqrt(7) / 4, math.sqrt(75) / 10])
    half = T_2 * math.sqrt(7) / math.sqrt(3) / 4
    assert b["CI95_Lower"].iloc[0] == pytest.approx(0.75 - half)
    assert list(b["Geomean"]) == pytest.approx([math.sqrt(1.5)] * 2)
    assert list(frame["RelativeStdDevPct"]) == pytest.approx(
        list(raw["RelativeStdDevPct"]), nan_ok=True
    )
    assert set(frame["Normalized"]) == {"base"}
    assert set(frame["Unit"]) == {""}
    assert list(frame["RawUnit"]) == list(raw["Unit"])


def test_a_baseline_below_zero_keeps_ranges_in_order():
    values = [{"base": {"s": [-2.0, -2.0]}, "b": {"s": [1.0, 3.0]}}]
    frame = made(values, normalize_against="base").to_dataframe()
    (row,) = of(frame, "b").to_dict("records")
    assert (row["AvgValue"], row["MinValue"], row["MaxValue"]) == (-1.0, -1.5, -0.5)
    assert row["StdDev"] == pytest.approx(math.sqrt(2) / 2)
    assert row["CI95_Lower"] < row["AvgValue"] < row["CI95_Upper"]
    assert row["P05"] < row["Median"] < row["P95"]


def test_a_baseline_of_zero_gives_no_ratio():
    frame = made([{"base": {"s": [0.0]}, "b": {"s": [1.0]}}], normalize_against="base")
    assert frame.to_dataframe()["AvgValue"].isna().all()
    assert list(frame.to_dataframe()["RawAvgValue"]) == [0.0, 1.0]


def test_the_baseline_may_be_the_end_of_a_path():
    @warpmeter.analyze.kernel(
        configs=[(1,)], runs=3, metrics=["time"], backend="cpu", normalize_against="inner"
    )
    def function(n):
        with warpmeter.annotate("outer"), warpmeter.annotate("inner"):
            sum(range(1000))

    frame = function().to_dataframe()
    assert list(frame["Annotation"]) == ["outer", "outer/inner"]
    assert frame["AvgValue"][1] == 1.0
    assert frame["AvgValue"][0] >= 1.0


def test_a_baseline_that_is_not_there():
    results = made(PAIR, normalize_against="gone")
    with pytest.raises(ValueError, match=r"normalize_against is 'gone'.*base, b"):
        results.to_dataframe()


# ---- parameters ----


@dataclass(frozen=True)
class Shape:
    rows: int


def parameter(objects):
    frame = made([{"a": {"s": [1.0]}}] * len(objects), [(each,) for each in objects]).to_dataframe()
    return frame["n"]


@pytest.mark.parametrize(
    "values",
    [
        [np.float32, np.float64],
        [(1, 2), (3,), ()],
        [[1, 2], [3, 4]],
        [None, 1],
        [None, None],
        [1, "1", 1.0],
        [Shape(1), Shape(2)],
        [True, 1],
        [{"a": 1}, {1, 2}],
        [2**70, 1],
        [b"x", b"y"],
        [np.zeros(2), np.ones(3)],
        [float("nan"), None],
    ],
    ids=str,
)
def test_parameters_keep_their_objects(values):
    column = parameter(values)
    assert column.dtype == object
    assert all(got is given for got, given in zip(column, values, strict=True))


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, 2], np.int64),
        ([1.5, 2.0], np.float64),
        ([1, 2.5], np.float64),
        ([True, False], np.bool_),
        ([np.float32(1), np.float32(2)], np.float32),
        ([np.int16(1), np.int16(2)], np.int16),
    ],
)
def test_plain_parameters_have_a_type(values, dtype):
    column = parameter(values)
    assert column.dtype == dtype
    assert list(column) == values


def test_parameters_that_are_texts():
    texts = ["", "a", "é", "a,b", 'say "x"', "<script>", "two\nlines", "nan"]
    assert list(parameter(texts)) == texts


def test_a_parameter_may_hold_half_of_a_surrogate_pair():
    assert list(parameter(["a", "\udcff"])) == ["a", "\udcff"]


def test_equal_configurations_keep_their_own_objects():
    column = parameter([(1,), (1,)])
    assert list(column) == [(1,), (1,)]


def test_names_of_columns_are_not_taken_by_parameters():
    names = ("Annotation", "Metric", "AvgValue", "Unit", "param_Unit", "Reason", "n")
    m = measured([{"a": {"s": [1.0]}}], [tuple(range(7))], names)
    frame = warpmeter.ProfileResults(m).to_dataframe()
    assert not frame.columns.duplicated().any()
    assert (frame["Annotation"][0], frame["AvgValue"][0], frame["Unit"][0]) == ("a", 1.0, "")
    expected = {"param_Annotation": 0, "param_Metric": 1, "param_AvgValue": 2, "n": 6}
    expected |= {"param_param_Unit": 3, "param_Unit": 4, "param_Reason": 5}
    assert frame.loc[0, list(expected)].to_dict() == expected
    raw = samples_frame(m)
    assert not raw.columns.duplicated().any()
    assert (raw["Unit"][0], raw["AvgValue"][0], raw["param_Metric"][0]) == ("", 2, 1)


def test_hostile_names():
    names = ["<script>alert(1)</script>", 'say "x"', "a,b", "two\nlines", "naïve 🚀", "$x{1}", " "]
    each = {name: {f"metric of {name}": [float(i)]} for i, name in enumerate(names)}
    frame = made([each]).to_dataframe()
    assert list(dict.fromkeys(frame["Annotation"])) == names
    values = frame.set_index(["Annotation", "Metric"])["AvgValue"]
    for i, name in enumerate(names):
        assert values[(name, f"metric of {name}")] == i


# ---- units ----


@pytest.mark.parametrize(
    ("unit", "metric", "shown"),
    [
        ("ns", TIME, "ns"),
        ("B", BYTES, "byte"),
        ("B/s", "dram__bytes_read.sum.per_second", "byte/second"),
        ("%", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"),
        ("", "smsp__inst_executed.sum", "inst"),
        ("1/s", "smsp__inst_executed.sum.per_second", "inst/second"),
        ("", "sm__warps_active.avg.per_cycle_active", "warp"),
        ("", "lts__t_sectors_op_read.sum", "sector"),
        ("1/s", "flops", "1/second"),
        ("", "launch__grid_size", ""),
        ("pt", "score", "pt"),
    ],
)
def test_units_are_spelled_out(unit, metric, shown):
    assert _units.shown(unit, metric) == shown


def test_a_derived_metric_without_a_unit():
    each = [{"a": {"s": [1.0], "x": [2.0], "y": [3.0]}}]
    frame = made(
        each, units={"s": "ns", "y": "B"}, derived=("x", "y"), unitless=frozenset(("x",))
    ).to_dataframe()
    assert frame["Unit"][0] == "ns"
    assert math.isnan(frame["Unit"][1])
    assert frame["Unit"][2] == "byte"


# ---- the machine ----


@on_gpu()
def test_kernels_devices_and_clocks():
    gpu = Gpu()

    @warpmeter.analyze.kernel(configs=[(1,), (2,)], runs=3, combine_kernel_metrics="auto")
    def function(n):
        with warpmeter.annotate("one"):
            gpu.launch("beta")
        with warpmeter.annotate("two"):
            gpu.launch("alpha", "gamma")
        gpu.wait()

    results = function()
    frame = results.to_dataframe()
    assert list(frame["Annotation"]) == ["one", "one", "two", "two"]
    assert set(frame["Metric"]) == {TIME}
    assert list(frame["AvgValue"]) == [2000, 2000, 5000, 5000]
    assert set(frame["Unit"]) == {"ns"}
    assert list(frame["Kernel"]) == ["beta", "beta", "alpha|gamma", "alpha|gamma"]
    assert set(frame["GPU"]) == {results.table().context["gpu"]}
    assert set(frame["ComputeClock"]) == {1_980_000}  # kHz, as the made-up driver says
    assert set(frame["MemoryClock"]) == {3_201_000}
    assert frame["ComputeClock"].dtype == np.int64
    assert frame["MemoryClock"].dtype == np.int64
    raw = samples_frame(results._measured)
    assert list(raw["Kernel"]) == ["beta"] * 6 + ["alpha|gamma"] * 6
    assert list(raw["Value"]) == [2000] * 6 + [5000] * 6


@on_gpu()
def test_regions_counted_as_a_whole_have_the_kernel_range():
    gpu = Gpu()

    @warpmeter.analyze.kernel(configs=[(1,)], runs=2, metrics=[BYTES], replay_mode="range")
    def function(n):
        with warpmeter.annotate("two"):
            gpu.launch("alpha", "gamma")
        gpu.wait()

    frame = function().to_dataframe()
    assert list(frame["Kernel"]) == ["range"]
    assert list(frame["Unit"]) == ["byte"]


# ---- without pandas ----

BLOCKED = """
import sys
sys.modules["pandas"] = None
import warpmeter
SILENT = warpmeter.VerbosityLevel.SILENT
with warpmeter.session(metrics="time", verbosity=SILENT) as s:
    pass
@warpmeter.analyze.kernel(configs=[(1,)], metrics=["time"], backend="cpu", verbosity=SILENT, **MORE)
def function(n):
    print("called")
for call in (s.results.to_dataframe, s.samples().to_dataframe, function):
    try:
        call()
    except ImportError as error:
        print(error.name, error)
print(repr(s.results) != "", s.samples().to_pylist()[0]["metric"])
"""


def run_blocked(more):
    code = BLOCKED.replace("**MORE", more)
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_without_pandas_the_remedy_is_named():
    lines = run_blocked("output_csv=True")  # which fails before anything is measured
    assert len(lines) == 4
    for line in lines[:3]:
        assert line.startswith("pandas data frames need pandas 2.0 or later: pip install")
        assert "pip install 'pandas>=2.0'" in line
    assert lines[3] == "True time"


def test_without_pandas_measuring_works():
    lines = run_blocked("runs=1")
    assert lines[2:] == ["called", "True time"]
