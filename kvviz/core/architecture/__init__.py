"""config.json (a dict) -> Architecture. One small reader per family, class defaults in one table."""

from kvviz.core.architecture.model import Architecture, Fact, KvScheme, Note

__all__ = ["Architecture", "Fact", "KvScheme", "Note"]
