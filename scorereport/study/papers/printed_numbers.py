"""Comparison of printed numbers and claims of papers with results of the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING

from scorereport.reference.comparison_records import TOLERANCE, Comparison, Verdict, distance

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


#: Value of the printed claim, correct value, and whether the computation confirms it.
ErratumResult = tuple[Fraction | float | str, Fraction | float | str, bool]
#: Description of an error in a paper, the computation that shows it, and the reason.
Erratum = tuple[str, Callable[[], ErratumResult], str]


def half_unit(printed: str) -> float:
    """Return half a unit of the last printed decimal; fractions and whole numbers are exact.

    >>> half_unit(".1025"), half_unit("9/32")
    (5e-05, 1e-12)
    """
    decimals = len(printed.partition(".")[2])
    return 0.5 * 10.0**-decimals if decimals else TOLERANCE


def is_near(value: float, exact: Fraction | float) -> bool:
    """Whether a number of the engine equals an exact one up to rounding."""
    return distance(float(value), float(exact)) <= TOLERANCE


def compare_printed(
    subject: str,
    quantity: str,
    printed: str,
    engine: float,
    *,
    corrected: Fraction | float | None = None,
    tolerance: float | None = None,
    reason: str = "",
) -> Comparison:
    """Compare a number with the printed one and, if that is wrong, with the corrected one."""
    line = compare_formula(
        subject,
        quantity,
        float(Fraction(printed)),
        engine,
        corrected=corrected,
        tolerance=half_unit(printed) if tolerance is None else tolerance,
        reason=reason,
    )
    return replace(line, reference=printed)


def compare_formula(
    subject: str,
    quantity: str,
    printed: float,
    engine: float,
    *,
    corrected: Fraction | float | None = None,
    tolerance: float = TOLERANCE,
    reason: str = "",
) -> Comparison:
    """Compare a number with the value of a printed formula; `reason` is used if the formula is wrong."""
    engine, printed = float(engine), float(printed)
    gap = distance(engine, printed)
    if gap <= tolerance + TOLERANCE:
        verdict, reason = Verdict.REPRODUCED, ""
    elif corrected is not None and is_near(engine, corrected):
        verdict = Verdict.INCONSISTENT
    else:
        verdict, reason = Verdict.DIFFERS, "Neither the printed value nor a known correction of it."
    return Comparison(
        subject=subject,
        quantity=quantity,
        engine=engine,
        reference=printed,
        difference=gap,
        tolerance=tolerance,
        verdict=verdict,
        reason=reason,
    )


def compare_claim(
    subject: str,
    quantity: str,
    claim: str,
    engine: str,
    *,
    holds: bool,
    otherwise: Verdict = Verdict.DIFFERS,
    reason: str = "The results of the engine do not confirm it.",
) -> Comparison:
    """Compare a claim that is not a number with a result; `reason` is used if the claim fails."""
    return Comparison(
        subject=subject,
        quantity=quantity,
        engine=engine,
        reference=claim,
        verdict=Verdict.REPRODUCED if holds else otherwise,
        reason="" if holds else reason,
    )


def compare_word(subject: str, quantity: str, printed: str, engine: str) -> Comparison:
    """Compare a word with the printed one."""
    return compare_claim(subject, quantity, printed, engine, holds=engine == printed)


def compare_readings(
    subject: str,
    quantity: str,
    printed: str,
    readings: Mapping[str, float],
    *,
    reason: str,
    tolerance: float | None = None,
) -> Comparison:
    """Compare a printed number with all readings of a text that does not state its setting.

    It is reproduced if each reading gives it, and not reproducible if it lies between readings that
    disagree. A number outside the range of the readings differs.
    """
    tolerance, value = half_unit(printed) if tolerance is None else tolerance, float(Fraction(printed))
    gaps = [distance(reading, value) for reading in readings.values()]
    low, high = min(readings.values()) - tolerance, max(readings.values()) + tolerance
    if max(gaps) <= tolerance + TOLERANCE:
        verdict, reason = Verdict.REPRODUCED, ""
    elif low <= value <= high:
        verdict = Verdict.NOT_REPRODUCIBLE
    else:
        verdict, reason = Verdict.DIFFERS, "Outside the range of the readings of the text."
    return Comparison(
        subject=subject,
        quantity=quantity,
        engine=_describe_readings(readings, value),
        reference=printed,
        difference=min(gaps),
        tolerance=tolerance,
        verdict=verdict,
        reason=reason,
    )


def _describe_readings(readings: Mapping[str, float], value: float) -> str:
    nearest = min(readings, key=lambda name: distance(readings[name], value))
    low, high = min(readings.values()), max(readings.values())
    if low == high:
        return f"{low:.6g} (all {len(readings)} readings)"
    return f"{low:.6g} to {high:.6g}, nearest {readings[nearest]:.6g} ({nearest})"


def report_irreproducible(
    subject: str,
    quantity: str,
    printed: str | None,
    engine: str | None = None,
    *,
    reason: str,
    is_possible: bool = True,
    otherwise: Verdict = Verdict.DIFFERS,
) -> Comparison:
    """Report why a number cannot be reproduced, unless a computation shows that it is impossible."""
    return Comparison(
        subject=subject,
        quantity=quantity,
        engine=engine,
        reference=printed,
        verdict=Verdict.NOT_REPRODUCIBLE if is_possible else otherwise,
        reason=reason,
    )


def judge_errata(paper: str, errata: Iterable[Erratum]) -> Iterator[Comparison]:
    """Confirm each erratum whose claim is not the correct value and whose computation holds."""
    for quantity, find, reason in errata:
        claimed, correct, holds = find()
        yield Comparison(
            subject=paper,
            quantity=quantity,
            engine=str(correct) if isinstance(correct, Fraction) else correct,
            reference=str(claimed) if isinstance(claimed, Fraction) else claimed,
            verdict=Verdict.CONFIRMED if holds and claimed != correct else Verdict.REFUTED,
            reason=reason,
        )


AHMADIAN = "Ahmadian et al. (2025)"
DIMITRIADIS = "Dimitriadis et al. (2021)"
FLORES = "Flores et al. (2025)"
GALDRAN = "Galdran (2023)"
NELSON = "Nelson (2017)"


def smallest_sample(*shares: str) -> int:
    """Return the smallest n for which each share is a count divided by n, to the printed digits.

    >>> smallest_sample(".481")
    27
    """
    printed = [(float(share), half_unit(share)) for share in shares]

    def is_possible(n: int) -> bool:
        return all(abs(round(value * n) / n - value) <= half for value, half in printed)

    return next(n for n in count(1) if is_possible(n))


def attainable_events(n: int, uncertainty: str) -> list[int]:
    """Return the numbers of events among n for which p(1 - p) rounds to the printed value.

    >>> attainable_events(92, ".244"), attainable_events(86, ".244")
    ([39, 53], [])
    """
    value, half = float(uncertainty), half_unit(uncertainty)
    return [k for k in range(n + 1) if abs(Fraction(k, n) * Fraction(n - k, n) - value) <= half]
