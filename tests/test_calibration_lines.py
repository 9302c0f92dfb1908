"""The recalibration line, the smooth curve, bins and grades."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from calibration_tools import CLUSTER, FRACTIONAL, WHOLE, N, P, X, Y, assert_agree, bits, refused, repeat
from scipy import stats
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from sklearn.calibration import calibration_curve
from statsmodels.nonparametric.smoothers_lowess import lowess

import scorereport as sr
from scorereport.inference import smooth_calibration
from scorereport.inference.binned_errors import expected_calibration_error
from scorereport.inference.grades import grade_test, grade_tests
from scorereport.inference.likelihood import sum_over_draws
from scorereport.inference.logistic import fit_line, fit_offset, line_influence
from scorereport.inference.lowess import smooth_weighted
from scorereport.inference.regression import (
    calibration_line,
    line_tests,
    unreliability_test,
)
from scorereport.inference.smooth_calibration import calibration_errors
from scorereport.reliability.sampling import SamplingUnits

NAN = float("nan")


def fitted(y=Y, x=X, *, slope=True, weight=None, **options):
    """statsmodels' own fit, from its own start."""
    exog, offset = (sm.add_constant(x), None) if slope else (np.ones_like(x), x)
    model = sm.GLM(y, exog, family=sm.families.Binomial(), offset=offset, freq_weights=weight)
    first = model.fit(tol=1e-14, maxiter=50)
    return model.fit(start_params=first.params, **options)  # its errors lag one step behind its estimates


# The recalibration line


def estimates(line):
    return [line.slope, line.intercept, line.intercept_at_slope_one]


@pytest.mark.parametrize("weight", [None, WHOLE], ids=["none", "whole"])
def test_the_line_agrees_with_statsmodels(weight):
    joint, offset = fitted(weight=weight), fitted(slope=False, weight=weight)
    line = calibration_line(Y, P, sample_weight=weight, weight_kind="frequency", level=0.9)
    assert_agree([e.value for e in estimates(line)], [*joint.params[::-1], *offset.params])
    assert_agree([e.standard_error for e in estimates(line)], [*joint.bse[::-1], *offset.bse])
    limits = np.vstack([joint.conf_int(0.1)[::-1], offset.conf_int(0.1)])
    assert_agree([(e.lower, e.upper) for e in estimates(line)], limits)
    times = np.ones(N) if weight is None else weight
    assert (line.n, line.events, line.note) == (times.sum(), times @ Y, "")
    assert {e.level for e in estimates(line)} == {0.9}


def test_each_estimate_states_its_measure_and_method():
    line = calibration_line(Y, P, cluster=CLUSTER)
    how = "Wald interval, bias-reduced errors over 25 clusters, quantile of t"
    assert [(e.measure, e.method) for e in estimates(line)] == [
        ("calibration slope", f"joint fit; {how}"),
        ("calibration intercept", f"joint fit; {how}"),
        ("calibration intercept at slope 1", f"fit with the slope held at 1; {how}"),
    ]
    assert all(15 < e.degrees_of_freedom < 24 for e in estimates(line))
    weighted = calibration_line(Y, P, sample_weight=FRACTIONAL)
    assert "bias-reduced errors over weighted rows" in weighted.slope.method
    assert "Wald interval, errors from the likelihood" in calibration_line(Y, P).slope.method
    assert "profile likelihood interval" in calibration_line(Y, P, interval="profile").slope.method


@pytest.mark.parametrize("cluster", [CLUSTER, np.arange(N)], ids=["clusters", "rows"])
def test_the_sandwich_agrees_with_statsmodels(cluster):
    """Without bias reduction, times G/(G - 1): the numbers of R's sandwich too."""
    groups = len(np.unique(cluster))
    options = {"cov_type": "cluster", "cov_kwds": {"groups": cluster, "use_correction": False}}
    joint = fitted(**options)
    units = SamplingUnits(rows=N, cluster=cluster)
    sums = sum_over_draws(np.stack([np.ones(N), X]), joint.params[0] + joint.params[1] * X, Y, units)
    assert_agree(np.sqrt(np.diag(sums.sandwich)), joint.bse * np.sqrt(groups / (groups - 1)))


