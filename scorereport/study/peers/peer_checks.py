"""Checks that compare one number of our engine with that of a peer on all cases.

A known deviation is never accepted because it is small: a rule fixed beforehand selects the cases that it
affects, and there the peer must agree with our number after its convention has been imitated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.formatting import format_counted, format_plain
from scorereport.reference.comparison_records import TOLERANCE, Comparison, Verdict, compare_numbers
from scorereport.study.defect_demonstrations import suppress_warnings
from scorereport.study.peers.peer_samples import CaseRule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport.study.peers.peer_samples import PeerSample

#: For a statistic, a difference over its error, where the difference may cancel.
RATIO_TOLERANCE = 1e-10
RATIO_NOTE = "Tolerance 1e-10: a difference that cancels, over its error."

PeerComputation = Callable[["PeerSample"], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """A known deviation of a peer: the affected cases, how to imitate it, and the reason."""

    only: CaseRule
    imitate: PeerComputation
    reason: str


@dataclass(frozen=True, slots=True)
class Check:
    """A number (or an array) by our engine and by a peer, on all cases except those left out."""

    quantity: str
    ours: PeerComputation
    theirs: PeerComputation
    unless: tuple[CaseRule, ...] = ()
    tolerance: float = TOLERANCE
    note: str = ""
    deviation: Deviation | None = None
    most_cases: int | None = None


@dataclass(frozen=True, slots=True)
class _Worst:
    """The pair of numbers that differ most among many cases."""

    engine: float = math.nan
    reference: float = math.nan
    gap: float = -1.0
    failure: str = ""
    verdict: Verdict | None = None

    def compare(self, subject: str, quantity: str, tolerance: float) -> Comparison:
        """Return the comparison of this pair, with its own verdict if there is one."""
        line = compare_numbers(subject, quantity, self.engine, self.reference, tolerance=tolerance)
        if self.verdict is None:
            return line
        return replace(line, difference=None, verdict=self.verdict)


def run_check(check: Check, subject: str, samples: Sequence[PeerSample]) -> list[Comparison]:
    """Compare one number with that of a peer: one comparison, and another for its known deviation."""
    chosen, left_out = _choose(check, samples)
    lines = [_compare_all(check, subject, chosen, left_out)] if chosen else []
    if check.deviation is not None:
        several = [s for s in samples[: check.most_cases] if not _is_left_out(check, s)]
        apart = [s for s in several if check.deviation.only.holds(s)]
        lines += [_compare_deviation(check, check.deviation, subject, apart)] if apart else []
    return lines or [_not_compared(check, subject, left_out)]


# Which cases


def _choose(check: Check, samples: Sequence[PeerSample]) -> tuple[list[PeerSample], dict[str, int]]:
    """The cases to compare, and the number of cases that each rule leaves out."""
    rules = check.unless if check.deviation is None else (*check.unless, check.deviation.only)
    chosen: list[PeerSample] = []
    left_out: dict[str, int] = {}
    for sample in samples[: check.most_cases]:
        rule = next((rule.text for rule in rules if rule.holds(sample)), None)
        if rule is None:
            chosen.append(sample)
        else:
            left_out[rule] = left_out.get(rule, 0) + 1
    return chosen, left_out


def _is_left_out(check: Check, sample: PeerSample) -> bool:
    return any(rule.holds(sample) for rule in check.unless)


def _describe_cases(check: Check, number: int, left_out: dict[str, int]) -> str:
    first = "" if check.most_cases is None else f" of the first {check.most_cases}, to save time"
    others = ", ".join(f"{count} with {text}" for text, count in left_out.items())
    text = f"{format_counted(number, 'case')}{first}" + (f"; left out {others}" if others else "") + "."
    return f"{text} {check.note}".strip()


# Comparisons


def _compare_all(
    check: Check, subject: str, chosen: Sequence[PeerSample], left_out: dict[str, int]
) -> Comparison:
    worst = _find_worst(check.ours, check.theirs, chosen)
    line = worst.compare(subject, check.quantity, check.tolerance)
    reason = f"{_describe_cases(check, len(chosen), left_out)} {worst.failure}"
    return replace(line, reason=reason.strip())


def _compare_deviation(
    check: Check, deviation: Deviation, subject: str, apart: Sequence[PeerSample]
) -> Comparison:
    """Expected if the imitation agrees; agrees if the peer no longer deviates; else differs."""
    cases, quantity = format_counted(len(apart), "case"), f"{check.quantity}, {deviation.only.text}"
    plain, imitated = (_find_worst(ours, check.theirs, apart) for ours in (check.ours, deviation.imitate))
    line, imitation = (worst.compare(subject, quantity, check.tolerance) for worst in (plain, imitated))
    if plain.failure or imitated.failure:
        return replace(
            line if plain.failure else imitation, reason=f"{cases}. {plain.failure or imitated.failure}"
        )
    if line.verdict is Verdict.AGREES:
        done = "made no difference" if imitation.verdict is Verdict.AGREES else "is fixed in this version"
        return replace(line, reason=f"{cases}. The known deviation {done}: {deviation.reason}")
    if imitation.verdict is not Verdict.AGREES:
        return replace(imitation, reason=f"{cases}. It is not the known deviation: {deviation.reason}")
    rest = f"Imitated, the largest difference is {format_plain(imitation.difference or 0.0, 1)}."
    return replace(line, verdict=Verdict.EXPECTED, reason=f"{cases}. {deviation.reason} {rest}")


def _not_compared(check: Check, subject: str, left_out: dict[str, int]) -> Comparison:
    return Comparison(
        subject=subject,
        quantity=check.quantity,
        tolerance=check.tolerance,
        verdict=Verdict.NOT_COMPARED,
        reason=_describe_cases(check, 0, left_out),
    )


def _find_worst(ours: PeerComputation, theirs: PeerComputation, samples: Sequence[PeerSample]) -> _Worst:
    """The worst pair of all cases; an error is a finding and does not stop the study."""
    worst = _Worst()
    for sample in samples:
        with suppress_warnings():
            found = _compare_case(ours, theirs, sample)
        if found.failure:
            is_lacking = found.verdict is Verdict.NOT_COMPARED and sample is samples[0]
            verdict = found.verdict if is_lacking else Verdict.DIFFERS  # it worked for an earlier case
            return replace(found, failure=f"{sample.case.name}: {found.failure}", verdict=verdict)
        worst = max(worst, found, key=lambda pair: pair.gap)
    return worst


def _compare_case(ours: PeerComputation, theirs: PeerComputation, sample: PeerSample) -> _Worst:
    """The worst pair of one case; a function that this version of the peer lacks is not compared."""
    try:
        engine = _numbers(ours(sample))
    except Exception as error:
        return _Worst(failure=f"Ours raised {_describe(error)}", verdict=Verdict.DIFFERS)
    try:
        reference = _numbers(theirs(sample))
    except (AttributeError, TypeError) as error:
        return _Worst(failure=f"This version lacks it: {_describe(error)}", verdict=Verdict.NOT_COMPARED)
    except Exception as error:
        return _Worst(failure=f"Theirs raised {_describe(error)}", verdict=Verdict.DIFFERS)
    return _worst_of(engine, reference)


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _numbers(values: Any) -> NDArray[np.float64]:
    return np.atleast_1d(np.asarray(values, dtype=np.float64)).ravel()


def _worst_of(engine: NDArray[np.float64], reference: NDArray[np.float64]) -> _Worst:
    """The pair with the largest difference, absolute up to 1 and relative beyond."""
    if engine.shape != reference.shape:
        sizes = f"{len(engine)} numbers of ours, {len(reference)} of theirs"
        return _Worst(failure=sizes, verdict=Verdict.DIFFERS)
    gap = np.abs(engine - reference) / np.maximum(1.0, np.abs(reference))
    same = (engine == reference) | (np.isnan(engine) & np.isnan(reference))
    gap = np.where(same, 0.0, np.where(np.isnan(gap), np.inf, gap))
    index = int(gap.argmax())
    return _Worst(float(engine[index]), float(reference[index]), float(gap[index]))
