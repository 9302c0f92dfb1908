"""Placements of cases: the share of the other class that each case is correctly ordered against.

References
----------
DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, doi:10.2307/2531595
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray


def placements(
    outcome: FloatArray,
    forecast: FloatArray,
    weight: FloatArray | None = None,
    order: NDArray[np.integer] | None = None,
) -> FloatArray:
    """Return the share of the other class that each case is correctly ordered against; ties count half.

    NaN where the other class is absent. `order` is the order of the forecasts, if it is known.

    >>> placements(np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.1, 0.4, 0.3, 0.4]))
    array([1.  , 0.75, 0.5 , 0.25])
    """
    is_ordered = bool((forecast[1:] >= forecast[:-1]).all())
    if is_ordered:
        y, p, w = outcome, forecast, weight
    else:
        order = np.argsort(forecast) if order is None else order.astype(np.intp)
        y, p = outcome.take(order), forecast.take(order)
        w = None if weight is None else weight.take(order)
    in_order = _place_ordered(y, p, w)
    if is_ordered:
        return in_order
    shares = np.empty(len(outcome))
    shares[order] = in_order
    return shares


def _place_ordered(y: FloatArray, p: FloatArray, weight: FloatArray | None) -> FloatArray:
    """The placements of cases in the order of their forecasts."""
    ties = _Ties.of(p)
    shares = _share_below(1 - y if weight is None else weight * (1 - y), ties)
    of_non_events = _share_below(y if weight is None else weight * y, ties)
    np.subtract(1, of_non_events, out=of_non_events)
    np.copyto(shares, of_non_events, where=y != 1)
    return shares


class _Ties(NamedTuple):
    """The rows of tied forecasts, in order, and the first row and the number of rows of each tie."""

    rows: NDArray[np.intp]
    first: NDArray[np.intp]
    sizes: NDArray[np.intp]

    @classmethod
    def of(cls, p: FloatArray) -> _Ties:
        """The ties of ascending forecasts, of which most are often distinct."""
        is_like_last = np.zeros(len(p) + 1, dtype=bool)
        np.equal(p[1:], p[:-1], out=is_like_last[1:-1])
        rows = np.flatnonzero(is_like_last[1:] | is_like_last[:-1])
        starts = np.flatnonzero(~is_like_last[rows])
        return cls(rows, rows[starts], np.diff(starts, append=len(rows)))


def _share_below(weight: FloatArray, ties: _Ties) -> FloatArray:
    """Share of the weight below each row, with half of what lies at it."""
    upto = np.cumsum(weight)  # in place from here on, to save memory
    total = upto[-1]
    if not total > 0:
        return np.full(len(weight), np.nan)
    before, after = upto[ties.first] - weight[ties.first], upto[ties.first + ties.sizes - 1]
    upto -= weight / 2
    upto[ties.rows] = ((before + after) / 2).repeat(ties.sizes)
    upto /= total
    return upto
