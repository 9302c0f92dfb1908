"""What is known to be wrong in, or different from, the R package reliabilitydiag 0.2.1.

Each is named in a certificate where it shows, and nothing else is excused: what R gives must be wrong in
the known way, and beside it stands, wherever there is one, a comparison that the defect does not touch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.reliability.asymptotic_bands import R_TABLE_ENDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from scorereport._utils.arrays import CountArray, FloatArray

#: The level that R writes beside every continuous band.
WRITTEN_LEVEL = 0.9
#: How probable a defect of resampling must be to be reckoned with.
_NEVER = 1e-6
#: Below this a kernel is 0, here or in R.
_VANISHES = 1e-300

LEVEL = (
    "R writes level 0.9 beside every continuous band, whatever level was asked for; its bounds are of the "
    "level asked."
)
TABLE = (
    "R takes Chernoff's quantiles from a table of six digits and draws straight lines between its entries; "
    "the engine inverts the exact law. With R's table in the engine the bands agree (see above)."
)
END_OF_TABLE = (
    f"R's table of Chernoff's quantiles ends at level {R_TABLE_ENDS:g}; beyond it every bound is missing."
)
NO_DENSITY = "Where no forecast is near 0 or 1, R divides 0 by 0 there; the band has no width at 0 and 1."
LONE_FORECAST = (
    "A draw may hold a single distinct forecast. R then takes one number for a whole curve, which shifts all "
    "later curves and spoils the band (as with two rows)."
)
CERTAIN = (
    "Where the recalibrated probability is 0 or 1 no draw can differ from it: R leaves no width at the ends "
    "and draws straight lines elsewhere; the engine gives an exact binomial bound."
)
ROUNDED_BINS = (
    "R compares recalibrated probabilities as rounded numbers, so neighbours with equal means may stay apart "
    "or seem to; the engine compares fractions of whole numbers. Neighbours of R that differ by less than "
    "1e-12 are one bin here."
)


def draws_lone_forecasts(y_prob: FloatArray, draws: int) -> bool:
    """Whether R may come upon a draw that holds one of several distinct forecasts only.

    >>> draws_lone_forecasts(np.array([0.2, 0.7]), 100), draws_lone_forecasts(np.linspace(0, 1, 50), 100)
    (True, False)
    """
    counts = np.unique(y_prob, return_counts=True)[1]
    n = len(y_prob)
    return len(counts) > 1 and bool(draws * ((counts / n) ** n).sum() > _NEVER)


def divides_by_no_density(
    y_prob: FloatArray, x: FloatArray, lower: FloatArray, upper: FloatArray
) -> NDArray[np.bool_]:
    """Where both bounds are missing at 0 or 1 since the kernels of all forecasts vanish there."""
    power = len(y_prob) ** (2 / 5)  # one over the bandwidth
    vanishes = {0.0: ((1 - y_prob) ** power).max() < _VANISHES, 1.0: (y_prob**power).max() < _VANISHES}
    is_missing = np.isnan(lower) & np.isnan(upper)
    return is_missing & np.array([vanishes.get(place, False) for place in x.tolist()], dtype=bool)


def merge_rounded(bins: Mapping[str, CountArray]) -> dict[str, CountArray]:
    """Bins with those merged whose recalibrated probabilities are equal but for rounding."""
    starts = np.append(True, np.abs(np.diff(bins["cep"])) > 1e-12)
    first = np.flatnonzero(starts)
    last = np.append(first[1:], len(starts)) - 1
    return {
        "n": np.add.reduceat(bins["n"], first),
        "x_min": bins["x_min"][first],
        "x_max": bins["x_max"][last],
        "cep": bins["cep"][first],
    }
