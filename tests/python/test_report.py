"""report="ncu": the program runs once more under ncu, here a made-up one, up to that call."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import fake_gpu
import pytest

import warpmeter
from warpmeter import analyze, nsight
from warpmeter.exceptions import NCUNotAvailableError, ProfilerException

BEGINNING = """
import sys
import fake_gpu
import warpmeter
from warpmeter import analyze, annotate
gpu = fake_gpu.Gpu()
TIME, BYTES = fake_gpu.TIME, fake_gpu.BYTES
SILENT = warpmeter.VerbosityLevel.SILENT

def launches(*kernels):
    def function(n):
        with annotate("r"):
            for each in kernels[:n]:
                gpu.launch(each)
    return function

def kernel(function, **arguments):
    given = {"configs": [1, 2], "verbosity": SILENT, "combine_kernel_metrics": "auto"}
    given |= {"cache_control": "none"}
    return analyze.kernel(**given | arguments)(function)
"""


@pytest.fixture
def script(tmp_path):
    """Runs a script in an empty folder, where there is a GPU and an ncu: the finished process."""
    if not (fake_gpu.there() and Path(fake_gpu.environment()["WARPMETER_NCU"]).exists()):
        pytest.skip("this build has no made-up ncu")

    def run(text, *before, stdin=None, **env):
        path = tmp_path / "script.py"
        path.write_text(BEGINNING + textwrap.dedent(text))
        words = ["-", *before] if stdin else [*before, "script.py", "a", "b c"]
        return subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            env=fake_gpu.environment() | {"TMPDIR": str(tmp_path / "tmp")} | env,
            input=path.read_text() if stdin else None,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    (tmp_path / "tmp").mkdir()
    return run


def said(done):
    """Its lines on stdout."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


# ---- what comes of it ----


def test_the_report_has_what_ncu_counted_and_compares(script, tmp_path):
    lines = said(
        script(
            """
            function = launches("alpha", "beta")
            names = [TIME, BYTES]
            results = kernel(function, report="ncu", output_prefix="out/x_", metrics=names)()
            for row in results.report.to_pylist():
                print(row["config_key"], row["region"], row["metric"], row["mean"], row["samples"])
            for row in warpmeter.compare(results.report, results).to_pylist():
                print(row["metric"], row["ratio"])
            """
        )
    )
    assert lines == [
        "n=1 r gpu__time_duration.sum 1000.0 1",
        "n=1 r dram__bytes_read.sum 1000.0 1",
        "n=2 r gpu__time_duration.sum 3000.0 1",
        "n=2 r dram__bytes_read.sum 2000.0 1",
        *["kernel_time 1.0", "dram__bytes_read.sum 1.0"] * 2,
    ]
    files = sorted(each.name for each in (tmp_path / "out").iterdir())
    assert files == ["x_ncu-output-function-0.log", "x_ncu-output-function-0.ncu-rep"]
    assert list((tmp_path / "tmp").iterdir()) == []


def test_the_second_run_sees_what_the_first_one_saw(script, tmp_path):
    lines = said(
        script(
            """
            seen = open("seen", "a", buffering=1)
            def note(*what):
                print(*what, file=seen)
            note("begins", sys.argv[1:])

            class Thing:
                def __str__(self):
                    return "thing"

            def plain(thing):
                note("plain")
                with annotate("p"):
                    gpu.launch("gamma")

            def fails(n):
                note("fails")
                raise LookupError("this one")

            before = kernel(plain, configs=[Thing()], info_collectors=[("f", lambda: open, "once")])
            wanted = kernel(launches("alpha"), report="ncu", output_prefix="out/")
            first = before()
            note(first.to_dataframe()["AvgValue"].tolist(), type(first.to_dataframe()["thing"][0]))
            try:
                kernel(fails)()
            except LookupError as error:
                note(repr(error))
            for number in range(2):
                results = wanted()
                note(number, results.report.num_rows)
            import atexit
            atexit.register(note, "ends")
            """
        )
    )
    assert lines == []
    begins, value = "begins ['a', 'b c']", "[4000.0] <class '__main__.Thing'>"
    told = [value, "LookupError('this one')"]
    first = [begins, "plain", value, "fails", told[1]]
    assert (tmp_path / "seen").read_text().splitlines() == [
        *first,
        *[begins, *told],
        "0 2",
        *[begins, *told, "0 2"],
        "1 2",
        "ends",
    ]
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == [
        "ncu-output-function-0.log",
        "ncu-output-function-0.ncu-rep",
        "ncu-output-function-1.log",
        "ncu-output-function-1.ncu-rep",
    ]


