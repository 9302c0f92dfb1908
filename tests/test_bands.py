"""Bands: choice of a method, pointwise bands by resampling."""

from __future__ import annotations

from itertools import product
from math import nan

import numpy as np
import pytest
from band_tools import FIT, SAMPLES, draw_samples, drawn_curves, sample
from conftest import recorded
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

import scorereport as sr
from scorereport._utils.choices import SEED
from scorereport.reference.band_distributions import is_likely_quantile
from scorereport.reliability import asymptotic_bands, band_bounds
from scorereport.reliability.bands import POINTWISE_NOTE, BandRequest, choose_method
from scorereport.reliability.precision import sorted_quantiles

CASES = recorded("reliabilitydiag")["cases"]


#: Relative errors of R's table of Chernoff's quantiles: six digits, and linear interpolation for .975.
TABLE_ERROR = {0.8: 1e-6, 0.9: 1e-6, 0.95: 0.004}


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
@pytest.mark.parametrize(
    ("method", "options"),
    [("discrete", {}), ("continuous", {"quantiles": "r"})],
    ids=["discrete", "continuous, R's table"],
)
def test_bands_agree_with_r(case, method, options):
    """To 1e-10; also for two rows and for constant forecasts."""
    question, theirs = case["question"], case["answer"]["bands"][method]
    band = sr.corp(question["y_true"], question["y_prob"]).band(
        method=method, level=question["level"], **options
    )
    assert (band.kind, band.method, band.level) == ("consistency", method, question["level"])
    for side in ("x", "lower", "upper"):
        np.testing.assert_allclose(getattr(band, side), theirs[side], rtol=0, atol=1e-10, err_msg=side)


def test_the_table_of_r_has_five_correct_digits():
    """By the distribution function at its quantiles: to invert it at every level takes long."""
    levels = np.array([*np.arange(50, 100) / 100, *np.arange(991, 1000) / 1000, 0.9999])
    table = np.array([asymptotic_bands.interpolated_chernoff_quantile(level) for level in levels])
    missed = np.array([asymptotic_bands._distribution(quantile) for quantile in table]) - levels
    assert (np.abs(missed / asymptotic_bands._density(table)) < 1e-5).all()


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_exact_quantiles_differ_from_r_by_the_error_of_its_table_only(case):
    """The half widths differ by one factor; bounds cut off at 0 and 1 may only agree there."""
    question, theirs = case["question"], case["answer"]["bands"]["continuous"]
    band = sr.corp(question["y_true"], question["y_prob"]).band(method="continuous", level=question["level"])
    for ours, bound, limit in ((band.lower, theirs["lower"], 0), (band.upper, theirs["upper"], 1)):
        r = np.array(bound)
        is_cut = r == limit
        half, r_half = np.abs(ours - band.x), np.abs(r - band.x)
        assert (np.abs(ours - r) <= TABLE_ERROR[question["level"]] * r_half + 1e-15)[~is_cut].all()
        assert (half[is_cut] >= (1 - TABLE_ERROR[question["level"]]) * r_half[is_cut]).all()
    inside = (np.array(theirs["lower"]) > 0) & (np.array(theirs["upper"]) < 1)
    widths = (band.upper - band.lower)[inside] / np.subtract(theirs["upper"], theirs["lower"])[inside]
    np.testing.assert_allclose(widths, widths[:1].repeat(len(widths)), rtol=1e-12)


def test_confidence_bands_lie_around_the_estimate():
    band = FIT.band(method="discrete", kind="confidence", level=0.5)
    middle = (band.lower + band.upper) / 2
    inside = (band.lower > 0) & (band.upper < 1)
    np.testing.assert_allclose(middle[inside], FIT.cep[inside], rtol=1e-14)
    assert inside.any()


