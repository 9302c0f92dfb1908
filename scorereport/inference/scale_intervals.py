"""Intervals of the marks of the probability scale, corrected for overfit, and the verdict on their angle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypedDict

import numpy as np

from scorereport._utils.machine import repeat
from scorereport.inference.estimates import Estimate
from scorereport.inference.overfit import smooth_curve
from scorereport.inference.scale_draws import ScaleMarks, ScaleTarget
from scorereport.inference.scale_fits import OVERFIT_GROUPS, fit_source, group_values, source_marks
from scorereport.inference.scale_results import (
    CONTRADICTORY,
    MARKS,
    NEITHER,
    OVER,
    STEEPEST_EXPECTED,
    UNDER,
    WITHOUT_TAIL,
    ScaleMark,
)
from scorereport.reliability.sampling import random_stream
from scorereport.scores.probability import ACCURACY, DECISIVENESS, ROBUSTNESS

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray


EXPONENTS = (DECISIVENESS, ACCURACY, ROBUSTNESS)
#: Summands with a tail index up to this have no finite variance, and resamples do not show their spread.
_LEAST_TAIL_INDEX = 2.0
#: The overfit of CORP blocks is known roughly: it is between these multiples of the overfit in draws from
#: the fit. For the robustness draws show too little of it, as do resamples of bins, because neither contains
#: cases that are rarer than the rarest in the sample.
_PARTS = {DECISIVENESS: (0.5, 1.0), ACCURACY: (0.5, 1.0), ROBUSTNESS: (0.5, 2.0)}
#: More draws than this do not make the mean overfit more precise than the overfit itself is known.
MOST_DRAWS = 100
#: A spread that remains after regression is a rounding error below this share of the original spread.
_ROUNDING = 1e-16
#: Numbers in the draws that are fitted together, and the most of such draws.
_CHUNK, _MOST_IN_CHUNK = 1 << 20, 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleRequest:
    """Settings of the probability scale."""

    n_bins: int
    limit: float
    level: float
    resamples: int
    seed: int


class ScaleDraws(NamedTuple):
    """Marks in all resamples, marks under outcomes drawn from the forecasts, and the overfit of the source.

    `overfit` is that of the logarithm of each mark in CORP blocks, from `draws` draws; None for bins that
    do not depend on outcomes.
    """

    resampled: ScaleMarks
    calibrated: ScaleMarks
    overfit: FloatArray | None
    draws: int


class _MarkInterval(NamedTuple):
    """A value, its replicates in resamples, and its interval."""

    value: float
    replicates: FloatArray
    bounds: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class _EstimateWriter:
    """Makes estimates from the intervals of a target."""

    target: ScaleTarget
    request: ScaleRequest

    def write(self, measure: str, found: _MarkInterval, method: str, *, is_wild: bool = False) -> Estimate:
        """Make an estimate; if `is_wild`, without an interval, as resamples do not show the spread."""
        known = found.replicates[np.isfinite(found.replicates)]
        has_interval = np.isfinite(found.value) and len(known) > 1 and not is_wild
        lower, upper = found.bounds if has_interval else (np.nan, np.nan)
        return Estimate(
            measure=measure,
            value=found.value,
            standard_error=float(known.std(ddof=1)) if has_interval else np.nan,
            lower=lower,
            upper=upper,
            level=self.request.level,
            method=self._name(method),
            n=float(self.target.weight[self.target.is_observed].sum()),
            note=self._explain(found, len(found.replicates) - len(known), is_wild=is_wild),
        )

    def _name(self, method: str) -> str:
        request, units = self.request, self.target.forecast.units
        if not request.resamples:
            return "no resamples"
        return f"{method}, {request.resamples} resamples of {units.describes}, seed {request.seed}"

    def _explain(self, found: _MarkInterval, lost: int, *, is_wild: bool) -> str:
        units, times = self.target.forecast.units, self.request.resamples
        if not times:
            return ""
        if not np.isfinite(found.value):
            return "The value is not defined: there is no interval."
        if units.size <= 1:
            return f"One {units.unit} has no spread: there is no interval."
        if is_wild:
            return WITHOUT_TAIL
        return f"Not defined in {lost} of {times} resamples, which were left out." if lost else ""


def estimate_marks(
    marks: ScaleMarks, drawn: ScaleDraws, target: ScaleTarget, request: ScaleRequest
) -> list[ScaleMark]:
    """Estimate model, source and divergence of the three marks."""
    writer = _EstimateWriter(target=target, request=request)
    return [
        _estimate_mark(k, _at(marks, k), _at(drawn.resampled, k), drawn, writer) for k in range(len(MARKS))
    ]


def _at(marks: ScaleMarks, place: int) -> ScaleMarks:
    return ScaleMarks(marks.model[..., place], marks.source[..., place])


def _estimate_mark(
    place: int, mark: ScaleMarks, resampled: ScaleMarks, drawn: ScaleDraws, writer: _EstimateWriter
) -> ScaleMark:
    """Estimate one mark: plain percentile intervals for the model, corrected ones for the others."""
    name, level = MARKS[place], writer.request.level
    least, most = _PARTS[EXPONENTS[place]]
    if drawn.overfit is None:
        overfit = _bias(mark.source, resampled.source) * np.array([1.0, most])
    else:
        overfit = drawn.overfit[place] * np.array([least, most])
    bounds = _correct(mark, resampled, overfit, level)
    divergence, of_resamples = _ratio(mark.model, mark.source), _ratio(resampled.model, resampled.source)
    right = _at(drawn.calibrated, place)
    held = bounds[1] if drawn.overfit is None else _include_one(bounds[1], divergence, right, level)
    of_model = _MarkInterval(float(mark.model), resampled.model, _percentiles(resampled.model, level))
    of_source = _MarkInterval(float(mark.source), resampled.source, bounds[0])
    of_divergence = _MarkInterval(float(divergence), of_resamples, held)
    method = "bootstrap less its bias, in the bins of the sample"
    if drawn.overfit is not None:
        method = f"bootstrap in the blocks of the sample, less their overfit in {drawn.draws} draws"
    is_wild = EXPONENTS[place] == ROBUSTNESS and writer.target.tail_index <= _LEAST_TAIL_INDEX
    return ScaleMark(
        exponent=EXPONENTS[place],
        model=writer.write(f"{name} of the model", of_model, "percentile bootstrap", is_wild=is_wild),
        source=writer.write(f"{name} of the source", of_source, method),
        divergence=writer.write(f"divergence of {name}", of_divergence, method, is_wild=is_wild),
    )


def _correct(
    mark: ScaleMarks, resampled: ScaleMarks, overfit: FloatArray, level: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Intervals of source and divergence for the population, on the scale of logarithms.

    Resamples vary as samples do, but around values that are biased a second time. Their spread is therefore
    put around the value of the sample minus its bias: for the model the bias of the resamples; for the source
    an overfit between two bounds.
    """
    divergence, replicates = (_ratio(part.model, part.source) for part in (mark, resampled))
    least, most = np.sort(overfit).tolist()
    source = _around(mark.source, resampled.source, (-most, -least), level)
    off = _bias(mark.model, resampled.model)
    ratio = _around(divergence, replicates, (least - off, most - off), level)
    return (source[0], min(source[1], 1.0)), ratio


