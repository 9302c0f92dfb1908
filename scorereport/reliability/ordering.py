"""Cases in one canonical order: forecasts ascending and, among ties, outcomes descending.

Everything after this step sees the same sequence whatever the order of the rows was, so results
are equal to the last bit. And in this order no outcome rises within a tie, so cutting where
outcomes rise never splits one: ties are pooled for free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.checks import Cases

if TYPE_CHECKING:
    from scorereport.arrays import FloatArray


def order_cases(cases: Cases, *, binary: bool) -> Cases:
    """Put cases in canonical order; cases without weight leave."""
    y, p, weight = cases
    if binary and weight is None:
        return _order_binary(y, p)
    p = p + 0.0  # turns -0 into 0
    if weight is None:
        order = np.lexsort((-y, p))
        return Cases(y[order], p[order], None)
    return _order_weighted(y, p, weight)


def _order_binary(y: FloatArray, p: FloatArray) -> Cases:
    """Sort forecast and outcome as one integer, about four times faster than argsort and gather.

    The bit patterns of non-negative floats are ordered like the floats. Their sign bit is free:
    shift it out (which also makes -0 the same as 0) and let the outcome, inverted, ride in the lowest bit.
    """
    key = p.view(np.int64) << 1
    key |= y == 0
    key.sort()
    outcome = (key.astype(np.uint8) & 1) ^ 1
    key >>= 1
    return Cases(outcome.astype(np.float64), key.view(np.float64), None)


def _order_weighted(y: FloatArray, p: FloatArray, weight: FloatArray) -> Cases:
    counts = weight > 0
    y, p, weight = y[counts], p[counts], weight[counts]
    order = np.lexsort((weight, -y, p))  # the weight too: sums of fractions depend on their order
    return Cases(y[order], p[order], weight[order])
