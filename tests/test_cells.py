"""Cells of neighbouring forecasts: what they hold, the distribution of their draws, and their bands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom, poisson

import scorereport as sr
from scorereport.evaluation.model_curves import draw_band
from scorereport.inference import calibration_null
from scorereport.inference.calibration_null import draw_null, judge_miscalibration
from scorereport.inference.losses import resolve_measure
from scorereport.reference.comparison_records import Verdict
from scorereport.reference.model_comparison import compare_again
from scorereport.reliability import asymptotic_bands, band_bounds, bands
from scorereport.reliability.band_bounds import pointwise_bounds, redraw_curves
from scorereport.reliability.blocks import Blocks
from scorereport.reliability.cells import CellSimulation, average_in_cells, make_cells
from scorereport.reliability.precision import PRECISION, is_precise, list_batches
from scorereport.reliability.sampling import random_stream
from scorereport.results.settings import EvaluationSettings

MEASURES = [resolve_measure("brier", {}), resolve_measure("log_loss", {})]


def make_distinct(n):
    x = np.arange(len(n)) / len(n)
    return Blocks(x_min=x, x_max=x, n=np.asarray(n), events=np.zeros(len(n), dtype=np.int64))


def draw_forecasts(n, seed=1, digits=17):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.7, 2, n).round(digits)
    return (rng.random(n) < p).astype(float), p


@pytest.mark.parametrize("n", [np.ones(50_000, dtype=int), np.random.default_rng(1).integers(1, 9, 12_000)])
def test_cells_hold_whole_forecasts_and_grow_from_both_ends(n):
    distinct = make_distinct(n)
    cells, total = make_cells(distinct), n.sum()
    assert_array_equal(cells.n.sum(), total)
    assert np.isin(cells.x_min, distinct.x_min).all()
    assert_array_equal(
        np.searchsorted(distinct.x_min, cells.x_max)[:-1] + 1,
        np.searchsorted(distinct.x_min, cells.x_min)[1:],
    )
    before = np.cumsum(cells.n) - cells.n
    from_end = np.minimum(before, total - before - cells.n)
    allowed = np.maximum(np.minimum(total // 512, from_end // 50), 1)
    assert (cells.n <= 2 * allowed + 2 * n.max()).all()  # in the middle, cells from both ends meet
    assert 500 < len(cells) < 1500


def test_few_forecasts_are_their_own_cells():
    distinct = make_distinct(np.full(40, 500))
    assert make_cells(distinct).equals(distinct)


def test_probabilities_are_averaged_over_cases():
    distinct = make_distinct(np.array([1, 3, 2, 4]))
    cells = Blocks(
        x_min=distinct.x_min[[0, 2]], x_max=distinct.x_max[[1, 3]], n=np.array([4, 6]), events=np.zeros(2)
    )
    assert_allclose(
        average_in_cells(cells, distinct, np.array([0.1, 0.5, 0.2, 0.8])), [0.4, 3.6 / 6], rtol=1e-15
    )


N = np.array([1, 1, 1, 7, 7, 40, 40, 40, 300, 300, 5000, 5000, 5000])
P = np.array([0.0, 0.3, 1.0, 0.02, 0.9, 0.0004, 0.5, 0.97, 0.02, 0.4, 1e-5, 0.6, 0.999])


def are_moments(drawn, mean, variance, third):
    """Means, variances and third moments, by the standard errors of the draws; certain counts are exact."""
    deviation = drawn - mean
    for power, expected in ((1, np.zeros(len(mean))), (2, variance), (3, third)):
        values = deviation**power
        error = values.std(axis=0) / np.sqrt(len(drawn))
        assert (np.abs(values.mean(axis=0) - expected) <= 5 * error + 1e-12).all(), power


def test_outcomes_in_cells_have_the_moments_of_binomial_counts():
    made = CellSimulation(distinct=make_distinct(N), probability=P)
    chunks = [made.redraw_outcomes(random_stream(2, number), 250) for number in range(80)]
    drawn = np.concatenate([chunk.events for chunk in chunks])
    assert (drawn >= 0).all()
    assert (drawn <= N).all()
    variance = N * P * (1 - P)
    are_moments(drawn, N * P, variance, variance * (1 - 2 * P))
    assert_array_equal(chunks[0].n, N)


def test_cases_redrawn_in_cells_have_the_moments_of_poisson_counts():
    made = CellSimulation(distinct=make_distinct(N), probability=P)
    n, events = zip(*(made.redraw_cases(random_stream(3, number), 250) for number in range(80)), strict=True)
    n, events = np.concatenate(n), np.concatenate(events)
    for drawn, mean in ((events, N * P), (n - events, N * (1 - P))):
        are_moments(drawn, mean, mean, mean)
    together = (events - N * P) * (n - events - N * (1 - P))
    error = together.std(axis=0) / np.sqrt(len(together))
    assert (np.abs(together.mean(axis=0)) <= 5 * error + 1e-12).all()


@pytest.mark.parametrize(("n", "p"), [(7, 0.3), (4, 0.9), (300, 0.001), (6, 0.5)])
def test_small_counts_have_their_distribution(n, p):
    """Chi-square over all counts that are expected more than five times."""
    made = CellSimulation(distinct=make_distinct([n, 2]), probability=np.array([p, 0.5]))
    size, chunks = 20_000, 80
    outcomes = np.concatenate(
        [made.redraw_outcomes(random_stream(5, k), 250).events[:, 0] for k in range(chunks)]
    )
    events = np.concatenate([made.redraw_cases(random_stream(6, k), 250).events[:, 0] for k in range(chunks)])
    for drawn, law in ((outcomes, binom(n, p)), (events, poisson(n * p))):
        expected = size * law.pmf(np.arange(30))
        seen = np.bincount(drawn.astype(int), minlength=30)[:30]
        some = expected > 5
        spread = ((seen - expected)[some] ** 2 / expected[some]).sum()
        assert spread < some.sum() + 6 * np.sqrt(2 * some.sum())


@pytest.mark.sweep
@pytest.mark.parametrize("seed", [1, 2])
def test_curves_in_cells_vary_like_curves_of_single_cases(seed):
    """Bounds of 1,500 curves each way differ, on average over points, by their Monte-Carlo error."""
    y, p = draw_forecasts(12_000, seed)
    sample = sr.corp(y, p).sample
    x = sample.distinct.x_min
    points, probability = x[np.linspace(20, len(x) - 21, 100).astype(int)], sample.cep(x)
    in_cells, single = sample.simulation(probability, most_cases=0), sample.simulation(probability)
    assert isinstance(in_cells, CellSimulation)
    curves = [redraw_curves(one, points, 1500, k) for k, one in enumerate((in_cells, single, single))]
    low, high = np.nanquantile(curves, [0.05, 0.95], axis=1)
    width = (high - low)[1].mean()
    off, chance = (np.abs(low[k] - low[2]).mean() + np.abs(high[k] - high[2]).mean() for k in (0, 1))
    assert (high - low)[0].mean() == pytest.approx(width, rel=0.03)
    assert off < 1.5 * chance
    assert chance < 0.06 * width


def test_many_cases_are_drawn_in_cells_and_few_are_not():
    y, p = draw_forecasts(6000)
    fit = sr.corp(y, p)
    null = draw_null(fit, MEASURES, resamples=20, seed=1)
    assert null.cells == len(make_cells(fit.distinct))
    test = judge_miscalibration(fit, null)[0]
    assert f"compared in {null.cells} cells of neighbouring forecasts" in test.method
    assert test.statistic == pytest.approx(fit.decompose("brier").miscalibration, rel=1e-12)
    assert 0 < null.observed[0] < 0.999 * test.statistic  # cells overfit less, by some percent
    null = draw_null(fit, MEASURES, resamples=20, seed=1, most_cases=6000)
    assert null.cells is None
    assert null.observed[0] == test.statistic


def test_an_impossible_event_makes_the_miscalibration_of_cells_infinite():
    y, p = draw_forecasts(5000)
    y[0], p[0] = 1.0, 0.0
    null = draw_null(sr.corp(y, p), MEASURES, resamples=20, seed=1)
    assert np.isfinite(null.observed[0])
    assert null.observed[1] == np.inf


@pytest.mark.parametrize("rows", [300, 6000])
def test_test_and_band_share_their_draws(rows, monkeypatch):
    """The curves of the test give the band that is drawn on its own; each sample is drawn once."""
    y, p = draw_forecasts(rows, digits=3)
    fit, drawn = sr.corp(y, p), []
    draw = calibration_null.draw_chunks
    monkeypatch.setattr(calibration_null, "draw_chunks", lambda *a, **k: drawn.append(a[2]) or draw(*a, **k))
    null = draw_null(fit, MEASURES, resamples=60, seed=4, points=50)
    assert drawn == [range(60)]
    shared = bands.simultaneous_consistency_band(fit.sample, null.curves, 0.9)
    alone = fit.band(coverage="simultaneous", resamples=60, seed=4, points=50)
    for name in ("x", "lower", "upper"):
        assert_array_equal(getattr(shared, name), getattr(alone, name))
    assert (shared.resamples, shared.seed) == (60, 4)
    assert judge_miscalibration(fit, null) == judge_miscalibration(
        fit, draw_null(fit, MEASURES, resamples=60, seed=4)
    )


@pytest.mark.parametrize("rows", [300, 6000])
def test_more_draws_begin_with_the_same_draws(rows):
    y, p = draw_forecasts(rows)
    fit = sr.corp(y, p)
    few, many = (draw_null(fit, MEASURES, resamples=k, seed=1, points=20) for k in (37, 301))
    assert_array_equal(few.excess, many.excess[:37])
    assert_array_equal(few.curves.curves, many.curves.curves[:37])
    x = fit.distinct.x_min[::100]
    simulation = fit.sample.simulation(fit.distinct.x_min, most_cases=1000)
    whole = redraw_curves(simulation, x, 120, 3)
    assert_array_equal(redraw_curves(simulation, x, range(50, 120), 3), whole[50:])


def test_draws_stop_when_bounds_are_precise():
    """The number used is recorded, the error it leaves is small, and one batch fewer would not do."""
    y, p = draw_forecasts(400)
    fit = sr.corp(y, p)
    band = fit.band("confidence")
    assert band.resamples in {batch.stop for batch in list_batches()}
    again = fit.band("confidence", resamples=band.resamples)
    assert_array_equal(again.lower, band.lower)
    simulation = fit.sample.simulation(fit.sample.cep(fit.distinct.x_min))
    curves = redraw_curves(simulation, fit.distinct.x_min, band.resamples, 2021)
    for number, enough in ((band.resamples, True), (band.resamples - 250, False)):
        some = np.sort(curves[:number], axis=0)
        width = np.nanquantile(some, 0.95, axis=0) - np.nanquantile(some, 0.05, axis=0)
        assert is_precise(band_bounds._quantile_errors(some, 0.9), width) is enough


def test_the_error_of_a_bound_is_that_of_repeated_draws():
    """Quantiles of normal numbers, drawn 400 times: their spread is the error that one draw estimates."""
    rng = np.random.default_rng(3)
    spread = np.quantile(rng.normal(size=(400, 800)), 0.05, axis=1).std()
    curves = np.sort(rng.normal(size=(800, 500)), axis=0)
    assert band_bounds._quantile_errors(curves, 0.9).mean() == pytest.approx(spread, rel=0.1)


@pytest.mark.parametrize("ends", [False, True])
def test_the_density_of_many_forecasts_is_that_of_each(ends, monkeypatch):
    """A continuous band is the same to 1e-8, also with forecasts of exactly 0 and 1."""
    _, p = draw_forecasts(9000)
    p[:2] = (0.0, 1.0) if ends else p[:2]
    fit = sr.corp(np.random.default_rng(1).random(9000) < p, p)
    each = fit.band(method="continuous")
    monkeypatch.setattr(asymptotic_bands, "MOST_FORECASTS", 4000)
    grouped = fit.band(method="continuous")
    assert_allclose(grouped.lower, each.lower, rtol=0, atol=1e-8)
    assert_allclose(grouped.upper, each.upper, rtol=0, atol=1e-8)
    assert (grouped.upper != each.upper).any()


def test_draws_end_at_the_most(monkeypatch):
    monkeypatch.setattr(band_bounds, "list_batches", lambda: list_batches(20, 20, 60))
    y, p = draw_forecasts(200)
    sample = sr.corp(y, p).sample
    bounds = pointwise_bounds(sample.simulation(sample.distinct.x_min), sample.distinct.x_min, 0.9, None, 1)
    assert bounds.resamples == 60
    assert PRECISION == 0.02


@pytest.mark.parametrize("kind", ["consistency", "confidence"])
def test_a_certificate_draws_a_band_again_with_the_number_that_its_precision_takes(kind, monkeypatch):
    """Neither a band of another number of draws, nor one that states another number, agrees."""
    y, p = draw_forecasts(300)
    fit, settings = sr.corp(y, p), EvaluationSettings()
    monkeypatch.setattr(band_bounds, "list_batches", lambda: list_batches(40, 20, 120))
    band = draw_band(fit, kind, "pointwise", settings)
    assert (band.resamples, settings.resamples) == (120, None)
    assert compare_again("model", band, fit, settings).verdict is Verdict.AGREES
    other = draw_band(fit, kind, "pointwise", replace(settings, resamples=119))
    for wrong in (other, replace(other, resamples=120), replace(band, resamples=119)):
        assert compare_again("model", wrong, fit, settings).verdict is Verdict.DIFFERS


def test_bands_of_a_high_level_take_enough_draws_to_reach_it():
    """Of 750 curves the outermost are no quantiles of 0.5 %, however close to each other they are."""
    y, p = draw_forecasts(60)
    assert sr.corp(y, p).band("confidence", 0.99, points=5).resamples >= 1000
