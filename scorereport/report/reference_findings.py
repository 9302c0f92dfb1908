"""Findings on the comparison with a reference sample: forecasts, event rate and calibration."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_interval, format_number, format_percent
from scorereport.configuration.judgement import find_alpha
from scorereport.report.finding_records import MODELS, Consequence, Finding
from scorereport.report.miscalibration_patterns import adjusted_p_value
from scorereport.report.tables.table import distinct_decimals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.inference.population_stability import Stability
    from scorereport.inference.sample_changes import Change, RateChange
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.reference_records import ReferenceComparison, ReferenceModel

#: By convention, a stability index below the first number is small, and one from the second number is large.
INDEX_CONVENTION = (0.1, 0.25)
#: Share of forecasts beyond those of the reference from which a finding mentions it.
_FAR_OUTSIDE = 0.05
_ON_SHIFT = f"Find out why the forecasts of {MODELS} have shifted since the reference sample."
_ON_CALIBRATION = (
    f"Find out why the calibration of {MODELS} has changed since the reference sample, and recalibrate if "
    "the change lasts."
)


def find_reference_changes(evaluation: Evaluation) -> Iterator[Finding]:
    """State for each model whether forecasts have shifted and, with outcomes, why the event rate changed."""
    comparison = evaluation.reference
    if comparison is None or not evaluation.settings.infers:
        return
    alpha = find_alpha(evaluation)
    for stability in evaluation.stability or ():
        found = comparison.find(stability.model)
        is_lost = found.rate is not None and adjusted_p_value(found.rate.calibration) <= alpha
        is_shifted = has_shifted(found, alpha)
        is_drift = is_lost or (is_shifted and not stability.index.upper < INDEX_CONVENTION[0])
        action = _ON_CALIBRATION if is_lost else _ON_SHIFT if is_drift else ""
        yield Finding(
            text=describe_changes(stability, found, comparison, alpha),
            see="stability" if found.rate is None else "rate_changes",
            consequence=Consequence.DRIFT if is_drift else Consequence.RESULT,
            tone="open" if is_drift else "plain",
            model=stability.model,
            size=stability.index.value if is_drift else 0.0,
            action=action,
        )


def has_shifted(found: ReferenceModel, alpha: float) -> bool:
    """Whether the chi-square test, or if it has one bin only the other test, shows a shift of forecasts."""
    defined = [test for test in found.tests if not isnan(test.p_value)]
    return bool(defined) and adjusted_p_value(defined[0]) <= alpha


def describe_changes(
    stability: Stability, found: ReferenceModel, comparison: ReferenceComparison, alpha: float
) -> str:
    """The sentence on a model: shift of forecasts, change of the event rate, and its two parts."""
    clauses = [_describe_shift(stability, is_shown=has_shifted(found, alpha))]
    if comparison.prevalence is not None and found.rate is not None:
        is_changed = comparison.prevalence.p_value <= alpha
        clauses.append(_describe_rate(comparison.prevalence, is_shown=is_changed))
        clauses.append(_describe_parts(found.rate, alpha, is_shown=is_changed))
        if found.rate.outside >= _FAR_OUTSIDE:
            outside = format_percent(found.rate.outside)
            clauses.append(f"{outside} of the forecasts lie beyond those of the reference sample")
    return f"{'; '.join(clauses)}."


def _describe_shift(stability: Stability, *, is_shown: bool) -> str:
    index = stability.index
    bounds = format_interval(index.lower, index.upper, 2)
    number = f"PSI {format_number(index.value, 2)} {bounds}".rstrip()
    if not is_shown:
        return (
            f"The forecasts of {stability.model} are not shown to have shifted since the reference sample "
            f"({number})"
        )
    is_small = index.upper < INDEX_CONVENTION[0]
    return (
        f"The forecasts of {stability.model} have shifted {'little ' * is_small}since the reference sample "
        f"({number})"
    )


def _describe_rate(change: Change, *, is_shown: bool) -> str:
    before, now = format_percent(change.reference), format_percent(change.sample)
    if not is_shown:
        return f"the event rate is not shown to have changed ({before} there, {now} here)"
    return f"the event rate has {'risen' if change.value > 0 else 'fallen'} from {before} to {now}"


def _describe_parts(rate: RateChange, alpha: float, *, is_shown: bool) -> str:
    """The clause on both parts, in percentage points; they add up to the change of the rate."""
    total = format_points(rate.forecasts.value + rate.calibration.value)
    p = adjusted_p_value(rate.calibration)
    verdict = "not tested" if isnan(p) else "shown" if p <= alpha else "not shown"
    shift = points_text(rate.forecasts)
    return (
        f"{f'of the {total} points, {shift}' if is_shown else f'{shift} points'} follow from the shift of "
        f"forecasts and {points_text(rate.calibration)} from a change of calibration, which is {verdict}"
    )


def format_points(value: float) -> str:
    """Format a difference of two shares in percentage points.

    >>> format_points(0.0331)
    '3.3'
    """
    return format_number(100 * value, 1)


def points_text(change: Change) -> str:
    """A change of a share with its interval, in percentage points."""
    lower, upper = 100 * change.lower, 100 * change.upper
    decimals = distinct_decimals(lower, upper, 1)
    return f"{format_number(100 * change.value, decimals)} {format_interval(lower, upper, decimals)}".rstrip()