def test_frequencies_equal_repeated_rows():
    y, p, w = np.array([0, 1, 0, 1]), np.array([0.1, 0.3, 0.3, 0.8]), np.array([2, 1, 3, 4])
    for method in ("discrete", "continuous"):
        weighted = sr.corp(y, p, w, weight_kind="frequency").band(method=method)
        repeated = sr.corp(y.repeat(w), p.repeat(w)).band(method=method)
        np.testing.assert_array_equal(weighted.lower, repeated.lower)
        np.testing.assert_array_equal(weighted.upper, repeated.upper)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"method": "exact"},
            '`method` must be one of "auto", "resampling", "discrete", "continuous"; got \'exact\'.',
        ),
        (
            {"method": "discrete", "kind": "band"},
            '`kind` must be one of "consistency", "confidence"; got \'band\'.',
        ),
        ({"method": "discrete", "level": 1.0}, "`level` must lie in (0, 1); got 1."),
        ({"method": "discrete", "quantiles": "R"}, '`quantiles` must be one of "exact", "r"; got \'R\'.'),
    ],
)
def test_options_are_checked(options, sentence):
    with pytest.raises(sr.UsageError) as refusal:
        FIT.band(**options)
    assert str(refusal.value) == sentence


def test_real_outcomes_have_no_band():
    fit = sr.corp([0.0, 5.0], [0.2, 0.8], functional="mean")
    with pytest.raises(sr.UsageError, match=r"^A band needs outcomes 0 and 1;"):
        fit.band(method="discrete")


# Chernoff's distribution


@pytest.mark.parametrize(
    ("probability", "quantile"), [(0.9, 0.664235), (0.95, 0.845081), (0.975, 0.998181), (0.995, 1.286659)]
)
def test_quantiles_agree_with_published_ones(probability, quantile):
    assert round(asymptotic_bands.chernoff_quantile(probability), 6) == quantile


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("probability", [0.5, 0.6, 0.95, 0.9999, 0.999999])
def test_quantiles_invert_an_independent_quadrature(probability):
    density = lambda z: asymptotic_bands._density(np.array([z]))[0]  # noqa: E731
    q = asymptotic_bands.chernoff_quantile(probability)
    mass, _ = quad(density, 0, q, epsabs=1e-13, limit=200)
    assert 0.5 + mass == pytest.approx(probability, abs=1e-11)
    assert asymptotic_bands.chernoff_quantile(1 - probability) == pytest.approx(-q, abs=1e-10)


def test_the_density_has_mass_one_and_its_known_variance():
    z = np.linspace(-4, 4, 4001)
    density = asymptotic_bands._density(z)
    assert np.trapezoid(density, z) == pytest.approx(1, abs=1e-12)
    assert np.trapezoid(z**2 * density, z) == pytest.approx(0.26355964, abs=1e-8)


def test_levels_beyond_the_table_have_quantiles():
    """R has no quantiles above .9998."""
    assert (
        asymptotic_bands.chernoff_quantile(0.99999)
        > asymptotic_bands.chernoff_quantile(0.9999)
        == pytest.approx(1.784955, abs=1e-6)
    )
    with pytest.raises(sr.UsageError, match=r"^`probability` must lie in \[0\.5, 0\.9999\]; got 0\.99999\.$"):
        asymptotic_bands.interpolated_chernoff_quantile(0.99999)


# The choice of a method


def request(**options):
    given = {"kind": "consistency", "level": 0.9, "method": "auto", "resamples": 9, "seed": 1, "points": 500}
    return BandRequest(**given | {"quantiles": "exact"} | options)


def rule_of_the_paper(n, k):
    """The rule as MATH.md Q7 states it."""
    if n <= 1000 or (n <= 5000 and n <= 50 * k):
        return "resampling"
    return "discrete" if n >= 8 * k**2 else "continuous"


