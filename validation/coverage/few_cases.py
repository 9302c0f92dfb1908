"""Few events, few distinct forecasts, and limits: intervals and verdicts from few data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

import scorereport as sr
from scorereport.configuration.limit_evidence import FEWEST_CASES, exact_bounds
from scorereport.configuration.measure_limits import MEASURES
from scorereport.inference.bootstrap_resamples import bootstrap_panel
from scorereport.inference.component_tests import component_intervals
from scorereport.inference.losses import expected_score, resolve_measure
from scorereport.inference.panel import make_panel
from validation.coverage.settings import SETTINGS, calibrated, quadrature
from validation.coverage.simulate import Cell, Plan, Trial, draw_seed, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.bootstrap_results import Bootstrap
    from scorereport.inference.losses import Measure
    from validation.coverage.record import Row

    Curve = Callable[[FloatArray], FloatArray]

LEVEL = 0.95
#: The allowed share of samples in which a limit is passed, or equivalence shown, by chance.
ONE_SIDE = (1 - LEVEL) / 2
#: Rows; one in fifty is an event, so that 1.2, 2, 3, 5, 10, 20 and 50 events are expected.
_SIZES = (60, 100, 150, 250, 500, 1000, 2500)
_PREVALENCE = 0.02
_SCORES = {"Brier": "brier", "log": "log_loss"}
_RESAMPLES, _DRAWS = 200, 40
#: The limit as a share of the true score, which therefore breaches it.
_SHARE_OF_TRUTH = 0.75
#: Distinct forecasts by their number, all with the same share of the rows.
_VALUES = {1: (0.3,), 2: (0.3, 0.7), 3: (0.2, 0.5, 0.8), 5: (0.1, 0.3, 0.5, 0.7, 0.9)} | {
    10: tuple((np.arange(10) + 0.5) / 10)
}
_VALUE_SIZES = (50, 200, 1000)


def _rare(u: FloatArray) -> FloatArray:
    return SETTINGS["rare, cal."].quantile(u)


def _overconfident(u: FloatArray) -> FloatArray:
    return expit(0.5 + 1.7 * logit(np.clip(_rare(u), 1e-12, 1 - 1e-12)))


def _constant(u: FloatArray) -> FloatArray:
    return np.full(len(u), _PREVALENCE)


#: Forecast and event probability of a row as functions of a uniform number.
RARE_SETTINGS: dict[str, tuple[Curve, Curve]] = {
    "calibrated": (_rare, _rare),
    "overconfident near 0": (_overconfident, _rare),
    "constant": (_constant, _constant),
}
_SHIFTS: dict[str, Curve] = {
    "calibrated": calibrated,
    "log-odds + .15": lambda x: expit(logit(x) + 0.15),
    "slope .6": lambda x: expit(0.6 * logit(x)),
}


def study_few_cases(plan: Plan) -> Iterator[Row]:
    """Simulate scores by number of events, limits, few distinct forecasts, and equivalence."""
    yield from _study_events(plan)
    for n in plan.cells(_SIZES[:3], _SIZES[:6]):
        cell = Cell(study="limits with few events", setting="calibrated", n=n, nominal=ONE_SIDE)
        yield from simulate(plan, cell, _limit_trial(n), plan.runs(200, 2000))
    yield from _study_values(plan)
    for name in ("slope .8", "10 values, .8", "3 values, .6"):
        for n in plan.cells((200, 1000), (200, 1000, 5000)):
            cell = Cell(study="equivalence", setting=name, n=n, nominal=ONE_SIDE)
            yield from simulate(plan, cell, _equivalence_trial(name, n), plan.runs(120, 1000))


def _study_events(plan: Plan) -> Iterator[Row]:
    for name, curves in RARE_SETTINGS.items():
        for n in plan.cells(_SIZES[:4], _SIZES if name == "calibrated" else _SIZES[:5]):
            cell = Cell(study="few events", setting=name, n=n, nominal=LEVEL)
            yield from simulate(plan, cell, _score_trial(*curves, n), plan.runs(100, 1000))


def _study_values(plan: Plan) -> Iterator[Row]:
    for count, values in _VALUES.items():
        for name, curve in _SHIFTS.items():
            for n in plan.cells(_VALUE_SIZES[:2], _VALUE_SIZES):
                setting = f"{count} {'value' if count == 1 else 'values'}, {name}"
                cell = Cell(study="few distinct forecasts", setting=setting, n=n, nominal=LEVEL)
                trial = _value_trial(np.array(values), curve, n)
                yield from simulate(plan, cell, trial, plan.runs(80, 1000))


# ---- few events ----


def true_score(measure: Measure, forecast: Curve, probability: Curve) -> tuple[float, float]:
    """The true mean score and skill, by numerical integration."""
    u, weight = quadrature()
    x, p = forecast(u), probability(u)
    ones = np.ones(len(u))
    mean = float(weight @ (p * measure.score(ones, x) + (1 - p) * measure.score(0 * ones, x)))
    prevalence = np.array([float(weight @ p)])
    reference = float(expected_score(measure, prevalence, prevalence)[0])
    return mean, 1 - mean / reference


def _draw(rng: np.random.Generator, forecast: Curve, probability: Curve, n: int) -> Bootstrap:
    u = rng.random(n)
    panel = make_panel((rng.random(n) < probability(u)).astype(np.float64), {"m": forecast(u)})
    measures = [resolve_measure(score, {}) for score in _SCORES.values()]
    return bootstrap_panel(panel, measures, resamples=_RESAMPLES, seed=draw_seed(rng), whole=False)


def _score_trial(forecast: Curve, probability: Curve, n: int) -> Trial:
    measures = {name: resolve_measure(score, {}) for name, score in _SCORES.items()}
    truth = {name: true_score(measure, forecast, probability) for name, measure in measures.items()}

    def trial(rng: np.random.Generator) -> dict[str, float]:
        found, covered = _draw(rng, forecast, probability, n), {}
        for name, score in _SCORES.items():
            mean, skill = truth[name]
            covered[name] = _covers(found, score, mean)
            covered[f"{name}, resamples alone"] = _covers(found, score, mean, allow_for_rare=False)
            if np.isfinite(found.interval("m", f"{score} skill").value):
                covered[f"{name} skill"] = _covers(found, f"{score} skill", skill)
        return covered

    return trial


def _covers(found: Bootstrap, measure: str, truth: float, *, allow_for_rare: bool = True) -> float:
    """Whether an interval contains the true value, up to rounding: a constant forecast has skill 0."""
    estimate = found.interval("m", measure, level=LEVEL, allow_for_rare=allow_for_rare)
    return float(estimate.lower - 1e-12 <= truth <= estimate.upper + 1e-12)


def _limit_trial(n: int) -> Trial:
    """Whether a limit below the true score is passed: by resamples alone, by the interval, by the verdict."""
    limit = _SHARE_OF_TRUTH * true_score(resolve_measure("brier", {}), _rare, _rare)[0]

    def trial(rng: np.random.Generator) -> dict[str, float]:
        found = _draw(rng, _rare, _rare, n)
        upper = found.interval("m", "brier", level=LEVEL).upper
        alone = found.interval("m", "brier", level=LEVEL, allow_for_rare=False)
        exact = exact_bounds(MEASURES["brier"], alone.value, n, LEVEL)
        is_enough = found.panel.outcome.sum() >= FEWEST_CASES
        end = upper if is_enough or exact is None else exact[1]
        return {
            "resamples alone": float(alone.upper <= limit),
            "interval": float(upper <= limit),
            "verdict": float(end <= limit),
        }

    return trial


# ---- few distinct forecasts, and equivalence ----


def _draw_values(
    rng: np.random.Generator, values: FloatArray, curve: Curve, n: int
) -> tuple[FloatArray, FloatArray]:
    x = rng.choice(values, n)
    return (rng.random(n) < curve(x)).astype(np.float64), x


def _components_of(values: FloatArray, curve: Curve) -> tuple[float, float]:
    q = curve(values)
    return float(((values - q) ** 2).mean()), float(q.var())


def _value_trial(values: FloatArray, curve: Curve, n: int) -> Trial:
    truth = _components_of(values, curve)

    def trial(rng: np.random.Generator) -> dict[str, float]:
        y, x = _draw_values(rng, values, curve, n)
        found = component_intervals(
            sr.corp(y, x), level=LEVEL, draws=_DRAWS, resamples=99, seed=draw_seed(rng)
        )
        return {
            name: float(interval.lower - 1e-12 <= true <= interval.upper + 1e-12)
            for name, interval, true in zip(("MCB Brier", "DSC Brier"), found, truth, strict=True)
        }

    return trial


def _equivalence_trial(name: str, n: int) -> Trial:
    """Whether a model is shown to be calibrated within exactly its own miscalibration, which must be rare."""
    values = np.array(_VALUES[3])
    setting = SETTINGS.get(name)
    delta = _components_of(values, _SHIFTS["slope .6"])[0]
    delta = delta if setting is None else setting.population()["MCB Brier"]

    def trial(rng: np.random.Generator) -> dict[str, float]:
        if setting is None:
            y, x = _draw_values(rng, values, _SHIFTS["slope .6"], n)
        else:
            sample = setting.draw(rng, n)
            y, x = sample.y.astype(np.float64), sample.x
        mcb, _ = component_intervals(
            sr.corp(y, x), level=LEVEL, draws=_DRAWS, resamples=99, seed=draw_seed(rng)
        )
        return {"shown within its own MCB": float(mcb.upper <= delta)}

    return trial
