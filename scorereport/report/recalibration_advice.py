"""Advice on recalibration: leave a model as it is, recalibrate it by the simplest map, or refit it.

The maps are those that were tried: a shift of the log-odds, a line in them, and any nondecreasing curve. One
is advised only where it is shown to lower the Brier score on new cases. Tests of slope and of the local part
decide which: the simplest after which no miscalibration is shown to be left.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import isnan
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_number, format_p_value, format_percent, join_words
from scorereport._utils.representation import short_repr
from scorereport._utils.rounding import first_lowest
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.inference.heterogeneity import LINE_BY_GROUP
from scorereport.inference.recalibration import RecalibrationTrial
from scorereport.report.calibration_decision import decide_calibration
from scorereport.report.finding_records import MODELS
from scorereport.report.miscalibration_patterns import (
    SLOPE_TEST,
    adjusted_p_value,
    find_test,
    format_relation,
)

if TYPE_CHECKING:
    from scorereport.report.calibration_decision import CalibrationDecision
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelResult

#: Decimals of coefficients in log-odds.
_DECIMALS = 2


class Remedy(StrEnum):
    """What to do about the calibration of a model."""

    LEAVE = "leave as it is"
    SHIFT = "recalibrate by a shift"
    LINE = "recalibrate by a line"
    CURVE = "recalibrate by a new curve"
    REFIT = "refit"
    COLLECT = "collect more cases"


#: The name of each map in a sentence, and the method of its trial.
_NAMES = {
    Remedy.SHIFT: "a shift of the log-odds",
    Remedy.LINE: "a line in log-odds",
    Remedy.CURVE: "a new curve",
}
METHODS = {Remedy.SHIFT: "intercept", Remedy.LINE: "logistic", Remedy.CURVE: "isotonic"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalibrationAdvice:
    """The remedy for a model, its reasons in a sentence, and an action in the form that findings have.

    `action` is empty if nothing is to be done, or if another finding says what; `shared_action` is the same
    for all models with this remedy. `how` names the map with its coefficients, and `trial` is its trial; None
    without a map. `finding` is what the summary states of an action without a map.
    """

    model: str
    remedy: Remedy
    sentence: str
    action: str = ""
    shared_action: str = ""
    how: str = ""
    trial: RecalibrationTrial | None = None
    finding: str = ""

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What findings and limits show of a model that no map of its forecasts can repair.

    `weak` names limits on discrimination that are breached; with `few_cases`, an alarm asks for more cases.
    """

    is_inverted: bool = False
    few_cases: bool = False
    weak: tuple[str, ...] = ()


def advise_recalibration(
    result: ModelResult, evaluation: Evaluation, alpha: float, met: Circumstances
) -> RecalibrationAdvice | None:
    """Advise on the recalibration of a model at a significance level; None if no map was tried."""
    if not result.recalibration:
        return None
    decision = decide_calibration(result, evaluation, alpha)
    if met.is_inverted:
        return _refit(result, "its ranking is inverted, which recalibration would hide")
    if met.weak:
        return _refit(
            result,
            f"{join_words(met.weak)} {'is' if len(met.weak) == 1 else 'are'} beyond the limit, and "
            "recalibration does not improve a ranking",
            f"Refit {MODELS}: recalibration does not improve a ranking.",
        )
    better = [t for t in result.recalibration if t.brier.value < 0 and adjusted_p_value(t.brier) <= alpha]
    if better:
        columns = _differing_columns(result.model, evaluation, alpha)
        if columns:
            return _refit_by_group(result, join_words(columns))
        return _recalibrate(result, decision, better, alpha)
    return _leave(result, decision, met)


def _refit(result: ModelResult, why: str, action: str = "") -> RecalibrationAdvice:
    return RecalibrationAdvice(
        model=result.model,
        remedy=Remedy.REFIT,
        sentence=f"{result.model}: refit; {why}.",
        action=action,
        finding=f"Recalibration is not enough for {result.model}: {why}.",
    )


def _refit_by_group(result: ModelResult, columns: str) -> RecalibrationAdvice:
    why = f"calibration differs between groups of {columns}, so that one map for all cases is not enough"
    action = f"Refit {MODELS} or recalibrate it by {columns}, and evaluate again on new cases."
    return _refit(result, why, action)


def _differing_columns(model: str, evaluation: Evaluation, alpha: float) -> list[str]:
    """The columns between whose groups the calibration of a model is shown to differ.

    Lines are compared: where the slope differs from 1, intercepts at slope 1 differ even if all groups have
    the same line.
    """
    found = [
        item.column
        for item in evaluation.heterogeneity
        if item.model == model and item.test.name == LINE_BY_GROUP
        if adjusted_p_value(item.test) <= alpha
    ]
    return list(dict.fromkeys(found))