def test_each_run_is_a_sample_and_nothing_is_measured_meanwhile(script):
    lines = said(
        script(
            """
            import os
            def function(n):
                with annotate("r"):
                    gpu.launch("alpha")
                open("calls", "a").write(os.environ.get("WARPMETER_PROFILE", "-") + "\\n")
            def collect(n):
                open("collected", "a").write("x")
            results = kernel(
                function,
                runs=3,
                report="ncu",
                output_prefix="out/",
                configs=[1],
                info_collectors=[("c", collect, "run")],
            )()
            print(results.report["samples"].to_list(), open("collected").read())
            print(*sorted(set(open("calls").read().split())), open("calls").read().count("ncu"))
            """
        )
    )
    assert lines == ["[3] xxx", "- ncu:3 4"]  # one to warm up


@pytest.mark.parametrize(
    "words", [[], ["-O"], ["-X", "dev"], ["-m", "warpmeter.nsight"]], ids=lambda w: " ".join(w)
)
def test_however_the_program_was_started(script, words, tmp_path):
    text = """
        results = kernel(launches("alpha"), report="ncu", output_prefix="out/")()
        print(results.report.num_rows)
        """
    assert said(script(text, *words)) == ["2"]


def test_a_command_can_be_run_again(script, tmp_path):
    (tmp_path / "again.py").write_text(
        BEGINNING
        + 'print(kernel(launches("alpha"), report="ncu", output_prefix="o/")().report.num_rows)'
    )
    assert said(script("", "-c", "import again")) == ["2"]
    assert said(script("", "-m", "again")) == ["2"]


def test_scripts_for_nsight_get_one_where_files_are_kept(script, tmp_path):
    lines = said(
        script(
            """
            import nsight
            @nsight.analyze.kernel(configs=[1], output_prefix="out/", output_csv=True)
            def function(n):
                with nsight.annotate("r"):
                    gpu.launch("alpha")
            print(function().report.num_rows)
            print(nsight.analyze.kernel(configs=[1])(launches("alpha"))().report)
            """,
            "-m",
            "warpmeter.nsight",
            FAKE_NCU_WORDS="words",
        )
    )
    assert [line for line in lines if not line.startswith("warpmeter: ")] == ["1", "None"]
    assert any("running the program again" in line for line in lines)
    assert sorted(each.suffix for each in (tmp_path / "out").iterdir()) == [
        ".csv",
        ".csv",
        ".log",
        ".ncu-rep",
    ]
    assert "regex:^nsight-python$@.+" in (tmp_path / "words").read_text().splitlines()


def test_lines_say_what_is_done(script):
    done = script(
        """
        kernel(launches("alpha"), report="ncu", output_prefix="out/",
               verbosity=warpmeter.VerbosityLevel.INFO)()
        """
    )
    _, again, wrote = said(done)
    assert again.startswith("warpmeter: function: running the program again under ")
    beginning = "out/ncu-output-function-0"
    assert wrote == f"warpmeter: wrote {beginning}.ncu-rep and {beginning}.log"


def test_a_report_can_be_loaded(script, tmp_path):
    lines = said(
        script(
            """
            kernel(launches("alpha"), report="ncu", output_prefix="out/")()
            again = warpmeter.load("out/ncu-output-function-0.ncu-rep")
            print(again.to_dataframe()[["Annotation", "Metric", "AvgValue"]].to_dict("records")[0])
            """
        )
    )
    assert lines == ["{'Annotation': 'r', 'Metric': 'gpu__time_duration.sum', 'AvgValue': 1000.0}"]


