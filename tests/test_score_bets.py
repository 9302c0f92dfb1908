"""Evidence against limits on scores, and that another model is better; models still in the running."""

from __future__ import annotations

import json
from itertools import combinations, product
from math import log, log1p

import numpy as np
import pytest
from numpy.testing import assert_allclose

from scorereport.errors import UsageError
from scorereport.inference.model_set import adjust_pairs, merge_evidence
from scorereport.inference.score_bets import (
    ScoreBet,
    ScoreSums,
    difference_evidence,
    fit_difference_bets,
    fit_score_bets,
    score_evidence,
    sum_scores,
)
from scorereport.reliability.sampling import SamplingUnits, random_stream


def rows_of(values, **options):
    return SamplingUnits(rows=len(values), **options)


def mixed(log_evidence, bets):
    """The e-value of an audit: the weighted mean of its bets."""
    return float(np.dot(np.exp(log_evidence), [bet.weight for bet in bets]))


@pytest.fixture
def scores():
    return random_stream(27, 1).beta(1, 4, 90)


# ---- Expectation at most 1, by enumeration ----


def expect(bets, chances, low, high, bound, is_upper, weight=None):
    """The expected evidence of independent scores that are `high` with some chance, else `low`."""
    units = SamplingUnits(rows=len(chances), weight=weight)
    found = 0.0
    for draw in product([0, 1], repeat=len(chances)):
        share = np.prod(np.where(draw, chances, 1 - np.array(chances)))
        values = np.where(draw, high, low)
        found += share * mixed(score_evidence(values, units, bets, bound, is_upper=is_upper), bets)
    return found


EARLIER = [
    [],
    [ScoreSums(count=50, count_squares=50, total=30, total_squares=30, squares=25)],
    [ScoreSums(count=50, count_squares=50, total=2, total_squares=2, squares=1)] * 8,
]


@pytest.mark.parametrize("earlier", EARLIER, ids=["none", "high", "eight low"])
@pytest.mark.parametrize("is_upper", [True, False])
@pytest.mark.parametrize(
    ("low", "high", "bound"), [(0, 1, 0.3), (0.1, 0.9, 0.2), (0, 0.2, 0.01), (0, 1, 0.999)]
)
def test_evidence_is_one_on_average_at_the_limit_and_less_within_it(earlier, is_upper, low, high, bound):
    bets = fit_score_bets(earlier, bound, is_upper=is_upper)
    assert sum(bet.weight for bet in bets) == pytest.approx(1)
    chance = (bound - low) / (high - low)
    if not 0 < chance < 1:
        chance = 1.0 if is_upper else 0.0  # both values are on the side of the hypothesis
    found = expect(bets, [chance] * 4, low, high, bound, is_upper)
    within = expect(
        bets, [chance * 0.8 if is_upper else 1 - (1 - chance) * 0.8] * 4, low, high, bound, is_upper
    )
    assert found == pytest.approx(1, abs=1e-12) or (chance in (0, 1) and found <= 1)
    assert within < found
    beyond = expect(bets, [min(1, chance * 1.1 + 0.05)] * 4, low, high, bound, True) if is_upper else 2
    assert beyond > found or chance == 1


@pytest.mark.parametrize("weight", [None, np.array([1, 0.5, 2, 0.1, 0.0])])
def test_only_the_mean_of_the_expected_scores_must_be_within_the_limit(weight):
    """Rows with larger and smaller expected scores; their weighted mean is the limit."""
    chances = np.array([0.9, 0.05, 0.2, 0.6, 0.3])
    bound = float(np.average(chances, weights=weight))
    for is_upper in (True, False):
        bets = fit_score_bets([], bound, is_upper=is_upper)
        found = expect(bets, chances, 0, 1, bound, is_upper, weight)
        assert 0.5 < found < 1


def test_differences_of_models_that_are_equally_good_are_no_evidence_on_average():
    bets = fit_difference_bets([ScoreSums(count=9, count_squares=9, total=2, total_squares=2, squares=3)])
    values = [-0.5, 0.0, 1.0]
    chances = [0.5, 0.25, 0.25]
    found = 0.0
    for draw in product(range(3), repeat=4):
        d = np.array([values[k] for k in draw])
        found += np.prod([chances[k] for k in draw]) * mixed(difference_evidence(d, rows_of(d), bets), bets)
    assert found == pytest.approx(1, abs=1e-12)


# ---- Bets ----


