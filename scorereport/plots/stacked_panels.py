"""Panels one above the other over a common time axis, each with a heading, and labels on their right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scorereport.plots.canvas import POINTS_PER_MM, WIDTH, Canvas
from scorereport.plots.label_placement import SizedAxes
from scorereport.plots.style import HEADING, HEAVY, MUTED, SMALL
from scorereport.plots.text import text_width
from scorereport.plots.trend_picture import spread_labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Room on the left of the panels for the labels of their ticks, as a rule, and on their right.
_LEFT, _LABELS = 13.0, 43.0
#: Heights: the lines above a panel, the gap below it, and the dates below the last panel.
_ABOVE, _BELOW, _DATES = 9.5, 4.0, 6.0
_LOWEST, _HIGHEST = 27.0, 205.0
#: Height of a line of labels, and distance from a panel to its labels, in points.
_LINE, _APART = 9.5, 11.0
#: Dashes of limits and alarm lines.
DASHED = (0, (4, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class SideLabel:
    """A text to the right of a panel, the height of its value, and their colours."""

    text: str
    height: float
    start: float
    colour: str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelStack:
    """A figure of panels of the same size, as high as the labels of one of them need."""

    canvas: Canvas
    panels: int
    height: float
    left: float
    right: float

    @classmethod
    def of(cls, panels: int, labels: int, *, left: float = _LEFT, right: float = _LABELS) -> PanelStack:
        """Return an empty figure for panels with at most this many labels each, and room on both sides."""
        needed = max(_LOWEST, labels * _LINE / POINTS_PER_MM)
        height = min(needed, (_HIGHEST - _DATES) / panels - _ABOVE - _BELOW)
        row = _ABOVE + height + _BELOW
        canvas = Canvas.of(WIDTH, panels * row + _DATES)
        canvas.divide([place * row for place in range(panels)])
        return cls(canvas=canvas, panels=panels, height=height, left=left, right=right)

    def list_panels(self) -> Iterator[SizedAxes]:
        """Add the panels, from the top."""
        for place in range(self.panels):
            width = WIDTH - self.left - self.right
            axes = self.canvas.panel(self.left, self._top(place) + _ABOVE, width, self.height)
            yield SizedAxes(axes, width * POINTS_PER_MM, self.height * POINTS_PER_MM)

    def write_heading(self, place: int, label: str, remark: str = "") -> None:
        """Write the heading of a panel, with a muted remark after it."""
        style: dict[str, Any] = {"size": HEADING, "weight": HEAVY}
        top = self._top(place) + 3.8
        self.canvas.write(self.left - 1.0, top, label, va="baseline", **style)
        after = self.left - 0.4 + text_width(label, HEADING, HEAVY) / POINTS_PER_MM
        text = f" · {remark}" if remark else ""
        self.canvas.write(after, top, text, va="baseline", size=SMALL, color=MUTED)

    def _top(self, place: int) -> float:
        return place * (_ABOVE + self.height + _BELOW)


def find_height(panel: SizedAxes, value: float) -> float:
    """Return the height of a value above the lower end of a panel, in points."""
    return float((value - panel.axes.get_ylim()[0]) * panel.scale[1])


def label_room(panel: SizedAxes) -> float:
    """Return the largest width of a label on the right of a panel, in points."""
    return float((1 - panel.axes.get_position().x1) * WIDTH * POINTS_PER_MM) - _APART - 1


def write_side_labels(panel: SizedAxes, labels: Sequence[SideLabel]) -> None:
    """Write labels to the right of a panel without overlap, each with a hairline from its value."""
    axes, left = panel.axes, panel.width + _APART
    places = spread_labels([label.height for label in labels], panel.height, _LINE)
    for label, at in zip(labels, places, strict=True):
        axes.plot(
            [label.start / panel.width, (left - 2) / panel.width],
            [label.height / panel.height, at / panel.height],
            transform=axes.transAxes,
            clip_on=False,
            scalex=False,
            scaley=False,
            color=label.line,
            linewidth=0.5,
        )
        axes.text(
            left / panel.width,
            at / panel.height,
            label.text,
            transform=axes.transAxes,
            va="center_baseline",
            size=SMALL,
            color=label.colour,
        )
