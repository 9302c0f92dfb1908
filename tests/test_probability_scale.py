"""The probability scale: bins, marks, intervals and verdicts, and what figures, tables and pages say."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from scipy.special import expit

import scorereport as sr
from scorereport import plots
from scorereport._utils.json_documents import dump, load
from scorereport.inference import ScaleResult, model_source
from scorereport.inference.class_panel import make_class_panel
from scorereport.inference.nelson_scale import scale_forecast, scale_panel
from scorereport.inference.panel import make_panel
from scorereport.inference.scale_draws import ScaleForecast, ScaleMarks, ScaleTarget, source_marks
from scorereport.inference.scale_intervals import _mean_without_chance, draw_overfit
from scorereport.plots.scale_diagram import choose_scale_window, share_in_window
from scorereport.plots.style import report_style
from scorereport.reliability.sampling import SEED, random_stream
from scorereport.report.sections.scale_section import describe_scale_section
from scorereport.report.tables.scale_tables import angle_table, class_scale_table, scale_table
from scorereport.results.frames import scale_frame

MARKS = ("decisiveness", "accuracy", "robustness")
EXPONENTS = (1.0, 0.0, -2 / 3)
OPTIONS = {"n_bins": 10, "limit": 0.0, "level": 0.95, "resamples": 0, "seed": SEED}


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def draw_classes(n, k, *, temper=1.0, spread=1.2, seed=1):
    """Outcomes, and the forecasts of a model whose log-odds are too far apart if `temper` is above 1."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, spread, (n, k))
    y = (rng.random(n)[:, None] > np.cumsum(softmax(x), axis=1)[:, :-1]).sum(axis=1)
    return y, softmax(temper * x)


def draw_events(n, *, temper=1.0, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(-0.3, 1.3, n)
    return (rng.random(n) < expit(x)) * 1, expit(temper * x)


def mean(p, m, weight):
    share = weight / weight.sum()
    return np.exp((share * np.log(p)).sum()) if m == 0 else (share * p**m).sum() ** (1 / m)


def values(result, part):
    return [getattr(getattr(result, mark), part).value for mark in MARKS]


@pytest.fixture(scope="module")
def classes():
    """Two models of four classes on the same cases, with all results."""
    y, p = draw_classes(400, 4)
    panel = make_class_panel(y, {"right": p, "steep": softmax(2.5 * np.log(p))})
    options = OPTIONS | {"resamples": 60}
    return [
        SimpleNamespace(model=name, scale=scale_panel(panel, name, list("abcd"), **options))
        for name in panel.forecasts
    ]


@pytest.fixture(scope="module")
def events():
    y, p = draw_events(500)
    panel = make_panel(y, {"right": p})
    return [SimpleNamespace(model="right", scale=scale_forecast(panel, "right", **OPTIONS))]


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


def test_tied_probabilities_share_their_bins_whatever_came():
    """All pairs are tied at 1/2: sorted by outcome, one of two bins would hold nothing but events."""
    scale = sr.scores.probability_scale([0, 1, 1, 0], [0.5] * 4, n_bins=2)
    assert (scale.n.tolist(), scale.events.tolist(), scale.source.tolist()) == ([4, 4], [2, 2], [0.5, 0.5])
    three = sr.scores.probability_scale([1, 1, 0], [0.2, 0.2, 0.2], n_bins=3)  # .2 .2 .2 | .8 .8 .8
    assert three.source == pytest.approx([2 / 3, (2 / 3 + 1 / 3) / 2, 1 / 3], rel=1e-14)


@pytest.mark.parametrize("target", [None, 0, 2])
def test_corp_blocks_are_those_of_corp(target):
    y, p = draw_classes(200, 3)
    came = (y[:, None] == np.arange(3)) * 1
    pairs = (came.ravel(), p.ravel()) if target is None else (came[:, target], p[:, target])
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
    """Pairs .1 .2 .3 .4 | .6 .7 .8 .9 of two classes; .3, .6, .8 and .9 came true."""
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


def test_a_class_is_held_against_the_rest():
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
    """Erratum: the paper says that it never does."""
    table = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]
    result = model_source([0, 0, 1], table, bins=1)
    assert result.accuracy.divergence.value == pytest.approx((0.9 * 0.8 * 0.7) ** (1 / 3) / 0.5, rel=1e-14)


