"""Forecasts of several classes in exact fractions, and what they score and expect to score."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scorereport._utils.arrays import FloatArray


def simplex_grid(classes: int, steps: int) -> list[tuple[Fraction, ...]]:
    """All forecasts for so many classes whose probabilities are multiples of 1/steps.

    >>> len(simplex_grid(3, 6))
    28
    """
    bars = combinations(range(steps + classes - 1), classes - 1)
    edges = [(-1, *bar, steps + classes - 1) for bar in bars]
    return [tuple(Fraction(b - a - 1, steps) for a, b in pairwise(edge)) for edge in edges]


def as_table(forecasts: Sequence[Sequence[Fraction]]) -> FloatArray:
    """Forecasts as the engine takes them, one row each."""
    return np.array(forecasts, dtype=np.float64)


def score_forecasts(score: Callable[..., FloatArray], forecasts: FloatArray) -> FloatArray:
    """The score of each forecast (row) for each class that may come (column)."""
    n, classes = forecasts.shape
    return np.column_stack([score(np.full(n, label), forecasts) for label in range(classes)])


def expected_scores(score: Callable[..., FloatArray], forecasts: FloatArray) -> FloatArray:
    """The expected score of each forecast (row) if each of them (column) is the truth."""
    values = score_forecasts(score, forecasts)[:, None, :]
    # what cannot come counts nothing, even where it would score infinity
    return (np.where(forecasts > 0, values, 0.0) * forecasts).sum(axis=2)
