"""Few clusters and few events: bias-reduced errors by their definition, and the simulations of a referee."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from cluster_tools import dense_cr2, draw_in_clusters
from scipy.special import ndtr, ndtri
from scipy.stats import norm, t
from statsmodels.stats.oneway import anova_generic

import scorereport as sr
from scorereport import DataError
from scorereport.evaluation.subgroups import compare_group_scores
from scorereport.inference import (
    auc_interval,
    calibration_line,
    cochran_q,
    component_intervals,
    delong_test,
)
from scorereport.inference.bootstrap_resamples import bootstrap
from scorereport.inference.delong import errors_at_common_auc, score_bounds, score_variance
from scorereport.inference.heterogeneity import compare_values, group_calibration_test
from scorereport.inference.mean_errors import describe_few_clusters
from scorereport.reliability.clusters import (
    ClusterSums,
    degrees_of_freedom,
    effective_number,
    sum_over_clusters,
)
from scorereport.reliability.fit import corp
from scorereport.reliability.sampling import SamplingUnits
from scorereport.results.model_records import GroupResult, ModelScores, SampleSummary, ScoreValue
from scorereport.scores import REGISTRY

RNG = np.random.default_rng(19)
SIZES = [3, 5, 2, 9, 4, 7]
CLUSTER = np.repeat(np.arange(6), SIZES)
N = len(CLUSTER)
WEIGHT = RNG.random(N) + 0.2
X = RNG.standard_normal(N)
RESIDUAL = RNG.standard_normal(N)
#: Columns of a fit; the first is 1 in every row.
DESIGNS = {"mean": np.ones((N, 1)), "line": np.stack([np.ones(N), X], axis=1)}


def sums_of(columns, cluster, weight=WEIGHT, residual=RESIDUAL):
    information, score = sum_over_clusters(columns.T, weight, weight * residual, cluster)
    case = float((weight**2).sum() / weight.sum())
    return ClusterSums(information=information, score=score, common=np.eye(columns.shape[1])[0], case=case)


# The kernel


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("cluster", [CLUSTER, np.arange(N)], ids=["clusters", "rows"])
def test_sums_give_the_bias_reduced_covariance_of_the_definition(design, cluster):
    columns = DESIGNS[design]
    sums = sums_of(columns, cluster)
    for contrasts in [*np.eye(columns.shape[1]), np.eye(columns.shape[1])]:
        covariance, df = dense_cr2(columns, WEIGHT, RESIDUAL, cluster, contrasts)
        np.testing.assert_allclose(sums.covariance, covariance, rtol=1e-10, atol=1e-15)
        assert sums.degrees_of_freedom(contrasts) == pytest.approx(df, rel=1e-10)


def test_rows_without_clusters_are_clusters_of_one_row():
    rows, clusters = sums_of(DESIGNS["line"], None), sums_of(DESIGNS["line"], np.arange(N))
    np.testing.assert_allclose(rows.covariance, clusters.covariance, rtol=1e-13)
    assert rows.degrees_of_freedom(np.eye(2)) == pytest.approx(clusters.degrees_of_freedom(np.eye(2)))


def test_many_small_clusters_need_no_eigenvalues():
    """The series and the eigenvalues agree; 20,000 rows have leverages of about 1e-4 on either side of it."""
    rng = np.random.default_rng(3)
    n = 20_000
    columns, e = np.stack([np.ones(n), rng.standard_normal(n)], axis=1), rng.standard_normal(n)
    inverse = np.linalg.inv(columns.T @ columns)
    leverage = np.einsum("ni,ij,nj->n", columns, inverse, columns)
    assert (leverage < 1e-4).any()
    assert (leverage > 1e-4).any()
    expected = inverse @ (columns.T * (e**2 / (1 - leverage))) @ columns @ inverse
    sums = sums_of(columns, None, np.ones(n), e)
    np.testing.assert_allclose(sums.covariance, expected, rtol=1e-11)
    assert sums.degrees_of_freedom(np.array([0.0, 1])) == pytest.approx(
        n / (1 + 2), rel=0.2
    )  # kurtosis 3 of x


def test_groups_that_share_no_cluster_are_independent_parts():
    """Hotelling's degrees of freedom part by part, and of one fit with columns for each group."""
    group = CLUSTER % 2
    parts = []
    for label in (0, 1):
        chosen = group == label
        cluster = np.unique(CLUSTER[chosen], return_inverse=True)[1]
        part = sums_of(DESIGNS["line"][chosen], cluster, WEIGHT[chosen], RESIDUAL[chosen])
        parts.append(replace(part, case=float((WEIGHT**2).sum() / WEIGHT.sum())))
    columns = np.concatenate([DESIGNS["line"] * (group == label)[:, None] for label in (0, 1)], axis=1)
    contrast = np.concatenate([-np.eye(2), np.eye(2)], axis=1)
    covariance, df = dense_cr2(columns, WEIGHT, RESIDUAL, CLUSTER, contrast)
    assert degrees_of_freedom(parts, np.split(contrast, 2, axis=1)) == pytest.approx(df, rel=1e-9)
    np.testing.assert_allclose(parts[0].covariance, covariance[:2, :2], rtol=1e-9)


