"""The section that compares the sample with a reference sample, such as that of the development."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    format_count,
    format_counted,
    format_level,
    format_percent,
    format_plain,
)
from scorereport.plots.sample_comparison import describe_sample_comparison, plot_sample_comparison
from scorereport.report.reference_findings import INDEX_CONVENTION
from scorereport.report.section_declaration import BINARY, Profile, Section
from scorereport.report.section_parts import (
    SectionContent,
    collect_parts,
    describe_time_note,
    figure_part,
    label_facts,
    table_part,
)
from scorereport.report.tables.sample_change_tables import (
    bins_table,
    change_table,
    column_table,
    component_change_table,
    rate_table,
    stability_table,
)

if TYPE_CHECKING:
    from scorereport.report.report_record import Report
    from scorereport.results.reference_records import ReferenceComparison

#: Share of the sample beyond the forecasts of the reference from which the section mentions it.
_SHARE_OUTSIDE = 0.01


def describe_reference_section(report: Report) -> SectionContent | None:
    """Describe the comparison with the reference sample; None without one."""
    evaluation = report.evaluation
    stability, comparison = evaluation.stability, evaluation.reference
    if not stability:
        return None
    if comparison is None:  # a document of a version that compared forecasts only
        return SectionContent(parts=collect_parts(stability=table_part(stability_table(stability))))
    level, note = format_level(evaluation.settings.level), describe_time_note(evaluation)
    bins = {f"bins_{place}": table_part(bins_table(one)) for place, one in enumerate(stability, start=1)}
    return SectionContent(
        parts=collect_parts(
            stability=table_part(stability_table(stability, comparison)),
            sample_comparison=figure_part(
                plot_sample_comparison,
                describe_sample_comparison(stability, comparison),
                evaluation.models,
                stability,
                comparison,
                caption=_caption(comparison),
            ),
            **bins,
            rate_changes=table_part(rate_table(comparison, level), note),
            changes=table_part(change_table(evaluation, level), note),
            component_changes=table_part(component_change_table(evaluation)),
            other_changes=table_part(change_table(evaluation, level, is_main=False), note),
            columns=table_part(column_table(comparison, level)),
        ),
        content={
            "facts": label_facts(_list_facts(comparison)),
            "bins": list(bins),
            "convention": [format_plain(bound) for bound in INDEX_CONVENTION],
            "outside": _describe_outside(comparison),
            "notes": list(comparison.notes),
        },
    )


def _caption(comparison: ReferenceComparison) -> str:
    curves = ", and reliability curves of both samples" if comparison.has_outcomes else ""
    return f"Forecasts by bin{curves}: the reference sample in grey, this sample in colour."


def _list_facts(comparison: ReferenceComparison) -> dict[str, str]:
    sample, events = comparison.sample, ""
    if comparison.has_outcomes:
        events = f"{format_count(sample.events)}, prevalence {format_percent(sample.prevalence)}"
    return {
        "Reference": comparison.source,
        "SHA-256": comparison.source_sha256,
        "Cases": format_counted(sample.rows, "row"),
        "Events": events,
    }


def _describe_outside(comparison: ReferenceComparison) -> list[str]:
    """A sentence for each model with forecasts beyond those of the reference, whose curve is extended."""
    return [
        f"{format_percent(found.rate.outside)} of the forecasts of {found.model} lie beyond all forecasts of "
        "the reference sample; there its curve is extended."
        for found in comparison.models
        if found.rate is not None and found.rate.outside >= _SHARE_OUTSIDE
    ]


REFERENCE = Section(
    name="reference",
    title="Comparison with a reference sample",
    order=35,
    describe=describe_reference_section,
    kinds=BINARY,
    profile=Profile.STANDARD,
    full_parts=r"bins_\d+|other_changes",
)
