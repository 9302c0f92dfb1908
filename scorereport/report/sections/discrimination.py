"""Discrimination: how well the models tell events from non-events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level
from scorereport.plots import describe_roc, plot_roc
from scorereport.report.section_parts import (
    SectionContent,
    collect_parts,
    describe_time_note,
    figure_part,
    table_part,
)
from scorereport.report.tables.discriminating import discrimination_table

if TYPE_CHECKING:
    from scorereport.report.report_record import Report


def describe_discrimination_section(report: Report) -> SectionContent | None:
    """ROC curves and the measures that sum them up; None where all outcomes are the same."""
    evaluation = report.evaluation
    if evaluation.data.sample.prevalence in (0.0, 1.0):
        return None
    models = evaluation.models
    return SectionContent(
        name="discrimination",
        title="Discrimination",
        parts=collect_parts(
            auc=table_part(
                discrimination_table(models, format_level(evaluation.settings.level)),
                describe_time_note(evaluation),
            ),
            roc=figure_part(
                plot_roc,
                describe_roc(models),
                models,
                caption="ROC curves: the share of events found against the share of non-events flagged, at "
                "every threshold. Thin: their concave hulls, which isotonic recalibration attains here.",
            ),
        ),
    )