def _include_one(
    bounds: tuple[float, float], divergence: FloatArray, right: ScaleMarks, level: float
) -> tuple[float, float]:
    """Extend bounds to include 1 if the divergence is within the interval of a calibrated model.

    Near 1 the divergence of the accuracy has almost no first-order spread that resamples could show.
    """
    lower, upper = _percentiles(_ratio(right.model, right.source), level)
    return (min(bounds[0], 1.0), max(bounds[1], 1.0)) if lower <= divergence <= upper else bounds


def _bias(value: FloatArray, replicates: FloatArray) -> float:
    """The mean logarithm of replicates minus that of the value; NaN where one of them is 0."""
    known = replicates[np.isfinite(replicates)]
    if not (value > 0 and len(known) and known.min() > 0):
        return np.nan
    return float(np.log(known).mean() - np.log(value))


def _around(
    value: FloatArray, replicates: FloatArray, shifts: tuple[float, float], level: float
) -> tuple[float, float]:
    """Percentiles of replicates centred at the value, both ends shifted; plain ones where one is 0."""
    bias = _bias(value, replicates)
    if not np.isfinite([bias, *shifts]).all():
        return _percentiles(replicates, level)
    lower, upper = _percentiles(np.log(replicates[np.isfinite(replicates)]) - bias, level)
    return float(np.exp(lower + shifts[0])), float(np.exp(upper + shifts[1]))


def _ratio(over: FloatArray, under: FloatArray) -> FloatArray:
    return np.divide(over, under, out=np.full(np.shape(over), np.nan), where=np.asarray(under) > 0)


def _percentiles(replicates: FloatArray, level: float) -> tuple[float, float]:
    """Percentiles of finite replicates; NaN where they are too few."""
    known = replicates[np.isfinite(replicates)]
    if len(known) < 2:
        return np.nan, np.nan
    known = np.sort(known)
    place = np.array([(1 - level) / 2, (1 + level) / 2]) * (len(known) - 1)
    lower, upper = np.interp(place, np.arange(len(known)), known).tolist()
    return lower, upper


