"""Collectors: who is called when with what, and the columns that come of it."""

import math
import pickle
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from fake_gpu import BYTES, SM, Gpu, on_gpu

import warpmeter
from warpmeter import CollectionScope, InfoCollector, _core, analyze, experimental
from warpmeter.exceptions import ProfilerException

pytestmark = pytest.mark.usefixtures("on_cpu")

SILENT = warpmeter.VerbosityLevel.SILENT


def kernel(*collectors, **arguments):
    given = {"verbosity": SILENT, "cache_control": "none", "info_collectors": collectors}
    return analyze.kernel(**given | arguments)


def marked(n):
    with warpmeter.annotate("a"):
        pass
    with warpmeter.annotate("b"):
        pass


def frame(*collectors, function=marked, **arguments):
    return kernel(*collectors, **arguments)(function)().to_dataframe()


class Calls(list):
    """A collector that keeps what it was called with and returns the next value."""

    def __init__(self, *values):
        super().__init__()
        self._values = values

    def __call__(self, *args):
        self.append(args)
        return self._values[(len(self) - 1) % len(self._values)]


# ---- when, with what ----


def test_each_scope_is_called_once_for_each_of_its_kind():
    once, config, run, annotation = (Calls(1) for _ in range(4))
    frame(
        ("once", once, "once"),
        ("config", config, "config"),
        ("run", run, "run"),
        ("annotation", annotation, "annotation"),
        configs=[10, 20],
        runs=2,
        warmup=3,
    )
    assert once == [()]
    assert config == [(10,), (20,)]
    assert run == [(10,), (10,), (20,), (20,)]
    assert annotation == [("a", 10), ("b", 10)] * 2 + [("a", 20), ("b", 20)] * 2


def test_a_collector_is_called_before_what_it_is_about():
    order = []

    def collector(name, scope):
        return name, lambda *args: order.append(name), scope

    def function():
        order.append("function")
        with warpmeter.annotate("a"):
            order.append("body")

    kernel(*(collector(s.value, s) for s in CollectionScope), runs=2)(function)()
    in_run = ["run", "function", "annotation", "body"]
    assert order == ["once", "config", *in_run, *in_run]


def test_in_any_order_of_runs():
    config, run = Calls(1), Calls(1)
    frame(
        ("config", config, "config"),
        ("run", run, "run"),
        configs=[1, 2],
        runs=3,
        order="interleaved",
    )
    assert sorted(config) == [(1,), (2,)]
    assert run == [(1,), (2,)] * 3


def test_arguments_are_trimmed_to_what_the_function_takes():
    got = []

    class Method:
        def one(self, a):
            got.append(a)

    collectors = [
        ("none", lambda: got.append("none"), "run"),
        ("one", lambda a: got.append(a), "run"),
        ("default", lambda a, b=5: got.append((a, b)), "run"),
        ("all", lambda *args: got.append(args), "config"),
        ("more", lambda a, *args: got.append((a, *args)), "config"),
        ("keyword", lambda a, *, k=3: got.append((a, k)), "run"),
        ("method", Method().one, "run"),
        ("name", lambda name: got.append(name), "annotation"),
        ("nameless", Calls(1), "annotation"),
    ]

    def function(a, b=7, *, c=8):
        with warpmeter.annotate("r"):
            pass

    kernel(*collectors, configs=[(1,)])(function)()
    assert got == [(1, 7, 8), (1, 7, 8), "none", 1, (1, 7), (1, 3), 1, "r"]
    assert collectors[-1][1] == [("r", 1, 7, 8)]


def test_annotations_within_others_and_entered_again_are_called_for_once():
    called = Calls(1)

    def function():
        for _ in range(2):
            with warpmeter.annotate("outer"):
                with warpmeter.annotate("inner"):
                    pass
        with warpmeter.annotate("inner"):
            pass

    kernel(("c", called, "annotation"))(function)()
    assert called == [("outer",), ("inner",), ("inner",)]


def test_annotations_of_other_threads_are_called_for_there():
    def function():
        def work():
            with warpmeter.annotate("there"):
                pass

        thread = threading.Thread(target=work, name="worker")
        thread.start()
        thread.join()

    found = frame(
        ("thread", lambda name: threading.current_thread().name, "annotation"), function=function
    )
    assert list(found["thread"]) == ["worker"]


