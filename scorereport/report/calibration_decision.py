"""The decision whether a model is shown to be miscalibrated: deciding test, sentence and reasons."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from scorereport._utils.representation import short_repr
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.inference.estimates import HypothesisTest
from scorereport.inference.time_errors import find_dependence
from scorereport.report.calibration_reasons import DecidingTest, DecisionCase, explain_decision
from scorereport.report.miscalibration_patterns import (
    adjusted_p_value,
    describe_autocorrelation,
    describe_corrected,
    describe_miscalibration,
    describe_p_values,
    find_excluding_band,
    find_line_test,
    find_time_test,
    name_time_test,
)
from scorereport.report.view_calibration import describe_worst_view
from scorereport.results.model_records import ModelResult

if TYPE_CHECKING:
    from scorereport.results.class_records import ClassModelResult
    from scorereport.results.evaluation import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationDecision:
    """Whether a model is shown to be miscalibrated: "fail" if so, "pass" if not, or "inconclusive".

    `test` is the test that decides; None if no test that allows for dependence in time is available.
    `sentence` states the decision with its numbers and the worst range of forecasts; `reasons` are sentences
    on what test, band and interval show, which of them decides, and why they may differ.
    """

    model: str
    verdict: LimitVerdict
    test: HypothesisTest | None
    sentence: str
    depends_on_time: bool = False
    reasons: tuple[str, ...] = ()

    __repr__ = short_repr


def decide_calibration(
    result: ModelResult | ClassModelResult, evaluation: Evaluation, alpha: float
) -> CalibrationDecision | None:
    """Decide by the test that suits the evaluation, at a significance level; None if nothing was tested.

    Rows in memory are tested for miscalibration of the main score. If residuals depend on each other in time,
    a test that allows for it decides, and without rows the test of slope and intercept.
    """
    case = _find_case(result, evaluation, alpha)
    if case is None:
        return None
    return CalibrationDecision(
        model=result.model,
        verdict=case.verdict,
        test=case.test,
        sentence=_describe(case),
        depends_on_time=case.dependence is not None,
        reasons=explain_decision(case),
    )


def _find_case(
    result: ModelResult | ClassModelResult, evaluation: Evaluation, alpha: float
) -> DecisionCase | None:
    """Choose the test that decides, and find its verdict."""
    test, kind = result.scores.miscalibration_test(evaluation.main_score), DecidingTest.MISCALIBRATION
    dependence = None
    if test is None:
        if not _has_line(result, evaluation):
            return None
        test, kind = _find_line(result), DecidingTest.LINE
    elif isinstance(result, ModelResult):
        dependence = _find_dependence(result, alpha)
        if dependence is not None:
            test, kind = find_time_test(result), DecidingTest.IN_TIME
    return DecisionCase(
        result=result,
        evaluation=evaluation,
        alpha=alpha,
        test=test,
        kind=kind,
        verdict=_find_verdict(result, test, kind, alpha, len(evaluation.results)),
        dependence=dependence,
    )


def _has_line(result: ModelResult | ClassModelResult, evaluation: Evaluation) -> bool:
    """Whether a model of an engine that does not draw outcomes was examined."""
    is_binary = isinstance(result, ModelResult) and result.calibration is not None
    return is_binary and evaluation.settings.engine != "memory"


def _find_line(result: ModelResult | ClassModelResult) -> HypothesisTest | None:
    return find_line_test(result) if isinstance(result, ModelResult) else None


def _find_dependence(result: ModelResult, alpha: float) -> HypothesisTest | None:
    """Return the test that shows dependence in time; None if no test shows it."""
    return None if result.calibration is None else find_dependence(result.calibration.tests, alpha)


def _find_verdict(
    result: ModelResult | ClassModelResult,
    test: HypothesisTest | None,
    kind: DecidingTest,
    alpha: float,
    models: int,
) -> LimitVerdict:
    """The verdict of a test; inconclusive if its draws are too few for any p-value to reject.

    The test of slope and intercept does not see every deviation: it is also inconclusive if the confidence
    band excludes the diagonal.
    """
    if test is None:
        return LimitVerdict.INCONCLUSIVE
    if adjusted_p_value(test) <= alpha:
        return LimitVerdict.FAIL
    is_open = isnan(test.p_value) or models * test.smallest_p_value > alpha
    if kind is DecidingTest.LINE and isinstance(result, ModelResult):
        is_open = is_open or find_excluding_band(result) is not None
    return LimitVerdict.INCONCLUSIVE if is_open else LimitVerdict.PASS


def _describe(case: DecisionCase) -> str:
    """The sentence of a decision."""
    model, measured = case.result.model, f"({_describe_measured(case)})"
    if case.verdict is LimitVerdict.FAIL:
        return f"{model} is miscalibrated {measured}{_describe_where(case)}."
    if case.verdict is LimitVerdict.PASS:
        return f"No evidence that {model} is miscalibrated {measured}."
    return f"Whether {model} is miscalibrated is open {measured}{_describe_doubt(case)}."


def _describe_measured(case: DecisionCase) -> str:
    """The test with its p-value, and the corrected MCB."""
    models, test = len(case.evaluation.results), case.test
    corrected = describe_corrected(case.result.scores, case.evaluation.main_score)
    if test is None or isnan(test.p_value):
        return corrected
    named = {
        DecidingTest.MISCALIBRATION: "",
        DecidingTest.LINE: "test of slope and intercept, ",
        DecidingTest.IN_TIME: f"{name_time_test(test)}, " if case.dependence is not None else "",
    }[case.kind]
    known = case.result.scores.component(case.evaluation.main_score, "miscalibration")
    takes = case.dependence is not None and known is not None and not isnan(known.lower)
    caution = ", with rows taken as independent" if takes else ""
    return f"{named}{describe_p_values(test, models)}; {corrected}{caution}"


def _describe_where(case: DecisionCase) -> str:
    """Where a binary model is wrong, or for which views a class model is."""
    if isinstance(case.result, ModelResult):
        pattern = describe_miscalibration(case.result)
        return f": {pattern or 'no single range of forecasts is shown to be wrong'}"
    return f": {describe_worst_view(case.result, case.alpha)}"


def _describe_doubt(case: DecisionCase) -> str:
    """Why a decision is open."""
    if case.test is None and case.dependence is not None:
        how = describe_autocorrelation(case.dependence)
        return (
            f": residuals depend on each other in time ({how}), and no test that allows for it is available"
        )
    if case.test is None or isnan(case.test.p_value):
        return ": the test is not defined"
    if case.kind is DecidingTest.LINE and isinstance(case.result, ModelResult):
        where = describe_miscalibration(case.result)
        return f": the confidence band excludes the diagonal{f'; {where}' if where else ''}"
    return f": {case.test.draws} draws are too few for the test to reject"
