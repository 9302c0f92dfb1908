"""Generalised means of many probabilities for many exponents, from one pass over the probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.machine import call_in_order
from scorereport._utils.progress import steps
from scorereport.scores.probability import power_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import FloatArray

#: Rows whose powers are computed at once.
_CHUNK_ROWS = 1 << 14
#: Powers whose exponents are multiples of this step are products of the power before and one factor.
_STEP = 0.1
_ROUNDING = 1e-9


def power_means(
    p: FloatArray, exponents: Sequence[float], weight: FloatArray | None = None
) -> dict[float, float]:
    """(Σ w p^m / Σ w)^(1/m) for each exponent m, geometric for 0; powers are relative to the largest one."""
    if weight is not None:
        p, weight = p[weight > 0], weight[weight > 0]
    if len(p) == 0 or p.min() == 0:
        ones = np.ones(len(p)) if weight is None else weight
        return {m: power_mean(p, m, ones) for m in exponents}
    ends = np.log(p.min()), np.log(p.max())

    def add_up(number: int) -> FloatArray:
        part = slice(number * _CHUNK_ROWS, (number + 1) * _CHUNK_ROWS)
        logs = np.log(p[part])
        return _sum_powers(logs, np.ones(len(logs)) if weight is None else weight[part], ends, exponents)

    chunks = -(-len(p) // _CHUNK_ROWS)
    calls = call_in_order(add_up, chunks, rows=len(p))
    parts = list(steps(calls, chunks, "raising probabilities to powers"))
    means = np.sum(parts, axis=0) / (len(p) if weight is None else weight.sum())
    by_exponent = dict(zip(exponents, means.tolist(), strict=True))
    return {
        m: float(np.exp(mean if m == 0 else ends[m > 0] + np.log(mean) / m))
        for m, mean in by_exponent.items()
    }


def _sum_powers(
    logs: FloatArray, weight: FloatArray, ends: tuple[float, float], exponents: Sequence[float]
) -> FloatArray:
    """Σ w (p/q)^m for each exponent, where q is the largest p for m > 0 and the smallest for m < 0."""
    steps = np.round(np.array(exponents) / _STEP)
    is_step = np.abs(steps * _STEP - exponents) < _ROUNDING
    sums = np.empty(len(steps))
    for place in np.flatnonzero(~is_step).tolist():
        m = exponents[place]
        sums[place] = (weight * np.exp(m * (logs - ends[m > 0]))).sum()
    sums[is_step & (steps == 0)] = (weight * logs).sum()
    for sign in (-1, 1):
        wanted = is_step & (sign * steps > 0)
        factor = np.exp(sign * _STEP * (logs - ends[sign > 0]))
        power = weight.copy()
        for step in range(1, int((sign * steps[wanted]).max(initial=0)) + 1):
            power *= factor
            sums[wanted & (steps == sign * step)] = power.sum()
    return sums
