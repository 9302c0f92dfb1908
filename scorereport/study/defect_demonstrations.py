"""A known defect of another implementation, shown by an example: right here, wrong there.

A defect that was mended agrees; a number that is neither right nor the known wrong one is an alarm.
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

#: What a demonstration shows where an implementation refuses.
REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """A defect shown by an example: our right answer, and the wrong one that the peer was seen to give."""

    quantity: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    right: float | str
    wrong: float | str
    reason: str


def run_demonstration(shown: Demonstration, subject: str) -> Comparison:
    """Whether the peer still errs as recorded and we do not."""
    ours, theirs = _outcome(shown.ours), _outcome(shown.theirs)
    if not _same(ours, shown.right):
        verdict, reason = Verdict.DIFFERS, f"The right answer is {shown.right}."
    elif _same(theirs, shown.wrong):
        verdict, reason = Verdict.EXPECTED, shown.reason
    elif _same(theirs, shown.right):
        verdict, reason = Verdict.AGREES, f"Mended in this version. Before: {shown.reason}"
    else:
        verdict, reason = Verdict.DIFFERS, f"Neither right nor the known wrong answer {shown.wrong}."
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
    """Keep to ourselves what peers warn of and log."""
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


def _outcome(function: Callable[[], Any]) -> float | str:
    """The number that comes out, that it was refused, or what else was raised."""
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
