"""The evaluation of models of K classes in memory."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from scorereport._utils.progress import parts, report_stage
from scorereport._utils.shared_work import count_worth, sharing_work
from scorereport._utils.work_plan import Stage
from scorereport.evaluation.class_assessment import (
    assess_classes,
    choose_class_measures,
)
from scorereport.evaluation.class_comparisons import compare_class_models
from scorereport.evaluation.class_measures import choose_cost
from scorereport.evaluation.class_views import describe_family, make_families
from scorereport.evaluation.evaluated_parts import EvaluatedParts, describe_predictions
from scorereport.evaluation.missing_outcome_bounds import bound_unknown_classes
from scorereport.evaluation.model_scores import adjust_scores
from scorereport.evaluation.notes import (
    describe_classes_and_models,
    describe_dependence,
    describe_groups_without_weight,
)
from scorereport.evaluation.prediction_panels import class_panel_of
from scorereport.evaluation.sample_summary import describe_class_sample
from scorereport.evaluation.subgroups import compare_groups, evaluate_all_groups
from scorereport.inference.nelson_scale import scale_panel
from scorereport.inference.rates import rate_interval
from scorereport.inference.retention_bands import retain_panel
from scorereport.results.class_records import ClassModelResult, Confusion
from scorereport.results.model_records import ClassCount, ClassSummary, Comparisons
from scorereport.scores.hard_labels import confusion_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import IntArray
    from scorereport.data.predictions import ClassPredictions
    from scorereport.evaluation.class_assessment import Assessment, ClassMeasures
    from scorereport.inference.class_panel import ClassPanel
    from scorereport.inference.retention_bands import RetentionBand
    from scorereport.inference.scale_results import ScaleResult
    from scorereport.results.model_records import ModelScores, SampleSummary
    from scorereport.results.settings import EvaluationSettings

    Pair = tuple[str, str]

#: Scores by which retention curves remove the worst cases, as in Galdran (2023), and metrics of the others.
_RETENTION_SCORES = ("multiclass_brier", "multiclass_log_loss", "rps", "sa_rps")
_RETENTION_SCORES_UNORDERED = ("multiclass_brier", "multiclass_log_loss", "multiclass_spherical")
_RETENTION_METRICS = ("quadratic_weighted_kappa", "expected_cost", "accuracy")
_RETENTION_METRICS_UNORDERED = ("macro_f1", "expected_cost", "accuracy")


def evaluate_classes(predictions: ClassPredictions, settings: EvaluationSettings) -> EvaluatedParts:
    """Evaluate models of K classes in memory."""
    report_stage(Stage.SCORES)
    panel = class_panel_of(predictions)
    measures = choose_class_measures(panel.n_classes, settings, ordered=predictions.ordered)
    families = make_families(panel, predictions.classes, ordered=predictions.ordered)
    if settings.infers:
        report_stage(Stage.INTERVALS)
    found = assess_classes(panel, families, measures, settings)
    comparisons = Comparisons()
    if settings.infers:
        report_stage(Stage.COMPARISONS)
        found = replace(found, models=adjust_scores(found.models))
        comparisons = compare_class_models(found, measures, settings)
    score_rows = partial(_score_rows, predictions, measures)
    groups = evaluate_all_groups(predictions, settings, score_rows)
    report_stage(Stage.BANDS)
    names = list(found.models)

    def describe(place: int) -> ClassModelResult:
        return _describe_model(predictions, found, names[place], settings)

    worth = count_worth(len(names), len(panel.outcome)) if settings.infers else 1
    with sharing_work(describe, len(names), worth=worth) as work:
        described = tuple(parts(work.collect(), len(names)))
    dependence = describe_dependence(predictions) if settings.infers else ()
    return EvaluatedParts(
        data=describe_predictions(predictions, panel),
        sample=describe_class_sample(len(predictions), panel),
        classes=_describe_classes(predictions, panel, settings),
        class_models=described,
        comparisons=comparisons,
        groups=groups,
        heterogeneity=compare_groups(predictions, groups, settings),
        missing_outcomes=bound_unknown_classes(predictions, found, measures.means),
        notes=(
            *describe_classes_and_models(predictions),
            *dependence,
            *describe_groups_without_weight(predictions, settings),
        ),
    )


def _score_rows(
    predictions: ClassPredictions,
    measures: ClassMeasures,
    rows: IntArray,
    settings: EvaluationSettings | None,
) -> tuple[SampleSummary, tuple[ModelScores, ...]]:
    """Count the cases of some rows and, if there are settings, score them by the main decomposition."""
    panel = class_panel_of(predictions, rows)
    sample = describe_class_sample(len(rows), panel)
    if settings is None:
        return sample, ()
    families = make_families(panel, predictions.classes, ordered=predictions.ordered)[-1:]
    return sample, tuple(assess_classes(panel, families, measures, settings).models.values())


def _describe_model(
    predictions: ClassPredictions, found: Assessment, model: str, settings: EvaluationSettings
) -> ClassModelResult:
    panel = found.panel
    table = confusion_table(panel.outcome, panel.labels[model], panel.n_classes, panel.weight)
    return ClassModelResult(
        model=model,
        scores=found.models[model],
        confusion=Confusion(counts=tuple(map(tuple, table.tolist()))),
        families=tuple(
            describe_family(family, examined, model, panel, settings)
            for family, examined in zip(found.families, found.examined, strict=True)
        ),
        retention=_collect_retention(panel, model, settings, ordered=predictions.ordered),
        scale=_collect_scale(panel, model, predictions.classes, settings) if settings.scale else (),
    )


def _collect_scale(
    panel: ClassPanel, model: str, labels: Sequence[str], settings: EvaluationSettings
) -> tuple[ScaleResult, ...]:
    return scale_panel(
        panel,
        model,
        labels,
        n_bins=settings.scale_bins,
        limit=settings.scale_limit,
        level=settings.level,
        resamples=settings.fixed_resamples,
        seed=settings.seed,
    )


def _collect_retention(
    panel: ClassPanel, model: str, settings: EvaluationSettings, *, ordered: bool
) -> tuple[RetentionBand, ...]:
    return retain_panel(
        panel,
        model,
        scores=_RETENTION_SCORES if ordered else _RETENTION_SCORES_UNORDERED,
        metrics=_RETENTION_METRICS if ordered else _RETENTION_METRICS_UNORDERED,
        fractions=settings.retention_fractions,
        cost=choose_cost(panel.n_classes, settings, ordered=ordered),
        level=settings.level,
        resamples=settings.fixed_resamples,
        seed=settings.seed,
    )


def _describe_classes(
    predictions: ClassPredictions, panel: ClassPanel, settings: EvaluationSettings
) -> ClassSummary:
    counts = []
    for place, (label, weight) in enumerate(
        zip(predictions.classes, panel.class_weight.tolist(), strict=True)
    ):
        interval = None
        if settings.infers:
            observed = (panel.outcome == place).astype(float)
            interval = rate_interval(f"share of {label}", observed, panel.units, settings.level)
        share = weight / panel.units.total
        counts.append(ClassCount(label=label, weight=weight, share=share, interval=interval))
    return ClassSummary(ordered=predictions.ordered, counts=tuple(counts), rescaled=predictions.rescaled)
