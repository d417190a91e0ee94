"""Files of tables: save() and warpmeter.load()."""

from __future__ import annotations

import errno

import pytest
from made_results import made

import warpmeter
from warpmeter import _core

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")

ODD = ["<b>&", 'say "x"', "a,b", "two\nlines", "naïve 🚀", " "]
SILENT = warpmeter.VerbosityLevel.SILENT


@pytest.fixture
def results():
    each = [
        {"a": {"s": [1.0, 2.0, 4.0]}, "b": {"s": [None, None, None]}},
        {"a": {"s": [0.1, 1e-300, 1e300]}, "b": {"s": [7.0, None, 8.0]}},
    ]
    return made(each, [(1,), (2,)], units={"s": "B"})


def reasons(table):
    return [
        [table.reason(row, name) for name in table.column_names] for row in range(table.num_rows)
    ]


def assert_same(one, other):
    assert one.kind == other.kind
    assert one.column_names == other.column_names
    assert one.to_pylist() == other.to_pylist()
    assert reasons(one) == reasons(other)
    assert one.context == other.context
    for name in one.column_names:
        a, b = one[name], other[name]
        assert (a.type, a.unit, a.null_count) == (b.type, b.unit, b.null_count), name
    pd.testing.assert_frame_equal(one.to_dataframe(), other.to_dataframe(), check_exact=True)


@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_results_come_back(results, tmp_path, suffix):
    files = {name: tmp_path / f"{name}.{suffix}" for name in ("results", "samples", "kernels")}
    results.save(files["results"], samples=files["samples"], kernels=files["kernels"])
    loaded = warpmeter.load(
        files["results"], samples=str(files["samples"]), kernels=files["kernels"]
    )
    assert isinstance(loaded, warpmeter.ProfileResults)
    assert_same(loaded.table(), results.table())
    assert_same(loaded.samples(), results.samples())
    assert_same(loaded.kernels(), results.kernels())


@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_loaded_results_are_a_frame(results, tmp_path, suffix):
    results.save(tmp_path / f"r.{suffix}")
    frame = warpmeter.load(tmp_path / f"r.{suffix}").to_dataframe()
    assert frame["number"].dtype == np.int64  # the parameter as the core had it
    scores = frame[frame["Metric"] == "s"].reset_index(drop=True)
    before = results.to_dataframe()
    assert scores["number"].tolist() == [n - 1 for n in before["n"]]
    common = [name for name in before.columns if name != "n"]
    pd.testing.assert_frame_equal(scores[common], before[common], check_exact=True)


@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_texts_come_back(tmp_path, suffix):
    results = made([{name: {"s": [1.0]} for name in ODD}])
    results.save(tmp_path / f"r.{suffix}")
    assert_same(warpmeter.load(tmp_path / f"r.{suffix}").table(), results.table())


def test_the_format_may_be_said(results, tmp_path):
    results.save(tmp_path / "file.data", "csv")
    assert (tmp_path / "file.data").read_bytes() != b""
    assert_same(
        warpmeter.Table(_core.RawTable.read(tmp_path / "file.data", "csv")), results.table()
    )
    with pytest.raises((ValueError, _core.Error), match="xml"):
        results.save(tmp_path / "file.data", "xml")


def test_results_alone_have_neither_samples_nor_kernels(results, tmp_path):
    results.save(tmp_path / "r.json")
    loaded = warpmeter.load(tmp_path / "r.json")
    for call, name in ((loaded.samples, "samples"), (loaded.kernels, "kernels")):
        with pytest.raises(LookupError, match=rf"load\(path, {name}=FILE\)"):
            call()
    with pytest.raises(LookupError):
        loaded.save(tmp_path / "more.json", samples=tmp_path / "s.json")
    assert not (tmp_path / "more.json").exists()


@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_every_other_table_is_a_table(results, tmp_path, suffix):
    compared = results.table().compare(results.table())
    some = results.table().select("region,mean")
    raw = (_core.doctor(), _core.metrics(), _core.metrics_plan("time"))
    tables = [results.samples(), results.kernels(), compared, some, *map(warpmeter.Table, raw)]
    for number, table in enumerate(tables):
        path = tmp_path / f"{number}.{suffix}"
        table.save(path)
        loaded = warpmeter.load(path)
        assert isinstance(loaded, warpmeter.Table), table.kind
        assert_same(loaded, table)


def test_samples_of_another_kind_are_refused(results, tmp_path):
    results.save(tmp_path / "r.json", samples=tmp_path / "s.json")
    with pytest.raises(ValueError, match=r"r\.json is a table of results, not of samples"):
        warpmeter.load(tmp_path / "r.json", samples=tmp_path / "r.json")
    with pytest.raises(ValueError, match=r"s\.json is no whole table of results"):
        warpmeter.load(tmp_path / "s.json", samples=tmp_path / "s.json")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.json", b""),
        ("cut.json", None),
        ("other.json", b'{"a": [1, 2]}'),
        ("list.json", b"[1, 2, 3]"),
        ("zero.json", b"\0\0\0"),
        ("image.csv", b"\x89PNG\r\n\x1a\n\0\0"),
        ("empty.csv", b""),
        ("quote.csv", b'"a\n1\n'),
        ("ragged.csv", b"a,b\n1\n"),
    ],
)
def test_files_that_are_damaged_or_of_another_kind(results, tmp_path, name, content):
    path = tmp_path / name
    if content is None:
        results.save(path)
        content = path.read_bytes()[:-200]
    path.write_bytes(content)
    with pytest.raises((ValueError, _core.Error)) as caught:
        warpmeter.load(path)
    assert len(str(caught.value).splitlines()) == 1
    assert name in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(OSError, match="gone") as caught:
        warpmeter.load(tmp_path / "gone.json")
    assert caught.value.errno == errno.ENOENT


@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_a_folder_that_is_not_there(results, tmp_path, suffix):
    with pytest.raises(OSError, match="gone") as caught:
        results.save(tmp_path / "gone" / f"r.{suffix}")
    assert caught.value.errno == errno.ENOENT


@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_a_failed_save_keeps_what_was_there(results, tmp_path, suffix):
    path = tmp_path / f"r.{suffix}"
    path.mkdir()  # cannot be replaced by a file, by root either
    (path / "kept").write_text("kept")
    with pytest.raises(OSError):
        results.save(path)
    assert (path / "kept").read_text() == "kept"
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_results_of_a_session_come_back(tmp_path):
    with warpmeter.session(metrics="time", verbosity=SILENT) as s, warpmeter.annotate("a"):
        pass
    s.results.save(tmp_path / "r.csv")
    loaded = warpmeter.load(tmp_path / "r.csv")
    assert_same(loaded.table(), s.results.table())
    frame = loaded.to_dataframe()
    assert frame["Annotation"].tolist() == ["a"]
    assert frame["AvgValue"].tolist() == s.results.to_dataframe()["AvgValue"].tolist()
