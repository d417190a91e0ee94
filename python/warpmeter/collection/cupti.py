"""Whether Tool.CUPTI can be used. It always can: the core opens libcupti when needed."""

CUPTI_AVAILABLE = True