def test_bias_reduced_errors_of_rows_are_hc2_of_weighted_least_squares():
    """At the fit, weighted least squares of the residuals has the same leverages and errors."""
    joint = fitted()
    mean = joint.predict()
    spread = mean * (1 - mean)
    model = sm.WLS((Y - mean) / spread, sm.add_constant(X), weights=spread).fit(cov_type="HC2")
    line = calibration_line(Y, P, cluster=np.arange(N))
    errors = [line.intercept.standard_error, line.slope.standard_error]
    assert_agree(errors, model.bse, 1e-7)


@pytest.mark.parametrize("weight", [None, WHOLE, FRACTIONAL], ids=["none", "whole", "fractional"])
@pytest.mark.parametrize("cluster", [None, CLUSTER], ids=["rows", "clusters"])
def test_errors_are_those_of_the_influence(weight, cluster):
    """The line and methods that resample it assume the same sample."""
    kind = "frequency" if weight is WHOLE else "sampling"
    line = calibration_line(Y, P, sample_weight=weight, weight_kind=kind, cluster=cluster)
    units = SamplingUnits(rows=N, weight=weight, weight_kind=kind, cluster=cluster)
    influence = line_influence(X, Y, units.row_weight)
    errors = [units.standard_error(row) for row in influence]
    if cluster is None and weight is not FRACTIONAL:  # the line's errors are then those of the likelihood
        robust = fitted(*repeat(Y, X) if weight is WHOLE else (Y, X), cov_type="HC0").bse[::-1]
        assert_agree(errors[:2], robust * np.sqrt(units.size / (units.size - 1)))
        np.testing.assert_allclose(errors, [e.standard_error for e in estimates(line)], rtol=0.2)
    else:  # the line's are bias-reduced by the leverage of each coefficient
        np.testing.assert_allclose(errors, [e.standard_error for e in estimates(line)], rtol=0.1)


def test_influence_is_the_effect_of_a_row():
    """A little more weight on a row moves the estimates by its influence."""
    influence, h = line_influence(X, Y, FRACTIONAL), 1e-4
    for row in (0, 17, 200):
        more, less = FRACTIONAL.copy(), FRACTIONAL.copy()
        more[row] += h
        less[row] -= h
        (a2, b2), (a1, b1) = fit_line(X, Y, more), fit_line(X, Y, less)
        c2, c1 = fit_offset(X, Y, more), fit_offset(X, Y, less)
        moved = np.array([b2 - b1, a2 - a1, c2 - c1]) / (2 * h) * FRACTIONAL.sum()
        np.testing.assert_allclose(influence[:, row], moved, rtol=1e-5)


def test_profile_limits_are_where_the_likelihood_ratio_is_the_quantile():
    """With statsmodels' likelihood and another search for the other parameter."""
    line = calibration_line(Y, P, interval="profile", level=0.9)
    cut = stats.chi2.ppf(0.9, 1)
    log_likelihood = lambda eta: stats.bernoulli.logpmf(Y, expit(eta)).sum()  # noqa: E731
    best = fitted().llf
    for end in (line.slope.lower, line.slope.upper):
        drop = minimize_scalar(lambda a, b=end: -log_likelihood(a + b * X), bracket=(-1, 1), tol=1e-12).fun
        assert_agree(2 * (best + drop), cut, 1e-8)
    for end in (line.intercept.lower, line.intercept.upper):
        drop = minimize_scalar(lambda b, a=end: -log_likelihood(a + b * X), bracket=(0, 1), tol=1e-12).fun
        assert_agree(2 * (best + drop), cut, 1e-8)
    at_one = line.intercept_at_slope_one
    for end in (at_one.lower, at_one.upper):
        assert_agree(2 * (fitted(slope=False).llf - log_likelihood(end + X)), cut, 1e-8)
    assert all(e.lower < e.value < e.upper for e in estimates(line))


def test_profile_limits_agree_with_r():
    """confint() of R 4's glm, which interpolates the profile."""
    line = calibration_line([0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.4, 0.5, 0.7, 0.9], interval="profile")
    limits = [(e.lower, e.upper) for e in estimates(line)]
    expected = [(-0.715454, 2.046158), (-1.689209, 1.969613), (-1.792877, 2.151667)]
    np.testing.assert_allclose(limits, expected, atol=2e-3)
    values = [0.44493405900, 0.07420672799, 0.1914730135]
    np.testing.assert_allclose([e.value for e in estimates(line)], values, atol=1e-9)


