"""Clustered and weighted rows, which INTERVALS.md does not examine: bands, brackets and tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import scorereport as sr
from validation.coverage.bands import LEVEL, share_inside
from validation.coverage.intervals import components_covered
from validation.coverage.rejections import (
    GROUPS,
    closed_form_p_values,
    group_p_values,
    miscalibration_p_values,
)
from validation.coverage.settings import SETTINGS
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, draw_seed, rejects, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

    from validation.coverage.record import Row
    from validation.coverage.settings import Sample, Setting

    Draw = Callable[[np.random.Generator], Sample]

_CELLS = (("clusters", 200), ("clusters", 1000), ("weights", 1000))
_BRACKETS = ("calibrated", "slope .8", "sqrt")
_RESAMPLES = 200


def study_dependence(plan: Plan) -> Iterator[Row]:
    """Simulate clusters of five rows (200 and 1,000 rows), then 1,000 rows with weights."""
    for kind, n in _CELLS:
        draw = _draw_from(SETTINGS["calibrated"], kind, n)
        cell = Cell(study=kind, setting="bands, calibrated", n=n, nominal=LEVEL)
        yield from simulate(plan, cell, _band_trial(draw), plan.runs(70, 1000))
        for name in _BRACKETS:
            cell = Cell(study=kind, setting=f"brackets, {name}", n=n, nominal=LEVEL)
            trial = _bracket_trial(SETTINGS[name], kind, n)
            yield from simulate(plan, cell, trial, plan.runs(70, 1000))
        cell = Cell(study=kind, setting="tests, calibrated", n=n, nominal=ALPHA)
        yield from simulate(plan, cell, _test_trial(draw), plan.runs(250, 3000))


def _draw_from(setting: Setting, kind: str, n: int) -> Draw:
    if kind == "clusters":
        return lambda rng: setting.draw_clusters(rng, n)
    return lambda rng: setting.draw_weighted(rng, n)


def _fit(sample: Sample) -> sr.Corp:
    return sr.corp(sample.y, sample.x, sample.weight, cluster=sample.cluster)


def _band_trial(draw: Draw) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        fit, seed = _fit(draw(rng)), draw_seed(rng)
        pointwise = fit.band("consistency", LEVEL, resamples=_RESAMPLES, seed=seed)
        whole = fit.band("consistency", LEVEL, coverage="simultaneous", resamples=_RESAMPLES, seed=seed)
        return {
            "pointwise": share_inside(fit, pointwise),
            "simultaneous": whole.holds(fit.recalibrate(whole.x)),
        }

    return trial


def _bracket_trial(setting: Setting, kind: str, n: int) -> Trial:
    draw, truth = _draw_from(setting, kind, n), setting.population()

    def trial(rng: np.random.Generator) -> dict[str, float]:
        return components_covered(_fit(draw(rng)), draw_seed(rng), truth)

    return trial


def _test_trial(draw: Draw) -> Trial:
    """Tests that allow for clusters or weights, and one that ignores the clusters."""

    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample, seed = draw(rng), draw_seed(rng)
        group = rng.integers(0, GROUPS, len(sample.x))
        p_values = miscalibration_p_values(_fit(sample), seed) | closed_form_p_values(sample)
        p_values |= group_p_values(sample, group)
        if sample.cluster is not None:
            naive = miscalibration_p_values(sr.corp(sample.y, sample.x), seed)["MCB Brier"]
            p_values |= {"MCB Brier, clusters ignored": naive}
        return rejects(p_values)

    return trial
