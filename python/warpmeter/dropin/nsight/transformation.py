raise ImportError(
    "nsight.transformation is not in warpmeter: its core makes the statistics; "
    "ProfileResults has them",
    name=__name__,
)
