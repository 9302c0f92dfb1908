"""Weighted and clustered components, paired differences, the test of calibration, refusals."""

from __future__ import annotations

import re

import numpy as np
import pytest
from band_tools import draw_samples
from component_tools import (
    FAR,
    FIT,
    SCORES,
    X,
    Y,
    draw_excess,
    enumerate_outcomes,
    simulate,
    slow_excess,
    slow_loss,
    slow_pav,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm, t

import scorereport as sr
from scorereport._utils.json_documents import encode
from scorereport.inference import component_differences, component_intervals, miscalibration_test
from scorereport.inference.calibration_null import draw_null, judge_miscalibration
from scorereport.inference.components import (
    COMPONENTS,
    CaseLosses,
    case_losses,
    component_difference,
)
from scorereport.inference.losses import (
    expected_score,
    image_of_prevalence,
    resolve_measure,
    uncertainty_slope,
)
from scorereport.inference.mean_errors import ErrorDistribution
from scorereport.inference.overfit import (
    Overfit,
    estimate_overfit,
    smooth_curve,
)
from scorereport.reliability.sampling import SamplingUnits


def slow_mcb(measure, y, x, w=None):
    """Mean loss of x minus the mean loss of its isotonic fit; ties are pooled explicitly."""
    w = np.ones(len(x)) if w is None else w
    place = np.unique(x, return_inverse=True)[1]
    n = np.bincount(place, weights=w)
    fit = slow_pav(np.bincount(place, weights=w * y) / n, n)[place]
    return float((w * (slow_loss(measure, y, x) - slow_loss(measure, y, fit))).sum() / w.sum())


# ---- frequencies, clusters, order of rows ----


def numbers(parts):
    names = ("value", "corrected", "standard_error", "lower", "upper", "overfit_closed", "overfit_resampled")
    return np.array([[getattr(part, name) for name in names] for part in parts])


def all_digits(records):
    """Every number of some records, to the last bit; NaN equals NaN."""
    return str(encode(records))


FEW = {"draws": 8, "resamples": 19}


@pytest.mark.parametrize("score", ["brier", "log"])
@pytest.mark.parametrize("digits", [None, 1])
def test_frequencies_equal_repeated_rows(score, digits):
    y, x = simulate(90, digits=digits)
    w = np.random.default_rng(5).integers(0, 4, 90)
    fit = sr.corp(y, x.clip(0.01, 0.99), w, weight_kind="frequency")
    weighted = component_intervals(fit, score, **FEW)
    repeated = component_intervals(sr.corp(np.repeat(y, w), np.repeat(x, w).clip(0.01, 0.99)), score, **FEW)
    np.testing.assert_allclose(numbers(weighted), numbers(repeated), rtol=1e-10, atol=1e-14)


def test_clusters_of_one_row_are_rows():
    """Everything but the random numbers agrees; two means of 400 draws differ by chance only."""
    y, x = simulate(120)
    rows = numbers(component_intervals(sr.corp(y, x), draws=400, resamples=19))
    single = numbers(component_intervals(sr.corp(y, x, cluster=np.arange(120)), draws=400, resamples=19))
    np.testing.assert_allclose(rows[:, [0, 2, 5]], single[:, [0, 2, 5]], rtol=1e-10)
    fit = sr.corp(y, x)
    measure = resolve_measure("brier", {})
    spread = draw_excess(fit.sample.simulation(smooth_curve(fit.sample)), [measure], draws=100, seed=9).std()
    assert abs(rows[0, 6] - single[0, 6]) < FAR * spread * np.sqrt(2 / 400)


def test_repeating_clusters_leaves_the_cluster_error():
    """Each row three times, as a cluster: the mean is one of G clusters, not of 3G rows."""
    y, x = simulate(100)
    cluster = np.repeat(np.arange(100), 3)
    tripled = component_intervals(sr.corp(np.repeat(y, 3), np.repeat(x, 3), cluster=cluster), **FEW)
    plain = component_intervals(sr.corp(y, x), **FEW)
    assert [p.standard_error for p in tripled] == pytest.approx([p.standard_error for p in plain], rel=1e-10)
    assert [p.value for p in tripled] == pytest.approx([p.value for p in plain], rel=1e-10)


def test_few_events_are_counted_in_rows_not_in_units_of_weight():
    y, x = simulate(200)
    w = np.random.default_rng(5).random(200)
    notes = [component_intervals(sr.corp(y, x, unit * w), **FEW)[0].note for unit in (1.0, 1 / w.sum(), 1e3)]
    assert notes == ["", "", ""]  # at least 60 events, whatever their weights


@pytest.mark.parametrize("factor", [0.37, 4.0, 1e-6])
def test_the_unit_of_fractional_weights_does_not_matter(factor):
    y, x = simulate(90, digits=2)
    w = np.random.default_rng(5).random(90) + 0.1
    one, other = (component_intervals(sr.corp(y, x, unit * w), **FEW) for unit in (1.0, factor))
    np.testing.assert_allclose(numbers(one), numbers(other), rtol=1e-8, atol=1e-12)


def test_equal_fractional_weights_have_no_effect():
    """Everything but the random numbers agrees."""
    y, x = simulate(90)
    weighted, plain = (
        numbers(component_intervals(sr.corp(y, x, w), **FEW)) for w in (np.full(90, 0.5), None)
    )
    np.testing.assert_allclose(weighted[:, [0, 2, 5]], plain[:, [0, 2, 5]], rtol=1e-10)


@pytest.mark.parametrize("kind", ["plain", "whole", "fractional", "clusters"])
def test_the_order_of_rows_changes_no_bit(kind):
    y, x = simulate(80, digits=2)
    rng = np.random.default_rng(6)
    w = {"whole": rng.integers(1, 4, 80), "fractional": rng.random(80) + 0.1}.get(kind)
    c = rng.integers(0, 20, 80) if kind == "clusters" else None
    shuffled = rng.permutation(80)
    results = []
    for order in (np.arange(80), shuffled):
        weight, cluster = (None if v is None else v[order] for v in (w, c))
        fit = sr.corp(y[order], x[order], weight, cluster=cluster)
        pair = component_differences(
            y[order], x[order], 1 - x[order] ** 2, sample_weight=weight, cluster=cluster, draws=5
        )
        results.append((component_intervals(fit, **FEW), miscalibration_test(fit, resamples=19), pair))
    assert all_digits(results[0]) == all_digits(results[1])


# ---- paired differences ----

#: The note of a difference that does not vary.
NOTHING_TO_TEST = "The difference is the same in every case: there is nothing to test."


@pytest.mark.parametrize("score", ["brier", "log", "spherical"])
def test_the_same_order_of_cases_has_the_same_discrimination(score):
    y, x = simulate(200)
    mcb, dsc = component_differences(y, x**2, x, score, level=0.9, draws=5)
    assert (dsc.value, dsc.standard_error, dsc.lower, dsc.upper) == (0, 0, 0, 0)
    assert np.isnan([dsc.statistic, dsc.p_value]).all()
    assert dsc.note == NOTHING_TO_TEST
    measure = resolve_measure(score, {})
    gain = slow_loss(measure, y, x**2) - slow_loss(measure, y, x)
    error = gain.std(ddof=1) / np.sqrt(200)
    assert mcb.value == pytest.approx(gain.mean(), rel=1e-12)
    assert mcb.standard_error == pytest.approx(error, rel=1e-12)
    reach = norm.ppf(0.95) * error
    assert (mcb.lower, mcb.upper) == pytest.approx((gain.mean() - reach, gain.mean() + reach), rel=1e-11)
    assert mcb.p_value == pytest.approx(2 * norm.sf(abs(gain.mean()) / error), rel=1e-9)
    assert mcb.note == ""


def test_a_difference_follows_from_losses_and_overfits():
    y, x = simulate(150, digits=1)
    z = np.clip(x + np.random.default_rng(8).normal(0, 0.2, 150), 0.01, 0.99)
    measure = resolve_measure("brier", {})
    a, b = (estimate_overfit(sr.corp(y, p).sample, [measure], draws=30, seed=11)[0] for p in (z, x))
    assert a.closed - b.closed != a.resampled - b.resampled
    for component, difference in zip(
        COMPONENTS, component_differences(y, z, x, level=0.8, draws=30, seed=11), strict=True
    ):
        parts = [
            component_intervals(sr.corp(y, p), draws=2, resamples=2)[COMPONENTS.index(component)]
            for p in (z, x)
        ]
        gains = []
        for p in (z, x):
            fit = sr.corp(y, p)
            worse = p if component == "miscalibration" else np.full(150, y.mean())
            gains.append((worse - y) ** 2 - (fit.cep - y) ** 2)
        gain = gains[0] - gains[1]
        error = gain.std(ddof=1) / np.sqrt(150)
        least, most = sorted([a.closed - b.closed, a.resampled - b.resampled])
        assert difference.value == pytest.approx(parts[0].value - parts[1].value, rel=1e-10)
        assert (difference.first_value, difference.second_value) == pytest.approx(
            (parts[0].value, parts[1].value), rel=1e-12
        )
        assert difference.lower == pytest.approx(gain.mean() - most - norm.ppf(0.9) * error, rel=1e-9)
        assert difference.upper == pytest.approx(gain.mean() - least + norm.ppf(0.9) * error, rel=1e-9)
        assert difference.measure == f"brier {component}"
        assert difference.null_hypothesis == f"Both models have the same {component} (brier)."
        assert difference.higher_is_better is (component == "discrimination")
        assert (difference.first, difference.second, difference.n) == ("first", "second", 150)


def losses_of(rng, n, scale):
    forecast, recalibrated = rng.random(n) * scale, rng.random(n) * scale
    return CaseLosses(measure="m", forecast=forecast, recalibrated=recalibrated, prevalence=rng.random(n))


overfits = st.builds(
    Overfit,
    closed=st.floats(0, 0.3),
    resampled=st.floats(0, 0.3),
    constant=st.floats(0, 0.01),
)


def contrast(first, second, component, pair, level, distribution=ErrorDistribution()):  # noqa: B008
    """The difference of two models with iid errors."""
    units = SamplingUnits(rows=len(first.forecast))

    def errors(values):
        return units.standard_error(values), distribution

    return component_difference(first, second, component, pair, units, errors, level)


@given(
    st.integers(0, 10_000),
    overfits,
    overfits,
    st.sampled_from(COMPONENTS),
    st.floats(0.5, 0.99),
    st.sampled_from([ErrorDistribution(), ErrorDistribution(3)]),
)
def test_the_p_value_agrees_with_the_interval_for_either_order(seed, a, b, component, level, distribution):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    first, second = losses_of(rng, n, 1.0), losses_of(rng, n, rng.choice([0.3, 1.0]))
    one = contrast(first, second, component, (a, b), level, distribution)
    other = contrast(second, first, component, (b, a), level, distribution)
    assert (one.p_value < 1 - level) == (one.lower > 0 or one.upper < 0)
    assert one.lower <= one.upper
    assert 0 <= one.p_value <= 1
    assert one.lower == pytest.approx(-other.upper, rel=1e-12, abs=1e-14)
    assert one.upper == pytest.approx(-other.lower, rel=1e-12, abs=1e-14)
    assert (one.value, one.statistic) == pytest.approx((-other.value, -other.statistic), rel=1e-9, abs=1e-13)
    assert one.p_value == pytest.approx(other.p_value, rel=1e-9, abs=1e-13)


def test_swapping_models_changes_the_sign():
    y, x = simulate(150, digits=1)
    z = np.random.default_rng(9).random(150)
    for one, other in zip(
        component_differences(y, x, z, draws=10), component_differences(y, z, x, draws=10), strict=True
    ):
        assert (one.value, one.lower, one.upper, one.statistic) == pytest.approx(
            (-other.value, -other.upper, -other.lower, -other.statistic), rel=1e-9
        )
        assert one.p_value == pytest.approx(other.p_value, rel=1e-9)
        assert (one.first_value, one.second_value) == pytest.approx(
            (other.second_value, other.first_value), rel=1e-12
        )


def test_a_bracket_around_zero_is_not_evidence():
    """The two estimates of the overfit, -.1 and .1, put 0 inside the bracket of a raw difference of .05."""
    n = 40
    gain = np.where(np.arange(n) % 2, 0.06, 0.04)
    first = CaseLosses(measure="m", forecast=gain, recalibrated=np.zeros(n), prevalence=gain)
    second = CaseLosses(measure="m", forecast=0 * gain, recalibrated=-0 * gain - 1e-300, prevalence=0 * gain)
    pair = (
        Overfit(closed=0.0, resampled=0.1, constant=0.0),
        Overfit(closed=0.1, resampled=0.0, constant=0.0),
    )
    found = contrast(first, second, "miscalibration", pair, 0.95)
    assert (found.statistic, found.p_value) == (0.0, 1.0)
    assert found.lower < 0 < found.upper


def test_infinite_scores_have_no_difference():
    y, x = np.append(Y, 1), np.append(X, 0.0)
    mcb, dsc = component_differences(y, x, np.append(X, 0.05), "log", draws=5)
    assert np.isnan([mcb.standard_error, mcb.lower, mcb.upper, mcb.p_value]).all()
    assert mcb.note == "A score is infinite: there is no test."
    assert mcb.value == mcb.first_value == np.inf
    assert np.isfinite(mcb.second_value)
    assert np.isfinite([dsc.value, dsc.lower, dsc.upper]).all()
    both, _ = component_differences(y, x, x, "log", draws=5)
    assert np.isnan(both.value)  # infinity minus infinity


def test_one_row_has_a_difference_and_no_test():
    mcb, _ = component_differences([1], [0.3], [0.4], draws=2)
    assert mcb.value == pytest.approx(0.49 - 0.36)
    assert np.isnan([mcb.standard_error, mcb.lower, mcb.upper, mcb.p_value]).all()
    assert mcb.note == "One row has no spread: there is no test."


def test_differences_of_frequencies_equal_those_of_repeated_rows():
    y, x = simulate(90, digits=1)
    z = np.random.default_rng(9).random(90)
    w = np.random.default_rng(5).integers(0, 4, 90)
    weighted = component_differences(y, x, z, sample_weight=w, weight_kind="frequency", draws=8)
    repeated = component_differences(*(np.repeat(v, w) for v in (y, x, z)), draws=8)
    for one, other in zip(weighted, repeated, strict=True):
        fields = ("value", "standard_error", "lower", "upper", "statistic", "p_value", "n", "first_value")
        assert [getattr(one, f) for f in fields] == pytest.approx(
            [getattr(other, f) for f in fields], rel=1e-8
        )


def test_clusters_widen_differences():
    """Each row twice, as a cluster: the error is that of the single rows, √2 times the naive one."""
    y, x = simulate(120, digits=1)
    z = np.random.default_rng(9).random(120)
    twice = [np.repeat(v, 2) for v in (y, x, z)]
    clustered = component_differences(*twice, cluster=np.repeat(np.arange(120), 2), draws=5)
    naive, single = component_differences(*twice, draws=5), component_differences(y, x, z, draws=5)
    for a, b, c in zip(clustered, naive, single, strict=True):
        assert a.standard_error == pytest.approx(c.standard_error, rel=1e-9)
        assert a.standard_error / b.standard_error == pytest.approx(
            np.sqrt(2 * 239 / 240 * 120 / 119), rel=1e-3
        )


def test_the_overfit_of_differences_allows_for_clusters():
    """Copies of rows add no overfit: the rows of a cluster are drawn together."""
    y, x = simulate(60, digits=1)
    z = np.random.default_rng(9).random(60)
    rows = [np.repeat(v, 5) for v in (y, x, z)]
    cluster = np.repeat(np.arange(60), 5)
    measure = resolve_measure("brier", {})
    a, b = (
        estimate_overfit(sr.corp(rows[0], p, cluster=cluster).sample, [measure], draws=20, seed=1)[0]
        for p in rows[1:]
    )
    mcb, _ = component_differences(*rows, cluster=cluster, level=0.9, draws=20, seed=1)
    least, most = sorted([a.closed - b.closed, a.resampled - b.resampled])
    reach = t.ppf(0.95, 59) * mcb.standard_error
    assert mcb.p_value == pytest.approx(2 * t.sf(abs(mcb.statistic), 59), rel=1e-9)
    assert mcb.method.endswith("; cluster errors (60 clusters)")
    assert (mcb.lower, mcb.upper) == pytest.approx(
        (mcb.value - most - reach, mcb.value - least + reach), rel=1e-9
    )


# ---- the test of calibration ----


JUDGED = [resolve_measure(name, {}) for name in ("brier", "log", "misclassification")]


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    "x",
    [[0.1, 0.3, 0.6, 0.9], [0.2, 0.2, 0.5, 0.7, 0.7], [0.05, 0.3, 0.4, 0.8, 0.8, 0.95], [0.0, 0.4, 0.5, 1.0]],
)
def test_the_level_is_exact(x):
    """Every outcome vector, with its exact tail probability T = P(MCB* >= MCB).

    Given T the count of B draws is binomial, so that p = (1 + #)/(B + 1) misses T by less than five
    standard errors and 1/(B + 1); and the chance of p <= α, the sum of binomial probabilities over all
    outcomes, is at most α.
    """
    x, b = np.array(x), 200
    every = [(y, chance) for y, chance in enumerate_outcomes(x) if chance > 0]
    chances = np.array([chance for _, chance in every])
    assert chances.sum() == pytest.approx(1)
    fits = [sr.corp(y, x) for y, _ in every]
    judged = [judge_miscalibration(fit, draw_null(fit, JUDGED, resamples=b, seed=2)) for fit in fits]
    for measure, tests in zip(JUDGED, zip(*judged, strict=True), strict=True):
        mcb = np.array([slow_mcb(measure, y, x) for y, _ in every])
        tails = np.minimum([chances[mcb >= m - 1e-12].sum() for m in mcb], 1.0)
        p = np.array([test.p_value for test in tests])
        np.testing.assert_allclose([test.statistic for test in tests], mcb, atol=1e-13)
        assert (np.abs(p - tails) < FAR * np.sqrt(tails * (1 - tails) / b) + 1 / (b + 1)).all()
        np.testing.assert_allclose(p * (b + 1), np.round(p * (b + 1)), atol=1e-9)
        for alpha in (0.05, 0.1, 0.25, 0.5):
            assert chances[tails <= alpha + 1e-12].sum() <= alpha + 1e-12
            draws = 19
            rejects = binom.cdf(np.floor(alpha * (draws + 1) + 1e-9) - 1, draws, tails)
            assert (chances * rejects).sum() <= alpha + 1e-12


