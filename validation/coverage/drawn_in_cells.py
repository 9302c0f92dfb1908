"""Samples drawn in cells of neighbouring forecasts against samples of single cases: bands and tests.

Both ways are applied to the same data, of a size at which an evaluation draws in cells.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import scorereport as sr
from scorereport.inference.calibration_null import draw_null, judge_miscalibration
from scorereport.inference.losses import resolve_measure
from scorereport.reliability.band_bounds import pointwise_bounds, widen_where_certain
from scorereport.reliability.bands import simultaneous_consistency_band
from validation.coverage.settings import DEPARTURES, SETTINGS, Setting
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, draw_seed, rejects, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport.inference.calibration_null import CalibrationNull
    from validation.coverage.record import Row
    from validation.coverage.settings import Sample

    Draw = Callable[[np.random.Generator], Sample]

LEVEL = 0.9
STUDY = "drawn in cells"
_QUICK_SIZES, _ALL_SIZES = (5000,), (5000, 20_000)
_RESAMPLES, _POINTS = 199, 100
#: The most cases that are drawn one by one.
_WAYS = {"in cells": 0.0, "by case": np.inf}
#: How rows are drawn, by the end of the name of a setting, and what is simulated of each design.
_DESIGNS = {
    "": Setting.draw,
    ", clusters": Setting.draw_clusters,
    ", weights": Setting.draw_weighted,
}
_CONFIDENCE = {
    "": ("calibrated", "slope .8", "rare, cal."),
    ", clusters": ("calibrated", "slope .8"),
    ", weights": ("calibrated", "slope .8", "rare, cal."),
}
_CALIBRATED = {
    "": ("calibrated", "rare, cal."),
    ", clusters": ("calibrated",),
    ", weights": ("calibrated", "rare, cal."),
}
_DEPARTURES = {
    "": ("wave x + .04 sin(6 pi x)", "intercept +.2"),
    ", clusters": ("intercept +.2",),
    ", weights": ("intercept +.2",),
}


def study_cells(plan: Plan) -> Iterator[Row]:
    """Simulate bands, the size of the test of miscalibration, and its power against departures."""
    for n in plan.cells(_QUICK_SIZES, _ALL_SIZES):
        for design, names in _CONFIDENCE.items():
            for name in names:
                cell = Cell(study=STUDY, setting=name + design, n=n, nominal=LEVEL)
                draw = partial(_DESIGNS[design], SETTINGS[name], n=n)
                trial = _confidence_trial(SETTINGS[name], draw)
                yield from simulate(plan, cell, trial, plan.runs(200, 1000))
        for design, names in _CALIBRATED.items():
            for name in names:
                cell = Cell(study=STUDY, setting=name + design, n=n, nominal=LEVEL)
                draw = partial(_DESIGNS[design], SETTINGS[name], n=n)
                yield from simulate(plan, cell, _consistency_trial(draw), plan.runs(1000, 1000))
        for design, names in _CALIBRATED.items():
            for name in (*names, *_DEPARTURES[design]):
                cell = Cell(study=STUDY, setting=name + design, n=n, nominal=ALPHA)
                draw = partial(_DESIGNS[design], (SETTINGS | DEPARTURES)[name], n=n)
                yield from simulate(plan, cell, _test_trial(draw), plan.runs(1000, 1000))


def _fit(sample: Sample) -> sr.Corp:
    return sr.corp(sample.y, sample.x, sample.weight, cluster=sample.cluster)


def _confidence_trial(setting: Setting, draw: Draw) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample, seed = draw(rng), draw_seed(rng)
        fitted = _fit(sample).sample
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


def _consistency_trial(draw: Draw) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        fit, nulls = _draw_both_ways(draw, rng)
        covered: dict[str, float] = {}
        for way, null in nulls.items():
            band = simultaneous_consistency_band(fit.sample, null.curves, LEVEL)  # type: ignore[arg-type]
            covered[f"split resampling, {way}"] = band.holds(fit.recalibrate(band.x))
        return covered

    return trial


def _test_trial(draw: Draw) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        fit, nulls = _draw_both_ways(draw, rng)
        return rejects(
            {
                f"{test.name}, {way}": test.p_value
                for way, null in nulls.items()
                for test in judge_miscalibration(fit, null)
            }
        )

    return trial


def _draw_both_ways(draw: Draw, rng: np.random.Generator) -> tuple[sr.Corp, dict[str, CalibrationNull]]:
    sample, seed = draw(rng), draw_seed(rng)
    fit = _fit(sample)
    measures = [resolve_measure(name, {}) for name in ("brier", "log_loss")]
    return fit, {
        way: draw_null(fit, measures, resamples=_RESAMPLES, seed=seed, points=_POINTS, most_cases=most_cases)
        for way, most_cases in _WAYS.items()
    }
