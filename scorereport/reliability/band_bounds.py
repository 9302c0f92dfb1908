"""Bounds of bands: by resampling, by honest binomial bounds, and widened at estimates of 0 or 1.

Honest bounds: if the event probability does not fall as forecasts rise, the events among any segment of
forecasts bound it at both ends of the segment. All segments together, with the error shared among them, bound
the whole curve for every sample size.

Estimates of 0 or 1: the bands of R have no width there. Here the cases next to the end, n^(2/3) of them
(as many as isotonic regression averages over) or the whole block, bound the curve, which does not fall, by an
exact binomial interval, which is not wider than the band itself at the same distance inside.

References
----------
Dimitriadis, Gneiting, Jordan (2021), PNAS 118, doi:10.1073/pnas.2016191118
Dimitriadis, Duembgen, Henzi, Puke, Ziegel (2023), Biometrika 110, doi:10.1093/biomet/asac068, on honest
bounds
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betainc, betaincinv, ndtri

from scorereport._utils.choices import USUAL_RESAMPLES
from scorereport._utils.formatting import shortest
from scorereport.errors import UsageError
from scorereport.reliability.blocks import Blocks, merge_between, sum_up
from scorereport.reliability.precision import (
    foresee_samples,
    is_precise,
    list_batches,
    reach_tail,
    sorted_quantiles,
)
from scorereport.reliability.simulation import draw_chunks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import CountArray, FloatArray
    from scorereport.reliability.fitted_sample import FittedSample
    from scorereport.reliability.simulation import Simulation


#: Quantiles that give a simultaneous band its shape, and its smallest width as a share of the usual width.
_SHAPE_QUANTILES = (0.005, 0.5, 0.995)
_NARROWEST = 0.25


class PointwiseBounds(NamedTuple):
    """Bounds at each forecast, and the number of samples drawn for them."""

    lower: FloatArray
    upper: FloatArray
    resamples: int


def pointwise_bounds(
    simulation: Simulation, points: FloatArray, level: float, resamples: int | None, seed: int
) -> PointwiseBounds:
    """Return pointwise quantiles of the curves of redrawn cases.

    Without a number of resamples, as many are drawn as the precision of the bounds takes.
    """
    batches = [range(resamples)] if resamples is not None else list_batches()
    tails, drawn, enough = [(1 - level) / 2, (1 + level) / 2], [], 0.0
    for batch in batches:
        drawn.append(redraw_curves(simulation, points, batch, seed))
        if batch.stop < min(enough, batches[-1].stop):
            continue
        curves = np.concatenate(drawn)
        curves.sort(axis=0)  # NaN last
        lower, upper = sorted_quantiles(curves, tails)
        errors, width = _quantile_errors(curves, level), upper - lower
        if reach_tail(len(curves), tails[0]) and is_precise(errors, width):
            break
        enough = foresee_samples(len(curves), errors, width)
    return PointwiseBounds(lower, upper, len(curves))


def _quantile_errors(curves: FloatArray, level: float) -> FloatArray:
    """The standard errors of both bounds, averaged: half the distance of quantiles one error on either side.

    The share of curves below a bound has a binomial error, which moves the quantile.
    """
    tail = (1 - level) / 2
    off = np.sqrt(tail * (1 - tail) / len(curves))
    ends = [max(tail - off, 0.0), tail + off, 1 - tail - off, min(1 - tail + off, 1.0)]
    below, above, below_upper, above_upper = sorted_quantiles(curves, ends)
    return (above - below + (above_upper - below_upper)) / 4


def redraw_curves(
    simulation: Simulation, points: FloatArray, resamples: int | range, seed: int
) -> FloatArray:
    """Return curves of redrawn cases, a row for each; NaN beyond the forecasts that were drawn."""
    x_min, x_max = simulation.distinct.x_min, simulation.distinct.x_max
    numbers = range(resamples) if isinstance(resamples, int) else resamples
    chunks = draw_chunks(
        simulation,
        lambda drawn: drawn.fit().at(points, x_min, x_max),
        numbers,
        seed=seed,
        what="drawing curves",
        redraw_cases=True,
    )
    return np.concatenate(list(chunks))


def fewest_resamples(level: float) -> int:
    """Return the fewest draws for a simultaneous band: half of them must have a quantile of that level.

    >>> fewest_resamples(0.9), fewest_resamples(0.95)
    (18, 38)
    """
    return 2 * max(ceil(round(level / (1 - level), 9)), 1)


def choose_resamples(resamples: int | None, level: float) -> int:
    """Return the number of draws of a simultaneous band, and check it if it is given."""
    fewest = fewest_resamples(level)
    if resamples is None:
        return max(USUAL_RESAMPLES, fewest)
    if resamples < fewest:
        raise UsageError(
            f"`resamples` must be at least {fewest} for a simultaneous band of level {shortest(level)}; "
            f"got {resamples}."
        )
    return resamples


def simultaneous_bounds(curves: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return bounds that contain a whole curve of redrawn outcomes with probability `level`.

    Half of the curves give the shape, the other half the factor by which it must be widened. Conditional on
    the forecasts, a calibrated curve is exchangeable with those of the second half: the level is exact,
    not asymptotic.
    """
    resamples = len(curves)
    half = resamples // 2
    middle, below, above = _shape(curves[:half])
    excess = np.maximum((curves[half:] - middle) / above, (middle - curves[half:]) / below).max(axis=1)
    factor = np.sort(excess)[ceil(round(level * (resamples - half + 1), 9)) - 1]
    return np.clip(middle - factor * below, 0, 1), np.clip(middle + factor * above, 0, 1)


