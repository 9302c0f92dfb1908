"""Cells of rows with sampling weights, and of rows of clusters: the distribution of their draws."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import scorereport as sr
from scorereport.inference.calibration_null import draw_null, judge_miscalibration
from scorereport.inference.losses import resolve_measure
from scorereport.inference.overfit_draws import OverfitDraws
from scorereport.reliability import clustered_cells
from scorereport.reliability.band_bounds import redraw_curves
from scorereport.reliability.blocks import Blocks
from scorereport.reliability.clustered_cells import ClusteredCellSimulation
from scorereport.reliability.outcome_weights import OutcomeWeights
from scorereport.reliability.sampling import random_stream
from scorereport.reliability.simulation import _RowSimulation
from scorereport.reliability.weighted_cells import WeightedCellSimulation

MEASURES = [resolve_measure("brier", {}), resolve_measure("log_loss", {})]
ROWS = np.array([1, 1, 1, 7, 7, 40, 40, 300, 300, 3000, 3000, 3000])
P = np.array([0.0, 0.3, 1.0, 0.02, 0.9, 0.004, 0.5, 0.02, 0.4, 1e-4, 0.01, 0.6])
#: Weights of events over those of non-events.
RATIOS = np.where(np.arange(len(ROWS)) < 6, 1.0, 0.25)
CELL = np.repeat(np.arange(len(ROWS)), ROWS)
#: A normal deviation this large, or larger, has probability 6e-7; all seeds are fixed.
ERRORS_ALLOWED = 5


def make_blocks(n):
    x = np.arange(len(n)) / len(n)
    return Blocks(x_min=x, x_max=x, n=np.asarray(n), events=np.zeros(len(n)))


def make_weighted(ratio, seed=1):
    """Cells of rows whose weights vary, and by far in one of the large cells."""
    weight = np.random.default_rng(seed).gamma(2, size=ROWS.sum())
    weight[np.flatnonzero(CELL == 8)[0]] = 500.0
    weights = OutcomeWeights(of_event=weight, of_other=weight / ratio[CELL], ratio=ratio[CELL])
    distinct = make_blocks(np.bincount(CELL, weight))
    return WeightedCellSimulation(distinct=distinct, probability=P, rows=ROWS, weights=weights)


def draw(simulate, samples=100, streams=150):
    """Cases and events in each cell, a row for each sample."""
    drawn = [simulate(random_stream(7, stream), samples) for stream in range(streams)]
    n, events = (np.concatenate([np.atleast_2d(d[k]) for d in drawn]) for k in (0, 1))
    return n.astype(float), events.astype(float)


def is_zero_on_average(values):
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return (np.abs(values.mean(axis=0)) <= ERRORS_ALLOWED * error + 1e-9).all()


def have_moments(drawn, mean, variance, third):
    deviation = drawn - mean
    assert is_zero_on_average(deviation)
    assert is_zero_on_average(deviation**2 - variance)
    assert is_zero_on_average(deviation**3 - third)


# Sampling weights


def test_outcomes_of_weighted_rows_have_the_moments_of_their_sums():
    made = make_weighted(np.ones(len(ROWS)))
    assert made.keeps_counts
    n, events = draw(made.redraw_outcomes)
    assert_allclose(n, np.broadcast_to(made.distinct.n, n.shape), rtol=1e-14)
    assert (events >= 0).all()
    assert (events <= made.distinct.n).all()
    sums = [np.bincount(CELL, made.weights.of_event**power) for power in (1, 2, 3)]
    spread = P * (1 - P)
    have_moments(events, sums[0] * P, sums[1] * spread, sums[2] * spread * (1 - 2 * P))
    assert_array_equal(events[:, P == 0], 0)
    assert_array_equal(events[:, P == 1], n[: len(events), P == 1][:1].repeat(len(events), axis=0))


def test_weights_that_depend_on_outcomes_change_with_them():
    """The weight of non-events is what is left of the rows; weighted rates of events are those of cells."""
    made = make_weighted(RATIOS)
    assert not made.keeps_counts
    n, events = draw(made.redraw_outcomes)
    of_event, of_other = (np.bincount(CELL, w) for w in (made.weights.of_event, made.weights.of_other))
    assert_allclose((n - events) / of_other, 1 - events / of_event, rtol=1e-9, atol=1e-12)
    assert is_zero_on_average(events - n * P)
    chance = P / (P + (1 - P) * RATIOS)
    squares = np.bincount(CELL, made.weights.of_event**2)
    assert is_zero_on_average((events - of_event * chance) ** 2 - squares * chance * (1 - chance))


@pytest.mark.parametrize("ratios", [np.ones(len(ROWS)), RATIOS])
def test_weighted_rows_that_are_redrawn_have_the_moments_of_sums_of_poisson_counts(ratios):
    made = make_weighted(ratios)
    n, events = draw(made.redraw_cases)
    chance = P / (P + (1 - P) * ratios)
    for drawn, weight, often in (
        (events, made.weights.of_event, chance),
        (n - events, made.weights.of_other, 1 - chance),
    ):
        sums = [np.bincount(CELL, weight**power) * often for power in (1, 2, 3)]
        have_moments(drawn, *sums)
    together = (events - events.mean(axis=0)) * (n - events - (n - events).mean(axis=0))
    assert is_zero_on_average(together)


def draw_by_outcome(n, seed=3):
    """A sample of all events and some of the others, with the weights that compensate for it."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    y = (rng.random(n) < p).astype(float)
    kept = (y == 1) | (rng.random(n) < 0.1 + 0.4 * p)
    y, p = y[kept], p[kept]
    return y, p, np.where(y == 1, 1.0, 1 / (0.1 + 0.4 * p))


