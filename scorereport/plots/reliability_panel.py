"""One panel of a reliability diagram, and a guide to its symbols in the place of an unused panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from scorereport._utils.formatting import format_level, format_number, format_percent
from scorereport.plots.canvas import POINTS_PER_MM, Canvas, fill_outline
from scorereport.plots.geometry import UNIT, band_lines, cut_line, flat_runs, simplify, step_outline
from scorereport.plots.style import (
    HEADING,
    INK,
    MUTED,
    ON_PAPER,
    QUIET,
    SMALL,
    ModelStyle,
    heavy_weight,
    lighten,
    model_style,
)
from scorereport.plots.text import drop_zero, find_decomposition, format_short, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

    from scorereport._utils.arrays import FloatArray
    from scorereport.plots.geometry import HasCurves, Window
    from scorereport.reliability.bands import Band
    from scorereport.results.model_records import ModelScores


THICK = 2.3
_THIN = 0.9
#: Shortest level part that is drawn thick; shorter ones would look like dots.
_SHORTEST = 2 * THICK
#: Most discrete forecasts that are drawn as dots.
_MOST_DOTS = 60
_VEIL = 0.2
#: Panels with a longer side, in points, have room for text.
_LARGE = 250.0
#: Share of a panel's height that the highest bar of the histogram takes.
_BARS = 0.13
#: Width and height of the numbers in a panel, in points.
_BOX = (56.0, 33.0)
#: Panels with a shorter side have no room for the numbers.
_LEAST_FOR_NUMBERS = 2 * _BOX[0]


class HasDiagram(Protocol):
    """The content of a diagram: a binary model, or a binary view of a class model."""

    @property
    def scores(self) -> ModelScores:
        """The scores, including the decomposition of the Brier score."""

    @property
    def curves(self) -> HasCurves:
        """Reliability curve and histogram."""

    @property
    def bands(self) -> tuple[Band, ...]:
        """The bands."""


class PanelSettings(NamedTuple):
    """Settings that all panels of a figure share."""

    window: Window
    prevalence: float
    decimals: int
    #: The kind of the bands that are drawn; empty for none.
    band: str = "consistency"
    #: Whether numbers hide what is behind them, in panels without room for them.
    hides: bool = False


def outline_style(look: ModelStyle) -> dict[str, Any]:
    """Return the line style of a simultaneous band."""
    return {"color": lighten(look.colour, 0.55), "linewidth": 0.6, "linestyle": (0, (3.5, 2.5))}


class ReliabilityPanel(NamedTuple):
    """One diagram: its axes, the size of a side in points, its content and its style."""

    axes: Axes
    side: float
    model: HasDiagram
    look: ModelStyle
    common: PanelSettings
    #: Keywords of Matplotlib for the curve.
    keywords: dict[str, Any] = {}  # noqa: RUF012  # never changed

    @property
    def name(self) -> str:
        """Return the name of the model; a view of a class model has none."""
        return getattr(self.model, "model", "")

    @property
    def window(self) -> Window:
        """Return the part of the unit interval that is shown."""
        return self.common.window

    @property
    def scale(self) -> tuple[float, float]:
        """Return the points of paper per unit of probability."""
        scale = self.side / (self.window[1] - self.window[0])
        return scale, scale

    def draw(self, *, with_numbers: bool = True) -> None:
        """Draw the diagram, background first; a small panel may leave the numbers to its heading."""
        self.draw_bands()
        self._draw_histogram()
        self.draw_references()
        self.draw_curve()
        if with_numbers and self.side >= _LEAST_FOR_NUMBERS:
            self._write_numbers()
        self._write_share_beyond()

    def draw_bands(self) -> None:
        """Draw the bands of the model."""
        for band in self._bands("pointwise"):
            self._fill(band)
        for band in self._bands("simultaneous"):
            self._outline(band)

    def draw_references(self) -> None:
        """Draw the diagonal, and mark the prevalence."""
        self.axes.plot(self.window, self.window, color=MUTED, linewidth=0.6, clip_on=False)
        self._mark_prevalence()

    def _bands(self, coverage: str) -> list[Band]:
        return bands_of(self.model, coverage, self.common.band)

    def _fill(self, band: Band) -> None:
        (x, lower), (x_upper, upper) = (simplify(*line, self.scale) for line in self._bounds(band))
        if x[-1] == x[0]:
            half = 4 / self.scale[0]
            x, x_upper = (np.array([x[0] - half, x[0] + half]) for _ in range(2))
            lower, upper = lower[[0, 0]], upper[[0, 0]]
        # transparent, so that the histogram remains visible
        places = np.append(x, x_upper[::-1]), np.append(lower, upper[::-1])
        fill_outline(self.axes, *places, color=self.look.colour, alpha=_VEIL, linewidth=0, zorder=1.5)

    def _outline(self, band: Band) -> None:
        for line in self._bounds(band):
            x, bound = simplify(*line, self.scale)
            if x[-1] == x[0]:  # with one forecast, a short dash
                half = 4 / self.scale[0]
                x, bound = np.array([x[0] - half, x[0] + half]), bound[[0, 0]]
            self.axes.plot(x, bound, zorder=2, **outline_style(self.look))

    def _bounds(self, band: Band) -> list[tuple[FloatArray, FloatArray]]:
        """Return both bounds of a band between the smallest and the largest forecast."""
        forecast = self.model.curves.reliability.forecast
        return [cut_line(*line, forecast[0], forecast[-1]) for line in band_lines(band)]

    def _draw_histogram(self) -> None:
        histogram = self.model.curves.histogram
        base, height = self.window[0], _BARS * (self.window[1] - self.window[0])
        bars = histogram.n / histogram.n.max() * height
        if (histogram.upper > histogram.lower).any():
            x, y = step_outline(histogram.lower, histogram.upper, bars)
            fill_outline(self.axes, x, base + y, color=QUIET, linewidth=0, zorder=1)
        else:
            width = float(np.clip(0.35 * self.side / len(bars), 0.5, 4.0))
            stems = self.axes.vlines(histogram.lower, base, base + bars, color=QUIET, linewidth=width)
            stems.set(clip_on=self.window != UNIT, zorder=1)

    def draw_curve(self) -> None:
        """Draw the reliability curve, thick where forecasts are pooled into one block."""
        curve = self.model.curves.reliability
        x, y = simplify(curve.forecast, curve.cep, self.scale)
        colour = self.look.colour
        style: dict[str, Any] = {"color": colour, "solid_joinstyle": "round", "clip_on": self.window != UNIT}
        style |= self.keywords
        thin = style.pop("linewidth", _THIN)
        self.axes.plot(x, y, **{"linewidth": thin, "zorder": 4, "label": self.name, **style})
        style.pop("label", None)
        flat = flat_runs(curve.forecast, curve.cep, _SHORTEST / self.scale[0])
        if len(flat[0]):
            self.axes.plot(*flat, **{"linewidth": thin * THICK / _THIN, "zorder": 5, **style})
        if curve.forecast_type == "discrete" and len(curve.forecast) <= _MOST_DOTS:
            size = 4.5 if len(curve.forecast) == 1 else 3.2
            dots = {"marker": "o", "linestyle": "none", "markersize": size, "markeredgewidth": 0, "zorder": 5}
            self.axes.plot(curve.forecast, curve.cep, **{**dots, **style, "linestyle": "none"})

    def _mark_prevalence(self) -> None:
        """Draw triangles at the prevalence on both axes, with a label where a large panel has room."""
        prevalence, (lower, upper) = self.common.prevalence, self.window
        if not lower <= prevalence <= upper:
            return
        for x, y, marker in ((lower, prevalence, ">"), (prevalence, lower, "^")):
            self.axes.plot(x, y, marker=marker, color=MUTED, ms=3, mew=0, clip_on=False, zorder=3)
        height, text = self._height_of_prevalence(), f"prevalence {format_short(prevalence, 3)}"
        is_large = self.side > _LARGE and _BARS + 0.03 < height < 0.97
        if is_large and self._crowd(0.0, height + 0.02, 0.24, 0.04) == 0:
            style: dict[str, Any] = {"transform": self.axes.transAxes, "size": 7.5, "color": MUTED}
            self.axes.text(0.018, height, text, va="center_baseline", **style)

    def _write_numbers(self) -> None:
        numbers = dict(zip(("MCB", "DSC", "UNC"), components_of(self.model), strict=True))
        left, top = self._emptier_corner()
        for line, (name, value) in enumerate(numbers.items()):
            y = top - line * 11.5 / self.side
            text = drop_zero(format_number(value, self.common.decimals))
            style: dict[str, Any] = {
                "transform": self.axes.transAxes,
                "va": "top",
                "size": SMALL,
                "zorder": 6,
            }
            style |= {"bbox": ON_PAPER} if self.common.hides else {}
            self.axes.text(left, y, name, color=MUTED, **style)
            self.axes.text(
                left + _BOX[0] / self.side,
                y,
                text,
                ha="right",
                weight=400 if line else heavy_weight(),
                color=INK,
                **style,
            )

    def _emptier_corner(self) -> tuple[float, float]:
        """Return left and top of the numbers, as shares of the panel: the corner with less data."""
        width, height = (size / self.side for size in _BOX)
        corners = [(0.045, 0.95), (0.965 - width, _BARS + 0.06 + height)]
        crowds = [self._crowd(left, top, width, height) for left, top in corners]
        crowds[0] += 5.0 * (self.side > _LARGE and self._height_of_prevalence() > 0.95 - height - 0.05)
        return corners[int(crowds[1] < crowds[0])]

    def _height_of_prevalence(self) -> float:
        return (self.common.prevalence - self.window[0]) / (self.window[1] - self.window[0])

    def _crowd(self, left: float, top: float, width: float, height: float) -> float:
        """Return how much of curve and bands lies in a box; the curve counts most."""
        span = self.window[1] - self.window[0]
        grid = np.linspace(left, left + width, 40)
        found = 0.0
        for weight, lower, upper in self._shapes(self.window[0] + grid * span):
            low, high = ((bound - self.window[0]) / span for bound in (lower, upper))
            found += weight * float(np.nanmean((high > top - height - 0.05) & (low < top + 0.05)))
        return found

    def _shapes(self, x: FloatArray) -> Iterator[tuple[float, FloatArray, FloatArray]]:
        curve = self.model.curves.reliability
        cep = np.interp(x, curve.forecast, curve.cep, left=np.nan, right=np.nan)
        yield 10.0, cep, cep
        is_drawn = (x >= curve.forecast[0]) & (x <= curve.forecast[-1])
        for coverage, weight in (("pointwise", 2.0), ("simultaneous", 1.0)):
            for band in self._bands(coverage):
                lower, upper = (np.where(is_drawn, bound, np.nan) for bound in band.at(x))
                yield weight, lower, upper

    def _write_share_beyond(self) -> None:
        """Write the share of forecasts outside the window, at the edge beyond which they lie."""
        share = self._share_beyond()
        if share > 0:
            text = f"{format_percent(share)} of forecasts beyond"
            x, ha, text = (0.99, "right", f"{text} →") if self.window[0] == 0 else (0.01, "left", f"← {text}")
            style: dict[str, Any] = {"transform": self.axes.transAxes, "size": 7.5, "color": MUTED}
            self.axes.text(x, 0.025, text, ha=ha, va="bottom", zorder=3, bbox=ON_PAPER, **style)

    def _share_beyond(self) -> float:
        histogram = self.model.curves.histogram
        beyond = (histogram.lower >= self.window[1]) | (histogram.upper <= self.window[0])
        beyond &= (histogram.lower != 1) & (histogram.upper != 0)
        return float(histogram.n[beyond].sum() / histogram.n.sum())


def components_of(model: HasDiagram) -> tuple[float, float, float]:
    """Return MCB, DSC and UNC of the Brier score."""
    part = find_decomposition(model.scores)
    return part.miscalibration, part.discrimination, part.uncertainty


def bands_of(model: HasDiagram, coverage: str, kind: str = "consistency") -> list[Band]:
    """Return the bands of a model of this kind with this coverage."""
    return [band for band in model.bands if (band.kind, band.coverage) == (kind, coverage)]


def write_guide(
    canvas: Canvas,
    corner: tuple[float, float],
    side: float,
    models: Sequence[HasDiagram],
    width: float | None = None,
) -> None:
    """Write a guide to the symbols in the place of an unused panel, or in a field of this width."""
    left, top = corner
    width = side if width is None else width
    canvas.write(left + 4, top + 4, "How to read", va="bottom", size=HEADING, color=MUTED)
    entries = [(kind, wrap(text, (width - 17) * POINTS_PER_MM, lines=4)) for kind, text in _guide(models)]
    heights = [3.5 * len(lines) for _, lines in entries]
    apart = min((side - 8.0 - sum(heights)) / len(entries), 4.0)
    y = top + 8.0
    for (kind, lines), height in zip(entries, heights, strict=True):
        _draw_sample(canvas, left + 4, y + 1.6, kind, model_style(0))
        canvas.write(left + 16, y, "\n".join(lines), size=SMALL, color=MUTED)
        y += height + apart


def _guide(models: Sequence[HasDiagram]) -> Iterator[tuple[str, str]]:
    yield "curve", "Observed frequency of events by forecast; thick: forecasts pooled into one block"
    yield "diagonal", "Perfect calibration"
    for coverage, kind in (("pointwise", "band"), ("simultaneous", "outline")):
        found = bands_of(models[0], coverage)
        where = "at one forecast" if coverage == "pointwise" else "for the whole curve"
        if found:
            yield kind, f"Consistency band of a calibrated model, {format_level(found[0].level)} {where}"
    yield "bars", "Distribution of the forecasts"
    yield "prevalence", "Share of events in the data"


def _draw_sample(canvas: Canvas, left: float, y: float, kind: str, look: ModelStyle) -> None:
    ends = ((left, y), (left + 8, y))
    if kind == "curve":
        canvas.line(*ends, color=look.colour, linewidth=THICK)
    elif kind == "band":
        canvas.line(*ends, color=look.tint, linewidth=7)
    elif kind == "diagonal":
        canvas.line((left, y + 1.5), (left + 8, y - 1.5), color=MUTED, linewidth=0.6)
    elif kind == "outline":
        canvas.line(*ends, **outline_style(look))
    elif kind == "bars":
        for bar, height in enumerate((0.8, 1.8, 2.6, 1.6, 0.6)):
            x = left + 2 + bar
            canvas.line((x, y + 1.3), (x, y + 1.3 - height), color=QUIET, linewidth=0.96 * POINTS_PER_MM)
    else:
        canvas.line((left + 4, y), (left + 4, y), marker=">", color=MUTED, markersize=3, mew=0)
