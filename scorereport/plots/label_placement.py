"""Placement of labels: each beside its curve or point, away from other curves and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport.plots.style import INK, MUTED, ON_PAPER, SMALL, ModelStyle
from scorereport.plots.text import text_width, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray

    Line = tuple[FloatArray, FloatArray]

#: All lengths are in points of paper.
_LINE_HEIGHT, _SAMPLE, _AFTER_SAMPLE = 10.0, 18.0, 3.5
_WIDEST = 125.0
#: Distance from a curve to its label; a label farther away has a hairline to its curve.
_GAP = 3.5
#: Additional distance of the label of a point, for its marker.
_MARKER = 2.5
_CLEARANCE = 2.0
#: Digits of distances that are compared: no place depends on the last bit of a float.
_DIGITS = 6
#: Width of a panel from which on each curve has its label, even if it overlaps with others.
_SMALLEST = 150.0
#: Distance from other curves beyond which more is not better.
_FAR = 20.0
#: Distance from other curves beyond which a place clearly belongs to its own curve.
_APART = 15.0
#: Directions from a curve to the centre of its label, the best first.
_DIRECTIONS = np.array([(1, 0), (0.7, 0.7), (0.7, -0.7), (0, 1), (0, -1), (-0.7, 0.7), (-0.7, -0.7), (-1, 0)])
_PENALTY = 0.6 * np.arange(len(_DIRECTIONS))


class CurveLabel(NamedTuple):
    """The name of a curve, its style, and a muted remark below its name.

    The name of a curve is shown with a sample of its line; that of a point has none and hides its background.
    """

    name: str
    look: ModelStyle
    remark: str = ""
    colour: str = INK
    has_line: bool = True

    def lines(self) -> list[str]:
        """Return the text of the label, broken into lines."""
        return [*wrap(self.name, _WIDEST), *([self.remark] if self.remark else [])]


class _Box(NamedTuple):
    """The box of a label, and the place on its curve to which a hairline leads, if any."""

    left: float
    bottom: float
    width: float
    height: float
    anchor: tuple[float, float] | None = None


class SizedAxes(NamedTuple):
    """Axes and their size on paper."""

    axes: Axes
    width: float
    height: float

    @classmethod
    def of(cls, axes: Axes) -> SizedAxes:
        """Measure axes as they are now; a layout that is computed later may change their size."""
        axes.apply_aspect()
        box, dots = axes.get_window_extent(), axes.figure.dpi / 72
        return cls(axes, box.width / dots, box.height / dots)

    @property
    def figure(self) -> Figure:
        """Return the whole figure, of which the axes may be in a part."""
        return self.axes.figure.figure

    @property
    def scale(self) -> tuple[float, float]:
        """Return the points of paper per unit on each axis."""
        (left, right), (bottom, top) = self.axes.get_xlim(), self.axes.get_ylim()
        return self.width / (right - left), self.height / (top - bottom)

    def on_paper(self, line: Line) -> FloatArray:
        """Return the places of a line inside the panel, in points from its lower left corner."""
        (left, _), (bottom, _) = self.axes.get_xlim(), self.axes.get_ylim()
        x, y = ((np.asarray(v) - low) * s for v, low, s in zip(line, (left, bottom), self.scale, strict=True))
        dense = _dense(np.column_stack([x, y]), 4.0)
        inside = (dense >= -1).all(axis=1) & (dense <= (self.width + 1, self.height + 1)).all(axis=1)
        return dense[inside]


def label_curves(
    panel: SizedAxes, lines: Sequence[Line], labels: Sequence[CurveLabel], obstacles: Sequence[Line] = ()
) -> None:
    """Write the label of each line or point beside it, where nothing else is drawn."""
    places = [panel.on_paper(line) for line in lines]
    others = [panel.on_paper(line) for line in obstacles]
    boxes: list[_Box] = []
    for number, label in enumerate(labels):
        if len(places[number]):
            foreign = [*places[:number], *places[number + 1 :], *others]
            gap = _GAP if label.has_line else _GAP + _MARKER
            box = _choose_box(panel, (places[number], foreign), _size(label), boxes, gap)
            if box is not None:
                boxes.append(box)
                _write(panel, label, box)


def _size(label: CurveLabel) -> tuple[float, float]:
    lines = label.lines()
    sample = _SAMPLE + _AFTER_SAMPLE if label.has_line else 0.0
    return max(map(text_width, lines)) + sample, _LINE_HEIGHT * len(lines)


def _choose_box(
    panel: SizedAxes,
    lines: tuple[FloatArray, list[FloatArray]],
    size: tuple[float, float],
    taken: list[_Box],
    gap: float,
) -> _Box | None:
    """Return the box beside the curve with the most room, or else the nearest free box anywhere.

    A small panel may have no room; a legend can name its curves.
    """
    own, elsewhere = lines[0], np.concatenate([*lines[1], np.empty((0, 2))])
    anchors = own[:: max(len(own) // 30, 1)]
    corner = _beside(anchors, size, gap)
    room = _measure_clearance(panel, corner, size, (own, elsewhere), taken)
    if (room > 0).any():
        alone = np.repeat(_isolation(anchors, elsewhere), len(_DIRECTIONS))
        worth = np.round(np.minimum(room, _FAR) + alone - np.tile(_PENALTY, len(anchors)), _DIGITS)
        x, y = corner[int(np.where(room > 0, worth, -np.inf).argmax())]
        return _Box(float(x), float(y), *size)
    corner = _everywhere(panel, size)
    away = np.where(
        _measure_clearance(panel, corner, size, (own, elsewhere), taken) > 0,
        np.round(_distance(corner, size, own), _DIGITS),
        np.inf,
    )
    if panel.width < _SMALLEST and not np.isfinite(away).any():
        return None
    x, y = corner[int(away.argmin())]
    end = own[int(np.hypot(*(own - (x + size[0] / 2, y + size[1] / 2)).T).argmin())]
    return _Box(float(x), float(y), *size, (float(end[0]), float(end[1])))


def _beside(anchors: FloatArray, size: tuple[float, float], gap: float) -> FloatArray:
    """Return the lower left corners of boxes in all directions from each anchor."""
    half = np.array(size) / 2
    shift = _DIRECTIONS * gap + np.sign(_DIRECTIONS) * half - half
    return (anchors[:, None, :] + shift[None]).reshape(-1, 2)


def _everywhere(panel: SizedAxes, size: tuple[float, float]) -> FloatArray:
    """Return the lower left corners of boxes all over the panel."""
    x, y = (np.arange(2.0, max(end - s, 3.0), 10.0) for end, s in zip(panel[1:], size, strict=True))
    return np.column_stack([part.ravel() for part in np.meshgrid(x, y)])


def _measure_clearance(
    panel: SizedAxes,
    corner: FloatArray,
    size: tuple[float, float],
    lines: tuple[FloatArray, FloatArray],
    taken: list[_Box],
) -> FloatArray:
    """Return the distance of each box from other curves; 0 where a box is not possible."""
    is_free = _is_inside(panel, corner, size)
    for box in taken:
        is_free &= ~_overlaps(corner, size, box)
    room = np.zeros(len(corner))
    own, elsewhere = (_distance(corner[is_free], size, points) for points in lines)
    room[is_free] = np.where((own >= _CLEARANCE) & (elsewhere >= _CLEARANCE), elsewhere, 0.0)
    return room


def _isolation(anchors: FloatArray, elsewhere: FloatArray) -> FloatArray:
    """Return how far places on a curve are from all other curves; this counts more than room."""
    return 2 * np.minimum(_distance(anchors, (0.0, 0.0), elsewhere), _APART)


def _distance(corner: FloatArray, size: tuple[float, float], points: FloatArray) -> FloatArray:
    """Return the distance of each box from the nearest of some points."""
    if len(points) == 0:
        return np.full(len(corner), np.inf)
    beyond = [
        np.maximum(
            np.maximum(
                corner[:, None, k] - points[None, :, k], points[None, :, k] - corner[:, None, k] - size[k]
            ),
            0,
        )
        for k in (0, 1)
    ]
    return np.asarray(np.hypot(*beyond).min(axis=1))


def _is_inside(panel: SizedAxes, corner: FloatArray, size: tuple[float, float]) -> NDArray[np.bool_]:
    last = np.array([panel.width, panel.height]) - size
    return np.asarray(((corner >= 0) & (corner <= last)).all(axis=1))


def _overlaps(corner: FloatArray, size: tuple[float, float], box: _Box) -> NDArray[np.bool_]:
    apart = 3.0
    x = (corner[:, 0] < box.left + box.width + apart) & (corner[:, 0] + size[0] + apart > box.left)
    return (
        x & (corner[:, 1] < box.bottom + box.height + apart) & (corner[:, 1] + size[1] + apart > box.bottom)
    )


def _dense(points: FloatArray, step: float) -> FloatArray:
    """Return points along a line at most a step apart, without those that are not finite."""
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) < 2:
        return points
    along = np.append(0.0, np.cumsum(np.hypot(*np.diff(points, axis=0).T)))
    at = np.linspace(0, along[-1], min(int(along[-1] / step) + 2, 2000))
    return np.column_stack([np.interp(at, along, points[:, k]) for k in (0, 1)])


def _write(panel: SizedAxes, label: CurveLabel, box: _Box) -> None:
    axes, shape = panel.axes, (panel.width, panel.height)

    def draw(points: Sequence[tuple[float, float]], **style: Any) -> None:
        x, y = zip(*((x / shape[0], y / shape[1]) for x, y in points), strict=True)
        axes.plot(x, y, transform=axes.transAxes, clip_on=False, scalex=False, scaley=False, **style)

    top = box.bottom + box.height - _LINE_HEIGHT / 2
    left = box.left + (_SAMPLE + _AFTER_SAMPLE if label.has_line else 0.0)
    if label.has_line:
        draw([(box.left, top), (box.left + _SAMPLE, top)], zorder=6, **label.look.line())
    if box.anchor is not None:
        draw([box.anchor, _nearest(box)], color=MUTED, linewidth=0.4, zorder=2)
    lines = label.lines()
    for number, text in enumerate(lines):
        is_remark = bool(label.remark) and number == len(lines) - 1
        axes.text(
            left / shape[0],
            (top - number * _LINE_HEIGHT) / shape[1],
            text,
            transform=axes.transAxes,
            va="center_baseline",
            size=SMALL,
            color=MUTED if is_remark else label.colour,
            zorder=6,
            bbox=None if label.has_line else ON_PAPER,
        )


def _nearest(box: _Box) -> tuple[float, float]:
    """Return the place of a box that is nearest to its anchor."""
    x, y = box.anchor or (0.0, 0.0)
    return (
        float(np.clip(x, box.left, box.left + box.width)),
        float(np.clip(y, box.bottom, box.bottom + box.height)),
    )
