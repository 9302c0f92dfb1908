"""Cases drawn in pieces: each case and outcome with its own probability, and as many as there were."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import scorereport as sr
from scorereport.reliability import draws as drawing
from scorereport.reliability.blocks import Blocks
from scorereport.reliability.draws import Redraw
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


def make_piece(probability, n=1):
    x = np.asarray(probability, dtype=float)
    return drawing.ForecastPiece.of(0, np.full(len(x), n), x)


@pytest.mark.parametrize("probability", [0.0, 1e-9, 2**-16, 0.3, 0.5, 1 - 2**-17, 1 - 2**-53, 1.0])
@pytest.mark.parametrize("between", [0.0, 0.25, 1 - 2**-53])
def test_the_probability_of_an_event_is_exact(probability, between):
    """Of the 2^16 patterns of bits, the whole part gives events; one more does with the remaining chance."""
    whole = min(int(probability * 2**16), 2**16 - 1)
    expected = whole + (between < probability * 2**16 - whole)
    assert (make_piece([probability]).draw(Counting(between), 2**16) == 0).sum() == expected
    assert drawing.EventChances.of(np.full(2**16, probability)).draw(Counting(between)).sum() == expected


def test_each_forecast_of_a_full_piece_has_the_same_probability():
    piece = make_piece(np.full(2**15, 0.5))
    forecast = piece._draw_forecasts(Counting(0.5), 2**16)
    assert_array_equal(np.bincount(forecast), np.full(2**15, 2))


@pytest.mark.parametrize("n", [1, 5])
def test_forecasts_of_any_number_have_the_same_probability(n):
    piece = make_piece(np.full(1000, 0.5), n)
    drawn = np.bincount(piece._draw_forecasts(random_stream(1, 2), 10**6), minlength=1000)
    spread = ((drawn - 1000) ** 2 / 1000).sum()  # chi-square of 999
    assert 999 - 5 * np.sqrt(2 * 999) < spread < 999 + 5 * np.sqrt(2 * 999)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_certain_outcomes_are_always_drawn(probability):
    n = 100_000
    drawn = certain_and_others(n, probability).redraw_cases(random_stream(5, 1))
    at_end = drawn.events[drawn.position < n // 2]
    assert at_end.all() if probability else not at_end.any()
    others = drawn.events[drawn.position >= n // 2]
    assert others.mean() == pytest.approx(0.5, abs=0.02)


def certain_and_others(n, probability):
    """Half of n forecasts with one probability, the others with one half."""
    x = np.arange(n) / n
    ones = np.ones(n, dtype=np.int64)
    distinct = Blocks(x_min=x, x_max=x, n=ones, events=0 * ones)
    return make_simulation(None, distinct, np.where(x < 0.5, probability, 0.5), None, by_count=True)


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("ties", [False, True])
def test_cases_are_drawn_with_replacement_from_all_pieces(ties, monkeypatch):
    """Moments of a multinomial distribution up to the second, pieces of 8 forecasts, the last of 4."""
    monkeypatch.setattr(drawing, "_BITS", 3)
    rng = np.random.default_rng(1)
    n = rng.integers(1, 5, 20) if ties else np.ones(20, dtype=np.int64)
    total, p, draws = int(n.sum()), rng.random(20), 6000
    distinct = Blocks(x_min=np.arange(20.0), x_max=np.arange(20.0), n=n, events=0 * n)
    simulation = make_simulation(None, distinct, p, None, by_count=True)
    cases, events = np.zeros((draws, 20)), np.zeros((draws, 20))
    for number in range(draws):
        drawn = simulation.redraw_cases(random_stream(3, number))
        assert len(drawn.events) == total
        cases[number] = np.bincount(drawn.position, minlength=20)
        events[number] = np.bincount(drawn.position, weights=drawn.events, minlength=20)
    error = 5 / np.sqrt(draws)
    np.testing.assert_allclose(cases.mean(axis=0), n, atol=error * np.sqrt(n.max()))
    np.testing.assert_allclose(events.mean(axis=0), n * p, atol=error * np.sqrt(n.max()))
    np.testing.assert_allclose(
        np.cov(cases.T), np.diag(n) - np.outer(n, n) / total, atol=error * 1.5 * n.max()
    )
    np.testing.assert_allclose(
        np.cov(events.T), np.diag(n * p) - np.outer(n * p, n * p) / total, atol=error * 1.5 * n.max()
    )


@pytest.mark.parametrize("rows", [50, 40_000])
def test_draws_are_in_canonical_order(rows):
    rng = np.random.default_rng(rows)
    x = rng.random(rows).round(4)
    simulation = sr.corp(rng.random(rows) < x, x).sample.simulation(np.unique(x))
    drawn = simulation.redraw_cases(random_stream(8, 0))
    if drawn.n is None:
        position = drawn.position.astype(int)
        assert_array_equal(np.lexsort((~drawn.events, position)), np.arange(rows))


@pytest.mark.parametrize("happens", ["0", "1", "01", "10", "0101", "1100", "110100100111", "0011"])
def test_a_fit_of_cases_is_that_of_their_counts(happens):
    events = np.array([outcome == "1" for outcome in happens])
    ones = np.ones(len(events), dtype=np.int64)
    by_case, by_count = Redraw(None, None, events).fit(), Redraw(None, ones, events.astype(int)).fit()
    entries = np.arange(len(events))
    assert_array_equal(by_case.at_entries(entries), by_count.at_entries(entries))
    assert_array_equal(by_case.at(entries, entries, None), by_count.at(entries, entries, None))
    assert by_case.n.sum() == len(events)
    assert by_case.events.sum() == events.sum()
