"""Retention curves with their bands, the figure, the tables and the section of a report."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import scorereport as sr
from scorereport._utils import json_documents
from scorereport.curves.retention import order_for_retention
from scorereport.inference.class_panel import make_class_panel
from scorereport.inference.retention_bands import RetentionBand, retain_panel, retention_band
from scorereport.plots import describe_retention, plot_retention, render_svg
from scorereport.reliability.sampling import random_stream
from scorereport.report.section_parts import draw_parts
from scorereport.report.sections.retention_section import RETENTION, describe_retention_section
from scorereport.report.tables.retention_tables import describe_best_scores, retention_table
from scorereport.report.templates import render_html
from scorereport.results.class_records import ClassModelResult, Confusion
from scorereport.results.model_records import ModelScores

METRICS = ["quadratic_weighted_kappa", "expected_cost", "accuracy", "macro_f1"]
SCORES = ["multiclass_brier", "multiclass_log_loss", "rps", "sa_rps"]
FRACTIONS = [0, 0.1, 0.25, 0.4]


def make_cases(n=60, n_classes=4, seed=5):
    """Forecasts on a coarse grid, so that scores tie, and classes drawn from them."""
    rng = np.random.default_rng(seed)
    p = rng.integers(0, 4, (n, n_classes)) + np.eye(n_classes)[rng.integers(0, n_classes, n)]
    p = p / p.sum(axis=1, keepdims=True)
    y = (rng.random((n, 1)) > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return y, p


Y, P = make_cases()
WEIGHTS = {
    "none": None,
    "whole": np.random.default_rng(1).integers(0, 4, len(Y)),
    "fractional": np.random.default_rng(2).random(len(Y)),
}


# Definitions as slow, plain code


def naive_metric(metric, y, label, weight, n_classes, cost=None):
    table = np.zeros((n_classes, n_classes))
    for i, j, w in zip(y, label, weight, strict=True):
        table[i, j] += w
    distance = np.array([[(i - j) ** 2 for j in range(n_classes)] for i in range(n_classes)])
    if metric == "accuracy":
        return sum(table[k, k] for k in range(n_classes)) / table.sum()
    if metric == "expected_cost":
        return (
            (distance / (n_classes - 1) ** 2 if cost is None else np.array(cost)) * table
        ).sum() / table.sum()
    if metric == "quadratic_weighted_kappa":
        chance = (distance * np.outer(table.sum(axis=1), table.sum(axis=0))).sum() / table.sum()
        return 1 - (distance * table).sum() / chance if chance else np.nan
    both = [table[k].sum() + table[:, k].sum() for k in range(n_classes)]
    return float(np.mean([2 * table[k, k] / both[k] for k in range(n_classes) if both[k]]))


def naive_curve(y, p, score, metric, fractions):
    """Rows without weights: sort, drop the last floor(f n), compute the metric of the rest."""
    per_case, label = sr.scores.get_score(score).function(y, p).round(12), p.argmax(axis=1)
    rows = sorted(range(len(y)), key=lambda i: (per_case[i], y[i], label[i]))
    kept = [rows[: len(y) - int(np.floor(f * len(y) + 1e-9))] for f in fractions]
    return [naive_metric(metric, y[k], label[k], np.ones(len(k)), p.shape[1]) for k in kept]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("score", ["rps", "penalized_log_loss"])
def test_the_curve_follows_its_definition(score, metric):
    curve = sr.curves.retention_curve(Y, P, score=score, metric=metric, fractions=FRACTIONS)
    np.testing.assert_allclose(curve.value, naive_curve(Y, P, score, metric, FRACTIONS), rtol=1e-13)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("score", ["rps", "multiclass_log_loss"])
def test_the_middle_of_the_band_is_the_retention_curve_to_the_last_bit(score, metric, weights):
    options = {"score": score, "metric": metric, "fractions": FRACTIONS, "sample_weight": WEIGHTS[weights]}
    curve, band = sr.curves.retention_curve(Y, P, **options), retention_band(Y, P, **options, resamples=5)
    np.testing.assert_array_equal(band.value, curve.value)
    np.testing.assert_array_equal(band.n_retained, curve.n_retained)
    np.testing.assert_array_equal(band.fraction, curve.fraction)
    assert band.area.value == curve.area
    assert (band.score, band.metric) == (score, metric)


@pytest.mark.parametrize("is_counted", [True, False])
def test_a_queue_is_cut_under_many_weightings_at_once(is_counted):
    rng = np.random.default_rng(8)
    weights = rng.integers(0, 4, (5, len(Y))) + (0.0 if is_counted else rng.random((5, len(Y))))
    weight = None if is_counted else np.linspace(0.5, 1.5, len(Y))
    queue = order_for_retention(Y, P, "rps", weight=weight, fraction=np.array(FRACTIONS))
    together = queue.cut(weights)
    labels = iter(together.labels())
    for place, one in enumerate(weights):
        alone = queue.cut(one[None])
        for name in ("retained", "last", "part", "tables"):
            assert getattr(together, name)[place].tolist() == getattr(alone, name)[0].tolist()
        for retained, table in zip(alone.retained[0], alone.tables[0], strict=True):
            y, label, stays = next(labels)
            assert stays.sum() == pytest.approx(retained)
            assert table == pytest.approx(np.bincount(4 * y + label, stays, 16).reshape(4, 4), abs=1e-12)
    assert next(labels, None) is None


def test_fractional_weights_are_set_aside_in_part():
    """Weights 0.5, 0.5 and 1.5: a fifth of 2.5 removes the worst case, 0.3 another quarter."""
    y, p, w = [0, 0, 0], [[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]], [0.5, 0.5, 1.5]
    curve = sr.curves.retention_curve(y, p, metric="accuracy", fractions=[0, 0.1, 0.2, 0.3], sample_weight=w)
    np.testing.assert_allclose(curve.value, [2 / 2.5, 2 / 2.25, 1, 1], rtol=1e-15)
    np.testing.assert_allclose(curve.n_retained, [2.5, 2.25, 2, 1.75], rtol=1e-15)


def test_fractional_weights_may_have_any_sum():
    w = WEIGHTS["fractional"]
    one, other = (
        sr.curves.retention_curve(Y, P, fractions=FRACTIONS, sample_weight=v) for v in (w, w / w.sum() / 3)
    )
    np.testing.assert_allclose(one.value, other.value, rtol=1e-12)
    assert len(set(one.value)) == len(FRACTIONS)


def test_the_area_in_percent_is_a_hundred_times_as_large():
    """Cases (0, 0), (1, 0), (1, 1): the accuracy is 2/3, and 1 without the worst case."""
    y, p = [0, 1, 1], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]
    band = retention_band(y, p, metric="accuracy", fractions=[0, 0.2, 0.4], resamples=20)
    area = 0.2 * 2 / 3 + 0.2 * (2 / 3 + 1) / 2
    assert band.area.value == pytest.approx(area, rel=1e-14)
    assert band.area_percent.value == 100 * band.area.value
    assert band.area_percent.lower == 100 * band.area.lower
    assert band.area_percent.upper == 100 * band.area.upper
    assert band.area.measure == "area under retention of accuracy by rps"
    assert band.area_percent.measure == "area under retention of accuracy by rps, in percent"
    assert sr.curves.retention_curve(y, p, metric="accuracy", fractions=[0, 0.4]).area_percent == (
        pytest.approx(100 * 0.4 * (2 / 3 + 1) / 2, rel=1e-14)
    )


# The bootstrap


@pytest.mark.parametrize("metric", METRICS)
def test_bands_and_intervals_are_those_of_resampled_rows(metric):
    """The same draws, with rows taken one by one, sorted again and evaluated by slow code."""
    y, p = make_cases(n=17, n_classes=3)
    panel = make_class_panel(y, {"p": p})
    y, p = panel.outcome, panel.forecasts["p"]
    band = retention_band(y, p, metric=metric, fractions=FRACTIONS, resamples=40, seed=7, level=0.8)
    drawn = [random_stream(7, number).integers(0, 17, 17) for number in range(40)]
    curves = np.array([naive_curve(y[rows], p[rows], "rps", metric, FRACTIONS) for rows in drawn])
    areas = np.trapezoid(curves, FRACTIONS, axis=1)
    lower, upper = np.quantile(curves, [0.1, 0.9], axis=0)
    np.testing.assert_allclose(band.lower, lower, rtol=1e-12)
    np.testing.assert_allclose(band.upper, upper, rtol=1e-12)
    assert (band.area.lower, band.area.upper) == pytest.approx(np.quantile(areas, [0.1, 0.9]), rel=1e-12)
    assert band.area.standard_error == pytest.approx(areas.std(ddof=1), rel=1e-12)
    assert band.area.method == "percentile bootstrap, 40 resamples of rows, seed 7"
    assert (band.level, band.area.level, band.resamples, band.seed, band.area.n) == (0.8, 0.8, 40, 7, 17)
    assert (band.note, band.area.note) == ("", "")


def test_clusters_are_drawn_whole():
    y, p = make_cases(n=12, n_classes=3)
    panel = make_class_panel(y, {"p": p}, cluster=np.arange(12) // 3)
    band = retention_band(
        y, p, metric="accuracy", fractions=[0, 0.3], resamples=30, seed=3, cluster=np.arange(12) // 3
    )
    areas = []
    for number in range(30):
        clusters = random_stream(3, number).integers(0, 4, 4)
        rows = np.concatenate([np.flatnonzero(panel.cluster == c) for c in clusters])
        values = naive_curve(panel.outcome[rows], panel.forecasts["p"][rows], "rps", "accuracy", [0, 0.3])
        areas.append(0.3 * sum(values) / 2)
    assert (band.area.lower, band.area.upper) == pytest.approx(np.quantile(areas, [0.025, 0.975]), rel=1e-12)
    assert band.area.method == "percentile bootstrap, 30 resamples of clusters, seed 3"


@pytest.mark.sweep
def test_whole_weights_are_repeated_rows():
    w = WEIGHTS["whole"]
    weighted = retention_band(Y, P, fractions=FRACTIONS, sample_weight=w, resamples=0)
    repeated = retention_band(np.repeat(Y, w), np.repeat(P, w, axis=0), fractions=FRACTIONS, resamples=0)
    np.testing.assert_array_equal(weighted.value, repeated.value)
    np.testing.assert_array_equal(weighted.n_retained, repeated.n_retained)
    assert weighted.area.n == repeated.area.n == w.sum()


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_order_of_rows_does_not_matter(weights):
    w = WEIGHTS[weights]
    first = json_documents.dump(retention_band(Y, P, sample_weight=w, resamples=10))
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(Y))
        shuffled = retention_band(
            Y[order], P[order], sample_weight=None if w is None else w[order], resamples=10
        )
        assert json_documents.dump(shuffled) == first


def test_all_scores_and_metrics_share_the_resamples():
    cost = np.array([[0, 1, 2, 9], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]])
    panel = make_class_panel(Y, {"a": P, "b": P[:, ::-1]})
    options = {"fractions": FRACTIONS, "resamples": 12, "level": 0.9, "seed": 4}
    bands = retain_panel(panel, "b", scores=SCORES, metrics=METRICS, cost=cost, **options)
    assert [(b.score, b.metric) for b in bands] == [(s, m) for s in SCORES for m in METRICS]
    costs = {"expected_cost": cost}
    for band in bands:
        (alone,) = retain_panel(
            panel, "b", scores=[band.score], metrics=[band.metric], cost=costs.get(band.metric), **options
        )
        assert json_documents.dump(alone) == json_documents.dump(band)


def test_threads_do_not_change_the_band(monkeypatch):
    monkeypatch.setattr("scorereport._utils.machine._ROWS_WORTH_A_THREAD", 1)
    with monkeypatch.context() as alone:
        alone.setenv("SCOREREPORT_THREADS", "1")
        first = json_documents.dump(retention_band(Y, P))
    monkeypatch.setenv("SCOREREPORT_THREADS", "3")
    assert json_documents.dump(retention_band(Y, P)) == first


def test_a_band_survives_its_document():
    band = retention_band(Y, P, fractions=FRACTIONS, resamples=3)
    text = json_documents.dump(band)
    again = json_documents.load(RetentionBand, text, "The text")
    assert json_documents.dump(again) == text
    assert again.area == band.area
    with pytest.raises(ValueError, match="read-only"):
        band.value[0] = 0


# Functions in place of names


def share_wrong(y, label, sample_weight=None):
    assert sample_weight is None or sample_weight.min() > 0
    return float(np.average(y != label, weights=sample_weight))


def count_right_without_weights(y, label):
    return float((y == label).sum() / len(y))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_metric_given_as_a_function_equals_the_known_one(weights):
    options = {"fractions": FRACTIONS, "sample_weight": WEIGHTS[weights], "resamples": 15}
    known, own = (retention_band(Y, P, metric=metric, **options) for metric in ("accuracy", share_wrong))
    np.testing.assert_allclose(own.value, 1 - known.value, rtol=1e-12)
    np.testing.assert_allclose(own.lower, 1 - known.upper, rtol=1e-12)
    np.testing.assert_allclose(own.upper, 1 - known.lower, rtol=1e-12)
    assert own.area.value == pytest.approx(0.4 - known.area.value, rel=1e-12)
    assert own.metric == "share_wrong"


@pytest.mark.parametrize("resamples", [0, 7])
def test_a_metric_is_called_once_for_each_resample_and_fraction(resamples):
    calls = []

    def count(y, _label):
        calls.append(len(y))
        return 0.5

    retention_band(Y, P, metric=count, fractions=FRACTIONS, resamples=resamples)
    assert len(calls) == (resamples + 1) * len(FRACTIONS)  # and once for the rows themselves


def test_a_metric_without_weights_gets_drawn_cases_repeated():
    known, own = (
        retention_band(Y, P, metric=metric, resamples=15)
        for metric in ("accuracy", count_right_without_weights)
    )
    np.testing.assert_allclose(own.lower, known.lower, rtol=1e-12)
    np.testing.assert_allclose(own.upper, known.upper, rtol=1e-12)


def test_a_score_given_as_a_function_equals_the_known_one():
    def squared(y, p):
        return ((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1)

    known, own = (retention_band(Y, P, score=score) for score in ("multiclass_brier", squared))
    np.testing.assert_array_equal(own.lower, known.lower)
    assert own.score == "squared"


# Edge cases


def test_two_classes_need_no_special_case():
    """With two classes, the RPS orders cases like the Brier score, and kappa is Cohen's."""
    y, of_first = make_cases(n=40, n_classes=2)[0], np.random.default_rng(8).integers(0, 17, 40) / 16
    p = np.column_stack([of_first, 1 - of_first])  # sixteenths, so that ties of scores are exact
    by_rps, by_brier = (retention_band(y, p, score=score) for score in ("rps", "multiclass_brier"))
    np.testing.assert_array_equal(by_rps.value, by_brier.value)
    label = p.argmax(axis=1)
    agreed, expected = (y == label).mean(), y.mean() * label.mean() + (1 - y.mean()) * (1 - label.mean())
    assert by_rps.value[0] == pytest.approx((agreed - expected) / (1 - expected), rel=1e-12)


