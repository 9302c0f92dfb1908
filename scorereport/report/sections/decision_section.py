"""The section on decisions: costs and benefits of acting on forecasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level, format_plain
from scorereport.plots.decision_curves import describe_decision, describe_regret, plot_decision, plot_regret
from scorereport.report.section_declaration import BINARY, Profile, Section
from scorereport.report.section_parts import (
    SectionContent,
    collect_parts,
    describe_time_note,
    figure_part,
    table_part,
)
from scorereport.report.tables.decision_tables import threshold_decision_table
from scorereport.report.tables.score_tables import bounded_table

if TYPE_CHECKING:
    from scorereport.report.report_record import Report
    from scorereport.report.tables.table import Table
    from scorereport.results.evaluation import Evaluation


def describe_decision_section(report: Report) -> SectionContent:
    """Describe regret, net benefit and thresholds over the relevant costs."""
    evaluation = report.evaluation
    models, costs = evaluation.models, evaluation.settings.cost_interval
    shaded = (
        ""
        if costs is None
        else f" Shaded: costs between {format_plain(costs[0])} and {format_plain(costs[1])}."
    )
    return SectionContent(
        parts=collect_parts(
            bounded=table_part(_bounded(evaluation), describe_time_note(evaluation)),
            regret=figure_part(
                plot_regret,
                describe_regret(models, costs),
                models,
                costs,
                caption="Regret curves: mean loss in excess of perfect foresight, against the cost ratio c: "
                f"a false alarm costs c, a miss 1 − c. Lower is better.{shaded}",
            ),
            decision=figure_part(
                plot_decision,
                describe_decision(models, costs),
                models,
                costs,
                caption="Decision curves: net benefit of acting if the forecast is at least the threshold, "
                "compared with acting always and never. Higher is "
                f"better.{_describe_band(evaluation)}{shaded}",
            ),
            thresholds=table_part(
                threshold_decision_table(models, format_level(evaluation.settings.level)),
                describe_time_note(evaluation),
            ),
        ),
        content={"costs": "" if costs is None else f"{format_plain(costs[0])} to {format_plain(costs[1])}"},
    )


def _describe_band(evaluation: Evaluation) -> str:
    """Describe the light areas, if there are any."""
    bands = [model.curves.decision.band for model in evaluation.models]
    if not any(band is not None and not band.note for band in bands):
        return ""
    level = format_level(evaluation.settings.level)
    return f" Light areas: {level} intervals at each threshold separately."


def _bounded(evaluation: Evaluation) -> Table | None:
    costs = evaluation.settings.cost_interval
    if costs is None:
        return None
    ranks = {(rank.model, rank.measure): rank for rank in evaluation.comparisons.ranks}
    models = [result.scores for result in evaluation.models]
    return bounded_table(models, ranks, format_level(evaluation.settings.level), *costs)


DECISION = Section(
    name="decision",
    title="Decisions",
    order=90,
    describe=describe_decision_section,
    kinds=BINARY,
    profile=Profile.STANDARD,
    full_parts="regret",
)
