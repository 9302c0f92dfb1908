"""What a source holds: its columns under the rules of `read_predictions`, its rows counted and labelled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport.data.columns import label_text
from scorereport.evaluation.engines.protocol import Survey
from scorereport.evaluation.engines.spark.spark_columns import clean, complete_rows, select_raw
from scorereport.evaluation.engines.spark.spark_labels import Labels, find_labels, find_windows
from scorereport.evaluation.engines.spark.spark_outcomes import find_outcomes
from scorereport.evaluation.engines.spark.spark_survey import (
    add_up,
    check_values,
    check_weights,
    count_clusters,
    flow_of_rows,
    totals_by_model,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame  # noqa: TC004  # of fields, and loaded by who works with Spark

    from scorereport.data.predictions import RowFlow
    from scorereport.evaluation.engines.spark.spark_columns import ColumnLayout
    from scorereport.evaluation.engines.spark.spark_survey import Totals
    from scorereport.evaluation.engines.spark.tables import SparkTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SurveyedRows:
    """The complete rows, what is known of them, and the labels of group columns and of the time column."""

    kept: DataFrame
    survey: Survey
    labels: Mapping[str, Labels]
    is_stored: bool


def survey_table(
    table: SparkTable, layout: ColumnLayout, *, positive: object, drop: bool, window: str | None
) -> SurveyedRows:
    """Check every rule on every row, and count what can be counted without sorting."""
    raw = select_raw(table, layout)
    cleaned = clean(raw, layout, find_outcomes(raw, layout.roles.outcome, positive))
    totals = add_up(cleaned, layout)
    check_values(cleaned, layout, totals)
    row_flow = flow_of_rows(layout, totals, table.name, drop=drop)
    check_weights(layout, totals)
    kept = complete_rows(cleaned, layout, lack_nothing=row_flow.kept == row_flow.read)
    is_stored = not table.has_places
    kept = kept.persist() if is_stored else kept  # places in partitions hold while rows are cut as they were
    try:
        labels = _find_labels(kept, raw, layout, window, counted=totals.counted)
        clusters = count_clusters(kept, layout)
    except BaseException:
        if is_stored:
            kept.unpersist()
        raise
    event = "1" if positive is None else label_text(positive)
    survey = _describe(table.name, layout, totals, row_flow, labels, event, clusters)
    return SurveyedRows(kept=kept, survey=survey, labels=labels, is_stored=is_stored)


def _find_labels(
    kept: DataFrame, raw: DataFrame, layout: ColumnLayout, window: str | None, *, counted: bool
) -> dict[str, Labels]:
    roles = layout.roles
    kinds = {field.name: field.dataType.typeName() for field in raw.schema}
    labels = {
        column: find_labels(kept, layout, column, kinds[layout.names[column]], counted=counted)
        for column in roles.groups
    }
    if roles.time is not None:
        labels[roles.time] = find_windows(kept, layout, window, counted=counted)
    return labels


def _describe(
    source: str,
    layout: ColumnLayout,
    totals: Totals,
    row_flow: RowFlow,
    labels: Mapping[str, Labels],
    positive: str,
    clusters: int | None,
) -> Survey:
    roles = layout.roles
    refuted = totals_by_model(layout, totals, "refuted")
    return Survey(
        source=source,
        outcome_name=roles.outcome,
        positive=positive,
        models=roles.forecasts,
        rows=totals.count("rows"),
        total=totals.weight("total"),
        events=totals.weight("events"),
        event_squares=totals.weight("event_squares"),
        other_squares=totals.weight("other_squares"),
        row_flow=row_flow,
        weighted=layout.weighted,
        weight_kind=roles.weight_kind,
        counted=totals.counted,
        clusters=clusters,
        groups={column: labels[column].counts for column in roles.groups},
        windows=() if roles.time is None else labels[roles.time].counts,
        time_name="time" if roles.time is None else roles.time,
        refuted={model: (rows, ()) for model, rows in refuted.items() if rows},
        halves=totals_by_model(layout, totals, "halves"),
        certain=totals_by_model(layout, totals, "certain"),
        weightless=tuple((column, *left) for column, of in labels.items() for left in of.weightless),
        has_grade=roles.grade is not None,
    )
