"""Changes from a reference sample to the evaluated one: of numbers with intervals, and of the event rate.

The samples are independent. A change of a number has the interval that follows from those of its two
values (MOVER, the method of variance estimates recovery): the lower end is d - √((v - l)² + (u' - v')²) for a
value v of the sample with the interval [l, u], a value v' of the reference with [l', u'], and d = v - v'.

The change of the event rate has two parts that add up to it. The curve of the reference gives each forecast x
the rate x + c, where c is the mean of y - x over the cases of the reference in the bin of x. The part that
follows from the shift of forecasts is the mean of the curve over the sample minus its mean over the
reference, which is the event rate of the reference. The rest, the mean of y - x - c over the sample, is the
change of calibration.

References
----------
Zou, Donner (2008), Stat. Med. 27, doi:10.1002/sim.3095
Kitagawa (1955), J. Am. Stat. Assoc. 50, doi:10.1080/01621459.1955.10501299
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.arrays import FloatArray
from scorereport._utils.representation import short_repr
from scorereport._utils.rounding import are_equal, find_reached
from scorereport.inference.estimates import holm
from scorereport.inference.mean_errors import ErrorDistribution, wald_test, without_rounding
from scorereport.reliability.sampling import SamplingUnits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.inference.estimates import ComponentEstimate, Estimate

#: Most bins of the curve of a reference.
MOST_BINS = 20
#: Events, and non-events, of the reference for each bin of its curve; a single bin may have fewer.
CASES_PER_BIN = 5
_FROM_INTERVALS = "from the intervals of both samples (MOVER)"
_DELTA = "delta method for two independent samples"
_NO_INTERVAL = "Without an interval in both samples, the change has none."


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A number in the sample minus the same number in the reference; NaN where not defined, see the note.

    `p_value_holm` is adjusted for the number of models, and None if there is only one.
    """

    measure: str
    reference: float
    sample: float
    value: float
    standard_error: float
    lower: float
    upper: float
    level: float
    p_value: float
    p_value_holm: float | None = None
    method: str
    note: str = ""

    __repr__ = short_repr


def no_change_interval(measure: str, sample: float, reference: float, level: float) -> Change:
    """Return the change of a number that has no interval in one of the samples."""
    with np.errstate(invalid="ignore"):
        value = float(np.subtract(sample, reference))
    return Change(
        measure=measure,
        reference=reference,
        sample=sample,
        value=value,
        standard_error=math.nan,
        lower=math.nan,
        upper=math.nan,
        level=level,
        p_value=math.nan,
        method=_FROM_INTERVALS,
        note=_NO_INTERVAL,
    )


def compare_estimates(measure: str, sample: Estimate | None, reference: Estimate | None) -> Change | None:
    """Return the change of an estimate, with the interval that follows from those of both samples."""
    if sample is None or reference is None:
        return None
    return _compare_bounded(measure, (sample.value, reference.value), sample, reference)


def compare_components(
    measure: str, sample: ComponentEstimate | None, reference: ComponentEstimate | None
) -> Change | None:
    """Return the change of an overfit-corrected component."""
    if sample is None or reference is None:
        return None
    return _compare_bounded(measure, (sample.corrected, reference.corrected), sample, reference)


def _compare_bounded(
    measure: str,
    values: tuple[float, float],
    sample: Estimate | ComponentEstimate,
    reference: Estimate | ComponentEstimate,
) -> Change:
    ends = (sample.lower, sample.upper, reference.lower, reference.upper)
    return _compare(measure, values, ends, (sample.standard_error, reference.standard_error), sample.level)


