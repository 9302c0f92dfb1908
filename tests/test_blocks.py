"""Isotonic fits as blocks: exact, the same however data are cut or ordered; and their decompositions."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, groupby, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

import scorereport as sr
from scorereport._utils.arrays import CACHED_ROWS
from scorereport.reliability import blocks as blocks_module
from scorereport.reliability import fitted_sample
from scorereport.reliability.blocks import Blocks, outcomes_before, pool
from scorereport.reliability.decomposition import mean_at, resolve_score
from scorereport.scores import REGISTRY, Direction, Kind, Propriety
from scorereport.scores.registry import get_score

# Lists of blocks


def make_blocks(counts):
    """Blocks at 0, 1, 2, ... of (cases, events)."""
    n, events = np.array(counts, dtype=np.int64).reshape(-1, 2).T.copy()
    x = np.arange(len(n), dtype=np.float64)
    return Blocks(x_min=x, x_max=x.copy(), n=n, events=events)


def part(blocks, start, end):
    x, n, events = blocks.x_min[start:end], blocks.n[start:end], blocks.events[start:end]
    return Blocks(x_min=x.copy(), x_max=x.copy(), n=n.copy(), events=events.copy())


def max_min_fit(counts):
    """Fit by zhat_k = max_{i<=k} min_{j>=k} mean(i..j) in fractions; equal values form a block."""
    n, events = zip(*counts, strict=True)
    sums_n, sums_events = [0, *accumulate(n)], [0, *accumulate(events)]

    def mean(i, j):
        return Fraction(sums_events[j + 1] - sums_events[i], sums_n[j + 1] - sums_n[i])

    size = len(counts)
    fit = [max(min(mean(i, j) for j in range(k, size)) for i in range(k + 1)) for k in range(size)]
    levels = [list(level) for _, level in groupby(range(size), key=fit.__getitem__)]
    return [
        (level[0], level[-1], sum(n[k] for k in level), sum(events[k] for k in level)) for level in levels
    ]


def as_tuples(blocks):
    columns = (blocks.x_min, blocks.x_max, blocks.n, blocks.events)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def count_pairs(largest):
    return st.integers(1, largest).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


@st.composite
def colliding_counts(draw):
    """Ratios of neighbours in Fibonacci-like sequences: all near 0.618, apart by less than 1e-14 to 1e-22."""
    terms = [draw(st.integers(1, 40)), draw(st.integers(41, 80))]
    while terms[-1] < 10**12:
        terms.append(terms[-1] + terms[-2])
    pairs = [(n, events) for events, n in pairwise(terms) if n >= 10**8]
    return draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=9))


SMALL = st.lists(count_pairs(6), min_size=1, max_size=9)
LARGE = st.lists(count_pairs(10**12), min_size=1, max_size=7)
COUNTS = SMALL | LARGE | colliding_counts()


@given(COUNTS)
def test_pooling_is_the_max_min_formula(counts):
    assert as_tuples(pool(make_blocks(counts))) == max_min_fit(counts)


@given(COUNTS)
def test_pooling_is_the_same_for_all_cuts(counts):
    whole = make_blocks(counts)
    pooled = pool(whole)
    for cut in range(1, len(counts)):
        left, right = part(whole, 0, cut), part(whole, cut, len(counts))
        assert pool(left + right).equals(pooled)
        assert pool(pool(left) + pool(right)).equals(pooled)


@given(COUNTS)
def test_pooling_one_by_one_and_again_changes_nothing(counts):
    whole = make_blocks(counts)
    grown = part(whole, 0, 1)
    for k in range(1, len(counts)):
        grown = pool(grown + part(whole, k, k + 1))
    assert grown.equals(pool(whole))
    assert pool(grown).equals(grown)


def fibonacci_ratios(first, count):
    terms = [1, 1]
    while len(terms) < first + count + 1:
        terms.append(terms[-1] + terms[-2])
    return [(terms[k + 1], terms[k]) for k in range(first, first + count)]


@pytest.mark.parametrize(
    "counts",
    [
        fibonacci_ratios(43, 2),
        fibonacci_ratios(49, 2),
        fibonacci_ratios(54, 2)[::-1],
        sorted(fibonacci_ratios(45, 8), key=lambda c: Fraction(c[1], c[0])),
    ],
    ids=["products in int64", "products beyond int64", "reversed", "eight"],
)
@pytest.mark.parametrize("falls", [0, 1], ids=["all rise", "one falls"])
def test_rising_means_that_are_equal_as_floats_stay_separate(counts, falls, monkeypatch):
    """scipy, used where merging neighbours is slow, merges them; the exact path separates them again."""
    calls = []
    one_by_one = blocks_module._edges_one_by_one
    monkeypatch.setattr(
        blocks_module, "_edges_one_by_one", lambda sums: one_by_one(calls.append(len(sums.n) - 1) or sums)
    )
    exact = [Fraction(events, n) for n, events in counts]
    assert all(low < high and high - low < Fraction(1, 10**17) for low, high in pairwise(exact))
    assert len({float(mean) for mean in exact}) == 1
    below = [(20, k) for k in range(1, 10)] + falls * [(20, 8)]  # 8/20 falls from 9/20: the last two merge
    found = as_tuples(pool(make_blocks(below + counts)))
    assert [(n, e) for _, _, n, e in found[-len(counts) :]] == counts
    assert len(found) == 9 + len(counts)
    assert calls == falls * [9 + len(counts)]


def test_long_falls_are_left_to_scipy(monkeypatch):
    """Rising means, and a last one below all: merging neighbours would take one pass for each."""
    asked = []
    by_scipy = blocks_module._edges_by_scipy
    monkeypatch.setattr(
        blocks_module, "_edges_by_scipy", lambda sums: by_scipy(asked.append(len(sums.n)) or sums)
    )
    pooled = pool(make_blocks([(400, k) for k in range(1, 400)] + [(10**9, 0)]))
    assert as_tuples(pooled) == [(0, 399, 399 * 400 + 10**9, 399 * 200)]
    assert asked == [400]


@pytest.mark.parametrize("length", [1, 46_340, 46_341, 100_000])
def test_products_beyond_32_bits_are_not_lost(length):
    """Runs are counted in 32 bits as long as products fit."""
    y = np.repeat([1, 0, 1, 0], [length, 2 * length, length, length]).astype(float)
    fit = sr.corp(y, np.arange(len(y)) / len(y))
    assert as_tuples(fit.blocks)[0][2:] == (3 * length, length)
    assert as_tuples(fit.blocks)[1][2:] == (2 * length, length)
    assert fit.blocks.n.dtype == fit.blocks.events.dtype == np.int64


def test_equal_neighbours_are_one_block_on_the_exact_path_too():
    """1 0 | 1 0 becomes two blocks of mean 1/4, then one; the last two means mislead scipy."""
    low, high = fibonacci_ratios(49, 2)
    pooled = pool(make_blocks([(2, 1), (2, 0), (2, 1), (2, 0), low, high]))
    assert as_tuples(pooled) == [(0, 3, 8, 2), (4, 4, *low), (5, 5, *high)]


def test_the_collisions_reach_both_sides_of_the_largest_safe_product():
    assert sum(n for n, _ in fibonacci_ratios(43, 2)) < blocks_module._PRODUCTS_FIT
    assert sum(n for n, _ in fibonacci_ratios(49, 2)) > blocks_module._PRODUCTS_FIT > 3 * 10**9


def test_ordinary_data_do_not_need_the_exact_path(monkeypatch):
    monkeypatch.setattr(blocks_module, "_edges_one_by_one", None)  # calling it would fail
    counts = np.random.default_rng(1).integers([1, 0], [9, 2], size=(2000, 2))
    pooled = pool(make_blocks(counts))
    assert pooled.n.sum() == counts[:, 0].sum()
    assert (np.diff(pooled.mean) > 0).all()


@pytest.mark.parametrize(
    "counts",
    [[(2, 1), (4, 2), (6, 3)], [(3, 1), (9, 3), (3, 1)], [(10**12, 1), (2 * 10**12, 2)], [(5, 0), (7, 0)]],
)
def test_equal_neighbours_are_one_block(counts):
    n, events = (sum(column) for column in zip(*counts, strict=True))
    assert as_tuples(pool(make_blocks(counts))) == [(0, len(counts) - 1, n, events)]


def test_equal_means_of_cases_are_one_block():
    """scipy alone leaves 0 1 | 0 1 apart."""
    assert as_tuples(sr.corp([1, 0, 1, 0], [0.1, 0.2, 0.3, 0.4]).blocks) == [(0.1, 0.4, 4, 2)]


@pytest.mark.parametrize(("left", "right"), [((0.1, 0.3), (0.3, 0.5)), ((0.4, 0.5), (0.1, 0.2))])
def test_blocks_are_joined_in_ascending_order_only(left, right):
    first, second = (
        Blocks(x_min=np.array([lo]), x_max=np.array([hi]), n=np.array([2]), events=np.array([1]))
        for lo, hi in (left, right)
    )
    with pytest.raises(sr.DataError) as refusal:
        first + second
    assert str(refusal.value) == (
        f"Blocks must be joined in ascending order without overlap; got {left[1]} before {right[0]}."
    )


def test_an_empty_list_joins_anywhere():
    blocks = make_blocks([(2, 1)])
    empty = part(blocks, 0, 0)
    assert (empty + blocks).equals(blocks)
    assert (blocks + empty).equals(blocks)
    assert len(empty) == 0


def test_blocks_equal_to_the_last_bit_only():
    blocks = make_blocks([(2, 1), (2, 2)])
    assert blocks.equals(make_blocks([(2, 1), (2, 2)]))
    assert not blocks.equals(make_blocks([(2, 1), (3, 2)]))
    assert not blocks.equals(make_blocks([(2, 1)]))


# Fits of cases


@st.composite
def cases(draw, *, min_size=1, weights=None):
    """Outcomes and forecasts with many ties, close neighbours and both zeros."""
    size = draw(st.integers(min_size, 14))
    near = [np.nextafter(0.5, 0), 0.5, np.nextafter(0.5, 1), 5e-324, 0.0, 1.0]
    forecast = st.sampled_from([0.1, 0.2, 0.3, *near]) | st.floats(0, 1)
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)))
    p = np.array(draw(st.lists(forecast, min_size=size, max_size=size)))
    if weights is None:
        return y, p
    return y, p, np.array(draw(st.lists(weights, min_size=size, max_size=size).filter(any)))


WHOLE = st.integers(0, 5)
FRACTIONAL = st.sampled_from([0.0, 0.1, 0.2, 0.3]) | st.floats(0.01, 10)


@given(cases())
def test_fit_of_cases_is_the_max_min_formula_on_distinct_forecasts(data):
    y, p = data
    levels = np.unique(p)
    counts = [((p == level).sum().item(), y[p == level].sum().item()) for level in levels]
    expected = [(levels[i], levels[j], n, events) for i, j, n, events in max_min_fit(counts)]
    fit = sr.corp(y, p)
    assert as_tuples(fit.blocks) == expected
    assert as_tuples(fit.distinct) == [(x, x, n, e) for x, (n, e) in zip(levels, counts, strict=True)]


@given(cases(), st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter_to_the_bit(data, random):
    y, p = data
    order = random.sample(range(len(y)), len(y))
    fit, shuffled = sr.corp(y, p), sr.corp(y[order], p[order])
    assert shuffled.blocks.equals(fit.blocks)
    assert shuffled.distinct.equals(fit.distinct)
    assert shuffled.decompose("brier") == fit.decompose("brier")
    assert shuffled.decompose("log") == fit.decompose("log")
    assert shuffled.murphy() == fit.murphy()
    np.testing.assert_array_equal(shuffled.cep, fit.cep[order])


@given(cases(weights=FRACTIONAL), st.randoms(use_true_random=False))
def test_order_of_weighted_rows_does_not_matter_to_the_bit(data, random):
    y, p, w = data
    order = random.sample(range(len(y)), len(y))
    fit, shuffled = sr.corp(y, p, w), sr.corp(y[order], p[order], w[order])
    assert shuffled.blocks.equals(fit.blocks)
    assert shuffled.distinct.equals(fit.distinct)
    assert shuffled.decompose("spherical") == fit.decompose("spherical")
    assert shuffled.murphy() == fit.murphy()


@given(cases(weights=FRACTIONAL), st.randoms(use_true_random=False))
def test_order_of_real_outcomes_does_not_matter_to_the_bit(data, random):
    y, p, w = data
    order = random.sample(range(len(y)), len(y))
    outcome = y * w + p
    fit = sr.corp(outcome, p, functional="mean")
    shuffled = sr.corp(outcome[order], p[order], functional="mean")
    assert shuffled.blocks.equals(fit.blocks)
    assert shuffled.decompose() == fit.decompose()


@given(cases(weights=WHOLE))
def test_whole_weights_equal_repeated_rows_to_the_bit(data):
    y, p, w = data
    fit, repeated = sr.corp(y, p, w), sr.corp(np.repeat(y, w), np.repeat(p, w))
    assert fit.blocks.equals(repeated.blocks)
    assert fit.distinct.equals(repeated.distinct)
    assert fit.murphy() == repeated.murphy()
    for score in ("brier", "spherical", "misclassification"):
        ours, theirs = fit.decompose(score), repeated.decompose(score)
        assert (ours.recalibrated, ours.reference, ours.n) == (
            theirs.recalibrated,
            theirs.reference,
            theirs.n,
        )
        assert ours.score == pytest.approx(theirs.score, rel=1e-15, abs=1e-16)


@given(cases(weights=FRACTIONAL))
def test_rows_without_weight_leave_no_trace(data):
    y, p, w = data
    kept = w > 0
    fit, without = sr.corp(y, p, w), sr.corp(y[kept], p[kept], w[kept])
    assert fit.blocks.equals(without.blocks)
    assert fit.distinct.equals(without.distinct)
    assert fit.decompose("log") == without.decompose("log")


def test_rows_without_weight_leave_no_trace_in_skill():
    """Not even a certain forecast that failed."""
    with_it = sr.skill("log", [1, 0, 1], [0.0, 0.2, 0.9], sample_weight=[0, 1, 1])
    assert with_it == sr.skill("log", [0, 1], [0.2, 0.9])


@given(cases(weights=FRACTIONAL), st.sampled_from([2.0**-30, 2.0**40]))
def test_the_unit_of_weights_does_not_matter(data, unit):
    y, p, w = data
    fit, scaled = sr.corp(y, p, w), sr.corp(y, p, w * unit)
    np.testing.assert_array_equal(scaled.blocks.x_min, fit.blocks.x_min)
    np.testing.assert_array_equal(scaled.blocks.mean, fit.blocks.mean)
    assert scaled.decompose("brier").miscalibration == fit.decompose("brier").miscalibration


@pytest.mark.parametrize("unit", [1e-100, 1e100])
def test_weights_of_any_size_give_the_same_fit(unit):
    fit = sr.corp([0, 1], [0.2, 0.8], [unit, unit])
    np.testing.assert_array_equal(fit.cep, [0, 1])


def test_whole_weights_beyond_int64_do_not_wrap_round():
    fit = sr.corp([0, 1, 0], [0.2, 0.8, 0.8], [5e18, 5e18, 5e18])
    assert fit.n == 1.5e19
    np.testing.assert_array_equal(fit.cep, [0, 0.5, 0.5])


@pytest.mark.parametrize(
    "weight", [None, [1, 1, 1, 2], [0.5, 1.5, 0.25, 1]], ids=["none", "whole", "fractional"]
)
@pytest.mark.parametrize("functional", ["probability", "mean"])
def test_minus_zero_is_zero(weight, functional):
    """To the bit, in any order of rows."""
    y, plain, signed = (
        np.array([0, 1, 1, 0]),
        np.array([0.0, 0.0, 0.5, 0.0]),
        np.array([-0.0, 0.0, 0.5, -0.0]),
    )
    fit = sr.corp(y, plain, weight, functional=functional)
    for order in permutations(range(4)):
        rows = list(order)
        w = None if weight is None else np.array(weight)[rows]
        assert sr.corp(y[rows], signed[rows], w, functional=functional).blocks.equals(fit.blocks)


@pytest.mark.parametrize("x", [0.0, 5e-324, 2.2e-308, 0.1, 0.5, np.nextafter(1.0, 0)])
@pytest.mark.parametrize("weight", [None, [1, 3], [0.5, 0.7]])
def test_neighbouring_floats_are_not_merged(x, weight):
    above = np.nextafter(x, 2)
    fit = sr.corp([0, 1], [x, above], weight)
    np.testing.assert_array_equal(fit.blocks.x_min, [x, above])
    np.testing.assert_array_equal(fit.cep, [0, 1])


def test_single_precision_forecasts_keep_their_values():
    p = np.array([0.1, np.nextafter(np.float32(0.1), np.float32(1)), 0.7, 0.1], dtype=np.float32)
    y = np.array([0, 1, 1, 0], dtype=np.int8)
    fit = sr.corp(y, p)
    assert fit.distinct.equals(sr.corp(y, p.astype(np.float64)).distinct)
    assert fit.distinct.x_min.tolist() == [float(p[0]), float(p[1]), float(p[2])]
    np.testing.assert_array_equal(fit.cep, [0, 1, 1, 0])


@pytest.mark.parametrize("convert", [list, tuple, np.asarray, lambda v: np.asarray(v)[::-1][::-1]])
def test_any_sequence_is_accepted(convert):
    y, p = [0, 1, 0, 1], [0.25, 0.5, 0.75, 0.875]
    assert sr.corp(convert(y), convert(p)).blocks.equals(sr.corp(np.array(y), np.array(p)).blocks)


def test_the_given_data_are_not_changed():
    y, p, w = np.array([1.0, 0, 1]), np.array([0.9, 0.1, 0.5]), np.array([1.0, 2, 3])
    before = [array.copy() for array in (y, p, w)]
    sr.corp(y, p, w).decompose("brier")
    sr.corp(y, p).decompose("brier")
    for array, copy in zip((y, p, w), before, strict=True):
        np.testing.assert_array_equal(array, copy)
        assert array.flags.writeable


def test_recalibrated_probabilities_stand_in_the_order_of_the_cases():
    fit = sr.corp([1, 0, 1, 0, 1], [0.9, 0.1, 0.4, 0.4, 0.3])
    np.testing.assert_array_equal(fit.cep, [1, 0, 2 / 3, 2 / 3, 2 / 3])


def test_recalibration_follows_the_curve_and_is_flat_beyond():
    """Blocks (0.1), (0.3, 0.4) and (0.8) with CEP 0, 1/2 and 1."""
    fit = sr.corp([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8])
    asked = [0.0, 0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.8, 1.0]
    expected = [0, 0, 1 / 4, 1 / 2, 1 / 2, 1 / 2, 1 / 2 + 1 / 8, 1, 1]
    np.testing.assert_allclose(fit.recalibrate(asked), expected, rtol=1e-15)


@given(cases(weights=FRACTIONAL), st.lists(st.floats(0, 1), min_size=2, max_size=9))
def test_recalibration_is_monotone(data, asked):
    recalibrated = sr.corp(*data).recalibrate(sorted(asked))
    assert (np.diff(recalibrated) >= -1e-15).all()
    assert recalibrated.min() >= 0
    assert recalibrated.max() <= 1


def test_bins_are_a_table_of_the_blocks():
    bins = sr.corp([0, 1, 0, 1, 1], [0.1, 0.3, 0.3, 0.6, 0.5]).bins
    assert list(bins.columns) == ["x_min", "x_max", "n", "events", "cep"]
    assert bins.to_numpy().tolist() == [[0.1, 0.1, 1, 0, 0], [0.3, 0.3, 2, 1, 0.5], [0.5, 0.6, 2, 2, 1]]


# Decompositions

PROPER = {
    **{name: {} for name, entry in REGISTRY.items() if entry.kind is Kind.BINARY and not entry.options},
    "log_loss": {},
    "elementary": {"theta": 0.3},
    "regret": {"cost": 0.3},
    "net_benefit": {"threshold": 0.3},
    "bounded_brier": {"lower": 0.2, "upper": 0.6},
    "bounded_log_loss": {"lower": 0.2, "upper": 0.6},
    "bounded_net_benefit": {"lower": 0.2, "upper": 0.6},
    "mode_shifted": {"mu": 0.2},
    "beta_regret": {"a": 2, "b": 4},
}


def test_all_proper_binary_scores_are_decomposed_here():
    proper = {Propriety.PROPER, Propriety.STRICT}
    assert PROPER.keys() == {
        name for name, entry in REGISTRY.items() if entry.kind is Kind.BINARY and entry.propriety in proper
    }


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("score", PROPER)
@given(data=cases(weights=FRACTIONAL), weighted=st.booleans())
def test_components_are_not_negative_and_sum_to_the_score(score, data, weighted):
    y, p, w = data
    p = p.round(6)  # log scores of hundreds would drown the components in rounding
    fit = sr.corp(y, p, w if weighted else None)
    d = fit.decompose(score, **PROPER[score])
    assert d.miscalibration >= -1e-15 * max(1, abs(d.score))
    assert d.discrimination >= -1e-15
    gain = d.discrimination - d.miscalibration
    if np.isfinite(d.score):
        higher = REGISTRY[score].direction is Direction.HIGHER
        assert d.score == pytest.approx(d.uncertainty + (gain if higher else -gain), rel=1e-14, abs=2e-15)
    else:
        assert (score, d.score, d.miscalibration) == ("log_loss", np.inf, np.inf)


@pytest.mark.parametrize("score", PROPER)
def test_the_measured_means_are_those_of_the_three_forecasts(score):
    y, p = np.array([0, 1, 0, 0, 1, 1]), np.array([0.1, 0.2, 0.3, 0.35, 0.35, 0.9])
    fit = sr.corp(y, p)
    d = fit.decompose(score, **PROPER[score])
    means = [REGISTRY[score].function(y, x, **PROPER[score]).mean() for x in (p, fit.cep, np.full(6, 1 / 2))]
    assert (d.score, d.recalibrated, d.reference) == pytest.approx(means, rel=1e-14, abs=1e-16)
    assert (d.name, d.n) == (score, 6)


def test_brier_decomposition_by_hand():
    """Recalibration gives 0, 1/2, 1/2, 1 for forecasts .1, .3, .4, .8; the prevalence is 1/2."""
    d = sr.corp([0, 1, 0, 1], [0.1, 0.3, 0.4, 0.8]).decompose()
    score = (0.1**2 + 0.7**2 + 0.4**2 + 0.2**2) / 4
    recalibrated = (0 + 1 / 4 + 1 / 4 + 0) / 4
    assert d.score == pytest.approx(score, rel=1e-15)
    assert d.miscalibration == pytest.approx(score - recalibrated, rel=1e-15)
    assert d.discrimination == 1 / 4 - recalibrated
    assert d.uncertainty == 1 / 4


@pytest.mark.parametrize("score", PROPER)
def test_skill_is_read_from_the_decomposition(score):
    y, p = [0, 1, 0, 0, 1], [0.1, 0.2, 0.3, 0.35, 0.9]
    skill = sr.corp(y, p).decompose(score, **PROPER[score]).skill
    assert skill == pytest.approx(sr.skill(score, y, p, **PROPER[score]), rel=1e-13)


def test_a_function_can_be_decomposed():
    def quartic(y_true, y_prob, *, factor=1.0):
        return factor * (y_true - y_prob) ** 4

    fit = sr.corp([0, 1, 1], [0.5, 0.5, 1.0])
    d = fit.decompose(quartic, factor=2.0)
    assert d.name == "quartic"
    assert d.score == 2 * (1 / 16 + 1 / 16 + 0) / 3
    assert d.uncertainty == pytest.approx(2 * ((2 / 3) ** 4 / 3 + 2 * (1 / 3) ** 4 / 3), rel=1e-15)


@given(cases(weights=FRACTIONAL))
def test_murphy_components_sum_to_the_brier_score(data):
    fit = sr.corp(*data)
    m = fit.murphy()
    assert m.score == pytest.approx(m.reliability - m.resolution + m.uncertainty, abs=1e-16)
    assert m.score == pytest.approx(fit.decompose("brier").score, abs=1e-14)


@given(st.lists(count_pairs(6), min_size=1, max_size=9))
def test_murphy_components_are_those_of_corp_if_frequencies_rise(counts):
    rising = sorted(counts, key=lambda pair: Fraction(pair[1], pair[0]))
    y = np.concatenate([[1] * events + [0] * (n - events) for n, events in rising])
    p = np.repeat(np.linspace(0.05, 0.95, len(rising)), [n for n, _ in rising])
    fit = sr.corp(y, p)
    m, d = fit.murphy(), fit.decompose("brier")
    assert (m.reliability, m.resolution, m.uncertainty) == pytest.approx(
        (d.miscalibration, d.discrimination, d.uncertainty), abs=1e-15
    )


@pytest.mark.parametrize(
    ("y", "p", "note"),
    [
        ([1, 0, 1], [0.0, 0.2, 0.9], "1 case has an infinite log_loss: the outcome had probability 0."),
        ([1, 0, 0], [0.0, 1.0, 0.9], "2 cases have an infinite log_loss: the outcome had probability 0."),
        ([0, 1, 0], [0.0, 1.0, 0.9], ""),
    ],
)
def test_infinite_log_scores_are_reported(y, p, note):
    d = sr.corp(y, p).decompose("log")
    assert d.note == note
    assert np.isinf(d.miscalibration) == bool(note)
    assert np.isfinite([d.discrimination, d.uncertainty]).all()


@pytest.mark.parametrize(
    ("score", "options", "sentence"),
    [
        (
            "shifted_brier",
            {"mu": 0.2},
            "`score` must be proper; the decomposition of 'shifted_brier' would be meaningless.",
        ),
        (
            "rps",
            {},
            "`score` must be a score of binary forecasts; 'rps' scores probabilities of ordered classes.",
        ),
        (
            "multiclass_brier",
            {},
            "`score` must be a score of binary forecasts; "
            "'multiclass_brier' scores probabilities of unordered classes.",
        ),
        ("roc_auc", {}, "`score` must be a score of binary forecasts; 'roc_auc' scores ranking of cases."),
        ("loss", {}, f"`score` 'loss' is not known; choose one of {', '.join(sorted(REGISTRY))}."),
    ],
)
def test_scores_without_a_decomposition_are_refused(score, options, sentence):
    with pytest.raises(sr.UsageError) as refusal:
        sr.corp([0, 1], [0.2, 0.7]).decompose(score, **options)
    assert str(refusal.value) == sentence


def test_regret_at_another_threshold_is_not_decomposed():
    """It is not proper: here recalibration costs 0.9/2 instead of 0.1/2, a negative miscalibration."""
    fit = sr.corp([0, 1], [0.4, 0.4])
    with pytest.raises(sr.UsageError) as refusal:
        fit.decompose("regret", cost=0.9, threshold=0.5)
    assert str(refusal.value) == (
        "`score` must be proper; the decomposition of 'regret' with `threshold` would be meaningless."
    )


def test_weighted_infinities_are_counted_like_repeated_rows():
    weighted = sr.corp([1, 0, 1], [0.0, 0.2, 0.9], [2, 1, 1]).decompose("log")
    repeated = sr.corp([1, 1, 0, 1], [0.0, 0.0, 0.2, 0.9]).decompose("log")
    assert weighted == repeated
    assert weighted.note == "2 cases have an infinite log_loss: the outcome had probability 0."


def test_only_the_isotonic_fit_passes_the_check():
    """The check of scipy's result: means must rise, and blocks must neither be split nor merged too far."""
    sums = blocks_module.Sums(np.array([0, 1, 3, 5, 6]), np.array([0, 0, 1, 2, 3]))  # 0, 1/2, 1/2, 1
    assert blocks_module._are_isotonic(sums, np.array([0, 1, 3, 4]))
    assert not blocks_module._are_isotonic(sums, np.array([0, 1, 2, 3, 4]))  # equal means apart
    assert not blocks_module._are_isotonic(sums, np.array([0, 3, 4]))  # 0 and 1/2 together
    falling = blocks_module.Sums(np.array([0, 1, 2]), np.array([0, 1, 1]))
    assert not blocks_module._are_isotonic(falling, np.array([0, 1, 2]))


