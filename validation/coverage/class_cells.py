"""Many cases of several classes: tests in cells against tests by case, and retention in groups against rows.

Both ways are applied to the same data, of a size at which an evaluation does the former.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from scorereport.evaluation.class_calibration import examine_class_calibration
from scorereport.evaluation.class_views import make_families
from scorereport.inference.class_panel import make_class_panel
from scorereport.inference.retention_bands import retain_panel
from validation.coverage.classes import CLASSES, LEVEL, draw
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, draw_seed, rejects, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.class_panel import ClassPanel
    from validation.coverage.record import Row

STUDY = "classes in cells"
_QUICK_SIZES, _ALL_SIZES = (5000,), (5000, 20_000)
_DRAWS, _RESAMPLES = 99, 299
#: Forecasts are the true probabilities to this power, rescaled.
_POWERS = {"calibrated": 1.0, "slightly overconfident": 1.1}
_MODEL = "m"
#: The most cases that are not compared in cells, or drawn in groups.
_TESTED = {"in cells": 0.0, "by case": np.inf}
_RETAINED = {"in groups": 0.0, "by case": np.inf}
_FRACTIONS = (0.0, 0.1, 0.25, 0.5)
_METRICS = ("quadratic_weighted_kappa", "expected_cost", "macro_f1")
_MANY = 1_000_000


def study_class_cells(plan: Plan) -> Iterator[Row]:
    """Simulate sizes and power of the tests of calibration, and bands of retention curves."""
    for n in plan.cells(_QUICK_SIZES, _ALL_SIZES):
        for name, power in _POWERS.items():
            cell = Cell(study=STUDY, setting=name, n=n, nominal=ALPHA)
            yield from simulate(plan, cell, _test_trial(power, n), plan.runs(1000, 1000))
    for n in plan.cells(_QUICK_SIZES, _ALL_SIZES):
        cell = Cell(study=STUDY, setting="calibrated", n=n, nominal=LEVEL)
        yield from simulate(plan, cell, _retention_trial(n), plan.runs(1000, 1000))


def _draw_panel(rng: np.random.Generator, n: int, power: float) -> ClassPanel:
    observed, forecasts = draw(rng, n)
    p = forecasts["calibrated"] ** power
    return make_class_panel(observed, {_MODEL: p / p.sum(axis=1, keepdims=True)})


def _test_trial(power: float, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        panel, seed = _draw_panel(rng, n, power), draw_seed(rng)
        families = make_families(panel, CLASSES, ordered=True)
        return rejects(
            {
                f"{test.name}, {way}": test.p_value
                for way, most in _TESTED.items()
                for test in examine_class_calibration(
                    panel, families, _MODEL, resamples=_DRAWS, seed=seed, most_rows=most
                )
            }
        )

    return trial


def _retention_trial(n: int) -> Trial:
    truth = _retain_many()

    def trial(rng: np.random.Generator) -> dict[str, float]:
        panel, seed = _draw_panel(rng, n, 1.0), draw_seed(rng)
        covered = {}
        for way, most in _RETAINED.items():
            bands = retain_panel(
                panel,
                _MODEL,
                scores=("rps",),
                metrics=_METRICS,
                fractions=_FRACTIONS,
                level=LEVEL,
                resamples=_RESAMPLES,
                seed=seed,
                most_cases=most,
            )
            for band in bands:
                is_inside = (band.lower <= truth[band.metric]) & (truth[band.metric] <= band.upper)
                covered[f"retention, {band.metric}, {way}"] = float(is_inside.mean())
        return covered

    return trial


@cache
def _retain_many() -> dict[str, FloatArray]:
    """The retention curves of very many cases, by metric."""
    panel = _draw_panel(np.random.default_rng(1), _MANY, 1.0)
    bands = retain_panel(panel, _MODEL, scores=("rps",), metrics=_METRICS, fractions=_FRACTIONS, resamples=0)
    return {band.metric: band.value for band in bands}
