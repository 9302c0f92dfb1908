"""Cases drawn in pieces: each case and outcome with its own probability, and as many as there were."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from scorereport.reliability import draws as drawing
from scorereport.reliability.blocks import Blocks
from scorereport.reliability.cells import CellSimulation
from scorereport.reliability.draws import Redraws
from scorereport.reliability.sampling import random_stream
from scorereport.reliability.simulation import make_simulation

EACH_OF_16_BITS = np.arange(2**16, dtype=np.uint16)


class Counting:
    """A stand-in for random numbers: every pattern of 16 bits once, and one number between 0 and 1."""

    def __init__(self, between):
        self.bit_generator, self.between = self, between

    def random_raw(self, words):
        return np.tile(EACH_OF_16_BITS.view(np.uint64), -(-words // 2**14))[:words].copy()

    def random(self, size):
        return np.full(size, self.between)

    def standard_normal(self, size):
        return np.zeros(size)


@pytest.mark.parametrize("probability", [0.0, 1e-9, 2**-16, 0.3, 0.5, 1 - 2**-17, 1 - 2**-53, 1.0])
@pytest.mark.parametrize("between", [0.0, 0.25, 1 - 2**-53])
def test_the_probability_of_an_event_is_exact(probability, between):
    """Of the 2^16 patterns of bits, the whole part gives events; one more does with the remaining chance."""
    whole = min(int(probability * 2**16), 2**16 - 1)
    expected = whole + (between < probability * 2**16 - whole)
    one = drawing.EventChances.of(np.array([probability]))
    assert one.draw(Counting(between), np.zeros(2**16, dtype=np.intp)).sum() == expected
    assert one.draw_all(Counting(between), 2**16).sum() == expected
    many = drawing.EventChances.of(np.full(2**16, probability))
    assert many.draw_all(Counting(between), 1).sum() == expected


def test_all_places_have_the_same_probability():
    drawn = np.bincount(drawing.draw_places(random_stream(1, 2), 1000, 10**6), minlength=1000)
    spread = ((drawn - 1000) ** 2 / 1000).sum()  # chi-square of 999
    assert 999 - 5 * np.sqrt(2 * 999) < spread < 999 + 5 * np.sqrt(2 * 999)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_certain_outcomes_are_always_drawn(probability):
    n = 100_000
    drawn = certain_and_others(n, probability).redraw_cases(random_stream(5, 1))
    (cases,), (events,) = drawn
    assert_array_equal(events[: n // 2], cases[: n // 2] * int(probability))
    assert events[n // 2 :].sum() / cases[n // 2 :].sum() == pytest.approx(0.5, abs=0.02)


def certain_and_others(n, probability):
    """Half of n forecasts with one probability, the others with one half."""
    x = np.arange(n) / n
    ones = np.ones(n, dtype=np.int64)
    distinct = Blocks(x_min=x, x_max=x, n=ones, events=0 * ones)
    return make_simulation(None, distinct, np.where(x < 0.5, probability, 0.5), None, by_count=True)


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("ties", [False, True])
def test_cases_are_drawn_with_replacement(ties):
    """Moments of a multinomial distribution up to the second."""
    rng = np.random.default_rng(1)
    n = rng.integers(1, 5, 20) if ties else np.ones(20, dtype=np.int64)
    total, p, draws = int(n.sum()), rng.random(20), 6000
    distinct = Blocks(x_min=np.arange(20.0), x_max=np.arange(20.0), n=n, events=0 * n)
    simulation = make_simulation(None, distinct, p, None, by_count=True)
    cases, events = simulation.redraw_cases(random_stream(3), draws)
    assert_array_equal(cases.sum(axis=1), total)
    error = 5 / np.sqrt(draws)
    np.testing.assert_allclose(cases.mean(axis=0), n, atol=error * np.sqrt(n.max()))
    np.testing.assert_allclose(events.mean(axis=0), n * p, atol=error * np.sqrt(n.max()))
    np.testing.assert_allclose(
        np.cov(cases.T), np.diag(n) - np.outer(n, n) / total, atol=error * 1.5 * n.max()
    )
    np.testing.assert_allclose(
        np.cov(events.T), np.diag(n * p) - np.outer(n * p, n * p) / total, atol=error * 1.5 * n.max()
    )


@pytest.mark.parametrize("happens", ["0", "1", "01", "10", "0101", "1100", "110100100111", "0011"])
def test_a_fit_of_cases_is_that_of_their_counts(happens):
    events = np.array([outcome == "1" for outcome in happens])
    ones = np.ones(len(events), dtype=np.int64)
    samples = np.array([events, events])
    by_case, by_count = Redraws(None, samples).fit(), Redraws(ones, samples.astype(int)).fit()
    entries = np.arange(len(events))
    assert_array_equal(by_case.at_entries(entries), by_count.at_entries(entries))
    assert_array_equal(by_case.at(entries, entries, entries), by_count.at(entries, entries, entries))
    assert by_case.n.sum() == 2 * len(events)
    assert by_case.events.sum() == 2 * events.sum()


@pytest.mark.parametrize("n", [[1], [3], [1, 1], [2, 1, 3], [1, 4, 1, 1], [5, 2]])
def test_events_of_ties_are_counted_by_forecast(n):
    """Every second forecast is certain; the draws of the others are those of their cases, one by one."""
    n = np.array(n)
    p = np.where(np.arange(len(n)) % 2, 1.0, 0.4)
    x = np.arange(len(n)) / len(n)
    distinct = Blocks(x_min=x, x_max=x, n=n, events=0 * n)
    simulation = make_simulation(None, distinct, p, None, by_count=True)
    cases, events = simulation.redraw_outcomes(random_stream(4), 50)
    happens = np.broadcast_to(1, (50, len(n))) if cases is None else cases
    assert_array_equal(np.broadcast_to(happens, (50, len(n)))[0], n)
    by_case = drawing.EventChances.of(p.repeat(n)).draw_all(random_stream(4), 50)
    forecast = np.repeat(np.arange(len(n)), n)
    assert_array_equal(events, [np.bincount(forecast, one, len(n)) for one in by_case])
    assert_array_equal(events[:, 1::2], np.broadcast_to(n[1::2], (50, len(n) // 2)))


def test_bits_that_do_not_decide_are_decided_by_the_probability_of_their_case():
    """Pattern 1 of 16 bits is that of the second case, whose probability lies halfway between 1 and 2."""
    chances = drawing.EventChances.of(np.array([0.0, 1.5 * 2**-16]))
    drawn = chances.draw_all(Counting(0.25), 2**15)
    assert np.argwhere(drawn).tolist() == [[0, 1]]
    assert not chances.draw_all(Counting(0.75), 2**15).any()


@pytest.mark.parametrize(("between", "expected"), [(0.0, 1), (0.39, 1), (0.41, 0), (0.999, 0)])
def test_rare_counts_of_cells_have_their_mean(between, expected):
    """Of 2^16 patterns 0.4 are events: one pattern is if the random number is below 0.4, else none."""
    chance = 0.4 * 2**-16
    cell = Blocks(x_min=np.array([0.5]), x_max=np.array([0.5]), n=np.array([1]), events=np.array([0]))
    simulation = CellSimulation(distinct=cell, probability=np.array([chance]))
    assert simulation.redraw_outcomes(Counting(between), 2**16).events.sum() == expected


@pytest.mark.parametrize("seed", range(5))
def test_weights_do_not_lead_to_means_beyond_one(seed):
    """A few non-events at the start and a few events at the end, with many cases with weights between."""
    rng = np.random.default_rng(seed)
    n = rng.random((1, 120_000)) + 0.1
    happens = rng.random(n.shape) < 0.5
    happens[:, :3], happens[:, -6:-3], happens[:, -3:] = False, False, True
    means = Redraws(n, np.where(happens, n, 0.0)).fit().mean
    assert (means[0], means[-1]) == (0.0, 1.0)


@pytest.mark.parametrize("is_table", [False, True])
def test_small_rises_of_event_rates_are_kept(is_table):
    """Rates that rise by a millionth are blocks of their own; if they fall by it, they are one block."""
    n, rising = np.full(50, 10**6), 500_000 + np.arange(50)
    fits = Redraws(np.stack([n, n]) if is_table else n, np.stack([rising, rising[::-1]])).fit()
    assert_array_equal(fits.first, np.arange(51))
    assert_array_equal(fits.n, [*n, n.sum()])
    assert_array_equal(fits.events, [*rising, rising.sum()])
