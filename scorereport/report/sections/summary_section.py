"""The summary section: the verdict on each model, findings in plain sentences, and a table of limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_count, format_counted, format_number, format_percent
from scorereport.configuration.judgement import DEPENDENCE_CAUTION, describe_unjudged, format_judgement
from scorereport.configuration.limit_evidence import FEWEST_CASES
from scorereport.configuration.limit_records import EvidenceRule
from scorereport.configuration.limit_verdicts import LimitVerdict, count_limit_verdicts
from scorereport.configuration.measure_limits import known_measure
from scorereport.report.findings import describe_method_line, list_report_findings
from scorereport.report.section_declaration import Profile, Section
from scorereport.report.section_parts import SectionContent, collect_parts, split_paragraphs
from scorereport.report.tables.column_widths import set_widths
from scorereport.report.tables.table import length_class, score_label, table_cell
from scorereport.report.verdict_labels import CERTIFICATE_LABELS, VERDICT_LABELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.configuration import LimitsTable
    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Part
    from scorereport.results.class_records import ClassModelResult
    from scorereport.results.model_records import ModelResult


#: Most measures that are named; further ones are counted.
_MOST_LABELS = 3


def describe_cards(report: Report) -> list[dict[str, str]]:
    """Describe a card for each model with its verdict and the reason, and one for the certificate."""
    cards = [_describe_card(report, result) for result in report.evaluation.results]
    return [*cards, _describe_certificate_card(report)]


def _describe_card(report: Report, result: ModelResult | ClassModelResult) -> dict[str, str]:
    judged = [j for j in report.judgements if j.model == result.model]
    for verdict in (LimitVerdict.FAIL, LimitVerdict.INCONCLUSIVE, LimitVerdict.WARN, LimitVerdict.PASS):
        found = [j for j in judged if j.verdict is verdict]
        if found:
            tone, _, word = VERDICT_LABELS[verdict]
            many = f"{len(found)} of {len(judged)} limits" if len(judged) > 1 else "its limit"
            return {
                "label": result.model,
                "tone": tone,
                "word": word.capitalize(),
                "text": f"{many}: {_name_labels(found)}",
            }
    name = report.evaluation.main_score
    score = result.scores.score(name)
    text = f"{score_label(name)} {format_number(score.value, 4)}, skill {format_percent(score.skill)}"
    return {"label": result.model, "tone": "plain", "word": "No limits set", "text": text}


def _name_labels(judgements: Sequence[Judgement]) -> str:
    labels = list(dict.fromkeys(judgement.label for judgement in judgements))
    more = len(labels) - _MOST_LABELS
    return ", ".join(labels[:_MOST_LABELS]) + (f" and {more} more" if more > 0 else "")


def _describe_certificate_card(report: Report) -> dict[str, str]:
    certificate = report.certificate
    if certificate is None:
        text = "not verified by another implementation"
        return {"label": "R certificate", "tone": "plain", "word": "None", "text": text}
    compared = len(certificate.comparisons)
    text = f"{compared - len(certificate.unexpected)} of {compared} comparisons as expected"
    if certificate.verdict == "not certified":
        text = "these numbers were not recomputed"
    return {
        "label": "R certificate",
        "tone": CERTIFICATE_LABELS[certificate.verdict][0],
        "word": certificate.verdict.capitalize(),
        "text": f"{text}, {certificate.reference}" if certificate.reference else text,
    }


_SENTENCES = {
    LimitVerdict.PASS: "Pass: {total} of {total} limits are met",
    LimitVerdict.WARN: "Warning: all limits are met, but {n} of {total} without the required margin",
    LimitVerdict.INCONCLUSIVE: (
        "Inconclusive: for {n} of {total} limits, the data do not show whether {they_are} met"
    ),
    LimitVerdict.FAIL: "Fail: {n} of {total} limits {are} breached",
}
_DEPENDENT = (
    "(tests show that rows depend on each other in time; only intervals of the calibration line allow for it)"
)
#: Most verdicts on groups that are shown, the worst first.
_MOST_GROUP_LINES = 40
_ORDER = (LimitVerdict.FAIL, LimitVerdict.INCONCLUSIVE, LimitVerdict.WARN, LimitVerdict.PASS)


def describe_summary_section(report: Report) -> SectionContent:
    """Describe the verdict, the cards of the models, findings, and the table of limits."""
    return SectionContent(
        parts=collect_parts(limits=_limits_table(report.judgements)),
        content={
            "verdict": describe_overall_verdict(report),
            "cards": describe_cards(report),
            "counts": _count_judgements(report.judgements),
            "set_by": describe_limits_origin(report.configuration.limits),
            "unjudged": describe_unjudged(report.evaluation, report.configuration.limits),
            "findings": list_report_findings(report),
            "method": describe_method_line(report.evaluation),
            "purpose": split_paragraphs(report.configuration.report.purpose),
            "author": ""
            if report.configuration.people.author is None
            else report.configuration.people.author.name,
            "conclusion": split_paragraphs(report.configuration.texts.conclusion),
            "changes": split_paragraphs(report.configuration.texts.changes),
        },
    )


def describe_limits_origin(limits: LimitsTable) -> str:
    """State who set the limits, and when."""
    when = f" on {limits.set_on}" if limits.set_on else ""
    return f"Limits set by {limits.set_by or 'a person not named'}{when}."


def describe_overall_verdict(report: Report) -> dict[str, Any]:
    """Describe the verdict over all limits, the first thing a reader sees."""
    verdict = report.verdict
    if verdict is None:
        sentence = "No verdict: no limits were set"
        return {"label": "Verdict", "tone": "plain", "mark": "○", "sentence": sentence, "details": []}
    tone, mark, _ = VERDICT_LABELS[verdict]
    n = sum(judgement.verdict is verdict for judgement in report.judgements)
    are, they_are = ("is", "it is") if n == 1 else ("are", "they are")
    sentence = _SENTENCES[verdict].format(n=n, total=len(report.judgements), are=are, they_are=they_are)
    return {"label": "Verdict", "tone": tone, "mark": mark, "sentence": sentence, "details": []}


def _count_judgements(judgements: Sequence[Judgement]) -> list[dict[str, str]]:
    return [
        dict(zip(("tone", "mark", "text"), VERDICT_LABELS[verdict], strict=True)) | {"count": format_count(n)}
        for verdict, n in count_limit_verdicts(judgements).items()
        if n
    ]


def _limits_table(judgements: Sequence[Judgement]) -> Part | None:
    if not judgements:
        return None
    grouped = sorted((j for j in judgements if j.group), key=lambda j: _ORDER.index(j.verdict))
    shown = [*(j for j in judgements if not j.group), *grouped[:_MOST_GROUP_LINES]]
    hidden = len(judgements) - len(shown)
    heads = ("limit on", "of", "value", "limit", "verdict")
    kinds = ("text", "text", "number ranged", "number ranged", "verdict")
    is_dependent = any(judgement.sentence.endswith(DEPENDENCE_CAUTION) for judgement in judgements)
    rest = (
        f"; {format_counted(hidden, 'more verdict')} on groups {'is' if hidden == 1 else 'are'} in the "
        "results document"
        if hidden
        else ""
    )
    table = {
        "kind": "table",
        "caption": "Limits and verdicts, judged by the whole interval of each number: inconclusive where the "
        f"limit lies inside the interval, or where there are fewer than {FEWEST_CASES} events or non-events "
        "and no exact bound decides. Intervals of MCB and DSC are overfit-corrected, for the true component, "
        f"and may exclude the measured value{_explain_bare(judgements)}{rest}",
        "detail": _DEPENDENT if is_dependent else "",
        "look": f"evaluation roomy {length_class(len(shown))}",
        "heads": [table_cell(head, kind) for head, kind in zip(heads, kinds, strict=True)],
        "bodies": [{"title": "", "rows": [_limit_row(judgement) for judgement in shown], "note": ""}],
    }
    return set_widths(table)


def _explain_bare(judgements: Sequence[Judgement]) -> str:
    """Explain how numbers are judged that never have an interval; empty if there are none."""
    is_bare = any(known_measure(j.measure).evidence is EvidenceRule.NONE for j in judgements)
    return ". Shares of red grades have no interval and are judged as they are" if is_bare else ""


def _limit_row(judgement: Judgement) -> dict[str, Any]:
    tone, mark, word = VERDICT_LABELS[judgement.verdict]
    numbers = format_judgement(judgement)
    subject = ", ".join(filter(None, (judgement.model, judgement.group))) or "all cases"
    limit, warning = numbers["fail"], f"warn {numbers['warn']}" if numbers["warn"] else ""
    return {
        "cells": [
            table_cell(judgement.label, "head"),
            table_cell(subject),
            table_cell(numbers["value"], "number ranged", numbers["interval"]),
            table_cell(limit or warning, "number ranged", warning if limit else ""),
            table_cell("", "verdict") | {"tone": tone, "mark": mark, "text": word},
        ],
        "aside": "",
    }


SUMMARY = Section(
    name="summary",
    title="Summary",
    order=10,
    describe=describe_summary_section,
    profile=Profile.SUMMARY,
)
