"""Whether Tool.NCU can be used. It always can: the core reads counters itself."""

injection_load_error: Exception | None = None
"""Why the tool could not be loaded: never set."""
