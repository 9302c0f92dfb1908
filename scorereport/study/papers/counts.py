"""How many cases there were, as far as printed shares allow."""

from __future__ import annotations

from fractions import Fraction
from itertools import count

from scorereport.study.papers.printed_numbers import half_unit


def smallest_sample(*shares: str) -> int:
    """The smallest n of which some count has each of the shares, to the digits they are printed with.

    >>> smallest_sample(".481")
    27
    """
    printed = [(float(share), half_unit(share)) for share in shares]

    def is_possible(n: int) -> bool:
        return all(abs(round(value * n) / n - value) <= half for value, half in printed)

    return next(n for n in count(1) if is_possible(n))


def attainable_events(n: int, uncertainty: str) -> list[int]:
    """Numbers of events among n whose p(1 - p) is the printed one.

    >>> attainable_events(92, ".244"), attainable_events(86, ".244")
    ([39, 53], [])
    """
    value, half = float(uncertainty), half_unit(uncertainty)
    return [k for k in range(n + 1) if abs(Fraction(k, n) * Fraction(n - k, n) - value) <= half]
