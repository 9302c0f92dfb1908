"""The data: where they come from, how many rows remained, and what the models forecast on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import counted, format_count, format_level, format_percent
from scorereport.plots import describe_distributions, plot_distributions
from scorereport.report.section_parts import Section, collect_parts, make_facts, make_figure, make_table
from scorereport.report.tables.overview import describe_draws
from scorereport.report.tables.sample import forecast_table, missing_table, row_flow_table
from scorereport.report.tables.table import percents_text

if TYPE_CHECKING:
    from scorereport.report.report_record import Report
    from scorereport.results.model_records import SampleSummary


def describe_data_section(report: Report) -> Section:
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
    return Section(
        name="data",
        title="Data",
        parts=collect_parts(
            rows=make_table(row_flow_table(data.row_flow)),
            missing=make_table(missing_table(data.row_flow)),
            forecasts=make_table(forecast_table(models)),
            distributions=make_figure(
                plot_distributions,
                describe_distributions(models),
                models,
                caption=f"Distribution of the forecasts, events apart from non-events ({rule}).",
            ),
        ),
        content={"facts": make_facts(facts), "nothing_dropped": not data.row_flow.dropped},
    )


def _describe_size(report: Report) -> str:
    data = report.evaluation.data
    return ", ".join([counted(data.row_flow.kept, "row"), *describe_draws(data)])


def _describe_events(sample: SampleSummary) -> str:
    share = f"{format_count(sample.events)}, prevalence {format_percent(sample.prevalence)}"
    interval = sample.prevalence_interval
    if interval is None:
        return share
    bounds = percents_text(interval)
    return f"{share}, {format_level(interval.level)} interval {bounds} %" if bounds else share
