"""`MissingOutcomes`: bounds of the numbers of models over all outcomes of rows without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport.evaluation.binary_measures import choose_measures
from scorereport.inference.class_outcome_bounds import (
    ObservedClassMean,
    UnknownClasses,
    bound_class_mean,
    bound_class_shares,
    bound_views,
)
from scorereport.inference.losses import Measure
from scorereport.inference.miscalibration_bounds import tally_rows
from scorereport.inference.missing_outcomes import (
    DECOMPOSED,
    ClassModelBounds,
    MissingOutcomes,
    ObservedMean,
    OutcomeSums,
    SummedMean,
    bound_model,
    bound_summed_model,
    sum_outcomes,
)
from scorereport.results.class_records import CLASS
from scorereport.scores.ordinal import cumulative

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from scorereport._utils.arrays import FloatArray
    from scorereport.data.predictions import Cases, ClassPredictions, Predictions, UnknownOutcomes
    from scorereport.evaluation.class_assessment import Assessment
    from scorereport.evaluation.class_measures import MeanMeasure
    from scorereport.inference.missing_outcomes import ClassOutcomeBounds, ModelBounds
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelScores


def bound_unknown(
    predictions: Predictions, scores: Mapping[str, ModelScores], measures: Sequence[Measure]
) -> MissingOutcomes | None:
    """Bound the mean scores and the MCB of all models; None if no row lacks only the outcome."""
    unknown = predictions.without_outcome
    if unknown is None:
        return None
    models = [_bound_model(predictions, unknown, found, measures) for found in scores.values()]
    return replace(_count_missing(predictions, unknown), models=tuple(models))


def _count_missing(predictions: Cases, unknown: UnknownOutcomes) -> MissingOutcomes:
    """Return rows without an outcome and their share of the weight, without bounds."""
    missing = float(_weigh(unknown).sum())
    return MissingOutcomes(
        rows=len(unknown),
        share=missing / (_weigh_known(predictions) + missing),
        immature=unknown.immature or None,
    )


def _weigh(unknown: UnknownOutcomes) -> FloatArray:
    return np.ones(len(unknown)) if unknown.weight is None else unknown.weight


def _weigh_known(predictions: Cases) -> float:
    return float(len(predictions) if predictions.weight is None else predictions.weight.sum())


def _bound_model(
    predictions: Predictions,
    unknown: UnknownOutcomes,
    scores: ModelScores,
    measures: Sequence[Measure],
) -> ModelBounds:
    model = scores.model
    cases = tally_rows(
        predictions.outcome,
        predictions.forecasts[model],
        predictions.weight,
        unknown.forecasts[model],
        unknown.weight,
    )
    means = [ObservedMean(measure, scores.score(measure.name).value) for measure in measures]
    return bound_model(model, cases, means, scores.decomposition(DECOMPOSED).miscalibration)


def bound_unknown_classes(
    predictions: ClassPredictions, found: Assessment, measures: Sequence[MeanMeasure]
) -> MissingOutcomes | None:
    """Bound the numbers of all models of K classes, and the class shares; None as `bound_unknown`."""
    unknown = predictions.without_outcome
    if unknown is None:
        return None
    models = [
        ClassModelBounds(
            model=model, bounds=tuple(_bound_class_model(predictions, unknown, found, model, measures))
        )
        for model in found.models
    ]
    return replace(_count_missing(predictions, unknown), class_models=tuple(models))


def _bound_class_model(
    predictions: ClassPredictions,
    unknown: UnknownOutcomes,
    found: Assessment,
    model: str,
    measures: Sequence[MeanMeasure],
) -> Iterator[ClassOutcomeBounds]:
    """Bound the mean scores of a model, the MCB of its decomposed scores, and the class shares."""
    weight, forecast, scores = _weigh(unknown), unknown.forecasts[model], found.models[model]
    rows = UnknownClasses(
        forecast,
        weight / (_weigh_known(predictions) + float(weight.sum())),
        found.panel.class_weight / found.panel.class_weight.sum(),
    )
    for measure in measures:
        yield bound_class_mean(
            ObservedClassMean(measure.name, measure.score, scores.score(measure.name).value), rows
        )
    for family in found.families:
        of_views = forecast if family.kind == CLASS else cumulative(forecast)
        views = [
            tally_rows(view.outcome, view.forecasts[model], found.panel.weight, column, weight)
            for view, column in zip(family.views, of_views.T, strict=True)
        ]
        observed = scores.decomposition(family.score).miscalibration
        yield bound_views(family.score, views, family.divisor, observed)
    yield from bound_class_shares(rows, predictions.classes)


@dataclass(slots=True)
class _SummedRows:
    """Sums over batches of rows without an outcome: numbers of rows, weights, forecasts and scores."""

    measures: Sequence[Measure]
    rows: int = 0
    immature: int = 0
    weight: float = 0.0
    forecasts: dict[str, float] = field(default_factory=dict)
    scores: dict[tuple[str, str], OutcomeSums] = field(default_factory=dict)

    def add(self, unknown: UnknownOutcomes) -> None:
        weight = _weigh(unknown)
        self.rows += len(unknown)
        self.immature += unknown.immature
        self.weight += float(weight.sum())
        for model, forecast in unknown.forecasts.items():
            self.forecasts[model] = self.forecasts.get(model, 0.0) + float((weight * forecast).sum())
            for measure in self.measures:
                key, sums = (model, measure.name), sum_outcomes(weight, forecast, measure)
                self.scores[key] = self.scores[key].add(sums) if key in self.scores else sums


def bound_batches(evaluation: Evaluation, batches: Iterable[UnknownOutcomes]) -> MissingOutcomes | None:
    """Bound the mean scores of binary models and the prevalence by batches of rows without an outcome.

    Memory holds one batch at a time, so that MCB, which needs all rows together, is not bounded.
    """
    summed = _SummedRows(choose_measures(evaluation.settings))
    for unknown in batches:
        summed.add(unknown)
    if not summed.rows:
        return None
    total = evaluation.data.sample.total + summed.weight
    return MissingOutcomes(
        rows=summed.rows,
        share=summed.weight / total,
        models=tuple(_bound_summed(found.scores, summed, evaluation) for found in evaluation.models),
        immature=summed.immature or None,
    )


def _bound_summed(scores: ModelScores, summed: _SummedRows, evaluation: Evaluation) -> ModelBounds:
    model, sample = scores.model, evaluation.data.sample
    names = [measure.name for measure in summed.measures]
    return bound_summed_model(
        model,
        [SummedMean(name, scores.score(name).value, summed.scores[model, name]) for name in names],
        forecast=summed.forecasts[model],
        missing=summed.weight,
        total=sample.total + summed.weight,
        rate=sample.prevalence,
    )
