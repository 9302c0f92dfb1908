"""One panel of model against source probability: bins as bubbles, the three marks and their line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport._utils.formatting import format_number
from scorereport.inference.scale_results import OVER, UNDER
from scorereport.plots.canvas import set_axis
from scorereport.plots.label_placement import CurveLabel, SizedAxes, label_curves
from scorereport.plots.style import INK, MUTED, ON_PAPER, PAPER, SMALL, lighten
from scorereport.plots.text import drop_zero, text_width
from scorereport.plots.zoom import UNIT, window_ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.scale_results import ScaleResult
    from scorereport.plots.label_placement import Line
    from scorereport.plots.style import ModelStyle
    from scorereport.plots.zoom import Window

#: The marks from left to right, with their markers and sizes; accuracy is the mean itself.
MEAN_MARKERS = {"robustness": ("v", 5.0), "accuracy": ("o", 6.5), "decisiveness": ("^", 5.0)}
#: Diameter of the largest bubble against the side of a panel, and room for half of it around the window.
_LARGEST, _AROUND = 0.11, 0.06
#: Panels at least this wide, in points, have the numbers of the marks beside their names.
_WIDE = 250.0
_LINE_HEIGHT, _MARGIN = 10.0, 3.0
_WIDTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
#: A window shows at least this share of what came, of each model.
_SHARE = 0.95


class Bubbles(NamedTuple):
    """Bins that something came true in, with the diameters of their bubbles in points."""

    source: FloatArray
    model: FloatArray
    diameter: FloatArray


class ScalePanel(NamedTuple):
    """A model in its panel; `window` and `largest`, the largest contribution, are those of all panels."""

    axes: Axes
    side: float
    results: tuple[ScaleResult, ScaleResult]
    look: ModelStyle
    window: Window
    largest: float

    def draw(self) -> None:
        """Draw bubbles, marks, their line and labels."""
        axes = self.axes
        axes.plot(self.window, self.window, color=MUTED, linewidth=0.6, zorder=1)
        cut, fitted = (self._bubbles(result) for result in self.results)
        filled: dict[str, Any] = {"color": lighten(self.look.colour, 0.35), "linewidths": 0, "zorder": 2}
        outlined: dict[str, Any] = {"edgecolors": self.look.colour, "facecolors": "none", "linewidths": 0.7}
        axes.scatter(cut.source, cut.model, s=cut.diameter**2, clip_on=False, **filled)
        axes.scatter(fitted.source, fitted.model, s=fitted.diameter**2, clip_on=False, zorder=3, **outlined)
        places = self._marks()
        x, y = places.T
        axes.plot(x, y, color=INK, linewidth=1.1, zorder=4)
        for (marker, size), place in zip(MEAN_MARKERS.values(), places, strict=True):
            style: dict[str, Any] = {"marker": marker, "markersize": size, "color": INK, "clip_on": False}
            axes.plot(*place, mec=PAPER, mew=0.6, zorder=5, **style)
        self._write([*_circles(cut, self._unit), *_circles(fitted, self._unit)], places)

    @property
    def _unit(self) -> float:
        """What a point of paper is on the axes."""
        return (self.window[1] - self.window[0]) * (1 + 2 * _AROUND) / self.side

    @property
    def _origin(self) -> float:
        """The lower end of both axes."""
        return self.axes.get_xlim()[0]

    def _bubbles(self, result: ScaleResult) -> Bubbles:
        seen = lies_in_window(result, self.window)
        share = result.contribution[seen] / self.largest
        return Bubbles(result.source[seen], result.model[seen], np.sqrt(share) * _LARGEST * self.side)

    def _marks(self) -> FloatArray:
        found = [getattr(self.results[0], name) for name in MEAN_MARKERS]
        return np.array([(mark.source.value, mark.model.value) for mark in found])

    def _write(self, circles: list[Line], places: FloatArray) -> None:
        line, diagonal = _dense(places), _dense(np.array([self.window[:1] * 2, self.window[1:] * 2]))
        obstacles = [*circles, line, diagonal]
        obstacles.append(self._write_angles(obstacles))
        points = [(np.array([x]), np.array([y])) for x, y in places]
        label_curves(SizedAxes(self.axes, self.side, self.side), points, self._labels(), obstacles)

    def _labels(self) -> list[CurveLabel]:
        marks = {name: getattr(self.results[0], name) for name in MEAN_MARKERS}
        return [
            CurveLabel(
                name=name,
                look=self.look,
                remark=f"model {_format_probability(mark.model.value)}, source {_format_probability(mark.source.value)}"
                if self.side >= _WIDE
                else "",
                has_line=False,
            )
            for name, mark in marks.items()
        ]

    def _write_angles(self, obstacles: Sequence[Line]) -> Line:
        """Write the angles where nothing else is, if such a place is at hand; return the box they fill."""
        lines = _describe_angles(*self.results)
        size = max(map(text_width, lines)) + _MARGIN, 2 * _LINE_HEIGHT + _MARGIN
        left, bottom = self._find_corner(size, obstacles)
        for number, text in enumerate(lines):
            y = bottom + size[1] - (number + 0.5) * _LINE_HEIGHT
            x, ha = (_MARGIN, "left") if left == 0 else (self.side - 1.0, "right")
            style: dict[str, Any] = {"transform": self.axes.transAxes, "size": SMALL, "zorder": 6}
            style |= {"ha": ha, "va": "center_baseline", "bbox": ON_PAPER, "color": MUTED if number else INK}
            self.axes.text(x / self.side, y / self.side, text, **style)
        return self._fill(left, bottom, *size)

    def _find_corner(self, size: tuple[float, float], obstacles: Sequence[Line]) -> tuple[float, float]:
        """The first corner, from both ends of the other diagonal inwards, at which a box hides nothing."""
        steps = np.arange(0.0, self.side - size[1], _LINE_HEIGHT).tolist()
        corners = [c for s in steps for c in ((0.0, self.side - size[1] - s), (self.side - size[0], s))]
        return next((c for c in corners if not self._hides(c, size, obstacles)), corners[0])

    def _hides(
        self, corner: tuple[float, float], size: tuple[float, float], obstacles: Sequence[Line]
    ) -> bool:
        low = np.array(corner) * self._unit + self._origin
        high = low + np.array(size) * self._unit
        points = np.concatenate([np.column_stack(line) for line in obstacles])
        return bool(((points >= low) & (points <= high)).all(axis=1).any())

    def _fill(self, left: float, bottom: float, width: float, height: float) -> Line:
        """A line to and fro over a box, so that nothing else finds room there."""
        y = np.repeat(np.linspace(bottom - _MARGIN, bottom + height + _MARGIN, 9), 2)
        x = np.resize([left, left + width, left + width, left], len(y))
        return x * self._unit + self._origin, y * self._unit + self._origin


def choose_scale_window(results: Sequence[ScaleResult]) -> Window:
    """From 0 to the least round number that no mark exceeds and nearly all of what came lies below."""
    marks = [v for r in results for mark in r.marks for v in (mark.model.value, mark.source.value)]
    highest = float(np.nanmax(marks, initial=0.0))
    for width in _WIDTHS:
        window = (0.0, width)
        if highest <= width and all(share_in_window(result, window) >= _SHARE for result in results):
            return window
    return UNIT


def lies_in_window(result: ScaleResult, window: Window) -> NDArray[np.bool_]:
    """Which bins are drawn: those that something came true in, unless they lie outside the window."""
    return (result.events > 0) & (result.source <= window[1]) & (np.nan_to_num(result.model) <= window[1])


def share_in_window(result: ScaleResult, window: Window) -> float:
    """The share of what came whose bins are drawn."""
    return float(result.contribution[lies_in_window(result, window)].sum())


def set_scale_axes(axes: Axes, window: Window, *, x_label: str, y_label: str) -> None:
    """Give both axes the same window, with room for bubbles around it."""
    ticks, room = list(window_ticks(window)), _AROUND * (window[1] - window[0])
    limits = (window[0] - room, window[1] + room)
    set_axis(axes, "x", limits, ticks, x_label)
    set_axis(axes, "y", limits, ticks, y_label)
    for side in ("left", "bottom"):
        axes.spines[side].set_bounds(*window)


def _circles(bubbles: Bubbles, unit: float) -> list[Line]:
    turn = np.linspace(0, 2 * np.pi, 17)
    return [
        (x + d / 2 * unit * np.cos(turn), y + d / 2 * unit * np.sin(turn))
        for x, y, d in zip(*bubbles, strict=True)
    ]


def _dense(ends: FloatArray) -> Line:
    """Many points along a line."""
    at = np.linspace(0, len(ends) - 1, 50)
    x, y = (np.interp(at, np.arange(len(ends)), part) for part in ends.T)
    return x, y


def _describe_angles(cut: ScaleResult, fitted: ScaleResult) -> list[str]:
    """The angle in equal-count bins with its verdict, and that in CORP blocks, whose verdict may differ."""
    first = f" {cut.verdict}" if cut.verdict in {OVER, UNDER} else ""
    differs = fitted.verdict != cut.verdict and {cut.verdict, fitted.verdict} & {OVER, UNDER}
    second = f", {fitted.verdict}" if differs and fitted.verdict else ""
    return [f"{_angle(cut)}{first}", f"CORP blocks {_angle(fitted)}{second}"]


def _angle(result: ScaleResult) -> str:
    return "no angle" if np.isnan(result.angle) else f"{format_number(result.angle, 0)}°"


def _format_probability(value: float) -> str:
    return drop_zero(format_number(value, 2 if value >= 0.1 else 3)) if value else "0"
