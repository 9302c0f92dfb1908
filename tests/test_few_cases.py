"""Few events, surprises or distinct forecasts: intervals allow for them, verdicts stay inconclusive."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from engine_tools import ArrayEngine
from scipy.stats import beta, binom, chi2, ncx2

import scorereport as sr
from scorereport.configuration import MEASURES, parse_configuration
from scorereport.configuration.consistency import RequestedEvaluation, check_request
from scorereport.configuration.judgement import judge
from scorereport.configuration.limit_evidence import FEWEST_CASES, exact_bounds, find_evidence
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.configuration.measure_limits import ModelKind
from scorereport.errors import UsageError
from scorereport.evaluation.engines.engine_evaluation import evaluate_with_engine
from scorereport.inference import bootstrap, component_intervals
from scorereport.inference.few_values import (
    MOST_VALUES,
    _noncentrality,
    divergence,
    find_few_values,
)
from scorereport.inference.losses import resolve_measure
from scorereport.inference.panel import make_panel
from scorereport.inference.rare_cases import (
    FEW_CASES,
    WIDENED,
    bound_mean,
    count_cases,
    exact_share,
    split_cases,
    widen,
)
from scorereport.reliability.sampling import SamplingUnits
from scorereport.results.model_records import IndependentCases, SampleSummary
from scorereport.results.settings import EvaluationSettings

RNG = np.random.default_rng(11)
RARE = RNG.beta(1, 49, 30)
LIMITS = "brier = 0.05\nlog_loss = 0.2\nmisclassification = 0.05"


def limits_of(text):
    return parse_configuration(f"[limits]\n{text}").limits


def evaluate(y, p, *, more=None, **options):
    frame = pd.DataFrame({"y": np.asarray(y, dtype=int), "m": p, **(more or {})})
    return sr.evaluate(frame, outcome="y", forecasts=["m"], **{"resamples": 40, **options})


# ---- intervals of mean scores ----


@pytest.mark.parametrize(("happened", "n"), [(0, 30), (1, 30), (7, 30), (29, 30), (30, 30)])
def test_the_exact_interval_of_a_share_is_that_of_the_binomial_distribution(happened, n):
    lower, upper = exact_share(happened / n, n, 0.95)
    if happened:
        assert binom.sf(happened - 1, n, lower) == pytest.approx(0.025)
    else:
        assert lower == 0
    if happened < n:
        assert binom.cdf(happened, n, upper) == pytest.approx(0.025)
    else:
        assert upper == 1


def test_without_events_an_interval_reaches_to_what_events_would_score():
    """No events in 30 rows: the prevalence may be 11.6 %, and the Brier score nearly as large."""
    estimate = bootstrap(np.zeros(30), {"m": RARE}, resamples=50).interval("m", "brier")
    share = 1 - 0.025 ** (1 / 30)
    others = ((RARE**2).sum() + (RARE**2).mean()) / 31
    scores = RARE**2
    middle, end = others, share * ((1 - RARE) ** 2).mean() + (1 - share) * others
    within = 1.959963984540054 * scores.std(ddof=1) / np.sqrt(30)
    assert estimate.upper == pytest.approx(scores.mean() + np.hypot(end - middle, within), rel=1e-9)
    assert estimate.upper > 0.1
    assert estimate.method.endswith(f", {WIDENED}")
    plain = bootstrap(np.zeros(30), {"m": RARE}, resamples=50).interval("m", "brier", allow_for_rare=False)
    assert plain.upper < 0.01
    assert estimate.lower <= plain.lower


@pytest.mark.parametrize("score", ["brier", "spherical", "misclassification"])
@pytest.mark.parametrize("n", [3, 40])
def test_perfect_rows_have_an_interval_with_width(score, n):
    """A surprise that was not seen in n rows may have the probability 1 - 0.025^(1/n)."""
    y = np.arange(n) % 2
    result = bootstrap(y, {"m": y.astype(float)}, scores=[score], resamples=20)
    estimate, skill = (result.interval("m", measure) for measure in (score, f"{score} skill"))
    assert (estimate.value, estimate.lower) == (0, 0)
    assert estimate.upper == pytest.approx(1 - 0.025 ** (1 / n), rel=1e-9)
    assert skill.lower < 0.9
    assert skill.upper == 1


def test_certain_forecasts_may_have_an_infinite_log_score():
    estimate = bootstrap([1, 0, 1], {"m": [1.0, 0.0, 1.0]}, resamples=20).interval("m", "log_loss")
    assert (estimate.lower, estimate.upper) == (0, math.inf)


def test_few_non_events_mirror_few_events():
    y, p = np.zeros(60), np.tile(RARE, 2)
    y[[3, 20]] = 1
    for score in ("brier", "log_loss", "spherical"):
        few = bootstrap(y, {"m": p}, scores=[score], resamples=50)
        mirrored = bootstrap(1 - y, {"m": 1 - p}, scores=[score], resamples=50)
        for measure in (score, f"{score} skill"):
            ours, theirs = few.interval("m", measure), mirrored.interval("m", measure)
            assert ours.upper == pytest.approx(theirs.upper, rel=0.2)
            assert ours.value == pytest.approx(theirs.value, rel=1e-9)


def test_many_events_and_surprises_leave_the_bootstrap_alone():
    p = RNG.random(1000)
    y = RNG.random(1000) < p
    result = bootstrap(y, {"m": p}, resamples=50)
    for measure in ("brier", "log_loss", "brier skill"):
        assert result.interval("m", measure) == result.interval("m", measure, allow_for_rare=False)


@pytest.mark.parametrize("counts", [None, RNG.integers(1, 4, 300)])
def test_surprises_are_counted_once_for_all_measures(counts):
    """A forecast of 1/2 surprises nobody."""
    p = RNG.integers(0, 11, 300) / 10
    y = (RNG.random(300) < 0.4).astype(int)
    panel = make_panel(y, {"m": p, "other": 1 - p}, sample_weight=counts, weight_kind="frequency")
    w = np.ones(300) if counts is None else counts
    is_surprise = ((p < 0.5) & (y == 1)) | ((p > 0.5) & (y == 0))
    shares = panel.shares_surprised
    assert shares["m"] == pytest.approx(w @ is_surprise / w.sum(), rel=1e-14)
    assert shares["other"] == pytest.approx(w @ (~is_surprise & (p != 0.5)) / w.sum(), rel=1e-14)


def test_few_surprises_widen_scores_of_many_events():
    p = np.tile([0.02, 0.98], 500)
    y = p > 0.5
    y[:3] = ~y[:3]
    result = bootstrap(y, {"m": p}, resamples=50)
    for measure in ("brier", "brier skill"):
        ours, plain = result.interval("m", measure), result.interval("m", measure, allow_for_rare=False)
        assert ours.upper - ours.lower > 1.1 * (plain.upper - plain.lower)


def test_the_reach_is_added_in_squares():
    split = split_cases(share=0.1, share_error=0.03, cases=100, means=(0.8, 0.1), typical=(0.9, 0.2))
    inside, outside = (10 * 0.8 + 0.9) / 11, (90 * 0.1 + 0.2) / 91
    assert split[3:] == pytest.approx((inside, outside))
    low, high = beta.ppf([0.025], 10, 91)[0], beta.ppf([0.975], 11, 90)[0]
    rest = 1.96**2 * (0.05**2 - ((inside - outside) * 0.03) ** 2)
    lower, upper = bound_mean(0.17, 0.05, [split], quantile=1.96, level=0.95)
    assert lower == pytest.approx(0.17 - np.sqrt(((0.1 - low) * (inside - outside)) ** 2 + rest))
    assert upper == pytest.approx(0.17 + np.sqrt(((high - 0.1) * (inside - outside)) ** 2 + rest))


def test_a_split_with_enough_cases_widens_nothing():
    split = split_cases(share=0.5, share_error=0.05, cases=2 * FEW_CASES, means=(1, 0), typical=(1, 0))
    bounds = bound_mean(0.5, 0.05, [split], quantile=1.96, level=0.95)
    assert np.isnan(bounds).all()
    assert widen((0.1, 0.2), bounds) == (0.1, 0.2)


@pytest.mark.parametrize("score", ["brier", "log_loss"])
def test_repeated_rows_and_counts_have_the_same_reach(score):
    weight = np.tile([1.0, 2.0, 3.0], 10)
    y = np.zeros(30)
    y[4] = 1
    counts = {"sample_weight": weight, "weight_kind": "frequency"}
    by_count = bootstrap(y, {"m": RARE}, scores=[score], resamples=20, **counts)
    times = weight.astype(int)
    written = bootstrap(np.repeat(y, times), {"m": np.repeat(RARE, times)}, scores=[score], resamples=20)
    found, expected = (
        next(s for s in result.statistics if s.measure == score).rare(0.95) for result in (by_count, written)
    )
    assert found == pytest.approx(expected, rel=1e-9)


def test_effective_cases_of_weights_and_clusters():
    kind = np.array([1.0, 0, 0, 0, 0, 0])
    weighted = SamplingUnits(rows=6, weight=np.array([0.5, 1.5, 2.5, 0.5, 0.5, 1.5]))
    kish = weighted.total**2 / (weighted.weight**2).sum()
    share, error = weighted.mean(kind), weighted.standard_error(kind)
    assert count_cases(share, error, weighted, 0.95) == pytest.approx(
        min(kish, share * (1 - share) / error**2)
    )
    assert count_cases(0.0, 0.0, weighted, 0.95) == pytest.approx(kish)
    clusters = SamplingUnits(rows=6, cluster=np.array([0, 0, 0, 1, 1, 2]))
    assert count_cases(0.0, 0.0, clusters, 0.95) == pytest.approx(6**2 / (3**2 + 2**2 + 1))  # Kish's number
    assert count_cases(0.2, 1e-9, clusters, 0.95) == 6
    assert count_cases(0.2, 0.5, clusters, 0.95) < 0.2 * 0.8 / 0.25


def test_clusters_without_events_count_once():
    cluster = np.repeat(np.arange(6), 5)
    result = bootstrap(np.zeros(30), {"m": RARE}, cluster=cluster, resamples=50)
    upper = 1 - 0.025 ** (1 / 6)
    assert result.interval("", "prevalence").upper == pytest.approx(upper)
    assert result.interval("m", "brier").upper > 0.4


def test_a_class_that_was_hardly_observed_widens_the_interval():
    p = RNG.dirichlet([20, 2, 1], 40)
    frame = pd.DataFrame(p, columns=["m_a", "m_b", "m_c"]).assign(y="a")
    frame.loc[0, "y"] = "b"
    found = sr.evaluate(frame, outcome="y", forecasts=["m"], classes=["a", "b", "c"], resamples=40)
    scores = found.results[0].scores
    for name in ("multiclass_brier", "multiclass_log_loss"):
        assert WIDENED in scores.score(name).interval.method
    assert scores.score("multiclass_brier").interval.upper > 0.1
    judgements = judge(found, limits_of("multiclass_brier = 0.9\nmacro_f1 = 0.01\naccuracy = 0.5"))
    assert [j.verdict for j in judgements] == [
        LimitVerdict.PASS,
        LimitVerdict.PASS,
        LimitVerdict.INCONCLUSIVE,
    ]
    few = ". Only 1 row of the rarest class: with fewer than 10, an interval is not enough to judge a limit."
    assert few in judgements[-1].sentence
    assert (
        "Only 1 row outside the most frequent class: with fewer than 10, a limit is judged by an exact "
        "bound only, and "
    ) in judgements[0].sentence


# ---- verdicts ----


def test_thirty_rows_without_an_event_do_not_pass():
    judgements = judge(evaluate(np.zeros(30), RARE), limits_of(LIMITS))
    assert [j.verdict for j in judgements] == [LimitVerdict.INCONCLUSIVE] * 3
    assert judgements[0].sentence.endswith(
        "]. There are no events: with fewer than 10, an interval is not enough to judge a limit."
    )


def test_three_perfect_rows_do_not_pass():
    found = evaluate([1, 0, 1], [1.0, 0.0, 1.0], smallest_group=1)
    judgements = judge(found, limits_of(LIMITS))
    assert [j.verdict for j in judgements] == [LimitVerdict.INCONCLUSIVE] * 3
    assert "Only 1 non-event: with fewer than 10" in judgements[0].sentence


def make_events(events, n=2000):
    p = np.random.default_rng(events).beta(1, 99, n)
    y = np.zeros(n)
    y[np.argsort(-p)[: 3 * events : 3]] = 1
    return y, p


@pytest.mark.sweep(after=3)
@pytest.mark.parametrize("resamples", [0, 40])
@pytest.mark.parametrize(("events", "verdict"), [(9, "inconclusive"), (10, "pass"), (11, "pass")])
@pytest.mark.parametrize("is_mirrored", [False, True])
def test_ten_events_are_enough(events, verdict, resamples, is_mirrored):
    y, p = make_events(events)
    y, p = (1 - y, 1 - p) if is_mirrored else (y, p)
    found = evaluate(y, p, resamples=resamples)
    (judgement,) = judge(found, limits_of("log_loss = 0.3"))
    assert judgement.verdict == verdict
    what = "non-events" if is_mirrored else "events"
    sentence = f". Only {events} {what}: with fewer than 10, an interval is not enough to judge a limit."
    assert (sentence in judgement.sentence) == (verdict == "inconclusive")


def test_an_exact_bound_decides_a_limit_with_few_events():
    y, p = make_events(9)
    found = evaluate(y, p)
    text = "brier = 0.2\nmisclassification = 0.001\nprevalence = {max = 0.02}"
    passed, failed, rate = judge(found, limits_of(text))
    assert [j.verdict for j in (passed, failed, rate)] == [
        LimitVerdict.PASS,
        LimitVerdict.FAIL,
        LimitVerdict.PASS,
    ]
    lower, upper = exact_share(9 / 2000, 2000, 0.95)
    assert failed.sentence.endswith(
        "Only 9 events: with fewer than 10, a limit is judged by an exact bound only, and "
        f"[{lower:.4f}, {upper:.4f}] lies above the limit 0.0010."
    )
    assert rate.sentence.endswith(f"and [{100 * lower:.1f}, {100 * upper:.1f}] % lies below the limit 2.0 %.")


def test_an_exact_bound_is_needed_for_a_failure_as_well():
    """30 rows with two events scored 0.93: the interval lies above the limit, the exact bound does not."""
    p = np.full(30, 0.35)
    p[:2] = 0.02
    y = np.zeros(30)
    y[:2] = 1
    found = evaluate(y, p)
    value = found.models[0].scores.score("brier").value
    (judgement,) = judge(found, limits_of("brier = 0.11"))
    lower, _ = exact_bounds(MEASURES["brier"], value, 30, 0.95)
    assert value > 0.11 > lower
    assert judgement.verdict is LimitVerdict.INCONCLUSIVE
    (judgement,) = judge(found, limits_of(f"brier = {lower / 2}"))
    assert judgement.verdict is LimitVerdict.FAIL


@pytest.mark.parametrize(("mean", "n"), [(0.0, 30), (0.02, 30), (0.5, 12), (0.97, 400), (1.0, 3)])
def test_hoeffdings_bound_is_where_its_probability_is(mean, n):
    lower, upper = exact_bounds(MEASURES["brier"], mean, n, 0.95)

    def chernoff(m):
        parts = [a * np.log(a / b) if a else 0.0 for a, b in ((mean, m), (1 - mean, 1 - m))]
        return np.exp(-n * sum(parts))

    assert lower <= mean <= upper
    for end, extreme in ((lower, 0), (upper, 1)):
        if mean != extreme:
            assert chernoff(end) == pytest.approx(0.025, rel=1e-6)
        else:
            assert end == extreme


def test_hoeffdings_bound_holds_for_rates():
    """It is at least as wide as the exact interval of a rate, and equal to it at 0."""
    for happened in range(21):
        lower, upper = exact_bounds(MEASURES["brier"], happened / 20, 20, 0.95)
        inner = exact_share(happened / 20, 20, 0.95)
        assert lower <= inner[0] + 1e-12
        assert inner[1] <= upper + 1e-12
    assert exact_bounds(MEASURES["brier"], 0.0, 20, 0.95) == pytest.approx(exact_share(0.0, 20, 0.95))


def test_which_measures_have_exact_bounds():
    has = {name for name in MEASURES if exact_bounds(MEASURES[name], 0.5, 30, 0.95) is not None}
    assert {"brier", "misclassification", "spherical", "prevalence", "accuracy", "rps"} <= has
    assert not has & {"log_loss", "roc_auc", "brier_skill", "brier_miscalibration", "calibration_slope"}
    assert not has & {"macro_f1", "quadratic_weighted_kappa", "multiclass_log_loss"}


def test_groups_are_judged_on_their_own_events():
    y, p = make_events(30)
    site = np.where(y == 1, "many", "few")
    site[np.flatnonzero(y)[:5]] = "few"
    site[: len(site) // 2] = np.where(y[: len(site) // 2] == 1, site[: len(site) // 2], "many")
    found = evaluate(y, p, more={"site": site}, groups="site")
    events = {g.label: g.sample.independent.events for g in found.groups}
    verdicts = {j.group: j.verdict for j in judge(found, limits_of("log_loss = 0.9\ngroups = true"))}
    assert events == {"few": 5, "many": 25}
    assert verdicts == {
        "": LimitVerdict.PASS,
        "site = few": LimitVerdict.INCONCLUSIVE,
        "site = many": LimitVerdict.PASS,
    }


def test_clusters_with_events_are_counted():
    y, p = make_events(30)
    cluster = np.arange(2000)
    cluster[y == 1] = np.arange(30) % 7
    found = evaluate(y, p, more={"c": cluster}, cluster="c")
    independent = found.data.sample.independent
    assert independent.unit == "cluster"
    assert independent.events == pytest.approx(30**2 / (2 * 5**2 + 5 * 4**2))
    (judgement,) = judge(found, limits_of("log_loss = 0.9"))
    assert judgement.verdict is LimitVerdict.INCONCLUSIVE
    assert judgement.sentence.split(" If the value")[0].endswith(
        ". The clusters with events count as 6.9 of equal size: with fewer than 10, an interval is not "
        "enough to judge a limit."
    )


def test_a_large_cluster_without_events_does_not_pass():
    """Clusters of 970 rows and 30 of one row count as about one: an exact bound of 31 would pass."""
    cluster = np.append(np.zeros(970, dtype=int), np.arange(1, 31))
    found = evaluate(np.zeros(1000), RNG.uniform(0.005, 0.02, 1000), more={"c": cluster}, cluster="c")
    assert found.data.sample.independent.total == pytest.approx(1000**2 / (970**2 + 30))
    judged = judge(found, limits_of("brier = 0.15\nmisclassification = 0.15\nprevalence = {max = 0.15}"))
    assert [judgement.verdict for judgement in judged] == 3 * [LimitVerdict.INCONCLUSIVE]
    assert found.data.sample.prevalence_interval.upper > 0.7


def test_equal_clusters_are_judged_by_hoeffdings_bound():
    independent = IndependentCases(unit="cluster", total=40.0, events=9.0, non_events=40.0)
    sample = SampleSummary(rows=400, total=400.0, events=40.0, independent=independent)
    evidence = find_evidence(sample, MEASURES["misclassification"])
    assert (evidence.describes, evidence.unit) == ("Only 9 clusters with events", "cluster")
    found = exact_bounds(MEASURES["prevalence"], 0.1, evidence.cases, 0.95, evidence.unit)
    assert found == exact_bounds(MEASURES["brier"], 0.1, 40, 0.95)
    assert found[1] > exact_share(0.1, 40, 0.95)[1]


@pytest.mark.sweep(after=1)
def test_weights_that_vary_have_no_exact_bound():
    """14 events with weights that count as 9.4: a bound with Kish's number of all rows would pass."""
    y, p = make_events(14)
    weight = np.ones(2000)
    weight[np.flatnonzero(y)[:3]] = 4.5
    found = evaluate(y, p, more={"w": weight}, weight="w")
    assert found.data.sample.independent.events < FEWEST_CASES
    judged = judge(found, limits_of("misclassification = 0.2\nprevalence = {max = 0.2}"))
    assert [judgement.verdict for judgement in judged] == 2 * [LimitVerdict.INCONCLUSIVE]
    equal = evaluate(*make_events(9), more={"w": np.full(2000, 2.5)}, weight="w")
    assert judge(equal, limits_of("misclassification = 0.2"))[0].verdict is LimitVerdict.PASS


