"""The sections on model and data: intended use, source of the data, rows kept, forecasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.checks import SUM_TOLERANCE
from scorereport._utils.formatting import (
    format_count,
    format_counted,
    format_level,
    format_number,
    format_percent,
    format_plain,
)
from scorereport.plots.forecast_distributions import describe_distributions, plot_distributions
from scorereport.report.section_declaration import Profile, Section
from scorereport.report.section_parts import (
    SectionContent,
    collect_parts,
    figure_part,
    label_facts,
    split_paragraphs,
    table_part,
)
from scorereport.report.tables.data_tables import (
    class_forecast_table,
    class_table,
    forecast_table,
    missing_table,
    row_flow_table,
)
from scorereport.report.tables.overview import describe_weights_and_clusters
from scorereport.report.tables.table import Table, percent_interval_text

if TYPE_CHECKING:
    from scorereport.configuration import Configuration
    from scorereport.data.predictions import RescaledRows
    from scorereport.report.report_record import Report
    from scorereport.results.model_records import DataSummary, SampleSummary


#: Most rows in the table of forecasts by class, which would otherwise fill more than a page.
_MOST_ROWS = 60


def describe_class_data_section(report: Report) -> SectionContent | None:
    """Describe the data of class models, as configured and as read; None for binary models."""
    evaluation, stated = report.evaluation, report.configuration.data
    data, classes, models = evaluation.data, evaluation.data.classes, evaluation.class_models
    if classes is None:
        return None
    has_room = len(classes.counts) * len(models) <= _MOST_ROWS
    facts = {
        "Source": stated.source,
        "File": data.source,
        "Period": stated.period,
        "Population": stated.population,
        "Eligibility": stated.eligibility,
        "Outcome": stated.outcome,
        "Horizon": stated.horizon,
        "Classes": f"{data.outcome}, {len(classes.counts)} {'ordered ' * classes.ordered}classes",
        "Cases": _describe_class_size(data),
    }
    return SectionContent(
        parts=collect_parts(
            rows=table_part(row_flow_table(data.row_flow)),
            missing=table_part(missing_table(data.row_flow)),
            classes=table_part(class_table(classes, format_level(evaluation.settings.level))),
            forecasts=table_part(class_forecast_table(models, classes)) if has_room else None,
        ),
        content={
            "facts": label_facts(facts),
            "quality": split_paragraphs(report.configuration.texts.data_quality),
            "nothing_dropped": not data.row_flow.dropped,
            "absent": [count.label for count in classes.counts if count.weight == 0],
            "rescaled": [_describe_rescaled(item, data.row_flow.kept) for item in classes.rescaled],
        },
    )


def _describe_class_size(data: DataSummary) -> str:
    return ", ".join([format_counted(data.row_flow.kept, "row"), *describe_weights_and_clusters(data)])


def _describe_rescaled(rescaled: RescaledRows, rows: int) -> str:
    if not rescaled.rows:
        return (
            f"{rescaled.model}: the probabilities of every row sum to 1 within {format_plain(SUM_TOLERANCE)}."
        )
    return (
        f"{rescaled.model}: in {format_count(rescaled.rows)} of {format_counted(rows, 'row')} the "
        f"probabilities did not sum to 1 within {format_plain(SUM_TOLERANCE)} (furthest sum: "
        f"{format_number(rescaled.furthest_sum, 6)}); they were divided by their sum, as requested."
    )


def describe_data_section(report: Report) -> SectionContent:
    """Describe the data of binary models, as configured and as read."""
    evaluation, stated = report.evaluation, report.configuration.data
    data, models = evaluation.data, evaluation.models
    rule = models[0].curves.histogram.rule
    facts = {
        "Source": stated.source,
        "File": data.source,
        "Period": stated.period,
        "Population": stated.population,
        "Eligibility": stated.eligibility,
        "Outcome": stated.outcome,
        "Horizon": stated.horizon,
        "Event": f"{data.outcome} = {data.positive}",
        "Cases": _describe_size(report),
        "Events": _describe_events(data.sample),
    }
    return SectionContent(
        parts=collect_parts(
            rows=table_part(row_flow_table(data.row_flow)),
            missing=table_part(missing_table(data.row_flow)),
            forecasts=table_part(forecast_table(models)),
            distributions=figure_part(
                plot_distributions,
                describe_distributions(models),
                models,
                caption=f"Distribution of the forecasts, separately for events and non-events ({rule}).",
            ),
        ),
        content={
            "facts": label_facts(facts),
            "quality": split_paragraphs(report.configuration.texts.data_quality),
            "nothing_dropped": not data.row_flow.dropped,
        },
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


def describe_model_section(report: Report) -> SectionContent | None:
    """Describe the model as configured; None if the configuration has nothing on it."""
    stated = report.configuration.model
    facts = label_facts(
        {
            "Model": stated.name,
            "Version": stated.version,
            "Owner": stated.owner,
            "Developer": stated.developer,
            "Validated by": _name_validator(report.configuration),
            "Tier": stated.tier,
        }
    )
    texts = {
        "Purpose of this report": report.configuration.report.purpose,
        "Intended use": stated.intended_use,
        "Users": stated.users,
        "Not to be used for": stated.out_of_scope,
        "How the predictions were made": stated.predictions,
        "Overrides of forecasts": report.configuration.texts.overrides,
    }
    uses = [{"label": label, "paragraphs": split_paragraphs(text)} for label, text in texts.items() if text]
    described = _description_table(report)
    if not (facts or uses or described):
        return None
    return SectionContent(
        parts=collect_parts(models=table_part(described)),
        content={"facts": facts, "uses": uses},
    )


def _name_validator(configuration: Configuration) -> str:
    author = configuration.people.author
    return "" if author is None else author.name


def _description_table(report: Report) -> Table | None:
    descriptions = report.configuration.model.descriptions
    if not descriptions:
        return None
    return Table(
        caption="Models in this report, by column in the data",
        heads=("model", "description"),
        rows=tuple(
            (result.model, descriptions.get(result.model, "")) for result in report.evaluation.results
        ),
        n_labels=2,
    )


MODEL = Section(
    name="model",
    title="Model",
    order=20,
    describe=describe_model_section,
    profile=Profile.STANDARD,
)


DATA = Section(
    name="data",
    title="Data",
    order=30,
    describe=describe_data_section,
    describe_classes=describe_class_data_section,
    profile=Profile.STANDARD,
)
