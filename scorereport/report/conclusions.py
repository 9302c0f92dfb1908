"""What the numbers come to, in sentences that a manager understands, written from the records.

Every finding names the part of the report that shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from scorereport.formatting import (
    common_decimals,
    format_interval,
    format_level,
    format_number,
    format_p_value,
    format_percent,
    join_words,
)
from scorereport.judging import Light
from scorereport.report.miscalibrated import tell_ways
from scorereport.tables.grouped import name_test

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.evaluation import Evaluation
    from scorereport.inference.outcomes import Difference, Estimate, HypothesisTest
    from scorereport.judging import Judgement
    from scorereport.report.record import Report
    from scorereport.results import ModelResult, ScoreValue

_TONES = {Light.FAIL: "bad", Light.INCONCLUSIVE: "open", Light.WARN: "open"}
#: How a number of groups with each verdict is told.
_IN_GROUPS = {Light.FAIL: "fails", Light.INCONCLUSIVE: "is inconclusive", Light.WARN: "gives a warning"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A sentence, the key of the part that shows it, and how loud it is."""

    text: str
    see: str
    tone: str = "plain"


def conclude(report: Report) -> list[Finding]:
    """All findings of a report: breached limits first, then what each section comes to."""
    evaluation = report.evaluation
    return [
        *_conclude_limits(report.judgements),
        *_conclude_performance(evaluation),
        *(finding for model in evaluation.models for finding in _conclude_calibration(model, evaluation)),
        *_conclude_discrimination(evaluation),
        *_conclude_groups(evaluation),
        *_conclude_recalibration(evaluation),
    ]


def find_alpha(evaluation: Evaluation) -> float:
    """The level of tests that goes with the level of the intervals."""
    return round(1 - evaluation.settings.level, 12)


def _conclude_limits(judgements: Sequence[Judgement]) -> Iterator[Finding]:
    """Limits that are not met, the worst first; groups are counted for each measure and model."""
    for light, tone in _TONES.items():
        found = [judgement for judgement in judgements if judgement.verdict is light]
        for judgement in found:
            if not judgement.group:
                yield Finding(text=judgement.sentence, see="limits", tone=tone)
        counted = dict.fromkeys((j.label, j.model) for j in found if j.group)
        for label, model in counted:
            same = [j for j in judgements if j.group and (j.label, j.model) == (label, model)]
            bad = sum(j.verdict is light for j in same)
            text = f"{label} of {model} {_IN_GROUPS[light]} in {bad} of {len(same)} groups."
            yield Finding(text=text, see="limits", tone=tone)


def _conclude_performance(evaluation: Evaluation) -> Iterator[Finding]:
    """The model with the lowest Brier score, and whether the data can tell it from the others."""
    scores = {m.model: m.scores.scores[0] for m in evaluation.models}
    best = min(scores, key=lambda model: scores[model].value)
    value = scores[best]
    number = format_number(value.value, common_decimals([value.value]))
    skill = _tell_skill(value)
    if len(scores) == 1:
        yield Finding(text=f"{best} has a Brier score of {number}.{skill}", see="scores")
        return
    ranks = [r for r in evaluation.comparisons.ranks if r.model == best and r.measure == value.name]
    tied = ranks[0].tied_with if ranks else ()
    told = f"; the data cannot tell it from {join_words(tied)}" if tied else ""
    if ranks and not tied:
        told = "; the difference to every other model is more than chance explains"
    yield Finding(text=f"{best} has the lowest Brier score, {number}{told}.{skill}", see="scores")


def _tell_skill(score: ScoreValue) -> str:
    """The skill in words, with its interval; nothing where it is not defined."""
    if isnan(score.skill):
        return ""
    interval = score.skill_interval
    bounds = "" if interval is None else format_interval(100 * interval.lower, 100 * interval.upper, 1)
    told = f" Its skill, compared with always forecasting the prevalence, is {format_percent(score.skill)}"
    chance = interval is not None and interval.lower <= 0 <= interval.upper
    return (
        f"{told}{f', interval {bounds} %' if bounds else ''}{', which chance may explain' if chance else ''}."
    )