def test_an_exact_bound_is_not_narrower_than_the_interval():
    found = evaluate(*make_events(9))
    (number,) = [score for score in found.models[0].scores.scores if score.name == "brier"]
    wide = replace(number, interval=replace(number.interval, upper=0.9))
    scores = tuple(wide if score is number else score for score in found.models[0].scores.scores)
    model = replace(found.models[0], scores=replace(found.models[0].scores, scores=scores))
    assert judge(found, limits_of("brier = 0.5"))[0].verdict is LimitVerdict.PASS
    assert (
        judge(replace(found, models=(model,)), limits_of("brier = 0.5"))[0].verdict
        is LimitVerdict.INCONCLUSIVE
    )


def test_weighted_events_count_by_kishs_number():
    y, p = make_events(30)
    weight = np.full(2000, 0.5)
    weight[np.flatnonzero(y)[:2]] = 50.5
    found = evaluate(y, p, more={"w": weight}, weight="w")
    kish = (2 * 50.5 + 28 * 0.5) ** 2 / (2 * 50.5**2 + 28 * 0.25)
    assert found.data.sample.independent.events == pytest.approx(kish)
    (judgement,) = judge(found, limits_of("log_loss = 0.9"))
    assert judgement.verdict is LimitVerdict.INCONCLUSIVE
    assert ". Only 2.5 events (effective number of weighted rows): with fewer than 10" in judgement.sentence