# ---- where it cannot be ----

WANTED = 'kernel(launches("alpha"), report={how!r}, output_prefix="out/", verbosity=3)'
CAUGHT = """
try:
    {wanted}()
except Exception as error:
    print(type(error).__name__, error, gpu.launches, hasattr(error, "warpmeter_results"))
"""


def told(done):
    """What is said of the report: by the exception, or the line."""
    *_, last = said(done)
    return last


def test_without_ncu(script):
    caught = CAUGHT.format(wanted=WANTED.format(how="ncu"))
    line = told(script(caught, WARPMETER_NCU="/nowhere/ncu"))
    assert line.startswith("NCUNotAvailableError ")
    assert line.endswith(" 0 False")
    line = told(script(WANTED.format(how="auto") + "()", WARPMETER_NCU="/nowhere/ncu"))
    assert line.startswith("warpmeter: ")
    done = script(
        WANTED.format(how="auto") + "()\nprint('measured', gpu.launches)",
        WARPMETER_NCU="/nowhere/ncu",
    )
    assert any(line.startswith("warpmeter: no report of ncu: ") for line in said(done))
    assert told(done) == "measured 2"


def test_without_a_gpu(tmp_path):
    function = analyze.kernel(report="ncu", output_prefix=f"{tmp_path}/", verbosity=0)(lambda: None)
    with pytest.raises(ProfilerException, match="nothing is measured on a GPU"):
        function()


def test_a_program_from_its_input_cannot_be_run_again(script):
    line = told(script(CAUGHT.format(wanted=WANTED.format(how="ncu")), stdin=True))
    assert line.startswith("ProfilerException the program cannot be run again under ncu: ")
    assert line.endswith(" 0 False")


@pytest.mark.parametrize("name", ["WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"])
def test_one_of_several_processes_is_not_run_again(script, name):
    caught = CAUGHT.format(wanted=WANTED.format(how="ncu"))
    assert "several processes" in told(script(caught, **{name: "4"}))
    assert "running the program again" in "".join(said(script(caught, **{name: "1"})))


def test_part_of_the_work_of_another_process_is_not_run_again(script):
    text = f"""
        import multiprocessing
        def work():
            try:
                {WANTED.format(how="ncu")}()
            except Exception as error:
                print(error, flush=True)
        if __name__ == "__main__":
            process = multiprocessing.get_context("spawn").Process(target=work)
            process.start()
            process.join()
        """
    assert "another one has started" in told(script(text))


@pytest.mark.parametrize(
    ("fault", "words"),
    [("permission", "ERR_NVGPUCTRPERM"), ("crash", "no report of ncu"), ("truncated", "report")],
)
def test_where_ncu_fails_the_results_are_kept(script, fault, words):
    caught = CAUGHT.format(wanted=WANTED.format(how="ncu"))
    line = told(script(caught, FAKE_NCU=fault))
    assert line.startswith("ProfilerException no report of ncu")
    assert words in line
    assert line.endswith(" 2 True")
    done = script(WANTED.format(how="auto") + "()", FAKE_NCU=fault)
    assert told(done).startswith("warpmeter: no report of ncu")


def test_a_program_that_runs_otherwise_is_told_of(script):
    line = told(
        script(
            """
            import os
            if os.path.exists("before"):
                raise SystemExit("it was here before")
            open("before", "w")
            """
            + textwrap.indent(CAUGHT.format(wanted=WANTED.format(how="ncu")), " " * 12)
        )
    )
    assert "did not come to this call" in line
    assert "it was here before" in line


def test_a_function_that_fails_the_second_time_is_told_of(script):
    line = told(
        script(
            """
            import os
            def function(n):
                if os.path.exists("before"):
                    raise OSError("gone")
                with annotate("r"):
                    gpu.launch("alpha")
            try:
                results = kernel(function, report="ncu", output_prefix="out/", configs=[1])
                open("before", "w") if "WARPMETER_REPORT" in os.environ else None
                analyze._report.again and open("before", "w")
                results()
            except Exception as error:
                print(error)
            """
        )
    )
    assert line == "no report of ncu: in the second run the function raised OSError: gone"


