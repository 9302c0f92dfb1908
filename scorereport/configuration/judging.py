"""Limits judged on intervals: pass, warn, fail, or inconclusive where the data cannot tell.

Without an interval a number is judged alone, as if it were known exactly, and the sentence says so. Where
events or non-events are few, neither settles a limit, but an exact bound may.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport.configuration.judgement import describe_judgement, format_judgement
from scorereport.configuration.limit_evidence import exact_bounds, find_evidence
from scorereport.configuration.limit_verdicts import (
    Judgement,
    LimitVerdict,
    count_limit_verdicts,
    find_verdict,
    find_worst_verdict,
    is_certain_warning,
    verdict_exit_code,
)
from scorereport.configuration.measure_limits import MeasurePart
from scorereport.configuration.numbers import find_numbers
from scorereport.inference.rare_cases import widen
from scorereport.inference.time_errors import find_dependence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.configuration import Bounds, LimitMeasure, LimitsTable
    from scorereport.configuration.numbers import LimitedNumber
    from scorereport.results.evaluation import Evaluation

#: What is said of limits judged on intervals that page one calls too confident.
DEPENDENCE_CAUTION = "The interval takes rows as independent; they are shown to depend on each other in time."

__all__ = [
    "DEPENDENCE_CAUTION",
    "Judgement",
    "LimitVerdict",
    "count_limit_verdicts",
    "describe_unjudged",
    "find_alpha",
    "find_verdict",
    "find_worst_verdict",
    "format_judgement",
    "judge",
    "verdict_exit_code",
]


def judge(evaluation: Evaluation, limits: LimitsTable) -> tuple[Judgement, ...]:
    """Judge every number that has a limit: of the sample, of each model and, if asked for, of each group.

    The calibration line and the prevalence are judged on all rows only. What is not defined, or has no
    interval though one was asked for, is inconclusive; infinity on the bad side fails. Where events or
    non-events are fewer than ten, only an exact bound settles a limit, and else it is inconclusive.
    """
    level, dependent = evaluation.settings.level, _find_dependent(evaluation)
    return tuple(
        _add_caution(_judge_number(measure, number, bounds, level), measure, dependent)
        for measure, bounds in limits.bounds
        for number in find_numbers(evaluation, measure, limits)
    )


def _find_dependent(evaluation: Evaluation) -> set[str]:
    """The models whose residuals are shown to depend on each other in time."""
    known = [(result.model, result.calibration) for result in evaluation.models]
    alpha = find_alpha(evaluation)
    return {model for model, found in known if found and find_dependence(found.tests, alpha) is not None}


def find_alpha(evaluation: Evaluation) -> float:
    """The level of tests that goes with the level of the intervals."""
    return round(1 - evaluation.settings.level, 12)


def _add_caution(judgement: Judgement, measure: LimitMeasure, dependent: set[str]) -> Judgement:
    """Say that an interval does not allow for dependence that is shown; that of the line does."""
    concerned = judgement.model in dependent if judgement.model else bool(dependent)
    if not concerned or measure.part is MeasurePart.LINE or math.isnan(judgement.lower):
        return judgement
    return replace(judgement, sentence=f"{judgement.sentence} {DEPENDENCE_CAUTION}")


def _judge_number(measure: LimitMeasure, number: LimitedNumber, bounds: Bounds, level: float) -> Judgement:
    interval, evidence = number.interval, find_evidence(number.sample, measure)
    ends, doubt = number.ends, ""
    if number.is_defined and math.isfinite(number.value) and not evidence.is_enough:
        exact = exact_bounds(measure, number.value, evidence.cases, level, evidence.unit)
        ends = (-math.inf, math.inf) if exact is None else widen(exact, ends)
        doubt = evidence.describes
    light = find_verdict(*ends, bounds) if number.is_defined else LimitVerdict.INCONCLUSIVE
    if doubt and light is LimitVerdict.WARN and not is_certain_warning(*ends, bounds):
        light = LimitVerdict.INCONCLUSIVE
    judgement = Judgement(
        model=number.model,
        group=number.group,
        measure=measure.name,
        label=measure.label,
        value=number.value,
        lower=math.nan if interval is None else interval.lower,
        upper=math.nan if interval is None else interval.upper,
        level=math.nan if interval is None else interval.level,
        warn_lower=bounds.warn_lower,
        warn_upper=bounds.warn_upper,
        fail_lower=bounds.fail_lower,
        fail_upper=bounds.fail_upper,
        verdict=light,
        sentence="",
    )
    return replace(judgement, sentence=describe_judgement(judgement, number, ends, doubt))


def describe_unjudged(evaluation: Evaluation, limits: LimitsTable) -> tuple[str, ...]:
    """A sentence for each column that has groups too small to be judged, and for what no group has."""
    if not (limits.groups and limits.bounds):
        return ()
    return (*_describe_small_groups(evaluation), *_describe_undecomposed(evaluation, limits))


def _describe_small_groups(evaluation: Evaluation) -> Iterator[str]:
    columns = dict.fromkeys(group.column for group in evaluation.groups)
    by_column = {c: [group for group in evaluation.groups if group.column == c] for c in columns}
    small = {c: sum(not group.models for group in groups) for c, groups in by_column.items()}
    for column, groups in by_column.items():
        if small[column]:
            yield (
                f"{column}: {small[column]} of {len(groups)} groups, too small to be scored, "
                f"{'is' if small[column] == 1 else 'are'} not judged."
            )


def _describe_undecomposed(evaluation: Evaluation, limits: LimitsTable) -> Iterator[str]:
    """Components that all rows have and groups do not."""
    models = [scores for group in evaluation.groups for scores in group.models]
    in_groups = {parts.name for scores in models for parts in scores.decompositions}
    for measure, _ in limits.bounds:
        is_component = measure.part in (MeasurePart.MISCALIBRATION, MeasurePart.DISCRIMINATION)
        if models and is_component and measure.score not in in_groups:
            yield (
                f"{measure.label} is judged on all rows only: in groups of ordered classes only the ranked "
                "probability score is decomposed."
            )