@pytest.mark.parametrize("fewest", [9.96, 10 - 1e-12])
def test_a_number_just_below_ten_does_not_look_like_ten(fewest):
    independent = IndependentCases(unit="row", total=50.0, events=fewest, non_events=40.0)
    sample = SampleSummary(rows=60, total=90.0, events=30.0, independent=independent)
    evidence = find_evidence(sample, MEASURES["brier"])
    assert evidence.is_enough == (fewest > 9.99)
    if not evidence.is_enough:
        assert evidence.describes == "Only 9.9 events (effective number of weighted rows)"


def test_results_that_do_not_count_independent_cases_are_judged_by_their_events():
    found = evaluate(*make_events(9))
    old = replace(found, data=replace(found.data, sample=replace(found.data.sample, independent=None)))
    assert judge(old, limits_of(LIMITS)) == judge(found, limits_of(LIMITS))
    assert FEWEST_CASES == 10


@pytest.mark.sweep
def test_a_warning_limit_alone_is_open_with_few_events():
    found = evaluate(*make_events(9))
    verdicts = [
        judge(found, limits_of(f"{text}"))[0].verdict
        for text in ("log_loss = {warn = 0.9}", "brier = {warn = 0.9}", "misclassification = {warn = 0.0001}")
    ]
    assert verdicts == [LimitVerdict.INCONCLUSIVE, LimitVerdict.PASS, LimitVerdict.WARN]


