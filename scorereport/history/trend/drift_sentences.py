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

FORECASTS, PREVALENCE, MISCALIBRATION = "forecasts", "prevalence", "miscalibration"
_SIZE_WORDS = (SMALL_DRIFT, "moderate", "large")
#: Up to which relative change a difference is called small, and up to which moderate.
DRIFT_SIZES = {
    "score": (0.02, 0.1),
    MISCALIBRATION: (0.01, 0.05),
    PREVALENCE: (0.05, 0.2),
    FORECASTS: (0.1, 0.25),
}


def find_drift_kind(measure: str) -> str:
    """What a drift is of: score, miscalibration, prevalence or forecasts."""
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
    """Value, reference, difference and interval as text; shares in percent, differences of them in points."""
    kind = find_drift_kind(drift.measure)
    is_share = kind in (PREVALENCE, FORECASTS)
    of_score = common_decimals([max(drift.value, drift.reference)])
    factor, decimals = {PREVALENCE: (100, 1), FORECASTS: (1, 3)}.get(kind, (1, of_score))
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
    """The sentence of a drift; how large it is called depends on the number that it is a change of."""
    if isnan(drift.p_value):
        return f"{_name_drift(drift)}: nothing is tested. {drift.note}"
    numbers = describe_drift_numbers(drift)
    if find_drift_kind(drift.measure) == FORECASTS:
        return _describe_forecasts(drift, numbers)
    points = " percentage points" if drift.measure == PREVALENCE else ""
    shown = f"{numbers.difference}{points} {numbers.interval}"
    if not drift.has_drifted:
        return (
            f"{_name_drift(drift)}: {numbers.value}, before {numbers.reference}. The difference of {shown} "
            f"{_describe_chance(drift, whole)}"
        )
    rose = "rose" if drift.difference > 0 else "fell"
    return (
        f"{_name_drift(drift)} {rose} from {numbers.reference} to {numbers.value}, a difference of {shown}"
        f"{_describe_share(drift, whole)}: {_describe_size(drift, whole)}.{_describe_direction(drift)}"
    )


def _name_drift(drift: Drift) -> str:
    label = drift.label[0].upper() + drift.label[1:]
    return f"{label} of {drift.model}" if drift.model else label


def _describe_forecasts(drift: Drift, numbers: DriftNumbers) -> str:
    means = f"mean {numbers.value}, before {numbers.reference}"
    index = f"stability index {numbers.difference} {numbers.interval}".rstrip()
    if drift.has_drifted:
        return f"{_name_drift(drift)} are spread in another way than before ({index}; {means}): {_describe_size(drift)}."
    return (
        f"{_name_drift(drift)}: {means}. The difference of their spread ({index}) {_describe_chance(drift)}"
    )


def _describe_chance(drift: Drift, whole: float = nan) -> str:
    """That chance may explain a difference, and how large a one the data leave open."""
    is_outside = drift.lower > 0 or drift.upper < 0
    many = ", as many numbers are tested at many audits" if is_outside else ""
    largest = _size(drift, max(abs(drift.lower), abs(drift.upper)), whole)
    if not largest:
        return f"can be chance{many}."
    hidden = (
        "if there is a change, it is small"
        if largest == "small"
        else f"a {largest} change cannot be ruled out"
    )
    return f"can be chance{many}; {hidden}."


def _describe_share(drift: Drift, whole: float) -> str:
    """A difference as a share of what it is a part of."""
    share = _relative(drift, abs(drift.difference), whole)
    if isnan(share) or drift.measure == PREVALENCE:
        return ""
    of_score = " of the score" if find_drift_kind(drift.measure) == MISCALIBRATION else ""
    return f" or {format_number(100 * share, 1)} %{of_score}"


def find_drift_size(drift: Drift, whole: float) -> str:
    """How large a drift is called, held against a number; empty if there is nothing to hold it against."""
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
    """How large a difference is called; empty if there is nothing to hold it against."""
    relative = _relative(drift, difference, whole)
    return "" if isnan(relative) else _find_size_word(relative, find_drift_kind(drift.measure))


def _find_size_word(relative: float, kind: str) -> str:
    small, moderate = DRIFT_SIZES[kind]
    return _SIZE_WORDS[(relative >= small) + (relative >= moderate)]


def _larger(first: str, second: str) -> str:
    return max(first, second, key=_SIZE_WORDS.index)


def _relative(drift: Drift, difference: float, whole: float) -> float:
    if find_drift_kind(drift.measure) == FORECASTS:
        return difference
    return difference / whole if whole > 0 else nan


def _describe_direction(drift: Drift) -> str:
    if drift.measure == PREVALENCE:
        return " Scores depend on it as well."
    return " Higher is worse." if drift.difference > 0 else " Lower is better."


def explain_untested(measure: str) -> str:
    """Why a number has no test though it is there."""
    kind = find_drift_kind(measure)
    if kind == FORECASTS:
        return "All forecasts are too much alike, now and before."
    if kind == PREVALENCE:
        return "There was only one outcome, now and before."
    if kind == MISCALIBRATION:
        few = f"fewer than {FEW_EVENTS} cases had another outcome than the most frequent one"
        return f"Here, or in every earlier audit, {few}."
    return "It has no standard error here, or in no earlier audit."


def explain_reference(
    current: Snapshot, earlier: Sequence[Snapshot], alike: Sequence[Snapshot], *, is_tested: bool
) -> Iterator[str]:
    """Earlier audits that cannot be compared with, and why nothing is tested if nothing is."""
    others = len(earlier) - len(alike)
    if others:
        yield (
            f"{format_counted(others, 'earlier audit')} had another main score or other classes and "
            f"{'is' if others == 1 else 'are'} not compared with."
        )
    if is_tested or not alike:
        return
    if all(isnan(number.standard_error) for number in current.numbers):
        yield "No intervals were asked for (`resamples = 0`), so nothing is tested."
    elif current.period.start is None:
        yield (
            "This audit is about all rows there are: earlier audits are about many of the same rows, and "
            "nothing can be tested."
        )
    else:
        yield (
            "No earlier audit with intervals ends before this period begins. Others are about some of the "
            "same rows, so nothing can be tested yet."
        )


def explain_configuration(current: Snapshot, reference: Sequence[Snapshot]) -> Iterator[str]:
    """That audits compared with were made by another configuration, if both are known."""
    known = {"", current.configuration}
    others = [s.period.label for s in reference if current.configuration and s.configuration not in known]
    if others:
        yield (
            f"The configuration was changed since {others[-1]}: what is compared may differ for that reason, "
            "if other rows or columns are read, or they are evaluated in another way."
        )


def explain_new_models(models: Sequence[str]) -> str:
    """Which models no earlier audit has."""
    is_one = len(models) == 1
    return (
        f"{join_words(models)} {'is' if is_one else 'are'} in none of the audits compared with, so "
        f"{'its' if is_one else 'their'} numbers are not tested."
    )