def test_scores_given_as_functions_keep_their_registered_properties():
    fit = sr.corp([0, 1, 1], [0.1, 0.2, 0.1])
    assert fit.decompose(sr.scores.net_benefit, threshold=0.2) == fit.decompose("net_benefit", threshold=0.2)
    with pytest.raises(sr.UsageError, match="must be proper"):
        fit.decompose(sr.scores.shifted_brier, mu=0.2)


@pytest.mark.parametrize(
    ("score", "options", "sentence"),
    [
        ("brier", {"theta": 0.2}, "`brier` takes no option `theta`."),
        ("elementary", {}, "`elementary` needs the option `theta`."),
        (lambda *_: 1.0, {}, "`score` must give one value per case; got shape () for 2 cases."),
    ],
)
def test_invalid_calls_are_refused(score, options, sentence):
    with pytest.raises(sr.UsageError) as refusal:
        sr.corp([0, 1], [0.2, 0.7]).decompose(score, **options)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_pooling_nothing_gives_nothing(dtype):
    nothing = Blocks(x_min=np.zeros(0), x_max=np.zeros(0), n=np.zeros(0, dtype), events=np.zeros(0, dtype))
    assert len(pool(nothing)) == 0
    assert len(pool(nothing + nothing)) == 0


def test_the_cases_of_a_fit_cannot_be_changed():
    fit = sr.corp([0, 1], [0.2, 0.7])
    for array in fit.cases[:2]:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("n", [CACHED_ROWS, CACHED_ROWS + 1, 3 * CACHED_ROWS + 5, 300_007])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_mean_taken_in_parts_is_that_of_all_cases_to_the_last_bit(n, weighted):
    rng = np.random.default_rng(n)
    x = rng.random(n)
    y = rng.random(n) < x
    fit = sr.corp(y, x, rng.random(n) if weighted else None)
    p, outcome, weight = fit.cases.y_prob, fit.cases.y_true, fit.cases.weight
    whole = (p - outcome) ** 2
    mean = whole.sum() / n if weight is None else (whole * weight).sum() / weight.sum()
    assert fit.decompose("brier").score == mean


