"""Findings of a report in plain sentences, the gravest first, each with the part that shows it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    common_decimals,
    format_level,
    format_number,
    format_p_value,
    format_percent,
    join_some,
    join_words,
)
from scorereport._utils.rounding import first_lowest
from scorereport.configuration.judgement import find_alpha
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.evaluation.notes import find_time_note
from scorereport.report.alarms import raise_alarms
from scorereport.report.calibration_decision import decide_calibration
from scorereport.report.decision_findings import find_decisions
from scorereport.report.evidence_findings import find_changes
from scorereport.report.finding_records import (
    Consequence,
    Finding,
    name_models,
    sort_findings,
)
from scorereport.report.limit_findings import find_limits
from scorereport.report.miscalibration_patterns import adjusted_p_value, format_relation
from scorereport.report.missing_outcome_findings import find_missing_outcomes
from scorereport.report.recalibration_findings import RECALIBRATE, advise_models, find_recalibration
from scorereport.report.reference_findings import find_reference_changes
from scorereport.report.seal_content import find_seal_findings
from scorereport.report.tables.table import area_text, percent_interval_text, score_label, skill_text
from scorereport.results.model_records import ModelResult
from scorereport.scores.registry import inside_sentence

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.inference.estimates import Estimate
    from scorereport.report.calibration_decision import CalibrationDecision
    from scorereport.report.report_record import Report
    from scorereport.results.class_records import ClassModelResult
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import Heterogeneity, ScoreValue

#: Most views that are named; further ones are counted.
_MOST_NAMED = 3


def list_report_findings(report: Report) -> list[Finding]:
    """Return all findings of a report, those with the gravest consequence first."""
    limits, trend, seal = find_limits(report.judgements), find_changes(report), find_seal_findings(report)
    return sort_findings([*limits, *seal, *trend, *_find_in_evaluation(report.evaluation, report.judgements)])


def list_evaluation_findings(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the findings of an evaluation as its report states them without limits and earlier audits."""
    return tuple(finding.text for finding in sort_findings(_find_in_evaluation(evaluation)))


def _find_in_evaluation(evaluation: Evaluation, judgements: Sequence[Judgement] = ()) -> Iterator[Finding]:
    """State alarms, performance, calibration, discrimination, decisions, groups and recalibration.

    What an alarm states is not repeated: the skill of a model that is worse than no model, and the AUC of one
    whose ranking is inverted. To recalibrate the latter would hide its fault.
    """
    alarms = list(raise_alarms(evaluation))
    inverted = name_models(alarms, Consequence.INVERTED_RANKING)
    yield from alarms
    yield from _find_performance(evaluation, name_models(alarms, Consequence.WORSE_THAN_NO_MODEL))
    best = find_best(evaluation).model
    recalibration = list(find_recalibration(evaluation, advise_models(evaluation, alarms, judgements)))
    remedies = {finding.model: finding.action for finding in recalibration}
    for model in evaluation.results:
        remedy = remedies.get(model.model, "" if _has_trials(model) else RECALIBRATE)
        found = _find_calibration(model, evaluation, "" if model.model in inverted else remedy)
        yield from (replace(finding, is_kept=model.model == best) for finding in found)
    yield from _find_discrimination(evaluation, inverted)
    yield from _find_right_decisions(evaluation)
    yield from find_decisions(evaluation)
    yield from _find_groups(evaluation)
    yield from recalibration
    yield from find_reference_changes(evaluation)
    yield from find_missing_outcomes(evaluation, judgements)


def find_best(evaluation: Evaluation) -> ModelResult | ClassModelResult:
    """Return the model with the lowest main score; of models that are equal up to rounding, the first."""
    results: Sequence[ModelResult | ClassModelResult] = evaluation.results
    return results[first_lowest([result.scores.score(evaluation.main_score).value for result in results])]


def _find_performance(evaluation: Evaluation, worse_than_none: set[str]) -> Iterator[Finding]:
    """State the model with the best main score, and whether its lead is significant."""
    name = evaluation.main_score
    label = inside_sentence(score_label(name))
    scores = {m.model: m.scores.score(name) for m in evaluation.results}
    best = find_best(evaluation).model
    value = scores[best]
    number = format_number(value.value, common_decimals([value.value]))
    skill = "" if best in worse_than_none else _describe_skill(value, evaluation.kind)
    if len(scores) == 1:
        yield Finding(text=f"{best} has a {label} of {number}.{skill}", see="scores", is_kept=True)
        return
    ranks = [r for r in evaluation.comparisons.ranks if r.model == best and r.measure == value.name]
    tied = ranks[0].tied_with if ranks else ()
    lead = f"; it does not differ significantly from {join_words(tied)}" if tied else ""
    if ranks and not tied:
        lead = "; the difference from every other model is more than chance explains"
    text = f"{best} has the lowest {label}, {number}{lead}.{skill}"
    yield Finding(text=text, see="scores", is_kept=True)


def _describe_skill(score: ScoreValue, kind: str) -> str:
    """Describe the skill with its interval; empty where it is not defined."""
    if isnan(score.skill):
        return ""
    interval = score.skill_interval
    chance = interval is not None and interval.lower <= 0 <= interval.upper
    return f" Its skill, {skill_text(score, kind)}{', which chance may explain' if chance else ''}."


