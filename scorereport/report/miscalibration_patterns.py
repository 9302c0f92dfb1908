"""Describe how forecasts are miscalibrated, from bands, calibration line and tests.

A slope does not show which forecasts are wrong: with a slope below 1, low forecasts may still be right.
Therefore ranges of forecasts are compared with a simultaneous band, and only ranges outside it are stated.
"""

from __future__ import annotations

from itertools import pairwise
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport._utils.formatting import (
    common_decimals,
    format_interval,
    format_level,
    format_number,
    format_p_value,
    join_words,
)
from scorereport._utils.rounding import exceeds
from scorereport.inference.calibration_tests import SPIEGELHALTER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.curves.fitted import ReliabilityCurve
    from scorereport.inference.estimates import Difference, Estimate, HypothesisTest
    from scorereport.inference.recalibration_lines import CalibrationLine
    from scorereport.reliability.bands import Band
    from scorereport.results.model_records import ModelResult


#: Most segments that are described; further ones are counted.
_MOST_SEGMENTS = 4
#: Most decimals of a forecast in percent that is close to 0 or 100.
_MOST_DECIMALS = 4
_SHAPES: dict[tuple[int, ...], str] = {(1, -1): "too extreme", (-1, 1): "too timid"}


class Segment(NamedTuple):
    """Forecasts between two ends that are too low (`sign` 1: events happen more often) or too high (-1)."""

    sign: int
    lower: float
    upper: float


def find_segments(curve: ReliabilityCurve, bands: Sequence[Band]) -> tuple[Segment, ...]:
    """Return the segments of forecasts that a simultaneous band shows to be wrong, in ascending order.

    A consistency band is compared with the curve, a confidence band with the diagonal. Two positions with
    the same sign are in one segment if the curve stays on the same side of the diagonal between them.
    """
    band = _choose_band(bands)
    if band is None:
        return ()
    height = np.interp(band.x, curve.forecast, curve.cep)
    sign = _sign_of(height, band)
    starts_anew = _segment_starts(sign, exceeds(height, band.x).astype(int) - exceeds(band.x, height))
    places = np.split(np.flatnonzero(sign), starts_anew)
    return tuple(
        Segment(int(sign[part[0]]), float(band.x[part[0]]), float(band.x[part[-1]]))
        for part in places
        if len(part)
    )


def describe_segments(curve: ReliabilityCurve, bands: Sequence[Band]) -> str:
    """Return a clause that follows the word "forecasts": which are too low or too high; empty if none are."""
    segments = find_segments(curve, bands)
    if not segments:
        return ""
    shape = _SHAPES.get(tuple(segment.sign for segment in segments), "")
    clauses = [
        f"{_name_range(segment)} are too {_direction_word(segment)}" for segment in segments[:_MOST_SEGMENTS]
    ]
    more = len(segments) - _MOST_SEGMENTS
    clauses += [f"{more} more ranges leave the band"] if more > 0 else []
    how = f" ({_name_band(bands)})"
    if not shape:
        return f"{join_words(clauses)}{how}"
    return f"are {shape}: those {' and those '.join(clauses)}{how}"


def _choose_band(bands: Sequence[Band]) -> Band | None:
    """Return a simultaneous band, preferably a consistency band, which is narrower."""
    simultaneous = [band for band in bands if band.coverage == "simultaneous"]
    return min(simultaneous, key=lambda band: band.kind != "consistency", default=None)


def _name_band(bands: Sequence[Band]) -> str:
    band = _choose_band(bands)
    return "" if band is None else f"{format_level(band.level)} simultaneous {band.kind} band"


def _sign_of(height: FloatArray, band: Band) -> NDArray[np.int_]:
    """Return 1 where a band shows more events than forecast, -1 where fewer, else 0."""
    if band.kind == "consistency":
        return exceeds(height, band.upper).astype(int) - exceeds(band.lower, height)
    return exceeds(band.lower, band.x).astype(int) - exceeds(band.x, band.upper)


def _segment_starts(sign: NDArray[np.int_], side: NDArray[np.int_]) -> list[int]:
    """Return the indices, among positions with a sign, at which a new segment starts."""
    shown = np.flatnonzero(sign)
    return [
        place
        for place, (before, after) in enumerate(pairwise(shown), start=1)
        if sign[before] != sign[after] or (side[before:after] != sign[before]).any()
    ]


def _direction_word(segment: Segment) -> str:
    return "low" if segment.sign > 0 else "high"


def _name_range(segment: Segment) -> str:
    ends = [_format_forecast(end) for end in (segment.lower, segment.upper)]
    return f"at {ends[0]}" if ends[0] == ends[1] else f"from {ends[0]} to {ends[1]}"


def _format_forecast(value: float) -> str:
    """Format a forecast in percent, with enough decimals to distinguish it from 0 and 100."""
    texts = [format_number(100 * value, decimals) for decimals in range(1, _MOST_DECIMALS + 1)]
    is_certain = value in (0, 1)
    shortest = next((text for text in texts if is_certain or 0 < float(text) < 100), texts[-1])
    return f"{shortest} %"


_LINE_DECIMALS = 2
#: The test that the intercept is 0 and the slope is 1.
UNRELIABILITY = "Unreliability"


