"""Simulated populations: forecasts by their quantile function, and the true event probability.

Every forecast is a function of a uniform number, so that population values are integrals over [0, 1].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, kl_div, logit, ndtr

from scorereport._utils.arrays import FloatArray

Curve = Callable[[FloatArray], FloatArray]

#: Panels and nodes of the integrals; every jump of a curve below lies at a multiple of 1/1000.
_PANELS, _NODES, _HALVINGS = 1000, 16, 30
_ROUNDING = 1e-14
CLUSTER_SIZE = 5
#: Latent correlations within a cluster: of forecasts, and of outcomes given the forecasts.
_FORECASTS_TOGETHER, _OUTCOMES_TOGETHER = 0.5, 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Outcomes and forecasts of each row, with its cluster or its weight if there are any."""

    y: NDArray[np.bool_]
    x: FloatArray
    cluster: NDArray[np.int64] | None = None
    weight: FloatArray | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Setting:
    """A distribution of forecasts, by its quantile function, and the event probability at each forecast."""

    name: str
    quantile: Curve
    cep: Curve

    def draw(self, rng: np.random.Generator, n: int) -> Sample:
        """Draw independent rows."""
        x = self.quantile(rng.random(n))
        return Sample(y=rng.random(n) < self.cep(x), x=x)

    def draw_clusters(self, rng: np.random.Generator, n: int) -> Sample:
        """Draw clusters of five rows, within which forecasts and outcomes correlate (Gaussian copula)."""
        cluster = np.arange(n) // CLUSTER_SIZE
        x = self.quantile(ndtr(draw_correlated(rng, cluster, _FORECASTS_TOGETHER)))
        return Sample(
            y=ndtr(draw_correlated(rng, cluster, _OUTCOMES_TOGETHER)) < self.cep(x), x=x, cluster=cluster
        )

    def draw_weighted(self, rng: np.random.Generator, n: int) -> Sample:
        """Draw independent rows with independent weights of mean 1 and variance 1/2."""
        sample = self.draw(rng, n)
        return Sample(y=sample.y, x=sample.x, weight=rng.gamma(2, 0.5, n))

    def population(self) -> dict[str, float]:
        """Miscalibration and discrimination, Brier and log, by numerical integration."""
        x = self.quantile(quadrature()[0])
        p = self.cep(x)
        mean = np.full_like(p, _integrate(p))
        return {
            "MCB Brier": _integrate((x - p) ** 2),
            "MCB log": _integrate(_divergence(p, x)),
            "DSC Brier": _integrate((p - mean) ** 2),
            "DSC log": _integrate(_divergence(p, mean)),
        }


def draw_correlated(rng: np.random.Generator, cluster: NDArray[np.int64], correlation: float) -> FloatArray:
    """Draw standard normal numbers that correlate within clusters."""
    shared, own = rng.standard_normal(int(cluster[-1]) + 1)[cluster], rng.standard_normal(len(cluster))
    return np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own


