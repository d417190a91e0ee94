"""_core.RawTable and _core.Column: tables of the core, read from Python."""

from __future__ import annotations

import errno
import gc
import json
import math
import os
import threading

import pytest

from warpmeter import _core

pytestmark = pytest.mark.usefixtures("on_cpu")

SCORES = [1.5, None, -2.0]  # put into the three runs of configuration 0


@pytest.fixture
def session():
    """Two configurations of function f, three runs each, with parameters of every type."""
    session = _core.Session()
    sweep = _core.Sweep(session, "f", ["--warmup", "0", "--runs", "3"])
    sweep.add_config(["flag", "k", "x", "name"], [True, 2**40, 0.5, "é"])
    sweep.add_config(["flag", "k"], [False, -7])
    sweep.run(lambda: None, [(), ()])
    for run, value in enumerate(SCORES):
        sweep.put(0, run, None, "score", value, "pt")
    return session


@pytest.fixture
def samples(session):
    """9 rows: metric time of both configurations, then score of the first."""
    return session.samples()


# The state of the machine, for each sample.
STATE = [
    *("gpu_clock_hz", "gpu_memory_clock_hz", "gpu_temperature_c", "gpu_headroom_c", "gpu_pstate"),
    *("gpu_utilization", "gpu_power_w", "gpu_energy_j", "gpu_throttle"),
    *("cpu_clock_hz", "cpu_energy_j", "cpu_throttle"),
]


def lists(table):
    return {name: table.column(name).to_list() for name in table.column_names}


# ---- the table ----


def test_what_it_is(samples):
    assert (samples.kind, samples.num_rows) == ("samples", 9)
    assert samples.column_names == [
        *("benchmark", "region", "metric", "unit", "run", "pass", "value", "reason"),
        *STATE,
        "config_key",
        *("flag", "k", "x", "name"),
    ]
    for attribute in ("kind", "num_rows", "column_names", "context"):
        with pytest.raises(AttributeError):
            setattr(samples, attribute, None)
    with pytest.raises(TypeError):
        type(samples)()


def test_context(samples):
    context = samples.context
    assert context["version"] == _core.__version__
    assert context["host"] == os.uname().nodename
    assert type(context["cpus_online"]) is int
    assert context["cpus_online"] == os.sysconf("SC_NPROCESSORS_ONLN")
    assert type(context["virtual_machine"]) is bool
    assert type(context["timer_cost_ns"]) is float
    assert context["program_build"] is None
    context.clear()
    assert samples.context["version"] == _core.__version__


def test_cells(samples):
    cells = lists(samples)
    assert cells["metric"] == ["time"] * 6 + ["score"] * 3
    assert cells["unit"] == ["ns"] * 6 + ["pt"] * 3
    assert cells["run"] == [0, 1, 2] * 3
    assert cells["value"][6:] == SCORES
    assert all(0 < value < 60e9 for value in cells["value"][:6])
    assert cells["flag"] == [True] * 3 + [False] * 3 + [True] * 3
    assert cells["k"] == [2**40] * 3 + [-7] * 3 + [2**40] * 3
    assert cells["x"] == [0.5] * 3 + [None] * 3 + [0.5] * 3
    assert cells["name"] == ["é"] * 3 + [None] * 3 + ["é"] * 3
    assert {type(value) for value in cells["flag"]} == {bool}
    assert {type(value) for value in cells["k"]} == {int}


def test_reasons(samples):
    assert samples.reason(0, "value") == ""
    assert samples.reason(7, "value") == "not-finite"
    assert samples.reason(-2, "value") == "not-finite"
    assert samples.reason(7, samples.column_names.index("value")) == "not-finite"
    assert samples.reason(3, "x") == "not-applicable"
    for row in (9, -10, 2**62):
        with pytest.raises(IndexError):
            samples.reason(row, "value")
    with pytest.raises(KeyError):
        samples.reason(0, "nothing")
    with pytest.raises(TypeError):
        samples.reason("0", "value")


def test_columns_by_name_and_number(samples):
    names = samples.column_names
    for number, name in enumerate(names):
        column = samples.column(name)
        assert column.name == name
        assert samples.column(number) is column
        assert samples.column(number - len(names)) is column
    for wrong in (len(names), -len(names) - 1, 2**100):
        with pytest.raises(IndexError):
            samples.column(wrong)
    for unknown in ("nothing", "", "value\0", "value\0more"):
        with pytest.raises(KeyError) as caught:
            samples.column(unknown)
        assert caught.value.args == (unknown,)
    for other in (None, 1.0, b"value"):
        with pytest.raises(TypeError):
            samples.column(other)


