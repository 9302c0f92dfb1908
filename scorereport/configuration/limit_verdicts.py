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
from typing import TYPE_CHECKING

from scorereport._utils.rounding import exceeds
from scorereport.configuration.measure_limits import LINE_MEASURES, LimitMeasure, MeasurePart
from scorereport.errors import ExitCode
from scorereport.inference.components import ComponentEstimate
from scorereport.inference.estimates import Estimate
from scorereport.results.model_records import SampleSummary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scorereport.configuration import Bounds, LimitsTable
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelResult, ModelScores


class LimitVerdict(StrEnum):
    """A verdict on a limit, from best to worst."""

    PASS = "pass"
    WARN = "warn"
    INCONCLUSIVE = "inconclusive"
    FAIL = "fail"


_SEVERITY = {verdict: place for place, verdict in enumerate(LimitVerdict)}
_LINE_ATTRIBUTES = {name: attribute for name, attribute, _ in LINE_MEASURES}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A number, its interval and its limits, with the verdict and a sentence that states it.

    `model` is "" for numbers of the sample, `group` is "" for all rows, else "column = label". Without an
    interval, `lower`, `upper` and `level` are NaN. Bounds that are not set are None.
    """

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


def verdict_exit_code(verdict: LimitVerdict | None, *, strict: bool) -> ExitCode:
    """The exit code of a verdict: "fail" is a breach; "warn" and "inconclusive" count only if `strict`."""
    if verdict is LimitVerdict.FAIL:
        return ExitCode.LIMIT_BREACHED
    is_open = verdict in (LimitVerdict.WARN, LimitVerdict.INCONCLUSIVE)
    return ExitCode.WARNINGS if strict and is_open else ExitCode.DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedNumber:
    """The value of a measure in an evaluation; without resamples there is no interval."""

    model: str
    group: str = ""
    value: float
    interval: Estimate | ComponentEstimate | None
    sample: SampleSummary

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
        """The note on its interval."""
        return "" if self.interval is None else self.interval.note


def find_numbers(
    evaluation: Evaluation, measure: LimitMeasure, limits: LimitsTable
) -> Iterator[LimitedNumber]:
    """A measure of every model to which the limits apply, on all rows and, if limits set it, by group."""
    if measure.part is MeasurePart.SAMPLE:
        yield from _find_prevalence(evaluation)
    elif measure.part is MeasurePart.LINE:
        for result in evaluation.models:
            if _applies(limits, result.model):
                yield from _find_line(result, measure, evaluation.data.sample)
    else:
        for group, sample, scores in _list_scores(evaluation, limits):
            yield from _find_score(scores, measure, group, sample)


def _applies(limits: LimitsTable, model: str) -> bool:
    return not limits.models or model in limits.models


def _find_prevalence(evaluation: Evaluation) -> Iterator[LimitedNumber]:
    if evaluation.data.classes is None:
        sample = evaluation.data.sample
        interval = sample.prevalence_interval
        yield LimitedNumber(model="", value=sample.prevalence, interval=interval, sample=sample)


def _find_line(result: ModelResult, measure: LimitMeasure, sample: SampleSummary) -> Iterator[LimitedNumber]:
    if result.calibration is not None:
        estimate = getattr(result.calibration.line, _LINE_ATTRIBUTES[measure.name])
        yield LimitedNumber(model=result.model, value=estimate.value, interval=estimate, sample=sample)


def _list_scores(
    evaluation: Evaluation, limits: LimitsTable
) -> Iterator[tuple[str, SampleSummary, ModelScores]]:
    """The scores of the models to which limits apply, on all rows, with group "", and by group."""
    every = [("", evaluation.data.sample, result.scores) for result in evaluation.results]
    if limits.groups:
        every += [
            (f"{group.column} = {group.label}", group.sample, scores)
            for group in evaluation.groups
            for scores in group.models
        ]
    return (found for found in every if _applies(limits, found[-1].model))


def _find_score(
    scores: ModelScores, measure: LimitMeasure, group: str, sample: SampleSummary
) -> Iterator[LimitedNumber]:
    """A mean score, a skill, or a raw component with the interval of the true one; nothing if absent."""
    find = _find_mean if measure.part in (MeasurePart.MEAN, MeasurePart.SKILL) else _find_component
    for value, interval in find(scores, measure):
        yield LimitedNumber(model=scores.model, group=group, value=value, interval=interval, sample=sample)


def _find_mean(scores: ModelScores, measure: LimitMeasure) -> Iterator[tuple[float, Estimate | None]]:
    for score in scores.scores:
        if score.name == measure.score and measure.part is MeasurePart.MEAN:
            yield score.value, score.interval
        elif score.name == measure.score:
            yield score.skill, score.skill_interval


def _find_component(
    scores: ModelScores, measure: LimitMeasure
) -> Iterator[tuple[float, ComponentEstimate | None]]:
    """A component; groups of ordered classes are decomposed by one score only and have no others."""
    wanted = (measure.score, measure.part.value)
    for parts in scores.decompositions:
        if parts.name == measure.score:
            interval = next((c for c in scores.components if (c.measure, c.component) == wanted), None)
            yield getattr(parts, measure.part), interval
