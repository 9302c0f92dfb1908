"""The bootstrap: every statistic on every resample, its influence, its intervals, and rates."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit
from scipy.stats import bootstrap as scipy_bootstrap
from scipy.stats import norm, t
from sklearn.metrics import roc_auc_score
from statsmodels.stats.proportion import proportion_confint

import scorereport as sr
from scorereport._utils.choices import INTERVAL_METHODS, SEED
from scorereport.inference import bootstrap
from scorereport.inference.bootstrap_resamples import bootstrap_panel
from scorereport.inference.bootstrap_results import _bounds
from scorereport.inference.losses import resolve_measure
from scorereport.inference.panel import make_panel
from scorereport.inference.rates import rate_interval
from scorereport.reliability.sampling import SamplingUnits, random_stream

SCORES = (
    ("brier", {}),
    ("log_loss", {}),
    ("misclassification", {}),
    ("spherical", {}),
    ("net_benefit", {"threshold": 0.2}),
    ("net_benefit", {"threshold": 0.4}),
    ("bounded_brier", {"lower": 0.1, "upper": 0.4}),
    ("bounded_log_loss", {"lower": 0.1, "upper": 0.4}),
    ("bounded_net_benefit", {"lower": 0.1, "upper": 0.4}),
)
LINE = ("slope", "intercept", "intercept_at_slope_one")
N = 120


def label(name, options):
    listed = ", ".join(f"{key}={value!r}" for key, value in options.items())
    return f"{name}({listed})" if listed else name


def make(seed=1, n=N):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.02, 0.98, n)
    y = (rng.random(n) < p**1.3).astype(float)
    return y, {"a": p, "b": np.clip((p + rng.normal(0, 0.15, n)).round(1), 0.05, 0.95)}


#: How rows may be drawn: alone, in clusters, repeated or weighted.
DRAWN = {
    "rows": lambda rng: {},  # noqa: ARG005
    "clusters": lambda rng: {"cluster": rng.integers(0, 40, N)},
    "whole weights": lambda rng: {"sample_weight": rng.integers(0, 4, N)},
    "large whole weights": lambda rng: {"sample_weight": rng.integers(1, 40, N)},
    "fractional weights": lambda rng: {"sample_weight": rng.random(N) + 0.1},
    "weighted clusters": lambda rng: {
        "sample_weight": rng.random(N) + 0.1,
        "cluster": rng.integers(0, 40, N),
    },
}


def draw(kind, resamples=6, **options):
    y, forecasts = make()
    given = DRAWN[kind](np.random.default_rng(2))
    return bootstrap(y, forecasts, scores=SCORES, resamples=resamples, seed=4, **given, **options)


def fit_glm(x, y, w, *, with_slope):
    design = sm.add_constant(x) if with_slope else np.ones((len(x), 1))
    offset = None if with_slope else x
    model = sm.GLM(y, design, family=sm.families.Binomial(), offset=offset, freq_weights=w)
    return model.fit(tol=1e-14, maxiter=100).params


def recompute(y, p, w):
    """Every statistic of one model from the public functions, scikit-learn and statsmodels."""
    kept = w > 0
    y, p, w = y[kept], p[kept], w[kept]
    if (w == np.floor(w)).all():  # written out, row by row
        times = w.astype(int)
        y, p, w = np.repeat(y, times), np.repeat(p, times), None
    found = {"prevalence": np.average(y, weights=w)}
    for name, options in SCORES:
        key, function = label(name, options), getattr(sr.scores, name)
        found[key] = np.average(function(y, p, **options), weights=w)
        found[f"{key} skill"] = sr.skill(name, y, p, sample_weight=w, **options)
        constant = np.full(len(y), found["prevalence"])
        found[f"{key} uncertainty"] = np.average(function(y, constant, **options), weights=w)
    found["roc_auc"] = roc_auc_score(y, p, sample_weight=w)
    found["intercept"], found["slope"] = fit_glm(logit(p), y, w, with_slope=True)
    (found["intercept_at_slope_one"],) = fit_glm(logit(p), y, w, with_slope=False)
    return found


# ---- statistics on resamples ----


@pytest.mark.sweep(after=2)
@pytest.mark.parametrize("kind", DRAWN)
def test_replicates_are_the_statistics_of_the_drawn_rows(kind):
    result = draw(kind, resamples=4)
    panel = result.panel
    weights = [panel.units.row_weight, *(panel.units.draw(random_stream(4, number)) for number in range(4))]
    expected = {
        model: [recompute(panel.outcome, p, w) for w in weights] for model, p in panel.forecasts.items()
    }
    assert len(result.statistics) == 1 + len(SCORES) + 2 * (2 * len(SCORES) + 4)
    for s in result.statistics:
        found = expected[s.model or "a"]
        assert s.value == pytest.approx(found[0][s.measure], rel=1e-9, abs=1e-12), s.measure
        slow = [values[s.measure] for values in found[1:]]
        np.testing.assert_allclose(s.replicates, slow, rtol=1e-9, atol=1e-11, err_msg=s.measure)


@pytest.mark.parametrize("kind", DRAWN)
def test_resamples_are_as_large_as_the_sample(kind):
    units = draw(kind, resamples=2).panel.units
    drawn = [units.draw(random_stream(1, number)) for number in range(200)]
    if units.cluster is None and units.are_repeated_rows:
        assert {w.sum() for w in drawn} == {units.total}
    if units.cluster is None and not units.are_repeated_rows:
        times = np.array(drawn) / units.row_weight
        np.testing.assert_allclose(times, np.round(times), atol=1e-12)
        assert {round(row.sum()) for row in times} == {units.rows}
    if units.cluster is not None:
        times = np.array(drawn) / units.row_weight
        for row in times[:20]:
            by_cluster = [np.unique(row[units.cluster == k].round(9)) for k in range(int(units.size))]
            assert all(len(values) == 1 for values in by_cluster)  # clusters are drawn whole
            assert sum(values[0] for values in by_cluster) == pytest.approx(units.size)
    # each row is drawn in proportion to its weight: a mean of 200 has the error sd/√200
    error = np.std(drawn, axis=0) / np.sqrt(200)
    assert (np.abs(np.mean(drawn, axis=0) - units.row_weight) < 5 * error).all()


def test_a_few_and_many_repeats_have_the_same_distribution():
    """Counts of a row of weight w among W draws have variance w(1 - w/W); 2000 draws give it to 1 in 30."""
    for weight in ([1, 2, 3], [30, 60, 90]):
        units = SamplingUnits(rows=3, weight=np.array(weight, float), weight_kind="frequency")
        drawn = np.array([units.draw(random_stream(3, number)) for number in range(2000)])
        expected = units.row_weight * (1 - units.row_weight / units.total)
        # the variance of a sample variance is about 2σ⁴/R: five errors are 16 %
        np.testing.assert_allclose(drawn.var(axis=0), expected, rtol=0.16)


@pytest.mark.sweep(after=2)
@pytest.mark.parametrize("kind", ["rows", "fractional weights", "whole weights", "weighted clusters"])
def test_influence_is_the_derivative_by_the_weight_of_a_row(kind):
    """A statistic T moves by influence/W per unit of weight; T is smooth except misclassification's UNC.

    With h = 1e-4 of a weight central differences are off by h² and by rounding, 1e-14/h.
    """
    result = draw(kind, resamples=2)
    panel, w = result.panel, result.panel.units.row_weight
    total, h = w.sum(), 1e-4
    rows = [0, 17, 55, len(w) - 1]
    for model, p in panel.forecasts.items():
        moved = []
        for row in rows:
            step = np.zeros(len(w))
            step[row] = h
            above, below = (recompute(panel.outcome, p, w + sign * step) for sign in (1, -1))
            moved.append({key: (above[key] - below[key]) / (2 * h) * total for key in above})
        for s in result.statistics:
            if s.model in {"", model}:
                influence = s.influence()
                influence = influence - (w * influence).sum() / total
                slow = [values[s.measure] for values in moved]
                scale = np.abs(influence).max()
                np.testing.assert_allclose(
                    influence[rows], slow, atol=1e-5 * scale, rtol=1e-5, err_msg=f"{model} {s.measure}"
                )


# ---- intervals ----


def bca_by_hand(value, replicates, influence, level):
    """Efron's formula for equal weights, with half of the ties, up to rounding, below."""
    excess = np.round(replicates - value, 12)
    below = np.mean([np.mean(excess < 0), np.mean(excess <= 0)])
    bias = norm.ppf(np.clip(below, 0.5 / len(replicates), 1 - 0.5 / len(replicates)))
    deviation = influence - influence.mean()
    a = (deviation**3).sum() / (6 * (deviation**2).sum() ** 1.5)
    bounds = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + norm.ppf(tail)
        bounds.append(np.quantile(replicates, norm.cdf(bias + z / (1 - a * z))))
    return bounds