def test_annotations_outside_of_the_function_are_not_called_for():
    called = Calls(1)
    kernel(("c", called, "annotation"), configs=[1])(marked)()
    marked(1)
    with warpmeter.session(metrics="time", verbosity=SILENT):
        marked(1)
    assert called == [("a", 1), ("b", 1)]


def test_what_an_annotations_collector_takes_is_not_measured():
    takes_s = 0.02

    def function():
        with warpmeter.annotate("outer"):
            with warpmeter.annotate("inner"):
                pass

    slow = ("slow", lambda name: time.sleep(takes_s), "annotation")
    found = frame(slow, function=function, metrics=["time"], runs=10)
    assert list(found["Annotation"]) == ["outer", "outer/inner"]
    assert (found["MinValue"] < takes_s * 1e9).all()


@on_gpu()
def test_passes_call_nobody_again():
    gpu = Gpu()
    config, run, annotation = Calls(1), Calls(1), Calls(1)

    def function():
        with warpmeter.annotate("r"):
            gpu.launch("alpha")

    results = kernel(
        ("config", config, "config"),
        ("run", run, "run"),
        ("annotation", annotation, "annotation"),
        runs=2,
        metrics=[SM, BYTES],
    )(function)()
    assert gpu.launches > 2
    assert (config, run, annotation) == ([()], [(), ()], [("r",), ("r",)])
    assert list(results.to_dataframe()["run_Avg"]) == [1.0, 1.0]


# ---- columns ----


def test_columns_lie_between_the_unit_and_the_interval():
    names = list(frame(("x", lambda n: n, "run"), ("s", lambda: "s", "once"), configs=[1]))
    at = names.index("Unit")
    assert names[at : at + 7] == ["Unit", "x_Avg", "x_Std", "x_Min", "x_Max", "s", "CI95_Lower"]


@pytest.mark.parametrize("scope", ["run", "annotation"])
def test_numbers_have_statistics_over_the_runs(scope):
    values = iter([1, 2.0, np.float32(6)] if scope == "run" else [1, 9, 2, 9, 6, 9])
    found = frame(("x", lambda *args: next(values), scope), configs=[1], runs=3)
    row = found.iloc[0]
    assert (row["x_Avg"], row["x_Min"], row["x_Max"]) == (3.0, 1.0, 6.0)
    assert row["x_Std"] == pytest.approx(math.sqrt((4 + 1 + 9) / 2))
    other = found.iloc[1]
    assert other["x_Avg"] == (3.0 if scope == "run" else 9.0)
    assert {str(found[f"x_{each}"].dtype) for each in ("Avg", "Std", "Min", "Max")} == {"float64"}


def test_one_run_has_no_spread():
    found = frame(("x", lambda n: n, "config"), configs=[4, 5])
    assert list(found["x_Avg"]) == [4.0, 5.0, 4.0, 5.0]
    assert found["x_Std"].isna().all()


def test_a_collector_that_is_called_once_has_its_value_in_one_column():
    value = object()
    found = frame(("x", lambda: 5, "once"), ("o", lambda: value, "once"), configs=[1, 2])
    assert list(found["x"]) == [5] * 4
    assert all(each is value for each in found["o"])


def test_what_is_no_number_stays_the_object_that_it_is():
    objects = [{"a": 1}, [2], "text", None]
    found = frame(("x", lambda n: objects[n], "config"), configs=[0, 1, 2, 3])
    for row, n in zip(found["x"], [0, 1, 2, 3] * 2, strict=True):
        assert row is objects[n]


def test_truth_is_no_number():
    for value in (True, np.bool_(True)):
        found = frame(("x", lambda n, v=value: v, "run"), configs=[1])
        assert list(found["x"]) == [value, value]
        assert "x_Avg" not in found


def test_texts_among_numbers_make_one_column_of_first_values():
    values = iter([None, 1, "two"])
    found = frame(("x", lambda n: next(values), "run"), configs=[1], runs=3)
    assert list(found["x"]) == [1, 1]


def test_numbers_with_gaps_are_numbers():
    values = iter([None, 1, float("nan"), 3])
    found = frame(("x", lambda n: next(values), "run"), configs=[1], runs=4)
    assert list(found["x_Avg"]) == [2.0, 2.0]
    assert list(found["x_Max"]) == [3.0, 3.0]


def test_an_annotation_that_was_not_entered_has_no_value():
    def function(n):
        if n:
            marked(n)
        else:
            with warpmeter.annotate("c"):
                pass

    found = frame(("x", lambda name: name, "annotation"), configs=[0, 1], function=function)
    assert list(zip(found["Annotation"], found["x"], strict=True)) == [(r, r) for r in "cab"]


