"""Figures measured in millimetres: panels, grids, keys of models, and output as SVG and PNG."""

from __future__ import annotations

import re
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from scorereport.plots.style import HEADING, HEAVY, INK, MUTED, SMALL, ModelStyle, report_style
from scorereport.plots.text import clean_text, format_short, shorten_text, text_width, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    from scorereport._utils.arrays import FloatArray


#: Width of a full figure.
WIDTH = 160.0
#: Points per millimetre.
POINTS_PER_MM = 72 / 25.4
#: Parts of an SVG that are removed: comments, blanks, and digits beyond the resolution of printers.
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_SPACE = re.compile(r"\s*\n\s*")
_COORDINATES = re.compile(r'(?<= )(?:d|x|y)="[^"]*"|translate\([^)]*\)')
_DECIMALS = re.compile(r"-?\d+\.\d{3,}")
#: Attribute of an SVG with the heights, in its own units, at which it may be divided between pages.
BREAKS = "data-breaks"
_PATH_COMMANDS = "MLQCz"
#: Where figures may be divided between pages: heights in points from their top.
_breaks: WeakKeyDictionary[Figure, tuple[float, ...]] = WeakKeyDictionary()
#: Makes the figures; None for a figure that no window shows.
_make_figure: ContextVar[Callable[..., Figure] | None] = ContextVar("make_figure", default=None)


@contextmanager
def figures_made_by(make: Callable[..., Figure]) -> Iterator[None]:
    """Make the figures of canvases by a function, such as one that shows them."""
    token = _make_figure.set(make)
    try:
        yield
    finally:
        _make_figure.reset(token)


class Canvas(NamedTuple):
    """A figure of fixed size; positions are in millimetres from its left and its top."""

    figure: Figure
    width: float
    height: float

    @classmethod
    def of(cls, width: float, height: float) -> Canvas:
        """Return an empty figure."""
        from matplotlib.figure import Figure

        make = _make_figure.get() or Figure
        return cls(figure=make(figsize=(width / 25.4, height / 25.4), dpi=100), width=width, height=height)

    def panel(self, left: float, top: float, width: float, height: float, *, apart: float = 3.0) -> Axes:
        """Add axes with a line on the left and one below, at a distance of `apart` points from the data."""
        bottom = self.height - top - height
        axes = self.figure.add_axes(
            (left / self.width, bottom / self.height, width / self.width, height / self.height)
        )
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_position(("outward", apart))
        return axes

    def write(self, left: float, top: float, text: str, **style: Any) -> Text:
        """Write text with its upper left corner at a position, unless the style sets another alignment."""
        settings: dict[str, Any] = {"va": "top", "ha": "left", "color": INK, "linespacing": 1.15} | style
        return self.figure.text(left / self.width, 1 - top / self.height, text, **settings)

    def line(self, start: tuple[float, float], end: tuple[float, float], **style: Any) -> None:
        """Draw a straight line between two positions."""
        from matplotlib.lines import Line2D

        x, y = zip(start, end, strict=True)
        self.figure.add_artist(Line2D([v / self.width for v in x], [1 - v / self.height for v in y], **style))

    def divide(self, tops: Sequence[float]) -> None:
        """Mark that pages may divide the figure above each of its rows; `tops` are those of all rows."""
        _breaks[self.figure] = tuple(top * POINTS_PER_MM for top in tops[1:])


def set_axis(axes: Axes, which: str, limits: tuple[float, float], ticks: Sequence[float], label: str) -> None:
    """Set the limits, the ticks in short form, and the label of one axis."""
    if which == "x":
        axes.set_xlim(limits)
        axes.set_xticks(ticks, [format_short(tick) for tick in ticks])
        axes.set_xlabel(label)
    else:
        axes.set_ylim(limits)
        axes.set_yticks(ticks, [format_short(tick) for tick in ticks])
        axes.set_ylabel(label)


def fill_outline(axes: Axes, x: FloatArray, y: FloatArray, **style: Any) -> None:
    """Fill the area inside an outline; unlike `Axes.fill`, without a search for the limits of the axes."""
    from matplotlib.patches import Polygon

    axes.add_artist(Polygon(np.column_stack([x, y]), closed=True, **style))


