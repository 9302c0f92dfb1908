"""Verdicts on intervals and their limits, and the numbers of an evaluation that have limits.

A number on a limit, up to rounding, meets it. A measure therefore fails if its whole interval lies beyond the
limit, and meets the limit if no part of the interval lies beyond; otherwise the limit lies inside the
interval and the verdict is inconclusive.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from scorereport._utils.representation import short_repr
from scorereport._utils.rounding import exceeds
from scorereport.configuration.limit_numbers import (
    CountedCases,
    FoundInterval,
    FoundNumber,
    InModel,
    InSample,
    InScores,
)
from scorereport.configuration.limit_records import LimitMeasure, ModelKind, Requirement
from scorereport.errors import ExitCode
from scorereport.inference.needed_cases import NeededCases
from scorereport.results.model_records import SampleSummary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scorereport.configuration import Bounds, LimitsTable
    from scorereport.results.evaluation import Evaluation


class LimitVerdict(StrEnum):
    """A verdict on a limit, from best to worst."""

    PASS = "pass"
    WARN = "warn"
    INCONCLUSIVE = "inconclusive"
    FAIL = "fail"


_SEVERITY = {verdict: place for place, verdict in enumerate(LimitVerdict)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A number, its interval and its limits, with the verdict and a sentence that states it.

    `model` is "" for numbers of the sample, `group` is "" for all rows, else "column = label". Without an
    interval, `lower`, `upper` and `level` are NaN. Bounds that are not set are None. `needed` are the further
    cases that would decide an inconclusive limit; None if that is not known.
    """

    OPTIONAL: ClassVar = ("needed",)

    model: str
    group: str
    measure: str
    label: str
    value: float
    lower: float
    upper: float
    level: float
    warn_lower: float | None
    warn_upper: float | None
    fail_lower: float | None
    fail_upper: float | None
    verdict: LimitVerdict
    sentence: str
    needed: NeededCases | None = None

    __repr__ = short_repr


def find_verdict(lower: float, upper: float, bounds: Bounds) -> LimitVerdict:
    """The verdict on an interval; a number without an interval is one with two equal ends.

    >>> from scorereport.configuration import Bounds
    >>> bounds = Bounds(warn_upper=0.19, fail_upper=0.21)
    >>> [str(find_verdict(lower, lower + 0.01, bounds)) for lower in (0.175, 0.185, 0.205, 0.215)]
    ['pass', 'warn', 'inconclusive', 'fail']
    """
    floor, ceiling = _or_infinite(bounds.fail_lower, bounds.fail_upper)
    if exceeds(lower, ceiling) or exceeds(floor, upper):
        return LimitVerdict.FAIL
    if exceeds(upper, ceiling) or exceeds(floor, lower):
        return LimitVerdict.INCONCLUSIVE
    floor, ceiling = _or_infinite(bounds.warn_lower, bounds.warn_upper)
    return LimitVerdict.WARN if exceeds(upper, ceiling) or exceeds(floor, lower) else LimitVerdict.PASS


def is_certain_warning(lower: float, upper: float, bounds: Bounds) -> bool:
    """Whether a warning holds for every number in the interval, as it does if there is a fail limit."""
    floor, ceiling = _or_infinite(bounds.warn_lower, bounds.warn_upper)
    has_limit = bounds.fail_lower is not None or bounds.fail_upper is not None
    return has_limit or bool(exceeds(lower, ceiling) or exceeds(floor, upper))


def _or_infinite(lower: float | None, upper: float | None) -> tuple[float, float]:
    return -math.inf if lower is None else lower, math.inf if upper is None else upper


def find_worst_verdict(judgements: Iterable[Judgement]) -> LimitVerdict | None:
    """The worst verdict; None if nothing was judged."""
    return max((j.verdict for j in judgements), key=_SEVERITY.__getitem__, default=None)


def count_limit_verdicts(judgements: Iterable[Judgement]) -> dict[LimitVerdict, int]:
    """The number of judgements with each verdict, from best to worst."""
    counts = Counter(j.verdict for j in judgements)
    return {verdict: counts[verdict] for verdict in LimitVerdict}


