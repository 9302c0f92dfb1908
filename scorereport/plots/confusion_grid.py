"""Positions of confusion matrices in a figure, and the labels of their classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport.plots.canvas import POINTS_PER_MM, WIDTH, Canvas
from scorereport.plots.style import HEADING, HEAVY
from scorereport.plots.text import shorten_text, text_width, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Most classes whose cells have numbers.
MOST_NUMBERED = 10
#: All lengths are in millimetres.
_HIGHEST, _LARGEST, _GAP, _RIGHT, _AXIS_NAME = 200.0, 92.0, 7.0, 2.0, 6.0
#: Sides of panels on a page: of one beside its caption, and of several.
ONE_ON_PAGE, SEVERAL_ON_PAGE = 54.0, 47.0
_WIDEST_LABEL, LABEL_STEP, _LINE, KEY_HEIGHT = 31.0, 3.3, 4.0, 7.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionGrid:
    """Positions of the panels: squares in columns, class labels left of the first and under the last row.

    On pages, which may divide the figure between its rows, there are class labels under each row, and numbers
    in place of labels that do not fit side by side.
    """

    columns: int
    side: float
    left: float
    below: float
    headings: tuple[tuple[str, ...], ...]
    has_key: bool
    on_page: bool = False

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return -(-len(self.headings) // self.columns)

    @property
    def bottom(self) -> float:
        """Return where the labels under the last row of panels end."""
        return self.corner((self.rows - 1) * self.columns)[1] + self.side + self.below

    @property
    def _heading(self) -> float:
        return _LINE * max(map(len, self.headings)) + 1.5

    def canvas(self) -> Canvas:
        """Return an empty figure of the required size."""
        width = self.left + self.columns * self.side + (self.columns - 1) * _GAP + _RIGHT
        canvas = Canvas.of(width, self.bottom + (KEY_HEIGHT if self.has_key else 0.0))
        if self.on_page:
            tops = [self.corner(row * self.columns)[1] - self._heading for row in range(self.rows)]
            canvas.divide(tops)
        return canvas

    def corner(self, place: int) -> tuple[float, float]:
        """Return left and top of the panel at a place."""
        row, column = divmod(place, self.columns)
        below = self.below if self.on_page else 3.0
        top = (row + 1) * self._heading + row * (self.side + below)
        return self.left + column * (self.side + _GAP), top

    def is_lowest(self, place: int) -> bool:
        """Whether no panel is below, or pages may divide the figure there."""
        return self.on_page or place + self.columns >= len(self.headings)


def choose_grid(names: Sequence[str], labels: Sequence[str]) -> ConfusionGrid:
    """Return two or three columns of panels that fit on a page together."""
    columns = min(len(names), 2) if len(names) <= 6 else 3
    rows = -(-len(names) // columns)
    label = min(max(map(text_width, shorten_labels(labels))) / POINTS_PER_MM, _WIDEST_LABEL) + 2.0
    left = _AXIS_NAME + label
    side = (WIDTH - left - _RIGHT - (columns - 1) * _GAP) / columns
    below = _AXIS_NAME + (4.5 if are_level(labels, side) else label + 1.0)
    side = min(side, _LARGEST, (_HIGHEST - below) / rows - 2 * _LINE)
    headings = [
        tuple(wrap(name, side * POINTS_PER_MM, lines=2, size=HEADING, weight=HEAVY)) for name in names
    ]
    return ConfusionGrid(
        columns=columns,
        side=side,
        left=left,
        below=below,
        headings=tuple(headings),
        has_key=len(labels) > MOST_NUMBERED,
    )


def choose_page_grid(names: Sequence[str], labels: Sequence[str], side: float) -> ConfusionGrid:
    """Return rows of two panels, each low enough to leave no large gap on the page before."""
    label = min(max(map(text_width, labels)) / POINTS_PER_MM, _WIDEST_LABEL + 6.0) + 2.0
    headings = [wrap(name, side * POINTS_PER_MM, lines=2, size=HEADING, weight=HEAVY) for name in names]
    return ConfusionGrid(
        columns=min(len(names), 2),
        side=side,
        left=_AXIS_NAME + label,
        below=_AXIS_NAME + 4.5,
        headings=tuple(map(tuple, headings)),
        has_key=len(labels) > MOST_NUMBERED,
        on_page=True,
    )


def shorten_labels(labels: Sequence[str]) -> list[str]:
    """Return labels that are short enough to stand beside a panel."""
    return [shorten_text(label, _WIDEST_LABEL * POINTS_PER_MM) for label in labels]


def are_level(labels: Sequence[str], side: float) -> bool:
    """Whether all labels fit side by side under their columns."""
    return max(map(text_width, shorten_labels(labels))) + 4.0 <= side * POINTS_PER_MM / len(labels)