def test_the_spectrum_holds_the_marks_and_rises():
    y, p = draw_classes(100, 3)
    result = model_source(y, p)
    m = result.spectrum_exponent
    assert (m[0], m[-1], len(m)) == (-2, 2, 42)
    for part in ("model", "source"):
        curve = getattr(result, f"spectrum_{part}")
        assert (np.diff(curve) > 0).all()
        assert [curve[m == e].item() for e in EXPONENTS] == pytest.approx(values(result, part), rel=1e-13)


def test_both_ways_to_tell_an_event_agree():
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


def naive_marks(result, came, p, weight):
    """Marks in the bins of a result, from one weight for each pair."""
    order = np.argsort(p, kind="stable")
    bin_of = np.empty(len(p), dtype=int)
    bin_of[order] = np.repeat(np.arange(len(result.n)), result.n.astype(int))
    n, events = np.bincount(bin_of, weight), np.bincount(bin_of, weight * came)
    true = came * weight > 0
    model = [mean(p[true], m, weight[true]) for m in EXPONENTS]
    used = events > 0
    return model, [mean((events / n)[used], m, events[used]) for m in EXPONENTS]


def assert_corrected(estimate, logs):
    """The interval is the quantiles of the replicates, less twice their bias."""
    bias = logs.mean() - np.log(estimate.value)
    expected = np.exp(np.quantile(logs, [0.025, 0.975]) - 2 * bias)
    assert (estimate.lower, estimate.upper) == pytest.approx(expected, rel=1e-9)


def assert_overfit_removed(mark, of_source, of_ratio, of_model):
    """Both intervals are moved, the ends by different parts of the same positive overfit."""
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
    came = (panel.outcome[:, None] == np.arange(3)).ravel() * 1.0
    pairs = panel.forecasts["y_prob"].ravel()
    drawn = [np.repeat(panel.units.draw(random_stream(3, number)), 3) for number in range(30)]
    model, source = np.array([naive_marks(result, came, pairs, weight) for weight in drawn]).transpose(
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


def test_draws_of_right_outcomes_are_fitted_anew():
    """Angles of drawn outcomes are those that `model_source` finds in them."""
    y, p = draw_classes(80, 3)
    panel = make_class_panel(y, {"y_prob": p})
    table = panel.forecasts["y_prob"]
    forecast = ScaleForecast(given=table, outcome=panel.outcome, units=panel.units)
    truth = forecast.draw(random_stream(7, 0, 1))
    assert truth.row.tolist() == list(range(80))
    for label in (None, 1):
        cut, fitted = ScaleTarget(forecast, label, 10).calibrated(truth)
        assert isinstance(cut, ScaleMarks)
        for marks, bins in ((cut, 10), (fitted, "CORP blocks")):
            again = model_source(truth.label, table, bins=bins, target=label)
            assert marks.model == pytest.approx(values(again, "model"), rel=1e-12)
            assert marks.source == pytest.approx(values(again, "source"), rel=1e-12)


def test_drawn_classes_come_as_often_as_forecast():
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
def test_verdicts_find_models_that_are_too_bold_or_too_timid(bins, temper, verdict):
    for y, p in (draw_events(800, temper=temper), draw_classes(800, 4, temper=temper)):
        result = model_source(y, p, bins=bins, resamples=60)
        assert result.verdict == verdict
        assert result.calibrated_lower < result.calibrated_angle < result.calibrated_upper
        word = {"neither": "neither over- nor under-confidence"}.get(verdict, f"the model is {verdict},")
        assert word in result.sentence


@pytest.mark.sweep
def test_right_models_are_seldom_called_wrong():
    """Plain 45° would be wrong here: CORP blocks of few cases have flatter lines."""
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
    """Right forecasts: the divergence is 1, though in CORP blocks it never reaches it in a sample."""
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
    """Three classes: forecasts that do not heed what comes, or that are certain of the likeliest class."""
    p = rng.dirichlet(np.ones(3), n)
    if name == "uninformative":
        return rng.integers(0, 3, n), p
    return (rng.random(n)[:, None] >= np.cumsum(p, axis=1)[:, :-1]).sum(axis=1), np.eye(3)[p.argmax(axis=1)]


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["uninformative", "one-hot"])
@pytest.mark.parametrize("bins", [10, "CORP blocks"])
def test_intervals_cover_where_forecasts_are_wrong(bins, name):
    """A correction measured where forecasts are right would move these intervals away from everything."""
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


def test_robustness_that_few_cases_rule_has_no_interval():
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


