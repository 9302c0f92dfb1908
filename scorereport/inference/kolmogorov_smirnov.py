"""The Kolmogorov-Smirnov statistic of events against non-events, with an interval, from the hull of the ROC.

The statistic is the largest distance of the two distributions of forecasts, max(TPR - FPR). A maximum of a
linear function lies at a corner of the hull, so the hull gives the same number as all forecasts.

The maximum of a sample is biased upwards, the more so the flatter the difference is near it. The upper limit
is Newcombe's for the two rates at the maximum, which the bias only makes safe. The lower limit is Newcombe's,
lowered by half the standard deviation with which the difference varies over the part of the hull that lies
above it. The limit is never below that of the simultaneous band for both distributions.

References
----------
Newcombe (1998), Stat. Med. 17, 873-890, doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I
Smirnov (1939), Bull. Math. Univ. Moscou 2, 3-14
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from scorereport.inference.estimates import Estimate
from scorereport.inference.rates import wilson_limits

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray
    from scorereport.curves.fitted import RocCurve

#: The share of a standard deviation by which the lower limit allows for the choice of the maximum. By
#: simulation, where the difference is flat 5 to 6 % of samples missed with 0.38, and up to 4 % with 0.5.
_ALLOWANCE = 0.5
_METHOD = "Newcombe at the maximum, lowered for its choice"


def ks_statistic(hull: RocCurve) -> float:
    """Return the largest TPR - FPR; NaN if there are no events, or no non-events.

    >>> from scorereport import corp
    >>> from scorereport.curves import roc_hull
    >>> ks_statistic(roc_hull(corp([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8])))
    0.5
    """
    return float((hull.tpr - hull.fpr).max())


def estimate_ks(hull: RocCurve, *, events: float, non_events: float, level: float) -> Estimate:
    """Estimate the statistic with its interval, from the numbers of independent events and non-events."""
    value = ks_statistic(hull)
    is_known = math.isfinite(value) and min(events, non_events) > 0
    lower, upper = _find_limits(hull, (events, non_events), level) if is_known else (math.nan, math.nan)
    return Estimate(
        measure="ks",
        value=value,
        standard_error=math.nan,
        lower=lower,
        upper=upper,
        level=level,
        method=_METHOD,
        n=events + non_events,
        note="" if is_known else "It needs both events and non-events.",
    )


def _find_limits(hull: RocCurve, sizes: tuple[float, float], level: float) -> tuple[float, float]:
    difference = hull.tpr - hull.fpr
    best = int(difference.argmax())
    value = float(difference[best])
    rates = np.array([hull.tpr[best], hull.fpr[best]])
    (low_true, low_false), (high_true, high_false) = wilson_limits(rates, np.array(sizes), level)
    below = math.hypot(rates[0] - low_true, high_false - rates[1])
    above = math.hypot(high_true - rates[0], rates[1] - low_false)
    spans = _find_spans(hull, difference, best, max(value - below, 0.0))
    allowance = _ALLOWANCE * math.sqrt(sum(span / size for span, size in zip(spans, sizes, strict=True)))
    band = math.sqrt(-math.log((1 - level) / 2) / 2 * sum(1 / size for size in sizes))
    reach = max(below, min(below + allowance, band))
    return max(value - reach, 0.0), min(value + above, 1.0)


def _find_spans(hull: RocCurve, difference: FloatArray, best: int, floor: float) -> tuple[float, float]:
    """Return the ranges of TPR and FPR over which the hull has a difference of at least `floor`.

    The difference rises up to its maximum and falls after it, because the hull is concave.
    """
    sides = (slice(best, None, -1), slice(best, None))
    ends = [
        np.interp(-floor, -difference[side], rate[side]) for rate in (hull.tpr, hull.fpr) for side in sides
    ]
    return float(ends[1] - ends[0]), float(ends[3] - ends[2])