@pytest.fixture(scope="module")
def result():
    return draw("rows", resamples=200)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_bounds_are_those_of_the_formulas(result, level):
    for s in result.statistics:
        if s.measure.endswith("uncertainty"):
            continue
        estimate = result.interval(s.model, s.measure, level=level, allow_for_rare=False)
        expected = bca_by_hand(s.value, s.replicates, s.influence(), level)
        assert [estimate.lower, estimate.upper] == pytest.approx(expected, rel=1e-9, abs=1e-13), s.measure
        assert estimate.standard_error == pytest.approx(s.replicates.std(ddof=1), rel=1e-12)
        plain = result.interval(s.model, s.measure, level=level, method="percentile", allow_for_rare=False)
        quantiles = np.quantile(s.replicates, [(1 - level) / 2, (1 + level) / 2])
        assert [plain.lower, plain.upper] == pytest.approx(quantiles.tolist(), rel=1e-12)
        assert (estimate.value, estimate.level, estimate.measure) == (s.value, level, s.measure)
        assert estimate.method == "BCa bootstrap, 200 resamples of rows, seed 4"
        assert plain.method == "percentile bootstrap, 200 resamples of rows, seed 4"


def test_bounds_agree_with_scipy_on_the_same_replicates(result):
    """scipy uses our replicates and adds none; its jackknife of a mean is the influence."""
    y, p = result.panel.outcome, result.panel.forecasts["a"]
    ours = next(s for s in result.statistics if (s.model, s.measure) == ("a", "brier"))
    sample = sr.scores.brier(y, p)
    for method, name in (("BCa", "bca"), ("percentile", "percentile")):
        first = scipy_bootstrap((sample,), np.mean, n_resamples=2, method="percentile", rng=1)
        first.bootstrap_distribution = ours.replicates
        theirs = scipy_bootstrap(
            (sample,), np.mean, n_resamples=0, method=method, bootstrap_result=first, confidence_level=0.9
        ).confidence_interval
        estimate = result.interval("a", "brier", level=0.9, method=name, allow_for_rare=False)
        assert (estimate.lower, estimate.upper) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


