"""warpmeter.Table: in other shapes, and to look at."""

from __future__ import annotations

import copy
import gc
import pickle
from html.parser import HTMLParser

import pytest
from made_results import made

import warpmeter
from warpmeter import _core

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")

HOSTILE = "<script>alert(\"1\")</script> & 'x', a|b\nnext"


@pytest.fixture
def samples():
    """Six rows of times and one of a value that is null; parameters of each type."""
    session = _core.Session()
    sweep = _core.Sweep(session, "f", ["--warmup", "0", "--runs", "3", "--metrics", "time"])
    sweep.add_config(["flag", "k", "x", "name"], [True, 2**40, 0.5, "é"])
    sweep.add_config(["k"], [-7])
    sweep.run(lambda: None, [(), ()])
    sweep.put(0, 0, None, "score", None, "pt")
    return warpmeter.Table(session.samples())


def results_of(value=1.5, region="a"):
    return made([{region: {"score": [value, value]}}], units={"score": "pt"}).table()


# ---- as a sequence of columns ----


def test_what_it_is(samples):
    assert samples.kind == "samples"
    assert len(samples) == samples.num_rows == 7
    assert samples.column_names[:3] == ["benchmark", "region", "metric"]
    assert (
        samples["k"].to_list() == samples.column("k").to_list() == [2**40] * 3 + [-7] * 3 + [2**40]
    )
    with pytest.raises(KeyError, match="gone"):
        samples["gone"]
    assert samples.reason(6, "value") == "not-finite"
    assert samples.reason(0, "value") == ""


def test_neither_rows_nor_columns_are_iterated_over(samples):
    with pytest.raises(TypeError):
        iter(samples)
    with pytest.raises(TypeError):
        "k" in samples  # noqa: B015


@pytest.mark.parametrize("again", [lambda t: pickle.loads(pickle.dumps(t)), copy.deepcopy])
def test_a_pickle_and_a_copy_hold_all_of_it(samples, again):
    other = again(samples)
    assert other.to_pylist() == samples.to_pylist()
    assert other.context == samples.context
    assert other.kind == "samples"
    columns = [(table[name] for name in samples.column_names) for table in (samples, other)]
    for one, two in zip(*columns, strict=True):
        assert (one.name, one.type, one.unit) == (two.name, two.type, two.unit)
    assert other.reason(6, "value") == "not-finite"


def test_it_cannot_be_changed(samples):
    samples.context.clear()
    samples.column_names.clear()
    assert samples.context["version"] == warpmeter.__version__
    assert "k" in samples.column_names
    with pytest.raises(AttributeError):
        samples.more = 1


def test_rows_as_dicts(samples):
    rows = samples.to_pylist()
    assert len(rows) == 7
    assert list(rows[0]) == samples.column_names
    assert {name: rows[0][name] for name in ("metric", "run", "flag", "k", "x", "name")} == {
        "metric": "time",
        "run": 0,
        "flag": True,
        "k": 2**40,
        "x": 0.5,
        "name": "é",
    }
    assert (rows[3]["flag"], rows[3]["x"], rows[3]["name"]) == (None, None, None)
    assert (rows[6]["value"], rows[6]["reason"]) == (None, "not-finite")


# ---- pandas ----


def test_dataframe(samples):
    frame = samples.to_dataframe()
    assert list(frame.columns) == samples.column_names
    assert isinstance(frame.index, pd.RangeIndex)
    state = [name for name in samples.column_names if name.startswith(("gpu_", "cpu_"))]
    assert len(state) == 12
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == {
        **dict.fromkeys(("benchmark", "region", "metric", "unit", "reason"), "object"),
        **{"run": "int64", "pass": "int64", "value": "float64", "config_key": "object"},
        **{"flag": "boolean", "k": "int64", "x": "float64", "name": "object"},
        **{name: "object" if name.endswith("throttle") else "float64" for name in state},
    }
    assert frame["k"].tolist() == [2**40] * 3 + [-7] * 3 + [2**40]
    assert frame["name"].tolist() == ["é"] * 3 + [None] * 3 + ["é"]
    assert frame["flag"].isna().tolist() == [False] * 3 + [True] * 3 + [False]
    assert frame["flag"][0] is True or frame["flag"][0] == np.True_
    assert frame["value"].isna().tolist() == [False] * 6 + [True]
    assert frame["reason"].tolist() == [None] * 6 + ["not-finite"]
    assert frame["value"][:6].tolist() == samples["value"].to_list()[:6]


