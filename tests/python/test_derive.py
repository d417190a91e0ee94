"""derive_metric: metrics that a function makes of those that were measured, run by run."""

import fractions
import functools
import warnings

import numpy as np
import pytest
from fake_gpu import BYTES, SM, TIME, Gpu, on_gpu

import warpmeter
from warpmeter import VerbosityLevel, analyze, annotate

pytestmark = pytest.mark.usefixtures("on_cpu")

silent = functools.partial(analyze.kernel, verbosity=VerbosityLevel.SILENT, cache_control="none")
cpu = functools.partial(silent, backend="cpu")


def work(n):
    with annotate("region"):
        pass


def rows(results, *columns):
    frame = results.to_dataframe()
    return list(frame[list(columns)].itertuples(index=False, name=None))


def derived(results, *columns):
    """Of the rows that were not measured."""
    return [row for metric, *row in rows(results, "Metric", *columns) if metric != "time"]


# ---- what the function is given ----


def test_it_is_called_run_by_run_with_metrics_and_then_arguments():
    seen = []

    def twice(time, a, b, *, c=3):
        seen.append((time, a, b, c))
        return 2 * time, "ns"

    @cpu(configs=[(1, "x"), (2, "y")], runs=3, derive_metric=lambda t, a, b, c: twice(t, a, b, c=c))
    def function(a, b, *, c=7):
        with annotate("region"):
            pass

    results = function()
    assert [row[1:] for row in seen] == [(1, "x", 7)] * 3 + [(2, "y", 7)] * 3
    times = rows(results, "Metric", "AvgValue", "MinValue")
    for (name, mean, least), of in zip(times[:2], (seen[:3], seen[3:]), strict=True):
        assert name == "time"
        assert mean == pytest.approx(np.mean([row[0] for row in of]))
        assert least == min(row[0] for row in of)
    for (_, mean, least), of in zip(times[2:], (seen[:3], seen[3:]), strict=True):
        assert mean == pytest.approx(2 * np.mean([row[0] for row in of]))
        assert least == 2 * min(row[0] for row in of)


def test_arguments_are_the_objects_of_the_configuration():
    thing, seen = object(), []
    cpu(configs=[(thing,)], derive_metric=lambda time, n: seen.append(n) or (1, "s"))(work)()
    assert seen == [thing]


def test_warm_ups_are_not_given():
    seen = []
    cpu(
        configs=[1],
        runs=2,
        warmup=3,
        derive_metric=lambda t, n: seen.append(t) or {"m": (1, "x")},
    )(work)()
    assert len(seen) == 2


def test_a_division_by_zero_is_no_error():
    with np.errstate(all="ignore"):
        results = cpu(configs=[1], derive_metric=lambda t, n: {"rate": (t * 0 / (t * 0), "x")})(
            work
        )()
    assert derived(results, "NumRuns", "Status") == [[0, "missing"]]


@on_gpu()
def test_metrics_come_in_the_order_in_which_they_were_asked_for():
    gpu, seen = Gpu(), []

    def function():
        with annotate("region"):
            gpu.launch("gamma")

    for metrics in ([TIME, BYTES, SM], [SM, TIME, BYTES], [BYTES, TIME]):
        seen.clear()
        silent(metrics=metrics, derive_metric=lambda *a: seen.append(a) or (1, "x"))(function)()
        assert seen == [tuple({TIME: 4000.0, BYTES: 1000.0, SM: 50.0}[m] for m in metrics)]


@on_gpu()
def test_it_sees_what_several_kernels_made():
    gpu, seen = Gpu(), []

    def function():
        with annotate("region"):
            gpu.launch("alpha", "gamma")

    for how, expected in {"auto": 5000.0, np.minimum: 1000.0}.items():
        seen.clear()
        decorate = silent(
            combine_kernel_metrics=how, derive_metric=lambda t: seen.append(t) or (1, "x")
        )
        decorate(function)()
        assert seen == [expected]


