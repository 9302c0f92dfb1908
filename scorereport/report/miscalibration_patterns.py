"""Describe how forecasts are miscalibrated, from bands, calibration line and tests.

A slope does not show which forecasts are wrong: with a slope below 1, low forecasts may still be right.
Therefore ranges of forecasts are compared with a simultaneous band, and only ranges outside it are stated.
"""

from __future__ import annotations

from math import isfinite, isnan
from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    common_decimals,
    conjugate,
    format_counted,
    format_interval,
    format_level,
    format_number,
    format_p_value,
)
from scorereport.curves.segments import Segment, find_segments
from scorereport.inference.calibration_tests import SPIEGELHALTER
from scorereport.report.tables.table import score_label
from scorereport.results.model_records import ModelResult
from scorereport.scores.registry import inside_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.inference.estimates import Difference, Estimate, HypothesisTest
    from scorereport.inference.recalibration_lines import CalibrationLine
    from scorereport.inference.sample_changes import Change
    from scorereport.reliability.bands import Band
    from scorereport.results.class_records import ViewResult
    from scorereport.results.model_records import ModelScores


#: Most segments that are listed; further ones are counted.
_MOST_SEGMENTS = 4
#: Decimals of the ends of a range, and of a size: two, or more where these show too little.
_END_DECIMALS, _SIZE_DECIMALS = range(2, 5), range(2, 7)
_SHAPES: dict[tuple[int, ...], str] = {(1, -1): "too extreme", (-1, 1): "too timid"}
#: Below this share of cases, one decimal of a percentage is not enough.
_SMALLEST_SHARE = 0.0005


def known_segments(result: ModelResult | ViewResult) -> tuple[Segment, ...]:
    """Return the segments of a model or view; without size and share if the document does not have them."""
    if result.segments is not None:
        return result.segments
    curve = result.curves.reliability if isinstance(result, ModelResult) else result.reliability
    return find_segments(curve, result.bands)


def name_band(band: Band) -> str:
    """Name a band without its method, which the captions of figures give."""
    return f"{format_level(band.level)} {band.coverage} {band.kind} band"


def chance_of_leaving(band: Band) -> str:
    """Format the largest share of samples in which the curve of a calibrated model leaves a band."""
    return format_level(round(1 - band.level, 12))


def describe_shape(segments: Sequence[Segment]) -> str:
    """Describe segments together, as "too extreme" or "too timid"; empty for any other pattern."""
    return _SHAPES.get(tuple(segment.sign for segment in segments), "")


def describe_segment(segment: Segment, subject: str = "events were") -> str:
    """Describe range, direction, size and share: "between 0.62 and 0.71 events were 0.08 rarer than ...".

    >>> describe_segment(Segment(sign=-1, lower=0.62, upper=0.71, size=-0.08, share=0.04))
    'between 0.62 and 0.71 events were 0.08 rarer than forecast; 4 % of cases'
    >>> describe_segment(Segment(sign=1, lower=0.004, upper=0.0042))
    'between 0.0040 and 0.0042 events were more frequent than forecast'
    """
    where = _name_range(segment)
    if segment.size is None or segment.share is None:
        return f"{where} {subject} {_direction(segment.sign)} than forecast"
    size = f"{_format_size(abs(segment.size))} {_direction(segment.size)}"
    return f"{where} {subject} {size} than forecast; {_format_share(segment.share)} of cases"


def describe_worst(described: Sequence[tuple[Segment, str]]) -> str:
    """Describe the largest of some segments, each with its subject, and count the others; empty if none."""
    if not described:
        return ""
    worst, subject = max(described, key=lambda pair: pair[0].weight)
    more = len(described) - 1
    others = f"; {more} smaller {'range' if more == 1 else 'ranges'} also {conjugate(more, 'leave')} the band"
    return f"{describe_segment(worst, subject)}{others if more else ''}"


def list_segments(described: Sequence[tuple[Segment, str]]) -> str:
    """Describe segments, each with its subject, the largest first; further ones are counted."""
    ordered = sorted(described, key=lambda pair: -pair[0].weight)
    shown = [describe_segment(*pair).replace("; ", ", ") for pair in ordered[:_MOST_SEGMENTS]]
    more = len(ordered) - len(shown)
    return "; ".join([*shown, *([f"and {format_counted(more, 'smaller range')}"] if more else [])])


