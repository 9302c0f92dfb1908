"""`MissingOutcomes`: bounds of the numbers of binary models over all outcomes of rows without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.inference.miscalibration_bounds import tally_rows
from scorereport.inference.missing_outcomes import DECOMPOSED, MissingOutcomes, ObservedMean, bound_model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scorereport.data.predictions import Predictions, UnknownOutcomes
    from scorereport.inference.losses import Measure
    from scorereport.inference.missing_outcomes import ModelBounds
    from scorereport.results.model_records import ModelScores


def bound_unknown(
    predictions: Predictions, scores: Mapping[str, ModelScores], measures: Sequence[Measure]
) -> MissingOutcomes | None:
    """Bound the mean scores and the MCB of all models; None if no row lacks only the outcome."""
    unknown = predictions.without_outcome
    if unknown is None:
        return None
    missing = float(len(unknown) if unknown.weight is None else unknown.weight.sum())
    known = float(len(predictions) if predictions.weight is None else predictions.weight.sum())
    return MissingOutcomes(
        rows=len(unknown),
        share=missing / (known + missing),
        models=tuple(_bound_model(predictions, unknown, found, measures) for found in scores.values()),
        immature=unknown.immature or None,
    )


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