@pytest.mark.parametrize("options", [{"cluster": CLUSTER}, {"sample_weight": FRACTIONAL}])
def test_profiles_need_a_likelihood(options):
    sentence = refused(sr.UsageError, lambda: calibration_line(Y, P, interval="profile", **options))
    assert sentence == (
        '`interval` must be "wald" with clusters or fractional weights: they have no likelihood.'
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"interval": "exact"}, '`interval` must be one of "wald", "profile"; got \'exact\'.'),
        ({"level": 1}, "`level` must lie in (0, 1); got 1."),
    ],
)
def test_options_of_the_line_are_checked(options, sentence):
    assert refused(sr.UsageError, lambda: calibration_line(Y, P, **options)) == sentence


CERTAIN = "2 of 4 forecasts are exactly 0 or 1 and have infinite log-odds: no line fits."


CERTAIN_ONCE = "1 of 4 forecasts is exactly 0 or 1 and has infinite log-odds: no line fits."


SEPARATED = "The forecasts separate events from non-events: the slope is infinite."


CONSTANT = "All forecasts are the same: the slope is not defined."


EDGES = [
    ([0, 1, 0, 1], [0.0, 0.3, 0.4, 1.0], CERTAIN, True),
    ([0, 1, 0, 1], [0.2, 0.3, 0.4, 1.0], CERTAIN_ONCE, True),
    ([0, 0, 0, 0], [0.1, 0.3, 0.4, 0.6], "All outcomes are 0: no line fits.", True),
    ([1, 1, 1, 1], [0.1, 0.3, 0.4, 0.6], "All outcomes are 1: no line fits.", True),
    ([1], [0.3], "All outcomes are 1: no line fits.", True),
    ([0, 1, 0, 1], [0.3, 0.3, 0.3, 0.3], CONSTANT, False),
    ([0, 0, 1, 1], [0.1, 0.3, 0.4, 0.6], SEPARATED, False),
    ([1, 1, 0, 0], [0.1, 0.3, 0.4, 0.6], SEPARATED, False),
    ([0, 1, 0, 1], [0.1, 0.3, 0.3, 0.6], SEPARATED, False),
    ([1, 0, 1, 0], [0.1, 0.3, 0.3, 0.6], SEPARATED, False),
]


@pytest.mark.parametrize("interval", ["wald", "profile"])
@pytest.mark.parametrize(("y", "p", "note", "is_hopeless"), EDGES)
def test_a_line_that_is_not_defined_has_a_note(y, p, note, is_hopeless, interval):
    line = calibration_line(y, p, interval=interval)
    for estimate in estimates(line)[: 3 if is_hopeless else 2]:
        parts = (estimate.value, estimate.standard_error, estimate.lower, estimate.upper)
        assert np.isnan(parts).all()
        assert estimate.note == note
    if not is_hopeless:
        expected = fitted(np.array(y, dtype=float), logit(p), slope=False)
        assert_agree(line.intercept_at_slope_one.value, expected.params[0])
        assert line.intercept_at_slope_one.note == ""
    assert (line.note, line.n, line.events) == (note, len(y), sum(y))


@pytest.mark.parametrize(("y", "p", "note", "is_hopeless"), EDGES)
def test_a_line_that_is_not_defined_has_no_test(y, p, note, is_hopeless):
    slope, intercept, unreliability = line_tests(y, p)
    assert np.isnan([slope.statistic, slope.p_value, unreliability.statistic, unreliability.p_value]).all()
    assert (slope.note, unreliability.note) == (note, note)
    assert np.isnan(intercept.p_value) == is_hopeless


def test_forecasts_near_certainty_are_fitted():
    """Log-odds of -700 and +36, none clipped: statsmodels' own likelihood would cut them at 1e-16."""
    p = np.array([1e-300, 1e-20, 0.2, 0.4, 0.6, 0.7, 1 - 1e-15, np.nextafter(1, 0)])
    y = np.array([0, 0, 1, 0, 1, 0, 1, 1.0])
    line, x = calibration_line(y, p), logit(p)
    residual = y - expit(line.intercept.value + line.slope.value * x)
    assert_agree([residual.sum(), residual @ x / 100], [0, 0])
    assert 0 < line.slope.value < 1