def test_a_class_that_was_never_observed_changes_no_accuracy():
    wide = np.column_stack([P, np.zeros(len(P))])
    for metric in ("accuracy", "macro_f1", "quadratic_weighted_kappa"):
        one, other = (
            retention_band(Y, p, metric=metric, fractions=FRACTIONS, resamples=8) for p in (P, wide)
        )
        if metric == "quadratic_weighted_kappa":
            assert np.isfinite(other.value).all()
        else:
            np.testing.assert_allclose(other.value, one.value, rtol=1e-12)
            np.testing.assert_allclose(other.lower, one.lower, rtol=1e-12)


@pytest.mark.parametrize(
    ("metric", "value"),
    [("accuracy", 1), ("macro_f1", 1), ("expected_cost", 0), ("quadratic_weighted_kappa", 1)],
)
def test_perfect_predictions_stay_perfect(metric, value):
    y = np.arange(30) % 3
    p = np.where(np.eye(3)[y] == 1, 0.8, 0.1)
    band = retention_band(y, p, metric=metric, fractions=[0, 0.2, 0.5], sample_weight=np.full(30, 0.1))
    assert band.value.tolist() == pytest.approx([value] * 3, rel=1e-14)
    assert band.lower.tolist() == pytest.approx([value] * 3, rel=1e-14)
    assert (band.area.lower, band.area.upper) == pytest.approx((value / 2, value / 2), rel=1e-14)


