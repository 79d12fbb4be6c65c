"""The two value types of the text package: a sentence in both languages, and a sentence with its values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Lang = Literal["en", "ja"]
LANGUAGES: tuple[Lang, ...] = ("en", "ja")


@dataclass(frozen=True, slots=True)
class Text:
    """One sentence in both languages; ``{name}`` placeholders are the same in each (a test checks)."""

    en: str
    ja: str

    def __call__(self, lang: Lang, /, **values: object) -> str:
        """The sentence in ``lang`` with its placeholders filled."""
        return (self.ja if lang == "ja" else self.en).format(**values)


@dataclass(frozen=True, slots=True)
class Message:
    """A sentence together with the values it speaks of: what errors and notes carry up from the core."""

    text: Text
    values: Mapping[str, object] = field(default_factory=dict, hash=False)

    def __call__(self, lang: Lang, /) -> str:
        """The sentence in ``lang``; values that are themselves texts are shown in that language too."""
        shown = {k: v(lang) if isinstance(v, Text | Message) else v for k, v in self.values.items()}
        return self.text(lang, **shown)

    def __str__(self) -> str:
        return self("en")