@pytest.mark.parametrize("score", ["brier", "log", "misclassification", "spherical"])
def test_scores_of_many_cases_are_those_of_single_cases(score):
    n = 2 * CACHED_ROWS + 7
    rng = np.random.default_rng(4)
    x = rng.random(n)
    y = (rng.random(n) < x).astype(float)
    found = resolve_score(score, {})[1](y, x)
    np.testing.assert_allclose(found, get_score(score).function(y, x), rtol=1e-14)


def test_infinite_scores_are_counted_in_all_parts():
    n = 2 * CACHED_ROWS
    x, y = np.linspace(0, 1, n), np.arange(n) % 2 == 0
    x[:3], x[-3:] = 0.0, 1.0
    assert sr.corp(y, x).decompose("log").infinite_cases == 2 + 2
    assert sr.corp(y, x, np.full(n, 3)).decompose("log").infinite_cases == 3 * (2 + 2)


def test_a_function_from_elsewhere_sees_all_cases_at_once():
    n, seen = 2 * CACHED_ROWS, []
    x = np.linspace(0, 1, n)
    sr.corp(x > 0.5, x).decompose(lambda y, p: seen.append(len(y)) or (p - y) ** 2)
    assert seen[0] == n


def test_the_least_forecasts_are_in_order_too():
    """As floats, keys of 0 and of subnormal forecasts are subnormal, which some processors treat as 0."""
    least = 5e-324
    x = np.array([2 * least, 0.0, least, -0.0, 0.5, least, 0.0, 1.0, 2e-308, 1.0])
    y = np.array([0, 0, 1, 1, 1, 0, 1, 0, 1, 1])
    order = np.lexsort((-y, x))
    cases = sr.corp(y, x).cases
    np.testing.assert_array_equal(cases.y_true, y[order])
    np.testing.assert_array_equal(cases.y_prob, np.abs(x[order]))
    keys = np.array([7, 3, 5, 0, 2**60, 2**61])  # as such a processor would leave them
    fitted_sample._sort_keys(keys)
    np.testing.assert_array_equal(keys, [0, 3, 5, 7, 2**60, 2**61])


