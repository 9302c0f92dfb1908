"""Intervals of mean scores and skills without resamples, and numbers of resamples where they are needed."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, ndtri

import scorereport as sr
from scorereport._utils import machine
from scorereport._utils.choices import USUAL_RESAMPLES
from scorereport.inference import mean_intervals, score_expansions
from scorereport.inference.bootstrap_resamples import ResampledScores, bootstrap_panel
from scorereport.inference.drawn_sums import DrawnSums, UnitColumns
from scorereport.inference.expansions import FEWEST_UNITS, LARGEST_SHARE, Expansion, InfluenceMoments
from scorereport.inference.losses import resolve_measure
from scorereport.inference.mean_intervals import infer_means
from scorereport.inference.panel import make_panel
from scorereport.inference.resampled_weights import draw_row_weights, draw_times
from scorereport.inference.score_expansions import PanelMoments
from scorereport.reliability.precision import MOST_RESAMPLES
from scorereport.report.tables.overview import describe_uncertainty

SCORES = ("brier", "log_loss", "misclassification")
MEASURES = [resolve_measure(name, {}) for name in SCORES]
STATISTICS = [f"{name}{end}" for name in SCORES for end in ("", " skill")]
KINDS = ("usual", "rare", "skewed", "half", "constant", "few")
UNITS = ("rows", "frequency", "sampling", "clusters")


def make_case(kind, n, seed=1):
    """Outcomes and forecasts: calibrated, of rare events, overconfident, near 1/2, constant, few values."""
    rng = np.random.default_rng([seed, n, KINDS.index(kind)])
    z = rng.normal(size=n)
    truth = {
        "usual": expit(1.2 * z - 1),
        "rare": expit(z - 4),
        "skewed": expit(z),
        "half": np.clip(0.5 + 0.1 * z, 0.01, 0.99),
        "constant": np.full(n, 0.1),
        "few": rng.choice([0.05, 0.2, 0.6], n),
    }[kind]
    forecast = np.clip(expit(4 * z + rng.normal(size=n)), 1e-9, 1 - 1e-9) if kind == "skewed" else truth
    return (rng.random(n) < truth).astype(float), forecast


def weigh(units, n, seed=1):
    rng = np.random.default_rng([seed, n])
    return {
        "rows": {},
        "frequency": {"sample_weight": rng.integers(1, 5, n), "weight_kind": "frequency"},
        "sampling": {"sample_weight": rng.gamma(4, size=n)},
        "clusters": {"cluster": rng.integers(0, n // 2, n)},
    }[units]


def make_case_panel(kind, units, n):
    y, p = make_case(kind, n)
    return make_panel(y, {"model": p}, **weigh(units, n))


def infer(panel, method="bca", seed=1, level=0.95):
    return infer_means(panel, MEASURES, level=level, method=method, seed=seed)


def bounds_of(boot, statistic, method="bca"):
    found = boot.interval("model", statistic, method=method, allow_for_rare=False)
    return np.array([found.lower, found.upper]), found


# Agreement with the bootstrap


@pytest.mark.sweep
@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2500, 6000])
def test_expansions_agree_with_resamples_to_a_tenth_of_the_standard_error(kind, units, n):
    """Wherever the rule applies, for both methods; 15,000 resamples leave a noise of 0.03 standard errors."""
    panel = make_case_panel(kind, units, n)
    resampled = bootstrap_panel(panel, MEASURES, resamples=15_000, seed=3, whole=False)
    found, used = infer(panel), 0
    for statistic in STATISTICS:
        for method in ("bca", "percentile"):
            ours, estimate = bounds_of(found, statistic, method)
            expected, reference = bounds_of(resampled, statistic, method)
            if "influence" in estimate.method:
                used += 1
                assert_allclose(ours, expected, atol=0.1 * reference.standard_error, err_msg=statistic)
                assert estimate.standard_error == pytest.approx(reference.standard_error, rel=0.02)
                assert estimate.value == pytest.approx(reference.value, rel=1e-12)
    assert used or (kind, units) not in {("usual", "rows"), ("skewed", "rows"), ("usual", "frequency")}


def test_an_expansion_is_that_of_a_mean():
    """The interval of a mean with known skewness: Hall's expansion of BCa, by hand."""
    rng = np.random.default_rng(2)
    values = rng.exponential(size=4000)
    deviation = values - values.mean()
    moments = InfluenceMoments(
        second=(deviation**2).sum(),
        third=(deviation**3).sum(),
        fourth=(deviation**4).sum(),
        largest=np.abs(deviation).max(),
    )
    found = moments.expand(values.mean(), len(values))
    spread, skewness = values.std() / 4000**0.5, (deviation**3).mean() / values.std() ** 3 / 4000**0.5
    z = ndtri(0.975)
    assert found.spread == pytest.approx(spread)
    assert found.skewness == pytest.approx(skewness)
    assert found.acceleration == pytest.approx(skewness / 6)
    # to first order BCa moves both ends by skewness (2 z² + 1) / 6 standard errors
    shift = spread * skewness * (2 * z**2 + 1) / 6
    expected = values.mean() + shift + spread * z * np.array([-1, 1])
    assert_allclose(found.bounds(0.95, "bca"), expected, atol=0.01 * spread)
    percentile = values.mean() + spread * (skewness * (z**2 - 1) / 6 + z * np.array([-1, 1]))
    assert_allclose(found.bounds(0.95, "percentile"), percentile, atol=0.01 * spread)
    assert abs(shift) > 0.03 * spread


