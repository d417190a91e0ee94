"""python -m warpmeter.nsight: scripts run as under python alone, with `import nsight`."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

import warpmeter
from warpmeter import nsight as launcher

DATA = Path(__file__).absolute().parent / "data"
HOME = str(Path(warpmeter.__file__).absolute().parents[1])
DROPIN = os.path.join(HOME, "warpmeter", "dropin")
LAUNCHER = ["-m", "warpmeter.nsight"]


def python(*command, folder, options=(), environment=None, text="", interpreter=sys.executable):
    """What the interpreter did with a command line: its status, stdout and stderr. Scripts run in
    folders of their own, so PYTHONPATH, which may be relative here, is warpmeter's folder there."""
    return subprocess.run(
        [interpreter, *options, *map(str, command)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": HOME, **(environment or {})},
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
    )


def launch(*command, **how):
    return python(*LAUNCHER, *command, **how)


def said(done):
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def scripts(tmp_path):
    """A folder of scripts that behave in various ways."""
    for name, text in {
        "facts.py": FACTS,
        "status.py": "import sys; sys.exit(eval(sys.argv[1]))",
        "fails.py": "def inner():\n    raise KeyError('lost')\n\ninner()\n",
        "hook.py": "import sys\nsys.excepthook = lambda *all: print(all[:2])\n1 / 0\n",
        "interrupted.py": "raise KeyboardInterrupt",
        "wrong.py": "print('never')\ndef f(:\n",
        "late.py": LATE,
        "pools.py": POOLS,
        "package/__init__.py": "",
        "package/__main__.py": FACTS,
        "plain/__init__.py": "",
        "bare/other.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


FACTS = f"""
import pickle, sys, warnings

class Thing: pass

if __name__ == "__main__":
    assert type(pickle.loads(pickle.dumps(Thing()))) is Thing
    main = sys.modules["__main__"]
    print(sys.argv, globals().get("__file__"), main.__name__, vars(main) is globals())
    print(__package__, __spec__ and __spec__.name, type(__loader__))
    print(sys.flags, sys.warnoptions, sys._xoptions, __debug__)
    print([each for each in sys.path if each != {DROPIN!r}])
"""

LATE = """
import atexit, sys, threading
def at_end():
    print("at the end", sys.modules["__main__"].kept)
atexit.register(at_end)
kept = "still here"
thread = threading.Thread(target=lambda: (threading.main_thread().join(), at_end()))
thread.start()
"""


POOLS = """
import multiprocessing, pickle, sys
from concurrent.futures import ProcessPoolExecutor

class Point:
    def __init__(self, x):
        self.x = x

def double(point):
    return Point(2 * point.x), __name__, sys.argv

if __name__ == "__main__":
    print(pickle.dumps(Point(5)))
    for way in ("fork", "spawn"):
        with ProcessPoolExecutor(1, multiprocessing.get_context(way)) as pool:
            point, *rest = pool.submit(double, Point(2)).result()
            print(way, type(point) is Point, point.x, rest)
"""


@pytest.mark.parametrize(
    "command",
    [
        ["facts.py", "a", "-b", "--help"],
        ["./facts.py"],
        ["-m", "facts", "-m", "x"],
        ["-mfacts"],
        ["-m", "package", "1"],
        ["package", "1"],
        ["-c", "import sys; print(sys.argv, sys.path[0], __name__)", "x", "-V"],
        ["status.py", "None"],
        ["status.py", "7"],
        ["status.py", "'a reason'"],
        ["fails.py"],
        ["-m", "fails"],
        ["hook.py"],
        ["interrupted.py"],
        ["late.py"],
        ["pools.py"],
        ["-m", "pools"],
        ["wrong.py"],
        ["-m", "wrong"],
        ["missing.py"],
        ["bare"],
        ["-m", "missing"],
        ["-m", "plain"],
        ["-m"],
    ],
    ids=" ".join,
)
def test_it_is_as_under_python_alone(scripts, command):
    alone = python(*command, folder=scripts)
    assert said(launch(*command, folder=scripts)) == said(alone)


def test_a_script_can_come_on_standard_input(scripts):
    code = "import sys; print(sys.argv, sys.stdin.read())"
    assert launch("-", "x", folder=scripts, text=code).stdout == "['-', 'x'] \n"


@pytest.mark.parametrize(
    ("options", "launched"),
    [
        (["-O"], LAUNCHER),
        (["-X", "dev"], LAUNCHER),
        (["-Werror"], ["-mwarpmeter.nsight"]),
        (["-B", "-OO", "-Xutf8"], ["-mwarpmeter.nsight"]),
    ],
)
def test_options_of_the_interpreter_stay(scripts, options, launched):
    alone = python("facts.py", folder=scripts, options=options)
    done = python(*launched, "facts.py", folder=scripts, options=options)
    assert said(done) == said(alone)


def test_an_option_joined_to_m_stays(scripts):
    done = python("-OBm", "warpmeter.nsight", "-c", "print(__debug__)", folder=scripts)
    assert said(done) == (0, "False\n", "")


def test_the_drop_in_comes_right_after_the_scripts_folder(scripts):
    done = launch("-c", "import sys; print(sys.path[:2])", folder=scripts)
    assert done.stdout == f"['', {DROPIN!r}]\n"


def test_an_nsight_in_the_scripts_folder_wins_but_for_option_P(scripts):
    (scripts / "nsight.py").write_text("__file__ = 'of the script'")
    code = "import nsight; print(nsight.__file__)"
    assert launch("-c", code, folder=scripts).stdout == "of the script\n"
    done = python("-P", *LAUNCHER, "-c", code, folder=scripts)
    assert said(done) == (0, f"{DROPIN}/nsight/__init__.py\n", "")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ([], "a script, -m module or -c code is needed; --help says more"),
        (["-x"], "unknown option '-x'; options of python go before -m warpmeter.nsight"),
        (["--", "a"], "unknown option '--'; options of python go before -m warpmeter.nsight"),
    ],
)
def test_refused(scripts, command, message):
    assert said(launch(*command, folder=scripts)) == (2, "", f"warpmeter.nsight: {message}\n")


