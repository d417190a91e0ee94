"""A made-up GPU for tests: its kernels and their times are known (tests/fakes/cuda/fake_gpu.h).

    @on_gpu()
    def test_times():
        ...  # runs in an interpreter of its own, in which the core finds the made-up GPU

Counters are 1000 of everything for each kernel, and 50 % of every peak; sm__throughput takes 8
passes."""

from __future__ import annotations

import ctypes
import functools
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from warpmeter import _core

if TYPE_CHECKING:
    from collections.abc import Callable

BYTES = "dram__bytes_read.sum"
SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
TIME = "gpu__time_duration.sum"
KERNELS_NS = {"alpha": 1000, "beta": 2000, "gamma": 4000}

_FOLDER = Path(_core.__file__).absolute().parents[2] / "fakes"


def on_gpu(**env: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Run a test of a module in this folder in a process of its own, where there is the GPU."""

    def decorate(test: Callable[[], None]) -> Callable[[], None]:
        module = Path(test.__code__.co_filename).stem

        @functools.wraps(test)
        def apart() -> None:
            if not there():
                pytest.skip("this build has no made-up GPU")
            code = f"import {module}; {module}.{test.__name__}.__wrapped__()"
            ran = subprocess.run(
                [sys.executable, "-c", code],
                env=environment() | env,
                capture_output=True,
                text=True,
                check=False,
            )
            assert ran.returncode == 0, ran.stdout + ran.stderr

        return apart

    return decorate


def there() -> bool:
    """Whether this build has it."""
    return (_FOLDER / "libcupti.so.13").exists()


def environment() -> dict[str, str]:
    """Of a process in which the core finds it."""
    unwanted = ("FAKE_GPU", "WARPMETER_CUDA", "NSPY_NCU_INIT_AT_IMPORT")
    env = {name: value for name, value in os.environ.items() if name not in unwanted}
    here = str(Path(__file__).parent)
    return env | {
        "PYTHONPATH": os.pathsep.join([here, *filter(None, sys.path)]),
        "WARPMETER_LIBCUDA": str(_FOLDER / "libcuda.so.1"),
        "WARPMETER_LIBCUPTI": str(_FOLDER / "libcupti.so.13"),
        "WARPMETER_LIBNVML": str(_FOLDER / "libnvidia-ml.so.1"),
        "WARPMETER_NCU": str(_FOLDER / "ncu"),
        "CUDA_MPS_PIPE_DIRECTORY": str(_FOLDER / "no_mps"),
    }


class Gpu:
    """The GPU, in the process of a test: it has a context, and its kernels last KERNELS_NS."""

    def __init__(self) -> None:
        # The made-up ncu looks for its functions among those that all may use.
        self._fake = ctypes.CDLL(str(_FOLDER / "libfakegpu.so"), ctypes.RTLD_GLOBAL)
        self._driver = ctypes.CDLL(os.environ["WARPMETER_LIBCUDA"])
        self._fake.fake_function.restype = ctypes.c_void_p
        self._fake.fake_launches.restype = ctypes.c_uint64
        self._driver.cuLaunchKernel.argtypes = [
            ctypes.c_void_p,
            *[ctypes.c_uint] * 7,
            *[ctypes.c_void_p] * 3,
        ]
        for name, ns in KERNELS_NS.items():
            self._fake.fake_kernel_ns(name.encode(), ctypes.c_int64(ns))
        self._context = ctypes.c_void_p()
        self._check(self._driver.cuInit(0))
        self._check(self._driver.cuCtxCreate_v2(ctypes.byref(self._context), 0, 0))

    @property
    def launches(self) -> int:
        return int(self._fake.fake_launches())

    def launch(self, *kernels: str) -> None:
        """Any thread may call it."""
        self._check(self._driver.cuCtxSetCurrent(self._context))
        for kernel in kernels:
            function = self._fake.fake_function(kernel.encode())
            self._check(
                self._driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, None, None)
            )

    def wait(self) -> None:
        self._check(self._driver.cuCtxSynchronize())

    def _check(self, status: int) -> None:
        assert status == 0, f"the driver returned {status}"
