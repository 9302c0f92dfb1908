"""Few and unobserved cases in engines: intervals and verdicts follow the same rules as in memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from engine_tools import ArrayEngine
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

import scorereport as sr
from scorereport.configuration import parse_configuration
from scorereport.configuration.judgement import judge
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.evaluation.engines import rare_case_intervals
from scorereport.evaluation.engines.digest import CASE_KINDS, SCORED_AS
from scorereport.evaluation.engines.engine_evaluation import digest_models, evaluate_with_engine
from scorereport.evaluation.evaluated_parts import assemble_evaluation
from scorereport.inference.panel import make_panel
from scorereport.inference.rare_cases import FEW_CASES, WIDENED, RareOutcomes, RareSkill, WeightedForecasts
from scorereport.results.settings import EvaluationSettings
from scorereport.scores.ranking import roc_auc

RNG = np.random.default_rng(29)
SETTINGS = EvaluationSettings(engine="duckdb")
ENGINES = ("memory", "duckdb")


def evaluate(frame, engine="duckdb", **options):
    return sr.evaluate(frame, outcome="y", forecasts=["m"], engine=engine, **{"resamples": 40, **options})


def digest(frame, *, seed=1, rows=7, settings=SETTINGS, **columns):
    """The evaluation from digests of small pieces."""
    predictions = sr.read_predictions(frame, outcome="y", forecasts=["m"], **columns)
    parts = evaluate_with_engine(ArrayEngine(predictions, rows=rows, seed=seed), settings)
    return assemble_evaluation(parts, settings, software={})


def scores_of(evaluation):
    return {score.name: score for score in evaluation.models[0].scores.scores}


def bounds_of(interval):
    return interval.lower, interval.upper


def width_of(interval):
    return interval.upper - interval.lower


def verdicts(evaluation, text):
    return [found.verdict for found in judge(evaluation, parse_configuration(f"[limits]\n{text}").limits)]


# ---- surprises ----


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("doubt", [0.0, 0.01])
def test_rows_without_a_surprise_have_the_intervals_of_memory(doubt):
    """No score varies, so that all width comes from surprises that did not happen in 60 rows."""
    y = np.arange(60) % 2
    frame = pd.DataFrame({"y": y, "m": np.abs(y - doubt)})
    memory, digested = evaluate(frame, "memory"), evaluate(frame)
    for name, theirs in scores_of(memory).items():
        ours = scores_of(digested)[name]
        assert bounds_of(ours.interval) == pytest.approx(bounds_of(theirs.interval), rel=1e-9, abs=1e-14)
        assert bounds_of(ours.skill_interval) == pytest.approx(bounds_of(theirs.skill_interval), rel=1e-9)
    if not doubt:
        brier = scores_of(digested)["brier"].interval
        assert bounds_of(brier) == (0, pytest.approx(1 - 0.025 ** (1 / 60), rel=1e-12))
        assert brier.method.endswith(WIDENED)
    assert verdicts(digested, "brier = 0.02\nlog_loss = 0.1") == [LimitVerdict.INCONCLUSIVE] * 2


def tied(n):
    """Forecasts in tenths; those of 0 and 1 come true, so that no score is infinite."""
    p = RNG.integers(0, 11, n) / 10
    return pd.DataFrame({"y": (RNG.random(n) < p).astype(int), "m": p})


@pytest.mark.parametrize("counts", [False, True])
def test_splits_are_those_of_memory_however_rows_are_cut(counts):
    """Including forecasts of 0, 1/2 and 1: infinite scores are left out, and 1/2 has no surprises."""
    frame = tied(80)
    frame["n"] = RNG.integers(1, 4, 80) if counts else 1
    columns = {"weight": "n", "weight_kind": "frequency"} if counts else {}
    predictions = sr.read_predictions(frame, outcome="y", forecasts=["m"], **columns)
    (model,) = digest_models(ArrayEngine(predictions, rows=7), SETTINGS)
    weight = {"sample_weight": frame["n"], "weight_kind": "frequency"} if counts else {}
    panel = make_panel(frame["y"], {"m": frame["m"]}, **weight)
    for at, measure in enumerate(model.measures):
        memory = RareOutcomes(panel, "m", measure)
        scores = measure.score(panel.outcome, panel.forecasts["m"])
        for ours, kind in zip(
            rare_case_intervals._split_all(model, at), (memory._events, memory._surprises), strict=True
        ):
            assert tuple(ours) == pytest.approx(tuple(memory._split(kind, scores, 0.95)), rel=1e-12)


def test_enough_cases_of_every_kind_need_no_sums_by_kind():
    n = 4 * (FEW_CASES + 1)
    y, side = np.arange(n) % 2, np.arange(n) // 2 % 2
    frame = pd.DataFrame({"y": y, "m": np.where(side, 0.75, 0.25) + np.arange(n) / (8 * n)})
    predictions = sr.read_predictions(frame, outcome="y", forecasts=["m"])
    (model,) = digest_models(ArrayEngine(predictions, rows=10 * n), SETTINGS)
    assert model.digest.kind_sums.shape == (len(model.measures), len(CASE_KINDS), len(SCORED_AS))
    assert np.isnan(model.digest.kind_sums).all()
    whole, cut = digest(frame, rows=10 * n), digest(frame, rows=7)
    for name, score in scores_of(whole).items():
        other = scores_of(cut)[name]
        assert bounds_of(score.interval) == pytest.approx(bounds_of(other.interval), rel=1e-9)
        assert bounds_of(score.skill_interval) == pytest.approx(bounds_of(other.skill_interval), rel=1e-9)
        assert WIDENED not in score.interval.method + other.skill_interval.method


def test_the_skill_of_a_large_group_is_bounded_as_from_its_rows():
    """Few events in a group whose forecasts are known at chosen values only."""
    n = 4000
    p = RNG.beta(1, 300, n)
    y = np.zeros(n, dtype=int)
    y[np.argsort(p)[-40::4]] = 1
    frame = pd.DataFrame({"y": y, "m": p, "g": "all"})
    digested = digest(frame, groups=["g"], rows=900)
    found = {score.name: score for score in digested.groups[0].models[0].scores}
    panel = make_panel(y, {"m": p})
    predictions = sr.read_predictions(frame, outcome="y", forecasts=["m"])
    (model,) = digest_models(ArrayEngine(predictions), SETTINGS)
    for at, measure in enumerate(model.measures):
        if measure.name == "misclassification":
            continue
        value, interval = found[measure.name].skill, found[measure.name].skill_interval
        asked = RareOutcomes(panel, "m", measure).bound_skill(value, 0.95)
        assert interval.upper >= asked[1] - 1e-3 * abs(asked[1] - value)
        assert interval.lower <= asked[0] + 1e-3 * abs(asked[0] - value)
        splits = rare_case_intervals._split_all(model, at)
        exact = RareSkill(measure, value, WeightedForecasts(p, np.ones(n)), *splits)
        cells = model.fit.mean_cells
        near = RareSkill(measure, value, WeightedForecasts(cells.x_min, cells.n.astype(float)), *splits)
        assert near.bound(1.96, 0.95) == pytest.approx(exact.bound(1.96, 0.95), rel=1e-6)


def test_heavy_events_are_few_though_their_weights_are_whole():
    """5 events of weight 1000: intervals allow for events that did not happen."""
    p = RNG.uniform(0.05, 0.3, 300)
    y = (np.arange(300) < 5).astype(int)
    frame = pd.DataFrame({"y": y, "m": p, "w": 1000})
    assert scores_of(digest(frame, weight="w"))["brier"].interval.method.endswith(WIDENED)


# ---- areas ----


def test_a_perfect_area_of_weighted_rows_is_one():
    p = np.random.default_rng(0).random(200)
    w = np.random.default_rng(2).exponential(1, 200)
    frame = pd.DataFrame({"y": (p > 0.5).astype(int), "m": p, "w": w})
    memory, digested = (scores_of(evaluate(frame, engine, weight="w"))["roc_auc"] for engine in ENGINES)
    assert (digested.value, digested.skill) == (1, 1)
    assert bounds_of(digested.interval) == pytest.approx(bounds_of(memory.interval), rel=1e-6)
    assert digested.interval.upper == 1


@pytest.mark.sweep
def test_rounding_does_not_move_a_perfect_area():
    """Sums of fractions round: with some of these weights, the area was 1.0000000000000002."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        p, w = rng.random(20), rng.exponential(1, 20)
        area = roc_auc(p > 0.5, p, sample_weight=w)
        assert area == pytest.approx(1, abs=1e-12)
        assert area <= 1
        for y, perfect in ((p > 0.5, 1), (p < 0.5, 0)):
            frame = pd.DataFrame({"y": y.astype(int), "m": p, "w": w})
            predictions = sr.read_predictions(frame, outcome="y", forecasts=["m"], weight="w")
            (model,) = digest_models(ArrayEngine(predictions), SETTINGS)
            assert model.fit.auc == perfect