@pytest.mark.parametrize("n", [1, 2, 40, 3000])
@pytest.mark.parametrize("levels", [1, 2, 30, 2**40])
def test_weighted_cases_are_in_order_of_forecast_outcome_and_weight(n, levels):
    rng = np.random.default_rng(n + levels)
    x = rng.integers(0, levels + 1, n) / levels
    y = rng.integers(0, 2, n).astype(float)
    weight = rng.choice([0.0, 0.25, 1.0, 3.0], n) if levels > 2 else rng.random(n)
    weight[0] = 1.0
    x, y, weight = (np.append(column, column[:2]) for column in (x, y, weight))  # the same case twice
    counts = weight > 0
    order = np.lexsort((weight[counts], -y[counts], x[counts]))
    for fit in sr.corp(y, x, weight), sr.corp(y[::-1], x[::-1], weight[::-1]):
        for column, ordered in zip((y, x, weight), fit.cases, strict=True):
            np.testing.assert_array_equal(ordered, column[counts][order])


# Means of real outcomes


@st.composite
def real_cases(draw):
    size = draw(st.integers(1, 14))
    value = st.integers(-4, 4).map(float) | st.floats(-100, 100).map(lambda v: round(v, 3))
    y, x = (np.array(draw(st.lists(value, min_size=size, max_size=size))) for _ in range(2))
    return y, x, np.array(draw(st.lists(st.floats(0.1, 4), min_size=size, max_size=size)))


