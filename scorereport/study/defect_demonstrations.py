"""Demonstrations of known defects of other implementations by examples.

A defect that has been fixed agrees; a number that is neither right nor the known wrong one differs.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from scorereport.reference.comparison_records import TOLERANCE, Comparison, Verdict, distance

#: The result of an implementation that refuses its input.
REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """A defect shown by an example: our correct number, and the wrong one that the peer is known to give."""

    quantity: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    right: float | str
    wrong: float | str
    reason: str


def run_demonstration(shown: Demonstration, subject: str) -> Comparison:
    """Compare both numbers: the peer is expected to give the known wrong one, the engine the right one."""
    ours, theirs = _outcome(shown.ours), _outcome(shown.theirs)
    if not _same(ours, shown.right):
        verdict, reason = Verdict.DIFFERS, f"The correct value is {shown.right}."
    elif _same(theirs, shown.wrong):
        verdict, reason = Verdict.EXPECTED, shown.reason
    elif _same(theirs, shown.right):
        verdict, reason = Verdict.AGREES, f"Fixed in this version. Before: {shown.reason}"
    else:
        verdict, reason = (
            Verdict.DIFFERS,
            f"Neither the correct value nor the known wrong value {shown.wrong}.",
        )
    is_number = isinstance(ours, float) and isinstance(theirs, float)
    return Comparison(
        subject=subject,
        quantity=shown.quantity,
        engine=ours,
        reference=theirs,
        difference=distance(ours, theirs) if is_number else None,  # type: ignore[arg-type]
        tolerance=TOLERANCE,
        verdict=verdict,
        reason=reason,
    )


@contextmanager
def suppress_warnings() -> Iterator[None]:
    """Suppress warnings and log messages of peers."""
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


def _outcome(function: Callable[[], Any]) -> float | str:
    """The number that a function returns, or that it refused, or the error that it raised."""
    try:
        with suppress_warnings():
            return float(function())
    except (ValueError, AssertionError):
        return REFUSED
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"


def _same(answer: float | str, expected: float | str) -> bool:
    if isinstance(answer, str) or isinstance(expected, str):
        return answer == expected
    return math.isclose(answer, expected, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
