"""Comparison of decisions at thresholds with base R: counts, rates, net benefit, regret, and their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.inference.decision_differences import MODEL, TREAT_ALL
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.inference_comparison import InferenceComparer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.curves.decision import ThresholdResult
    from scorereport.inference.decision_differences import DecisionDifference
    from scorereport.reference.inference_questions import InferenceAnswer, InferenceQuestion
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelResult

TABLE, CURVES, NET_BENEFIT = (
    "decisions at thresholds",
    "decision, regret and Murphy curves",
    "differences of net benefit",
)
#: The numbers of a threshold, by the names of both its record and R's answer.
_NUMBERS = (
    *("flagged", "sensitivity", "specificity", "positive_predictive_value", "negative_predictive_value"),
    *("net_benefit", "regret", "interventions_avoided"),
    *("true_positives", "false_positives", "false_negatives", "true_negatives"),
)
_BAND = ("lower", "upper", "lower_beyond", "upper_beyond")
_LIMITS = ("value", "lower", "upper")
#: What rounding adds to a number that is a difference of shares of all cases, such as net benefit.
_NOISE = 1e-14


def compare_decisions(
    comparer: InferenceComparer, result: ModelResult, question: InferenceQuestion
) -> Iterator[Comparison]:
    """Compare the table of decisions and the decision and regret curves of a model."""
    thresholds = np.array([row.threshold for row in result.thresholds])
    if not np.array_equal(thresholds, question.thresholds):
        yield comparer.state(
            TABLE, Verdict.DIFFERS, "The table has other thresholds than the settings ask for."
        )
        return
    per_case = _NOISE / np.minimum(thresholds, 1 - thresholds)
    for name in _NUMBERS:
        known = [getattr(row, name) for row in result.thresholds]
        if None not in known:  # documents of older versions lack some
            noise = per_case * (100 if name == "interventions_avoided" else 1)
            yield comparer.match_named(f"{TABLE}: {_words(name)}", known, f"table.{name}", noise=noise)
    yield from _compare_limits(comparer, result.thresholds, per_case)
    yield from _compare_curves(comparer, result, question)


def _compare_limits(
    c: InferenceComparer, rows: tuple[ThresholdResult, ...], per_case: FloatArray
) -> Iterator[Comparison]:
    """Compare the intervals of all numbers at all thresholds, which R computes for independent cases."""
    for name in [interval.measure for interval in rows[0].intervals]:
        intervals = [row.interval(name) for row in rows]
        quantity = f"{TABLE}: {_words(name)}, value and limits"
        theirs = [c.find(f"limits.{name}.{part}") for part in _LIMITS]
        if any(part is None for part in theirs):
            yield c.miss(quantity, "limits")
            continue
        ours = [[getattr(interval, part) for interval in intervals] for part in _LIMITS]
        noise = np.tile(per_case * (1000 if name == "interventions_avoided" else 10), len(_LIMITS))
        yield c.match(
            quantity,
            np.ravel(ours),
            np.concatenate([part for part in theirs if part is not None]),
            noise=noise,
        )


def _compare_curves(
    c: InferenceComparer, result: ModelResult, question: InferenceQuestion
) -> Iterator[Comparison]:
    """Compare both curves at the thresholds that R was asked for."""
    decision, regret, murphy = (
        result.curves.decision,
        result.curves.regret,
        result.curves.murphy.score,
    )
    curves = {
        "net_benefit": (decision.threshold, decision.net_benefit),
        "net_benefit_beyond": (decision.threshold, decision.beyond),
        "treat_all": (decision.threshold, decision.treat_all),
        "regret": (regret.theta, regret.left),
        "regret_beyond": (regret.theta, regret.right),
        "murphy": (murphy.theta, murphy.left),
        "murphy_beyond": (murphy.theta, murphy.right),
    }
    yield c.match_named(f"{CURVES}: prevalence", decision.prevalence, "curve.prevalence")
    if decision.band is not None:
        if c.find("curve.lower") is None:
            yield c.miss(f"{CURVES}: limits of net benefit", "curve")
        else:
            curves |= {name: (decision.threshold, getattr(decision.band, name)) for name in _BAND}
    for name, (at, values) in curves.items():
        is_asked = np.isin(at, question.curve)
        place = np.searchsorted(question.curve, at[is_asked])
        quantity, theirs = f"{CURVES}: {_words(name)}", c.find(f"curve.{name}")
        if theirs is None:
            yield c.miss(quantity, "curve")
        else:
            noise = 10 * _NOISE / (1 - at[is_asked])
            yield c.match(quantity, values[is_asked], theirs[place], noise=noise)


def _words(name: str) -> str:
    return name.replace("_", " ")


def compare_net_benefits(
    answer: InferenceAnswer, evaluation: Evaluation, question: InferenceQuestion
) -> Iterator[Comparison]:
    """Compare differences of net benefit between models, and from treating all and none; not their bands."""
    names = [result.model for result in evaluation.models]
    for difference in evaluation.comparisons.decisions or ():
        one, other = difference.first, difference.second
        c = InferenceComparer(subject=f"{one} and {other}", prefix=f"m{names.index(one) + 1}.", answer=answer)
        theirs = _difference_of(c, difference, names)
        if theirs is None:
            yield c.miss(NET_BENEFIT, "compared")
        elif not np.array_equal(difference.threshold, question.compared):
            yield c.state(NET_BENEFIT, Verdict.DIFFERS, "It has other thresholds than the settings ask for.")
        else:
            noise = _NOISE / (1 - question.compared)
            yield c.match(NET_BENEFIT, difference.difference, theirs, noise=noise)


def _difference_of(
    c: InferenceComparer, difference: DecisionDifference, names: list[str]
) -> FloatArray | None:
    """R's net benefit of the first model minus that of the second, or of a policy."""
    own = c.find("compared.net_benefit")
    if difference.against == MODEL:
        other = c.answer.find(f"m{names.index(difference.second) + 1}.compared.net_benefit")
    else:
        other = c.find("compared.treat_all")
        other = other if other is None or difference.against == TREAT_ALL else np.zeros_like(other)
    return None if own is None or other is None else own - other