def write_placeholder(axes: Axes, text: str) -> None:
    """Write a sentence in the middle of an empty panel, on as many lines as it needs."""
    width = axes.bbox.width * 72 / axes.figure.dpi
    axes.text(
        0.5,
        0.5,
        "\n".join(wrap(clean_text(text), width, lines=6)),
        transform=axes.transAxes,
        ha="center",
        va="center",
        color=MUTED,
        wrap=False,
    )


def render_svg(figure: Figure) -> str:
    """Render a figure as SVG, the same bytes for the same figure; text is drawn as paths, without fonts."""
    text = StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with report_style():
        figure.savefig(text, format="svg", metadata=nothing)
    svg = text.getvalue().replace("<image ", '<image image-rendering="pixelated" ')
    svg = _SPACE.sub("\n", _COORDINATES.sub(_shorten, _COMMENT.sub("", svg)))
    breaks = _breaks.get(figure)
    return svg.replace("<svg ", f'<svg {BREAKS}="{_list_heights(breaks)}" ', 1) if breaks else svg


def _list_heights(heights: Sequence[float]) -> str:
    return " ".join(f"{height:.2f}" for height in heights)


def load_matplotlib() -> None:
    """Load all that figures need, including the fonts: the first figure then takes no longer than others."""
    with report_style():
        canvas = Canvas.of(20.0, 20.0)
        canvas.panel(5.0, 5.0, 10.0, 10.0)
    render_svg(canvas.figure)


def render_png(figure: Figure, dpi: float = 150) -> bytes:
    """Render a figure as PNG."""
    image = BytesIO()
    with report_style():
        figure.savefig(image, format="png", dpi=dpi, metadata={"Software": None})
    return image.getvalue()


def _shorten(coordinates: re.Match[str]) -> str:
    """Round coordinates to hundredths of a point, finer than any printer, and remove blanks."""
    text = " ".join(_DECIMALS.sub(_to_hundredths, coordinates.group()).split())
    for command in _PATH_COMMANDS:
        text = text.replace(f" {command}", command).replace(f"{command} ", command)
    return text


def _to_hundredths(number: re.Match[str]) -> str:
    return f"{float(number.group()):.2f}".rstrip("0").rstrip(".")