@pytest.mark.parametrize("are_weighted", [False, True])
def test_sums_are_those_of_powers_and_products(are_weighted):
    rng = np.random.default_rng(3)
    outcome, score, weight = rng.normal(size=(3, 50))
    times = rng.integers(1, 4, 50).astype(float)
    units = score_expansions._Units(weight, outcome, score, times)
    if not are_weighted:
        units, weight, times = units._replace(weight=0.0, times=1.0), np.zeros(50), np.ones(50)
    skill = score_expansions._Skill.of(MEASURES[0], 0.2, 0.4, 0.01)
    sums, largest = score_expansions._add_up(units, skill)
    of_skill = skill.by_score * score + skill.by_outcome * outcome
    terms = [values**power for values in (score, of_skill) for power in (2, 3, 4)]
    terms += [score * weight, of_skill * weight, of_skill * outcome, of_skill * score]
    terms += [outcome * score, outcome * outcome]
    assert_allclose(sums, [(times * term).sum() for term in terms], rtol=1e-12)
    assert_allclose(largest, [np.abs(score).max(), np.abs(of_skill).max()])
    reversed_units = units._replace(outcome=-outcome, score=-score)
    assert_allclose(score_expansions._add_up(reversed_units, skill)[1], largest)


@pytest.mark.parametrize("units", UNITS)
def test_influence_and_its_skewness_are_those_of_the_sampling_units(units):
    panel = make_case_panel("usual", units, 3000)
    sampling = panel.units
    boot = bootstrap_panel(panel, MEASURES[:2], resamples=2, seed=1, whole=False)
    for measure in MEASURES[:2]:
        score, skill = PanelMoments(panel=panel).expand("model", measure)
        for found, end in ((score, ""), (skill, " skill")):
            statistic = boot._find("model", f"{measure.label}{end}")
            influence = statistic.influence()
            assert found.value == pytest.approx(statistic.value, rel=1e-12)
            assert found.acceleration == pytest.approx(sampling.acceleration(influence), rel=0.02, abs=1e-5)
            error = sampling.standard_error(influence)
            assert found.spread == pytest.approx(error, rel=2e-3)


def test_weights_bias_a_mean_as_in_resamples():
    """A ratio of sums is biased where weights and scores depend on each other."""
    y, p = make_case("usual", 2000)
    panel = make_panel(y, {"model": p}, sample_weight=np.where(y == 1, 9.0, 1.0))
    found = PanelMoments(panel=panel).expand("model", MEASURES[0]).score
    scores, weight = (panel.forecasts["model"] - panel.outcome) ** 2, panel.weight
    total = weight.sum()
    deviation = weight * (scores - (weight * scores).sum() / total)
    # the second-order term of Σ N w s / Σ N w is minus the product of both deviations
    bias = -(deviation * weight).sum() / total**2
    assert found.bias * found.spread == pytest.approx(bias, rel=1e-9)
    # the covariance of the mean and of the weight, relative to the variance, skews it
    squares = (deviation**2).sum()
    own = (deviation**3).sum() / squares**1.5
    assert found.skewness == pytest.approx(own + 6 * bias / (squares**0.5 / total), rel=1e-9)
    drawn = np.random.default_rng(4).integers(0, 2000, (2000, 2000))
    means = (weight * scores)[drawn].sum(axis=1) / weight[drawn].sum(axis=1)
    assert found.spread == pytest.approx(means.std(), rel=0.05)
    assert abs(found.skewness - own) > 0.01


