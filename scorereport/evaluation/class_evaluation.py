"""The evaluation of models of K classes in memory, and comparisons of all pairs of models."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.evaluation.class_assessment import (
    assess_classes,
    choose_class_measures,
    describe_class_sample,
)
from scorereport.evaluation.class_bootstrap import ConfusionTables
from scorereport.evaluation.class_measures import choose_cost
from scorereport.evaluation.class_views import describe_family, make_families
from scorereport.evaluation.notes import (
    describe_classes_and_models,
    describe_dependence,
    describe_groups,
    describe_groups_without_weight,
)
from scorereport.evaluation.subgroups import compare_groups, evaluate_all_groups
from scorereport.evaluation.summaries import adjust_scores
from scorereport.inference.class_panel import make_class_panel
from scorereport.inference.component_tests import contrast_components
from scorereport.inference.differences import compare_cases, describe_spread
from scorereport.inference.estimates import Difference, adjust_by_holm, rank_models
from scorereport.inference.mean_errors import (
    choose_errors,
    describe_errors,
    distribution_of_mean,
    mean_error,
    wald_test,
)
from scorereport.inference.nelson_scale import scale_panel
from scorereport.inference.rates import rate_interval
from scorereport.inference.retention_bands import retain_panel
from scorereport.results.class_records import ClassModelResult, Confusion
from scorereport.results.model_records import ClassCount, ClassSummary, Comparisons, DataSummary
from scorereport.scores.hard_labels import confusion_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import IntArray
    from scorereport.data.predictions import ClassPredictions
    from scorereport.evaluation.class_assessment import Assessment, ClassMeasures
    from scorereport.evaluation.class_measures import MeanMeasure, TableMeasure
    from scorereport.inference.class_panel import ClassPanel
    from scorereport.inference.mean_errors import ErrorChoice
    from scorereport.inference.retention_bands import RetentionBand
    from scorereport.results.model_records import EvaluationSettings, ModelScores, SampleSummary

    Pair = tuple[str, str]

#: A table measure is a smooth function of shares: its standard error is that of the mean influence of cases.
_DELTA_METHOD = "van der Vaart (1998), Asymptotic Statistics, ch. 3, doi:10.1017/CBO9780511802256"
#: Scores by which retention curves remove the worst cases, as in Galdran (2023), and metrics of the others.
_RETENTION_SCORES = ("multiclass_brier", "multiclass_log_loss", "rps", "sa_rps")
_RETENTION_SCORES_UNORDERED = ("multiclass_brier", "multiclass_log_loss", "multiclass_spherical")
_RETENTION_METRICS = ("quadratic_weighted_kappa", "expected_cost", "accuracy")
_RETENTION_METRICS_UNORDERED = ("macro_f1", "expected_cost", "accuracy")


def compare_class_models(
    found: Assessment, measures: ClassMeasures, settings: EvaluationSettings
) -> Comparisons:
    """Differences by each measure, ranks, and differences of miscalibration and discrimination."""
    panel = found.panel
    if len(panel.forecasts) < 2:
        return Comparisons()
    choice = choose_errors(panel, settings.level)
    pairs = list(combinations(panel.forecasts, 2))
    by_name = {m.name: [_compare_means(panel, pair, m, choice) for pair in pairs] for m in measures.means}
    tables = ConfusionTables(panel, measures.tables)
    by_name |= {
        m.name: [_compare_tables(panel, tables, pair, m, choice) for pair in pairs] for m in measures.tables
    }
    differences = [d for name in measures.names for d in adjust_by_holm(by_name[name])]
    ranks = rank_models(differences, alpha=round(1 - settings.level, 12))
    differences += _compare_components(found, pairs, choice)
    return Comparisons(differences=tuple(differences), ranks=ranks)


def _compare_means(panel: ClassPanel, pair: Pair, measure: MeanMeasure, choice: ErrorChoice) -> Difference:
    first, second = (measure.score(panel.outcome, panel.forecasts[name]) for name in pair)
    return compare_cases(
        panel,
        pair,
        (first, second),
        choice,
        measure=measure.name,
        higher_is_better=measure.higher_is_better,
    )


def _compare_tables(
    panel: ClassPanel, tables: ConfusionTables, pair: Pair, measure: TableMeasure, choice: ErrorChoice
) -> Difference:
    """The difference of two models in a measure of the confusion table, with errors by the delta method."""
    names = list(panel.forecasts)
    values = tables.values(panel.units.row_weight).reshape(len(tables.measures), len(names))
    of_models = dict(zip(names, values[tables.measures.index(measure)].tolist(), strict=True))
    first, second = (tables.influence(measure, name) for name in pair)
    value = of_models[pair[0]] - of_models[pair[1]]
    error = mean_error(panel, first - second, choice) if np.isfinite(value) else np.nan
    return Difference(
        first=pair[0],
        second=pair[1],
        measure=measure.name,
        first_value=of_models[pair[0]],
        second_value=of_models[pair[1]],
        value=value,
        **wald_test(value, error, choice.level, distribution_of_mean(panel, choice))._asdict(),
        level=choice.level,
        higher_is_better=True,
        null_hypothesis=f"Both models have the same {measure.name}.",
        method=f"delta method, {describe_errors(panel, choice)}",
        reference=_DELTA_METHOD,
        n=panel.units.total,
        note="The value is not defined: there is no test."
        if np.isnan(value)
        else describe_spread(panel, pair, value, error, choice),
    )


def _compare_components(found: Assessment, pairs: list[Pair], choice: ErrorChoice) -> Iterator[Difference]:
    """Paired differences of both components, each adjusted by Holm over the pairs."""
    for place in range(len(found.families)):
        scored = {name: found.scored(place, name) for name in found.panel.forecasts}
        contrasts = [contrast_components(scored[a], scored[b], found.panel, choice) for a, b in pairs]
        for component in zip(*contrasts, strict=True):
            yield from adjust_by_holm(component)


def evaluate_classes(predictions: ClassPredictions, settings: EvaluationSettings) -> dict[str, Any]:
    """Evaluate models of K classes; returns the fields of `Evaluation` by name."""
    panel = class_panel_of(predictions)
    measures = choose_class_measures(panel.n_classes, settings, ordered=predictions.ordered)
    families = make_families(panel, predictions.classes, ordered=predictions.ordered)
    found = assess_classes(panel, families, measures, settings)
    comparisons = Comparisons()
    if settings.resamples > 0:
        found = replace(found, models=adjust_scores(found.models))
        comparisons = compare_class_models(found, measures, settings)
    score_rows = partial(_score_rows, predictions, measures)
    by_column, windows = evaluate_all_groups(predictions, settings, score_rows)
    dependence = describe_dependence(predictions) if settings.resamples > 0 else ()
    return {
        "data": _describe_data(predictions, panel, settings),
        "class_models": tuple(_describe_model(predictions, found, name, settings) for name in found.models),
        "comparisons": comparisons,
        "groups": tuple(group for groups in by_column.values() for group in groups),
        "windows": windows,
        "heterogeneity": compare_groups(predictions, by_column, settings),
        "notes": (
            *describe_classes_and_models(predictions),
            *dependence,
            *describe_groups_without_weight(predictions, settings),
            *describe_groups([*by_column.items(), (predictions.time_name, windows)], settings),
        ),
    }


def class_panel_of(predictions: ClassPredictions, rows: Any = slice(None)) -> ClassPanel:
    """Some rows of the predictions in canonical order."""
    weight, cluster, time = (
        None if values is None else values[rows]
        for values in (predictions.weight, predictions.cluster, predictions.time)
    )
    return make_class_panel(
        predictions.outcome[rows],
        {name: p[rows] for name, p in predictions.forecasts.items()},
        sample_weight=weight,
        weight_kind=predictions.weight_kind,
        cluster=cluster,
        time=time,
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
        scale=scale_panel(
            panel,
            model,
            predictions.classes,
            n_bins=settings.scale_bins,
            limit=settings.scale_limit,
            level=settings.level,
            resamples=settings.resamples,
            seed=settings.seed,
        ),
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
        resamples=settings.resamples,
        seed=settings.seed,
    )


def _describe_data(
    predictions: ClassPredictions, panel: ClassPanel, settings: EvaluationSettings
) -> DataSummary:
    return DataSummary(
        source=predictions.source,
        outcome=predictions.outcome_name,
        positive="",
        weighted=predictions.weight is not None,
        weight_kind="" if predictions.weight is None else predictions.weight_kind,
        clusters=None if panel.cluster is None else int(panel.cluster.max()) + 1,
        row_flow=predictions.row_flow,
        sample=describe_class_sample(len(predictions), panel),
        sha256=predictions.sha256,
        file_sha256=predictions.file_sha256,
        classes=_describe_classes(predictions, panel, settings),
    )


def _describe_classes(
    predictions: ClassPredictions, panel: ClassPanel, settings: EvaluationSettings
) -> ClassSummary:
    counts = []
    for place, (label, weight) in enumerate(
        zip(predictions.classes, panel.class_weight.tolist(), strict=True)
    ):
        interval = None
        if settings.resamples > 0:
            observed = (panel.outcome == place).astype(float)
            interval = rate_interval(f"share of {label}", observed, panel.units, settings.level)
        share = weight / panel.units.total
        counts.append(ClassCount(label=label, weight=weight, share=share, interval=interval))
    return ClassSummary(ordered=predictions.ordered, counts=tuple(counts), rescaled=predictions.rescaled)