@pytest.mark.parametrize("method", INTERVAL_METHODS)
def test_bounds_agree_with_scipy_by_resamples_of_its_own(method):
    """The 5 % quantile of 2000 draws has the error √(.05·.95/2000)/φ(z) = .047 standard errors; two have √2.

    Five of them are .34 standard errors; BCa adds the error of its bias, as much again.
    """
    y, forecasts = make(seed=3)
    panel = make_panel(y, {"a": forecasts["a"]})
    measure = resolve_measure("log_loss", {})
    ours = bootstrap_panel(panel, [measure], resamples=2000, seed=SEED, whole=False).interval(
        "a", "log_loss", level=0.9, method=method, allow_for_rare=False
    )
    theirs = scipy_bootstrap(
        (sr.scores.log_loss(y, forecasts["a"]),),
        np.mean,
        n_resamples=2000,
        confidence_level=0.9,
        method={"bca": "BCa"}.get(method, method),
        rng=5,
    )
    interval = theirs.confidence_interval
    tolerance = (0.34 if method == "percentile" else 0.68) * theirs.standard_error
    assert (ours.lower, ours.upper) == pytest.approx((interval.low, interval.high), abs=tolerance)
    assert ours.standard_error == pytest.approx(theirs.standard_error, rel=0.12)  # five of √(1/2000)


