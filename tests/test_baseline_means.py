"""Bounds of the mean event probability that a baseline allows, and bets on means beyond them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import expit
from scipy.stats import beta

from scorereport.inference.baseline_bands import find_baseline_band
from scorereport.inference.baseline_bets import bet_on_mean
from scorereport.inference.baseline_means import find_mean_bounds
from scorereport.reliability.sampling import SamplingUnits

EDGES = expit(np.arange(-4, 4.1, 0.125))
BINS = len(EDGES) + 1


def count(forecast, weights=None):
    place = np.searchsorted(EDGES, forecast, side="right")
    return np.bincount(place, weights=weights, minlength=BINS).astype(float)


def draw(rng, rows, find_curve=lambda x: x):
    x = rng.normal(-0.5, 1.2, rows)
    return expit(x), (rng.random(rows) < expit(find_curve(x))).astype(float)


def solve_directly(cases, events, counts, level):
    """The same bounds from constraints on the probabilities themselves, with bounds of beta distributions."""
    held = np.flatnonzero(cases)
    size, middle = len(held), np.cumsum(cases[held]) - cases[held] / 2
    runs = {
        tuple(np.flatnonzero(np.minimum(middle / cases.sum() * parts, parts - 1e-9) // 1 == number))
        for parts in (1, 2, 4, 8)
        for number in range(parts)
    } - {()}
    tail = (1 - level) / (2 * len(runs))
    rows, limits = [], []
    for place in range(size - 1):
        row = np.zeros(size)
        row[place], row[place + 1] = 1, -1
        rows.append(row)
        limits.append(0)
    for run in map(list, runs):
        n, k = cases[held[run]].sum(), events[held[run]].sum()
        row = np.zeros(size)
        row[run] = cases[held[run]] / n
        rows += [row, -row]
        limits += [
            1 if k == n else beta.ppf(1 - tail, k + 1, n - k),
            0 if k == 0 else -beta.ppf(tail, k, n - k + 1),
        ]
    share = counts / counts.sum()
    ends = []
    for is_upper in (True, False):
        gain, rest = np.zeros(size), 0.0
        for place, weight in enumerate(share):
            beside = held[held > place][:1] if is_upper else held[held < place][-1:]
            if len(beside):
                gain[list(held).index(beside[0])] += weight
            elif is_upper:
                rest += weight
        sign = -1 if is_upper else 1
        found = linprog(sign * gain, A_ub=np.array(rows), b_ub=np.array(limits), bounds=(0, 1))
        ends.append(sign * found.fun + rest)
    return ends[1], ends[0]


@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_those_of_a_direct_linear_program(seed):
    rng = np.random.default_rng(seed)
    forecast, outcome = draw(rng, int(rng.integers(30, 3000)))
    counts = count(draw(rng, 200)[0])
    cases, events = count(forecast), count(forecast, outcome)
    found = find_mean_bounds(cases, events, counts, level=0.95)
    assert found == pytest.approx(solve_directly(cases, events, counts, 0.95), abs=1e-5)


def test_bounds_contain_the_mean_of_any_curve_that_does_not_fall():
    rng = np.random.default_rng(1)
    misses = 0
    for _ in range(60):
        a, b = rng.normal(0, 1), rng.uniform(0, 2)
        forecast, outcome = draw(rng, 800, lambda x, a=a, b=b: a + b * x)
        others = expit(rng.normal(rng.normal(-0.5, 1), 1, 300))
        lower, upper = find_mean_bounds(count(forecast), count(forecast, outcome), count(others), level=0.9)
        mean = expit(a + b * np.log(others / (1 - others))).mean()
        misses += not lower <= mean <= upper
    assert misses <= 12  # of 60 with probability at most 0.1 each, more than 12 are less likely than 1 in 100


def test_bounds_narrow_with_the_baseline_and_are_closer_than_the_band():
    widths = []
    for rows in (300, 3_000, 30_000):
        forecast, outcome = draw(np.random.default_rng(2), rows)
        cases, events = count(forecast), count(forecast, outcome)
        lower, upper = find_mean_bounds(cases, events, cases, level=0.95)
        widths.append(upper - lower)
        band = find_baseline_band(EDGES, cases, events, level=0.95)
        of_band = np.subtract(*[np.average(bound, weights=cases) for bound in (band.upper, band.lower)])
        assert upper - lower < of_band
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize(
    ("cases", "events", "counts"),
    [
        (np.zeros(4), np.zeros(4), np.ones(4)),
        (np.ones(4), np.ones(4), np.zeros(4)),
        (np.full(4, 1e5), np.array([9e4, 5e4, 2e4, 1e3]), np.ones(4)),
    ],
    ids=["no baseline", "no rows", "a curve that falls"],
)
def test_without_information_all_means_are_allowed(cases, events, counts):
    assert find_mean_bounds(cases, events, counts, level=0.95) == (0.0, 1.0)


def test_bets_on_the_mean_are_e_values_for_rows_of_different_probabilities():
    forecast, outcome = draw(np.random.default_rng(3), 500)
    band = find_baseline_band(EDGES, count(forecast), count(forecast, outcome), level=0.95)
    rows = np.array([0.2, 0.3, 0.5, 0.6, 0.7])
    units = SamplingUnits(rows=len(rows))
    lower, upper = band.mean_bounds(band.count(rows, np.ones(len(rows))))
    for probability in ([lower] * 5, [upper] * 5, [0.1, 0.2, upper, upper, 2 * upper - 0.3], [0.5] * 5):
        assert lower <= np.mean(probability) <= upper
        mean = 0.0
        for y in product((0.0, 1.0), repeat=5):
            chance = np.prod([p if one else 1 - p for one, p in zip(y, probability, strict=True)])
            bets = bet_on_mean(np.array(y), units, lower, upper)
            assert sum(bet.weight for bet in bets) == pytest.approx(1)
            mean += chance * sum(bet.weight * np.exp(bet.log_evidence) for bet in bets)
        assert mean <= 1 + 1e-9


def test_bets_on_the_mean_find_a_shift_that_the_band_contains():
    rng = np.random.default_rng(4)
    forecast, outcome = draw(rng, 20_000)
    band = find_baseline_band(EDGES, count(forecast), count(forecast, outcome), level=0.95)
    rows, shifted = draw(rng, 3_000, lambda x: x + 0.7)
    units = SamplingUnits(rows=len(rows))
    bets = bet_on_mean(shifted, units, *band.mean_bounds(band.count(rows, units.row_weight)))
    assert np.log(sum(bet.weight * np.exp(bet.log_evidence) for bet in bets)) > 5
    same, stable = draw(rng, 3_000)
    bounds = band.mean_bounds(band.count(same, units.row_weight))
    assert all(bet.log_evidence < 1 for bet in bet_on_mean(stable, units, *bounds))