def test_a_bet_is_the_growth_optimal_one_of_earlier_audits_to_second_order(scores):
    sums = sum_scores(scores, rows_of(scores))
    bound = float(scores.mean()) * 0.9
    excess = scores - bound
    bet = fit_score_bets([sums, sums], bound, is_upper=True)[0]
    assert bet.name == "earlier audits"
    assert bet.fraction == pytest.approx(excess.mean() / (excess.var() + excess.mean() ** 2))
    bets = np.linspace(0, 1.5, 301)
    growth = [np.log1p(each * excess).sum() for each in bets]
    assert bet.fraction == pytest.approx(bets[np.argmax(growth)], rel=0.2)


def test_bets_stay_within_their_range_and_are_nothing_within_the_limit():
    far = ScoreSums(count=10, count_squares=10, total=9.9, total_squares=9.9, squares=9.8)
    assert fit_score_bets([far], 0.4, is_upper=True)[0].fraction == 1.25
    assert fit_score_bets([far], 0.4, is_upper=False)[0].fraction == 0
    assert fit_difference_bets([far])[0].fraction == 0.5
    assert fit_difference_bets([far.negative])[0].fraction == 0


def test_the_last_audits_have_a_bet_of_their_own():
    before = ScoreSums(count=100, count_squares=100, total=10, total_squares=10, squares=4)
    after = ScoreSums(count=100, count_squares=100, total=30, total_squares=30, squares=18)
    names = {bet.name: bet for bet in fit_score_bets([before] * 10 + [after] * 6, 0.2, is_upper=True)}
    assert names["last 6 audits"].fraction == fit_score_bets([after], 0.2, is_upper=True)[0].fraction > 0
    assert names["earlier audits"].fraction == 0
    assert names["last 6 audits"].weight == names["earlier audits"].weight == 0.25


def test_the_two_sides_are_mirrored(scores):
    sums = sum_scores(scores, rows_of(scores))
    other = sum_scores(1 - scores, rows_of(scores))
    for bound in (0.1, 0.3, 1.0, 0.0):
        below = fit_score_bets([sums], bound, is_upper=False)
        above = fit_score_bets([other], 1 - bound, is_upper=True)
        assert_allclose([bet.fraction for bet in below], [bet.fraction for bet in above])
        assert_allclose(
            score_evidence(scores, rows_of(scores), below, bound, is_upper=False),
            score_evidence(1 - scores, rows_of(scores), above, 1 - bound, is_upper=True),
            atol=1e-9,
        )


def test_sums_give_square_deviations_from_any_center(scores):
    weight = random_stream(27, 2).random(90) + 0.01
    units = rows_of(scores, weight=weight)
    found, v = sum_scores(scores, units), weight / weight.max()
    for center in (0.0, 0.2, 1.0):
        assert found.square_deviations(center) == pytest.approx(((v * (scores - center)) ** 2).sum())
    assert found.total / found.count == pytest.approx(np.average(scores, weights=weight))
    assert_allclose(
        [getattr(found.complement, name) for name in ScoreSums.__slots__],
        [getattr(sum_scores(1 - scores, units), name) for name in ScoreSums.__slots__],
    )
    assert found.negative == sum_scores(-scores, units)


# ---- Units ----


def test_evidence_is_the_sum_over_rows_in_any_order(scores):
    bets = fit_score_bets([sum_scores(scores, rows_of(scores))], 0.15, is_upper=True)
    found = score_evidence(scores, rows_of(scores), bets, 0.15, is_upper=True)
    slow = [sum(log1p(bet.fraction * (x - 0.15)) for x in scores) for bet in bets]
    assert_allclose(found, slow, rtol=1e-12)
    shuffled = random_stream(27, 3).permutation(scores)
    assert_allclose(score_evidence(shuffled, rows_of(scores), bets, 0.15, is_upper=True), found, rtol=1e-12)
    assert_allclose(list(_sums(shuffled)), list(_sums(scores)), rtol=1e-12)


def _sums(scores, **options):
    found = sum_scores(np.asarray(scores, dtype=float), rows_of(scores, **options))
    return [getattr(found, name) for name in ScoreSums.__slots__]


