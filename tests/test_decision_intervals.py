"""Intervals of decisions at thresholds, of distances from calibration, and bands of flexible curves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from cluster_tools import dense_cr2
from scipy.special import expit, logit, ndtri
from statsmodels.stats.proportion import proportion_confint

import scorereport as sr
from scorereport._utils.json_documents import encode
from scorereport._utils.rounding import documents_agree
from scorereport.inference import flexible_curves as flexible_module
from scorereport.inference.binned_errors import expected_calibration_error
from scorereport.inference.decision_tallies import tally_counts, tally_rows
from scorereport.inference.decisions import (
    add_decision_band,
    threshold_intervals,
)
from scorereport.inference.distances import DrawnCurve
from scorereport.inference.flexible_curves import flexible_curve
from scorereport.inference.smooth_calibration import calibration_errors
from scorereport.reliability.sampling import SamplingUnits

RNG = np.random.default_rng(19)
N = 300
P = RNG.beta(1, 3, N).round(3).clip(0.001, 0.999)
Y = (RNG.random(N) < expit(0.7 * logit(P))).astype(float)
W = RNG.gamma(2, 0.5, N)
CLUSTER = RNG.integers(0, 25, N)
T = np.array([0.1, 0.25, 0.4])
Z = float(ndtri(0.975))
KINDS = {
    "rows": {},
    "weights": {"sample_weight": W},
    "clusters": {"cluster": CLUSTER},
    "both": {"sample_weight": W, "cluster": CLUSTER},
}
RATES = ("sensitivity", "specificity", "positive_predictive_value", "negative_predictive_value", "flagged")


def counts(t, weight=None):
    """TP, FP, FN, TN as sums of weights."""
    w, acts = np.ones(N) if weight is None else weight, t <= P
    return [
        w[chosen].sum() for chosen in (acts & (Y == 1), acts & (Y == 0), ~acts & (Y == 1), ~acts & (Y == 0))
    ]


# Decisions


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_rates_at_thresholds_have_wilsons_interval(level):
    for t, row in zip(T, threshold_intervals(sr.corp(Y, P), thresholds=T, level=level), strict=True):
        tp, fp, fn, tn = counts(t)
        pairs = dict(
            zip(
                RATES, [(tp, tp + fn), (tn, tn + fp), (tp, tp + fp), (tn, tn + fn), (tp + fp, N)], strict=True
            )
        )
        for rate, (happened, cases) in pairs.items():
            found = row.interval(rate)
            expected = proportion_confint(happened, cases, alpha=1 - level, method="wilson")
            np.testing.assert_allclose([found.lower, found.upper], expected, rtol=1e-12)
            assert (found.value, found.level, found.method) == (getattr(row, rate), level, "Wilson")


@pytest.mark.parametrize("kind", ["weights", "clusters", "both"])
def test_errors_of_rates_are_those_of_sums_over_what_was_drawn(kind):
    """By brute force: residuals of a ratio summed over each cluster, or each weighted row, with t.

    Degrees of freedom are Satterthwaite's of the clusters of all rows.
    """
    options = KINDS[kind]
    w, cluster = options.get("sample_weight", np.ones(N)), options.get("cluster", np.arange(N))
    rows = threshold_intervals(
        sr.corp(Y, P, options.get("sample_weight"), cluster=options.get("cluster")), thresholds=T
    )
    draws = len(np.unique(cluster))
    units = SamplingUnits(rows=N, weight=options.get("sample_weight"), cluster=options.get("cluster"))
    quantile = units.critical_value(0.95)
    for t, row in zip(T, rows, strict=True):
        acts = t <= P
        for rate, among, happened in (
            ("sensitivity", Y == 1, acts),
            ("positive_predictive_value", acts, Y == 1),
            ("negative_predictive_value", ~acts, Y == 0),
            ("flagged", np.ones(N, dtype=bool), acts),
        ):
            value = (w * happened * among).sum() / (w * among).sum()
            sums = np.bincount(cluster, weights=w * among * (happened - value))
            error = np.sqrt(draws / (draws - 1) * (sums**2).sum()) / (w * among).sum()
            reach = quantile * error / (value * (1 - value))
            found = row.interval(rate)
            expected = expit(logit(value) + np.array([-reach, reach]))
            np.testing.assert_allclose([found.value, found.lower, found.upper], [value, *expected], rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_net_benefit_over_treating_all_and_regret_fit_net_benefit(kind):
    options = KINDS[kind]
    fit = sr.corp(Y, P, options.get("sample_weight"), cluster=options.get("cluster"))
    curve = sr.curves.decision_curve(fit, thresholds=T)
    for k, row in enumerate(threshold_intervals(fit, thresholds=T)):
        over = row.interval("net_benefit_over_treat_all")
        assert over.value == pytest.approx(row.net_benefit - curve.treat_all[k], abs=1e-12)
        for found in row.intervals:
            assert found.lower <= found.value <= found.upper
            if found.measure != over.measure:
                assert found.value == pytest.approx(getattr(row, found.measure), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_bands_of_decision_curves_are_the_intervals_at_their_thresholds(kind):
    options = KINDS[kind]
    fit = sr.corp(Y, P, options.get("sample_weight"), cluster=options.get("cluster"))
    thresholds = np.unique(np.append(T, P[:5]))
    band = add_decision_band(sr.curves.decision_curve(fit, thresholds=thresholds), tally_rows(fit, 0.95)).band
    rows = threshold_intervals(fit, thresholds=thresholds)
    np.testing.assert_allclose(band.lower, [row.interval("net_benefit").lower for row in rows], rtol=1e-12)
    next_rows = threshold_intervals(fit, thresholds=np.nextafter(thresholds, 1))
    beyond = [row.interval("net_benefit").upper for row in next_rows]
    np.testing.assert_allclose(band.upper_beyond, beyond, rtol=1e-9, atol=1e-12)


def test_an_interval_of_net_benefit_is_not_empty_without_a_positive():
    """A normal interval would have no width here."""
    (row,) = threshold_intervals(sr.corp([0] * 20 + [1], [0.1] * 21), thresholds=[0.5])
    found = row.interval("net_benefit")
    assert (found.value, row.interval("sensitivity").value) == (0, 0)
    assert found.lower < -0.1
    assert found.upper > 0.1
    none = row.interval("positive_predictive_value")
    assert np.isnan([none.value, none.lower]).all()
    assert none.note == "The denominator has no cases: there is no interval."


def test_whole_clusters_of_equal_rows_have_wider_intervals():
    y, p, cluster = (np.repeat(v, 4) for v in (Y, P, np.arange(N)))
    narrow, wide = (
        threshold_intervals(sr.corp(y, p, cluster=c), thresholds=[0.25])[0].interval("sensitivity")
        for c in (None, cluster)
    )
    assert 1.8 < (wide.upper - wide.lower) / (narrow.upper - narrow.lower) < 2.2


def test_counts_of_weights_and_clusters():
    fit = sr.corp(Y, P)
    kish = tally_counts(fit, 0.95, class_weights=(2.0, 2.0))(T, "left").rate("flagged")
    expected = proportion_confint(kish.value * N / 2, N / 2, method="wilson")
    np.testing.assert_allclose([kish.lower, kish.upper], expected)
    clustered = tally_counts(fit, 0.95, clustered=True)(T, "left")
    assert np.isnan(clustered.rate("flagged").lower).all()
    assert clustered.note == "Counts do not show how much clusters vary: there is no interval."


def test_one_cluster_shows_nothing():
    fit = sr.corp(Y, P, cluster=np.zeros(N))
    row = threshold_intervals(fit, thresholds=[0.25])[0].interval("sensitivity")
    assert row.note == "One cluster does not show how much rates vary."


def test_engines_have_the_same_intervals_of_decisions(tmp_path):
    frame = pd.DataFrame({"y": Y.astype(int), "m": P})
    frame.to_parquet(tmp_path / "d.parquet")
    options = {"outcome": "y", "forecasts": ["m"], "resamples": 20}
    memory = sr.evaluate(frame, **options).models[0]
    duck = sr.evaluate(tmp_path / "d.parquet", engine="duckdb", **options).models[0]
    assert documents_agree(encode(duck.thresholds), encode(memory.thresholds))
    np.testing.assert_array_equal(duck.curves.decision.band.lower, memory.curves.decision.band.lower)
    here, there = memory.calibration.binned, duck.calibration.binned
    assert there.interval is None  # it is drawn, which needs all rows in memory
    assert there.corrected == pytest.approx(here.corrected, rel=1e-6)
    assert (duck.calibration.errors, duck.calibration.flexible) == (None, None)


# Distances


def test_drawn_curves_have_the_noise_of_their_multiple_and_stay_within_0_and_1():
    calibrated, observed = np.array([[0.1, 3.0]]), np.array([[0.2, -3.0]])
    drawn = DrawnCurve(
        forecast=np.array([0.25]), curve=np.array([0.5]), calibrated=calibrated, observed=observed
    )
    for multiple, distances in (
        (0.0, [0.1, 0.75]),
        (0.5, [0.275, 0.125]),
        (1.0, [0.45, 0.25]),
        (2.0, [0.7, 0.25]),
    ):
        np.testing.assert_allclose(drawn.distances(multiple), [distances], rtol=1e-12)


def test_distances_of_a_calibrated_forecast_start_at_0():
    """Outcomes follow the forecasts as evenly as they can: nothing contradicts calibration."""
    p = np.repeat(np.arange(1, 10) / 10, 10)
    y = np.concatenate([np.arange(10) < k for k in range(1, 10)]).astype(float)
    y[[4, 40]] = 1 - y[[4, 40]]
    found = [*calibration_errors(y, p).intervals, expected_calibration_error(y, p).interval]
    for estimate in found:
        assert estimate.lower == 0
        assert estimate.value < estimate.upper < 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_distances_of_a_wrong_forecast_do_not_start_at_0(kind):
    p = np.tile(np.linspace(0.05, 0.95, N // 3), 3)
    y = (np.arange(N) % 10 < 9).astype(float)
    options = KINDS[kind]
    found = [
        *calibration_errors(y, p, **options).intervals,
        expected_calibration_error(y, p, **options).interval,
    ]
    for estimate in found:
        assert 0 < estimate.lower < estimate.value < estimate.upper < 1
        assert estimate.standard_error > 0


def test_intervals_of_distances_shrink_with_the_sample():
    """Limits were once read from a coarse grid, which kept them a tenth away however large the sample."""
    p = np.tile(np.linspace(0.05, 0.95, 1000), 40)
    y = (np.arange(len(p)) // 1000 % 2).astype(float)
    found = calibration_errors(y, p).intervals[0]
    assert found.upper - found.lower < 8 * found.standard_error
    assert found.standard_error < 0.01


def test_without_events_intervals_allow_for_those_that_may_happen():
    p = np.full(30, 1e-4)
    errors, ece = calibration_errors(np.zeros(30), p), expected_calibration_error(np.zeros(30), p)
    upper = proportion_confint(0, 30, method="wilson")[1] - 1e-4
    for estimate in (errors.intervals[0], errors.intervals[3], ece.interval):
        assert estimate.lower == 0
        assert estimate.upper >= upper - 1e-12


def test_perfect_certain_forecasts_have_an_interval_with_width():
    found = calibration_errors([0, 1, 1], [0.0, 1.0, 1.0])
    assert [e.value for e in found.intervals] == [0, 0, 0, 0]
    assert all(e.upper > 0.1 for e in found.intervals)


@pytest.mark.parametrize("weight", [[1, 1], [1, 10_000_000]])
def test_no_distance_is_larger_than_forecasts_allow(weight):
    for found in calibration_errors([0, 1], [0.2, 0.7], sample_weight=weight).intervals:
        assert 0 <= found.lower <= found.value <= found.upper <= 0.8


def test_one_cluster_has_no_interval_of_distances():
    for found in (
        *calibration_errors(Y, P, cluster=np.zeros(N)).intervals,
        expected_calibration_error(Y, P, cluster=np.zeros(N)).interval,
    ):
        assert np.isnan([found.lower, found.upper]).all()
        assert found.note == "One cluster does not show how much outcomes vary: there is no interval."


def test_clusters_of_one_row_have_about_the_errors_of_rows():
    """Also where forecasts are above 1/2: residuals were once taken from a probability below it."""
    p = np.tile(np.linspace(0.05, 0.95, 50), 8)
    y = (np.arange(400) % 8 < 8 * p).astype(float)
    for measure in (calibration_errors, expected_calibration_error):
        rows, clusters = (np.ravel(measure(y, p, cluster=c)) for c in (None, np.arange(400)))
        for one, other in zip(rows, clusters, strict=True):
            found, again = (
                e.interval if measure is expected_calibration_error else e.intervals[0] for e in (one, other)
            )
            assert again.upper == pytest.approx(found.upper, rel=0.3)
            assert again.standard_error == pytest.approx(found.standard_error, rel=0.3)


def test_clusters_widen_distances():
    y, p, cluster = (np.repeat(v, 4) for v in (Y, P, np.arange(N)))
    narrow, wide = (calibration_errors(y, p, cluster=c).intervals[0].standard_error for c in (None, cluster))
    assert 1.6 < wide / narrow < 2.4


def test_the_corrected_error_is_less_and_that_of_other_norms_is_left_out():
    ece = expected_calibration_error(Y, P)
    assert 0 <= ece.corrected < ece.value
    assert expected_calibration_error(Y, P, norm="l2").corrected is None


# Flexible curves


def spline(x, knots):
    """Harrell's restricted cubic spline, term by term from its definition."""
    columns = [np.ones_like(x), x]
    t = knots
    cube = lambda v: np.maximum(v, 0) ** 3  # noqa: E731
    for j in range(len(t) - 2):
        term = cube(x - t[j])
        term -= cube(x - t[-2]) * (t[-1] - t[j]) / (t[-1] - t[-2])
        term += cube(x - t[-1]) * (t[-2] - t[j]) / (t[-1] - t[-2])
        columns.append(term / (t[-1] - t[0]) ** 2)
    return np.column_stack(columns)