class JudgedAngle(TypedDict):
    """The fields of `ScaleResult` on the angle."""

    angle: float
    angle_lower: float
    angle_upper: float
    calibrated_angle: float
    calibrated_lower: float
    calibrated_upper: float
    verdict: str


def judge_angle(
    marks: ScaleMarks, drawn: ScaleDraws, decided: Estimate, request: ScaleRequest, *, is_overall: bool
) -> JudgedAngle:
    """Return the angle with its interval, its range for a calibrated model, and the verdict.

    With few cases 45° is not a fair reference: chance spreads the source, even more in CORP blocks, and broad
    bins hide some of its spread. So the angle is compared with draws from the forecasts themselves, and its
    own interval must agree with them. Then `decided`, the divergence of the decisiveness, must not contradict
    it: a source that is nearly certain has no spread, and the line of a timid model is steep too.
    """
    angle, calibrated = float(marks.angle), drawn.calibrated.angle
    lower, upper = _percentiles(drawn.resampled.angle, request.level)
    expected = _median(calibrated)
    expected_lower, expected_upper = _percentiles(calibrated, request.level)
    verdict = ""
    if is_overall and np.isfinite([angle, lower, expected]).all() and expected <= STEEPEST_EXPECTED:
        is_steep = angle > expected_upper and lower > expected
        is_flat = angle < expected_lower and upper < expected
        is_contradicted = (is_steep and decided.upper < 1) or (is_flat and decided.lower > 1)
        verdict = CONTRADICTORY if is_contradicted else OVER if is_steep else UNDER if is_flat else NEITHER
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


def draw_overfit(target: ScaleTarget, *, draws: int, seed: int) -> FloatArray:
    """Return the mean over refitted draws of the logarithm of each mark relative to that of the true curve.

    Outcomes are drawn from the fitted curve without its steps, whose marks are known, and fitted again. The
    number of events in a draw, and where along the curve they are, is random: their effect is removed by
    regression.
    """
    sample = target.sample
    curve, n = smooth_curve(sample), sample.distinct.n.astype(np.float64)
    simulation, truth = sample.simulation(curve), source_marks(n * curve, n)
    if not (draws and np.isfinite(truth).all()):
        return np.full(3, np.nan)
    start = group_values(n, OVERFIT_GROUPS)
    size = int(np.clip(_CHUNK // len(n), 1, _MOST_IN_CHUNK))

    def draw(number: int) -> tuple[FloatArray, FloatArray]:
        samples = len(range(number * size, min((number + 1) * size, draws)))
        drawn = simulation.redraw_outcomes(random_stream(seed, number, 2), samples)
        events = np.add.reduceat(drawn.events, start, axis=1, dtype=np.float64)
        weight = in_groups
        if not simulation.keeps_counts:
            weight = np.add.reduceat(np.asarray(drawn.n), start, axis=1)
        return np.log(fit_source(events, weight) / truth), np.einsum("bg,mg->bm", events, powers)

    in_groups, expected = np.add.reduceat(n, start), np.add.reduceat(n * curve, start)
    mean = np.where(expected > 0, expected / in_groups, 1.0)
    powers = np.array([mean, np.log(mean), mean**ROBUSTNESS])
    what = "drawing the overfit of CORP blocks"
    found = repeat(draw, -(-draws // size), rows=len(n), what=what, resamples=draws)
    excess, sums = (np.concatenate(part) for part in zip(*found, strict=True))
    chance = sums - np.einsum("g,mg->m", expected, powers)
    return _mean_without_chance(excess, chance / expected.sum())


def _mean_without_chance(excess: FloatArray, chance: FloatArray) -> FloatArray:
    """Mean of each column minus what columns with expectation 0 explain of it; never below 0.

    These columns are regressed out one after the other: it only takes sums, the same on every machine.
    """
    seen = np.isfinite(excess).all(axis=1)
    if not seen.any():
        return np.full(excess.shape[1], np.nan)
    left = np.column_stack([chance, excess])[seen]
    least = _ROUNDING * ((left - left.mean(axis=0)) ** 2).sum(axis=0)
    for place in range(chance.shape[1]):
        deviation = left - left.mean(axis=0)
        spread = (deviation[:, place] ** 2).sum()
        if spread > least[place]:
            slope = (deviation * deviation[:, [place]]).sum(axis=0) / spread
            left = left - slope * left[:, [place]]
    return np.maximum(left[:, chance.shape[1] :].mean(axis=0), 0.0)