@given(real_cases(), st.booleans())
def test_fit_of_means_agrees_with_scikit_learn(data, weighted):
    y, x, w = data
    weight = w if weighted else None
    fit = sr.corp(y, x, weight, functional="mean")
    expected = IsotonicRegression().fit_transform(x, y, sample_weight=weight)
    np.testing.assert_allclose(fit.cep, expected, rtol=1e-12, atol=1e-12)
    d = fit.decompose()
    errors = [np.average((forecast - y) ** 2, weights=weight) for forecast in (x, expected)]
    variance = np.average((y - np.average(y, weights=weight)) ** 2, weights=weight)
    assert d.name == "squared_error"
    assert (d.score, d.recalibrated, d.uncertainty) == pytest.approx(
        (*errors, variance), rel=1e-12, abs=1e-12
    )
    assert d.score == pytest.approx(d.miscalibration - d.discrimination + d.uncertainty, rel=1e-12, abs=1e-12)


@given(cases(weights=FRACTIONAL), st.booleans())
def test_mean_of_binary_outcomes_is_their_probability(data, weighted):
    y, p, w = data
    weight = w if weighted else None
    mean, probability = sr.corp(y, p, weight, functional="mean"), sr.corp(y, p, weight)
    np.testing.assert_array_equal(mean.blocks.x_min, probability.blocks.x_min)
    np.testing.assert_array_equal(mean.blocks.mean, probability.blocks.mean)
    ours, theirs = mean.decompose(), probability.decompose("brier")
    assert (ours.miscalibration, ours.discrimination, ours.uncertainty) == pytest.approx(
        (theirs.miscalibration, theirs.discrimination, theirs.uncertainty), abs=1e-14
    )