# When the expansion is used


def test_the_rule_is_by_units_influence_and_curvature():
    close = {
        "value": 1.0,
        "spread": 0.01,
        "bias": 0.0,
        "skewness": 0.05,
        "kurtosis": 0.01,
        "acceleration": 0.01,
    }
    enough = {"largest": LARGEST_SHARE / 2, "units": float(FEWEST_UNITS)}
    assert Expansion(**close, **enough).is_close(0.95)
    assert Expansion(**{**close, **enough, "largest": 1.9 * LARGEST_SHARE}).is_close(0.95)  # of a few units
    for change in (
        {"units": FEWEST_UNITS - 1.0},
        {"largest": 2.1 * LARGEST_SHARE},
        {"largest": 1.1 * LARGEST_SHARE, "kurtosis": 1.1 * LARGEST_SHARE**2},  # of all units
        {"spread": 0.0},
        {"rest": 0.2},
        {"kurtosis": 2.0},
        {"kurtosis": -2.0},
        {"skewness": 1.0},
    ):
        assert not Expansion(**{**close, **enough, **change}).is_close(0.95), change
    assert not Expansion(**{**close, **enough, "kurtosis": 0.1}).is_close(0.999)  # farther out in the tails


@pytest.mark.parametrize(
    ("kind", "n", "by_influence"),
    [
        ("usual", 900, set()),
        ("usual", 6000, set(STATISTICS)),
        ("rare", 1500, set()),
        ("half", 6000, set(STATISTICS) - {"misclassification", "misclassification skill"}),
    ],
)
def test_where_the_influence_is_enough(kind, n, by_influence):
    """At a prevalence near 1/2 the skill of misclassification has a kink; few rows have no expansion."""
    found = infer(make_case_panel(kind, "rows", n))
    used = {name for name in STATISTICS if "influence" in found.interval("model", name).method}
    assert used == by_influence


def test_one_large_loss_is_resampled(monkeypatch):
    monkeypatch.setattr(mean_intervals, "MOST_RESAMPLES", USUAL_RESAMPLES)
    y, p = make_case("usual", 2500)
    y[0], p[0] = 1, 1e-300
    found = infer(make_panel(y, {"model": p}))
    assert "resamples" in found.interval("model", "log_loss").method
    assert "influence" in found.interval("model", "brier").method


def test_infinite_scores_have_no_interval():
    y, p = make_case("usual", 3000)
    y[0], p[0] = 1, 0.0
    found = infer(make_panel(y, {"model": p})).interval("model", "log_loss")
    assert np.isinf(found.value)
    assert np.isnan(found.lower)
    assert found.note == "The score is infinite: there is no interval."


def test_methods_state_what_was_done():
    many = infer(make_case_panel("usual", "rows", 5000)).interval("model", "brier")
    assert many.method == "BCa from the influence of rows"
    few = infer(make_case_panel("usual", "rows", 300), seed=8).interval("model", "brier")
    resamples = int(few.method.split()[2])
    assert few.method == f"BCa bootstrap, {resamples} resamples of rows, seed 8"
    clusters = infer(make_case_panel("usual", "clusters", 8000), method="percentile")
    assert (
        clusters.interval("model", "brier", method="percentile").method
        == "percentile from the influence of clusters, widened for the number of clusters"
    )


# Resamples by precision


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("units", UNITS)
def test_resamples_are_enough_for_two_percent_of_the_width(units):
    """Ends from other seeds vary by about as much as the precision allows, each a share of the width."""
    panel = make_case_panel("usual", units, 200)
    ends = []
    for seed in range(5):
        lower_upper, found = bounds_of(infer(panel, seed=seed), "brier skill")
        assert USUAL_RESAMPLES <= int(found.method.split()[2]) <= MOST_RESAMPLES
        ends.append(lower_upper)
    width = np.subtract(*np.mean(ends, axis=0)[::-1])
    assert (np.std(ends, axis=0, ddof=1) < 0.05 * width).all()


