"""Lowess with weights: local lines at some forecasts, as coefficients of the observed event rates.

The neighbours of a forecast are the nearest cases that together have a given share of the total weight. For
whole weights the curve is that of statsmodels, which has no weights, on repeated rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.reliability.sampling import are_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray, IntArray

CLEVELAND_1979 = "Cleveland (1979), J. Am. Stat. Assoc. 74, doi:10.1080/01621459.1979.10481038"
#: Sums of weights count as equal if they differ by less than this, relative to the total.
_ROUNDING = 1e-12
#: If there are more distinct values than the first number, they are pooled into the second number of cells.
MANY_VALUES, MOST_CELLS = 5000, 4000
#: The number of coefficients that are computed at once: few enough for the cache of a processor.
_NUMBERS = 1 << 16


def smooth_weighted(
    y: FloatArray, x: FloatArray, weight: FloatArray, nodes: FloatArray, fraction: float
) -> FloatArray:
    """Return the curve at the nodes; x is ascending, and may hold the same value more than once.

    More than 5,000 distinct values are pooled into 4,000 cells of about equal weight first.
    """
    index = (
        pool_neighbours(x, weight, MOST_CELLS)
        if np.count_nonzero(x[1:] != x[:-1]) >= MANY_VALUES
        else number_values(x)
    )
    n, sums, events = (np.bincount(index, weight * v).astype(np.float64) for v in (1.0, x, y))
    means, rate = sums / n, events / n
    size = max(_NUMBERS // len(n), 1)
    parts = [nodes[start : start + size] for start in range(0, len(nodes), size)]
    return np.concatenate([(local_lines(part, means, n, fraction) * rate).sum(axis=1) for part in parts])


def pool_neighbours(x: FloatArray, weight: FloatArray, most: int) -> IntArray:
    """Return the cell of each row: distinct values, or `most` cells of similar weight that split no tie.

    Values must be ascending.
    """
    starts = np.append(0, np.flatnonzero(x[1:] != x[:-1]) + 1)
    if len(starts) <= most:
        return number_values(x)
    if weight.strides == (0,):  # all rows weigh the same
        before, total = starts, len(x)
    else:
        reached = np.cumsum(weight)
        before, total = np.append(0.0, reached[starts[1:] - 1]), reached[-1]
    edges = np.searchsorted(before, (np.arange(1, most) - _ROUNDING) * (total / most))
    cells = np.append(starts[np.unique(np.append(0, edges[edges < len(starts)]))], len(x))
    return np.repeat(np.arange(len(cells) - 1), np.diff(cells))


def number_values(x: NDArray[Any]) -> IntArray:
    """Return the number of each distinct value, from 0; values must be ascending."""
    return np.cumsum(np.append(False, x[1:] != x[:-1])[: len(x)], dtype=np.int64)


@np.errstate(divide="ignore", invalid="ignore")
def local_lines(nodes: FloatArray, x: FloatArray, weight: FloatArray, fraction: float) -> FloatArray:
    """Return the coefficients of the event rates at x, ascending and distinct: a row for each node.

    They sum to 1 and reproduce lines, so that a curve minus its forecasts is the smoothed deviation.

    References
    ----------
    Cleveland (1979), J. Am. Stat. Assoc. 74, doi:10.1080/01621459.1979.10481038
    """
    distance = np.abs(nodes[:, None] - x)
    radius = _radius(nodes, x, weight, fraction)[:, None]
    near = _tricube(distance / radius)
    near *= weight
    total = near.sum(axis=1)
    flat = ~(total > 0)  # a neighbourhood without width
    near[flat] = weight * (distance[flat] == distance[flat].min(axis=1, keepdims=True))
    total[flat] = near[flat].sum(axis=1)
    near /= total[:, None]
    middle = (near * x).sum(axis=1, keepdims=True)
    away = x - middle
    spread = (near * away**2).sum(axis=1, keepdims=True)
    away *= (nodes[:, None] - middle) / np.maximum(spread, _ROUNDING)
    away += 1
    near *= away
    return near


def _tricube(x: FloatArray) -> FloatArray:
    """(1 - x³)³ up to 1, else 0; by products, which take a tenth of the time of a power."""
    kept = 1 - x * x * x
    np.maximum(kept, 0, out=kept)
    cubed = kept * kept
    cubed *= kept
    return cubed


def neighbours(weight: FloatArray, fraction: float) -> float:
    """Return the weight of a neighbourhood: a share of the total, whole if weights are whole."""
    total = float(weight.sum())
    if not are_whole(weight):
        return fraction * total
    return float(min(max(int(fraction * total + 1e-10), 2), int(total)))


def _radius(nodes: FloatArray, x: FloatArray, weight: FloatArray, fraction: float) -> FloatArray:
    """The smallest distance from each node that includes enough weight.

    For each left end of a window, the right end is the first with enough weight between. As the left end
    moves to the right it approaches the node, and the right end recedes: the best window is one of the two
    where the middle of the window passes the node.
    """
    reached = np.cumsum(weight)
    enough = reached - weight + neighbours(weight, fraction) - _ROUNDING * reached[-1]
    right = np.searchsorted(reached, enough)
    ends = np.append(x, np.inf)[right]
    passes = np.searchsorted(x + ends, 2 * nodes)
    after = np.minimum(passes, len(x) - 1)
    before = np.maximum(passes - 1, 0)
    return np.minimum(_reach(nodes, x[after], ends[after]), _reach(nodes, x[before], ends[before]))


def _reach(nodes: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    return np.maximum(nodes - left, right - nodes)
