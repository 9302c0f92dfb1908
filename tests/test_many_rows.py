"""What samples of many plain rows are spared: draws by groups, stretches and cells have the law of rows.

Thresholds and stretches are turned down, so that small samples go the same ways.
"""

from __future__ import annotations

import ctypes
import re
import sys
from collections import Counter
from dataclasses import fields, is_dataclass
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

import scorereport as sr
from scorereport._utils import machine
from scorereport._utils.arrays import bits_equal
from scorereport._utils.machine import release_memory
from scorereport.inference import large_panels, overfit, scale_groups
from scorereport.inference import large_panels as fits
from scorereport.inference.bootstrap_resamples import bootstrap, bootstrap_panel
from scorereport.inference.components import FittedLosses, case_losses
from scorereport.inference.dominance import _places, choose_costs, murphy_difference
from scorereport.inference.large_panels import PanelFits, are_many_alike, resample_sums, row_chunks
from scorereport.inference.likelihood import information
from scorereport.inference.logistic import fit_line, fit_offset
from scorereport.inference.losses import resolve_measure
from scorereport.inference.murphy_bands import (
    CountedSample,
    RowSample,
    _extreme_limits,
    _sort_together,
    average_differences,
    find_dominant,
)
from scorereport.inference.nelson_scale import _of_event, scale_forecast
from scorereport.inference.overfit import estimate_overfit
from scorereport.inference.panel import are_ordered, make_panel, order_by
from scorereport.inference.recalibration_gains import _assign_in_order, assign_folds
from scorereport.inference.scale_draws import ScaleTarget
from scorereport.inference.scale_groups import group_forecast, is_groupable
from scorereport.reliability import draws
from scorereport.reliability.blocks import sum_between
from scorereport.reliability.draws import ForecastTies
from scorereport.reliability.fit import corp
from scorereport.reliability.sampling import SamplingUnits, random_stream
from scorereport.scores.scale import split_evenly

MANY = 500
TARGETS = (None, 0, 1)
EXPONENTS = (1.0, 0.0, -2 / 3, -2.0, 2.0)
SCALE = {"n_bins": 10, "limit": 0.0, "level": 0.9, "seed": 4}


def set_chunk_rows(monkeypatch, rows):
    """Set the number of rows of a chunk wherever rows are cut into chunks."""
    monkeypatch.setattr(row_chunks, "__defaults__", (rows,))


def lower_thresholds(monkeypatch):
    for module in (large_panels, fits, overfit):
        monkeypatch.setattr(module, "MANY_ROWS", MANY)
    for name, value in {"MOST_ROWS": MANY, "_GROUPS": 60, "_ALONE": 8, "_CHUNK_ROWS": 101}.items():
        monkeypatch.setattr(scale_groups, name, value)
    set_chunk_rows(monkeypatch, 97)


@pytest.fixture
def few_are_many(monkeypatch):
    """Samples of more than 500 rows go the ways of those of more than 100,000."""
    lower_thresholds(monkeypatch)


@pytest.fixture
def on_threads(monkeypatch):
    """Use as many threads as told, whatever the rows."""
    monkeypatch.setattr(machine, "_ROWS_WORTH_A_THREAD", 1)
    return lambda threads: monkeypatch.setenv("SCOREREPORT_THREADS", str(threads))


