"""Many models, Murphy differences, heterogeneity, refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from cluster_tools import dense_cr2
from comparison_tools import DATA, TOLERANCE, P, Q, Y, as_tuple, draw, repeated, robust, same_bits
from scipy.stats import chi2, f, norm
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.multitest import multipletests

import scorereport as sr
from scorereport._utils.arrays import bits_equal
from scorereport.inference import dominance, murphy_bands, murphy_limits
from scorereport.inference.delong import auc_influence, auc_interval
from scorereport.inference.differences import compare_models, delong_test, score_difference
from scorereport.inference.dominance import murphy_difference
from scorereport.inference.estimates import adjust_by_holm, rank_models
from scorereport.inference.heterogeneity import cochran_q, group_calibration_test
from scorereport.inference.panel import make_panel
from scorereport.reliability.sampling import random_stream

NAN = float("nan")


def refused(error, call):
    with pytest.raises(error) as refusal:
        call()
    return str(refusal.value)


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
    """Only the longest name is shown to be worse, and only than the shortest."""
    found = [made_up("ccc", "a", 2, 0.05), made_up("a", "bb", -1, 0.06), made_up("bb", "ccc", -1, NAN)]
    assert [(r.rank, r.model, r.value, r.tied_with) for r in rank_models(found)] == [
        (1, "a", 1, ("bb",)),
        (1, "bb", 2, ("a", "ccc")),
        (2, "ccc", 3, ("bb",)),
    ]
    assert rank_models(found[::-1]) == rank_models(found)
    assert [r.rank for r in rank_models(found, alpha=0.01)] == [1, 1, 1]


def test_ranks_are_reversed_where_higher_is_better():
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
    for found, first, second in zip(murphy_limits._limits(panel, theta), *limits, strict=True):
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
def test_dominance_is_decided_at_every_cost(first, second, dominant):
    """Also where the curves differ between two neighbouring numbers only."""
    curve = murphy_difference([0, 1, 1, 0], first, second, resamples=2, points=5)
    assert curve.dominant == dominant


def test_sentences():
    y, models = three()

    def describe(a, b, **options):
        curve = murphy_difference(y, models[a], models[b], names=(a, b), resamples=200, **options)
        return curve.sentence

    assert describe("good", "good") == "In these data good and good are equally good at every cost."
    found = describe("coin", "good", level=0.95)
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
    describe = lambda *chosen: dominance._range(theta, np.array(chosen, dtype=bool))  # noqa: E731
    assert describe(0, 0, 0, 0) == ""
    assert describe(0, 1, 0, 0) == "cost 0.25"
    assert describe(0, 1, 1, 0) == "costs between 0.25 and 0.5"
    assert describe(1, 0, 1, 0) == "some costs between 0 and 0.5"


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


def test_groups_that_cannot_be_estimated_are_left_out():
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
            "`y_true` must be 0 or 1; got 2.0 at row 1 (1 of 2 rows). "
            "If 2 is the event, pass np.asarray(y_true) == 2.",
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