# ---- rows that were never in memory together ----


def digest(y, p, **columns):
    frame = pd.DataFrame({"y": np.asarray(y, dtype=int), "m": p, **columns})
    roles = {"weight": "w" if "w" in frame else None, "cluster": "c" if "c" in frame else None}
    predictions = sr.read_predictions(frame, outcome="y", forecasts=["m"], **roles)
    return evaluate_with_engine(ArrayEngine(predictions), EvaluationSettings(engine="duckdb"))


@pytest.mark.parametrize("events", [0, 3, 30])
def test_engines_allow_for_rare_events_by_the_same_rule(events):
    y, p = make_events(events) if events else (np.zeros(2000), make_events(1)[1])
    found = digest(y, p).models[0].scores
    for name in ("brier", "log_loss"):
        interval = found.score(name).interval
        assert WIDENED in interval.method
        rare = next(s for s in bootstrap(y, {"m": p}, resamples=2).statistics if s.measure == name).rare
        assert interval.upper == pytest.approx(rare(0.95)[1], rel=0.02)  # errors over buckets, not rows


def test_engines_leave_many_events_alone():
    p = RNG.random(2000)
    found = digest(RNG.random(2000) < p, p)
    assert WIDENED not in found.models[0].scores.score("brier").interval.method
    independent = found.sample.independent
    assert (independent.total, independent.events) == (2000, found.sample.events)


