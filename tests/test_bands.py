"""Asymptotic bands: R's answers, and Chernoff's law to ten digits."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import recorded
from scipy.integrate import quad

import scorereport as sr
from scorereport.reliability import chernoff

CASES = recorded("reliabilitydiag")["cases"]
FIT = sr.corp([0, 1, 0, 1, 1], [0.1, 0.3, 0.5, 0.7, 0.9])


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    ("answer", "options", "tolerance"),
    [
        ("discrete_diagonal_90", {"method": "discrete", "level": 0.9}, 1e-10),
        ("discrete_diagonal_95", {"method": "discrete", "level": 0.95}, 1e-10),
        ("continuous_diagonal_90", {"method": "continuous", "level": 0.9, "quantiles": "r"}, 1e-10),
        ("continuous_diagonal_90", {"method": "continuous", "level": 0.9}, 1e-6),
    ],
    ids=["discrete 90", "discrete 95", "continuous, R's table", "continuous, exact"],
)
def test_bands_agree_with_r(name, answer, options, tolerance):
    case = CASES[name]
    band = sr.corp(np.atleast_1d(case["y"]), np.atleast_1d(case["x"])).band(**options)
    assert (band.kind, band.method, band.level) == ("consistency", options["method"], options["level"])
    if case[answer] is None:  # R fails on few rows and constant forecasts; we do not
        assert (band.lower <= band.upper).all()
        return
    for side in ("x", "lower", "upper"):
        expected = np.atleast_1d(case[answer][side])
        np.testing.assert_allclose(getattr(band, side), expected, rtol=0, atol=tolerance, err_msg=side)


def test_confidence_bands_lie_around_the_estimate():
    band = FIT.band(method="discrete", kind="confidence", level=0.5)
    middle = (band.lower + band.upper) / 2
    inside = (band.lower > 0) & (band.upper < 1)
    np.testing.assert_allclose(middle[inside], FIT.cep[inside], rtol=1e-14)
    assert inside.any()


def test_whole_weights_equal_repeated_rows():
    y, p, w = np.array([0, 1, 0, 1]), np.array([0.1, 0.3, 0.3, 0.8]), np.array([2, 1, 3, 4])
    for method in ("discrete", "continuous"):
        weighted = sr.corp(y, p, w).band(method=method)
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


# Chernoff's law


@pytest.mark.parametrize(
    ("probability", "quantile"), [(0.9, 0.664235), (0.95, 0.845081), (0.975, 0.998181), (0.995, 1.286659)]
)
def test_quantiles_agree_with_published_ones(probability, quantile):
    assert round(chernoff.chernoff_quantile(probability), 6) == quantile


@pytest.mark.parametrize("probability", [0.5, 0.6, 0.95, 0.9999, 0.999999])
def test_quantiles_invert_an_independent_quadrature(probability):
    density = lambda z: chernoff._density(np.array([z]))[0]  # noqa: E731
    q = chernoff.chernoff_quantile(probability)
    mass, _ = quad(density, 0, q, epsabs=1e-13, limit=200)
    assert 0.5 + mass == pytest.approx(probability, abs=1e-11)
    assert chernoff.chernoff_quantile(1 - probability) == pytest.approx(-q, abs=1e-10)


def test_the_law_has_mass_one_and_its_known_variance():
    z = np.linspace(-4, 4, 4001)
    density = chernoff._density(z)
    assert np.trapezoid(density, z) == pytest.approx(1, abs=1e-12)
    assert np.trapezoid(z**2 * density, z) == pytest.approx(0.26355964, abs=1e-8)


def test_levels_beyond_the_table_are_no_trouble():
    """R has no answer above .9998."""
    assert (
        chernoff.chernoff_quantile(0.99999)
        > chernoff.chernoff_quantile(0.9999)
        == pytest.approx(1.784955, abs=1e-6)
    )
    with pytest.raises(sr.UsageError, match=r"^`probability` must lie in \[0\.5, 0\.9999\]; got 0\.99999\.$"):
        chernoff.interpolated_chernoff_quantile(0.99999)
