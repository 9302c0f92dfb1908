"""Comparison of models: against statsmodels and brute force, on the edges, and to the last bit."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import astuple, replace

import numpy as np
import pytest
import statsmodels.api as sm
from cluster_tools import dense_cr2
from scipy.stats import chi2, f, norm, t, ttest_rel
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.multitest import multipletests

import scorereport as sr
from scorereport._utils.arrays import bits_equal
from scorereport.inference import dominance, murphy_bands
from scorereport.inference.delong import auc_influence, auc_interval, placement_error, placements
from scorereport.inference.differences import compare_models, delong_test, score_difference
from scorereport.inference.dominance import murphy_difference
from scorereport.inference.estimates import adjust_by_holm, rank_models
from scorereport.inference.heterogeneity import cochran_q, group_calibration_test
from scorereport.inference.panel import make_panel
from scorereport.reliability.sampling import SamplingUnits, random_stream

TOLERANCE = 1e-10
NAN = float("nan")


def draw(n, seed=1, digits=2):
    """Outcomes, two forecasts with ties, weights, clusters and times."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.05, 0.95, n)
    y = (rng.uniform(size=n) < p).astype(float)
    other = np.clip(p + rng.normal(0, 0.15, n), 0.02, 0.98)
    return {
        "y": y,
        "p": p.round(digits),
        "q": other.round(digits),
        "weight": rng.integers(1, 5, n),
        "cluster": rng.integers(0, max(n // 6, 2), n),
        "time": rng.permutation(n),
    }


DATA = draw(157)
Y, P, Q = DATA["y"], DATA["p"], DATA["q"]
BRIER = (P - Y) ** 2 - (Q - Y) ** 2


def refused(error, call):
    with pytest.raises(error) as refusal:
        call()
    return str(refusal.value)


def same_bits(left, right):
    """Whether all numbers of two results are equal, NaN included."""
    return all(
        bits_equal(np.asarray(a), np.asarray(b)) for a, b in zip(astuple(left), astuple(right), strict=True)
    )


# Diebold-Mariano


def robust(values, **options):
    """The mean and its error by statsmodels, with its law of t over clusters or times."""
    fit = sm.OLS(values, np.ones(len(values))).fit(use_t=True, **options)
    return fit.params[0], fit.bse[0], fit.tvalues[0], fit.pvalues[0], *fit.conf_int()[0]


def as_tuple(d):
    return d.value, d.standard_error, d.statistic, d.p_value, d.lower, d.upper


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


def test_few_dates_are_taken_as_independent_and_told():
    """Four dates cannot tell how they depend on each other: their sums have t with 3 degrees of freedom."""
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


# Weights, clusters and order


def repeated(w):
    return {name: values.repeat(w) for name, values in DATA.items()}


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


def test_the_order_of_rows_leaves_no_trace():
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


def test_perfect_order_has_bounds_by_intent():
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


def test_one_case_of_a_class_has_bounds_by_intent():
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


# Many models


def three(seed=5):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.05, 0.95, 300)
    y = rng.uniform(size=300) < p
    return y, {"good": p, "fair": np.clip(p + rng.normal(0, 0.2, 300), 0, 1), "coin": np.full(300, 0.5)}


def test_all_pairs_are_compared_by_all_measures():
    y, models = three()
    found = compare_models(y, models, ["brier", ("net_benefit", {"threshold": 0.2}), "roc_auc"])
    pairs = [("good", "fair"), ("good", "coin"), ("fair", "coin")]
    assert [(d.first, d.second) for d in found] == pairs * 3
    assert [d.measure for d in found[::3]] == ["brier", "net_benefit(threshold=0.2)", "roc_auc"]
    for d in found[:3]:
        alone = score_difference(y, models[d.first], models[d.second])
        np.testing.assert_allclose(as_tuple(d), as_tuple(alone), rtol=1e-12)
    for d in found[6:]:
        alone = delong_test(y, models[d.first], models[d.second])
        np.testing.assert_allclose(as_tuple(d), as_tuple(alone), rtol=1e-12)
    assert [d.measure for d in compare_models(y, models)[::3]] == ["brier", "log_loss", "roc_auc"]


def test_aucs_in_time_have_hac_errors_of_their_influence():
    (d,) = compare_models(Y, {"p": P, "q": Q}, ["roc_auc"], time=DATA["time"], lags=5)
    moved = (auc_influence(Y, P) - auc_influence(Y, Q))[np.argsort(DATA["time"])]
    error = robust(moved, cov_type="HAC", cov_kwds={"maxlags": 5, "use_correction": True})[1]
    assert d.standard_error == pytest.approx(error, rel=TOLERANCE)
    assert d.value == pytest.approx(delong_test(Y, P, Q).value, rel=1e-13)
    assert d.method == "AUC influence, HAC errors (Bartlett, 5 lags, 157 times)"


def test_holm_by_hand():
    some = score_difference(Y, P, Q)
    p_values = [0.01, NAN, 0.04, 0.03, 0.9]
    adjusted = [d.p_value_holm for d in adjust_by_holm([replace(some, p_value=p) for p in p_values])]
    np.testing.assert_allclose(adjusted, [0.04, NAN, 0.09, 0.09, 0.9], rtol=1e-15)
    p_values = np.random.default_rng(4).uniform(0, 0.1, 15)
    adjusted = [d.p_value_holm for d in adjust_by_holm([replace(some, p_value=p) for p in p_values])]
    np.testing.assert_allclose(adjusted, multipletests(p_values, method="holm")[1], rtol=TOLERANCE)
    (alone,) = adjust_by_holm([replace(some, p_value=NAN)])
    assert np.isnan(alone.p_value_holm)


def made_up(first, second, value, p, *, measure="brier", higher=False):
    """A difference between models whose values are the lengths of their names."""
    return replace(
        score_difference([0, 1], [0.1, 0.2], [0.1, 0.3]),
        first=first,
        second=second,
        first_value=float(len(first)),
        second_value=float(len(second)),
        value=value,
        p_value_holm=p,
        measure=measure,
        higher_is_better=higher,
    )


def test_ranks_by_hand():
    """Only the longest name is told to be worse, and only than the shortest."""
    found = [made_up("ccc", "a", 2, 0.05), made_up("a", "bb", -1, 0.06), made_up("bb", "ccc", -1, NAN)]
    assert [(r.rank, r.model, r.value, r.tied_with) for r in rank_models(found)] == [
        (1, "a", 1, ("bb",)),
        (1, "bb", 2, ("a", "ccc")),
        (2, "ccc", 3, ("bb",)),
    ]
    assert rank_models(found[::-1]) == rank_models(found)
    assert [r.rank for r in rank_models(found, alpha=0.01)] == [1, 1, 1]


def test_ranks_turn_round_where_higher_is_better():
    found = [
        made_up(first, second, float(len(first) - len(second)), 0.001, measure="roc_auc", higher=True)
        for first, second in (("a", "bb"), ("ccc", "a"), ("bb", "ccc"))
    ]
    assert [(r.rank, r.model, r.tied_with) for r in rank_models(found)] == [
        (1, "ccc", ()),
        (2, "bb", ()),
        (3, "a", ()),
    ]


def test_a_single_difference_is_ranked_by_its_own_p_value():
    found = made_up("a", "bb", -1, None)
    assert [r.rank for r in rank_models([replace(found, p_value=0.01)])] == [1, 2]
    assert [r.rank for r in rank_models([replace(found, p_value=0.2)])] == [1, 1]


def test_measures_are_ranked_apart():
    y, models = three()
    ranks = rank_models(compare_models(y, models, ["brier", "roc_auc"]))
    assert [r.measure for r in ranks] == ["brier"] * 3 + ["roc_auc"] * 3
    assert [(r.rank, r.model) for r in ranks if r.rank == 1] == [(1, "good"), (1, "good")]
    assert ranks[0].value == pytest.approx(sr.scores.brier(y, models["good"]).mean())


# Murphy differences


def exact(y, p, theta, weight=None):
    return sr.curves.murphy_curves(sr.corp(y, p, weight)).score.at(theta)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("digits", [1, 3])
def test_the_murphy_difference_is_exact(weighted, digits):
    d = draw(60, 4, digits)
    weight = d["weight"] / 3 if weighted else None
    curve = murphy_difference(d["y"], d["p"], d["q"], resamples=2, sample_weight=weight)
    expected = exact(d["y"], d["p"], curve.theta, weight) - exact(d["y"], d["q"], curve.theta, weight)
    np.testing.assert_allclose(curve.difference, expected, rtol=0, atol=1e-14)
    assert np.isin(curve.theta, d["p"]).any()
    assert not np.isin(curve.theta, np.append(d["p"], d["q"])).all()
    assert len(curve.theta) <= 200


def test_limits_at_all_knots_are_those_of_the_curves():
    panel = make_panel(Y, {"first": P, "second": Q})
    theta = np.unique(np.concatenate([[0, 1], P, Q]))
    limits = [sr.curves.murphy_curves(sr.corp(Y, p)).score.limits(theta)[1:] for p in (P, Q)]
    for found, first, second in zip(murphy_bands._limits(panel, theta), *limits, strict=True):
        np.testing.assert_allclose(found, first - second, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("first", "second", "dominant"),
    [
        ([0.2, 0.8, 0.7, 0.1], [0.3, 0.6, 0.7, 0.4], "first"),
        ([0.3, 0.6, 0.7, 0.4], [0.2, 0.8, 0.7, 0.1], "second"),
        ([0.3, 0.8, 0.7, 0.4], [0.2, 0.6, 0.7, 0.4], "neither"),
        ([0.3, 0.8, 0.7, 0.4], [0.3, 0.7, 0.8, 0.4], "both"),
        ([0.3, 0.6, 0.6, 0.4], [0.3, np.nextafter(0.6, 0), 0.6, 0.4], "first"),
        ([0.0, 0.6, 0.6, 0.4], [0.3, 0.6, 0.6, 0.4], "first"),
        ([0.3, 0.0, 0.6, 0.4], [0.3, 0.6, 0.6, 0.4], "second"),
    ],
)
def test_who_dominates_is_decided_at_every_cost(first, second, dominant):
    """Also where the curves differ between two neighbouring numbers only."""
    curve = murphy_difference([0, 1, 1, 0], first, second, resamples=2, points=5)
    assert curve.dominant == dominant


def test_sentences():
    y, models = three()

    def say(a, b, **options):
        curve = murphy_difference(y, models[a], models[b], names=(a, b), resamples=200, **options)
        return curve.sentence

    assert say("good", "good") == "In these data good and good are equally good at every cost."
    found = say("coin", "good", level=0.95)
    assert found.startswith(
        "In these data neither coin nor good is best at every cost, and the 95 % simultaneous "
    )
    assert "band shows that good is better at" in found
    assert found.endswith("; at other costs it contains 0.")
    few = murphy_difference([0, 1, 1, 0], [0.2, 0.8, 0.7, 0.1], [0.3, 0.6, 0.7, 0.4])
    assert few.sentence == (
        "In these data first is at least as good as second at every cost, "
        "but the 90 % simultaneous band of the difference contains 0 at every cost."
    )


def test_both_models_may_be_better_somewhere():
    y = np.repeat([0, 1, 0, 1], [80, 20, 20, 80])
    sharp_below, sharp_above = (
        np.repeat([0.2, 0.2, 0.5, 0.5], [80, 20, 20, 80]),
        np.repeat([0.5, 0.5, 0.8, 0.8], [80, 20, 20, 80]),
    )
    curve = murphy_difference(y, sharp_below, sharp_above, resamples=200)
    assert curve.dominant == "neither"
    first, second = (
        curve.theta[shown] for shown in (curve.simultaneous_upper < 0, curve.simultaneous_lower > 0)
    )
    assert 0.2 < first.min() < first.max() < 0.5 < second.min() < second.max() < 0.8
    assert curve.sentence == (
        "In these data neither first nor second is best at every cost, and the 90 % simultaneous band shows "
        f"that first is better at costs between {first.min():.3g} and {first.max():.3g} and that second is "
        f"better at costs between {second.min():.3g} and {second.max():.3g}; at other costs it contains 0."
    )


def test_ranges_of_costs_in_words():
    theta = np.array([0.0, 0.25, 0.5, 1.0])
    say = lambda *chosen: dominance._range(theta, np.array(chosen, dtype=bool))  # noqa: E731
    assert say(0, 0, 0, 0) == ""
    assert say(0, 1, 0, 0) == "cost 0.25"
    assert say(0, 1, 1, 0) == "costs between 0.25 and 0.5"
    assert say(1, 0, 1, 0) == "some costs between 0 and 0.5"


def test_bands_are_nested_around_the_difference():
    curve = murphy_difference(Y, P, Q, resamples=200)
    assert (curve.simultaneous_lower <= curve.lower).all()
    assert (curve.lower <= curve.difference).all()
    assert (curve.difference <= curve.upper).all()
    assert (curve.upper <= curve.simultaneous_upper).all()
    assert (curve.simultaneous_upper > curve.upper).mean() > 0.8
    has_width = curve.lower < curve.upper
    assert has_width[1:-1].all()
    assert not has_width[[0, -1]].any()  # costs of 0 and 1 cost nothing
    assert not curve.difference.flags.writeable


def test_the_band_has_the_width_of_the_standard_error():
    curve = murphy_difference(Y, P, Q, resamples=2000, points=20)
    at = int(np.abs(curve.theta - 0.5).argmin())
    values = sr.scores.elementary(Y, P, theta=curve.theta[at]) - sr.scores.elementary(
        Y, Q, theta=curve.theta[at]
    )
    half_width = norm.ppf(0.95) * values.std(ddof=1) / np.sqrt(len(Y))
    assert (curve.upper - curve.lower)[at] / 2 == pytest.approx(half_width, rel=0.05)


@pytest.mark.sweep
def test_the_simultaneous_band_covers_the_whole_curve():
    """120 samples of 150 cases; the true difference comes from 200,000."""
    big, hits = draw(200_000, seed=99, digits=1), 0
    truth = [sr.curves.murphy_curves(sr.corp(big["y"], big[name])).score for name in ("p", "q")]
    for seed in range(120):
        d = draw(150, seed=1000 + seed, digits=1)
        curve = murphy_difference(d["y"], d["p"], d["q"], resamples=200, points=20, seed=seed)
        true = truth[0].at(curve.theta) - truth[1].at(curve.theta)
        inside = (curve.simultaneous_lower <= true) & (true <= curve.simultaneous_upper)
        hits += bool(inside[1:-1].all())  # at both ends nothing varies
    assert 0.82 <= hits / 120 <= 0.98


@pytest.mark.parametrize("digits", [1, 2, 12])
def test_one_resample_is_the_curve_of_the_drawn_rows(digits):
    d = draw(120, 6, digits)
    panel = make_panel(d["y"], {"first": d["p"], "second": d["q"]}, cluster=d["cluster"])
    theta = np.linspace(0, 1, 21).round(2)
    weight = panel.units.draw(random_stream(7, 3))
    mean, square = murphy_bands.average_differences(murphy_bands.MurphyCells.of(panel, theta), weight)
    for position, cost in enumerate(theta):
        first, second = (sr.scores.elementary(panel.outcome, p, theta=cost) for p in panel.forecasts.values())
        expected = [(weight * (first - second) ** power).sum() / weight.sum() for power in (1, 2)]
        np.testing.assert_allclose((mean[position], square[position]), expected, rtol=0, atol=1e-14)


def test_the_seed_decides_to_the_last_bit():
    curves = [murphy_difference(Y, P, Q, resamples=50, seed=seed) for seed in (1, 1, 2)]
    assert same_bits(curves[0], curves[1])
    assert not bits_equal(curves[0].upper, curves[2].upper)
    assert bits_equal(curves[0].difference, curves[2].difference)
    assert (curves[0].seed, curves[0].resamples, curves[0].method) == (1, 50, "bootstrap of rows, sup-t")


def test_frequencies_are_drawn_like_repeated_rows():
    w, r = DATA["weight"], repeated(DATA["weight"])
    weighted = murphy_difference(Y, P, Q, sample_weight=w, weight_kind="frequency", resamples=100)
    plain = murphy_difference(r["y"], r["p"], r["q"], resamples=100)
    np.testing.assert_allclose(weighted.difference, plain.difference, rtol=0, atol=1e-15)
    np.testing.assert_allclose(weighted.simultaneous_upper, plain.simultaneous_upper, rtol=0, atol=1e-14)


def test_one_row_has_no_murphy_band():
    curve = murphy_difference([1], [0.3], [0.6], resamples=2)
    assert curve.dominant == "second"
    assert np.isnan(curve.lower).all()
    assert np.isnan(curve.simultaneous_upper).all()


# Heterogeneity


def test_cochran_agrees_with_statsmodels():
    rng = np.random.default_rng(8)
    value, error = rng.normal(0, 1, 9), rng.uniform(0.2, 1.5, 9)
    test, expected = cochran_q(value, error), combine_effects(value, error**2)
    assert test.statistic == pytest.approx(expected.q, rel=TOLERANCE)
    assert test.p_value == pytest.approx(chi2.sf(expected.q, 8), rel=TOLERANCE)
    assert test.note == f"I² = {100 * expected.i2:.1f} %."
    assert (test.degrees_of_freedom, test.n, test.name) == (8, 9, "Cochran's Q")
    same = cochran_q([0.5, 0.5], [0.1, 0.2])
    assert (same.statistic, same.p_value, same.note) == (0, 1, "I² = 0.0 %.")
    apart = cochran_q([0.5, 0.7], [1e-200, 1e-200])
    assert (apart.statistic, apart.p_value, apart.note) == (np.inf, 0, "I² = 100.0 %.")


def designs(p, group):
    """Designs with common and with own coefficients: (intercepts, intercepts and slopes)."""
    x = np.log(p / (1 - p))
    own = (group[:, None] == np.unique(group)).astype(float)
    one = np.ones((len(p), 1))
    return x, (one, own), (np.column_stack([one, x]), np.column_stack([own, own * x[:, None]]))


def glm(y, design, offset=None, weight=None, **options):
    model = sm.GLM(y, design, family=sm.families.Binomial(), offset=offset, freq_weights=weight)
    return model.fit(tol=1e-15, maxiter=200, **options)


GROUP = np.array(["west", "east", "north"])[np.arange(157) % 3]


@pytest.mark.parametrize("weight", [None, DATA["weight"]], ids=["rows", "repeated rows"])
def test_likelihood_ratios_agree_with_statsmodels(weight):
    tests = group_calibration_test(Y, P, GROUP, sample_weight=weight, weight_kind="frequency")
    x, intercepts, slopes = designs(P, GROUP)
    for test, (common, own), offset, df in zip(tests, (intercepts, slopes), (x, None), (2, 4), strict=True):
        ratio = 2 * (glm(Y, own, offset, weight).llf - glm(Y, common, offset, weight).llf)
        assert test.statistic == pytest.approx(ratio, abs=TOLERANCE)
        assert test.p_value == pytest.approx(chi2.sf(ratio, df), rel=1e-9)
        assert (test.degrees_of_freedom, test.method, test.note) == (df, "likelihood ratio", "")
    assert [test.name for test in tests] == [
        "Calibration intercept by group",
        "Calibration intercept and slope by group",
    ]


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("clustered", [True, False], ids=["clusters", "fractional weights"])
def test_wald_agrees_with_estimating_equations(clustered):
    """Coefficients of statsmodels' estimating equations, with bias-reduced covariance by its definition."""
    unit = DATA["cluster"] if clustered else np.arange(157)
    weight = None if clustered else DATA["weight"] / 3
    tests = group_calibration_test(
        Y, P, GROUP, **({"cluster": unit} if clustered else {"sample_weight": weight})
    )
    w = np.ones(157) if weight is None else weight
    x, (_, intercepts), (_, slopes) = designs(P, GROUP)
    for test, design, offset, per_group in zip(tests, (intercepts, slopes), (x, None), (1, 2), strict=True):
        family = sm.families.Binomial()
        fit = sm.GEE(Y, design, unit, family=family, offset=offset, weights=weight).fit(
            ctol=1e-13, maxiter=200
        )
        contrast = np.kron(np.eye(per_group), [[-1, 1, 0], [-1, 0, 1]])
        mean, size = fit.fittedvalues, 2 * per_group
        spread = mean * (1 - mean)
        covariance, freedom = dense_cr2(design, w * spread, (Y - mean) / spread, unit, contrast)
        gap, middle = contrast @ fit.params, contrast @ covariance @ contrast.T
        assert test.statistic == pytest.approx(gap @ np.linalg.inv(middle) @ gap, rel=1e-9)
        second = freedom - size + 1
        expected = f.sf(second / (freedom * size) * test.statistic, size, second)
        assert test.p_value == pytest.approx(expected, rel=1e-8)
        assert test.degrees_of_freedom == size
        how = f"Hotelling's T² as F with {size} and {second:.1f} degrees of freedom"
        assert test.method == f"Wald, bias-reduced covariance ({'clusters' if clustered else 'rows'}), {how}"


def test_different_groups_are_found():
    rng = np.random.default_rng(2)
    p = rng.uniform(0.1, 0.9, 2000)
    group = np.arange(2000) % 2
    odds = p / (1 - p)
    shifted = rng.uniform(size=2000) < np.where(group == 1, 3 * odds / (1 + 3 * odds), p)
    intercept, both = group_calibration_test(shifted, p, group)
    assert max(intercept.p_value, both.p_value) < 1e-8
    fair = rng.uniform(size=2000) < p
    assert min(test.p_value for test in group_calibration_test(fair, p, group)) > 0.01


def test_groups_that_cannot_be_estimated_leave():
    y = np.concatenate([Y, np.zeros(5), [0, 0, 1]])
    p = np.concatenate([P, np.full(5, 0.2), [0.2, 0.3, 0.4]])
    group = np.concatenate([GROUP, ["south"] * 5, ["apart"] * 3])
    without_one, without_two = group_calibration_test(y, p, group)
    plain = group_calibration_test(
        np.append(Y, [0, 0, 1]), np.append(P, [0.2, 0.3, 0.4]), np.append(GROUP, ["apart"] * 3)
    )
    assert without_one.note == "Group left out, where the intercept cannot be estimated: south."
    assert (
        without_two.note
        == "Groups left out, where the intercept and slope cannot be estimated: apart, south."
    )
    assert without_one.statistic == pytest.approx(plain[0].statistic, rel=1e-12)
    assert without_two.statistic == pytest.approx(group_calibration_test(Y, P, GROUP)[1].statistic, rel=1e-12)
    assert (without_one.n, without_two.n) == (160, 157)


def test_no_groups_no_test():
    for test in group_calibration_test(Y, P, ["all"] * 157):
        assert np.isnan([test.statistic, test.p_value]).all()
        assert test.note == "There is only one group."
    for test in group_calibration_test([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4], ["a", "a", "b", "b"]):
        assert np.isnan([test.statistic, test.p_value]).all()
        assert test.note.endswith("cannot be estimated: a, b. No two groups are left to compare.")


def test_certain_forecasts_leave_no_test():
    p = P.copy()
    p[[3, 8]] = 0.0, 1.0
    for test in group_calibration_test(Y, p, GROUP):
        assert np.isnan([test.statistic, test.p_value]).all()
        assert test.note == "2 forecasts are 0 or 1, so their log-odds are infinite."


def test_few_clusters_leave_no_test():
    few = np.arange(157) // 40
    intercept, both = group_calibration_test(Y, P, GROUP, cluster=few)
    assert intercept.p_value >= 0
    assert np.isnan(both.p_value)
    assert both.note == "4 clusters are too few to compare 3 groups."
    alone = np.where(GROUP == "west", 200, np.arange(157))
    intercept, _ = group_calibration_test(Y, P, GROUP, cluster=alone)
    assert intercept.note == "Group left out, where the intercept cannot be estimated: west."
    assert intercept.degrees_of_freedom == 1


def test_extreme_forecasts_are_fitted():
    """Newton's method from log-odds of -690 up, and with nearly separated outcomes."""
    y = np.array([0, 1, 0, 1, 0, 1, 1, 0] * 2)
    p = np.array([1e-300, 1e-300, 1e-12, 0.3, 0.5, 0.999999, 1e-200, 0.2] * 2)
    p[-1] = 1 - 1e-16
    tests = group_calibration_test(y, p, [0] * 8 + [1] * 8)
    assert np.isfinite([test.statistic for test in tests]).all()
    assert [test.note for test in tests] == ["", ""]


# Refusals


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: score_difference(Y, P, Q, errors="nw"),
            '`errors` must be one of "auto", "iid", "hac", "cluster"; got \'nw\'.',
        ),
        (
            lambda: score_difference(Y, P, Q, errors="hac"),
            '`errors="hac"` needs `time`, which orders the rows.',
        ),
        (lambda: score_difference(Y, P, Q, errors="cluster"), '`errors="cluster"` needs `cluster`.'),
        (lambda: score_difference(Y, P, Q, lags=2), '`lags` are for `errors="hac"`; the errors are "iid".'),
        (
            lambda: score_difference([0, 1], [0.1, 0.2], [0.2, 0.3], time=[1, 1], lags=1),
            "`lags` must be fewer than the times; got 1 for 1.",
        ),
        (
            lambda: score_difference(Y, P, Q, time=DATA["time"], lags=-1),
            "`lags` must be a whole number of at least 0; got -1.",
        ),
        (lambda: score_difference(Y, P, Q, level=1), "`level` must lie in (0, 1); got 1."),
        (lambda: score_difference(Y, P, Q, "net_benefit"), "`net_benefit` needs the option `threshold`."),
        (
            lambda: auc_interval(Y, P, scale="log"),
            '`scale` must be one of "score", "plain", "logit"; got \'log\'.',
        ),
        (lambda: auc_interval(Y, P, level=0), "`level` must lie in (0, 1); got 0."),
        (lambda: compare_models(Y, {"a": P}), "`forecasts` must name at least two models; got 1."),
        (
            lambda: compare_models(Y, {"a": P, "b": Q}, "brier"),
            "`scores` must be a list of at least one score; got 'brier'.",
        ),
        (
            lambda: compare_models(Y, {"a": P, "b": Q}, []),
            "`scores` must be a list of at least one score; got [].",
        ),
        (
            lambda: compare_models(Y, {"a": P, "b": Q}, [("roc_auc", {"lower": 0})]),
            "`roc_auc` takes no option `lower`.",
        ),
        (lambda: rank_models([]), "`differences` must hold at least one difference."),
        (lambda: rank_models([made_up("a", "b", 1, 1)], alpha=1.5), "`alpha` must lie in (0, 1); got 1.5."),
        (
            lambda: murphy_difference(Y, P, Q, points=1),
            "`points` must be a whole number of at least 2; got 1.",
        ),
        (
            lambda: murphy_difference(Y, P, Q, resamples=1),
            "`resamples` must be a whole number of at least 2; got 1.",
        ),
        (lambda: murphy_difference(Y, P, Q, seed=-1), "`seed` must be a whole number of at least 0; got -1."),
        (lambda: cochran_q([0.1], [0.1]), "`values` must hold at least two groups; got 1."),
        (lambda: group_calibration_test(Y, P, None), "`group` must have one label per case; got None."),
    ],
)
def test_options_are_checked(call, sentence):
    assert refused(sr.UsageError, call) == sentence


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: score_difference([0, 1], [0.1, 0.2], [0.2, 1.5]),
            "`second` must lie in [0, 1]; got 1.5 at row 1 (1 of 2 rows).",
        ),
        (
            lambda: delong_test([0, 1], [0.1, 0.2, 0.3], [0.2, 0.3]),
            "`y_true` (2) and `first` (3) must have the same length.",
        ),
        (
            lambda: murphy_difference([0, 2], [0.1, 0.2], [0.2, 0.3]),
            "`y_true` must be 0 or 1; got 2.0 at row 1 (1 of 2 rows).",
        ),
        (
            lambda: cochran_q([0.1, 0.2, 0.3], [0.1, 0.0, -1]),
            "`standard_errors` must be positive; got 0.0 at row 1 (2 of 3 rows: 1, 2).",
        ),
        (
            lambda: group_calibration_test([0, 1], [0.1, 0.2], ["a"]),
            "`group` must have one value per case; got shape (1,) for 2 cases.",
        ),
    ],
)
def test_data_are_checked(call, sentence):
    assert refused(sr.DataError, call) == sentence