def test_engines_count_independent_events():
    y, p = make_events(30)
    cluster = np.arange(2000)
    cluster[y == 1] = np.arange(30) % 7
    clustered = digest(y, p, c=cluster).sample.independent
    assert clustered.unit == "cluster"
    assert 5 <= clustered.events <= 7  # those of a bucket count once
    weight = np.full(2000, 0.5)
    weight[np.flatnonzero(y)[:2]] = 50.5
    weighted = digest(y, p, w=weight).sample.independent
    assert weighted.events < FEWEST_CASES
    assert digest(y, p).sample.independent.events == 30


def test_engines_recognise_few_distinct_forecasts():
    x = np.repeat([0.2, 0.5, 0.8], 20)
    y = np.concatenate([np.arange(20) < events for events in (4, 10, 16)])
    ours = digest(y, x).models[0].scores.component("brier", "miscalibration")
    theirs = component_intervals(sr.corp(y, x), draws=20, resamples=99)[0]
    assert ours.upper == pytest.approx(theirs.upper, rel=1e-9)
    assert "few distinct forecasts" in ours.method


# ---- few distinct forecasts ----


@pytest.mark.parametrize("score", ["brier", "log_loss", "spherical", "misclassification"])
@pytest.mark.parametrize("events", [0, 3, 6, 12, 20])
def test_one_forecast_has_an_exact_interval_of_its_miscalibration(score, events):
    y, x = np.arange(20) < events, np.full(20, 0.3)
    mcb, dsc = component_intervals(sr.corp(y, x), score, draws=5, resamples=19)
    ends = exact_share(events / 20, 20, 0.95)
    measure = resolve_measure(score, {})

    def lost(q):
        def mean(p):
            scores = measure.loss(np.array([1.0, 0.0]), np.array([p, p]))
            return q * scores[0] * (q > 0) + (1 - q) * scores[1] * (q < 1)

        with np.errstate(all="ignore"):
            return mean(0.3) - np.nansum([mean(q)])

    inside = ends[0] <= 0.3 <= ends[1]
    assert mcb.upper == pytest.approx(max(map(lost, ends)), abs=1e-12)
    assert mcb.lower == pytest.approx(0 if inside else min(map(lost, ends)), abs=1e-12)
    assert (dsc.lower, dsc.upper) == (0, 0)
    assert mcb.method.startswith("exact: ")