def test_a_higher_level_takes_more_resamples():
    panel = make_case_panel("usual", "rows", 200)
    usual, high = (
        infer_means(panel, MEASURES[:1], level=level, method="bca", seed=1).resamples for level in (0.8, 0.99)
    )
    assert USUAL_RESAMPLES <= usual < high <= MOST_RESAMPLES


@pytest.mark.parametrize("units", UNITS)
def test_batches_have_the_moments_of_single_resamples(units):
    panel = make_case_panel("usual", units, 400)
    rng = np.random.default_rng(5)
    weights = draw_row_weights(panel.units, 4000, rng)
    times = draw_times(panel.units, 3, rng)
    assert_allclose(times.sum(axis=1), panel.units.total if units == "frequency" else panel.units.size)
    means = (weights * panel.outcome).sum(axis=1) / weights.sum(axis=1)
    single = [panel.units.draw(rng) for _ in range(2000)]
    expected = [(w * panel.outcome).sum() / w.sum() for w in single]
    assert np.mean(means) == pytest.approx(np.mean(expected), abs=4 * np.std(expected) / 2000**0.5)
    assert np.std(means) == pytest.approx(np.std(expected), rel=0.08)


def test_few_distinct_scores_are_resampled_by_counts(monkeypatch):
    """The distribution is that of resampled rows."""
    panel = make_case_panel("constant", "rows", 2000)
    counted = infer_means(panel, MEASURES[:1], level=0.9, method="bca", seed=1)
    monkeypatch.setattr(mean_intervals, "_FEW_SCORES", 0)
    by_rows = infer_means(panel, MEASURES[:1], level=0.9, method="bca", seed=1)
    for statistic in ("brier", "brier skill"):
        (ours, found), (expected, reference) = (bounds_of(boot, statistic) for boot in (counted, by_rows))
        assert "resamples of rows" in found.method
        width = np.subtract(*expected[::-1])
        assert_allclose(ours, expected, atol=0.1 * width)
        assert found.standard_error == pytest.approx(reference.standard_error, rel=0.1)
        assert not np.array_equal(ours, expected)


@pytest.mark.parametrize("units", ["rows", "frequency"])
def test_the_skewness_of_equal_rows_is_that_of_all_rows(units):
    panel = make_case_panel("few", units, 3000)
    target = mean_intervals._Target(0.95, "bca", 1)
    for measure in (MEASURES[0], MEASURES[2]):
        key = ("model", measure)
        rows = mean_intervals._count_equal_rows(panel, key)
        scores, y = measure.score(panel.outcome, panel.forecasts["model"]), panel.outcome
        prevalence = panel.units.mean(y)
        constant = measure.score(y, np.full(len(y), prevalence))
        score, skill = mean_intervals._resample_counts(panel, [measure], key, rows, target)
        of_skill = constant - scores - skill.value * constant
        assert score.acceleration == pytest.approx(panel.units.acceleration(scores), rel=1e-8)
        assert skill.acceleration == pytest.approx(panel.units.acceleration(of_skill), rel=1e-8)


def test_scores_that_differ_in_the_last_bit_are_equal():
    """Forecasts of p and 1 - p have the same Brier scores, up to rounding."""
    p = np.arange(101) / 100
    y = np.concatenate([np.zeros(101), np.ones(101)])
    panel = make_panel(np.tile(y, 20), {"model": np.tile(p, 40)})
    exact = MEASURES[0].score(panel.outcome, panel.forecasts["model"])
    assert len(np.unique(exact)) > 101
    rows = mean_intervals._count_equal_rows(panel, ("model", MEASURES[0]))
    assert len(np.unique(rows.score)) == 101
    assert (len(rows.score), rows.counts.sum()) == (202, 4040)


