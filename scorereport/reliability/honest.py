"""An honest simultaneous confidence band: binomial bounds for every stretch of forecasts.

If the event probability does not fall as forecasts rise, the events among any stretch of forecasts
bound it at both ends of the stretch. All stretches together, with the error shared out among them,
bound the whole curve for every sample size.

References
----------
Dimitriadis, Duembgen, Henzi, Puke, Ziegel (2023), Biometrika 110, doi:10.1093/biomet/asac068
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv

from scorereport.reliability.blocks import Blocks, merge_between

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray


def choose_cells(distinct: Blocks) -> Blocks:
    """Distinct forecasts, or 6 n^(1/3) cells of about equal count: fewer stretches, a narrower band.

    Cells depend on the forecasts alone and never split a tie, so the band stays honest.
    """
    total = int(distinct.n.sum())
    cells = ceil(6 * total ** (1 / 3))
    if len(distinct) <= cells:
        return distinct
    before = np.cumsum(distinct.n) - distinct.n
    cell = before * cells // total
    return merge_between(distinct, np.flatnonzero(cell[1:] != cell[:-1]) + 1)


def honest_bounds(cells: Blocks, level: float) -> tuple[FloatArray, FloatArray]:
    """Lower bounds from each cell's `x_max` on, and upper bounds up to each cell's `x_min`."""
    error = (1 - level) / (len(cells) * (len(cells) + 1))
    lower = _lower_bounds(cells.n.tolist(), cells.events.tolist(), error)
    non_events = (cells.n - cells.events)[::-1].tolist()
    return lower, 1 - _lower_bounds(cells.n[::-1].tolist(), non_events, error)[::-1]


def _lower_bounds(n: list[int], events: list[int], error: float) -> FloatArray:
    """The best lower bound so far, cell by cell.

    Of all stretches that end at a cell only those can be best that start where a block of the isotonic
    regression so far starts, and only if the last cell has events. The stack holds these blocks.
    """
    bounds, best = np.zeros(len(n)), 0.0
    stack_n: list[int] = []
    stack_events: list[int] = []
    for cell, (cases, happened) in enumerate(zip(n, events, strict=True)):
        block_n, block_events = cases, happened
        while stack_n and stack_events[-1] * block_n >= block_events * stack_n[-1]:
            block_n, block_events = block_n + stack_n.pop(), block_events + stack_events.pop()
        stack_n.append(block_n)
        stack_events.append(block_events)
        if happened:
            s, m = np.cumsum(stack_events[::-1]), np.cumsum(stack_n[::-1])
            best = max(best, float(betaincinv(s, m - s + 1, error).max()))
        bounds[cell] = best
    return bounds
