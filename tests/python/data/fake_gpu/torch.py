"""As much of PyTorch as the examples use. Nothing is computed: each operation launches a kernel of
its name on the GPU of tests/fakes, and backward() launches its own from another thread.
FAKE_TORCH=no-gpu: there is no GPU."""

import ctypes
import os
import threading
from types import SimpleNamespace

_folder = os.path.dirname(os.environ.get("WARPMETER_LIBCUDA", ""))
_here = os.environ.get("FAKE_TORCH") != "no-gpu"
_size = [ctypes.c_uint] * 7


def _open():
    driver = ctypes.CDLL(os.path.join(_folder, "libcuda.so.1"))
    gpu = ctypes.CDLL(os.path.join(_folder, "libfakegpu.so"))
    gpu.fake_function.restype = ctypes.c_void_p
    driver.cuLaunchKernel.argtypes = [ctypes.c_void_p, *_size, *[ctypes.c_void_p] * 3]
    context = ctypes.c_void_p()
    assert driver.cuInit(0) == 0
    assert driver.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
    return driver, gpu, context


if _here:
    _driver, _gpu, _context = _open()


def launch(name):
    _driver.cuCtxSetCurrent(_context)
    kernel = _gpu.fake_function(name.encode())
    assert _driver.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None) == 0


class Tensor:
    def _operation(name):
        def launched(self, *args, **keywords):
            launch(name)
            return Tensor()

        return launched

    __add__, __mul__ = _operation("add"), _operation("multiply")
    __matmul__ = _operation("product")
    square, mean = _operation("square"), _operation("mean")

    def __iter__(self):
        return iter([Tensor(), Tensor(), Tensor()][: self.parts])

    def __init__(self, parts=3):
        self.parts = parts

    def backward(self):
        thread = threading.Thread(target=launch, args=("backward",))
        thread.start()
        thread.join()


def randn(*sizes, **keywords):
    return Tensor(sizes[0])


def empty_like(tensor):
    return Tensor()


def mul(x, y, out):
    launch("multiply")


def softmax(x, dim):
    launch("softmax")


def compile(function):
    return lambda *args: launch("fused")


class _Model:
    def __init__(self, *args):
        pass

    def __call__(self, x):
        launch("layer")
        return Tensor()

    def cuda(self):
        return self

    def parameters(self):
        return []

    def step(self):
        launch("optimizer")

    def zero_grad(self):
        pass


float16, float32 = "float16", "float32"
cuda = SimpleNamespace(is_available=lambda: _here)
nn = SimpleNamespace(Sequential=_Model, Linear=_Model, GELU=_Model)
optim = SimpleNamespace(AdamW=_Model)
