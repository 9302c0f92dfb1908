"""Confidence sequences of a mean score, and the mixture that they invert."""

from __future__ import annotations

import json
from itertools import pairwise, product
from math import log

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import gamma as gamma_function
from scipy.special import gammainc

from scorereport.errors import InternalError, UsageError
from scorereport.inference import confidence_sequences
from scorereport.inference.confidence_sequences import (
    choose_rho,
    find_boundary,
    find_confidence_sequence,
    log_mixture,
)
from scorereport.inference.score_bets import ScoreSums, sum_scores
from scorereport.reliability.sampling import SamplingUnits, random_stream

#: seqcomp 0.3.0, with c = 2, v_opt = 10 and level 95 %, on a stream of differences: S and V after some rows,
#: the log of the mixture, and the number of rows times half the width of the interval.
SEQCOMP = np.array(
    [
        [0.0932036155323538, 0.00868691394791, 0.0309158740424953, 8.25715868561176],
        [2.96676785361322, 1.61522736826, 0.323387528834015, 10.9675839944943],
        [17.5042163136043, 9.73939232806, 3.74350510007684, 17.3613167519913],
        [31.4028410294313, 20.4912415726, 6.87999942224452, 22.4550490289677],
    ]
)


def integrate_mixture(s, v, c, rho):
    """The mixture from its definition in λ, by adaptive quadrature around the largest value."""
    a = rho / c**2
    constant = log(c) + a * log(a) - log(gammainc(a, a)) - log(gamma_function(a))

    def log_value(rate):
        u = 1 - c * rate
        psi = (-np.log(u) - c * rate) / c**2
        return rate * s - psi * v + constant - a * u + (a - 1) * np.log(u)

    grid = (1 - np.geomspace(1, 1e-14, 20_001)) / c
    values = log_value(grid)
    peak = values.max()
    near = grid[values > peak - 50]
    points = np.linspace(near[0], near[-1], 12)
    parts = [
        quad(lambda x: np.exp(log_value(x) - peak), *pair, epsabs=0, epsrel=1e-11)[0]
        for pair in pairwise(points)
    ]
    return peak + log(sum(parts))


CASES = [
    (s, v, c, rho)
    for (s, v) in [
        (0, 0),
        (3, 1),
        (-3, 1),
        (20, 5),
        (-20, 5),
        (-200, 40),
        (400, 300),
        (2000, 100),
        (-3000, 900),
    ]
    for (c, rho) in [(2, 6), (1, 1.5), (1, 30)]
]


@pytest.mark.parametrize(("s", "v", "c", "rho"), CASES)
def test_the_mixture_is_its_integral_on_both_sides(s, v, c, rho):
    """Also where c S + V + ρ is negative, and where the mixture exceeds the largest float."""
    assert log_mixture(s, v, scale=c, rho=rho) == pytest.approx(
        integrate_mixture(s, v, c, rho), abs=1e-7, rel=1e-8
    )


def test_the_cases_contain_both_branches_and_values_beyond_floats():
    z = np.array([c * s + v + rho for s, v, c, rho in CASES])
    found = [float(log_mixture(s, v, scale=c, rho=rho)) for s, v, c, rho in CASES]
    assert (z <= 0).any()
    assert (z > 0).any()
    assert max(found) > 709


def test_quadrature_and_closed_form_agree_where_both_hold(monkeypatch):
    s, v = np.meshgrid([-30.0, -5.0, -1.0, -0.1], [0.5, 5.0, 200.0])
    closed = log_mixture(s, v, scale=1, rho=3)
    monkeypatch.setattr(confidence_sequences, "_LEAST_GAMMA", 2.0)
    assert_allclose(log_mixture(s, v, scale=1, rho=3), closed, atol=1e-9)


def test_the_mixture_is_one_at_the_start_and_falls_with_the_variance():
    assert log_mixture(0, 0, scale=1, rho=0.7) == pytest.approx(0, abs=1e-12)
    v = np.linspace(0, 50, 101)
    for s in (-30, 0, 30):
        assert (np.diff(log_mixture(s, v, scale=1, rho=0.7)) < 0).all()
    assert (np.diff(log_mixture(np.linspace(-90, 90, 301), 9, scale=1, rho=0.7)) > 0).all()


def test_a_wrong_mixture_is_refused(monkeypatch):
    monkeypatch.setattr(confidence_sequences, "gammaln", lambda x: np.asarray(x) * 3.0)
    with pytest.raises(InternalError, match="exceeds its bound"):
        log_mixture([20.0, 500.0], [3.0, 50.0], scale=1, rho=0.7)


# ---- seqcomp ----


def test_mixture_and_boundary_are_the_recorded_ones_of_seqcomp():
    s, v, expected, half = SEQCOMP.T
    rho = choose_rho(10, 0.025)
    assert_allclose(log_mixture(s, v, scale=2, rho=rho), expected, atol=1e-8)
    assert_allclose(find_boundary(v, 0.025, scale=2, rho=rho), half, rtol=1e-7)


