"""The section on missing outcomes: what they could change, over all values that they may have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import conjugate, format_count, format_counted, format_percent
from scorereport.configuration.tipping_shares import find_observed_rate, find_tipping_shares
from scorereport.inference.missing_outcomes import DECOMPOSED
from scorereport.plots.outcome_share_curves import describe_outcome_shares, plot_outcome_shares
from scorereport.report.section_declaration import BINARY, Profile, Section
from scorereport.report.section_parts import SectionContent, collect_parts, figure_part, table_part
from scorereport.report.tables.missing_outcome_tables import missing_outcome_table, tipping_table

if TYPE_CHECKING:
    from scorereport.inference.missing_outcomes import MissingOutcomes
    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Part


def describe_missing_outcome_section(report: Report) -> SectionContent | None:
    """Describe bounds over missing outcomes, and shares at which verdicts change; None without such rows."""
    missing = report.evaluation.missing_outcomes
    if missing is None:
        return None
    tippings = find_tipping_shares(report.evaluation, report.judgements)
    return SectionContent(
        parts=collect_parts(
            outcome_bounds=table_part(missing_outcome_table(missing)),
            tipping=table_part(tipping_table(tippings, missing.kind)),
            tipping_figure=_make_figure(report, missing),
        ),
        content={
            "rows": format_counted(missing.rows, "row"),
            "have": conjugate(missing.rows, "have"),
            "share": format_percent(missing.share),
            "kind": missing.kind,
            "immature": _describe_immature(report, missing),
            "others": _describe_others(report, missing),
            "unfollowed": sum(not judgement.group for judgement in report.judgements) - len(tippings),
        },
        at_end=("tipping_figure",),
    )


def _make_figure(report: Report, missing: MissingOutcomes) -> Part:
    """The figure of score and miscalibration by share, with the limits on the Brier score of all models."""
    rate, judged = find_observed_rate(missing), (j for j in report.judgements if not j.group)
    limits = {j.fail_upper for j in judged if j.measure == DECOMPOSED and j.fail_upper is not None}
    return figure_part(
        plot_outcome_shares,
        describe_outcome_shares(missing, rate),
        missing,
        rate=rate,
        limits=sorted(limits),
        caption="Brier score and MCB, not corrected for overfit, by the share of events among the "
        f"{missing.kind} outcomes; the vertical line is at the rate of the observed rows, "
        f"{format_percent(rate)}.",
    )


def _describe_immature(report: Report, missing: MissingOutcomes) -> str:
    """State how many of the rows are too young, and when their outcomes are final; empty if none is."""
    immature = report.evaluation.data.row_flow.immature
    if immature is None or not missing.immature:
        return ""
    others = missing.rows - missing.immature
    all_of_them = "It" if missing.rows == 1 else "They"
    which = format_count(missing.immature) if others else all_of_them
    lack = f", and {format_count(others)} {conjugate(others, 'lack')} the outcome for another reason"
    return (
        f"{which} {conjugate(missing.immature, 'are')} immature: younger than {immature.mature_after}, so "
        f"that the outcome may still change{lack if others else ''}. The present outcomes of immature rows "
        "are not used, even where an event is known already, because events are often known before "
        f"non-events. All outcomes are final from {immature.final_on}; an audit of this period from that day "
        "on evaluates them."
    )


def _describe_others(report: Report, missing: MissingOutcomes) -> str:
    """State how many rows without an outcome lack other values too; empty if there are none."""
    data = report.evaluation.data
    lacking = sum(column.rows for column in data.row_flow.missing if column.column == data.outcome)
    others = lacking + (data.row_flow.immature_rows or 0) - missing.rows
    if others <= 0:
        return ""
    final = "a final" if missing.immature else "an"
    return (
        f"{format_counted(others, 'further row')} without {final} outcome {conjugate(others, 'have')} no "
        f"weight or {conjugate(others, 'lack')} other values as well; the bounds are without them."
    )


MISSING_OUTCOMES = Section(
    name="missing-outcomes",
    title="Missing outcomes",
    order=38,
    describe=describe_missing_outcome_section,
    kinds=BINARY,
    profile=Profile.STANDARD,
    full_parts="tipping_figure",
)