def test_means_are_decomposed_by_squared_error_only():
    fit = sr.corp([0.0, 2.5], [1.0, 2.0], functional="mean")
    with pytest.raises(sr.UsageError) as refusal:
        fit.decompose("log")
    assert str(refusal.value) == "Real outcomes are decomposed by their squared error; got score 'log'."


def test_murphy_components_of_real_outcomes_are_refused():
    """p(1 - p) is not the uncertainty of an outcome other than 0 or 1."""
    fit = sr.corp([0.0, 5.0], [0.2, 0.8], functional="mean")
    with pytest.raises(sr.UsageError) as refusal:
        fit.murphy()
    assert str(refusal.value) == (
        "Murphy's decomposition needs outcomes 0 and 1; this fit is of the mean of real outcomes."
    )


def test_bins_of_real_outcomes_have_a_sum_and_a_mean():
    bins = sr.corp([1.5, 0.5, 4.0], [10.0, 20.0, 30.0], functional="mean").bins
    assert list(bins.columns) == ["x_min", "x_max", "n", "sum", "mean"]
    assert bins.to_numpy().tolist() == [[10, 20, 2, 2, 1], [30, 30, 1, 4, 4]]


# Corners


@pytest.mark.parametrize("y", [0, 1])
def test_one_row(y):
    fit = sr.corp([y], [0.25])
    assert as_tuples(fit.blocks) == [(0.25, 0.25, 1, y)]
    d = fit.decompose("brier")
    assert (d.score, d.miscalibration, d.discrimination, d.uncertainty) == ((0.25 - y) ** 2,) * 2 + (0, 0)
    assert fit.forecast_type == "discrete"
    assert fit.recalibrate([0.0, 1.0]).tolist() == [y, y]