@cache
def quadrature() -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes and weights, panel by panel; the outer panels are halved towards 0 and 1."""
    node, weight = np.polynomial.legendre.leggauss(_NODES)
    halved = 0.5 ** np.arange(1, _HALVINGS) / _PANELS  # where the log score has its singularities
    edges = np.concatenate([[0], halved[::-1], np.arange(1, _PANELS) / _PANELS, 1 - halved, [1]])
    width = np.diff(edges)[:, None]
    return (edges[:-1, None] + width * (node + 1) / 2).ravel(), (width * weight / 2).ravel()


def _integrate(values: FloatArray) -> float:
    """Integral over [0, 1]; a rounding error near 0 becomes 0, because intervals may end at 0."""
    total = float(quadrature()[1] @ values)
    return total if total > _ROUNDING else 0.0


def _divergence(p: FloatArray, x: FloatArray) -> FloatArray:
    """Kullback-Leibler divergence of Bernoulli distributions."""
    return kl_div(p, x) + kl_div(1 - p, 1 - x)


# Forecasts and curves


def _uniform(u: FloatArray) -> FloatArray:
    return u


def _ten_values(u: FloatArray) -> FloatArray:
    return (np.floor(10 * u) + 0.5) / 10


def _rare(u: FloatArray) -> FloatArray:
    """Beta(1, 49), whose mean is 2 %."""
    return -np.expm1(np.log1p(-u) / 49)


def calibrated(x: FloatArray) -> FloatArray:
    """The event probability is the forecast."""
    return x


def _line(slope: float, intercept: float = 0.0) -> Curve:
    return lambda x: expit(intercept + slope * logit(x))


def _steps(x: FloatArray) -> FloatArray:
    return np.array([0.2, 0.5, 0.8])[np.searchsorted([0.3, 0.7], x, side="right")]


#: Section 4 of INTERVALS.md.
SETTINGS = {
    name: Setting(name=name, quantile=quantile, cep=cep)
    for name, quantile, cep in (
        ("calibrated", _uniform, calibrated),
        ("slope .95", _uniform, _line(0.95)),
        ("slope .8", _uniform, _line(0.8)),
        ("sqrt", _uniform, np.sqrt),
        ("10 values, cal.", _ten_values, calibrated),
        ("10 values, .8", _ten_values, _line(0.8)),
        ("rare, cal.", _rare, calibrated),
        ("rare, b=.7 a=-1.05", _rare, _line(0.7, -1.05)),
        ("rare, b=.4 a=-2.25", _rare, _line(0.4, -2.25)),
        ("flat (DSC=0)", _uniform, lambda x: np.full_like(x, 0.3)),
        ("weak", _uniform, lambda x: 0.25 + 0.1 * x),
        ("step", _uniform, _steps),
    )
}
#: Departures from calibration in the table of tests, besides those above.
DEPARTURES = {
    name: Setting(name=name, quantile=_uniform, cep=cep)
    for name, cep in (
        ("intercept +.2", _line(1.0, 0.2)),
        ("wave x + .04 sin(6 pi x)", lambda x: np.clip(x + 0.04 * np.sin(6 * np.pi * x), 0, 1)),
    )
}


# Appendix A of Dimitriadis, Gneiting, Jordan (2021)


@dataclass(frozen=True, kw_only=True, eq=False)
class ForecastDistribution:
    """A distribution of forecasts in the paper: quantile function and density."""

    name: str
    quantile: Curve
    density: Curve

    def calibrated(self, values: int | None) -> Setting:
        """Calibrated forecasts: continuous, or k values (2j - 1)/2k weighted by the density there."""
        if values is None:
            return Setting(name=f"{self.name}, continuous", quantile=self.quantile, cep=calibrated)
        x = (2 * np.arange(1, values + 1) - 1) / (2 * values)
        upto = np.cumsum(self.density(x))
        bounds = upto[:-1] / upto[-1]
        return Setting(
            name=f"{self.name}, k = {values}",
            quantile=lambda u: x[np.searchsorted(bounds, u, side="right")],
            cep=calibrated,
        )


def _mixture_quantile(u: FloatArray) -> FloatArray:
    """Three quarters Beta(1, 10), one quarter uniform; each is drawn from its own part of [0, 1]."""
    is_beta = u < 0.75
    return np.where(is_beta, -np.expm1(np.log1p(-np.where(is_beta, u / 0.75, 0)) / 10), 4 * u - 3)


DISTRIBUTIONS = (
    ForecastDistribution(name="uniform", quantile=_uniform, density=np.ones_like),
    ForecastDistribution(
        name="linear", quantile=lambda u: (np.sqrt(15 * u + 1) - 1) / 3, density=lambda x: 0.4 + 1.2 * x
    ),
    ForecastDistribution(
        name="beta mixture",
        quantile=_mixture_quantile,
        density=lambda x: 7.5 * (1 - x) ** 9 + 0.25,
    ),
)
