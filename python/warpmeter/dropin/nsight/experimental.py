from warpmeter.experimental import collect

__all__ = ["collect"]
