"""Trials of recalibration: compared with fits of other packages, and never fitted to the cases tried."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit, xlogy
from scipy.stats import chi2, norm
from scipy.stats import t as student
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_auc_score

import scorereport as sr
from scorereport._utils.json_documents import encode
from scorereport.inference import try_recalibration
from scorereport.inference.panel import make_panel
from scorereport.inference.recalibration_gains import bound_shown_gain, cost_of_line

METHODS = ["intercept", "logistic", "isotonic"]


def sample(n, scale=1.0, shift=0.0, seed=1, decimals=None):
    """Outcomes, and forecasts whose log-odds are scaled and shifted."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n) - 0.5
    p = expit(scale * z + shift)
    return (rng.random(n) < expit(z)).astype(float), p if decimals is None else p.round(decimals)


def by_method(*data, **options):
    trials = try_recalibration(*data, **options)
    assert [trial.method for trial in trials] == METHODS
    return {trial.method: trial for trial in trials}


# ---- against other fits: with as many folds as there are units, nothing is random ----


def fit_elsewhere(method, y, p, weight, new):
    """A map fitted by statsmodels or scikit-learn, and what it makes of new forecasts."""
    if method == "isotonic":
        fit = IsotonicRegression(out_of_bounds="clip").fit(p, y, sample_weight=weight)
        return fit.predict(new)
    x, ones = logit(p), np.ones(len(p))
    family = sm.families.Binomial()
    if method == "intercept":
        a = sm.GLM(y, ones, family=family, offset=x, freq_weights=weight).fit().params[0]
        return expit(a + logit(new))
    a, b = sm.GLM(y, np.column_stack([ones, x]), family=family, freq_weights=weight).fit(tol=1e-12).params
    return expit(a + b * logit(new))


def leave_out_each(method, y, p, weight, unit):
    recalibrated = np.empty(len(y))
    for label in np.unique(unit):
        out = unit == label
        recalibrated[out] = fit_elsewhere(method, y[~out], p[~out], weight[~out], p[out])
    return recalibrated


def spread_of_overfit(y, p):
    """How much the overfit of an isotonic fit varies by chance: like that of as many parameters."""
    bins = sr.corp(y, p).bins
    parameters = np.where(bins.x_min == bins.x_max, 1, 1.5)
    cost = (parameters * bins.cep * (1 - bins.cep)).sum() / len(y)
    return cost * (2 / parameters.sum()) ** 0.5


@pytest.mark.sweep(after=2)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("rows", ["plain", "weighted", "clustered"])
def test_leaving_out_each_unit_agrees_with_fits_of_others(method, decimals, rows):
    y, p = sample(60, 1.5, decimals=decimals)
    p = p.clip(0.05, 0.95)
    weight = np.random.default_rng(2).random(60) if rows == "weighted" else np.ones(60)
    unit = np.arange(60) % 15 if rows == "clustered" else np.arange(60)
    given = {"sample_weight": weight} if rows == "weighted" else {}
    given |= {"cluster": unit} if rows == "clustered" else {}
    trial = by_method(y, p, folds=len(np.unique(unit)), **given)[method]
    expected = leave_out_each(method, y, p, weight, unit)
    assert trial.brier.first_value == pytest.approx(np.average((expected - y) ** 2, weights=weight), rel=1e-9)
    against = sr.inference.score_difference(y, expected, p, **given)
    assert trial.brier.value == pytest.approx(against.value, rel=1e-7)
    if method != "isotonic":
        assert trial.brier.standard_error == pytest.approx(against.standard_error, rel=1e-7)
    elif rows == "plain":
        error = np.hypot(against.standard_error, spread_of_overfit(y, p))
        assert trial.brier.standard_error == pytest.approx(error, rel=1e-7)
    slack = 1e-7 * against.standard_error
    assert trial.brier.lower <= against.lower + slack
    assert trial.brier.upper >= against.upper - slack
    assert trial.brier.p_value >= against.p_value * (1 - 1e-7)
    assert trial.brier.method == f"{against.method}, with the error of the fitted maps"
    after = sr.corp(y, expected.round(12), weight).decompose("brier").miscalibration
    assert trial.miscalibration_after == pytest.approx(after, rel=1e-9)
    before = sr.corp(y, p, weight).decompose("brier").miscalibration
    assert trial.miscalibration_before == pytest.approx(before, rel=1e-12)
    assert (trial.folds, trial.n) == (len(np.unique(unit)), pytest.approx(weight.sum()))