def test_rates_that_meet_few_forecasts_leave_room_for_miscalibration():
    """All rates equal the forecasts, which is weak evidence: an earlier bracket was [0, 0]."""
    x = np.repeat([0.2, 0.5, 0.8], 20)
    y = np.concatenate([np.arange(20) < events for events in (4, 10, 16)])
    mcb, dsc = component_intervals(sr.corp(y, x), draws=20, resamples=99)
    assert (mcb.value, mcb.lower) == (0, 0)
    rate = np.array([4.5, 10.5, 16.5]) / 21
    overfit = rate * (1 - rate) / 60
    scale, freedom = (overfit**2).sum() / overfit.sum(), overfit.sum() ** 2 / (overfit**2).sum()
    statistic = chi2.ppf(0.25, freedom)
    assert ncx2.cdf(statistic, freedom, mcb.upper / scale) == pytest.approx(0.025, rel=1e-6)
    assert "few distinct forecasts" in mcb.method
    tail = ncx2.cdf(dsc.value / scale, freedom * 2 / 3, dsc.upper / scale)  # what is observed is raw
    assert tail <= 0.025 * (1 + 1e-6)


def test_forecasts_with_more_values_keep_the_bracket():
    x = np.repeat(np.linspace(0.1, 0.9, MOST_VALUES + 1), 20)
    y = np.tile(np.arange(20) < 9, MOST_VALUES + 1)
    fit = sr.corp(y, x)
    assert find_few_values(fit.sample, 0.95) is None
    assert component_intervals(fit, draws=5, resamples=19)[0].method.startswith("bracket: ")