@on_gpu()
def test_with_several_kernels_and_no_rule_it_sees_the_other_regions():
    gpu, seen = Gpu(), []

    def function():
        with annotate("several"):
            gpu.launch("alpha", "beta")
        with annotate("one"):
            gpu.launch("gamma")

    with pytest.raises(RuntimeError) as caught:
        silent(derive_metric=lambda t: seen.append(t) or {"twice": (2 * t, "ns")})(function)()
    assert seen == [4000.0]
    assert rows(caught.value.results, "Annotation", "Metric", "AvgValue")[-1] == (
        "one",
        "twice",
        8000.0,
    )


# ---- what it returns ----


def test_a_number_makes_a_metric_of_the_functions_name_without_a_unit():
    def speed(time, n):
        return n * 10

    with pytest.warns(UserWarning, match="no unit for 'speed'") as found:
        results = cpu(configs=[1, 2], runs=2, derive_metric=speed)(work)()
    assert len(found) == 1
    assert found[0].filename == __file__
    frame = results.to_dataframe()
    assert list(frame["Metric"]) == ["time", "time", "speed", "speed"]
    assert list(frame["AvgValue"][2:]) == [10, 20]
    assert list(frame["NumRuns"]) == [2, 2, 2, 2]
    assert frame["Unit"][2:].isna().all()
    assert list(frame["Unit"][:2]) == ["ns", "ns"]


def test_a_number_and_a_unit_warn_of_nothing():
    def speed(time, n):
        return n * 10, "GB/s"

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = cpu(configs=[3], derive_metric=speed)(work)()
    assert rows(results, "Metric", "Unit")[1] == ("speed", "GB/s")
    assert derived(results, "AvgValue", "n", "Annotation") == [[30, 3, "region"]]


def test_a_mapping_makes_several_metrics():
    with pytest.warns(UserWarning, match="'plain'") as found:
        results = cpu(
            configs=[1, 2],
            derive_metric=lambda t, n: {"b": (n, "x"), "plain": n + 1, "a": (n, "y")},
        )(work)()
    assert len(found) == 1
    assert rows(results, "Metric", "n", "AvgValue")[2:] == [
        ("b", 1, 1),
        ("plain", 1, 2),
        ("a", 1, 1),
        ("b", 2, 2),
        ("plain", 2, 3),
        ("a", 2, 2),
    ]


@pytest.mark.parametrize(
    "number",
    [5, 5.0, np.float32(5), np.int64(5), np.array(5), fractions.Fraction(5)],
)
def test_numbers_are_of_any_type(number):
    results = cpu(configs=[1], derive_metric=lambda t, n: {"five": (number, "x")})(work)()
    assert derived(results, "AvgValue") == [[5.0]]


@pytest.mark.parametrize("nothing", [None, float("nan"), float("inf"), np.float64("-inf")])
def test_what_is_not_finite_is_a_missing_value_of_that_run(nothing):
    runs = iter([7, nothing, 9])
    results = cpu(configs=[1], runs=3, derive_metric=lambda t, n: {"m": (next(runs), "x")})(work)()
    assert derived(results, "AvgValue", "NumRuns") == [[8.0, 2]]


def test_a_unit_that_is_nan_is_none():
    with pytest.warns(UserWarning, match="no unit for 'm'"):
        cpu(configs=[1], derive_metric=lambda t, n: {"m": (1, float("nan"))})(work)()


def test_metrics_that_only_some_runs_have():
    results = cpu(
        configs=[1, 2],
        derive_metric=lambda t, n: {"always": (n, "x")} | ({"two": (9, "y")} if n == 2 else {}),
    )(work)()
    assert rows(results, "Metric", "n", "NumRuns")[2:] == [
        ("always", 1, 1),
        ("two", 1, 0),
        ("always", 2, 1),
        ("two", 2, 1),
    ]


@pytest.mark.parametrize("wrong", ["text", (1, "s", 2), [1, 2], (1, 5), object(), {"m": "text"}])
def test_other_results_are_refused(wrong):
    with pytest.raises(TypeError, match="derive_metric returned"):
        cpu(configs=[1], derive_metric=lambda t, n: wrong)(work)()


def test_the_name_of_a_measured_metric_is_refused():
    with pytest.raises(ValueError, match="'time', which is measured"):
        cpu(configs=[1], derive_metric=lambda t, n: {"time": (1, "ns")})(work)()


def test_the_name_of_a_metric_that_is_shown_is_refused_too():
    def function():
        warpmeter.record("mine", 3.0, "x")

    with pytest.raises(ValueError, match="'mine', which is measured"):
        cpu(derive_metric=lambda t: {"mine": (1, "x")})(function)()


