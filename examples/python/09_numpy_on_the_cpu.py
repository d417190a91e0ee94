"""Three ways to add up squares with numpy, on the CPU.

The same decorator measures code of the CPU, by its clock. Without a GPU that happens by itself;
with one, backend="cpu" asks for it. Caches are warm here, as they are in most programs. Needs
numpy."""

import sys

import warpmeter

try:
    import numpy as np
except ImportError:
    sys.exit("this example needs numpy: pip install numpy")


@warpmeter.analyze.kernel(
    configs=[10_000, 1_000_000],
    runs=50,
    warmup=1,
    cache_control="none",
    normalize_against="(x * x).sum()",
    backend="cpu",
)
def squares(n):
    x = np.random.default_rng(0).random(n)
    with warpmeter.annotate("(x * x).sum()"):
        (x * x).sum()
    with warpmeter.annotate("np.dot"):
        np.dot(x, x)
    with warpmeter.annotate("np.einsum"):
        np.einsum("i,i", x, x)


frame = squares().to_dataframe()
columns = ["Annotation", "n", "AvgValue", "CI95_Lower", "CI95_Upper", "RawAvgValue", "RawUnit"]
print(frame[columns].to_string(index=False))
