"""How many more cases would move the end of an interval to a limit, by the scaling of the interval itself.

On a scale on which the error does not depend on the number, the distance of each end from the number shrinks
with the root of the number of cases. If the number stays at its value, the nearer end reaches the limit when
the cases have grown by the square of the ratio of the two distances. A new estimate varies around the value,
so that the limit is then decided in half of such samples. For a probability q, the distance to the limit must
be (z + z_q)/z times that of the end, with the quantile z of the interval and z_q of q.

Scales: means and most other numbers as they are; squares, such as corrected MCB and the stability index, by
their root; rates and the AUC by the arcsine of their root.

References
----------
Anscombe (1948), Biometrika 35, doi:10.1093/biomet/35.3-4.246, on scales on which the error is constant
Julious (2004), Stat. Med. 23, doi:10.1002/sim.1783, on the power of intervals
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import asin, inf, isfinite, sqrt
from typing import TYPE_CHECKING

from scipy.special import ndtri

from scorereport._utils.representation import short_repr

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The probability with which the larger number of cases decides a limit.
LIKELY = 0.8
#: A distance this small relative to that of the end of the interval is 0: no number of cases decides.
_ON_THE_LIMIT = 1e-6


class ErrorScale(StrEnum):
    """The scale on which the error of a number does not depend on the number."""

    LINEAR = "linear"
    ROOT = "root"
    ARCSINE = "arcsine"

    def transform(self, value: float) -> float:
        """Return a number on this scale; beyond its range, the nearest end of the range."""
        if self is ErrorScale.LINEAR:
            return value
        root = sqrt(max(value, 0.0))
        return root if self is ErrorScale.ROOT else asin(min(root, 1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededCases:
    """How many more cases would decide a limit if the number stays at its value.

    `even` decides it in half of such samples, `likely` with the probability `LIKELY`; they are infinite if
    there would be too many to collect. `cases` are those at hand, and `verdict` is the one to expect. `days`
    and `likely_days` are how long collecting them takes at the present rate; None if it is not known.
    """

    cases: float
    even: float
    likely: float
    verdict: str
    days: float | None = None
    likely_days: float | None = None

    __repr__ = short_repr


def find_growth(
    value: float,
    ends: tuple[float, float],
    limits: Iterable[float],
    *,
    level: float,
    scale: ErrorScale = ErrorScale.LINEAR,
) -> tuple[float, float]:
    """Return the factors by which cases must grow to decide all limits: in half of samples, and likely.

    Parameters
    ----------
    value : the number, inside its interval
    ends : the ends of the interval
    limits : those that must lie outside of the interval
    level : the confidence level of the interval
    scale : the scale on which the interval shrinks

    >>> even, likely = find_growth(0.18, (0.17, 0.19), [0.185], level=0.95)
    >>> round(even, 6), round(likely, 4)
    (4.0, 8.1728)
    """
    centre = scale.transform(value)
    quantile = float(ndtri((1 + level) / 2))
    share = (quantile + float(ndtri(LIKELY))) / quantile
    ratios = []
    for limit in limits:
        reach = abs(scale.transform(ends[1] if limit > value else ends[0]) - centre)
        distance = abs(scale.transform(limit) - centre)
        ratios.append(inf if distance <= _ON_THE_LIMIT * reach else reach / distance)
    largest = max(ratios)
    return max(largest**2, 1.0), max((share * largest) ** 2, 1.0)


def grow_beside(cases: float, factor: float, fixed: float) -> float:
    """Return the size at which 1/n + 1/fixed is smaller by a factor; infinite if no size is enough.

    It serves numbers that compare the cases with a sample whose size stays the same.

    >>> round(grow_beside(100, 1.5, 300), 9), grow_beside(100, 5, 300)
    (180.0, inf)
    """
    if not isfinite(factor):
        return inf
    left = (1 / cases + 1 / fixed) / factor - 1 / fixed
    return 1 / left if left > 0 else inf