def statsmodels_fit(curve, **options):
    x = spline(logit(P), logit(curve.knots)) if len(curve.knots) else sm.add_constant(logit(P))
    model = sm.GLM(Y, x, family=sm.families.Binomial(), freq_weights=options.pop("weight", None))
    first = model.fit(tol=1e-14, maxiter=100)
    return model.fit(start_params=first.params, **options)


@pytest.mark.parametrize("kind", ["rows", "clusters"])
def test_flexible_curves_agree_with_statsmodels(kind):
    """Errors over clusters are bias-reduced, by their definition with dense matrices."""
    curve = flexible_curve(Y, P, points=N, **KINDS[kind])
    fit = statsmodels_fit(curve)
    design, rows = (spline(logit(x), logit(curve.knots)) for x in (curve.forecast, P))
    mean, covariance = expit(rows @ fit.params), fit.cov_params()
    log_odds, quantile = design @ fit.params, Z
    if kind == "clusters":
        spread = mean * (1 - mean)
        covariance = dense_cr2(rows, spread, (Y - mean) / spread, CLUSTER, np.eye(len(fit.params))[:1])[0]
        quantile = SamplingUnits(rows=N, cluster=CLUSTER).critical_value(0.95)
    error = np.sqrt(np.einsum("ti,ij,tj->t", design, covariance, design))
    np.testing.assert_allclose(curve.probability, expit(log_odds), rtol=1e-7)
    np.testing.assert_allclose(curve.upper, expit(log_odds + quantile * error), rtol=1e-6)
    np.testing.assert_allclose(curve.lower, expit(log_odds - quantile * error), rtol=1e-6)
    assert len(curve.knots) == 5
    assert "restricted cubic spline of log-odds with 5 knots" in curve.method


