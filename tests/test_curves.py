"""Curves as data: each is compared with another way to compute the same numbers."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_curve as sklearn_roc_curve

import scorereport as sr
from scorereport.curves.thinning import thin_roc

Y = np.array([0, 1, 0, 0, 1, 1, 0, 1])
P = np.array([0.1, 0.2, 0.3, 0.35, 0.35, 0.6, 0.7, 1.0])
FIT = sr.corp(Y, P)


@st.composite
def cases(draw, *, both_classes=False):
    size = draw(st.integers(2 if both_classes else 1, 14))
    forecast = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0]) | st.floats(0, 1)
    y = draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    if both_classes:
        y[:2] = [0, 1]
    p = draw(st.lists(forecast, min_size=size, max_size=size))
    w = draw(st.lists(st.integers(1, 4) | st.floats(0.1, 4), min_size=size, max_size=size))
    return np.array(y), np.array(p), np.array(w, dtype=np.float64)


def some_points(p):
    """Forecasts, which are knots, what lies just beside them, and points between."""
    near = np.concatenate([np.nextafter(p, 0), np.nextafter(p, 1)])
    return np.concatenate([p, near, np.linspace(0, 1, 9), [0.123, 0.777]])


def area(curve):
    """Integrate a curve that is straight between its knots."""
    return (np.diff(curve.theta) * (curve.right[:-1] + curve.left[1:]) / 2).sum()


# Reliability


def test_reliability_curve_has_the_corners_of_the_blocks():
    """Only .1 and .9 stand alone; 1 0 1 0 between them is one block of mean 1/2."""
    curve = sr.curves.reliability_curve(sr.corp([0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.6, 0.7, 0.9]))
    assert curve.forecast.tolist() == [0.1, 0.2, 0.7, 0.9]
    assert curve.cep.tolist() == [0, 1 / 2, 1 / 2, 1]
    assert curve.forecast_type == "discrete"


@given(cases())
def test_reliability_curve_rises_and_passes_through_the_recalibrated_cases(data):
    y, p, w = data
    fit = sr.corp(y, p, w)
    curve = sr.curves.reliability_curve(fit)
    assert (np.diff(curve.forecast) > 0).all()
    assert (np.diff(curve.cep) >= 0).all()
    np.testing.assert_array_equal(np.interp(p, curve.forecast, curve.cep), fit.cep)
    assert (curve.forecast[0], curve.forecast[-1]) == (p.min(), p.max())


# ROC


@given(cases(both_classes=True), st.booleans())
def test_roc_curve_agrees_with_scikit_learn(data, weighted):
    y, p, w = data
    weight = w if weighted else None
    curve = sr.curves.roc_curve(sr.corp(y, p, weight))
    fpr, tpr, threshold = sklearn_roc_curve(y, p, sample_weight=weight, drop_intermediate=False)
    np.testing.assert_array_equal(curve.threshold, threshold)
    np.testing.assert_allclose(curve.fpr, fpr, rtol=1e-14)
    np.testing.assert_allclose(curve.tpr, tpr, rtol=1e-14)
    assert curve.auc == pytest.approx(np.trapezoid(tpr, fpr), rel=1e-13, abs=1e-15)
    assert curve.auc == pytest.approx(sr.scores.roc_auc(y, p, sample_weight=weight), rel=1e-14, abs=1e-15)


@given(cases(both_classes=True))
def test_roc_hull_is_the_least_concave_curve_above_the_roc_curve(data):
    y, p, w = data
    fit = sr.corp(y, p, w)
    curve, hull = sr.curves.roc_curve(fit), sr.curves.roc_hull(fit)
    points, corners = _points(curve), _points(hull)
    steps = np.diff(corners, axis=0)
    turns = steps[:-1, 0] * steps[1:, 1] - steps[:-1, 1] * steps[1:, 0]
    assert (turns <= 1e-15).all()
    for corner, step in zip(corners[:-1], steps, strict=True):
        beside = step[0] * (points[:, 1] - corner[1]) - step[1] * (points[:, 0] - corner[0])
        assert beside.max() <= 1e-14
    assert all(np.abs(points - corner).max(axis=1).min() <= 1e-14 for corner in corners)
    assert hull.auc == pytest.approx(np.trapezoid(hull.tpr, hull.fpr), rel=1e-13)
    assert hull.auc >= curve.auc - 1e-15


def _points(curve):
    return np.column_stack([curve.fpr, curve.tpr])


@given(cases(both_classes=True))
def test_roc_hull_is_the_roc_curve_of_the_recalibrated_forecast(data):
    y, p, _ = data
    fit = sr.corp(y, p)
    assert sr.curves.roc_hull(fit).auc == pytest.approx(sr.scores.roc_auc(y, fit.cep), rel=1e-14)


@pytest.mark.parametrize("y", [0, 1])
def test_roc_of_one_class_is_not_defined(y):
    curve = sr.curves.roc_curve(sr.corp([y, y], [0.2, 0.7]))
    assert np.isnan(curve.auc)
    assert np.isnan(curve.fpr if y == 1 else curve.tpr).all()
    assert len(curve.threshold) == len(curve.fpr) == len(curve.tpr) == 3


# Murphy


@given(cases())
def test_murphy_curve_is_the_mean_elementary_score(data):
    y, p, w = data
    curve = sr.curves.murphy_curves(sr.corp(y, p, w)).score
    for theta in some_points(p):
        mean = np.average(sr.scores.elementary(y, p, theta=theta), weights=w)
        assert curve.at(theta).item() == pytest.approx(mean, abs=1e-14), theta


@given(cases())
def test_murphy_curves_integrate_to_the_brier_decomposition(data):
    fit = sr.corp(*data)
    curves, d = sr.curves.murphy_curves(fit), fit.decompose("brier")
    for part in ("score", "miscalibration", "discrimination", "uncertainty"):
        assert area(getattr(curves, part)) == pytest.approx(getattr(d, part), abs=1e-14), part


@given(cases())
def test_murphy_curves_decompose_every_elementary_score(data):
    y, p, w = data
    fit = sr.corp(y, p, w)
    curves = sr.curves.murphy_curves(fit)
    for theta in [*some_points(p), *fit.blocks.mean, fit.prevalence]:
        d = fit.decompose("elementary", theta=theta)
        for part in ("score", "miscalibration", "discrimination", "uncertainty"):
            value = getattr(curves, part).at(theta).item()
            assert value == pytest.approx(getattr(d, part), abs=1e-14), (part, theta)


def test_murphy_curve_by_hand():
    """One case of y = 1 at .25 and one of y = 0 at .5: 1 - θ of a miss above .25, θ of an alarm below .5."""
    curve = sr.curves.murphy_curves(sr.corp([1, 0], [0.25, 0.5])).score
    assert curve.theta.tolist() == [0, 0.25, 0.5, 1]
    assert curve.left.tolist() == [0, 0.25, 1, 0]
    assert curve.right.tolist() == [0, 1, 0.5, 0]
    assert curve.at([0.125, 0.25, 0.375, 0.5]).tolist() == [0.125, 0.25 * 0.75 + 0.25, 1, 0.5 * 0.5 + 0.5]


def test_murphy_curve_is_not_defined_outside_the_unit_interval():
    with pytest.raises(sr.DataError) as refusal:
        sr.curves.murphy_curves(FIT).score.at([0.5, 1.5])
    assert str(refusal.value) == "`theta` must lie in [0, 1]; got 1.5 at row 1 (1 of 2 rows)."


# Regret and net benefit


@given(cases())
def test_regret_curve_is_the_mean_regret(data):
    y, p, w = data
    curve = sr.curves.regret_curve(sr.corp(y, p, w))
    for cost in [*some_points(p), 0.0, 1.0]:
        mean = np.average(sr.scores.regret(y, p, cost=cost), weights=w)
        assert curve.at(cost).item() == pytest.approx(mean, abs=1e-14), cost


@given(cases())
def test_regret_curve_integrates_to_half_the_brier_score(data):
    y, p, w = data
    curve = sr.curves.regret_curve(sr.corp(y, p, w))
    assert area(curve) == pytest.approx(np.average(sr.scores.brier(y, p), weights=w) / 2, abs=1e-14)


@given(cases())
def test_decision_curve_is_the_mean_net_benefit(data):
    y, p, w = data
    asked = some_points(p)
    asked = asked[asked < 0.99]
    curve = sr.curves.decision_curve(sr.corp(y, p, w), thresholds=asked)
    np.testing.assert_array_equal(curve.threshold, asked)
    for k, t in enumerate(asked):
        mean = np.average(sr.scores.net_benefit(y, p, threshold=t), weights=w)
        all_treated = np.average(sr.scores.net_benefit(y, np.ones(len(y)), threshold=t), weights=w)
        assert curve.net_benefit[k] == pytest.approx(mean, rel=1e-13, abs=1e-13)
        assert curve.treat_all[k] == pytest.approx(all_treated, rel=1e-13, abs=1e-13)
    assert not curve.treat_none.any()


@given(cases())
def test_decision_curve_beyond_a_threshold_is_its_limit_from_the_right(data):
    y, p, w = data
    fit, asked = sr.corp(y, p, w), p[p < 0.99]
    if len(asked) == 0:
        return
    beyond = sr.curves.decision_curve(fit, thresholds=asked).beyond
    next_values = sr.curves.decision_curve(fit, thresholds=np.nextafter(asked, 1)).net_benefit
    np.testing.assert_allclose(beyond, next_values, rtol=1e-12, atol=1e-13)


def test_decision_curve_by_default_has_every_forecast_and_percent():
    curve = sr.curves.decision_curve(FIT, lower=0.105, upper=0.355)
    percents = np.linspace(0, 1, 101)[11:36]
    expected = np.unique(np.concatenate([[0.105, 0.355], percents, [0.2, 0.3, 0.35]]))
    np.testing.assert_array_equal(curve.threshold, expected)
    assert curve.prevalence == 1 / 2
    default = sr.curves.decision_curve(FIT).threshold
    assert (default[0], default[-1]) == (0, 0.99)


@pytest.mark.parametrize(("lower", "upper"), [(0.05, 0.2), (0.15, 0.65), (0.3, 0.95)])
def test_area_on_a_rescaled_axis_is_a_bounded_score(lower, upper):
    fine = np.union1d(np.linspace(lower, upper, 20_001), [p for p in P if lower < p < upper])
    curve = sr.curves.decision_curve(FIT, thresholds=fine)

    def between_prevalence_and_net_benefit(axis):
        right, left = curve.prevalence - curve.beyond[:-1], curve.prevalence - curve.net_benefit[1:]
        return (np.diff(curve.position(axis)) * (right + left) / 2).sum()

    ends = {"lower": lower, "upper": upper, "scale": "difference"}
    brier, log = sr.scores.bounded_brier(Y, P, **ends), sr.scores.bounded_log_loss(Y, P, **ends)
    assert between_prevalence_and_net_benefit("quadratic") == pytest.approx(brier.mean() / 2, abs=1e-8)
    assert between_prevalence_and_net_benefit("log") == pytest.approx(log.mean(), abs=1e-7)
    np.testing.assert_array_equal(curve.position(), curve.threshold)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"thresholds": [0.5, 1.0]}, "`thresholds` must be below 1, where net benefit is not defined."),
        ({"lower": 0.5, "upper": 0.5}, "`lower` must be below `upper`; got 0.5 and 0.5."),
        ({"upper": 1.0}, "`upper` must lie in [0, 1); got 1."),
    ],
)
def test_decision_curve_refuses_thresholds(options, sentence):
    with pytest.raises(sr.UsageError) as refusal:
        sr.curves.decision_curve(FIT, **options)
    assert str(refusal.value) == sentence


def test_an_unknown_axis_is_refused():
    with pytest.raises(sr.UsageError) as refusal:
        sr.curves.decision_curve(FIT).position("square")
    assert str(refusal.value) == '`axis` must be one of "linear", "quadratic", "log"; got \'square\'.'


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("roc_curve", "An ROC curve"),
        ("roc_hull", "An ROC curve"),
        ("murphy_curves", "A Murphy curve"),
        ("regret_curve", "A regret curve"),
        ("decision_curve", "A decision curve"),
    ],
)
def test_curves_of_decisions_refuse_real_outcomes(name, what):
    fit = sr.corp([0.0, 5.0], [2.0, 8.0], functional="mean")
    with pytest.raises(sr.UsageError) as refusal:
        getattr(sr.curves, name)(fit)
    assert str(refusal.value) == f"{what} needs outcomes 0 and 1; this fit is of the mean of real outcomes."


# Decisions at thresholds


@given(cases(both_classes=True))
def test_threshold_table_agrees_with_the_curves_and_with_counting(data):
    y, p, w = data
    fit = sr.corp(y, p, w)
    t = np.unique(np.append(some_points(p), 1.0))
    rows = sr.curves.threshold_table(fit, thresholds=t)
    column = {f.name: np.array([getattr(row, f.name) for row in rows]) for f in fields(rows[0])}
    assert column["threshold"].tolist() == t.tolist()
    below = t < 1
    curve = sr.curves.decision_curve(fit, thresholds=t[below])
    np.testing.assert_allclose(column["net_benefit"][below], curve.net_benefit, rtol=1e-12, atol=1e-12)
    assert np.isnan(column["net_benefit"][~below]).all()
    np.testing.assert_allclose(column["regret"], sr.curves.regret_curve(fit).at(t), rtol=1e-12, atol=1e-15)
    is_flagged = p >= t[:, None]
    expected = {
        "flagged": share(w, np.ones_like(is_flagged), is_flagged),
        "sensitivity": share(w, y == 1, is_flagged),
        "specificity": share(w, y == 0, ~is_flagged),
        "positive_predictive_value": share(w, is_flagged, y == 1),
        "negative_predictive_value": share(w, ~is_flagged, y == 0),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(column[name], values, rtol=1e-12, atol=1e-12, err_msg=name)


def share(w, of, those):
    """In each row, the share of some cases that are also others; NaN if there are none."""
    total = (w * of).sum(axis=-1)
    return np.where(total > 0, (w * (of & those)).sum(axis=-1) / np.where(total > 0, total, 1), np.nan)


@pytest.mark.parametrize("outcome", [0, 1])
def test_threshold_table_of_one_class_has_no_rate_of_the_other(outcome):
    (row,) = sr.curves.threshold_table(sr.corp([outcome] * 3, [0.2, 0.3, 0.9]), thresholds=[0.3])
    assert np.isnan(row.specificity if outcome else row.sensitivity)
    assert (row.sensitivity if outcome else row.specificity) == pytest.approx(2 / 3 if outcome else 1 / 3)
    assert row.positive_predictive_value == outcome
    assert row.regret == pytest.approx(0.7 / 3 if outcome else 0.3 * 2 / 3)


def test_threshold_table_where_no_case_or_every_case_is_flagged():
    low, high = sr.curves.threshold_table(FIT, thresholds=[0.05, 1.0])
    assert (low.flagged, low.sensitivity, low.specificity) == (1, 1, 0)
    assert np.isnan(low.negative_predictive_value)
    assert low.positive_predictive_value == 0.5
    (none,) = sr.curves.threshold_table(sr.corp(Y, P / 2), thresholds=[0.9])
    assert (none.flagged, none.sensitivity, none.specificity, none.net_benefit) == (0, 0, 1, 0)
    assert np.isnan(none.positive_predictive_value)
    assert high.flagged == 1 / 8


def test_threshold_table_refuses_real_outcomes():
    fit = sr.corp([0.0, 5.0], [2.0, 8.0], functional="mean")
    with pytest.raises(sr.UsageError, match=r"^A threshold table needs outcomes 0 and 1; this fit is of the"):
        sr.curves.threshold_table(fit, thresholds=[0.5])


def test_threshold_table_refuses_thresholds_outside_the_unit_interval():
    with pytest.raises(
        sr.DataError, match=r"^`thresholds` must lie in \[0, 1\]; got 1\.2 at row 1 \(1 of 2 rows\)\.$"
    ):
        sr.curves.threshold_table(FIT, thresholds=[0.5, 1.2])


# Histogram


@given(cases())
def test_histogram_counts_every_case_once(data):
    y, p, w = data
    fit = sr.corp(y, p, w)
    bars = sr.curves.forecast_histogram(fit)
    assert bars.n.sum() == pytest.approx(w.sum(), rel=1e-14)
    assert bars.events.sum() == pytest.approx((w * y).sum(), rel=1e-14)
    assert (bars.lower[0], bars.upper[-1]) == (p.min(), p.max())
    assert (bars.events <= bars.n + 1e-14 * w.sum()).all()


def test_histogram_of_discrete_forecasts_has_one_bar_per_value():
    bars = sr.curves.forecast_histogram(sr.corp([0, 1, 1, 0], [0.2, 0.5, 0.2, 0.9]))
    assert bars.lower.tolist() == bars.upper.tolist() == [0.2, 0.5, 0.9]
    assert (bars.n.tolist(), bars.events.tolist()) == ([2, 1, 1], [1, 1, 0])
    assert bars.rule == "one bar per distinct forecast"


def test_histogram_of_a_constant_forecast_is_one_bar():
    bars = sr.curves.forecast_histogram(sr.corp([0, 1, 1], [0.3] * 3))
    assert (bars.lower.tolist(), bars.n.tolist(), bars.events.tolist()) == ([0.3], [3], [2])


def test_histogram_of_continuous_forecasts_follows_freedman_and_diaconis():
    """n = 1000 at .0005, .0015, ...: IQR .4995, width 2 (.4995)/10 = .0999, so .999/.0999 = 10 bins."""
    p = (np.arange(1000) + 0.5) / 1000
    bars = sr.curves.forecast_histogram(sr.corp(np.arange(1000) % 2, p))
    np.testing.assert_allclose(bars.lower, 0.0005 + 0.0999 * np.arange(10), rtol=1e-12)
    np.testing.assert_array_equal(bars.lower[1:], bars.upper[:-1])
    assert bars.upper[-1] == 0.9995
    assert bars.n.tolist() == [100] * 10
    assert bars.rule == "Freedman-Diaconis"


def test_histogram_has_five_bins_at_least():
    """n = 8: IQR .525 - .175 = .35 = width, so .605/.35 would give 2."""
    p = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.605]
    bars = sr.curves.forecast_histogram(sr.corp([0] * 8, p))
    np.testing.assert_allclose(bars.upper, 0.121 * np.arange(1, 6), rtol=1e-14)
    assert bars.n.tolist() == [2, 1, 1, 1, 3]


def test_histogram_without_spread_has_bins_of_one_in_400():
    """98 of 100 forecasts are equal, so the IQR is 0: .6/(1/400) = 240 bins."""
    p = np.array([0.3] * 98 + [0.305, 0.9])
    bars = sr.curves.forecast_histogram(sr.corp([0] * 100, p))
    assert len(bars.n) == 240
    assert (bars.n[0], bars.n[2], bars.n[-1], bars.n.sum()) == (98, 1, 1, 100)


@given(st.lists(st.integers(1, 4), min_size=30, max_size=30))
def test_histogram_with_whole_weights_equals_repeated_rows(weight):
    p = np.linspace(0, 1, 30) ** 2
    weighted = sr.curves.forecast_histogram(sr.corp([0] * 30, p, weight))
    repeated = sr.curves.forecast_histogram(sr.corp([0] * sum(weight), np.repeat(p, weight)))
    np.testing.assert_array_equal(weighted.upper, repeated.upper)
    np.testing.assert_array_equal(weighted.n, repeated.n)


# Retention

LABELS = np.array([0, 2, 1, 1, 0, 2, 1, 0])
TABLE = np.array(
    [[3, 1, 0], [0, 2, 2], [1, 2, 1], [2, 1, 1], [2, 2, 0], [0, 2, 2], [2, 1, 1], [1, 2, 1]], dtype=float
)
TABLE /= TABLE.sum(axis=1, keepdims=True)


def test_histogram_counts_are_those_of_numpy():
    """Forecasts at the edges belong to the bin above, and the largest to the last bin."""
    rng = np.random.default_rng(7)
    p = np.round(rng.beta(1, 2, 3000), 3)
    y = rng.random(3000) < p
    for w, weight in ((np.ones(3000), None), (rng.random(3000),) * 2):
        bars = sr.curves.forecast_histogram(sr.corp(y, p, weight))
        edges = np.append(bars.lower, bars.upper[-1])
        np.testing.assert_allclose(bars.n, np.histogram(p, edges, weights=w)[0], rtol=1e-12)
        np.testing.assert_allclose(bars.events, np.histogram(p, edges, weights=w * y)[0], rtol=1e-12)


@pytest.mark.parametrize("metric", ["quadratic_weighted_kappa", "expected_cost", "accuracy"])
@pytest.mark.parametrize("score", ["rps", "multiclass_brier", "penalized_brier"])
def test_retention_does_not_depend_on_the_order_of_rows(score, metric):
    fractions = np.arange(8) / 8
    options = {"score": score, "metric": metric, "fractions": fractions}
    curve = sr.curves.retention_curve(LABELS, TABLE, **options)
    random = np.random.default_rng(3)
    for _ in range(30):
        order = random.permutation(len(LABELS))
        shuffled = sr.curves.retention_curve(LABELS[order], TABLE[order], **options)
        np.testing.assert_array_equal(shuffled.value, curve.value)
    assert curve.n_retained.tolist() == [8, 7, 6, 5, 4, 3, 2, 1]
    assert (curve.score, curve.metric) == (score, metric)


@pytest.mark.parametrize("percent", range(0, 100, 7))
def test_retention_removes_the_whole_part_of_a_fraction(percent):
    """0.07 of 100 are 7 cases, though 0.07 * 100 is not 7 in floating point."""
    y, p = np.zeros(100), np.tile([0.75, 0.25], (100, 1))
    curve = sr.curves.retention_curve(y, p, metric="accuracy", fractions=[percent / 100])
    assert curve.n_retained.tolist() == [100 - percent]


def test_retention_takes_functions():
    curve = sr.curves.retention_curve(
        [0, 1, 1],
        [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]],
        score=lambda y, p: -p[np.arange(len(y)), y],
        metric=lambda y, label: float((y != label).sum()),
        fractions=[0, 0.5, 0.7],
    )
    assert curve.value.tolist() == [1, 0, 0]
    assert curve.area == pytest.approx(0.5 * (1 + 0) / 2, rel=1e-15)


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"fractions": [0, 1]}, sr.UsageError, "`fractions` must leave a case; 1 of 8 leaves none."),
        (
            {"fractions": [0, -0.5]},
            sr.DataError,
            "`fractions` must lie in [0, 1]; got -0.5 at row 1 (1 of 2 rows).",
        ),
        (
            {"metric": "kappa"},
            sr.UsageError,
            '`metric` must be one of "quadratic_weighted_kappa", "expected_cost", "accuracy", "macro_f1"; '
            "got 'kappa'.",
        ),
    ],
)
def test_retention_refuses(options, error, sentence):
    with pytest.raises(error) as refusal:
        sr.curves.retention_curve(LABELS, TABLE, **options)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    ("score", "kind"),
    [
        ("decisiveness", "probabilities given to what happened."),
        ("quadratic_weighted_kappa", "hard class labels."),
        ("brier", "probability of an event. Did you mean `multiclass_brier`?"),
    ],
)
def test_retention_refuses_scores_that_do_not_score_classes_case_by_case(score, kind):
    with pytest.raises(sr.UsageError) as refusal:
        sr.curves.retention_curve(LABELS, TABLE, score=score)
    assert str(refusal.value) == (
        f"`score` must score class probabilities case by case; '{score}' scores {kind}"
    )


# Results cannot be changed


@pytest.mark.parametrize(
    "result",
    [
        FIT,
        FIT.blocks,
        FIT.distinct,
        sr.curves.reliability_curve(FIT),
        sr.curves.roc_curve(FIT),
        sr.curves.roc_hull(FIT),
        sr.curves.murphy_curves(FIT).score,
        sr.curves.murphy_curves(FIT).miscalibration,
        sr.curves.murphy_curves(FIT).discrimination,
        sr.curves.murphy_curves(FIT).uncertainty,
        sr.curves.regret_curve(FIT),
        sr.curves.decision_curve(FIT),
        sr.curves.decision_curve(FIT, thresholds=np.array([0.1, 0.2])),
        sr.curves.forecast_histogram(FIT),
        sr.curves.forecast_histogram(sr.corp(Y, P + np.arange(8) / 1e4 - 1e-3)),
        sr.curves.retention_curve(LABELS, TABLE),
        sr.scores.probability_scale(LABELS, TABLE, n_bins=3),
    ],
    ids=lambda result: type(result).__name__,
)
def test_results_are_read_only(result):
    arrays = [value for f in fields(result) if isinstance(value := getattr(result, f.name), np.ndarray)]
    assert arrays
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises((AttributeError, TypeError)):
        setattr(result, fields(result)[0].name, None)


def test_arrays_given_stay_writable():
    fractions, thresholds = np.array([0.0, 0.25]), np.array([0.1, 0.2])
    sr.curves.retention_curve(LABELS, TABLE, fractions=fractions)
    sr.curves.decision_curve(FIT, thresholds=thresholds)
    assert fractions.flags.writeable
    assert thresholds.flags.writeable


@pytest.mark.parametrize("outcome", [0.0, 1.0])
def test_a_thinned_roc_curve_of_one_class_is_even_along_the_other(outcome):
    curve = sr.curves.roc_curve(sr.corp(np.full(500, outcome), np.arange(1, 501) / 501))
    thin = thin_roc(curve, 40)
    absent, known = (thin.fpr, thin.tpr) if outcome else (thin.tpr, thin.fpr)
    assert np.isnan(absent).all()
    assert 30 <= len(known) <= 42
    assert np.diff(known).max() < 0.06


@pytest.mark.parametrize("unit", [2.0**-330, 2.0**329])
def test_the_auc_does_not_depend_on_the_unit_of_weights(unit):
    y, p, w = np.array([0, 1, 0, 1, 1]), np.array([0.2, 0.4, 0.4, 0.7, 0.1]), np.array([1.0, 2, 4, 1, 2])
    assert sr.scores.roc_auc(y, p, sample_weight=unit * w) == sr.scores.roc_auc(y, p, sample_weight=w)