def _find_calibration(
    result: ModelResult | ClassModelResult, evaluation: Evaluation, remedy: str
) -> Iterator[Finding]:
    """State whether there is evidence of miscalibration, and in which way forecasts are wrong.

    `remedy` is what to do about it. If maps of recalibration were tried, it follows from their gain.
    """
    decision = decide_calibration(result, evaluation, find_alpha(evaluation))
    if decision is not None:
        corrected = result.scores.component(evaluation.main_score, "miscalibration")
        is_shown = decision.verdict is LimitVerdict.FAIL
        yield Finding(
            text=decision.sentence,
            see="tests" if decision.depends_on_time else "reliability",
            consequence=_rate_calibration(decision),
            size=corrected.corrected if is_shown and corrected is not None else 0.0,
            tone="plain" if _rate_calibration(decision) is Consequence.RESULT else "open",
            model=result.model,
            action=remedy if is_shown else "",
        )


def _has_trials(result: ModelResult | ClassModelResult) -> bool:
    return isinstance(result, ModelResult) and bool(result.recalibration)


def _rate_calibration(decision: CalibrationDecision) -> Consequence:
    """The consequence of a decision on calibration; a pass is open if rows depend on each other in time."""
    if decision.verdict is LimitVerdict.FAIL:
        return Consequence.MISCALIBRATION
    is_open = decision.depends_on_time or decision.verdict is not LimitVerdict.PASS
    return Consequence.OPEN_QUESTION if is_open else Consequence.RESULT


def _find_right_decisions(evaluation: Evaluation) -> Iterator[Finding]:
    """State how often the predicted class of each class model is right."""
    if evaluation.kind == "binary":
        return
    rates = [(m.model, m.scores.score("accuracy")) for m in evaluation.class_models]
    shares = join_words(
        f"{model} {format_percent(rate.value)}{_bracket_percent(rate.interval)}" for model, rate in rates
    )
    yield Finding(text=f"Share of cases in which the predicted class is right: {shares}.", see="scores")


def _bracket_percent(estimate: Estimate | None) -> str:
    text = percent_interval_text(estimate)
    return f" {text} %" if text else ""


def _find_discrimination(evaluation: Evaluation, inverted: set[str]) -> Iterator[Finding]:
    """State the AUC of each model whose ranking is not inverted."""
    models = [model for model in evaluation.models if model.model not in inverted]
    areas = [(m.model, s) for m in models for s in m.scores.scores if s.name == "roc_auc"]
    known = [(model, area) for model, area in areas if not isnan(area.value)]  # one class only
    if known:
        areas_text = join_words(f"{model} {area_text(area)}" for model, area in known)
        yield Finding(
            text=f"AUC, the probability that an event has a higher forecast than a non-event: {areas_text}.",
            see="auc",
        )


def _find_groups(evaluation: Evaluation) -> Iterator[Finding]:
    """State for which columns groups differ by more than chance explains, with the lowest skill."""
    alpha, tested = find_alpha(evaluation), defaultdict(list)
    for item in evaluation.heterogeneity:
        if not isnan(adjusted_p_value(item.test)):
            tested[item.column].append(item)
    alike = {c: items for c, items in tested.items() if _smallest_p_value(items) > alpha}
    for column in (column for column in tested if column not in alike):
        differ = [item for item in tested[column] if adjusted_p_value(item.test) <= alpha]
        models = dict.fromkeys(item.model for item in differ)
        yield Finding(
            text=f"Results of {join_words(models)} differ between groups of {column} by more than chance "
            f"explains {_describe_smallest(differ)}{_describe_lowest_skill(evaluation, column, models)}.",
            see="heterogeneity",
            consequence=Consequence.GROUPS_SERVED_WORSE,
            tone="open",
            action=f"Examine why results differ between groups of {column} before use in each of them.",
        )
    if alike:
        smallest = _describe_smallest([item for items in alike.values() for item in items])
        columns = join_some(list(alike), _MOST_NAMED)
        text = f"Results are not shown to differ between groups of {columns} {smallest}."
        yield Finding(text=text, see="heterogeneity", is_kept=True)


def _smallest_p_value(items: Sequence[Heterogeneity]) -> float:
    return min(adjusted_p_value(item.test) for item in items)


def _describe_smallest(items: Sequence[Heterogeneity]) -> str:
    smallest = format_relation(format_p_value(_smallest_p_value(items)))
    return f"(p {smallest}, adjusted for the number of tests)"


def _describe_lowest_skill(evaluation: Evaluation, column: str, models: Container[str]) -> str:
    """A clause on the group in which one of the models has the lowest skill; empty if it is not defined."""
    found = [
        (scores.score(evaluation.main_score), scores.model, group.label)
        for group in evaluation.groups
        if group.column == column
        for scores in group.models
        if scores.model in models
    ]
    known = [each for each in found if not isnan(each[0].skill)]
    if not known:
        return ""
    score, model, label = known[first_lowest([score.skill for score, _, _ in known])]
    bounds = percent_interval_text(score.skill_interval)
    interval = f", interval {bounds} %" if bounds else ""
    return f"; {model} has the lowest skill where {column} = {label}, {format_percent(score.skill)}{interval}"


def describe_method_line(evaluation: Evaluation, *, has_odds: bool = False) -> str:
    """State the level of intervals and tests, in a line; `has_odds` if evidence of audits is stated too."""
    settings = evaluation.settings
    if not settings.infers:
        return "No intervals or tests were requested; the findings are about these cases only."
    word = "“evidence” without odds" if has_odds else "“evidence”"
    return (
        f"Intervals have a confidence level of {format_level(settings.level)}; {word} means that a test "
        f"rejects at the {format_percent(find_alpha(evaluation))} level. {find_time_note(evaluation.notes)}"
    ).rstrip()