def test_knots_are_harrells_quantiles_of_the_forecasts():
    p = np.arange(1, 201) / 201
    curve = flexible_curve(np.arange(200) % 3 == 0, p)
    np.testing.assert_allclose(curve.knots, p[[9, 54, 99, 144, 189]])


@pytest.mark.parametrize(("events", "knots"), [(45, 5), (35, 4), (25, 3), (15, 0)])
def test_few_events_have_fewer_knots(events, knots):
    y = np.zeros(200)
    y[np.linspace(0, 199, events).astype(int)] = 1
    curve = flexible_curve(y, np.linspace(0.05, 0.95, 200))
    assert len(curve.knots) == knots
    assert ("too few for 5 knots" in curve.note) is (knots < 5)


@pytest.mark.parametrize(
    ("y", "p", "note"),
    [
        ([0, 1, 0], [0.3, 0.3, 0.3], "All forecasts are the same: there is no curve."),
        ([1, 1, 1], [0.3, 0.4, 0.5], "All outcomes are 1: no curve fits."),
        ([0, 0, 1], [0.3, 0.4, 0.5], "The forecasts separate events from non-events: no curve fits."),
        (
            [0, 1, 1],
            [0.0, 1.0, 1.0],
            "3 of 3 forecasts are exactly 0 or 1, have infinite log-odds and are left out. "
            "There is no curve.",
        ),
    ],
)
def test_where_no_curve_fits_the_note_states_why(y, p, note):
    curve = flexible_curve(y, p)
    assert curve.note == note
    assert len(curve.forecast) == len(curve.upper) == len(curve.knots) == 0