def test_only_requested_statistics_are_drawn():
    y, forecasts = make()
    panel = make_panel(y, forecasts)
    part = bootstrap_panel(panel, [resolve_measure("brier", {})], resamples=3, seed=1, whole=False)
    assert [s.measure for s in part.statistics if s.model == "a"] == ["brier", "brier skill"]
    whole = bootstrap(y, forecasts, scores=["brier"], resamples=3, seed=1)
    np.testing.assert_array_equal(part.statistics[2].replicates, whole.statistics[2].replicates)


def test_a_skewed_statistic_has_a_skewed_interval():
    """Eighty cases scored 0 and a few scored 1: bounds of BCa lie above those of percentiles."""
    y = np.repeat([0.0, 1.0], [80, 5])
    result = bootstrap(y, {"never": np.zeros(85)}, scores=["brier"], resamples=2000)
    bca, plain = (
        result.interval("never", "brier", method=method, allow_for_rare=False) for method in INTERVAL_METHODS
    )
    assert bca.lower >= plain.lower
    assert bca.upper > plain.upper


def test_replicates_on_one_side_still_have_bounds():
    """If no replicate lies below the value, half a replicate is counted there."""
    replicates = np.linspace(1.0, 2.0, 100)
    lower, upper = _bounds(0.5, replicates, 0.9, "bca", 0.0)
    bias = norm.ppf(0.005)
    tails = norm.cdf(2 * bias + norm.ppf([0.05, 0.95]))
    assert (lower, upper) == pytest.approx(np.quantile(replicates, tails).tolist(), rel=1e-12)
    above = _bounds(2.5, replicates, 0.9, "bca", 0.0)
    assert above == pytest.approx((3 - upper, 3 - lower), rel=1e-9)


@pytest.mark.parametrize("kind", DRAWN)
def test_acceleration_is_a_sixth_of_the_skewness_of_the_mean(kind):
    units = draw(kind, resamples=2).panel.units
    values = np.random.default_rng(7).exponential(size=units.rows)
    deviation = values - np.average(values, weights=units.row_weight)
    if units.cluster is not None:
        sums = np.array(
            [(deviation * units.row_weight)[units.cluster == k].sum() for k in range(int(units.size))]
        )
    elif units.are_repeated_rows:
        sums = np.repeat(deviation, units.row_weight.astype(int))
    else:
        sums = deviation * units.row_weight
    expected = (sums**3).sum() / (6 * (sums**2).sum() ** 1.5)
    assert units.acceleration(values) == pytest.approx(expected, rel=1e-10)
    g = len(sums)
    factor = np.full(g, g / (g - 1))
    if units.cluster is not None:
        factor = 1 / (1 - np.bincount(units.cluster, weights=units.row_weight) / units.total)
    error = np.sqrt((sums**2 * factor).sum()) / units.total
    assert units.standard_error(values) == pytest.approx(error, rel=1e-10)
    assert units.acceleration(np.ones(units.rows)) == 0.0


# ---- pairs ----


def test_differences_are_paired_by_resample(result):
    for measure in ("brier", "log_loss skill", "roc_auc", "slope"):
        a, b = (next(s for s in result.statistics if (s.model, s.measure) == (m, measure)) for m in "ab")
        paired = result.difference("a", "b", measure, level=0.9)
        replicates = a.replicates - b.replicates
        expected = bca_by_hand(a.value - b.value, replicates, a.influence() - b.influence(), 0.9)
        assert paired.value == a.value - b.value
        assert [paired.lower, paired.upper] == pytest.approx(expected, rel=1e-9, abs=1e-13)
        assert paired.standard_error == pytest.approx(replicates.std(ddof=1), rel=1e-12)
        # models of the same cases rise and fall together: unpaired errors would be larger
        assert paired.standard_error < 0.9 * np.hypot(a.replicates.std(ddof=1), b.replicates.std(ddof=1))
        turned = result.difference("b", "a", measure, level=0.9, method="percentile")
        plain = result.difference("a", "b", measure, level=0.9, method="percentile")
        assert (turned.lower, turned.upper) == pytest.approx(
            (-plain.upper, -plain.lower), rel=1e-9, abs=1e-15
        )


