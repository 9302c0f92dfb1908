"""A method of the catalogue, and how its formula is set."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """A method by name: its formula, what the software decided where there was a choice, and who says so."""

    name: str
    formula: str
    convention: str
    reference: str


def bind_operators(formula: str) -> str:
    """A formula whose lines do not break at signs that hold two sides together.

    >>> [len(word) for word in bind("D / se(D) = a + b").split(" ")]
    [13, 1, 1]
    """
    return re.sub(r" ([/=<>≤≥±]) ", "\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", formula)
