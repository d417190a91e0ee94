"""The machine's state, heat and clocks on the made-up GPU, and collectors that are ready to use."""

import contextlib
import os
import signal
import subprocess
import threading
import time
import warnings

import pytest
from fake_gpu import Gpu, on_gpu

import warpmeter
from warpmeter import analyze, collectors
from warpmeter.exceptions import CoolingTimeoutError, ProfilerException, ThermalControlError

SILENT, INFO = warpmeter.VerbosityLevel.SILENT, warpmeter.VerbosityLevel.INFO


def launches(gpu):
    def function(n):
        with warpmeter.annotate("r"):
            gpu.launch("alpha")

    return function


def measure(**arguments):
    given = {"configs": [1, 2], "runs": 2, "verbosity": SILENT, "cache_control": "none"}
    return analyze.kernel(**given | arguments)(launches(Gpu()))()


def warned(function):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = function()
    return result, [str(each.message) for each in found if each.category is RuntimeWarning]


# ---- state ----


@on_gpu(FAKE_GPU="sm-clock=1500 memory-clock=3000 temperature=55 margin=32 power=250")
def test_the_state_of_the_gpu_is_in_the_frame():
    frame = measure(state="on").to_dataframe()
    for name, value in {
        "GPUClock": 1.5e9,
        "GPUMemoryClock": 3e9,
        "GPUTemperature": 55.0,
        "GPUHeadroom": 32.0,
        "GPUPState": 0.0,
        "GPUUtilization": 0.3,
        "GPUThrottle": "none",
        "Throttled": 0.0,
    }.items():
        assert list(frame[name]) == [value, value], name


@on_gpu(FAKE_GPU="throttle=4")
def test_runs_with_a_clock_held_down_are_counted():
    frame = measure(state="on").to_dataframe()
    assert list(frame["Throttled"]) == [2.0, 2.0]
    assert list(frame["GPUThrottle"]) == ["power", "power"]
    assert all("2 of 2 samples" in note for note in frame["Note"])


@on_gpu(FAKE_GPU="throttle=4")
def test_runs_with_a_clock_held_down_can_be_kept_silently():
    assert list(measure(throttled="keep").to_dataframe()["Note"]) == ["", ""]


@on_gpu(FAKE_GPU="throttle=4")
def test_runs_with_a_clock_held_down_can_be_run_again():
    called = []
    frame = measure(
        throttled="discard",
        info_collectors=[("x", lambda n: called.append(n), "run"), ("a", len, "annotation")],
    ).to_dataframe()
    assert list(frame["Status"]) == ["missing", "missing"]
    assert all("held down" in reason for reason in frame["Reason"])
    assert called == [1, 1, 2, 2]


@on_gpu(FAKE_GPU="temperature=55")
def test_sessions_have_a_state_too():
    gpu = Gpu()
    for state in ("on", "off"):
        s = warpmeter.session(metrics="kernel_time", state=state, verbosity=SILENT)
        with s:
            with warpmeter.annotate("r"):
                gpu.launch("alpha")
        frame = s.results.to_dataframe()
        assert ("GPUTemperature" in frame) == (state == "on")
        if state == "on":
            assert set(frame["GPUTemperature"]) == {55.0}
    with pytest.raises(ValueError, match="state"):
        warpmeter.session(state="sometimes")


# ---- heat ----


@on_gpu(FAKE_GPU="margin=5")
def test_a_device_that_does_not_cool_is_an_error_with_the_results():
    function = analyze.kernel(
        configs=[1, 2], verbosity=SILENT, thermal_mode="manual", thermal_timeout=0.01
    )(launches(Gpu()))
    with pytest.raises(CoolingTimeoutError) as caught:
        function()
    assert "did not cool down in time" in str(caught.value)
    assert "thermal_timeout" in str(caught.value)
    frame = caught.value.results.to_dataframe()
    assert list(frame["Status"]) == ["failed", "failed"]
    assert caught.value.warpmeter_results


@on_gpu(FAKE_GPU="margin=11")
def test_a_device_that_is_cool_enough_is_not_waited_for():
    results = measure(thermal_mode="manual", thermal_wait=10, thermal_cont=20)
    context = results.table().context
    assert (context["thermal"], context["thermal_waited_ns"]) == ("manual", 0)
    assert list(results.to_dataframe()["Status"]) == ["ok", "ok"]


@on_gpu(FAKE_GPU="margin=5")
def test_without_control_a_hot_device_is_measured():
    assert list(measure(thermal_mode="off").to_dataframe()["Status"]) == ["ok", "ok"]


@on_gpu(FAKE_GPU="margin=5")
def test_an_interrupt_ends_the_wait():
    gpu = Gpu()

    class Waits:
        """stdout, which sees the line that says so."""

        def write(self, text):
            if "waiting for the GPU to cool" in text:
                threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT)).start()

        def flush(self):
            pass

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt), contextlib.redirect_stdout(Waits()):
        analyze.kernel(configs=[1], thermal_timeout=3600)(launches(gpu))()
    assert time.monotonic() - begin < 1800
    assert gpu.launches == 0