def _recalibrate(
    result: ModelResult, decision: CalibrationDecision | None, better: list[RecalibrationTrial], alpha: float
) -> RecalibrationAdvice:
    """Advise the simplest map with a gain after which nothing is shown to be left; else that of most gain."""
    remedy, why = _choose_map(result, decision, alpha)
    trial = next((t for t in better if t.method == METHODS[remedy]), None)
    if trial is None:
        trial = better[first_lowest([t.brier.value for t in better])]
        remedy = next(each for each, method in METHODS.items() if method == trial.method)
        why = "of the maps that are shown to lower the Brier score, it lowers it most"
    how = _name_map(result, remedy)
    return RecalibrationAdvice(
        model=result.model,
        remedy=remedy,
        sentence=f"{result.model}: recalibrate by {how}; {why}.",
        action=_act(how),
        shared_action=_act(_NAMES[remedy]),
        how=how,
        trial=trial,
    )


def _act(how: str) -> str:
    return f"Recalibrate {MODELS} by {how}, and evaluate again on new cases."


def _choose_map(
    result: ModelResult, decision: CalibrationDecision | None, alpha: float
) -> tuple[Remedy, str]:
    """The simplest map after which no miscalibration is shown to be left, and why.

    The test of the local part takes rows as independent: where they depend on each other in time, it does not
    decide.
    """
    local = _local_p_value(result)
    slope = _p_value(result, SLOPE_TEST)
    depends = decision is not None and decision.depends_on_time
    if local <= alpha and not depends:
        share = _describe_share(result)
        return Remedy.CURVE, f"after the best line{share}, miscalibration is left (p {_relate(local)})"
    curve = "" if isnan(local) or depends else f"a new curve (p {_relate(local)})"
    if slope <= alpha:
        more = f", and {curve} is not shown to be needed" if curve else ""
        return Remedy.LINE, f"its slope differs from 1 (p {_relate(slope)}){more}"
    others = [text for text in ("" if isnan(slope) else f"a slope (p {_relate(slope)})", curve) if text]
    verb = "is" if len(others) == 1 else "are"
    why = f"{join_words(others)} {verb} not shown to be needed" if others else "it is the simplest map"
    return Remedy.SHIFT, why


def _describe_share(result: ModelResult) -> str:
    """A clause on what the best line removes; empty if it is not known."""
    parts = result.parts_of("brier")
    if parts is None or not parts.miscalibration > 0 or isnan(parts.global_part.value):
        return ""
    return f", which removes {format_percent(parts.global_part.value / parts.miscalibration)} of MCB"


def _relate(p_value: float) -> str:
    return format_relation(format_p_value(p_value))


def _p_value(result: ModelResult, name: str) -> float:
    test = find_test(result, name)
    return float("nan") if test is None else adjusted_p_value(test)


def _local_p_value(result: ModelResult) -> float:
    parts = result.parts_of("brier")
    return float("nan") if parts is None else adjusted_p_value(parts.local_test)


def _name_map(result: ModelResult, remedy: Remedy) -> str:
    """Name a map, with the coefficients of maximum likelihood."""
    parts, name = result.parts_of("log_loss"), _NAMES[remedy]
    if parts is None or remedy is Remedy.CURVE:
        return name
    if remedy is Remedy.SHIFT:
        return f"{name} ({format_number(parts.offset, _DECIMALS)})"
    intercept, slope = (format_number(value, _DECIMALS) for value in (parts.intercept, parts.slope))
    return f"{name} (intercept {intercept}, slope {slope})"


def _leave(
    result: ModelResult, decision: CalibrationDecision | None, met: Circumstances
) -> RecalibrationAdvice:
    """Advise more cases where miscalibration is shown but no gain, or where cases are few; else nothing."""
    verdict = LimitVerdict.PASS if decision is None else decision.verdict
    no_gain = "no map is shown to lower the Brier score on new cases"
    if verdict is LimitVerdict.FAIL:
        return RecalibrationAdvice(
            model=result.model,
            remedy=Remedy.COLLECT,
            sentence=f"{result.model}: collect more cases; it is miscalibrated, but {no_gain}.",
            action=f"Collect more cases before {MODELS} is recalibrated.",
            finding=f"{result.model} is miscalibrated, but {no_gain}.",
        )
    if met.few_cases or verdict is not LimitVerdict.PASS:
        why = "cases are few" if met.few_cases else "whether it is miscalibrated is open"
        sentence = f"{result.model}: collect more cases; {why}, and {no_gain}."
        return RecalibrationAdvice(model=result.model, remedy=Remedy.COLLECT, sentence=sentence)
    sentence = f"{result.model}: leave as it is; {no_gain}."
    return RecalibrationAdvice(model=result.model, remedy=Remedy.LEAVE, sentence=sentence)
