"""Colours, patterns and layout that every chart shares; readable on a light and on a dark page alike.

Only data colours are set here: fonts, text and background are left to the page's theme.
"""

from collections.abc import Callable
from functools import cache
from html import escape
from typing import Any, Final, Literal

Figure = dict[str, Any]
"""Traces and layout as Plotly writes them in JSON: ``plotly.graph_objects.Figure(**figure)`` says whether they are."""

CHECKED = False
"""Whether Plotly checks each property of each figure before it is drawn: half the time of a chart. The tests do it."""

Role = Literal["weights", "kv", "activations", "overhead", "free"]

COLOURS: dict[Role, str] = {
    "weights": "#1F87C9",
    "kv": "#D55E00",
    "activations": "#009E73",
    "overhead": "#CC79A7",
    "free": "#6E6E6E",
}
"""At least 3:1 on white and on dark, and told apart with any of the common colour-vision deficiencies."""

PATTERNS: dict[Role, str] = {"weights": "", "kv": "/", "activations": "\\", "overhead": "x", "free": "."}
"""Drawn over the colour, so that it is never the colour alone that tells two roles apart."""

BACKGROUNDS = ("#FFFFFF", "#0E1117", "#171614")
"""Pages the charts are read on: light, and the dark ones of Streamlit."""

LABEL = {"bgcolor": "#262626", "font": {"color": "#FFFFFF", "size": 12}, "borderpad": 2}
"""Text that stands on a pattern: solid behind it, whatever the segment."""

GRID = "rgba(128, 128, 128, 0.28)"
RULE = "#808080"
"""Thin lines and outlines that must be seen on both backgrounds."""

PLOTLY_CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "scrollZoom": False,
    "modeBarButtons": [["toImage"]],
    "toImageButtonOptions": {"format": "svg", "filename": "kvviz"},
}
"""For ``st.plotly_chart(config=…)``: the mode bar offers the picture as SVG and nothing else."""


MODE_BAR_WIDTH: Final = 36
"""Pixels of a chart's upper right corner that the mode bar takes; where nothing can hover it is always there."""
MODE_BAR_HEIGHT: Final = 28


def fill(role: Role) -> dict[str, Any]:
    """Marker of a bar segment."""
    return {
        "color": COLOURS[role],
        "line": {"width": 0},
        # "overlay": the default "replace" turns the segment into stripes on an unknown background.
        "pattern": {
            "shape": PATTERNS[role],
            "fillmode": "overlay",
            "solidity": 0.15,
            "size": 8,
            "fgcolor": "#FFFFFF",
            "fgopacity": 0.35,
        },
    }


def hollow(role: Role, shape: str, solidity: float) -> dict[str, Any]:
    """Marker of a segment that is not there: an outline and a pattern, the background showing through."""
    return {
        "color": "rgba(0, 0, 0, 0)",
        "line": {"width": 1.5, "color": COLOURS[role]},
        "pattern": {
            "shape": shape,
            "fillmode": "replace",
            "solidity": solidity,
            "size": 7,
            "fgcolor": COLOURS[role],
            "bgcolor": "rgba(0, 0, 0, 0)",
        },
    }


_DASHES: Final = ("solid", "dash", "dot", "dashdot", "longdash")
MOST_LINES: Final = len(COLOURS) * len(_DASHES)
"""That ``line_look`` tells apart."""


def line_look(number: int) -> dict[str, Any]:
    """Of the line of this number: no two of ``MOST_LINES`` are alike, and neighbours differ in colour and dash."""
    colours = tuple(COLOURS[role] for role in ("kv", "weights", "activations", "overhead", "free"))
    around = number // len(colours)
    return {
        "color": colours[number % len(colours)],
        "dash": _DASHES[(number + around) % len(_DASHES)],
        "width": 2.5,
    }


def literal(name: str) -> str:
    """A name from outside as it is written: what Plotly draws is markup (``<b>``, ``&amp;``) and a template (``%{x}``).

    For whatever a figure holds that no text of kvviz says: models, GPUs, devices, engines. Words beside it and the rows
    of its table are no markup.
    """
    return escape(name, quote=False).replace("%{", "%&#123;")


