"""The comparison of a quantity with an independent source: one line of a certificate or study."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import format_counted
from scorereport._utils.representation import short_repr

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike

#: The difference that two correct implementations may have: absolute up to 1, relative above.
TOLERANCE = 1e-12
#: The quantity of a line that sums up the comparison with a package.
WHOLE_PACKAGE = "all quantities"


class Verdict(StrEnum):
    """The result of a comparison."""

    AGREES = "agrees"
    EXPECTED = "expected deviation"
    DIFFERS = "differs"
    NOT_COMPARED = "not compared"
    # of papers
    REPRODUCED = "reproduced"
    INCONSISTENT = "paper inconsistent"
    NOT_REPRODUCIBLE = "not reproducible from the text"
    # of errata
    CONFIRMED = "confirmed"
    REFUTED = "not confirmed"
    # of an installation and its operation
    PASSED = "passed"
    FAILED = "failed"
    ABSENT = "absent"


_NO_NUMBERS = ("Infinity", "-Infinity", "NaN")
#: Verdicts that do not occur with correct software on a working machine.
UNEXPECTED = frozenset({Verdict.DIFFERS, Verdict.REFUTED, Verdict.FAILED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One quantity of one subject (a model, a paper, a package): ours, theirs, and the verdict.

    `tolerance` is absolute for numbers up to 1 and relative beyond. `reason` explains every verdict other
    than agreement. `source` names the software that computed the reference, where there are several.
    """

    subject: str
    quantity: str
    engine: float | str | None = None
    reference: float | str | None = None
    difference: float | None = None
    tolerance: float | None = None
    verdict: Verdict
    reason: str = ""
    source: str = ""

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for name in ("engine", "reference"):
            if getattr(self, name) in _NO_NUMBERS:  # read back from a document, which writes them as text
                object.__setattr__(self, name, float(getattr(self, name)))

    @property
    def is_unexpected(self) -> bool:
        """Whether it needs attention."""
        return self.verdict in UNEXPECTED


def distance(engine: float, reference: float) -> float:
    """Absolute difference; 0 if both are the same infinity or both NaN, infinite if only one is.

    >>> distance(1.0, 0.5), distance(math.inf, math.inf), distance(math.nan, 0.0)
    (0.5, 0.0, inf)
    """
    if engine == reference or (math.isnan(engine) and math.isnan(reference)):
        return 0.0
    gap = abs(engine - reference)
    return math.inf if math.isnan(gap) else gap


def compare_numbers(
    subject: str, quantity: str, engine: float, reference: float, *, tolerance: float = TOLERANCE
) -> Comparison:
    """Compare a number of the engine with that of a reference.

    >>> compare_numbers("logit", "MCB", 0.25, 0.25 + 1e-13).verdict
    <Verdict.AGREES: 'agrees'>
    """
    engine, reference = float(engine), float(reference)
    gap = distance(engine, reference)
    is_close = gap <= tolerance * (max(1.0, abs(reference)) if math.isfinite(reference) else 1.0)
    return Comparison(
        subject=subject,
        quantity=quantity,
        engine=engine,
        reference=reference,
        difference=gap,
        tolerance=tolerance,
        verdict=Verdict.AGREES if is_close else Verdict.DIFFERS,
    )


def compare_arrays(
    subject: str, quantity: str, engine: ArrayLike, reference: ArrayLike, *, tolerance: float = TOLERANCE
) -> Comparison:
    """Compare two arrays by the numbers that differ most.

    >>> compare_arrays("logit", "recalibrated", [0.25, 0.5], [0.25, 0.75]).difference
    0.25
    """
    ours, theirs = (np.asarray(values, dtype=np.float64) for values in (engine, reference))
    if ours.shape != theirs.shape or ours.size == 0:
        return Comparison(
            subject=subject,
            quantity=quantity,
            engine=f"{ours.size} numbers",
            reference=f"{theirs.size} numbers",
            tolerance=tolerance,
            verdict=Verdict.DIFFERS,
            reason="The numbers of values differ, or there are none.",
        )
    ours, theirs = ours.ravel(), theirs.ravel()
    with np.errstate(invalid="ignore"):
        gaps = np.abs(ours - theirs) / np.where(np.isfinite(theirs), np.maximum(np.abs(theirs), 1), 1)
    is_same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    worst = int(np.argmax(np.where(is_same, 0.0, np.where(np.isnan(gaps), np.inf, gaps))))
    return compare_numbers(subject, quantity, ours[worst], theirs[worst], tolerance=tolerance)


def compare_relatively(
    subject: str,
    quantity: str,
    engine: ArrayLike,
    reference: ArrayLike,
    *,
    relative: float,
    noise: ArrayLike = 0.0,
) -> Comparison:
    """Compare two arrays by the numbers that differ most, each relative to its own size, however small.

    `noise` is what rounding may contribute to each number, such as to one that is almost 0.

    >>> compare_relatively("logit", "p-value", 1e-9, 1.00001e-9, relative=1e-8).verdict
    <Verdict.DIFFERS: 'differs'>
    """
    ours, theirs = np.atleast_1d(engine), np.atleast_1d(reference)
    if ours.shape != theirs.shape or ours.size == 0:
        return compare_arrays(subject, quantity, ours, theirs, tolerance=relative)
    sizes = np.where(np.isfinite(theirs), np.abs(theirs), 1.0)
    allowed = relative * sizes + np.broadcast_to(noise, theirs.shape)
    gaps = np.array([distance(a, b) for a, b in zip(ours.tolist(), theirs.tolist(), strict=True)])
    with np.errstate(divide="ignore", invalid="ignore"):
        worst = int(np.argmax(np.where(gaps == 0, 0.0, gaps / allowed)))
    tolerance = float(allowed[worst] / max(1.0, sizes[worst]))
    return compare_numbers(subject, quantity, ours[worst], theirs[worst], tolerance=tolerance)


def summarise(lines: Iterable[Comparison], subject: str, thing: str) -> Iterator[Comparison]:
    """One line for each quantity and verdict: the worst, with the number of lines; unexpected lines are kept.

    >>> lines = [compare_numbers("logit", "MCB", 0.5, 0.5 + gap) for gap in (0, 1e-14)]
    >>> [(line.difference > 0, line.reason) for line in summarise(lines, "all", "model")]
    [(True, '2 models')]
    """
    groups: dict[tuple[str, Verdict, str], list[Comparison]] = {}
    for line in lines:
        if line.is_unexpected:
            yield line
        else:
            is_same_reason = line.verdict is not Verdict.AGREES
            key = (line.quantity, line.verdict, line.reason if is_same_reason else "")
            groups.setdefault(key, []).append(line)
    for group in groups.values():
        worst = max(group, key=lambda line: line.difference or 0.0)
        reason = format_counted(len(group), thing)
        if worst.verdict is not Verdict.AGREES:
            reason = f"{reason}. {worst.reason}"
        yield replace(worst, subject=subject, reason=reason)
