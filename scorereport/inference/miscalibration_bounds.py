"""Bounds of miscalibration (MCB) over all outcomes that rows without an outcome may have.

With forecasts x, outcomes y and isotonic functions c of the forecast, MCB of the Brier score is the largest
mean of (x - y)² - (c - y)² = x² - c² + 2y(c - x) over all c. It is a maximum of functions that are linear in
the outcomes:

- its maximum over outcomes is that of x² - c² + 2 max(c - x, 0) in rows without an outcome. A dynamic program
  over the distinct forecasts finds it, with c on a grid of levels;
- its minimum over outcomes between 0 and 1 is the maximum over c of x² - c² + 2 min(c - x, 0) in these rows,
  by the minimax theorem. This is concave in c, and bisection of the levels finds it. Some choice of whole
  outcomes comes within twice the largest weight of a row over the total weight: rounding that carries its
  error from row to row changes no sum over rows in the order of forecasts by more than half a row.

References
----------
Sion (1958), Pac. J. Math. 8, doi:10.2140/pjm.1958.8.171, for the minimax theorem
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from scorereport.reliability.blocks import edges_in_floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray, IntArray

#: Up to this many distinct forecasts, every value that a block of the fit may have is a level of the grid.
_MOST_EXACT = 40
#: Otherwise the grid has this many levels, and up to this many cells of adjacent forecasts.
_LEVELS, _MOST_CELLS = 1_000, 16_000
#: Bisections of the levels for the minimum: levels are found to 2^-32.
_BISECTIONS = 32
#: A half that is computed is rounded down, whatever its last bits.
_ROUNDING = 1e-9
#: Most times that the fit and the outcomes are improved in turn.
_MOST_ASCENTS = 5


class PartlyObserved(NamedTuple):
    """Distinct forecasts, ascending, with the weight of observed rows, of their events, and of other rows.

    Weights are divided by the total of all rows. `sums` and `squares` are weighted forecasts and their
    squares, `products` weighted forecasts of events. `smallest` and `largest` are weights of rows without an
    outcome.
    """

    forecast: FloatArray
    observed: FloatArray
    events: FloatArray
    unknown: FloatArray
    sums: FloatArray
    squares: FloatArray
    products: FloatArray
    smallest: float
    largest: float

    @property
    def total(self) -> FloatArray:
        """The weight of all rows with each forecast."""
        return self.observed + self.unknown


class MiscalibrationBounds(NamedTuple):
    """Bounds of MCB, and how far from them at most the nearest MCB of a choice of outcomes is."""

    lower: float
    upper: float
    lower_slack: float
    upper_slack: float


def tally_rows(
    outcome: FloatArray,
    forecast: FloatArray,
    weight: FloatArray | None,
    unknown_forecast: FloatArray,
    unknown_weight: FloatArray | None,
) -> PartlyObserved:
    """Sum the weights of rows with equal forecasts."""
    weight = np.ones(len(forecast)) if weight is None else weight
    others = np.ones(len(unknown_forecast)) if unknown_weight is None else unknown_weight
    value, place = np.unique(np.concatenate([forecast, unknown_forecast]), return_inverse=True)
    total = float(weight.sum() + others.sum())
    known, unknown = place[: len(forecast)], place[len(forecast) :]
    observed, events, missing = (
        np.bincount(where, weights=w, minlength=len(value)) / total
        for where, w in ((known, weight), (known, weight * outcome), (unknown, others))
    )
    counts = observed + missing > 0
    value, observed, events, missing = (part[counts] for part in (value, observed, events, missing))
    return PartlyObserved(
        forecast=value,
        observed=observed,
        events=events,
        unknown=missing,
        sums=(observed + missing) * value,
        squares=(observed + missing) * value**2,
        products=events * value,
        smallest=float(others.min()) / total,
        largest=float(others.max()) / total,
    )


def measure_miscalibration(cases: PartlyObserved, unknown_events: FloatArray) -> float:
    """Return MCB of the Brier score if this weight of events is among the rows without an outcome.

    >>> cases = tally_rows(np.array([0.0, 1.0]), np.array([0.2, 0.8]), None, np.array([0.5]), None)
    >>> round(measure_miscalibration(cases, np.array([0.0, 1 / 3, 0.0])), 4)  # recalibrated to 0, 1, 1
    0.11
    """
    return _gain(cases, _fit(cases, cases.events + unknown_events), unknown_events)


def measure_deviation(cases: PartlyObserved, unknown_events: FloatArray) -> tuple[float, float]:
    """Return MCB, and the standard deviation of (x - y)² - (c - y)² over rows with outcomes of rate c."""
    c = _fit(cases, cases.events + unknown_events)
    gain = _gain(cases, c, unknown_events)
    off = np.maximum(cases.squares - 2 * c * cases.sums + c**2 * cases.total, 0.0)
    variance = float((4 * off * c * (1 - c) + off**2 / cases.total).sum()) - gain**2
    return gain, float(np.sqrt(max(variance, 0.0)))


def _fit(cases: PartlyObserved, events: FloatArray) -> FloatArray:
    """The recalibrated forecasts: isotonic regression of the events."""
    fitted: FloatArray = isotonic_regression(events / cases.total, weights=cases.total).x
    return fitted


def _gain(cases: PartlyObserved, c: FloatArray, unknown_events: FloatArray | float = 0.0) -> float:
    """The mean of x² - c² + 2y(c - x); for the isotonic fit c it is MCB."""
    known = cases.squares - cases.total * c**2 + 2 * (cases.events * c - cases.products)
    return float((known + 2 * unknown_events * (c - cases.forecast)).sum())


def bound_miscalibration(cases: PartlyObserved) -> MiscalibrationBounds:
    """Bound MCB of the Brier score over all outcomes of the rows without one.

    >>> cases = tally_rows(np.array([0.0, 1.0]), np.array([0.2, 0.8]), None, np.array([0.5]), None)
    >>> [round(bound, 4) for bound in bound_miscalibration(cases)[:2]]
    [0.0267, 0.11]
    """
    lower, nearest = _bound_below(cases)
    upper, attained = _bound_above(cases)
    return MiscalibrationBounds(
        lower=lower,
        upper=upper,
        lower_slack=min(max(nearest - lower, 0.0), 2 * cases.largest),
        upper_slack=max(upper - attained, 0.0),
    )


def merge_observed(cases: PartlyObserved) -> PartlyObserved:
    """Merge adjacent forecasts that every fit has in one block: observed ones whose rates do not rise.

    Bounds and fits stay the same. A shift of more than 1 keeps what is on both sides of a forecast without an
    outcome apart.
    """
    is_unknown = cases.unknown > 0
    breaks = is_unknown | np.append(False, is_unknown[:-1])
    starts = edges_in_floats(cases.total, cases.events, 2.0 * np.cumsum(breaks))[:-1]
    return cases._replace(
        forecast=cases.forecast[starts],
        observed=np.add.reduceat(cases.observed, starts),
        events=np.add.reduceat(cases.events, starts),
        unknown=np.add.reduceat(cases.unknown, starts),
        sums=np.add.reduceat(cases.sums, starts),
        squares=np.add.reduceat(cases.squares, starts),
        products=np.add.reduceat(cases.products, starts),
    )


def _bound_below(cases: PartlyObserved) -> tuple[float, float]:
    """The smallest MCB over outcomes between 0 and 1, and the MCB of whole outcomes that come near it.

    Rounding of the levels can only lower the bound. The second number is infinite if weights differ.
    """
    c, starts = _maximize_least_gain(cases)
    least = 2 * float((cases.unknown * np.minimum(c - cases.forecast, 0)).sum())
    events = _round_events(cases, _find_events(cases, c, starts))
    nearest = np.inf if events is None else measure_miscalibration(cases, events)
    return max(_gain(cases, c) + least, 0.0), nearest


def _find_events(cases: PartlyObserved, c: FloatArray, starts: IntArray) -> FloatArray:
    """The events for which c is the fit: where c is the forecast, what other rows of the block leave."""
    is_met = np.abs(c - cases.forecast) <= 2.0 ** (2 - _BISECTIONS)
    events = np.where(is_met | (c > cases.forecast), 0.0, cases.unknown)
    free = np.where(is_met, cases.unknown, 0.0)
    lacking = np.add.reduceat(cases.total * c - cases.events - events, starts)
    available = np.add.reduceat(free, starts)
    share = np.divide(lacking, available, out=np.zeros(len(starts)), where=available > 0)
    return events + free * np.repeat(np.clip(share, 0.0, 1.0), np.diff(np.append(starts, len(c))))


def _round_events(cases: PartlyObserved, events: FloatArray) -> FloatArray | None:
    """Whole rows whose running sum is that of the events, rounded; None if rows differ in weight."""
    if not np.isclose(cases.smallest, cases.largest, rtol=1e-12):
        return None
    rows = np.floor(np.cumsum(events) / cases.largest + 0.5 - _ROUNDING)
    return np.minimum(np.diff(rows, prepend=0.0) * cases.largest, cases.unknown)


def _maximize_least_gain(cases: PartlyObserved) -> tuple[FloatArray, IntArray]:
    """The isotonic c that maximizes the gain under the outcomes that are worst for it, and its blocks.

    The gain is concave in c. So forecasts with c above a level are those from a certain one on, the one from
    which the sum of derivatives at that level is largest: each range of forecasts is cut there, and the level
    moves to the middle of what remains on each side. Ranges are given by their first forecasts.
    """
    size, place = len(cases.forecast), np.arange(len(cases.forecast))
    low, high = np.zeros(size), np.ones(size)
    starts = np.zeros(1, dtype=np.int64)
    for _ in range(_BISECTIONS):
        level = (low + high) / 2
        slope = cases.events + cases.unknown * (cases.forecast > level) - cases.total * level
        before = np.concatenate([[0.0], np.cumsum(slope)])
        ends = np.append(starts[1:], size)
        lengths = ends - starts
        least = np.minimum.reduceat(before[:-1], starts)
        is_least = before[:-1] <= np.repeat(least, lengths)
        first = np.minimum.reduceat(np.where(is_least, place, size), starts)
        first = np.where(least < before[ends], first, ends)
        is_above = place >= np.repeat(first, lengths)
        low, high = np.where(is_above, level, low), np.where(is_above, high, level)
        starts = np.union1d(starts, first[first < ends])
    return (low + high) / 2, starts


def _bound_above(cases: PartlyObserved) -> tuple[float, float]:
    """An upper bound of MCB over all outcomes, and the MCB of outcomes that come near it."""
    levels, step = _choose_levels(cases)
    starts, cell_weight = _choose_cells(cases)
    bound, chosen = _maximize_gain(cases, levels, starts)
    c = np.repeat(chosen, np.diff(np.append(starts, len(cases.forecast))))
    attained = _climb(cases, c)
    spread = float(levels[-1] - levels[0])
    return max(bound + step**2 / 4 + 2 * cell_weight * spread, attained), attained


def _choose_levels(cases: PartlyObserved) -> tuple[FloatArray, float]:
    """The levels for c, and the step between them, which is 0 if no other level is needed.

    A fit rises with the outcomes, so that it lies between those with no and with all missing events. Its
    values are means of blocks in which missing outcomes are events up to some forecast: with few forecasts,
    all of these are levels. Rounding an optimal c to a grid loses at most a quarter of its squared step.
    """
    if len(cases.forecast) <= _MOST_EXACT:
        return _list_means(cases), 0.0
    lowest = _fit(cases, cases.events)[0]
    highest = _fit(cases, cases.events + cases.unknown)[-1]
    levels = np.linspace(lowest, highest, _LEVELS)
    return levels, float(levels[1] - levels[0])


def _list_means(cases: PartlyObserved) -> FloatArray:
    total, events, unknown = (
        np.concatenate([[0.0], np.cumsum(part)]) for part in (cases.total, cases.events, cases.unknown)
    )
    first, middle, last = np.indices((len(total),) * 3).reshape(3, -1)
    is_block = (first <= middle) & (middle <= last) & (first < last)
    first, middle, last = first[is_block], middle[is_block], last[is_block]
    means = (events[last] - events[first] + unknown[middle] - unknown[first]) / (total[last] - total[first])
    return np.unique(np.clip(means, 0.0, 1.0))


def _choose_cells(cases: PartlyObserved) -> tuple[IntArray, float]:
    """The first forecast of each cell, on which c is constant, and the largest weight of a cell of several.

    The weight is 0 if each forecast is a cell. A c that rises inside a cell from a to b is off by at most
    b - a there, and its derivative is at most twice the weight of the cell; over all cells, c rises no more
    than from the lowest to the highest level. A forecast with the weight of a cell is a cell.
    """
    size = len(cases.forecast)
    if size <= _MOST_CELLS:
        return np.arange(size), 0.0
    is_heavy = cases.total * _MOST_CELLS >= 1
    light = np.ceil(np.cumsum(np.where(is_heavy, 0.0, cases.total)) * _MOST_CELLS)
    begins = is_heavy | np.append(True, is_heavy[:-1]) | (np.diff(light, prepend=0.0) > 0)
    starts = np.flatnonzero(begins)
    is_several = np.diff(np.append(starts, size)) > 1
    return starts, float(np.add.reduceat(cases.total, starts)[is_several].max(initial=0.0))


def _maximize_gain(cases: PartlyObserved, levels: FloatArray, starts: IntArray) -> tuple[float, FloatArray]:
    """The largest gain over c that are constant on cells and rise through the levels, and this c.

    The gain of a cell is that of the outcomes that are best for it: events where the forecast is below c.
    """
    x, size = cases.forecast, len(starts)
    ends = np.append(starts[1:], len(x))
    parts = (cases.total, cases.squares, cases.events, cases.products)
    total, squares, events, products = (np.add.reduceat(part, starts) for part in parts)
    unknown, unknown_x = (np.concatenate([[0.0], np.cumsum(u)]) for u in (cases.unknown, cases.unknown * x))
    below = np.searchsorted(x, levels)
    best, is_best = np.zeros(len(levels)), np.zeros((size, len(levels)), dtype=bool)
    level_squares = levels**2
    for cell in range(size):
        start, end = starts[cell], ends[cell]
        gain = squares[cell] - total[cell] * level_squares + 2 * (events[cell] * levels - products[cell])
        if unknown[end] > unknown[start]:
            stop = np.clip(below, start, end)
            gain += 2 * (levels * (unknown[stop] - unknown[start]) - (unknown_x[stop] - unknown_x[start]))
        reached = best + gain
        best = np.maximum.accumulate(reached)
        np.equal(reached, best, out=is_best[cell])
    return float(best[-1]), levels[_trace_back(is_best)]


def _trace_back(is_best: NDArray[np.bool_]) -> IntArray:
    """The levels of the cells, from the last to the first: the last best one up to that of the next cell."""
    size, last = is_best.shape[0], is_best.shape[1]
    chosen = np.empty(size, dtype=np.int64)
    for cell in range(size - 1, -1, -1):
        last = chosen[cell] = np.flatnonzero(is_best[cell, : last + 1])[-1]
    return chosen


def _climb(cases: PartlyObserved, c: FloatArray) -> float:
    """The MCB of the outcomes that are best for c, improved by fitting and choosing outcomes in turn."""
    found = -np.inf
    for _ in range(_MOST_ASCENTS):
        unknown_events = np.where(c > cases.forecast, cases.unknown, 0.0)
        c = _fit(cases, cases.events + unknown_events)
        gain = _gain(cases, c, unknown_events)
        if not gain > found:
            break
        found = gain
    return found