def test_a_dataframe_has_memory_of_its_own(samples):
    frame = samples.to_dataframe()
    for name, value in (("k", 1), ("value", -1.0), ("flag", False), ("name", "mine")):
        frame.loc[0, name] = value
    assert samples["k"][0] == 2**40
    assert samples["value"][0] > 0
    assert samples["flag"][0] is True
    assert samples["name"][0] == "é"


def test_no_rows(samples):
    none = samples.select(filter="region=gone")
    assert len(none) == 0
    frame = none.to_dataframe()
    assert len(frame) == 0
    assert list(frame.columns) == samples.column_names
    assert frame["value"].dtype == np.float64
    assert none.to_pylist() == []
    assert none["name"].to_list() == []
    assert isinstance(repr(none), str)


def test_many_samples_keep_their_order():
    runs = 2000
    session = _core.Session()
    sweep = _core.Sweep(session, "f", ["--warmup", "0", "--runs", str(runs), "--metrics", "time"])
    for n in range(3):
        sweep.add_config(["n", "mixed"], [n, (1, "two", 0.5)[n]])
    sweep.run(lambda: None, [()] * 3)
    for run in range(runs):
        sweep.put(1, run, None, "score", None if run % 7 == 0 else float(run))
    frame = warpmeter.Table(session.samples()).to_dataframe()
    assert len(frame) == 4 * runs
    for n in range(3):
        times = frame[(frame["n"] == n) & (frame["metric"] == "time")]
        assert times["run"].tolist() == list(range(runs))
        assert set(times["mixed"]) == {("1", "two", "0.5")[n]}
        assert times["reason"].isna().all()
    scores = frame[frame["metric"] == "score"]
    assert scores["n"].tolist() == [1] * runs
    expected = [float("nan") if run % 7 == 0 else float(run) for run in range(runs)]
    np.testing.assert_array_equal(scores["value"], expected)
    assert (scores["reason"] == "not-finite").tolist() == [run % 7 == 0 for run in range(runs)]


# ---- other tables of it ----


def test_select(samples):
    assert samples.select("k,run").column_names == ["k", "run"]
    assert samples.select(["k", "run"]).column_names == ["k", "run"]
    chosen = samples.select(("run",), sort="-run", filter=["k=-7", "run>0"])
    assert chosen["run"].to_list() == [2, 1]
    with pytest.raises((ValueError, _core.Error), match="gone"):
        samples.select("gone")


def test_compare():
    compared = results_of(2.0).compare(results_of(3.0))
    assert compared.kind == "comparison"
    rows = {row["metric"]: row for row in compared.to_pylist()}
    assert (rows["score"]["baseline_mean"], rows["score"]["contender_mean"]) == (2.0, 3.0)
    assert rows["score"]["ratio"] == 1.5


def test_compare_takes_a_table():
    with pytest.raises(
        TypeError, match=r"compare takes a Table, as results\.table\(\) is, not a str$"
    ):
        results_of(2.0).compare("after.json")


# ---- to look at ----


