raise ImportError(
    "nsight.extraction is not in warpmeter: it reads no .ncu-rep file; "
    "ProfileResults.samples() has every value",
    name=__name__,
)