@on_gpu()
def test_the_name_that_a_time_is_shown_under_is_refused_too():
    gpu = Gpu()
    with pytest.raises(ValueError, match="which is measured"):
        silent(derive_metric=lambda t: {TIME: (1, "ns")})(lambda: gpu.launch("alpha"))()


# ---- arguments that do not fit ----


@pytest.mark.parametrize(
    "function",
    [
        lambda: 1,
        lambda time: 1,
        lambda time, n, more: 1,
        lambda *, time, n: 1,
        functools.partial(lambda a, b: 1, 2),
    ],
)
def test_other_arguments_are_refused_before_anything_runs(function):
    calls = []
    with pytest.raises(ValueError, match=r"derive_metric expects 2 arguments \(time, n\)"):
        cpu(configs=[1], derive_metric=function)(lambda n: calls.append(n))()
    assert calls == []


@pytest.mark.parametrize(
    "function",
    [
        lambda *a: (1, "x"),
        lambda time, *a: (1, "x"),
        lambda time, n, more=3: (1, "x"),
        lambda time, n, **rest: (1, "x"),
        functools.partial(lambda a, time, n: (1, "x"), 2),
    ],
)
def test_arguments_fit_in_several_ways(function):
    assert derived(cpu(configs=[1], derive_metric=function)(work)(), "AvgValue") == [[1.0]]


# ---- failures ----


def test_what_it_raises_is_raised_with_what_was_measured():
    def fails(time, n):
        raise KeyError("derive")

    with pytest.raises(KeyError, match="derive") as caught:
        cpu(configs=[1, 2], derive_metric=fails)(work)()
    assert rows(caught.value.warpmeter_results, "n", "NumRuns") == [(1, 1), (2, 1)]
    assert rows(cpu(configs=[1])(work)(), "n") == [(1,)]


def test_runs_without_a_value_are_not_given():
    calls, seen = [], []

    @cpu(runs=3, derive_metric=lambda t: seen.append(t) or {"m": (1, "x")})
    def function():
        calls.append(1)
        with annotate("region", ignore_failures=True):
            if len(calls) == 2:
                raise ValueError("lost")

    results = function()
    assert len(seen) == 2
    assert not np.isnan(seen).any()
    assert derived(results, "NumRuns") == [[2]]


def test_regions_are_derived_each_for_itself():
    @cpu(configs=[1, 2], derive_metric=lambda t, n: {"m": (n, "x")})
    def function(n):
        with annotate("a"):
            pass
        if n == 2:
            with annotate("b"):
                pass

    assert derived(function(), "Annotation", "n", "AvgValue") == [
        ["a", 1, 1.0],
        ["a", 2, 2.0],
        ["b", 2, 2.0],
    ]


def test_without_regions_the_whole_function_is_derived():
    results = cpu(configs=[4], derive_metric=lambda t, n: {"m": (n, "x")})(lambda n: None)()
    assert derived(results, "Annotation", "AvgValue") == [["<lambda>", 4.0]]


# ---- names and units ----


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800"])
def test_names_that_cannot_be_kept_are_refused(name):
    with pytest.raises(ValueError, match="a metric named") as caught:
        cpu(configs=[1], derive_metric=lambda t, n: {name: (1, "x")})(work)()
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize("unit", ["a\0b", "\ud800"])
def test_units_that_cannot_be_kept_are_refused(unit):
    with pytest.raises(TypeError, match="returned the unit"):
        cpu(configs=[1], derive_metric=lambda t, n: {"m": (1, unit)})(work)()


@pytest.mark.parametrize("name", ["a b, c", '"é"', "x" * 1000, "GB/s per SM"])
def test_odd_names_are_kept(name):
    results = cpu(configs=[1], derive_metric=lambda t, n: {name: (1, "x")})(work)()
    assert rows(results, "Metric")[1] == (name,)


def test_a_unit_that_changes_is_refused():
    units = iter(["a", "b"])
    with pytest.raises(ValueError, match="'m'"):
        cpu(configs=[1], runs=2, derive_metric=lambda t, n: {"m": (1, next(units))})(work)()