def test_one_row_has_no_spread():
    band = retention_band([1], [[0.2, 0.8]], metric="accuracy", fractions=[0, 0.5])
    assert band.value.tolist() == [1, 1]
    assert np.isnan([*band.lower, *band.upper, band.area.lower, band.area.upper]).all()
    assert band.area.note == "One row has no spread: there is no interval."


def test_without_resamples_there_is_no_interval():
    band = retention_band(Y, P, resamples=0)
    assert np.isfinite(band.value).all()
    assert np.isnan([*band.lower, *band.upper]).all()
    assert np.isnan([band.area.lower, band.area.upper, band.area.standard_error]).all()
    assert band.area.note == "Too few resamples: there is no interval."


def test_an_undefined_kappa_of_one_class_is_noted():
    """The case of class 1 is set aside first: class and label are then constant, and kappa is 0/0."""
    y, p = [0, 0, 0, 1], [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.45, 0.55]]
    band = retention_band(y, p, fractions=[0, 0.25], resamples=30)
    assert band.value[0] == 1
    assert np.isnan([band.value[1], band.lower[1], band.area.value, band.area.lower]).all()
    assert band.area.note == "The metric is not defined at every fraction: there is no interval."
    assert band.note.startswith("The metric is not defined at 1 of 2 fractions. At some fractions it is not ")


