"""Conclusions: findings of a report in plain sentences, each with the part of the report that shows it."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    common_decimals,
    format_interval,
    format_level,
    format_number,
    format_p_value,
    format_percent,
    join_words,
)
from scorereport._utils.rounding import first_lowest
from scorereport.configuration.judgement import find_alpha
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.evaluation.notes import find_time_note
from scorereport.evaluation.subgroups import warn_of_groups
from scorereport.inference.recalibration_gains import bound_shown_gain
from scorereport.report.calibration_decision import decide_calibration
from scorereport.report.miscalibration_patterns import adjusted_p_value, format_relation
from scorereport.report.tables.group_tables import name_heterogeneity_test
from scorereport.report.tables.table import distinct_decimals, percent_interval_text, score_label
from scorereport.scores.registry import inside_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.inference.estimates import Estimate, HypothesisTest
    from scorereport.report.report_record import Report
    from scorereport.results.class_records import ClassModelResult
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelResult, ScoreValue

_TONES = {LimitVerdict.FAIL: "bad", LimitVerdict.INCONCLUSIVE: "open", LimitVerdict.WARN: "open"}
#: Most views that are named; further ones are counted.
_MOST_NAMED = 3
#: Verbs for the number of groups with each verdict.
_GROUP_VERBS = {
    LimitVerdict.FAIL: "fails",
    LimitVerdict.INCONCLUSIVE: "is inconclusive",
    LimitVerdict.WARN: "gives a warning",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """A sentence, the key of the part that shows it, and its tone."""

    text: str
    see: str
    tone: str = "plain"


def draw_conclusions(report: Report) -> list[Conclusion]:
    """Return all findings of a report: breached limits first, then those of each section."""
    return [
        *_conclude_limits(report.judgements),
        *_conclude_results(report.evaluation),
        *_conclude_trend(report),
        *_conclude_recalibration(report.evaluation),
    ]


def draw_findings(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the findings of an evaluation as its report states them without limits and earlier audits."""
    found = (*_conclude_results(evaluation), *_conclude_recalibration(evaluation))
    return tuple(finding.text for finding in found)


def _conclude_results(evaluation: Evaluation) -> list[Conclusion]:
    """State findings on performance, calibration, discrimination, decisions and groups, in this order."""
    return [
        *_conclude_performance(evaluation),
        *(finding for model in evaluation.results for finding in _conclude_calibration(model, evaluation)),
        *_conclude_discrimination(evaluation),
        *_conclude_decisions(evaluation),
        *_conclude_groups(evaluation),
    ]


def _conclude_limits(judgements: Sequence[Judgement]) -> Iterator[Conclusion]:
    """State the limits that are not met, the worst first; groups are counted by measure and model."""
    for verdict, tone in _TONES.items():
        found = [judgement for judgement in judgements if judgement.verdict is verdict]
        for judgement in found:
            if not judgement.group:
                yield Conclusion(text=judgement.sentence, see="limits", tone=tone)
        counted = dict.fromkeys((j.label, j.model) for j in found if j.group)
        for label, model in counted:
            same = [j for j in judgements if j.group and (j.label, j.model) == (label, model)]
            bad = sum(j.verdict is verdict for j in same)
            text = f"{label} of {model} {_GROUP_VERBS[verdict]} in {bad} of {len(same)} groups."
            yield Conclusion(text=text, see="limits", tone=tone)


def _conclude_performance(evaluation: Evaluation) -> Iterator[Conclusion]:
    """State the model with the best main score, and whether its lead is significant."""
    name = evaluation.main_score
    label = inside_sentence(score_label(name))
    scores = {m.model: m.scores.score(name) for m in evaluation.results}
    best = list(scores)[first_lowest([score.value for score in scores.values()])]
    value = scores[best]
    number = format_number(value.value, common_decimals([value.value]))
    skill = _describe_skill(
        value, "the prevalence" if evaluation.kind == "binary" else "the class frequencies"
    )
    if len(scores) == 1:
        yield Conclusion(text=f"{best} has a {label} of {number}.{skill}", see="scores")
        return
    ranks = [r for r in evaluation.comparisons.ranks if r.model == best and r.measure == value.name]
    tied = ranks[0].tied_with if ranks else ()
    lead = f"; it does not differ significantly from {join_words(tied)}" if tied else ""
    if ranks and not tied:
        lead = "; the difference from every other model is more than chance explains"
    yield Conclusion(text=f"{best} has the lowest {label}, {number}{lead}.{skill}", see="scores")


def _describe_skill(score: ScoreValue, constant: str) -> str:
    """Describe the skill with its interval; empty where it is not defined."""
    if isnan(score.skill):
        return ""
    interval = score.skill_interval
    bounds = percent_interval_text(interval)
    text = f" Its skill, compared with always forecasting {constant}, is {format_percent(score.skill)}"
    chance = interval is not None and interval.lower <= 0 <= interval.upper
    return (
        f"{text}{f', interval {bounds} %' if bounds else ''}{', which chance may explain' if chance else ''}."
    )


def _conclude_calibration(
    result: ModelResult | ClassModelResult, evaluation: Evaluation
) -> Iterator[Conclusion]:
    """State whether there is evidence of miscalibration, and in which way forecasts are wrong."""
    decision = decide_calibration(result, evaluation, find_alpha(evaluation))
    if decision is not None:
        is_open = decision.depends_on_time or decision.verdict is not LimitVerdict.PASS
        yield Conclusion(
            text=decision.sentence,
            see="tests" if decision.depends_on_time else "reliability",
            tone="open" if is_open else "plain",
        )


