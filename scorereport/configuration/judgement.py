"""Limits judged on intervals: pass, warn, fail or inconclusive, each with its sentence.

Without an interval, a number is judged as if it were known exactly, and the sentence states this. If events
or non-events are few, neither is enough to judge a limit, but an exact bound may be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport._utils.formatting import common_decimals, format_interval, format_number
from scorereport._utils.rules import show_value
from scorereport.configuration.configuration_source import write_toml
from scorereport.configuration.consistency import check_configuration
from scorereport.configuration.limit_evidence import FEWEST_CASES, exact_bounds, find_evidence
from scorereport.configuration.limit_needs import describe_needed, find_needed
from scorereport.configuration.limit_records import LimitMeasure, MeasurePart
from scorereport.configuration.limit_verdicts import (
    Judgement,
    LimitVerdict,
    find_numbers,
    find_verdict,
    is_certain_warning,
)
from scorereport.configuration.measure_limits import known_measure
from scorereport.configuration.toml_reader import parse_configuration, read_configuration
from scorereport.errors import UsageError
from scorereport.inference.rare_cases import widen
from scorereport.inference.time_errors import find_dependence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.configuration import Bounds, LimitsTable
    from scorereport.configuration.configuration_tables import Configuration
    from scorereport.configuration.limit_verdicts import LimitedNumber
    from scorereport.inference.needed_cases import NeededCases
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.registered_functions import Limits


_LIMIT, _WARNING = "limit", "warning limit"
#: The most decimals that are shown to distinguish a number from its limit.
_MOST_DECIMALS = 10
_UNKNOWN_REASON = "these data do not determine it."
#: Added to judgements on intervals that take rows as independent although they are shown not to be.
DEPENDENCE_CAUTION = "The interval takes rows as independent; they are shown to depend on each other in time."


def describe_judgement(
    judgement: Judgement, number: LimitedNumber, ends: tuple[float, float], doubt: str
) -> str:
    """The sentence of a judgement: the number, its interval, and where it lies relative to its limit.

    `ends` are the ends of the interval that was judged. `doubt` states that cases are few, and is empty if
    they are not; if it is not empty, `ends` are those of an exact bound, or infinite if there is none.
    """
    what = judgement.label[0].upper() + judgement.label[1:]
    what += f" of {judgement.model}" if judgement.model else ""
    what += f" where {judgement.group}" if judgement.group else ""
    shown, reason = format_judgement(judgement), number.note or _UNKNOWN_REASON
    if math.isnan(number.value):
        return f"{what} is not defined and cannot be judged: {reason}"
    if not number.is_defined:
        return f"{what}: {shown['value']}, cannot be judged without an interval: {reason}"
    wording = _Wording(judgement, *ends)
    if math.isinf(number.value):
        return f"{what} is {shown['value']} and {wording.describe()}."
    start = f"{what}: {shown['value']}"
    if number.interval is not None:
        start += f", interval {shown['interval']}"
    if doubt:
        return f"{start}. {doubt}: {_describe_few_cases(judgement, ends)}."
    if number.interval is None:
        return f"{start}, judged without an interval, {wording.describe()}."
    is_equivalence = known_measure(judgement.measure).part is MeasurePart.MISCALIBRATION
    return f"{start}: {wording.describe_within()}." if is_equivalence else f"{start}, {wording.describe()}."


def _describe_few_cases(judgement: Judgement, ends: tuple[float, float]) -> str:
    """The judgement if cases are few: by an exact bound, or inconclusive."""
    if judgement.verdict is LimitVerdict.INCONCLUSIVE:
        return f"with fewer than {FEWEST_CASES}, an interval is not enough to judge a limit"
    measure, decimals = known_measure(judgement.measure), _decimals(judgement)
    factor, unit = (100, " %") if measure.is_share else (1, "")
    exact = f"{format_interval(factor * ends[0], factor * ends[1], decimals)}{unit}"
    verdict = _Wording(judgement, *ends).describe()
    return f"with fewer than {FEWEST_CASES}, a limit is judged by an exact bound only, and {exact} {verdict}"


def format_judgement(judgement: Judgement) -> dict[str, str]:
    """Value, interval and limits of a judgement as texts, for a row of a table; empty if there is none."""
    measure, decimals = known_measure(judgement.measure), _decimals(judgement)
    factor, unit = (100, " %") if measure.is_share else (1, "")
    interval = format_interval(factor * judgement.lower, factor * judgement.upper, decimals)
    return {
        "value": _show(judgement.value, measure, decimals),
        "interval": f"{interval}{unit}" if interval else "",
        "warn": _show_limits(judgement.warn_lower, judgement.warn_upper, measure, decimals),
        "fail": _show_limits(judgement.fail_lower, judgement.fail_upper, measure, decimals),
    }


def _show(value: float, measure: LimitMeasure, decimals: int) -> str:
    factor, unit = (100, " %") if measure.is_share and math.isfinite(value) else (1, "")
    return f"{format_number(factor * value, decimals)}{unit}"


def _show_limits(lower: float | None, upper: float | None, measure: LimitMeasure, decimals: int) -> str:
    """The limits of a kind, with the signs ≥ and ≤."""
    shown = [f"≥ {_show(lower, measure, decimals)}"] if lower is not None else []
    shown += [f"≤ {_show(upper, measure, decimals)}"] if upper is not None else []
    return ", ".join(shown)


def _decimals(judgement: Judgement) -> int:
    """The decimals to show: as in the tables, or more if a number would otherwise look equal to its limit."""
    measure = known_measure(judgement.measure)
    limits = [
        limit
        for limit in (
            judgement.warn_lower,
            judgement.warn_upper,
            judgement.fail_lower,
            judgement.fail_upper,
        )
        if limit is not None
    ]
    numbers = (judgement.value, judgement.lower, judgement.upper)
    usual = common_decimals([judgement.value, *limits])
    decimals = usual if measure.decimals is None else measure.decimals
    decimals = 1 if measure.is_share else decimals
    while decimals < _MOST_DECIMALS and any(
        limit != number and _show(limit, measure, decimals) == _show(number, measure, decimals)
        for limit in limits
        for number in numbers
    ):
        decimals += 1
    return decimals


class _Wording:
    """Words for where an interval lies relative to its limits."""

    def __init__(self, judgement: Judgement, lower: float, upper: float) -> None:
        self.judgement, self.lower, self.upper = judgement, lower, upper
        self.measure, self.decimals = known_measure(judgement.measure), _decimals(judgement)
        self.fail = (judgement.fail_lower, judgement.fail_upper)
        self.warn = (judgement.warn_lower, judgement.warn_upper)

    def describe(self) -> str:
        """The predicate of the sentence: the verb and what follows."""
        return {
            LimitVerdict.PASS: self._describe_pass,
            LimitVerdict.WARN: self._describe_warning,
            LimitVerdict.INCONCLUSIVE: self._describe_inconclusive,
            LimitVerdict.FAIL: self._describe_failure,
        }[self.judgement.verdict]()

    def describe_within(self) -> str:
        """The result of a limit on miscalibration, an upper limit, as a test of equivalence."""
        (_, warn), (_, fail) = self.warn, self.fail
        verdict = self.judgement.verdict
        if verdict is LimitVerdict.PASS:
            return f"shown to be calibrated within {self._show(fail if warn is None else warn)}"
        if verdict is LimitVerdict.FAIL:
            return f"shown to be miscalibrated by more than {self._show(fail)}"
        if verdict is LimitVerdict.INCONCLUSIVE:
            return f"neither shown to be calibrated within {self._show(fail)} nor to be miscalibrated by more"
        shown = "" if fail is None else f"shown to be calibrated within {self._show(fail)}, but "
        return f"{shown}not shown to be within the {_WARNING} {self._show(warn)}"

    def _describe_pass(self) -> str:
        floor, ceiling = self.warn
        sides = [
            (_LIMIT, self.fail[0]) if floor is None else (_WARNING, floor),
            (_LIMIT, self.fail[1]) if ceiling is None else (_WARNING, ceiling),
        ]
        (name, low), (other, high) = sides
        if low is None or high is None or name == other:
            return f"lies {self._within(name if high is None else other, low, high)}"
        return f"lies {self._within(name, low, None)} and {self._within(other, None, high)}"

    def _describe_warning(self) -> str:
        floor, ceiling = self.warn
        if ceiling is not None and self.lower > ceiling:
            place = f"above the {_WARNING} {self._show(ceiling)}"
        elif floor is not None and self.upper < floor:
            place = f"below the {_WARNING} {self._show(floor)}"
        else:
            place = f"not wholly {self._within(_WARNING, floor, ceiling)}"
        if self.fail != (None, None):
            return f"lies {self._within(_LIMIT, *self.fail)}, but {place}"
        return f"does not lie {place.removeprefix('not ')}" if place.startswith("not ") else f"lies {place}"

    def _describe_inconclusive(self) -> str:
        floor, ceiling = self.fail
        inside = [self._show(floor)] if floor is not None and self.lower < floor else []
        inside += [self._show(ceiling)] if ceiling is not None and self.upper > ceiling else []
        if len(inside) == 2:
            return f"is inconclusive: the {_LIMIT}s {' and '.join(inside)} lie inside the interval"
        return f"is inconclusive: the {_LIMIT} {inside[0]} lies inside the interval"

    def _describe_failure(self) -> str:
        floor, ceiling = self.fail
        if ceiling is not None and self.lower > ceiling:
            return f"lies above the {_LIMIT} {self._show(ceiling)}"
        return f"lies below the {_LIMIT} {self._show(math.nan if floor is None else floor)}"

    def _within(self, name: str, low: float | None, high: float | None) -> str:
        if low is not None and high is not None:
            return f"between the {name}s {self._show(low)} and {self._show(high)}"
        if high is not None:
            return f"{'at or ' if self.upper == high else ''}below the {name} {self._show(high)}"
        return f"{'at or ' if self.lower == low else ''}above the {name} {self._show(low)}"

    def _show(self, limit: float | None) -> str:
        return "" if limit is None else _show(limit, self.measure, self.decimals)


def judge(evaluation: Evaluation, limits: LimitsTable) -> tuple[Judgement, ...]:
    """Judge every number with a limit: of the sample, of each model and, if the limits set it, of each group.

    Numbers that are not scores are judged on all rows only. A number that is not defined, or has
    no interval although intervals were computed, is inconclusive; infinity on the bad side fails. With fewer
    than ten events or non-events, a limit is judged by an exact bound only; if there is none, the verdict is
    inconclusive.
    """
    level, dependent = evaluation.settings.level, find_dependent(evaluation)
    judged = []
    for measure, bounds in limits.bounds:
        for number in find_numbers(evaluation, measure, limits):
            judgement = _judge_number(measure, number, bounds, level)
            if judgement.verdict is LimitVerdict.INCONCLUSIVE:
                judgement = _add_needed(judgement, find_needed(measure, number, bounds, evaluation))
            judged.append(_add_caution(judgement, measure, dependent))
    return tuple(judged)


def judge_limits(evaluation: Evaluation, limits: Limits) -> tuple[Judgement, ...]:
    """Judge an evaluation by a dictionary like the table `[limits]`, or by a configuration in a TOML file."""
    configuration = read_limits(limits)
    check_configuration(configuration, evaluation)
    return judge(evaluation, configuration.limits)


def read_limits(limits: Limits) -> Configuration:
    """Return the configuration that a dictionary like the table `[limits]`, or a TOML file, contains."""
    if isinstance(limits, Mapping):
        return parse_configuration(write_toml({"limits": limits}, "limits"), "limits")
    if isinstance(limits, (str, Path)):
        return read_configuration(limits)
    raise UsageError(
        f"`limits` must be a dictionary, or the path of a TOML configuration; got {show_value(limits)}."
    )


def find_dependent(evaluation: Evaluation) -> set[str]:
    """The models whose residuals are shown to depend on each other in time."""
    known = [(result.model, result.calibration) for result in evaluation.models]
    alpha = find_alpha(evaluation)
    return {model for model, found in known if found and find_dependence(found.tests, alpha) is not None}


def find_alpha(evaluation: Evaluation) -> float:
    """The significance level of tests that corresponds to the level of the intervals."""
    return round(1 - evaluation.settings.level, 12)


def _add_caution(judgement: Judgement, measure: LimitMeasure, dependent: set[str]) -> Judgement:
    """Add the caution that an interval does not allow for dependence in time; that of the line does."""
    concerned = judgement.model in dependent if judgement.model else bool(dependent)
    if not concerned or measure.part is MeasurePart.LINE or math.isnan(judgement.lower):
        return judgement
    return replace(judgement, sentence=f"{judgement.sentence} {DEPENDENCE_CAUTION}")


def _add_needed(judgement: Judgement, needed: NeededCases | None) -> Judgement:
    """Add the cases that would decide an inconclusive limit."""
    if needed is None:
        return judgement
    return replace(judgement, needed=needed, sentence=f"{judgement.sentence} {describe_needed(needed)}")


def _judge_number(measure: LimitMeasure, number: LimitedNumber, bounds: Bounds, level: float) -> Judgement:
    interval, evidence = number.interval, find_evidence(number.sample, measure, number.cases)
    ends, doubt = number.ends, ""
    if number.is_defined and math.isfinite(number.value) and not evidence.is_enough:
        exact = exact_bounds(measure, number.value, evidence.cases, level, evidence.unit)
        ends = (-math.inf, math.inf) if exact is None else widen(exact, ends)
        doubt = evidence.describes
    verdict = find_verdict(*ends, bounds) if number.is_defined else LimitVerdict.INCONCLUSIVE
    if doubt and verdict is LimitVerdict.WARN and not is_certain_warning(*ends, bounds):
        verdict = LimitVerdict.INCONCLUSIVE
    judgement = Judgement(
        model=number.model,
        group=number.group,
        measure=measure.name,
        label=measure.label_of(math.nan if interval is None else interval.lower),
        value=number.value,
        lower=math.nan if interval is None else interval.lower,
        upper=math.nan if interval is None else interval.upper,
        level=math.nan if interval is None else interval.level,
        warn_lower=bounds.warn_lower,
        warn_upper=bounds.warn_upper,
        fail_lower=bounds.fail_lower,
        fail_upper=bounds.fail_upper,
        verdict=verdict,
        sentence="",
    )
    return replace(judgement, sentence=describe_judgement(judgement, number, ends, doubt))


def describe_unjudged(evaluation: Evaluation, limits: LimitsTable) -> tuple[str, ...]:
    """Sentences on groups that are too small to be judged, and on limits that are not judged by group."""
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
    """Sentences on components that are computed for all rows but not for groups."""
    models = [scores for group in evaluation.groups for scores in group.models]
    in_groups = {parts.name for scores in models for parts in scores.decompositions}
    for measure, _ in limits.bounds:
        if models and measure.has_groups and measure.is_component and measure.score not in in_groups:
            yield (
                f"{measure.label[0].upper()}{measure.label[1:]} is judged on all rows only: in groups of "
                "ordered classes only the ranked probability score is decomposed."
            )