def test_resamples_without_a_kappa_are_left_out_and_noted():
    y, p = [0, 0, 0, 1], [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.45, 0.55]]
    band = retention_band(y, p, fractions=[0, 0.1], resamples=30, seed=1)
    panel = make_class_panel(y, {"p": p})
    lost = sum(
        len(set(panel.outcome[random_stream(1, number).integers(0, 4, 4)])) == 1 for number in range(30)
    )
    assert lost > 0
    assert band.area.note == f"Not defined in {lost} of 30 resamples, which were left out."
    assert band.note == (
        f"At some fractions it is not defined in up to {lost} of 30 resamples, which were left out there."
    )
    assert (band.lower[0], band.upper[0]) == (1, 1)


def test_costs_of_the_user_are_used():
    """Labels 0, 0, 1 for classes 0, 1, 1: one error, which costs 5 and is set aside first."""
    y, p = [0, 1, 1], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]
    options = {"metric": "expected_cost", "cost": [[0, 1], [5, 0]], "fractions": [0, 0.4]}
    for curve in (sr.curves.retention_curve(y, p, **options), retention_band(y, p, **options)):
        assert curve.value.tolist() == pytest.approx([5 / 3, 0], rel=1e-15)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"cost": np.eye(4)},
            "`cost` goes with the metric \"expected_cost\"; got 'quadratic_weighted_kappa'.",
        ),
        ({"fractions": [0, 1]}, "`fractions` must leave a case; 1 of 60 leaves none."),
        ({"fractions": [0.5, 0]}, "`fractions` must increase; got [0.5, 0.0]."),
        ({"resamples": -1}, "`resamples` must be a whole number of at least 0; got -1."),
        ({"level": 1}, "`level` must lie in (0, 1); got 1."),
        (
            {"score": lambda _, p: p},
            "`score` must return one value per case; got shape (60, 4) for 60 cases.",
        ),
        (
            {"score": "brier"},
            "`score` must score class probabilities case by case; 'brier' scores probability of an event. "
            "Did you mean `multiclass_brier`?",
        ),
    ],
)
def test_bands_refuse(options, sentence):
    with pytest.raises(sr.UsageError) as refusal:
        retention_band(Y, P, **options)
    assert str(refusal.value) == sentence