def test_skill_of_a_decision_that_is_always_the_same_does_not_vary():
    y, p = make_case("constant", 20_000)
    panel = make_panel(y, {"model": p})
    found = infer_means(panel, MEASURES[2:], level=0.95, method="bca", seed=1).interval(
        "model", "misclassification skill"
    )
    assert (found.value, found.lower, found.upper) == (0.0, 0.0, 0.0)


def test_results_do_not_depend_on_threads(monkeypatch):
    panel = make_case_panel("usual", "rows", 300)
    monkeypatch.setattr(machine, "_ROWS_WORTH_A_THREAD", 1)
    found = []
    for threads in ("1", "3"):
        monkeypatch.setenv("SCOREREPORT_THREADS", threads)
        found.append(infer(panel).interval("model", "brier"))
    assert found[0] == found[1]


# The evaluation


@pytest.mark.sweep
def test_an_evaluation_uses_influence_unless_resamples_are_given():
    y, p = make_case("usual", 2500)
    frame = pd.DataFrame({"y": y, "model": p})
    for options, method, text in (
        (
            {},
            "BCa from the influence of rows",
            "BCa of scores and skills from the influence of rows, without resamples",
        ),
        (
            {"resamples": 100},
            "BCa bootstrap, 100 resamples of rows, seed 2021",
            "BCa bootstrap of scores and skills over 100 resamples of rows (seed 2021)",
        ),
    ):
        evaluation = sr.evaluate(frame, outcome="y", forecasts=["model"], **options)
        assert evaluation.models[0].scores.scores[0].interval.method == method
        assert describe_uncertainty(evaluation).startswith(f"95 % intervals: {text}; AUC and rates")


@pytest.mark.parametrize("units", ["weights", "clusters"])
def test_units_with_much_of_the_weight_are_resampled(units):
    """The total weight of a resample varies by much: a mean is then not near its linear part."""
    y, p = make_case("usual", 4000)
    heavy = np.where(np.arange(4000) < 2, 500.0, 1.0)
    row = np.arange(4000)
    options = {"sample_weight": heavy} if units == "weights" else {"cluster": np.where(row < 1500, 0, row)}
    panel = make_panel(y, {"model": p}, **options)
    assert not PanelMoments(panel=panel).has_enough_units
    assert PanelMoments(panel=make_panel(y, {"model": p})).has_enough_units


def test_intervals_are_around_the_mean_scores_of_the_evaluation():
    y, p = make_case("usual", 6000)
    evaluation = sr.evaluate(pd.DataFrame({"y": y, "a": p, "b": p**2}), outcome="y", forecasts=["a", "b"])
    for model in evaluation.models:
        for score in model.scores.scores[:2]:
            assert "influence" in score.interval.method
            assert score.interval.value == score.value
            assert score.skill_interval.value == pytest.approx(score.skill, rel=1e-12)


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("n", [200, 3000])
def test_nothing_is_drawn_for_an_infinite_score(units, n, monkeypatch):
    """Its note is that of the bootstrap, and the intervals of the other scores do not change."""
    y, p = make_case("usual", n)
    weights = weigh(units, n)
    finite = [measure for measure in MEASURES if measure.name != "log_loss"]
    impossible = p.copy()
    impossible[np.flatnonzero(y)[0]] = 0.0
    panel = make_panel(y, {"model": impossible}, **weights)
    others = infer_means(panel, finite, level=0.95, method="bca", seed=1)
    asked = []
    draw = mean_intervals._resample_rows
    monkeypatch.setattr(mean_intervals, "_resample_rows", lambda *a, **k: asked.extend(a[2]) or draw(*a, **k))
    found = infer(panel)
    assert all(measure.name != "log_loss" for _, measure in asked)
    resampled = bootstrap_panel(panel, MEASURES, resamples=50, seed=1, whole=False)
    for statistic in ("log_loss", "log_loss skill"):
        ours, reference = found.interval("model", statistic), resampled.interval("model", statistic)
        assert ours.value == reference.value
        assert np.isinf(ours.value)
        assert np.isnan([ours.lower, ours.upper, ours.standard_error]).all()
        assert ours.note == reference.note == "The score is infinite: there is no interval."
    for measure in finite:
        assert found.interval("model", measure.label) == others.interval("model", measure.label)


# Sums of few large and many small influences


