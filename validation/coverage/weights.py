"""Weights of both kinds: rows drawn with unequal probabilities, rows drawn by outcome, repeated rows.

In the populations, logit P(event) = slope * logit x. True values of scores and of the AUC are those of one
large population.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

import scorereport as sr
from scorereport._utils.arrays import FloatArray
from scorereport.inference.bootstrap_resamples import bootstrap_panel
from scorereport.inference.calibration_tests import mean_calibration_test, spiegelhalter_test
from scorereport.inference.component_tests import component_intervals, miscalibration_test
from scorereport.inference.delong import auc_interval
from scorereport.inference.losses import resolve_measure
from scorereport.inference.panel import make_panel
from scorereport.inference.regression import calibration_line, line_tests
from scorereport.scores.ranking import roc_auc
from validation.coverage.bands import share_inside
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, draw_seed, rejects, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from validation.coverage.record import Row


LEVEL, BAND_LEVEL = 0.95, 0.9
_RESAMPLES, _DRAWS = 199, 40
_LARGE = 400_000
#: Rows of the population for each row of a sample that is drawn by outcome.
_POPULATION = 40


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """A weighted sample."""

    y: FloatArray
    x: FloatArray
    weight: FloatArray
    kind: str = "sampling"

    @property
    def weights(self) -> dict[str, Any]:
        """The weights as arguments."""
        return {"sample_weight": self.weight, "weight_kind": self.kind}


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """How rows are drawn from a population, and the true values in it."""

    name: str
    forecasts: Callable[[np.random.Generator, int], FloatArray]
    draw_rows: Callable[[np.random.Generator, FloatArray, FloatArray, int], Drawn]
    factor: int = 1

    def population(self, rng: np.random.Generator, n: int, slope: float) -> tuple[FloatArray, FloatArray]:
        """Outcomes and forecasts."""
        x = self.forecasts(rng, n)
        return (rng.random(n) < expit(slope * logit(x))).astype(np.float64), x

    def draw(self, rng: np.random.Generator, n: int, slope: float) -> Drawn:
        """A sample of n rows."""
        return self.draw_rows(rng, *self.population(rng, self.factor * n, slope), n)

    @cache  # noqa: B019  # a few designs, which live as long as the study
    def truth(self, slope: float) -> dict[str, float]:
        """True values of the numbers that have intervals."""
        y, x = self.population(np.random.default_rng(1), _LARGE, slope)
        p = expit(slope * logit(x))
        return {
            "slope": slope,
            "AUC": roc_auc(y, x),
            "Brier": float((p * (1 - p) + (x - p) ** 2).mean()),
            "MCB Brier": float(((x - p) ** 2).mean()),
            "DSC Brier": float(((p - p.mean()) ** 2).mean()),
        }


def _uniform(rng: np.random.Generator, n: int) -> FloatArray:
    return rng.random(n)


def _low(rng: np.random.Generator, n: int) -> FloatArray:
    return rng.beta(1, 9, n)


def _ten_values(rng: np.random.Generator, n: int) -> FloatArray:
    return (rng.integers(0, 10, n) + 0.5) / 10


def _one_to_hundred(rng: np.random.Generator, y: FloatArray, x: FloatArray, n: int) -> Drawn:
    return Drawn(y=y, x=x, weight=rng.integers(1, 101, n).astype(np.float64))


def _log_normal(rng: np.random.Generator, y: FloatArray, x: FloatArray, n: int) -> Drawn:
    return Drawn(y=y, x=x, weight=rng.lognormal(0, 1, n))


def _by_outcome(of_event: float, of_other: float) -> Callable[..., Drawn]:
    """Keep rows with a probability that depends on their outcome, with weights that compensate for it."""

    def draw(rng: np.random.Generator, y: FloatArray, x: FloatArray, n: int) -> Drawn:
        chance = np.where(y == 1, of_event, of_other)
        kept = np.flatnonzero(rng.random(len(y)) < chance)[:n]
        return Drawn(y=y[kept], x=x[kept], weight=1 / chance[kept])

    return draw


def _counted(_: np.random.Generator, y: FloatArray, x: FloatArray, _n: int) -> Drawn:
    """One row for each pair of forecast and outcome, with its frequency."""
    pairs, count = np.unique(np.stack([x, y]), axis=1, return_counts=True)
    return Drawn(y=pairs[1], x=pairs[0], weight=count.astype(np.float64), kind="frequency")


DESIGNS = (
    Design(name="weights 1 to 100", forecasts=_uniform, draw_rows=_one_to_hundred),
    Design(name="log-normal weights", forecasts=_uniform, draw_rows=_log_normal),
    Design(name="1 in 9 non-events", forecasts=_low, draw_rows=_by_outcome(1, 1 / 9), factor=_POPULATION),
    Design(name="3 in 10 events", forecasts=_low, draw_rows=_by_outcome(0.3, 1), factor=_POPULATION),
    Design(name="frequencies, ten values", forecasts=_ten_values, draw_rows=_counted),
)


def study_weights(plan: Plan) -> Iterator[Row]:
    """Simulate tests and bands of calibrated forecasts, and intervals at slope .8."""
    for design in DESIGNS:
        for n in plan.cells((300,), (300,)):
            cell = Cell(study="weights: tests", setting=design.name, n=n, nominal=ALPHA)
            yield from simulate(plan, cell, _test_trial(design, n), plan.runs(60, 1000))
            cell = Cell(study="weights: bands", setting=design.name, n=n, nominal=BAND_LEVEL)
            yield from simulate(plan, cell, _band_trial(design, n), plan.runs(60, 1000))
            cell = Cell(study="weights: intervals", setting=design.name, n=n, nominal=LEVEL)
            yield from simulate(plan, cell, _interval_trial(design, n, 0.8), plan.runs(60, 1000))


def _fit(drawn: Drawn) -> sr.Corp:
    return sr.corp(drawn.y, drawn.x, drawn.weight, weight_kind=drawn.kind)


def _test_trial(design: Design, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        drawn, seed = design.draw(rng, n, 1.0), draw_seed(rng)
        cases: Any = (drawn.y, drawn.x)
        slope, intercept, both = line_tests(*cases, **drawn.weights)
        tests = {
            "MCB Brier": miscalibration_test(_fit(drawn), resamples=_RESAMPLES, seed=seed),
            "Spiegelhalter": spiegelhalter_test(*cases, **drawn.weights),
            "mean calibration": mean_calibration_test(*cases, **drawn.weights),
            "calibration slope": slope,
            "calibration intercept": intercept,
            "unreliability": both,
        }
        return rejects({name: test.p_value for name, test in tests.items()})

    return trial


def _band_trial(design: Design, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        fit, seed = _fit(design.draw(rng, n, 1.0)), draw_seed(rng)
        drawn: dict[str, Any] = {"resamples": 200, "seed": seed}
        whole = fit.band("consistency", BAND_LEVEL, coverage="simultaneous", **drawn)
        return {
            "pointwise": share_inside(fit, fit.band("consistency", BAND_LEVEL, **drawn)),
            "simultaneous": whole.holds(fit.recalibrate(whole.x)),
        }

    return trial


def _interval_trial(design: Design, n: int, slope: float) -> Trial:
    truth = design.truth(slope)

    def trial(rng: np.random.Generator) -> dict[str, float]:
        drawn, seed = design.draw(rng, n, slope), draw_seed(rng)
        cases: Any = (drawn.y, drawn.x)
        panel = make_panel(drawn.y, {"x": drawn.x}, **drawn.weights)
        brier = [resolve_measure("brier", {})]
        scores = bootstrap_panel(panel, brier, resamples=499, seed=seed, whole=False)
        mcb, dsc = component_intervals(
            _fit(drawn), level=LEVEL, draws=_DRAWS, resamples=_RESAMPLES, seed=seed
        )
        found: dict[str, Any] = {
            "slope": calibration_line(*cases, level=LEVEL, **drawn.weights).slope,
            "AUC": auc_interval(*cases, level=LEVEL, **drawn.weights),
            "Brier": scores.interval("x", "brier", level=LEVEL),
            "MCB Brier": mcb,
            "DSC Brier": dsc,
        }
        return {name: float(one.lower <= truth[name] <= one.upper) for name, one in found.items()}

    return trial