def _compare(
    measure: str,
    values: tuple[float, float],
    ends: tuple[float, float, float, float],
    errors: tuple[float, float],
    level: float,
) -> Change:
    """Combine two intervals; the p-value is that of a normal test with the reach of the end nearer to 0."""
    found = no_change_interval(measure, *values, level)
    if not np.isfinite([*values, *ends]).all():
        return found
    (value, old), (lower, upper, old_lower, old_upper) = values, ends
    below = math.hypot(max(value - lower, 0.0), max(old_upper - old, 0.0))
    above = math.hypot(max(upper - value, 0.0), max(old - old_lower, 0.0))
    reach, normal = below if found.value > 0 else above, ErrorDistribution()
    statistic = normal.critical_value(level) * found.value / reach if reach > 0 else math.nan
    return replace(
        found,
        standard_error=math.hypot(*errors),
        lower=found.value - below,
        upper=found.value + above,
        p_value=normal.p_value(statistic),
        note="",
    )


def adjust_changes(by_model: Sequence[tuple[Change, ...]]) -> list[tuple[Change, ...]]:
    """The changes of each model, with p-values adjusted over the models by Holm; not for one model."""
    if len(by_model) < 2:
        return list(by_model)
    by_measure = [holm([change.p_value for change in row]).tolist() for row in zip(*by_model, strict=True)]
    return [
        tuple(replace(change, p_value_holm=p[place]) for change, p in zip(changes, by_measure, strict=True))
        for place, changes in enumerate(by_model)
    ]


# ---- the event rate ----


