"""What inference returns: a number with its interval, or a test with all that a reader must know of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with its standard error and interval; NaN where they are not defined, see the note.

    `degrees_of_freedom` are those of t, where the quantile of the interval is of it; None otherwise.
    """

    measure: str
    value: float
    standard_error: float
    lower: float
    upper: float
    level: float
    method: str
    n: float
    degrees_of_freedom: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HypothesisTest:
    """A statistic and its p-value, with the null hypothesis in words; NaN where not defined, see the note.

    `p_value_holm` is adjusted for the number of models, or of groups, that were tested alike, and None if
    the test stands alone.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A measure of the first model minus that of the second; NaN where not defined, see the note.

    Negative favours the first model, unless `higher_is_better`. `p_value_holm` is adjusted over all
    pairs that were compared by the same measure, and None if the pair stands alone.
    """

    first: str
    second: str
    measure: str
    first_value: float
    second_value: float
    value: float
    standard_error: float
    lower: float
    upper: float
    level: float
    statistic: float
    p_value: float
    p_value_holm: float | None = None
    higher_is_better: bool = False
    null_hypothesis: str
    method: str
    reference: str
    n: float
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


def adjust_by_holm(differences: Sequence[Difference]) -> list[Difference]:
    """Adjust the p-values of pairs for their number; pairs without a test do not count."""
    adjusted = holm([d.p_value for d in differences])
    return [replace(d, p_value_holm=float(p)) for d, p in zip(differences, adjusted, strict=True)]
