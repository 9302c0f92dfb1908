"""Bounds over missing outcomes, and intervals of the observed rows, by the reason for missing outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, ndtri

import scorereport as sr
from scorereport.inference.losses import resolve_measure
from scorereport.inference.mean_intervals import infer_means
from scorereport.inference.miscalibration_bounds import tally_rows
from scorereport.inference.missing_outcomes import MISCALIBRATION, ObservedMean, bound_model
from scorereport.inference.panel import make_panel
from validation.coverage.few_cases import true_score
from validation.coverage.simulate import Cell, Plan, Trial, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from validation.coverage.record import Row

    #: The probability that an outcome is missing, from forecast and outcome.
    Mechanism = Callable[[FloatArray, FloatArray], FloatArray]

LEVEL = 0.95
_SCORES = {"Brier": "brier", "log": "log_loss"}
_SIZES = (200, 1000)
_CLUSTER = 4


def _forecast(u: FloatArray) -> FloatArray:
    return expit(1.5 * ndtri(u) - 1.5)


def _probability(u: FloatArray) -> FloatArray:
    return expit(1.2 * ndtri(u) - 1.2)


def _at_random(_: FloatArray, y: FloatArray) -> FloatArray:
    return np.full(len(y), 0.15)


def _of_high_forecasts(p: FloatArray, _: FloatArray) -> FloatArray:
    return np.where(p > 0.4, 0.9, 0.02)


def _of_events(_: FloatArray, y: FloatArray) -> FloatArray:
    return np.where(y == 1, 0.3, 0.1)


_MECHANISMS: dict[str, Mechanism] = {
    "missing at random": _at_random,
    "high forecasts missing": _of_high_forecasts,
    "events missing more often": _of_events,
    "events missing more often, weights": _of_events,
    "events missing more often, clusters": _of_events,
}
#: Those of independent rows without weights.
_OF_ROWS = tuple(_MECHANISMS)[:3]


def study_unknown_outcomes(plan: Plan) -> Iterator[Row]:
    """Simulate the bounds, which contain the numbers of the complete sample, and intervals without them."""
    for name in _MECHANISMS:
        for n in plan.cells(_SIZES, _SIZES):
            cell = Cell(study="missing outcomes", setting=name, n=n, nominal=1.0)
            yield from simulate(plan, cell, _bound_trial(name, n), plan.runs(200, 1000))
    for name in plan.cells(_OF_ROWS, _OF_ROWS):
        cell = Cell(study="missing outcomes", setting=name, n=_SIZES[-1], nominal=LEVEL)
        yield from simulate(plan, cell, _interval_trial(name, _SIZES[-1]), plan.runs(200, 1000))


def _draw(
    name: str, n: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray, NDArray[np.bool_]]:
    """Draw forecasts, outcomes, weights, and which outcomes are known: at least one is, and one is not."""
    u = np.repeat(rng.random(n // _CLUSTER), _CLUSTER) if name.endswith("clusters") else rng.random(n)
    p, y = _forecast(u), (rng.random(n) < _probability(u)).astype(np.float64)
    weight = rng.gamma(2, 0.5, n) if name.endswith("weights") else np.ones(n)
    is_missing = rng.random(n) < _MECHANISMS[name](p, y)
    is_missing[:1], is_missing[-1:] = True, False
    return p, y, weight, ~is_missing


def _bound_trial(name: str, n: int) -> Trial:
    measures = {label: resolve_measure(score, {}) for label, score in _SCORES.items()}

    def trial(rng: np.random.Generator) -> dict[str, float]:
        p, y, weight, known = _draw(name, n, rng)
        means = [
            ObservedMean(m, float(np.average(m.score(y[known], p[known]), weights=weight[known])))
            for m in measures.values()
        ]
        cases = tally_rows(y[known], p[known], weight[known], p[~known], weight[~known])
        found = bound_model("m", cases, means, 0.0)
        fit = sr.corp(y, p, weight)
        whole = {label: fit.decompose(score).score for label, score in _SCORES.items()}
        covered = {}
        for label, score in _SCORES.items():
            bounds = found.find(score)
            covered[f"bounds, {label}"] = float(
                bounds is not None and bounds.lower - 1e-12 <= whole[label] <= bounds.upper + 1e-12
            )
        part, mcb = found.find("brier", MISCALIBRATION), fit.decompose("brier").miscalibration
        covered["bounds, MCB Brier"] = float(part is not None and part.lower <= mcb <= part.upper)
        return covered

    return trial


def _interval_trial(name: str, n: int) -> Trial:
    measures = {label: resolve_measure(score, {}) for label, score in _SCORES.items()}
    truth = {label: true_score(m, _forecast, _probability)[0] for label, m in measures.items()}

    def trial(rng: np.random.Generator) -> dict[str, float]:
        p, y, _, known = _draw(name, n, rng)
        panel = make_panel(y[known], {"m": p[known]})
        found = infer_means(panel, list(measures.values()), level=LEVEL, method="bca", seed=1)
        covered = {}
        for label, score in _SCORES.items():
            interval = found.interval("m", score, level=LEVEL)
            covered[f"observed rows, {label}"] = float(interval.lower <= truth[label] <= interval.upper)
        return covered

    return trial