@pytest.mark.parametrize("y", [0, 1])
@pytest.mark.parametrize("score", ["brier", "log", "misclassification", "spherical"])
def test_one_class(y, score):
    """All of the score is miscalibration."""
    p = np.array([0.5, 0.25, 0.75])
    fit = sr.corp([y, y, y], p)
    assert as_tuples(fit.blocks) == [(0.25, 0.75, 3, 3 * y)]
    d = fit.decompose(score)
    assert d.miscalibration == d.score > 0
    assert (d.discrimination, d.uncertainty) == (0, 0)


def test_constant_forecast():
    fit = sr.corp([0, 1, 0, 0], [0.5] * 4)
    d = fit.decompose("brier")
    assert as_tuples(fit.blocks) == [(0.5, 0.5, 4, 1)]
    assert (d.score, d.miscalibration, d.discrimination) == (1 / 4, 1 / 4 - 3 / 16, 0)


def test_anti_correlated_forecast():
    fit = sr.corp([1, 1, 0, 0], [0.1, 0.2, 0.8, 0.9])
    d = fit.decompose("brier")
    assert as_tuples(fit.blocks) == [(0.1, 0.9, 4, 2)]
    assert (d.discrimination, d.uncertainty) == (0, 1 / 4)
    assert d.miscalibration == pytest.approx((0.81 + 0.64 + 0.64 + 0.81) / 4 - 1 / 4, rel=1e-14)


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        ([0.0, 0.01], "discrete"),
        ([0.1, 0.11], "continuous"),
        ([0.1, 0.1101], "discrete"),
        ([0.5, 0.5], "discrete"),
        ([0, 1, 0.995], "continuous"),
    ],
)
def test_forecasts_are_discrete_if_a_hundredth_apart(p, expected):
    """In floating point 0.11 - 0.1 falls just short of 0.01, and so it does in R."""
    assert sr.corp([0] * len(p), p).forecast_type == expected


