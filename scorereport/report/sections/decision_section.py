"""The section on decisions: costs and benefits of acting on forecasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level, format_plain
from scorereport.inference.decision_differences import TREAT_ALL, TREAT_NONE
from scorereport.plots.decision_curves import describe_decision, describe_regret, plot_decision, plot_regret
from scorereport.plots.intervention_curves import describe_interventions, plot_interventions
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
from scorereport.report.tables.threshold_tables import decision_count_table, decision_range_table

if TYPE_CHECKING:
    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Part
    from scorereport.report.tables.table import Table
    from scorereport.results.evaluation import Evaluation


def describe_decision_section(report: Report) -> SectionContent:
    """Describe regret, net benefit and thresholds over the relevant costs."""
    evaluation = report.evaluation
    models, costs = evaluation.models, evaluation.settings.cost_interval
    decisions, level = evaluation.comparisons.decisions, format_level(evaluation.settings.level)
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
                decisions,
                caption="Decision curves: net benefit of acting if the forecast is at least the threshold, "
                "compared with acting always and never. Higher is "
                f"better.{_describe_band(evaluation)}{shaded}",
            ),
            interventions=_draw_interventions(evaluation, shaded),
            decision_ranges=table_part(
                decision_range_table(decisions, level), describe_time_note(evaluation)
            ),
            thresholds=table_part(threshold_decision_table(models, level), describe_time_note(evaluation)),
            decision_counts=table_part(decision_count_table(models, weighted=evaluation.data.weighted)),
        ),
        content={"costs": "" if costs is None else f"{format_plain(costs[0])} to {format_plain(costs[1])}"},
    )


def _draw_interventions(evaluation: Evaluation, shaded: str) -> Part:
    """Draw the net reduction in interventions."""
    models, costs = evaluation.models, evaluation.settings.cost_interval
    decisions = evaluation.comparisons.decisions
    return figure_part(
        plot_interventions,
        describe_interventions(models, costs),
        models,
        costs,
        decisions,
        caption="Net reduction in interventions per 100 cases: interventions that the model avoids, compared "
        "with acting on all cases, without a change in the number of treated events. Higher is "
        f"better.{_describe_whole_band(evaluation, TREAT_ALL)}{shaded}",
    )


def _describe_band(evaluation: Evaluation) -> str:
    """Describe the light areas, if there are any."""
    if whole := _describe_whole_band(evaluation, TREAT_NONE):
        return whole
    bands = [model.curves.decision.band for model in evaluation.models]
    if not any(band is not None and not band.note for band in bands):
        return ""
    level = format_level(evaluation.settings.level)
    return f" Light areas: {level} intervals at each threshold separately."


def _describe_whole_band(evaluation: Evaluation, policy: str) -> str:
    """Describe light areas that hold for whole curves; empty if there are none."""
    found = [d for d in evaluation.comparisons.decisions or () if d.against == policy and not d.note]
    if not found:
        return ""
    first, last = (format_plain(t) for t in found[0].threshold[[0, -1]].tolist())
    return (
        f" Light areas: {format_level(found[0].level)} simultaneous bands; the whole curve of a model, "
        f"between thresholds {first} and {last}, lies inside with that probability."
    )


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
    full_parts="regret|interventions|decision_counts",
)