def test_a_constant_forecast_becomes_the_event_rate_of_the_other_folds():
    """Two folds of ten cases; if k of the ten events are in one, its cases get the forecast 1 - k/10."""
    y = np.repeat([0, 1], 10)

    def brier(k):
        forecast = 1 - k / 10
        own = (k * (1 - forecast) ** 2 + (10 - k) * forecast**2) / 10
        other = ((10 - k) * (1 - k / 10) ** 2 + k * (k / 10) ** 2) / 10
        return (own + other) / 2

    possible = {round(brier(k), 9) for k in range(11)}
    seen = set()
    for seed in range(30):
        trials = by_method(y, np.full(20, 0.3), folds=2, seed=seed)
        value = trials["isotonic"].brier.first_value
        assert round(value, 9) in possible
        assert trials["intercept"].brier.first_value == pytest.approx(value, rel=1e-9)
        seen.add(round(value, 9))
    assert len(seen) > 2  # outcomes are not split evenly: each fold would then reveal the rate of the other


def test_without_a_map_there_is_a_note_and_no_number():
    y = np.repeat([0, 1], 20)
    for p in (np.full(40, 0.3), np.linspace(0.1, 0.9, 40), np.linspace(0.9, 0.1, 40)):
        trial = by_method(y, p)["logistic"]
        assert np.isnan([trial.brier.value, trial.log_loss.upper, trial.miscalibration_after]).all()
        assert trial.brier.second_value == pytest.approx(((p - y) ** 2).mean())
        assert trial.note == (
            "No map fits the cases outside some fold: "
            "their forecasts are all the same, or separate events from non-events."
        )
        assert trial.brier.note == "There are no recalibrated forecasts."


# ---- what it finds ----


def test_overconfident_forecasts_are_corrected():
    trials = by_method(*sample(4000, 2.5))
    for method in ("logistic", "isotonic"):
        trial = trials[method]
        assert trial.miscalibration_after < 0.15 * trial.miscalibration_before
        assert trial.brier.upper < -0.005
        assert trial.brier.p_value <= trial.brier.p_value_holm < 1e-6
    assert trials["logistic"].log_loss.upper < 0
    assert trials["intercept"].miscalibration_after > 0.5 * trials["intercept"].miscalibration_before


def test_a_shift_is_corrected_by_the_intercept_alone():
    trial = by_method(*sample(4000, shift=1.0))["intercept"]
    assert trial.miscalibration_after < 0.15 * trial.miscalibration_before
    assert trial.brier.upper < 0


@pytest.mark.parametrize("decimals", [None, 1])
def test_calibrated_forecasts_gain_nothing(decimals):
    """Over 20 samples none seems better, and on average recalibration does a little harm."""
    trials = [by_method(*sample(600, seed=seed, decimals=decimals)) for seed in range(20)]
    for method in METHODS:
        found = [trial[method].brier for trial in trials]
        if decimals is None:
            assert not any(difference.upper < 0 for difference in found)
        assert 0 < np.mean([difference.value for difference in found]) < 0.01


# ---- no case helps to fit the map that it is recalibrated by ----


def test_noise_is_not_learnt():
    """In the sample the fit beats the prevalence, on other cases it cannot."""
    rng = np.random.default_rng(3)
    y, p = rng.integers(0, 2, 200).astype(float), rng.random(200)
    fit = sr.corp(y, p)
    in_sample = ((fit.cep - y) ** 2).mean()
    trial = by_method(y, p)["isotonic"]
    assert in_sample < y.var() < trial.brier.first_value
    assert fit.decompose("brier").miscalibration > 0
    assert sr.corp(y, fit.cep).decompose("brier").miscalibration == pytest.approx(0, abs=1e-15)
    assert trial.miscalibration_after > 0.01