def test_frequency_weights_repeat_rows(scores):
    times = random_stream(27, 4).integers(0, 4, 90)
    units = rows_of(scores, weight=times.astype(float), weight_kind="frequency")
    repeated = np.repeat(scores, times)
    bets = fit_score_bets([], 0.2, is_upper=True)
    assert_allclose(
        score_evidence(scores, units, bets, 0.2, is_upper=True),
        score_evidence(repeated, rows_of(repeated), bets, 0.2, is_upper=True),
    )
    assert_allclose(_sums(scores, weight=times.astype(float), weight_kind="frequency"), _sums(repeated))


def test_sampling_weights_are_relative_to_the_largest(scores):
    weight = random_stream(27, 5).random(90)
    found = _sums(scores, weight=weight)
    assert_allclose(found, _sums(scores, weight=weight * 1e-9))
    assert_allclose(_sums(scores, weight=np.full(90, 1e-300)), _sums(scores))
    assert found[0] == pytest.approx(weight.sum() / weight.max())


def test_clusters_are_units_with_the_weight_of_their_rows(scores):
    cluster = np.repeat(np.arange(30), 3)
    means = scores.reshape(30, 3).mean(axis=1)
    assert_allclose(_sums(scores, cluster=cluster), _sums(means))
    bets = fit_difference_bets([])
    assert_allclose(
        difference_evidence(scores, rows_of(scores, cluster=cluster), bets),
        difference_evidence(means, rows_of(means), bets),
    )
    unequal = np.minimum(np.arange(90) // 3, 20)
    found = sum_scores(scores, rows_of(scores, cluster=unequal))
    assert found.total / found.count == pytest.approx(scores.mean())
    assert found.count == pytest.approx(3)  # 90 rows, 30 of them in the largest cluster
    weight = np.where(unequal == 0, 0.0, 1.0)
    without = sum_scores(scores[3:], rows_of(scores[3:], cluster=unequal[3:] - 1))
    assert sum_scores(scores, rows_of(scores, cluster=unequal, weight=weight)).total == pytest.approx(
        without.total
    )


# ---- Edges ----


def test_a_limit_of_one_has_no_evidence_and_one_of_zero_much():
    values = np.array([0.0, 1.0, 0.5])
    bets = fit_score_bets([sum_scores(values, rows_of(values))], 1.0, is_upper=True)
    assert score_evidence(values, rows_of(values), bets, 1.0, is_upper=True).tolist() == [0]
    bets = fit_score_bets([], 0.0, is_upper=True)
    none = np.zeros(3)
    assert (score_evidence(none, rows_of(none), bets, 0.0, is_upper=True) == 0).all()
    assert mixed(score_evidence(values, rows_of(values), bets, 0.0, is_upper=True), bets) > 1000


@pytest.mark.parametrize("rows", [1, 40])
def test_equal_scores_and_single_rows_are_handled(rows):
    values = np.full(rows, 0.25)
    earlier = [sum_scores(values, rows_of(values))]
    for bound in (0.25, 0.2, 0.3):
        bets = fit_score_bets(earlier, bound, is_upper=True)
        found = score_evidence(values, rows_of(values), bets, bound, is_upper=True)
        assert bets[0].fraction == pytest.approx(2.5 if bound == 0.2 else 0)
        assert np.sign(np.round(found.max(), 9)) == {0.25: 0, 0.2: 1, 0.3: 0}[bound]
    zero = np.zeros(rows)
    bets = fit_difference_bets([sum_scores(zero, rows_of(zero))])
    assert (difference_evidence(zero, rows_of(zero), bets) == 0).all()


def test_many_rows_neither_overflow_nor_underflow():
    values = np.ones(100_000)
    bets = fit_score_bets([], 0.001, is_upper=True)
    found = score_evidence(values, rows_of(values), bets, 0.001, is_upper=True)
    assert_allclose(found, [1e5 * log1p(bet.fraction * 0.999) for bet in bets], rtol=1e-12)
    found = score_evidence(0 * values, rows_of(values), bets, 0.001, is_upper=True)
    assert_allclose(found, [1e5 * log1p(-bet.fraction * 0.001) for bet in bets], rtol=1e-9)


@pytest.mark.parametrize("bad", [[0.5, 1.2], [-0.1, 0.5], [np.nan, 0.5], [np.inf, 0.5]])
def test_scores_outside_their_range_are_refused(bad):
    bets = fit_score_bets([], 0.5, is_upper=True)
    with pytest.raises(UsageError, match="must lie in"):
        score_evidence(np.array(bad), rows_of(bad), bets, 0.5, is_upper=True)
    with pytest.raises(UsageError, match="`bound` must lie in"):
        fit_score_bets([], 1.5, is_upper=True)


def test_bets_of_another_limit_are_refused():
    values = np.zeros(3)
    with pytest.raises(UsageError, match="fitted for another limit"):
        score_evidence(values, rows_of(values), fit_score_bets([], 0.1, is_upper=True), 0.9, is_upper=True)


# ---- Models ----


def least_mean(evidence, k):
    """Closed testing from its definition: the least mean over all sets that contain k."""
    others = [at for at in range(len(evidence)) if at != k]
    sets = (chosen for size in range(len(evidence)) for chosen in combinations(others, size))
    return min(np.mean([evidence[k], *(evidence[at] for at in chosen)]) for chosen in sets)


@pytest.mark.parametrize("number", range(5))
def test_merged_evidence_is_the_least_mean_over_all_sets(number):
    evidence = np.exp(random_stream(27, 6, number).normal(0, 2, 2 + number)).round(1)  # ties and zeros too
    with np.errstate(divide="ignore"):
        found = np.exp(merge_evidence(np.log(evidence)))
    assert_allclose(found, [least_mean(evidence, k) for k in range(len(evidence))], rtol=1e-12)


def test_merging_works_on_the_log_scale():
    found = merge_evidence(np.array([2000.0, -3000.0, 0.0, -np.inf]))
    assert_allclose(found[[0, 2]], [2000 - log(4), -log(3)])
    assert found[3] == -np.inf
    assert found[1] == pytest.approx(-3000 - log(2))
    assert merge_evidence(np.array([])).size == 0
    assert merge_evidence(np.array([1.5])).tolist() == [1.5]
    with pytest.raises(UsageError, match="NaN"):
        merge_evidence(np.array([np.nan]))


def test_pairs_of_models():
    assert adjust_pairs(np.zeros((1, 1))).tolist() == [0]
    two = np.array([[np.nan, log(30)], [log(0.1), np.nan]])
    assert_allclose(np.exp(adjust_pairs(two)), [15.05, 0.1])
    with pytest.raises(UsageError, match="square"):
        adjust_pairs(np.zeros((2, 3)))


# ---- seqcomp 0.3.0 ----


@pytest.fixture(scope="module")
def seqcomp(shared):
    return json.loads((shared / "r_answers.json").read_text())["sequential"][0]


def fixed_evidence(seqcomp, model, other):
    """The evidence that `other` is better, with a fixed bet of 1/4, at the rows of the reference."""
    y, first, second = (np.array(seqcomp[name]) for name in ("y", model, other))
    d = (first - y) ** 2 - (second - y) ** 2
    bets = [ScoreBet(fraction=0.25, weight=1.0, name="fixed")]
    return np.array([difference_evidence(d[:n], rows_of(d[:n]), bets)[0] for n in seqcomp["at"]])


def test_fixed_bets_are_those_of_seqcomp(seqcomp):
    expected = seqcomp["betting_fixed"]
    assert_allclose(fixed_evidence(seqcomp, "b", "a"), expected["log_e_pq"], atol=1e-8)
    assert_allclose(fixed_evidence(seqcomp, "a", "b"), expected["log_e_qp"], atol=1e-8)


def test_models_in_the_running_are_those_of_seqcomp(seqcomp):
    expected = seqcomp["model_confidence_set"]
    names = ["a", "b", "c"]
    pairs = np.array([[fixed_evidence(seqcomp, one, other) for other in names] for one in names])
    pairs = np.minimum(pairs, log(1e7))  # seqcomp cuts the evidence of a pair there
    found = np.array([adjust_pairs(pairs[:, :, at]) for at in range(len(seqcomp["at"]))])
    assert_allclose(np.exp(found), expected["evidence"], rtol=1e-7)
    left = np.maximum.accumulate(found, axis=0) >= log(20)
    assert [[not gone for gone in row] for row in left] == [
        list(row.values()) for row in expected["still_in"]
    ]


def test_merged_evidence_is_that_of_seqcomp(seqcomp):
    expected = seqcomp["merge_of_evidence"]
    assert_allclose(np.exp(merge_evidence(np.log(expected["given"]))), expected["merged"], rtol=1e-12)


def test_merged_evidence_is_the_recorded_one_of_seqcomp():
    """Also where the reference data are not there."""
    found = merge_evidence(np.log([10, 2, 1, 40]))
    assert_allclose(np.exp(found), [4.33333333333333, 1.5, 1, 13.25], rtol=1e-12)
