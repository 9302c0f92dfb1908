"""The summary of a report: verdict, fitness for use, findings, what to do and what is missing, in sentences.

The first page of a report, the terminal and notifications show the same summary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_count, format_counted, format_percent, join_some, join_words
from scorereport._utils.representation import short_repr
from scorereport.configuration.judgement import describe_unjudged
from scorereport.configuration.limit_verdicts import (
    LimitVerdict,
    count_limit_verdicts,
    find_worst_verdict,
    split_groups,
)
from scorereport.history.seal_sentences import NOT_SEALED
from scorereport.reference.certificate_verdicts import BASIS
from scorereport.report.finding_records import Finding, choose_findings, list_actions
from scorereport.report.findings import describe_method_line, list_report_findings
from scorereport.report.seal_content import describe_seal_reservation, describe_seal_state
from scorereport.report.verdict_labels import NOT_EXAMINED, VERDICT_LABELS
from scorereport.results.summary_texts import SummaryTexts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.configuration import Configuration
    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.reference.reference_documents import Certificate
    from scorereport.report.report_record import Report
    from scorereport.results.evaluation import Evaluation

#: Fewest and most findings of the summary.
FEWEST_FINDINGS, MOST_FINDINGS = 4, 7
#: Most actions; the first are the most urgent.
_MOST_ACTIONS = 4
#: Most models that are named; further ones are counted.
_MOST_NAMED = 4
_NO_VERDICT = "No verdict: no limits were set"
_NO_ACTION = "No action follows from these results."
_SENTENCES = {
    LimitVerdict.PASS: "Pass: {total} of {total} {limits} are met",
    LimitVerdict.WARN: "Warning: all {limits} are met, but {n} of {total} without the required margin",
    LimitVerdict.INCONCLUSIVE: (
        "Inconclusive: for {n} of {total} {limits}, the data do not show whether {they_are} met"
    ),
    LimitVerdict.FAIL: "Fail: {n} of {total} {limits} {are} breached",
}
_SENTENCE_ON_ONE = {
    LimitVerdict.PASS: "Pass: the limit is met",
    LimitVerdict.WARN: "Warning: the limit is met, but without the required margin",
    LimitVerdict.INCONCLUSIVE: "Inconclusive: the data do not show whether the limit is met",
    LimitVerdict.FAIL: "Fail: the limit is breached",
}
#: What the worst verdict on its limits means for the use of a model, and what is counted in brackets.
_FITNESS = {
    LimitVerdict.PASS: ("Fit for use by the limits", ""),
    LimitVerdict.WARN: ("Fit for use by the limits, with a warning", "{limits} without margin"),
    LimitVerdict.INCONCLUSIVE: ("Not decided", "{limits} open"),
    LimitVerdict.FAIL: ("Not fit for use", "{limits} breached"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryPage:
    """The summary in sentences; `tone` and `mark` are those of the verdict.

    Of all findings, at most `most` have room in it; the report states the others in their sections.
    """

    verdict: str
    tone: str
    mark: str
    fitness: tuple[str, ...]
    all_findings: tuple[Finding, ...]
    most: int = MOST_FINDINGS
    actions: tuple[str, ...]
    missing: tuple[str, ...]
    basis: tuple[str, ...]

    __repr__ = short_repr

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that the summary states."""
        return choose_findings(self.all_findings, self.most)

    @property
    def other_findings(self) -> tuple[Finding, ...]:
        """The findings that have no room in it."""
        return tuple(finding for finding in self.all_findings if finding not in self.findings)

    def to_texts(self) -> SummaryTexts:
        """Return the summary without references to a report."""
        return SummaryTexts(
            verdict=f"{self.verdict}.",
            fitness=self.fitness,
            findings=tuple(finding.text for finding in self.findings),
            actions=self.actions,
            missing=self.missing,
            basis=self.basis,
        )


def summarize_report(report: Report) -> SummaryPage:
    """Summarize a report, with as many findings as a summary may have."""
    findings = list_report_findings(report)
    tone, mark, sentence = describe_verdict_sentence(report.judgements)
    return SummaryPage(
        verdict=sentence,
        tone=tone,
        mark=mark,
        fitness=(
            *_describe_others(report.judgements),
            *_describe_fitness(report),
            *describe_seal_reservation(report),
        ),
        all_findings=tuple(findings),
        actions=tuple(_list_actions(report, findings)),
        missing=tuple(_list_missing(report)),
        basis=tuple(_describe_basis(report)),
    )


# ---- Verdict and fitness for use ----


def describe_verdict_sentence(judgements: Sequence[Judgement]) -> tuple[str, str, str]:
    """Return tone, symbol and sentence of the verdict over all limits, the first thing a reader sees.

    It counts limits on all cases, and those on groups only if no other has the worst verdict.
    """
    verdict = find_worst_verdict(judgements)
    if verdict is None:
        return "plain", "○", _NO_VERDICT
    tone, mark, _ = VERDICT_LABELS[verdict]
    counted, limits = _find_counted(judgements, verdict)
    return tone, mark, _count_verdict(verdict, counted, limits)


def _find_counted(judgements: Sequence[Judgement], verdict: LimitVerdict) -> tuple[Sequence[Judgement], str]:
    """Return the judgements among which a verdict is counted, on all cases if possible, and their name."""
    overall, grouped = split_groups(judgements)
    if any(judgement.verdict is verdict for judgement in overall):
        return overall, "limits"
    return grouped, "limits on groups"