def _shape(curves: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Median curve and its distances to extreme quantiles, bounded below by a share of the usual width."""
    low, middle, high = sorted_quantiles(np.sort(curves, axis=0), _SHAPE_QUANTILES)
    below, above = middle - low, high - middle
    width = np.maximum(below, above)
    usual = np.median(width) or width.max() or 1.0  # if curves do not vary at all, any floor will do
    return middle, np.maximum(below, _NARROWEST * usual), np.maximum(above, _NARROWEST * usual)


def choose_cells(distinct: Blocks) -> Blocks:
    """Return distinct forecasts, or 6 n^(1/3) cells of similar count: fewer segments give a narrower band.

    Cells depend on the forecasts alone and never split a tie, so the band stays honest.
    """
    total = int(distinct.n.sum())
    cells = ceil(6 * total ** (1 / 3))
    if len(distinct) <= cells:
        return distinct
    before = np.cumsum(distinct.n) - distinct.n
    cell = before * cells // total
    return merge_between(distinct, np.flatnonzero(cell[1:] != cell[:-1]) + 1)


def honest_bounds(cells: Blocks, level: float) -> tuple[FloatArray, FloatArray]:
    """Return lower bounds that hold from each cell's `x_max` on, and upper bounds up to each `x_min`."""
    error = (1 - level) / (len(cells) * (len(cells) + 1))
    n, others = cells.n, cells.n - cells.events
    return _lower_bounds(n, cells.events, error), 1 - _lower_bounds(n[::-1], others[::-1], error)[::-1]


def _lower_bounds(n: CountArray, events: CountArray, error: float) -> FloatArray:
    """The best lower bound up to each cell, from the segments that may give it.

    To invert a distribution takes much longer than to evaluate it. So only the segment that looks best at
    each cell is inverted, and those of the others that exceed what is then known.
    """
    starts, lasts = _best_segments(n.tolist(), events.tolist())
    cases, happened = sum_up(n), sum_up(events)
    s = (happened[lasts + 1] - happened[starts]).astype(np.float64)
    m = (cases[lasts + 1] - cases[starts]).astype(np.float64)
    best = _look_best(s / m, m, lasts, -float(ndtri(error)))
    known = _highest_so_far(np.zeros(len(n)), lasts[best], betaincinv(s[best], (m - s + 1)[best], error))
    higher = betainc(s, m - s + 1, known[lasts]) < error
    higher[best] = False
    return _highest_so_far(known, lasts[higher], betaincinv(s[higher], (m - s + 1)[higher], error))


def _look_best(rate: FloatArray, m: FloatArray, lasts: NDArray[np.intp], quantile: float) -> NDArray[np.intp]:
    """The segment that ends at each cell with the highest normal bound; segments come in order of cells."""
    bound = rate - quantile * np.sqrt(np.maximum(rate * (1 - rate), 0) / m)  # sums of weights are rounded
    order = np.lexsort((bound, lasts))
    return order[np.diff(lasts, append=-1) != 0]


def _highest_so_far(known: FloatArray, cells: NDArray[np.intp], bounds: FloatArray) -> FloatArray:
    """The highest of the known bounds and these, up to each cell."""
    highest = known.copy()
    np.maximum.at(highest, cells, bounds)
    return np.maximum.accumulate(highest)


def _best_segments(n: list[int], events: list[int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first and the last cell of each segment that may give the best lower bound.

    Among the segments that end at a cell, the best starts where a block of the isotonic regression up to this
    cell starts, and it can improve the bound only if the cell has events. The stack holds these blocks.
    """
    starts: list[int] = []
    lasts: list[int] = []
    firsts: list[int] = []  # of the blocks on the stack
    stack: list[tuple[int, int]] = []  # cases, events
    for cell, block in enumerate(zip(n, events, strict=True)):
        first, (cases, happened) = cell, block
        while stack and stack[-1][1] * cases >= happened * stack[-1][0]:
            first, (n_before, events_before) = firsts.pop(), stack.pop()
            cases, happened = n_before + cases, events_before + happened
        firsts.append(first)
        stack.append((cases, happened))
        if block[1]:
            starts += firsts
            lasts += [cell] * len(firsts)
    return np.array(starts, dtype=np.intp), np.array(lasts, dtype=np.intp)


def widen_where_certain(
    x: FloatArray, lower: FloatArray, upper: FloatArray, sample: FittedSample, level: float
) -> tuple[FloatArray, FloatArray]:
    """Raise the upper bounds next to an estimate of 0, and lower the lower bounds next to one of 1."""
    error, (low, high) = (1 - level) / 2, sample.blocks.mean[[0, -1]]
    events, other = _counts(sample)
    if low == 0:
        upper = _raise_start(x, upper, sample.distinct.x_min, events, other, error)
    if high == 1:  # the mirror image, with events and non-events exchanged
        mirrored = -sample.distinct.x_min[::-1]
        lower = 1 - _raise_start(-x[::-1], 1 - lower[::-1], mirrored, other[::-1], events[::-1], error)[::-1]
    return lower, upper


def _counts(sample: FittedSample) -> tuple[FloatArray, FloatArray]:
    """Events and non-events at each distinct forecast, as effective numbers of cases."""
    distinct, units = sample.distinct, sample.units
    n, events = distinct.n.astype(np.float64), distinct.events.astype(np.float64)
    if sample.cluster is not None:
        return events * (units.effective_size / units.total), (n - events) * (
            units.effective_size / units.total
        )
    of_event, of_other = sample.case_weights
    return events / of_event, (n - events) / of_other


def _raise_start(
    x: FloatArray,
    upper: FloatArray,
    forecast: FloatArray,
    events: FloatArray,
    other: FloatArray,
    error: float,
) -> FloatArray:
    """Raise upper bounds where there are no events yet, and over n^(2/3) further cases."""
    cases, happened = np.cumsum(events + other), np.cumsum(events)
    certain = cases[np.flatnonzero(events > 0)[0] - 1] if events.any() else cases[-1]
    reach = cases[-1] ** (2 / 3)
    last = min(int(np.searchsorted(cases, max(reach, certain))), len(cases) - 1)
    bound = float(betaincinv(happened[last] + 1, cases[last] - happened[last], 1 - error))
    inside = int(np.searchsorted(cases, certain + reach))
    if inside >= len(cases):
        return np.maximum(upper, bound)
    bound = min(bound, float(np.interp(forecast[inside], x, upper)))
    return np.where(x <= forecast[inside], np.maximum(upper, bound), upper)
