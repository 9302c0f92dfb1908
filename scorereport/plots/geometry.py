"""Geometry of plots: windows and ticks of axes, and lines without points that are invisible on paper."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from math import ceil, floor
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.curves.fitted import Histogram, ReliabilityCurve
    from scorereport.curves.murphy import MurphyCurve, RegretCurve
    from scorereport.reliability.bands import Band


class HasCurves(Protocol):
    """Reliability curve and histogram of a diagram."""

    @property
    def reliability(self) -> ReliabilityCurve:
        """The reliability curve."""

    @property
    def histogram(self) -> Histogram:
        """The histogram of the forecasts."""


class HasForecasts(Protocol):
    """A model, or a fit, with its curves."""

    @property
    def curves(self) -> HasCurves:
        """Its curves, among them these."""


#: Greatest shift of a line on paper when points are left out, in points.
PATH_TOLERANCE = 0.12


def simplify(x: FloatArray, y: FloatArray, scale: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """Return the points of a line that are visible on paper; `scale`: points of paper per unit on each axis.

    Points are left out where the line through the others passes within the tolerance of them
    (Ramer, Douglas and Peucker).
    """
    keep = _needed(x * scale[0], y * scale[1])
    return x[keep], y[keep]


def _needed(x: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
    """Return which points are needed: all segments of the line are split at once at their farthest points."""
    keep = np.zeros(len(x), dtype=bool)
    keep[[0, -1]] = True
    first, last = np.array([0]), np.array([len(x) - 1])
    while (has_inner := last - first > 1).any():
        first, last = first[has_inner], last[has_inner]
        inner, count = _list_inner(first, last)
        away = _squared_distance(x, y, inner, np.repeat(first, count), np.repeat(last, count))
        farthest = np.maximum.reduceat(away, np.cumsum(count) - count)
        is_split = farthest > PATH_TOLERANCE**2
        candidates = np.flatnonzero(away == np.repeat(farthest, count))
        segments = np.repeat(np.arange(len(first)), count)[candidates]
        middle = inner[candidates[np.searchsorted(segments, np.flatnonzero(is_split))]]
        keep[middle] = True
        first, last = np.append(first[is_split], middle), np.append(middle, last[is_split])
    return keep


def _list_inner(first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """Return the points inside all segments, one segment after the other, and their number in each."""
    count = last - first - 1
    shift = first + 1 - (np.cumsum(count) - count)
    return np.arange(count.sum()) + np.repeat(shift, count), count


def _squared_distance(
    x: FloatArray, y: FloatArray, points: IntArray, first: IntArray, last: IntArray
) -> FloatArray:
    """Return the squared distance of each point from the straight line between two others."""
    across, up = x[points] - x[first], y[points] - y[first]
    run, rise = x[last] - x[first], y[last] - y[first]
    squared = run * run + rise * rise
    squared[squared == 0] = 1.0  # the two are one point
    along = np.minimum(np.maximum((across * run + up * rise) / squared, 0), 1)
    across, up = across - along * run, up - along * rise
    return across * across + up * up


def flat_runs(x: FloatArray, y: FloatArray, narrowest: float) -> tuple[FloatArray, FloatArray]:
    """Return the level parts of a line that are wider than `narrowest`, with NaN between them."""
    flat = (y[1:] == y[:-1]) & (x[1:] - x[:-1] >= narrowest)
    gap = np.full(int(flat.sum()), np.nan)
    return (
        np.column_stack([x[:-1][flat], x[1:][flat], gap]).ravel(),
        np.column_stack([y[:-1][flat], y[1:][flat], gap]).ravel(),
    )


def knotted_line(curve: MurphyCurve | RegretCurve) -> tuple[FloatArray, FloatArray]:
    """Return a curve that may jump at its knots as a line through both of its limits there."""
    return np.repeat(curve.theta, 2), np.column_stack([curve.left, curve.right]).ravel()


def band_lines(band: Band) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    """Return the lower and the upper bound of a band as lines, with steps if the band is a step function."""
    if band.shape == "line":
        return (band.x, band.lower), (band.x, band.upper)
    x = np.repeat(band.x, 2)
    return (x[1:], np.repeat(band.lower, 2)[:-1]), (x[:-1], np.repeat(band.upper, 2)[1:])


def cut_line(x: FloatArray, y: FloatArray, first: float, last: float) -> tuple[FloatArray, FloatArray]:
    """Return the part of a line between two places, with interpolated ends."""
    inside = (x > first) & (x < last)
    ends = [end for end in dict.fromkeys((first, last)) if x[0] <= end <= x[-1]]
    places = np.concatenate(
        [[end for end in ends if end == first], x[inside], [e for e in ends if e != first]]
    )
    at_ends = dict(zip(ends, np.interp(ends, x, y), strict=True))
    values = np.concatenate(
        [[at_ends[e] for e in ends if e == first], y[inside], [at_ends[e] for e in ends if e != first]]
    )
    return (places, values) if len(places) else (x, y)


def step_outline(lower: FloatArray, upper: FloatArray, height: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the outline of adjacent bars, from the base line and back to it."""
    x = np.column_stack([lower, upper]).ravel()
    y = np.repeat(height, 2)
    return np.concatenate([x[:1], x, x[-1:]]), np.concatenate([[0.0], y, [0.0]])


