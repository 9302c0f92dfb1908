"""The logistic kernels against an exact method: they find whether there is a maximum, and where it is.

The exact method works with 50 digits. It finds whether there is a maximum by comparing every event with
every other case, and where it is by the sign of the score on either side of the kernels' result.
"""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport.inference.logistic import fit_line, fit_offset, fit_slope
from scorereport.inference.regression import calibration_line

#: Beyond these log-odds nothing is left of a probability of 1e-2000.
FAR = Decimal(5000)
#: How near the kernels must come, in log-odds.
NEAR = Decimal("1e-7")
KINDS = ("free", "ties", "separated", "separated but for one", "nearly tied")
WEIGHTS = ("equal", "whole", "12 decades")
#: Samples of each seed.
SAMPLES = 100


def draw_sample(kind, weights, rng):
    """Log-odds up to 700, outcomes and weights of 3 to 12 cases."""
    n, spread = int(rng.integers(3, 13)), rng.choice([1e-6, 0.01, 1.0, 5.0, 30.0, 300.0])
    x = rng.normal(rng.choice([0.0, -5.0, 20.0, 300.0]), spread, n)
    y = (rng.random(n) < rng.choice([0.1, 0.5, 0.9])).astype(float)
    if kind == "ties":
        x = np.round(x / spread) * spread
    elif kind == "nearly tied":
        x = x[0] * (1 + np.round(rng.normal(0, 3, n)) * 2.0 ** -rng.integers(10, 45))
    elif kind.startswith("separated"):
        x, y = np.sort(x), (np.arange(n) >= rng.integers(1, n)) ^ rng.choice([False, True])
        if kind == "separated but for one":
            odd = rng.integers(n)
            y[odd] = ~y[odd]
            x[odd] = rng.choice([x[odd], x[rng.integers(n)] * (1 + rng.choice([0, 1e-12, 1e-6, -1e-6]))])
    weight = {
        "equal": np.ones(n),
        "whole": rng.integers(1, 300, n).astype(float),
        "12 decades": 10 ** rng.uniform(-6, 6, n),
    }
    return np.clip(x, -700, 700), y.astype(float), weight[weights]


class ExactSample:
    """Score equations of a sample with 50 digits; residuals are split so that weights cancel exactly."""

    def __init__(self, x, y, weight):
        self.x, self.weight = [[Decimal(float(v)) for v in values] for values in (x, weight)]
        self.sign = [1 if outcome else -1 for outcome in y]
        self.centre = sum(self.x) / len(self.x)

    def scores(self, middle, slope):
        """Sums of residuals, of information, and of residuals times centred log-odds."""
        whole = rest = information = 0
        whole_slope = rest_slope = 0
        for x, sign, weight in zip(self.x, self.sign, self.weight, strict=True):
            z = x - self.centre
            log_odds = middle + slope * z
            power = (-min(abs(log_odds), FAR)).exp()
            doubt = power / (1 + power)
            first, second = (sign, -sign * doubt) if sign * log_odds < 0 else (0, sign * doubt)
            whole, rest = whole + weight * first, rest + weight * second
            whole_slope, rest_slope = whole_slope + weight * z * first, rest_slope + weight * z * second
            information += weight * doubt * (1 - doubt)
        return whole + rest, information, whole_slope + rest_slope

    def middle_at(self, slope, start):
        """The best middle for a slope: Newton's method inside a bracket."""
        reach = 3 * FAR + abs(slope) * max(abs(x - self.centre) for x in self.x)
        lower, upper, at = -reach, reach, start
        while True:
            score, information, _ = self.scores(at, slope)
            lower, upper = (at, upper) if score > 0 else (lower, at)
            new = at + score / information if information else lower
            new = new if lower < new < upper else (lower + upper) / 2
            if abs(new - at) < Decimal("1e-25") * (1 + abs(at)):
                return new
            at = new

    def profile_score(self, slope, start):
        """How the likelihood rises with the slope, the middle being the best for it."""
        return self.scores(self.middle_at(slope, start), slope)[2]