def test_impossible_events_have_an_intercept_too():
    """Events at 1e-300 and 1e-310: statsmodels treats both as 2e-16 and finds none."""
    p, y = np.array([1e-300, 1e-200, 1e-310, 1e-250]), np.array([1, 0, 1, 0])
    line = calibration_line(y, p)
    at_top = expit(line.intercept_at_slope_one.value + logit(p))
    assert (y - at_top).sum() == pytest.approx(0, abs=1e-9)
    assert line.intercept_at_slope_one.standard_error > 1e6


@pytest.mark.sweep
def test_every_small_sample_has_an_interval_or_a_reason():
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(150):
        n = rng.integers(1, 14)
        p, y = expit(rng.normal(0, rng.choice([1, 5, 100]), n)), rng.integers(0, 2, n)
        options = [
            {"interval": "profile"},
            {"sample_weight": rng.random(n)},
            {"cluster": rng.integers(0, 3, n)},
        ]
        for option in options:
            for e in estimates(calibration_line(y, p, **option)):
                assert e.lower < e.value < e.upper or (e.note and np.isnan(e.lower))
                found += e.note == ""
    assert 100 < found < 1350


def test_few_clusters_have_no_errors():
    line = calibration_line([0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5], cluster=["a"] * 5)
    note = "The 1 clusters do not vary enough to give standard errors."
    assert np.isnan([e.standard_error for e in estimates(line)]).all()
    assert np.isfinite([e.value for e in estimates(line)]).all()
    assert line.note == note
    two = line_tests([0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5], cluster=list("abaab"))[2]
    assert np.isnan([two.statistic, two.p_value]).all()
    assert two.note == "2 clusters are too few to test two parameters."


# Tests of the line


def test_wald_tests_agree_with_statsmodels():
    slope, intercept, _ = line_tests(Y, P)
    joint, offset = fitted().t_test(([[0, 1]], [1])), fitted(slope=False).t_test([[1]])
    assert_agree([slope.statistic, slope.p_value], [joint.tvalue.item(), joint.pvalue.item()])
    assert_agree([intercept.statistic, intercept.p_value], [offset.tvalue.item(), offset.pvalue.item()])
    assert slope.null_hypothesis == "The calibration slope is 1."
    assert intercept.null_hypothesis == "The calibration intercept at slope 1 is 0."


def test_unreliability_agrees_with_statsmodels():
    flat = stats.bernoulli.logpmf(Y, P).sum()
    ratio = 2 * (fitted().llf - flat)
    test = unreliability_test(Y, P)
    assert_agree([test.statistic, test.p_value], [ratio, stats.chi2.sf(ratio, 2)])
    assert test.note == f"Unreliability index U = {(ratio - 2) / N:.6g}."
    assert (test.degrees_of_freedom, test.n) == (2, N)
    assert test.method == "likelihood ratio, χ² with 2 degrees of freedom"
    assert bits(test) == bits(line_tests(Y, P)[2])


def test_unreliability_of_clusters_is_a_wald_test():
    joint, units = fitted(), SamplingUnits(rows=N, cluster=CLUSTER)
    sums = sum_over_draws(np.stack([np.ones(N), X]), joint.params[0] + joint.params[1] * X, Y, units)
    off = joint.params - [0, 1]
    wald, df = off @ np.linalg.solve(sums.covariance, off), sums.degrees_of_freedom(np.eye(2))
    test = unreliability_test(Y, P, cluster=CLUSTER)
    expected = stats.f.sf((df - 1) / (2 * df) * wald, 2, df - 1)
    assert_agree([test.statistic, test.p_value], [wald, expected], 1e-9)
    how = f"Hotelling's T² as F with 2 and {df - 1:.1f} degrees of freedom"
    assert test.method == f"Wald test, bias-reduced errors over 25 clusters, {how}"
    assert (
        test.note
        == "Only 25 clusters: with fewer than 30 intervals and tests rest on few independent clusters."
    )


