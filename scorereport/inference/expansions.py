"""The distribution of resamples of a smooth function of means, from its moments instead of from draws.

Of many rows, the mean of a resample differs from that of the sample by a sum of many small parts, whose
distribution follows from its first four cumulants (Cornish and Fisher). A function of means adds the bias and
the skewness of its second-order term. Both agree with the resamples themselves to a tenth of the standard
error where no unit has a large share in the spread: `Expansion.is_close` decides.

References
----------
Cornish, Fisher (1938), Revue de l'Institut International de Statistique 5, doi:10.2307/1400905
DiCiccio, Efron (1992), Biometrika 79, doi:10.1093/biomet/79.2.231: BCa without resamples
Hall (1992), The Bootstrap and Edgeworth Expansion, doi:10.1007/978-1-4612-4384-7
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from scorereport._utils.representation import short_repr

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray

#: The expansion is used from this many units on, if their usual influence does not exceed this share of the
#: root of the sum of squared influences, and none exceeds twice this share. With two distinct scores, the
#: usual influence is about a step of their distribution; a few larger ones beside others make no steps.
FEWEST_UNITS, LARGEST_SHARE = 1000, 0.15
#: The most that terms of higher order may move an end of the interval, in standard errors.
_LARGEST_REST = 0.1
#: A mean of this spread relative to its values varies only by rounding.
_ROUNDING = 1e-14


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """The cumulants of a statistic over resamples.

    `bias` is in units of the spread, `skewness` and `kurtosis` are those of the statistic. `acceleration` is
    a sixth of the skewness of its influence, and `largest` the largest influence of a unit, as a share of the
    root of the sum of squares. `rest` is how far the function leaves its second-order expansion within three
    standard errors, in units of the spread.
    """

    value: float
    spread: float
    bias: float
    skewness: float
    kurtosis: float
    acceleration: float
    largest: float
    units: float
    rest: float = 0.0

    __repr__ = short_repr

    def is_close(self, level: float) -> bool:
        """Whether the interval agrees with that of resamples, at this level, to a tenth of its error."""
        if not (self.spread > 0 and self.units >= FEWEST_UNITS and self.largest <= 2 * LARGEST_SHARE):
            return False
        if self._usual_influence > LARGEST_SHARE:
            return False
        ends = self.ends(level, "bca")
        return bool(self.rest + np.abs(self._second_order(ends, upper=True)).max() <= _LARGEST_REST)

    def bounds(self, level: float, method: str) -> tuple[float, float]:
        """The ends of the interval: percentiles, or percentiles shifted for bias and skewness (BCa)."""
        z = self.ends(level, method)
        first_order = self.bias + z + self.skewness / 6 * (z**2 - 1)
        lower, upper = self.value + self.spread * (first_order + self._second_order(z))
        return float(lower), float(upper)

    def ends(self, level: float, method: str) -> FloatArray:
        """The normal quantiles of the resamples at which the interval ends."""
        z = np.asarray(ndtri([(1 - level) / 2, (1 + level) / 2]))
        if method != "bca":
            return z
        shifted = self.median_bias + z
        return np.asarray(self.median_bias + shifted / (1 - self.acceleration * shifted))

    @property
    def _usual_influence(self) -> float:
        """The root mean square influence, weighted by what each unit adds to the variance."""
        return float(np.sqrt(max(self.kurtosis + 3 / self.units, 0.0)))

    @property
    def median_bias(self) -> float:
        """The normal quantile of the share of resamples that are below the value."""
        return self.skewness / 6 - self.bias

    def _second_order(self, z: FloatArray, *, upper: bool = False) -> FloatArray:
        """The terms of second order; with `upper`, a bound that does not vanish between their signs."""
        sign = 1 if upper else -1
        z = np.abs(z) if upper else z
        of_kurtosis = (abs(self.kurtosis) if upper else self.kurtosis) / 24 * (z**3 + sign * 3 * z)
        return of_kurtosis + sign * self.skewness**2 / 36 * (2 * z**3 + sign * 5 * z)


@dataclass(frozen=True, slots=True, kw_only=True)
class InfluenceMoments:
    """Sums over units of powers of the influence on a statistic: second, third, fourth, and the largest."""

    second: float
    third: float
    fourth: float
    largest: float

    def expand(
        self, value: float, units: float, *, bias: float = 0.0, bend: float = 0.0, rest: float = 0.0
    ) -> Expansion:
        """The expansion of a statistic of this value; influences have mean 0.

        `bias` is the mean of its second-order term, and `bend` that term at the covariances of its arguments
        with the statistic. `rest` is the remainder of the function. All are in units of the statistic.
        """
        spread = self.second**0.5 / units
        if not spread > _ROUNDING * abs(value):
            spread = 0.0
        scale = spread or np.nan
        acceleration = self.third / (6 * self.second**1.5) if spread else 0.0
        return Expansion(
            value=value,
            spread=spread,
            bias=bias / scale,
            skewness=6 * acceleration + 6 * bend / scale**3,
            kurtosis=self.fourth / self.second**2 - 3 / units if spread else 0.0,
            acceleration=acceleration,
            largest=self.largest / self.second**0.5 if spread else np.inf,
            units=units,
            rest=rest / scale,
        )
