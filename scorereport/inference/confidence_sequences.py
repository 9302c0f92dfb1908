"""Confidence sequences: intervals of the mean of a bounded score that hold after all audits at once.

With scores x in [0, 1], expected scores μ and weights v, at most 1, of all units so far, let S = Σ v (x - μ)
and V = Σ v² (x - γ)², where γ is fixed before each audit: the mean of the audits before it. For 0 < λ < 1/c,
c = 1, exp(λ S - ψ(λ) V) is at most 1 on average, whenever one looks, with
ψ(λ) = (-log(1 - c λ) - c λ) / c². So is its mixture m(S, V) over a gamma distribution of 1 - c λ that is cut
at 1. The interval contains all means for which m is below 2/α, for S and -S.

The interval covers the weighted mean of the expected scores of all units so far. This mean moves where the
score drifts. Intervals of different audits are therefore not intersected.

References
----------
Choe, Ramdas (2024), Oper. Res. 72, doi:10.1287/opre.2021.0792 (Theorems 2 and 3)
Howard, Ramdas, McAuliffe, Sekhon (2021), Ann. Stat. 49, doi:10.1214/20-AOS1991 (Proposition 9)
Waudby-Smith, Ramdas (2024), J. R. Stat. Soc. B 86, doi:10.1093/jrsssb/qkad009
"""

from __future__ import annotations

from functools import cache
from itertools import takewhile
from math import ceil, e, log, log2, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammainc, gammaln, lambertw, xlogy

from scorereport._utils.checks import check_inside
from scorereport.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.score_bets import ScoreSums

#: The mean that the first audit is centred at. Scores are losses: with small ones, V is small, at most Σ v x.
_FIRST_CENTER = 0.0
#: The interval is shortest when V is this share of the units of the first audit, whose number is known before
#: its outcomes. With V from a third to 150 times as large it is at most about 1.3 times the shortest.
_SHORTEST_AT = 0.03
#: The incomplete gamma function is used down to this value, quadrature below.
_LEAST_GAMMA = 1e-100
#: Nodes of a panel of the quadrature, and the exponent at which its range ends.
_NODES, _RANGE = 20, 45.0
#: Relative error that the check of a mixture allows.
_TOLERANCE = 1e-6
#: Steps that find the boundary: each of them halves the range.
_HALVINGS = 60


class SequenceInterval(NamedTuple):
    """The weighted mean of all scores so far, and its interval, inside [0, 1]."""

    estimate: float
    lower: float
    upper: float


def find_confidence_sequence(audits: Sequence[ScoreSums], level: float) -> tuple[SequenceInterval, ...]:
    """Find the interval of the mean score after each audit; all of them cover together at this level.

    Parameters
    ----------
    audits : sums of scores in [0, 1] for each audit, oldest first
    level : probability that all intervals cover the mean of the expected scores of the audits so far

    >>> from scorereport.inference.score_bets import ScoreSums
    >>> sums = ScoreSums(count=500, count_squares=500, total=60, total_squares=60, squares=20)
    >>> for found in find_confidence_sequence([sums] * 3, 0.95):
    ...     print(found.estimate, round(found.lower, 3), round(found.upper, 3))
    0.12 0.086 0.154
    0.12 0.099 0.141
    0.12 0.103 0.137
    """
    tail = (1 - check_inside(level, "level", 0, 1, closed="neither")) / 2
    empty = len(list(takewhile(lambda audit: audit.count == 0, audits)))
    unknown = (SequenceInterval(nan, 0.0, 1.0),) * empty
    return unknown + (_find_intervals(audits[empty:], tail) if empty < len(audits) else ())


def _find_intervals(audits: Sequence[ScoreSums], tail: float) -> tuple[SequenceInterval, ...]:
    count = np.cumsum([audit.count for audit in audits])
    mean = np.cumsum([audit.total for audit in audits]) / count
    centers = (_FIRST_CENTER, *mean[:-1].tolist())
    spread = np.cumsum([audit.square_deviations(at) for audit, at in zip(audits, centers, strict=True)])
    rho = choose_rho(_SHORTEST_AT * audits[0].count, tail)
    half = find_boundary(spread, tail, scale=1.0, rho=rho) / count
    lower, upper = np.clip([mean - half, mean + half], 0.0, 1.0)
    return tuple(map(SequenceInterval, mean.tolist(), lower.tolist(), upper.tolist()))


