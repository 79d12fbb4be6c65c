"""A link as a QR code, drawn here: nothing is asked of any other machine."""

from html import escape
from typing import Final

import segno

from kvviz.core.errors import KvvizError
from kvviz.core.units import format_count
from kvviz.text import Lang, Message
from kvviz.text import export as text

MOST_BYTES: Final = 2_953
"""What the largest code (version 40, error correction L) holds: ISO/IEC 18004, table 7."""
QUIET_MODULES: Final = 4
"""White border that readers need; same standard, 9.1."""
_MODULE_PX: Final = 4


def qr_svg(link: str, lang: Lang, *, module_px: int = _MODULE_PX) -> str:
    """The code as a drawing, black on white in every theme. Raises KvvizError where ``link`` is too long for one.

    ``module_px``: how wide a module is at most; a code on a projector is read from afar.
    """
    length = len(link.encode())
    if length > MOST_BYTES:
        values = {"length": format_count(length), "most": format_count(MOST_BYTES)}
        raise KvvizError(Message(text.QR_TOO_LONG, values), code="qr-too-long")
    # The least correction makes the largest modules, which is what a long link on a screen needs; where a code of the
    # same size has room for more correction, segno uses it.
    code = segno.make_qr(link, error="l", mode="byte", encoding="utf-8")
    rows = [list(row) for row in code.matrix_iter(border=QUIET_MODULES)]
    wide = len(rows)
    runs = "".join(_runs(row, y) for y, row in enumerate(rows))
    title = escape(text.QR_TITLE(lang))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{title}" width="100%" '
        f'style="max-width:{wide * module_px}px" viewBox="0 0 {wide} {wide}" shape-rendering="crispEdges">'
        f'<title>{title}</title><rect width="{wide}" height="{wide}" fill="#FFFFFF"/>'
        f'<path d="{runs}" fill="#000000"/></svg>'
    )


def _runs(row: list[int], y: int) -> str:
    """The dark modules of one row, a rectangle for each run of them."""
    drawn, x = "", 0
    while x < len(row):
        end = x
        while end < len(row) and row[end]:
            end += 1
        if end > x:
            drawn += f"M{x} {y}h{end - x}v1h-{end - x}z"
        x = end + 1
    return drawn