def test_a_curve_refuses_costs_without_their_metric():
    with pytest.raises(sr.UsageError) as refusal:
        sr.curves.retention_curve(Y, P, metric="accuracy", cost=np.eye(4))
    assert str(refusal.value) == "`cost` goes with `metric=\"expected_cost\"`; got 'accuracy'."


# Figure, tables and section


def make_model(name, bands):
    return ClassModelResult(
        model=name,
        scores=ModelScores(model=name, scores=(), decompositions=()),
        confusion=Confusion(counts=((1.0, 0.0), (0.0, 1.0))),
        families=(),
        retention=bands,
    )


def make_models(n_models, *, metrics=("quadratic_weighted_kappa", "expected_cost"), resamples=5):
    panel = make_class_panel(Y, {f"m{place}": np.roll(P, place, axis=1) for place in range(n_models)})
    options = {"scores": ("multiclass_brier", "rps"), "metrics": metrics, "fractions": FRACTIONS}
    return [
        make_model(name, retain_panel(panel, name, resamples=resamples, **options))
        for name in panel.forecasts
    ]


def figure_texts(figure):
    own = [text.get_text() for text in figure.texts]
    return own + [axes.get_xlabel() for axes in figure.axes]


@pytest.mark.parametrize(("n_models", "n_metrics"), [(1, 1), (1, 4), (2, 2), (3, 3)])
def test_the_figure_has_a_panel_for_each_model_and_metric(n_models, n_metrics):
    models = make_models(n_models, metrics=METRICS[:n_metrics])
    figure = plot_retention(models)
    assert len(figure.axes) == n_models * n_metrics
    width, height = 25.4 * figure.get_size_inches()
    assert width == pytest.approx(160)
    assert height < 225
    texts = figure_texts(figure)
    assert {"Brier score (K classes)", "RPS", "Cases set aside, %"} <= set(texts)
    assert texts.count("higher is better") == sum(m != "expected_cost" for m in METRICS[:n_metrics])
    assert ("m0" in texts) == (n_models > 1)
    for axes in figure.axes:
        curves = [line.get_ydata() for line in axes.lines]
        assert len(curves) == 2
        assert curves[0][0] == curves[1][0]


