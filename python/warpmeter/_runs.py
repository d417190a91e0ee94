"""Which run of a decorated function is under way, for those who allow a name once a run."""

from itertools import count

_numbers = count(1)

current = 0
"""Number of the run, another one each time; 0 while no decorated function is being called."""


def begin() -> None:
    """A run begins: the function is about to be called."""
    global current
    current = next(_numbers)


def end() -> None:
    """The last run is over."""
    global current
    current = 0