def describe_miscalibration(result: ModelResult) -> str:
    """Return a clause on how forecasts are wrong; empty if nothing is shown.

    Ranges of forecasts are named only where a simultaneous band shows them to be wrong. Otherwise the clause
    gives slope or average with its interval, which do not show which forecasts are wrong.
    """
    segments = describe_segments(result.curves.reliability, result.bands)
    if segments:
        return f"its forecasts {segments}"
    return "" if result.calibration is None else _describe_line(result.calibration.line)


def describe_autocorrelation(test: HypothesisTest) -> str:
    """Describe how strongly residuals depend on each other in time."""
    lag = test.note.removesuffix(".").rpartition(": ")[2].replace("-", "−")
    return f"autocorrelation {lag} at lag 1, p {format_relation(format_p_value(test.p_value))}"


def adjusted_p_value(test: HypothesisTest | Difference) -> float:
    """Return the p-value that decides: adjusted for the number of models, or pairs of models, if several."""
    return test.p_value if test.p_value_holm is None else test.p_value_holm


def describe_p_values(test: HypothesisTest, models: int) -> str:
    """Format the p-value of a test and, with several models, the adjusted p-value."""
    alone = f"p {format_relation(format_p_value(test.p_value))}"
    if test.p_value_holm is None:
        return alone
    return f"{alone}, adjusted for {models} models {format_p_value(test.p_value_holm)}"


#: Tests of calibration that allow for dependence in time, the first choice first, and what they are called.
_TIME_TESTS = {UNRELIABILITY: "test of slope and intercept", SPIEGELHALTER.name: "Spiegelhalter test"}


def find_time_test(result: ModelResult) -> HypothesisTest | None:
    """Return the test of slope and intercept that allows for time, or else Spiegelhalter's, if defined."""
    found = (_find_test(result, name) for name in _TIME_TESTS)
    return next((test for test in found if test is not None and not isnan(test.p_value)), None)


def describe_time_tests(result: ModelResult, alpha: float, models: int) -> str:
    """State the test of slope and intercept that allows for time or, without a line, Spiegelhalter's test."""
    test = find_time_test(result)
    if test is None:
        return "No test that allows for it is available."
    rejects = "rejects" if adjusted_p_value(test) <= alpha else "does not reject"
    what = _TIME_TESTS[test.name]
    return f"The {what} that allows for it {rejects} calibration ({describe_p_values(test, models)})."


def find_line_test(result: ModelResult) -> HypothesisTest | None:
    """Return the test of slope and intercept; None without a calibration line."""
    return _find_test(result, UNRELIABILITY)


def describe_line_test(result: ModelResult, alpha: float, models: int) -> tuple[str, bool]:
    """State the test of slope and intercept, and return whether there is evidence against calibration."""
    test, model, size = find_line_test(result), result.model, _describe_size(result)
    against = [band for band in result.bands if _excludes_diagonal(band)]
    but = f", but the diagonal leaves the {against[0].label}" if against else ""
    if test is None or isnan(test.p_value):
        return f"{model}: the test of slope and intercept is inconclusive ({size}){but}.", True
    measured = f"(test of slope and intercept, {describe_p_values(test, models)}; {size})"
    if adjusted_p_value(test) <= alpha:
        how = describe_miscalibration(result)
        evidence = f"There is evidence that {model} is miscalibrated {measured}"
        return f"{evidence}{f': {how}' if how else ''}.", True
    return f"{model}: no evidence against slope 1 and intercept 0 {measured}{but}.", bool(against)


def _find_test(result: ModelResult, name: str) -> HypothesisTest | None:
    tests = () if result.calibration is None else result.calibration.tests
    return next((test for test in tests if test.name == name), None)


def _describe_size(result: ModelResult) -> str:
    """Describe the miscalibration as measured and overfit-corrected."""
    part, known = result.scores.decomposition("brier"), result.scores.component("brier", "miscalibration")
    decimals = common_decimals([part.miscalibration])
    mcb, score = (format_number(value, decimals) for value in (part.miscalibration, part.score))
    measured = f"miscalibration {mcb} of a Brier score of {score}"
    if known is None:
        return measured
    interval = format_interval(known.lower, known.upper, decimals)
    return f"{measured}, overfit-corrected {format_number(known.corrected, decimals)} {interval}".rstrip()


def _excludes_diagonal(band: Band) -> bool:
    """Whether a simultaneous confidence band for the true curve excludes the diagonal."""
    return (band.kind, band.coverage) == ("confidence", "simultaneous") and not band.holds(band.x)


def format_relation(text: str) -> str:
    """Format a p-value with its relation: "= 0.02" or "< 0.001"."""
    return text.replace("<", "< ") if text.startswith("<") else f"= {text}"


def _describe_line(line: CalibrationLine) -> str:
    """Return a clause on what the intervals of the calibration line show: the slope or else the average."""
    slope, average = line.slope, line.intercept_at_slope_one
    if _is_below(slope, 1) or _is_above(slope, 1):
        side = "below" if slope.value < 1 else "above"
        return (
            f"its calibration slope {_bracket(slope)} is {side} 1, though no range of forecasts is shown to "
            "be wrong"
        )
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
