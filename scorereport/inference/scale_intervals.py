"""Intervals of the marks of the probability scale, and what their angle tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport.inference.outcomes import Estimate
from scorereport.inference.scale_draws import Marks
from scorereport.inference.scale_results import MARKS, NEITHER, OVER, STEEPEST_EXPECTED, UNDER, ScaleMark
from scorereport.scores.probability import ACCURACY, DECISIVENESS, ROBUSTNESS

if TYPE_CHECKING:
    from scorereport.arrays import FloatArray
    from scorereport.inference.scale_draws import Target

EXPONENTS = (DECISIVENESS, ACCURACY, ROBUSTNESS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleRequest:
    """What was asked for."""

    n_bins: int
    limit: float
    level: float
    resamples: int
    seed: int


class Drawn(NamedTuple):
    """Marks in all resamples, and under outcomes drawn from the forecasts."""

    resampled: Marks
    calibrated: Marks


def estimate_marks(marks: Marks, drawn: Drawn, target: Target, request: ScaleRequest) -> list[ScaleMark]:
    """Model, source and divergence of the three marks."""
    resampled, calibrated = drawn
    return [
        _estimate_mark(k, _at(marks, k), Drawn(_at(resampled, k), _at(calibrated, k)), target, request)
        for k in range(len(MARKS))
    ]


def _at(marks: Marks, place: int) -> Marks:
    return Marks(marks.model[..., place], marks.source[..., place])


def _estimate_mark(place: int, mark: Marks, drawn: Drawn, target: Target, request: ScaleRequest) -> ScaleMark:
    """One mark with its intervals.

    The frequencies of bins fit the sample better than the truth does, and more so in blocks that isotonic
    regression made; broad bins err the other way. With outcomes drawn from the forecasts the truth is
    known, and so is by what factor the source is off. The intervals of source and divergence are rid of
    it; they are for the population, and the value of the sample may lie outside. The interval of the
    divergence holds 1 unless the draws show that a right model would not have come to this value.
    """
    name, level, (resampled, calibrated) = MARKS[place], request.level, drawn
    factor = _mean_log(_ratio(calibrated.source, calibrated.model))
    divergence, of_resamples = _ratio(mark.model, mark.source), _ratio(resampled.model, resampled.source)
    right = _percentiles(_ratio(calibrated.model, calibrated.source), level)
    of_source = _shifted(float(mark.source), resampled.source, -factor, level)
    of_divergence = _shifted(float(divergence), of_resamples, factor, level)
    if right[0] <= divergence <= right[1]:
        of_divergence = min(of_divergence[0], 1.0), max(of_divergence[1], 1.0)

    def estimate(what: str, value: FloatArray, found: FloatArray, bounds: tuple[float, float]) -> Estimate:
        return _estimate(what, float(value), found, bounds, target, request)

    return ScaleMark(
        exponent=EXPONENTS[place],
        model=estimate(
            f"{name} of the model", mark.model, resampled.model, _percentiles(resampled.model, level)
        ),
        source=estimate(
            f"{name} of the source", mark.source, resampled.source, (of_source[0], min(of_source[1], 1.0))
        ),
        divergence=estimate(f"divergence of {name}", divergence, of_resamples, of_divergence),
    )


def _ratio(over: FloatArray, under: FloatArray) -> FloatArray:
    return np.divide(over, under, out=np.full(np.shape(over), np.nan), where=np.asarray(under) > 0)


def _mean_log(factors: FloatArray) -> float:
    known = factors[np.isfinite(factors) & (factors > 0)]
    return float(np.log(known).mean()) if len(known) else np.nan


def _shifted(value: float, replicates: FloatArray, shift: float, level: float) -> tuple[float, float]:
    """The spread of resamples around the value, on the scale of its logarithm, moved by a shift."""
    known = replicates[np.isfinite(replicates)]
    if not (value > 0 and len(known) and known.min() > 0):
        return _percentiles(replicates, level)
    logs = np.log(known)
    lower, upper = _percentiles(logs - logs.mean() + np.log(value) + shift, level)
    return float(np.exp(lower)), float(np.exp(upper))


def _percentiles(replicates: FloatArray, level: float) -> tuple[float, float]:
    """Percentiles of what is defined; NaN where that is too little."""
    known = replicates[np.isfinite(replicates)]
    if len(known) < 2:
        return np.nan, np.nan
    lower, upper = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return float(lower), float(upper)


def _estimate(
    measure: str,
    value: float,
    replicates: FloatArray,
    bounds: tuple[float, float],
    target: Target,
    request: ScaleRequest,
) -> Estimate:
    known = replicates[np.isfinite(replicates)]
    has_interval = np.isfinite(value) and len(known) > 1
    lower, upper = bounds if has_interval else (np.nan, np.nan)
    return Estimate(
        measure=measure,
        value=value,
        standard_error=float(known.std(ddof=1)) if has_interval else np.nan,
        lower=lower,
        upper=upper,
        level=request.level,
        method=_name_method(target, request),
        n=float(target.weight[target.came].sum()),
        note=_explain(value, len(replicates) - len(known), target, request),
    )


def _name_method(target: Target, request: ScaleRequest) -> str:
    if not request.resamples:
        return "no resamples"
    drawn = f"{request.resamples} resamples of {target.forecast.units.describes}, seed {request.seed}"
    return f"percentile bootstrap in the bins of the sample, {drawn}"


def _explain(value: float, lost: int, target: Target, request: ScaleRequest) -> str:
    units = target.forecast.units
    if not request.resamples:
        return ""
    if not np.isfinite(value):
        return "The value is not defined: there is no interval."
    if units.size <= 1:
        return f"One {units.unit} has no spread: there is no interval."
    return f"Not defined in {lost} of {request.resamples} resamples, which were left out." if lost else ""


def judge_angle(marks: Marks, drawn: Drawn, request: ScaleRequest, *, is_overall: bool) -> dict[str, Any]:
    """The angle with its interval, where it would lie with right probabilities, and the verdict.

    For few cases 45° is no fair mark: chance spreads the source, all the more in CORP blocks, and broad
    bins hide some of its spread. So the angle is held against draws from the forecasts themselves. Three
    things must agree for a verdict: the draws; the interval of the angle, for draws take rows as independent
    and clusters are not; and decisiveness, for a source that is nearly certain has no spread, and then the
    line of a timid model is steep too.
    """
    angle, calibrated = float(marks.angle), drawn.calibrated.angle
    lower, upper = _percentiles(drawn.resampled.angle, request.level)
    expected = _median(calibrated)
    expected_lower, expected_upper = _percentiles(calibrated, request.level)
    decided = float(_ratio(marks.model[0], marks.source[0]))
    usual = _median(_ratio(drawn.calibrated.model[:, 0], drawn.calibrated.source[:, 0]))
    verdict = ""
    if is_overall and np.isfinite([angle, lower, expected]).all() and expected <= STEEPEST_EXPECTED:
        is_over = angle > expected_upper and lower > expected and decided >= usual
        is_under = angle < expected_lower and upper < expected and decided <= usual
        verdict = OVER if is_over else UNDER if is_under else NEITHER
    return {
        "angle": angle,
        "angle_lower": lower,
        "angle_upper": upper,
        "calibrated_angle": expected,
        "calibrated_lower": expected_lower,
        "calibrated_upper": expected_upper,
        "verdict": verdict,
    }


def _median(values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else np.nan
