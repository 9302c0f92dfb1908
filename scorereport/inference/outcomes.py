"""What inference returns: a number with its interval, or a test with all that a reader must know of it."""

from __future__ import annotations

from dataclasses import dataclass


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
    """A statistic and its p-value, with the null hypothesis in words; NaN where not defined, see the note."""

    name: str
    statistic: float
    p_value: float
    null_hypothesis: str
    method: str
    reference: str
    n: float
    degrees_of_freedom: float | None = None
    note: str = ""
