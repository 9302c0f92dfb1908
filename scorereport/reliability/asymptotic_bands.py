"""Pointwise bands by asymptotic theory: normal, or by quantiles of Chernoff's distribution.

Chernoff's distribution is that of argmax(W(t) - t²) for a two-sided Brownian motion W.

References
----------
Dimitriadis, Gneiting, Jordan (2021), PNAS 118, doi:10.1073/pnas.2016191118, on the bands
Groeneboom, Wellner (2001), J. Comput. Graph. Stat. 10, doi:10.1198/10618600152627997, on the distribution
Chen (1999), Comput. Stat. Data Anal. 31, doi:10.1016/S0167-9473(99)00010-9, on the density of forecasts
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import airy, betaln, ndtri, xlog1py, xlogy

from scorereport._utils.checks import check_inside

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport._utils.arrays import CountArray, FloatArray
    from scorereport.reliability.blocks import Blocks


#: Levels and quantiles of the table that the R package reliabilitydiag interpolates linearly.
_R_LEVELS = np.r_[np.arange(50, 100) / 100, np.arange(991, 1000) / 1000, 0.9999]
# fmt: off
_R_QUANTILES = np.array([
    0.000000, 0.013187, 0.026383, 0.039595, 0.052830, 0.066096, 0.079402, 0.092757,
    0.106168, 0.119645, 0.133196, 0.146831, 0.160560, 0.174393, 0.188342, 0.202418,
    0.216633, 0.230999, 0.245530, 0.260242, 0.275151, 0.290274, 0.305629, 0.321238,
    0.337123, 0.353308, 0.369821, 0.386694, 0.403959, 0.421656, 0.439828, 0.458525,
    0.477804, 0.497731, 0.518383, 0.539855, 0.562252, 0.585706, 0.610378, 0.636468,
    0.664235, 0.694004, 0.726216, 0.761477, 0.800658, 0.845081, 0.896904, 0.960057,
    1.043030, 1.171530, 1.189813, 1.209897, 1.232241, 1.257496, 1.286659, 1.321370,
    1.364637, 1.423026, 1.516664, 1.784955,
])
# fmt: on
#: Beyond this the density is below 1e-30.
_FAR_OUT = 5.0


@cache
def chernoff_quantile(probability: float) -> float:
    """Return the quantile of Chernoff's distribution, by inversion of its exact distribution function.

    >>> round(chernoff_quantile(0.975), 6)
    0.998181
    """
    p = check_inside(probability, "probability", 0, 1, closed="neither")
    return float(brentq(lambda z: _distribution(z) - p, -_FAR_OUT, _FAR_OUT, xtol=1e-14, rtol=1e-14))


def interpolated_chernoff_quantile(probability: float) -> float:
    """Return the quantile as the R package interpolates it, for comparison with R; the table ends at 0.9999.

    >>> round(interpolated_chernoff_quantile(0.975), 7)
    1.0015435
    """
    p = check_inside(probability, "probability", _R_LEVELS[0], _R_LEVELS[-1])
    return float(np.interp(p, _R_LEVELS, _R_QUANTILES))


def _distribution(z: float) -> float:
    """1/2 plus the integral of the symmetric density from 0 to z, by Gauss-Legendre."""
    node, weight = _gauss_legendre()
    points = abs(z) * (node + 1) / 2
    return 0.5 + np.sign(z) * float((weight * _density(points)).sum()) * abs(z) / 2


def _density(z: FloatArray) -> FloatArray:
    return _half_density(z) * _half_density(-z) / 2


def _half_density(t: FloatArray) -> FloatArray:
    """The function g with Fourier transform 2^(1/3) / Ai(i 2^(-1/3) λ), by the trapezoidal rule.

    The integrand is smooth and falls like exp(-λ^(3/2)/3), so the rule converges exponentially.
    """
    frequency, transform = _transform()
    step = frequency[1] - frequency[0]
    return (np.exp(-1j * np.outer(t, frequency)) @ transform).real * step / (2 * np.pi)


@cache
def _transform() -> tuple[FloatArray, FloatArray]:
    frequency = np.linspace(-30, 30, 241)
    return frequency, 2 ** (1 / 3) / airy(1j * 2 ** (-1 / 3) * frequency)[0]


@cache
def _gauss_legendre() -> tuple[FloatArray, FloatArray]:
    return np.polynomial.legendre.leggauss(80)


#: Functions for Chernoff quantiles: exact, or interpolated in the table of the R package, for comparison.
QUANTILES: dict[str, Callable[[float], float]] = {
    "exact": chernoff_quantile,
    "r": interpolated_chernoff_quantile,
}
#: The highest level for which R's table has a quantile.
R_TABLE_ENDS = 0.9998


def discrete_half_width(centre: FloatArray, n: CountArray, level: float) -> FloatArray:
    """Return the normal quantile times the standard error of a rate of n cases, by distinct forecast."""
    return ndtri((1 + level) / 2) * np.sqrt(centre * (1 - centre) / n)


def continuous_half_width(
    centre: FloatArray, grid: FloatArray, distinct: Blocks, squares: CountArray, quantile: float
) -> FloatArray:
    """Return the Chernoff quantile times (4 p(1 - p) / (n f))^(1/3), for slope 1 and n f cases per unit."""
    variance, cases = centre * (1 - centre), _cases_per_unit(grid, distinct, squares)
    spread = np.divide(4 * variance, cases, out=np.full(len(grid), np.inf), where=cases > 0)
    return quantile * np.cbrt(np.where(variance == 0, 0.0, spread))


def _cases_per_unit(grid: FloatArray, distinct: Blocks, squares: CountArray) -> FloatArray:
    """Chen's beta-kernel density of the forecasts times n, with bandwidth n^(-2/5).

    With kernel K and weights w it is (Σ w K)²/Σ w² K, which counts cases for any weights.
    """
    x, n = distinct.x_min, distinct.n
    bandwidth = (float(n.sum()) ** 2 / float(squares.sum())) ** (-2 / 5)
    cases = np.zeros(len(grid))
    for position, (a, b) in enumerate(zip(grid / bandwidth, (1 - grid) / bandwidth, strict=True)):
        kernel = np.exp(xlogy(a, x) + xlog1py(b, -x) - betaln(a + 1, b + 1))
        spread = (squares * kernel).sum()
        if spread > 0:  # far from all forecasts the kernel underflows
            cases[position] = (n * kernel).sum() ** 2 / spread
    return cases
