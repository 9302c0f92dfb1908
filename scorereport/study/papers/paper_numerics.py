"""Numerical tools for the papers: R's random numbers, forecasts in exact fractions, and integrals."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from scorereport._utils.arrays import FloatArray


def r_bits(seed: int) -> np.random.MT19937:
    """R's `set.seed`: a congruential generator warmed up by 50 steps fills the key of the Twister."""
    values = [seed]
    for _ in range(50 + 625):
        values.append((69069 * values[-1] + 1) % 2**32)
    key = np.array(values[-624:], dtype=np.uint32)  # R stores the position in the value before them
    bits = np.random.MT19937()
    bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": 624}}
    return bits


def r_uniform(bits: np.random.MT19937, n: int) -> FloatArray:
    """R's `runif`: 32 bits as a fraction.

    >>> r_uniform(r_bits(42), 2).round(7).tolist()
    [0.914806, 0.9370754]
    """
    return np.ldexp(bits.random_raw(n).astype(np.float64), -32)


def r_sample(bits: np.random.MT19937, k: int, n: int) -> FloatArray:
    """R's `sample` of 0, ..., k - 1 with replacement: the last of 16 bits, drawn again if too large."""
    drawn: list[int] = []
    while len(drawn) < n:
        value = int(2**16 * r_uniform(bits, 1)[0]) % 2 ** math.ceil(math.log2(k))
        drawn += [value] if value < k else []
    return np.array(drawn, dtype=np.float64)


def r_bernoulli(bits: np.random.MT19937, p: FloatArray) -> FloatArray:
    """R's `rbinom` of one trial: by inversion, for the rarer of the two outcomes."""
    chance, likely = r_uniform(bits, len(p)), np.maximum(p, 1 - p)
    return np.where(p > 0.5, chance < likely, chance >= likely).astype(np.float64)


def simplex_grid(classes: int, steps: int) -> list[tuple[Fraction, ...]]:
    """Return all forecasts for this many classes whose probabilities are multiples of 1/steps.

    >>> len(simplex_grid(3, 6))
    28
    """
    bars = combinations(range(steps + classes - 1), classes - 1)
    edges = [(-1, *bar, steps + classes - 1) for bar in bars]
    return [tuple(Fraction(b - a - 1, steps) for a, b in pairwise(edge)) for edge in edges]


def as_table(forecasts: Sequence[Sequence[Fraction]]) -> FloatArray:
    """Return forecasts as an array for the engine, one row each."""
    return np.array(forecasts, dtype=np.float64)


def score_forecasts(score: Callable[..., FloatArray], forecasts: FloatArray) -> FloatArray:
    """Return the score of each forecast (row) for each possible observed class (column)."""
    n, classes = forecasts.shape
    return np.column_stack([score(np.full(n, label), forecasts) for label in range(classes)])


def expected_scores(score: Callable[..., FloatArray], forecasts: FloatArray) -> FloatArray:
    """Return the expected score of each forecast (row) if each of them (column) is the truth."""
    values = score_forecasts(score, forecasts)[:, None, :]
    # a class of probability 0 counts nothing, even if its score is infinite
    return (np.where(forecasts > 0, values, 0.0) * forecasts).sum(axis=2)


def integral(function: Callable[[float], float], cuts: Iterable[float], *, nodes: int = 20) -> float:
    """Integrate a function that is smooth between cuts from the first cut to the last, by Gauss-Legendre.

    >>> round(integral(lambda x: abs(x - 1), (0, 1, 3)), 12)
    2.5
    """
    node, weight = np.polynomial.legendre.leggauss(nodes)
    total = 0.0
    for low, high in pairwise(cuts):
        values = np.array([function(c) for c in low + (high - low) * (node + 1) / 2])
        total += float((weight * values).sum()) * (high - low) / 2
    return total
