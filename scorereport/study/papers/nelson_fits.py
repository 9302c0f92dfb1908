"""Fig. 1 of Nelson (2017): a model fitted to few samples, by all readings of how it is fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from scorereport import scores
from scorereport.reliability.sampling import SEED, random_stream
from scorereport.study.papers.citations import NELSON as PAPER
from scorereport.study.papers.printed_numbers import compare_readings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scorereport._utils.arrays import FloatArray
    from scorereport.reference.comparison_records import Comparison

_DIMENSIONS = (2, 4, 6, 8, 10)
_REPEATS, _TEST_CASES = 20, 300
_LITERAL, _WITH_COVARIANCES = "variances, 12 and 13 samples", "covariances, 12 and 13 samples"
#: Whether covariances are estimated, and the number of samples in each class.
_FITS = {
    _LITERAL: (False, (12, 13)),
    "variances, 25 samples each": (False, (25, 25)),
    _WITH_COVARIANCES: (True, (12, 13)),
    "covariances, 25 samples each": (True, (25, 25)),
}
_QUANTILES = {"5%": 0.05, "median": 0.5, "95%": 0.95}


def fitted_accuracies(
    coupling: float, d: int, *, with_covariance: bool = False, sizes: tuple[int, int] = (12, 13)
) -> FloatArray:
    """Accuracies of models fitted again and again to samples of sources at 0 and 1 in each dimension."""
    fits = (
        _fit_once(coupling, random_stream(SEED, fit, d), d, with_covariance, sizes) for fit in range(_REPEATS)
    )
    return np.array([scores.generalized_mean(probabilities, 0) for probabilities in fits])


def _fit_once(
    coupling: float, rng: np.random.Generator, d: int, with_covariance: bool, sizes: tuple[int, int]
) -> FloatArray:
    """Probabilities that a fitted model gives to the true class of new cases."""
    samples = [rng.normal(label, 1, (size, d)) for label, size in enumerate(sizes)]
    cases = [rng.normal(label, 1, (_TEST_CASES, d)) for label in (0, 1)]
    means = [sample.mean(axis=0) for sample in samples]
    errors = np.concatenate([sample - mean for sample, mean in zip(samples, means, strict=True)])
    covariance = errors.T @ errors / (len(errors) - 2)
    scale = covariance if with_covariance else np.diag(np.diag(covariance))
    probabilities = []
    for label in (0, 1):
        own, other = (
            scores.coupled_gaussian_logpdf(cases[label], mean=mean, scale=scale, kappa=coupling)
            for mean in (means[label], means[1 - label])
        )
        # where both densities vanish there is no posterior; the true class was held impossible
        is_possible = np.isfinite(own)
        probabilities.append(np.where(is_possible, expit(np.where(is_possible, own, 0.0) - other), 0.0))
    return np.concatenate(probabilities)


def compare_figure_1() -> Iterator[Comparison]:
    """Accuracies by dimension, for all readings of how the models are fitted."""
    pooled = {d: _pool_fits(0.0, d) for d in _DIMENSIONS}
    best = {name: float(max(_DIMENSIONS, key=lambda d: pooled[d][name])) for name in _FITS}
    literal, shared = (
        ", ".join(f"{pooled[d][name]:.2f}" for d in _DIMENSIONS) for name in (_LITERAL, _WITH_COVARIANCES)
    )
    by_dimension = f"Accuracy in 2 to 10 dimensions: {literal} ({_LITERAL}); {shared} ({_WITH_COVARIANCES})."
    why = (
        "One fit without a seed, and how 25 samples give two means and a variance is left open;"
        f" readings of it over {_REPEATS} fits."
    )
    lines: list[tuple[str, str, str, Mapping[str, float], str]] = [
        ("Fig. 1a", "Accuracy in 6 dimensions, κ = 0", "0.63", _spread_of_fits(0.0, 6), why),
        ("Fig. 1a", "Dimension of the highest accuracy, κ = 0", "6", best, by_dimension),
        *(
            ("Fig. 1b", f"Accuracy in {d} dimensions, κ = .162", "0.69", _spread_of_fits(0.162, d), why)
            for d in (6, 8, 10)
        ),
        ("Fig. 1c", "Accuracy in 2 dimensions, compact support (κ = -.095)", "0", _pool_fits(-0.095, 2), why),
    ]
    for place, quantity, printed, readings, reason in lines:
        yield compare_readings(f"{PAPER}, {place}", quantity, printed, readings, reason=reason)


def _read_fits(coupling: float, d: int) -> Iterator[tuple[str, FloatArray]]:
    for name, (with_covariance, sizes) in _FITS.items():
        yield name, fitted_accuracies(coupling, d, with_covariance=with_covariance, sizes=sizes)


def _spread_of_fits(coupling: float, d: int) -> dict[str, float]:
    return {
        f"{name}, {word}": float(np.quantile(accuracies, level))
        for name, accuracies in _read_fits(coupling, d)
        for word, level in _QUANTILES.items()
    }


def _pool_fits(coupling: float, d: int) -> dict[str, float]:
    return {name: scores.generalized_mean(accuracies, 0) for name, accuracies in _read_fits(coupling, d)}
