raise ImportError(
    "nsight.extraction is not in warpmeter: ProfileResults.samples() has every value, and "
    "warpmeter.load reads .ncu-rep files",
    name=__name__,
)
