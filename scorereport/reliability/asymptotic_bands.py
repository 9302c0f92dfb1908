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
from scipy.special import airy, betaln, ndtri

from scorereport._utils.checks import check_inside
from scorereport.reliability.cells import CellSize, cell_starts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

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
#: More than the error of a quantile of the table, which has six decimals.
_TABLE_ERROR = 1e-3
#: The density of more forecasts than this is computed from cells of them, and the largest cells hold one of
#: this many parts of them: bands change by less than 1e-8.
MOST_FORECASTS, _CELLS = 65_536, CellSize(parts=4096)
#: Beyond this the density is below 1e-30.
_FAR_OUT = 5.0


@cache
def chernoff_quantile(probability: float) -> float:
    """Return the quantile of Chernoff's distribution, by inversion of its exact distribution function.

    >>> round(chernoff_quantile(0.975), 6)
    0.998181
    """
    p = check_inside(probability, "probability", 0, 1, closed="neither")
    return float(brentq(lambda z: _distribution(z) - p, *_enclose(p), xtol=1e-14, rtol=1e-14))


def _enclose(probability: float) -> tuple[float, float]:
    """Bounds of a quantile: its neighbours in the table of the R package, which save most steps."""
    tail = max(probability, 1 - probability)
    place = int(np.searchsorted(_R_LEVELS, tail, side="right"))
    lower = float(_R_QUANTILES[place - 1]) - _TABLE_ERROR
    upper = float(_R_QUANTILES[place]) + _TABLE_ERROR if place < len(_R_LEVELS) else _FAR_OUT
    return (lower, upper) if probability >= 0.5 else (-upper, -lower)


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
    return 0.5 + z * float((weight * _density(abs(z) * node)).sum())


def _density(z: FloatArray) -> FloatArray:
    """g(z) g(-z)/2, where g has the Fourier transform 2^(1/3) / Ai(i 2^(-1/3) λ), by the trapezoidal rule.

    The integrand is smooth and falls like exp(-λ^(3/2)/3), so the rule converges exponentially. The transform
    at -λ is its complex conjugate at λ: positive frequencies are enough.
    """
    frequency, transform = _transform()
    step = frequency[1] - frequency[0]
    angle = np.outer(z, frequency)
    even = np.einsum("zf,f->z", np.cos(angle), transform.real)
    odd = np.einsum("zf,f->z", np.sin(angle), transform.imag)
    return ((even + odd) * (even - odd)) * (step / np.pi) ** 2 / 2


@cache
def _transform() -> tuple[FloatArray, NDArray[np.complex128]]:
    """Frequencies from 0 on and the transform; half of it at 0, which belongs to both sides."""
    frequency = np.linspace(0, 30, 121)
    transform = 2 ** (1 / 3) / airy(1j * 2 ** (-1 / 3) * frequency)[0]
    transform[0] /= 2
    return frequency, transform


@cache
def _gauss_legendre() -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on [0, 1], of two panels.

    As many nodes on one panel would be the eigenvalues of a matrix so large that OpenBLAS uses threads, which
    take a tenth of a second of processor time while they wait.
    """
    node, weight = np.polynomial.legendre.leggauss(40)
    first, half = (node + 1) / 4, weight / 4
    return np.append(first, first + 0.5), np.append(half, half)


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
    bandwidth = (float(distinct.n.sum()) ** 2 / float(squares.sum())) ** (-2 / 5)
    x, n, squares, variance = _group(distinct, squares)
    z = x if variance is None else np.where(variance > 0, x, 0.5)  # cells of one forecast may be 0 or 1
    cases = np.zeros(len(grid))
    with np.errstate(divide="ignore"):
        logs = np.log(x), np.log1p(-x)
    for position, (a, b) in enumerate(zip(grid / bandwidth, (1 - grid) / bandwidth, strict=True)):
        kernel = _multiply(a, logs[0])
        kernel += _multiply(b, logs[1])
        kernel -= betaln(a + 1, b + 1)
        np.exp(kernel, out=kernel)
        if variance is not None:  # the mean over a cell, to the second order
            kernel *= 1 + variance / 2 * ((a / z - b / (1 - z)) ** 2 - a / z**2 - b / (1 - z) ** 2)
        near = (n * kernel).sum()
        spread = near if squares is n else (squares * kernel).sum()
        if spread > 0:  # far from all forecasts the kernel underflows
            cases[position] = near**2 / spread
    return cases


def _group(
    distinct: Blocks, squares: CountArray
) -> tuple[FloatArray, CountArray, CountArray, FloatArray | None]:
    """Forecasts, weights and squared weights; of many forecasts in cells, with their variance in each."""
    x = distinct.x_min
    if len(distinct) <= MOST_FORECASTS:
        return x, distinct.n, squares, None
    start = cell_starts(len(distinct), _CELLS)
    n = np.add.reduceat(distinct.n, start)
    mean = np.add.reduceat(distinct.n * x, start) / n
    deviation = x - np.repeat(mean, np.diff(start, append=len(x)))
    variance = np.add.reduceat(distinct.n * deviation**2, start) / n
    return mean, n, np.add.reduceat(squares, start), variance


def _multiply(exponent: float, logarithm: FloatArray) -> FloatArray:
    """The logarithm of a power; 0 for the exponent 0, also where the logarithm is infinite."""
    return exponent * logarithm if exponent else np.zeros(len(logarithm))
