"""The verdict on calibration: segments with size and share, and reasons from test, band and interval."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.curves.segments import ForecastSums, Segment, measure_segments
from scorereport.evaluation.engines import engine_evaluation
from scorereport.evaluation.engines.digest_plan import plan_model_digest
from scorereport.report.calibration_decision import decide_calibration

BAND_LEFT = "The reliability curve leaves the 90 % simultaneous consistency band in "
BAND_KEPT = "The reliability curve stays inside the 90 % simultaneous consistency band."


# ---- Segments ----


def test_size_and_share_by_hand():
    """Blocks of one forecast each: weights 2, 1 and 1, event shares 1/2, 0 and 1 pool to two blocks."""
    fit = sr.corp([0, 1, 0, 1], [0.1, 0.1, 0.3, 0.8], [1, 1, 1, 1])
    (segment,) = measure_segments(
        [Segment(sign=1, lower=0.1, upper=0.3)], ForecastSums.of(fit.distinct), fit.blocks
    )
    assert (segment.lower, segment.upper) == (0.1, 0.3)
    assert segment.size == pytest.approx((1 / 3 * 3 - (0.1 + 0.1 + 0.3)) / 3)
    assert segment.share == 3 / 4


def test_a_part_of_a_block_counts_with_its_own_weight():
    """One block of 0.1 and 0.3 with mean 1/5; the second forecast alone has weight 3."""
    fit = sr.corp([1, 0, 1], [0.1, 0.3, 0.9], [1, 4, 5])
    (segment,) = measure_segments(
        [Segment(sign=-1, lower=0.3, upper=0.3)], ForecastSums.of(fit.distinct), fit.blocks
    )
    assert segment.size == pytest.approx(1 / 5 - 0.3)
    assert segment.share == pytest.approx(0.4)


def make_frame(rows=3000):
    """Forecasts that are 0.1 too low below 0.3 and 0.15 too high above 0.7; the number of events is exact."""
    forecast = np.repeat(np.linspace(0.05, 0.95, 19), rows // 19 + 1)
    truth = np.where(forecast < 0.3, forecast + 0.1, np.where(forecast > 0.7, forecast - 0.15, forecast))
    place = np.tile(np.arange(rows // 19 + 1), 19)
    return pd.DataFrame({"y": (place < np.round(truth * (rows // 19 + 1))).astype(int), "m": forecast})


@cache
def evaluate_frame():
    return sr.evaluate(make_frame(), outcome="y", forecasts=["m"], resamples=199)


def test_segments_agree_with_the_rows():
    evaluation, frame = evaluate_frame(), make_frame()
    recalibrated = sr.corp(frame.y, frame.m).cep
    low, high = evaluation.models[0].segments
    assert (low.sign, high.sign) == (1, -1)
    for segment in (low, high):
        inside = frame.m.between(segment.lower, segment.upper).to_numpy()
        assert segment.share == pytest.approx(inside.mean())
        assert segment.size == pytest.approx((recalibrated - frame.m.to_numpy())[inside].mean())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("few", [True, False])
def test_engines_measure_as_memory_does(tmp_path, monkeypatch, weighted, few):
    """With many distinct forecasts, an engine knows cells between knots only; counts and sums are exact."""
    rng = np.random.default_rng(4)
    forecast = rng.random(6000)
    frame = pd.DataFrame({"y": (rng.random(6000) < forecast**2).astype(int), "m": forecast})
    frame["w"] = rng.integers(1, 4, 6000) if weighted else 1
    frame.to_parquet(tmp_path / "rows.parquet")
    if not few:

        def plan(*args):
            full = plan_model_digest(*args)
            return replace(full, most_distinct=100, ranks=full.ranks[::200], heights=full.heights[::200])

        monkeypatch.setattr(engine_evaluation, "plan_model_digest", plan)
    options = {"outcome": "y", "forecasts": ["m"], "weight": "w", "weight_kind": "frequency"}
    found = sr.evaluate(tmp_path / "rows.parquet", engine="duckdb", **options).models[0].segments
    assert found
    assert few or any(not np.isin([s.lower, s.upper], frame.m).all() for s in found)  # ends of cells
    recalibrated = sr.corp(frame.y, frame.m, frame.w).cep
    for segment in found:
        inside = frame.m.between(segment.lower, segment.upper).to_numpy()
        weight = frame.w.to_numpy()[inside]
        assert segment.share == pytest.approx(weight.sum() / frame.w.sum())
        size = np.average((recalibrated - frame.m.to_numpy())[inside], weights=weight)
        assert segment.size == pytest.approx(size, abs=1e-12)


def test_documents_without_segments_are_read_and_described_without_size_and_share(tmp_path):
    evaluation = evaluate_frame()
    document = json.loads(evaluation.to_json())
    del document["models"][0]["segments"]
    old = tmp_path / "old.json"
    old.write_text(json.dumps(document, separators=(",", ":"), ensure_ascii=False) + "\n", encoding="utf-8")
    read = sr.Evaluation.from_json(old)
    assert read.models[0].segments is None
    assert read.to_json() == old.read_text(encoding="utf-8")  # so that its SHA-256 is the same
    sentence = decide_calibration(read.models[0], read, 0.05).sentence
    assert "events were rarer than forecast" in sentence
    assert "of cases" not in sentence
    now = decide_calibration(evaluation.models[0], evaluation, 0.05).sentence
    assert "rarer than forecast; " in now
    assert "of cases" in now


def test_segments_survive_a_document(tmp_path):
    evaluate_frame().to_json(tmp_path / "r.json")
    assert (
        sr.Evaluation.from_json(tmp_path / "r.json").models[0].segments == evaluate_frame().models[0].segments
    )


# ---- Reasons ----


def decide(*, p_value, holm=None, lower=0.0, is_left=True, alpha=0.05, draws=999):
    """The decision on a model whose test, interval and band are made to show what is wanted."""
    evaluation = evaluate_frame()
    (model,) = evaluation.models
    tests = tuple(
        replace(test, p_value=p_value, p_value_holm=holm, draws=draws)
        for test in model.scores.miscalibration_tests
    )
    components = tuple(
        replace(part, corrected=max(lower, 0.001), lower=lower, upper=0.01)
        if (part.measure, part.component) == ("brier", "miscalibration")
        else part
        for part in model.scores.components
    )
    changed = replace(
        model,
        scores=replace(model.scores, miscalibration_tests=tests, components=components),
        segments=model.segments if is_left else (),
    )
    models = (changed,) if holm is None else (changed, changed)
    return decide_calibration(changed, replace(evaluation, models=models), alpha)


def test_a_rejection_with_band_and_interval_that_agree_needs_no_explanation():
    decision = decide(p_value=0.001, lower=0.0005)
    assert decision.verdict is LimitVerdict.FAIL
    assert decision.sentence.startswith(
        "m is miscalibrated (p = 0.001; corrected MCB 0.0010 [0.0005, 0.0100] "
    )
    assert decision.sentence.endswith("of cases; 1 smaller range also leaves the band.")
    assert decision.reasons[0].startswith("The test that MCB is 0 decides")
    assert "2 ranges: between " in decision.reasons[1]
    assert "differ" not in " ".join(decision.reasons)
    assert decision.reasons[-1].endswith(", which excludes 0.")


def test_a_band_that_is_left_beside_a_test_that_does_not_reject_is_explained():
    decision = decide(p_value=0.512)
    assert decision.sentence.startswith("No evidence that m is miscalibrated (p = 0.512; corrected MCB ")
    band, why = decision.reasons[1:3]
    assert band.startswith(BAND_LEFT)
    assert why.startswith("Band and test differ because the 90 % band judges every forecast value")
    assert why.endswith("leaves it in up to 10 % of samples.")
    assert decision.reasons[-1].endswith(", which begins at 0.")


def test_a_band_that_is_kept_beside_a_test_that_rejects_is_explained():
    decision = decide(p_value=0.001, lower=0.0005, is_left=False)
    assert decision.reasons[1] == BAND_KEPT
    assert decision.reasons[2].startswith("Test and band differ because the band allows for chance")


def test_an_interval_from_0_beside_a_test_that_rejects_is_explained():
    decision = decide(p_value=0.04, lower=0.0)
    assert decision.verdict is LimitVerdict.FAIL
    assert ", which begins at 0 although the test rejects: " in decision.reasons[-1]
    assert decision.reasons[-1].endswith("if calibration is rejected at 2.5 % as well.")


def test_an_interval_above_0_beside_an_adjusted_p_value_that_does_not_reject_is_explained():
    decision = decide(p_value=0.03, holm=0.06, lower=0.0005, is_left=False)
    assert decision.verdict is LimitVerdict.PASS
    assert "p = 0.030, adjusted for 2 models 0.060, above 0.05" in decision.reasons[0]
    assert decision.reasons[-1].endswith("is adjusted for the number of models.")


def test_a_stricter_level_than_that_of_the_interval_is_named():
    decision = decide(p_value=0.01, lower=0.0005, is_left=False, alpha=0.005)
    assert "although the test does not reject at 0.5 %" in decision.reasons[-1]


def test_too_few_draws_are_named():
    decision = decide(p_value=0.1, draws=9)
    assert decision.verdict is LimitVerdict.INCONCLUSIVE
    assert decision.sentence.endswith("): 9 draws are too few for the test to reject.")
    assert "with 9 draws no p-value can be as small as 0.05" in decision.reasons[0]


def test_a_diagonal_inside_the_wider_band_is_explained():
    wide = [text for text in decide(p_value=0.001).reasons if text.startswith("The diagonal stays inside")]
    left = [text for text in decide(p_value=0.001).reasons if text.startswith("The diagonal leaves")]
    assert len(wide) + len(left) == 1
    assert all("wider because it holds for every true curve" in text for text in wide)


# ---- Views ----


@cache
def evaluate_classes():
    rng = np.random.default_rng(6)
    forecast = rng.dirichlet([2, 2, 2], 1500)
    observed = (rng.random((1500, 1)) > np.cumsum(forecast, axis=1)).sum(axis=1)
    return sr.evaluate(
        np.array(["low", "mid", "high"])[observed],
        {"m": forecast},
        classes=["low", "mid", "high"],
        ordered=True,
        resamples=199,
    )


def decide_views(p_value, views):
    """The decision on an ordinal model whose views by class have these p-values, before adjustment."""
    evaluation = evaluate_classes()
    (model,) = evaluation.class_models

    def change(family):
        values = views if family.kind == "class" else (0.9,) * len(family.views)
        changed = tuple(
            replace(view, scores=_with_p_value(view.scores, value), segments=())
            for view, value in zip(family.views, values, strict=True)
        )
        return replace(family, views=changed)

    changed = replace(
        model, scores=_with_p_value(model.scores, p_value), families=tuple(map(change, model.families))
    )
    return decide_calibration(changed, replace(evaluation, class_models=(changed,)), 0.05)


def _with_p_value(scores, value):
    tests = tuple(replace(test, p_value=value, draws=9999) for test in scores.miscalibration_tests)
    return replace(scores, miscalibration_tests=tests)


def test_views_are_adjusted_for_their_number():
    """REVIEW U4: "no evidence" in the summary, and p = 0.040 for one class in a section."""
    decision = decide_views(0.4, (0.04, 0.5, 0.6))
    assert decision.sentence.startswith("No evidence that m is miscalibrated (p = 0.400; corrected MCB ")
    (stated,) = [text for text in decision.reasons if text.startswith("Tests of 3 classes")]
    assert stated == (
        "Tests of 3 classes, adjusted for their number (Holm): no evidence of miscalibration (smallest p = "
        "0.120)."
    )
    assert not any("differ" in text for text in decision.reasons)


def test_a_view_that_is_shown_beside_a_whole_that_is_not_is_explained():
    decision = decide_views(0.4, (0.01, 0.5, 0.6))
    assert any("evidence of miscalibration for “low” (p = 0.030)" in text for text in decision.reasons)
    assert any(text.startswith("Single views and the whole differ") for text in decision.reasons)


def test_a_whole_that_is_shown_beside_views_that_are_not_is_explained():
    decision = decide_views(0.01, (0.4, 0.5, 0.6))
    assert decision.sentence.endswith("): no single view of its classes is shown to be.")
    assert any(text.startswith("The whole and its views differ") for text in decision.reasons)
