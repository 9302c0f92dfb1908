"""What inference returns: a number with its interval, or a test with all that a reader must know of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport.arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with its standard error and interval; NaN where they are not defined, see the note."""

    measure: str
    value: float
    standard_error: float
    lower: float
    upper: float
    level: float
    method: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HypothesisTest:
    """A statistic and its p-value, with the null hypothesis in words; NaN where not defined, see the note.

    `p_value_holm` is adjusted for the number of groups that were tested alike, and None if the test
    stands alone.
    """

    name: str
    statistic: float
    p_value: float
    null_hypothesis: str
    method: str
    reference: str
    n: float
    degrees_of_freedom: int | None = None
    p_value_holm: float | None = None
    note: str = ""


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjust p-values for their number; NaN stays NaN and does not count.

    As in statsmodels, whose function collects garbage at every call and takes ten thousand times as long.

    References
    ----------
    Holm (1979), Scand. J. Stat. 6, 65-70

    >>> holm([0.01, 0.04, float("nan"), 0.03])
    array([0.03, 0.06,  nan, 0.06])
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)[: int((~np.isnan(p)).sum())]  # NaN last
    adjusted = p.copy()
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1)
    return adjusted