def test_units(session, samples):
    assert samples.column("value").unit == "row"
    assert samples.column("run").unit == ""
    assert session.table().column("sm_clock_hz").unit == "Hz"


# ---- columns ----


def test_a_column_is_a_sequence(samples):
    column = samples.column("run")
    assert len(column) == 9
    assert [column[i] for i in range(9)] == [0, 1, 2] * 3
    assert [column[i] for i in range(-9, 0)] == [0, 1, 2] * 3
    assert list(column) == column.to_list()
    assert list(reversed(column)) == [2, 1, 0] * 3
    assert 2 in column
    assert 3 not in column
    for row in (9, -10, 2**100, -(2**100)):
        with pytest.raises(IndexError):
            column[row]
    for row in ("0", 0.0, None, slice(2)):
        with pytest.raises(TypeError):
            column[row]
    with pytest.raises(TypeError):
        column[0] = 1
    with pytest.raises(TypeError):
        type(column)()


@pytest.mark.parametrize(
    ("name", "kind", "format", "size"),
    [("run", "i64", "q", 8), ("value", "f64", "d", 8), ("flag", "bool", "?", 1)],
)
def test_numbers_are_a_buffer(samples, name, kind, format, size):
    column = samples.column(name)
    assert column.type == kind
    assert column.codes is None
    assert column.texts is None
    with memoryview(column) as view:
        assert (view.format, view.itemsize, view.ndim) == (format, size, 1)
        assert (view.shape, view.strides, view.nbytes) == ((9,), (size,), 9 * size)
        assert view.readonly
        assert view.c_contiguous
        assert view.obj is column
        assert view.tolist() == [0 if value is None else value for value in column]
        with pytest.raises(TypeError):
            view[0] = 0
    assert len(bytes(column)) == 9 * size


def test_nulls(samples):
    value = samples.column("value")
    assert value.null_count == 1
    assert value.valid.format == "?"
    assert value.valid.tolist() == [True] * 7 + [False, True]
    assert value.valid.readonly
    assert memoryview(value)[7] == 0
    assert value[7] is None
    assert samples.column("name").valid.tolist() == [True] * 3 + [False] * 3 + [True] * 3
    assert samples.column("run").null_count == 0
    assert samples.column("run").valid is None


def test_texts_have_codes(samples):
    metric = samples.column("metric")
    assert metric.type == "str"
    assert metric.texts == ("time", "score")
    assert metric.codes.format == "i"
    assert metric.codes.tolist() == [0] * 6 + [1] * 3
    assert metric.codes.readonly
    name = samples.column("name")
    assert name.texts == ("é",)
    assert name.codes.tolist() == [0] * 3 + [-1] * 3 + [0] * 3
    assert name[3] is None
    with pytest.raises(BufferError):
        memoryview(metric)


def test_equal_texts_are_one_object(samples):
    metric = samples.column("metric")
    cells = metric.to_list()
    assert all(cell is cells[0] for cell in cells[:6])
    assert metric[1] is cells[0] is metric.texts[0]


def test_many_texts():
    # More than the first size of the table that numbers them, again and again.
    session = _core.Session(metrics="time")
    names = [f"region {i % 400}" for i in range(1000)]
    session.start()
    for name in names:
        with _core.annotate(name):
            pass
    session.stop()
    region = session.samples().select(filter="region!=session").column("region")
    assert sorted(region) == sorted(set(names))
    assert [region.texts[code] for code in region.codes] == region.to_list()
    assert len(set(region.texts)) == len(region.texts) == 400


def test_no_rows():
    table = _core.Session().table()
    assert table.num_rows == 0
    for name in table.column_names:
        column = table.column(name)
        assert len(column) == column.null_count == 0
        assert list(column) == column.to_list() == []
        assert column.valid is None
        if column.type == "str":
            assert column.texts == ()
            assert column.codes.tolist() == []
        else:
            assert memoryview(column).tolist() == []
        with pytest.raises(IndexError):
            column[0]
        with pytest.raises(IndexError):
            column[-1]
    with pytest.raises(IndexError):
        table.reason(0, "mean")


