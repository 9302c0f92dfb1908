"""The sections on performance and comparison: scores, skills, costs of class decisions, differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level
from scorereport.plots.murphy_diagram import describe_murphy_differences, plot_murphy_differences
from scorereport.report.section_declaration import Profile, Section
from scorereport.report.section_parts import (
    SectionContent,
    collect_parts,
    describe_time_note,
    figure_part,
    table_part,
)
from scorereport.report.tables.decision_tables import (
    cost_matrix_table,
    cost_table,
    find_decision_costs,
    penalty_table,
)
from scorereport.report.tables.decomposition_tables import decomposition_table
from scorereport.report.tables.score_tables import describe_scalings, difference_table, score_table

if TYPE_CHECKING:
    from scorereport.report.report_record import Report


def describe_class_performance_section(report: Report) -> SectionContent | None:
    """Describe scores, penalties and costs of decisions of class models; None for binary models."""
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
    costs_key = "default_costs" if evaluation.settings.cost_matrix is None else "cost_matrix"
    return SectionContent(
        parts=collect_parts(
            scores=table_part(
                score_table(models, ranks, level, n_classes=n_classes), describe_time_note(evaluation)
            ),
            score_components=table_part(decomposition_table(models, level), describe_time_note(evaluation)),
            penalties=table_part(penalty_table(models, n_classes, level), describe_time_note(evaluation)),
            costs=table_part(cost_table(models, costs, level), describe_time_note(evaluation)),
            **{costs_key: table_part(cost_matrix_table(costs, classes.labels))},
        ),
        content={
            "has_intervals": bool(models[0].components),
            "scalings": describe_scalings(n_classes) if classes.ordered else "",
            "is_ordered": classes.ordered,
            "has_costs": evaluation.settings.cost_matrix is not None,
            "n_classes": str(n_classes),
        },
    )


def describe_performance_section(report: Report) -> SectionContent:
    """Describe the scores of all binary models."""
    evaluation = report.evaluation
    models = [result.scores for result in evaluation.models]
    ranks = {(rank.model, rank.measure): rank for rank in evaluation.comparisons.ranks}
    return SectionContent(
        parts=collect_parts(
            scores=table_part(
                score_table(models, ranks, format_level(evaluation.settings.level)),
                describe_time_note(evaluation),
            )
        ),
    )


def describe_comparison_section(report: Report) -> SectionContent | None:
    """Describe the paired differences between models; None if nothing was compared."""
    evaluation = report.evaluation
    compared, level = evaluation.comparisons, format_level(evaluation.settings.level)
    if not compared.differences:
        return None
    curves = compared.murphy
    return SectionContent(
        parts=collect_parts(
            differences=table_part(difference_table(compared.differences, level)),
            murphy_differences=figure_part(
                plot_murphy_differences,
                describe_murphy_differences(curves),
                curves,
                caption="Difference of mean elementary scores against the cost ratio; below zero, the first "
                f"model is better. {format_level(curves[0].level)} bands: dark, pointwise; light, "
                f"simultaneous over all costs ({curves[0].resamples} draws, seed "
                f"{curves[0].seed}){', for each pair separately' if len(curves) > 1 else ''}.",
            )
            if curves
            else None,
        ),
        content={"sentences": [curve.sentence for curve in curves]},
    )


PERFORMANCE = Section(
    name="performance",
    title="Overall performance",
    order=50,
    describe=describe_performance_section,
    describe_classes=describe_class_performance_section,
    profile=Profile.STANDARD,
    full_parts="default_costs",
)


COMPARISON = Section(
    name="comparison",
    title="Comparison of models",
    order=120,
    describe=describe_comparison_section,
    profile=Profile.STANDARD,
    full_parts="murphy_differences",
)
