"""The summary section, the page that says it all: verdict, limits, diagrams, findings, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_counted, format_p_value
from scorereport.configuration.judgement import find_alpha
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.plots.small_diagrams import (
    MOST_DIAGRAMS,
    caption_small_diagrams,
    describe_small_diagrams,
    list_diagrams,
    plot_small_diagrams,
)
from scorereport.reference.certificate_verdicts import BASIS, split_basis
from scorereport.report.calibration_decision import decide_calibration
from scorereport.report.miscalibration_patterns import adjusted_p_value, format_relation
from scorereport.report.section_declaration import Profile, Section
from scorereport.report.section_parts import SectionContent, collect_parts, figure_part
from scorereport.report.sections.limits_section import describe_limits_origin
from scorereport.report.summary_layout import fit_summary
from scorereport.report.summary_page import describe_verdict_sentence
from scorereport.report.tables.short_tables import choose_best
from scorereport.report.verdict_labels import certificate_badge

if TYPE_CHECKING:
    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Part
    from scorereport.results.class_records import ClassModelResult
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelResult

#: What each verdict on calibration is called above a small diagram.
_WORDS = {
    LimitVerdict.PASS: "not shown to be wrong",
    LimitVerdict.WARN: "not decided",
    LimitVerdict.INCONCLUSIVE: "not decided",
    LimitVerdict.FAIL: "miscalibrated",
}


def describe_summary_section(report: Report) -> SectionContent:
    """Describe the verdict, the matrix of limits, the diagrams, findings, actions, and what is missing."""
    page, matrix, _ = fit_summary(report)
    return SectionContent(
        parts=collect_parts(limits=matrix, small_diagrams=_draw_diagrams(report.evaluation)),
        content={
            "verdict": {**describe_overall_verdict(report), "label": "", "details": page.fitness},
            "set_by": describe_limits_origin(report.configuration.limits) if matrix else "",
            "findings": page.findings,
            "actions": page.actions,
            "missing": page.missing,
            "basis": [_mark_certificate(sentence) for sentence in page.basis],
            "other_findings": page.other_findings,
        },
    )


def describe_overall_verdict(report: Report) -> dict[str, Any]:
    """Describe the verdict over all limits, the first thing a reader sees, for a banner."""
    tone, mark, sentence = describe_verdict_sentence(report.judgements)
    return {"label": "Verdict", "tone": tone, "mark": mark, "sentence": sentence, "details": []}


def _mark_certificate(sentence: str) -> dict[str, Any]:
    """Split the sentence on the certificate at its verdict, which has a colour."""
    parts = split_basis(sentence)
    if parts is None:
        return {"text": sentence, "verdict": None, "rest": ""}
    verdict, rest = parts
    return {"text": BASIS, "verdict": certificate_badge(verdict), "rest": rest}


def _draw_diagrams(evaluation: Evaluation) -> Part | None:
    """Plan the row of small diagrams of the best models."""
    chosen = choose_best(evaluation, MOST_DIAGRAMS)
    words = {result.model: _judge_in_words(result, evaluation) for result in chosen}
    diagrams = list_diagrams(evaluation, words)
    left_out = len(evaluation.results) - len(chosen)
    rest = f" {format_counted(left_out, 'more model')} not shown." if left_out else ""
    return figure_part(
        plot_small_diagrams,
        describe_small_diagrams(diagrams),
        diagrams,
        caption=f"{caption_small_diagrams(diagrams)}{rest}",
    )


def _judge_in_words(result: ModelResult | ClassModelResult, evaluation: Evaluation) -> str:
    """Judge the calibration of a model in a few words; empty if it was not tested."""
    decision = decide_calibration(result, evaluation, find_alpha(evaluation))
    if decision is None:
        return ""
    p_value = (
        "" if decision.test is None else format_relation(format_p_value(adjusted_p_value(decision.test)))
    )
    return f"{_WORDS[decision.verdict]}{f', p {p_value}' if p_value else ''}"


SUMMARY = Section(
    name="summary",
    title="Summary",
    order=10,
    describe=describe_summary_section,
    profile=Profile.SUMMARY,
)
