"""Sentences on drift: what changed, by how much, and whether chance explains it."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, NamedTuple

from scorereport._utils.formatting import (
    common_decimals,
    format_counted,
    format_interval,
    format_number,
    format_percent,
    join_words,
)
from scorereport.history.trend.drift_records import SMALL_DRIFT
from scorereport.inference.components import FEW_EVENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.history.trend.drift_records import Drift, Snapshot

FORECASTS, PREVALENCE, MISCALIBRATION, GROUPS = "forecasts", "prevalence", "miscalibration", "groups"
#: The end of the sentence on a population shift.
POPULATION_SHIFT = " This is a population shift, which is not a fault of the model by itself."
_SIZE_WORDS = (SMALL_DRIFT, "moderate", "large")
#: Relative changes below which a difference is small, and below which it is moderate.
DRIFT_SIZES = {
    "score": (0.02, 0.1),
    MISCALIBRATION: (0.01, 0.05),
    PREVALENCE: (0.05, 0.2),
    FORECASTS: (0.1, 0.25),
    GROUPS: (0.1, 0.25),
}


def find_drift_kind(measure: str) -> str:
    """Return what kind of number a drift is about: score, miscalibration, prevalence, forecasts or groups."""
    if measure.endswith(MISCALIBRATION):
        return MISCALIBRATION
    return measure if measure in DRIFT_SIZES else "score"


class DriftNumbers(NamedTuple):
    """The numbers of a drift as text."""

    value: str
    reference: str
    difference: str
    interval: str


def describe_drift_numbers(drift: Drift) -> DriftNumbers:
    """Format value, reference, difference and interval; shares in percent, their differences in points."""
    kind = find_drift_kind(drift.measure)
    is_share = kind in (PREVALENCE, FORECASTS, GROUPS)
    of_score = common_decimals([max(drift.value, drift.reference)])
    factor, decimals = {PREVALENCE: (100, 1), FORECASTS: (1, 3), GROUPS: (1, 3)}.get(kind, (1, of_score))
    value, reference = (
        format_percent(number) if is_share else format_number(number, decimals)
        for number in (drift.value, drift.reference)
    )
    return DriftNumbers(
        value=value,
        reference=reference,
        difference=format_number(factor * drift.difference, decimals),
        interval=format_interval(factor * drift.lower, factor * drift.upper, decimals),
    )


def describe_drift(drift: Drift, whole: float) -> str:
    """Describe a drift in a sentence; `whole` is the number that its size is relative to."""
    if isnan(drift.p_value):
        return f"{_name_drift(drift)}: not tested. {drift.note}"
    is_shift = drift.kind == "population" and drift.has_drifted
    return _describe_change(drift, whole) + (POPULATION_SHIFT if is_shift else "")


def _describe_change(drift: Drift, whole: float) -> str:
    numbers, kind = describe_drift_numbers(drift), find_drift_kind(drift.measure)
    if kind == FORECASTS:
        return _describe_shift(
            drift, f"mean {numbers.value}, in {_name_reference(drift)} {numbers.reference}"
        )
    if kind == GROUPS:
        return _describe_shift(
            drift, f"{drift.group} {numbers.value}, in {_name_reference(drift)} {numbers.reference}"
        )
    points = " percentage points" if drift.measure == PREVALENCE else ""
    shown = f"{numbers.difference}{points} {numbers.interval}"
    if not drift.has_drifted:
        return (
            f"{_name_drift(drift)}: {numbers.value}, in {_name_reference(drift)} {numbers.reference}. The "
            f"difference of {shown} {_describe_chance(drift, whole)}"
        )
    rose = "rose" if drift.difference > 0 else "fell"
    return (
        f"{_name_drift(drift)} {rose} from {numbers.reference} to {numbers.value}, a difference of {shown}"
        f"{_describe_share(drift, whole)}: {_describe_size(drift, whole)}.{_describe_direction(drift)}"
    )


def _name_drift(drift: Drift) -> str:
    if find_drift_kind(drift.measure) == GROUPS:
        return f"Groups by {drift.label}"
    label = drift.label[0].upper() + drift.label[1:]
    return f"{label} of {drift.model}" if drift.model else label


def _name_reference(drift: Drift) -> str:
    return "earlier audits" if drift.against is None else f"the {drift.against}"


def _describe_shift(drift: Drift, shares: str) -> str:
    """Describe a change of forecasts or groups by the stability index; `shares` are the numbers of both."""
    name, numbers = _name_drift(drift), describe_drift_numbers(drift)
    index = f"stability index {numbers.difference} {numbers.interval}".rstrip()
    if drift.has_drifted:
        return (
            f"{name} have another distribution than in {_name_reference(drift)} ({index}; {shares}): "
            f"{_describe_size(drift)}."
        )
    return f"{name}: {shares}. The difference of the distributions ({index}) {_describe_chance(drift)}"


def _describe_chance(drift: Drift, whole: float = nan) -> str:
    """State that chance may explain a difference, and how large a change the interval does not exclude."""
    is_outside = drift.lower > 0 or drift.upper < 0
    many = ", because many numbers are tested in many audits" if is_outside else ""
    largest = _size(drift, max(abs(drift.lower), abs(drift.upper)), whole)
    if not largest:
        return f"can be due to chance{many}."
    possible = (
        "if there is a change, it is small"
        if largest == SMALL_DRIFT
        else f"a {largest} change cannot be ruled out"
    )
    return f"can be due to chance{many}; {possible}."


def _describe_share(drift: Drift, whole: float) -> str:
    """Format a difference as a percentage of the number that it is relative to."""
    share = _relative(drift, abs(drift.difference), whole)
    if isnan(share) or drift.measure == PREVALENCE:
        return ""
    of_score = " of the score" if find_drift_kind(drift.measure) == MISCALIBRATION else ""
    return f" or {format_number(100 * share, 1)} %{of_score}"


def find_drift_size(drift: Drift, whole: float) -> str:
    """Return the word for the size of a drift relative to `whole`; "" if that is not defined."""
    if isnan(drift.p_value):
        return ""
    size = _size(drift, abs(drift.difference), whole)
    if find_drift_kind(drift.measure) == FORECASTS and drift.reference > 0:
        size = _larger(size, _find_size_word(abs(drift.value / drift.reference - 1), PREVALENCE))
    return size


def _describe_size(drift: Drift, whole: float = nan) -> str:
    size = find_drift_size(drift, whole)
    if size == SMALL_DRIFT:
        return "a small change, but more than chance explains"
    return f"a {size} change, more than chance explains" if size else "more than chance explains"


def _size(drift: Drift, difference: float, whole: float) -> str:
    """Return the word for the size of a difference relative to `whole`; "" if that is not defined."""
    relative = _relative(drift, difference, whole)
    return "" if isnan(relative) else _find_size_word(relative, find_drift_kind(drift.measure))


def _find_size_word(relative: float, kind: str) -> str:
    small, moderate = DRIFT_SIZES[kind]
    return _SIZE_WORDS[(relative >= small) + (relative >= moderate)]


def _larger(first: str, second: str) -> str:
    return max(first, second, key=_SIZE_WORDS.index)


def _relative(drift: Drift, difference: float, whole: float) -> float:
    if find_drift_kind(drift.measure) in (FORECASTS, GROUPS):
        return difference
    return difference / whole if whole > 0 else nan


def _describe_direction(drift: Drift) -> str:
    if drift.measure == PREVALENCE:
        return " Scores depend on the prevalence as well."
    return " Higher is worse." if drift.difference > 0 else " Lower is better."


def explain_untested(measure: str) -> str:
    """Explain why a number that both audits have is not tested."""
    kind = find_drift_kind(measure)
    if kind == FORECASTS:
        return "The forecasts are too similar, in this audit and in earlier ones."
    if kind == GROUPS:
        return "The column has only one value."
    if kind == PREVALENCE:
        return "Only one outcome was observed, in this audit and in earlier ones."
    if kind == MISCALIBRATION:
        few = f"fewer than {FEW_EVENTS} rows have an outcome other than the most frequent one"
        return f"In this audit, or in every earlier one, {few}."
    return "It has no standard error in this audit, or in any of the earlier ones."


def explain_reference(
    current: Snapshot, earlier: Sequence[Snapshot], comparable: Sequence[Snapshot], *, is_tested: bool
) -> Iterator[str]:
    """Explain which earlier audits are left out and, if nothing is tested, why."""
    others = len(earlier) - len(comparable)
    if others:
        yield (
            f"{format_counted(others, 'earlier audit')} with another main score or other classes "
            f"{'is' if others == 1 else 'are'} left out of the comparison."
        )
    if is_tested or not comparable:
        return
    if all(isnan(number.standard_error) for number in current.numbers):
        yield "No intervals were requested (`resamples = 0`), so nothing is tested."
    elif current.period.start is None:
        yield (
            "This audit covers all rows: earlier audits cover many of the same rows, so nothing can be "
            "tested."
        )
    else:
        yield (
            "No earlier audit with intervals ends before this period begins. Other audits cover some of the "
            "same rows, so nothing can be tested yet."
        )


def explain_configuration(current: Snapshot, reference: Sequence[Snapshot]) -> Iterator[str]:
    """Explain that reference audits have another configuration, if both are known."""
    known = {"", current.configuration}
    others = [s.period.label for s in reference if current.configuration and s.configuration not in known]
    if others:
        yield (
            f"The configuration has changed since {others[-1]}: the numbers may differ for that reason, if "
            "other rows or columns are read, or if they are evaluated in another way."
        )


def explain_new_models(models: Sequence[str]) -> str:
    """State which models no reference audit has."""
    is_one = len(models) == 1
    return (
        f"{join_words(models)} {'is' if is_one else 'are'} in none of the reference audits, so "
        f"{'its' if is_one else 'their'} numbers are not tested."
    )
