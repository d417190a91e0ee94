from warpmeter.collection.core import ProfileResults

__all__ = ["ProfileResults"]
