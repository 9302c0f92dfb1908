"""Type-I error of every test at the 5 % level, and power where INTERVALS.md has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import scorereport as sr
from scorereport.inference.calibration_tests import (
    hosmer_lemeshow_test,
    mean_calibration_test,
    spiegelhalter_test,
)
from scorereport.inference.component_tests import miscalibration_test
from scorereport.inference.delong import auc_interval
from scorereport.inference.grades import grade_tests
from scorereport.inference.heterogeneity import cochran_q, group_calibration_test
from scorereport.inference.regression import line_tests
from validation.coverage.comparisons import study_comparisons
from validation.coverage.settings import DEPARTURES, SETTINGS
from validation.coverage.simulate import ALPHA, Cell, Plan, Trial, draw_seed, rejects, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from validation.coverage.record import Row
    from validation.coverage.settings import Sample, Setting

#: As many draws as in INTERVALS.md.
RESAMPLES, RESAMPLES_OF_R = 199, 100
GROUPS = 4
_SIZE_CELLS = (
    ("calibrated", 200),
    ("calibrated", 1000),
    ("10 values, cal.", 1000),
    ("rare, cal.", 200),
    ("rare, cal.", 1000),
)
_POWER_CELLS = (
    ("slope .8", 200),
    ("slope .8", 1000),
    ("intercept +.2", 1000),
    ("wave x + .04 sin(6 pi x)", 1000),
)
#: Forecast and number of cases of rating grades.
_GRADES = {"A": (0.002, 1000), "B": (0.01, 500), "C": (0.05, 300), "D": (0.2, 100)}


def study_rejections(plan: Plan) -> Iterator[Row]:
    """Simulate tests of calibration, their power, comparisons of two models, tests by group and by grade."""
    for name, n in plan.cells(_SIZE_CELLS, _SIZE_CELLS):
        cell = Cell(study="test sizes", setting=name, n=n, nominal=ALPHA)
        yield from simulate(plan, cell, _size_trial(SETTINGS[name], n), plan.runs(150, 3000))
        yield from simulate(plan, cell, _closed_form_trial(SETTINGS[name], n), plan.runs(500, 3000))
    for name, n in plan.cells(_POWER_CELLS, _POWER_CELLS):
        cell = Cell(study="test power", setting=name, n=n, nominal=ALPHA)
        setting = (SETTINGS | DEPARTURES)[name]
        yield from simulate(plan, cell, _power_trial(setting, n), plan.runs(100, 1000))
    yield from study_comparisons(plan)
    cell = Cell(study="test sizes", setting="rating grades", n=_grade_labels().size, nominal=ALPHA)
    yield from simulate(plan, cell, _grade_trial(), plan.runs(2000, 10_000))


# Tests of calibration


def _size_trial(setting: Setting, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample, seed = setting.draw(rng, n), draw_seed(rng)
        fit = sr.corp(sample.y, sample.x)
        by_r = miscalibration_test(fit, resamples=RESAMPLES_OF_R, seed=seed, rule="r")
        return rejects(miscalibration_p_values(fit, seed) | {"MCB Brier, R's rule": by_r.p_value})

    return trial


def _closed_form_trial(setting: Setting, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample, group = setting.draw(rng, n), rng.integers(0, GROUPS, n)
        return rejects(
            closed_form_p_values(sample)
            | {"Hosmer-Lemeshow": hosmer_lemeshow_test(sample.y, sample.x).p_value}
            | group_p_values(sample, group)
        )

    return trial


def _power_trial(setting: Setting, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> dict[str, float]:
        sample = setting.draw(rng, n)
        fit = sr.corp(sample.y, sample.x)
        return rejects(
            miscalibration_p_values(fit, draw_seed(rng))
            | closed_form_p_values(sample)
            | {"Hosmer-Lemeshow": hosmer_lemeshow_test(sample.y, sample.x).p_value}
        )

    return trial


def miscalibration_p_values(fit: sr.Corp, seed: int) -> dict[str, float]:
    """Return p-values of the exact test by the Brier and by the log score."""
    return {
        f"MCB {name}": miscalibration_test(fit, score, resamples=RESAMPLES, seed=seed).p_value
        for name, score in (("Brier", "brier"), ("log", "log"))
    }


def closed_form_p_values(sample: Sample) -> dict[str, float]:
    """Return p-values of calibration tests that allow for clusters and weights."""
    slope, intercept, both = line_tests(
        sample.y, sample.x, sample_weight=sample.weight, cluster=sample.cluster
    )
    spiegelhalter, mean = (
        test(sample.y, sample.x, sample_weight=sample.weight, cluster=sample.cluster)
        for test in (spiegelhalter_test, mean_calibration_test)
    )
    tests = {
        "Spiegelhalter": spiegelhalter,
        "mean calibration": mean,
        "calibration slope": slope,
        "calibration intercept": intercept,
        "unreliability": both,
    }
    return {name: test.p_value for name, test in tests.items()}


def group_p_values(sample: Sample, group: np.ndarray) -> dict[str, float]:
    """Return p-values of tests whether random groups differ: calibration, and the AUC by Cochran's Q."""
    intercept, both = group_calibration_test(
        sample.y, sample.x, group, sample_weight=sample.weight, cluster=sample.cluster
    )
    return {
        "groups: intercept": intercept.p_value,
        "groups: intercept and slope": both.p_value,
        "groups: Cochran's Q of AUCs": _auc_p_value(sample, group),
    }


def _auc_p_value(sample: Sample, group: np.ndarray) -> float:
    """The p-value of Cochran's Q; NaN if a group has no AUC, or an AUC without a standard error."""
    aucs = [
        auc_interval(
            sample.y[chosen],
            sample.x[chosen],
            sample_weight=None if sample.weight is None else sample.weight[chosen],
            cluster=None if sample.cluster is None else sample.cluster[chosen],
        )
        for chosen in (group == label for label in np.unique(group))
    ]
    errors = np.array([auc.standard_error for auc in aucs])
    if not (errors > 0).all():
        return np.nan
    return cochran_q([auc.value for auc in aucs], errors).p_value


# Grades


def _grade_labels() -> np.ndarray:
    return np.repeat(list(_GRADES), [n for _, n in _GRADES.values()])


def _grade_trial() -> Trial:
    """Each grade's forecast is true; both tests are one-sided."""
    grade = _grade_labels()
    probability = np.repeat([p for p, _ in _GRADES.values()], [n for _, n in _GRADES.values()])

    def trial(rng: np.random.Generator) -> dict[str, float]:
        p_values: dict[str, float] = {}
        for test in grade_tests(rng.random(len(grade)) < probability, probability, grade):
            label = f"p = {test.probability:g}, n = {test.n}"
            p_values |= {f"Jeffreys, {label}": test.jeffreys_p_value}
            p_values |= {f"binomial, {label}": test.binomial_p_value}
        return rejects(p_values)

    return trial