def choose_rho(v_opt: float, alpha: float) -> float:
    """Return the parameter of the mixture with which its boundary at 1/α is lowest near V = `v_opt`."""
    return float(v_opt / (-lambertw(-(alpha**2) / e, -1).real - 1))


def find_boundary(variance_sum: ArrayLike, alpha: float, *, scale: float, rho: float) -> FloatArray:
    """Return, for each V, the sum S at which the mixture m(S, V) is 1/α."""
    spread, target = np.atleast_1d(np.asarray(variance_sum, dtype=np.float64)), -log(alpha)

    def is_below(total: FloatArray) -> NDArray[np.bool_]:
        return log_mixture(total, spread, scale=scale, rho=rho) < target

    low, high = np.zeros(len(spread)), np.full(len(spread), scale)
    while (short := is_below(high)).any():
        low, high = np.where(short, high, low), np.where(short, 2 * high, high)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        short = is_below(middle)
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return high


def log_mixture(total: ArrayLike, variance_sum: ArrayLike, *, scale: float, rho: float) -> FloatArray:
    """Return the log of the mixture m(S, V) for `total` S and `variance_sum` V, which is not negative.

    Values less `scale` c must not lie below their centres γ; `rho` is the parameter of the gamma
    distribution, positive. With a = ρ/c², b = a + V/c² and z = (c S + V + ρ)/c² the mixture is
    aᵃ e⁻ᵃ/γ(a, a) times the integral over t > 0 of exp(z (1 - e⁻ᵗ) - b t), which is eᶻ γ(b, z)/zᵇ for
    z > 0, with γ(·, ·) the lower incomplete gamma function.

    >>> log_mixture([20, -20], 5, scale=2, rho=1).round(4)
    array([ 6.1272, -3.7938])
    """
    s, v = np.broadcast_arrays(
        np.asarray(total, dtype=np.float64), np.asarray(variance_sum, dtype=np.float64)
    )
    a, b, z = rho / scale**2, (rho + v) / scale**2, (scale * s + v + rho) / scale**2
    gamma = gammainc(b, np.maximum(z, 0.0))
    is_closed = gamma > _LEAST_GAMMA
    integral = np.empty(s.shape)
    at, of = z[is_closed], b[is_closed]
    integral[is_closed] = at + gammaln(of) + np.log(gamma[is_closed]) - of * np.log(at)
    integral[~is_closed] = [_log_integral(*pair) for pair in zip(b[~is_closed], z[~is_closed], strict=True)]
    found = integral + a * (log(a) - 1) - gammaln(a) - np.log(gammainc(a, a))
    _check_mixture(found, s, v, scale)
    return found


def _log_integral(b: float, z: float) -> float:
    """The log of the integral over t > 0 of exp(z (1 - e⁻ᵗ) - b t), for z below b, by panels that double."""
    node, weight = _legendre()
    start, end = 1 / max(b - z, sqrt(b)), (_RANGE + max(z, 0.0)) / b
    edges = np.append(0.0, start * 2.0 ** np.arange(max(ceil(log2(end / start)), 0) + 1))
    width = np.diff(edges)[:, None]
    t = edges[:-1, None] + width * node
    return float(np.log((np.exp(-z * np.expm1(-t) - b * t) * width * weight).sum()))


@cache
def _legendre() -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on [0, 1]."""
    node, weight = np.polynomial.legendre.leggauss(_NODES)
    return (node + 1) / 2, weight / 2


def _check_mixture(found: FloatArray, s: FloatArray, v: FloatArray, scale: float) -> None:
    """Refuse a mixture that exceeds the largest of what it mixes."""
    gain = np.maximum(s, 0.0)
    share = np.divide(scale * gain, v + scale * gain, out=np.zeros(s.shape), where=gain > 0)
    with np.errstate(divide="ignore"):
        largest = (share * gain / scale) + (xlogy(v, 1 - share) + v * share) / scale**2
    if not (found <= largest + _TOLERANCE * (1 + np.abs(largest))).all():
        raise InternalError("The mixture of a confidence sequence was not computed: it exceeds its bound.")