def test_forecasts_that_equal_the_frequencies_of_the_sample_cannot_be_improved():
    """Even where forecasts are few: folds that share out events evenly would give a difference of 0."""
    y = np.concatenate([np.repeat([0, 1], [80, 20]), np.repeat([0, 1], [30, 70])])
    p = np.repeat([0.2, 0.7], 100)
    for seed in range(10):
        for trial in try_recalibration(y, p, seed=seed):
            assert trial.brier.value > 1e-5


# ---- rows, weights and clusters ----


def weights(kind, n):
    rng = np.random.default_rng(7)
    return {"none": None, "whole": rng.integers(0, 4, n), "fraction": rng.random(n)}[kind]


@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("kind", ["none", "whole", "fraction"])
@pytest.mark.parametrize("clustered", [False, True])
def test_the_order_of_rows_leaves_no_trace(decimals, kind, clustered):
    y, p = sample(300, 1.5, decimals=decimals)
    weight = weights(kind, 300)
    cluster = np.random.default_rng(8).integers(0, 25, 300) if clustered else None
    one = try_recalibration(y, p, sample_weight=weight, cluster=cluster)
    order = np.random.default_rng(9).permutation(300)
    moved = [None if column is None else column[order] for column in (weight, cluster)]
    other = try_recalibration(y[order], p[order], sample_weight=moved[0], cluster=moved[1])
    assert len(one) == 3
    assert encode(one) == encode(other)


def test_copies_of_a_row_never_help_to_fit_its_own_map():
    """Noise cannot be learnt from other rows; copies in another fold would reveal a row's own outcome."""
    rng = np.random.default_rng(4)
    y, p = rng.integers(0, 2, 60).astype(float), rng.random(60)
    trial = by_method(y, p, sample_weight=np.full(60, 20.0), weight_kind="frequency")["isotonic"]
    assert trial.brier.first_value > y.var()
    clustered = by_method(y.repeat(20), p.repeat(20), cluster=np.arange(60).repeat(20))["isotonic"]
    assert trial.brier.first_value == pytest.approx(clustered.brier.first_value, rel=0.2)


def test_a_frequency_of_1_changes_nothing():
    y, p = sample(300, 1.5, decimals=1)
    weighted = try_recalibration(y, p, sample_weight=np.ones(300), weight_kind="frequency")
    assert encode(weighted) == encode(try_recalibration(y, p))


def test_frequencies_in_clusters_equal_repeated_rows():
    y, p = sample(300, 1.5)
    weight, cluster = weights("whole", 300), np.arange(300) % 40
    one = try_recalibration(y, p, sample_weight=weight, weight_kind="frequency", cluster=cluster)
    other = try_recalibration(y.repeat(weight), p.repeat(weight), cluster=cluster.repeat(weight))
    for a, b in zip(one, other, strict=True):
        assert a.brier.value == pytest.approx(b.brier.value, rel=1e-9)
        assert a.brier.standard_error == pytest.approx(b.brier.standard_error, rel=1e-9)
        assert a.brier.method == (
            "Diebold-Mariano, cluster errors (40 clusters), with the error of the fitted maps"
        )


def test_a_cluster_is_never_split():
    """Twenty rows have the same forecast and outcome: split, some would reveal the others' outcome."""
    rng = np.random.default_rng(4)
    y, p = rng.integers(0, 2, 50).astype(float).repeat(20), rng.random(50).repeat(20)
    together = by_method(y, p, cluster=np.arange(50).repeat(20))["isotonic"]
    apart = by_method(y, p)["isotonic"]
    assert apart.brier.first_value < y.var() < together.brier.first_value


def test_the_seed_moves_cases_between_folds():
    y, p = sample(300, 1.5)
    one, again, other = (try_recalibration(y, p, seed=seed) for seed in (1, 1, 2))
    assert encode(one) == encode(again)
    assert one[0].brier.value != other[0].brier.value
    assert (one[0].seed, other[0].seed) == (1, 2)


def test_weights_too_large_to_split_one_by_one_stay_with_their_rows():
    y, p = sample(300, 1.5)
    trials = by_method(y, p, sample_weight=np.full(300, 10.0**8))
    assert trials["logistic"].n == 300 * 10**8
    assert np.isfinite(trials["logistic"].brier.value)


# ---- certain forecasts, and too little to try ----


