raise ImportError(
    "nsight.thermovision is not in warpmeter: it does not control temperatures",
    name=__name__,
)
