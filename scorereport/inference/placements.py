"""Placements of cases: the share of the other class that each case is correctly ordered against.

References
----------
DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, doi:10.2307/2531595
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
        order = np.argsort(forecast) if order is None else order
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
    is_first = np.append(True, p[1:] != p[:-1])
    start = None if is_first.all() else np.flatnonzero(is_first)
    shares = _spread_below(1 - y if weight is None else weight * (1 - y), start)
    of_non_events = _spread_below(y if weight is None else weight * y, start)
    np.subtract(1, of_non_events, out=of_non_events)
    np.copyto(shares, of_non_events, where=y != 1)
    return shares


def _spread_below(weight: FloatArray, start: NDArray[np.intp] | None) -> FloatArray:
    """Share of the weight below each row, with half of what lies at it; ties begin at `start`."""
    if start is None:
        return _share_below(weight)
    return _share_below(np.add.reduceat(weight, start)).repeat(np.diff(start, append=len(weight)))


def _share_below(weight: FloatArray) -> FloatArray:
    """Share of the weight below each level, with half of what lies at it."""
    upto = np.cumsum(weight)  # in place from here on, to save memory
    total = upto[-1]
    if not total > 0:
        return np.full(len(weight), np.nan)
    upto -= weight / 2
    upto /= total
    return upto