def test_a_line_that_fits_exactly_is_not_refuted():
    """Two forecasts that come true exactly: slope 1, intercept 0, and no likelihood to gain."""
    y, p = [1, 0, 0, 0, 1, 1, 1, 0], [0.25] * 4 + [0.75] * 4
    slope, intercept, unreliability = line_tests(y, p)
    assert_agree([slope.statistic, intercept.statistic, unreliability.statistic], [0, 0, 0])
    assert_agree([slope.p_value, intercept.p_value, unreliability.p_value], [1, 1, 1], 1e-6)


# Kernels


@pytest.mark.parametrize("weight", [np.ones(N), WHOLE, FRACTIONAL], ids=["ones", "whole", "fractional"])
@pytest.mark.parametrize("start", [(0.0, 1.0), (0.3, 0.7), (-5.0, 9.0)])
def test_kernels_agree_with_statsmodels(weight, start):
    assert_agree(fit_line(X, Y, weight, start), fitted(weight=weight).params)
    assert_agree(fit_offset(X, Y, weight, start[0]), fitted(slope=False, weight=weight).params[0])


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([0.1, 0.1, 0.1], [0, 1, 0]),
        ([1.0, 2, 3], [1, 1, 1]),
        ([1.0, 2, 3], [0, 0, 1]),
        ([np.inf, 1, 2], [0, 1, 0]),
    ],
    ids=["constant", "one class", "separated", "infinite"],
)
def test_kernels_return_nan(x, y):
    x, y = np.array(x), np.array(y, dtype=float)
    assert np.isnan(fit_line(x, y, np.ones(3))).all()
    assert np.isnan(line_influence(x, y, np.ones(3))[:2]).all()


def test_offset_kernel_returns_nan():
    assert np.isnan(fit_offset(np.array([1.0, 2]), np.ones(2), np.ones(2)))
    assert np.isnan(fit_offset(np.array([np.inf, 2]), np.array([0.0, 1]), np.ones(2)))


def test_equal_log_odds_have_no_slope_whatever_their_mean_rounds_to():
    for n in range(3, 40):
        y, weight = np.arange(n) % 2 * 1.0, np.linspace(0.1, 0.7, n)
        assert np.isnan(fit_line(np.full(n, 0.1), y, weight)).all()


def test_rows_without_weight_do_not_count_in_kernels():
    keep = WHOLE > 0
    assert_agree(fit_line(X, Y, WHOLE), fit_line(X[keep], Y[keep], WHOLE[keep]))
    assert_agree(fit_offset(X, Y, WHOLE), fit_offset(X[keep], Y[keep], WHOLE[keep]))


# The smooth curve


def local_line(x, y, at, neighbours):
    """Lowess at a point, from its definition: a line through the neighbours by tricube weights."""
    distance = np.abs(x - at)
    weight = np.clip(1 - (distance / np.sort(distance)[neighbours - 1]) ** 3, 0, None) ** 3
    return np.polynomial.Polynomial.fit(x, y, 1, w=np.sqrt(weight))(at)


@pytest.mark.parametrize("fraction", [2 / 3, 0.3])
def test_errors_agree_with_lowess_by_hand(fraction):
    curve = np.array([local_line(P, Y, at, int(fraction * N + 1e-10)) for at in P])
    off = np.abs(np.clip(curve, 0, 1) - P)
    errors = calibration_errors(Y, P, fraction=fraction)
    expected = [off.mean(), np.median(off), np.quantile(off, 0.9), off.max()]
    assert_agree([errors.ici, errors.e50, errors.e90, errors.emax], expected, 1e-8)
    assert_agree(
        errors.ici, np.abs(np.clip(lowess(Y, P, fraction, it=0, return_sorted=False), 0, 1) - P).mean()
    )
    assert (errors.n, errors.fraction, errors.note) == (N, fraction, "")


def test_errors_agree_with_r():
    """lowess(p, y, f = 2/3, iter = 0, delta = 0) of R 4."""
    errors = calibration_errors([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.8, 0.9])
    expected = [0.25296860, 0.11402160, 0.59011386, 0.6]
    np.testing.assert_allclose([errors.ici, errors.e50, errors.e90, errors.emax], expected, atol=1e-8)
    assert errors.note == "A neighbourhood has only 4 cases; the curve follows single outcomes."