def _conclude_calibration(result: ModelResult, evaluation: Evaluation) -> Iterator[Finding]:
    """Whether forecasts come true as often as they say, and in which way they do not."""
    if not result.scores.miscalibration_tests:
        return
    test, part = result.scores.miscalibration_tests[0], result.scores.decompositions[0]
    alpha, decimals = find_alpha(evaluation), common_decimals([part.miscalibration])
    mcb, score = (format_number(value, decimals) for value in (part.miscalibration, part.score))
    measured = (
        f"(miscalibration {mcb} of a Brier score of {score}, p {_equals(format_p_value(test.p_value))})"
    )
    if test.p_value <= alpha:
        told = tell_ways(result)
        more = f": its forecasts are {told}" if told else ""
        text, tone = f"There is evidence that {result.model} is miscalibrated {measured}{more}.", "open"
    elif isnan(test.p_value) or alpha * (evaluation.settings.resamples + 1) < 1:
        text, tone = f"{result.model}: the test of calibration cannot tell {measured}.", "open"
    else:
        upper = result.scores.components[0].upper
        limit = "" if isnan(upper) else f"; it may be as large as {format_number(upper, 4)}"
        text, tone = f"{result.model}: no evidence of miscalibration {measured}{limit}.", "plain"
    yield Finding(text=text, see="reliability", tone=tone)


def _conclude_discrimination(evaluation: Evaluation) -> Iterator[Finding]:
    """How often an event gets the higher forecast."""
    areas = [(m.model, s) for m in evaluation.models for s in m.scores.scores if s.name == "roc_auc"]
    known = [(model, area) for model, area in areas if not isnan(area.value)]  # one class only
    if known:
        told = join_words(
            f"{model} {format_number(area.value, 3)}{_bracket(area.interval, 3)}" for model, area in known
        )
        yield Finding(
            text=f"AUC, how often an event gets a higher forecast than a non-event: {told}.", see="auc"
        )


def _conclude_groups(evaluation: Evaluation) -> Iterator[Finding]:
    """Columns whose groups differ by more than chance explains, once for each model."""
    differ: dict[tuple[str, str], list[HypothesisTest]] = {}
    alpha = find_alpha(evaluation)
    for item in evaluation.heterogeneity:
        if _adjusted(item.test) <= alpha:
            differ.setdefault((item.model, item.column), []).append(item.test)
    for (model, column), tests in differ.items():
        told = join_words(f"{name_test(t)}, p {_equals(format_p_value(_adjusted(t)))}" for t in tests)
        yield Finding(
            text=f"{model}: results differ between groups of {column} by more than chance explains ({told}, "
            "adjusted for their number). Scores also depend on how often the event happens in a group.",
            see="heterogeneity",
            tone="open",
        )


def _adjusted(test: HypothesisTest | Difference) -> float:
    return test.p_value if test.p_value_holm is None else test.p_value_holm


def _conclude_recalibration(evaluation: Evaluation) -> Iterator[Finding]:
    """Models that a map would improve, with the one that improves them most."""
    alpha = find_alpha(evaluation)
    for model in evaluation.models:
        better = [
            trial
            for trial in model.recalibration
            if trial.brier.value < 0 and _adjusted(trial.brier) <= alpha
        ]
        if better:
            best = min(better, key=lambda trial: trial.brier.value)
            decimals = common_decimals([best.brier.value])
            yield Finding(
                text=f"Recalibration would lower the Brier score of {model.model} by "
                f"{format_number(-best.brier.value, decimals)} "
                f"{format_interval(-best.brier.upper, -best.brier.lower, decimals)} ({best.method}, the best "
                f"of {len(model.recalibration)} maps).",
                see="recalibration",
                tone="open",
            )


def _bracket(estimate: Estimate | None, decimals: int) -> str:
    if estimate is None:
        return ""
    interval = format_interval(estimate.lower, estimate.upper, decimals)
    return f" {interval}" if interval else ""


def _equals(text: str) -> str:
    return text.replace("<", "< ") if text.startswith("<") else f"= {text}"


def describe_method_line(evaluation: Evaluation) -> str:
    """How sure the findings are, in a line."""
    settings = evaluation.settings
    if settings.resamples == 0:
        return "No intervals and tests were asked for; the findings are about these cases only."
    return (
        f"Intervals have level {format_level(settings.level)}; evidence means a test at the level of "
        f"{format_percent(find_alpha(evaluation))}."
    )
