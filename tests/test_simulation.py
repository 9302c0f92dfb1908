"""Outcomes drawn under a hypothesis: every kind against its definition, its distribution and its clusters."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import fsum, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import ks_2samp

import scorereport as sr
from scorereport._utils import machine
from scorereport._utils.progress import watched_by
from scorereport.errors import InternalError
from scorereport.reliability import draws as redraws_module
from scorereport.reliability import simulation as simulation_module
from scorereport.reliability.blocks import Blocks
from scorereport.reliability.draws import Redraws
from scorereport.reliability.outcome_weights import OutcomeWeights
from scorereport.reliability.sampling import random_stream
from scorereport.reliability.simulation import (
    CaseSimulation,
    _CountSimulation,
    _RowSimulation,
    cluster_correlation,
)

#: A normal deviation this large, or larger, has probability 6e-7; all seeds are fixed.
ERRORS_ALLOWED = 5

# The fit of a draw


def max_min_fit(n, events):
    """Isotonic regression by its definition: max over i <= k of min over j >= k of mean(i..j)."""
    sums_n, sums_events = np.append(0, np.cumsum(n)), np.append(0, np.cumsum(events))
    size = len(n)

    def mean(i, j):
        return (sums_events[j + 1] - sums_events[i]) / (sums_n[j + 1] - sums_n[i])

    return np.array([max(min(mean(i, j) for j in range(k, size)) for i in range(k + 1)) for k in range(size)])


@pytest.mark.parametrize("long", [0, 10**9])
def test_long_and_short_draws_are_fitted_alike(long, monkeypatch):
    """In whole numbers or in floating point, each entry gets the fit of its definition."""
    monkeypatch.setattr(redraws_module, "_LONG", long)
    for seed in range(20):
        happens = np.random.default_rng(seed).random((1, 40)) < np.linspace(0.1, 0.9, 40)
        fit = Redraws(None, happens).fit()
        expected = max_min_fit(np.ones(40), happens[0])
        np.testing.assert_allclose(fit.at_entries(np.arange(40)), expected[None], rtol=1e-12)
        assert (fit.n.sum(), fit.events.sum()) == (40, happens.sum())


def plain_curve(x, rows, points):
    """A plain pipeline: rows of (place, outcome, weight) pooled by forecast, fitted, joined by lines."""
    places = sorted({place for place, _, _ in rows})
    n = [fsum(weight for place, _, weight in rows if place == k) for k in places]
    events = [fsum(y * weight for place, y, weight in rows if place == k) for k in places]
    return np.interp(points, x[places], max_min_fit(n, events), left=nan, right=nan)


def expand(n, events):
    """The entries of a sample as rows of (place, outcome, weight)."""
    entries = list(zip(range(len(n)), events.astype(float).tolist(), n.tolist(), strict=True))
    rows = [(k, 1, happened) for k, happened, _ in entries if happened > 0]
    return rows + [(k, 0, cases - happened) for k, happened, cases in entries if cases > happened]


@st.composite
def redraws(draw):
    """Distinct forecasts and one to three samples of each form: cases, counts, fractional weights."""
    x = np.array(sorted(draw(st.sets(st.floats(0, 1), min_size=1, max_size=8))))
    form = draw(st.sampled_from(["cases", "counts", "drawn counts", "weights"]))
    shape = draw(st.integers(1, 3)), len(x)
    fill = {"elements": st.booleans(), "shape": shape, "dtype": np.bool_}
    if form == "cases":
        return x, Redraws(None, draw(arrays(**fill)))
    if form == "weights":
        n = draw(arrays(np.float64, shape, elements=st.floats(0.01, 9)))
        return x, Redraws(n, n * draw(arrays(np.float64, shape, elements=st.sampled_from([0, 0.25, 0.6, 1]))))
    least = int(form == "counts")
    n = draw(arrays(np.int64, shape[1] if form == "counts" else shape, elements=st.integers(least, 9)))
    if n.ndim == 2:
        n[:, draw(st.integers(0, len(x) - 1))] += 1  # a sample has at least one case
    share = draw(arrays(np.float64, shape, elements=st.floats(0, 1)))
    return x, Redraws(n, np.round(n * share).astype(np.int64))


@given(redraws(), st.lists(st.floats(0, 1), max_size=5))
def test_a_fitted_draw_is_the_plain_pipeline(drawn, elsewhere):
    """Means of at most 8 sums of at most 10 agree to a few units of rounding, lines between them too.

    Rates are shifted by up to 4 before they are fitted, so means are compared to a few units of 1e-15.
    """
    x, redraw = drawn
    points = np.array([*x, *elsewhere])
    fit = redraw.fit()
    curves, size = fit.at(points, x, x), len(redraw.events)
    cases = np.broadcast_to(1 if redraw.n is None else redraw.n, redraw.events.shape)
    for sample in range(size):
        rows = expand(cases[sample], redraw.events[sample])
        np.testing.assert_allclose(curves[sample], plain_curve(x, rows, points), rtol=0, atol=1e-12)
        means = fit.mean[fit.sample == sample]
        assert (np.diff(means) >= -1e-12).all()
        if (cases[sample] > 0).all():
            at_entries = fit.at_entries(np.arange(len(x)))[sample]
            np.testing.assert_allclose(at_entries, plain_curve(x, rows, x), rtol=0, atol=1e-12)
    np.testing.assert_allclose(fit.sum_samples(fit.n), cases.sum(axis=1), rtol=1e-13)


def test_a_curve_ends_with_the_forecasts_drawn():
    redraw = Redraws(np.array([[0, 2, 0, 4, 0]]), np.array([[0, 1, 0, 3, 0]]))
    x = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    curve = redraw.fit().at(x, x, x)
    np.testing.assert_allclose(curve, [[nan, 0.5, 0.625, 0.75, nan]], rtol=0, atol=1e-15)


def test_fits_that_are_not_in_order_are_refused():
    fit = Redraws(np.array([2, 2]), np.array([[0, 1], [1, 2]])).fit()
    assert fit.mean.tolist() == [0, 0.5, 0.5, 1]
    with pytest.raises(InternalError, match="not in order"):
        replace(fit, events=fit.events[::-1].copy()).checked()
    with pytest.raises(InternalError, match="not in order"):
        replace(fit, last=fit.last + 1).checked()


# Samples of every kind

TIES = np.array([0.05, 0.2, 0.2, 0.2, 0.5, 0.5, 0.5, 0.5, 0.5, 0.9])
UNITS = {
    "cases without ties": (np.linspace(0.02, 0.98, 12), None, None),
    "cases with ties": (TIES, None, None),
    "counts": (TIES, [1.0, 3, 4, 9, 30, 1, 1, 1, 2, 40], None),
    "fractional weights": (TIES, [0.5, 1.5, 2, 0.1, 0.3, 1, 1, 0.7, 3, 0.2], None),
    "clusters": (TIES, None, [0, 0, 1, 1, 2, 2, 2, 3, 4, 4]),
    "weighted clusters": (TIES, [0.5, 1.5, 2, 0.1, 0.3, 1, 1, 0.7, 3, 0.2], [0, 3, 3, 3, 1, 2, 2, 2, 0, 0]),
}
KINDS = {
    "cases without ties": CaseSimulation,
    "cases with ties": CaseSimulation,
    "counts": _CountSimulation,
    "fractional weights": _RowSimulation,
    "clusters": _RowSimulation,
    "weighted clusters": _RowSimulation,
}


def make(name, correlation=0.0):
    """The simulation of a sample, and its units: how much each weighs at each distinct forecast."""
    p, weight, cluster = UNITS[name]
    y = (np.arange(len(p)) % 2).astype(float)
    fit = sr.corp(y, p, weight, weight_kind="frequency" if name == "counts" else "sampling", cluster=cluster)
    sample = fit.sample
    probability = 0.9 * sample.distinct.x_min**2 + 0.05
    made = sample.simulation(probability)
    if isinstance(made, _RowSimulation):
        weights = (
            None
            if weight is None
            else OutcomeWeights(
                of_event=sample.cases.weight,
                of_other=sample.cases.weight,
                ratio=np.ones(sample.rows),
            )
        )
        made = replace(made, correlation=correlation, weights=weights)
    place = np.searchsorted(sample.distinct.x_min, p)
    weight, cluster = (np.ones(len(p)) if weight is None else np.array(weight)), cluster or range(len(p))
    if name == "counts":
        place = place.repeat(weight.astype(int))
        cluster, weight = range(len(place)), np.ones(len(place))
    units = np.zeros((max(cluster) + 1, len(sample.distinct)))
    np.add.at(units, (np.array(cluster), place), weight)
    return made, units


def draw_table(simulate, size, draws):
    """Cases and events at every distinct forecast, a row for each draw."""
    n, events = simulate(random_stream(11), draws)
    return np.broadcast_to(1 if n is None else n, (draws, size)), events.astype(float)


def is_zero_on_average(values):
    """Whether means of independent rows are zero, by their own standard errors; all zero is zero."""
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return (np.abs(values.mean(axis=0)) <= ERRORS_ALLOWED * error + 1e-12).all()


@pytest.mark.parametrize("name", UNITS)
def test_the_kind_of_simulation_fits_the_sample(name):
    assert type(make(name)[0]) is KINDS[name]


def test_many_ties_are_more_than_eight_cases_per_forecast():
    for n, kind in ((8, CaseSimulation), (9, _CountSimulation)):
        fit = sr.corp([0, 1] * n, [0.3, 0.6] * n)
        assert type(fit.sample.simulation(fit.distinct.x_min)) is kind
        assert fit.distinct.n.tolist() == [n, n]


@pytest.mark.sweep(after=3)
@pytest.mark.parametrize("correlation", [0.0, 0.4])
@pytest.mark.parametrize("name", UNITS)
def test_redrawn_outcomes_have_the_probability_of_the_hypothesis(name, correlation):
    """Forecasts stay; the mean of events is n p, and their variance that of independent rows or of pairs."""
    made, units = make(name, correlation)
    p = made.probability
    n, events = draw_table(made.redraw_outcomes, len(p), 3000)
    np.testing.assert_allclose(n, np.broadcast_to(units.sum(axis=0), n.shape), rtol=1e-14)
    assert is_zero_on_average(events - n * p)
    if isinstance(made, _RowSimulation):
        weight = np.ones(len(made.forecast)) if made.weights is None else made.weights.of_event
        squares = np.bincount(made.forecast, weights=weight**2)
        pairs = ((units**2).sum(axis=0) - squares) if made.cluster is not None else 0.0
        variance = p * (1 - p) * (squares + correlation * pairs)
    else:
        variance = units.sum(axis=0) * p * (1 - p)
    assert is_zero_on_average((events - n * p) ** 2 - variance)
    assert (events <= n * (1 + 1e-14)).all()


@pytest.mark.sweep(after=3)
@pytest.mark.parametrize("correlation", [0.0, 0.4])
@pytest.mark.parametrize("name", UNITS)
def test_redrawn_cases_are_drawn_with_replacement(name, correlation):
    """Of U units with weights a at a forecast and b at another, the sums have mean Σa and covariance
    Σab - ΣaΣb/U; for unit rows these are the moments of multinomial counts.
    """
    made, units = make(name, correlation)
    p = made.probability
    n, events = draw_table(made.redraw_cases, len(p), 3000)
    assert is_zero_on_average(n - units.sum(axis=0))
    assert is_zero_on_average(events - n * p)
    deviation = n - units.sum(axis=0)
    covariance = units.T @ units - np.outer(units.sum(axis=0), units.sum(axis=0)) / len(units)
    products = deviation[:, :, None] * deviation[:, None, :]
    assert is_zero_on_average((products - covariance).reshape(len(n), -1))
    if made.distinct.n.dtype.kind == "i" and not isinstance(made, _RowSimulation):
        assert (n.sum(axis=1) == units.sum()).all()


@pytest.mark.parametrize("name", ["cases with ties", "counts", "fractional weights", "clusters"])
def test_forecasts_that_were_not_drawn_have_no_cases(name):
    made, _ = make(name)
    n, events = made.redraw_cases(random_stream(3), 60)
    assert (n[events > 0] > 0).all()
    assert len(set((n > 0).sum(axis=1).tolist())) > 1


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("drawing", ["redraw_cases", "redraw_outcomes"])
def test_the_kind_does_not_change_the_distribution_of_the_curve(drawing):
    """By case, by count or by row of weight 1: the same sample, the same distribution of the fit.

    Two-sample Kolmogorov-Smirnov at 4 forecasts for 2 pairs of kinds, with NaN as a value of its own
    (-1); it errs with at most its nominal rate where values are tied. Of 16 tests in two runs none may
    fall below 1e-6/16: errors in at most one of a million versions of the random numbers.
    """
    p = np.repeat([0.05, 0.3, 0.55, 0.8, 0.95], [3, 7, 9, 6, 2])
    fit = sr.corp((np.arange(len(p)) % 3 == 0).astype(float), p)
    sample, x = fit.sample, fit.distinct.x_min
    given_by = {"distinct": sample.distinct, "probability": x}
    rows = {"forecast": np.searchsorted(x, p), "weights": None, "cluster": None, "correlation": 0.0}
    kinds = {
        "case": CaseSimulation(**given_by),
        "count": _CountSimulation(**given_by),
        "row": _RowSimulation(**given_by, **rows),
    }
    points = np.array([0.05, 0.3, 0.7, 0.95])
    curves = {}
    for seed, (name, made) in enumerate(kinds.items()):
        drawn = getattr(made, drawing)(random_stream(seed), 2000)
        curves[name] = np.nan_to_num(drawn.fit().at(points, x, x), nan=-1.0)
    for other in ("count", "row"):
        for k in range(len(points)):
            assert ks_2samp(curves["case"][:, k], curves[other][:, k], method="asymp").pvalue > 1e-6 / 16
    assert (curves["case"] == -1).any() == (drawing == "redraw_cases")


@pytest.mark.sweep
def test_clusters_of_one_row_have_the_distribution_of_rows():
    """As above: 3 tests, none below 1e-6/3."""
    p = np.repeat([0.1, 0.4, 0.7], [5, 6, 7])
    y = (np.arange(18) % 2).astype(float)
    curves = []
    for seed, cluster in enumerate((None, np.random.default_rng(1).permutation(18))):
        sample = sr.corp(y, p, cluster=cluster).sample
        made = sample.simulation(sample.distinct.x_min)
        assert sample.correlation == 0
        x = sample.distinct.x_min
        drawn = made.redraw_cases(random_stream(seed), 2000)
        curves.append(np.nan_to_num(drawn.fit().at(x, x, x), nan=-1.0))
    for k in range(3):
        assert ks_2samp(curves[0][:, k], curves[1][:, k], method="asymp").pvalue > 1e-6 / 3


# Clusters


def correlation_over_pairs(residual, probability, cluster):
    """Sum over pairs of rows of a cluster of r s, over that of min(p, q) - p q."""
    pairs = [(i, j) for i, j in combinations(range(len(cluster)), 2) if cluster[i] == cluster[j]]
    covariance = fsum(residual[i] * residual[j] for i, j in pairs)
    p = probability
    possible = fsum(min(p[i], p[j]) - p[i] * p[j] for i, j in pairs)
    return min(max(covariance / possible, 0.0), 1.0) if pairs else 0.0


ROWS = st.tuples(st.integers(0, 3), st.floats(0.05, 0.95), st.sampled_from([0.0, 1.0]))


@given(st.lists(ROWS, min_size=1, max_size=14))
def test_correlation_is_that_of_pairs_of_rows(rows):
    """Each pair adds at least 0.0475·0.05 to a denominator that is known to 1e-14: ten digits hold."""
    labels, p, y = (np.array(column) for column in zip(*rows, strict=True))
    cluster = np.unique(labels, return_inverse=True)[1]
    expected = correlation_over_pairs(y - p, p, cluster)
    assert cluster_correlation(y - p, p, cluster) == pytest.approx(expected, abs=1e-10)


def test_correlation_of_a_sample_is_that_of_its_residuals():
    rng = np.random.default_rng(5)
    cluster = rng.integers(0, 12, 80)
    p = rng.random(80).round(1)
    y = (rng.random(12)[cluster] < p).astype(float)
    fit = sr.corp(y, p, cluster=cluster)
    expected = correlation_over_pairs(y - fit.cep, fit.cep, cluster)
    assert 0.1 < expected < 1
    assert fit.sample.correlation == pytest.approx(expected, abs=1e-10)
    assert sr.corp(y, p).sample.correlation == 0


@pytest.mark.parametrize(
    ("y", "correlation"), [([0, 0, 1, 1], 1.0), ([0, 1, 0, 1], 0.0)], ids=["all alike", "all unlike"]
)
def test_correlation_stays_between_0_and_1(y, correlation):
    """By hand: residuals ∓1/2, min(p, q) - p q = 1/4, so ρ is 1 and, cut off at 0, -1."""
    residual = np.array(y) - 0.5
    assert cluster_correlation(residual, np.full(4, 0.5), np.array([0, 0, 1, 1])) == correlation


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_rows_are_not_correlated(p):
    assert cluster_correlation(np.zeros(4), np.full(4, p), np.array([0, 0, 1, 1])) == 0


def test_a_row_beside_certain_ones_has_nothing_to_correlate_with():
    """One uncertain row in each cluster: no pair can covary, whatever the last digits of the sums are."""
    rng = np.random.default_rng(0)
    for clusters in rng.integers(2, 400, 200).tolist():
        p = np.column_stack([rng.random(clusters), np.ones(clusters)]).ravel()
        residual = np.column_stack([rng.random(clusters) - 0.5, np.zeros(clusters)]).ravel()
        order = rng.permutation(2 * clusters)
        cluster = np.repeat(np.arange(clusters), 2)
        assert cluster_correlation(residual[order], p[order], cluster[order]) == 0


@given(st.lists(st.integers(0, 5), min_size=1, max_size=15), st.integers(0, 99))
def test_clusters_are_drawn_whole(labels, seed):
    cluster = np.unique(labels, return_inverse=True)[1]
    x = np.linspace(0, 1, len(cluster))
    ones = np.ones(len(x), dtype=np.int64)
    made = _RowSimulation(
        distinct=Blocks(x_min=x, x_max=x, n=ones, events=ones),
        probability=x,
        forecast=np.arange(len(x)),
        weights=None,
        cluster=cluster,
        correlation=0.5,
    )
    rows, copy = made._redraw_rows(random_stream(seed))
    members = [np.flatnonzero(cluster == g).tolist() for g in range(cluster.max() + 1)]
    drawn = [rows[copy == c].tolist() for c in range(copy.max() + 1)]
    assert len(drawn) == len(members)
    assert all(d in members for d in drawn)
    (count,), _ = made.redraw_cases(random_stream(seed))
    assert all(len(set(count[m])) == 1 for m in members)


def draw_events(cluster, probability, correlation, draws):
    """Outcomes of rows with forecasts of their own, a row of the table for each draw."""
    x = np.linspace(0, 1, len(cluster))
    ones = np.ones(len(x), dtype=np.int64)
    made = _RowSimulation(
        distinct=Blocks(x_min=x, x_max=x, n=ones, events=ones),
        probability=np.array(probability),
        forecast=np.arange(len(x)),
        weights=None,
        cluster=None if cluster is None else np.array(cluster),
        correlation=correlation,
    )
    return made.redraw_outcomes(random_stream(4), draws).events


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("correlation", [0.0, 0.25, 0.7, 1.0])
def test_rows_of_a_cluster_have_the_covariance_promised(correlation):
    """ρ (min(p, q) - p q) within a cluster, none between clusters; by standard errors of the products."""
    cluster, p = [0, 0, 1, 0, 1], np.array([0.2, 0.6, 0.6, 0.9, 0.3])
    events = draw_events(cluster, p, correlation, 8000)
    assert is_zero_on_average(events - p)
    for i, j in combinations(range(5), 2):
        together = correlation if cluster[i] == cluster[j] else 0.0
        covariance = together * (min(p[i], p[j]) - p[i] * p[j])
        assert is_zero_on_average(((events[:, i] - p[i]) * (events[:, j] - p[j]) - covariance)[:, None])


def test_outcomes_of_full_correlation_are_one_random_number():
    events = draw_events([0, 0, 0], [0.2, 0.5, 0.8], 1.0, 300)
    assert (np.diff(events, axis=1) >= 0).all()
    assert len(np.unique(events, axis=0)) == 4


def test_a_cluster_drawn_twice_is_two_clusters():
    """Of one cluster in the sample there are then two random numbers: copies need not agree."""
    x = np.array([0.5])
    made = _RowSimulation(
        distinct=Blocks(x_min=x, x_max=x, n=np.array([2]), events=np.array([1])),
        probability=x,
        forecast=np.zeros(2, dtype=np.int64),
        weights=None,
        cluster=np.array([0, 1]),
        correlation=1.0,
    )
    drawn = made.redraw_cases(random_stream(1), 200)
    assert set(zip(*(part[:, 0].tolist() for part in drawn), strict=True)) == {(2, 0), (2, 1), (2, 2)}


@pytest.mark.parametrize("options", [{}, {"kind": "confidence"}, {"coverage": "simultaneous"}])
def test_frequencies_in_clusters_are_repeated_rows_to_the_last_bit(options):
    """Each of the repeated rows has an outcome of its own, as dependent on the others as any."""
    rng = np.random.default_rng(1)
    p, cluster, weight = rng.random(60).round(1), rng.integers(0, 15, 60), rng.integers(0, 5, 60)
    chance = np.where(rng.random(60) < 0.6, rng.random(15)[cluster], rng.random(60))
    y = (chance < p).astype(float)
    weighted = sr.corp(y, p, weight, weight_kind="frequency", cluster=cluster)
    repeated = sr.corp(y.repeat(weight), p.repeat(weight), cluster=cluster.repeat(weight))
    assert 0.1 < weighted.sample.correlation == repeated.sample.correlation < 0.9
    one, other = (fit.band(resamples=40, **options) for fit in (weighted, repeated))
    assert one.lower.tobytes() + one.upper.tobytes() == other.lower.tobytes() + other.upper.tobytes()


# Nothing but the seed decides

RNG = np.random.default_rng(8)
FORECASTS = RNG.random(300)
OUTCOMES = (RNG.random(300) < FORECASTS).astype(float)
SAMPLES = {
    "by case": {},
    "by case, with ties": {"digits": 2},
    "by count": {"digits": 1},
    "by row": {"digits": 2, "sample_weight": RNG.random(300) + 0.1},
    "by cluster": {"digits": 2, "cluster": RNG.integers(0, 40, 300)},
}


def draw_bands(sample, seed=1):
    options = dict(SAMPLES[sample])
    fit = sr.corp(OUTCOMES, FORECASTS.round(options.pop("digits", 17)), **options)
    bands = [
        fit.band(kind, method="resampling", resamples=40, seed=seed) for kind in ("consistency", "confidence")
    ]
    bands.append(fit.band(coverage="simultaneous", resamples=40, seed=seed))
    return b"".join(band.lower.tobytes() + band.upper.tobytes() for band in bands)


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("sample", SAMPLES)
def test_threads_and_progress_callbacks_do_not_matter(sample, monkeypatch):
    alone = draw_bands(sample)
    monkeypatch.setattr(machine, "_ROWS_WORTH_A_THREAD", 1)
    pools, executor = [], machine.ThreadPoolExecutor
    monkeypatch.setattr(
        machine, "ThreadPoolExecutor", lambda size, **options: pools.append(size) or executor(size, **options)
    )
    seen = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("SCOREREPORT_THREADS", threads)
        assert draw_bands(sample) == alone
        with watched_by(lambda *step: seen.append(step)):
            assert draw_bands(sample) == alone
    assert pools == [2] * 6 + [5] * 6
    assert seen == [("drawing curves", 40, 40)] * 9


@pytest.mark.parametrize("sample", SAMPLES)
def test_another_seed_is_another_band(sample):
    assert draw_bands(sample) == draw_bands(sample, seed=1) != draw_bands(sample, seed=2)


@pytest.mark.parametrize("sample", ["by row", "by cluster"])
def test_the_order_of_rows_does_not_matter(sample):
    order = np.random.default_rng(2).permutation(300)
    options = dict(SAMPLES[sample])
    p = FORECASTS.round(options.pop("digits"))
    there = sr.corp(OUTCOMES, p, **options).band(resamples=40)
    mixed = sr.corp(OUTCOMES[order], p[order], **{k: v[order] for k, v in options.items()}).band(resamples=40)
    assert there.lower.tobytes() + there.upper.tobytes() == mixed.lower.tobytes() + mixed.upper.tobytes()


def test_a_draw_leaves_the_simulation_as_it_was():
    """The next draw from the same random numbers is the same: nothing was sorted or shifted in place."""
    for name in UNITS:
        made, _ = make(name)
        first = made.redraw_cases(random_stream(5))
        made.redraw_outcomes(random_stream(6))
        second = made.redraw_cases(random_stream(5))
        for one, other in zip(first, second, strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_weight_of_events_never_exceeds_the_total_weight():
    """Where all rows of a forecast have events the fit is 1 to the last bit, whatever the weights."""
    rng = np.random.default_rng(3)
    weight, p = rng.random(200) + 0.1, rng.random(200).round(1)
    fit = sr.corp(np.ones(200), p, weight)
    made = fit.sample.simulation(np.ones(len(fit.distinct)))
    assert (made.redraw_cases(random_stream(1), 50).fit().mean == 1).all()
    assert simulation_module.MANY_TIES == 8
