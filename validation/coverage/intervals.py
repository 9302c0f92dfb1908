"""Bracket intervals of miscalibration and discrimination, and of their paired differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import scorereport as sr
from scorereport.inference.component_tests import component_differences, component_intervals
from validation.coverage.documented import SIZES_OF_COMPONENTS, SIZES_OF_DIFFERENCES
from validation.coverage.pairs import PAIRS
from validation.coverage.settings import SETTINGS
from validation.coverage.simulate import Cell, Plan, Trial, draw_seed, simulate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np

    from scorereport.inference.estimates import ComponentEstimate, Difference
    from validation.coverage.pairs import Pair
    from validation.coverage.record import Row
    from validation.coverage.settings import Setting

LEVEL = 0.9
#: As many draws of the test as in INTERVALS.md; draws of the overfit are as many as the precision needs.
RESAMPLES = 199
_QUICK_SIZES = (200, 1000)
_SCORES = {"Brier": "brier", "log": "log"}


def study_intervals(plan: Plan) -> Iterator[Row]:
    """Simulate the settings of section 4, then the pairs of section 5."""
    for setting in SETTINGS.values():
        for n in plan.cells(_QUICK_SIZES, list(SIZES_OF_COMPONENTS)):
            cell = Cell(study="component intervals", setting=setting.name, n=n, nominal=LEVEL)
            runs = plan.runs(80, SIZES_OF_COMPONENTS[n])
            yield from simulate(plan, cell, component_trial(setting, n), runs)
    for pair in PAIRS.values():
        for n in plan.cells(_QUICK_SIZES, list(SIZES_OF_DIFFERENCES)):
            cell = Cell(study="difference intervals", setting=pair.name, n=n, nominal=LEVEL)
            runs = plan.runs(120, SIZES_OF_DIFFERENCES[n])
            yield from simulate(plan, cell, _difference_trial(pair, n), runs)


def component_trial(setting: Setting, n: int) -> Trial:
    """Return the trial of whether the four bracket intervals cover the population values."""
    truth = setting.population()

    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample = setting.draw(rng, n)
        return components_covered(sr.corp(sample.y, sample.x), draw_seed(rng), truth)

    return trial


def components_covered(fit: sr.Corp, seed: int, truth: dict[str, float]) -> dict[str, float]:
    """Return 1 for each bracket interval of a fit that contains the true value, else 0."""
    covered: dict[str, float] = {}
    for name, score in _SCORES.items():
        found = component_intervals(fit, score, level=LEVEL, resamples=RESAMPLES, seed=seed)
        covered |= _covers(found, name, truth)
    return covered


def _difference_trial(pair: Pair, n: int) -> Trial:
    truth = pair.population()

    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample, seed = pair.draw(rng, n), draw_seed(rng)
        covered: dict[str, float] = {}
        for name, score in _SCORES.items():
            found = component_differences(
                sample.y, sample.first, sample.second, score, level=LEVEL, seed=seed
            )
            covered |= _covers(found, name, truth)
        return covered

    return trial


def _covers(
    found: Iterable[ComponentEstimate | Difference], score: str, truth: dict[str, float]
) -> dict[str, float]:
    """Miscalibration first, then discrimination."""
    names = (f"MCB {score}", f"DSC {score}")
    return {
        name: float(interval.lower <= truth[name] <= interval.upper)
        for name, interval in zip(names, found, strict=True)
    }