def test_the_same_model_twice_does_not_differ():
    y, forecasts = make()
    result = bootstrap(y, {"a": forecasts["a"], "again": forecasts["a"]}, resamples=30)
    for measure in ("brier", "roc_auc", "slope"):
        same = result.difference("a", "again", measure)
        assert (same.value, same.standard_error, same.lower, same.upper) == (0, 0, 0, 0)


# ---- uncertainty ----


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("method", INTERVAL_METHODS)
@pytest.mark.parametrize("events", [60, 59, 55])
def test_the_uncertainty_near_one_half_has_an_interval(method, events):
    """At 60 of 120 events no replicate lies above 1/4; the interval of the prevalence holds 1/2."""
    y = np.repeat([1.0, 0.0], [events, 120 - events])
    result = bootstrap(y, {"a": make()[1]["a"]}, resamples=300)
    estimate = result.interval("", "brier uncertainty", method=method)
    prevalence = result.interval("", "prevalence", method=method)
    assert prevalence.lower < 0.5 < prevalence.upper
    farthest = max(0.5 - prevalence.lower, prevalence.upper - 0.5)
    assert estimate.lower == pytest.approx(0.25 - farthest**2, rel=1e-12)
    # a grid of 1000 steps meets the top within half a step of the prevalence
    assert 0.25 - ((prevalence.upper - prevalence.lower) / 2000) ** 2 <= estimate.upper <= 0.25
    assert estimate.lower < estimate.value <= 0.25
    log = result.interval("", "log_loss uncertainty", method=method)
    assert log.lower < log.value
    assert log.upper == pytest.approx(np.log(2), abs=1e-6)


@pytest.mark.sweep
def test_the_uncertainty_far_from_one_half_goes_with_the_prevalence():
    y = np.repeat([1.0, 0.0], [20, 100])
    result = bootstrap(y, {"a": make()[1]["a"]}, resamples=300)
    estimate, prevalence = (result.interval("", name) for name in ("brier uncertainty", "prevalence"))
    bounds = np.array([prevalence.lower, prevalence.upper])
    assert (estimate.lower, estimate.upper) == pytest.approx(tuple(bounds * (1 - bounds)), rel=1e-12)


# ---- what is not defined ----


def test_an_infinite_score_has_no_interval_and_harms_no_other():
    y, forecasts = make()
    forecasts["b"] = np.where(np.arange(N) == np.flatnonzero(y)[0], 0.0, forecasts["b"])
    result = bootstrap(y, forecasts, resamples=40)
    for measure in ("log_loss", "log_loss skill"):
        estimate = result.interval("b", measure)
        assert np.isinf(estimate.value)
        assert np.isnan([estimate.standard_error, estimate.lower, estimate.upper]).all()
        assert estimate.note == "The score is infinite: there is no interval."
    assert np.isnan(result.interval("b", "slope").value)
    assert result.interval("b", "slope").note == "The value is not defined: there is no interval."
    assert result.interval("a", "log_loss").note == ""
    assert np.isfinite(result.interval("b", "brier").upper)
    assert np.isnan(result.difference("a", "b", "log_loss").lower)


def test_resamples_of_one_class_are_left_out_and_counted():
    """One event among ten rows is missed by about a third of all resamples."""
    y = np.zeros(10)
    y[4] = 1
    result = bootstrap(y, {"a": np.linspace(0.1, 0.8, 10)}, resamples=100)
    auc = next(s for s in result.statistics if s.measure == "roc_auc")
    lost = int(np.isnan(auc.replicates).sum())
    assert 15 < lost < 60
    estimate = result.interval("a", "roc_auc")
    assert estimate.note == f"Not defined in {lost} of 100 resamples, which were left out."
    assert estimate.standard_error == pytest.approx(np.nanstd(auc.replicates, ddof=1), rel=1e-12)
    assert result.interval("a", "brier skill").note == estimate.note
    assert result.interval("a", "brier").note == ""


