"""Known defects of the R package reliabilitydiag 0.2.1, and known differences from it.

A certificate names each one that occurs, and accepts no other deviation: the result of R must be wrong in the
known way, and where possible there is another comparison that the defect does not affect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import format_plain
from scorereport.reliability.asymptotic_bands import R_TABLE_ENDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from scorereport._utils.arrays import CountArray, FloatArray

#: The level that R reports for every continuous band.
WRITTEN_LEVEL = 0.9
#: A defect of resampling is ruled out if its probability is at most this.
_NEVER = 1e-6
#: A kernel below this is 0, here or in R.
_VANISHES = 1e-300

LEVEL = (
    "R reports level 0.9 for every continuous band, whatever the requested level; its bounds are those of "
    "the requested level."
)
TABLE = (
    "R takes Chernoff's quantiles from a table of six digits and interpolates linearly between its entries; "
    "the engine inverts the exact distribution. With R's table in the engine, the bands agree (see above)."
)
END_OF_TABLE = (
    f"R's table of Chernoff's quantiles ends at level {format_plain(R_TABLE_ENDS)}; beyond it every bound is "
    "missing."
)
NO_DENSITY = "If no forecast is near 0 or 1, R divides 0 by 0 there; the band has no width at 0 and 1."
LONE_FORECAST = (
    "A draw may contain a single distinct forecast. R then uses one number for a whole curve, which shifts "
    "all later curves and makes the band wrong (as with two rows)."
)
CERTAIN = (
    "Where the recalibrated probability is 0 or 1, no draw can differ from it: R's band has no width at the "
    "ends and is interpolated linearly elsewhere; the engine gives an exact binomial bound."
)
ROUNDED_BINS = (
    "R compares recalibrated probabilities as rounded numbers, so neighbouring bins with equal means may "
    "stay separate, or seem to; the engine compares fractions of whole numbers. Neighbouring bins of R that "
    "differ by less than 1e-12 are one bin here."
)


def draws_lone_forecasts(y_prob: FloatArray, draws: int) -> bool:
    """Whether a draw of R may contain only one of several distinct forecasts.

    >>> draws_lone_forecasts(np.array([0.2, 0.7]), 100), draws_lone_forecasts(np.linspace(0, 1, 50), 100)
    (True, False)
    """
    counts = np.unique(y_prob, return_counts=True)[1]
    n = len(y_prob)
    return len(counts) > 1 and bool(draws * ((counts / n) ** n).sum() > _NEVER)


def divides_by_no_density(
    y_prob: FloatArray, x: FloatArray, lower: FloatArray, upper: FloatArray
) -> NDArray[np.bool_]:
    """Where both bounds are missing at 0 or 1 because the kernels of all forecasts vanish there."""
    power = len(y_prob) ** (2 / 5)  # 1 / bandwidth
    vanishes = {0.0: ((1 - y_prob) ** power).max() < _VANISHES, 1.0: (y_prob**power).max() < _VANISHES}
    is_missing = np.isnan(lower) & np.isnan(upper)
    return is_missing & np.array([vanishes.get(place, False) for place in x.tolist()], dtype=bool)


def merge_rounded(bins: Mapping[str, CountArray]) -> dict[str, CountArray]:
    """Merge neighbouring bins whose recalibrated probabilities are equal up to rounding."""
    starts = np.append(True, np.abs(np.diff(bins["cep"])) > 1e-12)
    first = np.flatnonzero(starts)
    last = np.append(first[1:], len(starts)) - 1
    return {
        "n": np.add.reduceat(bins["n"], first),
        "x_min": bins["x_min"][first],
        "x_max": bins["x_max"][last],
        "cep": bins["cep"][first],
    }
