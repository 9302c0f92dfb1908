"""The section on missing outcomes: what they could change, over all values that they may have."""

from __future__ import annotations

from math import isfinite, isinf
from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    conjugate,
    format_count,
    format_counted,
    format_percent,
    join_words,
)
from scorereport.configuration.tipping_shares import find_observed_rate, find_tipping_shares
from scorereport.inference.missing_outcomes import DECOMPOSED
from scorereport.plots.outcome_share_curves import describe_outcome_shares, plot_outcome_shares
from scorereport.report.section_declaration import Profile, Section
from scorereport.report.section_parts import SectionContent, collect_parts, figure_part, table_part
from scorereport.report.tables.missing_outcome_tables import (
    missing_outcome_table,
    name_bounded,
    tipping_table,
)
from scorereport.scores.registry import inside_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

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
            tipping_figure=_make_figure(report, missing)
            if missing.models and missing.has_miscalibration
            else None,
        ),
        content={
            "rows": format_counted(missing.rows, "row"),
            "have": conjugate(missing.rows, "have"),
            "share": format_percent(missing.share),
            "kind": missing.kind,
            "has_classes": bool(missing.class_models),
            "has_miscalibration": missing.has_miscalibration,
            "limits": list(_describe_limits(missing)),
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


def _describe_limits(missing: MissingOutcomes) -> Iterator[str]:
    """State which bounds are infinite, and which numbers have no bounds."""
    yield from _describe_infinite(missing)
    if missing.class_models:
        yield (
            "Skill and measures of the confusion table, such as macro F1, have no bounds: they are not means "
            "over rows."
        )
    elif not missing.has_miscalibration:
        yield (
            "MCB has no bounds: they need all rows together, and the source was read in batches, because it "
            "may be larger than memory."
        )


def _describe_infinite(missing: MissingOutcomes) -> Iterator[str]:
    """State why the highest value of a score of observed rows that is finite is infinite."""
    found: dict[str, list[str]] = {}
    for model in missing.results:
        for bounds in model.bounds:
            if isinf(bounds.upper) and isfinite(bounds.observed):
                found.setdefault(inside_sentence(name_bounded(bounds)), []).append(model.model)
    certain = "the forecast of a class is 0" if missing.class_models else "the forecast is 0 or 1"
    for score, models in found.items():
        yield (
            f"The highest {score} of {join_words(models)} is infinite, because in some of these rows "
            f"{certain}, which one outcome refutes."
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
    profile=Profile.STANDARD,
    full_parts="tipping_figure",
)
