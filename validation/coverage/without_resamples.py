"""Intervals and bands without resamples beside those of the bootstrap, on the same samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, ndtri

from scorereport.inference.bootstrap_resamples import bootstrap_panel
from scorereport.inference.dominance import murphy_difference
from scorereport.inference.losses import resolve_measure
from scorereport.inference.mean_intervals import infer_means
from scorereport.inference.panel import make_panel
from validation.coverage.few_cases import true_score
from validation.coverage.pairs import PAIRS
from validation.coverage.simulate import Cell, Plan, Trial, draw_seed, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.panel import ForecastPanel
    from validation.coverage.record import Row

    Curve = Callable[[FloatArray], FloatArray]

LEVEL, BAND_LEVEL = 0.95, 0.9
_SCORES = {"Brier": "brier", "log": "log_loss"}
#: Nothing is resampled from 1,000 units on; where losses are skewed or weights unequal, from more on.
_SIZES = (1000, 2500, 10_000)
_QUICK_RESAMPLES, _FULL_RESAMPLES = 400, 1000
_CLUSTER_ROWS = 4


def _usual(u: FloatArray) -> FloatArray:
    return expit(1.2 * ndtri(u) - 1)


def _overconfident(u: FloatArray) -> FloatArray:
    return expit(3 * ndtri(u) - 2)


def _rare(u: FloatArray) -> FloatArray:
    return expit(ndtri(u) - 3.5)


#: Forecast and true probability as functions of a uniform number, and the sampling units.
_SETTINGS: dict[str, tuple[Curve, Curve, str]] = {
    "calibrated": (_usual, _usual, "rows"),
    "overconfident": (_overconfident, _usual, "rows"),
    "rare events": (_rare, _rare, "rows"),
    "sampling weights": (_overconfident, _usual, "weights"),
    "clusters of 4": (_overconfident, _usual, "clusters"),
}


def study_without_resamples(plan: Plan) -> Iterator[Row]:
    """Simulate mean scores and skills, then bands of Murphy differences."""
    resamples = _FULL_RESAMPLES if plan.is_full else _QUICK_RESAMPLES
    for name in _SETTINGS:
        for n in plan.cells(_SIZES[:2], _SIZES):
            cell = Cell(study="scores without resamples", setting=name, n=n, nominal=LEVEL)
            yield from simulate(plan, cell, _score_trial(name, n, resamples), plan.runs(60, 1000))
    for n in plan.cells(_SIZES[:2], _SIZES[:2]):
        cell = Cell(study="Murphy bands without resamples", setting="equal pair", n=n, nominal=BAND_LEVEL)
        yield from simulate(plan, cell, _murphy_trial(n, resamples), plan.runs(100, 1000))


def _score_trial(name: str, n: int, resamples: int) -> Trial:
    forecast, probability, _ = _SETTINGS[name]
    measures = [resolve_measure(score, {}) for score in _SCORES.values()]
    truth = [true_score(measure, forecast, probability) for measure in measures]

    def trial(rng: np.random.Generator) -> dict[str, float]:
        panel, seed = _draw(name, n, rng), draw_seed(rng)
        by_method = {
            "bootstrap": bootstrap_panel(panel, measures, resamples=resamples, seed=seed, whole=False),
            "reported": infer_means(panel, measures, level=LEVEL, method="bca", seed=seed),
        }
        covered = {}
        for label, score, values in zip(_SCORES, _SCORES.values(), truth, strict=True):
            for end, value in zip(("", " skill"), values, strict=True):
                for method, found in by_method.items():
                    interval = found.interval("m", f"{score}{end}", level=LEVEL)
                    covered[f"{label}{end}, {method}"] = float(interval.lower <= value <= interval.upper)
        return covered

    return trial


def _draw(name: str, n: int, rng: np.random.Generator) -> ForecastPanel:
    """Draw independent rows, rows of unequal weight, or clusters of rows with the same forecast."""
    forecast, probability, units = _SETTINGS[name]
    u = rng.random(n)
    if units == "clusters":
        u = np.repeat(u[: n // _CLUSTER_ROWS], _CLUSTER_ROWS)
    y = (rng.random(len(u)) < probability(u)).astype(np.float64)
    return make_panel(
        y,
        {"m": forecast(u)},
        sample_weight=rng.gamma(4, size=n) if units == "weights" else None,
        cluster=np.arange(len(u)) // _CLUSTER_ROWS if units == "clusters" else None,
    )


def _murphy_trial(n: int, resamples: int) -> Trial:
    """Two forecasts that are equally good at every cost."""

    def trial(rng: np.random.Generator) -> dict[str, float]:
        pair, seed = PAIRS["equal"].draw(rng, n), draw_seed(rng)
        covered = {}
        for method, number in (("bootstrap", resamples), ("reported", None)):
            curve = murphy_difference(
                pair.y, pair.first, pair.second, level=BAND_LEVEL, resamples=number, seed=seed
            )
            whole = (curve.simultaneous_lower <= 0) & (curve.simultaneous_upper >= 0)
            covered[f"sup-t, {method}"] = float(whole.all())
            inside = (curve.lower <= 0) & (curve.upper >= 0)
            covered[f"pointwise, share, {method}"] = float(inside.mean())
        return covered

    return trial
