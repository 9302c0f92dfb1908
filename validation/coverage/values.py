"""Coverage of intervals of decisions at thresholds, distances from calibration, and flexible curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betainc, betaincinv

import scorereport as sr
from scorereport.inference.binned_errors import expected_calibration_error
from scorereport.inference.decision_tallies import tally_rows
from scorereport.inference.decisions import add_threshold_intervals
from scorereport.inference.flexible_curves import flexible_curve
from scorereport.inference.lowess import local_lines
from scorereport.inference.smooth_calibration import calibration_errors
from validation.coverage.settings import SETTINGS, Sample, quadrature
from validation.coverage.simulate import Cell, Plan, Trial, draw_seed, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from validation.coverage.record import Row
    from validation.coverage.settings import Setting

    Draw = Callable[[np.random.Generator], Sample]

LEVEL = 0.95
BAND_LEVEL = 0.9
#: Prevalence, and the sum of the parameters of the beta distribution of calibrated forecasts.
FORECASTS = {0.5: 4.0, 0.1: 8.0, 0.02: 50.0}
_DISTANCES = ("calibrated", "slope .8", "sqrt", "rare, cal.", "10 values, .8")
_CURVES = ("calibrated", "slope .8", "sqrt")
_PLACES = ("low", "middle", "high")
_KINDS = ("clusters", "weights")
_MEASURES = ("ici", "e50", "e90", "emax")
#: Number of forecasts that represent the population: quantiles at the midpoints of equal shares.
_POPULATION = 2000


def study_values(plan: Plan) -> Iterator[Row]:
    """Simulate rates and net benefit by prevalence, then distances and bands by the shape of the curve."""
    decisions = [(prevalence, n, "") for prevalence in FORECASTS for n in (100, 500, 2000)]
    decisions += [(0.1, 500, kind) for kind in _KINDS]
    for prevalence, n, kind in plan.cells(decisions[:2] + decisions[-2:], decisions):
        yield from _study_decisions(plan, prevalence, n, kind)
    distances = [(name, n, "") for name in _DISTANCES for n in (200, 1000)]
    distances += [(name, 1000, kind) for name in ("calibrated", "slope .8") for kind in _KINDS]
    for name, n, kind in plan.cells(distances[::2], distances):
        yield from _study_distances(plan, name, n, kind)
    curves = [(name, n, kind) for name in _CURVES for n in (200, 1000) for kind in ("", *_KINDS)]
    for name, n, kind in plan.cells(curves[::3], curves):
        yield from _study_curves(plan, name, n, kind)


# Decisions


def _study_decisions(plan: Plan, prevalence: float, n: int, kind: str) -> Iterator[Row]:
    """At half the prevalence, at the prevalence, and at twice the prevalence or, where that is 1, at .8."""
    thresholds = np.array([prevalence / 2, prevalence, 2 * prevalence if prevalence < 0.5 else 0.8])
    setting = f"prevalence {prevalence:g}{f', {kind}' if kind else ''}"
    cell = Cell(study="decisions", setting=setting, n=n, nominal=LEVEL)
    trial = _decision_trial(prevalence, n, thresholds, kind)
    yield from simulate(plan, cell, trial, plan.runs(200, 1000))


def _decision_trial(prevalence: float, n: int, thresholds: FloatArray, kind: str) -> Trial:
    truth = true_decisions(prevalence, thresholds)

    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample = draw_beta(prevalence, rng, n, kind)
        fit = sr.corp(sample.y, sample.x, sample.weight, cluster=sample.cluster)
        table = sr.curves.threshold_table(fit, thresholds=thresholds)
        covered = {}
        for place, row in enumerate(add_threshold_intervals(table, tally_rows(fit, LEVEL))):
            for found in row.intervals:
                if found.measure in truth:
                    target = truth[found.measure][place]
                    is_defined = np.isfinite(found.value)
                    inside = not is_defined or found.lower <= target <= found.upper
                    covered[f"{found.measure}, {_PLACES[place]} threshold"] = float(inside)
        return covered

    return trial


def draw_beta(prevalence: float, rng: np.random.Generator, n: int, kind: str) -> Sample:
    """Calibrated forecasts with a beta distribution; clusters of five rows that have the same forecast."""
    total = FORECASTS[prevalence]
    a, b = prevalence * total, (1 - prevalence) * total
    cluster = np.arange(n) // 5 if kind == "clusters" else None
    u = rng.random(n) if cluster is None else rng.random(n // 5)[cluster]
    x = betaincinv(a, b, u)
    weight = rng.gamma(2, 0.5, n) if kind == "weights" else None
    return Sample(y=rng.random(n) < x, x=x, cluster=cluster, weight=weight)


def true_decisions(prevalence: float, t: FloatArray) -> dict[str, FloatArray]:
    """Rates and net benefit of calibrated forecasts: integrals of beta distributions."""
    total = FORECASTS[prevalence]
    a, b = prevalence * total, (1 - prevalence) * total
    positive, hit = 1 - betainc(a, b, t), prevalence * (1 - betainc(a + 1, b, t))
    false, missed = positive - hit, prevalence - hit
    spared = 1 - positive - missed
    return {
        "sensitivity": hit / prevalence,
        "specificity": spared / (1 - prevalence),
        "positive_predictive_value": hit / positive,
        "negative_predictive_value": spared / (spared + missed),
        "net_benefit": hit - false * t / (1 - t),
        "net_benefit_over_treat_all": spared * t / (1 - t) - missed,
        "interventions_avoided": 100 * (spared - missed * (1 - t) / t),
    }


# Distances


def _study_distances(plan: Plan, name: str, n: int, kind: str) -> Iterator[Row]:
    setting = f"{name}{f', {kind}' if kind else ''}"
    cell = Cell(study="distances", setting=setting, n=n, nominal=LEVEL)
    yield from simulate(plan, cell, _distance_trial(SETTINGS[name], n, kind), plan.runs(100, 1000))


def _distance_trial(setting: Setting, n: int, kind: str) -> Trial:
    """Coverage of the distances of the smoothed curve, and of those of the true curve."""
    smoothed, true = _true_distances(setting)
    ece, draw = _true_ece(setting), _draw_from(setting, kind, n)

    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample, seed = draw(rng), draw_seed(rng)
        rows: dict[str, Any] = {"sample_weight": sample.weight, "cluster": sample.cluster, "seed": seed}
        found = calibration_errors(sample.y, sample.x, **rows).intervals
        binned = expected_calibration_error(sample.y, sample.x, **rows).interval
        covered = {e.measure: float(e.lower <= smoothed[e.measure] <= e.upper) for e in found}
        covered |= {
            f"{e.measure} of the true curve": float(e.lower <= true[e.measure] <= e.upper) for e in found
        }
        return covered | {"ece": float(binned is not None and binned.lower <= ece <= binned.upper)}

    return trial


def _draw_from(setting: Setting, kind: str, n: int) -> Draw:
    draws = {"": setting.draw, "clusters": setting.draw_clusters, "weights": setting.draw_weighted}
    return lambda rng: draws[kind](rng, n)


def _true_distances(setting: Setting) -> tuple[dict[str, float], dict[str, float]]:
    """Distances of the curve that lowess has in an infinite sample, and of the true curve."""
    x, share = np.unique(setting.quantile((np.arange(_POPULATION) + 0.5) / _POPULATION), return_counts=True)
    cep = setting.cep(x)
    smooth = (local_lines(x, x, share.astype(np.float64), 2 / 3) * cep).sum(axis=1)
    return _summarize(np.abs(smooth - x), share), _summarize(np.abs(cep - x), share)


def _summarize(distance: FloatArray, times: NDArray[np.intp]) -> dict[str, float]:
    """The measures; a rounding error near 0 becomes 0, because intervals may end at 0."""
    d = np.repeat(np.where(distance > 1e-12, distance, 0.0), times)
    return dict(zip(_MEASURES, (d.mean(), *np.quantile(d, [0.5, 0.9]), d.max()), strict=True))


def _true_ece(setting: Setting) -> float:
    """The true ECE over ten bins of equal width, by numerical integration."""
    u, weight = quadrature()
    x = setting.quantile(u)
    sums = np.bincount(np.clip(np.ceil(10 * x) - 1, 0, 9).astype(int), weight * (setting.cep(x) - x))
    total = float(np.abs(sums).sum())
    return total if total > 1e-12 else 0.0


# Curves


def _study_curves(plan: Plan, name: str, n: int, kind: str) -> Iterator[Row]:
    setting = f"{name}{f', {kind}' if kind else ''}"
    cell = Cell(study="flexible curves", setting=setting, n=n, nominal=BAND_LEVEL)
    yield from simulate(plan, cell, _curve_trial(SETTINGS[name], n, kind), plan.runs(200, 1000))


def _curve_trial(setting: Setting, n: int, kind: str) -> Trial:
    draw = _draw_from(setting, kind, n)

    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample = draw(rng)
        curve = flexible_curve(
            sample.y,
            sample.x,
            level=BAND_LEVEL,
            points=n,
            sample_weight=sample.weight,
            cluster=sample.cluster,
        )
        if not len(curve.forecast):
            return {"share of forecasts": 1.0}
        truth = setting.cep(curve.forecast)
        return {"share of forecasts": float(((curve.lower <= truth) & (truth <= curve.upper)).mean())}

    return trial
