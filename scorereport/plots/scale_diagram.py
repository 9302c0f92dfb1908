"""Scale diagram: model against source probability, with bins as bubbles, three means and their line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport._utils.formatting import format_number, format_percent, join_words
from scorereport.inference.scale_results import OVER, UNDER
from scorereport.plots.canvas import POINTS_PER_MM, set_axis, square_panels
from scorereport.plots.geometry import UNIT, window_ticks
from scorereport.plots.label_placement import CurveLabel, SizedAxes, label_curves
from scorereport.plots.style import (
    INK,
    MUTED,
    ON_PAPER,
    PAPER,
    SMALL,
    lighten,
    model_style,
    report_style,
)
from scorereport.plots.text import drop_zero, format_probability, join_sentences, text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.scale_results import ScaledModel, ScaleResult
    from scorereport.plots.geometry import Window
    from scorereport.plots.label_placement import Line
    from scorereport.plots.style import ModelStyle


#: The three means from left to right, with their markers and sizes.
MEAN_MARKERS = {"robustness": ("v", 5.0), "accuracy": ("o", 6.5), "decisiveness": ("^", 5.0)}
#: Diameter of the largest bubble as a share of the side of a panel, and margin around the window.
_LARGEST, _AROUND = 0.11, 0.06
#: Least width of a panel, in points, that has the values of the means beside their names.
_WIDE = 250.0
_LINE_HEIGHT, _MARGIN = 10.0, 3.0
_WIDTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
#: Least share of the observed outcomes of each model that a window shows.
_SHARE = 0.95


class Bubbles(NamedTuple):
    """Bins with observed outcomes, with the diameters of their bubbles in points."""

    source: FloatArray
    model: FloatArray
    diameter: FloatArray


class ScalePanel(NamedTuple):
    """The panel of a model; `window` and `largest`, the largest contribution, are those of all panels."""

    axes: Axes
    side: float
    results: tuple[ScaleResult, ScaleResult]
    look: ModelStyle
    window: Window
    largest: float

    def draw(self) -> None:
        """Draw bubbles, means, their line and labels."""
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
        """Return the length of one point of paper in units of the axes."""
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
                remark=f"model {_format_probability(mark.model.value)}, source "
                f"{_format_probability(mark.source.value)}"
                if self.side >= _WIDE
                else "",
                has_line=False,
            )
            for name, mark in marks.items()
        ]

    def _write_angles(self, obstacles: Sequence[Line]) -> Line:
        """Write the angles in an empty place, if there is one; return the box that they fill."""
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
        """Return the first corner, from both ends of the other diagonal, where a box hides nothing."""
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
        """Return a zigzag line over a box, so that other labels avoid it."""
        y = np.repeat(np.linspace(bottom - _MARGIN, bottom + height + _MARGIN, 9), 2)
        x = np.resize([left, left + width, left + width, left], len(y))
        return x * self._unit + self._origin, y * self._unit + self._origin


def choose_scale_window(results: Sequence[ScaleResult]) -> Window:
    """Return a window from 0 to the smallest round number above all means and nearly all outcomes."""
    marks = [v for r in results for mark in r.marks for v in (mark.model.value, mark.source.value)]
    highest = float(np.nanmax(marks, initial=0.0))
    for width in _WIDTHS:
        window = (0.0, width)
        if highest <= width and all(share_in_window(result, window) >= _SHARE for result in results):
            return window
    return UNIT


def lies_in_window(result: ScaleResult, window: Window) -> NDArray[np.bool_]:
    """Return which bins are drawn: those with observed outcomes that lie inside the window."""
    return (result.events > 0) & (result.source <= window[1]) & (np.nan_to_num(result.model) <= window[1])


def share_in_window(result: ScaleResult, window: Window) -> float:
    """Return the share of the observed outcomes whose bins are drawn."""
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
    """Return many points along a line."""
    at = np.linspace(0, len(ends) - 1, 50)
    x, y = (np.interp(at, np.arange(len(ends)), part) for part in ends.T)
    return x, y


def _describe_angles(cut: ScaleResult, fitted: ScaleResult) -> list[str]:
    """Return the angles in equal-count bins and in CORP blocks, with verdicts, the second if it differs."""
    first = f" {cut.verdict}" if cut.verdict in {OVER, UNDER} else ""
    differs = fitted.verdict != cut.verdict and {cut.verdict, fitted.verdict} & {OVER, UNDER}
    second = f", {fitted.verdict}" if differs and fitted.verdict else ""
    return [f"{_angle(cut)}{first}", f"CORP blocks {_angle(fitted)}{second}"]


def _angle(result: ScaleResult) -> str:
    return "no angle" if np.isnan(result.angle) else f"{format_number(result.angle, 0)}°"


def _format_probability(value: float) -> str:
    return drop_zero(format_number(value, 2 if value >= 0.1 else 3)) if value else "0"


def plot_scale(models: Sequence[ScaledModel], *, first: int = 0) -> Figure:
    """Draw model against source probability of all classes together: bins, means and their line.

    `first` is the index of the first model among all models, which determines its colour.
    """
    with report_style():
        grid = square_panels([model.model for model in models])
        overall = [(model.scale[0], model.scale[1]) for model in models]
        window = choose_scale_window([result for pair in overall for result in pair])
        largest = max(float(np.max(result.contribution)) for pair in overall for result in pair)
        canvas = grid.canvas()
        for place, results in enumerate(overall):
            axes = grid.panel(canvas, place)
            set_scale_axes(
                axes,
                window,
                x_label="Source probability",
                y_label="Model probability" if grid.is_leftmost(place) else "",
            )
            if not grid.is_leftmost(place):
                axes.set_yticklabels([])
            ScalePanel(
                axes, grid.width * POINTS_PER_MM, results, model_style(first + place), window, largest
            ).draw()
        return canvas.figure


def describe_scale(models: Sequence[ScaledModel]) -> str:
    """Describe the means of model and source, and the verdict on the angle."""
    opening = (
        f"Model probability against source probability of {join_words([m.model for m in models])}, in "
        "equal-count bins and CORP blocks, with decisiveness, accuracy and robustness; on the diagonal both "
        "agree."
    )
    return join_sentences([opening, describe_window(models), *(_describe(model) for model in models)])


def describe_window(models: Sequence[ScaledModel]) -> str:
    """Describe the part of the unit interval that is shown; empty if all of it."""
    overall = [result for model in models for result in model.scale[:2]]
    window = choose_scale_window(overall)
    if window == UNIT:
        return ""
    hidden = 1 - min(share_in_window(result, window) for result in overall)
    rest = (
        f", which leaves out bins with at most {format_percent(hidden)} of the observed outcomes"
        if hidden > 0
        else ""
    )
    return f"The axes end at {format_probability(window[1])}{rest}."


def _describe(model: ScaledModel) -> str:
    cut, fitted = model.scale[:2]
    marks = [
        f"{name} {format_probability(mark.model.value)} against {format_probability(mark.source.value)}"
        for name, mark in zip(("decisiveness", "accuracy", "robustness"), cut.marks, strict=True)
    ]
    source = format_probability(fitted.accuracy.source.value)
    return (
        f"{model.model}: {join_words(marks)} in equal-count bins; accuracy of the source {source} in CORP "
        f"blocks. {cut.sentence}"
    )
