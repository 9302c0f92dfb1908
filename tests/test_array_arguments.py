"""Arguments in the order of scikit-learn: `y_true, y_prob` first, in scores, curves, skills and tests."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from inspect import isfunction, signature

import numpy as np
import pytest

import scorereport as sr

Y = np.array([0, 1, 0, 0, 1, 1, 0, 1])
P = np.array([0.1, 0.2, 0.3, 0.35, 0.35, 0.6, 0.7, 1.0])
W = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 1.5, 2.0])

#: All curves that are made from a fit, with the options that they need.
CURVES = {
    "decision_curve": {"lower": 0.1, "upper": 0.9},
    "forecast_histogram": {},
    "murphy_curves": {},
    "regret_curve": {},
    "reliability_curve": {},
    "roc_curve": {},
    "roc_hull": {},
    "threshold_table": {"thresholds": [0.2, 0.35]},
}


def flatten(result):
    """The numbers and texts of a curve, to compare them."""
    if isinstance(result, tuple):
        return [item for part in result for item in flatten(part)]
    if is_dataclass(result):
        return [item for field in fields(result) for item in flatten(getattr(result, field.name))]
    return [result.tolist() if isinstance(result, np.ndarray) else result]


def public_functions(*modules):
    return [
        pytest.param(function, id=f"{module.__name__.rpartition('.')[2]}.{name}")
        for module in modules
        for name in module.__all__
        if isfunction(function := getattr(module, name))
    ]


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("weight", [None, W], ids=["plain", "weighted"])
def test_a_curve_of_arrays_is_that_of_the_fit(name, weight):
    function, fit = getattr(sr.curves, name), sr.corp(Y, P, weight)
    expected = flatten(function(fit, **CURVES[name]))
    assert flatten(function(Y, P, sample_weight=weight, **CURVES[name])) == expected
    assert flatten(function(y_true=Y, y_prob=P, sample_weight=weight, **CURVES[name])) == expected
    assert flatten(function(fit=fit, **CURVES[name])) == expected  # the name of the argument in 0.1


def test_every_curve_takes_outcomes_forecasts_and_weights():
    made = {name for name in sr.curves.__all__ if isfunction(getattr(sr.curves, name))}
    assert made == {*CURVES, "retention_curve"}
    for name in made:
        parameters = signature(getattr(sr.curves, name)).parameters
        assert list(parameters)[:2] == ["y_true", "y_prob"]
        assert parameters["sample_weight"].default is None


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_without_forecasts_says_what_to_give(name):
    sentence = (
        "`y_prob` is missing. To fix: give outcomes and forecasts, `(y_true, y_prob)`, or a fit, "
        "`(sr.corp(y_true, y_prob))`."
    )
    with pytest.raises(sr.UsageError) as error:
        getattr(sr.curves, name)(Y, **CURVES[name])
    assert str(error.value) == sentence


@pytest.mark.parametrize("extra", [{"y_prob": P}, {"sample_weight": W}], ids=["forecasts", "weights"])
def test_a_fit_takes_no_forecasts_or_weights_beside_it(extra):
    with pytest.raises(sr.UsageError) as error:
        sr.curves.roc_curve(sr.corp(Y, P), **extra)
    assert str(error.value) == (
        "A fit has its own forecasts and weights. To fix: give the fit alone, or give outcomes `y_true` in "
        "its place."
    )


#: What follows the outcomes: forecasts of one model, of two or of several by name, or predicted classes.
SECOND = {"y_prob", "first", "forecasts", "y_label"}
#: Public functions without outcomes: of a fit, of a distribution, of a grade, or of results.
WITHOUT_OUTCOMES = {
    *("component_intervals", "miscalibration_test", "threshold_intervals"),
    *("coupled_gaussian_logpdf", "coupling_exponent", "cross_entropy_probability", "divergence_probability"),
    *("entropy_probability", "generalized_mean", "probability_deviation"),
    *("get_score", "cochran_q", "grade_test", "plan_sample_size", "rank_models"),
}


@pytest.mark.parametrize("function", public_functions(sr.scores, sr.curves, sr.inference))
def test_outcomes_come_before_forecasts(function):
    names = list(signature(function).parameters)
    assert ("y_true" not in names) == (function.__name__ in WITHOUT_OUTCOMES)
    if "y_true" in names:
        expected = (
            {"n_classes"} if function.__name__ == "naive_expected_cost" else SECOND
        )  # it has no forecasts
        assert names[0] == "y_true"
        assert names[1] in expected


@pytest.mark.parametrize("function", [sr.corp, sr.skill])
def test_outcomes_come_first_at_the_top_of_the_package(function):
    assert list(signature(function).parameters)[:2] == ["y_true", "y_prob"]


# Skill


@pytest.mark.parametrize(
    ("score", "options"),
    [("brier", {}), ("log", {}), ("roc_auc", {}), ("bounded_brier", {"lower": 0.1, "upper": 0.8})],
)
@pytest.mark.parametrize("weight", [None, W], ids=["plain", "weighted"])
def test_all_forms_of_skill_give_the_same_number(score, options, weight):
    number = sr.skill(Y, P, score=score, sample_weight=weight, **options)
    assert np.isfinite(number)
    assert number == sr.skill(Y, P, score, sample_weight=weight, **options)
    assert number == sr.skill(score, Y, P, sample_weight=weight, **options)
    assert number == sr.skill(score, y_true=Y, y_prob=P, sample_weight=weight, **options)
    assert number == sr.skill(name=score, y_true=Y, y_prob=P, sample_weight=weight, **options)


def test_the_score_of_a_skill_is_the_brier_score_by_default():
    assert sr.skill(Y, P) == 1 - np.mean((P - Y) ** 2) / np.mean((Y.mean() - Y) ** 2)
