"""Tables of discrimination, decisions at thresholds, and the cost of class decisions."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport._utils.formatting import (
    common_decimals,
    format_interval,
    format_number,
    format_percent,
    format_plain,
)
from scorereport._utils.rounding import first_lowest
from scorereport.evaluation.class_measures import choose_cost
from scorereport.inference.kolmogorov_smirnov import ks_statistic
from scorereport.report.tables.table import Table, distinct_decimals, format_columns, interval_text
from scorereport.scores.hard_labels import naive_cost_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.curves.decision import ThresholdInterval, ThresholdResult
    from scorereport.inference.estimates import Estimate
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelResult, ModelScores, ScoreValue


#: Rates of the table that have intervals, with their column heads.
_RATES = {
    "sensitivity": "sens.",
    "specificity": "spec.",
    "positive_predictive_value": "PPV",
    "negative_predictive_value": "NPV",
}


def threshold_decision_table(models: Sequence[ModelResult], level: str) -> Table | None:
    """Table of decisions at thresholds; None if there are no thresholds."""
    has_intervals = any(t.intervals for m in models for t in m.thresholds)
    rows = [
        (format_plain(t.threshold), m.model, *_decision(t, has_intervals=has_intervals))
        for of_threshold in zip(*(m.thresholds for m in models), strict=True)
        for m, t in zip(models, of_threshold, strict=True)
    ]
    if not rows:
        return None
    interval = ("interval",) if has_intervals else ()
    stated = f", with {level} intervals, each for its number separately" if has_intervals else ""
    return Table(
        caption="Acting if the forecast is at least the threshold: share of cases acted on, sensitivity "
        "(share of events found), specificity (share of non-events not acted on), predictive values (PPV, "
        "NPV: how often a decision is right), net benefit and interventions avoided per 100 cases, compared "
        "with acting on all, without a change in the number of treated events (higher is better), and regret "
        f"(lower is better){stated}",
        heads=(
            *("threshold", "model", "acted on"),
            *(head for rate in _RATES.values() for head in (rate, *interval)),
            *("net benefit", *interval, "avoided", *interval, "regret"),
        ),
        rows=tuple(rows),
        n_labels=2,
        section=len(models) if len(models) > 1 else 0,
    )


def _decision(t: ThresholdResult, *, has_intervals: bool) -> Iterator[str]:
    yield format_percent(t.flagged)
    for rate in _RATES:
        yield format_percent(getattr(t, rate))
        if has_intervals:
            yield _percents(t.interval(rate))
    yield format_number(t.net_benefit, 4)
    if has_intervals:
        yield _bounds(t.interval("net_benefit"), 4)
    yield "" if t.interventions_avoided is None else format_number(t.interventions_avoided, 1)
    if has_intervals:
        yield _bounds(t.interval("interventions_avoided"), 1)
    yield format_number(t.regret, 4)


def _bounds(found: ThresholdInterval | None, decimals: int) -> str:
    return "" if found is None else format_interval(found.lower, found.upper, decimals)


def _percents(found: ThresholdInterval | None) -> str:
    """Format the interval of a rate in percent."""
    if found is None:
        return ""
    lower, upper = 100 * found.lower, 100 * found.upper
    return format_interval(lower, upper, distinct_decimals(lower, upper, 1))


def discrimination_table(models: Sequence[ModelResult], level: str) -> Table:
    """Table of AUC, accuracy ratio and Kolmogorov-Smirnov statistic of each model."""
    rows = []
    for result in models:
        auc = next(score for score in result.scores.scores if score.name == "roc_auc")
        ratio = (format_number(auc.skill, 4), interval_text(auc.skill_interval, 4))
        rows.append(
            (
                result.model,
                format_number(auc.value, 4),
                interval_text(auc.interval, 4),
                *ratio,
                format_number(ks_statistic(result.curves.roc_hull), 4),
            )
        )
    with_intervals = f", with {level} intervals" if models[0].scores.scores[0].interval else ""
    return Table(
        caption="Discrimination: AUC, the probability that an event has a higher forecast than a non-event; "
        "accuracy ratio AR = 2 AUC − 1; KS, the largest difference, over all thresholds, between the share "
        f"of events found and the share of non-events flagged. Higher is better{with_intervals}",
        heads=("model", "AUC", "interval", "AR", "interval", "KS"),
        rows=tuple(rows),
    )


#: Most classes in a matrix that fits on a page.
_MOST_CLASSES = 12
#: Longest label of a column, and of all columns together; if labels are longer, columns have numbers.
_LONGEST_HEAD, _LONGEST_HEADS = 9, 40


def penalty_table(models: Sequence[ModelScores], n_classes: int, level: str) -> Table:
    """Table of what the penalty for misclassified cases adds to Brier and log score."""
    worst = (n_classes - 1) / n_classes
    numbers = format_columns([_penalised(scores, worst, log(n_classes)) for scores in models])
    wrong = [_describe_wrong(scores.score("accuracy")) for scores in models]
    has_intervals = models[0].score("accuracy").interval is not None
    rows = [
        (scores.model, *(share if has_intervals else share[:1]), *text)
        for scores, share, text in zip(models, wrong, numbers, strict=True)
    ]
    heads = ("Brier", "penalty, Brier", "penalised Brier", "log", "penalty, log", "penalised log")
    with_interval = f" with its {level} interval" if has_intervals else ""
    return Table(
        caption=f"Penalised scores: a case whose likeliest class is wrong adds (K − 1)/K = "
        f"{format_number(worst, 4)} to the Brier score and log K = {format_number(log(n_classes), 4)} to the "
        "log score, so that every right prediction scores better than every wrong one. The penalty is this "
        f"number times the share of misclassified cases{with_interval}. Lower is better",
        heads=("model", "misclassified", *(["interval"] if has_intervals else []), *heads),
        rows=tuple(rows),
    )


def _penalised(scores: ModelScores, of_brier: float, of_log: float) -> list[float]:
    wrong = 1 - scores.score("accuracy").value
    return [
        scores.score("multiclass_brier").value,
        of_brier * wrong,
        scores.score("penalized_brier").value,
        scores.score("multiclass_log_loss").value,
        of_log * wrong,
        scores.score("penalized_log_loss").value,
    ]


def _describe_wrong(accuracy: ScoreValue) -> tuple[str, str]:
    """Return the share of misclassified cases and its interval, in percent."""
    interval = accuracy.interval
    bounds = "" if interval is None else _mirror(interval, 100.0, 1)
    return format_percent(1 - accuracy.value), bounds


def _mirror(estimate: Estimate, factor: float, decimals: int) -> str:
    """Format the interval of 1 minus an estimate."""
    return format_interval(factor * (1 - estimate.upper), factor * (1 - estimate.lower), decimals)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DecisionCosts:
    """The cost matrix of an evaluation, and the best constant decision with its cost."""

    matrix: FloatArray
    naive: float
    decision: str

    @property
    def is_free_if_right(self) -> bool:
        """Whether right decisions cost nothing."""
        return not np.diagonal(self.matrix).any()


def find_decision_costs(evaluation: Evaluation) -> DecisionCosts | None:
    """Return the costs of decisions of class models; None for binary models."""
    classes = evaluation.data.classes
    if classes is None:
        return None
    matrix = choose_cost(len(classes.counts), evaluation.settings, ordered=classes.ordered)
    weights = np.array(evaluation.data.sample.classes)
    best = first_lowest((weights[:, None] * matrix).sum(axis=0))
    return DecisionCosts(
        matrix=matrix, naive=float(naive_cost_of(weights, matrix)), decision=classes.labels[best]
    )


def cost_table(models: Sequence[ModelScores], costs: DecisionCosts, level: str) -> Table:
    """Table of the expected cost of each model, and its ratio to the cost of the best constant decision."""
    values = [scores.score("expected_cost") for scores in models]
    has_intervals = values[0].interval is not None
    decimals = common_decimals([costs.naive, *(value.value for value in values)])
    rows = []
    for scores, value in zip(models, values, strict=True):
        text = [format_number(value.value, decimals), interval_text(value.interval, decimals)]
        ratio = [format_number(_divide(value.value, costs.naive), 4), _interval_of_ratio(value, costs)]
        kept = slice(None) if has_intervals else slice(1)
        rows.append((scores.model, *text[kept], format_number(costs.naive, decimals), *ratio[kept]))
    interval = ("interval",) if has_intervals else ()
    with_intervals = f", with {level} intervals" if has_intervals else ""
    return Table(
        caption=f"Expected cost if the decision is the likeliest class{with_intervals}; naive: cost of the "
        f"best constant decision, always “{costs.decision}”. A model is useful if cost / naive is below 1. "
        "Lower is better",
        heads=("model", "expected cost", *interval, "naive", "cost / naive", *interval),
        rows=tuple(rows),
    )


def _divide(cost: float, naive: float) -> float:
    return cost / naive if naive > 0 else np.nan


def _interval_of_ratio(value: ScoreValue, costs: DecisionCosts) -> str:
    """Format the interval of cost / naive, which is 1 minus the skill if right decisions cost nothing."""
    if value.skill_interval is None or not costs.is_free_if_right:
        return ""
    return _mirror(value.skill_interval, 1.0, 4)


def cost_matrix_table(costs: DecisionCosts, labels: Sequence[str]) -> Table | None:
    """Table of the cost of each decision for each observed class; None with too many classes for a page."""
    if len(labels) > _MOST_CLASSES:
        return None
    is_short = max(map(len, labels)) <= _LONGEST_HEAD and sum(map(len, labels)) <= _LONGEST_HEADS
    numbers = [str(place) for place in range(1, len(labels) + 1)]
    names = labels if is_short else [f"{n}: {label}" for n, label in zip(numbers, labels, strict=True)]
    numbering = "" if is_short else ", numbered like the rows"
    decimals = next((d for d in range(4) if (costs.matrix.round(d) == costs.matrix).all()), 4)
    return Table(
        caption=f"Costs: observed classes in rows, decisions in columns{numbering}",
        heads=("observed class", *(labels if is_short else numbers)),
        rows=tuple(
            (name, *(format_number(cost, decimals) for cost in row))
            for name, row in zip(names, costs.matrix.tolist(), strict=True)
        ),
    )