class Drawing:
    """A figure in the making.

    Plotly copies and checks a whole figure again at each call that adds to it, which is most of the time a chart takes:
    traces, shapes and labels are collected here as they are.
    """

    def __init__(self) -> None:
        self.traces: list[dict[str, Any]] = []
        self.shapes: list[dict[str, Any]] = []
        self.labels: list[dict[str, Any]] = []

    def bar(self, **trace: object) -> None:
        self.traces.append({"type": "bar", **trace})

    def scatter(self, **trace: object) -> None:
        self.traces.append({"type": "scatter", **trace})

    def heatmap(self, **trace: object) -> None:
        self.traces.append({"type": "heatmap", **trace})

    def line(self, **shape: object) -> None:
        self.shapes.append({"type": "line", **shape})

    def band(self, x0: float, x1: float, **shape: object) -> None:
        """A rectangle from the lower to the upper edge of the chart."""
        self.shapes.append({"type": "rect", "x0": x0, "x1": x1, "y0": 0, "y1": 1, "yref": "y domain", **shape})

    def label(self, **annotation: object) -> None:
        self.labels.append({"showarrow": False, **annotation})

    def title(self, text: str) -> None:
        """What the chart shows, above its left edge: the name of the vertical axis costs no width there."""
        self.label(text=text, x=0, xref="paper", xanchor="left", y=1, yref="paper", yanchor="bottom", yshift=10)

    def figure(
        self,
        *,
        height: int,
        top: int = 8,
        legend: dict[str, Any],
        xaxis: dict[str, Any],
        yaxis: dict[str, Any],
        **layout: object,
    ) -> Figure:
        """Fixed height, legend below, transparent background, nothing that catches a finger scrolling the page.

        An axis's ``title`` is its words alone.
        """
        return {
            "data": self.traces,
            "layout": {
                "height": height,
                "margin": {"l": 8, "r": 8, "t": top, "b": 8},
                "paper_bgcolor": "rgba(0, 0, 0, 0)",
                "plot_bgcolor": "rgba(0, 0, 0, 0)",
                "dragmode": False,
                "legend": {
                    "orientation": "h",
                    "x": 0,
                    "xanchor": "left",
                    "y": 0,
                    "yref": "container",
                    "yanchor": "bottom",
                    "traceorder": "normal",
                    "itemclick": False,
                    "itemdoubleclick": False,
                    **legend,
                },
                "xaxis": _axis(**xaxis),
                "yaxis": _axis(**yaxis),
                "shapes": self.shapes,
                "annotations": self.labels,
                **layout,
            },
        }


def _axis(*, title: str = "", **own: object) -> dict[str, Any]:
    """The browser's Plotly takes words alone for no title; Python's, which is not asked, would have wrapped them."""
    named = {"title": {"text": title, "standoff": 6}} if title else {}
    return {"fixedrange": True, "gridcolor": GRID, "zeroline": False, "automargin": True} | named | own


def drawable(figure: Figure) -> object:
    """For ``st.plotly_chart``, which builds a figure out of a dictionary, checks it and copies it, before it writes it.

    What was made here is written as it is.
    """
    if CHECKED:
        return figure
    template, as_is = _plotly()
    return as_is(figure | {"layout": figure["layout"] | {"template": template}})


@cache
def _plotly() -> tuple[dict[str, Any], Callable[[Figure], object]]:
    """The page's theme, which Plotly gives every figure, and a figure that is written as it came."""
    from plotly.basedatatypes import BaseFigure  # here: a chart is made, and put into words, without it
    from plotly.graph_objects import Figure as Built

    class AsIs(BaseFigure):  # type: ignore[misc]  # it has no types
        def __init__(self, figure: Figure) -> None:
            self._figure = figure

        def to_dict(self) -> Figure:
            return self._figure

    return Built().to_dict()["layout"]["template"], AsIs


def contrast(one: str, other: str) -> float:
    """WCAG contrast ratio of two ``#RRGGBB`` colours, 1 to 21."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
