"""Findings of a report in plain sentences, the gravest first, each with the part that shows it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    common_decimals,
    format_interval,
    format_level,
    format_number,
    format_p_value,
    format_percent,
    join_some,
    join_words,
)
from scorereport._utils.rounding import first_lowest
from scorereport.configuration.judgement import DEPENDENCE_CAUTION, find_alpha, format_judgement
from scorereport.configuration.limit_records import MeasurePart
from scorereport.configuration.limit_verdicts import LimitVerdict, split_groups
from scorereport.configuration.measure_limits import known_measure
from scorereport.evaluation.notes import find_time_note
from scorereport.inference.recalibration_gains import bound_shown_gain
from scorereport.report.alarms import raise_alarms
from scorereport.report.calibration_decision import decide_calibration
from scorereport.report.finding_records import (
    DO_NOT_USE,
    MODELS,
    Consequence,
    Finding,
    name_models,
    sort_findings,
)
from scorereport.report.miscalibration_patterns import adjusted_p_value, format_relation
from scorereport.report.missing_outcome_findings import find_missing_outcomes
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

#: Verdicts on limits that are findings, with their tone and consequence.
_LIMIT_FINDINGS = {
    LimitVerdict.FAIL: ("bad", Consequence.BREACHED_LIMIT),
    LimitVerdict.INCONCLUSIVE: ("open", Consequence.OPEN_LIMIT),
    LimitVerdict.WARN: ("open", Consequence.OPEN_LIMIT),
}
#: Most views that are named; further ones are counted.
_MOST_NAMED = 3
#: Sections that show the numbers of a part of an evaluation; the others are in the section on performance.
_SECTIONS = {
    MeasurePart.MISCALIBRATION: "calibration",
    MeasurePart.LINE: "calibration",
    MeasurePart.ERROR: "calibration",
    MeasurePart.GRADES: "calibration",
    MeasurePart.DISCRIMINATION: "decomposition",
    MeasurePart.UNCERTAINTY: "decomposition",
    MeasurePart.SEPARATION: "discrimination",
    MeasurePart.DECISION: "decision",
    MeasurePart.STABILITY: "data",
    MeasurePart.SAMPLE: "data",
    MeasurePart.SCALE: "scale",
    MeasurePart.RETENTION: "retention",
}
_RECALIBRATE = f"Recalibrate {MODELS}, and evaluate again on new cases."
_ACTION_ON_DATA = "Examine the data, whose limits are not met."
_ACTION_ON_DRIFT = "Find the cause of the change since earlier audits."
#: Most limits that are named with their numbers; further ones are counted.
_MOST_LIMITS = 1
#: How a model stands to the limits with each verdict.
_LIMIT_VERBS = {
    LimitVerdict.FAIL: "{model} breaches {n} of {total} limits",
    LimitVerdict.INCONCLUSIVE: "{model} is not shown to meet or to breach {n} of {total} limits",
    LimitVerdict.WARN: "{model} meets {n} of {total} limits without the required margin",
}
_ACTIONS_ON_LIMITS = {
    LimitVerdict.FAIL: DO_NOT_USE,
    LimitVerdict.INCONCLUSIVE: f"Collect more cases to decide the open limits of {MODELS}.",
    LimitVerdict.WARN: "",
}


def list_report_findings(report: Report) -> list[Finding]:
    """Return all findings of a report, those with the gravest consequence first."""
    limits, trend = _find_limits(report.judgements), _find_drift(report)
    missing = find_missing_outcomes(report.evaluation, report.judgements)
    return sort_findings([*limits, *trend, *_find_in_evaluation(report.evaluation), *missing])


def list_evaluation_findings(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the findings of an evaluation as its report states them without limits and earlier audits."""
    found = sort_findings([*_find_in_evaluation(evaluation), *find_missing_outcomes(evaluation)])
    return tuple(finding.text for finding in found)


def _find_in_evaluation(evaluation: Evaluation) -> Iterator[Finding]:
    """State alarms, performance, calibration, discrimination, decisions, groups and recalibration.

    What an alarm states is not repeated: the skill of a model that is worse than no model, and the AUC of one
    whose ranking is inverted. To recalibrate the latter would hide its fault.
    """
    alarms = list(raise_alarms(evaluation))
    inverted = name_models(alarms, Consequence.INVERTED_RANKING)
    yield from alarms
    yield from _find_performance(evaluation, name_models(alarms, Consequence.WORSE_THAN_NO_MODEL))
    best = find_best(evaluation).model
    for model in evaluation.results:
        found = _find_calibration(model, evaluation, is_inverted=model.model in inverted)
        yield from (replace(finding, is_kept=model.model == best) for finding in found)
    yield from _find_discrimination(evaluation, inverted)
    yield from _find_right_decisions(evaluation)
    yield from _find_groups(evaluation)
    yield from _find_recalibration(evaluation, inverted)


def _find_limits(judgements: Sequence[Judgement]) -> Iterator[Finding]:
    """State the limits that are not met, the worst first: for each model on all cases, then in groups."""
    for verdict, (tone, consequence) in _LIMIT_FINDINGS.items():
        found = [judgement for judgement in judgements if judgement.verdict is verdict]
        for model in dict.fromkeys(judgement.model for judgement in found):
            overall, grouped = split_groups([j for j in found if j.model == model])
            texts = [_describe_limits(overall, judgements), _describe_group_limits(grouped, judgements)]
            for text in filter(None, texts):
                yield Finding(
                    text=text,
                    see=_find_section(overall[0]) if text == texts[0] else "group_limits",
                    tone=tone,
                    consequence=consequence,
                    model=model,
                    action=_ACTIONS_ON_LIMITS[verdict] if model else _ACTION_ON_DATA,
                )


