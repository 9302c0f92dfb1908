"""Discrimination: how well the models tell events from non-events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level
from scorereport.plots import describe_roc, plot_roc
from scorereport.report.section_parts import Section, collect_parts, make_figure, make_table, note_time
from scorereport.report.tables.discriminating import discrimination_table

if TYPE_CHECKING:
    from scorereport.report.report_record import Report


def describe_discrimination(report: Report) -> Section | None:
    """ROC curves and the measures that sum them up; None where all outcomes are the same."""
    evaluation = report.evaluation
    if evaluation.data.sample.prevalence in (0.0, 1.0):
        return None
    models = evaluation.models
    return Section(
        name="discrimination",
        title="Discrimination",
        parts=collect_parts(
            auc=make_table(
                discrimination_table(models, format_level(evaluation.settings.level)), note_time(evaluation)
            ),
            roc=make_figure(
                plot_roc,
                describe_roc(models),
                models,
                caption="ROC curves: the share of events found against the share of non-events flagged, at "
                "every threshold. Thin: their concave hulls, which isotonic recalibration attains here.",
            ),
        ),
    )
