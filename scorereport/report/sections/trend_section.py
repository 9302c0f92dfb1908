"""The section on earlier audits: numbers over time, evidence for a change, and population shift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_count, format_counted, format_level, join_words
from scorereport.history.trend.drift_sentences import DRIFT_SIZES
from scorereport.history.trend.reference_audits import ENOUGH_AUDITS
from scorereport.inference.components import FEW_EVENTS
from scorereport.plots.trend_plot import (
    MOST_MARKS,
    MOST_MODELS,
    describe_trend,
    name_models,
    plot_trend,
)
from scorereport.report.evidence_content import describe_trend_evidence, draw_evidence, explain_sequences
from scorereport.report.seal_content import describe_seal_part, seal_table
from scorereport.report.section_declaration import Profile, Section
from scorereport.report.section_parts import SectionContent, collect_parts, figure_part, table_part
from scorereport.report.tables.evidence_tables import evidence_table
from scorereport.report.tables.history_tables import (
    forecast_drift_table,
    measure_drift_table,
    population_shift_table,
)

if TYPE_CHECKING:
    from scorereport.history.trend.drift_records import Drift, Trend
    from scorereport.history.trend.evidence_records import TrendEvidence
    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Part

#: With more periods, only the first and the last are named.
_MOST_NAMED = 4


def describe_trend_section(report: Report) -> SectionContent | None:
    """Describe numbers over time and tests of drift; None if the report is not an audit."""
    trend: Trend | None = report.trend
    if trend is None:
        return None
    level = format_level(trend.snapshots[-1].level)
    evidence = trend.evidence
    compared = (
        _list_test_parts(report, trend, level)
        if evidence is None
        else _list_evidence_parts(report, trend, evidence, level)
    )
    return SectionContent(
        parts=compared | collect_parts(seal=table_part(seal_table(report))),
        content={
            "seal": describe_seal_part(report),
            **_describe(trend, kind=report.evaluation.kind),
            "evidence": {} if evidence is None else describe_trend_evidence(evidence),
            "is_closed": report.evaluation.settings.engine != "memory",
            "explains_tests": report.configuration.report.profile == Profile.FULL,
        },
    )


def _list_test_parts(report: Report, trend: Trend, level: str) -> dict[str, Part]:
    """Return tables and figure of tests against earlier audits."""
    return collect_parts(
        drift=table_part(measure_drift_table(trend, level)),
        trend=_draw(report, trend, level),
        forecast_drift=table_part(forecast_drift_table(trend, level)),
    )


def _list_evidence_parts(
    report: Report, trend: Trend, evidence: TrendEvidence, level: str
) -> dict[str, Part]:
    """Return figures and tables of evidence, and the table of population shift."""
    return collect_parts(
        evidence=table_part(evidence_table(trend)),
        evidence_figure=draw_evidence(trend, evidence),
        trend=_draw(report, trend, level),
        shift=table_part(population_shift_table(trend, level)),
    )


def _draw(report: Report, trend: Trend, level: str) -> Part | None:
    """Return the figure; None if there is no earlier audit to show."""
    if len(trend.snapshots) == 1:
        return None
    models = len(name_models(trend))
    left_out = f" Only the first {MOST_MODELS} of {models} models are shown." if models > MOST_MODELS else ""
    has_limits = any(not judgement.group for judgement in report.judgements)
    limits = " Dashed lines: current limits; an arrow points to a limit outside a panel." * has_limits
    has_marks = len(trend.snapshots) <= MOST_MARKS and bool(trend.reference) and trend.evidence is None
    marks = " Medium-sized points: the audits that it is tested against." * has_marks
    bands = explain_sequences(trend)
    where = "at the last day" if trend.snapshots[-1].period.start is None else "at the middle"
    return figure_part(
        plot_trend,
        describe_trend(trend, report.judgements),
        trend,
        report.judgements,
        caption=f"Numbers of {format_counted(len(trend.snapshots), 'audit')}, each {where} of its period, "
        f"with {level} intervals. Large points: this audit.{marks}{bands}{limits}{left_out}",
    )


def _describe(trend: Trend, *, kind: str) -> dict[str, Any]:
    """Return the values that the template shows."""
    current, tested = trend.snapshots[-1], [drift for drift in trend.drifts if not drift.note]
    return {
        "is_first": len(trend.snapshots) == 1,
        "period": current.period.label,
        "earlier": format_counted(len(trend.snapshots) - 1, "earlier audit"),
        "reference": _name_periods(trend),
        "rows": format_counted(current.rows, "row"),
        "tests": format_count(len(tested)),
        "has_drifted": trend.has_drifted,
        "drifted": [_without_caution(drift) for drift in trend.drifts if drift.has_drifted],
        "stable": [_without_caution(drift) for drift in trend.drifts if not drift.has_drifted],
        "alpha": format_level(trend.alpha),
        "looks": format_counted(trend.looks, "audit"),
        "what": "the event happens" if kind == "binary" else "each class occurs",
        "sizes": {name: [format_level(size) for size in sizes] for name, sizes in DRIFT_SIZES.items()},
        "index": DRIFT_SIZES["forecasts"],
        "fewest": format_count(FEW_EVENTS),
        "enough": format_count(ENOUGH_AUDITS),
        "notes": list(trend.notes),
    }


def _without_caution(drift: Drift) -> str:
    """Return the sentence on a drift without its caution, which the table states once for all."""
    return drift.sentence.removesuffix(drift.caution).rstrip()


def _name_periods(trend: Trend) -> str:
    """Return the names of the reference periods, or of the first and the last if there are many."""
    labels = trend.reference
    if len(labels) <= _MOST_NAMED:
        return join_words(labels) if labels else ""
    return f"{format_counted(len(labels), 'period')} from {labels[0]} to {labels[-1]}"


TREND = Section(
    name="trend",
    title="Comparison with earlier audits",
    order=150,
    describe=describe_trend_section,
    profile=Profile.STANDARD,
)