class Page(HTMLParser):
    """Rows of cells; and whether each tag that was opened was closed in order."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.rows, self.caption = [], set(), [], ""

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        elif self.open and self.open[-1] == "caption":
            self.caption += data


def parse(text):
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    assert page.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert len({len(row) for row in page.rows}) == 1
    return page


def cells_of(page):
    heads, *rows = page.rows
    return [dict(zip(heads, row, strict=True)) for row in rows]


def test_html():
    page = parse(results_of()._repr_html_())
    assert page.caption == "results: 2 rows"
    (score,) = [row for row in cells_of(page) if row["metric"] == "score"]
    assert (score["region"], score["unit"], score["mean"], score["samples"]) == (
        *("a", "pt", "1.5", "2"),
    )


def test_html_says_why_there_is_no_value(samples):
    rows = cells_of(parse(samples._repr_html_()))
    assert [row["value"] for row in rows][6] == "(not-finite)"
    assert rows[3]["name"] == "-"
    assert rows[0]["flag"] == "true"


def test_html_is_escaped():
    text = results_of(region=HOSTILE)._repr_html_()
    assert "<script" not in text
    assert HOSTILE in {row["region"] for row in cells_of(parse(text))}


def test_html_shows_the_first_rows():
    session = _core.Session()
    sweep = _core.Sweep(session, "f", ["--warmup", "0", "--runs", "100", "--metrics", "time"])
    sweep.run(lambda: None, [()])
    page = parse(warpmeter.Table(session.samples())._repr_html_())
    assert page.caption == "samples: 100 rows, the first 40 shown"
    assert [row["run"] for row in cells_of(page)] == [str(run) for run in range(40)]


def test_html_without_rows(samples):
    page = parse(samples.select(filter="region=gone")._repr_html_())
    assert page.caption == "samples: 0 rows"
    assert len(page.rows) == 1


def test_html_of_every_table():
    for table in (warpmeter.doctor(), warpmeter.metrics(), warpmeter.metrics_plan("time")):
        assert parse(warpmeter.Table(table)._repr_html_()).rows


def test_repr_is_limited():
    session = _core.Session()
    sweep = _core.Sweep(session, "f", ["--warmup", "0", "--runs", "100", "--metrics", "time"])
    sweep.run(lambda: None, [()])
    lines = repr(warpmeter.Table(session.samples())).splitlines()
    assert len(lines) == 61
    assert lines[60].startswith("... and ")
    whole = len(session.samples().text().splitlines())
    assert lines[60] == f"... and {whole - 60} lines more"


def test_repr_of_very_many_rows_names_the_columns():
    session = _core.Session()
    sweep = _core.Sweep(session, "f", ["--warmup", "0", "--runs", "20001", "--metrics", "time"])
    sweep.run(lambda: None, [()])
    text = repr(warpmeter.Table(session.samples()))
    assert text.startswith("<Table of samples: 20001 rows of benchmark, region, metric")
    assert len(text) < 300


def test_repr_has_the_values():
    text = repr(results_of(1.5))
    assert "score" in text
    assert "1.5" in text


# ---- Arrow ----


def test_pyarrow(samples):
    pa = pytest.importorskip("pyarrow", minversion="15")
    table = pa.table(samples)
    assert table.column_names == samples.column_names
    assert table.to_pylist() == samples.to_pylist()
    assert table.schema.field("value").type == pa.float64()
    assert table.schema.field("k").type == pa.int64()
    assert table.schema.field("flag").type == pa.bool_()
    assert table.column("value").null_count == 1
    assert table.schema.field("value").metadata == {b"unit": b"row"}
    assert table.schema.metadata[b"kind"] == b"samples"


def test_results_are_arrow_data():
    pa = pytest.importorskip("pyarrow", minversion="15")
    results = made([{"a": {"score": [1.5, 2.5]}}])
    table = pa.table(results)
    assert table.to_pylist() == results.table().to_pylist()


def test_polars(samples):
    pl = pytest.importorskip("polars", minversion="1.3")
    frame = pl.DataFrame(samples)
    assert frame.to_dicts() == samples.to_pylist()
    assert frame.schema["value"] == pl.Float64


def test_duckdb(samples):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow", minversion="15")
    rows = samples  # noqa: F841 - the query names it
    query = "select k, count(*), count(value) from rows group by k order by k"
    assert duckdb.sql(query).fetchall() == [(-7, 3, 3), (2**40, 4, 3)]


def test_arrow_data_outlives_the_table():
    pa = pytest.importorskip("pyarrow", minversion="15")
    results = made([{"a": {"score": [1.5, 2.5]}}])
    table = results.table()
    expected = table.to_pylist()
    kept = pa.table(table)
    del table, results
    gc.collect()
    bytearray(b"\xaa" * 2**20)
    assert kept.to_pylist() == expected


def test_numpy_copies_nothing_of_a_column_and_keeps_it(samples):
    column = samples["value"]
    array = np.asarray(column)
    assert array.ctypes.data == np.asarray(samples["value"]).ctypes.data
    assert not array.flags.writeable
    expected = array.tolist()
    del samples, column
    gc.collect()
    assert array.tolist() == expected
