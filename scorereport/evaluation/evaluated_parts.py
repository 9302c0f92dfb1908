"""What every evaluator returns, with rows in memory or without, and the `Evaluation` that is made of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scorereport.data.predictions import ClassPredictions, Predictions, RowFlow
from scorereport.evaluation.notes import describe_groups, describe_unbounded
from scorereport.evaluation.subgroups import GroupedResults
from scorereport.inference.missing_outcomes import MissingOutcomes
from scorereport.results.class_records import ClassModelResult
from scorereport.results.evaluation import Evaluation
from scorereport.results.model_records import (
    ClassSummary,
    Comparisons,
    DataSummary,
    Heterogeneity,
    ModelResult,
    SampleSummary,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scorereport.inference.panel import PanelRows
    from scorereport.inference.population_stability import Stability
    from scorereport.results.reference_records import ReferenceComparison
    from scorereport.results.settings import EvaluationSettings
    from scorereport.results.tallies import Tallies


@dataclass(frozen=True, slots=True, kw_only=True)
class DataDescription:
    """The source of the rows and their columns; `positive` is "" for K classes."""

    source: str
    outcome: str
    positive: str
    time_name: str
    weighted: bool
    weight_kind: str
    clusters: int | None
    row_flow: RowFlow
    sha256: str
    file_sha256: str


def describe_predictions(predictions: Predictions | ClassPredictions, panel: PanelRows) -> DataDescription:
    """The description of rows in memory; `panel` has those with a weight."""
    return DataDescription(
        source=predictions.source,
        outcome=predictions.outcome_name,
        positive=predictions.positive if isinstance(predictions, Predictions) else "",
        time_name=predictions.time_name,
        weighted=predictions.weight is not None,
        weight_kind=predictions.weight_kind,
        clusters=None if panel.cluster is None else int(panel.cluster.max()) + 1,
        row_flow=predictions.row_flow,
        sha256=predictions.sha256,
        file_sha256=predictions.file_sha256,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatedParts:
    """The results of an evaluator: of binary models in `models`, or of K classes in `class_models`.

    `notes` are those on rows, models and methods; notes on groups follow from the groups.
    """

    data: DataDescription
    sample: SampleSummary
    classes: ClassSummary | None = None
    models: tuple[ModelResult, ...] = ()
    class_models: tuple[ClassModelResult, ...] = ()
    comparisons: Comparisons = field(default_factory=Comparisons)
    groups: GroupedResults
    heterogeneity: tuple[Heterogeneity, ...] = ()
    missing_outcomes: MissingOutcomes | None = None
    notes: tuple[str, ...]


def assemble_evaluation(
    parts: EvaluatedParts,
    settings: EvaluationSettings,
    *,
    software: Mapping[str, str],
    stability: tuple[Stability, ...] | None = None,
    reference: ReferenceComparison | None = None,
    predictions: Predictions | ClassPredictions | None = None,
    tallies: Tallies | None = None,
) -> Evaluation:
    """Make the `Evaluation` of the results, with the rows in memory or the counts of an engine beside it."""
    groups = parts.groups
    evaluation = Evaluation(
        data=_summarize_data(parts),
        settings=settings,
        models=parts.models,
        class_models=parts.class_models,
        comparisons=parts.comparisons,
        groups=tuple(group for found in groups.by_column.values() for group in found),
        windows=groups.windows,
        heterogeneity=parts.heterogeneity,
        stability=stability,
        reference=reference,
        missing_outcomes=parts.missing_outcomes,
        notes=(
            *parts.notes,
            *_describe_unbounded(parts, settings),
            *describe_groups([*groups.by_column.items(), (parts.data.time_name, groups.windows)], settings),
        ),
        software=dict(software),
    )
    object.__setattr__(evaluation, "_predictions", predictions)
    object.__setattr__(evaluation, "_tallies", tallies)
    return evaluation


def _describe_unbounded(parts: EvaluatedParts, settings: EvaluationSettings) -> Iterator[str]:
    if parts.missing_outcomes is None:
        yield from describe_unbounded(parts.data.row_flow, parts.data.outcome, engine=settings.engine)


def _summarize_data(parts: EvaluatedParts) -> DataSummary:
    data = parts.data
    return DataSummary(
        source=data.source,
        outcome=data.outcome,
        positive=data.positive,
        weighted=data.weighted,
        weight_kind=data.weight_kind if data.weighted else "",
        clusters=data.clusters,
        row_flow=data.row_flow,
        sample=parts.sample,
        sha256=data.sha256,
        file_sha256=data.file_sha256,
        classes=parts.classes,
    )
