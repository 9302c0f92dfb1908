"""The data of models of K classes: their source, which rows remained, and how often each class came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.checks import SUM_TOLERANCE
from scorereport._utils.formatting import format_count, format_counted, format_level, format_number
from scorereport.report.section_parts import SectionContent, collect_parts, label_facts, table_part
from scorereport.report.tables.data_tables import class_forecast_table, class_table
from scorereport.report.tables.overview import describe_weights_and_clusters
from scorereport.report.tables.sample import missing_table, row_flow_table

if TYPE_CHECKING:
    from scorereport.data.scorereport_predictions import RescaledRows
    from scorereport.report.report_record import Report
    from scorereport.results.model_records import DataSummary

#: Forecasts class by class would fill more than a page with more rows.
_MOST_ROWS = 60


def describe_class_data_section(report: Report) -> SectionContent | None:
    """Facts of the configuration beside those of the data themselves; None of binary models."""
    evaluation, told = report.evaluation, report.configuration.data
    data, classes, models = evaluation.data, evaluation.data.classes, evaluation.class_models
    if classes is None:
        return None
    has_room = len(classes.counts) * len(models) <= _MOST_ROWS
    facts = {
        "Source": told.source,
        "File": data.source,
        "Period": told.period,
        "Population": told.population,
        "Eligibility": told.eligibility,
        "Outcome": told.outcome,
        "Horizon": told.horizon,
        "Classes": f"{data.outcome}, {len(classes.counts)} {'ordered ' * classes.ordered}classes",
        "Cases": _describe_class_size(data),
    }
    return SectionContent(
        name="data",
        title="Data",
        template="sections/class-data.html",
        parts=collect_parts(
            rows=table_part(row_flow_table(data.row_flow)),
            missing=table_part(missing_table(data.row_flow)),
            classes=table_part(class_table(classes, format_level(evaluation.settings.level))),
            forecasts=table_part(class_forecast_table(models, classes)) if has_room else None,
        ),
        content={
            "facts": label_facts(facts),
            "nothing_dropped": not data.row_flow.dropped,
            "absent": [count.label for count in classes.counts if count.weight == 0],
            "rescaled": [_describe_rescaled(item, data.row_flow.kept) for item in classes.rescaled],
        },
    )


def _describe_class_size(data: DataSummary) -> str:
    return ", ".join([format_counted(data.row_flow.kept, "row"), *describe_weights_and_clusters(data)])


def _describe_rescaled(rescaled: RescaledRows, rows: int) -> str:
    if not rescaled.rows:
        return f"{rescaled.model}: the probabilities of every row sum to 1 within {SUM_TOLERANCE:g}."
    return (
        f"{rescaled.model}: in {format_count(rescaled.rows)} of {format_counted(rows, 'row')} the probabilities did "
        f"not sum to 1 within {SUM_TOLERANCE:g}, the furthest to {format_number(rescaled.furthest_sum, 6)}; "
        "they were divided by their sum, as asked for."
    )
