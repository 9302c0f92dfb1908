"""Samples drawn in cells of neighbouring forecasts against samples of single cases: bands and tests.

Both ways are applied to the same data, of a size at which an evaluation draws in cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import scorereport as sr
from scorereport.inference.calibration_null import draw_null, judge_miscalibration
from scorereport.inference.losses import resolve_measure
from scorereport.reliability.band_bounds import pointwise_bounds, widen_where_certain
from scorereport.reliability.bands import simultaneous_consistency_band
from validation.coverage.settings import DEPARTURES, SETTINGS
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, draw_seed, rejects, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.inference.calibration_null import CalibrationNull
    from validation.coverage.record import Row
    from validation.coverage.settings import Setting

LEVEL = 0.9
STUDY = "drawn in cells"
_QUICK_SIZES, _ALL_SIZES = (5000,), (5000, 20_000)
_RESAMPLES, _POINTS = 199, 100
#: The most cases that are drawn one by one.
_WAYS = {"in cells": 0.0, "by case": np.inf}


def study_cells(plan: Plan) -> Iterator[Row]:
    """Simulate bands, the size of the test of miscalibration, and its power against two departures."""
    for n in plan.cells(_QUICK_SIZES, _ALL_SIZES):
        for name in ("calibrated", "slope .8", "rare, cal."):
            cell = Cell(study=STUDY, setting=name, n=n, nominal=LEVEL)
            yield from simulate(plan, cell, _confidence_trial(SETTINGS[name], n), plan.runs(200, 1000))
        for name in ("calibrated", "rare, cal."):
            cell = Cell(study=STUDY, setting=name, n=n, nominal=LEVEL)
            yield from simulate(plan, cell, _consistency_trial(SETTINGS[name], n), plan.runs(1000, 1000))
        for name in ("calibrated", "rare, cal.", "wave x + .04 sin(6 pi x)", "intercept +.2"):
            cell = Cell(study=STUDY, setting=name, n=n, nominal=ALPHA)
            trial = _test_trial((SETTINGS | DEPARTURES)[name], n)
            yield from simulate(plan, cell, trial, plan.runs(1000, 1000))


def _confidence_trial(setting: Setting, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample, seed = setting.draw(rng, n), draw_seed(rng)
        fitted = sr.corp(sample.y, sample.x).sample
        x = fitted.distinct.x_min
        points, probability = x[np.linspace(0, len(x) - 1, _POINTS).astype(int)], fitted.cep(x)
        covered, truth = {}, setting.cep(points)
        for way, most_cases in _WAYS.items():
            simulation = fitted.simulation(probability, most_cases=most_cases)
            lower, upper, _ = pointwise_bounds(simulation, points, LEVEL, _RESAMPLES, seed)
            lower, upper = widen_where_certain(points, lower, upper, fitted, LEVEL)
            covered[f"pointwise confidence, {way}"] = float(np.mean((truth >= lower) & (truth <= upper)))
        return covered

    return trial


def _consistency_trial(setting: Setting, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        fit, nulls = _draw_both_ways(setting, n, rng)
        covered: dict[str, float] = {}
        for way, null in nulls.items():
            band = simultaneous_consistency_band(fit.sample, null.curves, LEVEL)  # type: ignore[arg-type]
            covered[f"split resampling, {way}"] = band.holds(fit.recalibrate(band.x))
        return covered

    return trial


def _test_trial(setting: Setting, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        fit, nulls = _draw_both_ways(setting, n, rng)
        return rejects(
            {
                f"{test.name}, {way}": test.p_value
                for way, null in nulls.items()
                for test in judge_miscalibration(fit, null)
            }
        )

    return trial


def _draw_both_ways(
    setting: Setting, n: int, rng: np.random.Generator
) -> tuple[sr.Corp, dict[str, CalibrationNull]]:
    sample, seed = setting.draw(rng, n), draw_seed(rng)
    fit = sr.corp(sample.y, sample.x)
    measures = [resolve_measure(name, {}) for name in ("brier", "log_loss")]
    return fit, {
        way: draw_null(fit, measures, resamples=_RESAMPLES, seed=seed, points=_POINTS, most_cases=most_cases)
        for way, most_cases in _WAYS.items()
    }
