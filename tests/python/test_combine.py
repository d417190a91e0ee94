"""Several kernels in a region: what they make, and what is said where nobody says what. Kernels and
their times are those of a made-up GPU: alpha 1000 ns, beta 2000 ns, gamma 4000 ns."""

import functools
import threading

import numpy as np
import pytest
from fake_gpu import BYTES, SM, TIME, Gpu, on_gpu

from warpmeter import VerbosityLevel, analyze, annotate
from warpmeter.exceptions import ProfilerException

gpu_kernel = functools.partial(analyze.kernel, verbosity=VerbosityLevel.SILENT)


def product(gpu):
    """A product of two kernels at the smallest size and one elsewhere, and another region."""

    def function(n):
        with annotate("product"):
            gpu.launch(*(("alpha", "beta") if n == 1 else ("alpha",)))
        with annotate("other"):
            gpu.launch("gamma")

    return function


def region(gpu, *kernels):
    def function():
        with annotate("region"):
            gpu.launch(*kernels)

    return function


def rows(results, *columns):
    frame = results.to_dataframe()
    return list(frame[list(columns)].itertuples(index=False, name=None))


def values(results, metric=TIME):
    return [value for value, name in rows(results, "AvgValue", "Metric") if name == metric]


# ---- nobody says ----


@on_gpu()
def test_an_error_names_the_annotation_the_kernels_and_the_remedies():
    gpu = Gpu()
    with pytest.raises(RuntimeError) as caught:
        gpu_kernel(configs=[1, 2], runs=2)(product(gpu))()
    said = str(caught.value)
    for named in ("'product'", "alpha, beta", "combine_kernel_metrics", "ignore_kernel_list"):
        assert named in said
    assert "range" in said
    assert "'other'" not in said
    assert "gamma" not in said


@on_gpu()
def test_the_error_has_the_results_of_all_that_was_measured():
    gpu = Gpu()
    with pytest.raises(RuntimeError) as caught:
        gpu_kernel(configs=[1, 2, 3], runs=2)(product(gpu))()
    results = caught.value.results
    (lost, *whole) = rows(results, "Annotation", "n", "AvgValue", "NumRuns", "Kernel", "Status")
    assert lost[:2] == ("product", 1)
    assert np.isnan(lost[2])
    assert lost[3:] == (0, "alpha|beta", "missing")
    (reason,) = rows(results, "Reason")[0]
    assert "alpha, beta" in reason
    assert "combine_kernel_metrics" in reason
    assert "--" not in reason
    assert whole == [
        ("product", 2, 1000.0, 2, "alpha", "ok"),
        ("product", 3, 1000.0, 2, "alpha", "ok"),
        ("other", 1, 4000.0, 2, "gamma", "ok"),
        ("other", 2, 4000.0, 2, "gamma", "ok"),
        ("other", 3, 4000.0, 2, "gamma", "ok"),
    ]


@on_gpu()
def test_runs_with_one_kernel_have_values_beside_runs_with_several():
    gpu, calls = Gpu(), []

    def function():
        calls.append(1)
        with annotate("region"):
            gpu.launch("alpha", *["beta"] * (len(calls) % 2))

    with pytest.raises(RuntimeError) as caught:
        gpu_kernel(runs=4)(function)()
    assert rows(caught.value.results, "AvgValue", "NumRuns") == [(1000.0, 2)]


@on_gpu()
def test_no_files_are_written_of_such_a_call():
    import tempfile
    from pathlib import Path

    gpu = Gpu()
    with tempfile.TemporaryDirectory() as folder:
        with pytest.raises(RuntimeError):
            gpu_kernel(output_csv=True, output_prefix=f"{folder}/")(region(gpu, "alpha", "beta"))()
        assert list(Path(folder).iterdir()) == []


@on_gpu()
def test_ignored_kernels_do_not_count_and_names_are_matched_whole():
    gpu = Gpu()
    function = region(gpu, "alpha", "beta")
    for ignored in (["beta"], "beta", ["beta", "unknown"]):
        results = gpu_kernel(ignore_kernel_list=ignored)(function)()
        assert rows(results, "AvgValue", "Kernel") == [(1000.0, "alpha")]
    for other in ("bet", "beta*", "*", "Beta", "eta", "b?ta", "[b]eta"):
        with pytest.raises(RuntimeError):
            gpu_kernel(ignore_kernel_list=[other])(function)()


# ---- rules ----