def test_certain_forecasts_stay_unless_the_method_can_move_them():
    y, p = sample(400, 2.0)
    p[:30], y[:30] = 0.0, np.repeat([1.0, 0.0], 15)
    trials = by_method(y, p)
    for method in ("intercept", "logistic"):
        assert trials[method].note == (
            "30 forecasts of exactly 0 or 1 cannot be moved and stay as they are. "
            "The log score is infinite: 15 cases got a probability of 0 or 1 that the outcome contradicts."
        )
        assert np.isinf(trials[method].log_loss.first_value)
        assert np.isnan(trials[method].log_loss.value)  # infinite before and after
    assert trials["isotonic"].brier.value < trials["logistic"].brier.value < 0
    assert "stay as they are" not in trials["isotonic"].note


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ({}, "1 forecast of exactly 0 or 1 cannot be moved and stays as it is. "),
        ({"weight_kind": "sampling"}, "1 forecast of exactly 0 or 1 cannot be moved and stays as it is. "),
        (
            {"weight_kind": "frequency"},
            "3 forecasts of exactly 0 or 1 cannot be moved and stay as they are. ",
        ),
    ],
)
def test_notes_count_rows_of_sampling_weights_and_cases_of_frequencies(options, note):
    y, p = sample(400, 2.0)
    p[0], y[0] = 0.0, 1.0
    weight = np.full(400, 3.0) if options else None
    cases = "3 cases" if options.get("weight_kind") == "frequency" else "1 case"
    assert by_method(y, p, sample_weight=weight, **options)["logistic"].note == (
        f"{note}The log score is infinite: {cases} got a probability of 0 or 1 that the outcome contradicts."
    )


def test_forecasts_that_are_all_certain_stay():
    y = np.tile([0.0, 1.0], 30)
    trials = by_method(y, np.repeat([0.0, 1.0], 30))
    assert trials["logistic"].brier.value == 0
    assert trials["logistic"].brier.note == (
        "The forecasts are the same in every case: there is nothing to test."
    )


def test_an_isotonic_map_may_give_an_event_the_probability_0():
    y, p = sample(300)
    trial = by_method(y, p)["isotonic"]
    assert trial.log_loss.first_value == np.inf
    assert re.fullmatch(
        r"The log score is infinite: \d+ cases? got a probability of 0 or 1 that the outcome contradicts\.",
        trial.note,
    )
    assert np.isfinite(trial.brier.value)


@pytest.mark.parametrize("events", [0, 9, 31, 40])
def test_too_few_events_or_non_events_are_not_tried(events):
    y = np.repeat([1, 0], [events, 40 - events])
    assert try_recalibration(y, np.random.default_rng(1).random(40)) == ()


def test_too_few_clusters_are_not_tried():
    y, p = sample(300)
    assert try_recalibration(y, p, cluster=np.arange(300) % 4) == ()
    assert try_recalibration(y, p, cluster=y) == ()
    assert try_recalibration(y, p, folds=301) == ()
    assert len(try_recalibration(y, p, cluster=np.arange(300) % 5)) == 3


def test_folds_that_leave_one_outcome_are_not_tried():
    y, p = sample(300)
    assert try_recalibration(y, p, cluster=np.where(y == 1, 0, 1 + np.arange(300) % 4)) == ()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"folds": 1}, "`folds` must be a whole number of at least 2; got 1."),
        ({"seed": -1}, "`seed` must be a whole number of at least 0; got -1."),
        ({"level": 1.0}, "`level` must lie in (0, 1); got 1."),
    ],
)
def test_options_are_checked(options, sentence):
    with pytest.raises(sr.UsageError, match=f"^{re.escape(sentence)}$"):
        try_recalibration(*sample(50), **options)


def test_intervals_have_the_requested_level():
    y, p = sample(300, 2.0)
    wide, narrow = (try_recalibration(y, p, level=level)[1].brier for level in (0.99, 0.5))
    assert (wide.level, narrow.level) == (0.99, 0.5)
    same = {"lower": 0.0, "upper": 0.0, "level": 0.0}
    assert replace(wide, **same) == replace(narrow, **same)
    assert wide.lower < narrow.lower < narrow.upper < wide.upper


# ---- how well a gain is known ----


