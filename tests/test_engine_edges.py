"""Odd samples through an engine: what in memory is a note must be one there, and never a wrong number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from engine_tools import ArrayEngine

import scorereport as sr
from scorereport.evaluation.engines import engine_evaluation
from scorereport.evaluation.engines.digest_plan import plan_model_digest
from scorereport.evaluation.evaluated_parts import assemble_evaluation


def evaluate_both(frame, *, seed=1, **columns):
    """The evaluation in memory, and that from digests of small pieces."""
    names = [name for name in frame if name.startswith("model")]
    predictions = sr.read_predictions(frame, outcome="y", forecasts=names, **columns)
    memory = sr.evaluate(predictions, resamples=40)
    settings = replace(memory.settings, engine="duckdb")
    parts = engine_evaluation.evaluate_with_engine(ArrayEngine(predictions, rows=200, seed=seed), settings)
    return memory, assemble_evaluation(parts, settings, software={})


def lines_of(evaluation, model):
    found = next(m.calibration.line for m in evaluation.models if m.model == model)
    return found.slope, found.intercept_at_slope_one


def make(n=1000, seed=2):
    rng = np.random.default_rng(seed)
    x = np.clip(rng.random(n), 0.001, 0.999)
    return rng, x, (rng.random(n) < x).astype(float)


@pytest.mark.sweep
def test_a_model_that_separates_leaves_the_lines_of_others_alone():
    _, x, y = make()
    separated = 0.3 + 0.4 * y + 0.01 * x
    frame = pd.DataFrame({"y": y, "model_good": x, "model_separated": separated, "model_flat": 0.4})
    memory, digested = evaluate_both(frame)
    for model in ("model_good", "model_separated", "model_flat"):
        for ours, theirs in zip(lines_of(digested, model), lines_of(memory, model), strict=True):
            assert ours.value == pytest.approx(theirs.value, rel=1e-9, nan_ok=True)
            assert ours.note == theirs.note
    assert "separate events from non-events" in lines_of(digested, "model_separated")[0].note


def test_events_below_all_others_do_not_converge_and_say_so():
    _, x, y = make()
    frame = pd.DataFrame({"y": y, "model": np.where(y == 1, 0.2, 0.2 + 0.5 * x)})
    _, digested = evaluate_both(frame)
    slope, _ = lines_of(digested, "model")
    assert np.isnan(slope.value)
    assert slope.note


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("clusters", [1, 2, 3])
def test_few_clusters_have_notes_where_memory_has_them(clusters):
    rng, x, y = make(300)
    frame = pd.DataFrame({"y": y, "model": x, "cluster": rng.integers(0, clusters, 300)})
    memory, digested = evaluate_both(frame, cluster="cluster")
    ours = {test.name: test for test in digested.models[0].calibration.tests}
    theirs = {test.name: test for test in memory.models[0].calibration.tests}
    for name in ("Unreliability", "Calibration slope", "Spiegelhalter's z"):
        assert np.isnan(ours[name].p_value) == np.isnan(theirs[name].p_value)
        assert bool(ours[name].note) == bool(theirs[name].note)


@pytest.mark.sweep
@pytest.mark.parametrize("events", [1, 2, 3])
def test_the_auc_of_few_events_is_not_made_certain(events):
    rng, x, _ = make(2000)
    y = np.zeros(2000)
    y[rng.choice(np.flatnonzero((x > 0.6) & (x < 0.9)), events, replace=False)] = 1
    memory, digested = evaluate_both(pd.DataFrame({"y": y, "model": x}))
    ours, theirs = (e.models[0].scores.score("roc_auc").interval for e in (digested, memory))
    assert ours.value == pytest.approx(theirs.value, rel=1e-12)
    assert ours.lower == pytest.approx(theirs.lower, abs=0.05)
    assert ours.upper == pytest.approx(theirs.upper, abs=0.05)


def test_a_perfect_auc_has_newcombes_bounds():
    _, x, y = make(500)
    frame = pd.DataFrame({"y": y, "model": 0.2 + 0.5 * y + 0.1 * x})
    memory, digested = evaluate_both(frame)
    ours, theirs = (e.models[0].scores.score("roc_auc").interval for e in (digested, memory))
    assert (ours.value, ours.upper) == (1, 1)
    assert ours.lower == pytest.approx(theirs.lower, rel=1e-9)
    assert "Newcombe" in ours.note


@pytest.mark.sweep
def test_groups_of_other_weight_are_corrected_by_their_own():
    rng, x, y = make(4000)
    group = rng.integers(0, 2, 4000)
    weight = np.where(group == 0, rng.random(4000) * 0.01, 50 + 50 * rng.random(4000))
    frame = pd.DataFrame({"y": y, "model": x**1.3, "group": group, "weight": weight})
    memory, digested = evaluate_both(frame, weight="weight", groups="group")
    for ours, theirs in zip(digested.groups, memory.groups, strict=True):
        first = ours.models[0].component("brier", "miscalibration")
        second = theirs.models[0].component("brier", "miscalibration")
        assert first.overfit_closed == pytest.approx(second.overfit_closed, rel=0.2)
        assert first.upper == pytest.approx(second.upper, rel=0.5, abs=0.002)


def test_forecasts_on_the_edges_of_bins_stay_in_their_bin(monkeypatch):
    def few(*args):
        return replace(plan_model_digest(*args), most_distinct=100)

    monkeypatch.setattr(engine_evaluation, "plan_model_digest", few)
    rng, x, _ = make(6000)
    edges = np.arange(1, 10) / 10
    on_edge = rng.random(6000) < 0.3
    p = np.where(on_edge, rng.choice(edges, 6000), x)
    frame = pd.DataFrame({"y": (rng.random(6000) < p).astype(float), "model": p})
    memory, digested = evaluate_both(frame)
    ours, theirs = (e.models[0].calibration.binned for e in (digested, memory))
    np.testing.assert_array_equal(ours.n, theirs.n)
    assert ours.value == pytest.approx(theirs.value, rel=1e-9)


@pytest.mark.sweep
def test_weights_that_sum_to_one_have_the_quantiles_of_memory(monkeypatch):
    def few(*args):
        return replace(plan_model_digest(*args), most_distinct=100)

    monkeypatch.setattr(engine_evaluation, "plan_model_digest", few)
    rng, x, y = make(3000)
    weight = rng.random(3000)
    frame = pd.DataFrame({"y": y, "model": x, "weight": weight / weight.sum()})
    memory, digested = evaluate_both(frame, weight="weight")
    ours, theirs = (e.models[0].forecasts for e in (digested, memory))
    assert [q.value for q in ours.quantiles] == pytest.approx([q.value for q in theirs.quantiles], rel=1e-9)


def test_forecasts_that_were_refuted_are_counted_in_the_notes():
    _, x, y = make()
    p = x.copy()
    p[:18] = 1 - y[:18]
    memory, digested = evaluate_both(pd.DataFrame({"y": y, "model": p}))
    for ours, theirs in zip(
        digested.models[0].calibration.tests, memory.models[0].calibration.tests, strict=True
    ):
        if "probability 0" in theirs.note:
            assert "In 18 rows an outcome with probability 0 occurred" in ours.note


def test_one_event_leaves_a_reason_where_the_skill_has_no_interval():
    rng, x, _ = make(400)
    y = np.zeros(400)
    y[rng.integers(0, 400)] = 1
    weight = rng.random(400)
    _, digested = evaluate_both(pd.DataFrame({"y": y, "model": x, "weight": weight}), weight="weight")
    skill = digested.models[0].scores.score("brier").skill_interval
    assert np.isfinite(skill.lower) or skill.note