def _conclude_decisions(evaluation: Evaluation) -> Iterator[Conclusion]:
    """State how often the predicted class of each class model is right."""
    if evaluation.kind == "binary":
        return
    rates = [(m.model, m.scores.score("accuracy")) for m in evaluation.class_models]
    shares = join_words(
        f"{model} {format_percent(rate.value)}{_bracket_percent(rate.interval)}" for model, rate in rates
    )
    yield Conclusion(text=f"Share of cases in which the predicted class is right: {shares}.", see="scores")


def _bracket_percent(estimate: Estimate | None) -> str:
    text = percent_interval_text(estimate)
    return f" {text} %" if text else ""


def _conclude_discrimination(evaluation: Evaluation) -> Iterator[Conclusion]:
    """State the AUC of each model."""
    areas = [(m.model, s) for m in evaluation.models for s in m.scores.scores if s.name == "roc_auc"]
    known = [(model, area) for model, area in areas if not isnan(area.value)]  # one class only
    if known:
        areas_text = join_words(
            f"{model} {format_number(area.value, _decimals(area))}{_bracket(area.interval, _decimals(area))}"
            for model, area in known
        )
        yield Conclusion(
            text=f"AUC, the probability that an event has a higher forecast than a non-event: {areas_text}.",
            see="auc",
        )


def _conclude_groups(evaluation: Evaluation) -> Iterator[Conclusion]:
    """State the columns whose groups differ by more than chance explains, once for each model."""
    differ: dict[tuple[str, str], list[HypothesisTest]] = {}
    alpha = find_alpha(evaluation)
    what = "the event happens" if evaluation.kind == "binary" else "each class occurs"
    for item in evaluation.heterogeneity:
        if adjusted_p_value(item.test) <= alpha:
            differ.setdefault((item.model, item.column), []).append(item.test)
    for (model, column), tests in differ.items():
        shown = join_words(
            f"{name_heterogeneity_test(t)}, p {format_relation(format_p_value(adjusted_p_value(t)))}"
            for t in tests
        )
        warnings = warn_of_groups([g for g in evaluation.groups if g.column == column and g.models])
        yield Conclusion(
            text=f"{model}: results differ between groups of {column} by more than chance explains ({shown}, "
            f"adjusted for their number). Scores also depend on how often {what} in a group."
            f"{''.join(f' {warning}' for warning in warnings)}",
            see="heterogeneity",
            tone="open",
        )


def _conclude_recalibration(evaluation: Evaluation) -> Iterator[Conclusion]:
    """State the models that recalibration would improve, with the best map."""
    alpha = find_alpha(evaluation)
    for model in evaluation.models:
        better = [
            trial
            for trial in model.recalibration
            if trial.brier.value < 0 and adjusted_p_value(trial.brier) <= alpha
        ]
        if better:
            best = better[first_lowest([trial.brier.value for trial in better])]
            decimals = common_decimals([best.brier.value])
            interval = format_interval(*bound_shown_gain(best.brier, alpha), decimals)
            yield Conclusion(
                text=f"Recalibration would lower the Brier score of {model.model} on new cases by "
                f"{format_number(-best.brier.value, decimals)} {interval} ({best.method}, the best of "
                f"{len(model.recalibration)} maps; the interval allows for this choice, and for being stated "
                "only where a gain is shown).",
                see="recalibration",
                tone="open",
            )


def _conclude_trend(report: Report) -> Iterator[Conclusion]:
    """State what has changed since earlier audits, in one sentence."""
    if report.trend is None or "trend" in report.configuration.report.omit:
        return
    drifted = [drift for drift in report.trend.drifts if drift.has_drifted]
    if len(drifted) == 1:
        yield Conclusion(text=f"Since earlier audits: {drifted[0].sentence}", see="drift", tone="open")
    elif drifted:
        named = [f"{d.label} of {d.model}" if d.model else d.label for d in drifted[:_MOST_NAMED]]
        more = [f"{len(drifted) - _MOST_NAMED} more"] if len(drifted) > _MOST_NAMED else []
        caution = next((drift.caution for drift in drifted if drift.caution), "")
        yield Conclusion(
            text=f"{len(drifted)} of {len(report.trend.drifts)} numbers have changed since earlier audits by "
            f"more than chance explains: {join_words([*named, *more])}. {caution}".rstrip(),
            see="drift",
            tone="open",
        )


def _decimals(area: ScoreValue) -> int:
    interval = area.interval
    return 3 if interval is None else distinct_decimals(interval.lower, interval.upper, 3)


def _bracket(estimate: Estimate | None, decimals: int) -> str:
    if estimate is None:
        return ""
    interval = format_interval(estimate.lower, estimate.upper, decimals)
    return f" {interval}" if interval else ""


def describe_method_line(evaluation: Evaluation) -> str:
    """State the level of intervals and tests, in a line."""
    settings = evaluation.settings
    if not settings.infers:
        return "No intervals or tests were requested; the findings are about these cases only."
    return (
        f"Intervals have a confidence level of {format_level(settings.level)}; “evidence” means that a test "
        f"rejects at the {format_percent(find_alpha(evaluation))} level. {find_time_note(evaluation.notes)}"
    ).rstrip()
