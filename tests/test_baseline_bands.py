"""Honest bands of a baseline: coverage, independent bounds, and shape."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import beta

from scorereport.errors import UsageError
from scorereport.inference.baseline_bands import find_baseline_band
from scorereport.reliability.sampling import random_stream
from scorereport.results.tallies import EDGES, find_bins


def count(forecast, outcome):
    place, bins = find_bins(forecast), len(EDGES) + 1
    return np.bincount(place, minlength=bins), np.bincount(place, weights=outcome, minlength=bins)


def bound_by_brute_force(cases, events, level):
    """The bounds in each bin from those of Clopper and Pearson of every run, by beta quantiles."""
    held = np.flatnonzero(cases)
    error = (1 - level) / (len(held) * (len(held) + 1))
    lower, upper = np.zeros(len(cases)), np.ones(len(cases))
    for first in range(len(held)):
        for last in range(first, len(held)):
            run = held[first : last + 1]
            n, k = cases[run].sum(), events[run].sum()
            low, high = beta.ppf(error, k, n - k + 1), beta.isf(error, k + 1, n - k)
            lower[held[last] + 1 :] = np.fmax(lower[held[last] + 1 :], low)  # NaN for bounds of 0 and 1
            upper[: held[first]] = np.fmin(upper[: held[first]], high)
    return lower, upper


def test_bounds_are_those_of_all_runs_of_bins():
    rng = random_stream(27, 1)
    forecast = expit(rng.normal(-1, 0.5, 400))
    cases, events = count(forecast, rng.random(400) < forecast)
    band = find_baseline_band(EDGES, cases, events, level=0.975)
    lower, upper = bound_by_brute_force(cases, events, 0.975)
    assert band.lower == pytest.approx(lower, rel=1e-9, abs=1e-12)
    assert band.upper == pytest.approx(upper, rel=1e-9)


def test_bound_at_a_forecast_leaves_out_its_own_bin():
    band = find_baseline_band(np.array([0.5]), np.array([0, 1000.0]), np.array([0, 900.0]), level=0.95)
    assert band.bounds([0.2])[1] < 1
    assert band.bounds([0.5]) == (0, 1)  # a forecast at an edge is in the bin to its right
    assert band.bounds([0.9]) == (0, 1)


CURVES = {
    "calibrated": lambda p: p,
    "steps inside bins": lambda p: np.searchsorted(np.quantile(EDGES, np.linspace(0, 1, 9)), p) / 10 + 0.05,
    "one jump": lambda p: np.where(p < 0.31, 0.05, 0.8),
    "constant": lambda p: np.full_like(p, 0.2),
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("rows", [100, 2000])
def test_band_covers_any_curve_that_does_not_fall(name, rows):
    """At level 0.8 the band fails in at most a fifth of the samples, five standard errors allowed."""
    rng, draws, at = random_stream(27, 2, rows), 300, np.linspace(0.001, 0.999, 999)
    truth, misses = CURVES[name](at), 0
    for _ in range(draws):
        forecast = expit(rng.normal(-1, 1.2, rows))
        cases, events = count(forecast, rng.random(rows) < CURVES[name](forecast))
        lower, upper = find_baseline_band(EDGES, cases, events, level=0.8).bounds(at)
        misses += bool(((truth < lower) | (truth > upper)).any())
    assert misses <= 0.2 * draws + 5 * np.sqrt(0.16 * draws)


counts = st.lists(st.tuples(st.integers(0, 60), st.floats(0, 1)), min_size=1, max_size=len(EDGES) + 1).map(
    lambda found: (np.array([n for n, _ in found]), np.array([int(n * share) for n, share in found]))
)


def spread(cases, events):
    filled = np.zeros((2, len(EDGES) + 1))
    filled[:, : len(cases)] = cases, events
    return filled


@given(counts, st.floats(0.5, 0.999))
def test_bounds_are_probabilities_that_do_not_fall(found, level):
    band = find_baseline_band(EDGES, *spread(*found), level=level)
    for bound in (band.lower, band.upper):
        assert (np.diff(bound) >= 0).all()
        assert ((bound >= 0) & (bound <= 1)).all()
    assert (band.lower[0], band.upper[-1]) == (0, 1)


@given(counts, st.floats(0.5, 0.999), st.floats(0.05, 1))
def test_band_is_wider_with_fewer_cases_of_the_same_shares(found, level, share):
    cases, events = spread(*found)
    many = find_baseline_band(EDGES, cases, events, level=level)
    few = find_baseline_band(EDGES, share * cases, share * events, level=level)
    assert (few.lower <= many.lower + 1e-12).all()
    assert (few.upper >= many.upper - 1e-12).all()


def test_crossing_bounds_show_a_curve_that_falls():
    cases, events = np.array([500, 500, 500.0]), np.array([450, 250, 20.0])
    assert find_baseline_band(np.array([0.3, 0.6]), cases, events, level=0.95).is_crossing
    assert not find_baseline_band(np.array([0.3, 0.6]), cases, events[::-1], level=0.95).is_crossing


def test_counts_must_fit_the_bins():
    with pytest.raises(UsageError, match="for each of 3 bins; got 2 and 2"):
        find_baseline_band(np.array([0.3, 0.6]), np.ones(2), np.zeros(2), level=0.95)
    with pytest.raises(UsageError, match="finite numbers of at least 0"):
        find_baseline_band(np.array([0.3]), np.array([1, np.nan]), np.zeros(2), level=0.95)


@pytest.mark.sweep
def test_band_of_clusters_covers_with_their_effective_number():
    """Clusters of 10 rows with a common effect (about ICC .3), counted as effective cases."""
    from scorereport.history.trend.snapshot import effective_size
    from scorereport.reliability.sampling import SamplingUnits

    rng, draws, misses = random_stream(27, 3), 200, 0
    cluster = np.repeat(np.arange(150), 10)
    at = np.linspace(0.001, 0.999, 999)
    nodes, node_weights = np.polynomial.hermite_e.hermegauss(40)
    truth = expit(logit(at)[:, None] + 1.2 * nodes) @ node_weights / node_weights.sum()
    for _ in range(draws):
        forecast = expit(rng.normal(-1, 1.2, len(cluster)))
        chance = expit(logit(forecast) + 1.2 * rng.normal(size=150)[cluster])
        outcome = (rng.random(len(cluster)) < chance).astype(np.int64)
        cases, events = count(forecast, outcome)
        share = effective_size(SamplingUnits(rows=len(cluster), cluster=cluster), outcome) / len(cluster)
        lower, upper = find_baseline_band(EDGES, share * cases, share * events, level=0.8).bounds(at)
        misses += bool(((truth < lower) | (truth > upper)).any())
    assert misses <= 0.2 * draws + 5 * np.sqrt(0.16 * draws)
