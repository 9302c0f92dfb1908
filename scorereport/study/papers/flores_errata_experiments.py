"""Errata of Flores et al. (2025) about its numbers: Table 2 and the simulation of Appendix F."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from scipy.special import expit

from scorereport import scores
from scorereport.study.papers.flores import fits_treating_nobody, ratios_of_treating_nobody
from scorereport.study.papers.printed_numbers import Erratum, ErratumResult, is_near


def _find_range() -> ErratumResult:
    stated, as_odds = ratios_of_treating_nobody()
    return stated, as_odds, fits_treating_nobody(as_odds) and not fits_treating_nobody(stated)


def _find_mean_forecast() -> ErratumResult:
    node, weight = np.polynomial.hermite_e.hermegauss(80)

    def mean(intercept: float, slope: float) -> float:
        """Mean forecast expit(intercept + slope z) of the simulated patients, a fifth of them ill."""
        healthy, ill = (weight @ expit(intercept + slope * (node + shift)) for shift in (0.0, 0.95))
        return float((0.8 * healthy + 0.2 * ill) / weight.sum())

    printed, correct = mean(-0.9, 1.0), mean(math.log(0.2 / 0.8) - 0.95**2 / 2, 0.95)
    return printed, correct, abs(correct - 0.2) < 1e-6 and abs(printed - 0.2) > 0.1


def _find_deviation() -> ErratumResult:
    nothing, event = scores.bounded_brier([0, 1], [0, 0], lower=0.05, upper=0.20, scale="paper")
    exact = (Fraction(19, 20) ** 2 - Fraction(4, 5) ** 2) / Fraction(3, 20)
    deviation = float(event - nothing) * math.sqrt(0.2 * 0.8 / 1e6)
    return 0.00035, deviation, is_near(event - nothing, exact) and deviation > 0.000355


ERRATA_OF_EXPERIMENTS: tuple[Erratum, ...] = (
    (
        "E14: Table 2 is not on 1.66 %-3 % but on odds of 1.66 and 3 to 100; ratio of its last two lines",
        _find_range,
        "Where nobody is treated the ratio of the scores depends on the interval alone.",
    ),
    (
        "E15: the forecast called well calibrated is not; its mean, and that of the calibrated one",
        _find_mean_forecast,
        "A fifth are ill; the marker shifted by .95 has log-odds -1.8375 + .95 z, not -.9 + z.",
    ),
    (
        "E15: largest standard deviation of a cell in Appendix F",
        _find_deviation,
        "Assume all negative, Brier 5%-20%, is 7/4 of the prevalence of a million drawn outcomes.",
    ),
)
