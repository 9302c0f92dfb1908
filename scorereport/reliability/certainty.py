"""Confidence where an estimate is 0 or 1: no draw differs from it, so bands would have no width there.

R leaves none at the ends. Here as many cases from the end as isotonic regression averages over, n^(2/3),
or the whole block, bound the curve, which does not fall, by an exact binomial interval. That is no
wider than what the band itself says as far inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray
    from scorereport.reliability.fitted_sample import FittedSample


def widen_where_certain(
    x: FloatArray, lower: FloatArray, upper: FloatArray, sample: FittedSample, level: float
) -> tuple[FloatArray, FloatArray]:
    """Raise the upper bounds next to an estimate of 0, and lower the lower ones next to one of 1."""
    error, (low, high) = (1 - level) / 2, sample.blocks.mean[[0, -1]]
    events, other = _counts(sample)
    if low == 0:
        upper = _raise_start(x, upper, sample.distinct.x_min, events, other, error)
    if high == 1:  # the same seen from the other side, with events and non-events in each other's place
        mirrored = -sample.distinct.x_min[::-1]
        lower = 1 - _raise_start(-x[::-1], 1 - lower[::-1], mirrored, other[::-1], events[::-1], error)[::-1]
    return lower, upper


def _counts(sample: FittedSample) -> tuple[FloatArray, FloatArray]:
    """Events and non-events at each distinct forecast, as so many independent cases."""
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
    """Upper bounds where there are no events yet, and for n^(2/3) cases more."""
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
