"""The probability scale: numbers, intervals and verdicts."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from probability_scale_tools import MARKS, OPTIONS, draw_classes, draw_events, events_fixture, values
from scipy.special import expit

import scorereport as sr
from scorereport._utils.json_documents import dump
from scorereport.inference import model_source
from scorereport.inference.class_panel import make_class_panel
from scorereport.inference.nelson_scale import scale_forecast, scale_panel
from scorereport.inference.panel import make_panel
from scorereport.inference.scale_draws import ScaleForecast, ScaleTarget
from scorereport.inference.scale_sums import draw_marks
from scorereport.reliability.sampling import random_stream
from scorereport.report.sections.scale_section import describe_scale_section

events = pytest.fixture(scope="module")(events_fixture)


EXPONENTS = (1.0, 0.0, -2 / 3)


def mean(p, m, weight):
    share = weight / weight.sum()
    return np.exp((share * np.log(p)).sum()) if m == 0 else (share * p**m).sum() ** (1 / m)


# Numbers of the sample


@pytest.mark.parametrize("bins", [1, 3, 10, 37, "CORP blocks"])
@pytest.mark.parametrize("limit", [0.0, 0.01])
def test_accuracy_is_the_log_score_as_a_probability_whatever_the_bins(bins, limit):
    y, p = draw_classes(120, 3)
    result = model_source(y, p, bins=bins, limit=limit)
    of_truth = np.clip(p, limit, 1 - limit)[np.arange(len(y)), y]
    assert result.accuracy.model.value == pytest.approx(np.exp(np.log(of_truth).mean()), rel=1e-13)
    assert values(result, "model") == pytest.approx([mean(of_truth, m, np.ones(120)) for m in EXPONENTS])
    assert result.contribution.sum() == pytest.approx(1, rel=1e-13)
    assert (result.n.sum(), result.events.sum()) == pytest.approx((360, 120), rel=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("is_binary", [False, True])
def test_overall_equal_count_bins_are_those_of_the_score(weighted, is_binary):
    y, p = draw_events(90) if is_binary else draw_classes(90, 3)
    weight = np.random.default_rng(2).gamma(2.0, size=90) if weighted else None
    scale = sr.scores.probability_scale(y, p, n_bins=7, limit=0.02, sample_weight=weight)
    result = model_source(y, p, bins=7, limit=0.02, sample_weight=weight)
    for mark in MARKS:
        ours, theirs = getattr(result, mark), getattr(scale, mark)
        assert ours.exponent == theirs.exponent
        assert (ours.model.value, ours.source.value, ours.divergence.value) == pytest.approx(
            (theirs.model, theirs.source, theirs.divergence), rel=1e-12
        )
    for name in ("n", "events", "model", "source"):
        np.testing.assert_allclose(getattr(result, name), getattr(scale, name), rtol=1e-9)


def test_tied_probabilities_share_their_bins_whatever_the_outcomes():
    """All pairs are tied at 1/2: sorted by outcome, one of the two bins would hold only events."""
    scale = sr.scores.probability_scale([0, 1, 1, 0], [0.5] * 4, n_bins=2)
    assert (scale.n.tolist(), scale.events.tolist(), scale.source.tolist()) == ([4, 4], [2, 2], [0.5, 0.5])
    three = sr.scores.probability_scale([1, 1, 0], [0.2, 0.2, 0.2], n_bins=3)  # .2 .2 .2 | .8 .8 .8
    assert three.source == pytest.approx([2 / 3, (2 / 3 + 1 / 3) / 2, 1 / 3], rel=1e-14)


@pytest.mark.parametrize("target", [None, 0, 2])
def test_corp_blocks_are_those_of_corp(target):
    y, p = draw_classes(200, 3)
    observed = (y[:, None] == np.arange(3)) * 1
    pairs = (observed.ravel(), p.ravel()) if target is None else (observed[:, target], p[:, target])
    blocks = sr.corp(*pairs).blocks
    result = model_source(y, p, bins="CORP blocks", target=target)
    assert result.n.tolist() == blocks.n.tolist()
    assert result.events.tolist() == blocks.events.tolist()
    assert result.source == pytest.approx(blocks.mean, rel=1e-15)
    assert (result.bins, result.n_bins, result.target) == (
        "CORP blocks",
        0,
        "" if target is None else "02"[target // 2],
    )


def test_marks_and_angle_by_hand():
    """Pairs .1 .2 .3 .4 | .6 .7 .8 .9 of two classes; .3, .6, .8 and .9 were observed."""
    y, p = [0, 0, 0, 1], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]]
    result = model_source(y, p, bins=2)
    source = np.array([1 / 4, 3 / 4, 3 / 4, 3 / 4])
    model = np.array([0.3, 0.6, 0.8, 0.9])
    assert values(result, "model") == pytest.approx(
        [mean(model, m, np.ones(4)) for m in EXPONENTS], rel=1e-14
    )
    assert values(result, "source") == pytest.approx(
        [mean(source, m, np.ones(4)) for m in EXPONENTS], rel=1e-14
    )
    assert result.accuracy.divergence.value == pytest.approx(
        (0.3 * 0.6 * 0.8 * 0.9 / (1 / 4 * (3 / 4) ** 3)) ** (1 / 4)
    )
    d, _, r = (
        np.array([s, m]) for s, m in zip(values(result, "source"), values(result, "model"), strict=True)
    )
    assert result.angle == pytest.approx(np.degrees(np.arctan2(d[1] - r[1], d[0] - r[0])), rel=1e-13)
    assert result.contribution.tolist() == [1 / 4, 3 / 4]


def test_a_class_is_compared_with_the_rest():
    y, p = draw_classes(150, 3)
    result = model_source(y, p, bins=5, target=1)
    of_class = p[y == 1, 1]
    assert values(result, "model") == pytest.approx(
        [mean(of_class, m, np.ones(len(of_class))) for m in EXPONENTS]
    )
    order = np.array_split(np.sort(p[:, 1]), 5)
    assert result.n.tolist() == [len(part) for part in order]
    assert result.events.tolist() == [
        ((of_class >= part[0]) & (of_class <= part[-1])).sum() for part in order
    ]


def test_model_may_exceed_source_in_a_sample():
    """Erratum: the paper states that it never does."""
    table = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]
    result = model_source([0, 0, 1], table, bins=1)
    assert result.accuracy.divergence.value == pytest.approx((0.9 * 0.8 * 0.7) ** (1 / 3) / 0.5, rel=1e-14)


def test_the_spectrum_contains_the_marks_and_increases():
    y, p = draw_classes(100, 3)
    result = model_source(y, p)
    m = result.spectrum_exponent
    assert (m[0], m[-1], len(m)) == (-2, 2, 42)
    for part in ("model", "source"):
        curve = getattr(result, f"spectrum_{part}")
        assert (np.diff(curve) > 0).all()
        assert [curve[m == e].item() for e in EXPONENTS] == pytest.approx(values(result, part), rel=1e-13)


def test_events_and_two_classes_agree():
    y, p = draw_events(80)
    for bins in (6, "CORP blocks"):
        one, two = model_source(y, p, bins=bins), model_source(y, np.column_stack([1 - p, p]), bins=bins)
        assert one.events.tolist() == two.events.tolist()
        for part in ("model", "source", "divergence"):
            assert values(one, part) == pytest.approx(values(two, part), rel=1e-13)


def test_kernels_give_all_classes_together_then_each():
    y, p = draw_classes(60, 3)
    panel = make_class_panel(y, {"m": p})
    results = scale_panel(panel, "m", ["low", "mid", "high"], **OPTIONS)
    assert [r.target for r in results] == ["", "", "low", "low", "mid", "mid", "high", "high"]
    assert [r.bins for r in results] == ["equal-count bins", "CORP blocks"] * 4
    assert dump(replace(results[4], target="1")) == dump(model_source(y, p, target=1))
    y, p = draw_events(60)
    results = scale_forecast(make_panel(y, {"m": p}), "m", **OPTIONS)
    assert [r.target for r in results[::2]] == ["", "event", "non-event"]
    assert results[2].accuracy.model.value == pytest.approx(mean(p[y == 1], 0, np.ones(y.sum())), rel=1e-13)


# Intervals and verdicts


def naive_marks(result, observed, p, weight):
    """Marks in the bins of a result, from one weight for each pair."""
    order = np.argsort(p, kind="stable")
    bin_of = np.empty(len(p), dtype=int)
    bin_of[order] = np.repeat(np.arange(len(result.n)), result.n.astype(int))
    n, events = np.bincount(bin_of, weight), np.bincount(bin_of, weight * observed)
    true = observed * weight > 0
    model = [mean(p[true], m, weight[true]) for m in EXPONENTS]
    used = events > 0
    return model, [mean((events / n)[used], m, events[used]) for m in EXPONENTS]


def assert_corrected(estimate, logs):
    """Assert that the interval is the quantiles of the replicates minus twice their bias."""
    bias = logs.mean() - np.log(estimate.value)
    expected = np.exp(np.quantile(logs, [0.025, 0.975]) - 2 * bias)
    assert (estimate.lower, estimate.upper) == pytest.approx(expected, rel=1e-9)


def assert_overfit_removed(mark, of_source, of_ratio, of_model):
    """Assert that both intervals are shifted, their ends by different multiples of one positive overfit."""
    low, high = np.quantile(of_source - of_source.mean(), [0.025, 0.975])
    most = np.log(mark.source.value) + low - np.log(mark.source.lower)
    least = np.log(mark.source.value) + high - np.log(mark.source.upper)
    assert most == pytest.approx((4 if mark.exponent < 0 else 2) * least, rel=1e-9)
    assert 0 < most < 0.3
    off = of_model.mean() - np.log(mark.model.value)
    low, high = np.quantile(of_ratio - of_ratio.mean(), [0.025, 0.975])
    expected = np.log(mark.divergence.value) - off + np.array([low + least, high + most])
    assert np.log([mark.divergence.lower, mark.divergence.upper]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("bins", [5, "CORP blocks"])
def test_resamples_are_those_of_a_naive_bootstrap(bins, clustered):
    y, p = draw_classes(60, 3)
    cluster = np.arange(60) // 4 if clustered else None
    panel = make_class_panel(y, {"y_prob": p}, cluster=cluster)
    result = model_source(y, p, bins=bins, resamples=30, cluster=cluster, seed=3)
    observed = (panel.outcome[:, None] == np.arange(3)).ravel() * 1.0
    pairs = panel.forecasts["y_prob"].ravel()
    drawn = [np.repeat(panel.units.draw(random_stream(3, number)), 3) for number in range(30)]
    model, source = np.array([naive_marks(result, observed, pairs, weight) for weight in drawn]).transpose(
        1, 0, 2
    )
    for k, mark in enumerate(MARKS):
        found = getattr(result, mark)
        bounds = np.quantile(model[:, k], [0.025, 0.975])
        assert (found.model.lower, found.model.upper) == pytest.approx(bounds, rel=1e-12)
        assert found.source.standard_error == pytest.approx(source[:, k].std(ddof=1), rel=1e-10)
        assert found.divergence.standard_error == pytest.approx((model / source)[:, k].std(ddof=1), rel=1e-10)
        of_source, of_ratio = np.log(source[:, k]), np.log((model / source)[:, k])
        if bins == 5 and mark != "robustness":
            assert_corrected(found.source, of_source)
            assert_corrected(found.divergence, of_ratio)
        elif bins == 5:
            bias = of_source.mean() - np.log(found.source.value)
            low, high = np.quantile(of_source, [0.025, 0.975]) - 2 * bias
            assert np.log(found.source.upper) == pytest.approx(high, rel=1e-9)
            assert np.log(found.source.lower) == pytest.approx(low - bias, rel=1e-9)
        else:
            assert_overfit_removed(found, of_source, of_ratio, np.log(model[:, k]))
            assert found.divergence.method.startswith("bootstrap in the blocks of the sample, less their")
    angle = np.degrees(np.arctan2(model[:, 0] - model[:, 2], source[:, 0] - source[:, 2]))
    assert (result.angle_lower, result.angle_upper) == pytest.approx(np.quantile(angle, [0.025, 0.975]))


def test_draws_of_calibrated_outcomes_are_fitted_again(monkeypatch):
    """Marks of drawn outcomes are those that `model_source` computes from them."""
    y, p = draw_classes(80, 3)
    panel = make_class_panel(y, {"y_prob": p})
    table = panel.forecasts["y_prob"]
    forecast = ScaleForecast(given=table, outcome=panel.outcome, units=panel.units)
    truth = forecast.draw(random_stream(7, 0, 1))
    assert truth.row.tolist() == list(range(80))
    monkeypatch.setattr(ScaleForecast, "draw", lambda *_: truth)
    labels = (None, 1)
    found = draw_marks(forecast, [ScaleTarget(forecast, label, 10) for label in labels], draws=3, seed=1)
    for label, (cut, fitted) in zip(labels, found, strict=True):
        for marks, bins in ((cut, 10), (fitted, "CORP blocks")):
            again = model_source(truth.label, table, bins=bins, target=label)
            np.testing.assert_allclose(marks.model, [values(again, "model")] * 3, rtol=1e-12)
            np.testing.assert_allclose(marks.source, [values(again, "source")] * 3, rtol=1e-12)


def test_drawn_classes_are_as_frequent_as_forecast():
    p = np.tile([[0.0, 0.2, 0.5, 0.3, 0.0]], (20_000, 1))
    panel = make_class_panel(np.ones(20_000), {"m": p})
    forecast = ScaleForecast(given=p, outcome=panel.outcome, units=panel.units)
    share = np.bincount(forecast.draw(random_stream(1)).label, minlength=5) / 20_000
    assert share == pytest.approx([0, 0.2, 0.5, 0.3, 0], abs=0.015)
    assert (share[0], share[4]) == (0, 0)


@pytest.mark.sweep(after=2)
@pytest.mark.parametrize("bins", [10, "CORP blocks"])
@pytest.mark.parametrize(
    ("temper", "verdict"), [(0.5, "under-confident"), (1.0, "neither"), (2.0, "over-confident")]
)
def test_verdicts_find_over_and_under_confident_models(bins, temper, verdict):
    for y, p in (draw_events(800, temper=temper), draw_classes(800, 4, temper=temper)):
        result = model_source(y, p, bins=bins, resamples=60)
        assert result.verdict == verdict
        assert result.calibrated_lower < result.calibrated_angle < result.calibrated_upper
        word = {"neither": "neither over- nor under-confidence"}.get(verdict, f"the model is {verdict},")
        assert word in result.sentence


@pytest.mark.sweep
def test_calibrated_models_rarely_get_a_verdict():
    """An angle of 45° would be the wrong reference here: CORP blocks of few cases have flatter lines."""
    wrong = {"cut": 0, "fitted": 0}
    angles = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.normal(0, 0.5, 200)
        panel = make_panel((rng.random(200) < expit(x)) * 1, {"m": expit(x)})
        cut, fitted, *_ = scale_forecast(panel, "m", **OPTIONS | {"resamples": 40})
        wrong["cut"] += cut.verdict != "neither"
        wrong["fitted"] += fitted.verdict != "neither"
        angles.append(fitted.angle)
    assert max(wrong.values()) <= 4
    assert np.mean(angles) < 42


@pytest.mark.sweep
def test_intervals_cover_source_and_divergence():
    """The divergence of calibrated forecasts is 1, which no sample reaches in CORP blocks."""
    rng = np.random.default_rng(0)
    x = rng.normal(0, 1.2, 200_000)
    of_truth = np.where(rng.random(200_000) < expit(x), expit(x), 1 - expit(x))
    source = mean(of_truth, 0, np.ones(200_000))
    hits = []
    for seed in range(25):
        rng = np.random.default_rng(100 + seed)
        x = rng.normal(0, 1.2, 300)
        fit = model_source(
            (rng.random(300) < expit(x)) * 1, expit(x), bins="CORP blocks", resamples=80
        ).accuracy
        assert fit.divergence.value < 1
        assert fit.divergence.lower < fit.divergence.upper
        hits.append((fit.source.lower < source < fit.source.upper, fit.divergence.upper >= 1))
    assert (np.mean(hits, axis=0) >= 0.84).all()


def draw_forecasts(rng, name, n):
    """Three classes: forecasts independent of outcomes, or forecasts certain of the likeliest class."""
    p = rng.dirichlet(np.ones(3), n)
    if name == "uninformative":
        return rng.integers(0, 3, n), p
    return (rng.random(n)[:, None] >= np.cumsum(p, axis=1)[:, :-1]).sum(axis=1), np.eye(3)[p.argmax(axis=1)]


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["uninformative", "one-hot"])
@pytest.mark.parametrize("bins", [10, "CORP blocks"])
def test_intervals_cover_where_forecasts_are_miscalibrated(bins, name):
    """A correction estimated from calibrated forecasts would shift these intervals off the true value."""
    truth = model_source(*draw_forecasts(np.random.default_rng(0), name, 60_000), bins=bins)
    hits = []
    for seed in range(12):
        y, p = draw_forecasts(np.random.default_rng(seed + 1), name, 300)
        result = model_source(y, p, bins=bins, resamples=60)
        for mark, right in zip(result.marks, truth.marks, strict=True):
            assert mark.source.lower < mark.source.value
            hits.append(
                [
                    np.isnan(found.lower) or found.lower <= value <= found.upper
                    for found, value in (
                        (mark.source, right.source.value),
                        (mark.divergence, right.divergence.value),
                    )
                ]
            )
    assert (np.mean(hits, axis=0) > 0.8).all()


def test_robustness_dominated_by_few_cases_has_no_interval():
    rng = np.random.default_rng(5)
    p = rng.dirichlet(np.ones(3), 2000)
    result = model_source(rng.integers(0, 3, 2000), p, resamples=40)
    assert np.isnan([result.robustness.model.lower, result.robustness.divergence.upper]).all()
    assert result.robustness.model.note.endswith("no interval would be reliable.")
    assert np.isfinite([result.robustness.source.lower, result.accuracy.model.lower]).all()
    model = SimpleNamespace(model="flighty", scale=(result, result))
    evaluation = SimpleNamespace(results=[model], settings=SimpleNamespace(level=0.95), notes=())
    (sentence,) = describe_scale_section(SimpleNamespace(evaluation=evaluation)).content["left_out"]
    assert (
        "are left out (flighty): a few observed outcomes with very small probabilities dominate these"
        in sentence
    )
    limited = model_source(rng.integers(0, 3, 2000), p, resamples=40, limit=0.05)
    assert limited.robustness.model.lower < limited.robustness.model.value < limited.robustness.model.upper


def test_methods_are_described():
    y, p = draw_classes(80, 3)
    end = ", 30 resamples of rows, seed 2021"
    cut, fitted = (model_source(y, p, bins=bins, resamples=30).accuracy for bins in (5, "CORP blocks"))
    assert cut.model.method == fitted.model.method == f"percentile bootstrap{end}"
    assert cut.source.method == f"bootstrap less its bias, in the bins of the sample{end}"
    overfit = "bootstrap in the blocks of the sample, less their overfit in 30 draws"
    assert fitted.divergence.method == f"{overfit}{end}"


def test_broad_bins_give_no_verdict():
    """Fifty classes in two bins: even calibrated probabilities have a steep line."""
    y, p = draw_classes(300, 50, spread=2.0)
    result = model_source(y, p, bins=2, resamples=20)
    assert result.verdict == ""
    assert result.calibrated_angle > 55
    assert "in these bins that is no evidence" in result.sentence
    assert model_source(y, p, bins="CORP blocks", resamples=20).verdict == "neither"


def test_an_under_confident_model_of_certain_events_is_not_over_confident():
    """Every observed class had the higher probability: the source has no spread, and the line is vertical."""
    result = model_source(
        [1, 0, 1, 1, 0, 0] * 20, [0.8, 0.3, 0.6, 0.7, 0.2, 0.4] * 20, bins="CORP blocks", resamples=50
    )
    assert (result.angle, result.verdict) == (90, "contradictory")
    assert "the model is less decisive than the source, which points the other way" in result.sentence
    assert result.sentence.endswith("the signs contradict each other, and there is no verdict.")


def test_certain_forecasts_at_random_are_over_confident():
    """Such a model is not less decisive than its source: only overfit would make it seem so."""
    rng = np.random.default_rng(2)
    p = np.eye(7)[rng.integers(0, 7, 300)]
    result = model_source(rng.integers(0, 7, 300), p, resamples=60)
    assert (result.verdict, result.calibrated_upper) == ("over-confident", 0)
    assert result.angle_lower > 80


@pytest.mark.parametrize("bins", [10, "CORP blocks"])
def test_class_bias_is_not_over_confidence(bins):
    y, p = draw_classes(400, 3)
    biased = p * [3, 1, 1 / 3]
    biased /= biased.sum(axis=1, keepdims=True)
    result = model_source(y, biased, bins=bins, resamples=60)
    assert result.verdict == "class bias"
    assert result.angle > result.calibrated_upper
    assert "but not after each class is rescaled to its observed frequency" in result.sentence
    bold = biased**2 / (biased**2).sum(axis=1, keepdims=True)
    assert model_source(y, bold, bins=bins, resamples=60).verdict == "over-confident"


def test_rescaled_classes_are_as_frequent_as_observed():
    y, p = draw_classes(300, 4)
    panel = make_class_panel(y, {"m": p * [4, 1, 1, 1] / (p * [4, 1, 1, 1]).sum(axis=1, keepdims=True)})
    forecast = ScaleForecast(given=panel.forecasts["m"], outcome=panel.outcome, units=panel.units)
    rescaled = forecast.rescaled().given
    assert rescaled.mean(axis=0) == pytest.approx(np.bincount(y) / 300, abs=1e-4)
    assert rescaled.sum(axis=1) == pytest.approx(np.ones(300))
    odds = (rescaled / forecast.given)[:, 0] / (rescaled / forecast.given)[:, 1]
    assert odds == pytest.approx(np.full(300, odds[0]))


def test_classes_are_drawn_together_in_clusters():
    """Rows of a cluster have the same class, so they are drawn alike; single rows are not."""
    rng = np.random.default_rng(3)
    y = np.repeat(rng.integers(0, 3, 200), 5)
    panel = make_class_panel(y, {"m": np.full((1000, 3), 1 / 3)}, cluster=np.arange(1000) // 5)
    alike = {}
    for name, units in (
        ("clusters", panel.units),
        ("rows", make_class_panel(y, {"m": np.full((1000, 3), 1 / 3)}).units),
    ):
        forecast = ScaleForecast(given=np.full((1000, 3), 1 / 3), outcome=panel.outcome, units=units)
        label = forecast.draw(random_stream(1)).label
        cluster = panel.units.cluster
        order = np.argsort(cluster, kind="stable")
        alike[name] = (np.diff(label[order].reshape(200, 5), axis=1) == 0).mean()
    assert alike["clusters"] > 0.95
    assert alike["rows"] == pytest.approx(1 / 3, abs=0.08)


def test_one_class_has_no_verdict():
    y, p = draw_events(400, temper=2.5)
    result = model_source(y, p, target=1, resamples=30)
    assert result.verdict == ""
    assert result.sentence.endswith("so this is not a verdict on confidence.")


def test_without_resamples_there_are_values_only():
    result = model_source(*draw_events(100))
    assert result.verdict == ""
    assert result.accuracy.model.method == "no resamples"
    found = [
        result.angle_lower,
        result.calibrated_angle,
        result.accuracy.source.lower,
        result.accuracy.model.standard_error,
    ]
    assert np.isnan(found).all()
    assert "without resamples" in result.sentence