def test_a_cluster_that_determines_a_coefficient_alone_leaves_no_degrees_of_freedom():
    columns = np.stack([np.ones(8), [0, 0, 0, 0, 0, 0, 1, 2]], axis=1)
    sums = sums_of(columns, np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.ones(8), np.arange(8.0))
    assert np.isfinite(sums.covariance).all()
    assert np.isnan(sums.degrees_of_freedom(np.eye(2)))


def test_equal_clusters_converge_to_the_sandwich():
    """The mean of equal clusters has it exactly; a slope up to the share of a cluster."""
    rng = np.random.default_rng(2)
    n, cluster = 4000, np.arange(4000) % 1000
    columns, e = np.stack([np.ones(n), rng.standard_normal(n)], axis=1), rng.standard_normal(n)
    of_mean, of_line = (sums_of(c, cluster, np.ones(n), e) for c in (columns[:, :1], columns))
    np.testing.assert_allclose(of_mean.covariance, of_mean.sandwich, rtol=1e-12)
    assert of_mean.degrees_of_freedom(np.ones(1)) == pytest.approx(999, rel=1e-9)
    np.testing.assert_allclose(np.diag(of_line.covariance), np.diag(of_line.sandwich), rtol=0.01)
    assert of_line.degrees_of_freedom(np.array([0.0, 1])) > 500


# The note on few clusters


def test_clusters_count_as_few_if_one_has_most_of_the_rows():
    assert effective_number(np.full(40, 7.0)) == pytest.approx(40)
    assert describe_few_clusters(40, 40.0) == ""
    assert describe_few_clusters(12, 11.9) == (
        "Only 12 clusters: with fewer than 30 intervals and tests rest on few independent clusters."
    )
    weight = np.array([975.0] + [25.0] * 39)
    assert describe_few_clusters(40, effective_number(weight)) == (
        "40 clusters of unequal size count as 3.9 equal ones: with fewer than 30 intervals and tests rest on "
        "few independent clusters."
    )


def test_every_number_of_unequal_clusters_carries_the_note():
    y, p, cluster = draw_in_clusters(np.random.default_rng(1), [600] + [15] * 40)
    note = "41 clusters of unequal size count as 3.9 equal ones: with fewer than 30 intervals and tests rest "
    line = calibration_line(y, p, cluster=cluster)
    boot = bootstrap(y, {"p": p}, scores=["brier"], resamples=20, cluster=cluster)
    group = cluster % 2
    found = [
        line.slope,
        line.intercept_at_slope_one,
        auc_interval(y, p, cluster=cluster),
        boot.interval("p", "brier"),
        delong_test(y, p, 1 - p**2, cluster=cluster),
        sr.inference.spiegelhalter_test(y, p, cluster=cluster),
        *sr.inference.line_tests(y, p, cluster=cluster),
        *group_calibration_test(y, p, group, cluster=cluster),
    ]
    for number in found:
        assert number.note == f"{note}on few independent clusters.", number


