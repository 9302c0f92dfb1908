"""Simultaneous bands: how often a whole curve lies inside; pointwise bands beside them for contrast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import scorereport as sr
from scorereport.inference.dominance import murphy_difference
from validation.coverage.documented import SIZES_OF_CONSISTENCY_BANDS, SIZES_OF_HONEST_BANDS
from validation.coverage.pairs import PAIRS
from validation.coverage.settings import SETTINGS
from validation.coverage.simulate import Cell, Plan, Trial, draw_seed, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from validation.coverage.record import Row
    from validation.coverage.settings import Setting

LEVEL = 0.9
STUDY = "simultaneous bands"
_HONEST = ("calibrated", "slope .8", "sqrt", "10 values, cal.", "rare, cal.", "flat (DSC=0)")
_CONSISTENCY = ("calibrated", "10 values, cal.", "rare, cal.")
_MURPHY_SIZES = (200, 1000)
#: Coverage is exact for any number of draws, so that few are enough in the quick study.
_QUICK_RESAMPLES, _FULL_RESAMPLES = 200, 1000


def study_simultaneous(plan: Plan) -> Iterator[Row]:
    """Simulate confidence bands, consistency bands and bands of Murphy curves."""
    resamples = _FULL_RESAMPLES if plan.is_full else _QUICK_RESAMPLES
    for name in _HONEST:
        for n, runs in plan.cells(*2 * [list(SIZES_OF_HONEST_BANDS.items())]):
            cell = Cell(study=STUDY, setting=name, n=n, nominal=LEVEL)
            yield from simulate(plan, cell, _honest_trial(SETTINGS[name], n), plan.runs(150, runs))
            trial = _confidence_trial(SETTINGS[name], n, resamples)
            yield from simulate(plan, cell, trial, plan.runs(50, runs))
    for name in _CONSISTENCY:
        for n, runs in plan.cells(*2 * [list(SIZES_OF_CONSISTENCY_BANDS.items())]):
            cell = Cell(study=STUDY, setting=name, n=n, nominal=LEVEL)
            trial = _split_trial(SETTINGS[name], n, resamples)
            yield from simulate(plan, cell, trial, plan.runs(150, runs))
            trial = _consistency_trial(SETTINGS[name], n, resamples)
            yield from simulate(plan, cell, trial, plan.runs(70, runs))
    for n in plan.cells(_MURPHY_SIZES, _MURPHY_SIZES):
        cell = Cell(study=STUDY, setting="equal pair", n=n, nominal=LEVEL)
        yield from simulate(plan, cell, _murphy_trial(n, resamples), plan.runs(300, 1000))


def _honest_trial(setting: Setting, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample = setting.draw(rng, n)
        band = sr.corp(sample.y, sample.x).band("confidence", LEVEL, coverage="simultaneous")
        return {"honest": band.holds(setting.cep(band.x))}

    return trial


def _confidence_trial(setting: Setting, n: int, resamples: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample = setting.draw(rng, n)
        fit = sr.corp(sample.y, sample.x)
        band = fit.band("confidence", LEVEL, resamples=resamples, seed=draw_seed(rng))
        (lower, upper), truth = band.at(sample.x), setting.cep(sample.x)
        return {
            "pointwise confidence, share": float(np.mean((truth >= lower) & (truth <= upper))),
            "pointwise confidence, whole curve": band.holds(setting.cep(band.x)),
        }

    return trial


def _split_trial(setting: Setting, n: int, resamples: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample = setting.draw(rng, n)
        fit = sr.corp(sample.y, sample.x)
        band = fit.band(level=LEVEL, coverage="simultaneous", resamples=resamples, seed=draw_seed(rng))
        return {"split resampling": band.holds(fit.recalibrate(band.x))}

    return trial


def _consistency_trial(setting: Setting, n: int, resamples: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample = setting.draw(rng, n)
        fit = sr.corp(sample.y, sample.x)
        band = fit.band(level=LEVEL, method="resampling", resamples=resamples, seed=draw_seed(rng))
        return {"pointwise consistency, whole curve": band.holds(fit.recalibrate(band.x))}

    return trial


def _murphy_trial(n: int, resamples: int) -> Trial:
    """Two forecasts that are equally good at every cost."""

    def trial(rng: np.random.Generator) -> dict[str, float]:
        pair = PAIRS["equal"].draw(rng, n)
        curve = murphy_difference(
            pair.y, pair.first, pair.second, level=LEVEL, resamples=resamples, seed=draw_seed(rng)
        )
        inside = (curve.lower <= 0) & (curve.upper >= 0)
        whole = (curve.simultaneous_lower <= 0) & (curve.simultaneous_upper >= 0)
        return {
            "Murphy difference, sup-t": float(whole.all()),
            "Murphy difference, pointwise, share": float(inside.mean()),
        }

    return trial
