"""The generalised mean, to the last digits that floating point allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray

#: An exponent this small changes no digit of the mean, and its powers would underflow.
_AS_GOOD_AS_ZERO = 1e-100


def power_mean(p: FloatArray, m: float, weight: FloatArray) -> float:
    """(Σ w p^m)^(1/m) with weights as shares; geometric at m = 0, max and min at ±∞; NaN without weight."""
    p, weight = p[weight > 0], weight[weight > 0]
    if len(p) == 0:
        return np.nan
    if np.isinf(m):
        return float(p.max() if m > 0 else p.min())
    if m <= 0 and p.min() == 0:
        return 0.0
    share = weight / weight.sum()
    if abs(m) < 0.5:
        return _mean_near_geometric(p, m, share)
    scale = p.max() if m > 0 else p.min()  # relative to it every power lies in [0, 1]
    if scale == 0:
        return 0.0
    with np.errstate(over="ignore"):  # a ratio to a subnormal may be infinite; its power is 0 as it should
        return float(scale * (share * (p / scale) ** m).sum() ** (1 / m))


def _mean_near_geometric(p: FloatArray, m: float, share: FloatArray) -> float:
    """Work relative to the geometric mean, where (Σ w p^m)^(1/m) would lose its digits."""
    if p.min() == 0:
        return float((share * p**m).sum() ** (1 / m))
    logs = np.log(p)
    centre = (share * logs).sum()
    if abs(m) < _AS_GOOD_AS_ZERO:
        return float(np.exp(centre))
    return float(np.exp(centre + np.log1p((share * np.expm1(m * (logs - centre))).sum()) / m))
