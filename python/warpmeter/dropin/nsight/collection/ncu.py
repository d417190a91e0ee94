from warpmeter.collection.ncu import injection_load_error

__all__ = ["injection_load_error"]
