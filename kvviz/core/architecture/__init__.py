"""config.json (a dict) -> Architecture. One small reader per family, class defaults in one table."""

from kvviz.core.architecture.entered import ENTERED_TYPE, MOST_ROWS, ROW_FIELDS, entered_config, rows_of
from kvviz.core.architecture.model import Architecture, Fact, KvScheme, Note, Vision, WeightBlocks
from kvviz.core.architecture.reader import parse_config, read_config, understood, used_fields

__all__ = [
    "ENTERED_TYPE",
    "MOST_ROWS",
    "ROW_FIELDS",
    "Architecture",
    "Fact",
    "KvScheme",
    "Note",
    "Vision",
    "WeightBlocks",
    "entered_config",
    "parse_config",
    "read_config",
    "rows_of",
    "understood",
    "used_fields",
]
