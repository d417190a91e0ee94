raise ImportError(
    "nsight.thermovision is not in warpmeter: its core looks after temperatures; "
    "thermal_mode and the like are arguments of analyze.kernel",
    name=__name__,
)
