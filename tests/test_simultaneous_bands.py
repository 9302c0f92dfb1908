"""Bands of weights and clusters, where a band is given, simultaneous and honest bands."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from itertools import count, islice
from math import ceil

import numpy as np
import pytest
from band_tools import FIT, SAMPLES, draw_samples, drawn_curves, sample
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

import scorereport as sr
from scorereport._utils.choices import SEED
from scorereport._utils.progress import watched_by
from scorereport.reliability import band_bounds
from scorereport.reliability.band_bounds import choose_cells, fewest_resamples

# Estimates of 0 and 1


def raise_start(x, upper, forecasts, error):
    """The rule of `certainty`, restated case by case; `forecasts` are (forecast, cases, events), ascending.

    N^(2/3) cases from the end, or all before the first event, have an exact binomial upper bound. Upper
    bounds are raised to it, or to the bound N^(2/3) cases further inside if that is lower, up to there.
    """
    total = sum(n for _, n, _ in forecasts)
    certain = sum(n for k, (_, n, _) in enumerate(forecasts) if not any(e for _, _, e in forecasts[: k + 1]))
    cases = events = 0
    for _, n, happened in forecasts:
        cases, events = cases + n, events + happened
        if cases >= max(certain, total ** (2 / 3)):
            break
    bound, counted = beta.ppf(1 - error, events + 1, cases - events), 0
    for forecast, n, _ in forecasts:
        counted += n
        if counted >= certain + total ** (2 / 3):
            bound = min(bound, np.interp(forecast, x, upper))
            return np.array([max(u, bound) if z <= forecast else u for z, u in zip(x, upper, strict=True)])
    return np.maximum(upper, bound)


def widen(fit, x, lower, upper, error, cases_of_weight=1):
    """Raise upper bounds at the start and, seen from the other side, lower the lower ones at the end."""
    of_event, of_other = np.broadcast_to(cases_of_weight, 2)
    happened, other = fit.distinct.events * of_event, (fit.distinct.n - fit.distinct.events) * of_other
    columns = (fit.distinct.x_min, happened + other, happened)
    forecasts = list(zip(*(column.tolist() for column in columns), strict=True))
    mirrored = [(-x, n, n - events) for x, n, events in reversed(forecasts)]
    if fit.blocks.mean[0] == 0:
        upper = raise_start(x, upper, forecasts, error)
    if fit.blocks.mean[-1] == 1:
        lower = 1 - raise_start(-x[::-1], 1 - lower[::-1], mirrored, error)[::-1]
    return lower, upper


def assert_ends_are_widened(fit, cases_of_weight):
    """Quantiles drawn, without width at the ends where the estimate is 0 or 1, then widened."""
    band = fit.band("confidence", 0.9, resamples=300)
    lower, upper = np.nanquantile(drawn_curves(fit, "confidence", 300), [0.05, 0.95], axis=0)
    for end in (0, -1):
        assert (lower[end] == upper[end]) == (fit.blocks.mean[end] in {0, 1})
    lower, upper = widen(fit, band.x, lower, upper, 0.05, cases_of_weight)
    np.testing.assert_allclose(band.lower, lower, rtol=0, atol=1e-12)
    np.testing.assert_allclose(band.upper, upper, rtol=0, atol=1e-12)
    assert (np.diff(band.lower) >= -1e-12).all()
    assert (np.diff(band.upper) >= -1e-12).all()
    assert (band.upper > band.lower).all()
    return band


ENDS = np.array([0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1])


def test_confidence_at_certain_ends_is_an_exact_binomial_bound():
    """Of 15 cases 15^(2/3) = 6.1 and so the first 7, with 2 events, and the last 7, with one non-event."""
    band = assert_ends_are_widened(sr.corp(ENDS, np.arange(15) / 14), 1)
    assert binom.cdf(2, 7, band.upper[0]) == pytest.approx(0.05, abs=1e-12)
    assert binom.cdf(1, 7, 1 - band.lower[-1]) == pytest.approx(0.05, abs=1e-12)


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_widened_at_certain_ends_alone(name):
    assert_ends_are_widened(sr.corp(*sample(name)), 1)


def test_long_certain_segments_are_counted_whole():
    """12 cases without an event are more than 20^(2/3) = 7.4; then 1 - 0.05^(1/12)."""
    y = np.r_[np.zeros(12), 1, 0, 1, 0, 1, 0, 1, 1]
    band = assert_ends_are_widened(sr.corp(y, np.arange(20) / 20), 1)
    assert band.upper[0] == pytest.approx(1 - 0.05 ** (1 / 12), abs=1e-12)


def test_one_case_at_an_end_does_not_undo_what_many_others_show():
    """Of 122 cases the first is without an event; the bound there is that of the first 25."""
    y = np.r_[0, np.tile([1, 0, 0, 0], 30), 1]
    fit = sr.corp(y, np.linspace(0, 1, 122))
    assert fit.blocks.n.tolist() == [1, 120, 1]
    band = assert_ends_are_widened(fit, 1)
    assert (band.upper[:100] < 0.5).all()


def test_fractional_weights_at_certain_ends_count_as_effective_cases():
    """Σw/Σw² cases for a unit of weight of either outcome, whatever the unit."""
    weight = np.where(ENDS == 0, 0.75, 1.5)
    weight[:3] = [0.5, 1.25, 2.0]
    bands = []
    for w in (weight, weight * 100.3):
        cases = [of.sum() / (of**2).sum() for of in (w[ENDS == 1], w[ENDS == 0])]
        bands.append(assert_ends_are_widened(sr.corp(ENDS, np.arange(15) / 14, w), cases))
    np.testing.assert_allclose(bands[0].upper, bands[1].upper, rtol=0, atol=1e-12)


@pytest.mark.parametrize("weight", np.arange(1, 30) / 7)
def test_one_weighted_row_is_one_case(weight):
    """Whatever its weight, and however w²/w and w/(w²/w) are rounded."""
    band = sr.corp([0], [0.3], [weight]).band("confidence", resamples=10)
    assert (band.lower[0], band.upper[0]) == (0, pytest.approx(1 - 0.05, abs=1e-12))


def test_clusters_at_certain_ends_count_by_their_number():
    """11 clusters of 15 rows count as 9 of equal size: a row is 9/15 of a case."""
    cluster = [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 9, 9, 10]
    fit = sr.corp(ENDS, np.arange(15) / 14, cluster=cluster)
    assert fit.sample.correlation == 0
    assert_ends_are_widened(fit, 9 / 15)


@pytest.mark.parametrize("outcome", [0, 1])
def test_one_class_is_bounded_by_the_exact_binomial_bound(outcome):
    band = sr.corp([outcome] * 4, [0.1, 0.2, 0.2, 0.9]).band("confidence", 0.8, resamples=20)
    wide = 1 - 0.1 ** (1 / 4)
    np.testing.assert_allclose(band.upper - band.lower, wide, rtol=1e-14)
    assert (band.lower[0], band.upper[0]) == pytest.approx((0, wide) if outcome == 0 else (1 - wide, 1))


def test_a_perfect_forecast_is_bounded_at_both_ends():
    band = sr.corp([0, 0, 1, 1, 1], [0.1, 0.2, 0.7, 0.8, 0.9]).band("confidence", 0.9, resamples=20)
    assert binom.cdf(1, 3, band.upper[0]) == pytest.approx(0.05, abs=1e-12)  # 5^(2/3) = 2.9 cases
    assert band.lower[-1] == pytest.approx(0.05 ** (1 / 3), abs=1e-12)
    assert (np.diff(band.upper) >= 0).all()
    assert (np.diff(band.lower) >= 0).all()


@pytest.mark.parametrize("method", ["discrete", "continuous"])
def test_theory_gives_no_certainty_where_the_estimate_is_0_or_1(method):
    """Where an estimate is 0 or 1 normal and Chernoff widths are 0. R bridges a discrete band there."""
    fit = sr.corp([0, 0, 0, 1, 0, 1, 1, 1], np.linspace(0.1, 0.8, 8))
    band = fit.band("confidence", 0.8, method=method)
    inside = (band.x > 0.1 + 1e-9) & (band.x < 0.8 - 1e-9)
    assert (band.upper[inside] > band.lower[inside]).all()


# Weights and clusters


@pytest.mark.parametrize("kind", ["consistency", "confidence"])
@pytest.mark.parametrize("digits", [1, 17], ids=["by count", "by case"])
@pytest.mark.parametrize("coverage", ["pointwise", "simultaneous"])
def test_frequencies_equal_repeated_rows_to_the_last_bit(kind, digits, coverage):
    rng = np.random.default_rng(3)
    p, weight = rng.random(60).round(digits), rng.integers(0, 5, 60)
    y = (rng.random(60) < p).astype(float)
    weighted = sr.corp(y, p, weight, weight_kind="frequency").band(kind, coverage=coverage, resamples=60)
    repeated = sr.corp(y.repeat(weight), p.repeat(weight)).band(kind, coverage=coverage, resamples=60)
    assert weighted.n == repeated.n == weight.sum()
    for side in ("x", "lower", "upper"):
        assert getattr(weighted, side).tobytes() == getattr(repeated, side).tobytes()


WEIGHTED = [("consistency", "pointwise"), ("confidence", "pointwise"), ("consistency", "simultaneous")]


@pytest.mark.parametrize("method", ["resampling", "discrete", "continuous"])
@pytest.mark.parametrize(("kind", "coverage"), WEIGHTED)
@pytest.mark.parametrize("scale", [0.001, 4.0, 300.3])
def test_the_unit_of_fractional_weights_does_not_matter(method, kind, coverage, scale):
    """Sums of 60 weights keep 13 digits; the estimate has ends of 0 and 1, where bounds are exact ones."""
    rng = np.random.default_rng(4)
    p, weight = rng.random(60).round(2), rng.random(60) + 0.05
    y = (rng.random(60) < p).astype(float)
    options = {"coverage": coverage} if coverage == "simultaneous" else {"method": method}
    assert set(sr.corp(y, p, weight).blocks.mean[[0, -1]]) == {0, 1}
    one = sr.corp(y, p, weight).band(kind, resamples=60, **options)
    other = sr.corp(y, p, weight * scale).band(kind, resamples=60, **options)
    np.testing.assert_allclose(one.lower, other.lower, rtol=0, atol=1e-12)
    np.testing.assert_allclose(one.upper, other.upper, rtol=0, atol=1e-12)


def test_fractional_weights_widen_discrete_bands_by_their_effective_number():
    """Weights of 0.5 and 1.5 of either outcome: a row counts as 1.25, and four rows as 16/5 cases."""
    y, p = [0, 0, 1, 1] * 2, np.repeat([0.25, 0.5], 4)
    band = sr.corp(y, p, [0.5, 1.5] * 4).band(method="discrete", level=0.5)
    z = 0.6744897501960817
    half = z * np.sqrt([0.25 * 0.75 / (16 / 5), 0.25 / (16 / 5)])
    np.testing.assert_allclose(band.upper - band.x, half, rtol=1e-13)


def test_dependent_rows_widen_the_band():
    """Copies of every row in a cluster of their own add nothing: the band is about √5 times as wide."""
    rng = np.random.default_rng(5)
    p = rng.integers(1, 10, 200) / 10
    y = (rng.random(200) < p).astype(float)
    copies, cluster = 5, np.arange(200).repeat(5)
    apart = sr.corp(y.repeat(copies), p.repeat(copies)).band(resamples=200)
    together = sr.corp(y.repeat(copies), p.repeat(copies), cluster=cluster).band(resamples=200)
    alone = sr.corp(y, p).band(resamples=200)
    widths = [(band.upper - band.lower).mean() for band in (apart, together, alone)]
    assert 1.6 * widths[0] < widths[1]
    assert widths[1] == pytest.approx(widths[2], rel=0.15)


# Where a band is given


def test_a_band_has_at_most_the_requested_points_and_every_edge_of_a_block():
    rng = np.random.default_rng(6)
    p = rng.random(3000)
    fit = sr.corp((rng.random(3000) < p).astype(float), p)
    for points in (2, 50, 500):
        band = fit.band(method="resampling", resamples=4, points=points)
        corners = fit.corners[0]
        assert set(corners) <= set(band.x)
        ranked = fit.distinct.x_min[np.linspace(0, 2999, points).round().astype(int)]
        np.testing.assert_array_equal(band.x, np.union1d(ranked, corners))
    assert len(fit.band(method="resampling", resamples=4, points=3000).x) == 3000


def test_bounds_do_not_depend_on_how_many_points_are_requested():
    y, x = sample("continuous, n = 60")
    few = sr.corp(y, x).band(resamples=50, points=5)
    many = sr.corp(y, x).band(resamples=50, points=60)
    lower, upper = many.at(few.x)
    np.testing.assert_array_equal(few.lower, lower)
    np.testing.assert_array_equal(few.upper, upper)
    assert len(few.x) < len(many.x) == 60


def peak_of_band(fit, **options):
    tracemalloc.start()
    try:
        band = fit.band(method="resampling", **options)
        return tracemalloc.get_traced_memory()[1], len(band.x)
    finally:
        tracemalloc.stop()


@pytest.mark.sweep
def test_memory_grows_with_the_curves_that_are_kept_and_with_nothing_else(monkeypatch):
    """The rows of a draw are gone before the next but a few, so the peak stays below 20 times the rows.
    Twice the draws add at most their curves, as collected and in a table; on one thread, as on several
    it is random which temporary arrays of two draws coexist.
    """
    rng = np.random.default_rng(7)
    p = rng.random(200_000)
    fit = sr.corp((rng.random(200_000) < p).astype(float), p)
    fit.sample.distinct  # noqa: B018  the fit itself is not what is measured
    peak, points = peak_of_band(fit, resamples=60)
    assert points <= 500 + len(fit.corners[0]) < 2000
    assert peak < 20 * (2 * 200_000 * 8)
    monkeypatch.setenv("SCOREREPORT_THREADS", "1")
    once, twice = (peak_of_band(fit, resamples=resamples)[0] for resamples in (60, 120))
    assert twice - once < 2 * (60 * points * 8)


def test_a_band_can_be_interrupted():
    """A progress callback may stop it, as an interrupt does."""

    def watch(what, done, total):
        assert (what, total) == ("drawing curves", 100_000)
        if done >= 500:
            assert done == 500
            raise KeyboardInterrupt

    with watched_by(watch), pytest.raises(KeyboardInterrupt):
        FIT.band(resamples=100_000)


# Simultaneous bands of a calibrated curve


def split_band(curves, level):
    """INTERVALS.md 7, restated: half of the curves give the shape, the other half the factor."""
    half = len(curves) // 2
    low, mid, high = np.quantile(curves[:half], [0.005, 0.5, 0.995], axis=0)
    width = np.maximum(mid - low, high - mid)
    floor = (np.median(width) or width.max()) / 4
    e1, e2 = np.maximum(mid - low, floor), np.maximum(high - mid, floor)
    widest = [max(((f - mid) / e2).max(), ((mid - f) / e1).max()) for f in curves[half:]]
    c = sorted(widest)[ceil(level * (len(curves) - half + 1)) - 1]
    return np.clip(mid - c * e1, 0, 1), np.clip(mid + c * e2, 0, 1), mid, sum(t <= c for t in widest)


@pytest.mark.parametrize("resamples", [60, 101])
@pytest.mark.parametrize("level", [0.5, 0.9])
@pytest.mark.parametrize("name", [*SAMPLES, "mostly certain"])
def test_split_resampling_follows_its_definition(name, level, resamples):
    few = np.repeat([0.0, 0.5, 1.0], [5, 10, 5])  # most curves vary at one forecast of three alone
    fit = sr.corp(few > 0.4, few) if name == "mostly certain" else sr.corp(*sample(name))
    x = fit.distinct.x_min
    band = fit.band(coverage="simultaneous", level=level, resamples=resamples)
    simulation = fit.sample.simulation(x)
    draws = draw_samples(simulation, resamples, SEED)
    curves = np.concatenate([draw.fit().at_entries(np.arange(len(x))) for draw in draws])
    lower, upper, middle, inside = split_band(curves, level)
    np.testing.assert_allclose(band.lower, lower, rtol=0, atol=1e-14)
    np.testing.assert_allclose(band.upper, upper, rtol=0, atol=1e-14)
    assert band.holds(middle)
    assert inside >= level * (resamples - resamples // 2 + 1)
    np.testing.assert_array_equal(band.x, x)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_simultaneous_band_is_wider_than_a_pointwise_one(name):
    fit = sr.corp(*sample(name))
    whole, each = (fit.band(coverage=c, resamples=400) for c in ("simultaneous", "pointwise"))
    assert (whole.upper - whole.lower).mean() > 1.2 * (each.upper - each.lower).mean()


def test_a_simultaneous_band_of_independent_rows_depends_on_forecasts_alone():
    """So the observed curve is exchangeable with those drawn."""
    _, x = sample("continuous, n = 60")
    bands = [
        sr.corp(y, x).band(coverage="simultaneous", resamples=40, points=20)
        for y in (np.zeros(60), np.ones(60), np.arange(60) % 2)
    ]
    for band in bands:
        assert band.x.tobytes() + band.lower.tobytes() + band.upper.tobytes() == (
            bands[0].x.tobytes() + bands[0].lower.tobytes() + bands[0].upper.tobytes()
        )
    assert bands[0].x.tolist() == np.sort(x)[np.linspace(0, 59, 20).round().astype(int)].tolist()


@pytest.mark.parametrize("forecasts", [[0.0, 1.0], [0.0, 0.0], [1.0, 1.0, 1.0]])
def test_certain_forecasts_have_certain_curves(forecasts):
    """Nothing varies, so nothing but the forecasts themselves is inside."""
    band = sr.corp(np.array(forecasts) > 0.5, forecasts).band(coverage="simultaneous", resamples=20)
    assert (band.lower == band.x).all()
    assert (band.upper == band.x).all()


@pytest.mark.parametrize(
    ("level", "fewest"),
    [(0.5, 2), (0.7, 6), (0.9, 18), (0.95, 38), (0.99, 198), (0.999, 1998), (0.1, 2), (1e-12, 2)],
)
def test_half_of_the_draws_must_have_the_quantile(level, fewest):
    """(1 - level)(B/2 + 1) must be at least 1."""
    assert fewest_resamples(level) == fewest
    exact = next(n for n in count(1) if Fraction(str(level)) * (n + 1) <= n)
    assert fewest == 2 * exact
    band = FIT.band(coverage="simultaneous", level=level, resamples=max(fewest, 2))
    assert band.resamples == fewest
    if fewest > 2:
        with pytest.raises(sr.UsageError) as refusal:
            FIT.band(coverage="simultaneous", level=level, resamples=fewest - 1)
        assert str(refusal.value) == (
            f"`resamples` must be at least {fewest} for a simultaneous band of level {level:g}; "
            f"got {fewest - 1}."
        )


def test_extreme_levels_are_refused_at_once(monkeypatch):
    """Counting up to the number of draws would take minutes at 1 - 10^-9, and days beyond."""

    def few(start=0):
        yield from islice(count(start), 10_000)
        pytest.fail("counted more than 10,000 numbers")

    monkeypatch.setattr(band_bounds, "count", few, raising=False)
    assert fewest_resamples(1 - 1e-9) == pytest.approx(2e9, rel=1e-6)


# Honest bands


def test_worked_values_of_eight_cases():
    """INTERVALS.md 6 (1): level .9, brute force in R."""
    x = np.arange(1, 9) / 10
    band = sr.corp([0, 0, 1, 0, 1, 0, 1, 1], x).band("confidence", 0.9, coverage="simultaneous")
    lower = [0, 0, 0.0013888889, 0.0013888889, 0.0216737274, 0.0216737274, 0.0532104852, 0.1023673922]
    np.testing.assert_array_equal(band.x, x)
    np.testing.assert_allclose(band.lower, lower, rtol=0, atol=5e-11)
    np.testing.assert_allclose(band.upper, 1 - np.array(lower)[::-1], rtol=0, atol=5e-11)


def test_worked_values_of_three_forecasts():
    """INTERVALS.md 6 (2): 20 cases each, events 2, 9, 19."""
    y = np.concatenate([np.arange(20) < events for events in (2, 9, 19)]).astype(float)
    band = sr.corp(y, np.repeat([0.2, 0.5, 0.8], 20)).band("confidence", 0.9, coverage="simultaneous")
    np.testing.assert_allclose(band.lower, [0.0069019164, 0.1946814096, 0.7036009201], rtol=0, atol=5e-11)
    np.testing.assert_allclose(band.upper, [0.3660980406, 0.7262086902, 0.9995816750], rtol=0, atol=5e-11)


def over_all_segments(n, events, level):
    """Bounds from every segment i..j of K forecasts, with error (1 - level)/(K² + K) for each side."""
    size = len(n)
    delta = (1 - level) / (size**2 + size)
    start, end = np.triu_indices(size)
    sums_n, sums_events = np.append(0, np.cumsum(n)), np.append(0, np.cumsum(events))
    m, s = sums_n[end + 1] - sums_n[start], sums_events[end + 1] - sums_events[start]
    low = np.where(s > 0, beta.ppf(delta, np.maximum(s, 1), m - s + 1), 0.0)
    high = np.where(s < m, beta.isf(delta, s + 1, np.maximum(m - s, 1)), 1.0)
    lower = [max(low[end <= j]) for j in range(size)]
    return np.array(lower), np.array([min(high[start >= j]) for j in range(size)])


@st.composite
def counts(draw):
    size = draw(st.integers(1, 60))
    largest = draw(st.sampled_from([1, 2, 30]))
    n = draw(st.lists(st.integers(1, largest), min_size=size, max_size=size))
    return np.array(n), np.array([draw(st.integers(0, k)) for k in n])


@settings(max_examples=60)
@given(counts(), st.sampled_from([0.5, 0.9, 0.99999]))
def test_the_honest_band_is_the_best_of_all_segments(drawn, level):
    n, events = drawn
    x = np.arange(len(n)) / 60
    y = np.tile([1.0, 0.0], len(n))
    weight = np.column_stack([events, n - events]).ravel()
    fit = sr.corp(y, x.repeat(2), weight, weight_kind="frequency")
    band = fit.band("confidence", level, coverage="simultaneous")
    if len(n) > ceil(6 * n.sum() ** (1 / 3)):
        cells = choose_cells(fit.distinct)
        low, high = over_all_segments(cells.n, cells.events, level)
        lower = [max(low[cells.x_max <= z], default=0.0) for z in band.x]
        upper = [min(high[cells.x_min >= z], default=1.0) for z in band.x]
    else:
        lower, upper = over_all_segments(n, events, level)
        np.testing.assert_array_equal(band.x, x)
    np.testing.assert_allclose(band.lower, lower, rtol=0, atol=1e-12)
    np.testing.assert_allclose(band.upper, upper, rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [1, 7, 216, 217, 5000, 100_000])
@pytest.mark.parametrize("digits", [1, 3, 17])
def test_cells_are_few_even_and_never_split_a_tie(n, digits):
    rng = np.random.default_rng(n)
    p = rng.random(n).round(digits)
    distinct = sr.corp((rng.random(n) < p).astype(float), p).distinct
    cells = choose_cells(distinct)
    most = ceil(round(6 * n ** (1 / 3), 9))
    assert len(cells) <= max(most, 1)
    assert cells.n.sum() == n
    assert cells.events.sum() == distinct.events.sum()
    assert (cells.x_min[1:] > cells.x_max[:-1]).all()
    if len(distinct) <= most:
        assert cells.equals(distinct)
    else:
        ordered = np.sort(p)
        first, end = (
            np.searchsorted(ordered, cells.x_min),
            np.searchsorted(ordered, cells.x_max, side="right"),
        )
        np.testing.assert_array_equal(end - first, cells.n)
        # all forecasts of a cell start within the same of `most` equal parts, so only a tie may exceed it
        assert cells.n.max() <= n / most + distinct.n.max()
        assert len(cells) == most or distinct.n.max() > 1


def test_as_many_forecasts_as_cells_are_cells_however_uneven():
    """6·120^(1/3) = 29.6, so 30 cells."""
    n = np.r_[np.full(29, 2), 62]
    distinct = sr.corp(np.arange(30) % 2, np.arange(30) / 30, n).distinct
    assert choose_cells(distinct).equals(distinct)
    n = np.r_[np.full(30, 2), 60]
    assert len(choose_cells(sr.corp(np.arange(31) % 2, np.arange(31) / 31, n).distinct)) < 30


def test_cells_do_not_depend_on_outcomes():
    p = np.random.default_rng(1).random(3000)
    one, other = (choose_cells(sr.corp(y, p).distinct) for y in (np.zeros(3000), np.arange(3000) % 2))
    np.testing.assert_array_equal(one.x_min, other.x_min)
    np.testing.assert_array_equal(one.x_max, other.x_max)


def test_an_honest_band_of_many_cases_uses_cells():
    rng = np.random.default_rng(2)
    p = rng.random(100_000)
    fit = sr.corp((rng.random(100_000) < p).astype(float), p)
    band = fit.band("confidence", coverage="simultaneous")
    assert len(band.x) <= 2 * ceil(6 * 100_000 ** (1 / 3))
    assert band.holds(band.x)
    assert 0.05 < (band.upper - band.lower).mean() < 0.2


def test_steps_are_carried_on_as_far_as_a_rising_curve_allows():
    """The lower bound to the right, the upper one to the left; 0 and 1 before and after all of them."""
    fit = sr.corp([0, 0, 1, 0, 1, 1], [0.2, 0.2, 0.5, 0.5, 0.8, 0.8])
    band = fit.band("confidence", coverage="simultaneous")
    a, b, c = band.lower
    d, e, f = band.upper
    assert 0 == a < b < c
    assert d < e < f == 1
    lower, upper = band.at([0.0, 0.2, 0.3, 0.5, 0.6, 0.8, 0.9])
    assert lower.tolist() == [0, a, a, b, b, c, c]
    assert upper.tolist() == [d, d, e, e, f, f, 1]


def test_a_cell_of_many_forecasts_bounds_from_its_far_end():
    """Inside a cell its own cases bound nothing from below yet, and nothing from above any more."""
    n = 1000
    p = np.arange(n) / n
    fit = sr.corp((np.arange(n) % 3 == 0).astype(float), p)
    cells = choose_cells(fit.distinct)
    assert 1 < len(cells) < n
    band = fit.band("confidence", coverage="simultaneous")
    lower, upper = over_all_segments(cells.n, cells.events, 0.9)
    k = 20
    middle = (cells.x_min[k] + cells.x_max[k]) / 2
    ends = [cells.x_min[k], middle, cells.x_max[k]]
    np.testing.assert_allclose(band.at(ends)[0], [lower[k - 1], lower[k - 1], lower[k]], rtol=0, atol=1e-12)
    np.testing.assert_allclose(band.at(ends)[1], [upper[k], upper[k + 1], upper[k + 1]], rtol=0, atol=1e-12)


def test_crossing_bounds_are_reported():
    y, p = np.repeat([1.0, 0.0], 100), np.repeat([0.2, 0.8], 100)
    band = sr.corp(y, p).band("confidence", coverage="simultaneous")
    assert (band.lower > band.upper).any()
    assert band.note.endswith("probability. Its bounds cross: evidence that the true curve falls somewhere.")
    assert "cross" not in sr.corp(y[::-1], p).band("confidence", coverage="simultaneous").note


@pytest.mark.parametrize("options", [{"sample_weight": [0.5, 1, 2]}, {"cluster": [0, 1, 1]}])
def test_the_honest_band_needs_independent_rows(options):
    fit = sr.corp([0, 1, 1], [0.1, 0.5, 0.7], **options)
    with pytest.raises(sr.UsageError) as refusal:
        fit.band("confidence", coverage="simultaneous")
    assert str(refusal.value) == (
        'The honest band needs independent rows of equal weight; for others use coverage="pointwise".'
    )
