"""What the scripts here measure: kernels of the made-up GPU, or some work where there is none."""

import os

ON_GPU = os.path.exists(os.environ["WARPMETER_LIBCUDA"])

if ON_GPU:
    from fake_gpu import Gpu

    gpu = Gpu()


def launch(*names: str) -> None:
    if ON_GPU:
        gpu.launch(*names)
    else:
        sum(range(100 * len(names)))