# ---- cases of each class ----


def by_outcome(events, others, weights):
    x = np.concatenate([norm.ppf((np.arange(n) * 7 % n + 0.5) / n) for n in (events, others)])
    x[:events] += 1.5
    y = np.repeat([1, 0], [events, others])
    frame = pd.DataFrame({"y": y, "m": 1 / (1 + np.exp(1 - x)), "w": np.repeat(weights, [events, others])})
    return frame.assign(g=np.where(np.arange(len(y)) % 2, "odd", "even"))


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    ("events", "others", "weights"), [(8, 900, (100.5, 1.0)), (600, 600, (1.0, 20.5)), (8, 900, (100, 1))]
)
def test_cases_are_counted_within_each_class(events, others, weights):
    frame = by_outcome(events, others, weights)
    memory, digested = (
        evaluate(frame, engine, weight="w", groups=["g"], thresholds=[0.3]) for engine in ENGINES
    )
    found = digested.data.sample.independent
    assert (found.unit, found.events, found.non_events) == (
        "row",
        pytest.approx(events),
        pytest.approx(others),
    )
    assert found.total == pytest.approx(frame["w"].sum() ** 2 / (frame["w"] ** 2).sum())
    ours, theirs = (scores_of(of)["roc_auc"].interval for of in (digested, memory))
    assert 0.9 < width_of(ours) / width_of(theirs) < 1.2
    for group, other in zip(digested.groups, memory.groups, strict=True):
        of_group = group.sample.independent
        assert (of_group.events, of_group.non_events) == (
            pytest.approx(events / 2),
            pytest.approx(others / 2),
        )
        ours, theirs = (found.models[0].scores[-1].interval for found in (group, other))
        assert 0.9 < width_of(ours) / width_of(theirs) < 1.2
    row = digested.models[0].thresholds[0]
    expected = proportion_confint(row.sensitivity * events, events, method="wilson")
    assert bounds_of(row.interval("sensitivity")) == pytest.approx(expected, rel=1e-9)


