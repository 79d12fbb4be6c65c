"""The two value types of the text package: a sentence in both languages, and one with its values; where lines end."""

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

Lang = Literal["en", "ja"]
LANGUAGES: tuple[Lang, ...] = ("en", "ja")


class _Counting(string.Formatter):
    """``{count:request|requests}``: the first word after 1, the second after any other number."""

    def format_field(self, value: object, format_spec: str) -> str:
        one, either, more = format_spec.partition("|")
        if either:
            return one if str(value) == "1" else more
        return str(super().format_field(value, format_spec))


_COUNTING: Final = _Counting()


_UNIT: Final = re.compile(r"(?<=[\d何]) (?=(?:[KMGT]?i?B|m?s)\b|[^\W\x00-\x7f]|× [A-Z])|(?<=\d ×) (?=[A-Z])")


def together(sentence: str) -> str:
    """``sentence`` where no line ends between a number and its unit, or what Japanese counts with it."""
    return _UNIT.sub("\u00a0", sentence) if " " in sentence else sentence


@dataclass(frozen=True, slots=True)
class Text:
    """One sentence in both languages; ``{name}`` placeholders are the same in each (a test checks).

    ``{count} {count:request|requests}`` is the word that goes with the number.
    """

    en: str
    ja: str

    def __call__(self, lang: Lang, /, **values: object) -> str:
        """The sentence in ``lang`` with its placeholders filled."""
        sentence = self.ja if lang == "ja" else self.en
        # A format of its own is slower, and most sentences count nothing.
        return _COUNTING.vformat(sentence, (), values) if "|" in sentence else sentence.format(**values)


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