def test_other_programs_that_it_starts_are_no_second_runs(script):
    lines = said(
        script(
            """
            import os, subprocess
            if len(sys.argv) == 2:
                print(kernel(launches("alpha"))().to_dataframe()["AvgValue"].tolist())
                sys.exit()
            wanted = kernel(launches("alpha"), report="ncu", output_prefix="out/")
            kernel(launches("beta"))()
            subprocess.run([sys.executable, __file__, "child"], check=True)
            print(wanted().report.num_rows)
            """
        )
    )
    assert lines == ["[1000.0, 1000.0]", "2"]


def test_sessions_before_it_leave_the_gpu_to_ncu(script, tmp_path):
    lines = said(
        script(
            """
            wanted = kernel(launches("alpha"), report="ncu", output_prefix="out/")
            for metrics in (None, TIME):
                with warpmeter.session(metrics=metrics) as s:
                    with annotate("before"):
                        gpu.launch("beta")
            print(s.results.to_dataframe()["Metric"].tolist())
            print(sorted(set(wanted().report["region"].to_list())))
            """
        )
    )
    assert lines == ["['gpu__time_duration.sum']", "['r']"]


def test_why_there_is_none_is_said_once(script):
    done = script(
        WANTED.format(how="auto") + "()\n" + WANTED.format(how="auto") + "()", WORLD_SIZE="2"
    )
    assert sum("several processes" in line for line in said(done)) == 1


def test_an_interrupt_ends_both(tmp_path):
    if not fake_gpu.there():
        pytest.skip("this build has no made-up GPU")
    (tmp_path / "ncu").write_text("#!/bin/sh\necho $$ > pid\nexec sleep 3600\n")
    (tmp_path / "ncu").chmod(0o755)
    (tmp_path / "s.py").write_text(
        BEGINNING + 'kernel(launches("alpha"), report="ncu", output_prefix="o/")()'
    )
    environment = fake_gpu.environment() | {"WARPMETER_NCU": str(tmp_path / "ncu")}
    process = subprocess.Popen(
        [sys.executable, "s.py"], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    )
    pid = tmp_path / "pid"
    while process.poll() is None and not (pid.exists() and pid.read_text().strip()):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert errors.rstrip().endswith("KeyboardInterrupt")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


# ---- other things ----


def test_comparing_takes_results_and_tables(on_cpu):
    results = analyze.kernel(configs=[1], verbosity=0, cache_control="none")(lambda n: None)()
    table = warpmeter.compare(results, results.table())
    assert table.kind == "comparison"
    assert table["ratio"].to_list() == [1.0]
    with pytest.raises(TypeError, match="compare takes results"):
        warpmeter.compare(results, 5)


def test_a_report_without_ncu_cannot_be_loaded(tmp_path, monkeypatch):
    (tmp_path / "x.ncu-rep").write_bytes(b"NVR")
    monkeypatch.setenv("WARPMETER_NCU", "/nowhere/ncu")
    with pytest.raises(NCUNotAvailableError):
        warpmeter.load(tmp_path / "x.ncu-rep")


def test_the_launcher_finds_ncus_own_reader(tmp_path, monkeypatch):
    extras = tmp_path / "tool/extras/python"
    extras.mkdir(parents=True)
    (extras / "ncu_report.py").touch()
    (tmp_path / "tool/ncu").write_text("#!/bin/sh\n")
    (tmp_path / "tool/ncu").chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/ncu").symlink_to(tmp_path / "tool/ncu")
    monkeypatch.setenv("WARPMETER_NCU", str(tmp_path / "bin/ncu"))
    assert list(map(os.path.realpath, nsight._reader())) == [str(extras.resolve())]
    monkeypatch.syspath_prepend(tmp_path / "tool/extras/python")
    assert nsight._reader() == []  # it is there already
