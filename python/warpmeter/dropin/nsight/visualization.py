raise ImportError(
    "nsight.visualization is not in warpmeter: it draws no plots",
    name=__name__,
)
