"""The CSV files of a call: output_csv."""

from __future__ import annotations

import os

import pytest
from made_results import measured

import warpmeter

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")

from warpmeter._files import write_csv  # noqa: E402 - it needs pandas
from warpmeter._frame import results_frame, samples_frame  # noqa: E402

SILENT = warpmeter.VerbosityLevel.SILENT
RAW = [
    *("Annotation", "Value", "Metric", "Kernel", "GPU", "Host", "ComputeClock", "MemoryClock"),
    "Unit",
]
# Later versions read exactly, and tell so when asked for it.
EXACT = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}
HOSTILE = ["<script>", 'say "x"', "a,b", "two\nlines", "naïve 🚀", " ", "NA"]


def assert_read_back(path, frame):
    """Every number to its last bit; an empty cell for what is missing."""
    numbers = [name for name in frame if pd.api.types.is_numeric_dtype(frame[name].dtype)]
    back = pd.read_csv(
        path,
        keep_default_na=False,
        na_values={name: [""] for name in numbers},
        dtype={name: str for name in frame if name not in numbers},
        **EXACT,
    )
    assert list(back.columns) == list(frame.columns)
    assert len(back) == len(frame)
    for name in numbers:
        given, got = (
            f[name].astype("Float64").to_numpy(float, na_value=np.nan) for f in (frame, back)
        )
        np.testing.assert_array_equal(got, given, err_msg=name)
    for name in set(frame) - set(numbers):
        given = ["" if pd.isna(value) else str(value) for value in frame[name]]
        assert back[name].tolist() == given, name


def test_what_the_files_hold(tmp_path):
    each = [
        {"a": {"s": [1.0, 0.1, 1 / 3], "x": [1.0, None, 3.0]}, "b": {"s": [1e300, 2.0, 5e-324]}},
        {"a": {"s": [4.0, 5.0, 6.0], "x": [7.0, 8.0, 9.0]}, "b": {"s": [None, None, None]}},
    ]
    m = measured(each, [(1, "é"), (2, 'a,"b"\nc')], ("n", "text"), units={"s": "B"}, derived=("x",))
    raw, processed = write_csv(m, str(tmp_path / "pre_"), 3)
    assert raw == str(tmp_path / "pre_profiled_data-f-3.csv")
    assert processed == str(tmp_path / "pre_processed_data-f-3.csv")
    assert sorted(os.listdir(tmp_path)) == [
        "pre_processed_data-f-3.csv",
        "pre_profiled_data-f-3.csv",
    ]
    assert_read_back(raw, samples_frame(m))
    assert_read_back(processed, results_frame(m))


def test_the_raw_file_has_a_row_for_each_run_and_metric(tmp_path):
    each = [
        {"a": {"s": [1.0, 2.0], "t": [10.0, None]}},
        {"a": {"s": [3.0, 4.0], "t": [30.0, 40.0]}},
    ]
    path, _ = write_csv(measured(each, [(5,), (6,)]), f"{tmp_path}/", 0)
    frame = pd.read_csv(path)
    assert list(frame.columns) == [*RAW, "n"]
    assert list(zip(frame["Metric"], frame["n"], frame["Value"].fillna(-1), strict=True)) == [
        *(("s", 5, 1.0), ("t", 5, 10.0), ("s", 5, 2.0), ("t", 5, -1.0)),
        *(("s", 6, 3.0), ("t", 6, 30.0), ("s", 6, 4.0), ("t", 6, 40.0)),
    ]


def test_raw_values_are_not_normalised(tmp_path):
    m = measured([{"a": {"s": [2.0]}, "b": {"s": [6.0]}}], units={"s": "B"}, normalize_against="a")
    raw, processed = write_csv(m, f"{tmp_path}/", 0)
    assert pd.read_csv(raw)["Value"].tolist() == [2.0, 6.0]
    assert pd.read_csv(raw)["Unit"].tolist() == ["byte", "byte"]
    assert pd.read_csv(processed)["AvgValue"].tolist() == [1.0, 3.0]
    assert pd.read_csv(processed)["Normalized"].tolist() == ["a", "a"]


