"""The sections on subgroups and periods: whether models are equally good in all of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_counted, format_level
from scorereport.plots.forest_plots import describe_groups, plot_groups
from scorereport.plots.period_plots import describe_windows, plot_windows
from scorereport.report.section_declaration import Profile, Section
from scorereport.report.section_parts import (
    SectionContent,
    collect_parts,
    describe_time_note,
    figure_part,
    table_part,
)
from scorereport.report.tables.group_tables import group_table, heterogeneity_table
from scorereport.report.tables.table import score_label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Part
    from scorereport.results.model_records import GroupResult

#: Most groups on a page; the results document has all of them.
MOST_GROUPS = 40


def describe_groups_section(report: Report) -> SectionContent | None:
    """Describe the results by subgroup, a table and a figure for each column; None without subgroups."""
    evaluation = report.evaluation
    columns = list(dict.fromkeys(group.column for group in evaluation.groups))
    if not columns:
        return None
    level = format_level(evaluation.settings.level)
    what = "the event happens" if evaluation.kind == "binary" else "each class occurs"
    blocks, parts = [], {}
    for place, column in enumerate(columns, start=1):
        members = [group for group in evaluation.groups if group.column == column]
        keys = {"table": f"groups_{place}", "figure": f"groups_figure_{place}"}
        parts[keys["table"]] = table_part(
            group_table(column, members[:MOST_GROUPS], level, weighted=evaluation.data.weighted),
            describe_time_note(evaluation),
        )
        parts[keys["figure"]] = _draw(
            partial(plot_groups, measure=evaluation.main_score),
            partial(describe_groups, measure=evaluation.main_score),
            members[:MOST_GROUPS],
            f"{score_label(evaluation.main_score)} by {column}",
            level,
        )
        blocks.append({"title": column, "keys": list(keys.values()), "left_out": _count_left_out(members)})
    differ = (
        table_part(heterogeneity_table(evaluation), describe_time_note(evaluation))
        if evaluation.heterogeneity
        else None
    )
    return SectionContent(
        parts=collect_parts(**parts, heterogeneity=differ),
        content={"columns": blocks, "smallest": str(evaluation.settings.smallest_group), "what": what},
    )


def describe_time_section(report: Report) -> SectionContent | None:
    """Describe the results by period; None if the data have no dates."""
    evaluation = report.evaluation
    if not evaluation.windows:
        return None
    windows, level = evaluation.windows, format_level(evaluation.settings.level)
    column, weighted = windows[0].column, evaluation.data.weighted
    return SectionContent(
        parts=collect_parts(
            windows=table_part(
                group_table(column, windows[-MOST_GROUPS:], level, weighted=weighted),
                describe_time_note(evaluation),
            ),
            windows_figure=_draw(
                partial(plot_windows, measure=evaluation.main_score),
                partial(describe_windows, measure=evaluation.main_score),
                windows[-MOST_GROUPS:],
                f"{score_label(evaluation.main_score)} by {column}",
                level,
            ),
        ),
        content={"column": column, "left_out": _count_left_out(windows)},
    )


def _draw(
    plot: Callable[..., Any],
    describe: Callable[..., str],
    shown: Sequence[GroupResult],
    what: str,
    level: str,
) -> Part | None:
    """Draw the groups that were scored; None if none was."""
    scored = [model for group in shown for model in group.models]
    if not scored:
        return None
    whiskers = f", with {level} intervals" if scored[0].scores[0].interval is not None else ""
    return figure_part(
        plot,
        describe(shown),
        shown,
        caption=f"{what}{whiskers}. Lower is better, but the score also depends on how often "
        f"{'each class occurs' if shown[0].sample.classes else 'the event happens'} in a group.",
    )


def _count_left_out(groups: Sequence[GroupResult]) -> str:
    """State how many groups the page leaves out; empty if none."""
    more = len(groups) - MOST_GROUPS
    return (
        f"{format_counted(more, 'more group')} {'is' if more == 1 else 'are'} in the results document."
        if more > 0
        else ""
    )


GROUPS = Section(
    name="groups",
    title="Subgroups",
    order=130,
    describe=describe_groups_section,
    profile=Profile.STANDARD,
)


TIME = Section(
    name="time",
    title="Time",
    order=140,
    describe=describe_time_section,
)
