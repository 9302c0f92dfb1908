"""Pairs of forecasts for the same rows, by a probit model: y = 1 if Z1 + Z2 + e > c, all standard normal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from scorereport._utils.arrays import FloatArray
from validation.coverage.settings import Setting, calibrated, quadrature


@dataclass(frozen=True, kw_only=True, eq=False)
class PairedSample:
    """Outcomes with two forecasts for each."""

    y: NDArray[np.bool_]
    first: FloatArray
    second: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Pair:
    """Two forecasts of the probit model; with `sees_both` the first depends on both signals."""

    name: str
    first: Setting
    second: Setting
    cut: float = 0.0
    sees_both: bool = False

    def draw(self, rng: np.random.Generator, n: int) -> PairedSample:
        """Draw independent rows."""
        return self.forecast(rng, rng.standard_normal(n), rng.standard_normal(n))

    def forecast(self, rng: np.random.Generator, z1: FloatArray, z2: FloatArray) -> PairedSample:
        """Outcomes and forecasts from the signals; the second forecast depends on the first signal."""
        y = z1 + z2 + rng.standard_normal(len(z1)) > self.cut
        seen = (z1 + z2) / np.sqrt(2) if self.sees_both else z2
        return PairedSample(y=y, first=self.first.quantile(ndtr(seen)), second=self.second.quantile(ndtr(z1)))

    def population(self) -> dict[str, float]:
        """Differences between the components, first minus second."""
        first, second = self.first.population(), self.second.population()
        return {name: first[name] - second[name] for name in first}


def _sees_one(cut: float = 0.0, factor: float = 1.0) -> Setting:
    """The probability given one signal, with its probit multiplied by a factor."""
    return Setting(
        name=f"one signal, probit times {factor:g}",
        quantile=lambda u: ndtr(factor * (ndtri(u) - cut) / np.sqrt(2)),
        cep=lambda x: ndtr(ndtri(x) / factor),
    )


def _sees_decile() -> Setting:
    """The mean probability given the decile of one signal."""
    u, weight = quadrature()
    value: FloatArray = 10 * np.bincount(_tenth(u), weight * _sees_one().quantile(u)).astype(np.float64)
    return Setting(name="one signal in 10 values", quantile=lambda u: value[_tenth(u)], cep=calibrated)


def _tenth(u: FloatArray) -> NDArray[np.int64]:
    return np.minimum(10 * u, 9).astype(np.int64)


def _both_signals() -> Setting:
    return Setting(name="both signals", quantile=lambda u: ndtr(np.sqrt(2) * ndtri(u)), cep=calibrated)


#: The cut at which the probit model has 2 % events.
_RARE_CUT = float(np.sqrt(3) * ndtri(0.98))

#: Section 5 of INTERVALS.md.
PAIRS = {
    pair.name: pair
    for pair in (
        Pair(name="equal", first=_sees_one(), second=_sees_one()),
        Pair(name="skill", first=_both_signals(), second=_sees_one(), sees_both=True),
        Pair(name="miscal", first=_sees_one(factor=1.5), second=_sees_one()),
        Pair(name="cont-disc", first=_sees_one(), second=_sees_decile()),
        Pair(name="rare", first=_sees_one(_RARE_CUT, 1.5), second=_sees_one(_RARE_CUT), cut=_RARE_CUT),
    )
}
