"""The data: where they come from, how many rows remained, and what the models forecast on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_count, format_counted, format_level, format_percent
from scorereport.plots import describe_distributions, plot_distributions
from scorereport.report.section_parts import (
    SectionContent,
    collect_parts,
    figure_part,
    label_facts,
    table_part,
)
from scorereport.report.tables.overview import describe_weights_and_clusters
from scorereport.report.tables.sample import forecast_table, missing_table, row_flow_table
from scorereport.report.tables.table import percent_interval_text

if TYPE_CHECKING:
    from scorereport.report.report_record import Report
    from scorereport.results.model_records import SampleSummary


def describe_data_section(report: Report) -> SectionContent:
    """Facts of the configuration beside those of the data themselves."""
    evaluation, told = report.evaluation, report.configuration.data
    data, models = evaluation.data, evaluation.models
    rule = models[0].curves.histogram.rule
    facts = {
        "Source": told.source,
        "File": data.source,
        "Period": told.period,
        "Population": told.population,
        "Eligibility": told.eligibility,
        "Outcome": told.outcome,
        "Horizon": told.horizon,
        "Event": f"{data.outcome} = {data.positive}",
        "Cases": _describe_size(report),
        "Events": _describe_events(data.sample),
    }
    return SectionContent(
        name="data",
        title="Data",
        parts=collect_parts(
            rows=table_part(row_flow_table(data.row_flow)),
            missing=table_part(missing_table(data.row_flow)),
            forecasts=table_part(forecast_table(models)),
            distributions=figure_part(
                plot_distributions,
                describe_distributions(models),
                models,
                caption=f"Distribution of the forecasts, events apart from non-events ({rule}).",
            ),
        ),
        content={"facts": label_facts(facts), "nothing_dropped": not data.row_flow.dropped},
    )


def _describe_size(report: Report) -> str:
    data = report.evaluation.data
    return ", ".join([format_counted(data.row_flow.kept, "row"), *describe_weights_and_clusters(data)])


def _describe_events(sample: SampleSummary) -> str:
    share = f"{format_count(sample.events)}, prevalence {format_percent(sample.prevalence)}"
    interval = sample.prevalence_interval
    if interval is None:
        return share
    bounds = percent_interval_text(interval)
    return f"{share}, {format_level(interval.level)} interval {bounds} %" if bounds else share
