"""Intervals and the joint test with four ordered classes, and paired differences of two models."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from scorereport.evaluation.class_assessment import assess_classes, choose_class_measures
from scorereport.evaluation.class_comparisons import compare_class_models
from scorereport.evaluation.class_views import make_families
from scorereport.inference.class_panel import make_class_panel
from scorereport.results.settings import EvaluationSettings
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, draw_seed, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.evaluation.class_assessment import Assessment
    from validation.coverage.record import Row

LEVEL, RESAMPLES = 0.9, 199
CLASSES = ("a", "b", "c", "d")
#: Forecasts are the true probabilities to this power, rescaled: 1 is calibrated, 2 is overconfident.
POWERS = {"calibrated": 1.0, "overconfident": 2.0}
#: A model with other predicted classes, which powers do not change: half of its forecasts is noise.
BLURRED = "blurred"
_PAIR = ("calibrated", BLURRED)
_SIZES = (200, 800)
_MANY = 400_000
_SCORES = ("rps", "multiclass_brier", "accuracy", "macro_f1", "quadratic_weighted_kappa")
_DIFFERENCES = ("rps", "macro_f1", "quadratic_weighted_kappa", "rps miscalibration")


def study_classes(plan: Plan) -> Iterator[Row]:
    """Simulate intervals by model, differences between both models, and the test of calibration."""
    for name in POWERS:
        for n in plan.cells(_SIZES, _SIZES):
            cell = Cell(study="class intervals", setting=name, n=n, nominal=LEVEL)
            yield from simulate(plan, cell, _interval_trial(name, n), plan.runs(80, 1000))
    for n in plan.cells(_SIZES, _SIZES):
        cell = Cell(study="class differences", setting=" − ".join(_PAIR), n=n, nominal=LEVEL)
        yield from simulate(plan, cell, _difference_trial(n), plan.runs(80, 1000))
    for name in POWERS:
        for n in plan.cells(_SIZES, _SIZES):
            cell = Cell(study="class tests", setting=name, n=n, nominal=ALPHA)
            yield from simulate(plan, cell, _test_trial(name, n), plan.runs(80, 1000))


def draw(rng: np.random.Generator, n: int) -> tuple[IntArray, dict[str, FloatArray]]:
    """Draw classes by their true probabilities, and the forecasts of each model."""
    p = rng.dirichlet(np.ones(len(CLASSES)), n)
    observed = (rng.random(n)[:, None] >= np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    powers = {name: p**power for name, power in POWERS.items()}
    forecasts = {name: q / q.sum(axis=1, keepdims=True) for name, q in powers.items()}
    return observed, forecasts | {BLURRED: (p + rng.dirichlet(np.ones(len(CLASSES)), n)) / 2}


def _assess(observed: IntArray, forecasts: dict[str, FloatArray], settings: EvaluationSettings) -> Assessment:
    panel = make_class_panel(observed, forecasts)
    measures = choose_class_measures(len(CLASSES), settings, ordered=True)
    return assess_classes(panel, make_families(panel, CLASSES, ordered=True)[-1:], measures, settings)


@cache
def population() -> dict[str, dict[str, float]]:
    """Numbers of both models over very many rows; the MCB of the calibrated one is exactly 0."""
    found = _assess(*draw(np.random.default_rng(1), _MANY), EvaluationSettings(resamples=0))
    truth = {}
    for name, scores in found.models.items():
        part = scores.decomposition("rps")
        truth[name] = {score: scores.score(score).value for score in _SCORES}
        truth[name] |= {"MCB RPS": part.miscalibration, "DSC RPS": part.discrimination}
    truth["calibrated"]["MCB RPS"] = 0.0
    return truth


def _interval_trial(name: str, n: int) -> Trial:
    truth = population()[name]

    def trial(rng: np.random.Generator) -> dict[str, float]:
        observed, forecasts = draw(rng, n)
        settings = EvaluationSettings(level=LEVEL, resamples=RESAMPLES, seed=draw_seed(rng))
        scores = _assess(observed, {name: forecasts[name]}, settings).models[name]
        intervals = {score: scores.score(score).interval for score in _SCORES}
        covered = {
            score: float(i is not None and i.lower <= truth[score] <= i.upper)
            for score, i in intervals.items()
        }
        for label, component in (("MCB RPS", "miscalibration"), ("DSC RPS", "discrimination")):
            bracket = scores.component("rps", component)
            covered[label] = float(bracket is not None and bracket.lower <= truth[label] <= bracket.upper)
        return covered

    return trial


def _difference_trial(n: int) -> Trial:
    first, second = (population()[name] for name in _PAIR)
    truth = {name: first[name] - second[name] for name in _DIFFERENCES if name in first}
    truth["rps miscalibration"] = first["MCB RPS"] - second["MCB RPS"]

    def trial(rng: np.random.Generator) -> dict[str, float]:
        settings = EvaluationSettings(level=LEVEL, resamples=RESAMPLES, seed=draw_seed(rng))
        observed, forecasts = draw(rng, n)
        found = _assess(observed, {name: forecasts[name] for name in _PAIR}, settings)
        measures = choose_class_measures(len(CLASSES), settings, ordered=True)
        differences = {d.measure: d for d in compare_class_models(found, measures, settings).differences}
        return {
            name: float(differences[name].lower <= truth[name] <= differences[name].upper)
            for name in _DIFFERENCES
        }

    return trial


def _test_trial(name: str, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        observed, forecasts = draw(rng, n)
        settings = EvaluationSettings(resamples=RESAMPLES, seed=draw_seed(rng))
        scores = _assess(observed, {name: forecasts[name]}, settings).models[name]
        test = scores.miscalibration_test("rps")
        return {"joint test, RPS": float(test is not None and test.p_value <= ALPHA)}

    return trial
