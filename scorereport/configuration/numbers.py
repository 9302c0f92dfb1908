"""Where the numbers that have limits stand in an evaluation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport.configuration.measure_limits import LINE_MEASURES, LimitMeasure, MeasurePart
from scorereport.inference.components import ComponentEstimate
from scorereport.inference.estimates import Estimate
from scorereport.results.model_records import SampleSummary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.configuration import LimitsTable
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelResult, ModelScores

_LINE_ATTRIBUTES = {name: attribute for name, attribute, _ in LINE_MEASURES}


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedNumber:
    """What an evaluation knows of a measure; there is no interval if none was asked for."""

    model: str
    group: str = ""
    value: float
    interval: Estimate | ComponentEstimate | None
    sample: SampleSummary

    @property
    def ends(self) -> tuple[float, float]:
        """The interval to judge: infinity, and a number without interval, are judged as they are."""
        if self.interval is None or math.isinf(self.value):
            return self.value, self.value
        return self.interval.lower, self.interval.upper

    @property
    def is_defined(self) -> bool:
        """Whether there is anything to judge."""
        return not any(math.isnan(number) for number in (self.value, *self.ends))

    @property
    def note(self) -> str:
        """What is to be said of its interval."""
        return "" if self.interval is None else self.interval.note


def find_numbers(
    evaluation: Evaluation, measure: LimitMeasure, limits: LimitsTable
) -> Iterator[LimitedNumber]:
    """A measure of every model to which the limits apply, on all rows and, if asked for, in each group."""
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
    """The scores of the models to which limits apply, of all rows and by group; of all rows it is ""."""
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
    """A mean score or a skill; or a raw component, with the interval of the true one; if it is there."""
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
    """Groups of ordered classes are decomposed by one score only, and have no other components."""
    wanted = (measure.score, measure.part.value)
    for parts in scores.decompositions:
        if parts.name == measure.score:
            interval = next((c for c in scores.components if (c.measure, c.component) == wanted), None)
            yield getattr(parts, measure.part), interval
