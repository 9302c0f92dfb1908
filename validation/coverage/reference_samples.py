"""Coverage of changes since a reference sample and of the parts of the event rate, and tests of shift."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, ndtri

from scorereport.evaluation.binary_evaluation import score_panel
from scorereport.inference.large_panels import PanelFits
from scorereport.inference.panel import make_panel
from scorereport.inference.population_stability import count_in_bins, find_bin_ends
from scorereport.inference.sample_changes import (
    compare_components,
    compare_estimates,
    fit_reference_curve,
    measure_rates,
    split_rate_change,
)
from scorereport.inference.shift_tests import distribution_test, shares_test
from scorereport.reliability.sampling import SamplingUnits
from scorereport.results.settings import EvaluationSettings
from scorereport.scores.ranking import area_under_roc
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, rejects, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.sample_changes import Change
    from scorereport.results.model_records import ModelScores
    from validation.coverage.record import Row

LEVEL = 0.95
#: Points of the integrals over a population.
_POINTS = 200_000


@dataclass(frozen=True, kw_only=True)
class Population:
    """Forecasts with normal log-odds; the log-odds of the event are `offset` + `slope` times those."""

    mean: float
    offset: float = 0.0
    slope: float = 1.0

    def draw(self, rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
        """Draw outcomes and forecasts."""
        x = self.mean + rng.standard_normal(n)
        return (rng.random(n) < expit(self.offset + self.slope * x)).astype(np.float64), expit(x)

    @cached_property
    def grid(self) -> tuple[FloatArray, FloatArray]:
        """Forecasts and event probabilities at the middle of many equal shares of the population."""
        x = self.mean + ndtri((np.arange(_POINTS) + 0.5) / _POINTS)
        return expit(x), expit(self.offset + self.slope * x)

    @cached_property
    def truths(self) -> dict[str, float]:
        """The true values of the numbers whose changes are covered."""
        x, rate = self.grid
        mean = float(rate.mean())
        brier = float((rate * (1 - rate) + (x - rate) ** 2).mean())
        return {
            "Brier": brier,
            "Brier skill": 1 - brier / (mean * (1 - mean)),
            "AUC": area_under_roc(rate, 1 - rate),
            "corrected MCB": float(((x - rate) ** 2).mean()),
            "corrected DSC": float(rate.var()),
        }


#: Samples with their references.
_PAIRS = {
    "same": (Population(mean=-1.0), Population(mean=-1.0)),
    "shift .5": (Population(mean=-0.5), Population(mean=-1.0)),
    "worse .5": (Population(mean=-1.0, offset=0.5), Population(mean=-1.0)),
    "slope .6, shift .5": (Population(mean=-0.5, slope=0.6), Population(mean=-1.0, slope=0.6)),
    "rare, shift .5": (Population(mean=-3.0), Population(mean=-3.5)),
}
_SCORED = ("same", "shift .5", "worse .5")
#: Rows of reference and sample.
_SIZES = ((300, 200), (1000, 1000), (10000, 1000))
_SHIFTS = {"same": 0.0, "shift .1": 0.1, "shift .3": 0.3}


def study_reference_samples(plan: Plan) -> Iterator[Row]:
    """Simulate the parts of the event rate, changes of scores, and tests of shifted forecasts."""
    cells = [(name, *sizes) for sizes in _SIZES for name in _PAIRS]
    for name, rows, n in plan.cells(cells, cells):
        cell = Cell(study="event rate parts", setting=f"{name}, reference {rows}", n=n, nominal=LEVEL)
        yield from simulate(plan, cell, _rate_trial(name, rows, n), plan.runs(2000, 5000))
    for name in plan.cells(_SCORED, _SCORED):
        cell = Cell(study="score changes", setting=f"{name}, reference 1000", n=500, nominal=LEVEL)
        yield from simulate(plan, cell, _score_trial(name, 1000, 500), plan.runs(250, 1000))
    for study, shifts in (("shift tests", ("same",)), ("power of shift tests", ("shift .1", "shift .3"))):
        pairs = [(name, *sizes) for sizes in _SIZES for name in shifts]
        for name, rows, n in plan.cells(pairs, pairs):
            cell = Cell(study=study, setting=f"{name}, reference {rows}", n=n, nominal=ALPHA)
            yield from simulate(plan, cell, _test_trial(_SHIFTS[name], rows, n), plan.runs(2000, 5000))


def _rate_trial(name: str, rows: int, n: int) -> Trial:
    now, before = _PAIRS[name]
    rates = [float(rate.mean()) for rate in (now.grid[1], before.grid[1])]
    x = now.grid[0]
    odds = before.offset + before.slope * np.log(x / (1 - x))
    expected = float(expit(odds).mean())
    truths = {"shift of forecasts": expected - rates[1], "change of calibration": rates[0] - expected}

    def trial(rng: np.random.Generator) -> dict[str, float]:
        reference, sample = before.draw(rng, rows), now.draw(rng, n)
        curve = fit_reference_curve(*reference, SamplingUnits(rows=rows))
        found = split_rate_change(
            "", curve, measure_rates(curve, *sample, SamplingUnits(rows=n)), level=LEVEL
        )
        return {change.measure: _covers(change, truths) for change in (found.forecasts, found.calibration)}

    return trial


def _covers(change: Change, truths: dict[str, float]) -> float:
    return float(change.lower <= truths[change.measure] <= change.upper)


def _score_trial(name: str, rows: int, n: int) -> Trial:
    now, before = _PAIRS[name]
    truths = {what: value - before.truths[what] for what, value in now.truths.items()}

    def trial(rng: np.random.Generator) -> dict[str, float]:
        scores = [_score(*before.draw(rng, rows)), _score(*now.draw(rng, n))]
        return {change.measure: _covers(change, truths) for change in _list_changes(*scores)}

    return trial


def _score(outcome: FloatArray, forecast: FloatArray) -> ModelScores:
    panel = make_panel(outcome, {"m": forecast})
    return score_panel(len(outcome), panel, PanelFits(panel), EvaluationSettings())[1][0]


def _list_changes(before: ModelScores, now: ModelScores) -> Iterator[Change]:
    for what, name in (("Brier", "brier"), ("AUC", "roc_auc")):
        found = compare_estimates(what, now.score(name).interval, before.score(name).interval)
        if found is not None:
            yield found
    skills = (scores.score("brier").skill_interval for scores in (now, before))
    if (found := compare_estimates("Brier skill", *skills)) is not None:
        yield found
    for what, name in (("corrected MCB", "miscalibration"), ("corrected DSC", "discrimination")):
        pair = (scores.component("brier", name) for scores in (now, before))
        if (found := compare_components(what, *pair)) is not None:
            yield found


def _test_trial(shift: float, rows: int, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        reference, sample = rng.standard_normal(rows), shift + rng.standard_normal(n)
        ends, ones = find_bin_ends(reference, np.ones(rows)), (np.ones(n), np.ones(rows))
        shares = [
            count_in_bins(values, weight, ends) / len(values)
            for values, weight in zip((sample, reference), ones, strict=True)
        ]
        distance = distribution_test((sample, ones[0]), (reference, ones[1]), (n, rows))
        chi_square = shares_test("bins", shares[0], shares[1], (n, rows))
        return rejects({"chi-square": chi_square.p_value, "Kolmogorov-Smirnov": distance.p_value})

    return trial
