"""Seeded random cases of many shapes, on which implementations are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport.reliability.sampling import random_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Rows of the one large case.
MILLION = 1_000_000
#: With this many cases or more, one of them has a million rows.
CASES_WITH_A_MILLION = 100


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """Outcomes and forecasts with a name; forecasts in single precision are kept so."""

    name: str
    shape: str
    y_true: FloatArray
    y_prob: FloatArray


def _continuous(rng: np.random.Generator, n: int) -> FloatArray:
    return rng.beta(rng.uniform(0.3, 5), rng.uniform(0.3, 5), n)


def _discrete(rng: np.random.Generator, n: int) -> FloatArray:
    k = rng.integers(2, 21)
    return (2 * rng.integers(0, k, n) + 1) / (2 * k)


def _rounded(rng: np.random.Generator, n: int) -> FloatArray:
    return _continuous(rng, n).round(2)


def _constant(rng: np.random.Generator, n: int) -> FloatArray:
    return np.full(n, rng.uniform(0.05, 0.95))


def _zero_or_one(rng: np.random.Generator, n: int) -> FloatArray:
    """Forecasts of 0 and 1 for half of the rows, multiples of 5 % for the others."""
    soft = (20 * _continuous(rng, n)).round() / 20
    return np.where(rng.random(n) < 0.5, soft.round(), soft)


def _rare(rng: np.random.Generator, n: int) -> FloatArray:
    return rng.beta(1, 60, n)


def _heavy_ties(rng: np.random.Generator, n: int) -> FloatArray:
    """Most forecasts are one value, the others are uniform."""
    return np.where(rng.random(n) < 0.8, 0.3, rng.random(n))


def _single_precision(rng: np.random.Generator, n: int) -> FloatArray:
    return _continuous(rng, n).astype(np.float32)


#: Each shape: how forecasts are drawn, and whether outcomes follow a power of the forecast ("follow"), follow
#: it without certainty ("doubt"), oppose it, or are all equal.
_SHAPES: dict[str, tuple[Callable[[np.random.Generator, int], FloatArray], str]] = {
    "continuous": (_continuous, "follow"),
    "discrete": (_discrete, "follow"),
    "rounded": (_rounded, "follow"),
    "constant": (_constant, "follow"),
    "0/1 forecasts": (_zero_or_one, "doubt"),
    "rare events": (_rare, "follow"),
    "one class": (_continuous, "equal"),
    "two rows": (_continuous, "follow"),
    "anti-correlated": (_continuous, "oppose"),
    "heavy ties": (_heavy_ties, "follow"),
    "float32": (_single_precision, "follow"),
}
CASE_SHAPES = (*_SHAPES, "a million rows")


def draw_cases(count: int, seed: int) -> Iterator[Case]:
    """Draw this many cases, each shape in turn; the last of a hundred or more has a million rows.

    >>> [case.name for case in draw_cases(2, seed=1)]
    ['continuous 1', 'discrete 1']
    """
    names = list(_SHAPES)
    with_million = count >= CASES_WITH_A_MILLION
    for number in range(count - with_million):
        turn, position = divmod(number, len(names))
        yield _draw(names[position], turn + 1, random_stream(seed, number))
    if with_million:
        yield draw_million(seed)


def draw_million(seed: int) -> Case:
    """Draw a million rows; half of the forecasts are rounded to three digits, so that many are equal."""
    rng = random_stream(seed, MILLION)
    forecasts = rng.beta(0.7, 4, MILLION)
    forecasts[::2] = forecasts[::2].round(3)
    outcomes = (rng.random(MILLION) < forecasts**1.2).astype(np.float64)
    return Case(name=CASE_SHAPES[-1], shape=CASE_SHAPES[-1], y_true=outcomes, y_prob=forecasts)


def _draw(shape: str, number: int, rng: np.random.Generator) -> Case:
    draw, rule = _SHAPES[shape]
    n = 2 if shape == "two rows" else int(np.exp(rng.uniform(np.log(8), np.log(3000))))
    y_prob = draw(rng, n)
    return Case(name=f"{shape} {number}", shape=shape, y_true=_outcomes(rng, y_prob, rule), y_prob=y_prob)


def _outcomes(rng: np.random.Generator, y_prob: FloatArray, rule: str) -> FloatArray:
    """Outcomes with a probability that is a power of the forecast: mostly not calibrated."""
    if rule == "equal":
        return np.full(len(y_prob), float(rng.integers(2)))
    chance = y_prob.astype(np.float64) ** rng.uniform(0.5, 2)
    if rule == "doubt":  # forecasts of 0 and 1 may be wrong: an infinite log score
        chance = 0.03 + 0.94 * chance
    return (rng.random(len(y_prob)) < (1 - chance if rule == "oppose" else chance)).astype(np.float64)
