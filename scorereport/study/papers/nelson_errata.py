"""Errata of Nelson (2017), each with its proof or counterexample, computed."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from scorereport import scores
from scorereport.study.papers.nelson import fitted_accuracies
from scorereport.study.papers.nelson_figures import FIRST, WRONG_MODELS, average_model
from scorereport.study.papers.printed_numbers import NELSON as PAPER
from scorereport.study.papers.printed_numbers import Erratum, ErratumResult, is_near, judge_errata

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.reference.comparison_records import Comparison

_ROBUST = -2 / 3
#: Eight forecasts and their outcomes: sixteen pairs of case and class.
_FORECASTS = (0.95, 0.9, 0.8, 0.7, 0.6, 0.45, 0.3, 0.15)
_OUTCOMES = (1, 1, 1, 0, 1, 0, 1, 0)


def errata_nelson() -> Iterator[Comparison]:
    """Compare each erratum: the printed claim, the correct value, and whether the computation confirms it."""
    return judge_errata(PAPER, _ERRATA)


def _find_deviation() -> ErratumResult:
    """Equation 10 as printed, for probabilities that are all one half."""
    logs = np.log([0.5, 0.5])
    printed = float(np.sqrt(np.exp((logs**2 - logs.mean()).mean())))
    engine = scores.probability_deviation([0.5, 0.5])
    return round(printed, 4), engine, is_near(engine, 1)


def _find_lower_bound() -> ErratumResult:
    """The sign of the lower bound of entropy depends on the product, not on the ratio."""
    p = np.array([0.9, 0.95, 0.99, 0.2])
    mean, deviation = scores.generalized_mean(p, 0), scores.probability_deviation(p)
    bound = -np.log(p).mean() - np.log(p).std()
    ratio, product = mean / deviation, mean * deviation
    holds = is_near(product, np.exp(-bound)) and bound < 0 and ratio < 1 < product
    return round(ratio, 4), round(product, 4), bool(holds)


def _find_renyi() -> ErratumResult:
    """Equation 12 as printed, with m = 1 and equal weights."""
    p = (Fraction(2, 10), Fraction(7, 10))
    printed, meant = p[0] / 2 * p[1] / 2, (p[0] + p[1]) / 2
    return printed, meant, is_near(scores.generalized_mean(np.array(p, dtype=np.float64), 1), meant)


def _find_exponent() -> ErratumResult:
    """Density ten scales from the mean over that at the mean, for coupling one half."""
    base = 1 + Fraction(1, 2) * 10**2
    printed, meant = float(base) ** 1.5, float(base) ** -1.5
    far, centre = scores.coupled_gaussian_logpdf([10.0, 0.0], kappa=0.5)
    return round(printed, 4), round(meant, 6), printed > 1 and is_near(np.exp(far - centre), meant)


def _find_compact() -> ErratumResult:
    """Accuracy in two dimensions with the coupling of Fig. 1c as printed, and with its sign changed."""
    printed, meant = (scores.generalized_mean(fitted_accuracies(k, 2), 0) for k in (0.095, -0.095))
    outside = scores.coupled_gaussian_logpdf([100.0], kappa=0.095)[0]
    return round(printed, 4), meant, bool(meant == 0 < printed and np.isfinite(outside))


def _find_double_root() -> ErratumResult:
    """Equation 18 as printed, for probabilities that are all one half in two bins."""
    in_bin = (0.5**_ROBUST) ** (1 / _ROBUST)
    printed = float(np.mean([in_bin, in_bin]) ** (1 / _ROBUST))
    engine = scores.probability_scale([1, 0], [0.5, 0.5], n_bins=2).robustness.model
    return round(printed, 4), engine, is_near(engine, 0.5)


def _find_bin_weights() -> ErratumResult:
    """Calibrated forecasts uniform on [0, 1], each with both outcomes, weighted by their probability."""
    grid = (np.arange(1000) + 0.5) / 1000
    outcomes, forecasts = np.repeat([1, 0], len(grid)), np.tile(grid, 2)
    weight = np.concatenate([grid, 1 - grid])
    scale = scores.probability_scale(outcomes, forecasts, n_bins=200, sample_weight=weight)
    printed = float(np.exp(np.log(scale.model).mean()))
    is_limit = abs(printed - np.exp(-1)) < 0.01 and abs(scale.accuracy.model - np.exp(-1 / 2)) < 1e-4
    return round(printed, 3), round(scale.accuracy.model, 3), bool(is_limit)


def _find_empty_bin() -> ErratumResult:
    """Two right forecasts in two bins; no pair of the lower bin is an observed class."""
    scale = scores.probability_scale([1, 0], [0.9, 0.2], n_bins=2)
    printed = float(np.prod(scale.source) ** (1 / len(scale.source)))
    return printed, scale.accuracy.source, scale.events[0] == 0 and is_near(scale.accuracy.source, 1)


def _contribution(bins: int) -> tuple[float, float]:
    """Accuracy with the weights of equation 17, and by the engine."""
    scale = scores.probability_scale(_OUTCOMES, _FORECASTS, n_bins=bins)
    is_used = scale.events > 0
    weight = (scale.source / scale.source.sum())[is_used]
    return float(np.exp((weight * np.log(scale.model[is_used])).sum())), scale.accuracy.model


def _find_unequal_bins() -> ErratumResult:
    """Sixteen pairs in three bins, one of which is larger; in four bins the weights agree."""
    accuracy = scores.probability_accuracy(_OUTCOMES, _FORECASTS)
    printed, engine = _contribution(3)
    holds = is_near(engine, accuracy) and is_near(_contribution(4)[0], accuracy)
    return round(printed, 6), round(engine, 6), holds and not is_near(printed, accuracy)


def _find_single_event() -> ErratumResult:
    """One event of probability .6 for which .9 was reported; in expectation the claim is true."""
    expected = scores.divergence_probability([0.6, 0.4], [0.9, 0.1])
    single = Fraction(9, 10) / Fraction(6, 10)
    return "at most 1", str(single), expected < 1 < single


def _find_binned_sample() -> ErratumResult:
    """Three cases in a single bin."""
    table = [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]]
    mean = scores.probability_scale([0, 0, 1], table, n_bins=1).accuracy
    exact = float(np.prod([0.9, 0.8, 0.7]) ** (1 / 3)) / 0.5
    return "at most 1", f"{mean.divergence:.4f}", is_near(mean.divergence, exact) and mean.divergence > 1


def _find_caption() -> ErratumResult:
    """Slope of the three means if the model assumes variance 2 where it is 1."""
    slope = average_model((FIRST, WRONG_MODELS["Fig. 6b, variance 2 for 1"][0])).slope
    return "above 1", f"{slope:.3f}", slope < 1


def _find_axes() -> ErratumResult:
    """All marks lie below the diagonal if the source is on the x-axis, above it if the model is."""
    means = [average_model((FIRST, second)).accuracy for second, _ in WRONG_MODELS.values()]
    below = sum(mean.model < mean.source for mean in means)
    above = sum(mean.source < mean.model for mean in means)
    total = f"of {len(means)} below the diagonal"
    return f"{above} {total}", f"{below} {total}", below == len(means)


def _find_duality() -> ErratumResult:
    """The dual of m = 1 by κ → -κ/(1 + κ), with equation 11 and with its sign changed."""

    def dual(sign: int) -> Fraction:
        coupling = Fraction(1, 2 * sign - 1)  # solves sign 2κ/(1 + κ) = 1
        other = -coupling / (1 + coupling)
        return sign * 2 * other / (1 + other)

    is_engine = is_near(scores.coupling_exponent(1.0), 1) and is_near(scores.coupling_exponent(-0.5), dual(1))
    return Fraction(-2, 3), dual(1), is_engine and dual(-1) == Fraction(-2, 3)


_ERRATA: tuple[Erratum, ...] = (
    (
        "E1: equation 10 does not square the mean and has the root outside the exponential",
        _find_deviation,
        "Equal probabilities do not vary, so their factor must be 1; value for p = .5 throughout.",
    ),
    (
        "E2: a negative lower bound of entropy is a product p̄ p_σ above 1, not a ratio",
        _find_lower_bound,
        "H - σ < 0 if and only if e^(-H) e^σ > 1; the ratio never exceeds 1; p = (.9, .95, .99, .2).",
    ),
    (
        "E3: equation 12 has the sum outside the logarithm",
        _find_renyi,
        "exp(-S) for m = 1 and p = (.2, .7): a product instead of the mean.",
    ),
    (
        "E4: the exponent of equation 14 must be negative",
        _find_exponent,
        "As printed the density grows without limit: κ = ½, ten scales from the mean relative to the mean.",
    ),
    (
        "E4: the compact support of Fig. 1c needs κ = -.095",
        _find_compact,
        "With the printed sign no density is 0 and the accuracy is not 0.",
    ),
    (
        "E5: equation 18 takes the root twice",
        _find_double_root,
        "Robustness if all probabilities are .5: a mean cannot exceed its values.",
    ),
    (
        "E6: weights 1/B in equations 18 and 19 contradict equations 2, 9 and 17",
        _find_bin_weights,
        "Calibrated uniform forecasts have accuracy e^(-1/2) = .607; equal weights tend to e^(-1) = .368.",
    ),
    (
        "E6: with weights 1/B a bin without an observed class makes equation 19 equal 0",
        _find_empty_bin,
        "Forecasts .9 and .2, both right: the lower bin has source probability 0, and so has its product.",
    ),
    (
        "E7: the weights of equation 17 hold for bins of equal count only",
        _find_unequal_bins,
        "P_k is N*_k/N_k: proportional to N*_k if all N_k are equal, not for 6, 5 and 5 pairs.",
    ),
    (
        "E8: the divergence probability of a sample can exceed 1: a single event",
        _find_single_event,
        "q/p = .9/.6; only its expectation, exp(-D), is bounded by 1.",
    ),
    (
        "E8: the divergence probability of a sample can exceed 1: binned",
        _find_binned_sample,
        "(.9, .1), (.8, .2), (.3, .7) with classes 1, 1, 2 in one bin: model .7958, source .5.",
    ),
    (
        "E9: Fig. 6b shows an under-confident model, not an over-confident one",
        _find_caption,
        "A variance too large flattens the posterior: the slope of the means is below 1.",
    ),
    (
        "E9: marks are (source, model), not (model, source) as section 4 ends",
        _find_axes,
        "Section 5 finds all wrong models below the diagonal, which needs the source on the x-axis.",
    ),
    (
        "E10: equation 11 does not give the exponent -2/3 as the counterpart of 1",
        _find_duality,
        "By κ → -κ/(1 + κ), which the paper does not state, it gives -2; -2/3 needs the opposite sign.",
    ),
)