def test_equal_outcomes_have_equal_p_values():
    """Counts with the same MCB up to rounding are ties: the smallest MCB has p = 1."""
    x = np.array([0.3, 0.3, 0.3])
    best = miscalibration_test(sr.corp([1, 0, 0], x), resamples=99)
    assert best.p_value == 1.0


@pytest.mark.parametrize(("rule", "p"), [("exact", 1 / 100), ("r", 0.0)])
@pytest.mark.parametrize("score", ["brier", "log", "misclassification"])
def test_a_refuted_certainty_has_the_smallest_p_value(rule, p, score):
    x = np.repeat([0.0, 1.0], 20)
    y = x.copy()
    assert miscalibration_test(sr.corp(y, x), score, resamples=99, rule=rule).p_value == 1.0
    y[:15] = 1  # enough for the fit to change its decision
    test = miscalibration_test(sr.corp(y, x), score, resamples=99, rule=rule)
    assert test.p_value == pytest.approx(p, rel=1e-14)
    assert np.isinf(test.statistic) == (score == "log")


@pytest.mark.parametrize(
    ("rule", "method"),
    [
        ("exact", "25 draws of outcomes from the forecast, seed 3; p = (1 + #)/(B + 1)"),
        ("r", "25 draws of forecasts and outcomes from the forecast, seed 3; p = #/B"),
    ],
)
def test_p_values_count_draws(rule, method):
    y, x = simulate(60, digits=1)
    measure = resolve_measure("brier", {})
    fit = sr.corp(y, x)
    test = miscalibration_test(fit, resamples=25, seed=3, rule=rule)
    simulation = fit.sample.simulation(fit.distinct.x_min)
    null = [
        slow_excess(measure, simulation, drawn)
        for drawn in draw_samples(simulation, 25, 3, redraw_cases=rule == "r")
    ]
    at_least = sum(value >= test.statistic - 1e-12 for value in null)
    assert 0 < at_least < 25
    assert test.p_value == pytest.approx(at_least / 25 if rule == "r" else (1 + at_least) / 26, rel=1e-14)
    assert test.method == method
    assert (test.name, test.n) == ("miscalibration (brier)", 60)
    assert test.null_hypothesis == "The forecast is calibrated: P(event | forecast) equals the forecast."
    assert "Dimitriadis, Gneiting, Jordan (2021)" in test.reference