def test_hostile_names(tmp_path):
    m = measured([{name: {name + "!": [1.5]} for name in HOSTILE}], [(HOSTILE[1],)])
    raw, processed = write_csv(m, f"{tmp_path}/", 0)
    assert_read_back(raw, samples_frame(m))
    assert_read_back(processed, results_frame(m))
    assert set(pd.read_csv(raw, keep_default_na=False)["Annotation"]) == set(HOSTILE)


def test_what_is_no_utf8_is_escaped(tmp_path):
    m = measured([{"a": {"s": [1.5]}}], [("\udcff",)])
    for path in write_csv(m, f"{tmp_path}/", 0):
        assert pd.read_csv(path)["n"].tolist() == ["\\udcff"]


def test_files_that_are_there_are_replaced(tmp_path):
    m = measured([{"a": {"s": [2.0]}}])
    old = tmp_path / "profiled_data-f-0.csv"
    old.write_text("old\n" * 1000)
    write_csv(m, f"{tmp_path}/", 0)
    assert pd.read_csv(old)["Value"].tolist() == [2.0]


def test_a_file_appears_in_full_or_not_at_all(tmp_path, monkeypatch):
    m = measured([{"a": {"s": [2.0]}}])
    (tmp_path / "profiled_data-f-0.csv").write_text("old")

    def fail(self, file, **_):
        file.write("half")
        file.flush()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
    with pytest.raises(OSError, match="No space"):
        write_csv(m, f"{tmp_path}/", 0)
    assert os.listdir(tmp_path) == ["profiled_data-f-0.csv"]
    assert (tmp_path / "profiled_data-f-0.csv").read_text() == "old"


# ---- through the decorator ----


def function(n):
    with warpmeter.annotate("a"):
        sum(range(n))


def decorated(**more):
    settings = {"metrics": ["time"], "backend": "cpu", "runs": 2, "output_csv": True}
    return warpmeter.analyze.kernel(configs=[(1,), (2,)], **settings, **more)(function)


def test_each_call_writes_a_pair(tmp_path):
    profiled = decorated(output_prefix=f"{tmp_path}/out/", verbosity=SILENT)
    assert os.listdir(tmp_path / "out") == []  # made when the function is decorated
    frames = [profiled().to_dataframe() for _ in range(2)]
    assert sorted(os.listdir(tmp_path / "out")) == [
        f"{what}_data-function-{number}.csv"
        for what in ("processed", "profiled")
        for number in (0, 1)
    ]
    for number, frame in enumerate(frames):
        assert_read_back(tmp_path / "out" / f"processed_data-function-{number}.csv", frame)
        raw = pd.read_csv(tmp_path / "out" / f"profiled_data-function-{number}.csv")
        assert len(raw) == 4
        means = raw.groupby("n")["Value"].mean()
        assert means.tolist() == pytest.approx(frame["AvgValue"].tolist(), rel=1e-12)


def test_no_files_unless_asked_for(tmp_path):
    settings = {"metrics": ["time"], "backend": "cpu", "verbosity": SILENT}
    profiled = warpmeter.analyze.kernel(
        configs=[(1,)], output_prefix=f"{tmp_path}/out/", **settings
    )(function)
    profiled()
    assert os.listdir(tmp_path / "out") == []


def test_nothing_is_lost_when_files_cannot_be_written(tmp_path):
    profiled = decorated(output_prefix=f"{tmp_path}/out/", verbosity=SILENT)
    (tmp_path / "out").rmdir()
    with pytest.raises(OSError, match="profiled_data-function-0") as caught:
        profiled()
    frame = caught.value.warpmeter_results.to_dataframe()
    assert frame["NumRuns"].tolist() == [2, 2]


def test_nothing_is_lost_when_the_baseline_is_missing(tmp_path):
    profiled = decorated(output_prefix=f"{tmp_path}/", verbosity=SILENT, normalize_against="gone")
    with pytest.raises(ValueError, match="'gone'") as caught:
        profiled()
    assert caught.value.warpmeter_results.table()["samples"].to_list() == [2, 2]
