"""Tests of calibration: Spiegelhalter, Hosmer and Lemeshow."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import pytest
import statsmodels.api as sm
from calibration_tools import CLUSTER, FRACTIONAL, WHOLE, N, P, X, Y, assert_agree, bits, refused, repeat
from scipy import stats

import scorereport as sr
from scorereport.inference.binned_errors import expected_calibration_error
from scorereport.inference.calibration_tests import (
    hosmer_lemeshow_test,
    mean_calibration_test,
    spiegelhalter_test,
)
from scorereport.inference.estimates import Estimate
from scorereport.inference.flexible_curves import flexible_curve
from scorereport.inference.grades import grade_tests
from scorereport.inference.regression import (
    calibration_line,
    line_tests,
    unreliability_test,
)
from scorereport.inference.smooth_calibration import calibration_errors
from scorereport.reliability.sampling import SamplingUnits

FREQUENCIES = {"sample_weight": WHOLE, "weight_kind": "frequency"}


def numbers(result):
    """All numbers of a result, without texts and without the sum of weights of an estimate."""
    if isinstance(result, tuple):
        return np.concatenate([numbers(item) for item in result])
    if is_dataclass(result):
        names = [f.name for f in fields(result) if not (isinstance(result, Estimate) and f.name == "n")]
        return np.concatenate([numbers(getattr(result, name)) for name in names])
    return np.empty(0) if isinstance(result, str | None) else np.ravel(result).astype(float)


# All tests

EVERY = {
    "spiegelhalter": spiegelhalter_test,
    "mean": mean_calibration_test,
    "hosmer-lemeshow": hosmer_lemeshow_test,
    "line": calibration_line,
    "profile": lambda y, p, **o: calibration_line(y, p, interval="profile", **o),
    "line tests": line_tests,
    "unreliability": unreliability_test,
    "errors": calibration_errors,
    "ece": expected_calibration_error,
    "ece of quantiles": lambda y, p, **o: expected_calibration_error(y, p, strategy="quantile", **o),
    "flexible": flexible_curve,
    "grades": lambda y, p, **o: grade_tests(y, p, (p * 5).astype(int), **o),
}


TAKE_CLUSTERS = ["spiegelhalter", "mean", "line", "line tests", "unreliability", "errors", "ece", "flexible"]


TAKE_FRACTIONS = [*TAKE_CLUSTERS, "hosmer-lemeshow", "ece of quantiles"]


@pytest.mark.parametrize("name", EVERY)
def test_row_order_does_not_matter(name):
    order = np.random.default_rng(1).permutation(N)
    p = P.round(2).clip(0.01, 0.99)  # with ties
    assert bits(EVERY[name](Y, p)) == bits(EVERY[name](Y[order], p[order]))
    weighted = EVERY[name](Y, p, **FREQUENCIES)
    mixed = EVERY[name](Y[order], p[order], sample_weight=WHOLE[order], weight_kind="frequency")
    assert bits(weighted) == bits(mixed)


@pytest.mark.parametrize("name", TAKE_CLUSTERS)
def test_row_order_does_not_matter_with_clusters(name):
    order = np.random.default_rng(2).permutation(N)
    original = EVERY[name](Y, P, sample_weight=FRACTIONAL, cluster=CLUSTER)
    mixed = EVERY[name](
        Y[order], P[order], sample_weight=FRACTIONAL[order], cluster=[f"c{c:02}" for c in CLUSTER[order]]
    )
    assert bits(original) == bits(mixed)


@pytest.mark.parametrize("name", EVERY)
def test_frequencies_equal_repeated_rows(name):
    p = P.round(2).clip(0.01, 0.99)
    assert_agree(numbers(EVERY[name](Y, p, **FREQUENCIES)), numbers(EVERY[name](*repeat(Y, p))))
    assert WHOLE.min() == 0


@pytest.mark.parametrize("name", TAKE_CLUSTERS)
def test_frequencies_equal_repeated_rows_of_a_cluster(name):
    y, p, cluster = repeat(Y, P, CLUSTER)
    weighted = EVERY[name](Y, P, **FREQUENCIES, cluster=CLUSTER)
    assert_agree(numbers(weighted), numbers(EVERY[name](y, p, cluster=cluster)))


@pytest.mark.parametrize("name", TAKE_FRACTIONS)
def test_the_unit_of_fractional_weights_does_not_matter(name):
    small = EVERY[name](Y, P, sample_weight=FRACTIONAL)
    large = EVERY[name](Y, P, sample_weight=FRACTIONAL * 3.7)
    compared = 0
    for one, other in zip(np.atleast_1d(small), np.atleast_1d(large), strict=True):
        held = {f.name for f in fields(one)}
        for field in {
            "statistic",
            "p_value",
            "slope",
            "intercept",
            "value",
            "ici",
            "intervals",
            "upper",
        } & held:
            assert_agree(numbers(getattr(one, field)), numbers(getattr(other, field)))
            compared += 1
    assert compared > 0


@pytest.mark.parametrize("name", ["line", "line tests", "unreliability"])
def test_clusters_of_one_row_are_weighted_rows(name):
    """With equal fractional weights, rows are drawn once and errors come from the data, as with clusters."""
    rows = EVERY[name](Y, P, sample_weight=np.full(N, 0.5))
    clusters = EVERY[name](Y, P, cluster=np.arange(N))
    skipped = {"n", "events"}
    for one, other in zip(np.atleast_1d(rows), np.atleast_1d(clusters), strict=True):
        for field in [f.name for f in fields(one) if f.name not in skipped]:
            assert_agree(numbers(getattr(one, field)), numbers(getattr(other, field)))


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    ("y", "p", "sentence"),
    [
        (
            [0, 2],
            [0.1, 0.2],
            "`y_true` must be 0 or 1; got 2.0 at row 1 (1 of 2 rows). "
            "If 2 is the event, pass np.asarray(y_true) == 2.",
        ),
        ([0, 1], [0.1, 1.5], "`y_prob` must lie in [0, 1]; got 1.5 at row 1 (1 of 2 rows)."),
        ([0, 1, 1], [0.1, 0.5], "`y_true` (3) and `y_prob` (2) must have the same length."),
    ],
)
def test_data_are_checked(name, y, p, sentence):
    call = EVERY[name]
    if name == "grades":
        call = lambda y, p: grade_tests(y, p, ["A"] * len(y))  # noqa: E731
    assert refused(sr.DataError, lambda: call(y, p)) == sentence


def test_tests_that_count_cases_refuse_sampling_weights():
    sentence = refused(sr.UsageError, lambda: EVERY["grades"](Y, P, sample_weight=FRACTIONAL))
    assert sentence == '`weight_kind` must be "frequency": the tests per grade count cases.'


# Spiegelhalter and calibration in the large


def test_spiegelhalter_is_its_formula():
    z = ((Y - P) * (1 - 2 * P)).sum() / np.sqrt(((1 - 2 * P) ** 2 * P * (1 - P)).sum())
    test = spiegelhalter_test(Y, P)
    assert_agree([test.statistic, test.p_value], [z, 2 * stats.norm.sf(abs(z))])
    assert (test.n, test.note, test.degrees_of_freedom) == (N, "", None)
    assert test.method == "two-sided normal test, variance under the null hypothesis"
    assert test.reference.endswith("doi:10.1002/sim.4780050506")


def test_spiegelhalter_standardises_the_brier_score():
    """The difference between the Brier score and its expectation has the same z."""
    brier, expected = ((Y - P) ** 2).mean(), (P * (1 - P)).mean()
    error = np.sqrt(((1 - 2 * P) ** 2 * P * (1 - P)).sum()) / N
    assert_agree(spiegelhalter_test(Y, P).statistic, (brier - expected) / error)


def test_calibration_in_the_large_is_the_score_test_of_the_offset_fit():
    model = sm.GLM(Y, np.ones(N), family=sm.families.Binomial(), offset=X)
    chi_square, p_value, _ = model.score_test(np.zeros(1), k_constraints=1)
    test = mean_calibration_test(Y, P)
    assert_agree([test.statistic**2, test.p_value], [np.squeeze(chi_square), np.squeeze(p_value)])
    assert np.sign(test.statistic) == np.sign(Y.mean() - P.mean())


@pytest.mark.parametrize(
    ("call", "factor"), [(spiegelhalter_test, 1 - 2 * P), (mean_calibration_test, np.ones(N))]
)
def test_sampling_weights_are_carried(call, factor):
    """The variance is that of weights near each forecast, whose squares are nearly those of the rows."""
    w = FRACTIONAL
    z = (w * factor * (Y - P)).sum() / np.sqrt((w**2 * factor**2 * P * (1 - P)).sum())
    test = call(Y, P, sample_weight=w)
    assert test.statistic == pytest.approx(z, rel=0.05)
    assert_agree(test.n, w.sum())
    assert test.method.endswith("null hypothesis, each row drawn once and weighted")


@pytest.mark.parametrize("weight", [None, WHOLE, FRACTIONAL], ids=["none", "whole", "fractional"])
@pytest.mark.parametrize(
    ("call", "factor"), [(spiegelhalter_test, 1 - 2 * P), (mean_calibration_test, np.ones(N))]
)
def test_clusters_replace_the_variance(call, factor, weight):
    """The mean of factor (y - p) over its bias-reduced error, with a t distribution."""
    units = SamplingUnits(rows=N, weight=weight, cluster=CLUSTER)
    terms = factor * (Y - P)
    expected = units.mean(terms) / units.standard_error(terms)
    df = units.degrees_of_freedom
    test = call(Y, P, sample_weight=weight, cluster=CLUSTER)
    assert_agree([test.statistic, test.p_value], [expected, 2 * stats.t.sf(abs(expected), df)])
    how = "bias-reduced variance over 25 clusters"
    assert test.method == f"two-sided t test with {df:.1f} degrees of freedom, {how}"


@pytest.mark.parametrize(
    ("call", "factor"), [(spiegelhalter_test, 1 - 2 * P), (mean_calibration_test, np.ones(N))]
)
def test_clusters_of_one_row_have_the_variance_of_the_data(call, factor):
    expected = stats.ttest_1samp(factor * (Y - P), 0)
    test = call(Y, P, cluster=np.arange(N))
    assert_agree([test.statistic, test.p_value], [expected.statistic, expected.pvalue])


@pytest.mark.parametrize("p", [[0.5, 0.5, 0.5], [0.0, 0.5, 1.0]])
def test_forecasts_without_variance_have_no_z(p):
    test = spiegelhalter_test([0, 0, 1], p)
    assert np.isnan([test.statistic, test.p_value]).all()
    assert (
        test.note == "With these forecasts the sum has no variance, so there is nothing to compare it with."
    )


def test_impossible_outcomes_are_counted():
    test = mean_calibration_test([1, 1, 0, 0], [0.0, 0.4, 0.3, 1.0])
    assert_agree(test.statistic, 0.3 / np.sqrt(0.4 * 0.6 + 0.3 * 0.7))
    assert test.note == "In 2 rows an outcome with probability 0 occurred, which alone refutes calibration."


def test_nearly_impossible_outcomes_are_not_counted():
    tests = [call([1, 0], [1e-310, 0.5]) for call in (mean_calibration_test, hosmer_lemeshow_test)]
    assert tests[0].note == ""
    assert "probability 0" not in tests[1].note
    assert (tests[1].statistic, tests[1].p_value) == (np.inf, 0.0)  # beyond the largest number


@pytest.mark.parametrize(
    ("cluster", "note"),
    [
        ("aaaa", "There is only one cluster, so the variance of the sum is not known."),
        ("abab", "With these clusters the sum has no variance, so there is nothing to compare it with."),
    ],
)
def test_clusters_without_variance_have_no_z(cluster, note):
    test = mean_calibration_test([0, 0, 1, 1], [0.5] * 4, cluster=list(cluster))
    assert np.isnan([test.statistic, test.p_value]).all()
    assert test.note == note


def test_rounding_errors_are_not_a_variance():
    """The sum over ten rows with three events at 0.3 is about 1e-16, which could look like a large z."""
    y = np.tile([1, 1, 1, 0, 0, 0, 0, 0, 0, 0], 40)
    test = mean_calibration_test(y, np.full(400, 0.3), cluster=np.arange(400) // 10)
    assert np.isnan(test.statistic)
    assert calibration_line(y, np.full(400, 0.3), cluster=np.arange(400) // 10).note == (
        "All forecasts are the same: the slope is not defined. "
        "The 40 clusters do not vary enough to give standard errors."
    )


# Hosmer and Lemeshow


def test_hosmer_lemeshow_of_equal_groups():
    order = np.argsort(P)
    y, p = Y[order].reshape(10, 40), P[order].reshape(10, 40)
    observed, expected = y.sum(1), p.sum(1)
    counts = np.concatenate([observed, 40 - observed]), np.concatenate([expected, 40 - expected])
    chi_square = ((counts[0] - counts[1]) ** 2 / counts[1]).sum()
    test = hosmer_lemeshow_test(Y, P)
    assert_agree([test.statistic, test.p_value], [chi_square, stats.chi2.sf(chi_square, 10)])
    assert test.method == "χ² of 10 groups, degrees of freedom = groups = 10 (out of sample)"
    inside = hosmer_lemeshow_test(Y, P, in_sample=True)
    assert_agree([inside.statistic, inside.p_value], [chi_square, stats.chi2.sf(chi_square, 8)])
    assert inside.method == "χ² of 10 groups, degrees of freedom = groups - 2 = 8 (in sample)"
    assert (test.degrees_of_freedom, inside.degrees_of_freedom) == (10, 8)
    assert test.reference.endswith("doi:10.1080/03610928008827941")


def test_ties_are_never_split():
    """Seven cases, three groups: .2 completes the first two groups, .3 is the rest."""
    y, p = [0, 1, 0, 1, 1, 0, 1], [0.1, 0.2, 0.2, 0.2, 0.2, 0.3, 0.3]
    first = (3 - 0.9) ** 2 / (5 * 0.18 * 0.82)
    second = (1 - 0.6) ** 2 / (2 * 0.3 * 0.7)
    test = hosmer_lemeshow_test(y, p, groups=3)
    assert_agree(test.statistic, first + second)
    assert test.degrees_of_freedom == 2
    assert test.note == (
        "In 2 of 2 groups fewer than 5 events or non-events are expected; the χ² distribution is inexact "
        "there and the test rejects too often."
    )


def test_small_groups_are_those_with_less_than_five_expected():
    y, p = [0, 1] * 20, [0.24] * 20 + [0.25] * 20
    assert hosmer_lemeshow_test(y, p, groups=2).note.startswith("In 1 of 2 groups fewer than 5 events")
    assert hosmer_lemeshow_test(y, [0.25] * 20 + [0.75] * 20, groups=2).note == ""
    assert hosmer_lemeshow_test(y, [0.25] * 20 + [0.76] * 20, groups=2).note.startswith("In 1 of 2 groups")


def test_sampling_weights_widen_the_groups():
    """Weights of 0.5 and 1.5 for both outcomes: their mean square is 1.25 whatever the outcomes are."""
    w, y, p = np.array([0.5, 1.5] * 4), np.array([0, 0, 1, 1] * 2), np.repeat([0.2, 0.6], 4)
    first = (w[:4] @ (y - p)[:4]) ** 2 / (4 * 1.25 * 0.2 * 0.8)
    second = (w[4:] @ (y - p)[4:]) ** 2 / (4 * 1.25 * 0.6 * 0.4)
    test = hosmer_lemeshow_test(y, p, groups=2, sample_weight=w)
    assert_agree(test.statistic, first + second)
    assert test.method.endswith("(out of sample), each row drawn once and weighted")


def test_an_event_that_was_impossible_is_infinite():
    test = hosmer_lemeshow_test([1, 0, 1, 0], [0.0, 0.0, 0.5, 0.5], groups=2)
    assert (test.statistic, test.p_value, test.degrees_of_freedom) == (np.inf, 0.0, 2)
    assert test.note.endswith(
        "In 1 row an outcome with probability 0 occurred, which alone refutes calibration."
    )


def test_certain_and_true_forecasts_do_not_count():
    test = hosmer_lemeshow_test([0, 0, 1, 0, 1, 1], [0.0, 0.0, 0.4, 0.4, 1.0, 1.0], groups=3)
    assert_agree(test.statistic, (1 - 0.8) ** 2 / (2 * 0.4 * 0.6))
    assert test.degrees_of_freedom == 1
    assert test.note.startswith(
        "2 groups whose forecasts are certain and correct do not count. In 1 of 3 groups"
    )


def test_one_group_has_no_test_in_sample():
    inside = hosmer_lemeshow_test([0, 1], [0.3, 0.3], in_sample=True)
    assert np.isnan([inside.statistic, inside.p_value]).all()
    assert inside.note.startswith("There are too few groups for a test.")
    outside = hosmer_lemeshow_test([0, 1], [0.3, 0.3])
    assert_agree(outside.statistic, (1 - 0.6) ** 2 / (2 * 0.3 * 0.7))


def test_the_number_of_groups_is_checked():
    sentence = refused(sr.UsageError, lambda: hosmer_lemeshow_test([0, 1], [0.3, 0.4], groups=1))
    assert sentence == "`groups` must be a whole number of at least 2; got 1."
