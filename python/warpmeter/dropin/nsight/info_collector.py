from warpmeter.info_collector import CollectionScope, InfoCollector

__all__ = ["CollectionScope", "InfoCollector"]