@pytest.mark.parametrize(("statistic", "freedom", "probability"), [(3.0, 2.0, 0.025), (40.0, 4.5, 0.975)])
def test_a_noncentrality_has_the_requested_probability(statistic, freedom, probability):
    found = _noncentrality(statistic, freedom, probability)
    assert ncx2.cdf(statistic, freedom, found) == pytest.approx(probability, rel=1e-8)
    assert _noncentrality(1e-9, freedom, probability) == 0


def test_divergences_are_those_of_the_scores():
    x, q = np.array([0.2, 0.5, 0.9]), np.array([0.0, 0.4, 1.0])
    assert divergence(resolve_measure("brier", {}), x, q) == pytest.approx((x - q) ** 2)
    expected = [-math.log(0.8), 0.4 * math.log(0.8) + 0.6 * math.log(1.2), -math.log(0.9)]
    assert divergence(resolve_measure("log_loss", {}), x, q) == pytest.approx(expected)


def test_few_forecasts_of_weighted_and_clustered_cases_count_by_effective_number():
    x, y = np.repeat([0.3, 0.6], 12), np.tile([0, 1, 0, 1, 0, 0], 4)
    weight = np.tile([0.5, 0.5, 2.5, 2.5], 6)  # of mean 1.5 for either outcome
    weighted = find_few_values(sr.corp(y, x, weight).sample, 0.95)
    assert weighted.cases == pytest.approx([(6 * 3) ** 2 / (6 * 6.5)] * 2)
    alike = find_few_values(sr.corp(np.zeros(24), x, cluster=np.arange(24) // 3).sample, 0.95)
    assert alike.cases.tolist() == [4, 4]
    rows = find_few_values(sr.corp(y, x, cluster=np.arange(24)).sample, 0.95)
    assert (rows.cases <= 12).all()


# ---- equivalence ----


@pytest.mark.sweep(after=2)
@pytest.mark.parametrize(
    ("text", "verdict", "ending"),
    [
        ("0.005", LimitVerdict.PASS, "shown to be calibrated within 0.0050."),
        ("{warn = 0.004, fail = 0.01}", LimitVerdict.PASS, "shown to be calibrated within 0.0040."),
        (
            "{warn = 0.002, fail = 0.01}",
            LimitVerdict.WARN,
            "shown to be calibrated within 0.0100, but not shown to be within the warning limit 0.0020.",
        ),
        ("{warn = 0.002}", LimitVerdict.WARN, "not shown to be within the warning limit 0.0020."),
        (
            "0.002",
            LimitVerdict.INCONCLUSIVE,
            "neither shown to be calibrated within 0.0020 nor to be miscalibrated by more.",
        ),
        ("0.001", LimitVerdict.FAIL, "shown to be miscalibrated by more than 0.0010."),
    ],
)
@pytest.mark.parametrize("key", ["brier_miscalibration", "calibrated_within"])
def test_a_limit_on_miscalibration_is_a_test_of_equivalence(text, verdict, ending, key):
    p = np.random.default_rng(2).random(200)
    found = evaluate(np.random.default_rng(3).random(200) < p, p)
    result = found.models[0]
    components = [
        replace(c, value=0.0042, corrected=0.0022, lower=0.0011, upper=0.0031)
        if (c.measure, c.component) == ("brier", "miscalibration")
        else c
        for c in result.scores.components
    ]
    decompositions = [
        replace(d, score=d.recalibrated + 0.0042) if d.name == "brier" else d
        for d in result.scores.decompositions
    ]
    scores = replace(result.scores, components=tuple(components), decompositions=tuple(decompositions))
    changed = replace(found, models=(replace(result, scores=scores),))
    (judgement,) = judge(changed, limits_of(f"{key} = {text}"))
    assert judgement.verdict is verdict
    sentence, _, _ = judgement.sentence.partition(" If the value")
    assert sentence == (f"Corrected MCB of the Brier score of m: 0.0022, interval [0.0011, 0.0031]: {ending}")


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (
            "-0.01",
            "`limits.calibrated_within.fail` must lie at 0 or above, the range of this measure; got -0.01.",
        ),
        ("{max = 0.01}", "`limits.calibrated_within.max` is not known; its keys are `warn`, `fail`."),
        ("{}", "`limits.calibrated_within` must have one of `warn`, `fail`; got an empty table."),
        (
            '"low"',
            "`limits.calibrated_within` must be a number or a table of `warn`, `fail`; got 'low'.",
        ),
        (
            "{warn = 0.02, fail = 0.01}",
            "`limits.calibrated_within.warn` must not be above `limits.calibrated_within.fail`, because "
            "lower is better; got 0.02 and 0.01.",
        ),
    ],
)
def test_errors_name_a_shorthand_as_it_is_written(value, sentence):
    with pytest.raises(UsageError, match=f"^configuration: {re.escape(sentence)}$"):
        limits_of(f"calibrated_within = {value}")
    with pytest.raises(
        UsageError, match=re.escape(sentence.replace("calibrated_within", "brier_miscalibration"))
    ):
        limits_of(f"brier_miscalibration = {value}")