def rare_case(units, n, seed=1):
    rng = np.random.default_rng([seed, n])
    truth = np.clip(0.01 * rng.gamma(1, size=n), 1e-6, 0.9)
    y, p = (rng.random(n) < truth).astype(float), np.clip(2 * truth, 0, 0.95)
    return make_panel(y, {"model": p}, **weigh(units, n, seed))


@pytest.mark.sweep
@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("n", [3000, 20_000])
def test_drawn_sums_give_the_intervals_of_resamples(units, n, monkeypatch):
    """Of many draws each way, to a tenth of the standard error, for statistics that take draws."""
    panel, draws = rare_case(units, n), 40_000 if n == 3000 else 15_000
    resampled = bootstrap_panel(panel, MEASURES, resamples=draws, seed=3, whole=False)
    monkeypatch.setattr(mean_intervals, "USUAL_RESAMPLES", draws)
    found, used = infer(panel), 0
    for statistic in STATISTICS:
        for method in ("bca", "percentile"):
            ours, estimate = bounds_of(found, statistic, method)
            expected, reference = bounds_of(resampled, statistic, method)
            if f"bootstrap, {draws} resamples" in estimate.method and "misclassification" not in statistic:
                used += 1
                assert_allclose(ours, expected, atol=0.1 * reference.standard_error, err_msg=statistic)
                assert estimate.standard_error == pytest.approx(reference.standard_error, rel=0.02)
                assert estimate.value == pytest.approx(reference.value, rel=1e-12)
    assert used


@pytest.mark.parametrize("units", UNITS)
def test_influences_of_columns_are_those_of_statistics(units):
    """The linear function of `linearise` is the change of each statistic if one unit weighs a little more."""
    panel = rare_case(units, 2000)
    scores = ResampledScores(panel, MEASURES)
    parts = list(mean_intervals._read_units(scores))
    values = np.concatenate([columns for columns, _ in parts], axis=1)
    times = np.concatenate([times for _, times in parts])
    observed, step = (values * times).sum(axis=1), 1e-3
    slopes = scores.linearise(observed)
    for unit in (0, 1, int(values[1].argmax())):
        moved = observed + step * np.array([[1.0], [-1.0]]) * values[:, unit]
        named = {s.measure: s for s in scores.finish(moved, observed)}
        for at, name in enumerate(STATISTICS):
            change = -np.diff(named[name].replicates)[0] / (2 * step) * observed[0]
            influence = slopes[at] @ (values[:, unit] - observed / times.sum())
            assert change == pytest.approx(influence, rel=1e-3, abs=1e-4)


def test_drawn_sums_have_the_moments_of_resamples():
    """Exact covariance of resamples; of all units few are drawn, and third moments are those of the drawn."""
    rng = np.random.default_rng(5)
    values = np.vstack([np.ones(50_000), rng.normal(size=50_000), rng.random(50_000) < 0.002])
    times = rng.integers(1, 4, 50_000).astype(float)
    sums = DrawnSums.of(
        lambda: iter(
            [UnitColumns(values[:, :9000], times[:9000]), UnitColumns(values[:, 9000:], times[9000:])]
        ),
        lambda _: np.array([[0, 1.0, 0], [0, 0, 1]]),
    )
    observed = (values * times).sum(axis=1)
    assert_allclose(sums.observed, observed, rtol=1e-12)
    assert sums.large.times.sum() == observed[2]
    drawn = np.concatenate([sums.draw(np.random.default_rng(k), 500) for k in range(40)])
    assert_allclose(drawn[:, 0], observed[0], rtol=1e-12)
    away = values - (observed / times.sum())[:, None]
    expected, found = np.einsum("ji,ki,i->jk", away, away, times), np.cov(drawn.T)
    spread = np.sqrt(np.diag(expected)[1:])
    assert_allclose(
        found[1:, 1:] / np.outer(spread, spread), expected[1:, 1:] / np.outer(spread, spread), atol=0.05
    )
    third = ((drawn[:, 2] - observed[2]) ** 3).mean()
    assert third == pytest.approx((away[2] ** 3 * times).sum(), abs=0.15 * expected[2, 2] ** 1.5)
    assert (away[2] ** 3 * times).sum() > 0.05 * expected[2, 2] ** 1.5
