"""The decision whether a model is shown to be miscalibrated, with the test that decides and its sentence."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING

from scorereport._utils.formatting import common_decimals, format_number, join_some
from scorereport._utils.representation import short_repr
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.inference.estimates import HypothesisTest
from scorereport.inference.time_errors import find_dependence
from scorereport.report.miscalibration_patterns import (
    adjusted_p_value,
    describe_autocorrelation,
    describe_line_test,
    describe_miscalibration,
    describe_p_values,
    describe_time_tests,
    find_line_test,
    find_time_test,
)
from scorereport.report.tables.table import score_label
from scorereport.results.class_records import THRESHOLD
from scorereport.results.model_records import ModelResult
from scorereport.scores.registry import inside_sentence

if TYPE_CHECKING:
    from scorereport.results.class_records import ClassModelResult
    from scorereport.results.evaluation import Evaluation

#: Most views that are named; further ones are counted.
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationDecision:
    """Whether a model is shown to be miscalibrated: "fail" if so, "pass" if not, or "inconclusive".

    `test` is the test that decides; None if no test that allows for dependence in time is available.
    """

    model: str
    verdict: LimitVerdict
    test: HypothesisTest | None
    sentence: str
    depends_on_time: bool = False

    __repr__ = short_repr


def decide_calibration(
    result: ModelResult | ClassModelResult, evaluation: Evaluation, alpha: float
) -> CalibrationDecision | None:
    """Decide by the test that suits the evaluation, at a significance level; None if nothing was tested.

    Rows in memory are tested for miscalibration of the main score. If residuals depend on each other in time,
    a test that allows for it decides, and without rows the test of slope and intercept.
    """
    test = result.scores.miscalibration_test(evaluation.main_score)
    if test is None:
        return _decide_by_line(result, evaluation, alpha)
    measured = _describe_measured(result, evaluation, test)
    if isinstance(result, ModelResult):
        dependence = _find_dependence(result, alpha)
        if dependence is not None:
            return _decide_in_time(result, evaluation, alpha, dependence, measured)
    verdict = _find_verdict(test, alpha, len(evaluation.results))
    if verdict is LimitVerdict.FAIL:
        more = _describe_pattern(result, alpha)
        sentence = f"There is evidence that {result.model} is miscalibrated {measured}{more}."
    elif verdict is LimitVerdict.INCONCLUSIVE:
        sentence = f"{result.model}: the test of calibration is inconclusive {measured}."
    else:
        limit = _describe_limit(result, evaluation)
        sentence = f"{result.model}: no evidence of miscalibration {measured}{limit}."
    return CalibrationDecision(model=result.model, verdict=verdict, test=test, sentence=sentence)


def _find_verdict(test: HypothesisTest, alpha: float, models: int) -> LimitVerdict:
    """The verdict of a test; inconclusive if its draws are too few for any p-value to reject."""
    if adjusted_p_value(test) <= alpha:
        return LimitVerdict.FAIL
    is_open = isnan(test.p_value) or models * test.smallest_p_value > alpha
    return LimitVerdict.INCONCLUSIVE if is_open else LimitVerdict.PASS


def _describe_measured(
    result: ModelResult | ClassModelResult, evaluation: Evaluation, test: HypothesisTest
) -> str:
    name = evaluation.main_score
    part = result.scores.decomposition(name)
    decimals = common_decimals([part.miscalibration])
    mcb, score = (format_number(value, decimals) for value in (part.miscalibration, part.score))
    p_values = describe_p_values(test, len(evaluation.results))
    return f"(miscalibration {mcb} of a {inside_sentence(score_label(name))} of {score}, {p_values})"


def _describe_limit(result: ModelResult | ClassModelResult, evaluation: Evaluation) -> str:
    """How large miscalibration may be; empty if it has no interval."""
    known = result.scores.component(evaluation.main_score, "miscalibration")
    upper = nan if known is None else known.upper
    return "" if isnan(upper) else f"; overfit-corrected, it may be as large as {format_number(upper, 4)}"


def _find_dependence(result: ModelResult, alpha: float) -> HypothesisTest | None:
    """Return the test that shows dependence in time; None if no test shows it."""
    return None if result.calibration is None else find_dependence(result.calibration.tests, alpha)


def _decide_in_time(
    result: ModelResult, evaluation: Evaluation, alpha: float, dependence: HypothesisTest, measured: str
) -> CalibrationDecision:
    models, test = len(evaluation.results), find_time_test(result)
    return CalibrationDecision(
        model=result.model,
        verdict=LimitVerdict.INCONCLUSIVE if test is None else _find_verdict(test, alpha, models),
        test=test,
        sentence=f"Residuals of {result.model} depend on each other in time "
        f"({describe_autocorrelation(dependence)}): intervals, bands and tests that treat rows as "
        f"independent are too confident, among them the test of miscalibration {measured}. "
        f"{describe_time_tests(result, alpha, models)}",
        depends_on_time=True,
    )


def _decide_by_line(
    result: ModelResult | ClassModelResult, evaluation: Evaluation, alpha: float
) -> CalibrationDecision | None:
    """Decide by the test of slope and intercept, for engines that do not draw outcomes."""
    if not isinstance(result, ModelResult) or evaluation.settings.engine == "memory":
        return None
    if not result.calibration:
        return None
    models, test = len(evaluation.results), find_line_test(result)
    sentence, is_open = describe_line_test(result, alpha, models)
    verdict = LimitVerdict.INCONCLUSIVE if test is None else _find_verdict(test, alpha, models)
    if is_open and verdict is LimitVerdict.PASS:  # the band excludes the diagonal
        verdict = LimitVerdict.INCONCLUSIVE
    return CalibrationDecision(model=result.model, verdict=verdict, test=test, sentence=sentence)


def _describe_pattern(result: ModelResult | ClassModelResult, alpha: float) -> str:
    """Describe in which way a binary model is wrong, or for which views a class model is."""
    if isinstance(result, ModelResult):
        pattern = describe_miscalibration(result)
        return f": {pattern}" if pattern else ""
    family = result.families[-1]
    tests = [(view.label, view.scores.miscalibration_test("brier")) for view in family.views]
    shown = [label for label, test in tests if test is not None and test.p_value <= alpha]
    if not shown:
        return ", though for no single view of its classes"
    up_to = "up to " if family.kind == THRESHOLD else ""
    named = join_some([f"“{label}”" for label in shown], _MOST_NAMED)
    return f", shown separately for {up_to}{named}"
