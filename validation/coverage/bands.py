"""Pointwise consistency bands as in Fig. 4 of the paper: share of rows where the curve is inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import scorereport as sr
from validation.coverage.settings import DISTRIBUTIONS
from validation.coverage.simulate import Cell, Plan, Trial, draw_seed, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.reliability.bands import Band
    from validation.coverage.record import Row
    from validation.coverage.settings import Setting

LEVEL = 0.9
_VALUES = (10, 20, 50, None)
_ALL_SIZES = tuple(2**power for power in range(6, 14))
_QUICK_SIZES = (2**6, 2**9, 2**11)
_QUICK_RESAMPLES, _FULL_RESAMPLES = 200, 400


def study_bands(plan: Plan) -> Iterator[Row]:
    """Simulate three distributions of forecasts, with k values or continuous, at several sample sizes."""
    resamples = _FULL_RESAMPLES if plan.is_full else _QUICK_RESAMPLES
    for distribution in DISTRIBUTIONS:
        for values in _VALUES:
            for n in plan.cells(_QUICK_SIZES, _ALL_SIZES):
                setting = distribution.calibrated(values)
                asymptotic = "continuous" if values is None else "discrete"
                cell = Cell(study="pointwise bands", setting=setting.name, n=n, nominal=LEVEL)
                trial = _trial(setting, n, asymptotic, resamples)
                yield from simulate(plan, cell, trial, plan.runs(70, 1000))


def _trial(setting: Setting, n: int, asymptotic: str, resamples: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample = setting.draw(rng, n)
        fit, seed = sr.corp(sample.y, sample.x), draw_seed(rng)

        def share(method: str) -> float:
            return share_inside(fit, fit.band(level=LEVEL, method=method, resamples=resamples, seed=seed))

        covered = {method: share(method) for method in ("resampling", asymptotic)}
        chosen = fit.band(level=LEVEL, resamples=2).method  # two draws are enough to find the method
        return covered | {"auto": covered[chosen] if chosen in covered else share(chosen)}

    return trial


def share_inside(fit: sr.Corp, band: Band) -> float:
    """Return the share of rows at whose forecast the fitted curve lies inside the band."""
    lower, upper = band.at(fit.y_prob)
    return float(np.mean((fit.cep >= lower) & (fit.cep <= upper)))
