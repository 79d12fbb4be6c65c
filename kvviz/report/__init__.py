"""An answer as a report for a design review: one page to print, and the same as Markdown."""

from collections.abc import Sequence
from datetime import date

from kvviz.levers import Lever
from kvviz.report.content import report
from kvviz.report.html import page
from kvviz.report.markdown import markdown
from kvviz.sizing import Sizing
from kvviz.text import Lang

__all__ = ["as_html", "as_markdown"]


def as_html(sizing: Sizing, lang: Lang, *, link: str, day: date, possible: Sequence[Lever] = ()) -> str:
    """One HTML file that needs nothing else. ``day``: of the UTC calendar; ``possible``: what could be changed."""
    return page(report(sizing, lang, link=link, day=day, possible=possible), lang)


def as_markdown(sizing: Sizing, lang: Lang, *, link: str, day: date, possible: Sequence[Lever] = ()) -> str:
    """The same, without its drawings."""
    return markdown(report(sizing, lang, link=link, day=day, possible=possible), lang)