def test_methods_are_told_as_they_are():
    y, p = draw_classes(80, 3)
    end = ", 30 resamples of rows, seed 2021"
    cut, fitted = (model_source(y, p, bins=bins, resamples=30).accuracy for bins in (5, "CORP blocks"))
    assert cut.model.method == fitted.model.method == f"percentile bootstrap{end}"
    assert cut.source.method == f"bootstrap less its bias, in the bins of the sample{end}"
    overfit = "bootstrap in the blocks of the sample, less their overfit in 30 draws"
    assert fitted.divergence.method == f"{overfit}{end}"


def test_broad_bins_give_no_verdict():
    """Fifty classes in two bins: even right probabilities have a steep line."""
    y, p = draw_classes(300, 50, spread=2.0)
    result = model_source(y, p, bins=2, resamples=20)
    assert result.verdict == ""
    assert result.calibrated_angle > 55
    assert "in these bins that is no evidence" in result.sentence
    assert model_source(y, p, bins="CORP blocks", resamples=20).verdict == "neither"


def test_a_timid_model_of_certain_events_is_not_called_bold():
    """All that came had the higher probability: the source has no spread, and the line is upright."""
    result = model_source(
        [1, 0, 1, 1, 0, 0] * 20, [0.8, 0.3, 0.6, 0.7, 0.2, 0.4] * 20, bins="CORP blocks", resamples=50
    )
    assert (result.angle, result.verdict) == (90, "contradictory")
    assert "the model is less decisive than the source, which points the other way" in result.sentence
    assert result.sentence.endswith("the signs contradict each other, and there is no verdict.")


def test_certain_forecasts_at_random_are_over_confident():
    """Such a model is no less decisive than its source: only overfit would make it seem so."""
    rng = np.random.default_rng(2)
    p = np.eye(7)[rng.integers(0, 7, 300)]
    result = model_source(rng.integers(0, 7, 300), p, resamples=60)
    assert (result.verdict, result.calibrated_upper) == ("over-confident", 0)
    assert result.angle_lower > 80


@pytest.mark.parametrize("bins", [10, "CORP blocks"])
def test_class_bias_is_not_called_over_confidence(bins):
    y, p = draw_classes(400, 3)
    biased = p * [3, 1, 1 / 3]
    biased /= biased.sum(axis=1, keepdims=True)
    result = model_source(y, biased, bins=bins, resamples=60)
    assert result.verdict == "class bias"
    assert result.angle > result.calibrated_upper
    assert "but not after each class is rescaled to its observed frequency" in result.sentence
    bold = biased**2 / (biased**2).sum(axis=1, keepdims=True)
    assert model_source(y, bold, bins=bins, resamples=60).verdict == "over-confident"


def test_rescaled_classes_come_as_often_as_they_did():
    y, p = draw_classes(300, 4)
    panel = make_class_panel(y, {"m": p * [4, 1, 1, 1] / (p * [4, 1, 1, 1]).sum(axis=1, keepdims=True)})
    forecast = ScaleForecast(given=panel.forecasts["m"], outcome=panel.outcome, units=panel.units)
    rescaled = forecast.rescaled().given
    assert rescaled.mean(axis=0) == pytest.approx(np.bincount(y) / 300, abs=1e-4)
    assert rescaled.sum(axis=1) == pytest.approx(np.ones(300))
    odds = (rescaled / forecast.given)[:, 0] / (rescaled / forecast.given)[:, 1]
    assert odds == pytest.approx(np.full(300, odds[0]))


def test_drawn_classes_go_together_in_clusters():
    """Rows of a cluster came alike, so they are drawn alike; single rows are not."""
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


# Whatever the data are


def test_order_of_rows_leaves_no_trace():
    y, p = draw_classes(70, 3)
    weight, cluster = np.random.default_rng(4).integers(1, 4, 70), np.arange(70) % 9
    order = np.random.default_rng(5).permutation(70)
    one = model_source(y, p, resamples=8, sample_weight=weight, cluster=cluster)
    other = model_source(y[order], p[order], resamples=8, sample_weight=weight[order], cluster=cluster[order])
    assert dump(one) == dump(other)


@pytest.mark.parametrize("bins", [4, "CORP blocks"])
def test_whole_weights_equal_repeated_rows(bins):
    y, p = draw_classes(30, 3)
    p = softmax(np.round(np.log(p), 1))
    times = np.random.default_rng(6).integers(0, 4, 30)
    one = model_source(y, p, bins=bins, sample_weight=times, resamples=20)
    many = model_source(np.repeat(y, times), np.repeat(p, times, axis=0), bins=bins)
    for part in ("model", "source", "divergence"):
        assert values(one, part) == pytest.approx(values(many, part), rel=1e-12)
    assert one.n.tolist() == pytest.approx(many.n.tolist())
    assert np.isfinite([one.angle_lower, one.calibrated_angle]).all()