@on_gpu()
def test_auto_adds_times_and_bytes_and_weighs_percentages():
    gpu = Gpu()
    results = gpu_kernel(metrics=[TIME, BYTES, SM], combine_kernel_metrics="auto", runs=2)(
        region(gpu, "alpha", "beta")
    )()
    assert rows(results, "Metric", "AvgValue", "NumRuns", "Kernel") == [
        (TIME, 3000.0, 2, "alpha|beta"),
        (BYTES, 2000.0, 2, "alpha|beta"),
        (SM, 50.0, 2, "alpha|beta"),
    ]


@on_gpu()
def test_a_rule_for_each_metric():
    gpu = Gpu()
    for how, expected in {
        "sum": 7000.0,
        "max": 4000.0,
        "min": 1000.0,
        "mean": 7000 / 3,
        "auto": 7000.0,
    }.items():
        results = gpu_kernel(combine_kernel_metrics={TIME: how})(
            region(gpu, "alpha", "beta", "gamma")
        )()
        assert values(results) == pytest.approx([expected])


@on_gpu()
def test_metrics_that_the_dict_leaves_out_have_their_own_rule():
    gpu = Gpu()
    results = gpu_kernel(metrics=[TIME, BYTES], combine_kernel_metrics={TIME: "max"})(
        region(gpu, "alpha", "beta")
    )()
    assert (values(results), values(results, BYTES)) == ([2000.0], [2000.0])


@on_gpu()
def test_one_is_an_error_for_several():
    gpu = Gpu()
    with pytest.raises(RuntimeError, match="region"):
        gpu_kernel(combine_kernel_metrics={TIME: "one"})(region(gpu, "alpha", "beta"))()


@on_gpu()
def test_a_dict_with_an_unknown_metric_is_refused():
    gpu = Gpu()
    with pytest.raises(ProfilerException, match=r"combine_kernel_metrics.*'nope'"):
        gpu_kernel(combine_kernel_metrics={"nope": "sum"})(region(gpu, "alpha"))()
    assert gpu.launches == 0


# ---- a function ----


@on_gpu()
def test_a_function_is_folded_from_the_left_in_the_order_of_launches():
    gpu = Gpu()
    subtract = gpu_kernel(combine_kernel_metrics=lambda a, b: a - b)
    assert values(subtract(region(gpu, "gamma", "beta", "alpha"))()) == [4000 - 2000 - 1000]
    assert values(subtract(region(gpu, "alpha", "beta", "gamma"))()) == [1000 - 2000 - 4000]
    assert values(subtract(region(gpu, "beta"))()) == [2000]


@on_gpu()
def test_the_function_gets_arrays_with_a_value_for_each_metric_in_their_order():
    gpu, seen = Gpu(), []

    def combine(a, b):
        seen.append((type(a), list(a), list(b)))
        return a * 2 + b

    for metrics in ([BYTES, TIME], [TIME, BYTES]):
        seen.clear()
        results = gpu_kernel(metrics=metrics, combine_kernel_metrics=combine)(
            region(gpu, "alpha", "gamma")
        )()
        first = [{TIME: 1000.0, BYTES: 1000.0}[m] for m in metrics]
        second = [{TIME: 4000.0, BYTES: 1000.0}[m] for m in metrics]
        assert seen
        assert all(each == (np.ndarray, first, second) for each in seen)
        assert (values(results), values(results, BYTES)) == ([6000.0], [3000.0])


@on_gpu()
def test_the_function_is_called_run_by_run_with_as_many_kernels_as_there_were():
    gpu, calls = Gpu(), []

    def function(n):
        calls.append(n)
        with annotate("region"):
            gpu.launch(*["alpha"] * len(calls))

    results = gpu_kernel(configs=[1, 2], runs=2, combine_kernel_metrics=lambda a, b: a + b)(
        function
    )()
    assert rows(results, "MinValue", "MaxValue", "NumRuns") == [
        (1000.0, 2000.0, 2),
        (3000.0, 4000.0, 2),
    ]


@on_gpu()
def test_kernels_of_warm_ups_are_not_folded():
    gpu, calls = Gpu(), []

    def function():
        calls.append(1)
        with annotate("region"):
            gpu.launch(*["alpha"] * len(calls))

    results = gpu_kernel(warmup=2, combine_kernel_metrics=lambda a, b: a + b)(function)()
    assert values(results) == [3000.0]


@on_gpu()
def test_the_whole_function_and_regions_within_regions_are_folded():
    gpu = Gpu()

    def whole():
        gpu.launch("alpha", "beta")

    def nested():
        with annotate("outer"):
            gpu.launch("alpha")
            with annotate("inner"):
                gpu.launch("gamma")

    largest = gpu_kernel(combine_kernel_metrics=np.maximum)
    assert rows(largest(whole)(), "Annotation", "AvgValue") == [("whole", 2000.0)]
    assert rows(largest(nested)(), "Annotation", "AvgValue") == [
        ("outer", 4000.0),
        ("outer/inner", 4000.0),
    ]