def test_one_cluster_has_values_and_no_interval():
    y, forecasts = make()
    result = bootstrap(y, forecasts, resamples=10, cluster=np.zeros(N))
    for model, measure in (("a", "brier"), ("a", "roc_auc"), ("", "prevalence"), ("", "brier uncertainty")):
        estimate = result.interval(model, measure)
        assert np.isfinite(estimate.value)
        assert np.isnan([estimate.standard_error, estimate.lower, estimate.upper]).all()
        assert estimate.note == "One cluster has no spread: there is no interval."


def test_one_defined_resample_is_not_enough():
    """Four rows with one event lose it in a third of all resamples."""
    y, p = np.array([0.0, 0.0, 1.0, 0.0]), {"a": np.array([0.2, 0.3, 0.4, 0.6])}
    for seed in range(100):
        result = bootstrap(y, p, scores=["brier"], resamples=2, seed=seed)
        auc = next(s for s in result.statistics if s.measure == "roc_auc")
        if np.isfinite(auc.replicates).sum() == 1:
            break
    estimate = result.interval("a", "roc_auc")
    assert estimate.value == pytest.approx(2 / 3)
    assert np.isnan([estimate.standard_error, estimate.lower, estimate.upper]).all()
    assert estimate.note


def test_one_class_has_scores_but_no_skill():
    result = bootstrap(np.zeros(20), {"a": np.linspace(0.1, 0.5, 20)}, resamples=20)
    assert np.isfinite(result.interval("a", "brier").upper)
    for measure in ("brier skill", "roc_auc", "slope", "intercept_at_slope_one"):
        assert result.interval("a", measure).note == "The value is not defined: there is no interval."
    prevalence = result.interval("", "prevalence")
    upper = 1 - 0.025 ** (1 / 20)  # Clopper and Pearson's without events
    assert (prevalence.value, prevalence.lower, prevalence.upper) == pytest.approx((0, 0, upper))
    uncertainty = result.interval("", "brier uncertainty")
    assert (uncertainty.value, uncertainty.lower, uncertainty.upper) == pytest.approx(
        (0, 0, upper * (1 - upper))
    )


# ---- names, table, refusals ----


def test_scores_used_twice_keep_their_options_in_the_label(result):
    low, high = (result.interval("a", f"net_benefit(threshold={t})") for t in (0.2, 0.4))
    assert low.value != high.value
    measures = [s.measure for s in result.statistics if s.model == "a"]
    assert len(set(measures)) == len(measures)
    assert result.interval("", "net_benefit(threshold=0.4) uncertainty").value == pytest.approx(
        max(result.panel.outcome.mean() - (1 - result.panel.outcome.mean()) * 2 / 3, 0), rel=1e-12
    )


def test_the_table_holds_every_interval(result):
    table = result.table(level=0.9, method="percentile")
    assert list(table) == ["model", "measure", "value", "standard_error", "lower", "upper", "note"]
    assert len(table) == len(result.statistics)
    for _, row in table.iterrows():
        assert np.isfinite([row["lower"], row["upper"]]).all()
        estimate = result.interval(row["model"], row["measure"], level=0.9, method="percentile")
        fields = ("value", "standard_error", "lower", "upper", "note")
        assert tuple(row[f] for f in fields) == tuple(getattr(estimate, f) for f in fields)
    assert set(table["model"]) == {"", "a", "b"}