def test_a_cell_has_one_ratio_of_weights():
    """Cells hold rows, and are cut where the ratio of the weights of both outcomes changes."""
    y, p, weight = draw_by_outcome(30_000)
    sample = sr.corp(y, p, weight).sample
    made = sample.simulation(sample.distinct.x_min, most_cases=4096)
    assert isinstance(made, WeightedCellSimulation)
    assert made.counts.sum() == len(y)
    assert_allclose(made.distinct.n.sum(), weight.sum(), rtol=1e-12)
    first = np.cumsum(made.counts) - made.counts
    assert len(np.unique(made.weights.ratio)) > 20
    assert_array_equal(np.repeat(made.weights.ratio[first], made.counts), made.weights.ratio)
    n, events = made.redraw_outcomes(random_stream(1), 400)
    off = (events - n * made.probability).sum(axis=1) / n.sum(axis=1)
    assert abs(off.mean()) < ERRORS_ALLOWED * off.std() / 20


@pytest.mark.parametrize("most_cases", [1000, np.inf])
def test_no_fit_is_worse_than_the_hypothesis_that_outcomes_are_drawn_from(most_cases, monkeypatch):
    """The weight of rows differs by sample, in cells as row by row."""
    monkeypatch.setattr("scorereport.inference.overfit_draws.MOST_CASES", most_cases)
    sample = sr.corp(*draw_by_outcome(6000)).sample
    drawn = OverfitDraws.of(sample, sample.distinct.x_min, MEASURES, 1)
    assert drawn.is_in_cells == np.isfinite(most_cases)
    assert not drawn.simulation.keeps_counts
    assert (drawn.draw(range(40)) > 0).all()


def test_rows_have_the_weights_of_the_outcomes_drawn():
    """Of rows one by one, without ties."""
    y, p, weight = draw_by_outcome(500)
    made = sr.corp(y, p, weight).sample.simulation(np.sort(p))
    assert isinstance(made, _RowSimulation)
    assert not made.keeps_counts
    n, events = made.redraw_outcomes(random_stream(1), 50)
    happens = events > 0
    assert 0 < happens.mean() < 1
    assert_array_equal(n, np.where(happens, made.weights.of_event, made.weights.of_other))
    assert_array_equal(events, np.where(happens, n, 0.0))
    chance = made.weights.share_of_events(made.probability)
    assert happens.mean() == pytest.approx(chance.mean(), abs=0.02)


@pytest.mark.parametrize("scale", [1e-80, 1e80])
def test_the_unit_of_weights_does_not_matter(scale):
    rng = np.random.default_rng(4)
    p, weight = rng.random(6000), rng.gamma(4, size=6000)
    y = (rng.random(6000) < p).astype(float)
    curves = []
    for times in (1.0, scale):
        sample = sr.corp(y, p, times * weight).sample
        made = sample.simulation(sample.distinct.x_min, most_cases=4096)
        curves.append(redraw_curves(made, p[:50], 20, 1))
    assert_allclose(curves[1], curves[0], rtol=1e-9)


