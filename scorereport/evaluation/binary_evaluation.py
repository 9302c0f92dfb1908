"""The evaluation of binary models in memory."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from scorereport._utils.machine import are_worth_threads, call_together
from scorereport._utils.progress import parts, report_stage
from scorereport._utils.shared_work import count_worth, sharing_work
from scorereport._utils.work_plan import Stage
from scorereport.evaluation.binary_comparisons import compare_model_pairs
from scorereport.evaluation.binary_measures import choose_measures
from scorereport.evaluation.decision_thresholds import decide_at_thresholds
from scorereport.evaluation.evaluated_parts import EvaluatedParts, describe_predictions
from scorereport.evaluation.forecast_summary import describe_forecasts
from scorereport.evaluation.missing_outcome_bounds import bound_unknown
from scorereport.evaluation.model_calibration import adjust_calibration, examine_calibration
from scorereport.evaluation.model_curves import collect_curves, draw_bands, locate_segments
from scorereport.evaluation.model_scores import adjust_scores, infer_sample, score_fit
from scorereport.evaluation.notes import describe_missing_recalibration, describe_rows_and_models
from scorereport.evaluation.prediction_panels import order_by_forecast, panel_of
from scorereport.evaluation.sample_summary import describe_sample
from scorereport.evaluation.subgroups import GroupedResults, compare_groups, evaluate_all_groups
from scorereport.inference.decision_tallies import tally_rows
from scorereport.inference.large_panels import PanelFits
from scorereport.inference.miscalibration_parts import adjust_parts, split_fit
from scorereport.inference.nelson_scale import scale_forecast
from scorereport.inference.recalibration import try_on_panel
from scorereport.reliability.bands import CalibratedCurves
from scorereport.results.model_records import (
    Comparisons,
    ModelResult,
    ModelScores,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scorereport._utils.arrays import IntArray
    from scorereport.data.predictions import Predictions
    from scorereport.inference.losses import Measure
    from scorereport.inference.panel import ForecastPanel
    from scorereport.inference.recalibration import RecalibrationTrial
    from scorereport.reliability.fit import Corp
    from scorereport.results.model_records import SampleSummary
    from scorereport.results.settings import EvaluationSettings

_T = TypeVar("_T")


def evaluate_binary(predictions: Predictions, settings: EvaluationSettings) -> EvaluatedParts:
    """Evaluate binary models in memory."""
    report_stage(Stage.SCORES)
    panel = panel_of(predictions)
    fits = PanelFits(panel)
    measures = choose_measures(settings)
    sample, scores = _score_models(len(predictions), fits, measures)
    inferred, curves = None, dict[str, CalibratedCurves | None]()
    if settings.infers:
        report_stage(Stage.INTERVALS)
        inferred = infer_sample(panel, fits, sample, scores, measures, settings, points=settings.curve_points)
        curves = inferred.curves
        sample, scores = inferred.sample, adjust_scores(inferred.models)
    names = list(panel.forecasts)

    def describe(place: int) -> ModelResult:
        name = names[place]
        found = _describe_fit(fits[name], scores[name], curves.get(name), settings)
        return _describe_model(predictions, panel, found, settings)

    def compare() -> Comparisons:
        return Comparisons() if inferred is None else compare_model_pairs(panel, inferred, settings)

    def evaluate_groups() -> GroupedResults:
        return evaluate_all_groups(predictions, settings, partial(_score_rows, predictions))

    if are_worth_threads(len(panel.outcome)):
        groups = evaluate_groups()
        comparisons, models = _compare_beside(compare, describe, panel)
    else:
        (comparisons, groups), models = _compare_and_describe(
            lambda: (compare(), evaluate_groups()), describe, panel, settings
        )
    return EvaluatedParts(
        data=describe_predictions(predictions, panel),
        sample=sample,
        models=_adjust_models(models),
        comparisons=comparisons,
        groups=groups,
        heterogeneity=compare_groups(predictions, groups, settings),
        missing_outcomes=bound_unknown(predictions, scores, measures),
        notes=(
            *describe_rows_and_models(predictions, settings),
            *describe_missing_recalibration(models, settings),
        ),
    )


def _compare_beside(
    compare: Callable[[], Comparisons], describe: Callable[[int], ModelResult], panel: ForecastPanel
) -> tuple[Comparisons, list[ModelResult]]:
    """Compare models of many rows, and describe each, on threads."""

    def work(place: int) -> Comparisons | ModelResult:
        return describe(place - 1) if place else compare()

    report_stage(Stage.BANDS)
    times = 1 + len(panel.forecasts)
    done = list(parts(call_together(work, times, rows=len(panel.outcome)), times))
    (comparisons,) = (found for found in done if isinstance(found, Comparisons))
    return comparisons, [found for found in done if isinstance(found, ModelResult)]


def _compare_and_describe(
    compare: Callable[[], _T],
    describe: Callable[[int], ModelResult],
    panel: ForecastPanel,
    settings: EvaluationSettings,
) -> tuple[_T, list[ModelResult]]:
    """Compare models and groups of few rows, and describe each model.

    A copy of this process describes models while this one compares them; programs of others are not copied.
    """
    count = len(panel.forecasts)
    worth = count_worth(count, len(panel.outcome)) if settings.infers else 1
    with sharing_work(describe, count, worth=worth) as work:
        compared = compare()
        report_stage(Stage.BANDS)
        return compared, list(parts(work.collect(), count))


def _score_models(
    rows: int, fits: Mapping[str, Corp], measures: list[Measure]
) -> tuple[SampleSummary, dict[str, ModelScores]]:
    """Describe the sample and score the models."""
    names = list(fits)

    def score(place: int) -> tuple[SampleSummary, ModelScores]:
        fit = fits[names[place]]
        return describe_sample(rows, fit), score_fit(names[place], fit, measures)

    samples, scores = zip(*call_together(score, len(names), rows=rows), strict=True)
    return samples[-1], dict(zip(names, scores, strict=True))


def _score_rows(
    predictions: Predictions, rows: IntArray, settings: EvaluationSettings | None
) -> tuple[SampleSummary, tuple[ModelScores, ...]]:
    """Count the cases of some rows and, if there are settings, score them."""
    panel = panel_of(predictions, rows)
    fits = PanelFits(panel)
    if settings is None:
        return describe_sample(len(rows), next(iter(fits.values()))), ()
    return score_panel(len(rows), panel, fits, settings)


def score_panel(
    rows: int, panel: ForecastPanel, fits: Mapping[str, Corp], settings: EvaluationSettings
) -> tuple[SampleSummary, tuple[ModelScores, ...]]:
    """Score the models of a panel; with resamples, all numbers have intervals."""
    measures = choose_measures(settings)
    sample, models = _score_models(rows, fits, measures)
    if settings.infers:
        inferred = infer_sample(panel, fits, sample, models, measures, settings)
        sample, models = inferred.sample, inferred.models
    return sample, tuple(models.values())


def _adjust_models(models: list[ModelResult]) -> tuple[ModelResult, ...]:
    """The models, with p-values of calibration tests adjusted for the number of models."""
    calibrations = adjust_calibration([model.calibration for model in models])
    parts_of_models = adjust_parts([model.miscalibration_parts for model in models])
    return tuple(
        replace(model, calibration=calibration, miscalibration_parts=parts_of_model)
        for model, calibration, parts_of_model in zip(models, calibrations, parts_of_models, strict=True)
    )


def _describe_model(
    predictions: Predictions,
    panel: ForecastPanel,
    found: ModelResult,
    settings: EvaluationSettings,
) -> ModelResult:
    """Add to the results of a fit those that come from the rows."""
    if settings.infers:
        ordered = order_by_forecast(panel, found.model)
        found = replace(
            found,
            calibration=examine_calibration(predictions, panel, ordered, settings),
            recalibration=_recalibrate(ordered, settings),
        )
    if not settings.scale:
        return found
    scale = scale_forecast(
        panel,
        found.model,
        n_bins=settings.scale_bins,
        limit=settings.scale_limit,
        level=settings.level,
        resamples=settings.fixed_resamples,
        seed=settings.seed,
    )
    return replace(found, scale=scale)


def _describe_fit(
    fit: Corp, scores: ModelScores, curves: CalibratedCurves | None, settings: EvaluationSettings
) -> ModelResult:
    """The results that come from the fit; memory need not hold it afterwards."""
    tally = tally_rows(fit, settings.level) if settings.infers else None
    bands = draw_bands(fit, curves, settings) if settings.infers else ()
    parts_of_miscalibration = (
        split_fit(fit, scores.components, level=settings.level, seed=settings.seed) if settings.infers else ()
    )
    return ModelResult(
        model=scores.model,
        scores=scores,
        forecasts=describe_forecasts(fit),
        murphy=fit.murphy(),
        curves=collect_curves(fit, settings.curve_points, tally=tally),
        bands=bands,
        segments=locate_segments(fit, bands),
        thresholds=decide_at_thresholds(fit, settings, tally),
        miscalibration_parts=parts_of_miscalibration,
    )


def _recalibrate(ordered: ForecastPanel, settings: EvaluationSettings) -> tuple[RecalibrationTrial, ...]:
    """Trials of recalibration for one model, whose cases are in the order of its forecasts."""
    return try_on_panel(ordered, seed=settings.seed, level=settings.level)