@dataclass(frozen=True, slots=True, kw_only=True)
class RateChange:
    """The change of the event rate, and its two parts for the forecasts of a model, which add up to it.

    `forecasts` leads from the rate of the reference to the rate that its curve expects in the sample,
    `calibration` from there to the rate of the sample. `outside` is the share of the sample whose forecasts
    lie beyond those of the reference, where the curve has the correction of its nearest bin.
    """

    model: str
    forecasts: Change
    calibration: Change
    bins: int
    outside: float

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReferenceCurve:
    """The event rate of a reference at each forecast: the forecast plus the correction of its bin.

    A bin has the forecasts above the preceding end and up to its own. `residual` is y - x - c for each row of
    the reference, `rate` x + c, and `place` its bin.
    """

    ends: FloatArray
    corrections: FloatArray
    shares: FloatArray
    place: NDArray[np.int64]
    rate: FloatArray
    residual: FloatArray
    range: tuple[float, float]
    units: SamplingUnits

    def find_rates(self, forecasts: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the bin of each forecast, and its rate."""
        place = np.searchsorted(self.ends, forecasts, side="left")
        return place, forecasts + self.corrections[place]

    def find_outside(self, forecasts: FloatArray) -> NDArray[np.bool_]:
        """Return which forecasts lie beyond those of the reference."""
        lowest, highest = self.range
        return (forecasts < lowest) | (forecasts > highest)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampleRates:
    """What the split takes from the sample: shares of bins, and two means with their standard errors.

    `expected` is the mean of the curve of the reference; `excess_error` is that of the outcome above it.
    """

    shares: FloatArray
    rate: float
    expected: float
    expected_error: float
    excess_error: float
    outside: float
    degrees_of_freedom: float


def fit_reference_curve(outcome: FloatArray, forecast: FloatArray, units: SamplingUnits) -> ReferenceCurve:
    """Fit the curve of a reference, in up to twenty bins with equal sums of x(1 - x).

    Corrections of such bins are about equally precise. There are at least five events and five non-events of
    the reference for each bin, on average.
    """
    fewest = min(units.count_draws(outcome == 1), units.count_draws(outcome == 0))
    ends = _find_ends(forecast, np.asarray(units.row_weight), int(min(fewest // CASES_PER_BIN, MOST_BINS)))
    place = np.searchsorted(ends, forecast, side="left")
    weight = np.bincount(place, weights=units.row_weight, minlength=len(ends) + 1).astype(np.float64)
    excess = np.bincount(place, weights=units.row_weight * (outcome - forecast), minlength=len(weight))
    corrections = np.asarray(excess / weight)
    rate = forecast + corrections[place]
    return ReferenceCurve(
        ends=ends,
        corrections=corrections,
        shares=np.asarray(weight / weight.sum()),
        place=place,
        rate=rate,
        residual=outcome - rate,
        range=(float(forecast.min()), float(forecast.max())),
        units=units,
    )


def _find_ends(forecast: FloatArray, weight: FloatArray, bins: int) -> FloatArray:
    """The ends of the bins but for the last; with few distinct forecasts, each has a bin of its own."""
    if bins < 2:
        return np.empty(0)
    order = np.argsort(forecast, kind="stable")
    distinct = forecast[order][np.append(True, np.diff(forecast[order]) > 0)]
    if len(distinct) <= bins:
        return distinct[:-1]
    information = weight * forecast * (1 - forecast)
    reached = find_reached(np.cumsum(information[order]), np.arange(1, bins) / bins)
    ends = np.unique(forecast[order][reached])
    return ends[ends < forecast[order][-1]]


def measure_rates(
    curve: ReferenceCurve, outcome: FloatArray, forecast: FloatArray, units: SamplingUnits
) -> SampleRates:
    """Return what the split takes from a sample in memory."""
    place, rate = curve.find_rates(forecast)
    weight = np.bincount(place, weights=units.row_weight, minlength=len(curve.shares)).astype(np.float64)
    return SampleRates(
        shares=np.asarray(weight / weight.sum()),
        rate=units.mean(outcome),
        expected=units.mean(rate),
        expected_error=without_rounding(units.standard_error(rate), rate),
        excess_error=without_rounding(units.standard_error(outcome - rate), outcome - rate),
        outside=units.mean(curve.find_outside(forecast).astype(np.float64)),
        degrees_of_freedom=_degrees_of_freedom(units),
    )


def _degrees_of_freedom(units: SamplingUnits) -> float:
    return units.size - 1 if units.cluster is None else units.degrees_of_freedom


def split_rate_change(model: str, curve: ReferenceCurve, sample: SampleRates, *, level: float) -> RateChange:
    """Split the change of the event rate into the shift of forecasts and the change of calibration.

    By the delta method, a case of the reference counts in the mean of its curve over the sample by its
    residual times the ratio of the shares of its bin.
    """
    units, ratio = curve.units, (sample.shares / curve.shares)[curve.place]
    before = units.mean(curve.rate + curve.residual)
    freedom = min(sample.degrees_of_freedom, _degrees_of_freedom(units))
    distribution = ErrorDistribution(freedom if freedom >= 1 else 1.0)
    has_both = all(0 < rate < 1 for rate in (before, sample.rate))

    def step(measure: str, ends: tuple[float, float], error: float, of_reference: FloatArray) -> Change:
        other = without_rounding(units.standard_error(of_reference), of_reference)
        value = 0.0 if are_equal(*ends) else ends[1] - ends[0]
        test = wald_test(value, math.hypot(error, other) if has_both else math.nan, level, distribution)
        return Change(
            measure=measure,
            reference=ends[0],
            sample=ends[1],
            value=value,
            standard_error=test.standard_error,
            lower=test.lower,
            upper=test.upper,
            level=level,
            p_value=test.p_value,
            method=_DELTA,
            note=_describe_spread(test.standard_error, has_both=has_both),
        )

    return RateChange(
        model=model,
        forecasts=step(
            "shift of forecasts",
            (before, sample.expected),
            sample.expected_error,
            (ratio - 1) * curve.residual - curve.rate,
        ),
        calibration=step(
            "change of calibration",
            (sample.expected, sample.rate),
            sample.excess_error,
            ratio * curve.residual,
        ),
        bins=len(curve.shares),
        outside=sample.outside,
    )


def _describe_spread(error: float, *, has_both: bool) -> str:
    if not has_both:
        return "An interval needs events and non-events in both samples."
    return "" if error > 0 else "Without spread there is no test."
