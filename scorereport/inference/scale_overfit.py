"""By how much the marks of CORP blocks are too high: an isotonic fit sees more spread than there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.machine import repeat
from scorereport.inference.overfit import smooth_curve
from scorereport.inference.scale_draws import source_marks
from scorereport.reliability.sampling import random_stream
from scorereport.scores.probability import ROBUSTNESS

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.scale_draws import ScaleTarget

#: More draws than this do not make the mean overfit more certain than the overfit itself is.
MOST_DRAWS = 100
#: What is left of a spread once other columns explain it is mere rounding below this part of it.
_ROUNDING = 1e-16


def draw_overfit(target: ScaleTarget, *, draws: int, seed: int) -> FloatArray:
    """Mean of the logarithm of each mark in refitted draws over its value for the curve they come from.

    Outcomes are drawn from the fitted curve without its steps, whose marks are known, and fitted again. How
    many come true, and where along the curve, is mere chance that moves a draw: that part, found by
    regression, is taken out.
    """
    sample = target.sample
    curve, n = smooth_curve(sample), sample.distinct.n.astype(np.float64)
    simulation, truth = sample.simulation(curve), source_marks(n * curve, n)
    known = np.where(curve > 0, curve, 1.0)
    powers = np.array([known, np.log(known), known**ROBUSTNESS])

    def draw(number: int) -> tuple[FloatArray, FloatArray]:
        drawn = simulation.redraw_outcomes(random_stream(seed, number, 2))
        fit = drawn.fit()
        came = np.flatnonzero(drawn.events)
        times = drawn.events[came].astype(np.float64)
        marks = source_marks(fit.events.astype(np.float64), fit.n.astype(np.float64))
        return np.log(marks / truth), (powers[:, came] * times).sum(axis=1)

    if not (draws and np.isfinite(truth).all()):
        return np.full(3, np.nan)
    found = repeat(draw, draws, rows=len(n), what="drawing the overfit of CORP blocks")
    excess, sums = (np.array(part) for part in zip(*found, strict=True))
    expected = (powers * n * curve).sum(axis=1)
    return _mean_without_chance(excess, (sums - expected) / (n * curve).sum())


def _mean_without_chance(excess: FloatArray, chance: FloatArray) -> FloatArray:
    """Mean of each column, less what columns that are 0 on average explain of it; never below 0.

    One after the other these are taken out of all that is left: sums alone, the same on every machine.
    """
    seen = np.isfinite(excess).all(axis=1)
    if not seen.any():
        return np.full(excess.shape[1], np.nan)
    left = np.column_stack([chance, excess])[seen]
    least = _ROUNDING * ((left - left.mean(axis=0)) ** 2).sum(axis=0)
    for place in range(chance.shape[1]):
        deviation = left - left.mean(axis=0)
        spread = (deviation[:, place] ** 2).sum()
        if spread > least[place]:
            slope = (deviation * deviation[:, [place]]).sum(axis=0) / spread
            left = left - slope * left[:, [place]]
    return np.maximum(left[:, chance.shape[1] :].mean(axis=0), 0.0)
