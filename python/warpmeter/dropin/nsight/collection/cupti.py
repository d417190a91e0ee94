from warpmeter.collection.cupti import CUPTI_AVAILABLE

__all__ = ["CUPTI_AVAILABLE"]