def sample_of(n, k):
    """A sample of n cases on k forecasts, as whole weights."""
    weight = np.full(k, n // k)
    weight[: n % k] += 1
    return sr.corp(np.arange(k) % 2, np.linspace(0, 1, k), weight, weight_kind="frequency").sample


def edges_of_the_rule():
    for k in (1, 2, 5, 11, 12, 19, 20, 21, 25, 26, 99, 100, 101, 400):
        for edge in (1000, 5000, 50 * k, 8 * k**2):
            yield from ((n, k) for n in (edge - 1, edge, edge + 1) if n >= k)


def test_the_method_is_chosen_as_the_paper_recommends():
    chosen = {(n, k): choose_method(sample_of(n, k), request()) for n, k in edges_of_the_rule()}
    assert chosen == {(n, k): rule_of_the_paper(n, k) for n, k in chosen}
    assert set(chosen.values()) == {"resampling", "discrete", "continuous"}


def test_confidence_bands_and_clusters_are_always_resampled():
    y, p = np.arange(6000) % 2, np.linspace(0, 1, 6000)
    assert choose_method(sr.corp(y, p).sample, request()) == "continuous"
    assert choose_method(sr.corp(y, p).sample, request(kind="confidence")) == "resampling"
    for cluster in (y, np.arange(6000)):
        assert choose_method(sr.corp(y, p, cluster=cluster).sample, request()) == "resampling"


def test_fractional_weights_count_by_rows():
    y, p = np.arange(1200) % 2, np.arange(1200) % 4 / 4
    for weight in (0.5, 0.001, 999.5):
        assert choose_method(sr.corp(y, p, np.full(1200, weight)).sample, request()) == "discrete"
        few = sr.corp(y[:1000], p[:1000], np.full(1000, weight)).sample
        assert choose_method(few, request()) == "resampling"


@pytest.mark.parametrize("method", ["discrete", "continuous"])
def test_theory_of_independent_rows_refuses_clusters(method):
    fit = sr.corp([0, 1, 0, 1], [0.1, 0.3, 0.5, 0.7], cluster=[0, 0, 1, 1])
    with pytest.raises(sr.UsageError) as refusal:
        fit.band(method=method)
    assert str(refusal.value) == (
        f'A {method} band needs independent rows; with clusters use method="resampling".'
    )


# Level, label and note of a band

EVERY = {
    "resampled": {"method": "resampling", "resamples": 60},
    "discrete": {"method": "discrete"},
    "continuous": {"method": "continuous"},
    "R's quantiles": {"method": "continuous", "quantiles": "r"},
    "simultaneous": {"coverage": "simultaneous", "resamples": 1000},
}


@pytest.mark.sweep(after=7)
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("kind", ["consistency", "confidence"])
@pytest.mark.parametrize("options", EVERY.values(), ids=EVERY)
def test_the_requested_level_is_reported(options, kind, level):
    """Continuous bands of R report 0.9 whatever the requested level is."""
    band = FIT.band(kind, level, **options)
    assert (band.level, band.kind, band.coverage) == (level, kind, options.get("coverage", "pointwise"))
    assert band.n == 5
    assert (band.lower <= band.upper).all()
    assert (band.lower >= 0).all()
    assert (band.upper <= 1).all()
    assert band.label.startswith(f"{100 * level:g} % {band.coverage} {kind} band (")


@pytest.mark.parametrize("kind", ["consistency", "confidence"])
@pytest.mark.parametrize("options", EVERY.values(), ids=EVERY)
def test_a_higher_level_is_a_wider_band(options, kind):
    fit = sr.corp(*sample("5 values, n = 200"))
    low, high = fit.band(kind, 0.5, **options), fit.band(kind, 0.95, **options)
    assert (high.lower <= low.lower).all()
    assert (high.upper >= low.upper).all()
    assert (high.upper - high.lower).sum() > (low.upper - low.lower).sum()


@pytest.mark.parametrize(
    ("options", "label", "resamples", "note"),
    [
        (
            {"method": "discrete", "level": 0.955},
            "95.5 % pointwise consistency band (discrete)",
            None,
            POINTWISE_NOTE,
        ),
        (
            {"method": "resampling", "resamples": 7},
            "90 % pointwise consistency band (resampling, 7 draws)",
            7,
            POINTWISE_NOTE,
        ),
        (
            {"coverage": "simultaneous", "resamples": 19},
            "90 % simultaneous consistency band (split resampling, 19 draws)",
            19,
            "Simultaneous: the whole curve of a calibrated forecast stays inside with this probability.",
        ),
        (
            {"coverage": "simultaneous", "kind": "confidence"},
            "90 % simultaneous confidence band (honest)",
            None,
            "Simultaneous: the whole true curve, if it does not fall, stays inside with at least this "
            "probability.",
        ),
    ],
)
def test_a_band_is_labelled_as_what_it_is(options, label, resamples, note):
    band = FIT.band(**options)
    assert (band.label, band.resamples) == (label, resamples)
    assert band.seed == (None if resamples is None else SEED)
    assert band.note == note
    assert band.shape == ("step" if "honest" in label else "line")
    assert not any(array.flags.writeable for array in (band.x, band.lower, band.upper))


def test_pointwise_bands_warn_that_they_are_not_simultaneous():
    assert POINTWISE_NOTE.startswith("Pointwise: ")
    assert "calibrated forecast leaves the band almost always" in POINTWISE_NOTE


def test_a_simultaneous_band_has_one_method_only():
    with pytest.raises(sr.UsageError) as refusal:
        FIT.band(coverage="simultaneous", method="resampling")
    assert str(refusal.value) == (
        "A simultaneous band has only one method; leave `method` \"auto\", not 'resampling'."
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"coverage": "global"}, '`coverage` must be one of "pointwise", "simultaneous"; got \'global\'.'),
        ({"resamples": 1}, "`resamples` must be a whole number of at least 2; got 1."),
        ({"points": 1}, "`points` must be a whole number of at least 2; got 1."),
        ({"seed": -1}, "`seed` must be a whole number of at least 0; got -1."),
    ],
)
def test_options_of_resampling_are_checked(options, sentence):
    with pytest.raises(sr.UsageError) as refusal:
        FIT.band(**options)
    assert str(refusal.value) == sentence


