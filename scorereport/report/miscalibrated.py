"""In which way forecasts miss what happens, in words, from the calibration line."""

from __future__ import annotations

from math import exp, isnan, nan
from typing import TYPE_CHECKING

from scorereport.formatting import common_decimals, format_interval, format_number, format_p_value

if TYPE_CHECKING:
    from scorereport.inference.lines import CalibrationLine
    from scorereport.inference.outcomes import Estimate
    from scorereport.reliability.bands import Band
    from scorereport.results import ForecastSummary, ModelResult

_EXTREME = "too extreme: high ones come true less often, low ones more often than stated"
_TIMID = "too timid: high ones come true more often, low ones less often than stated"


def tell_ways(result: ModelResult) -> str:
    """In which way forecasts are wrong, as far as the intervals of the calibration line tell; or nothing.

    A slope below 1 alone does not make low forecasts too low: where the line meets the diagonal below all
    forecasts, all of them are too high.
    """
    if result.calibration is None:
        return ""
    line = result.calibration.line
    if not (_is_below(line.slope, 1) or _is_above(line.slope, 1)):
        return _tell_average(line)
    side = _find_side(line, result.forecasts)
    if side == "between":
        return _EXTREME if line.slope.value < 1 else _TIMID
    # Above its crossing a flat line lies below the diagonal, a steep one above it.
    too_high = (line.slope.value < 1) == (side == "below")
    return f"too {'high' if too_high else 'low'} almost throughout"


def tell_line(result: ModelResult, alpha: float) -> tuple[str, bool]:
    """Whether slope and intercept speak against calibration, in a sentence, and whether anything does."""
    p_value, model, size = _test_line(result), result.model, _tell_size(result)
    if p_value <= alpha:
        how = tell_ways(result)
        told = f"There is evidence that {model} is miscalibrated ({_tell_p(p_value)}; {size})"
        return f"{told}{f': its forecasts are {how}' if how else ''}.", True
    against = [band for band in result.bands if _speaks_against(band)]
    but = f", but the diagonal leaves the {against[0].label}" if against else ""
    if isnan(p_value):
        return f"{model}: the test of slope and intercept cannot tell ({size}){but}.", True
    told = f"{model}: no evidence against slope and intercept of calibration"
    return f"{told} ({_tell_p(p_value)}; {size}){but}.", bool(against)


def _test_line(result: ModelResult) -> float:
    """The p-value of the test that the intercept is 0 and the slope is 1."""
    tests = () if result.calibration is None else result.calibration.tests
    return next((test.p_value for test in tests if test.name == "Unreliability"), nan)


def _tell_p(p_value: float) -> str:
    return f"test of slope and intercept, p {equals(format_p_value(p_value))}"


def _tell_size(result: ModelResult) -> str:
    """Miscalibration as it was measured, and what is left of it without overfit."""
    part, known = result.scores.decomposition("brier"), result.scores.component("brier", "miscalibration")
    decimals = common_decimals([part.miscalibration])
    mcb, score = (format_number(value, decimals) for value in (part.miscalibration, part.score))
    told = f"miscalibration {mcb} of a Brier score of {score}"
    if known is None:
        return told
    interval = format_interval(known.lower, known.upper, decimals)
    return f"{told}, less overfit {format_number(known.corrected, decimals)} {interval}".rstrip()


def _speaks_against(band: Band) -> bool:
    """Whether a band for the true curve, all along it, does not hold the diagonal."""
    return (band.kind, band.coverage) == ("confidence", "simultaneous") and not band.holds(band.x)


def equals(text: str) -> str:
    """A p-value as it stands behind its sign: = 0.02, or < 0.001."""
    return text.replace("<", "< ") if text.startswith("<") else f"= {text}"


def _tell_average(line: CalibrationLine) -> str:
    if _is_above(line.intercept_at_slope_one, 0):
        return "too low on average"
    return "too high on average" if _is_below(line.intercept_at_slope_one, 0) else ""


def _find_side(line: CalibrationLine, forecasts: ForecastSummary) -> str:
    """Where the line crosses the diagonal: below, between or above most forecasts."""
    smallest, largest = _range_of(forecasts)
    crossing = _expit(line.intercept.value / (1 - line.slope.value))
    if crossing <= smallest:
        return "below"
    return "above" if crossing >= largest else "between"


def _range_of(forecasts: ForecastSummary) -> tuple[float, float]:
    """Between what most forecasts lie."""
    known = [quantile.value for quantile in forecasts.quantiles] or [forecasts.minimum, forecasts.maximum]
    return known[0], known[-1]


def _expit(x: float) -> float:
    return 1 / (1 + exp(-max(min(x, 700.0), -700.0)))


def _is_below(estimate: Estimate, value: float) -> bool:
    return not isnan(estimate.upper) and estimate.upper < value


def _is_above(estimate: Estimate, value: float) -> bool:
    return not isnan(estimate.lower) and estimate.lower > value