# Clusters

CLUSTER = np.random.default_rng(5).integers(0, 60, 600)
CLUSTERED_ROWS = np.array([1, 1, 30, 68, 300, 200])  # a sum of more than 255 rows does not fit into a byte
CLUSTERED_P = np.array([0.0, 0.4, 0.05, 0.3, 0.7, 1.0])


def make_clustered(correlation):
    return ClusteredCellSimulation(
        distinct=make_blocks(CLUSTERED_ROWS),
        probability=CLUSTERED_P,
        cluster=np.unique(CLUSTER, return_inverse=True)[1],
        correlation=correlation,
    )


def covariance_in_clusters(correlation):
    """The covariance of events of any two cells given the clusters, and the rows of each cluster and cell."""
    cells = len(CLUSTERED_ROWS)
    rows = np.zeros((60, cells))
    np.add.at(rows, (CLUSTER, np.repeat(np.arange(cells), CLUSTERED_ROWS)), 1)
    p, q = CLUSTERED_P[:, None], CLUSTERED_P
    shared = np.minimum(p, q) - p * q
    pairs = rows.T @ rows - np.diag(CLUSTERED_ROWS)
    return correlation * pairs * shared + np.diag(CLUSTERED_ROWS * q * (1 - q)), rows


@pytest.mark.parametrize("correlation", [0.0, 0.3, 1.0])
def test_outcomes_of_clusters_have_the_covariance_of_pairs_of_rows(correlation):
    made = make_clustered(correlation)
    n, events = draw(made.redraw_outcomes)
    assert_array_equal(n, np.broadcast_to(CLUSTERED_ROWS, n.shape))
    deviation = events - CLUSTERED_ROWS * CLUSTERED_P
    assert is_zero_on_average(deviation)
    products = deviation[:, :, None] * deviation[:, None, :]
    expected, _ = covariance_in_clusters(correlation)
    assert is_zero_on_average((products - expected).reshape(len(events), -1))


@pytest.mark.parametrize("correlation", [0.0, 0.3, 1.0])
def test_clusters_that_are_redrawn_are_whole(correlation):
    """Cases have the covariance of clusters drawn with replacement, to which events add that within them."""
    made = make_clustered(correlation)
    n, events = draw(made.redraw_cases)
    within, rows = covariance_in_clusters(correlation)
    assert (events <= n).all()
    for drawn, of_cluster, more in ((n, rows, 0.0), (events, rows * CLUSTERED_P, within)):
        total = of_cluster.sum(axis=0)
        covariance = of_cluster.T @ of_cluster - np.outer(total, total) / len(rows) + more
        deviation = drawn - total
        assert is_zero_on_average(deviation)
        products = deviation[:, :, None] * deviation[:, None, :]
        assert is_zero_on_average((products - covariance).reshape(len(drawn), -1))


@pytest.mark.parametrize("p", [np.linspace(0, 1, 900), np.array([0.0, 1e-9, 1e-9, 0.3, 0.3000001, 1.0])])
def test_ranks_of_numbers_are_counts_of_the_probabilities_that_they_reach(p, monkeypatch):
    """The first bits of a number decide where they can; where probabilities are close, all bits do."""
    rows = np.ones(len(p), int)
    made = ClusteredCellSimulation(
        distinct=make_blocks(rows), probability=p, cluster=0 * rows, correlation=0.5
    )
    limits = np.minimum(np.rint(p * 2.0**32), 2**32 - 1).astype(np.uint32)
    numbers = np.concatenate(
        [limits, limits - 1, limits + 1, [0, 2**32 - 1], random_stream(1).integers(0, 2**32, 5000)]
    ).astype(np.uint32)
    monkeypatch.setattr(clustered_cells, "draw_bits", lambda _, size, __: numbers[:size])
    expected = (np.unique(limits) <= numbers[:, None]).sum(axis=1)
    assert_array_equal(made._draw_ranks(random_stream(1), len(numbers)), expected)


# Both


