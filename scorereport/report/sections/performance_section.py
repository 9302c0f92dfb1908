"""Overall performance of models of K classes: scores with intervals and skill, penalties and costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level
from scorereport.report.section_parts import SectionContent, collect_parts, describe_time_note, table_part
from scorereport.report.tables.class_scoring import (
    cost_matrix_table,
    cost_table,
    find_decision_costs,
    penalty_table,
)
from scorereport.report.tables.score_tables import describe_scalings, score_table

if TYPE_CHECKING:
    from scorereport.report.report_record import Report


def describe_class_performance_section(report: Report) -> SectionContent | None:
    """Scores of all models, what penalties add to them, and what decisions cost; None of binary models."""
    evaluation = report.evaluation
    classes, costs = evaluation.data.classes, find_decision_costs(evaluation)
    if classes is None or costs is None:
        return None
    models, level = (
        [result.scores for result in evaluation.class_models],
        format_level(evaluation.settings.level),
    )
    ranks = {(rank.model, rank.measure): rank for rank in evaluation.comparisons.ranks}
    n_classes = len(classes.counts)
    return SectionContent(
        name="performance",
        title="Overall performance",
        template="sections/class-performance.html",
        parts=collect_parts(
            scores=table_part(
                score_table(models, ranks, level, n_classes=n_classes), describe_time_note(evaluation)
            ),
            penalties=table_part(penalty_table(models, n_classes, level), describe_time_note(evaluation)),
            costs=table_part(cost_table(models, costs, level), describe_time_note(evaluation)),
            cost_matrix=table_part(cost_matrix_table(costs, classes.labels)),
        ),
        content={
            "scalings": describe_scalings(n_classes) if classes.ordered else "",
            "is_ordered": classes.ordered,
            "has_costs": evaluation.settings.cost_matrix is not None,
            "n_classes": str(n_classes),
        },
    )
