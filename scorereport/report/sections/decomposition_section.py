"""The section on decomposition: miscalibration and discrimination of all scores and classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_count, format_counted, format_level, format_percent
from scorereport.plots.class_components import describe_view_components, plot_view_components
from scorereport.plots.mcb_dsc_plot import describe_components, plot_components
from scorereport.plots.murphy_diagram import describe_murphy, plot_murphy
from scorereport.report.section_declaration import Section
from scorereport.report.section_parts import (
    SectionContent,
    collect_parts,
    describe_time_note,
    figure_part,
    table_part,
)
from scorereport.report.tables.decomposition_tables import decomposition_table, view_decomposition_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Part
    from scorereport.results.evaluation import Evaluation


def describe_class_decomposition_section(report: Report) -> SectionContent | None:
    """Describe the components of class scores, in total and by view; None for binary models."""
    evaluation = report.evaluation
    models, level = evaluation.class_models, format_level(evaluation.settings.level)
    if not models:
        return None
    has_views = len(models[0].families[-1].views) > 1  # a single one is the sum
    views = {
        f"views_{place}": table_part(
            view_decomposition_table(model, model.families[-1], level), describe_time_note(evaluation)
        )
        for place, model in enumerate(models if has_views else (), start=1)
    }
    return SectionContent(
        parts=collect_parts(
            components=table_part(
                decomposition_table([m.scores for m in models], level), describe_time_note(evaluation)
            ),
            view_components=_draw_components(evaluation, level),
            **views,
        ),
        content={
            "has_intervals": bool(models[0].scores.components),
            "is_ordered": evaluation.kind == "ordinal",
            "views": list(views),
            "crossing": list(_describe_crossing(evaluation)),
        },
    )


def _draw_components(evaluation: Evaluation, level: str) -> Part:
    models = evaluation.class_models
    kind = models[0].families[-1].kind
    is_ordered = evaluation.kind == "ordinal"
    where, why = (
        ("threshold", "how many cases lie on each side of a threshold")
        if is_ordered
        else ("class", "how often a class occurs")
    )
    lines = (
        f" Lines: {level} intervals of corrected MCB and corrected DSC."
        if models[0].scores.components
        else ""
    )
    return figure_part(
        plot_view_components,
        describe_view_components(models, kind),
        models,
        kind,
        caption="Miscalibration, which should be small, and discrimination, which should be large, for each "
        f"{where}.{lines} Discrimination also depends on {why}: compare models within a row, not across "
        "rows.",
    )


def _describe_crossing(evaluation: Evaluation) -> Iterator[str]:
    """Name the models whose recalibrated thresholds cross, and in how many cases they do."""
    total = evaluation.data.sample.total
    for model in evaluation.class_models:
        crossing = model.families[-1].crossing
        if crossing > 0:
            share = format_percent(crossing / total)
            yield f"{model.model}: {format_count(crossing)} of {format_counted(total, 'case')} ({share})."


def describe_decomposition_section(report: Report) -> SectionContent:
    """Describe the components of every score, in a table and in figures."""
    evaluation = report.evaluation
    models, level = evaluation.models, format_level(evaluation.settings.level)
    whiskers = (
        f" Points: MCB and DSC; thin lines: {level} intervals of corrected MCB and DSC."
        if models[0].scores.components
        else ""
    )
    return SectionContent(
        parts=collect_parts(
            components=table_part(
                decomposition_table([m.scores for m in models], level), describe_time_note(evaluation)
            ),
            plane=figure_part(
                plot_components,
                describe_components(models),
                models,
                caption="Miscalibration and discrimination of the Brier score. Better models lie further up "
                f"and to the left; along each slanted line, the Brier score is constant.{whiskers}",
            ),
            murphy=figure_part(
                plot_murphy,
                describe_murphy(models),
                models,
                caption="Murphy diagram: the mean elementary score against the cost ratio θ of the "
                "decision. Lower is better; every proper score is a mixture of elementary scores with its "
                "own weights over θ.",
            ),
        ),
        content={"has_intervals": bool(models[0].scores.components)},
    )


DECOMPOSITION = Section(
    name="decomposition",
    title="Decomposition",
    order=80,
    describe=describe_decomposition_section,
    describe_classes=describe_class_decomposition_section,
)