def test_probability_zero_of_what_came():
    y, p = draw_events(60)
    p[np.flatnonzero(y)[0]] = 0.0
    for bins in (5, "CORP blocks"):
        result = model_source(y, p, bins=bins, resamples=40)
        assert values(result, "model")[1:] == values(result, "divergence")[1:] == [0, 0]
        assert result.accuracy.model.lower == 0 < result.accuracy.model.upper
        below = result.spectrum_exponent <= 0
        assert (result.spectrum_model[below] == 0).all()
        assert (result.spectrum_model[~below] > 0).all()
    assert model_source(y, p, limit=0.01).accuracy.model.value > 0


def test_certain_forecasts_that_fail_have_nothing_to_compare_with():
    result = model_source([1, 0, 1] * 20, [1.0, 0.0, 0.0] * 20, resamples=20)
    assert result.verdict == ""
    assert result.sentence.endswith(
        "with calibrated probabilities these forecasts would have no line to compare it with."
    )


def test_a_class_that_never_came():
    y, p = np.array([0, 1, 0, 1, 1, 0] * 10), np.tile([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3]], (30, 1))
    for bins in (5, "CORP blocks"):
        result = model_source(y, p, bins=bins, target=2, resamples=10)
        assert (
            result.note
            == "It was never observed, so there is no mean of the probabilities of observed cases."
        )
        assert np.isnan([*values(result, "model"), *values(result, "source"), result.angle]).all()
        assert result.events.sum() == 0
        assert np.isnan(result.contribution).all()
        assert result.accuracy.model.note == "The value is not defined: there is no interval."
        assert result.sentence.startswith("The marks coincide or are not defined")
        assert dump(load(ScaleResult, dump(result), "scale.json")) == dump(result)


def test_a_rare_class_is_not_in_every_resample():
    y, p = draw_classes(40, 3)
    y[y == 2] = 0
    y[3] = 2
    note = model_source(y, p, target=2, resamples=50).accuracy.model.note
    assert note.startswith("Not defined in ")
    assert note.endswith(" of 50 resamples, which were left out.")


def test_more_bins_than_pairs():
    result = model_source([1, 0], [0.8, 0.3], bins=10)
    assert (result.n_bins, len(result.n)) == (4, 4)
    assert result.note == "There are 4 bins instead of 10: pairs of case and class are too few."


@pytest.mark.parametrize("cluster", [None, [7, 7]])
def test_one_draw_has_no_interval(cluster):
    y, p = ([1], [0.8]) if cluster is None else ([1, 0], [0.8, 0.3])
    result = model_source(y, p, bins=2, resamples=10, cluster=cluster)
    unit = "row" if cluster is None else "cluster"
    assert result.accuracy.model.note == f"One {unit} has no spread: there is no interval."
    assert np.isnan([result.accuracy.model.lower, result.angle_lower, result.calibrated_angle]).all()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"bins": "isotonic"}, "`bins` must be one of \"CORP blocks\"; got 'isotonic'."),
        ({"bins": 0}, "`bins` must be a whole number of at least 1; got 0."),
        ({"target": 2}, "`target` must be the index of a class, 0 to 1; got 2."),
        ({"limit": 0.5}, "`limit` must lie in [0, 0.5); got 0.5."),
    ],
)
def test_options_are_checked(options, sentence):
    with pytest.raises(sr.UsageError) as error:
        model_source([0, 1], [0.2, 0.7], **options)
    assert str(error.value) == sentence


def test_results_are_documents(classes):
    for result in (classes[0].scale[0], classes[1].scale[3]):
        text = dump(result)
        assert dump(load(ScaleResult, text, "scale.json")) == text


# What is shown


def texts_of(figure):
    texts = [*figure.texts, *(text for axes in figure.axes for text in axes.texts)]
    return [text.get_text() for text in texts]


def assert_apart(figure):
    """No two texts of a panel lie upon each other."""
    with report_style():
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
    renderer = canvas.get_renderer()
    for axes in figure.axes:
        boxes = [text.get_window_extent(renderer) for text in axes.texts]
        for place, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[place + 1 :])


