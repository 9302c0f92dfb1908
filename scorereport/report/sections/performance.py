"""Overall performance: scores with intervals and skill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level
from scorereport.report.section_parts import SectionContent, collect_parts, describe_time_note, table_part
from scorereport.report.tables.score_tables import score_table

if TYPE_CHECKING:
    from scorereport.report.report_record import Report


def describe_performance_section(report: Report) -> SectionContent:
    """Scores of all models over all costs."""
    evaluation = report.evaluation
    models = [result.scores for result in evaluation.models]
    ranks = {(rank.model, rank.measure): rank for rank in evaluation.comparisons.ranks}
    return SectionContent(
        name="performance",
        title="Overall performance",
        parts=collect_parts(
            scores=table_part(
                score_table(models, ranks, format_level(evaluation.settings.level)),
                describe_time_note(evaluation),
            )
        ),
    )