if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import FloatArray

    Window = tuple[float, float]

UNIT = (0.0, 1.0)
#: Widths of windows at the lower or the upper end of the unit interval.
_WIDTHS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
#: Least share of the cases of each model, with their part of the curve, inside a window.
_SHARE = 0.99


def choose_window(models: Sequence[HasForecasts]) -> Window:
    """Return the unit interval, or a round part of it at 0 or 1 that contains nearly all forecasts."""
    for width in _WIDTHS:
        for window in ((0.0, width), (1 - width, 1.0)):
            if all(share_inside(model, window) >= _SHARE for model in models):
                return window
    return UNIT


def share_inside(model: HasForecasts, window: Window) -> float:
    """Return the share of cases whose forecast and recalibrated forecast lie in a window."""
    histogram, curve = model.curves.histogram, model.curves.reliability
    cep = np.interp(histogram.upper, curve.forecast, curve.cep)
    inside = (histogram.lower >= window[0]) & (histogram.upper <= window[1])
    inside &= (cep >= window[0]) & (cep <= window[1])
    return float(histogram.n[inside].sum() / histogram.n.sum())


def window_ticks(window: Window) -> FloatArray:
    """Return ticks at quarters of the unit interval and of windows like 0.02, at fifths of others."""
    width = window[1] - window[0]
    has_quarters = window == UNIT or f"{width:.6f}".strip("0.").startswith("2")
    return np.round(np.linspace(*window, 5 if has_quarters else 6), 6)


def even_ticks(lower: float, upper: float, most: int = 5) -> FloatArray:
    """Return round numbers between two ends."""
    from matplotlib.ticker import MaxNLocator

    ticks = np.asarray(MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]).tick_values(lower, upper))
    slack = 1e-9 * (upper - lower)
    inside = (ticks >= lower - slack) & (ticks <= upper + slack)
    return ticks[inside]


#: Steps of ticks in days and in months, and numbers of characters of dates to day, month and year.
_HOUR_STEPS = (1, 2, 3, 6, 12, 24)
_DAY_STEPS = (1, 2, 7, 14)
_MONTH_STEPS = (1, 2, 3, 6, 12, 24, 60, 120)
_WHOLE, _TO_THE_MONTH, _TO_THE_YEAR = 10, 7, 4
_YEAR = 12
_DAY = timedelta(days=1)
#: Hours whose place differs by less than this, in steps, are the same.
_SLACK = 1e-6


def place_day(day: date) -> float:
    """Return the place of a day, or of a time, on a time axis: the number of the day and the part of it.

    >>> place_day(datetime(2026, 11, 18, 6)) - place_day(date(2026, 11, 18))
    0.25
    """
    part = (day - datetime.combine(day, time())) / _DAY if isinstance(day, datetime) else 0.0
    return day.toordinal() + part


def time_ticks(first: float, last: float, most: int) -> list[datetime]:
    """Return up to `most` round hours between two places of less than two days; [] if days are enough.

    If there is no whole hour between them, the first place is returned.
    """
    if last - first >= 2 or first % 1 == last % 1 == 0:
        return []
    for step in _HOUR_STEPS:
        numbers = range(ceil(first * 24 / step - _SLACK), floor(last * 24 / step + _SLACK) + 1)
        if len(numbers) <= most:
            break
    start = datetime.combine(date.fromordinal(1), time())  # the day number 1
    hours = [float(number * step) for number in numbers] or [round(first * 24 * 60) / 60]
    return [start + timedelta(hours=hour - 24) for hour in hours]


def date_ticks(first: int, last: int, most: int) -> tuple[list[int], list[str]]:
    """Return up to `most` round dates between two days, given as ordinals: positions and texts.

    >>> date_ticks(date(2026, 1, 1).toordinal(), date(2026, 12, 1).toordinal(), 5)[1]
    ['2026-01', '2026-04', '2026-07', '2026-10']
    """
    for step in _DAY_STEPS:
        if (last - first) // step < most:
            places = list(range(last, first - 1, -step))[::-1]
            return places, [date.fromordinal(place).isoformat()[:_WHOLE] for place in places]
    for step in _MONTH_STEPS:
        places = list(_month_starts(first, last, step))
        if len(places) <= most:
            break
    length = _TO_THE_YEAR if step % _YEAR == 0 else _TO_THE_MONTH
    return places, [date.fromordinal(place).isoformat()[:length] for place in places]


def _month_starts(first: int, last: int, step: int) -> Iterator[int]:
    """Yield the first days of every `step`-th month, counted from January."""
    start = date.fromordinal(first)
    month = step * -(-(_YEAR * start.year + start.month - 1) // step)
    while month < _YEAR * date.max.year:
        day = date(month // _YEAR, month % _YEAR + 1, 1).toordinal()
        if day > last:
            return
        if day >= first:
            yield day
        month += step