def test_numpy_copies_nothing(samples):
    numpy = pytest.importorskip("numpy")
    value = numpy.asarray(samples.column("value"))
    again = numpy.asarray(samples.column("value"))
    assert value.dtype == numpy.float64
    assert value.ctypes.data == again.ctypes.data
    assert not value.flags.writeable
    assert value[6:].tolist() == [1.5, 0.0, -2.0]
    assert numpy.asarray(samples.column("k")).dtype == numpy.int64
    assert numpy.asarray(samples.column("flag")).dtype == numpy.bool_
    name = samples.column("name")
    texts = numpy.asarray([*name.texts, None], object)[numpy.asarray(name.codes)]
    assert texts.tolist() == name.to_list()


def test_what_was_taken_outlives_the_table():
    def take():
        session = _core.Session()
        sweep = _core.Sweep(session, "f", ["--warmup", "0", "--runs", "2"])
        sweep.add_config(["k", "name"], [5, "long enough to be a text of its own"])
        sweep.run(lambda: None, [()])
        table = session.samples()
        k, name = table.column("k"), table.column("name")
        return memoryview(k), k, name.codes, name.texts, iter(name), name

    view, k, codes, texts, iterator, name = take()
    gc.collect()
    assert view.tolist() == k.to_list() == [5, 5]
    assert codes.tolist() == [0, 0]
    del k, name
    gc.collect()
    assert view.tolist() == [5, 5]
    assert list(iterator) == list(texts) * 2 == ["long enough to be a text of its own"] * 2