# Intervals of the AUC


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("cluster", [False, True])
def test_score_bounds_are_where_their_own_error_reaches_the_value(level, cluster):
    y, p, clusters = draw_in_clusters(np.random.default_rng(6), [8] * 12)
    auc = auc_interval(y, p, level=level, cluster=clusters if cluster else None)
    cases = y.sum(), len(y) - y.sum()
    ratio = auc.standard_error**2 / score_variance(auc.value, cases)
    wrong = 4 * auc.value * (1 - auc.value) * min(cases)
    scale = ratio if ratio > 1 else 1 - (1 - ratio) * wrong / (wrong + 5)
    quantile = t.ppf((1 + level) / 2, auc.degrees_of_freedom)
    for bound in (auc.lower, auc.upper):
        reach = quantile * np.sqrt(scale * score_variance(bound, cases))
        assert abs(auc.value - bound) == pytest.approx(reach, rel=1e-9)


def test_a_smaller_error_counts_the_more_cases_are_ordered_wrongly():
    """With 5 wrongly ordered cases, half of the shortfall of DeLong's variance is kept."""
    value, cases = 0.5, (5.0, 100.0)  # 4·0.25·5 = 5
    newcombe = score_variance(value, cases)
    lower, upper = score_bounds(value, cases, 0.95, np.sqrt(newcombe / 2))
    assert value - lower == pytest.approx(norm.ppf(0.975) * np.sqrt(0.75 * score_variance(lower, cases)))
    assert upper == pytest.approx(1 - lower)
    larger = score_bounds(value, cases, 0.95, np.sqrt(2 * newcombe))
    assert value - larger[0] == pytest.approx(norm.ppf(0.975) * np.sqrt(2 * score_variance(larger[0], cases)))


@pytest.mark.parametrize("value", [0.0, 1e-9, 0.3, 0.5, 0.97, 1 - 1e-12, 1.0])
@pytest.mark.parametrize("error", [None, 1e-12, 0.05, 0.4])
def test_score_bounds_hold_the_value_and_grow_with_the_level(value, error):
    levels = [0.1, 0.5, 0.9, 0.99, 0.999999]
    bounds = np.array([score_bounds(value, (7.0, 40.0), level, error, 6.5) for level in levels])
    assert ((bounds >= 0) & (bounds <= 1)).all()
    assert (bounds[:, 0] <= value).all()
    assert (value <= bounds[:, 1]).all()
    assert (np.diff(bounds[:, 0]) <= 1e-12).all()
    assert (np.diff(bounds[:, 1]) >= -1e-12).all()


def test_sampling_weights_leave_fewer_cases():
    """Weights of 1 and 100 at random: Kish's numbers make the interval wider than that of rows."""
    rng = np.random.default_rng(4)
    y = np.repeat([1, 0], 60)
    p, w = ndtr(rng.standard_normal(120) + y), rng.choice([0.5, 50.5], 120)
    weighted, rows = auc_interval(y, p, sample_weight=w), auc_interval(y, p)
    assert weighted.upper - weighted.lower > 1.1 * (rows.upper - rows.lower)
    assert weighted.degrees_of_freedom < rows.degrees_of_freedom
    scaled = auc_interval(y, p, sample_weight=w / 3.3)
    assert (scaled.lower, scaled.upper) == pytest.approx((weighted.lower, weighted.upper), rel=1e-9)
    perfect = auc_interval(y, np.repeat([0.9, 0.1], 60), sample_weight=w)
    kish = [w[y == k].sum() ** 2 / (w[y == k] ** 2).sum() for k in (1, 0)]
    assert perfect.lower == pytest.approx(score_bounds(1.0, tuple(kish), 0.95)[0], rel=1e-12)


def test_counts_are_repeated_cases():
    rng = np.random.default_rng(8)
    y, p, k = rng.integers(0, 2, 50), rng.random(50).round(1), rng.integers(1, 4, 50)
    counted = auc_interval(y, p, sample_weight=k, weight_kind="frequency")
    repeated = auc_interval(y.repeat(k), p.repeat(k))
    for name in ("value", "standard_error", "lower", "upper", "degrees_of_freedom"):
        assert getattr(counted, name) == pytest.approx(getattr(repeated, name), rel=1e-11)