def test_a_line_band_is_linear_between_its_forecasts_and_undefined_beyond():
    band = FIT.band(method="discrete")
    lower, upper = band.at([0.05, 0.1, 0.15, 0.9, 0.95])
    np.testing.assert_allclose(
        lower, [nan, band.lower[0], (band.lower[0] * 3 + band.lower[1]) / 4, band.lower[-1], nan], atol=1e-15
    )
    np.testing.assert_allclose(
        upper, [nan, band.upper[0], (band.upper[0] * 3 + band.upper[1]) / 4, band.upper[-1], nan], atol=1e-15
    )


def test_a_curve_stays_inside_if_it_touches_the_bounds():
    band = FIT.band(method="discrete", level=0.5)
    assert band.holds(band.lower)
    assert band.holds(band.upper)
    assert band.holds(band.x)
    for k in range(len(band.x)):
        outside = np.array([band.lower, band.upper])
        outside[0, k], outside[1, k] = band.lower[k] - 1e-11, band.upper[k] + 1e-11
        assert not band.holds(outside[0])
        assert not band.holds(outside[1])


@pytest.mark.parametrize("kind", ["consistency", "confidence"])
def test_each_curve_is_of_one_draw_with_random_numbers_of_its_own(kind):
    fit = sr.corp(*sample("continuous, n = 60"))
    x = fit.distinct.x_min
    simulation = fit.sample.simulation(x if kind == "consistency" else fit.recalibrate(x))
    draws = draw_samples(simulation, 31, SEED, redraw_cases=True)
    curves = np.concatenate([draw.fit().at(x, x, x) for draw in draws])
    np.testing.assert_array_equal(drawn_curves(fit, kind, 31), curves)


@pytest.mark.parametrize("level", [0.3, 0.9, 0.99999])
@pytest.mark.parametrize("name", SAMPLES)
def test_bounds_are_type_7_quantiles_of_the_curves(name, level):
    """Against numpy; both interpolate between two order statistics and differ by a few units of rounding."""
    fit = sr.corp(*sample(name))
    band = fit.band("consistency", level, resamples=31)
    curves = drawn_curves(fit, "consistency", 31)
    assert np.isnan(curves).any() or name == "5 values, n = 200"
    expected = np.nanquantile(curves, [(1 - level) / 2, (1 + level) / 2], axis=0)
    np.testing.assert_array_equal(band.x, np.unique(sample(name)[1]))
    np.testing.assert_allclose([band.lower, band.upper], expected, rtol=0, atol=1e-15)