def test_a_function_without_annotations_has_those_of_its_runs():
    found = frame(
        ("run", lambda: 2, "run"),
        ("none", lambda name: 1, "annotation"),
        function=lambda: None,
    )
    assert list(found["run_Avg"]) == [2.0]
    assert list(found["none"]) == [None]


def test_configurations_that_are_left_out_have_what_was_said_of_them():
    def function(n):
        if n == 2:
            warpmeter.skip("no")
            return
        marked(n)

    found = frame(("t", lambda n: f"<{n}>", "config"), configs=[1, 2], function=function)
    assert list(found["t"]) == ["<1>", "<2>"] * 2
    assert list(found["Status"]) == ["ok", "skipped"] * 2


def test_a_name_of_one_of_our_own_columns_is_the_collectors():
    found = frame(("Status", lambda: "mine", "once"), ("Median", lambda: 1, "once"), configs=[1])
    assert list(found["Status"]) == ["mine", "mine"]
    assert list(found).count("Median") == 1


def test_derived_metrics_have_them_too():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = frame(
            ("x", lambda n: n, "run"), configs=[3], derive_metric=lambda time, n: time / n
        )
    assert list(found["x_Avg"]) == [3.0] * 4


def test_raw_values_have_one_column_each(tmp_path):
    values = iter([1, 2, 3, 4])
    collectors = [("x", lambda n: next(values), "run"), ("t", lambda: "v", "once")]
    kernel(*collectors, configs=[5, 6], runs=2, output_csv=True, output_prefix=tmp_path / "p_")(
        marked
    )()
    raw = pd.read_csv(tmp_path / "p_profiled_data-marked-0.csv")
    names = list(raw)
    assert names[names.index("Unit") :] == ["Unit", "x", "t", "n"]
    assert list(raw["x"]) == [1, 2, 3, 4] * 2
    assert list(raw["t"]) == ["v"] * 8


# ---- the core's tables, and files ----


def test_tables_and_samples_have_them():
    values = iter([1, 3])
    results = kernel(
        ("x", lambda n: next(values), "run"),
        ("t", lambda n: {"n": n}, "config"),
        ("at", lambda name: name.upper(), "annotation"),
        configs=[7],
        runs=2,
    )(marked)()
    (row, other) = results.table().to_pylist()
    assert {k: row[k] for k in ("x_avg", "x_min", "x_max", "t", "at")} == {
        "x_avg": 2.0,
        "x_min": 1.0,
        "x_max": 3.0,
        "t": "{'n': 7}",
        "at": "A",
    }
    assert other["at"] == "B"
    samples = results.samples().select(filter="region=a").to_pylist()
    assert [(each["x"], each["t"], each["at"]) for each in samples] == [
        (1.0, "{'n': 7}", "A"),
        (3.0, "{'n': 7}", "A"),
    ]


def test_nested_annotations_have_theirs_in_tables():
    def function():
        with warpmeter.annotate("outer"):
            with warpmeter.annotate("inner"):
                pass

    results = kernel(("at", lambda name: name, "annotation"))(function)()
    found = {row["region"]: row["at"] for row in results.table().to_pylist()}
    assert found == {"outer": "outer", "outer/inner": "inner"}


@pytest.mark.parametrize("name", ["host", "mean", "run", "reason", "nulls", "x_avg"])
def test_names_that_the_cores_columns_have_are_given_another_there(name):
    results = kernel((name, lambda: "v", "config"), configs=[1])(marked)()
    assert set(results.to_dataframe()[name]) == {"v"}
    column = name if name == "x_avg" else f"collected_{name}"
    assert results.table().column(column).to_list() == ["v", "v"]


@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_files_bring_them_back(tmp_path, suffix):
    values = iter([1, 3])
    results = kernel(
        ("x", lambda n: next(values), "run"),
        ("a,b", lambda: "v", "once"),
        ("t_avg", lambda: "w", "once"),
        configs=[7],
        runs=2,
    )(marked)()
    results.save(tmp_path / f"r.{suffix}")
    again = warpmeter.load(tmp_path / f"r.{suffix}").to_dataframe()
    ours = results.to_dataframe()
    for name in ("x_Avg", "x_Std", "x_Min", "x_Max", "a,b", "t_avg", "n"):
        assert list(again[name]) == list(ours[name])
    assert list(again)[2] == "n"
    assert list(again).index("CI95_Lower") > list(again).index("x_Avg") > list(again).index("Unit")


