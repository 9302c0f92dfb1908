"""Scores of random inputs, other implementations, the probability scale."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import dblquad, quad
from scipy.special import expit
from score_tools import BINARY, K_CLASSES, OF_LABELS, OF_PROBABILITIES
from sklearn.metrics import cohen_kappa_score, roc_auc_score

import scorereport as sr
from scorereport.scores import REGISTRY

# Random inputs: range, order of rows, weights


@st.composite
def binary_cases(draw, *, min_size=1, weighted=False):
    size = draw(st.integers(min_size, 12))
    some = st.sampled_from([0.0, 0.25, 0.3, 0.5, 1.0]) | st.floats(0, 1)
    y = draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    p = draw(st.lists(some, min_size=size, max_size=size))
    if not weighted:
        return np.array(y), np.array(p)
    return np.array(y), np.array(p), np.array(draw(_whole_weights(size)))


def _whole_weights(size):
    return st.lists(st.integers(0, 4), min_size=size, max_size=size).filter(any)


@st.composite
def class_cases(draw, *, weighted=False):
    size, k = draw(st.integers(1, 8)), draw(st.integers(2, 5))
    row = st.lists(st.integers(0, 10) | st.floats(0, 1), min_size=k, max_size=k).filter(
        lambda r: sum(r) > 1e-3
    )
    table = np.array(draw(st.lists(row, min_size=size, max_size=size)), dtype=np.float64)
    y = np.array(draw(st.lists(st.integers(0, k - 1), min_size=size, max_size=size)))
    p = table / table.sum(axis=1, keepdims=True)
    return (y, p, np.array(draw(_whole_weights(size)))) if weighted else (y, p)


def _is_in_range(name, values):
    entry = REGISTRY[name]
    return bool(((np.asarray(values) >= entry.lower) & (np.asarray(values) <= entry.upper)).all())


@given(binary_cases())
def test_binary_scores_stay_in_their_range(cases):
    for name, many in BINARY.items():
        for options in many:
            if options.get("scale", "regret") == "regret":
                assert _is_in_range(name, REGISTRY[name].function(*cases, **options)), (name, options)


@given(class_cases())
def test_scores_of_classes_stay_in_their_range(cases):
    for name in K_CLASSES:
        assert _is_in_range(name, REGISTRY[name].function(*cases)), name


@given(class_cases(weighted=True))
def test_measures_of_labels_stay_in_their_range(cases):
    y, p, w = cases
    for name in OF_LABELS:
        value = REGISTRY[name].function(y, p.argmax(axis=1), n_classes=p.shape[1], sample_weight=w)
        assert np.isnan(value) or _is_in_range(name, value), name


@given(binary_cases(weighted=True))
def test_measures_of_probabilities_stay_in_their_range(cases):
    y, p, w = cases
    for name in OF_PROBABILITIES:
        value = REGISTRY[name].function(y, p, sample_weight=w)
        assert np.isnan(value) or _is_in_range(name, value), name


@given(binary_cases(), class_cases())
def test_no_score_is_minus_zero(of_events, of_classes):
    """A table would print it with its sign."""
    for name, many in BINARY.items():
        scores = REGISTRY[name].function(*of_events, **many[0])
        assert not np.signbit(scores[scores == 0]).any(), name
    for name in K_CLASSES:
        scores = REGISTRY[name].function(*of_classes)
        assert not np.signbit(scores[scores == 0]).any(), name


@pytest.mark.parametrize(
    ("name", "cases", "options"),
    [
        ("brier", ([1, 0], [0.0, 0.0]), {}),
        ("misclassification", ([1, 0], [0.0, 0.0]), {}),
        ("spherical", ([1, 0], [0.0, 0.0]), {}),
        ("elementary", ([1, 0], [0.0, 0.0]), {"theta": 5e-324}),
        ("regret", ([0, 0], [1.0, 0.0]), {"cost": 1}),
        ("log_loss", ([1, 0], [0.0, 0.0]), {}),
        ("multiclass_brier", ([0, 1], [[0, 1], [0, 1]]), {}),
        ("multiclass_spherical", ([0, 1], [[0, 1], [0, 1]]), {}),
        ("multiclass_log_loss", ([0, 1], [[0, 1], [0, 1]]), {}),
        ("penalized_log_loss", ([0, 1], [[0, 1], [0, 1]]), {}),
        ("rps", ([0, 2], [[0, 0, 1], [0, 0, 1]]), {}),
        ("sa_rps", ([0, 2], [[0, 0, 1], [0, 0, 1]]), {}),
    ],
)
def test_both_ends_of_the_range_are_reached(name, cases, options):
    np.testing.assert_array_equal(
        REGISTRY[name].function(*cases, **options), [REGISTRY[name].upper, REGISTRY[name].lower]
    )


@pytest.mark.parametrize(
    ("name", "cases", "options"),
    [
        ("mode_shifted", ([1, 1], [0.0, 1.0]), {"mu": 1e-12}),
        ("beta_regret", ([1, 1], [0.0, 1.0]), {"a": 1e-9, "b": 1}),
        ("bounded_brier", ([1, 1], [0.0, 1.0]), {"lower": 0, "upper": 1e-6}),
        ("bounded_log_loss", ([1, 1], [0.0, 1.0]), {"lower": 1e-9, "upper": 1e-6}),
        ("shifted_brier", ([1, 1], [0.0, 1.0]), {"mu": 0.5}),
        ("penalized_brier", ([0, 9999], [[0] * 9999 + [1]] * 2), {}),
    ],
)
def test_both_ends_of_the_range_are_approached(name, cases, options):
    values = REGISTRY[name].function(*cases, **options)
    assert values == pytest.approx([REGISTRY[name].upper, REGISTRY[name].lower], abs=2e-4)


def test_the_kappa_range_is_reached():
    kappa = sr.scores.quadratic_weighted_kappa
    entry = REGISTRY["quadratic_weighted_kappa"]
    assert kappa([0, 2], [2, 0], n_classes=3) == entry.lower == -1
    assert kappa([0, 2], [0, 2], n_classes=3) == entry.upper == 1
    assert kappa([0, 0], [2, 2], n_classes=3) == 0
    assert np.isnan(kappa([1, 1], [1, 1], n_classes=3))


@given(binary_cases(), st.randoms(use_true_random=False))
def test_binary_scores_follow_their_rows(cases, random):
    y, p = cases
    order = random.sample(range(len(y)), len(y))
    for name, many in BINARY.items():
        scores = REGISTRY[name].function(y, p, **many[0])
        np.testing.assert_array_equal(REGISTRY[name].function(y[order], p[order], **many[0]), scores[order])


@given(class_cases(weighted=True), st.randoms(use_true_random=False))
def test_scores_of_classes_follow_their_rows_and_measures_of_labels_ignore_their_order(cases, random):
    y, p, w = cases
    order = random.sample(range(len(y)), len(y))
    for name in K_CLASSES:
        scores = REGISTRY[name].function(y, p)
        np.testing.assert_array_equal(REGISTRY[name].function(y[order], p[order]), scores[order])
    label, k = p.argmax(axis=1), p.shape[1]
    for name in OF_LABELS:
        function = REGISTRY[name].function
        value = function(y, label, n_classes=k, sample_weight=w)
        shuffled = function(y[order], label[order], n_classes=k, sample_weight=w[order])
        np.testing.assert_equal(shuffled, value)


@given(binary_cases(weighted=True), st.randoms(use_true_random=False))
def test_measures_of_probabilities_ignore_the_order_of_rows(cases, random):
    y, p, w = cases
    order = random.sample(range(len(y)), len(y))
    for name in OF_PROBABILITIES:
        value = REGISTRY[name].function(y, p, sample_weight=w)
        shuffled = REGISTRY[name].function(y[order], p[order], sample_weight=w[order])
        assert shuffled == pytest.approx(value, rel=1e-14, nan_ok=True), name


def _repeat(w, *arrays):
    return tuple(np.repeat(array, w, axis=0) for array in arrays)


@given(binary_cases(weighted=True))
def test_whole_weights_of_events_equal_repeated_rows(cases):
    y, p, w = cases
    many_y, many_p = _repeat(w, y, p)
    for name in OF_PROBABILITIES:
        weighted = REGISTRY[name].function(y, p, sample_weight=w)
        repeated = REGISTRY[name].function(many_y, many_p)
        assert weighted == pytest.approx(repeated, rel=1e-14, nan_ok=True), name


@given(binary_cases(min_size=2, weighted=True).filter(lambda cases: len(set(cases[0][cases[2] > 0])) == 2))
def test_partial_auc_with_whole_weights_equals_repeated_rows(cases):
    y, p, w = cases
    many_y, many_p = _repeat(w, y, p)
    ends = {"lower": 0.25, "upper": 0.5}
    weighted = sr.scores.partial_auc(y, p, **ends, sample_weight=w)
    repeated = sr.scores.partial_auc(many_y, many_p, **ends)
    for field in ("plus", "minus", "delta_tpr", "delta_fpr", "balanced_average_accuracy"):
        expected = getattr(repeated, field)
        assert getattr(weighted, field) == pytest.approx(expected, rel=1e-14, abs=1e-15, nan_ok=True), field


@pytest.mark.parametrize("p", [0.1, 0.3])
@pytest.mark.parametrize("y", [0, 1])
def test_partial_auc_of_one_class_is_not_defined(y, p):
    """Whether or not a case lies in the interval."""
    part = sr.scores.partial_auc([y], [p], lower=0.25, upper=0.5)
    assert np.isnan([part.plus, part.minus, part.balanced_average_accuracy]).all()


@given(binary_cases(weighted=True), st.floats(0, 1, exclude_min=True))
def test_top_k_with_whole_weights_equals_repeated_rows(cases, share):
    y, p, w = cases
    k = max(1, int(share * w.sum()))
    weighted = sr.scores.top_k(y, p, k=k, cost=0.2, sample_weight=w)
    repeated = sr.scores.top_k(*_repeat(w, y, p), k=k, cost=0.2)
    np.testing.assert_equal(astuple(weighted), astuple(repeated))


def test_top_k_shares_the_last_places_among_ties():
    """One place for two cases with the same forecast: half of each, in any order of rows."""
    for y in ([1, 0, 1], [0, 1, 1]):
        top = sr.scores.top_k(y, [0.5, 0.5, 0.9], k=2, cost=0.3)
        assert (top.true_positives, top.precision, top.recall) == (1.5, 0.75, 0.75)


def test_top_k_without_events_has_no_recall():
    top = sr.scores.top_k([0, 0], [0.2, 0.7], k=1, cost=0.5)
    assert np.isnan(top.recall)
    assert (top.true_positives, top.precision, top.cost, top.net_benefit) == (0, 0, 0.5, -1 / 2)


@given(class_cases(weighted=True))
def test_whole_weights_of_classes_equal_repeated_rows(cases):
    y, p, w = cases
    label, k = p.argmax(axis=1), p.shape[1]
    many_y, many_label, many_p = _repeat(w, y, label, p)
    for function in (sr.scores.quadratic_weighted_kappa, sr.scores.expected_cost):
        np.testing.assert_equal(
            function(y, label, n_classes=k, sample_weight=w), function(many_y, many_label, n_classes=k)
        )
    assert sr.scores.naive_expected_cost(y, n_classes=k, sample_weight=w) == (
        sr.scores.naive_expected_cost(many_y, n_classes=k)
    )
    for name in OF_PROBABILITIES[1:]:
        weighted = REGISTRY[name].function(y, p, sample_weight=w)
        assert weighted == pytest.approx(REGISTRY[name].function(many_y, many_p), rel=1e-14), name


@given(binary_cases(weighted=True))
def test_weights_of_probability_means_equal_repeated_values(cases):
    _, p, w = cases
    (many,) = _repeat(w, p)
    for m in (-np.inf, -2, -2 / 3, -0.1, 0, 0.1, 1, 3, np.inf):
        weighted = sr.scores.generalized_mean(p, m, w)
        assert weighted == pytest.approx(sr.scores.generalized_mean(many, m), rel=1e-13), m
    if (p > 0).all():
        deviation = sr.scores.probability_deviation(many)
        assert sr.scores.probability_deviation(p, w) == pytest.approx(deviation, rel=1e-13)


# Other implementations


@given(binary_cases(min_size=2, weighted=True))
def test_auc_agrees_with_scikit_learn(cases):
    y, p, w = cases
    if len(np.unique(y[w > 0])) < 2:
        assert np.isnan(sr.scores.roc_auc(y, p, sample_weight=w))
        return
    kept = w > 0
    expected = roc_auc_score(y[kept], p[kept], sample_weight=w[kept])
    assert sr.scores.roc_auc(y, p, sample_weight=w) == pytest.approx(expected, rel=1e-14, abs=1e-15)


@given(binary_cases(min_size=2, weighted=True))
def test_partial_aucs_over_all_thresholds_sum_to_twice_the_auc(cases):
    y, p, w = cases
    part = sr.scores.partial_auc(y, p, lower=0, upper=1, sample_weight=w)
    auc = sr.scores.roc_auc(y, p, sample_weight=w)
    assert part.plus + part.minus == pytest.approx(2 * auc, rel=1e-14, abs=1e-15, nan_ok=True)


@given(class_cases(weighted=True))
def test_kappa_agrees_with_scikit_learn(cases):
    y, p, w = cases
    label, k = p.argmax(axis=1), p.shape[1]
    kappa = sr.scores.quadratic_weighted_kappa(y, label, n_classes=k, sample_weight=w)
    if np.isnan(kappa):
        assert len(set(y[w > 0]) | set(label[w > 0])) == 1
        return
    expected = cohen_kappa_score(y, label, labels=np.arange(k), weights="quadratic", sample_weight=w)
    assert kappa == pytest.approx(expected, rel=1e-13, abs=1e-14)


def test_expected_cost_takes_a_cost_matrix():
    cost = [[0, 1], [5, 0]]
    assert sr.scores.expected_cost([0, 0, 1, 1], [0, 1, 0, 1], n_classes=2, cost=cost) == (1 + 5) / 4
    assert sr.scores.naive_expected_cost([0, 0, 1, 1], n_classes=2, cost=cost) == min(2 * 5, 2 * 1) / 4


# Nelson's probability scale

PROBABILITIES = st.lists(st.floats(1e-6, 1), min_size=1, max_size=8)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(-20, 20), st.floats(-20, 20))
def test_generalized_mean_rises_with_its_exponent(p, one, other):
    means = [sr.scores.generalized_mean(p, m) for m in (-np.inf, min(one, other), max(one, other), np.inf)]
    assert means[0] <= means[1] * (1 + 1e-12)
    assert means[1] <= means[2] * (1 + 1e-12)
    assert means[2] <= means[3] * (1 + 1e-12)


@given(PROBABILITIES, st.sampled_from([-3.0, -1.0, -2 / 3, -0.3, 0.25, 1.0, 2.0]))
def test_generalized_mean_is_its_formula(p, m):
    expected = np.mean(np.power(p, m)) ** (1 / m)
    assert sr.scores.generalized_mean(p, m) == pytest.approx(expected, rel=1e-12)


@given(PROBABILITIES)
def test_generalized_mean_passes_through_the_geometric_mean(p):
    at_zero = sr.scores.generalized_mean(p, 0)
    assert at_zero == pytest.approx(np.exp(np.mean(np.log(p))), rel=1e-14)
    for m in (1e-12, -1e-12, 1e-300):
        assert sr.scores.generalized_mean(p, m) == pytest.approx(at_zero, rel=1e-10)


@given(PROBABILITIES)
def test_generalized_mean_leaves_the_geometric_mean_by_half_the_variance(p):
    """The derivative of log M at m = 0 is Var(log p)/2: no digits are lost for small exponents."""
    slope = np.log(sr.scores.generalized_mean(p, 1e-5) / sr.scores.generalized_mean(p, -1e-5)) / 2e-5
    assert slope == pytest.approx(np.var(np.log(p)) / 2, rel=1e-6, abs=1e-9)


@given(PROBABILITIES, st.sampled_from([-0.5, 0.5]))
def test_generalized_mean_is_continuous_where_its_formula_changes(p, m):
    outside, inside = sr.scores.generalized_mean(p, m), sr.scores.generalized_mean(p, np.nextafter(m, 0))
    assert inside == pytest.approx(outside, rel=1e-13)


def test_generalized_mean_of_a_zero():
    assert [sr.scores.generalized_mean([0.0, 0.5], m) for m in (-1, 0, 0.25, 1)] == pytest.approx(
        [0, 0, (0.5 * 0.5**0.25) ** 4, 0.25], rel=1e-15
    )
    assert sr.scores.generalized_mean([0.0, 0.5], -1, [0, 1]) == 0.5


def test_probability_deviation_of_two_values():
    """The logarithms of p and p/e² have the mean log p - 1 and the standard deviation 1."""
    assert sr.scores.probability_deviation([0.9, 0.9 * np.exp(-2)]) == pytest.approx(np.e, rel=1e-15)


def test_values_without_weight_leave_no_trace_in_the_deviation():
    assert sr.scores.probability_deviation([0.5, 0.5, 0.0], [1, 1, 0]) == 1


@given(class_cases(), st.integers(1, 4))
def test_overall_model_means_do_not_depend_on_the_bins(cases, n_bins):
    y, p = cases
    scale = sr.scores.probability_scale(y, p, n_bins=min(n_bins, p.size))
    means = (scale.decisiveness.model, scale.accuracy.model, scale.robustness.model)
    alone = [f(y, p) for f in (sr.scores.decisiveness, sr.scores.probability_accuracy, sr.scores.robustness)]
    assert means == pytest.approx(alone, rel=1e-13)
    assert (scale.n.sum(), scale.events.sum()) == (p.size, len(y))


def test_probability_scale_by_hand():
    """Pairs .1 .2 .3 .4 | .6 .7 .8 .9 of two classes; .3, .6, .8 and .9 are those of the observed class."""
    y, p = [0, 0, 0, 1], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]]
    scale = sr.scores.probability_scale(y, p, n_bins=2)
    assert (scale.n.tolist(), scale.events.tolist()) == ([4, 4], [1, 3])
    assert scale.source.tolist() == [1 / 4, 3 / 4]
    assert scale.model == pytest.approx([0.3, (0.6 * 0.8 * 0.9) ** (1 / 3)], rel=1e-14)
    assert scale.decisiveness.source == pytest.approx((1 / 4 + 3 * 3 / 4) / 4, rel=1e-15)
    assert scale.accuracy.source == pytest.approx((1 / 4 * (3 / 4) ** 3) ** (1 / 4), rel=1e-15)


@given(binary_cases())
def test_probability_scale_of_an_event_is_that_of_two_classes(cases):
    y, p = cases
    one = sr.scores.probability_scale(y, p, n_bins=2)
    two = sr.scores.probability_scale(y, np.column_stack([1 - p, p]), n_bins=2)
    np.testing.assert_array_equal(one.source, two.source)
    np.testing.assert_allclose(one.model, two.model, rtol=1e-14)
    assert one.accuracy.source == pytest.approx(two.accuracy.source, rel=1e-14)


@pytest.mark.parametrize(("kappa", "dimensions", "m"), [(0.5, 1, 1 / 1.5), (0.25, 3, 0.5 / 1.75), (0, 2, 0)])
def test_coupling_exponent(kappa, dimensions, m):
    assert sr.scores.coupling_exponent(kappa, dimensions=dimensions) == pytest.approx(m, rel=1e-15)


X = np.linspace(-6, 8, 57)


@pytest.mark.parametrize("kappa", [0.01, 0.162, 0.5, 1.0, 3.0])
def test_coupled_gaussian_is_student_t_for_positive_coupling(kappa):
    ours = sr.scores.coupled_gaussian_logpdf(X, mean=0.7, scale=1.9, kappa=kappa)
    np.testing.assert_allclose(ours, stats.t(1 / kappa, loc=0.7, scale=1.9).logpdf(X), rtol=1e-12)


def test_coupled_gaussian_is_normal_without_coupling():
    ours = sr.scores.coupled_gaussian_logpdf(X, mean=0.7, scale=1.9)
    np.testing.assert_allclose(ours, stats.norm(0.7, 1.9).logpdf(X), rtol=1e-14)


@pytest.mark.parametrize("kappa", [1e-5, -1e-5, 1e-8, -1e-8, 1e-12])
def test_coupled_gaussian_leaves_the_normal_as_its_series_says(kappa):
    """log f = log φ + κ(x⁴/4 - x²/2 - 1/4) + O(κ²): no digits are lost for small couplings."""
    x = np.linspace(-2, 2, 9)
    series = stats.norm().logpdf(x) + kappa * (x**4 / 4 - x**2 / 2 - 1 / 4)
    ours = sr.scores.coupled_gaussian_logpdf(x, kappa=kappa)
    np.testing.assert_allclose(ours, series, rtol=0, atol=1e-12 + 20 * kappa**2)


SCALE_MATRIX = np.array([[2.0, 0.6], [0.6, 1.0]])


@pytest.mark.parametrize("kappa", [0.162, 0.5, 2.0])
def test_coupled_gaussian_is_multivariate_t(kappa):
    points = np.column_stack([X, X[::-1] / 2])
    ours = sr.scores.coupled_gaussian_logpdf(points, mean=[0.3, -1], scale=SCALE_MATRIX, kappa=kappa)
    theirs = stats.multivariate_t([0.3, -1], SCALE_MATRIX, df=1 / kappa).logpdf(points)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_coupled_gaussian_is_multivariate_normal_without_coupling():
    points = np.column_stack([X, X[::-1] / 2])
    ours = sr.scores.coupled_gaussian_logpdf(points, mean=[0.3, -1], scale=SCALE_MATRIX)
    np.testing.assert_allclose(
        ours, stats.multivariate_normal([0.3, -1], SCALE_MATRIX).logpdf(points), rtol=1e-13
    )


@pytest.mark.parametrize("kappa", [-0.05, -0.125, -0.4])
def test_coupled_gaussian_of_compact_support_integrates_to_one(kappa):
    reach = 1.9 / np.sqrt(-kappa)

    def density(x):
        return np.exp(sr.scores.coupled_gaussian_logpdf([x], mean=0.7, scale=1.9, kappa=kappa)).item()

    assert quad(density, 0.7 - reach, 0.7 + reach, epsabs=1e-11)[0] == pytest.approx(1, abs=1e-9)
    assert density(0.7 + reach * 1.001) == density(0.7 - reach * 1.001) == 0


def test_coupled_gaussian_vanishes_at_the_end_of_its_support():
    assert sr.scores.coupled_gaussian_logpdf([2.0, -2.0], kappa=-1 / 4).tolist() == [-np.inf, -np.inf]


@pytest.mark.parametrize("kappa", [-0.05, -0.125, -0.2])
def test_coupled_gaussian_of_compact_support_integrates_to_one_in_the_plane(kappa):
    def density(angle, radius):
        x = [[radius * np.cos(angle), radius * np.sin(angle)]]
        return (
            radius * np.exp(sr.scores.coupled_gaussian_logpdf(x, scale=[[2, 0], [0, 2]], kappa=kappa)).item()
        )

    reach = np.sqrt(2 / -kappa)
    assert dblquad(density, 0, reach, 0, 2 * np.pi, epsabs=1e-9)[0] == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize("shift", [-3.0, 0.4])
def test_log_score_of_log_odds(shift):
    """-log expit(z) = log(1 + exp(-z))."""
    assert sr.scores.log_loss([1], [expit(shift)]) == pytest.approx(np.log1p(np.exp(-shift)), rel=1e-14)


# Narrow intervals of costs


@pytest.mark.parametrize(
    ("start", "width"), [(0.3, 1e-3), (0.3, 1e-9), (0.3, 1e-15), (1e-6, 1e-9), (1e-6, 1e-15)]
)
@pytest.mark.parametrize(("y", "p"), [(1, 0.1), (1, 0.9), (0, 0.9), (0, 1e-9)])
def test_bounded_scores_of_narrow_intervals_keep_their_digits(y, p, start, width):
    """They tend to the regret and the net benefit at one cost, off by no more than the width."""
    bounds = {"lower": start, "upper": start + width}
    regret = sr.scores.regret([y], [p], cost=start)[0]
    for name in ("bounded_brier", "bounded_log_loss"):
        value = REGISTRY[name].function([y], [p], **bounds)[0]
        assert value == pytest.approx(regret, rel=width / start + 1e-14, abs=0), name
    benefit = sr.scores.net_benefit([y], [p], threshold=start)[0]
    value = sr.scores.bounded_net_benefit([y], [p], **bounds)[0]
    assert value == pytest.approx(benefit, rel=width / start + 1e-9, abs=1e-15)


# Weights of binned and of retained cases


@given(class_cases(weighted=True), st.integers(1, 4))
def test_probability_scale_with_whole_weights_equals_repeated_rows(cases, n_bins):
    y, p, w = cases
    n_bins = min(n_bins, p.size, p.shape[1] * int(w.sum()))
    weighted = sr.scores.probability_scale(y, p, n_bins=n_bins, sample_weight=w)
    repeated = sr.scores.probability_scale(*_repeat(w, y, p), n_bins=n_bins)
    np.testing.assert_array_equal(weighted.n, repeated.n)
    np.testing.assert_array_equal(weighted.events, repeated.events)
    np.testing.assert_allclose(weighted.model, repeated.model, rtol=1e-12)
    for name in ("decisiveness", "accuracy", "robustness"):
        one, other = getattr(weighted, name), getattr(repeated, name)
        assert (one.model, one.source) == pytest.approx((other.model, other.source), rel=1e-12), name


@given(class_cases(weighted=True), st.sampled_from(["quadratic_weighted_kappa", "expected_cost", "accuracy"]))
def test_retention_with_whole_weights_equals_repeated_rows(cases, metric):
    y, p, w = cases
    options = {"metric": metric, "fractions": [0, 0.2, 0.45]}
    weighted = sr.curves.retention_curve(y, p, sample_weight=w, **options)
    repeated = sr.curves.retention_curve(*_repeat(w, y, p), **options)
    np.testing.assert_array_equal(weighted.n_retained, repeated.n_retained)
    np.testing.assert_allclose(weighted.value, repeated.value, rtol=1e-12, atol=1e-12)