@on_gpu()
def test_kernels_of_other_threads_and_counters_of_several_passes_are_folded():
    gpu = Gpu()

    def function():
        with annotate("region"):
            gpu.launch("alpha")
            thread = threading.Thread(target=gpu.launch, args=("gamma",))
            thread.start()
            thread.join()

    results = gpu_kernel(metrics=[SM, TIME], combine_kernel_metrics=lambda a, b: a + b, runs=2)(
        function
    )()
    assert (values(results, SM), values(results)) == ([100.0], [5000.0])


@on_gpu()
def test_what_the_function_raises_is_raised_and_the_next_call_works():
    gpu = Gpu()

    def combine(a, b):
        raise KeyError("combine")

    with pytest.raises(KeyError, match="combine"):
        gpu_kernel(combine_kernel_metrics=combine)(region(gpu, "alpha", "beta"))()
    assert values(gpu_kernel()(region(gpu, "alpha"))()) == [1000.0]


@on_gpu()
def test_what_is_no_array_like_those_given_is_refused():
    gpu = Gpu()
    for wrong in ("text", [1, 2, 3], {}, object()):
        with pytest.raises(ValueError, match="combine_kernel_metrics returned"):
            gpu_kernel(metrics=[TIME, BYTES], combine_kernel_metrics=lambda a, b, w=wrong: w)(
                region(gpu, "alpha", "beta")
            )()


@on_gpu()
def test_what_is_not_finite_is_a_missing_value():
    gpu = Gpu()
    for nothing in (np.inf, np.nan, None):
        results = gpu_kernel(combine_kernel_metrics=lambda a, b, made=nothing: made)(
            region(gpu, "alpha", "beta")
        )()
        ((value, runs, status),) = rows(results, "AvgValue", "NumRuns", "Status")
        assert np.isnan(value)
        assert (runs, status) == (0, "missing")


def test_a_function_changes_nothing_on_the_cpu():
    def never(a, b):
        raise AssertionError

    function = gpu_kernel(backend="cpu", cache_control="none", combine_kernel_metrics=never)
    assert rows(function(lambda: None)(), "NumRuns", "Status") == [(1, "ok")]


# ---- regions as a whole ----


@on_gpu()
def test_a_range_has_one_value_for_each_region():
    gpu = Gpu()
    results = gpu_kernel(metrics=[TIME, BYTES], replay_mode="range", configs=[1, 2])(product(gpu))()
    assert rows(results, "Annotation", "n", "Metric", "AvgValue", "Kernel") == [
        ("product", 1, TIME, 3000.0, "range"),
        ("product", 1, BYTES, 2000.0, "range"),
        ("product", 2, TIME, 1000.0, "range"),
        ("product", 2, BYTES, 1000.0, "range"),
        ("other", 1, TIME, 4000.0, "range"),
        ("other", 1, BYTES, 1000.0, "range"),
        ("other", 2, TIME, 4000.0, "range"),
        ("other", 2, BYTES, 1000.0, "range"),
    ]


@on_gpu()
def test_an_annotation_may_have_the_functions_name():
    gpu, calls = Gpu(), []

    def product(n):
        calls.append(n)
        gpu.launch("beta")
        with annotate("product"):
            if len(calls) % 2:
                gpu.launch("alpha", "alpha")
        with annotate("other"):
            gpu.launch("gamma", "beta")

    for metrics in ([TIME], [TIME, BYTES]):
        calls.clear()
        results = gpu_kernel(
            metrics=metrics,
            replay_mode="kernel",
            runs=2,
            configs=[1],
            combine_kernel_metrics=np.add,
        )(product)()
        found = [
            row
            for *row, name in rows(results, "Annotation", "AvgValue", "NumRuns", "Metric")
            if name == TIME
        ]
        assert found == [["product", 2000.0, 1], ["other", 6000.0, 2]]


@on_gpu()
def test_what_runs_beside_an_annotation_of_the_functions_name_is_not_in_it():
    gpu = Gpu()

    def product(n):
        gpu.launch("beta")
        with annotate("product"):
            gpu.launch("alpha")

    results = gpu_kernel(metrics=[TIME], runs=2, configs=[1])(product)()
    assert rows(results, "Annotation", "AvgValue", "NumRuns") == [("product", 1000.0, 2)]
    kernels = results.kernels()
    found = zip(kernels.column("region"), kernels.column("kernel"), strict=True)
    assert [place for place in found if place[1]] == [(None, "beta"), ("product", "alpha")] * 2