def test_forecasts_of_0_and_1_are_left_out_and_counted():
    curve = flexible_curve(np.append(Y, [0, 1]), np.append(P, [0, 1]))
    inner = flexible_curve(Y, P)
    np.testing.assert_array_equal(curve.probability, inner.probability)
    assert curve.note.startswith(
        "2 of 302 forecasts are exactly 0 or 1, have infinite log-odds and are left out. "
    )


def test_one_forecast_of_1_is_left_out_and_counted():
    note = flexible_curve(np.append(Y, 1), np.append(P, 1)).note
    assert note.startswith("1 of 301 forecasts is exactly 0 or 1, has infinite log-odds and is left out. ")


def test_a_fit_that_fails_is_tried_with_fewer_knots(monkeypatch):
    real = flexible_module.fit_columns
    monkeypatch.setattr(
        flexible_module,
        "fit_columns",
        lambda columns, y, w: real(columns, y, w) if len(columns) < 4 else np.full(len(columns), np.nan),
    )
    assert len(flexible_curve(Y, P).knots) == 3
    monkeypatch.setattr(flexible_module, "fit_columns", lambda columns, *_: np.full(len(columns), np.nan))
    assert flexible_curve(Y, P).note == "The fit did not converge."


def test_one_cluster_has_no_band():
    sentence = "One cluster does not show how much outcomes vary: there is no curve."
    assert flexible_curve(Y, P, cluster=np.zeros(N)).note == sentence


