"""In which way forecasts miss what happens, in words, from bands and the calibration line."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from scorereport._utils.formatting import common_decimals, format_interval, format_number, format_p_value
from scorereport.inference.calibration_tests import SPIEGELHALTER
from scorereport.report.shapes import describe_segments

if TYPE_CHECKING:
    from scorereport.inference.estimates import Difference, Estimate, HypothesisTest
    from scorereport.inference.recalibration_lines import CalibrationLine
    from scorereport.reliability.bands import Band
    from scorereport.results.model_records import ModelResult

_LINE_DECIMALS = 2
#: The test that the intercept is 0 and the slope is 1.
UNRELIABILITY = "Unreliability"


def describe_miscalibration(result: ModelResult) -> str:
    """In which way forecasts are wrong, as a clause; empty if nothing is shown.

    Ranges of forecasts are named only where a simultaneous band shows them to be wrong. Where it shows none,
    slope and average stand alone, with their intervals: they do not say which forecasts are wrong.
    """
    told = describe_segments(result.curves.reliability, result.bands)
    if told:
        return f"its forecasts {told}"
    return "" if result.calibration is None else _describe_line(result.calibration.line)


def describe_autocorrelation(test: HypothesisTest) -> str:
    """How strongly residuals depend in time."""
    lag = test.note.removesuffix(".").rpartition(": ")[2].replace("-", "−")
    return f"autocorrelation {lag} at lag 1, p {format_relation(format_p_value(test.p_value))}"


def adjusted_p_value(test: HypothesisTest | Difference) -> float:
    """The p-value that decides: of several models, or pairs of them, the one that allows for their number."""
    return test.p_value if test.p_value_holm is None else test.p_value_holm


def describe_p_values(test: HypothesisTest, models: int) -> str:
    """The p-value of a test and, if there are several models, the adjusted one."""
    alone = f"p {format_relation(format_p_value(test.p_value))}"
    if test.p_value_holm is None:
        return alone
    return f"{alone}, adjusted for {models} models {format_p_value(test.p_value_holm)}"


def describe_time_tests(result: ModelResult, alpha: float, models: int) -> str:
    """What the test of slope and intercept that allows for time says; without a line, Spiegelhalter's."""
    for name, what in (
        (UNRELIABILITY, "test of slope and intercept"),
        (SPIEGELHALTER.name, "test of Spiegelhalter"),
    ):
        test = _find_test(result, name)
        if test is not None and not isnan(test.p_value):
            rejects = "rejects" if adjusted_p_value(test) <= alpha else "does not reject"
            return f"The {what} that allows for it {rejects} calibration ({describe_p_values(test, models)})."
    return "No test that allows for it can be had."


def describe_line_test(result: ModelResult, alpha: float, models: int) -> tuple[str, bool]:
    """Whether slope and intercept speak against calibration, in a sentence, and whether anything does."""
    test, model, size = _find_test(result, UNRELIABILITY), result.model, _describe_size(result)
    against = [band for band in result.bands if _excludes_diagonal(band)]
    but = f", but the diagonal leaves the {against[0].label}" if against else ""
    if test is None or isnan(test.p_value):
        return f"{model}: the test of slope and intercept cannot tell ({size}){but}.", True
    measured = f"(test of slope and intercept, {describe_p_values(test, models)}; {size})"
    if adjusted_p_value(test) <= alpha:
        how = describe_miscalibration(result)
        evidence = f"There is evidence that {model} is miscalibrated {measured}"
        return f"{evidence}{f': {how}' if how else ''}.", True
    return f"{model}: no evidence against slope and intercept of calibration {measured}{but}.", bool(against)


def _find_test(result: ModelResult, name: str) -> HypothesisTest | None:
    tests = () if result.calibration is None else result.calibration.tests
    return next((test for test in tests if test.name == name), None)


def _describe_size(result: ModelResult) -> str:
    """Miscalibration as it was measured, and what is left of it without overfit."""
    part, known = result.scores.decomposition("brier"), result.scores.component("brier", "miscalibration")
    decimals = common_decimals([part.miscalibration])
    mcb, score = (format_number(value, decimals) for value in (part.miscalibration, part.score))
    told = f"miscalibration {mcb} of a Brier score of {score}"
    if known is None:
        return told
    interval = format_interval(known.lower, known.upper, decimals)
    return f"{told}, less overfit {format_number(known.corrected, decimals)} {interval}".rstrip()


def _excludes_diagonal(band: Band) -> bool:
    """Whether a band for the true curve, all along it, does not hold the diagonal."""
    return (band.kind, band.coverage) == ("confidence", "simultaneous") and not band.holds(band.x)


def format_relation(text: str) -> str:
    """A p-value as it stands behind its sign: = 0.02, or < 0.001."""
    return text.replace("<", "< ") if text.startswith("<") else f"= {text}"


def _describe_line(line: CalibrationLine) -> str:
    """What the intervals of the calibration line show, of the slope or else of the average."""
    slope, average = line.slope, line.intercept_at_slope_one
    if _is_below(slope, 1) or _is_above(slope, 1):
        side = "below" if slope.value < 1 else "above"
        return f"its calibration slope {_bracket(slope)} is {side} 1, though no range of forecasts stands out"
    if _is_below(average, 0) or _is_above(average, 0):
        side = "low" if average.value > 0 else "high"
        return f"its forecasts are too {side} on average (intercept at slope 1 {_bracket(average)})"
    return ""


def _bracket(estimate: Estimate) -> str:
    interval = format_interval(estimate.lower, estimate.upper, _LINE_DECIMALS)
    return f"{format_number(estimate.value, _LINE_DECIMALS)} {interval}"


def _is_below(estimate: Estimate, value: float) -> bool:
    return not isnan(estimate.upper) and estimate.upper < value


def _is_above(estimate: Estimate, value: float) -> bool:
    return not isnan(estimate.lower) and estimate.lower > value