def _find_section(judgement: Judgement) -> str:
    """The key of the section that shows a number."""
    part = known_measure(judgement.measure).part
    return f"section_{_SECTIONS.get(part, 'performance')}"


def _describe_limits(found: Sequence[Judgement], judgements: Sequence[Judgement]) -> str:
    """The sentence of a judgement on all cases; of several with the same verdict, their number and names."""
    if len(found) <= 1:
        return found[0].sentence if found else ""
    model, verdict = found[0].model, found[0].verdict
    total = sum(not judgement.group and judgement.model == model for judgement in judgements)
    named = join_some([_name_judgement(judgement) for judgement in found], _MOST_LIMITS)
    verb = _LIMIT_VERBS[verdict].format(model=model or "The data", n=len(found), total=total)
    caution = f" {DEPENDENCE_CAUTION}" if any(DEPENDENCE_CAUTION in j.sentence for j in found) else ""
    return f"{verb}: {named}.{caution}"


def _name_judgement(judgement: Judgement) -> str:
    """Name a number with its interval and its limit."""
    numbers = format_judgement(judgement)
    number = " ".join(filter(None, (numbers["value"], numbers["interval"])))
    return f"{judgement.label} {number} (limit {numbers['fail'] or numbers['warn']})"


def _describe_group_limits(found: Sequence[Judgement], judgements: Sequence[Judgement]) -> str:
    """State in how many groups limits have a verdict, and the first of these groups."""
    if not found:
        return ""
    model, verdict = found[0].model, found[0].verdict
    total = sum(bool(judgement.group) and judgement.model == model for judgement in judgements)
    worst = f"{_name_judgement(found[0])} where {found[0].group}"
    verb = _LIMIT_VERBS[verdict].format(model=model, n=len(found), total=total)
    return f"In groups, {verb}, among them {worst}." if len(found) > 1 else f"In groups, {verb}: {worst}."


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
    result: ModelResult | ClassModelResult, evaluation: Evaluation, *, is_inverted: bool
) -> Iterator[Finding]:
    """State whether there is evidence of miscalibration, and in which way forecasts are wrong.

    If maps of recalibration were tried, what to do follows from their gain.
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
            action=_RECALIBRATE if is_shown and not (is_inverted or _has_trials(result)) else "",
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


def _find_recalibration(evaluation: Evaluation, inverted: set[str]) -> Iterator[Finding]:
    """State the models that recalibration would improve, with the best map."""
    alpha = find_alpha(evaluation)
    for model in (model for model in evaluation.models if model.model not in inverted):
        better = [
            trial
            for trial in model.recalibration
            if trial.brier.value < 0 and adjusted_p_value(trial.brier) <= alpha
        ]
        if better:
            best = better[first_lowest([trial.brier.value for trial in better])]
            decimals = common_decimals([best.brier.value])
            interval = format_interval(*bound_shown_gain(best.brier, alpha), decimals)
            yield Finding(
                text=f"Recalibration would lower the Brier score of {model.model} on new cases by "
                f"{format_number(-best.brier.value, decimals)} {interval} ({best.method}, the best of "
                f"{len(model.recalibration)} maps; the interval allows for this choice, and for being stated "
                "only where a gain is shown).",
                see="recalibration",
                consequence=Consequence.POSSIBLE_GAIN,
                tone="open",
                model=model.model,
                size=-best.brier.value,
                action=_RECALIBRATE,
            )


def _find_drift(report: Report) -> Iterator[Finding]:
    """State what has changed since earlier audits, in one sentence."""
    if report.trend is None or "trend" in report.configuration.report.omit:
        return
    drifted = [drift for drift in report.trend.drifts if drift.has_drifted]
    if len(drifted) == 1:
        text = f"Since earlier audits: {drifted[0].sentence}"
        yield Finding(
            text=text, see="drift", tone="open", consequence=Consequence.DRIFT, action=_ACTION_ON_DRIFT
        )
    elif drifted:
        named = [f"{d.label} of {d.model}" if d.model else d.label for d in drifted]
        caution = next((drift.caution for drift in drifted if drift.caution), "")
        yield Finding(
            text=f"{len(drifted)} of {len(report.trend.drifts)} numbers have changed since earlier audits by "
            f"more than chance explains: {join_some(named, _MOST_NAMED)}. {caution}".rstrip(),
            see="drift",
            consequence=Consequence.DRIFT,
            tone="open",
            action=_ACTION_ON_DRIFT,
        )


def describe_method_line(evaluation: Evaluation) -> str:
    """State the level of intervals and tests, in a line."""
    settings = evaluation.settings
    if not settings.infers:
        return "No intervals or tests were requested; the findings are about these cases only."
    return (
        f"Intervals have a confidence level of {format_level(settings.level)}; “evidence” means that a test "
        f"rejects at the {format_percent(find_alpha(evaluation))} level. {find_time_note(evaluation.notes)}"
    ).rstrip()
