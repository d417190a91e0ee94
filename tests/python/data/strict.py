"""nsight.annotate is strict within runs of a decorated function, and nowhere else."""

import threading

import nsight


def refused(name, what):
    try:
        with nsight.annotate(name):
            raise AssertionError(f"{name} was entered")
    except ValueError as error:
        assert what in str(error), error


def function(calls):
    silent = nsight.VerbosityLevel.SILENT
    return nsight.analyze.kernel(
        runs=calls, metrics=["time"], cache_control="none", verbosity=silent
    )


for _ in range(2):
    with nsight.annotate("outside"), nsight.annotate("outside"):
        pass


@function(3)
def strict():
    with nsight.annotate("once"):
        refused("inner", "'inner' is entered within 'once'")
    refused("once", "'once' has already been used in this run")
    with nsight.annotate("after"):
        pass

    @nsight.annotate("decorated")
    def decorated(value):
        """Its documentation."""
        refused("inner", "'inner' is entered within 'decorated'")
        return value

    assert (decorated(5), decorated.__name__, decorated.__doc__) == (
        5,
        "decorated",
        "Its documentation.",
    )
    refused("decorated", "already")


strict()

with nsight.annotate("open"):

    @function(1)
    def within():
        with nsight.annotate("open"):
            pass

    within()


failures = []


def worker():
    try:
        with nsight.annotate("shared"):
            refused("shared", "within")
    except (AssertionError, ValueError) as failure:
        failures.append(failure)


@function(2)
def threads():
    with nsight.annotate("main"):
        for _ in range(2):
            thread = threading.Thread(target=worker)
            thread.start()
            thread.join()


threads()
assert not failures, failures


@function(2)
def failing():
    with nsight.annotate("swallowed", ignore_failures=True):
        raise RuntimeError("swallowed")
    nsight.annotation.clear_active_annotations()
    with nsight.annotate("swallowed", ignore_failures=True):
        pass


failing()


@function(2)
def raising():
    with nsight.annotate("raised"):
        raise LookupError("raised")


for _ in range(2):
    try:
        raising()
    except LookupError as error:
        assert str(error) == "raised"
    else:
        raise AssertionError("nothing was raised")

for _ in range(2):
    with nsight.annotate("once"), nsight.annotate("once"):
        pass

for wrong in ("", 5):
    try:
        nsight.annotate(wrong)
    except (TypeError, ValueError):
        pass
    else:
        raise AssertionError(f"annotate took {wrong!r}")
print("done")
