"""config.json (a dict) -> Architecture. One small reader per family, class defaults in one table."""

from kvviz.core.architecture.model import Architecture, Fact, KvScheme, Note, WeightBlocks
from kvviz.core.architecture.reader import parse_config, read_config, used_fields

__all__ = ["Architecture", "Fact", "KvScheme", "Note", "WeightBlocks", "parse_config", "read_config", "used_fields"]
