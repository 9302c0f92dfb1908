"""The numbers and claims of Nelson (2017), Entropy 19, against the engine."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import quad
from scipy.special import gamma

from scorereport import scores
from scorereport.reference.comparison_records import TOLERANCE
from scorereport.reliability.sampling import SEED, random_stream
from scorereport.study.papers.citations import NELSON as PAPER
from scorereport.study.papers.nelson_figures import compare_figure_7, compare_figures_2_to_6
from scorereport.study.papers.nelson_fits import compare_figure_1
from scorereport.study.papers.nelson_simulations import compare_figures_4_and_5
from scorereport.study.papers.printed_numbers import compare_printed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.reference.comparison_records import Comparison

_SAMPLES = 200


def reproduce_nelson() -> Iterator[Comparison]:
    """Each number and checkable claim of the paper against the engine."""
    for place, quantity, find_gap in _IDENTITIES:
        yield compare_printed(f"{PAPER}, {place}", quantity, "0", find_gap())
    yield from _compare_densities()
    yield from compare_figure_1()
    of_models = [*compare_figures_2_to_6(), *compare_figures_4_and_5()]
    yield from sorted(of_models, key=lambda line: line.subject)
    yield from compare_figure_7()


# Identities: the largest deviation over seeded samples, or how many of them deviate.


def _samples() -> Iterator[tuple[FloatArray, FloatArray]]:
    """Outcomes of a draw with their forecasts, none of them exactly 0 or 1."""
    for number in range(_SAMPLES):
        rng = random_stream(SEED, number)
        p = rng.beta(rng.uniform(0.3, 4), rng.uniform(0.3, 4), 20).clip(0.001, 0.999)
        yield (rng.random(20) < p).astype(np.float64), p


def _order_exceptions() -> float:
    means = (scores.decisiveness, scores.probability_accuracy, scores.robustness)
    values = np.array([[mean(y, p) for mean in means] for y, p in _samples()])
    return float((np.diff(values, axis=1) > TOLERANCE).sum())


def _accuracy_gap() -> float:
    pairs = [
        (scores.probability_accuracy(y, p), np.exp(-scores.log_loss(y, p).mean())) for y, p in _samples()
    ]
    return float(np.abs(np.diff(pairs, axis=1)).max())


def _distributions() -> Iterator[tuple[FloatArray, FloatArray]]:
    for number in range(_SAMPLES):
        source, model = random_stream(SEED, number, 1).dirichlet(np.full(4, 2.0), 2)
        yield source, model


def _cross_entropy_gap() -> float:
    return max(
        abs(
            scores.cross_entropy_probability(p, q)
            - scores.entropy_probability(p) * float(np.prod((q / p) ** p))
        )
        for p, q in _distributions()
    )


def _divergence_gap() -> float:
    return max(
        abs(scores.divergence_probability(p, q) - float(np.exp(-(p * np.log(p / q)).sum())))
        for p, q in _distributions()
    )


def _coupling_gap() -> float:
    """The Student t of ν degrees has q - 1 = 2/(ν + d)."""
    return max(
        abs(scores.coupling_exponent(1 / nu, dimensions=d) - float(Fraction(2, nu + d)))
        for nu in (1, 2, 5, 30)
        for d in (1, 2, 10)
    )


def _mean_gap() -> float:
    return max(
        abs(scores.generalized_mean(p, m) - float((p**m).mean() ** (1 / m)))
        for _, p in _samples()
        for m in (1.0, -2 / 3)
    )


_IDENTITIES: tuple[tuple[str, str, Callable[[], float]], ...] = (
    ("eqs. 2 and 5", "Accuracy less the exponential of the mean log score: largest gap", _accuracy_gap),
    ("eqs. 6 and 7", "P_CE less P_Ent P_Div: largest gap", _cross_entropy_gap),
    ("eq. 8", "P_Div less the exponential of -D(p‖q): largest gap", _divergence_gap),
    ("eq. 11", "m less q - 1 of the Student t: largest gap", _coupling_gap),
    ("eq. 13", "Generalised mean less its formula: largest gap", _mean_gap),
    ("sect. 3", "Samples without decisiveness >= accuracy >= robustness", _order_exceptions),
)


# The coupled Gaussian.


def _compare_densities() -> Iterator[Comparison]:
    yield compare_printed(
        f"{PAPER}, sect. 3", "Log density less that of the Student t: largest gap", "0", _t_gap()
    )
    for coupling in (-0.095, 0.0, 0.162, 0.5):
        for d in (1, 2, 10):
            quantity = f"Integral of the density, κ = {coupling:g}, d = {d}"
            yield compare_printed(f"{PAPER}, eq. 14", quantity, "1", _mass(coupling, d), tolerance=1e-9)


def _t_gap() -> float:
    from scipy.stats import multivariate_t, t

    x = np.linspace(-30, 30, 121)
    points = np.column_stack([x, x[::-1] / 2])
    gaps = [
        np.abs(scores.coupled_gaussian_logpdf(x, kappa=1 / nu) - t.logpdf(x, nu)).max()
        for nu in (1, 2, 6, 30)
    ]
    matrix = np.array([[2.0, 0.6], [0.6, 1.0]])
    ours = scores.coupled_gaussian_logpdf(points, scale=matrix, kappa=0.5)
    return float(max(*gaps, np.abs(ours - multivariate_t.logpdf(points, shape=matrix, df=2)).max()))


def _mass(coupling: float, d: int) -> float:
    """Integral over spheres round the mean, whose area is 2 π^(d/2) r^(d-1)/Γ(d/2)."""

    def ring(radius: float) -> float:
        point = np.zeros((1, d))
        point[0, 0] = radius
        density = np.exp(scores.coupled_gaussian_logpdf(point, scale=np.eye(d), kappa=coupling)[0])
        return float(2 * np.pi ** (d / 2) * radius ** (d - 1) / gamma(d / 2) * density)

    end = np.inf if coupling >= 0 else 1 / np.sqrt(-coupling)
    return float(quad(ring, 0, end, epsabs=1e-12, epsrel=1e-11, limit=200)[0])