@given(st.lists(st.lists(st.floats(0, 1) | st.just(nan), min_size=3, max_size=3), min_size=1, max_size=8))
def test_undefined_curves_are_left_out_of_quantiles(rows):
    """Also if one curve is left, or none."""
    curves, levels = np.sort(rows, axis=0), (0.05, 0.5, 0.95)
    for level, found in zip(levels, sorted_quantiles(curves, levels), strict=True):
        for column, value in zip(curves.T, found, strict=True):
            known = column[~np.isnan(column)]
            expected = np.quantile(known, level) if len(known) else nan
            np.testing.assert_allclose(value, expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_the_error_of_a_bound_is_that_of_its_share_of_curves(level):
    """Of curves that are uniform, the error of a quantile is the binomial error of its share."""
    curves = np.linspace(0, 1, 1001)[:, None] * [1, 3]
    tail = (1 - level) / 2
    error = np.sqrt(tail * (1 - tail) / 1001)
    np.testing.assert_allclose(band_bounds._quantile_errors(curves, level), [error, 3 * error], rtol=1e-9)


def slow_curves(y, x, kind, resamples):
    """MATH.md Q10 step by step, with other random numbers: draw rows with replacement, draw their outcomes,
    pool adjacent violators, interpolate linearly, no values beyond the drawn forecasts.
    """
    rng = np.random.default_rng(1)
    order = np.lexsort((-y, x))
    x0 = x[order] if kind == "consistency" else slow_pool(y[order])
    curves = []
    for _ in range(resamples):
        rows = rng.integers(0, len(x), len(x))
        forecast, outcome = x[order][rows], (rng.random(len(x)) < x0[rows]).astype(float)
        again = np.lexsort((-outcome, forecast))
        curves.append(
            np.interp(np.unique(x), forecast[again], slow_pool(outcome[again]), left=nan, right=nan)
        )
    return np.array(curves)


def slow_pool(y):
    stack = []
    for value in y.tolist():
        stack.append([value, 1])
        while len(stack) > 1 and stack[-2][0] * stack[-1][1] >= stack[-1][0] * stack[-2][1]:
            total, size = stack.pop()
            stack[-1][0] += total
            stack[-1][1] += size
    return np.repeat([total / size for total, size in stack], [size for _, size in stack])


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["consistency", "confidence"])
@pytest.mark.parametrize("name", SAMPLES)
def test_resampling_agrees_with_the_reference(name, kind):
    """Bounds of a slow implementation lie among our draws where order statistics may lie. The test fails by
    chance with probability of at most 1e-6 for all forecasts and both bounds of a sample together.
    """
    y, x = sample(name)
    ours, slow = drawn_curves(sr.corp(y, x), kind, 4000), slow_curves(y, x, kind, 2000)
    error = 1e-6 / (4 * ours.shape[1])
    for k, (mine, others) in enumerate(zip(ours.T, slow.T, strict=True)):
        mine, others = mine[~np.isnan(mine)], others[~np.isnan(others)]  # noqa: PLW2901
        for level in (0.05, 0.95):
            bound = np.quantile(others, level)
            assert is_likely_quantile(mine, bound, level, (len(others), len(others)), error), (k, level)


def test_the_comparison_of_distributions_finds_small_differences():
    """Levels of 0.05 and of 0.15 or 0.005 differ in any 4000 and 2000 draws; equal ones do not."""
    rng = np.random.default_rng(1)
    mine, others = rng.random(4000), rng.random(2000)
    assert is_likely_quantile(mine, np.quantile(others, 0.05), 0.05, (2000, 2000), 1e-9)
    assert not is_likely_quantile(mine, np.quantile(others, 0.15), 0.05, (2000, 2000), 1e-9)
    assert not is_likely_quantile(mine, np.quantile(others, 0.005), 0.05, (2000, 2000), 1e-9)
    assert is_likely_quantile(np.zeros(4000), 0.0, 0.05, (2000, 2000), 1e-9)
    assert not is_likely_quantile(np.zeros(4000), 0.1, 0.95, (2000, 2000), 1e-9)
    assert not is_likely_quantile(np.ones(4000), 0.1, 0.95, (2000, 2000), 1e-9)