def test_the_figure_draws_the_numbers_of_the_bands():
    (model,) = make_models(1, metrics=("accuracy",))
    (axes,) = plot_retention([model]).axes
    for line, band in zip(axes.lines, model.retention, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), band.value)
        np.testing.assert_array_equal(line.get_xdata(), 100 * band.fraction)
    assert len(axes.collections) == 2


def test_a_metric_that_is_nowhere_defined_is_shown_as_such():
    (model,) = make_models(1, metrics=("accuracy",), resamples=0)
    undefined = np.full(len(FRACTIONS), np.nan)
    empty = make_model("m0", tuple(replace(band, value=undefined) for band in model.retention))
    figure = plot_retention([empty])
    assert [text.get_text() for text in figure.axes[0].texts] == ["not defined"]
    assert "then n/d by every score" in describe_retention([empty])
    assert render_svg(figure) == render_svg(plot_retention([empty]))


def test_the_figure_is_described_in_words():
    models = make_models(2, metrics=("accuracy",))
    first, second = models[0].retention
    low, high = sorted([first, second], key=lambda band: band.value[-1])
    names = {"multiclass_brier": "Brier score (K classes)", "rps": "RPS"}
    text = describe_retention(models)
    assert text.startswith(
        "Retention curves of m0 and m1: a metric on the retained cases against the share of cases set "
        "aside, those with the worst score first. Shaded: pointwise 95 % bands. Accuracy (higher is better), "
        f"with 0 % and with 40 % of the cases set aside: m0 {first.value[0]:.3f}, then "
    )
    assert low.value[-1] == high.value[-1] or f"{low.value[-1]:.3f} by {names[low.score]} to" in text
    assert "Shaded" not in describe_retention(make_models(1, resamples=0))


def test_the_table_holds_the_areas_on_both_axes():
    models = make_models(2)
    table = retention_table(models, "95 %")
    assert table.heads == (
        *("model", "set aside by", "Quadratic weighted kappa\N{NO-BREAK SPACE}↑", "interval", "percent"),
        *("Expected cost\N{NO-BREAK SPACE}↓", "interval", "percent"),
    )
    assert (table.section, table.n_labels, len(table.rows)) == (2, 2, 4)
    kappa, cost = models[1].retention[2:]
    assert (kappa.score, cost.metric) == ("rps", "expected_cost")
    assert table.rows[3] == (
        "m1",
        "RPS",
        f"{kappa.area.value:.4f}".replace("-", "−"),
        f"[{kappa.area.lower:.4f}, {kappa.area.upper:.4f}]".replace("-", "−"),
        f"{kappa.area_percent.value:.2f}".replace("-", "−"),
        f"{cost.area.value:.4f}",
        f"[{cost.area.lower:.4f}, {cost.area.upper:.4f}]",
        f"{cost.area_percent.value:.2f}",
    )
    assert table.rows[2][1] == "Brier score"
    assert table.caption == (
        "Area under the retention curve. The axis is the fraction of cases set aside, from 0 to 0.4; an "
        "area is 0.4 if the metric is 1 throughout. In the next column, the axis is in percent and areas "
        "are 100 times as large. ↑ higher, ↓ lower is better; 95 % intervals by percentile bootstrap, 5 "
        "resamples of rows, seed 2021"
    )


