"""Pointwise bands around a reliability curve by asymptotic theory.

A consistency band shows where the curve of a calibrated forecast would lie, a confidence band
where the true curve may lie.

References
----------
Dimitriadis, Gneiting, Jordan (2021), PNAS 118, doi:10.1073/pnas.2016191118
Chen (1999), Comput. Stat. Data Anal. 31, doi:10.1016/S0167-9473(99)00010-9
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaln, ndtri, xlog1py, xlogy

from scorereport.arrays import FloatArray, read_only
from scorereport.reliability.chernoff import chernoff_quantile, interpolated_chernoff_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport.reliability.blocks import Blocks

KINDS = ("consistency", "confidence")
METHODS = ("discrete", "continuous")
#: Chernoff quantiles: exact, or interpolated in the table of the R package, for comparison with it.
QUANTILES: dict[str, Callable[[float], float]] = {
    "exact": chernoff_quantile,
    "r": interpolated_chernoff_quantile,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Band:
    """Pointwise bounds of the recalibrated probability at the forecasts `x`."""

    x: FloatArray
    lower: FloatArray
    upper: FloatArray
    kind: str
    method: str
    level: float
    n: float


def discrete_half_width(centre: FloatArray, distinct: Blocks, level: float) -> FloatArray:
    """Normal quantile times the standard error of a frequency, for each distinct forecast."""
    return ndtri((1 + level) / 2) * np.sqrt(centre * (1 - centre) / distinct.n)


def continuous_half_width(
    centre: FloatArray, grid: FloatArray, distinct: Blocks, level: float, quantiles: str
) -> FloatArray:
    """Chernoff quantile times (4 p(1 - p) / (n f))^(1/3), with slope 1 and density f of the forecasts."""
    n = float(distinct.n.sum())
    spread = 4 * centre * (1 - centre) / (n * _density(grid, distinct))
    return QUANTILES[quantiles]((1 + level) / 2) * np.cbrt(spread)


def cut_to_unit(centre: FloatArray, half_width: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lower and upper bounds of probabilities."""
    lower, upper = np.clip(centre - half_width, 0, 1), np.clip(centre + half_width, 0, 1)
    return read_only(lower), read_only(upper)


def _density(grid: FloatArray, distinct: Blocks) -> FloatArray:
    """Chen's beta-kernel density of the forecasts, with bandwidth n^(-2/5)."""
    n = float(distinct.n.sum())
    bandwidth = n ** (-2 / 5)
    share = distinct.n / n
    density = np.empty(len(grid))
    for position, (a, b) in enumerate(zip(grid / bandwidth, (1 - grid) / bandwidth, strict=True)):
        kernel = xlogy(a, distinct.x_min) + xlog1py(b, -distinct.x_min) - betaln(a + 1, b + 1)
        density[position] = (share * np.exp(kernel)).sum()
    return density
