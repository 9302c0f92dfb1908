"""Scores given as functions: their curvature is found numerically, they are treated like registered ones."""

from __future__ import annotations

import numpy as np
import pytest
from component_tools import SCORES, simulate

import scorereport as sr
from scorereport.inference import component_differences, component_intervals
from scorereport.inference.losses import resolve_measure
from scorereport.inference.overfit import closed_overfit
from scorereport.scores.curvature import derive_overfit_weight, find_curvature_problem
from scorereport.scores.registry import REGISTRY, Reported

SMOOTH = [key for key, (name, _) in SCORES.items() if REGISTRY[name].is_smooth]
JUMPING = [key for key, (name, _) in SCORES.items() if not REGISTRY[name].is_smooth]
#: From a rare event among a million cases to one that is as rare on the other side, and both ends.
P = np.array([0, 1e-6, 1e-3, 0.03, 0.1, 0.21, 0.35, 0.5, 0.69, 0.8, 0.96, 0.999, 1 - 1e-6, 1])
FEW = {"draws": 5, "resamples": 19}
COSTS = {"lower": 0.2, "upper": 0.7}


def brier_function(y, p):
    return (p - y) ** 2


def log_function(y, p):
    with np.errstate(divide="ignore"):
        return -np.log(np.where(y == 1, p, 1 - p))


def spherical_function(y, p):
    return 1 - np.where(y == 1, p, 1 - p) / np.sqrt(p**2 + (1 - p) ** 2)


def bounded_function(y, p):
    clipped = (np.clip(p, 0.2, 0.7) - y) ** 2 - (np.clip(y, 0.2, 0.7) - y) ** 2
    return clipped / (2 * (0.7 - 0.2))


TWINS = {
    "brier": (brier_function, {}),
    "log_loss": (log_function, {}),
    "spherical": (spherical_function, {}),
    "bounded_brier": (bounded_function, COSTS),
}


def wrong_side(y, p):
    return ((p >= 0.3) != (y == 1)).astype(float)


# ---- overfit weights ----


@pytest.mark.parametrize("name", SMOOTH)
def test_registered_overfit_weights_are_those_found_numerically(name):
    """Rounding of a score near 1 in its last digit, divided by the smallest step, leaves 1e-11."""
    measure = resolve_measure(*SCORES[name])
    assert find_curvature_problem(measure.loss) == ""
    found, stated = derive_overfit_weight(measure.loss, P), measure.overfit_weight(P)
    np.testing.assert_allclose(found, stated, rtol=1e-6, atol=1e-8)
    assert (found > 0).any()


@pytest.mark.parametrize("name", JUMPING)
def test_scores_that_jump_are_recognized(name):
    measure = resolve_measure(*SCORES[name])
    at = 0.5 if name == "misclassification" else 0.3
    problem = find_curvature_problem(measure.loss)
    assert problem == f"The score is not smooth (it jumps at a forecast of {at})"
    assert np.isnan(measure.overfit_weight(P)).all()


@pytest.mark.parametrize(("a", "b"), [(0.1, 0.1), (0.5, 3.0), (2.5, 4.0)])
def test_limits_at_0_and_1_also_of_roots(a, b):
    """Near 0 the weight is p to the power a: at 2**-32 it is still 0.05 for a = 0.1, its limit is 0."""
    measure = resolve_measure("beta_regret", {"a": a, "b": b})
    np.testing.assert_allclose(derive_overfit_weight(measure.loss, np.array([0.0, 1.0])), 0, atol=1e-6)