def test_a_pickle_has_the_objects():
    results = kernel(("t", lambda n: {"n": n}, "config"), configs=[7])(marked)()
    again = pickle.loads(pickle.dumps(results)).to_dataframe()
    assert list(again["t"]) == [{"n": 7}] * 2


# ---- failures ----


def warned(function):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = function()
    return result, [(w.category, str(w.message), w.filename) for w in found]


def test_one_that_raises_has_no_value_and_one_warning_in_each_call():
    def bad(n):
        if n == 1:
            raise OSError("no such sensor")
        return n

    function = kernel(("bad", bad, "run"), configs=[1, 2], runs=3)(marked)
    for _ in range(2):
        results, found = warned(function)
        ((category, text, file),) = found
        assert (category, file) == (RuntimeWarning, __file__)
        assert text == "the collector 'bad' raised OSError: no such sensor; it has no value there"
    found = results.to_dataframe()
    assert list(found["bad_Avg"].fillna(-1)) == [-1.0, 2.0] * 2
    assert results.table().reason(0, "bad_avg") == "not-collected"


def test_one_that_raises_in_an_annotation_stops_nothing():
    entered = []

    def bad(name):
        raise LookupError(name)

    def function(n):
        with warpmeter.annotate("r"):
            entered.append(n)

    results, found = warned(kernel(("bad", bad, "annotation"), configs=[1], runs=2)(function))
    assert entered == [1, 1]
    assert [category for category, _, _ in found] == [RuntimeWarning]
    assert list(results.to_dataframe()["bad"]) == [None]


def test_the_warning_comes_where_the_function_raises_too():
    def fails(n):
        raise ArithmeticError

    def bad():
        raise LookupError

    def call():
        with pytest.raises(ArithmeticError) as caught:
            kernel(("bad", bad, "once"), ("ok", lambda n: n, "run"), configs=[1])(fails)()
        return caught.value.warpmeter_results

    results, found = warned(call)
    assert [text for _, text, _ in found] == [
        "the collector 'bad' raised LookupError: ; it has no value there"
    ]
    assert list(results.to_dataframe()["Status"]) == ["failed"]


@pytest.mark.parametrize("scope", ["once", "config", "run", "annotation"])
def test_an_interrupt_goes_on(scope):
    called = []

    def interrupted(*args):
        raise KeyboardInterrupt

    def function():
        called.append(1)
        with warpmeter.annotate("r"):
            called.append(2)

    with pytest.raises(KeyboardInterrupt):
        kernel(("x", interrupted, scope))(function)()
    assert called == ([1] if scope == "annotation" else [])
    assert not _core.active()
    assert len(kernel(("x", lambda *args: 1, scope))(function)().to_dataframe()) == 1


# ---- what is accepted ----


def test_all_kinds_of_collectors():
    @experimental.collect(scope="config")
    def by_mark(n):
        return n

    found = frame(
        by_mark,
        ("tuple", lambda: 1, CollectionScope.CONFIG),
        InfoCollector("object", lambda: 1, CollectionScope.CONFIG),
        InfoCollector("by_name", lambda: 1, "config"),
        configs=[1],
    )
    assert [name for name in found if name.endswith("_Avg")] == [
        "by_mark_Avg",
        "tuple_Avg",
        "object_Avg",
        "by_name_Avg",
    ]


@pytest.mark.parametrize("given", [5, "name", InfoCollector("x", len, CollectionScope.ONCE), [5]])
def test_what_is_no_sequence_of_collectors_is_refused(given):
    with pytest.raises((TypeError, ValueError), match="info_collectors"):
        analyze.kernel(info_collectors=given)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (len, ValueError),
        (("x", len), ValueError),
        (("x", len, "never"), ValueError),
        ((5, len, "once"), TypeError),
        (("", len, "once"), TypeError),
        (("x", 5, "once"), TypeError),
    ],
)
def test_what_is_no_collector_is_refused(given, error):
    with pytest.raises(error, match="info_collectors"):
        kernel(given)


@pytest.mark.parametrize("names", [("x", "x"), ("Annotation",), ("Value",), ("Geomean",)])
def test_names_that_are_taken_are_refused(names):
    with pytest.raises(ProfilerException, match=names[0]):
        kernel(*((name, len, "once") for name in names))


def test_a_parameters_name_is_refused():
    with pytest.raises(ProfilerException, match="'n'"):
        kernel(("n", len, "once"))(marked)
