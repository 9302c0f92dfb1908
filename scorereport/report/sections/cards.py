"""Cards: the verdict on each model, and of the certificate, at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_number, format_percent
from scorereport.configuration.judging import LimitVerdict
from scorereport.report.tables.table import score_label
from scorereport.report.verdict_labels import CERTIFICATE_LABELS, VERDICT_LABELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.configuration.judging import Judgement
    from scorereport.report.report_record import Report
    from scorereport.results.class_records import ClassModelResult
    from scorereport.results.model_records import ModelResult

#: More measures than these are counted, not named.
_MOST_LABELS = 3


def describe_cards(report: Report) -> list[dict[str, str]]:
    """A card for each model with its verdict and the reason, and one for the certificate."""
    cards = [_describe_card(report, result) for result in report.evaluation.results]
    return [*cards, _describe_certificate_card(report)]


def _describe_card(report: Report, result: ModelResult | ClassModelResult) -> dict[str, str]:
    judged = [j for j in report.judgements if j.model == result.model]
    for light in (LimitVerdict.FAIL, LimitVerdict.INCONCLUSIVE, LimitVerdict.WARN, LimitVerdict.PASS):
        found = [j for j in judged if j.verdict is light]
        if found:
            tone, _, word = VERDICT_LABELS[light]
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
        text = "no other implementation was asked"
        return {"label": "R certificate", "tone": "plain", "word": "None", "text": text}
    compared = len(certificate.comparisons)
    text = f"{compared - len(certificate.unexpected)} of {compared} comparisons as expected"
    if certificate.verdict == "not certified":
        text = "these numbers were not computed again"
    return {
        "label": "R certificate",
        "tone": CERTIFICATE_LABELS[certificate.verdict][0],
        "word": certificate.verdict.capitalize(),
        "text": f"{text}, {certificate.reference}" if certificate.reference else text,
    }
