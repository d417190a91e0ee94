"""Arguments of analyze.kernel: what is refused where a function is decorated, and what is not."""

import inspect
import os
from pathlib import PurePath

import numpy as np
import pytest

from warpmeter import VerbosityLevel
from warpmeter._backend import Choice
from warpmeter._settings import Settings
from warpmeter._sweep import core_options
from warpmeter.analyze import kernel, plot

pytestmark = pytest.mark.usefixtures("on_cpu")


def refused(error, **given):
    with pytest.raises(error) as caught:
        kernel(**given)
    for name in given:
        assert name in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        "clock_control",
        "cache_control",
        "replay_mode",
        "thermal_mode",
        "order",
        "scope",
        "backend",
        "state",
        "throttled",
    ],
)
@pytest.mark.parametrize("value", ["boost", "", None, 1, ["base"]])
def test_other_choices_are_refused(name, value):
    refused(ValueError, **{name: value})


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("clock_control", ["base", "none", 1.41e9, 1_410_000_000]),
        ("cache_control", ["all", "none"]),
        ("replay_mode", ["auto", "kernel", "range"]),
        ("thermal_mode", ["auto", "manual", "off"]),
        ("state", ["auto", "on", "off"]),
        ("throttled", ["tag", "keep", "discard"]),
        ("order", ["sequential", "interleaved", "random"]),
        ("scope", ["process", "thread"]),
        ("backend", ["auto", "cuda", "cpu"]),
        ("verbosity", [*VerbosityLevel, 0, 3, 4, 10]),
        ("runs", [1, np.int64(3), 1_000_000_000]),
        ("warmup", [0, 5]),
        ("counter_runs", [None, 1]),
        ("min_time", [None, 1, 0.5, np.float32(1)]),
        ("max_noise", [None, 1, 1e-12]),
        ("target_ci", [None, 0.01]),
        ("metrics", ["time", ["time"], ("nobody knows this one",), []]),
        ("ignore_kernel_list", [None, [], "name", ["a", "b"]]),
        ("combine_kernel_metrics", [None, "auto", max, {}, {"m": "sum"}, {"m": "one"}]),
        ("derive_metric", [None, max]),
        ("normalize_against", [None, "a"]),
        ("info_collectors", [None, []]),
        ("configs", [None, [], 5, iter([1])]),
    ],
)
def test_choices_are_accepted(name, values):
    for value in values:
        assert callable(kernel(**{name: value})(lambda n: None))


@pytest.mark.parametrize("name", ["runs", "counter_runs"])
@pytest.mark.parametrize("value", [0, -1, -(10**30), 10**30])
def test_numbers_of_runs_are_from_one(name, value):
    refused(ValueError, **{name: value})


def test_warmup_and_verbosity_are_from_zero():
    refused(ValueError, warmup=-1)
    refused(ValueError, verbosity=-1)


@pytest.mark.parametrize("name", ["runs", "warmup", "counter_runs", "verbosity"])
@pytest.mark.parametrize("value", [1.0, "3", [1]])
def test_numbers_of_runs_are_whole(name, value):
    refused(TypeError, **{name: value})


@pytest.mark.parametrize("name", ["min_time", "max_noise", "target_ci"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), 1e300])
def test_limits_are_above_zero(name, value):
    refused(ValueError, **{name: value})


@pytest.mark.parametrize("name", ["max_noise", "target_ci"])
def test_shares_are_at_most_one(name):
    refused(ValueError, **{name: 1.01})


@pytest.mark.parametrize("name", ["min_time", "max_noise", "target_ci"])
def test_limits_are_numbers(name):
    refused(TypeError, **{name: "much"})
    refused(TypeError, **{name: [1]})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("derive_metric", 5),
        ("normalize_against", 5),
        ("metrics", 5),
        ("metrics", [5]),
        ("ignore_kernel_list", 5),
        ("ignore_kernel_list", [None]),
        ("output_prefix", 5),
        ("combine_kernel_metrics", 5),
    ],
)
def test_other_types_are_refused(name, value):
    with pytest.raises(TypeError):
        kernel(**{name: value})


def test_other_ways_to_combine_are_refused():
    refused(ValueError, combine_kernel_metrics="median")
    with pytest.raises(ValueError, match=r"combine_kernel_metrics\['m'\] is 'median'"):
        kernel(combine_kernel_metrics={"m": "median"})


@pytest.mark.parametrize(("wait", "cont"), [(10, 10), (10, 5), (0, 0)])
def test_cooling_ends_above_where_it_begins(wait, cont):
    refused(ValueError, thermal_wait=wait, thermal_cont=cont)


def options(**given):
    """The core's options for arguments of kernel."""
    signature = inspect.signature(kernel)
    arguments = {p.name: p.default for p in signature.parameters.values() if p.name != "_func"}
    settings = Settings(**arguments | given)
    pairs = (each.split("=", 1) for each in core_options(settings, Choice("cpu", (), ())))
    return {name.removeprefix("--"): value for name, value in pairs}


def thermal(**given):
    found = options(**given)
    return {name: value for name, value in found.items() if name.startswith("thermal")}


