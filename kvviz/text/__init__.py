"""Every sentence kvviz says, in English and Japanese side by side. Standard library only; imports nothing of kvviz."""

from kvviz.text.base import LANGUAGES, Lang, Message, Text, together

__all__ = ["LANGUAGES", "Lang", "Message", "Text", "together"]
