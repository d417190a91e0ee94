"""As much of Triton as the examples use: a kernel is launched by its name, and does nothing."""

import torch


def cdiv(a, b):
    return -(-a // b)


class jit:
    def __init__(self, function):
        self._name = function.__name__

    def __getitem__(self, grid):
        return lambda *args, **keywords: torch.launch(self._name)