def test_clusters_are_named_in_the_method():
    drawn = draw("clusters", resamples=2)
    assert drawn.interval("a", "brier", allow_for_rare=False).method == (
        "BCa bootstrap, 2 resamples of clusters, seed 4, widened for the number of clusters"
    )


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda y, _: bootstrap(y, {}), "`forecasts` must name at least one forecast."),
        (
            lambda y, f: bootstrap(y, f, resamples=1),
            "`resamples` must be a whole number of at least 2; got 1.",
        ),
        (lambda y, f: bootstrap(y, f, seed=-1), "`seed` must be a whole number of at least 0; got -1."),
        (
            lambda y, f: bootstrap(y, f, resamples=2).interval("a", "brier", level=1.0),
            "`level` must lie in (0, 1); got 1.",
        ),
        (
            lambda y, f: bootstrap(y, f, resamples=2).interval("a", "brier", method="basic"),
            '`method` must be one of "bca", "percentile"; got \'basic\'.',
        ),
        (
            lambda y, f: bootstrap(y, f, scores=["brier"], resamples=2).interval("c", "brier"),
            "There is no 'brier' of 'c'; measures are brier, brier skill, brier uncertainty, intercept, "
            "intercept_at_slope_one, prevalence, roc_auc, slope.",
        ),
        (
            lambda y, f: bootstrap(y, f, scores=[("shifted_brier", {"mu": 0.3})], resamples=2),
            "`score` must be proper; the decomposition of 'shifted_brier' would be meaningless.",
        ),
        (
            lambda y, f: bootstrap(y, f, scores="brier", resamples=2),
            "`scores` must be a list of at least one score; got 'brier'.",
        ),
        (
            lambda y, f: bootstrap(y, f, scores=[], resamples=2),
            "`scores` must be a list of at least one score; got [].",
        ),
    ],
)
def test_options_are_checked(call, sentence):
    with pytest.raises(sr.UsageError, match=f"^{re.escape(sentence)}$"):
        call(*make())


def test_lengths_are_checked():
    y, forecasts = make()
    with pytest.raises(sr.DataError, match=r"^`y_true` \(119\) and `a` \(120\) must have the same length\.$"):
        bootstrap(y[1:], forecasts)


# ---- the seed, the order of rows, threads ----


def as_bytes(result):
    return b"".join(np.append(s.replicates, s.value).tobytes() for s in result.statistics)


def test_the_seed_decides_to_the_last_bit():
    y, forecasts = make()
    one, again, other = (as_bytes(bootstrap(y, forecasts, resamples=5, seed=s)) for s in (1, 1, 2))
    assert one == again != other


@pytest.mark.parametrize("kind", DRAWN)
def test_the_order_of_rows_changes_no_bit(kind):
    y, forecasts = make()
    given = DRAWN[kind](np.random.default_rng(2))
    order = np.random.default_rng(3).permutation(N)
    shuffled = bootstrap(
        y[order],
        {name: p[order] for name, p in forecasts.items()},
        resamples=5,
        **{name: values[order] for name, values in given.items()},
    )
    assert as_bytes(shuffled) == as_bytes(bootstrap(y, forecasts, resamples=5, **given))


@pytest.mark.parametrize("kind", ["rows", "clusters"])
def test_any_number_of_threads_gives_the_same_bits(monkeypatch, kind):
    monkeypatch.setattr("scorereport._utils.machine._ROWS_WORTH_A_THREAD", 1)
    found = []
    for threads in ("1", "2", "7"):
        monkeypatch.setenv("SCOREREPORT_THREADS", threads)
        found.append(as_bytes(draw(kind, resamples=9)))
    assert found[0] == found[1] == found[2]