def test_at_a_kink_the_smaller_side_counts():
    found = derive_overfit_weight(bounded_function, np.array([0.2, 0.2 + 1e-7, 0.7 - 1e-7, 0.7]))
    np.testing.assert_allclose(found, [0, 0.16, 0.21, 0], rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_scale_of_a_score_does_not_matter(factor):
    def scaled(y, p):
        return factor * (p - y) ** 2

    assert find_curvature_problem(scaled) == ""
    np.testing.assert_allclose(derive_overfit_weight(scaled, P) / factor, P * (1 - P), rtol=1e-6, atol=1e-9)
    assert find_curvature_problem(lambda y, p: factor * wrong_side(y, p)).startswith(
        "The score is not smooth"
    )


@pytest.mark.parametrize(
    ("score", "problem"),
    [
        (lambda y, p: np.abs(p - y), "not proper"),
        (lambda y, p: -((p - y) ** 2), "not proper"),
        (lambda y, p: (p - y) ** 4, "not proper"),
        (wrong_side, "jumps at a forecast of 0.3"),
        (lambda y, p: (p - y) ** 2 + 0.001 * wrong_side(y, p), "jumps at a forecast of 0.3"),
        (lambda y, p: np.where(p < 0.1, np.inf, (p - y) ** 2), "not finite"),
        (lambda y, p: (p - y) ** 2 + 1e-7 * np.sin(1e9 * p), "no slope"),
    ],
    ids=["absolute", "reversed", "fourth power", "decision", "small jump", "infinite", "noise"],
)
def test_what_is_wrong_with_a_score_is_named(score, problem):
    assert problem in find_curvature_problem(score)


# ---- functions and registered scores ----


def numbers(parts):
    kept = ("value", "corrected", "standard_error", "lower", "upper", "overfit_closed", "overfit_resampled")
    return [getattr(part, name) for part in parts for name in kept]


def make_sample(kind):
    y, x = simulate(120, seed=3)
    rng = np.random.default_rng(8)
    options = {
        "plain": {},
        "weights": {"sample_weight": rng.random(120) + 0.2},
        "clusters": {"cluster": rng.integers(0, 25, 120)},
        "few values": {},
    }[kind]
    x = np.array([0.1, 0.4, 0.8])[np.digitize(x, [0.3, 0.6])] if kind == "few values" else x
    y[x < np.quantile(x, 0.1)], y[x > np.quantile(x, 0.9)] = 0, 1
    return y, x, options


@pytest.mark.parametrize("kind", ["plain", "weights", "clusters", "few values"])
@pytest.mark.parametrize("name", TWINS)
def test_a_function_has_the_intervals_of_its_registered_twin(name, kind):
    y, x, sampled = make_sample(kind)
    function, options = TWINS[name]
    fit = sr.corp(y, x, **sampled)
    if kind != "few values":
        assert {0.0, 1.0} <= set(fit.blocks.mean)
    ours, own = component_intervals(fit, name, **FEW, **options), component_intervals(fit, function, **FEW)
    assert numbers(own) == pytest.approx(numbers(ours), rel=1e-6, abs=1e-9)
    assert ours[0].overfit_closed > 0
    assert [part.note for part in own] == [part.note for part in ours]
    assert [part.method for part in own] == [part.method for part in ours]


def test_a_function_has_the_differences_of_its_registered_twin():
    y, x, _ = make_sample("plain")
    ours, own = (component_differences(y, x**2, 1 - x, score, draws=5) for score in ("brier", brier_function))
    for one, other in zip(own, ours, strict=True):
        assert (one.lower, one.upper, one.p_value) == pytest.approx(
            (other.lower, other.upper, other.p_value), rel=1e-6, abs=1e-9
        )
        assert one.note == other.note


def test_a_function_is_not_known_by_its_name():
    def brier(y, p):
        return 3 * (p - y) ** 2

    blocks = sr.corp(*simulate(60)).blocks
    tripled, once = (closed_overfit(blocks, resolve_measure(score, {}), 1.0) for score in (brier, "brier"))
    expected = [3 * once.closed, 3 * once.resampled, 3 * once.constant]
    assert [tripled.closed, tripled.resampled, tripled.constant] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("score", "reason"),
    [
        (wrong_side, "The score is not smooth (it jumps at a forecast of 0.3)"),
        (lambda y, p: np.abs(p - y), "The score is not proper (near a probability of 0.473)"),
    ],
    ids=["decision", "absolute"],
)
def test_what_is_left_out_is_stated(score, reason):
    y, x = simulate(100)
    sentence = f"{reason}: the closed form of its overfit is left out and counts as 0."
    found = component_intervals(sr.corp(y, x), score, **FEW)
    assert [part.note for part in found] == [sentence] * 2
    assert [part.overfit_closed for part in found] == [0.0, 0.0]
    assert [d.note for d in component_differences(y, x, x[::-1], score, draws=5)] == [sentence] * 2


def test_notes_are_joined_and_an_infinite_score_has_none_of_them():
    few = component_intervals(sr.corp([0, 1, 0, 1, 1, 0], [0.2, 0.6, 0.4, 0.7, 0.9, 0.1]), wrong_side, **FEW)
    assert few[0].note.startswith("Only 3 events: with fewer than 20 this interval says little. The score is")

    def odd_log(y, p):
        return log_function(y, p) + wrong_side(y, p)

    found = component_intervals(sr.corp([0, 1, 0, 1], [0.2, 0.0, 0.4, 0.7]), odd_log, **FEW)
    assert found[0].note == "The score is infinite: there is no interval."


def test_curvature_that_is_unknown_at_a_fitted_value_is_stated():
    def rough(y, p):
        """Smooth and proper on the grid of the examination, without a slope near 0."""
        return (p - y) ** 2 + 0.01 * y * np.where(p < 1e-7, np.sin(1e12 * p), 0.0)

    overfit = closed_overfit(
        sr.corp([0, 0, 1, 1], [0.1, 0.1, 0.5, 0.5]).blocks, resolve_measure(rough, {}), 1
    )
    assert overfit.left_out.startswith("The curvature of the score cannot be found at all fitted values: ")
    assert (overfit.closed, overfit.constant) == (0, 0)


# ---- entries of the registry ----


def test_reported_scores_have_all_that_a_report_needs():
    for entry in REGISTRY.values():
        if entry.reported is not Reported.ON_REQUEST:
            assert entry.formula, entry.name
            assert entry.convention.endswith("."), entry.name
        assert entry.counterpart in {"", *REGISTRY}
        assert not entry.meaning or entry.meaning.endswith(".")


def test_other_names_mean_one_score():
    names = [other for entry in REGISTRY.values() for other in (*entry.other_names, entry.name)]
    assert len(names) == len(set(names))
    aliases = [entry.alias for entry in REGISTRY.values() if entry.alias]
    assert len(aliases) == len(set(aliases))
    assert not set(aliases) & REGISTRY.keys()


def test_facts_that_exclude_each_other():
    for entry in REGISTRY.values():
        assert entry.is_smooth or entry.overfit_weight is None, entry.name
        assert not entry.is_rate or entry.within == (0, 1), entry.name
        assert not entry.is_over_classes or not entry.per_case, entry.name
