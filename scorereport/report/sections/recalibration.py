"""Recalibration: what it would change, measured on cases that its maps have not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level
from scorereport.report.section_parts import Section, collect_parts, make_table, note_time
from scorereport.report.tables.decision_tables import recalibration_table

if TYPE_CHECKING:
    from scorereport.report.report_record import Report


def describe_recalibration(report: Report) -> Section | None:
    """The effect of each map on each model; None if none was tried."""
    evaluation = report.evaluation
    table = recalibration_table(evaluation.models, format_level(evaluation.settings.level))
    if table is None:
        return None
    trials = [trial for model in evaluation.models for trial in model.recalibration]
    return Section(
        name="recalibration",
        title="Recalibration",
        parts=collect_parts(recalibration=make_table(table, note_time(evaluation))),
        content={
            "folds": str(trials[0].folds),
            "seed": str(trials[0].seed),
            "notes": list(
                dict.fromkeys(
                    f"{model.model}, {trial.method}: {trial.note}"
                    for model in evaluation.models
                    for trial in model.recalibration
                    if trial.note
                )
            ),
        },
    )