@on_gpu()
def test_a_device_that_is_not_there_is_refused_before_anything_runs():
    gpu = Gpu()
    function = analyze.kernel(configs=[1], verbosity=SILENT, thermal_device=1)(launches(gpu))
    with pytest.raises(ThermalControlError, match=r"thermal_device is 1: .* CUDA has 1"):
        function()
    assert gpu.launches == 0
    assert len(measure(thermal_device=1, thermal_mode="off").to_dataframe()) == 2
    assert len(measure(thermal_device=0).to_dataframe()) == 2


@on_gpu(WARPMETER_LIBNVML="/nowhere/libnvidia-ml.so.1")
def test_heat_that_cannot_be_read_is_told_of_where_it_was_asked_for():
    assert warned(measure)[1] == []
    results, (text,) = warned(lambda: measure(thermal_mode="manual"))
    assert text.startswith("temperatures were not controlled: ")
    assert str(results.table().context["thermal"]).startswith("off: ")


def test_without_a_gpu_there_is_no_device_to_look_at(on_cpu):
    with pytest.raises(ThermalControlError, match="there is none"):
        analyze.kernel(thermal_device=0, verbosity=SILENT)(lambda: None)()


# ---- clocks ----


@on_gpu()
def test_clocks_are_held_meanwhile():
    results, found = warned(lambda: measure(clock_control=1.41e9, state="on"))
    frame = results.to_dataframe()
    assert found == []
    assert list(frame["ClockRequested"]) == [1.41e9, 1.41e9]
    assert list(frame["GPUClock"]) == [1.41e9, 1.41e9]
    after = measure(state="on").to_dataframe()
    assert list(after["GPUClock"]) == [1.98e9, 1.98e9]
    assert "ClockRequested" not in after


@on_gpu(FAKE_GPU="forbidden")
def test_clocks_that_may_not_be_held_are_told_of_once_and_in_the_rows():
    results, (text,) = warned(lambda: measure(clock_control="base"))
    assert text.startswith("clock_control='base': clocks were free to change")
    assert "try:" not in text
    frame = results.to_dataframe()
    assert all("clocks were not held" in note for note in frame["Note"])
    assert frame["ClockRequested"].isna().all()
    assert results.table().reason(0, "clock_requested_hz") == "permission"


@on_gpu()
def test_a_tool_that_only_takes_times_leaves_them():
    warpmeter.deactivate()
    warpmeter.activate(warpmeter.Tool.CUPTI)
    results, found = warned(lambda: measure(clock_control="base", state="on"))
    assert found == []
    assert set(results.to_dataframe()["GPUClock"]) == {1.98e9}
    assert "ClockRequested" not in results.to_dataframe()


# ---- ready-made collectors ----


@on_gpu()
def test_the_gpu_tells_its_name_and_number():
    gpu = Gpu()
    facts = [collectors.gpu_name, collectors.gpu_uuid, collectors.driver_version]
    frame = analyze.kernel(
        configs=[1],
        verbosity=SILENT,
        info_collectors=[*facts, collectors.environment("FAKE_GPU")],
    )(launches(gpu))().to_dataframe()
    (row,) = frame.to_dict("records")
    assert row["gpu_name"] == row["GPU"]
    assert row["gpu_uuid"].startswith("GPU-00010203")
    assert row["env_FAKE_GPU"] is None


def test_without_a_gpu_they_have_no_value(on_cpu):
    assert collectors.gpu_name() is collectors.gpu_uuid() is collectors.driver_version() is None


def test_variables_of_the_environment(on_cpu, monkeypatch):
    monkeypatch.setenv("SOME_SETTING", "fast, or good")
    found = analyze.kernel(
        verbosity=SILENT, info_collectors=[collectors.environment("SOME_SETTING")]
    )(lambda: None)()
    assert list(found.to_dataframe()["env_SOME_SETTING"]) == ["fast, or good"]


def git(*words, folder):
    who = ("-c", "user.name=n", "-c", "user.email=e")
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_the_commit_of_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert collectors.git_commit() is None
    file = tmp_path / "file"
    try:
        git("init", "-q", folder=tmp_path)
    except FileNotFoundError:
        pytest.skip("there is no git")
    assert collectors.git_commit() is None
    file.write_text("1")
    git("add", "file", folder=tmp_path)
    git("commit", "-q", "-m", "one", folder=tmp_path)
    commit = git("rev-parse", "HEAD", folder=tmp_path)
    assert collectors.git_commit() == commit
    file.write_text("2")
    assert collectors.git_commit() == f"{commit}-dirty"


def test_without_git_there_is_no_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert collectors.git_commit() is None


# ---- errors of the driver's ----


@on_gpu(FAKE_GPU="cuptiProfilerHostInitialize=999")
def test_a_failure_of_cuptis_is_no_error_of_the_system():
    with pytest.raises(ProfilerException):
        measure(metrics=["dram__bytes_read.sum"])