def test_plot_scale_draws_bins_marks_and_angles(classes):
    figure = plots.plot_scale(classes)
    assert len(figure.axes) == 2
    for axes, model in zip(figure.axes, classes, strict=True):
        cut, fitted = model.scale[:2]
        filled, outlined = axes.collections
        for drawn, result in ((filled, cut), (outlined, fitted)):
            seen = result.events > 0
            np.testing.assert_allclose(
                drawn.get_offsets(), np.column_stack([result.source, result.model])[seen]
            )
            size = drawn.get_sizes() / drawn.get_sizes().max()
            np.testing.assert_allclose(size, result.contribution[seen] / result.contribution.max())
        marks = [line.get_xydata()[0].tolist() for line in axes.lines if line.get_marker() != "None"]
        assert marks == [[getattr(cut, m).source.value, getattr(cut, m).model.value] for m in reversed(MARKS)]
    assert {"right", "steep", *MARKS} <= set(texts_of(figure))
    assert any(text.endswith("° over-confident") for text in texts_of(figure))
    assert_apart(figure)


@pytest.mark.sweep
def test_figures_of_one_model_and_of_five(classes, events):
    for models in (events, [replace_name(classes[k % 2], f"model {k}") for k in range(5)]):
        assert_apart(plots.plot_scale(models))
        spectrum = plots.plot_spectrum(models)
        assert len(spectrum.axes) == len(models)
        assert_apart(spectrum)


def replace_name(model, name):
    return SimpleNamespace(model=name, scale=model.scale)


def test_plot_spectrum_draws_model_and_source(classes):
    figure = plots.plot_spectrum(classes)
    for axes, model in zip(figure.axes, classes, strict=True):
        lines = [line.get_ydata() for line in axes.lines if len(line.get_ydata()) == 42]
        np.testing.assert_array_equal(lines, [model.scale[0].spectrum_source, model.scale[0].spectrum_model])


def test_figures_are_told_in_words(classes):
    text = plots.describe_scale(classes)
    accuracy = classes[0].scale[0].accuracy
    assert f"accuracy {accuracy.model.value:.2f} against {accuracy.source.value:.2f}" in text
    assert classes[1].scale[0].sentence in text
    assert "right: the model rises from 0." in plots.describe_spectrum(classes)


def test_axes_end_where_small_probabilities_do():
    y, p = draw_classes(300, 50, spread=0.7)
    scale = scale_panel(make_class_panel(y, {"m": p}), "m", [str(k) for k in range(50)], **OPTIONS)
    model = SimpleNamespace(model="m", scale=scale)
    window = choose_scale_window(scale[:2])
    assert window == (0.0, 0.1)
    assert all(share_in_window(result, window) >= 0.95 for result in scale[:2])
    assert "The axes end at 0.10" in plots.describe_scale([model])
    figure = plots.plot_scale([model])
    assert_apart(figure)
    assert figure.axes[0].get_xlim()[1] == pytest.approx(0.106)


def test_tables_of_all_classes_together(classes):
    table = scale_table(classes, "95 %")
    assert len(table.rows) == 6
    assert table.section == 3
    row = table.rows[4]
    cut, fitted = classes[1].scale[:2]
    assert row[:3] == ("steep", "accuracy", f"{cut.accuracy.model.value:.3f}")
    assert row[3] == f"[{cut.accuracy.model.lower:.3f}, {cut.accuracy.model.upper:.3f}]"
    assert (row[4], row[8], row[10]) == (
        f"{cut.accuracy.source.value:.3f}",
        f"{fitted.accuracy.source.value:.3f}",
        f"{fitted.accuracy.divergence.value:.3f}",
    )
    assert table.caption.endswith("with 95 % intervals")
    angles = angle_table(classes, "95 %")
    assert angles.rows[3][:4] == ("steep", "CORP blocks", "over-confident", f"{fitted.angle:.0f}")


def test_the_frame_has_intervals_angle_and_verdict(classes):
    frame = scale_frame(classes)
    row = frame[(frame["model"] == "steep") & (frame["class"] == "") & (frame["mark"] == "accuracy")].iloc[1]
    fitted = classes[1].scale[1]
    assert row["bins"] == "CORP blocks"
    assert (row["model_lower"], row["model_upper"]) == (
        fitted.accuracy.model.lower,
        fitted.accuracy.model.upper,
    )
    assert row["source_lower"] < row["source_upper"]
    assert row["divergence_upper"] == fitted.accuracy.divergence.upper
    assert (row["angle"], row["angle_lower"], row["angle_upper"]) == (
        fitted.angle,
        fitted.angle_lower,
        fitted.angle_upper,
    )
    assert row["verdict"] == "over-confident"


