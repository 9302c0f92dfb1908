"""Samples of many rows: threshold, groups of neighbours, sums over resamples, costs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from many_rows_tools import (
    MANY,
    assert_same_interval,
    draw_panel,
    draw_sample,
    few_are_many_fixture,
    lower_thresholds,
    set_chunk_rows,
)
from scipy.special import expit

from scorereport._utils import machine
from scorereport._utils.arrays import bits_equal, row_chunks
from scorereport.inference import scale_fits
from scorereport.inference.bootstrap_resamples import bootstrap_panel
from scorereport.inference.dominance import _places, choose_costs, murphy_difference
from scorereport.inference.large_panels import are_many_alike, resample_sums
from scorereport.inference.losses import resolve_measure
from scorereport.inference.murphy_bands import (
    CountedSample,
    RowSample,
    average_differences,
)
from scorereport.inference.murphy_limits import _extreme_limits, find_dominant, sort_together
from scorereport.inference.nelson_scale import _of_event, scale_forecast
from scorereport.inference.panel import make_panel
from scorereport.inference.scale_draws import ScaleTarget
from scorereport.inference.scale_groups import group_forecast, is_groupable
from scorereport.inference.scale_sums import resample_marks
from scorereport.reliability.fit import corp
from scorereport.reliability.sampling import SamplingUnits, random_stream
from scorereport.scores.scale import split_evenly

few_are_many = pytest.fixture(few_are_many_fixture)


TARGETS = (None, 0, 1)


EXPONENTS = (1.0, 0.0, -2 / 3, -2.0, 2.0)


SCALE = {"n_bins": 10, "limit": 0.0, "level": 0.9, "seed": 4}


@pytest.fixture
def on_threads(monkeypatch):
    """Set the number of threads, however few the rows."""
    monkeypatch.setattr(machine, "_ROWS_WORTH_A_THREAD", 1)
    return lambda threads: monkeypatch.setenv("SCOREREPORT_THREADS", str(threads))


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
def test_chunks_hold_each_row_once_in_order(n, size):
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
def test_means_and_tails_of_groups_are_those_of_rows(hard, limit, label, monkeypatch):
    rows, groups = make_targets(hard, limit, label)
    expected, found = rows.power_means(EXPONENTS), groups.power_means(EXPONENTS)
    assert found == pytest.approx(expected, rel=1e-12, nan_ok=True)
    assert groups.tail_index == pytest.approx(rows.tail_index, rel=1e-12)
    monkeypatch.setattr(SamplingUnits, "draw", lambda units, _: units.row_weight)
    (of_rows,), (of_groups,) = (
        resample_marks(target.forecast, [target], resamples=1, seed=1) for target in (rows, groups)
    )
    for one, other in zip(of_rows, of_groups, strict=True):
        np.testing.assert_allclose(other.model, one.model, rtol=1e-12)
        np.testing.assert_allclose(other.source, one.source, rtol=1e-12)


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
    places = scale_fits.spread_places(n)
    assert places[0] == 0
    assert places[-1] == n - 1
    gaps, alone = np.diff(places), scale_fits.ALONE
    assert gaps.min(initial=1) == 1
    assert (gaps[: alone - 1] == 1).all()
    assert (gaps[1 - alone :] == 1).all()
    assert gaps.max(initial=1) <= max(n / scale_fits.GROUPS, 1)
    reach = alone + np.arange(1, 400)
    near = reach[(reach < n / 2) & (reach < n / scale_fits.GROUPS / (scale_fits.GROWTH - 1))]
    following = places[np.searchsorted(places, near, side="right")]
    assert (following <= near * scale_fits.GROWTH + 1).all()


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
        for measure in ("decisiveness", "accuracy", "robustness"):
            for part in ("model", "source", "divergence"):
                assert_same_interval(*(getattr(getattr(r, measure), part) for r in (one, other)), factor=1.35)


# Sums over resamples


def test_each_row_is_drawn_by_the_multinomial_distribution(monkeypatch):
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


@pytest.mark.sweep
def test_chunks_are_drawn_independently_of_each_other(monkeypatch):
    set_chunk_rows(monkeypatch, 4)
    rows, seeds = np.eye(8), 2000
    times = np.array(
        [
            resample_sums(lambda p: rows[:, p], 8, resamples=1, seed=seed, what="").drawn[0]
            for seed in range(seeds)
        ]
    )
    np.testing.assert_allclose(np.cov(times.T), np.eye(8) - 1 / 8, atol=6 * np.sqrt(2 / seeds))


def test_the_number_of_draws_of_a_chunk_is_binomial(monkeypatch):
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
    values = np.sort(np.random.default_rng(1).exponential(size=n))  # chunks differ as much as they can
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


def test_the_bootstrap_of_many_rows_has_the_statistics_and_distribution_of_few(monkeypatch):
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
def test_kinds_of_rows_are_drawn_by_the_multinomial_distribution():
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
    assert _extreme_limits(panel, sort_together(panel)) == pytest.approx(
        find_extremes(y, first, second), abs=1e-15
    )


@pytest.mark.parametrize("rows", [1, 7, 1000])
@pytest.mark.parametrize("kind", HARD_PAIRS)
def test_limits_are_sought_until_both_models_are_worse_somewhere(kind, rows, monkeypatch):
    set_chunk_rows(monkeypatch, rows)
    y, first, second = HARD_PAIRS[kind]()
    panel, enough = make_panel(y, {"first": first, "second": second}), 1e-12
    found, extremes = _extreme_limits(panel, sort_together(panel), enough), find_extremes(y, first, second)
    assert [limit > enough for limit in found] == [limit > enough for limit in extremes]
    assert [limit < -enough for limit in found] == [limit < -enough for limit in extremes]


def test_forecasts_sorted_together_keep_their_model_and_outcome():
    y, first, second = draw_sample(60, digits=1)
    panel = make_panel(y, {"first": first, "second": second})
    keys = sort_together(panel)
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
def test_dominance_is_the_same_with_weights_of_1(first, second, dominant, rows, monkeypatch):
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
