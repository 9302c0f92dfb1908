"""Comparisons of scores: Diebold-Mariano and DeLong."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import statsmodels.api as sm
from cluster_tools import dense_cr2
from comparison_tools import DATA, TOLERANCE, P, Q, Y, as_tuple, draw, repeated, robust, same_bits
from scipy.stats import norm, t, ttest_rel

import scorereport as sr
from scorereport.inference.delong import auc_influence, auc_interval, placement_error
from scorereport.inference.differences import compare_models, delong_test, score_difference
from scorereport.inference.dominance import murphy_difference
from scorereport.inference.estimates import rank_models
from scorereport.inference.heterogeneity import cochran_q, group_calibration_test
from scorereport.inference.panel import make_panel
from scorereport.inference.placements import placements
from scorereport.reliability.sampling import SamplingUnits

BRIER = (P - Y) ** 2 - (Q - Y) ** 2


def test_iid_errors_are_those_of_a_mean():
    d = score_difference(Y, P, Q)
    error = BRIER.std(ddof=1) / np.sqrt(len(Y))
    statistic = BRIER.mean() / error
    half_width = t.ppf(0.975, 156) * error
    expected = (BRIER.mean(), error, statistic, 2 * t.sf(abs(statistic), 156))
    np.testing.assert_allclose(as_tuple(d)[:4], expected, rtol=TOLERANCE)
    np.testing.assert_allclose((d.upper - d.lower) / 2, half_width, rtol=TOLERANCE)
    assert (d.method, d.measure, d.n, d.note) == ("Diebold-Mariano, iid errors", "brier", 157, "")
    assert d.null_hypothesis == "Both models have the same expected brier."
    assert d.first_value - d.second_value == pytest.approx(d.value, abs=1e-15)
    assert d.p_value_holm is None


def test_eight_rows_are_compared_by_t():
    """With z, 8 % of the tests of eight rows reject at 5 %."""
    d = score_difference(Y[:8], P[:8], Q[:8])
    expected = ttest_rel((P[:8] - Y[:8]) ** 2, (Q[:8] - Y[:8]) ** 2)
    assert (d.statistic, d.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)
    interval = expected.confidence_interval(0.95)
    assert (d.lower, d.upper) == pytest.approx((interval.low, interval.high), rel=1e-9)


def test_errors_in_time_come_from_the_slowest_cosines():
    """Lazarus and others: the mean of squared projections on B cosines, and t with B degrees of freedom."""
    d = score_difference(Y, P, Q, time=DATA["time"])
    series = BRIER[np.argsort(DATA["time"])]
    n, cosines = 157, 4  # three quarters of the cube root of 157
    squares = [
        2 / n * (series * np.cos(np.pi * j * (np.arange(n) + 0.5) / n)).sum() ** 2
        for j in range(1, cosines + 1)
    ]
    error = np.sqrt(np.mean(squares) / n)
    statistic = series.mean() / error
    reach = t.ppf(0.975, cosines) * error
    expected = (statistic, 2 * t.sf(abs(statistic), cosines), series.mean() - reach)
    assert (d.statistic, d.p_value, d.lower) == pytest.approx(expected, rel=1e-9)
    assert d.method == "Diebold-Mariano, errors in time (4 cosines, 157 times)"
    assert d.reference.endswith("doi:10.1080/07350015.2018.1506926")


@pytest.mark.parametrize("lags", [0, 1, 4, 30, 156])
def test_hac_errors_agree_with_statsmodels(lags):
    d = score_difference(Y, P, Q, time=DATA["time"], lags=lags)
    ordered = BRIER[np.argsort(DATA["time"])]
    expected = robust(ordered, cov_type="HAC", cov_kwds={"maxlags": lags, "use_correction": True})
    np.testing.assert_allclose(as_tuple(d), expected, rtol=TOLERANCE)
    assert d.method == f"Diebold-Mariano, HAC errors (Bartlett, {lags} lags, 157 times)"
    assert d.reference.endswith("Newey, West (1987), Econometrica 55, doi:10.2307/1913610")


def test_no_lags_give_iid_errors():
    iid, hac = score_difference(Y, P, Q), score_difference(Y, P, Q, time=DATA["time"], lags=0)
    assert hac.standard_error == pytest.approx(iid.standard_error, rel=1e-13)


def test_rows_of_one_time_are_added_up():
    """statsmodels' sums over groups (Driscoll and Kraay), which lack the factor T/(T - 1)."""
    date = np.sort(DATA["time"] // 4)
    d = score_difference(Y, P, Q, time=date, lags=3)
    fit = sm.OLS(BRIER, np.ones(len(Y))).fit(
        cov_type="hac-groupsum", cov_kwds={"time": date, "maxlags": 3, "use_correction": False}
    )
    times = len(np.unique(date))
    assert d.standard_error == pytest.approx(fit.bse[0] * np.sqrt(times / (times - 1)), rel=TOLERANCE)
    assert d.standard_error != pytest.approx(score_difference(Y, P, Q).standard_error, rel=1e-3)


def test_few_dates_are_treated_as_independent_with_a_note():
    """Four dates do not show how they depend on each other: their sums have t with 3 degrees of freedom."""
    date = DATA["time"] % 4
    d = score_difference(Y, P, Q, time=date)
    by_date = score_difference(Y, P, Q, cluster=date)
    assert by_date.standard_error == pytest.approx(d.standard_error, rel=0.01)  # 39 or 40 rows each
    assert d.p_value == pytest.approx(2 * t.sf(abs(d.statistic), 3), rel=TOLERANCE)
    assert d.method == "Diebold-Mariano, HAC errors (Bartlett, 0 lags, 4 times)"
    assert d.note == "Only 4 times: with fewer than 30 they are treated as independent of each other."
    assert (
        by_date.note
        == "Only 4 clusters: with fewer than 30 intervals and tests rest on few independent clusters."
    )


def test_dates_order_rows_like_numbers():
    days = np.datetime64("2024-01-01") + DATA["time"]
    assert same_bits(
        score_difference(Y, P, Q, time=days), score_difference(Y, P, Q, time=DATA["time"].astype(float))
    )


def test_cluster_errors_agree_with_statsmodels():
    """For clusters of equal size; those of others are bias-reduced."""
    groups = np.arange(155) % 31
    d = score_difference(Y[:155], P[:155], Q[:155], cluster=groups, time=DATA["time"][:155])
    expected = robust(BRIER[:155], cov_type="cluster", cov_kwds={"groups": groups})
    np.testing.assert_allclose(as_tuple(d), expected, rtol=1e-9)
    assert (d.method, d.note) == ("Diebold-Mariano, cluster errors (31 clusters)", "")


def test_unequal_clusters_have_satterthwaite_degrees_of_freedom():
    cluster = np.where(np.arange(157) < 100, 0, np.arange(157) % 30)
    d, units = score_difference(Y, P, Q, cluster=cluster), SamplingUnits(rows=157, cluster=cluster)
    assert d.standard_error == pytest.approx(units.standard_error(BRIER), rel=TOLERANCE)
    df = units.degrees_of_freedom
    assert 1 < df < 8
    assert d.p_value == pytest.approx(2 * t.sf(abs(d.statistic), df), rel=TOLERANCE)
    assert d.note == (
        f"30 clusters of unequal size count as {units.effective_size:.1f} equal ones: with fewer than 30 "
        "intervals and tests rest on few independent clusters."
    )


def test_errors_can_be_chosen():
    given = {"cluster": DATA["cluster"], "time": DATA["time"]}
    for errors, alone in (
        ("iid", {}),
        ("hac", {"time": DATA["time"]}),
        ("cluster", {"cluster": DATA["cluster"]}),
    ):
        chosen = score_difference(Y, P, Q, errors=errors, **given).standard_error
        assert chosen == pytest.approx(score_difference(Y, P, Q, **alone).standard_error, rel=1e-13)


@pytest.mark.parametrize(
    ("score", "options", "measure"),
    [
        ("log", {}, "log_loss"),
        ("net_benefit", {"threshold": 0.3}, "net_benefit(threshold=0.3)"),
        (sr.scores.spherical, {}, "spherical"),
        (lambda y, p: np.abs(y - p), {}, "<lambda>"),
    ],
)
def test_any_score_is_compared(score, options, measure):
    d = score_difference(Y, P, Q, score, **options)
    function = {"log": sr.scores.log_loss, "net_benefit": sr.scores.net_benefit}.get(score, score)
    values = function(Y, P, **options) - function(Y, Q, **options)
    assert d.measure == measure
    assert d.higher_is_better == (score == "net_benefit")
    assert d.value == pytest.approx(values.mean(), rel=1e-12)
    assert d.standard_error == pytest.approx(values.std(ddof=1) / np.sqrt(157), rel=TOLERANCE)


def test_frequencies_equal_repeated_rows():
    w = DATA["weight"]
    r, weights = repeated(w), {"sample_weight": w, "weight_kind": "frequency"}
    pairs = [
        (score_difference(Y, P, Q, **weights), score_difference(r["y"], r["p"], r["q"])),
        (delong_test(Y, P, Q, **weights), delong_test(r["y"], r["p"], r["q"])),
        (
            score_difference(Y, P, Q, **weights, time=DATA["time"]),
            score_difference(r["y"], r["p"], r["q"], time=r["time"]),
        ),
        (
            score_difference(Y, P, Q, **weights, cluster=DATA["cluster"]),
            score_difference(r["y"], r["p"], r["q"], cluster=r["cluster"]),
        ),
        (
            delong_test(Y, P, Q, **weights, cluster=DATA["cluster"]),
            delong_test(r["y"], r["p"], r["q"], cluster=r["cluster"]),
        ),
    ]
    for weighted, plain in pairs:
        np.testing.assert_allclose(as_tuple(weighted), as_tuple(plain), rtol=TOLERANCE)
        assert weighted.n == plain.n == w.sum()


def test_clusters_of_one_row_are_rows():
    alone = np.arange(len(Y))[::-1]
    for compare in (score_difference, delong_test):
        single, rows = compare(Y, P, Q, cluster=alone), compare(Y, P, Q)
        np.testing.assert_allclose(as_tuple(single)[:3], as_tuple(rows)[:3], rtol=TOLERANCE)
    single = score_difference(Y, P, Q, cluster=alone)
    assert single.p_value == pytest.approx(2 * t.sf(abs(single.statistic), len(Y) - 1), rel=TOLERANCE)
    single, rows = auc_interval(Y, P, cluster=alone), auc_interval(Y, P)
    assert single.standard_error == pytest.approx(rows.standard_error, rel=TOLERANCE)


def test_fractional_weights_are_carried_by_single_draws():
    w = DATA["weight"] / 3
    d = score_difference(Y, P, Q, sample_weight=w)
    fit = sm.WLS(BRIER, np.ones(len(Y)), weights=w).fit(cov_type="HC1")
    np.testing.assert_allclose((d.value, d.standard_error), (fit.params[0], fit.bse[0]), rtol=TOLERANCE)
    single = delong_test(Y, P, Q, sample_weight=w, cluster=np.arange(len(Y)))
    rows = delong_test(Y, P, Q, sample_weight=w)
    assert rows.value == pytest.approx(single.value, rel=TOLERANCE)
    assert rows.standard_error == pytest.approx(single.standard_error, rel=0.02)  # which is bias-reduced


def all_results(d, order):
    """Every public function on rows in some order."""
    y, p, q, w, c, t = (d[name][order] for name in ("y", "p", "q", "weight", "cluster", "time"))
    group = c % 3
    return [
        score_difference(y, p, q, "log", sample_weight=w / 7),
        score_difference(y, p, q, time=t // 3, sample_weight=w / 7),
        score_difference(y, p, q, cluster=c),
        delong_test(y, p, q, sample_weight=w / 7),
        delong_test(y, p, q, cluster=c),
        auc_interval(y, p, cluster=c, sample_weight=w / 7),
        murphy_difference(y, p, q, cluster=c, sample_weight=w / 7, resamples=20),
        murphy_difference(y, p, q, resamples=20),
        *group_calibration_test(y, p, group, sample_weight=w / 7),
        *group_calibration_test(y, p, group, cluster=t // 4),
        *group_calibration_test(y, p, group),
        cochran_q(p[order < 5], q[order < 5]),
        *compare_models(y, {"a": p, "b": q, "c": (p + q) / 2}, time=t),
    ]


def test_the_order_of_rows_does_not_matter():
    order = np.random.default_rng(3).permutation(len(Y))
    for plain, shuffled in zip(all_results(DATA, np.arange(len(Y))), all_results(DATA, order), strict=True):
        assert same_bits(plain, shuffled), plain


PRINT_BITS = """
import numpy as np
from scorereport.inference.differences import score_difference, delong_test
from scorereport.inference.heterogeneity import group_calibration_test
rng = np.random.default_rng(0)
p, q = rng.uniform(0.01, 0.99, (2, 60_001))
y = rng.uniform(size=len(p)) < p
time = np.arange(len(p))
found = [
    score_difference(y, p, q, time=time).standard_error,
    delong_test(y, p, q).standard_error,
    *(test.statistic for test in group_calibration_test(y, p, time % 3)),
    *(test.statistic for test in group_calibration_test(y, p, time % 3, cluster=time // 2)),
]
print([value.hex() for value in found])
"""


@pytest.mark.sweep
def test_any_number_of_threads_gives_the_same_bits():
    printed = {
        subprocess.run(
            [sys.executable, "-c", PRINT_BITS],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for threads in ("1", "4")
    }
    assert len(printed) == 1
    assert printed.pop().count("0x1.") == 6


# No spread, infinite scores, one class


def test_the_same_forecast_is_not_tested():
    for d in (score_difference(Y, P, P), score_difference(Y, P, P, cluster=Y), delong_test(Y, P, P)):
        assert (d.value, d.standard_error, d.lower, d.upper) == (0, 0, 0, 0)
        assert np.isnan([d.statistic, d.p_value]).all()
        assert d.note == "The forecasts are the same in every case: there is nothing to test."


def test_forecasts_may_do_equally_well_without_being_the_same():
    for d in (
        score_difference(Y, P, P**2, "elementary", theta=0.0),
        delong_test(Y, P, P**2),
        delong_test([0, 1, 1], [0.2, 0.3, 0.4], [0.1, 0.7, 0.7]),
    ):
        assert (d.value, d.standard_error, d.lower, d.upper) == (0, 0, 0, 0)
        assert np.isnan(d.p_value)
        assert d.note == "The forecasts do equally well in every case: there is nothing to test."


def test_a_difference_that_does_not_vary_has_no_test():
    for d in (
        score_difference([0, 0, 0], [0.1] * 3, [0.3] * 3),
        score_difference(
            [0] * 7, [0.1] * 7, [0.3] * 7, cluster=[0, 0, 1, 1, 1, 2, 2], sample_weight=[0.3] * 7
        ),
        score_difference([0] * 7, [0.1] * 7, [0.3] * 7, time=range(7)),
        delong_test([0, 1, 0, 1], [0.1, 0.9, 0.1, 0.9], [0.5] * 4),
    ):
        assert d.standard_error == 0
        assert np.isnan([d.lower, d.upper, d.statistic, d.p_value]).all()
        assert d.note == "The difference does not vary, so there is no test."


@pytest.mark.parametrize(
    ("options", "unit"), [({}, "row"), ({"cluster": ["a"]}, "cluster"), ({"time": [3]}, "time")]
)
def test_one_draw_has_no_error(options, unit):
    d = score_difference([1], [0.3], [0.6], **options)
    assert d.value == pytest.approx(0.49 - 0.16)
    assert np.isnan([d.standard_error, d.lower, d.upper, d.p_value]).all()
    assert d.note == f"One {unit}, or one {unit} of a class, does not show how much the difference varies."


def test_infinite_scores_have_no_test():
    y, certain, careful = [0, 1, 1, 0], [0.2, 0.0, 0.0, 0.1], [0.2, 0.4, 0.6, 0.1]
    d = score_difference(y, certain, careful, "log")
    assert d.value == np.inf
    assert np.isnan([d.standard_error, d.lower, d.upper, d.statistic, d.p_value]).all()
    assert d.note == "The log_loss is not finite: of first in 2 cases, so there is no test."
    d = score_difference(y, [0.2, 0.0, 0.5, 0.5], certain, "log", sample_weight=[1, 1, 3, 1])
    assert np.isnan(d.value)
    assert d.note == (
        "The log_loss is not finite: of first in 1 case and of second in 4 cases, so there is no test."
    )
    assert [
        (r.rank, r.model) for r in rank_models(compare_models(y, {"a": certain, "b": careful}, ["log"]))
    ] == [
        (1, "b"),
        (2, "a"),
    ]


def test_one_class_has_no_auc():
    d = delong_test([1, 1], [0.2, 0.4], [0.5, 0.1])
    assert np.isnan([d.first_value, d.second_value, *as_tuple(d)]).all()
    assert d.note == "The AUC needs both outcomes; all are 1."
    auc = auc_interval([0, 0], [0.2, 0.4])
    assert np.isnan([auc.value, auc.standard_error, auc.lower, auc.upper]).all()
    assert auc.note == "The AUC needs both outcomes; all are 0."
    assert np.isnan(auc_influence(np.ones(3), np.array([0.1, 0.2, 0.3]))).all()


# DeLong


def kernel(y, p):
    """Every event against every non-event, ties half: rows are events, columns are non-events."""
    events, others = p[y == 1][:, None], p[y == 0]
    return (events > others) + 0.5 * (events == others)


def brute_variance(y, *forecasts):
    """DeLong's covariance matrix of several AUCs, from all pairs of cases."""
    tables = [kernel(y, p) for p in forecasts]
    s10 = np.atleast_2d(np.cov([t.mean(axis=1) for t in tables]))
    s01 = np.atleast_2d(np.cov([t.mean(axis=0) for t in tables]))
    return s10 / y.sum() + s01 / (1 - y).sum()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("digits", [1, 2, 12])
def test_delong_agrees_with_all_pairs(seed, digits):
    d = draw(83, seed, digits)
    covariance = brute_variance(d["y"], d["p"], d["q"])
    auc = auc_interval(d["y"], d["p"])
    assert auc.value == pytest.approx(kernel(d["y"], d["p"]).mean(), rel=1e-13)
    assert auc.value == pytest.approx(sr.scores.roc_auc(d["y"], d["p"]), rel=1e-14)
    assert auc.standard_error == pytest.approx(np.sqrt(covariance[0, 0]), rel=TOLERANCE)
    paired = delong_test(d["y"], d["p"], d["q"])
    error = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    difference = (kernel(d["y"], d["p"]) - kernel(d["y"], d["q"])).mean()
    np.testing.assert_allclose(
        (paired.value, paired.standard_error, paired.p_value),
        (difference, error, 2 * t.sf(abs(difference / error), welch_freedom(d))),
        rtol=TOLERANCE,
    )


def welch_freedom(d):
    """Welch's degrees of freedom of the two class means of paired placements."""
    pairs = kernel(d["y"], d["p"]) - kernel(d["y"], d["q"])
    means = pairs.mean(axis=1), pairs.mean(axis=0)
    parts = [(mean.var(ddof=1) / len(mean), len(mean) - 1) for mean in means]
    return sum(v for v, _ in parts) ** 2 / sum(v**2 / df for v, df in parts)


def brute_clustered_variance(y, values, cluster):
    """Obuchowski's formulas as printed, one cluster at a time; `values` holds one number for each pair."""
    m, n, labels = y.sum(), (1 - y).sum(), np.unique(cluster)
    of_event, of_other, mean = values.mean(axis=1), values.mean(axis=0), values.mean()
    events, others = cluster[y == 1], cluster[y == 0]
    x = np.array([(of_event[events == k] - mean).sum() for k in labels])
    z = np.array([(of_other[others == k] - mean).sum() for k in labels])
    i10, i01, i = len(set(events)), len(set(others)), len(labels)
    s10 = i10 / ((i10 - 1) * m) * (x**2).sum()
    s01 = i01 / ((i01 - 1) * n) * (z**2).sum()
    s11 = i / (i - 1) * (x * z).sum()
    return s10 / m + s01 / n + 2 * s11 / (m * n)


@pytest.mark.parametrize("seed", range(5))
def test_clusters_agree_with_obuchowski(seed):
    d = draw(90, seed)
    y, p, q, cluster = d["y"], d["p"], d["q"], d["cluster"]
    auc = auc_interval(y, p, scale="plain", cluster=cluster)
    expected = brute_clustered_variance(y, kernel(y, p), cluster)
    assert auc.standard_error == pytest.approx(np.sqrt(expected), rel=TOLERANCE)
    assert (
        auc.method == f"DeLong with Obuchowski's cluster errors ({len(set(cluster))} clusters), plain scale"
    )
    panel = make_panel(y, {"p": p, "q": q}, cluster=cluster)
    paired = placements(panel.outcome, panel.forecasts["p"]) - placements(panel.outcome, panel.forecasts["q"])
    expected = brute_clustered_variance(y, kernel(y, p) - kernel(y, q), cluster)
    assert placement_error(panel, paired) == pytest.approx(np.sqrt(expected), rel=TOLERANCE)


@pytest.mark.parametrize("seed", range(3))
def test_clusters_have_bias_reduced_errors_of_both_class_means(seed):
    d = draw(90, seed)
    y, p, q, cluster = d["y"], d["p"], d["q"], d["cluster"]
    paired = delong_test(y, p, q, cluster=cluster)
    shares = placements(y, p) - placements(y, q)
    fitted = np.where(y == 1, shares[y == 1].mean(), shares[y == 0].mean())
    covariance, df = dense_cr2(
        np.stack([y, 1 - y], axis=1), np.ones(90), shares - fitted, cluster, np.ones(2)
    )
    assert paired.standard_error == pytest.approx(np.sqrt(np.ones(2) @ covariance @ np.ones(2)), rel=1e-9)
    assert paired.p_value == pytest.approx(2 * t.sf(abs(paired.statistic), df), rel=1e-8)
    assert paired.method.startswith("DeLong with bias-reduced cluster errors (")
    assert paired.reference.endswith("doi:10.1080/07350015.2016.1247004")


def test_influence_is_the_derivative_of_the_auc():
    w = DATA["weight"] / 3
    influence = auc_influence(Y, P, w)
    assert (w * influence).sum() == pytest.approx(0, abs=1e-10)
    step = 1e-6 * np.eye(len(Y))[11]
    slope = (
        sr.scores.roc_auc(Y, P, sample_weight=w + step) - sr.scores.roc_auc(Y, P, sample_weight=w - step)
    ) / 2e-6
    assert influence[11] / w.sum() == pytest.approx(slope, abs=1e-8)
    panel = make_panel(Y, {"p": P})
    error = panel.units.standard_error(auc_influence(panel.outcome, panel.only))
    assert error == pytest.approx(auc_interval(Y, P).standard_error, rel=0.01)


def test_intervals_on_both_scales():
    plain, on_logit = auc_interval(Y, P, scale="plain"), auc_interval(Y, P, scale="logit")
    z, a, s = norm.ppf(0.975), plain.value, plain.standard_error
    np.testing.assert_allclose((plain.lower, plain.upper), (a - z * s, a + z * s), rtol=TOLERANCE)
    odds = a / (1 - a) * np.exp(np.array([-1, 1]) * z * s / (a * (1 - a)))
    np.testing.assert_allclose((on_logit.lower, on_logit.upper), odds / (1 + odds), rtol=TOLERANCE)
    assert (plain.method, on_logit.method) == ("DeLong, plain scale", "DeLong, logit scale")


def hanley_mcneil(auc, m, n):
    """Newcombe's variance, with the mean number of cases in both products."""
    more = (m + n) / 2 - 1
    return auc * (1 - auc) * (1 + more * ((1 - auc) / (2 - auc) + auc / (1 + auc))) / (m * n)


def test_perfect_order_has_bounds_on_purpose():
    y = np.array([0] * 12 + [1] * 8)
    auc = auc_interval(y, np.linspace(0.1, 0.9, 20))
    assert (auc.value, auc.standard_error, auc.upper) == (1, 0, 1)
    assert 1 - auc.lower == pytest.approx(
        norm.ppf(0.975) * np.sqrt(hanley_mcneil(auc.lower, 8, 12)), rel=1e-9
    )
    assert auc.note == "The forecasts separate the outcomes and DeLong's error is 0: bounds after Newcombe."
    worst = auc_interval(y, np.linspace(0.9, 0.1, 20))
    assert (worst.value, worst.lower) == (0, 0)
    assert worst.upper == pytest.approx(1 - auc.lower, abs=1e-12)
    fewer = auc_interval(y, np.linspace(0.1, 0.9, 20), cluster=np.arange(20) // 4)
    assert fewer.lower < auc.lower  # 2 clusters of events, 3 of non-events


def test_one_case_of_a_class_has_bounds_on_purpose():
    auc = auc_interval([0, 0, 0, 1], [0.1, 0.3, 0.8, 0.5])
    assert auc.value == pytest.approx(2 / 3)
    assert np.isnan(auc.standard_error)
    z = norm.ppf(0.975)
    for bound in (auc.lower, auc.upper):
        assert 0 < bound < 1
        assert abs(2 / 3 - bound) == pytest.approx(z * np.sqrt(hanley_mcneil(bound, 1, 3)), rel=1e-9)
    assert auc.note == "One row of a class has no spread: bounds after Newcombe."
    assert auc_interval([0, 1], [0.2, 0.3]).note == (
        "The forecasts separate the outcomes, with one row of a class: bounds after Newcombe."
    )
    clustered = auc_interval([0, 1, 0, 1], [0.1, 0.3, 0.8, 0.5], cluster=[0, 1, 2, 1])
    assert clustered.note == "One cluster of a class has no spread: bounds after Newcombe."


def test_a_constant_forecast_has_auc_one_half():
    auc = auc_interval([0, 1, 1, 0], [0.3] * 4)
    assert (auc.value, auc.standard_error, auc.lower, auc.upper) == (0.5, 0, 0.5, 0.5)
    assert auc.note == "The placements do not vary, so the interval has no width."


def test_bounds_of_the_auc_stay_in_the_unit_interval():
    auc = auc_interval([0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5], scale="plain")
    assert auc.upper == 1
    assert auc.lower > 0
    score = auc_interval([0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5])
    assert 0 < score.lower < auc.lower < score.value < score.upper < 1
    d = delong_test([0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5], [0.5, 0.4, 0.2, 0.1, 0.3])
    assert -1 <= d.lower < d.value < d.upper == 1


def test_placements_of_weighted_rows():
    y, p, w = np.array([1.0, 0, 0, 1]), np.array([0.4, 0.4, 0.1, 0.05]), np.array([2.0, 1, 4, 3])
    np.testing.assert_allclose(placements(y, p, w), [4.5 / 5, 1 / 5, 2 / 5, 0], rtol=1e-15)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ordered", [False, True])
def test_placements_of_tied_forecasts_are_shares_of_pairs(ordered, weighted):
    """With ties at both ends and between, and with distinct forecasts."""
    rng = np.random.default_rng(5)
    p = np.concatenate([np.full(3, 0.05), rng.integers(2, 19, 40) / 20, rng.random(20), [0.99, 0.99]])
    y, p = (rng.random(len(p)) < p).astype(float), np.sort(p) if ordered else rng.permutation(p)
    w = rng.integers(1, 5, len(p)).astype(float) if weighted else np.ones(len(p))
    wins = np.greater.outer(p, p) + np.equal.outer(p, p) / 2
    of_events, of_others = wins @ (w * (1 - y)) / (w @ (1 - y)), (w * y) @ wins / (w @ y)
    found = placements(y, p, w if weighted else None)
    np.testing.assert_allclose(found, np.where(y == 1, of_events, of_others), rtol=1e-14)


def test_the_auc_of_counted_rows_is_that_of_repeated_rows():
    rng = np.random.default_rng(6)
    p, counts = rng.integers(1, 20, 60) / 20, rng.integers(1, 5, 60)
    y = (rng.random(60) < p).astype(int)
    counted = auc_interval(y, p, sample_weight=counts, weight_kind="frequency")
    repeated_rows = auc_interval(y.repeat(counts), p.repeat(counts))
    for name in ("value", "standard_error", "lower", "upper", "degrees_of_freedom"):
        assert getattr(counted, name) == pytest.approx(getattr(repeated_rows, name), rel=1e-12), name
