"""Panels of several models in rows and columns, each under the name of its model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport.plots.canvas import POINTS_PER_MM, WIDTH, Canvas
from scorereport.plots.style import HEADING, HEAVY
from scorereport.plots.text import wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

_LINE_OF_HEADING = 4.0
_LEFT, _RIGHT, _GAP, _TOP = 14.0, 3.0, 9.0, 1.0
_UNDER_HEADING, _UNDER_PANEL, _AXIS_LABEL = 2.5, 7.5, 4.5
#: Height of a figure that leaves room for its caption on a page.
_HIGHEST = 208.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelGrid:
    """Where the panels are, in millimetres: columns of equal width, with a heading above each row."""

    names: tuple[str, ...]
    columns: int
    width: float
    height: float

    @property
    def rows(self) -> int:
        """Number of rows."""
        return -(-len(self.names) // self.columns)

    @property
    def has_spare(self) -> bool:
        """Whether the last of two columns has a place that no panel needs."""
        return self.columns == 2 and len(self.names) % 2 == 1

    def canvas(self) -> Canvas:
        """An empty figure of the size that the panels need."""
        width = _LEFT + self.columns * self.width + (self.columns - 1) * _GAP + _RIGHT
        return Canvas.of(width, self._top(self.rows) + _AXIS_LABEL)

    def corner(self, place: int) -> tuple[float, float]:
        """Left and top of the panel at a place."""
        row, column = divmod(place, self.columns)
        return _LEFT + column * (self.width + _GAP), self._top(row) + self._heading(row) + _UNDER_HEADING

    def panel(self, canvas: Canvas, place: int) -> Axes:
        """The panel at a place, with the name of its model above."""
        left, top = self.corner(place)
        text = "\n".join(self._lines(self.names[place]))
        canvas.write(left, top - _UNDER_HEADING, text, va="bottom", size=HEADING, weight=HEAVY)
        return canvas.panel(left, top, self.width, self.height)

    def is_lowest(self, place: int) -> bool:
        """Whether no panel is below."""
        return place + self.columns >= len(self.names)

    def is_leftmost(self, place: int) -> bool:
        """Whether no panel is on the left."""
        return place % self.columns == 0

    def _top(self, row: int) -> float:
        headings = sum(self._heading(above) for above in range(row))
        return _TOP + headings + row * (_UNDER_HEADING + self.height + _UNDER_PANEL)

    def _heading(self, row: int) -> float:
        of_row = self.names[row * self.columns : (row + 1) * self.columns]
        return _LINE_OF_HEADING * max(len(self._lines(name)) for name in of_row)

    def _lines(self, name: str) -> list[str]:
        return wrap(name, self.width * POINTS_PER_MM, lines=4, size=HEADING, weight=HEAVY)


def square_panels(names: Sequence[str]) -> PanelGrid:
    """One large panel, else two columns, else three where two would be too long for a page."""
    columns = 1 if len(names) == 1 else 2 if len(names) <= 6 else 3
    rows = -(-len(names) // columns)
    taken = _UNDER_HEADING + _UNDER_PANEL + _LINE_OF_HEADING + _AXIS_LABEL / rows
    side = 103.0 if columns == 1 else max(min(_widest(columns), _HIGHEST / rows - taken), 40.0)
    return PanelGrid(names=tuple(names), columns=columns, width=side, height=side)


def small_panels(names: Sequence[str]) -> PanelGrid:
    """Three columns of small squares, fewer of the same size for fewer models."""
    columns = min(len(names), 3)
    side = _widest(3)
    return PanelGrid(names=tuple(names), columns=columns, width=side, height=side)


def wide_panels(names: Sequence[str]) -> PanelGrid:
    """One panel as wide as the page, else two columns of lower ones."""
    columns = 1 if len(names) == 1 else 2
    height = 66.0 if columns == 1 else 44.0
    return PanelGrid(names=tuple(names), columns=columns, width=_widest(columns), height=height)


def _widest(columns: int) -> float:
    return (WIDTH - _LEFT - _RIGHT - (columns - 1) * _GAP) / columns
