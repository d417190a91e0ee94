"""What warpmeter raises of its own. Errors of the caller's function pass unchanged; arguments that
are not accepted raise ValueError or TypeError where the function is decorated."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .results import ProfileResults

__all__ = [
    "CoolingTimeoutError",
    "NCUNotAvailableError",
    "ProfilerException",
    "SeveralKernelsError",
    "ThermalControlError",
]


class ProfilerException(Exception):
    """It cannot be measured so: configurations that do not fit the function, a metric that is not
    known or cannot be had here, or another measurement that is under way. One line says why."""


class _WithResults(Exception):
    def __init__(self, message: str, results: ProfileResults) -> None:
        super().__init__(message)
        self.results = results

    def __reduce__(self) -> tuple[type[_WithResults], tuple[str, ProfileResults]]:
        return type(self), (str(self), self.results)


class SeveralKernelsError(_WithResults, RuntimeError):
    """Several kernels ran in a region where one was expected, so what they make is not known. All
    was measured nevertheless."""

    results: ProfileResults
    """The finished results: those of such regions have no value."""


class NCUNotAvailableError(Exception):
    """Nsight Compute is needed and is not there. Measuring in the process does not need it."""


class ThermalControlError(Exception):
    """The temperature of the device that was asked for cannot be controlled."""


class CoolingTimeoutError(_WithResults, ThermalControlError):
    """The device did not cool down in time, so some configurations were not measured."""

    results: ProfileResults
    """Those of the others; the rows of these say why they have no values."""