def split_groups(judgements: Iterable[Judgement]) -> tuple[list[Judgement], list[Judgement]]:
    """The judgements on all cases, and those on groups."""
    found = list(judgements)
    return [j for j in found if not j.group], [j for j in found if j.group]


def verdict_exit_code(verdict: LimitVerdict | None, *, strict: bool) -> ExitCode:
    """The exit code of a verdict: "fail" is a breach; "warn" and "inconclusive" count only if `strict`."""
    if verdict is LimitVerdict.FAIL:
        return ExitCode.LIMIT_BREACHED
    is_open = verdict in (LimitVerdict.WARN, LimitVerdict.INCONCLUSIVE)
    return ExitCode.WARNINGS if strict and is_open else ExitCode.DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedNumber:
    """The value of a measure in an evaluation; without resamples there is no interval.

    `cases` are those to which the number refers, if not all of the sample. `absent` says why the evaluation
    does not have the number, which is then NaN.
    """

    model: str
    group: str = ""
    value: float
    interval: FoundInterval | None
    sample: SampleSummary
    cases: CountedCases | None = None
    absent: str = ""

    @property
    def ends(self) -> tuple[float, float]:
        """The interval to judge; infinity, and a number without an interval, have two equal ends."""
        if self.interval is None or math.isinf(self.value):
            return self.value, self.value
        return self.interval.lower, self.interval.upper

    @property
    def is_defined(self) -> bool:
        """Whether the number and the ends of its interval are defined."""
        return not any(math.isnan(number) for number in (self.value, *self.ends))

    @property
    def note(self) -> str:
        """The note on its interval, or why there is no number."""
        return self.absent if self.interval is None else self.interval.note


_WITHOUT_ROWS = "it needs the rows in memory, and the engine {engine!r} does not keep them."


def find_numbers(
    evaluation: Evaluation, measure: LimitMeasure, limits: LimitsTable
) -> Iterator[LimitedNumber]:
    """A measure of every model to which the limits apply, on all rows and, if limits set it, by group."""
    if ModelKind(evaluation.kind) not in measure.kinds:
        return
    place = measure.place
    if isinstance(place, InScores):
        yield from _find_by_group(evaluation, place, limits)
    elif isinstance(place, InSample):
        found = place.find(evaluation, measure.at)
        yield from [_limit_number("", found, evaluation)] if found is not None else []
    else:
        yield from _find_in_models(evaluation, measure, place, limits)


def _find_in_models(
    evaluation: Evaluation, measure: LimitMeasure, place: InModel, limits: LimitsTable
) -> Iterator[LimitedNumber]:
    """A measure of all rows; without rows in memory, a number that needs them is not defined."""
    lacks_rows = Requirement.MEMORY in measure.requires and evaluation.settings.engine != "memory"
    for result in evaluation.results:
        if not _applies(limits, result.model):
            continue
        found = place.find(result, evaluation, measure.at)
        if found is not None:
            yield _limit_number(result.model, found, evaluation)
        elif lacks_rows:
            yield LimitedNumber(
                model=result.model,
                value=math.nan,
                interval=None,
                sample=evaluation.data.sample,
                absent=_WITHOUT_ROWS.format(engine=evaluation.settings.engine),
            )


def _limit_number(model: str, found: FoundNumber, evaluation: Evaluation) -> LimitedNumber:
    return LimitedNumber(
        model=model,
        value=found.value,
        interval=found.interval,
        sample=found.sample or evaluation.data.sample,
        cases=found.cases,
    )


def _applies(limits: LimitsTable, model: str) -> bool:
    return not limits.models or model in limits.models


def _find_by_group(evaluation: Evaluation, place: InScores, limits: LimitsTable) -> Iterator[LimitedNumber]:
    """A number of the scores of the models, on all rows, with group "", and by group; nothing if absent."""
    every = [("", evaluation.data.sample, result.scores) for result in evaluation.results]
    if limits.groups:
        every += [
            (f"{group.column} = {group.label}", group.sample, scores)
            for group in evaluation.groups
            for scores in group.models
        ]
    for group, sample, scores in every:
        found = place.find(scores) if _applies(limits, scores.model) else None
        if found is not None:
            yield LimitedNumber(
                model=scores.model, group=group, value=found.value, interval=found.interval, sample=sample
            )
