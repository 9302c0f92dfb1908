"""In which way forecasts miss what happens, in words, from the calibration line."""

from __future__ import annotations

from math import exp, isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scorereport.inference.outcomes import Estimate
    from scorereport.inference.regression import CalibrationLine
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