def _count_verdict(verdict: LimitVerdict, judgements: Sequence[Judgement], limits: str) -> str:
    n = sum(judgement.verdict is verdict for judgement in judgements)
    if len(judgements) == 1:
        return _SENTENCE_ON_ONE[verdict]
    are, they_are = ("is", "it is") if n == 1 else ("are", "they are")
    return _SENTENCES[verdict].format(n=n, total=len(judgements), are=are, they_are=they_are, limits=limits)


def _describe_others(judgements: Sequence[Judgement]) -> Iterator[str]:
    """Count the verdicts that the sentence of the verdict does not count: in groups, or on all cases."""
    verdict = find_worst_verdict(judgements)
    overall, grouped = split_groups(judgements)
    if verdict is None or not (overall and grouped):
        return
    is_overall = _find_counted(judgements, verdict)[0] == overall
    yield f"In groups: {_count(grouped)}." if is_overall else f"On all cases: {_count(overall)}."


def _count(judgements: Sequence[Judgement]) -> str:
    """Count verdicts, the worst first."""
    counts = count_limit_verdicts(judgements)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in reversed(LimitVerdict) if counts[verdict])


def _describe_fitness(report: Report) -> Iterator[str]:
    """Say which models are fit for use by their limits, and which are not."""
    of_models = [judgement for judgement in report.judgements if judgement.model]
    if not of_models:
        yield "Without limits on models, the report does not decide whether a model is fit for use."
        return
    found: dict[LimitVerdict, list[str]] = {verdict: [] for verdict in LimitVerdict}
    for model in dict.fromkeys(judgement.model for judgement in of_models):
        own = [judgement for judgement in of_models if judgement.model == model]
        verdict = find_worst_verdict(own) or LimitVerdict.PASS
        n = sum(judgement.verdict is verdict for judgement in own)
        limits = "the only limit" if len(own) == 1 else f"{n} of {len(own)} limits"
        counted = _FITNESS[verdict][1].format(limits=limits)
        found[verdict].append(f"{model} ({counted})" if counted else model)
    for verdict, models in found.items():
        if models:
            yield f"{_FITNESS[verdict][0]}: {join_some(models, _MOST_NAMED)}."


# ---- What to do, and what is missing ----


def _list_actions(report: Report, findings: Sequence[Finding]) -> list[str]:
    actions = list_actions(findings)[:_MOST_ACTIONS]
    if not report.judgements:
        actions = [*actions[: _MOST_ACTIONS - 1], "Set limits, so that the report can decide on use."]
    return actions or [_NO_ACTION]


def _list_missing(report: Report) -> Iterator[str]:
    """State what was not examined, verified or stated, and which rows were left out."""
    evaluation = report.evaluation
    unexamined = list(_find_unexamined(evaluation, has_trend=report.trend is not None))
    if unexamined:
        yield f"Not examined: {'; '.join(unexamined)}."
    if _is_unchecked(report.certificate):
        yield "Not checked: the numbers were not recomputed by another implementation."
    if describe_seal_state(report) == NOT_SEALED:
        yield NOT_SEALED
    unstated = _find_unstated(report.configuration)
    if unstated:
        yield f"Not stated: {join_words(unstated)}."
    lost = _count_lost(report)
    if lost:
        read = format_counted(evaluation.data.row_flow.read, "row")
        yield f"Left out: {format_count(lost)} of {read}."
    yield from describe_unjudged(evaluation, report.configuration.limits)


def _count_lost(report: Report) -> int:
    """The number of rows that were dropped although they belong to the evaluation, not to other periods."""
    other = "" if report.trend is None else report.trend.period.describe_others()
    return sum(drop.rows for drop in report.evaluation.data.row_flow.dropped if drop.reason != other)


def _find_unexamined(evaluation: Evaluation, *, has_trend: bool) -> Iterator[str]:
    if not evaluation.settings.infers:
        yield "uncertainty (no intervals were requested)"
    if not evaluation.groups:
        yield "differences between groups (no column of groups)"
    if not (evaluation.windows or has_trend):
        yield "changes in time (no column of times)"


def _is_unchecked(certificate: Certificate | None) -> bool:
    return certificate is None or certificate.current_verdict == "not checked"


def _find_unstated(configuration: Configuration) -> list[str]:
    """Name what people must state and have not."""
    stated = {
        "limits": bool(configuration.limits.bounds),
        "the intended use": bool(configuration.model.intended_use),
        "limitations": bool(configuration.texts.limitations),
        "the approver": configuration.people.approver is not None,
    }
    return [name for name, is_stated in stated.items() if not is_stated]


def _describe_basis(report: Report) -> Iterator[str]:
    """State on how many cases the results rest, how sure they are, and who confirmed them."""
    evaluation, certificate = report.evaluation, report.certificate
    sample, classes = evaluation.data.sample, evaluation.data.classes
    cases = format_counted(sample.rows, "case")
    what = (
        f"{format_counted(sample.events, 'event')} ({format_percent(sample.prevalence)})"
        if classes is None
        else f"{len(classes.counts)} classes"
    )
    has_odds = report.trend is not None and report.trend.evidence is not None
    yield f"{cases}, {what}. {describe_method_line(evaluation, has_odds=has_odds)}"
    if certificate is not None:
        yield describe_verification(certificate)


def describe_verification(certificate: Certificate) -> str:
    """State the verdict of the certificate, the number of comparisons, and the reference."""
    verdict = certificate.current_verdict
    if _is_unchecked(certificate):
        return f"{BASIS}{verdict}."
    compared = sum(line.verdict not in NOT_EXAMINED for line in certificate.comparisons)
    expected = compared - len(certificate.unexpected)
    return f"{BASIS}{verdict}, {expected} of {compared} comparisons as expected ({certificate.reference})."