def all_curves(x, probability, units, by_outcome=None):
    """Probability and curve of every draw of units and outcomes; a unit lists the (place, weight) of rows.

    `by_outcome` are the weights of non-events and of events, if weights depend on outcomes.
    """
    draws = []
    for drawn in product(units, repeat=len(units)):
        rows = [row for unit in drawn for row in unit]
        places = sorted({place for place, _ in rows})
        for chosen in product(*(list(outcomes_of(row, probability, by_outcome)) for row in rows)):
            parts = [(place, *part) for (place, _), part in zip(rows, chosen, strict=True)]
            n = [sum(weight for place, _, weight, _ in parts if place == k) for k in places]
            events = [sum(weight for place, y, weight, _ in parts if place == k and y) for k in places]
            chance = np.prod([part[-1] for part in parts]) / len(units) ** len(units)
            curve = np.interp(x, x[places], pool_weighted(n, events), left=nan, right=nan)
            draws.append((chance, curve))
    chance, curves = (np.array(column) for column in zip(*draws, strict=True))
    assert chance.sum() == pytest.approx(1)
    return chance, curves


def outcomes_of(row, probability, by_outcome):
    """Outcome, weight and probability of both outcomes that may be drawn for a row."""
    place, weight = row
    of_other, of_event = by_outcome or (weight, weight)
    p = probability[place] / of_event
    other = (1 - probability[place]) / of_other
    return (0, of_other, other / (p + other)), (1, of_event, p / (p + other))


def pool_weighted(n, events):
    stack = []
    for size, total in zip(n, events, strict=True):
        stack.append([total, size, 1])
        while len(stack) > 1 and stack[-2][0] * stack[-1][1] >= stack[-1][0] * stack[-2][1]:
            for k, value in enumerate(stack.pop()):
                stack[-1][k] += value
    return np.repeat([total / size for total, size, _ in stack], [places for _, _, places in stack])


TINY = {
    "two rows": ([0, 1], [0.2, 0.9], None, None),
    "two equal forecasts": ([0, 1], [0.4, 0.4], None, None),
    "one row": ([1], [0.3], None, None),
    "one class": ([0, 0, 0], [0.2, 0.5, 0.9], None, None),
    "ties": ([0, 1, 0, 1], [0.2, 0.6, 0.6, 0.9], None, None),
    "frequencies": ([1, 0], [0.3, 0.8], [3.0, 1.0], None),
    "fractional weights": ([0, 1, 0], [0.2, 0.5, 0.6], [0.5, 1.25, 2.0], None),
    "weights by outcome": ([0, 1, 0, 1], [0.2, 0.5, 0.6, 0.6], [3.0, 1.0, 3.0, 1.0], None),
    "clusters": ([0, 1, 0, 1], [0.2, 0.2, 0.5, 0.7], None, [0, 1, 1, 2]),
}


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("kind", ["consistency", "confidence"])
@pytest.mark.parametrize("name", TINY)
def test_tiny_samples_have_their_exact_distribution(name, kind):
    """All draws and outcomes are enumerated. The share of curves at or below each value may differ from its
    probability by 5 binomial standard errors; undefined curves count as a value below all others.
    """
    y, p, weight, cluster = TINY[name]
    weight_kind = "frequency" if name == "frequencies" else "sampling"
    fit = sr.corp(y, p, weight, weight_kind=weight_kind, cluster=cluster)
    assert fit.sample.correlation == 0
    x = fit.distinct.x_min
    place, w = np.searchsorted(x, p).tolist(), weight or [1.0] * len(p)
    if name == "frequencies":
        place, w = [0, 0, 0, 1], [1.0] * 4
    label = cluster or range(len(place))
    units = [[(k, v) for k, v, c in zip(place, w, label, strict=True) if c == g] for g in sorted(set(label))]
    probability = x if kind == "consistency" else fit.recalibrate(x)
    by_outcome = (3.0, 1.0) if name == "weights by outcome" else None
    chance, curves = all_curves(x, probability, units, by_outcome)
    ours = drawn_curves(fit, kind, 2000)
    assert ((np.nanmin(ours, axis=0) >= 0) & (np.nanmax(ours, axis=0) <= 1)).all()
    for exact, drawn in zip(np.nan_to_num(curves, nan=-1.0).T, np.nan_to_num(ours, nan=-1.0).T, strict=True):
        for value in np.unique(exact):
            expected = chance[exact <= value + 1e-9].sum()
            error = np.sqrt(max(expected * (1 - expected), 0) / 2000)
            assert abs((drawn <= value + 1e-9).mean() - expected) <= 5 * error + 1e-9