def _direction(sign: float) -> str:
    return "rarer" if sign < 0 else "more frequent"


def _name_range(segment: Segment) -> str:
    """Name the ends of a range with two decimals, or as many as tell them from 0, 1 and each other."""
    ends = (segment.lower, segment.upper)
    for fewest in _END_DECIMALS:
        lower, upper = (format_number(end, max(fewest, _forecast_decimals(end))) for end in ends)
        if lower != upper or segment.lower == segment.upper:
            break
    return f"at {lower}" if lower == upper else f"between {lower} and {upper}"


def _forecast_decimals(value: float) -> int:
    """Return the decimals that tell a forecast from 0 and 1; the fewest if it is too close to them."""
    shown = ((decimals, float(format_number(value, decimals))) for decimals in _END_DECIMALS)
    return next((d for d, text in shown if value in (0, 1) or 0 < text < 1), _END_DECIMALS[0])


def _format_size(size: float) -> str:
    """Format a size with two decimals, or with as many as show one figure."""
    texts = [format_number(size, decimals) for decimals in _SIZE_DECIMALS]
    return next((text for text in texts if float(text) > 0), texts[0])


def _format_share(share: float) -> str:
    """Format a share of cases: in whole percent, below 1 % with one decimal."""
    if share < _SMALLEST_SHARE:
        return "less than 0.1 %"
    return f"{format_number(100 * share, 1 if share < 0.00995 else 0)} %"


_LINE_DECIMALS = 2
#: The test that the intercept is 0 and the slope is 1.
UNRELIABILITY = "Unreliability"
#: The test that the slope is 1.
SLOPE_TEST = "Calibration slope"


def describe_miscalibration(result: ModelResult) -> str:
    """Return a clause on how forecasts are wrong; empty if nothing is shown.

    A range of forecasts is named only where a simultaneous band shows it to be wrong. Otherwise the clause
    gives slope or average with its interval, which do not show which forecasts are wrong.
    """
    worst = describe_worst([(segment, "events were") for segment in known_segments(result)])
    if worst:
        return worst
    return "" if result.calibration is None else _describe_line(result.calibration.line)


def describe_corrected(scores: ModelScores, name: str) -> str:
    """State the corrected MCB with its interval and the mean score; MCB alone if it is not corrected."""
    part, known = scores.decomposition(name), scores.component(name, "miscalibration")
    decimals = common_decimals([part.miscalibration])
    if known is not None and round(max(known.corrected, known.upper), decimals) == 0:
        decimals = common_decimals([part.score])  # more would only be zeros
    of = f"of a {inside_sentence(score_label(name))} of {format_number(part.score, decimals)}"
    if known is None or not isfinite(known.corrected):
        return f"MCB {format_number(part.miscalibration, decimals)} {of}"
    interval = format_interval(known.lower, known.upper, decimals)
    shown = f"{format_number(known.corrected, decimals)} {interval}".rstrip()
    return f"corrected MCB {shown} {of}"


def describe_autocorrelation(test: HypothesisTest) -> str:
    """Describe how strongly residuals depend on each other in time."""
    lag = test.note.removesuffix(".").rpartition(": ")[2].replace("-", "−")
    return f"autocorrelation {lag} at lag 1, p {format_relation(format_p_value(test.p_value))}"


def adjusted_p_value(test: HypothesisTest | Difference | Change) -> float:
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
    found = (find_test(result, name) for name in _TIME_TESTS)
    return next((test for test in found if test is not None and not isnan(test.p_value)), None)


def name_time_test(test: HypothesisTest) -> str:
    """Return what a test that allows for dependence in time is called."""
    return f"{_TIME_TESTS[test.name]} that allows for dependence in time"


def find_line_test(result: ModelResult) -> HypothesisTest | None:
    """Return the test of slope and intercept; None without a calibration line."""
    return find_test(result, UNRELIABILITY)


def find_test(result: ModelResult, name: str) -> HypothesisTest | None:
    """Return a test of calibration by its name; None if there is none."""
    tests = () if result.calibration is None else result.calibration.tests
    return next((test for test in tests if test.name == name), None)


def find_excluding_band(result: ModelResult) -> Band | None:
    """Return the simultaneous confidence band if it excludes the diagonal."""
    return next((band for band in result.bands if _excludes_diagonal(band)), None)


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