def test_the_interval_of_an_intercept_is_that_of_its_likelihood_ratio():
    """By the log score u = 1/(2n), and the gain in the sample is the likelihood ratio over 2n."""
    y, p = sample(400, shift=0.3)
    n, found = 400, by_method(y, p)["intercept"].log_loss
    line = sr.inference.calibration_line(y, p)
    moved = expit(logit(p) + line.intercept_at_slope_one.value)
    ratio = 2 * (xlogy(y, moved / p) + xlogy(1 - y, (1 - moved) / (1 - p))).sum()
    z = student.ppf(0.975, n - 1)
    below = norm.ppf(0.975)
    cost = 1 / (2 * n) * 5 / 4
    gain = (max(ratio**0.5 - below, 0) ** 2 / (2 * n) - cost, (ratio**0.5 + z) ** 2 / (2 * n) - cost)
    assert found.lower == pytest.approx(min(-gain[1], found.value - z * found.standard_error), rel=1e-6)
    assert found.upper == pytest.approx(max(-gain[0], found.value + z * found.standard_error), rel=1e-6)
    wald = 2 * student.sf(abs(found.value / found.standard_error), n - 1)
    root = ratio**0.5 - 1.25**0.5
    by_fit = chi2.sf(root**2, 1) if root > 0 else 2 * student.cdf(root, n - 1)
    assert found.p_value == pytest.approx(max(wald, by_fit), rel=1e-6)


def test_the_cost_of_a_line_is_the_trace_of_curvature_and_covariance():
    y, p = sample(300, 1.5)
    panel = make_panel(y, {"p": p})
    line = sr.inference.calibration_line(y, p)
    a, b = line.intercept.value, line.slope.value
    x = np.stack([np.ones(300), logit(panel.only)])
    q = expit(a + b * x[1])
    covariance = np.linalg.inv((x * q * (1 - q)) @ x.T)
    curvature = (x * 2 * (q * (1 - q)) ** 2) @ x.T / 300
    found = cost_of_line(panel, (a, b))
    assert found["brier"] == pytest.approx(np.trace(curvature @ covariance) / 2, rel=1e-9)
    assert found["log_loss"] == pytest.approx(2 / 600, rel=1e-9)  # a half for each parameter, over n


def test_an_isotonic_map_has_an_interval_and_test_by_t():
    y, p = sample(300, 1.5)
    found = by_method(y, p)["isotonic"].brier
    reach = student.ppf(0.975, 299) * found.standard_error
    assert (found.lower, found.upper) == pytest.approx((found.value - reach, found.value + reach), rel=1e-9)
    expected = 2 * student.sf(abs(found.value) / found.standard_error, 299)
    assert found.p_value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("p_value", [0.01, 1e-4, 1e-7])
def test_a_gain_that_is_stated_because_it_is_significant_is_bounded_given_that(p_value):
    """At the lower end a gain as large has a probability of α/2 among those that are stated."""
    y, p = sample(300, 1.5)
    t, least = -norm.ppf(p_value / 2), -norm.ppf(0.05 / 3 / 2)
    given = {
        "value": -0.01,
        "lower": -0.02,
        "upper": -0.0099,
        "p_value": p_value,
        "p_value_holm": 3 * p_value,
    }
    lower, upper = bound_shown_gain(replace(by_method(y, p)["logistic"].brier, **given), 0.05)
    assert upper == 0.02
    mean = lower / 0.01 * t
    share = norm.sf(t - mean) / norm.sf(least - mean)
    if p_value == 0.01:
        assert lower == 0
        assert share >= 0.025
    else:
        assert share == pytest.approx(0.025, rel=1e-6)


def test_discrimination_before_is_that_of_the_forecasts_also_with_ties():
    """Pairs of equal forecasts count half; without ties the ranks of events suffice.

    Equal rows are counted together, unless they belong to clusters.
    """
    rng = np.random.default_rng(4)
    for p in (rng.random(400), np.round(rng.random(400), 1), np.full(400, 0.5)):
        y = (rng.random(400) < p).astype(float)
        for cluster in (None, np.arange(400) // 2):
            trial = try_recalibration(y, p, cluster=cluster)[0]
            assert trial.auc_before == pytest.approx(roc_auc_score(y, p), abs=1e-14)
