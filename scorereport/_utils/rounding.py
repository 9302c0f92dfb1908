"""Comparison of computed numbers up to rounding, as their last bits depend on the processor.

Sums, logarithms and exponentials are rounded differently by the libraries of different processors, so a
comparison of computed numbers must not depend on their last bits. Forecasts, weights and limits are compared
exactly: the rule is for numbers that are computed from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from scorereport._utils.arrays import FloatArray, IntArray

#: Numbers are equal if they differ by at most this share of the larger, plus `ABSOLUTE`.
RELATIVE = 1e-12
ABSOLUTE = 1e-14


def are_equal(left: ArrayLike, right: ArrayLike) -> NDArray[np.bool_]:
    """Whether numbers are equal up to rounding; infinities and NaN are equal to themselves.

    >>> are_equal([0.1 + 0.2, 1e-20, 0.3], [0.3, 0.0, 0.3001]).tolist()
    [True, True, False]
    """
    larger = np.maximum(np.abs(left), np.abs(right))
    with np.errstate(invalid="ignore"):
        is_near = np.abs(np.subtract(left, right)) <= RELATIVE * larger + ABSOLUTE
    same = np.equal(left, right) | (np.isnan(left) & np.isnan(right))
    return np.asarray(np.where(np.isinf(larger), same, is_near | same))


def exceeds(left: ArrayLike, right: ArrayLike) -> NDArray[np.bool_]:
    """Whether numbers are greater than others by more than rounding.

    >>> exceeds([0.1 + 0.2, 0.31], [0.3, 0.3]).tolist()
    [False, True]
    """
    return np.asarray(np.greater(left, right) & ~are_equal(left, right))


def first_lowest(values: ArrayLike) -> int:
    """Return the position of the lowest value, the first of values equal up to rounding; NaN is never lowest.

    >>> first_lowest([0.3, 0.1 + 0.2, 0.5]), first_lowest([0.1 + 0.2, 0.3]), first_lowest([np.nan, 2.0])
    (0, 0, 1)
    """
    numbers = np.asarray(values, dtype=np.float64)
    if np.isnan(numbers).all():
        return 0
    return int(np.flatnonzero(are_equal(numbers, np.nanmin(numbers)))[0])


def rank_ties(values: ArrayLike) -> IntArray:
    """Return ranks from 0 by which values can be sorted; values that are equal up to rounding share a rank.

    >>> rank_ties([0.5, 0.1 + 0.2, 0.3, np.inf]).tolist()
    [1, 0, 0, 2]
    """
    numbers = np.asarray(values, dtype=np.float64)
    order = np.argsort(numbers, kind="stable")
    ascending = numbers[order]
    ranks = np.empty(len(numbers), dtype=np.int64)
    ranks[order] = np.cumsum(np.append(False, exceeds(ascending[1:], ascending[:-1]))[: len(numbers)])
    return ranks


def find_reached(running: FloatArray, shares: ArrayLike) -> NDArray[np.intp]:
    """Return the first positions at which running totals reach shares of the last one, up to rounding.

    >>> find_reached(np.cumsum([0.1, 0.2, 0.3, 0.4]), [0.3, 0.6, 0.61]).tolist()
    [1, 2, 3]
    """
    return np.searchsorted(running, np.asarray(shares) * running[-1] * (1 - RELATIVE))


def documents_agree(left: Any, right: Any) -> bool:
    """Whether two documents of plain lists, dicts, texts and numbers are equal, floats up to rounding.

    >>> documents_agree({"a": [1, 0.1 + 0.2]}, {"a": [1, 0.3]}), documents_agree({"a": 1}, {"b": 1})
    (True, False)
    """
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(documents_agree(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(documents_agree, left, right))
    if isinstance(left, float) and isinstance(right, float):
        return bool(are_equal(left, right))
    return bool(left == right)
