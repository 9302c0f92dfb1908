"""Comparison: which model is better, and whether the data can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level
from scorereport.plots import describe_murphy_differences, plot_murphy_differences
from scorereport.report.section_parts import SectionContent, collect_parts, figure_part, table_part
from scorereport.report.tables.differences import difference_table

if TYPE_CHECKING:
    from scorereport.report.report_record import Report


def describe_comparison_section(report: Report) -> SectionContent | None:
    """Paired differences of all models; None if nothing was compared."""
    evaluation = report.evaluation
    compared, level = evaluation.comparisons, format_level(evaluation.settings.level)
    if not compared.differences:
        return None
    curves = compared.murphy
    return SectionContent(
        name="comparison",
        title="Comparison of models",
        parts=collect_parts(
            differences=table_part(difference_table(compared.differences, level)),
            murphy_differences=figure_part(
                plot_murphy_differences,
                describe_murphy_differences(curves),
                curves,
                caption="Difference of mean elementary scores against the cost ratio; below zero the first "
                f"model is better. Bands of level {format_level(curves[0].level)}: dark at each cost, light "
                f"at all costs together ({curves[0].resamples} draws, seed {curves[0].seed})"
                f"{', of each pair alone' if len(curves) > 1 else ''}.",
            )
            if curves
            else None,
        ),
        content={"sentences": [curve.sentence for curve in curves]},
    )
