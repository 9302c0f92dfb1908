"""The section on limits: who set them, how they are judged, and the verdicts that the summary leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_count, format_time
from scorereport.configuration.judgement import describe_unjudged
from scorereport.configuration.limit_changes import LimitProvenance
from scorereport.configuration.limit_verdicts import count_limit_verdicts
from scorereport.report.section_declaration import Profile, Section
from scorereport.report.section_parts import SectionContent, collect_parts, table_part
from scorereport.report.summary_layout import fit_summary
from scorereport.report.tables.limit_tables import explain_verdicts, limit_change_table, make_limits_table
from scorereport.report.tables.need_tables import needed_cases_table
from scorereport.report.verdict_labels import VERDICT_LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.configuration import LimitsTable
    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.report.report_record import Report


def describe_limits_section(report: Report) -> SectionContent | None:
    """Describe the origin of the limits, their changes, and the verdicts; None without limits and changes."""
    provenance = report.limit_provenance or LimitProvenance()
    if not report.judgements and not provenance.changes:
        return None
    limits = report.configuration.limits
    return SectionContent(
        parts=collect_parts(
            limit_changes=table_part(limit_change_table(provenance)),
            group_limits=make_limits_table(report, fit_summary(report).most_limits),
            needed_cases=table_part(needed_cases_table(report.judgements)),
        ),
        content={
            "set_by": describe_limits_origin(limits) if report.judgements else "No limits are set.",
            "explained": explain_verdicts(report.judgements) if report.judgements else "",
            "provenance": list(_describe_provenance(provenance)),
            "counts": _count_judgements(report.judgements),
            "unjudged": describe_unjudged(report.evaluation, limits),
        },
    )


def describe_limits_origin(limits: LimitsTable) -> str:
    """State who set the limits, and when."""
    when = f" on {limits.set_on}" if limits.set_on else ""
    return f"Limits set by {limits.set_by or 'a person not named'}{when}."


def _describe_provenance(provenance: LimitProvenance) -> Iterator[str]:
    """State who approved the limits, and why they could not be compared with earlier ones."""
    if (approval := provenance.approval) is not None:
        yield (
            f"A second person approved the limits on {format_time(approval.time)} in record "
            f"{approval.record}: {approval.reason.removesuffix('.')}. The key of this person is "
            f"{approval.key}."
        )
    if provenance.note:
        yield provenance.note


def _count_judgements(judgements: Sequence[Judgement]) -> list[dict[str, str]]:
    return [
        dict(zip(("tone", "mark", "text"), VERDICT_LABELS[verdict], strict=True)) | {"count": format_count(n)}
        for verdict, n in count_limit_verdicts(judgements).items()
        if n
    ]


LIMITS = Section(
    name="limits",
    title="Limits",
    order=45,
    describe=describe_limits_section,
    profile=Profile.STANDARD,
)