@pytest.mark.sweep
def test_threads_of_the_linear_algebra_change_no_bit_either():
    """Sums over 60,000 rows are long enough for BLAS to share them among its threads."""
    probe = (
        "import hashlib, json, numpy as np\n"
        "from scorereport.inference import bootstrap\n"
        "rng = np.random.default_rng(1); p = rng.random(60000); y = rng.random(60000) < p ** .7\n"
        "models = {'a': p, 'b': p ** .9, 'c': p ** 1.1}\n"
        "found = bootstrap(y, models, scores=['brier'], resamples=3).statistics\n"
        "digest = lambda s: hashlib.sha256(np.append(s.replicates, s.value).tobytes()).hexdigest()\n"
        "print(json.dumps({f'{s.model} {s.measure}': digest(s) for s in found}))"
    )
    one, two = (
        subprocess.run(
            [sys.executable, "-c", probe],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    )
    assert json.loads(one) == json.loads(two)


# ---- rates ----


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("events", [0, 1, 7, 20])
def test_rates_of_rows_have_wilsons_interval(events, level):
    happened = np.repeat([1.0, 0.0], [events, 20 - events])
    estimate = rate_interval("rate", happened, SamplingUnits(rows=20), level)
    lower, upper = proportion_confint(events, 20, alpha=1 - level, method="wilson")
    assert (estimate.lower, estimate.upper) == pytest.approx((lower, upper), rel=1e-12, abs=1e-15)
    assert estimate.value == events / 20
    assert estimate.standard_error == pytest.approx(happened.std(ddof=1) / np.sqrt(20), abs=1e-15)
    assert (estimate.measure, estimate.method, estimate.level, estimate.note) == ("rate", "Wilson", level, "")


def test_rates_of_frequencies_count_rows():
    units = SamplingUnits(rows=2, weight=np.array([3.0, 9.0]), weight_kind="frequency")
    estimate = rate_interval("rate", np.array([1.0, 0.0]), units, 0.9)
    assert (estimate.lower, estimate.upper) == pytest.approx(
        proportion_confint(3, 12, alpha=0.1, method="wilson")
    )


@pytest.mark.parametrize("kind", ["clusters", "fractional weights"])
def test_rates_of_other_rows_have_an_interval_on_log_odds(kind):
    rng = np.random.default_rng(8)
    happened = (rng.random(60) < 0.2).astype(float)
    weight = rng.random(60) + 0.1
    cluster = rng.integers(0, 15, 60) if kind == "clusters" else None
    units = SamplingUnits(rows=60, weight=weight, cluster=cluster)
    estimate = rate_interval("rate", happened, units, 0.9)
    rate = np.average(happened, weights=weight)
    scores = weight * (happened - rate) / weight.sum()
    if cluster is not None:
        scores = np.array([scores[cluster == k].sum() for k in range(15)])
    factor = 60 / 59
    if cluster is not None:
        factor = 1 / (1 - np.bincount(cluster, weights=weight) / weight.sum())
    error = np.sqrt((scores**2 * factor).sum())
    assert (estimate.value, estimate.standard_error) == pytest.approx((rate, error), rel=1e-12)
    quantile = norm.ppf(0.95) if cluster is None else t.ppf(0.95, units.degrees_of_freedom)
    reach = quantile * error / (rate * (1 - rate))
    expected = expit(logit(rate) - reach), expit(logit(rate) + reach)
    assert (estimate.lower, estimate.upper) == pytest.approx(expected, rel=1e-12)
    what = "clusters" if cluster is not None else "weighted rows"
    assert estimate.method == f"normal on log-odds, errors over {what}"
    assert estimate.n == pytest.approx(weight.sum())
    assert estimate.note == ""


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_equal_outcomes_are_counted_by_their_effective_number(rate):
    """Three clusters of two rows count as three; weights v, v, 3v count as (5v)²/11v²."""
    clusters = rate_interval("rate", np.full(6, rate), SamplingUnits(rows=6, cluster=np.arange(6) // 2), 0.9)
    expected = proportion_confint(3 * rate, 3, alpha=0.1, method="wilson")
    assert (clusters.lower, clusters.upper) == pytest.approx(expected, abs=1e-15)
    assert clusters.method == "Wilson, effective number of clusters"
    weighted = rate_interval(
        "rate", np.full(3, rate), SamplingUnits(rows=3, weight=np.array([0.5, 0.5, 1.5])), 0.9
    )
    n = 25 / 11
    expected = proportion_confint(n * rate, n, alpha=0.1, method="wilson")
    assert (weighted.lower, weighted.upper) == pytest.approx(expected, abs=1e-12)
    assert weighted.method == "Wilson, effective number of weighted rows"
    assert clusters.note == weighted.note == ""
    assert 0 <= clusters.lower <= rate <= clusters.upper <= 1


def test_one_cluster_has_no_interval_of_a_rate():
    happened = np.array([0.0, 1.0, 1.0])
    estimate = rate_interval("rate", happened, SamplingUnits(rows=3, cluster=np.zeros(3, dtype=int)), 0.9)
    assert np.isnan([estimate.standard_error, estimate.lower, estimate.upper]).all()
    assert estimate.note == "One cluster does not show how much rates vary."
