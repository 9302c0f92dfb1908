"""Bounds of the mean event probability of an audit, given the outcomes of a baseline in bins of forecasts.

If the curve of the baseline holds and does not fall, the event probability of a row of the audit is at most
the mean probability of the baseline's rows in the next bin to the right, and at least that in the next bin to
the left. These means are bounded together by the outcomes of a few runs of bins: all of them, both halves,
quarters and eighths of the cases, with exact binomial bounds that share the error. The largest and the
smallest mean over the rows of the audit are then linear programs. They are much closer to each other than a
band that holds at every single forecast.

The number of events of a run is a sum of independent outcomes with different probabilities. Its tails are
lighter than those of a binomial number with the same mean (Hoeffding), so that binomial bounds hold for the
mean.

References
----------
Hoeffding (1956), Ann. Math. Stat. 27, doi:10.1214/aoms/1177728178
Clopper, Pearson (1934), Biometrika 26, doi:10.1093/biomet/26.4.404
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betaincinv

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray, IntArray

#: Runs are all cases, and each of 2, 4 and 8 parts of them.
_PARTS = (1, 2, 4, 8)
#: Solutions of linear programs are accepted within this error, which the bounds are widened by.
_ACCURACY = 1e-7


class _Run(NamedTuple):
    """Neighbouring bins that are not empty, by their first place and the place after the last one."""

    start: int
    end: int


def find_mean_bounds(
    cases: FloatArray, events: FloatArray, counts: FloatArray, *, level: float
) -> tuple[float, float]:
    """Return bounds of the mean event probability over rows that are counted in the same bins as a baseline.

    Parameters
    ----------
    cases, events : numbers of independent cases of the baseline in each bin, and of those with the event
    counts : the weights of the rows of the audit in each bin
    level : the probability that both bounds hold, if the curve of the baseline holds and does not fall

    >>> cases, counts = np.array([500.0, 500, 500, 500]), np.array([10.0, 10, 10, 0])
    >>> lower, upper = find_mean_bounds(cases, np.array([50.0, 100, 200, 300]), counts, level=0.95)
    >>> round(lower, 2), round(upper, 2)
    (0.08, 0.45)
    """
    held = np.flatnonzero(cases > 0)
    if not len(held) or not counts.sum() > 0:
        return 0.0, 1.0
    rows, limits = _constrain(cases[held], np.minimum(events, cases)[held], level)
    share = counts / counts.sum()
    above = np.searchsorted(held, np.arange(len(cases)), side="right")
    below = np.searchsorted(held, np.arange(len(cases)), side="left") - 1
    upper = _maximize(_add_shares(share, above, len(held)), rows, limits)
    upper += float(share[above == len(held)].sum())  # no bin to the right: the probability may be 1
    lower = -_maximize(-_add_shares(share, below, len(held)), rows, limits)
    return max(lower - _ACCURACY, 0.0), min(upper + _ACCURACY, 1.0)


def _add_shares(share: FloatArray, place: IntArray, size: int) -> FloatArray:
    """Add up the shares of rows by the bin of the baseline that bounds them."""
    inside = (place >= 0) & (place < size)
    return np.bincount(place[inside], weights=share[inside], minlength=size).astype(np.float64)


def _constrain(cases: FloatArray, events: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return linear constraints on the mean probabilities p of the bins: rows @ p <= limits."""
    runs = _list_runs(cases)
    tail = (1 - level) / (2 * len(runs))
    size = len(cases)
    last = np.zeros(size)
    last[-1] = 1.0
    rows, limits = [last], [1.0]  # the largest probability is at most 1
    for run in runs:
        n, k = float(cases[run.start : run.end].sum()), float(events[run.start : run.end].sum())
        weight = np.zeros(size)
        weight[run.start : run.end] = cases[run.start : run.end] / n
        rows += [weight, -weight]
        limits += [
            1.0 if k >= n else float(betaincinv(k + 1, n - k, 1 - tail)),
            0.0 if k <= 0 else -float(betaincinv(k, n - k + 1, tail)),
        ]
    return np.array(rows), np.array(limits)


def _list_runs(cases: FloatArray) -> list[_Run]:
    """List the runs of bins with about equal numbers of cases, each once."""
    before = np.cumsum(cases) - cases / 2
    found = []
    for parts in _PARTS:
        part = np.minimum((before / cases.sum() * parts).astype(np.int64), parts - 1)
        for number in np.unique(part):
            places = np.flatnonzero(part == number)
            found.append(_Run(int(places[0]), int(places[-1]) + 1))
    return list(dict.fromkeys(found))


def _maximize(weights: FloatArray, rows: FloatArray, limits: FloatArray) -> float:
    """Return the largest weighted sum of probabilities that do not fall, under constraints.

    The variables are the steps of the probabilities. If the constraints contradict each other, all
    probabilities between 0 and 1 are allowed.
    """
    from scipy.optimize import linprog  # loads most of SciPy

    steps, gains = _sum_from_right(rows), _sum_from_right(weights)
    found = linprog(-gains, A_ub=steps, b_ub=limits, bounds=(0.0, 1.0), method="highs")
    if not found.success:
        return float(np.maximum(weights, 0.0).sum())
    # the dual solution bounds the sum from above, whatever the error of the solution itself
    dual = np.maximum(-found.ineqlin.marginals, 0.0)
    return float(dual @ limits + np.maximum(gains - dual @ steps, 0.0).sum())


def _sum_from_right(rows: FloatArray) -> FloatArray:
    """Return the weights of the steps of probabilities from those of the probabilities."""
    return np.cumsum(rows[..., ::-1], axis=-1)[..., ::-1]