@pytest.mark.sweep(after=17)
@pytest.mark.parametrize("kind", ["consistency", "confidence"])
@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("level", [0.9, 0.99999])
def test_every_method_gives_a_band_for_tiny_samples(name, kind, level):
    """R fails on two rows, one forecast, and levels above .9998."""
    y, p, weight, cluster = TINY[name]
    fit = sr.corp(y, p, weight, cluster=cluster)
    methods = ["resampling"] if cluster else ["resampling", "discrete", "continuous"]
    for method in methods:
        band = fit.band(kind, level, method=method, resamples=200)
        assert len(band.x) == (101 if method == "continuous" else len(set(p)))
        assert ((band.lower >= 0) & (band.lower <= band.upper) & (band.upper <= 1)).all()


@pytest.mark.parametrize("value", [0.0, 1.0])
@pytest.mark.parametrize("kind", ["consistency", "confidence"])
@pytest.mark.parametrize("method", ["resampling", "discrete", "continuous"])
def test_certain_forecasts_have_a_band_without_gaps(value, kind, method):
    band = sr.corp([0, 0, 1], [value] * 3).band(kind, method=method, resamples=50)
    assert ((band.lower >= 0) & (band.lower <= band.upper) & (band.upper <= 1)).all()


@pytest.mark.parametrize("value", [0.001, 0.999])
def test_a_continuous_band_continues_where_the_density_of_forecasts_is_0(value):
    """At the other end of the scale the density underflows to 0, and the variance is 0 as well."""
    weight = np.array([400_000, 100])
    band = sr.corp([0, 1], [value, value], weight).band(method="continuous")
    assert ((band.lower >= 0) & (band.lower <= band.x) & (band.x <= band.upper) & (band.upper <= 1)).all()
    far = (np.abs(band.x - value) > 0.9) & (band.x > 0) & (band.x < 1)
    assert (band.upper[far] - band.lower[far] == 1).all()
    assert (band.lower[[0, -1]].tolist(), band.upper[[0, -1]].tolist()) == ([0, 1], [0, 1])


@pytest.mark.parametrize("method", ["discrete", "continuous", "resampling"])
def test_levels_too_close_to_one_are_refused(method):
    assert (FIT.band(level=1 - 2e-12, method=method, resamples=20).level) == 1 - 2e-12
    with pytest.raises(
        sr.UsageError, match=r"^`level` must not be within 1e-12 of 1; got 0\.9999999999999998\.$"
    ):
        FIT.band(level=1 - 2**-52, method=method)


def test_rounded_forecasts_are_pooled_where_they_tie():
    """R rounds after sorting, so that ties made by rounding are not pooled: MCB .085 and two rows at .1."""
    y, p = np.array([0, 1, 0, 1]), np.array([0.12, 0.13, 0.14, 0.9])
    rounded = sr.corp(y, p.round(1))
    assert rounded.decompose().miscalibration == pytest.approx(0.13 / 3, abs=1e-12)
    assert rounded.decompose().discrimination == pytest.approx(0.25 / 3, abs=1e-12)
    for options in EVERY.values():
        band, direct = rounded.band(**options), sr.corp([1, 0, 0, 1], [0.1, 0.1, 0.1, 0.9]).band(**options)
        assert band.x.tolist() == ([0.1, 0.9] if len(band.x) == 2 else direct.x.tolist())
        assert band.lower.tobytes() == direct.lower.tobytes()
        assert band.upper.tobytes() == direct.upper.tobytes()