def test_mixture_and_intervals_are_those_of_seqcomp(shared):
    case = json.loads((shared / "r_answers.json").read_text())["sequential"][0]
    y, a, b = (np.array(case[name]) for name in "yab")
    d, at = (b - y) ** 2 - (a - y) ** 2, np.array(case["at"]) - 1
    center = np.append(0.0, np.cumsum(d)[:-1] / np.arange(1, len(d)))
    s, v, rho = np.cumsum(d)[at], np.cumsum((d - center) ** 2)[at], choose_rho(10, 0.025)
    expected = case["eprocess_c2_vopt10"]
    assert_allclose(log_mixture(s, v, scale=2, rho=rho), expected["log_e_pq"], atol=1e-8)
    is_sound = np.array(expected["e_qp"]) > 1e-15  # seqcomp is wrong where c S + V + ρ is not positive
    assert is_sound.any()
    assert not is_sound.all()
    assert ((2 * -s + v + rho <= 0) == ~is_sound).all()
    losing = log_mixture(-s, v, scale=2, rho=rho)
    assert_allclose(losing[is_sound], np.array(expected["log_e_qp"])[is_sound], atol=1e-8)
    assert ((losing[~is_sound] > -7) & (losing[~is_sound] < -0.5)).all()
    interval = case["bernstein_c2"]
    half = find_boundary(v, 0.025, scale=2, rho=rho) / (at + 1)
    assert_allclose(s / (at + 1) - half, interval["lower"], atol=1e-7)
    assert_allclose(s / (at + 1) + half, interval["upper"], atol=1e-7)


# ---- Confidence sequences ----


def sums_of(values, **options):
    return sum_scores(np.asarray(values, dtype=float), SamplingUnits(rows=len(values), **options))


@pytest.fixture
def audits():
    rng = random_stream(27, 10)
    return [rng.beta(1, 5, n) for n in (100, 40, 300, 1, 80)]


def test_intervals_contain_the_means_with_a_mixture_below_the_threshold(audits):
    """Each end from its definition: the mean at which the mixture, by adaptive quadrature, is 2/α."""
    found = find_confidence_sequence([sums_of(audit) for audit in audits], 0.9)
    rho, spread = choose_rho(0.03 * 100, 0.05), 0.0
    for number, interval in enumerate(found, 1):
        before = np.concatenate([[], *audits[: number - 1]])
        center = before.mean() if len(before) else 0.0
        spread += ((audits[number - 1] - center) ** 2).sum()
        values = np.concatenate(audits[:number])
        assert interval.estimate == pytest.approx(values.mean())
        ends = [end for end in (interval.lower, interval.upper) if 0 < end < 1]
        assert len(ends) == 2
        for end in ends:
            total = abs((values - end).sum())
            assert integrate_mixture(total, spread, 1, rho) == pytest.approx(log(20), abs=1e-5)


def test_the_mixture_of_two_audits_is_at_most_one_on_average():
    """Enumeration of six binary scores with unequal means; the second audit is centred at the first one."""
    means = np.array([0.2, 0.5, 0.1, 0.3, 0.7, 0.05])
    for sign in (1, -1):
        found = without_variance = 0.0
        for draw in product([0.0, 1.0], repeat=6):
            x = np.array(draw)
            first, second = sums_of(x[:3]), sums_of(x[3:])
            spread = first.square_deviations(0.0) + second.square_deviations(first.total / first.count)
            share = np.prod(np.where(x == 1, means, 1 - means))
            total = sign * (x - means).sum()
            found += share * np.exp(log_mixture(total, spread, scale=1, rho=0.5))
            without_variance += share * np.exp(log_mixture(total, 0.0, scale=1, rho=0.5))
        assert found < 1 < without_variance


def test_neither_the_order_of_rows_nor_later_audits_matter(audits):
    found = find_confidence_sequence([sums_of(audit) for audit in audits], 0.95)
    again = find_confidence_sequence([sums_of(audit[::-1]) for audit in audits], 0.95)
    assert_allclose(again, found, rtol=1e-9)
    assert_array_equal(find_confidence_sequence([sums_of(audit) for audit in audits[:3]], 0.95), found[:3])


def test_a_higher_level_and_a_mean_that_drifts(audits):
    sums = [sums_of(audit) for audit in audits]
    wide, narrow = (np.array(find_confidence_sequence(sums, level)) for level in (0.99, 0.8))
    assert (wide[:, 1] < narrow[:, 1]).all()
    assert (wide[:, 2] > narrow[:, 2]).all()
    drifted = find_confidence_sequence([*sums, *[sums_of(np.full(500, 0.8))] * 20], 0.95)
    assert drifted[-1].lower > drifted[0].upper  # so the intervals are not intersected


def test_weights_count_relative_to_the_largest(audits):
    weight = random_stream(27, 11).random(100)
    found = find_confidence_sequence([sums_of(audits[0], weight=weight)], 0.95)[0]
    plain = find_confidence_sequence([sums_of(audits[0])], 0.95)[0]
    assert found.estimate == pytest.approx(np.average(audits[0], weights=weight))
    assert found.upper - found.lower > plain.upper - plain.lower


@pytest.mark.parametrize("value", [0.0, 1.0, 0.3])
def test_equal_scores_and_few_rows(value):
    for rows in (1, 2, 5000):
        for interval in find_confidence_sequence([sums_of(np.full(rows, value))] * 3, 0.95):
            assert 0 <= interval.lower <= value <= interval.upper <= 1
    first, *_, last = find_confidence_sequence([sums_of(np.full(5000, value))] * 24, 0.95)
    assert last.upper - last.lower < 0.02 + (0.03 if value == 1 else 0)
    assert last.upper - last.lower < first.upper - first.lower


def test_audits_without_rows_change_nothing(audits):
    empty = ScoreSums(count=0, count_squares=0, total=0, total_squares=0, squares=0)
    unknown = find_confidence_sequence([empty, empty], 0.95)
    assert [interval[1:] for interval in unknown] == [(0, 1), (0, 1)]
    assert np.isnan(unknown[0].estimate)
    some = find_confidence_sequence([empty, sums_of(audits[0]), empty, sums_of(audits[1])], 0.95)
    assert some[0][1:] == (0, 1)
    assert some[1] == some[2]
    assert_array_equal(some[1::2], find_confidence_sequence([sums_of(a) for a in audits[:2]], 0.95))
    assert find_confidence_sequence([], 0.95) == ()
    with pytest.raises(UsageError, match="`level` must lie in"):
        find_confidence_sequence([], 95)