def make_sample(kind, n=12_000, seed=1):
    rng = np.random.default_rng(seed)
    p = rng.beta(0.7, 2, n)
    if kind == "weights":
        return sr.corp((rng.random(n) < p).astype(float), p, rng.gamma(2, size=n))
    cluster = rng.integers(0, n // 15, n)
    number = np.where(rng.random(n) < 0.35, rng.random(n // 15)[cluster], rng.random(n))
    weight = (
        {"sample_weight": rng.integers(1, 3, n), "weight_kind": "frequency"} if kind == "repeated" else {}
    )
    return sr.corp((number < p).astype(float), p, cluster=cluster, **weight)


KINDS = {
    "weights": WeightedCellSimulation,
    "clusters": ClusteredCellSimulation,
    "repeated": ClusteredCellSimulation,
}


@pytest.mark.parametrize("kind", KINDS)
def test_many_rows_are_drawn_in_cells(kind):
    fit = make_sample(kind, 5000)
    null = draw_null(fit, MEASURES, resamples=20, seed=1)
    assert 100 < null.cells < 1500
    test = judge_miscalibration(fit, null)[0]
    assert f"compared in {null.cells} cells of neighbouring forecasts" in test.method
    assert test.statistic == pytest.approx(fit.decompose("brier").miscalibration, rel=1e-9)
    assert 0 < null.observed[0] < test.statistic
    simulation = fit.sample.simulation(fit.distinct.x_min, most_cases=4096)
    assert isinstance(simulation, KINDS[kind])
    whole = redraw_curves(simulation, fit.distinct.x_min[::100], 80, 3)
    again = redraw_curves(simulation, fit.distinct.x_min[::100], range(50, 80), 3)
    assert_array_equal(again, whole[50:])
    few = make_sample(kind, 400)
    assert draw_null(few, MEASURES, resamples=20, seed=1).cells is None


def test_weighted_rows_of_clusters_are_drawn_one_by_one():
    rng = np.random.default_rng(1)
    p = rng.random(6000)
    y = (rng.random(6000) < p).astype(float)
    sample = sr.corp(y, p, rng.gamma(4, size=6000), cluster=rng.integers(0, 500, 6000)).sample
    assert isinstance(sample.simulation(sample.distinct.x_min, most_cases=0), _RowSimulation)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_curves_in_cells_vary_like_curves_of_single_rows(kind, seed):
    """Bounds of 1,500 curves each way differ, on average over points, by their Monte-Carlo error."""
    sample = make_sample(kind, seed=seed).sample
    x = sample.distinct.x_min
    points, probability = x[np.linspace(20, len(x) - 21, 100).astype(int)], sample.cep(x)
    in_cells, single = sample.simulation(probability, most_cases=0), sample.simulation(probability)
    assert isinstance(in_cells, KINDS[kind])
    assert isinstance(single, _RowSimulation)
    curves = [redraw_curves(one, points, 1500, k) for k, one in enumerate((in_cells, single, single))]
    low, high = np.nanquantile(curves, [0.05, 0.95], axis=1)
    width = (high - low)[1].mean()
    off, chance = (np.abs(low[k] - low[2]).mean() + np.abs(high[k] - high[2]).mean() for k in (0, 1))
    assert (high - low)[0].mean() == pytest.approx(width, rel=0.03)
    assert off < 1.5 * chance
    assert chance < 0.06 * width


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["weights", "clusters"])
def test_the_overfit_of_cells_is_that_of_rows(kind, monkeypatch):
    """Extrapolated from two sizes of cells, as of independent rows: within 5 % and errors of the draws."""
    fit = make_sample(kind, 220_000)
    sample = fit.sample
    drawn = OverfitDraws.of(sample, sample.distinct.x_min, MEASURES, 1)
    assert drawn.is_in_cells
    monkeypatch.setattr("scorereport.inference.overfit_draws.MOST_CASES", np.inf)
    by_row = OverfitDraws.of(sample, sample.distinct.x_min, MEASURES, 2)
    assert not by_row.is_in_cells
    ours, reference = drawn.draw(range(150)), by_row.draw(range(60))
    spread = np.hypot(ours.std(axis=0) / 150**0.5, reference.std(axis=0) / 60**0.5)
    off = np.abs(ours.mean(axis=0) - reference.mean(axis=0))
    assert (off < 0.05 * reference.mean(axis=0) + 3 * spread).all()
