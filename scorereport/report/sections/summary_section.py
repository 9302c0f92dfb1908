"""The summary: the verdict, its reasons in plain sentences, and all limits in one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import counted, format_count
from scorereport.configuration.judging import (
    DEPENDENT,
    Light,
    count_lights,
    describe_numbers,
    describe_unjudged,
)
from scorereport.configuration.limit_evidence import FEWEST_CASES
from scorereport.report.conclusions import conclude, describe_method_line
from scorereport.report.section_parts import Section, collect_parts, split_paragraphs
from scorereport.report.sections.cards import describe_cards
from scorereport.report.tables.cells import length_class, make_cell
from scorereport.report.verdict_labels import LIGHTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.configuration import Limits
    from scorereport.configuration.judging import Judgement
    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Part

_SENTENCES = {
    Light.PASS: "Pass: {total} of {total} limits are met",
    Light.WARN: "Warning: all limits are met, {n} of {total} without the margin asked for",
    Light.INCONCLUSIVE: "Inconclusive: of {n} of {total} limits the data cannot tell whether they are met",
    Light.FAIL: "Fail: {n} of {total} limits {are} breached",
}
_DEPENDENT = (
    "(rows are shown to depend on each other in time; only intervals of the calibration line allow for it)"
)
#: Of the verdicts on groups so many are shown, the worst first.
_MOST_GROUP_LINES = 40
_ORDER = (Light.FAIL, Light.INCONCLUSIVE, Light.WARN, Light.PASS)


def describe_summary(report: Report) -> Section:
    """Verdict, cards of the models, findings, and the table of limits."""
    return Section(
        name="summary",
        title="Summary",
        parts=collect_parts(limits=_limits_table(report.judgements)),
        content={
            "verdict": describe_light(report),
            "cards": describe_cards(report),
            "counts": _count_lights(report.judgements),
            "set_by": describe_limits_origin(report.configuration.limits),
            "unjudged": describe_unjudged(report.evaluation, report.configuration.limits),
            "findings": conclude(report),
            "method": describe_method_line(report.evaluation),
            "purpose": split_paragraphs(report.configuration.report.purpose),
            "author": ""
            if report.configuration.people.author is None
            else report.configuration.people.author.name,
            "conclusion": split_paragraphs(report.configuration.texts.conclusion),
            "changes": split_paragraphs(report.configuration.texts.changes),
        },
    )


def describe_limits_origin(limits: Limits) -> str:
    """Who set the limits, and when."""
    when = f" on {limits.set_on}" if limits.set_on else ""
    return f"Limits set by {limits.set_by or 'somebody not named'}{when}."


def describe_light(report: Report) -> dict[str, Any]:
    """The verdict over all limits as the first thing a reader sees."""
    light = report.verdict
    if light is None:
        told = "No verdict: no limits were set, so nothing could be met or breached"
        return {"label": "Verdict", "tone": "plain", "mark": "○", "sentence": told, "details": []}
    tone, mark, _ = LIGHTS[light]
    n = sum(judgement.verdict is light for judgement in report.judgements)
    told = _SENTENCES[light].format(n=n, total=len(report.judgements), are="is" if n == 1 else "are")
    return {"label": "Verdict", "tone": tone, "mark": mark, "sentence": told, "details": []}


def _count_lights(judgements: Sequence[Judgement]) -> list[dict[str, str]]:
    return [
        dict(zip(("tone", "mark", "text"), LIGHTS[light], strict=True)) | {"count": format_count(n)}
        for light, n in count_lights(judgements).items()
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
    is_dependent = any(judgement.sentence.endswith(DEPENDENT) for judgement in judgements)
    rest = f"; {counted(hidden, 'more verdict')} on groups are in the results document" if hidden else ""
    return {
        "kind": "table",
        "caption": "Limits and how they were judged, on the whole interval of each number: inconclusive "
        f"where the limit lies inside it, or where events or non-events are fewer than {FEWEST_CASES} and no "
        "exact bound decides. Intervals of MCB and DSC are of the true component, without the overfit of the "
        f"fit, and may exclude the measured value{rest}",
        "detail": _DEPENDENT if is_dependent else "",
        "look": f"evaluation roomy {length_class(len(shown))}",
        "heads": [make_cell(head, kind) for head, kind in zip(heads, kinds, strict=True)],
        "bodies": [{"title": "", "rows": [_limit_row(judgement) for judgement in shown], "note": ""}],
    }


def _limit_row(judgement: Judgement) -> dict[str, Any]:
    tone, mark, word = LIGHTS[judgement.verdict]
    numbers = describe_numbers(judgement)
    subject = ", ".join(filter(None, (judgement.model, judgement.group))) or "all cases"
    limit, warning = numbers["fail"], f"warn {numbers['warn']}" if numbers["warn"] else ""
    return {
        "cells": [
            make_cell(judgement.label, "head"),
            make_cell(subject),
            make_cell(numbers["value"], "number ranged", numbers["interval"]),
            make_cell(limit or warning, "number ranged", warning if limit else ""),
            make_cell("", "verdict") | {"tone": tone, "mark": mark, "text": word},
        ],
        "aside": "",
    }