def test_an_interpreter_that_ignores_the_environment_is_refused(scripts):
    code = f"import sys; sys.path.append({HOME!r})"
    code += "; sys.argv[1:] = ['facts.py']; from warpmeter.nsight import main; main()"
    done = python("-I", "-c", code, folder=scripts)
    assert done.returncode == 2
    assert "-I and -E hide PYTHONPATH" in done.stderr


def test_help_and_version(scripts):
    assert launch("--help", folder=scripts).stdout.startswith("usage: python [option] ... -m warp")
    version = f"warpmeter {warpmeter.__version__} (nsight 1.1.0)\n"
    assert said(launch("--version", folder=scripts)) == (0, version, "")


class TestPythonPath:
    @pytest.mark.parametrize(
        ("given", "found", "expected"),
        [
            ("", True, "DROPIN:HOME"),
            ("", False, "DROPIN"),
            ("/a:/b", True, "DROPIN:/a:/b:HOME"),
            ("/a::rel", False, "DROPIN:/a::rel"),
            ("HOME:/a", True, "DROPIN:HOME:/a"),
            ("DROPIN:/a:HOME", True, "DROPIN:/a:HOME"),
        ],
    )
    def test_order(self, given, found, expected):
        def spelled(text):
            return text.replace("DROPIN", DROPIN).replace("HOME", HOME)

        search = ["/lib", HOME] if found else ["/lib"]
        assert launcher._python_path(spelled(given), search, ["/site"]) == spelled(expected)

    def test_site_packages_are_found_anyway(self):
        assert launcher._python_path("", [HOME], [HOME]) == DROPIN

    def test_a_relative_entry_of_the_search_path(self, monkeypatch):
        monkeypatch.chdir(HOME)
        assert launcher._python_path("", ["."], []) == f"{DROPIN}:{HOME}"


@pytest.fixture(scope="module")
def other_nsight(tmp_path_factory):
    """The interpreter of a virtual environment in which another nsight is installed. It sees the
    packages of this one after its own."""
    folder = tmp_path_factory.mktemp("other")
    venv.create(folder, with_pip=False)
    interpreter = folder / "bin/python"
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(python("-c", code, folder=folder, interpreter=interpreter).stdout.strip())
    (site / "nsight").mkdir()
    (site / "nsight/__init__.py").write_text("__version__, __file__ = '9.9', 'another'")
    (site / "beside.pth").write_text("\n".join(each for each in sys.path if "site-pack" in each))
    return interpreter