def assert_line_is_exact(x, y, weight):
    """The slope lies between two at which the score has opposite signs; the intercept belongs to it."""
    intercept, slope = fit_line(x, y, weight)
    others = x[y == 0]
    overlap = bool((x[y == 1, None] < others).any() and (x[y == 1, None] > others).any())
    assert np.isfinite([intercept, slope]).tolist() == [overlap, overlap]
    if not overlap:
        return
    exact, b = ExactSample(x, y, weight), Decimal(slope)
    start = Decimal(intercept) + b * exact.centre
    off = NEAR * (abs(b) + 1 / Decimal(float(np.ptp(x))))
    assert exact.profile_score(b - off, start) > 0 > exact.profile_score(b + off, start)
    best = exact.middle_at(b, start) - b * exact.centre
    rounding = Decimal("1e-14") * abs(b) * max(map(abs, exact.x))
    assert abs(best - Decimal(intercept)) <= NEAR * (1 + abs(best)) + rounding


def assert_offset_is_exact(x, y, weight):
    offset = fit_offset(x, y, weight)
    assert np.isfinite(offset) == (0 < y.mean() < 1)
    if np.isfinite(offset):
        exact = ExactSample(x, y, weight)
        best = exact.middle_at(Decimal(1), Decimal(offset) + exact.centre) - exact.centre
        assert abs(best - Decimal(offset)) <= NEAR * (1 + abs(best))


def assert_samples_are_exact(seed, samples):
    with localcontext() as context:
        context.prec = 50
        for number in range(samples):
            rng = np.random.default_rng([seed, number])
            sample = draw_sample(rng.choice(KINDS), rng.choice(WEIGHTS), rng)
            try:
                assert_line_is_exact(*sample)
                assert_offset_is_exact(*sample)
            except AssertionError as error:
                shown = [array.tolist() for array in sample]
                raise AssertionError(f"seed {seed}, sample {number}: {shown}") from error


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("seed", range(4))
def test_kernels_are_exact(seed):
    assert_samples_are_exact(seed, SAMPLES)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(1000, 2000))
def test_kernels_are_exact_in_a_hundred_thousand_samples(seed):
    assert_samples_are_exact(seed, SAMPLES)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(2))
def test_kernels_find_the_maximum_of_larger_samples(seed):
    """At a finite maximum the residuals sum to 0; there is one exactly if the outcomes overlap."""
    rng = np.random.default_rng([seed, 1])
    for _ in range(300):
        n, spread = rng.integers(4, 60), rng.choice([0.01, 1.0, 5.0, 30.0, 100.0])
        x = rng.normal(0, spread, n) * rng.choice([1, 1, 5], n) + rng.choice([0, -5, 20])
        y = (rng.random(n) < rng.choice([0.1, 0.5, 0.9])).astype(float)
        weight = rng.choice([1.0, 2.0, 300.0], n)
        zero, one = x[y == 0], x[y == 1]
        overlap = min(len(zero), len(one)) > 0 and one.min() < zero.max() and zero.min() < one.max()
        a, b = fit_line(x, y, weight)
        assert np.isfinite([a, b]).tolist() == [overlap, overlap]
        if overlap:
            residual = weight * (y - 1 / (1 + np.exp(-np.clip(a + b * x, -700, 700))))
            np.testing.assert_allclose([residual.sum(), residual @ (x - x.mean()) / spread], 0, atol=1e-5)
        assert np.isfinite(fit_offset(x, y, weight)) == (0 < y.mean() < 1)


def test_a_nearly_separated_sample_has_a_steep_line():
    """Newton's method moves by one unit of log-odds in a step: a slope of 65 takes more steps than it has."""
    x = np.array([-1.0, 0.0, 1e-28, 1.0])
    y = np.array([0.0, 1.0, 0.0, 1.0])
    intercept, slope = fit_line(x, y, np.ones(4))
    assert slope == pytest.approx(65, abs=2)
    with localcontext() as context:
        context.prec = 80
        assert_line_is_exact(x, y, np.ones(4))
    assert intercept == pytest.approx(0, abs=1e-6)


