"""Where the evaluation has each number that may have a limit: in the sample, in a model, or in its scores.

Numbers found in the scores of a model exist for all rows and for every group; all others exist for all rows
only. A function returns None where the evaluation does not have the number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from scorereport.curves.decision import interventions_avoided
from scorereport.inference.estimates import Estimate
from scorereport.inference.kolmogorov_smirnov import estimate_ks
from scorereport.results.class_records import ClassModelResult
from scorereport.results.evaluation import Evaluation
from scorereport.results.model_records import (
    IndependentCases,
    ModelResult,
    ModelScores,
    SampleSummary,
)

if TYPE_CHECKING:
    from scorereport.curves.decision import ThresholdResult

#: A model of any kind, and what a limit names besides its measure: a threshold, a class, or nothing.
AnyResult = ModelResult | ClassModelResult
Argument = float | str | None
#: Thresholds that differ by less are the same.
_SAME = 1e-12
_RED = "red"


class FoundInterval(Protocol):
    """An interval of a number, with its level and a note."""

    @property
    def lower(self) -> float:
        """The lower end."""

    @property
    def upper(self) -> float:
        """The upper end."""

    @property
    def level(self) -> float:
        """The confidence level."""

    @property
    def note(self) -> str:
        """A note; empty if there is none."""


class CountedCases(NamedTuple):
    """The cases to which a number refers, and what they are called."""

    number: float
    noun: str


class FoundNumber(NamedTuple):
    """A number of the evaluation with its interval.

    `sample` is given if it is not that of all rows, `cases` if the number refers to some cases only.
    """

    value: float
    interval: FoundInterval | None = None
    sample: SampleSummary | None = None
    cases: CountedCases | None = None


@dataclass(frozen=True, slots=True)
class InSample:
    """A number of the sample."""

    find: Callable[[Evaluation, Argument], FoundNumber | None]


@dataclass(frozen=True, slots=True)
class InModel:
    """A number of a model on all rows."""

    find: Callable[[AnyResult, Evaluation, Argument], FoundNumber | None]


@dataclass(frozen=True, slots=True)
class InScores:
    """A number of a model on all rows and in each group."""

    find: Callable[[ModelScores], FoundNumber | None]


#: Where a number is found.
Place = InSample | InModel | InScores


# Scores


def in_mean(score: str) -> InScores:
    """The mean of a score."""

    def find(scores: ModelScores) -> FoundNumber | None:
        found = next((s for s in scores.scores if s.name == score), None)
        return None if found is None else FoundNumber(found.value, found.interval)

    return InScores(find)


def in_skill(score: str) -> InScores:
    """The skill of a score."""

    def find(scores: ModelScores) -> FoundNumber | None:
        found = next((s for s in scores.scores if s.name == score), None)
        return None if found is None else FoundNumber(found.skill, found.skill_interval)

    return InScores(find)


def in_component(score: str, component: str) -> InScores:
    """An overfit-corrected component of a score with its interval; the raw one if it has no interval."""

    def find(scores: ModelScores) -> FoundNumber | None:
        found = next((parts for parts in scores.decompositions if parts.name == score), None)
        if found is None:
            return None
        known = scores.component(score, component)
        is_corrected = known is not None and not math.isnan(known.lower)
        value = known.corrected if known is not None and is_corrected else getattr(found, component)
        return FoundNumber(float(value), known)

    return InScores(find)


def in_view(kind: str, place: InScores) -> InModel:
    """A number of the scores of a binary view of classes: the class, or the last class up to a threshold."""

    def find(result: AnyResult, _: Evaluation, label: Argument) -> FoundNumber | None:
        family = result.family(kind) if isinstance(result, ClassModelResult) else None
        view = None if family is None else next((v for v in family.views if v.label == label), None)
        found = None if view is None else place.find(view.scores)
        return found if found is None or view is None else found._replace(sample=view.sample)

    return InModel(find)


# The sample


def find_prevalence(evaluation: Evaluation, _: Argument) -> FoundNumber | None:
    """The share of events."""
    sample = evaluation.data.sample
    return (
        FoundNumber(sample.prevalence, sample.prevalence_interval)
        if evaluation.data.classes is None
        else None
    )


def in_uncertainty(score: str) -> InSample:
    """The mean score of forecasting the prevalence."""

    def find(evaluation: Evaluation, _: Argument) -> FoundNumber | None:
        parts = [p for r in evaluation.results[:1] for p in r.scores.decompositions if p.name == score]
        estimates = [e for e in evaluation.data.sample.uncertainties if e.measure == score]
        return FoundNumber(parts[0].uncertainty, estimates[0] if estimates else None) if parts else None

    return InSample(find)


def find_class_share(evaluation: Evaluation, label: Argument) -> FoundNumber | None:
    """The share of the cases in which a class was observed."""
    classes = evaluation.data.classes
    if classes is None or label not in classes.labels:
        return None
    place = classes.labels.index(label)
    count, independent = classes.counts[place], count_independent(evaluation.data.sample)
    of_class = independent.classes[place]
    others = max(independent.total - of_class, 0.0)
    cases = min(CountedCases(of_class, "case of this class"), CountedCases(others, "case of other classes"))
    return FoundNumber(count.share, count.interval, cases=cases)


def count_independent(sample: SampleSummary) -> IndependentCases:
    """The independent cases of a sample; its rows, for results without this number."""
    return sample.independent or IndependentCases(
        unit="row",
        total=sample.total,
        events=sample.events,
        non_events=sample.total - sample.events,
        classes=sample.classes,
    )


# Calibration and discrimination of a binary model


def in_line(attribute: str) -> InModel:
    """A number of the calibration line."""

    def find(result: AnyResult, _: Evaluation, __: Argument) -> FoundNumber | None:
        calibration = result.calibration if isinstance(result, ModelResult) else None
        estimate = None if calibration is None else getattr(calibration.line, attribute)
        return None if estimate is None else FoundNumber(estimate.value, estimate)

    return InModel(find)


def in_errors(name: str) -> InModel:
    """A distance of the smooth calibration curve from the forecasts."""

    def find(result: AnyResult, _: Evaluation, __: Argument) -> FoundNumber | None:
        calibration = result.calibration if isinstance(result, ModelResult) else None
        errors = None if calibration is None else calibration.errors
        if errors is None:
            return None
        interval = next((found for found in errors.intervals if found.measure == name), None)
        return FoundNumber(getattr(errors, name), interval)

    return InModel(find)


def find_binned_error(result: AnyResult, _: Evaluation, __: Argument) -> FoundNumber | None:
    """The expected calibration error."""
    calibration = result.calibration if isinstance(result, ModelResult) else None
    return None if calibration is None else FoundNumber(calibration.binned.value, calibration.binned.interval)


def find_ks(result: AnyResult, evaluation: Evaluation, _: Argument) -> FoundNumber | None:
    """The Kolmogorov-Smirnov statistic of events against non-events, from the hull of the ROC curve."""
    if not isinstance(result, ModelResult):
        return None
    cases, settings = count_independent(evaluation.data.sample), evaluation.settings
    estimate = estimate_ks(
        result.curves.roc_hull, events=cases.events, non_events=cases.non_events, level=settings.level
    )
    return FoundNumber(estimate.value, estimate if settings.infers else None)


def find_red_grades(result: AnyResult, _: Evaluation, __: Argument) -> FoundNumber | None:
    """The share of the grades whose light is red."""
    lights = _list_lights(result)
    return FoundNumber(sum(is_red for is_red, _ in lights) / len(lights)) if lights else None


def find_red_grade_cases(result: AnyResult, _: Evaluation, __: Argument) -> FoundNumber | None:
    """The share of the cases that are in grades whose light is red."""
    lights = _list_lights(result)
    total = sum(n for _, n in lights)
    return FoundNumber(sum(n for is_red, n in lights if is_red) / total) if lights else None


def _list_lights(result: AnyResult) -> list[tuple[bool, int]]:
    """Whether the light of each grade is red, and its number of cases."""
    calibration = result.calibration if isinstance(result, ModelResult) else None
    return [] if calibration is None else [(test.light == _RED, test.n) for test in calibration.grades]


def find_stability(result: AnyResult, evaluation: Evaluation, _: Argument) -> FoundNumber | None:
    """The population stability index against the reference sample."""
    found = next((s for s in evaluation.stability or () if s.model == result.model), None)
    if found is None:
        return None
    total = count_independent(evaluation.data.sample).total
    cases = min(CountedCases(total, "row"), CountedCases(found.reference_size, "row of the reference"))
    interval = found.index if evaluation.settings.infers else None
    return FoundNumber(found.index.value, interval, cases=cases)


# Decisions at a threshold


def in_decisions(measure: str, cases: Callable[[ThresholdResult, IndependentCases], CountedCases]) -> InModel:
    """A number of the decisions at a threshold, which refers to the given cases."""

    def find(result: AnyResult, evaluation: Evaluation, at: Argument) -> FoundNumber | None:
        row = _find_row(result, at)
        if row is None:
            return None
        interval = row.interval(measure)
        value = row_value(row, measure, evaluation.data.sample.prevalence)
        counted = cases(row, count_independent(evaluation.data.sample))
        return FoundNumber(value, interval, cases=counted)

    return InModel(find)


def _find_row(result: AnyResult, at: Argument) -> ThresholdResult | None:
    if not isinstance(result, ModelResult) or not isinstance(at, float):
        return None
    return next((row for row in result.thresholds if math.isclose(row.threshold, at, abs_tol=_SAME)), None)


def row_value(row: ThresholdResult, measure: str, prevalence: float) -> float:
    """A number of a row of the threshold table; those against treating all follow from the prevalence."""
    if measure not in ("net_benefit_over_treat_all", "interventions_avoided"):
        return float(getattr(row, measure))
    odds = row.threshold / (1 - row.threshold)
    gain = row.net_benefit - (prevalence - (1 - prevalence) * odds)
    if measure == "net_benefit_over_treat_all":
        return gain
    return float(interventions_avoided(np.array(gain), np.array(row.threshold)))


def count_events(_: ThresholdResult, cases: IndependentCases) -> CountedCases:
    """The events."""
    return CountedCases(cases.events, "event")


def count_non_events(_: ThresholdResult, cases: IndependentCases) -> CountedCases:
    """The non-events."""
    return CountedCases(cases.non_events, "non-event")


def count_rarer(_: ThresholdResult, cases: IndependentCases) -> CountedCases:
    """The events or the non-events, whichever are fewer."""
    return min(CountedCases(cases.events, "event"), CountedCases(cases.non_events, "non-event"))


def count_flagged(row: ThresholdResult, cases: IndependentCases) -> CountedCases:
    """The cases with a forecast at or above the threshold."""
    return CountedCases(row.flagged * cases.total, "case at or above the threshold")


def count_unflagged(row: ThresholdResult, cases: IndependentCases) -> CountedCases:
    """The cases with a forecast below the threshold."""
    return CountedCases((1 - row.flagged) * cases.total, "case below the threshold")


# The probability scale and retention


def in_scale(bins: str, mark: str, part: str) -> InModel:
    """A mark of all classes together on the probability scale: of model, of source, or their ratio."""

    def find(result: AnyResult, evaluation: Evaluation, _: Argument) -> FoundNumber | None:
        found = next((s for s in result.scale if not s.target and s.bins == bins), None)
        estimate = None if found is None else getattr(getattr(found, mark), part)
        return None if estimate is None else _keep_drawn(estimate, evaluation)

    return InModel(find)


def in_angle(bins: str) -> InModel:
    """The angle of the line through the marks of all classes together, in degrees."""

    def find(result: AnyResult, evaluation: Evaluation, _: Argument) -> FoundNumber | None:
        found = next((s for s in result.scale if not s.target and s.bins == bins), None)
        if found is None:
            return None
        estimate = Estimate(
            measure="angle",
            value=found.angle,
            standard_error=math.nan,
            lower=found.angle_lower,
            upper=found.angle_upper,
            level=evaluation.settings.level,
            method=found.accuracy.source.method,
            n=found.accuracy.source.n,
            note=found.note,
        )
        return _keep_drawn(estimate, evaluation)

    return InModel(find)


def in_retention(score: str, metric: str) -> InModel:
    """The area under a retention curve."""

    def find(result: AnyResult, evaluation: Evaluation, _: Argument) -> FoundNumber | None:
        curves = result.retention if isinstance(result, ClassModelResult) else ()
        area = next((c.area for c in curves if (c.score, c.metric) == (score, metric)), None)
        return None if area is None else _keep_drawn(area, evaluation)

    return InModel(find)


def _keep_drawn(estimate: Estimate, evaluation: Evaluation) -> FoundNumber:
    """An estimate whose interval is drawn; without resamples it has none."""
    return FoundNumber(estimate.value, estimate if evaluation.settings.infers else None)