def test_temperatures_are_controlled_as_it_is_asked_for():
    assert thermal() == {"thermal": "auto"}
    assert thermal(thermal_mode="off", thermal_device=3)["thermal"] == "off"
    assert thermal(
        thermal_mode="manual",
        thermal_wait=5,
        thermal_cont=np.int64(25),
        thermal_timeout=0.5,
        thermal_device=1,
    ) == {
        "thermal": "manual",
        "thermal-wait": "5",
        "thermal-cont": "25",
        "thermal-timeout": "500000000ns",
        "thermal-device": "1",
    }


def test_of_two_thresholds_the_one_that_is_not_given_makes_way():
    assert thermal(thermal_wait=19) == {"thermal": "auto", "thermal-wait": "19"}
    assert thermal(thermal_wait=20)["thermal-cont"] == "30"
    assert thermal(thermal_wait=149)["thermal-cont"] == "150"
    assert thermal(thermal_cont=11) == {"thermal": "auto", "thermal-cont": "11"}
    assert thermal(thermal_cont=10)["thermal-wait"] == "9"
    assert thermal(thermal_cont=1)["thermal-wait"] == "0"


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("thermal_wait", -1, ValueError),
        ("thermal_wait", 150, ValueError),
        ("thermal_wait", 1.5, TypeError),
        ("thermal_cont", 0, ValueError),
        ("thermal_cont", "20", TypeError),
        ("thermal_timeout", 0, ValueError),
        ("thermal_timeout", "long", TypeError),
        ("thermal_device", -1, ValueError),
    ],
)
def test_what_is_no_temperature_time_or_device_is_refused(name, value, error):
    refused(error, **{name: value})


def test_clocks_are_held_where_it_is_asked_for_and_permitted():
    assert "lock-clocks" not in options()
    assert options(clock_control="base")["lock-clocks"] == "try:base"
    assert options(clock_control=1.41e9)["lock-clocks"] == "try:1410.0MHz"
    assert options(clock_control=1_410_000_000)["lock-clocks"] == "try:1410.0MHz"
    assert options(clock_control=np.float32(2**30))["lock-clocks"] == "try:1073.741824MHz"


@pytest.mark.parametrize("value", [1410, 0, -1e9, 1e12, float("nan"), True, "1410MHz", None])
def test_a_clock_is_a_frequency_in_hertz(value):
    with pytest.raises(ValueError, match=r"clock_control is .* Hz"):
        kernel(clock_control=value)


def test_the_state_is_the_cores_to_read():
    assert options()["state"] == "auto"
    assert options()["throttled"] == "tag"
    assert options(state="on", throttled="discard")["throttled"] == "discard"


@pytest.mark.parametrize("prefix", [b"x/y_", "x/y_", PurePath("x/y_")])
def test_the_prefix_is_a_path_of_any_kind(prefix, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kernel(output_prefix=prefix)
    assert (tmp_path / "x").is_dir()
    assert options(output_prefix=prefix)


def test_a_report_goes_where_the_prefix_says(tmp_path):
    with pytest.raises(ValueError, match="output_prefix"):
        kernel(report="ncu")
    assert kernel(report="ncu", output_prefix=f"{tmp_path}/")
    assert kernel(report="auto")
    refused(ValueError, report="nsys")


def test_plots_are_not_there_yet():
    with pytest.raises(NotImplementedError, match="plot"):
        plot()(kernel(lambda: None))
    with pytest.raises(ValueError, match="plot_type"):
        plot(plot_type="pie")


def test_the_folder_of_the_files_is_made_where_the_function_is_decorated(tmp_path):
    kernel(output_prefix=f"{tmp_path}/new/deep/")
    kernel(output_prefix=tmp_path / "other" / "prefix_")
    kernel(output_prefix=os.path.join(os.path.relpath(tmp_path), "prefix_"))
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["deep", "new", "other"]


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError):
        kernel(output_prefix=f"{tmp_path}/file/deep/")


@pytest.mark.parametrize("what", [5, object(), "name"])
def test_what_is_no_function_is_refused(what):
    with pytest.raises(TypeError, match="decorates a function"):
        kernel(runs=2)(what)


def test_functions_that_a_call_does_not_run_are_refused():
    async def coroutine():
        pass

    async def stream():
        yield

    def generator():
        yield

    class Later:
        async def __call__(self):
            pass

    for function in (coroutine, stream, generator, Later(), Later().__call__):
        with pytest.raises(TypeError, match="a call runs nothing yet"):
            kernel(function)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"runs": 7}, {"runs": "7"}),
        ({"runs": 7, "max_noise": 0.02}, {"min-runs": "7", "max-noise": "0.02"}),
        ({"target_ci": 1e-12}, {"target-ci": "1e-12"}),
        ({"min_time": 0.5}, {"min-time": "500000000ns", "timeout": "31.0s"}),
        ({"min_time": 60}, {"min-time": "60000000000ns", "timeout": "150.0s"}),
        ({"min_time": 1e-30}, {"min-time": "1ns", "timeout": "30.0s"}),
    ],
)
def test_what_the_core_is_told_of_runs(given, expected):
    everything = {n: p.default for n, p in inspect.signature(kernel).parameters.items()}
    del everything["_func"]
    options = core_options(Settings(**everything | given), Choice("cpu", ("time",), ("time",)))
    told = dict(option.removeprefix("--").split("=", 1) for option in options)
    of_runs = ("runs", "min-runs", "min-time", "timeout", "max-noise", "target-ci")
    assert {name: told[name] for name in of_runs if name in told} == expected
