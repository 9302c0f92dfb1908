"""Pointwise bands by asymptotic theory: normal for many cases on few forecasts, else Chernoff's law.

References
----------
Dimitriadis, Gneiting, Jordan (2021), PNAS 118, doi:10.1073/pnas.2016191118
Chen (1999), Comput. Stat. Data Anal. 31, doi:10.1016/S0167-9473(99)00010-9
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaln, ndtri, xlog1py, xlogy

from scorereport.reliability.asymptotic_bands import chernoff_quantile, interpolated_chernoff_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport._utils.arrays import CountArray, FloatArray
    from scorereport.reliability.blocks import Blocks

#: Chernoff quantiles: exact, or interpolated in the table of the R package, for comparison with it.
QUANTILES: dict[str, Callable[[float], float]] = {
    "exact": chernoff_quantile,
    "r": interpolated_chernoff_quantile,
}
#: The highest level whose quantile R's table has.
R_TABLE_ENDS = 0.9998


def discrete_half_width(centre: FloatArray, n: CountArray, level: float) -> FloatArray:
    """Normal quantile times the standard error of a frequency of n cases, for each distinct forecast."""
    return ndtri((1 + level) / 2) * np.sqrt(centre * (1 - centre) / n)


def continuous_half_width(
    centre: FloatArray, grid: FloatArray, distinct: Blocks, squares: CountArray, quantile: float
) -> FloatArray:
    """Chernoff quantile times (4 p(1 - p) / (n f))^(1/3), with slope 1 and n f cases per unit of forecast."""
    variance, cases = centre * (1 - centre), _cases_per_unit(grid, distinct, squares)
    spread = np.divide(4 * variance, cases, out=np.full(len(grid), np.inf), where=cases > 0)
    return quantile * np.cbrt(np.where(variance == 0, 0.0, spread))


def _cases_per_unit(grid: FloatArray, distinct: Blocks, squares: CountArray) -> FloatArray:
    """Chen's beta-kernel density of the forecasts times n, with bandwidth n^(-2/5).

    With kernel K and weights w it is (Σ w K)²/Σ w² K, which counts cases whatever their weights.
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