def test_reading_in_several_threads(samples):
    expected = lists(samples)
    found = []
    ready = threading.Barrier(4)

    def work():
        ready.wait()
        found.extend(lists(samples) for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 80


# ---- files and texts ----


@pytest.mark.parametrize("suffix", [".json", ".csv"])
@pytest.mark.parametrize("spell", [str, os.fsencode, lambda path: path])
def test_write_and_read(samples, tmp_path, suffix, spell):
    path = tmp_path / f"a table é{suffix}"
    assert samples.write(spell(path)) is None
    again = _core.RawTable.read(spell(path))
    assert again.kind == "samples"
    assert lists(again) == lists(samples)
    assert again.context == samples.context
    assert again.reason(7, "value") == "not-finite"


def test_the_format_may_be_said(samples, tmp_path):
    path = tmp_path / "results"
    samples.write(path, "json")
    assert lists(_core.RawTable.read(path, "json")) == lists(samples)
    assert json.loads(path.read_text("utf-8"))
    samples.write(path=path, format="csv")
    assert lists(_core.RawTable.read(path=path, format="csv")) == lists(samples)
    assert path.read_text("utf-8") == samples.text("csv")


def test_text(samples):
    assert samples.text() == samples.text("text", 0, True, False)
    assert "\x1b[" not in samples.text()
    assert "\x1b[" in samples.text(color=True)
    assert json.loads(samples.text("json"))
    header, *body = samples.text("csv").splitlines()
    assert header.split(",")[:3] == ["benchmark", "region", "metric"]
    assert len(body) == 9
    assert samples.text("markdown").startswith("|")
    results = results_of([1.0, 2.0])
    assert "±" in results.text()
    assert results.text(unicode=False).isascii()
    narrow = samples.select("metric,run,config_key").text(width=40)
    assert narrow != samples.select("metric,run,config_key").text()


@pytest.mark.parametrize("call", ["text", "write"])
def test_unknown_formats(samples, tmp_path, call):
    with pytest.raises(ValueError, match="'zz'"):
        samples.text("zz") if call == "text" else samples.write(tmp_path / "a", "zz")
    with pytest.raises(ValueError, match="suffix"):
        samples.write(tmp_path / "a.zz")
    assert list(tmp_path.iterdir()) == []


def test_errors_of_the_system_have_errno(samples, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        _core.RawTable.read(tmp_path / "nothing.json")
    assert caught.value.errno == errno.ENOENT
    assert "nothing.json" in str(caught.value)
    with pytest.raises(FileNotFoundError):
        samples.write(tmp_path / "no folder" / "a.json")
    with pytest.raises(IsADirectoryError) as caught:
        _core.RawTable.read(tmp_path, "json")
    assert caught.value.errno == errno.EISDIR


def test_files_that_are_no_tables(tmp_path):
    for text in ("", "{", "[1, 2]", '{"schema": 1}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(ValueError, match="bad"):
            _core.RawTable.read(tmp_path / "bad.json")


def test_messages_with_bytes_that_are_no_utf8(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.json"
    with open(path, "w") as file:
        file.write("{")
    with pytest.raises(ValueError, match=r"\\xff\.json: line 1") as caught:
        _core.RawTable.read(path)
    assert type(caught.value) is ValueError
    with pytest.raises(FileNotFoundError, match=r"\\xff\.json\.json"):
        _core.RawTable.read(path + b".json")


def test_paths_that_are_none(samples):
    for path in (None, 3.5):
        with pytest.raises(TypeError):
            _core.RawTable.read(path)
        with pytest.raises(TypeError):
            samples.write(path)
    with pytest.raises(ValueError, match="null"):
        samples.write("a\0.json")


# ---- other tables ----


def test_select(samples):
    some = samples.select("run,value", "-run", "metric=score")
    assert some.kind == "samples"
    assert lists(some) == {"run": [2, 1, 0], "value": SCORES[::-1]}
    assert samples.num_rows == 9
    assert lists(samples.select()) == lists(samples)
    assert samples.select(filter="k=-7").num_rows == 3
    with pytest.raises(_core.Error) as caught:
        samples.select("nothing")
    assert caught.value.status == "WM_ENOTFOUND"
    assert "nothing" in str(caught.value)
    with pytest.raises(ValueError, match="condition"):
        samples.select(filter="??")
    with pytest.raises(TypeError):
        samples.select(columns=["run"])


def results_of(values):
    session = _core.Session()
    sweep = _core.Sweep(session, "f", ["--warmup", "0", "--runs", str(len(values))])
    sweep.run(lambda: None, [()])
    for run, value in enumerate(values):
        sweep.put(0, run, None, "cost", value)
    return session.table()


def test_compare():
    before, after = results_of([2.0, 2.0, 2.0]), results_of([3.0, 3.0, 3.0])
    compared = before.compare(after).select(filter="metric=cost")
    assert compared.kind == "comparison"
    assert compared.column("baseline_mean").to_list() == [2.0]
    assert compared.column("contender_mean").to_list() == [3.0]
    assert math.isclose(compared.column("ratio")[0], 1.5)

    def verdict(threshold):
        table = before.compare(contender=after, threshold=threshold)
        return table.select(filter="metric=cost").column("verdict")[0]

    assert verdict(0.9) != verdict(0.01)
    with pytest.raises(ValueError, match="doctor"):
        before.compare(_core.doctor())
    for other in (None, "a.json"):
        with pytest.raises(TypeError):
            before.compare(other)


def test_arrow(samples):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(samples)
    assert table.to_pydict() == lists(samples)
    types = {"run": "int64", "value": "double", "flag": "bool", "name": "string"}
    assert {name: str(table.schema.field(name).type) for name in types} == types
    assert table.schema.metadata[b"kind"] == b"samples"
    context = json.loads(table.schema.metadata[b"context"])
    assert context["version"] == _core.__version__
    assert table.schema.field("value").metadata[b"unit"] == b"row"


def test_an_arrow_stream_outlives_the_table():
    pyarrow = pytest.importorskip("pyarrow")
    table = results_of([1.0, 2.0])
    expected = lists(table)
    capsule = table.__arrow_c_stream__()
    del table
    gc.collect()

    class Holder:
        def __arrow_c_stream__(self, requested_schema=None):
            return capsule

    assert pyarrow.table(Holder()).to_pydict() == expected


def test_arrow_capsules(samples):
    for capsule in (
        samples.__arrow_c_stream__(),
        samples.__arrow_c_stream__(requested_schema=None),
    ):
        assert type(capsule).__name__ == "PyCapsule"
        assert '"arrow_array_stream"' in repr(capsule)
    with pytest.raises(TypeError):
        samples.__arrow_c_stream__(schema=None)


# ---- the machine ----


def test_the_machine():
    doctor = _core.doctor()
    assert doctor.kind == "doctor"
    assert "cpu" in doctor.column("component").texts
    metrics = _core.metrics("tim?")
    assert metrics.kind == "metrics"
    assert metrics.select(filter="metric=time").num_rows == 1
    assert _core.metrics(pattern="no such *").num_rows == 0
    plan = _core.metrics_plan("time")
    assert plan.kind == "plan"
    assert plan.column("metric").to_list() == ["time"]
    with pytest.raises(_core.Error) as caught:
        _core.metrics_plan("no_such_metric")
    assert caught.value.status == "WM_ENOTFOUND"
    for call in (_core.metrics_plan, lambda: _core.metrics(1), lambda: _core.metrics_plan(None)):
        with pytest.raises(TypeError):
            call()


def test_types_are_final():
    for kind in (_core.RawTable, _core.Column, _core.Annotation):
        with pytest.raises(TypeError):
            type("Sub", (kind,), {})
        with pytest.raises(TypeError):
            kind.extra = 1
