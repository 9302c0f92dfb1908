"""Seeded random cases of many shapes, on which implementations are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport.reliability.sampling import random_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: Rows of the one large case.
MILLION = 1_000_000
#: With this many cases or more, one of them has a million rows.
CASES_WITH_A_MILLION = 100
#: The first cases have each shape in turn, this many times; the shapes of later cases are drawn.
_ROUNDS = 27


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
#: A shape of later cases only: the forecasts of two shapes, mixed.
MIXTURE = "mixture"
#: Shapes whose forecasts are not mixed with others.
_UNMIXED = ("constant", "one class", "two rows", "anti-correlated")


def draw_cases(count: int, seed: int) -> Iterator[Case]:
    """Draw this many cases, one after the other; see `draw_case`.

    >>> [case.name for case in draw_cases(2, seed=1)]
    ['continuous 1', 'discrete 1']
    """
    return (draw_case(number, seed) for number in number_cases(count))


def number_cases(count: int) -> Sequence[int]:
    """The numbers of this many cases; the last of a hundred or more is that of a million rows.

    >>> number_cases(3), number_cases(100)[-2:]
    ([0, 1, 2], [98, 1000000])
    """
    if count < CASES_WITH_A_MILLION:
        return [*range(count)]
    return [*range(count - 1), MILLION]


def draw_case(number: int, seed: int) -> Case:
    """Draw a case, which depends on nothing but its number and the seed.

    The first cases have each shape in turn; the shapes of later ones are drawn, as all sizes are.
    """
    if number == MILLION:
        return draw_million(seed)
    rng, names = random_stream(seed, number), list(_SHAPES)
    turn, position = divmod(number, len(names))
    if turn < _ROUNDS:
        return _draw(names[position], f"{names[position]} {turn + 1}", rng)
    shape = str(rng.choice([*names, MIXTURE]))
    return _draw(shape, f"{shape}, case {number + 1}", rng)


def draw_million(seed: int) -> Case:
    """Draw a million rows; half of the forecasts are rounded to three digits, so that many are equal."""
    rng = random_stream(seed, MILLION)
    forecasts = rng.beta(0.7, 4, MILLION)
    forecasts[::2] = forecasts[::2].round(3)
    outcomes = (rng.random(MILLION) < forecasts**1.2).astype(np.float64)
    return Case(name=CASE_SHAPES[-1], shape=CASE_SHAPES[-1], y_true=outcomes, y_prob=forecasts)


def _draw(shape: str, name: str, rng: np.random.Generator) -> Case:
    draw, rule = (_mix, "doubt") if shape == MIXTURE else _SHAPES[shape]
    n = 2 if shape == "two rows" else int(np.exp(rng.uniform(np.log(8), np.log(3000))))
    y_prob = draw(rng, n)
    return Case(name=name, shape=shape, y_true=_outcomes(rng, y_prob, rule), y_prob=y_prob)


def _mix(rng: np.random.Generator, n: int) -> FloatArray:
    """Forecasts of two shapes in random order."""
    chosen = rng.choice([name for name in _SHAPES if name not in _UNMIXED], 2, replace=False)
    first, second = (_SHAPES[name][0](rng, n).astype(np.float64) for name in chosen)
    return np.where(rng.random(n) < rng.random(), first, second)


def _outcomes(rng: np.random.Generator, y_prob: FloatArray, rule: str) -> FloatArray:
    """Outcomes with a probability that is a power of the forecast: mostly not calibrated."""
    if rule == "equal":
        return np.full(len(y_prob), float(rng.integers(2)))
    chance = y_prob.astype(np.float64) ** rng.uniform(0.5, 2)
    if rule == "doubt":  # forecasts of 0 and 1 may be wrong: an infinite log score
        chance = 0.03 + 0.94 * chance
    return (rng.random(len(y_prob)) < (1 - chance if rule == "oppose" else chance)).astype(np.float64)
