"""Decomposition: miscalibration against discrimination, for all scores and at all costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level
from scorereport.plots import describe_components, describe_murphy, plot_components, plot_murphy
from scorereport.report.section_parts import (
    SectionContent,
    collect_parts,
    describe_time_note,
    figure_part,
    table_part,
)
from scorereport.report.tables.decompositions import decomposition_table

if TYPE_CHECKING:
    from scorereport.report.report_record import Report


def describe_decomposition_section(report: Report) -> SectionContent:
    """The components of every score, as a table and as pictures."""
    evaluation = report.evaluation
    models, level = evaluation.models, format_level(evaluation.settings.level)
    whiskers = (
        f" Thin lines: {level} intervals of the true components." if models[0].scores.components else ""
    )
    return SectionContent(
        name="decomposition",
        title="Decomposition",
        parts=collect_parts(
            components=table_part(
                decomposition_table([m.scores for m in models], level), describe_time_note(evaluation)
            ),
            plane=figure_part(
                plot_components,
                describe_components(models),
                models,
                caption="Miscalibration and discrimination of the Brier score. Better is up and to the left; "
                f"along each slanted line the Brier score is the same.{whiskers}",
            ),
            murphy=figure_part(
                plot_murphy,
                describe_murphy(models),
                models,
                caption="Murphy diagram: the mean elementary score against the cost ratio θ of whoever acts "
                "on the forecast. Lower is better; every proper score weighs the values of θ in its own way.",
            ),
        ),
        content={"has_intervals": bool(models[0].scores.components)},
    )