def test_a_nearly_separated_model_has_a_line_in_public():
    y = [0] * 500 + [1] * 500
    p = np.concatenate([np.linspace(0.01, 0.49, 500), np.linspace(0.51, 0.99, 500)])
    p[[499, 500]] = 0.5 + 1e-12, 0.5
    line = calibration_line(y, p)
    assert line.slope.value > 10
    assert "did not converge" not in line.slope.note


@pytest.mark.parametrize("factor", [1e-300, 1e-150, 1e150, 1e300])
def test_the_unit_of_weights_does_not_matter(factor):
    x, y = np.array([-2.0, -1, 0, 1, 3]), np.array([0.0, 1, 0, 0, 1])
    weight = np.array([1.0, 2, 3, 4, 5])
    np.testing.assert_allclose(fit_line(x, y, factor * weight), fit_line(x, y, weight), rtol=1e-12)
    assert fit_offset(x, y, factor * weight) == pytest.approx(fit_offset(x, y, weight), rel=1e-12)


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("small_weight", [1e-12, 1e-50, 1e-150, 1e-290])
def test_a_case_of_little_weight_keeps_the_slope_finite(small_weight):
    x, y, weight = np.array([-1.0, 0, 1, 2]), np.array([0.0, 0, 1, 0]), np.array([1.0, 1, 1, small_weight])
    with localcontext() as context:
        context.prec = 700
        assert_line_is_exact(x, y, weight)
        assert_offset_is_exact(x, y, weight)


def test_equal_weights_on_the_wrong_side_cancel_exactly():
    """An event at -700 and a non-event at 700 leave the sum of residuals to what is 1e-87 of them."""
    x, y = np.array([-700.0, -200, 200, 700]), np.array([1.0, 0, 1, 0])
    assert fit_offset(x, y, np.ones(4)) == pytest.approx(0, abs=1e-9)
    assert fit_offset(x, y, np.array([1.0, 1, 2, 1]), start=40.0) == pytest.approx(np.log(2) / 2, abs=1e-9)


def test_a_slope_with_the_intercept_held_is_exact():
    rng = np.random.default_rng(4)
    found = 0
    for _ in range(300):
        x, y, weight = draw_sample(rng.choice(KINDS), rng.choice(WEIGHTS), rng)
        slope = fit_slope(x, y, weight, 0.3, 0.0)
        signed = x * (2 * y - 1)
        assert np.isfinite(slope) == (signed.min() < 0 < signed.max())
        if np.isfinite(slope):
            found += 1
            log_odds = 0.3 + (slope + np.array([[-1], [1]]) * 1e-7 * (abs(slope) + 1 / np.abs(x).max())) * x
            rises = (weight * x * (y - 1 / (1 + np.exp(-np.clip(log_odds, -700, 700))))).sum(axis=1)
            noise = 1e-13 * (weight * np.abs(x)).sum()
            assert rises[0] > -noise
            assert rises[1] < noise
    assert found > 50


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_every_engine_fits_a_nearly_separated_model(engine):
    y = np.array([0] * 300 + [1] * 300)
    p = np.concatenate([np.linspace(0.01, 0.49, 300), np.linspace(0.51, 0.99, 300)])
    p[[299, 300]] = 0.5 + 1e-9, 0.5
    frame = pd.DataFrame({"y": y, "p": p})
    evaluation = sr.evaluate(frame, outcome="y", forecasts=["p"], engine=engine, resamples=20)
    line = evaluation.models[0].calibration.line
    expected = calibration_line(y, p)
    assert line.slope.value == pytest.approx(expected.slope.value, rel=1e-5)
    assert line.slope.value > 5