def test_few_events_are_noted_at_a_paired_difference():
    y = np.repeat([1, 0], [8, 300])
    first, second = ndtr(np.random.default_rng(5).standard_normal((2, 308)) + y)
    assert delong_test(y, first, second).note == (
        "Only 8 events: with fewer than 20 the test detects large differences only."
    )
    assert delong_test(1 - y, first, second).note.startswith("Only 8 non-events: ")


# Groups


def test_q_with_degrees_of_freedom_is_welchs_test():
    value, error, df = np.array([0.7, 0.8, 0.75, 0.72]), np.array([0.02, 0.03, 0.05, 0.01]), [9, 4, 12, 7]
    test = cochran_q(value, error, degrees_of_freedom=df)
    nobs = np.array(df) + 1
    expected = anova_generic(value, error**2 * nobs, nobs, use_var="unequal", welch_correction=True)
    assert test.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert test.statistic == pytest.approx(cochran_q(value, error).statistic, rel=1e-13)
    assert test.p_value > cochran_q(value, error).p_value
    assert test.method == f"Welch's F, 3 and {expected.df_denom:.1f} degrees of freedom"
    assert test.reference.endswith("doi:10.1093/biomet/38.3-4.330")
    with pytest.raises(DataError, match=r"^`degrees_of_freedom` must be positive; got 0\.0 at row 1"):
        cochran_q(value, error, degrees_of_freedom=[9, 0, 3, 4])


def test_errors_of_aucs_are_those_at_the_common_auc():
    cases = [(10.0, 100.0), (12.0, 90.0), (9.0, 80.0)]
    values, errors = np.array([0.8, 0.9, 1.0]), np.array([0.09, 0.02, 0.0])
    found = errors_at_common_auc(values, errors, cases)
    common = np.average(values, weights=1 / found**2)
    scales = [found[k] ** 2 / score_variance(common, cases[k]) for k in range(3)]
    ratio = errors[1] ** 2 / score_variance(0.9, cases[1])
    wrong = 4 * 0.9 * 0.1 * 12
    expected = 1 - (1 - ratio) * wrong / (wrong + 5)
    assert scales == pytest.approx([max(0.09**2 / score_variance(0.8, cases[0]), 1), expected, 1], rel=1e-6)


def groups_of(y, p, group, cluster=None):
    found = []
    for label in np.unique(group):
        chosen = group == label
        auc = auc_interval(y[chosen], p[chosen], cluster=None if cluster is None else cluster[chosen])
        score = ScoreValue(name="roc_auc", value=auc.value, skill=2 * auc.value - 1, interval=auc)
        sample = SampleSummary(
            rows=int(chosen.sum()), total=float(chosen.sum()), events=float(y[chosen].sum())
        )
        models = (ModelScores(model="m", scores=(score,), decompositions=()),)
        found.append(GroupResult(column="c", label=str(label), sample=sample, models=models))
    return found


def test_groups_whose_events_are_all_ordered_rightly_stay_in_the_test():
    rng = np.random.default_rng(3)
    y, group = np.tile(np.repeat([1.0, 0.0], [6, 94]), 5), np.repeat(np.arange(5), 100)
    p = ndtr(rng.standard_normal(500) + 1.5 * y)
    p[group == 2] = 0.2 + 0.6 * y[group == 2]
    (test,) = compare_group_scores(groups_of(y, p, group), 0, [], clustered=False)
    assert test.degrees_of_freedom == 4
    assert "left out" not in test.note
    assert 0 < test.p_value <= 1


# Simulations of the referee: shares of few samples, with wide margins


def share_of(trial, runs, seed=0):
    return np.mean([trial(np.random.default_rng([seed, run])) for run in range(runs)])


def test_few_events_and_an_auc_near_one_are_covered():
    """Plain DeLong intervals cover 74 % instead of 95 %."""
    y = np.repeat([1, 0], [10, 300])

    def trial(rng):
        auc = auc_interval(y, ndtr(rng.standard_normal(310) + np.sqrt(2) * ndtri(0.97) * y))
        return auc.lower <= 0.97 <= auc.upper

    assert share_of(trial, 300) >= 0.92


