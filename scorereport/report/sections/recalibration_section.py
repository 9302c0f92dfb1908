"""The section on recalibration: gains of maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level
from scorereport.report.section_declaration import BINARY, Section
from scorereport.report.section_parts import SectionContent, collect_parts, describe_time_note, table_part
from scorereport.report.tables.recalibration_tables import recalibration_table

if TYPE_CHECKING:
    from scorereport.report.report_record import Report


def describe_recalibration_section(report: Report) -> SectionContent | None:
    """Describe the effect of each map on each model; None if none was tried."""
    evaluation = report.evaluation
    table = recalibration_table(evaluation.models, format_level(evaluation.settings.level))
    if table is None:
        return None
    trials = [trial for model in evaluation.models for trial in model.recalibration]
    return SectionContent(
        parts=collect_parts(recalibration=table_part(table, describe_time_note(evaluation))),
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


RECALIBRATION = Section(
    name="recalibration",
    title="Recalibration",
    order=160,
    describe=describe_recalibration_section,
    kinds=BINARY,
)
