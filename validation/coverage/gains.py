"""Recalibration: how often intervals cover the mean gain, on new rows, of maps fitted to as many rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit, xlog1py, xlogy

from scorereport._utils.checks import CheckedCases
from scorereport._utils.rounding import first_lowest
from scorereport.inference.recalibration import try_recalibration
from scorereport.inference.recalibration_gains import bound_shown_gain
from scorereport.inference.recalibration_maps import METHODS
from scorereport.reliability.sampling import random_stream
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, draw_seed, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.recalibration import RecalibrationTrial
    from validation.coverage.record import Row

#: Intercept and slope of the true log-odds as a line in the log-odds of the uniform forecast.
_SETTINGS = {
    "calibrated": (0.0, 1.0),
    "slope .95": (0.0, 0.95),
    "slope .85": (0.0, 0.85),
    "slope .7": (0.0, 0.7),
    "slope .5": (0.0, 0.5),
    "intercept +.25": (0.25, 1.0),
}
_SIZES = (300, 1000)
#: Settings in which a gain is stated in some, and in nearly all, samples of the larger size.
_STATED = ("slope .7", "slope .5")
_FOLDS = 5
_GRID = (np.arange(4000) + 0.5) / 4000
#: Number of maps whose mean gain is the true one.
_MAPS = 400
_LEVEL = 0.95


def study_gains(plan: Plan) -> Iterator[Row]:
    """Simulate each map under both scores, except the isotonic one under the log score, often infinite."""
    for name in plan.cells(tuple(_SETTINGS), tuple(_SETTINGS)):
        for n in plan.cells(_SIZES, _SIZES):
            cell = Cell(study="recalibration gains", setting=name, n=n, nominal=_LEVEL)
            trial = _trial(_SETTINGS[name], n, maps=plan.runs(100, _MAPS))
            yield from simulate(plan, cell, trial, plan.runs(100, 1000))
    for name in plan.cells(_STATED, _STATED):
        cell = Cell(study="stated gains", setting=name, n=_SIZES[-1], nominal=_LEVEL)
        trial = _sentence_trial(_SETTINGS[name], _SIZES[-1], maps=plan.runs(100, _MAPS))
        yield from simulate(plan, cell, trial, plan.runs(50, 1000))


def _draw(rng: np.random.Generator, line: tuple[float, float], n: int) -> tuple[FloatArray, FloatArray]:
    x = rng.random(n)
    return (rng.random(n) < expit(line[0] + line[1] * logit(x))).astype(np.float64), x


def _true_gains(line: tuple[float, float], n: int, maps: int) -> dict[tuple[str, str], float]:
    """Mean gain on new rows, by method and score, of maps fitted to all but one of five folds."""
    truth, rng = expit(line[0] + line[1] * logit(_GRID)), random_stream(0, n)
    found: dict[tuple[str, str], list[float]] = {}
    for _ in range(maps):
        y, x = _draw(rng, line, n - n // _FOLDS)
        for method, fit in METHODS.items():
            moved = fit(CheckedCases(y, x, None), _GRID)
            for score in ("brier", "log_loss"):
                gain = _risk(score, _GRID, truth) - _risk(score, moved, truth)
                found.setdefault((method, score), []).append(gain)
    return {key: float(np.mean(gains)) for key, gains in found.items()}


def _risk(score: str, forecast: FloatArray, truth: FloatArray) -> float:
    if score == "brier":
        return float(((forecast - truth) ** 2).mean())
    return -float((xlogy(truth, forecast) + xlog1py(1 - truth, -forecast)).mean())


def _trial(line: tuple[float, float], n: int, *, maps: int) -> Trial:
    truth = _true_gains(line, n, maps)

    def trial(rng: np.random.Generator) -> dict[str, float]:
        y, x = _draw(rng, line, n)
        trials = try_recalibration(y, x, folds=_FOLDS, seed=draw_seed(rng), level=_LEVEL)
        covered = {}
        for tried in trials:
            for score in ("brier", "log_loss"):
                if (tried.method, score) != ("isotonic", "log_loss"):
                    difference = getattr(tried, score)
                    gain = truth[tried.method, score]
                    covered[f"{tried.method}, {score}"] = difference.lower <= -gain <= difference.upper
        return covered

    return trial


def _sentence_trial(line: tuple[float, float], n: int, *, maps: int) -> Trial:
    """Draw samples until a gain is significant and therefore stated."""
    truth = _true_gains(line, n, maps)

    def trial(rng: np.random.Generator) -> dict[str, float]:
        while True:
            y, x = _draw(rng, line, n)
            covered = _examine_sentence(try_recalibration(y, x, seed=draw_seed(rng)), truth)
            if covered:
                return covered

    return trial


def _examine_sentence(
    trials: tuple[RecalibrationTrial, ...], truth: dict[tuple[str, str], float]
) -> dict[str, float]:
    """Whether the intervals of the sentence and of the table cover; empty if no gain is stated."""
    better = [t for t in trials if t.brier.value < 0 and (t.brier.p_value_holm or 0.0) <= ALPHA]
    if not better:
        return {}
    best = better[first_lowest([t.brier.value for t in better])]
    lower, upper = bound_shown_gain(best.brier, ALPHA)
    as_tabled = -best.brier.upper <= truth[best.method, "brier"] <= -best.brier.lower
    return {
        "interval of the table": as_tabled,
        "interval of the sentence": lower <= truth[best.method, "brier"] <= upper,
    }
