from warpmeter.tools import Tool, activate, deactivate, get_active_tool

__all__ = ["Tool", "activate", "deactivate", "get_active_tool"]