def test_ties_that_fill_a_neighbourhood_have_their_event_rate():
    """R: 3/7, 0 and 1 at the three forecasts. statsmodels divides by 0 and returns one of the outcomes."""
    y, p = [0, 0, 0, 0, 1, 1, 1, 0, 1], [0.2] * 7 + [0.5, 0.9]
    errors = calibration_errors(y, p)
    assert_agree(errors.ici, (7 * (3 / 7 - 0.2) + 0.5 + 0.1) / 9)
    assert_agree([errors.e50, errors.emax], [3 / 7 - 0.2, 0.5])


@pytest.mark.parametrize(("y", "p", "error"), [([1], [0.3], 0.7), ([0, 1, 1], [0.5] * 3, 1 / 6)])
def test_constant_forecasts_have_one_error(y, p, error):
    errors = calibration_errors(y, p)
    assert_agree([errors.ici, errors.e50, errors.e90, errors.emax], [error] * 4)


def test_many_cases_are_thinned_and_lose_little(monkeypatch):
    """Probabilities of default: most below 2 %, few above 20 %, where the curve is farthest off."""
    rng = np.random.default_rng(12)
    p = expit(rng.normal(-4, 1, 6000))
    y = (rng.random(6000) < p**0.8).astype(float)
    thinned = calibration_errors(y, p)
    monkeypatch.setattr(smooth_calibration, "_FEW_CASES", 10_000)
    full = calibration_errors(y, p)
    np.testing.assert_allclose(
        [thinned.ici, thinned.e50, thinned.e90], [full.ici, full.e50, full.e90], rtol=1e-3
    )
    assert thinned.emax == pytest.approx(full.emax, rel=1e-3)
    assert thinned.ici != full.ici
    assert "forecasts and straight between them" in thinned.method
    assert full.method.endswith("at every forecast")


def test_few_distinct_forecasts_are_not_thinned():
    rng = np.random.default_rng(13)
    p = rng.integers(0, 290, 6000) / 290
    errors = calibration_errors(rng.random(6000) < p, p)
    assert errors.method == (
        "lowess, local lines (degree 1) over 0.667 of the cases, no robustness steps, at every forecast"
    )


def test_weights_may_be_large():
    """An earlier version repeated each row by its weight, up to ten million rows."""
    errors = calibration_errors(Y, P, sample_weight=1e6 * (1 + WHOLE))
    small = calibration_errors(Y, P, sample_weight=1.5 * (1 + WHOLE))
    assert errors.n == 1e6 * (N + WHOLE.sum())
    assert_agree([errors.ici, errors.emax], [small.ici, small.emax], 1e-4)  # a whole number of neighbours
    assert errors.method.startswith("weighted lowess, local lines (degree 1) over 0.667 of the weight")


@pytest.mark.parametrize("fraction", [0.1, 0.3, 2 / 3, 1.0])
@pytest.mark.parametrize("digits", [1, 2, 5])
def test_weighted_lowess_is_that_of_statsmodels_on_repeated_rows(fraction, digits):
    p = np.sort(P.round(digits))
    y, repeated = repeat(Y, p)
    nodes = np.unique(repeated)
    with np.errstate(all="ignore"):
        curve = lowess(y, repeated, fraction, it=0, xvals=nodes, is_sorted=True)
    rate = np.array([y[repeated == node].mean() for node in nodes])
    expected = np.where(np.isnan(curve), rate, curve)
    keep = WHOLE > 0
    found = smooth_weighted(Y[keep], p[keep], WHOLE[keep], nodes, fraction)
    assert_agree(found, expected)


@pytest.mark.parametrize("weight", [None, np.full(6000, 0.5)])
def test_many_forecasts_are_pooled_and_lose_little(weight):
    """The curve of 4,000 cells is that of statsmodels on all rows, to a hundredth of the standard error."""
    rng = np.random.default_rng(14)
    p = np.sort(rng.random(6000))
    y = (rng.random(6000) < p**0.8).astype(float)
    nodes = p[::60]
    errors = calibration_errors(y, p, sample_weight=weight)
    assert "of 4000 cells of neighbouring forecasts" in errors.method
    found = smooth_weighted(y, p, np.ones(6000) if weight is None else weight, nodes, 2 / 3)
    exact = lowess(y, p, 2 / 3, it=0, xvals=nodes, is_sorted=True)
    np.testing.assert_allclose(found, exact, atol=0.01 * errors.intervals[0].standard_error)
    assert errors.ici == pytest.approx(np.abs(np.interp(p, nodes, exact) - p).mean(), rel=1e-3)