def test_two_runs_of_fractional_cases_that_fall_are_one_block():
    """Means .8 and .1 fall and are merged to .45, which is above the .2 that follows."""
    y, p = [1, 0] * 3, [0.1, 0.1, 0.2, 0.2, 0.3, 0.3]
    fit = sr.corp(y, p, sample_weight=[0.8, 0.2, 0.1, 0.9, 0.2, 0.8])
    assert len(fit.blocks) == 1
    assert fit.blocks.mean[0] == pytest.approx(1.1 / 3, rel=1e-14)


# Sums before places


@pytest.mark.parametrize("weighted", [False, True])
def test_outcomes_before_places_are_those_of_running_totals(weighted):
    """Of places in any order, repeated, at both ends, and where nothing but events is left."""
    rng = np.random.default_rng(8)
    n = rng.random(40) if weighted else rng.integers(1, 5, 40)
    events = np.where(np.arange(40) > 30, n, n * rng.random(40) if weighted else rng.integers(0, n + 1))
    assert outcomes_before(n, events, np.array([7]))[0][0] == pytest.approx(events[:7].sum())
    places = np.append(rng.integers(0, 41, 12), [40, 0, 33, 33])
    for found, counts in zip(outcomes_before(n, events, places), (events, n - events), strict=True):
        running = np.append(0, np.cumsum(counts))
        np.testing.assert_allclose(found, running[np.append(places, 40)], rtol=1e-14)
    assert found[-1] == found[-2] == found[-3]  # no non-event is left from place 33 on


def test_no_cases_lie_before_a_place_among_none():
    nothing = np.empty(0, dtype=np.int64)
    assert [before.tolist() for before in outcomes_before(nothing, nothing, np.array([0]))] == [
        [0, 0],
        [0, 0],
    ]


# Mean scores of grouped cases


def test_only_outcomes_that_occurred_are_scored():
    """With infinite scores of others, of groups with one outcome, with both and without cases."""
    forecast = np.array([0.0, 0.3, 0.6, 1.0, 0.0, 0.8, 1.0])
    n, events = np.array([3, 2, 5, 4, 0, 2, 0]), np.array([0, 2, 3, 4, 0, 0, 0])
    p, y = forecast.repeat(n), np.concatenate([np.arange(k) < e for k, e in zip(n, events, strict=True)])
    for name in ("brier", "log", "spherical"):
        expected = get_score(name).function(y, p).mean()
        assert mean_at(resolve_score(name, {})[1], forecast, n, events) == pytest.approx(expected, rel=1e-14)
    assert mean_at(resolve_score("log", {})[1], np.array([0.0]), np.array([2]), np.array([1])) == np.inf
