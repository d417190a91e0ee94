from warpmeter.analyze import ignore_failures, kernel, plot

__all__ = ["ignore_failures", "kernel", "plot"]