@pytest.mark.parametrize("fraction", [-0.1, 1.01, NAN])
def test_the_fraction_is_checked(fraction):
    sentence = refused(sr.UsageError, lambda: calibration_errors(Y, P, fraction=fraction))
    assert sentence == f"`fraction` must lie in [0, 1]; got {fraction:g}."


# Bins


@pytest.mark.parametrize("bins", [3, 10, 17])
def test_uniform_bins_agree_with_scikit_learn(bins):
    rate, forecast = calibration_curve(Y, P, n_bins=bins)
    ece = expected_calibration_error(Y, P, bins=bins)
    assert_agree(ece.event_rate, rate)
    assert_agree(ece.mean_forecast, forecast)
    share = np.histogram(P, bins, (0, 1))[0]
    assert_agree(ece.n, share[share > 0])
    assert_agree(ece.value, np.abs(rate - forecast) @ share[share > 0] / N)
    assert (ece.bins, ece.strategy, ece.norm) == (bins, "uniform", "l1")


def test_quantile_bins_agree_with_scikit_learn():
    rate, forecast = calibration_curve(Y, P, n_bins=8, strategy="quantile")
    ece = expected_calibration_error(Y, P, bins=8, strategy="quantile")
    assert_agree(ece.event_rate, rate)
    assert_agree(ece.mean_forecast, forecast)
    assert_agree(ece.n, [50] * 8)
    assert_agree(ece.value, np.abs(rate - forecast).mean())
    assert_agree([ece.lower[0], ece.upper[-1]], [P.min(), P.max()])


def test_norms_are_their_formulas():
    y, p = [0, 1, 0, 1], [0.1, 0.3, 0.3, 0.6]  # in halves: |1/3 - 7/30| = 1/10 of three cases, and 4/10
    values = [expected_calibration_error(y, p, bins=2, norm=norm).value for norm in ("l1", "l2", "max")]
    assert_agree(values, [0.75 * 0.1 + 0.25 * 0.4, np.sqrt(0.75 * 0.01 + 0.25 * 0.16), 0.4])


def test_bins_are_closed_above():
    ece = expected_calibration_error([0, 1, 0, 1], [0.0, 0.3, 0.7, 1.0])
    assert_agree(ece.lower, [0, 0.2, 0.6, 0.9])
    assert ece.upper.tolist() == [0.1, 0.3, 0.7, 1.0]  # not 0.30000000000000004
    assert not ece.upper.flags.writeable


def test_ties_stay_in_one_bin():
    ece = expected_calibration_error(Y, np.repeat([0.2, 0.4], N // 2), strategy="quantile")
    assert ece.n.tolist() == [N // 2, N // 2]
    assert expected_calibration_error([0, 1], [0.4, 0.4], strategy="quantile").n.tolist() == [2]


def test_the_warning_quotes_other_bins():
    values = [expected_calibration_error(Y, P, bins=bins, norm="l2").value for bins in (5, 10, 20)]
    ece = expected_calibration_error(Y, P, bins=7, norm="l2")
    five, ten, twenty = (f"{value:.4f}" for value in values)
    assert ece.note == f"The value depends on the bins: {five} with 5, {ten} with 10, {twenty} with 20."
    assert len({five, ten, twenty}) == 3


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"bins": 0}, "`bins` must be a whole number of at least 1; got 0."),
        ({"strategy": "equal"}, '`strategy` must be one of "uniform", "quantile"; got \'equal\'.'),
        ({"norm": "l3"}, '`norm` must be one of "l1", "l2", "max"; got \'l3\'.'),
    ],
)
def test_options_of_bins_are_checked(options, sentence):
    assert refused(sr.UsageError, lambda: expected_calibration_error(Y, P, **options)) == sentence


# Grades


def test_the_published_value_of_the_jeffreys_test():
    test = grade_test(6, 2, 0.0367)
    assert round(test.jeffreys_p_value, 5) == 0.00438
    assert (test.light, test.n, test.d, test.probability, test.event_rate) == ("red", 6, 2, 0.0367, 1 / 3)