# ---- clusters ----


def clustered(sizes):
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    p = RNG.uniform(0.2, 0.8, len(cluster))
    return pd.DataFrame({"y": (RNG.random(len(p)) < p).astype(int), "m": p, "c": cluster})


def kish(weight, cluster):
    totals = np.bincount(cluster, weights=weight)
    return totals.sum() ** 2 / (totals**2).sum()


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("resamples", [0, 40])
def test_clusters_count_by_their_weight(resamples):
    """One cluster has 970 of 1000 rows: the sample is nearly that cluster alone."""
    frame = clustered([970] + [1] * 30)
    digested = digest(frame, cluster="c", settings=replace(SETTINGS, resamples=resamples))
    found = digested.data.sample.independent
    assert found.unit == "cluster"
    for ours, chosen in (
        (found.total, frame["y"] >= 0),
        (found.events, frame["y"] == 1),
        (found.non_events, frame["y"] == 0),
    ):
        expected = kish(chosen, frame["c"])
        assert ours <= expected + 1e-12
        assert ours == pytest.approx(expected, rel=0.02)
    assert verdicts(digested, "brier = 0.5\nroc_auc = 0.3") == [LimitVerdict.INCONCLUSIVE] * 2


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("sizes", [[50] * 6, [200, 30, 30, 20, 10]])
def test_an_area_over_clusters_has_the_interval_of_memory(sizes):
    frame = clustered(sizes)
    memory = scores_of(evaluate(frame, "memory", cluster="c"))["roc_auc"].interval
    ours = scores_of(digest(frame, cluster="c"))["roc_auc"].interval
    assert ours.standard_error == pytest.approx(memory.standard_error, rel=1e-9)
    assert ours.degrees_of_freedom == pytest.approx(memory.degrees_of_freedom, rel=1e-9)
    assert bounds_of(ours) == pytest.approx(bounds_of(memory), rel=1e-9)


def test_intervals_lie_among_possible_scores():
    """Two clusters leave one degree of freedom: uncut intervals would exceed all possible scores."""
    frame = pd.DataFrame({"y": [1, 1, 1, 0, 0, 0, 1, 0], "m": [0.9, 0.8, 0.9, 0.1, 0.2, 0.6, 0.1, 0.9]})
    frame["c"] = [1, 1, 1, 1, 1, 1, 2, 2]
    scores = scores_of(digest(frame, cluster="c"))
    for name in ("brier", "misclassification", "spherical", "roc_auc"):
        assert 0 <= scores[name].interval.lower <= scores[name].interval.upper <= 1
    assert scores["log_loss"].interval.lower == 0
    assert all(score.skill_interval.upper <= 1 for score in scores.values())


@pytest.mark.sweep
def test_clusters_are_counted_in_groups_without_intervals():
    """With more than 100 groups, none has intervals: few clusters must not count as many rows."""
    n = 101 * 40
    group = np.arange(n) % 101
    p = RNG.uniform(0.2, 0.8, n)
    y = (RNG.random(n) < p).astype(int)
    frame = pd.DataFrame({"y": y, "m": p, "g": group.astype(str), "c": 2 * group + np.arange(n) // 101 % 2})
    digested = digest(frame, groups=["g"], cluster="c", rows=1000)
    assert len(digested.groups) == 101
    for found in digested.groups:
        assert found.models[0].scores[0].interval is None
        assert found.sample.independent.unit == "cluster"
        assert 1 <= found.sample.independent.total <= 2
    limits = parse_configuration("[limits]\nbrier = 0.5\ngroups = true").limits
    assert {found.verdict for found in judge(digested, limits) if found.group} == {LimitVerdict.INCONCLUSIVE}
