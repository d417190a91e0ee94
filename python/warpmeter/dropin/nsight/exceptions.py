from warpmeter.exceptions import (
    CoolingTimeoutError,
    NCUNotAvailableError,
    ProfilerException,
    ThermalControlError,
)

__all__ = [
    "CoolingTimeoutError",
    "NCUNotAvailableError",
    "ProfilerException",
    "ThermalControlError",
]