def test_table_of_classes_is_kept_short(classes):
    table = class_scale_table(classes, "95 %")
    assert [row[:2] for row in table.rows] == [
        (label, name) for label in "abcd" for name in ("right", "steep")
    ]
    assert sum(float(row[2]) for row in table.rows[::2]) == 400
    y, p = draw_classes(300, 50)
    scale = scale_panel(make_class_panel(y, {"m": p}), "m", [f"c{k}" for k in range(50)], **OPTIONS)
    table = class_scale_table([SimpleNamespace(model="m", scale=scale)], "95 %")
    counts = np.bincount(y, minlength=50)
    shown = [int(row[0][1:]) for row in table.rows]
    assert len(shown) == 12
    assert shown == sorted(shown)
    assert counts[shown].min() >= np.delete(counts, shown).max()
    assert table.caption.endswith(" and 26 more")
    assert "with 95 % intervals" not in table.caption


@pytest.mark.sweep
def test_a_section_tells_all_of_it(classes, events):
    for models in (classes, events):
        settings = SimpleNamespace(level=0.95)
        report = SimpleNamespace(evaluation=SimpleNamespace(results=models, settings=settings, notes=()))
        section = describe_scale_section(report)
        assert (section.name, section.title) == ("scale", "Probability scale")
        keys = ["scale_marks", "scale_plot", "scale_angles", "scale_classes", "scale_spectrum"]
        assert list(section.parts) == keys
        assert len(section.content["sentences"]) == len(models)
        assert section.content["has_intervals"] == (models is classes)
    differing = (classes[1].scale[0], replace(classes[1].scale[1], verdict="neither"))
    report.evaluation.results = [SimpleNamespace(model="m", scale=differing)]
    sentences = describe_scale_section(report).content["sentences"]
    assert [s.partition(":")[0] for s in sentences] == ["m, CORP blocks", "m, equal-count bins"]
    report.evaluation.results = [SimpleNamespace(model="m", scale=())]
    assert describe_scale_section(report) is None


@pytest.mark.sweep
def test_many_models_fill_several_figures(events):
    models = [replace_name(events[0], f"model {k}") for k in range(8)]
    settings = SimpleNamespace(level=0.9)
    report = SimpleNamespace(evaluation=SimpleNamespace(results=models, settings=settings, notes=()))
    section = describe_scale_section(report)
    assert section.content["figures"] == ["scale_plot", "scale_plot_2"]
    assert section.content["spectra"] == ["scale_spectrum", "scale_spectrum_2"]


# The overfit of CORP blocks


def test_chance_is_taken_out_of_the_overfit_as_by_least_squares():
    rng = np.random.default_rng(8)
    chance = rng.normal(0.1, 1, (50, 3))
    excess = 0.7 + chance @ rng.normal(size=(3, 3)) + rng.normal(0, 0.1, (50, 3))
    design = np.column_stack([np.ones(50), chance])
    expected = np.linalg.lstsq(design, excess)[0][0]
    assert _mean_without_chance(excess, chance) == pytest.approx(expected, rel=1e-9)
    doubled = chance[:, [0, 0, 0]]
    alone = np.linalg.lstsq(design[:, :2], excess)[0][0]
    assert _mean_without_chance(excess, doubled) == pytest.approx(alone, rel=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_overfit_is_what_a_flat_curve_shows_by_chance(weighted):
    """No forecast tells anything: all that the blocks of the sample show above 1/3 is overfit."""
    rng = np.random.default_rng(9)
    weight = rng.gamma(4.0, size=600) if weighted else None
    panel = make_class_panel(
        rng.integers(0, 3, 600), {"m": rng.dirichlet(np.ones(3), 600)}, sample_weight=weight
    )
    forecast = ScaleForecast(given=panel.forecasts["m"], outcome=panel.outcome, units=panel.units)
    target = ScaleTarget(forecast, None, 10)
    overfit = draw_overfit(target, draws=60, seed=1)
    blocks = target.sample.blocks
    excess = np.log(3 * source_marks(blocks.events.astype(float), blocks.n.astype(float)))
    assert (overfit > 0.3 * excess).all()
    assert (overfit < 3 * excess).all()


def test_certain_forecasts_that_come_true_have_intervals_of_no_width():
    p = np.eye(3)[[0, 1, 2, 0] * 10]
    fit = model_source([0, 1, 2, 0] * 10, p, bins="CORP blocks", resamples=20).accuracy
    assert (fit.source.lower, fit.source.upper, fit.divergence.lower, fit.divergence.upper) == (1, 1, 1, 1)