def test_the_method_names_clusters():
    y, x = simulate(60)
    test = miscalibration_test(sr.corp(y, x, cluster=np.arange(60) // 3), resamples=5)
    assert test.method == (
        "5 draws of outcomes from the forecast, dependent within clusters, seed 2021; p = (1 + #)/(B + 1)"
    )


def test_dependent_outcomes_are_not_taken_for_miscalibration():
    """Each row ten times: the test rejects for rows, not for clusters, of which there are only 40."""
    rng = np.random.default_rng(31)
    x = rng.uniform(0.2, 0.8, 40)
    y = (rng.random(40) < x).astype(float)
    rows = [np.repeat(v, 10) for v in (y, x)]
    assert miscalibration_test(sr.corp(*rows), resamples=199).p_value == 1 / 200
    clustered = sr.corp(*rows, cluster=np.repeat(np.arange(40), 10))
    assert miscalibration_test(clustered, resamples=199).p_value > 0.05


def test_all_scores_are_judged_from_the_same_draws():
    fit = sr.corp(*simulate(60))
    measures = [resolve_measure(*SCORES[name]) for name in ("brier", "log", "bounded Brier")]
    together = judge_miscalibration(fit, draw_null(fit, measures, resamples=19, seed=2))
    for name, test in zip(("brier", "log", "bounded Brier"), together, strict=True):
        score, options = SCORES[name]
        assert miscalibration_test(fit, score, resamples=19, seed=2, **options) == test
    assert together[2].name == "miscalibration (bounded_brier(lower=0.2, upper=0.7))"


def test_options_and_functions_are_scores_too():
    def quadratic(y, p):
        return (y - p) ** 2

    fit = sr.corp(*simulate(60))
    own, ours = (component_intervals(fit, score, **FEW) for score in (quadratic, "brier"))
    assert [part.measure for part in own] == ["quadratic"] * 2
    assert [part.value for part in own] == pytest.approx([part.value for part in ours], rel=1e-13)
    closed = [part.overfit_closed for part in ours]
    assert [part.overfit_closed for part in own] == pytest.approx(closed, rel=1e-9)


# ---- uncertainty as a function of prevalence ----


def test_expected_scores_by_hand():
    brier, log = (resolve_measure(name, {}) for name in ("brier", "log"))
    q, p = np.array([0.0, 0.3, 1.0]), np.array([0.0, 0.5, 1.0])
    np.testing.assert_allclose(expected_score(brier, q, p), [0, 0.25, 0], atol=0)
    np.testing.assert_allclose(expected_score(log, q, p), [0, np.log(2), 0], atol=0)
    np.testing.assert_array_equal(expected_score(log, q, None), 0)
    benefit = resolve_measure("net_benefit", {"threshold": 0.2})
    np.testing.assert_allclose(expected_score(benefit, q, None), q)
    np.testing.assert_allclose(expected_score(benefit, q, p), [0, 0.3 - 0.7 / 4, 1])


def test_the_uncertainty_between_two_prevalences():
    brier = resolve_measure("brier", {})
    assert image_of_prevalence(brier, 0.4, 0.7) == pytest.approx((0.21, 0.25), rel=1e-6)
    assert image_of_prevalence(brier, 0.1, 0.2) == pytest.approx((0.09, 0.16), rel=1e-14)
    assert uncertainty_slope(brier, 0.3) == pytest.approx(1 - 2 * 0.3, rel=1e-14)


# ---- the seed, threads, refusals ----


def test_the_seed_decides_to_the_last_bit():
    fit = sr.corp(*simulate(100))
    one, again, other = (all_digits(component_intervals(fit, seed=seed, **FEW)) for seed in (5, 5, 6))
    assert one == again != other
    tests = [miscalibration_test(fit, seed=seed, resamples=30) for seed in (5, 5, 6)]
    assert tests[0] == tests[1] != tests[2]
    y, x = simulate(100)
    pairs = [all_digits(component_differences(y, x, x.round(1), seed=seed, draws=5)) for seed in (5, 5, 6)]
    assert pairs[0] == pairs[1] != pairs[2]


@pytest.mark.parametrize("kind", ["plain", "clusters"])
def test_any_number_of_threads_gives_the_same_bits(monkeypatch, kind):
    monkeypatch.setattr("scorereport._utils.machine._ROWS_WORTH_A_THREAD", 1)
    y, x = simulate(150, digits=2)
    cluster = np.arange(150) // 5 if kind == "clusters" else None
    found = []
    for threads in ("1", "2", "7"):
        monkeypatch.setenv("SCOREREPORT_THREADS", threads)
        fit = sr.corp(y, x, cluster=cluster)
        found.append(
            all_digits(
                (component_intervals(fit, "log", **FEW), miscalibration_test(fit, rule="r", resamples=20))
            )
        )
    assert found[0] == found[1] == found[2]


REAL = sr.corp([0.2, 1.4], [0.1, 0.9], functional="mean")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: miscalibration_test(REAL),
            "The miscalibration test needs outcomes 0 and 1; this fit is of the mean of real outcomes.",
        ),
        (
            lambda: component_intervals(REAL),
            "An interval of a component needs outcomes 0 and 1; this fit is of the mean of real outcomes.",
        ),
        (
            lambda: miscalibration_test(FIT, rule="R"),
            '`rule` must be one of "exact", "r"; got \'R\'.',
        ),
        (
            lambda: miscalibration_test(FIT, resamples=0),
            "`resamples` must be a whole number of at least 1; got 0.",
        ),
        (
            lambda: miscalibration_test(FIT, seed=-1),
            "`seed` must be a whole number of at least 0; got -1.",
        ),
        (
            lambda: component_intervals(FIT, level=1),
            "`level` must lie in (0, 1); got 1.",
        ),
        (
            lambda: component_intervals(FIT, draws=0),
            "`draws` must be a whole number of at least 1; got 0.",
        ),
        (
            lambda: component_intervals(FIT, resamples=0.5),
            "`resamples` must be a whole number of at least 1; got 0.5.",
        ),
        (
            lambda: component_intervals(FIT, seed=True),
            "`seed` must be a whole number of at least 0; got True.",
        ),
        (
            lambda: component_differences(Y, X, X, level=0),
            "`level` must lie in (0, 1); got 0.",
        ),
        (
            lambda: component_differences(Y, X, X, draws=0),
            "`draws` must be a whole number of at least 1; got 0.",
        ),
        (
            lambda: component_differences(Y, X, X, seed=1.5),
            "`seed` must be a whole number of at least 0; got 1.5.",
        ),
        (
            lambda: miscalibration_test(FIT, "shifted_brier", mu=0.3),
            "`score` must be proper; the decomposition of 'shifted_brier' would be meaningless.",
        ),
    ],
)
def test_options_are_checked(call, sentence):
    with pytest.raises(sr.UsageError, match=f"^{re.escape(sentence)}$"):
        call()


def test_lengths_are_checked():
    with pytest.raises(
        sr.DataError, match=r"^`y_true` \(8\) and `second` \(7\) must have the same length\.$"
    ):
        component_differences(Y, X, X[:7])


def test_case_losses_score_three_forecasts():
    measure = resolve_measure("net_benefit", {"threshold": 0.5})
    losses = case_losses(measure, np.array([0.0, 1.0]), np.array([0.7, 0.2]), np.array([0.2, 0.7]), 0.5)
    assert losses.forecast.tolist() == [1, 0]
    assert losses.recalibrated.tolist() == [0, -1]
    assert losses.prevalence.tolist() == [1, -1]
    assert losses.gain("miscalibration").tolist() == [1, 1]
    assert losses.gain("discrimination").tolist() == [1, 0]
