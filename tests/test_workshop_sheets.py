"""The sheets: self-contained, complete, and without the answers where they do not belong."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from kvviz.text import LANGUAGES, Lang
from kvviz.text import workshop as text
from kvviz.workshop import course
from kvviz.workshop_sheets import answer_key, worksheet


class Reader(HTMLParser):
    """What a sheet is made of: its elements, what they refer to, and its words."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "data", "action", "srcset")]
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def said(self) -> str:
        return "".join(self.words).replace("\u00a0", " ")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("made", [worksheet, answer_key])
def test_needs_no_other_file_and_runs_nothing(made: object, lang: Lang) -> None:
    page = made(lang)  # type: ignore[operator]
    sheet = Reader(page)
    assert sheet.addresses == []
    assert not {"script", "link", "img", "iframe", "object", "embed"} & set(sheet.tags)
    assert not re.search(r"@import|url\(", page)
    assert sheet.tags.count("section") == 10
    assert f'<html lang="{lang}">' in page
    assert "size: A4" in page


@pytest.mark.parametrize("lang", LANGUAGES)
def test_both_ask_all_and_one_answers(lang: Lang) -> None:
    questions, answers = Reader(worksheet(lang)).said, Reader(answer_key(lang)).said
    for step in course(lang):
        assert step.title(lang) in questions
        for question in step.questions:
            asked = question.ask(lang)
            said = question.said if isinstance(question.said, str) else question.said(lang)
            assert asked in questions
            assert asked in answers
            assert said in answers
        for line in step.working:
            worked = line if isinstance(line, str) else line(lang)
            assert worked in answers
            assert worked not in questions
        for _, note in step.notes:
            assert note(lang) in answers
            assert note(lang) not in questions
    boxes = worksheet(lang).count("<i></i>")
    assert boxes == sum(len(question.options) for step in course(lang) for question in step.questions)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_squared_paper_is_empty_and_then_filled(lang: Lang) -> None:
    empty, filled = (re.findall(r"<svg.*?</svg>", page) for page in (worksheet(lang), answer_key(lang)))
    assert len(empty) == len(filled) == 2
    for drawing in (*empty, *filled):
        svg = ElementTree.fromstring(drawing)  # noqa: S314 - drawn here
        squares = [r for r in svg.iter("{http://www.w3.org/2000/svg}rect") if r.get("width") == r.get("height") == "20"]
        assert len(squares) == 64
        assert svg.get("aria-label")
    assert not any("<text" in drawing for drawing in empty)
    assert [drawing.count("<text") for drawing in filled] == [60, 56]
    assert text.SHEET_REQUEST(lang, request=1, count=20) in filled[0]
    # A block has a thick border; contiguous memory has none inside.
    assert [drawing.count('stroke-width="2.4"') for drawing in filled] == [1, 16]