# What a report shows


@pytest.fixture(scope="module")
def evaluation():
    frame = pd.DataFrame({"y": Y.astype(int), "m": P, "flat": np.full(N, 0.3)})
    return sr.evaluate(frame, outcome="y", forecasts=["m", "flat"], resamples=20)


def test_tables_show_the_intervals(evaluation):
    from scorereport.report.tables.calibration_tables import distance_table
    from scorereport.report.tables.decision_tables import threshold_decision_table

    table = threshold_decision_table(evaluation.models, "95 %")
    assert table.heads.count("interval") == 6
    assert "with 95 % intervals" in table.caption
    known = [(m.model, m.calibration) for m in evaluation.models]
    distances = distance_table(known, "95 %")
    assert distances.heads[1::2] == ("ICI", "E50", "E90", "Emax", "ECE", "ECE corrected")
    assert all(cell.startswith("[") for cell in distances.rows[0][2:11:2])


def test_documents_hold_bands_and_intervals(evaluation, tmp_path):
    evaluation.to_json(tmp_path / "e.json")
    again = sr.Evaluation.from_json(tmp_path / "e.json")
    assert again == evaluation
    assert again.models[0].curves.decision.band.level == 0.95
    assert again.models[0].calibration.flexible.level == 0.9
    assert again.models[1].calibration.flexible.note == "All forecasts are the same: there is no curve."
    assert again.models[0].thresholds[0].interval("sensitivity").method == "Wilson"


def test_figures_show_curves_and_state_where_there_is_none(evaluation):
    from scorereport.plots import describe_flexible, plot_decision, plot_flexible

    assert "flat: no curve could be fitted" in describe_flexible(evaluation.models)
    assert len(plot_flexible(evaluation.models).axes) == 2
    shaded = plot_decision(evaluation.models, None).axes[0].patches
    assert len(shaded) == 2


def test_the_interval_of_an_error_of_calibration_holds_its_value():
    """No event, and forecasts that rise evenly: the lower end of the test inversion lay above the value."""
    found = expected_calibration_error(
        np.zeros(50, dtype=int), np.repeat(np.arange(0.05, 1, 0.1), 5)
    ).interval
    assert found.lower <= found.value <= found.upper
