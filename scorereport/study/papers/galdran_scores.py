"""The scores of Galdran (2023) in exact arithmetic, on its examples and against the truth on a grid."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from scorereport import scores
from scorereport.reference.comparison_records import TOLERANCE
from scorereport.study.papers.forecasts import as_table, expected_scores, simplex_grid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scorereport._utils.arrays import FloatArray


P_1 = (Fraction(1, 4), Fraction(3, 4), Fraction(0))
P_2 = (Fraction(1, 4), Fraction(0), Fraction(3, 4))
SYMMETRIC = (Fraction(3, 10), Fraction(4, 10), Fraction(3, 10))
ASYMMETRIC = (Fraction(45, 100), Fraction(50, 100), Fraction(5, 100))
FIRST, MIDDLE, LAST = (tuple(Fraction(int(i == k)) for i in range(3)) for k in range(3))


def exact_rps(forecast: Sequence[Fraction], label: int) -> Fraction:
    """Equation 4 in exact arithmetic."""
    errors = _cumulative_errors(forecast, label)
    return sum((error**2 for error in errors), Fraction()) / len(errors)


def exact_sa_rps(forecast: Sequence[Fraction], label: int, *, power: int = 2) -> Fraction:
    """Equation 7 in exact arithmetic, divided by (K - 1)^power; the paper prints power 1."""
    errors = _cumulative_errors(forecast, label)
    return sum((abs(error) for error in errors), Fraction()) ** 2 / Fraction(len(errors)) ** power


def _cumulative_errors(forecast: Sequence[Fraction], label: int) -> list[Fraction]:
    return [total - (label <= k) for k, total in enumerate(accumulate(forecast[:-1]))]


def expected_exact_score(
    score: Callable[[Sequence[Fraction], int], Fraction],
    forecast: Sequence[Fraction],
    truth: Sequence[Fraction],
) -> Fraction:
    """What a forecast scores on average if the classes come as in `truth`."""
    return sum((q * score(forecast, label) for label, q in enumerate(truth)), Fraction())


def count_beaten(score: Callable[..., FloatArray], forecasts: Sequence[Sequence[Fraction]]) -> int:
    """How many true distributions expect a better score from another forecast of the list."""
    expected = expected_scores(score, as_table(forecasts))
    return int((np.diag(expected) > expected.min(axis=0) + TOLERANCE).sum())


def count_beaten_exactly(
    score: Callable[[Sequence[Fraction], int], Fraction], forecasts: Sequence[Sequence[Fraction]]
) -> int:
    """The same count in exact arithmetic."""
    return sum(
        any(expected_exact_score(score, p, q) < expected_exact_score(score, q, q) for p in forecasts)
        for q in forecasts
    )


def ratio_of_two_classes() -> float:
    """RPS over the Brier score for two classes; NaN if it is not the same for all forecasts."""
    forecasts = as_table(simplex_grid(2, 6)[:-1])  # the last is sure and right: 0 over 0
    label = np.zeros(len(forecasts))
    ratio = scores.rps(label, forecasts) / scores.multiclass_brier(label, forecasts)
    return float(ratio[0]) if np.ptp(ratio) <= TOLERANCE else math.nan
