"""Simultaneous bands of net benefit, and of its differences between models and from treating all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv, expit, logit

from scorereport.inference.decision_differences import (
    TREAT_ALL,
    TREAT_NONE,
    compare_decisions,
    compare_pairs,
    decision_difference,
)
from scorereport.inference.panel import make_panel
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, draw_seed, simulate
from validation.coverage.values import FORECASTS, LEVEL, draw_beta, true_decisions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from validation.coverage.record import Row

#: Number of thresholds, as in an interval of costs.
_THRESHOLDS = 31
_MEASURES = {TREAT_NONE: "net_benefit", TREAT_ALL: "net_benefit_over_treat_all"}


def study_decision_bands(plan: Plan) -> Iterator[Row]:
    """Simulate bands of whole curves, equally good models, and a model with noise."""
    bands = [(prevalence, n, "") for prevalence in FORECASTS for n in (200, 500, 2000)]
    bands += [(0.1, 500, kind) for kind in ("clusters", "weights")]
    for prevalence, n, kind in plan.cells(bands[1:3] + bands[-2:], bands):
        setting = f"prevalence {prevalence:g}{f', {kind}' if kind else ''}"
        cell = Cell(study="decision bands", setting=setting, n=n, nominal=LEVEL)
        yield from simulate(plan, cell, _band_trial(prevalence, n, kind), plan.runs(100, 200))
    equal = [(models, prevalence, n) for models in (2, 3) for prevalence in (0.5, 0.1) for n in (500, 2000)]
    for models, prevalence, n in plan.cells(equal[:2] + equal[-2:], equal):
        setting = f"{models} equal, prevalence {prevalence:g}"
        cell = Cell(study="decision differences", setting=setting, n=n, nominal=ALPHA)
        yield from simulate(plan, cell, _equal_trial(models, prevalence, n), plan.runs(100, 200))
    for n in plan.cells([500], [500, 2000]):
        cell = Cell(study="test power", setting="forecast with noise", n=n, nominal=ALPHA)
        yield from simulate(plan, cell, _power_trial(n), plan.runs(100, 200))


def _choose_thresholds(prevalence: float) -> FloatArray:
    """From half the prevalence to twice the prevalence or, where that is 1, to .8."""
    return np.linspace(prevalence / 2, 2 * prevalence if prevalence < 0.5 else 0.8, _THRESHOLDS)


def _band_trial(prevalence: float, n: int, kind: str) -> Trial:
    t = _choose_thresholds(prevalence)
    truth = true_decisions(prevalence, t)

    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample = draw_beta(prevalence, rng, n, kind)
        panel = make_panel(
            sample.y.astype(np.float64), {"p": sample.x}, sample_weight=sample.weight, cluster=sample.cluster
        )
        covered = {}
        for d in compare_decisions(panel, t, level=LEVEL, seed=draw_seed(rng)):
            true = truth[_MEASURES[d.against]]
            is_inside = (d.simultaneous_lower <= true) & (true <= d.simultaneous_upper)
            covered[f"{_MEASURES[d.against]}, whole curve"] = float(is_inside.all())
        return covered

    return trial


def _equal_trial(models: int, prevalence: float, n: int) -> Trial:
    """Forecasts that are exchangeable, around whose mean the event probability lies."""
    t = _choose_thresholds(prevalence)

    def trial(rng: np.random.Generator) -> dict[str, float]:
        forecasts = _draw_forecasts(rng, prevalence, (models, n))
        y = (rng.random(n) < forecasts.mean(axis=0)).astype(np.float64)
        panel = make_panel(y, {f"m{k}": p for k, p in enumerate(forecasts)})
        found = compare_pairs(panel, t, level=LEVEL, seed=draw_seed(rng))
        shown = any(name for d in found for name in d.better)
        return {"any threshold": float(shown)}

    return trial


def _power_trial(n: int) -> Trial:
    """A calibrated forecast against the same one with noise in its log-odds."""
    t = _choose_thresholds(0.1)

    def trial(rng: np.random.Generator) -> dict[str, float]:
        p = _draw_forecasts(rng, 0.1, (n,))
        y = (rng.random(n) < p).astype(np.float64)
        noisy = expit(logit(p) + rng.standard_normal(n))
        found = decision_difference(y, p, noisy, thresholds=t, seed=draw_seed(rng))
        return {"net benefit, any threshold": float("first" in found.better)}

    return trial


def _draw_forecasts(
    rng: np.random.Generator, prevalence: float, shape: tuple[int, ...]
) -> NDArray[np.float64]:
    total = FORECASTS[prevalence]
    drawn = betaincinv(prevalence * total, (1 - prevalence) * total, rng.random(shape))
    return np.asarray(drawn, dtype=np.float64)
