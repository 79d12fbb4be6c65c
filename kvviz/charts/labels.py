"""Where a label may stand in a chart of rising lines without being crossed by any of them, on a phone and on a desk."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal
from unicodedata import east_asian_width

LINE_HEIGHT: Final = 15
"""Pixels of a line of text."""

PLACES: Final = (
    "top left",
    "bottom right",
    "top right",
    "bottom left",
    "top center",
    "bottom center",
)
"""Around a point, in Plotly's words, the best first."""

_SIZES: Final = ((290, 225), (560, 270), (740, 280), (1150, 280))
"""Width and height, in pixels, of the area that a chart has on a phone, a tablet and desks."""
_CLEAR = 2
"""Pixels between a label and anything else."""
_LEGEND_WIDE, _LEGEND_ROW, _SWATCH, _SWATCH_ALONE = 275, 20, 57, 45
"""Pixels of a legend on a phone: its width, a row of it, an entry beside its name, and of that the line drawn."""

Box = tuple[float, float, float, float]
"""Left, foot, right and head, as shares of the chart."""


def text_width(said: str) -> float:
    """Pixels of a line of text: full-width characters are square."""
    return sum(12.5 if east_asian_width(character) in "WF" else 6.0 for character in said)


def legend_below(names: Sequence[str]) -> tuple[dict[str, int], int]:
    """A legend of lines with such names, and the pixels it takes below a chart on a phone, where it is highest."""
    wide = max((text_width(name) for name in names), default=0.0) + _SWATCH
    rows = -(-len(names) // max(1, int(_LEGEND_WIDE // wide)))
    return {"entrywidth": min(_LEGEND_WIDE, round(wide)) - _SWATCH_ALONE}, _LEGEND_ROW * rows


@dataclass(slots=True, kw_only=True)
class Room:
    """What is drawn, in shares of the chart's width and height. It fills up as labels are placed."""

    across: Sequence[float]
    """Where the rising lines have their points."""
    rising: Sequence[Sequence[float]]
    """Their heights there, none lower than the one before; above 1 a line has left the chart."""
    levels: Sequence[float]
    uprights: Sequence[float]
    _taken: list[list[Box]] = field(default_factory=lambda: [[] for _ in _SIZES])
    """By markers and labels, for each size."""

    def leaves(self, heights: Sequence[float]) -> float | None:
        """Where a line goes through the top; None if it stays below."""
        if heights[-1] <= 1:
            return None
        after = next(place for place, height in enumerate(heights) if height > 1)
        if after == 0:
            return self.across[0]
        low, high = heights[after - 1], heights[after]
        left, right = self.across[after - 1], self.across[after]
        return left + (right - left) * (1 - low) / (high - low)

    def take(self, x: float, y: float, *, width: float, height: float, place: str, apart: float) -> None:
        """Something of that many pixels stands at ``place`` beside the point (``x``, ``y``)."""
        for taken, box in zip(self._taken, _boxes(x, y, width, height, place, apart), strict=True):
            taken.append(box)

    def place(
        self, x: float, y: float, *, width: float, height: float, among: Sequence[str], apart: float
    ) -> str | None:
        """The first of ``among`` that is free at every size, taken from now on; None if none is."""
        for place in among:
            if not self._hits(list(_boxes(x, y, width, height, place, apart))):
                self.take(x, y, width=width, height=height, place=place, apart=apart)
                return place
        return None

    def beside(self, x: float, *, width: float, height: float, apart: float) -> tuple[Literal["left", "right"], float]:
        """Side of the upright at ``x``, and foot: the lowest that is free, or where least is crossed."""
        sides: tuple[Literal["right", "left"], ...] = ("right", "left")
        tried: list[tuple[int, int, Literal["left", "right"], float]] = []
        for side in sides:
            for step in range(1, 45):
                foot = step / 50
                boxes = list(_boxes(x, foot, width, height, f"above {side}", apart))
                hits = self._hits(boxes)
                if not hits:
                    return side, foot
                tried.append((hits, len(tried), side, foot))
        _, _, side, foot = min(tried)
        return side, foot

    def _hits(self, boxes: Sequence[Box]) -> int:
        """How much the box meets, at all sizes together."""
        return sum(
            self._meets(box, taken, _CLEAR / width, _CLEAR / height)
            for box, taken, (width, height) in zip(boxes, self._taken, _SIZES, strict=True)
        )

    def _meets(self, box: Box, taken: Sequence[Box], clear_x: float, clear_y: float) -> int:
        left, foot, right, head = box[0] - clear_x, box[1] - clear_y, box[2] + clear_x, box[3] + clear_y
        met = 10 * (box[0] < 0 or box[1] < 0 or box[2] > 1 or box[3] > 1)
        met += sum(foot <= level <= head for level in self.levels)
        met += sum(left <= upright <= right for upright in self.uprights)
        met += sum(a < right and left < c and b < head and foot < d for a, b, c, d in taken)
        # A line that rises meets the box unless it is above it at its left or below it at its right.
        for heights in self.rising:
            met += self._at(heights, right) >= foot and self._at(heights, left) <= head
        return met

    def _at(self, heights: Sequence[float], x: float) -> float:
        after = bisect_left(self.across, x)
        if after == 0:
            return heights[0]
        if after == len(self.across):
            return heights[-1]
        left, right = self.across[after - 1], self.across[after]
        return heights[after - 1] + (heights[after] - heights[after - 1]) * (x - left) / (right - left)


def _boxes(x: float, y: float, width: float, height: float, place: str, apart: float) -> Iterator[Box]:
    """The box at ``place`` beside the point, ``apart`` pixels away, at each size.

    ``above`` stands on the point's height itself.
    """
    vertical, horizontal = place.split()
    for across, up in _SIZES:
        far = apart / across
        left = {
            "left": x - far - width / across,
            "center": x - width / across / 2,
            "right": x + far,
        }[horizontal]
        foot = {
            "top": y + apart / up,
            "middle": y - height / up / 2,
            "bottom": y - (apart + height) / up,
            "above": y,
        }[vertical]
        yield left, foot, left + width / across, foot + height / up