def test_without_resamples_the_table_has_no_intervals():
    table = retention_table(make_models(1, resamples=0), "95 %")
    assert table.caption.endswith("lower is better")
    assert {row[3] for row in table.rows} == {""}
    assert table.section == 0


def with_areas(model, areas):
    """The bands of a model with other areas: value, lower and upper of each."""
    bands = [
        replace(band, area=replace(band.area, value=value, lower=lower, upper=upper))
        for band, (value, lower, upper) in zip(model.retention, areas, strict=True)
    ]
    return make_model(model.model, tuple(bands))


def test_the_best_scores_are_named_and_marked_where_they_are_clear():
    (model,) = make_models(1)  # Brier: kappa, cost; RPS: kappa, cost
    areas = [(0.3, 0.28, 0.31), (0.02, 0.01, 0.03), (0.2, 0.18, 0.25), (0.01, 0.005, 0.02)]
    assert describe_best_scores([with_areas(model, areas)]) == [
        "m0: Quadratic weighted kappa has its best area, 0.3000, if cases are set aside by Brier score "
        "(K classes) (its interval overlaps no other); Expected cost, 0.0100, by Ranked probability score."
    ]
    areas[2] = areas[0]
    (sentence,) = describe_best_scores([with_areas(model, areas)])
    assert "0.3000, if cases are set aside by every score alike;" in sentence


def test_an_undefined_area_is_not_named_as_the_best():
    (model,) = make_models(1)
    unknown = (np.nan, np.nan, np.nan)
    known = (0.02, 0.01, 0.03)
    assert describe_best_scores([with_areas(model, [unknown, known, unknown, known])]) == [
        "m0: Expected cost has its best area, 0.0200, if cases are set aside by every score alike."
    ]
    assert describe_best_scores([with_areas(model, [unknown] * 4)]) == []


def test_a_single_score_is_not_named_as_the_best():
    panel = make_class_panel(Y, {"m": P})
    bands = retain_panel(panel, "m", scores=["rps"], metrics=["accuracy"], resamples=2)
    assert describe_best_scores([make_model("m", bands)]) == []


def make_report(models):
    return SimpleNamespace(evaluation=SimpleNamespace(class_models=tuple(models), notes=()))


def test_there_is_no_section_without_retention():
    assert describe_retention_section(make_report([])) is None
    assert describe_retention_section(make_report([make_model("m", ())])) is None


def test_the_section_has_figures_and_a_table():
    section = describe_retention_section(make_report(make_models(5)))
    assert list(section.parts) == ["retention", "retention_2", "retention_areas"]
    assert section.parts["retention"]["caption"].endswith(
        "Shaded: pointwise 95 % bands, percentile bootstrap, 5 resamples of rows, seed 2021."
    )
    assert (section.content["first"], section.content["last"]) == ("0 %", "40 %")
    assert (section.content["width"], section.content["width_percent"]) == ("0.4", "40")


def test_the_section_is_rendered():
    models = make_models(1)
    noted = [make_model("m0", tuple(replace(b, note="A note.") for b in models[0].retention))]
    section = describe_retention_section(make_report(noted))
    draw_parts(section.parts.values())
    for place, part in enumerate(section.parts.values()):
        part |= {"id": f"part-{place}", "name": f"Part {place}"}
    labels = {key: {"text": part["name"], "id": part["id"]} for key, part in section.parts.items()}
    described = {**section.content, "id": "retention", "number": "1", "title": RETENTION.title}
    page = render_html(
        "sections/retention.html", {"section": described | {"parts": section.parts}, "labels": labels}
    )
    assert "it is not a rule for which cases to refer to a person" in page
    assert "divided by 0.4, the distance between the first and the last fraction" in page
    assert "(percentile bootstrap, 5 resamples of rows, seed 2021)" in page
    assert "<li>m0, Expected cost: A note.</li>" in page
    assert page.count("<figure") == 1
    assert page.count("<table") == 1