_LINE_OF_HEADING = 4.0
_LEFT, _RIGHT, _GAP, _TOP = 14.0, 3.0, 9.0, 1.0
_UNDER_HEADING, _UNDER_PANEL, _AXIS_LABEL = 2.5, 7.5, 4.5
#: Sides of square panels: of one alone, and of two side by side, which leave room for a caption beside them.
_SIDE_OF_ONE, _SIDE_OF_TWO, _SMALLEST_SIDE = 56.0, 47.0, 40.0
#: Height of rows of a table or of a forest plot that pages do not divide.
_HIGHEST_PART = 45.0
#: Height of panels that are wider than high.
_LOW = 42.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelGrid:
    """Positions of panels in millimetres: columns of equal width, with a heading above each row.

    Pages may divide the figure between its rows: each has its own labels of the axes.
    """

    names: tuple[str, ...]
    columns: int
    width: float
    height: float

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return -(-len(self.names) // self.columns)

    def canvas(self) -> Canvas:
        """Return an empty figure of the required size."""
        width = _LEFT + self.columns * self.width + (self.columns - 1) * _GAP + _RIGHT
        canvas = Canvas.of(width, self._top(self.rows))
        canvas.divide([self._top(row) for row in range(self.rows)])
        return canvas

    def corner(self, place: int) -> tuple[float, float]:
        """Return left and top of the panel at a place."""
        row, column = divmod(place, self.columns)
        return _LEFT + column * (self.width + _GAP), self._top(row) + self._heading(row) + _UNDER_HEADING

    def panel(self, canvas: Canvas, place: int) -> Axes:
        """Add the panel at a place, with the name of its model above."""
        left, top = self.corner(place)
        text = "\n".join(self._lines(self.names[place]))
        canvas.write(left, top - _UNDER_HEADING, text, va="bottom", size=HEADING, weight=HEAVY)
        return canvas.panel(left, top, self.width, self.height)

    def is_leftmost(self, place: int) -> bool:
        """Whether no panel is on the left."""
        return place % self.columns == 0

    def _top(self, row: int) -> float:
        headings = sum(self._heading(above) for above in range(row))
        return _TOP + headings + row * (_UNDER_HEADING + self.height + _UNDER_PANEL + _AXIS_LABEL)

    def _heading(self, row: int) -> float:
        of_row = self.names[row * self.columns : (row + 1) * self.columns]
        return _LINE_OF_HEADING * max(len(self._lines(name)) for name in of_row)

    def _lines(self, name: str) -> list[str]:
        return _wrap_heading(name, self.width)


def _wrap_heading(name: str, width: float) -> list[str]:
    return wrap(name, width * POINTS_PER_MM, lines=2, size=HEADING, weight=HEAVY)


def divide_rows(canvas: Canvas, top: float, height: float, rows: int) -> bool:
    """Mark where pages may divide a figure between rows below `top`; return whether there are such places."""
    each = max(int(_HIGHEST_PART // height), 1)
    breaks = [top + place * height for place in range(each, rows - 1, each)]
    canvas.divide([0.0, *breaks])
    return bool(breaks)


def square_panels(names: Sequence[str]) -> PanelGrid:
    """Return one panel, two, or rows of three."""
    columns, side = square_side(names)
    return PanelGrid(names=tuple(names), columns=columns, width=side, height=side)


def square_side(names: Sequence[str]) -> tuple[int, float]:
    """Return the columns and the side of square panels on a page.

    Rows are low enough to leave no large gap on the page before: panels under long names are smaller.
    """
    columns = min(len(names), 3)
    side = (_SIDE_OF_ONE, _SIDE_OF_TWO, _widest(3))[columns - 1]
    lines = max(len(_wrap_heading(name, side)) for name in names)
    return columns, max(side - _LINE_OF_HEADING * (lines - 1), _SMALLEST_SIDE)


def small_panels(names: Sequence[str], width: float = WIDTH) -> PanelGrid:
    """Return up to three columns of small squares, of which three are as wide as stated."""
    columns = min(len(names), 3)
    side = _widest(3, width)
    return PanelGrid(names=tuple(names), columns=columns, width=side, height=side)


def wide_panels(names: Sequence[str]) -> PanelGrid:
    """Return one panel as wide as the page, or two columns of lower panels."""
    columns = 1 if len(names) == 1 else 2
    return PanelGrid(names=tuple(names), columns=columns, width=_widest(columns), height=_LOW)


def _widest(columns: int, width: float = WIDTH) -> float:
    return (width - _LEFT - _RIGHT - (columns - 1) * _GAP) / columns


_ROW, _MARKER, _BETWEEN = 4.3, 3.5, 6.0


def draw_key(canvas: Canvas, names: Sequence[str], width: float, looks: Sequence[ModelStyle]) -> None:
    """Draw the key: the names of models with their markers, from the upper left corner."""
    for row, of_row in enumerate(_key_rows(names, width)):
        y = (row + 0.5) * _ROW
        for left, place, name in of_row:
            look = looks[place]
            at = (left + 1.0, y + 0.25)
            canvas.line(at, at, color=look.colour, marker=look.marker, markersize=4.2, markeredgewidth=0)
            canvas.write(left + _MARKER, y, name, va="center_baseline", size=SMALL)


def key_height(names: Sequence[str], width: float) -> float:
    """Return the height of the key in millimetres."""
    return len(_key_rows(names, width)) * _ROW


def _key_rows(names: Sequence[str], width: float) -> list[list[tuple[float, int, str]]]:
    """Return the position of each name, by row."""
    rows: list[list[tuple[float, int, str]]] = [[]]
    left = 0.0
    for place, name in enumerate(names):
        text = shorten_text(name, (width - _MARKER) * POINTS_PER_MM)
        needed = _MARKER + text_width(text) / POINTS_PER_MM
        if rows[-1] and left + needed > width:
            rows.append([])
            left = 0.0
        rows[-1].append((left, place, text))
        left += needed + _BETWEEN
    return rows