class TestChildren:
    """Interpreters that a script starts import nsight too."""

    @pytest.mark.parametrize(
        ("way", "path"),
        [
            ("subprocess", HOME),
            ("elsewhere", f"{HOME}:/nowhere"),
            ("spawn", HOME),
            ("fork", HOME),
            ("forkserver", HOME),
            ("exec", HOME),
        ],
    )
    def test_they_get_the_drop_in(self, tmp_path, way, path):
        environment = {"PYTHONPATH": path}
        done = launch(DATA / "children.py", way, folder=tmp_path, environment=environment)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"{DROPIN}/nsight/__init__.py 1.1.0\n"

    @pytest.mark.parametrize("through", ["working directory", "PYTHONPATH"])
    def test_warpmeter_need_not_be_installed(self, tmp_path, through):
        home = tmp_path / "home"
        home.mkdir()
        (home / "warpmeter").symlink_to(Path(warpmeter.__file__).parent)
        done = launch(
            DATA / "children.py",
            "elsewhere",
            folder=home if through == "working directory" else tmp_path,
            environment={"PYTHONPATH": "home" if through == "PYTHONPATH" else ""},
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == f"{home}/warpmeter/dropin/nsight/__init__.py 1.1.0\n"

    @pytest.mark.parametrize("way", ["elsewhere", "spawn"])
    def test_an_installed_nsight_loses_under_the_launcher_alone(self, other_nsight, tmp_path, way):
        alone = python(DATA / "children.py", way, folder=tmp_path, interpreter=other_nsight)
        assert said(alone) == (0, "another 9.9\n", "")
        done = launch(DATA / "children.py", way, folder=tmp_path, interpreter=other_nsight)
        assert said(done) == (0, f"{DROPIN}/nsight/__init__.py 1.1.0\n", "")

    def test_the_launcher_may_be_launched_again(self, tmp_path):
        code = "import os; print(os.environ['PYTHONPATH'])"
        done = launch("-m", "warpmeter.nsight", "-c", code, folder=tmp_path)
        assert said(done) == said(launch("-c", code, folder=tmp_path))
        assert done.stdout.startswith(DROPIN)

    def test_without_the_launcher_there_is_none(self, tmp_path):
        code = "import importlib.util, warpmeter; print(importlib.util.find_spec('nsight'))"
        found = python("-c", code, folder=tmp_path).stdout
        assert "warpmeter" not in found


class TestPackage:
    """What `import nsight` gives."""

    @pytest.mark.parametrize("script", ["interface.py", "names.py", "strict.py", "measured.py"])
    def test_script(self, script, tmp_path):
        done = launch(DATA / script, folder=tmp_path)
        assert said(done) == (0, "done\n", "")

    @pytest.mark.parametrize(
        ("value", "active"), [("0", "None"), ("1", "Tool.NCU"), ("", "Tool.NCU")]
    )
    def test_tool_after_import(self, tmp_path, value, active):
        done = launch(
            "-c",
            "import nsight; print(repr(nsight.get_active_tool()).split(':')[0].lstrip('<'))",
            folder=tmp_path,
            environment={"NSPY_NCU_INIT_AT_IMPORT": value},
        )
        assert said(done) == (0, f"{active}\n", "")

    @pytest.mark.parametrize(
        "module", ["extraction", "thermovision", "transformation", "visualization"]
    )
    def test_what_is_not_there_says_so(self, tmp_path, module):
        done = launch("-c", f"from nsight import {module}", folder=tmp_path)
        assert done.returncode == 1
        last = done.stderr.splitlines()[-1]
        assert last.startswith(f"ImportError: nsight.{module} is not in warpmeter: ")

    def test_a_name_that_is_not_there(self, tmp_path):
        done = launch("-c", "from nsight.utils import LogParser", folder=tmp_path)
        last = done.stderr.splitlines()[-1]
        assert last.startswith("ImportError: cannot import name 'LogParser' from 'nsight.utils'")
        assert DROPIN in last