@pytest.mark.sweep
@pytest.mark.parametrize(("sizes", "least"), [([25] * 6, 0.89), ([475] + [25] * 19, 0.87)])
def test_slopes_and_aucs_of_few_or_unequal_clusters_are_covered(sizes, least):
    """Normal intervals cover about 80 %."""

    def trial(rng):
        y, p, cluster = draw_in_clusters(rng, sizes)
        slope = calibration_line(y, p, cluster=cluster).slope
        return slope.lower <= 1 <= slope.upper

    assert share_of(trial, 250) >= least


@pytest.mark.sweep
def test_groups_of_clusters_seldom_differ_by_chance():
    """The chi-squared test rejects 25 % at 5 %."""

    def trial(rng):
        y, p, cluster = draw_in_clusters(rng, [25] * 40)
        return group_calibration_test(y, p, cluster % 4, cluster=cluster)[1].p_value <= 0.05

    assert share_of(trial, 120) <= 0.13


def test_groups_with_few_events_seldom_differ_by_chance():
    """Cochran's Q with errors of their own rejects 29 % at 5 %."""

    def trial(rng):
        p = ndtr(0.5 * rng.standard_normal(3000) - 2)
        y, group = (rng.random(3000) < p).astype(float), np.arange(3000) % 10
        (test,) = compare_group_scores(groups_of(y, p, group), 0, [], clustered=False)
        return test.p_value <= 0.05

    assert share_of(trial, 100) <= 0.13


@pytest.mark.sweep
def test_scores_over_few_clusters_stay_in_their_range():
    """One cluster of three is always wrong: on the log scale the upper end would be 6."""
    rng = np.random.default_rng(7)
    p, cluster = rng.random(99), np.arange(99) % 3
    y = (rng.random(99) < p).astype(int)
    frame = pd.DataFrame({"y": y, "m": np.where(cluster == 0, 0.9 - 0.8 * y, p), "c": cluster})
    found = sr.evaluate(frame, outcome="y", forecasts=["m"], cluster="c", resamples=200)
    for score in found.models[0].scores.scores:
        bounds = REGISTRY[score.name]
        assert bounds.lower <= score.interval.lower <= score.value <= score.interval.upper <= bounds.upper
        assert score.skill_interval.upper <= 1
    assert found.models[0].scores.score("brier").interval.upper == 1


def test_the_upper_end_of_a_miscalibration_over_clusters_is_taken_on_the_root_scale():
    rng = np.random.default_rng(5)
    cluster = np.repeat(np.arange(20), 25)
    p = rng.uniform(0.3, 0.9, 500)
    y = (rng.random(500) < 0.6 * p).astype(int)
    bound, _ = component_intervals(corp(y, p, cluster=cluster), draws=20, resamples=99)
    units = SamplingUnits(rows=500, cluster=cluster)
    reach = units.critical_value(0.95) * bound.standard_error
    centre = bound.value - min(bound.overfit_closed, bound.overfit_resampled)
    assert centre > reach / 4
    root = (np.sqrt(centre) + reach / (2 * np.sqrt(centre))) ** 2
    assert bound.upper == pytest.approx(root)


@pytest.mark.sweep
def test_groups_of_weighted_rows_count_their_rows():
    """Five events of weight 100 and 300 others of weight 1 are five events, not 190."""
    rng = np.random.default_rng(3)
    y = np.tile(np.append(np.ones(5), np.zeros(300)), 4).astype(int)
    frame = pd.DataFrame({"y": y, "m": rng.uniform(0.2, 0.9, len(y)), "g": np.repeat(list("abcd"), 305)})
    frame["w"] = np.where(y == 1, 100.0, 1.0)
    found = sr.evaluate(frame, outcome="y", forecasts=["m"], groups="g", weight="w", resamples=99)
    assert [group.sample.independent.events for group in found.groups] == pytest.approx([5, 5, 5, 5])
    tests = {item.test.name: item.test for item in found.heterogeneity}
    assert "Some group has fewer than 20 events or non-events" in tests["Cochran's Q (brier)"].note
    scores = [group.models[0].score("brier").interval for group in found.groups]
    expected = compare_values(
        np.array([score.value for score in scores]),
        np.array([score.standard_error for score in scores]),
        np.full(4, 4.0),
    )
    assert tests["Cochran's Q (brier)"].p_value == pytest.approx(expected.p_value)