def test_a_shorthand_that_classes_do_not_have_is_named_as_it_is_written():
    asked = RequestedEvaluation(
        models=["m"], kind=ModelKind.MULTICLASS, has_costs=False, has_line=True, has_groups=False
    )
    sentence = (
        "configuration: `limits.calibrated_within` is for binary models, and these have several classes: "
        "did you mean `limits.multiclass_brier_miscalibration`?"
    )
    with pytest.raises(UsageError, match=f"^{re.escape(sentence)}$"):
        check_request(parse_configuration("[limits]\ncalibrated_within = 0.01"), asked)


def test_a_shorthand_and_what_it_is_short_for_are_refused_together():
    rule = (
        "`limits.calibrated_within` is short for `limits.brier_miscalibration`, which is set as well; "
        "remove one of them."
    )
    with pytest.raises(UsageError, match=re.escape(rule)):
        limits_of("calibrated_within = 0.01\nbrier_miscalibration = 0.02")
    with pytest.raises(UsageError, match=re.escape("did you mean `calibrated_within`?")):
        limits_of("calibratd_within = 0.01")


@pytest.mark.parametrize(
    ("events", "note"), [(49, "Only 49 events: with fewer than 50 this interval says little."), (50, "")]
)
def test_the_skill_of_misclassification_is_noted_where_events_are_few(events, note):
    y = np.zeros(200)
    y[:events] = 1
    frame = pd.DataFrame({"y": y, "m": np.linspace(0.6, 0.1, 200)})
    found = sr.evaluate(frame, outcome="y", forecasts=["m"], resamples=20)
    assert found.models[0].scores.score("misclassification").skill_interval.note == note


@pytest.mark.parametrize("kind", ["weights", "clusters"])
def test_a_skill_with_enough_events_is_not_widened(kind):
    """An earlier version widened it to an upper end of 1 with weighted and clustered rows."""
    rng = np.random.default_rng(4)
    p = rng.uniform(0.1, 0.9, 800)
    y = (rng.random(800) < p).astype(float)
    rows = (
        {"sample_weight": rng.uniform(0.5, 1.5, 800)}
        if kind == "weights"
        else {"cluster": np.arange(800) // 2}
    )
    found = bootstrap(y, {"m": p}, scores=["brier"], resamples=40, **rows)
    skill = next(s for s in found.statistics if s.measure == "brier skill")
    assert np.isnan(skill.rare(0.95)).all()
    assert found.interval("m", "brier skill").upper < 0.6