@pytest.mark.parametrize(
    ("n", "d", "p"), [(1, 0, 0.5), (1, 1, 0.5), (250, 0, 0.001), (250, 9, 0.02), (40, 40, 1)]
)
def test_grade_tests_agree_with_scipy(n, d, p):
    test = grade_test(n, d, p)
    assert_agree(test.jeffreys_p_value, stats.beta.cdf(p, d + 0.5, n - d + 0.5))
    assert_agree(test.binomial_p_value, stats.binomtest(d, n, p, alternative="greater").pvalue)


def test_traffic_lights_change_below_their_levels():
    p_value = grade_test(100, 4, 0.02).jeffreys_p_value
    assert 0.05 < p_value < 0.2
    lights = [
        grade_test(100, 4, 0.02, yellow=yellow, red=red).light
        for yellow, red in [(p_value, p_value), (0.2, p_value), (0.2, 0.2), (0.05, 0.01)]
    ]
    assert lights == ["green", "yellow", "red", "green"]


def test_grades_are_counted_and_ordered_by_forecast():
    y = [0, 1, 0, 0, 1, 0, 1]
    p = [0.01, 0.03, 0.02, 0.4, 0.2, 0.2, 0.3]
    grade = ["AAA", "AAA", "AAA", "B", "A", "A", "B"]
    tests = grade_tests(y, p, grade)
    assert [(t.grade, t.n, t.d) for t in tests] == [("AAA", 3, 1), ("A", 2, 1), ("B", 2, 1)]
    assert_agree([t.probability for t in tests], [0.02, 0.2, 0.35])
    assert_agree(tests[2].jeffreys_p_value, stats.beta.cdf(0.35, 1.5, 1.5))
    assert tests[0].reference.startswith("European Central Bank (2019)")


def test_grades_without_weight_are_left_out():
    weights = {"sample_weight": [2, 0, 1], "weight_kind": "frequency"}
    tests = grade_tests([0, 1, 1], [0.1, 0.2, 0.3], [3, 1, 2], **weights)
    assert [(t.grade, t.n, t.d) for t in tests] == [("3", 2, 0), ("2", 1, 1)]


def test_a_forecast_of_zero_is_always_red():
    test = grade_test(10, 0, 0)
    assert (test.jeffreys_p_value, test.binomial_p_value, test.light) == (0.0, 1.0, "red")
    assert test.note == "The Jeffreys test rejects a forecast of 0 for any outcome."


@pytest.mark.parametrize(
    ("error", "call", "sentence"),
    [
        (sr.UsageError, lambda: grade_test(0, 0, 0.1), "`n` must be a whole number of at least 1; got 0."),
        (sr.UsageError, lambda: grade_test(3, -1, 0.1), "`d` must be a whole number of at least 0; got -1."),
        (
            sr.UsageError,
            lambda: grade_test(3, 4, 0.1),
            "`d` must not exceed `n`; got 4 events among 3 cases.",
        ),
        (sr.UsageError, lambda: grade_test(3, 1, 1.1), "`probability` must lie in [0, 1]; got 1.1."),
        (sr.UsageError, lambda: grade_test(3, 1, 0.1, yellow=2), "`yellow` must lie in [0, 1]; got 2."),
        (
            sr.UsageError,
            lambda: grade_tests([0], [0.1], ["A"], red=0.1),
            "`red` must not exceed `yellow`; got 0.1 and 0.05.",
        ),
        (
            sr.DataError,
            lambda: grade_tests([0, 1], [0.1, 0.2], ["A"]),
            "`grade` must have one value per case; got shape (1,) for 2 cases.",
        ),
        (
            sr.DataError,
            lambda: grade_tests([0, 1], [0.1, 0.2], ["A", None]),
            "`grade` must not be missing; got nan at row 1 (1 of 2 rows). Drop these rows first.",
        ),
        (
            sr.UsageError,
            lambda: grade_tests([0, 1], [0.1, 0.2], None),
            "`grade` must have one label per case; got None.",
        ),
    ],
)
def test_grades_are_checked(error, call, sentence):
    assert refused(error, call) == sentence