def draw_sample(n, seed=1, digits=None):
    """Outcomes and two forecasts, the second not calibrated."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-0.3, 1.3, n)
    y = (rng.random(n) < expit(x)).astype(float)
    first, second = expit(x + rng.normal(0, 0.3, n)), expit(1.5 * x)
    return (y, first, second) if digits is None else (y, first.round(digits), second.round(digits))


def draw_panel(n, seed=1, digits=None):
    y, first, second = draw_sample(n, seed, digits)
    return make_panel(y, {"first": first, "second": second})


# The threshold


@pytest.mark.parametrize("is_many", [are_many_alike, is_groupable])
@pytest.mark.usefixtures("few_are_many")
def test_only_more_plain_rows_than_the_threshold_are_many(is_many):
    y, p, _ = draw_sample(MANY + 1)
    rows = np.arange(MANY + 1)
    assert is_many(make_panel(y, {"p": p}))
    assert not is_many(make_panel(y[:MANY], {"p": p[:MANY]}))
    assert not is_many(make_panel(y, {"p": p}, sample_weight=np.ones(MANY + 1)))
    assert not is_many(make_panel(y, {"p": p}, cluster=rows))


@pytest.mark.parametrize(("n", "size"), [(10, 3), (9, 3), (1, 5), (5, 5), (0, 4)])
def test_stretches_hold_each_row_once_in_order(n, size):
    found = row_chunks(n, size)
    assert [row for part in found for row in range(part.start, part.stop)] == list(range(n))
    assert all(part.stop - part.start == size for part in found[:-1])


# Groups of neighbours


def draw_forecasts(kind):
    """Outcomes and forecasts that are hard to group."""
    rng = np.random.default_rng(5)
    p = {
        "continuous": lambda: expit(rng.normal(-1, 2, 1503)),
        "tied": lambda: expit(rng.normal(0, 1.5, 1503)).round(2),
        "heavily tied": lambda: rng.choice([0.1, 0.1, 0.5, 0.7], 1500),
        "certain": lambda: np.clip(rng.normal(0.5, 0.4, 1500), 0, 1),
        "tiny": lambda: 10.0 ** -rng.uniform(0, 200, 900),
        "mirrored": lambda: np.tile([0.2, 0.8, 0.3, 0.7, 0.25], 301),
    }[kind]()
    return (rng.random(len(p)) < np.clip(p, 0.02, 0.98)).astype(float), p


@pytest.fixture(params=["continuous", "tied", "heavily tied", "certain", "tiny", "mirrored"])
def hard(request):
    return draw_forecasts(request.param)


def make_targets(sample, limit, label, n_bins=7):
    """A target of all rows, and of groups of them."""
    y, p = sample
    of_rows = _of_event(make_panel(y, {"p": p}), "p", limit)
    grouped = group_forecast(y, p, limit, n_bins, EXPONENTS)
    return ScaleTarget(of_rows, label, n_bins), ScaleTarget(grouped, label, n_bins)


@pytest.mark.parametrize("limit", [0.0, 0.01])
@pytest.mark.parametrize("label", TARGETS)
@pytest.mark.usefixtures("few_are_many")
def test_groups_have_the_bins_and_blocks_of_rows(hard, limit, label):
    rows, groups = make_targets(hard, limit, label)
    assert groups.forecast.cases == rows.forecast.cases == len(hard[0])
    for kind, (of_rows, of_groups) in enumerate(zip(rows.bins, groups.bins, strict=True)):
        for weights in (
            (rows.weight, groups.weight),
            (rows.weight * rows.is_observed, groups.weight * groups.is_observed),
        ):
            expected, found = of_rows.sums(weights[0]), of_groups.sums(weights[1])
            # bins that share a tie hold parts of it, which are not whole numbers
            np.testing.assert_allclose(found, expected, rtol=1e-12 if kind == 0 else 0, atol=0)
        means = rows.geometric_means(kind), groups.geometric_means(kind)
        np.testing.assert_allclose(means[1], means[0], rtol=1e-12)


@pytest.mark.usefixtures("few_are_many")
def test_counts_in_bins_are_exact_where_nothing_ties():
    for label in TARGETS:
        rows, groups = make_targets(draw_forecasts("continuous"), 0.0, label)
        assert bits_equal(groups.bins[0].sums(groups.weight), rows.bins[0].sums(rows.weight))
        events = groups.weight * groups.is_observed, rows.weight * rows.is_observed
        assert bits_equal(groups.bins[0].sums(events[0]), rows.bins[0].sums(events[1]))


@pytest.mark.parametrize("limit", [0.0, 0.01])
@pytest.mark.parametrize("label", TARGETS)
@pytest.mark.usefixtures("few_are_many")
def test_means_and_tails_of_groups_are_those_of_rows(hard, limit, label):
    rows, groups = make_targets(hard, limit, label)
    expected, found = rows.power_means(EXPONENTS), groups.power_means(EXPONENTS)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert groups.tail_index == pytest.approx(rows.tail_index, rel=1e-12)
    ones = (target.forecast.units.row_weight for target in (rows, groups))
    resampled = [
        target.resampled(weight)[0].model for target, weight in zip((rows, groups), ones, strict=True)
    ]
    np.testing.assert_allclose(resampled[1], resampled[0], rtol=1e-12)


@pytest.mark.usefixtures("few_are_many")
def test_no_group_lies_across_the_edge_of_a_block_or_bin():
    y, p = draw_forecasts("continuous")
    groups = group_forecast(y, p, 0.0, 7, EXPONENTS)
    middle, weight = groups.given[:, 1], groups.units.weight
    edges = np.cumsum(np.bincount(np.unique(middle, return_inverse=True)[1], weight))
    blocks, bins = np.cumsum(corp(y, p).blocks.n), np.cumsum(split_evenly(len(p), 7))
    assert len(edges) < len(p) / 2
    assert set(blocks) <= set(edges)
    assert set(bins) <= set(edges)
    mirrored = np.cumsum(corp(1 - y, 1 - p).blocks.n)
    assert set(len(p) - mirrored) <= {0.0, *edges}


@pytest.mark.usefixtures("few_are_many")
def test_groups_do_not_depend_on_the_order_of_rows(hard):
    y, p = hard
    order = np.random.default_rng(3).permutation(len(y))
    one, other = (group_forecast(y[at], p[at], 0.01, 7, EXPONENTS) for at in (slice(None), order))
    for name in ("given", "place", "outcome"):
        assert bits_equal(getattr(one, name), getattr(other, name))
    assert bits_equal(one.units.weight, other.units.weight)
    assert one.of_labels[0].means == other.of_labels[0].means


@pytest.mark.parametrize("n", [5, 100, 1000, 40_000, 1_000_000])
def test_groups_shrink_towards_both_ends_to_single_cases(n):
    places = scale_groups._spread(n)
    assert places[0] == 0
    assert places[-1] == n - 1
    gaps, alone = np.diff(places), scale_groups._ALONE
    assert gaps.min(initial=1) == 1
    assert (gaps[: alone - 1] == 1).all()
    assert (gaps[1 - alone :] == 1).all()
    assert gaps.max(initial=1) <= max(n / scale_groups._GROUPS, 1)
    reach = alone + np.arange(1, 400)
    near = reach[(reach < n / 2) & (reach < n / scale_groups._GROUPS / (scale_groups._GROWTH - 1))]
    following = places[np.searchsorted(places, near, side="right")]
    assert (following <= near * scale_groups._GROWTH + 1).all()


@pytest.mark.sweep
def test_the_scale_of_groups_is_that_of_rows_but_for_its_draws(monkeypatch):
    panel = draw_panel(1500)
    expected = scale_forecast(panel, "second", resamples=200, **SCALE)
    lower_thresholds(monkeypatch)
    found = scale_forecast(panel, "second", resamples=200, **SCALE)
    for one, other in zip(expected, found, strict=True):
        assert (one.verdict, one.note) == (other.verdict, other.note)
        for name in ("n", "events", "source", "spectrum_source"):
            assert bits_equal(getattr(one, name), getattr(other, name))
        np.testing.assert_allclose(other.model, one.model, rtol=1e-12)
        np.testing.assert_allclose(other.spectrum_model, one.spectrum_model, rtol=1e-12)
        assert other.angle == pytest.approx(one.angle, abs=1e-9)
        width = one.calibrated_upper - one.calibrated_lower
        assert other.calibrated_angle == pytest.approx(one.calibrated_angle, abs=width / 5)
        for mark in ("decisiveness", "accuracy", "robustness"):
            for part in ("model", "source", "divergence"):
                assert_same_interval(*(getattr(getattr(r, mark), part) for r in (one, other)), factor=1.35)


def assert_same_interval(one, other, factor):
    """The same value, and an interval that differs as much as draws do."""
    assert other.value == pytest.approx(one.value, rel=1e-12, abs=1e-12)
    assert (other.note, other.method, other.n) == (one.note, one.method, one.n)
    if np.isnan(one.standard_error):
        assert np.isnan([other.standard_error, other.lower, other.upper]).all()
        return
    assert one.standard_error / factor <= other.standard_error <= one.standard_error * factor
    allowed = 2 * (factor - 1) * one.standard_error
    assert other.lower == pytest.approx(one.lower, abs=allowed)
    assert other.upper == pytest.approx(one.upper, abs=allowed)


# Sums over resamples


def test_each_row_is_drawn_by_the_multinomial_law(monkeypatch):
    set_chunk_rows(monkeypatch, 5)
    n, resamples = 12, 6000
    rows = np.eye(n)
    times = resample_sums(lambda part: rows[:, part], n, resamples=resamples, seed=1, what="").drawn
    assert (times.sum(axis=1) == n).all()
    assert (times == np.floor(times)).all()
    error = 1 / np.sqrt(resamples)
    np.testing.assert_allclose(times.mean(axis=0), 1, atol=5 * error)
    np.testing.assert_allclose(np.cov(times.T), np.eye(n) - 1 / n, atol=6 * np.sqrt(2) * error)
    np.testing.assert_allclose((times == 0).mean(axis=0), (1 - 1 / n) ** n, atol=5 * 0.5 * error)


def test_stretches_are_drawn_independently_of_each_other(monkeypatch):
    set_chunk_rows(monkeypatch, 4)
    rows, seeds = np.eye(8), 2000
    times = np.array(
        [
            resample_sums(lambda p: rows[:, p], 8, resamples=1, seed=seed, what="").drawn[0]
            for seed in range(seeds)
        ]
    )
    np.testing.assert_allclose(np.cov(times.T), np.eye(8) - 1 / 8, atol=6 * np.sqrt(2 / seeds))


def test_how_many_draws_a_stretch_has_is_binomial(monkeypatch):
    set_chunk_rows(monkeypatch, 30)
    n, resamples = 100, 4000
    of_last = np.vstack([np.ones(n), np.arange(n) >= 90])
    drawn = resample_sums(lambda part: of_last[:, part], n, resamples=resamples, seed=2, what="").drawn
    assert (drawn[:, 0] == n).all()
    assert drawn[:, 1].mean() == pytest.approx(10, abs=5 * 3 / np.sqrt(resamples))
    assert drawn[:, 1].var() == pytest.approx(9, rel=6 * np.sqrt(2 / resamples))


def test_sums_have_the_mean_and_variance_of_resampled_rows(monkeypatch):
    set_chunk_rows(monkeypatch, 97)
    n, resamples = 1000, 1500
    values = np.sort(np.random.default_rng(1).exponential(size=n))  # stretches differ as much as they can
    found = resample_sums(lambda part: values[None, part], n, resamples=resamples, seed=3, what="")
    assert found.observed == pytest.approx(values.sum(), rel=1e-14)
    spread = np.sqrt(n) * values.std()
    assert found.drawn.mean() == pytest.approx(values.sum(), abs=5 * spread / np.sqrt(resamples))
    assert found.drawn.std() == pytest.approx(spread, rel=5 / np.sqrt(2 * resamples))


def test_sums_are_the_same_on_any_number_of_threads(on_threads, monkeypatch):
    set_chunk_rows(monkeypatch, 61)
    columns = np.random.default_rng(1).random((3, 1000))
    found = []
    for threads in (1, 2, 5):
        on_threads(threads)
        found.append(resample_sums(lambda part: columns[:, part], 1000, resamples=30, seed=4, what=""))
    assert all(
        bits_equal(one, other) for sums in found[1:] for one, other in zip(found[0], sums, strict=True)
    )
    other = resample_sums(lambda part: columns[:, part], 1000, resamples=30, seed=5, what="")
    assert not np.isclose(other.drawn, found[0].drawn).all(axis=0).any()


@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_infinite_somewhere_harms_no_other_column(on_threads, monkeypatch, threads):
    on_threads(threads)
    set_chunk_rows(monkeypatch, 50)
    columns = np.random.default_rng(1).random((2, 300))
    with_infinite = np.vstack([columns, np.where(np.arange(300) % 7, 0.3, np.inf)])
    alone, found = (
        resample_sums(lambda part, of=of: of[:, part], 300, resamples=9, seed=1, what="")
        for of in (columns, with_infinite)
    )
    assert found.observed[2] == np.inf
    assert not np.isfinite(found.drawn[:, 2]).any()
    assert bits_equal(found.drawn[:, :2].copy(), alone.drawn)


def find_statistics(panel, resamples=300):
    measures = [resolve_measure("brier", {}), resolve_measure("log_loss", {})]
    boot = bootstrap_panel(panel, measures, resamples=resamples, seed=7, whole=False)
    return {(s.model, s.measure): s for s in boot.statistics}, boot


def test_the_bootstrap_of_many_rows_has_the_statistics_and_law_of_few(monkeypatch):
    panel = draw_panel(900)
    expected, boot = find_statistics(panel)
    lower_thresholds(monkeypatch)
    found, many = find_statistics(panel)
    assert expected.keys() == found.keys()
    assert len(found) == 1 + 2 + 2 * 2 * 2
    for (model, measure), statistic in expected.items():
        other = found[model, measure]
        assert not bits_equal(other.replicates, statistic.replicates)
        np.testing.assert_allclose(other.influence(), statistic.influence(), rtol=0, atol=1e-12)
        intervals = (b.interval(model, measure, level=0.9) for b in (boot, many) if model)
        if model:
            assert_same_interval(*intervals, factor=1.25)


@pytest.mark.usefixtures("few_are_many")
def test_an_infinite_score_of_many_rows_has_no_interval():
    y, first, second = draw_sample(700)
    second[np.argmax(y)] = 0.0
    found, boot = find_statistics(make_panel(y, {"first": first, "second": second}), resamples=20)
    assert found["second", "log_loss"].value == np.inf
    assert (found["second", "log_loss"].replicates == np.inf).all()
    assert boot.interval("second", "log_loss").note == "The score is infinite: there is no interval."
    assert np.isfinite(boot.interval("first", "log_loss").lower)
    assert np.isfinite(boot.interval("second", "brier").lower)


@pytest.mark.usefixtures("few_are_many")
def test_the_order_of_many_rows_leaves_no_trace():
    y, first, second = draw_sample(800, digits=2)
    order = np.random.default_rng(8).permutation(800)
    panels = [make_panel(y[at], {"a": first[at], "b": second[at]}) for at in (slice(None), order)]
    one, other = (find_statistics(panel, resamples=20)[0] for panel in panels)
    assert all(bits_equal(one[key].replicates, other[key].replicates) for key in one)
    bands = [
        murphy_difference(y[at], first[at], second[at], resamples=20).simultaneous_lower
        for at in (slice(None), order)
    ]
    assert bits_equal(*bands)


# Two models at every cost


@pytest.mark.usefixtures("few_are_many")
def test_joint_cells_count_every_row_once():
    panel, theta = draw_panel(700, digits=1), np.array([0.0, 0.15, 0.3, 0.6, 1.0])
    sample, counted = RowSample.of(panel, theta), CountedSample.of(panel, theta)
    plain = Counter(zip(sample.cells.lower.tolist(), sample.cells.upper.tolist(), strict=True))
    kinds = zip(counted.cells.lower.tolist(), counted.cells.upper.tolist(), strict=True)
    assert dict(zip(kinds, counted.counts[:-1].tolist(), strict=True)) == plain
    assert counted.counts.sum() == 700
    assert counted.counts[-1] == 700 - len(sample.cells.rows)
    assert counted.counts[-1] > 0


@pytest.mark.parametrize("digits", [1, 2, None])
@pytest.mark.usefixtures("few_are_many")
def test_moments_of_joint_cells_are_those_of_rows(digits):
    panel = draw_panel(700, digits=digits)
    theta = choose_costs(panel, 60)
    for one, other in zip(
        *(
            average_differences(s.cells, s.weight)
            for s in (RowSample.of(panel, theta), CountedSample.of(panel, theta))
        ),
        strict=True,
    ):
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-15)


@pytest.mark.usefixtures("few_are_many")
def test_kinds_of_rows_are_drawn_by_the_multinomial_law():
    panel = draw_panel(700, digits=1)
    counted = CountedSample.of(panel, np.array([0.0, 0.35, 0.7, 1.0]))
    drawn = np.array([counted.draw(random_stream(1, number)) for number in range(3000)])
    n, expected = 700, counted.counts.astype(float)
    assert (drawn.sum(axis=1) == n).all()
    variance = expected * (1 - expected / n)
    np.testing.assert_allclose(drawn.mean(axis=0), expected, atol=5 * np.sqrt(variance.max() / 3000))
    common = expected > 20
    np.testing.assert_allclose(drawn.var(axis=0)[common], variance[common], rtol=6 * np.sqrt(2 / 3000))


@pytest.mark.parametrize("digits", [1, None])
def test_the_band_of_many_rows_is_that_of_few_but_for_its_draws(monkeypatch, digits):
    y, first, second = draw_sample(900, digits=digits)
    expected = murphy_difference(y, first, second, resamples=400, points=60)
    lower_thresholds(monkeypatch)
    found = murphy_difference(y, first, second, resamples=400, points=60)
    assert bits_equal(found.theta, expected.theta)
    np.testing.assert_allclose(found.difference, expected.difference, rtol=0, atol=1e-15)
    assert (found.dominant, found.method, found.n) == (expected.dominant, expected.method, expected.n)
    for name, rest in (("upper", 0.3), ("simultaneous_upper", 0.2)):
        widths = [getattr(curve, name) - curve.difference for curve in (expected, found)]
        assert not bits_equal(*widths)
        np.testing.assert_allclose(widths[1], widths[0], rtol=rest, atol=1e-12)


def limit_scores(y, p, theta, *, from_left):
    """Elementary scores of rows just below or just above a cost, twice the cost of a decision."""
    acts = p >= theta if from_left else p > theta
    return np.where(acts, (1 - y) * 2 * theta, y * 2 * (1 - theta))


def find_extremes(y, first, second):
    """The highest and the lowest limit of the difference at any cost, by brute force."""
    found = [
        limit_scores(y, first, t, from_left=side).mean() - limit_scores(y, second, t, from_left=side).mean()
        for t in np.unique(np.concatenate([[0.0, 1.0], first, second]))
        for side in (True, False)
    ]
    return max(found), min(found)


HARD_PAIRS = {
    "drawn": lambda: draw_sample(40),
    "tied": lambda: draw_sample(60, digits=1),
    "same": lambda: (np.array([0.0, 1, 1]), np.array([0.2, 0.4, 0.4]), np.array([0.2, 0.4, 0.4])),
    "one row": lambda: (np.array([1.0]), np.array([0.3]), np.array([0.7])),
    "edges": lambda: (np.array([0.0, 1, 0, 1, 1]), np.array([0.0, 1, 1, 0, 5e-324]), np.full(5, 0.5)),
    "neighbours": lambda: (
        np.array([1.0, 0, 1]),
        np.array([0.5, np.nextafter(0.5, 1), 1.0]),
        np.array([np.nextafter(0.5, 0), 0.5, np.nextafter(1, 0)]),
    ),
    "worse": lambda: (np.array([0.0, 1] * 6), np.linspace(0.9, 0.1, 12), np.tile([0.0, 1], 6)),
    "minus zero": lambda: (np.array([0.0, 1]), np.array([-0.0, 0.5]), np.array([0.0, 0.5])),
}


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("kind", HARD_PAIRS)
def test_extreme_limits_are_those_of_brute_force(kind, rows, monkeypatch):
    set_chunk_rows(monkeypatch, rows)
    y, first, second = HARD_PAIRS[kind]()
    panel = make_panel(y, {"first": first, "second": second})
    assert _extreme_limits(panel) == pytest.approx(find_extremes(y, first, second), abs=1e-15)


def test_forecasts_sorted_together_keep_whose_they_are_and_what_happened():
    y, first, second = draw_sample(60, digits=1)
    panel = make_panel(y, {"first": first, "second": second})
    keys = _sort_together(panel)
    code = (keys & np.uint64(3)).astype(int)
    found = zip((keys >> np.uint64(2)).view(np.float64).tolist(), code // 2, code % 2, strict=True)
    given = [*zip(first, [0] * 60, y, strict=True), *zip(second, [1] * 60, y, strict=True)]
    assert list(found) == sorted(given)


@pytest.mark.parametrize("rows", [2, 1000])
@pytest.mark.parametrize(
    ("first", "second", "dominant"),
    [
        ([0.0, 0.1, 0.9], [0.5, 0.5, 0.5], "first"),
        ([0.5, 0.5, 0.5], [0.0, 0.1, 0.9], "second"),
        ([0.2, 0.3, 0.6], [0.2, 0.3, 0.6], "both"),
        ([0.0, 0.6, 0.9], [0.4, 0.4, 0.4], "neither"),
    ],
)
def test_who_dominates_is_told_alike_with_weights_of_1(first, second, dominant, rows, monkeypatch):
    set_chunk_rows(monkeypatch, rows)
    for weight in (None, np.ones(3)):
        panel = make_panel([0, 0, 1], {"a": first, "b": second}, sample_weight=weight)
        assert find_dominant(panel) == dominant


@pytest.mark.parametrize("rows", [1, 3, 8, 1000])
def test_places_are_numbered_among_the_chosen(rows, monkeypatch):
    set_chunk_rows(monkeypatch, rows)
    chosen = np.array([True, *(np.random.default_rng(1).random(50) < 0.3), *[False] * 9, True])
    numbers = np.arange(np.count_nonzero(chosen))
    for some in (numbers, numbers[::4], numbers[-1:]):
        assert _places(chosen, some).tolist() == np.flatnonzero(chosen)[some].tolist()


@pytest.mark.parametrize("rows", [4, 1000])
@pytest.mark.parametrize("digits", [1, None])
def test_costs_are_even_and_among_distinct_forecasts(rows, digits, monkeypatch):
    set_chunk_rows(monkeypatch, rows)
    panel = draw_panel(90, digits=digits)
    distinct = np.unique(np.concatenate(list(panel.forecasts.values())))
    chosen = np.linspace(0, len(distinct) - 1, min(15, len(distinct))).round().astype(int)
    assert bits_equal(choose_costs(panel, 30), np.union1d(np.linspace(0, 1, 15), distinct[chosen]))


# Fits and losses


@pytest.mark.usefixtures("few_are_many")
def test_fits_of_few_rows_are_kept_and_of_many_made_anew():
    few, many = (PanelFits(draw_panel(n)) for n in (MANY, MANY + 1))
    assert few["first"] is few["first"]
    assert many["first"] is not many["first"]
    assert list(many) == ["first", "second"]
    assert len(many) == 2
    for made in (few, many):
        assert made["second"].blocks.equals(corp(made._panel.outcome, made._panel.forecasts["second"]).blocks)


@pytest.mark.parametrize("kind", ["sampling", "frequency"])
def test_fits_take_weights_for_what_the_panel_does(kind):
    y, p, _ = draw_sample(20)
    panel = make_panel(y, {"p": p}, sample_weight=np.full(20, 2.0), weight_kind=kind)
    assert PanelFits(panel)["p"].sample.units.are_repeated_rows == (kind == "frequency")


@pytest.mark.usefixtures("few_are_many")
def test_memory_is_given_back_after_each_fit_of_many_rows(monkeypatch):
    calls = []
    monkeypatch.setattr(fits, "release_memory", lambda: calls.append(1))
    assert PanelFits(draw_panel(MANY))["first"].n == MANY
    assert not calls
    assert PanelFits(draw_panel(MANY + 1))["first"].n == MANY + 1
    assert len(calls) == 1


LOSSES = [("brier", {}), ("log_loss", {}), ("spherical", {}), ("net_benefit", {"threshold": 0.3})]


@pytest.mark.parametrize("rows", [1, 7, 1000])
@pytest.mark.parametrize("digits", [1, None])
@pytest.mark.parametrize(("name", "options"), LOSSES)
def test_losses_on_demand_are_those_of_each_case(name, options, digits, rows, monkeypatch):
    set_chunk_rows(monkeypatch, rows)
    measure, panel = resolve_measure(name, options), draw_panel(60, digits=digits)
    y, p = panel.outcome, np.clip(panel.forecasts["first"], 0.01, 0.99)
    fit = corp(y, p)
    expected = case_losses(measure, y, p, fit.cep, fit.prevalence)
    found = FittedLosses(measure, y, p, fit.blocks)
    assert found.measure == expected.measure
    for component in ("discrimination", "miscalibration", "discrimination"):
        assert bits_equal(found.gain(component), expected.gain(component))
        assert found.gain(component) is found.gain(component)


@pytest.mark.parametrize("rows", [3, 1000])
def test_fits_that_recalibrate_alike_are_told_from_others(rows, monkeypatch):
    set_chunk_rows(monkeypatch, rows)
    measure, panel = resolve_measure("brier", {}), draw_panel(60)
    y, p = panel.outcome, panel.forecasts["first"]
    last = p.copy()
    last[np.argmax(p)] = 0.0
    losses = [FittedLosses(measure, y, q, corp(y, q).blocks) for q in (p, p**2, last)]
    assert losses[0].recalibrates_like(losses[1])
    assert not losses[0].recalibrates_like(losses[2])


@pytest.mark.parametrize("digits", [2, None])
def test_the_overfit_of_many_rows_is_that_of_few(digits, monkeypatch):
    y, p, _ = draw_sample(1200, digits=digits)
    sample = corp(y, np.clip(p, 0.01, 0.99)).sample
    measures = [resolve_measure("brier", {}), resolve_measure("log_loss", {})]
    expected = estimate_overfit(sample, measures, draws=20, seed=1)
    lower_thresholds(monkeypatch)
    monkeypatch.setattr(overfit, "MANY_ROWS", 50)  # it counts distinct forecasts
    for one, other in zip(expected, estimate_overfit(sample, measures, draws=20, seed=1), strict=True):
        assert other.resampled == pytest.approx(one.resampled, rel=1e-5)
        assert (other.closed, other.constant) == (one.closed, one.constant)


@pytest.mark.parametrize("rows", [4, 1000])
@pytest.mark.parametrize("digits", [1, None])
def test_drawn_outcomes_have_the_mean_score_of_their_cases(digits, rows, monkeypatch):
    set_chunk_rows(monkeypatch, rows)
    y, p, _ = draw_sample(60, digits=digits)
    measures = [resolve_measure("brier", {}), resolve_measure("spherical", {})]
    sample = corp(y, p).sample
    drawn = sample.simulation(sample.distinct.x_min).redraw_outcomes(random_stream(1))
    n = np.ones(60) if drawn.n is None else drawn.n
    found = overfit._make_scorer(sample.simulation(sample.distinct.x_min), measures, redraw_cases=False)(
        drawn
    )
    for value, measure in zip(found, measures, strict=True):
        of_events, of_others = (measure.loss(np.full(len(n), y), sample.distinct.x_min) for y in (1.0, 0.0))
        expected = (drawn.events * of_events + (n - drawn.events) * of_others).sum() / 60
        assert value == pytest.approx(expected, rel=1e-12)


# Panels


def random_keys(seed):
    """Three columns with so few values that they tie."""
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 3, 9).astype(float) for _ in range(3)]


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_ordered_as_tuples_are(seed):
    keys = random_keys(seed)
    rows = list(zip(*keys, strict=True))
    order = order_by(keys)
    assert [rows[at] for at in order] == sorted(rows)
    assert are_ordered([key[order] for key in keys])
    for left, right in pairwise(range(9)):
        swapped = order.copy()
        swapped[[left, right]] = order[[right, left]]
        assert are_ordered([key[swapped] for key in keys]) == (rows[order[left]] == rows[order[right]])


def test_one_row_and_dates_have_an_order():
    assert are_ordered([np.array([1.0])])
    days = np.array(["2026-01-01", "2026-01-02", "2026-01-02"], dtype="datetime64[D]")
    assert are_ordered([days, np.array([5.0, 1.0, 2.0])])
    assert not are_ordered([days, np.array([5.0, 2.0, 1.0])])
    assert not are_ordered([days[::-1], np.array([5.0, 1.0, 2.0])])


def test_rows_that_are_in_order_and_cannot_change_are_not_copied():
    panel = draw_panel(50, digits=1)
    again = make_panel(panel.outcome, panel.forecasts)
    assert np.shares_memory(again.outcome, panel.outcome)
    assert all(np.shares_memory(again.forecasts[name], p) for name, p in panel.forecasts.items())
    assert not again.outcome.flags.writeable
    assert not again.forecasts["first"].flags.writeable


def test_a_panel_in_order_does_not_change_with_the_arrays_it_was_made_of():
    p = np.linspace(0.1, 0.9, 60)
    y = (np.arange(60) % 3 == 0).astype(float)
    expected = bootstrap(y.copy(), {"p": p.copy()}, resamples=30).interval("p", "brier")
    result = bootstrap(y, {"p": p}, resamples=30)
    p[:], y[:] = 0.5, 1.0
    assert result.interval("p", "brier") == expected


def test_results_do_not_change_with_the_table_that_lent_its_columns():
    table = pd.DataFrame({"y": [0.0, 1.0, 1.0] * 30, "p": np.linspace(0.1, 0.8, 90)})
    fit, boot = corp(table["y"], table["p"]), bootstrap(table["y"], {"p": table["p"]}, resamples=30)
    cep, interval = fit.cep, boot.interval("p", "brier")
    table.loc[0, "p"] = 0.99
    table.loc[:, "y"] = 1.0
    assert bits_equal(fit.cep, cep)
    assert boot.interval("p", "brier") == interval


def test_the_forecasts_of_a_panel_are_held_once_for_its_fits():
    panel = draw_panel(50)
    assert np.shares_memory(PanelFits(panel)["first"].y_prob, panel.forecasts["first"])


def test_rows_without_weight_leave_though_in_order():
    panel = make_panel([0, 1, 1], {"p": [0.1, 0.2, 0.3]}, sample_weight=[1, 0, 2])
    assert panel.only.tolist() == [0.1, 0.3]
    assert panel.weight.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("p", [[0.0, -0.0, 0.5], [-0.0, 0.0, 0.5], [0.5, -0.0, 0.0]])
def test_minus_zero_is_zero(p):
    panel = make_panel([1, 0, 1] if p[0] < 0.5 else [1, 1, 0], {"p": p})
    assert bits_equal(panel.only, np.array([0.0, 0.0, 0.5]))
    assert panel.outcome.tolist() == [0.0, 1.0, 1.0]


def test_the_arrays_of_a_panel_in_order_stay_writeable():
    p, y = np.array([0.1, 0.2]), np.array([0.0, 1.0])
    make_panel(y, {"p": p})
    assert p.flags.writeable
    assert y.flags.writeable


@pytest.mark.parametrize("column", ["outcome", "second", "weight", "cluster", "time"])
def test_a_panel_is_the_same_from_rows_in_any_order(column):
    rng = np.random.default_rng(3)
    n = 120
    y, first, second = draw_sample(n, digits=1)
    given = {
        "weight": rng.integers(0, 3, n).astype(float),
        "cluster": rng.integers(0, 4, n),
        "time": rng.integers(0, 5, n),
    }
    used = {column} & given.keys()

    def make(order):
        options = {name: given[name][order] for name in used}
        weight = options.pop("weight", None)
        forecasts = {"first": first[order]} | ({"second": second[order]} if column == "second" else {})
        return make_panel(y[order], forecasts, sample_weight=weight, **options)

    one, other = make(np.arange(n)), make(rng.permutation(n))
    again = make_panel(
        one.outcome, one.forecasts, sample_weight=one.weight, cluster=one.cluster, time=one.time
    )
    for panel in (other, again):
        assert bits_equal(one.outcome, panel.outcome)
        assert all(bits_equal(one.forecasts[name], panel.forecasts[name]) for name in one.forecasts)
        for name in used:
            assert bits_equal(getattr(one, name), getattr(panel, name))
    assert one.weight is None or (one.weight > 0).all()


# Units, ties, folds and sums by stretches


def test_rows_without_weights_weigh_one_each_and_take_no_room():
    weight = SamplingUnits(rows=5).row_weight
    assert weight.tolist() == [1.0] * 5
    assert weight.dtype == np.float64
    assert weight.base.size == 1
    with pytest.raises(ValueError, match="read-only"):
        weight[0] = 2.0


def test_rows_without_weights_are_rows_that_weigh_one():
    values = np.random.default_rng(1).exponential(size=200)
    kept = values.copy()
    plain, weighted = SamplingUnits(rows=200), SamplingUnits(rows=200, weight=np.ones(200))
    for name in ("mean", "standard_error", "acceleration"):
        assert getattr(plain, name)(values) == getattr(weighted, name)(values)
        assert bits_equal(values, kept)
    assert (plain.total, plain.size, plain.case_weight) == (200.0, 200.0, 1.0)
    assert plain.standard_error(values) == pytest.approx(values.std(ddof=1) / np.sqrt(200), rel=1e-12)


TIES = {
    "first": [3, 1, 1],
    "last": [1, 1, 3],
    "neighbours": [1, 2, 3, 2, 1],
    "all": [2, 2, 4],
    "one forecast": [5],
    "apart": [1, 4, 1, 1, 2, 1, 7],
}


@pytest.mark.parametrize("largest", [np.iinfo(np.int32).max, 3])
@pytest.mark.parametrize("n", TIES.values(), ids=TIES)
def test_events_of_ties_are_counted_by_forecast(n, largest, monkeypatch):
    monkeypatch.setattr(draws, "_LARGEST_INT32", largest)
    counts = np.array(n, dtype=np.int64)
    ties = ForecastTies.of(counts)
    assert ties.n.tolist() == n
    assert ties.n.dtype == (np.int32 if largest > 3 else np.int64)
    forecast = np.repeat(np.arange(len(n)), n)
    for seed in range(10):
        happens = np.random.default_rng(seed).random(len(forecast)) < 0.5
        assert ties.count(happens).tolist() == np.bincount(forecast, happens, len(n)).tolist()
    assert ties.count(np.ones(len(forecast), dtype=bool)).tolist() == n
    assert ties.forecasts_of(np.arange(len(forecast))).tolist() == forecast.tolist()


def test_sums_between_cuts_keep_their_kind_of_number():
    values, cuts = np.array([1, 2, 3, 4, 5], dtype=np.int32), np.array([2, 3])
    found = sum_between(values, cuts)
    assert found.tolist() == [3, 3, 9]
    assert found.dtype == np.int32
    assert values.tolist() == [1, 2, 3, 4, 5]


def test_folds_of_forecasts_in_order_are_even_and_blind_to_outcomes():
    p, folds = np.sort(np.random.default_rng(1).random(203)), 5
    fold = _assign_in_order(p, folds, random_stream(1))
    assert all(sorted(turn) == list(range(folds)) for turn in fold[:200].reshape(-1, folds).tolist())
    assert len(set(fold[200:].tolist())) == 3
    tied = np.repeat([0.1, 0.2, 0.6], [1, 100, 102])  # outcomes order ties: folds must not follow them
    dealt = np.array([_assign_in_order(tied, folds, random_stream(1, number)) for number in range(400)])
    assert (np.diff(np.sort(np.apply_along_axis(np.bincount, 1, dealt, minlength=folds))) <= 1).all()
    of_tie = np.apply_along_axis(np.bincount, 1, dealt[:, 1:101], minlength=folds)
    assert of_tie.min() >= 19
    assert of_tie.max() <= 21
    together = (dealt[:, 1] == dealt[:, 2]).mean()  # of turns alone two neighbours would seldom be
    assert together == pytest.approx(19 / 99, abs=0.1)


@pytest.mark.usefixtures("few_are_many")
def test_many_rows_are_dealt_as_they_are():
    y, p, _ = draw_sample(MANY + 1, digits=2)
    panel = make_panel(y, {"p": p})
    assert assign_folds(panel, 5, random_stream(1)).panel is panel


@pytest.mark.parametrize("rows", [1, 13, 1000])
def test_lines_do_not_depend_on_the_size_of_stretches(rows, monkeypatch):
    y, p, _ = draw_sample(300)
    x, weight = logit(p), np.random.default_rng(1).uniform(0.5, 2, 300)
    columns = np.stack([np.ones(300), x])
    expected = [*fit_line(x, y, weight), fit_offset(x, y, weight), *information(columns, x, weight).ravel()]
    set_chunk_rows(monkeypatch, rows)
    found = [*fit_line(x, y, weight), fit_offset(x, y, weight), *information(columns, x, weight).ravel()]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


# Bins


@pytest.mark.parametrize(("total", "n_bins"), [(10, 3), (9, 3), (2, 5), (100_003, 10), (1, 1)])
def test_whole_totals_are_split_into_whole_sizes(total, n_bins):
    expected = [len(part) for part in np.array_split(np.empty(total), n_bins)]
    assert split_evenly(total, n_bins).tolist() == expected
    assert split_evenly(float(total), n_bins).tolist() == expected


def test_fractional_totals_are_split_exactly_evenly():
    assert split_evenly(2.5, 5).tolist() == [0.5] * 5


# Memory


def test_memory_is_given_back_without_pyarrow(monkeypatch):
    monkeypatch.delitem(sys.modules, "pyarrow", raising=False)
    release_memory()
    assert "pyarrow" not in sys.modules


def test_memory_of_pyarrow_and_the_c_library_is_given_back(monkeypatch):
    calls = []
    pool = SimpleNamespace(release_unused=lambda: calls.append("pyarrow"))
    monkeypatch.setitem(sys.modules, "pyarrow", SimpleNamespace(default_memory_pool=lambda: pool))
    library = SimpleNamespace(malloc_trim=calls.append)
    monkeypatch.setattr(ctypes, "CDLL", {None: library}.get)
    monkeypatch.setattr(sys, "platform", "linux")
    release_memory()
    assert calls == ["pyarrow", 0]


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_a_c_library_that_cannot_give_back_is_left_alone(platform, monkeypatch):
    asked = []
    monkeypatch.delitem(sys.modules, "pyarrow", raising=False)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: asked.append(name) or SimpleNamespace())
    monkeypatch.setattr(sys, "platform", platform)
    release_memory()
    assert asked == ([None] if platform == "linux" else [])


# A whole evaluation

#: What is drawn from other random numbers if rows are many.
DRAWN = re.compile(
    r"interval\.(standard_error|lower|upper)$|recalibration|"
    r"scale.*\.(standard_error|lower|upper|angle_lower|angle_upper|calibrated_\w+)$|"
    r"murphy.*\.(\w*lower|\w*upper|sentence)$"
)
#: What single precision moves, as the resampled overfit is summed in it.
MOVED = re.compile(r"components\[|comparisons\.differences\[")


def list_leaves(value, path=""):
    """All numbers, arrays and texts of a result, with where they stand."""
    if is_dataclass(value):
        for field in fields(value):
            yield from list_leaves(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, dict | tuple | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from list_leaves(item, f"{path}[{key}]")
    else:
        yield path, value


def draw_evaluated():
    y, first, second = draw_sample(1500, seed=4)
    return y, {"fine": first, "coarse": np.clip(second.round(2), 0.01, 0.99)}


@pytest.fixture(scope="module")
def evaluations():
    """The same predictions, evaluated as few rows and as many."""
    y, forecasts = draw_evaluated()
    predictions = sr.Predictions(outcome=y, forecasts=forecasts)
    few = sr.evaluate(predictions, resamples=40)
    with pytest.MonkeyPatch.context() as patch:
        lower_thresholds(patch)
        return few, sr.evaluate(predictions, resamples=40)


def test_an_evaluation_of_many_rows_has_the_numbers_of_one_of_few(evaluations):
    few, many = (dict(list_leaves(evaluation)) for evaluation in evaluations)
    assert few.keys() == many.keys()
    fixed = [path for path in few if not DRAWN.search(path)]
    assert len(fixed) > 1000
    for path in fixed:
        one, other = few[path], many[path]
        if isinstance(one, float | np.ndarray) and not isinstance(one, bool):
            allowed = 1e-6 if MOVED.search(path) else 1e-11
            np.testing.assert_allclose(other, one, rtol=allowed, atol=allowed, err_msg=path)
        else:
            assert other == one, path


def test_components_of_many_rows_are_those_of_their_fits(evaluations):
    y, forecasts = draw_evaluated()
    many, by_model = evaluations[1], []
    for model in many.models:
        found = {f"{c.measure} {c.component}": c.value for c in model.scores.components}
        fit = corp(y, forecasts[model.model])
        expected = {name: getattr(fit.decompose(name.split()[0]), name.split()[1]) for name in found}
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-12)
        by_model.append(found)
    fine, coarse = by_model
    assert len(fine) >= 8
    differences = {d.measure: d.value for d in many.comparisons.differences if d.measure in fine}
    expected = {name: fine[name] - coarse[name] for name in fine}
    assert differences == pytest.approx(expected, rel=1e-9, abs=1e-12)


def list_intervals(evaluation):
    """Everything with an error and two bounds that the bootstrap of rows gives."""
    for model in evaluation.models:
        for score in model.scores.scores:
            yield from (score.interval, score.skill_interval)
        for scale in model.scale:
            for mark in (scale.decisiveness, scale.accuracy, scale.robustness):
                yield from (mark.model, mark.source, mark.divergence)


def test_an_evaluation_of_many_rows_has_intervals_that_agree_with_those_of_few(evaluations):
    pairs = list(zip(*map(list_intervals, evaluations), strict=True))
    drawn = [pair for pair in pairs if pair[0].standard_error != pair[1].standard_error]
    assert len(drawn) > 100
    for one, other in drawn:
        assert_same_interval(one, other, factor=2)
    ratio = np.log([other.standard_error / one.standard_error for one, other in drawn])
    assert abs(np.nanmean(ratio)) < 0.15
    few, many = (evaluation.comparisons.murphy[0] for evaluation in evaluations)
    inner = (few.theta > 0.05) & (few.theta < 0.95)
    widths = [(curve.upper - curve.difference)[inner].mean() for curve in (few, many)]
    assert widths[1] == pytest.approx(widths[0], rel=0.25)


def test_recalibration_of_many_rows_gains_as_much_as_that_of_few(evaluations):
    few, many = ([trial for model in e.models for trial in model.recalibration] for e in evaluations)
    assert len(few) == len(many) > 4
    for one, other in zip(few, many, strict=True):
        assert other.method == one.method
        assert other.miscalibration_before == pytest.approx(one.miscalibration_before, rel=1e-12)
        assert other.brier.value == pytest.approx(one.brier.value, abs=2 * one.brier.standard_error)
        assert other.brier.standard_error == pytest.approx(one.brier.standard_error, rel=0.3)
