"""Where the numbers that have limits stand in an evaluation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport.configuration.measures import LINE, LimitMeasure, Part
from scorereport.inference.components import ComponentEstimate
from scorereport.inference.outcomes import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.configuration import Limits
    from scorereport.evaluation import Evaluation
    from scorereport.results import ModelResult, ModelScores

_LINE_ATTRIBUTES = {name: attribute for name, attribute, _ in LINE}


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedNumber:
    """What an evaluation knows of a measure; there is no interval if none was asked for."""

    model: str
    group: str = ""
    value: float
    interval: Estimate | ComponentEstimate | None

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


def find_numbers(evaluation: Evaluation, measure: LimitMeasure, limits: Limits) -> Iterator[LimitedNumber]:
    """A measure of every model to which the limits apply, on all rows and, if asked for, in each group."""
    if measure.part is Part.SAMPLE:
        sample = evaluation.data.sample
        yield LimitedNumber(model="", value=sample.prevalence, interval=sample.prevalence_interval)
        return
    for result in evaluation.models:
        if _applies(limits, result.model):
            yield from _find_overall(result, measure)
    if limits.groups and measure.part is not Part.LINE:
        for group in evaluation.groups:
            for scores in group.models:
                if _applies(limits, scores.model):
                    yield _find_score(scores, measure, f"{group.column} = {group.label}")


def _applies(limits: Limits, model: str) -> bool:
    return not limits.models or model in limits.models


def _find_overall(result: ModelResult, measure: LimitMeasure) -> Iterator[LimitedNumber]:
    if measure.part is not Part.LINE:
        yield _find_score(result.scores, measure)
    elif result.calibration is not None:
        estimate = getattr(result.calibration.line, _LINE_ATTRIBUTES[measure.name])
        yield LimitedNumber(model=result.model, value=estimate.value, interval=estimate)


def _find_score(scores: ModelScores, measure: LimitMeasure, group: str = "") -> LimitedNumber:
    """A mean score or a skill; or a raw component, with the interval of the true one."""
    value: float
    interval: Estimate | ComponentEstimate | None
    if measure.part in (Part.MEAN, Part.SKILL):
        score = next(score for score in scores.scores if score.name == measure.score)
        is_mean = measure.part is Part.MEAN
        value = score.value if is_mean else score.skill
        interval = score.interval if is_mean else score.skill_interval
    else:
        parts = next(parts for parts in scores.decompositions if parts.name == measure.score)
        value = getattr(parts, measure.part)
        wanted = (measure.score, measure.part.value)
        interval = next((c for c in scores.components if (c.measure, c.component) == wanted), None)
    return LimitedNumber(model=scores.model, group=group, value=value, interval=interval)
