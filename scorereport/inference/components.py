"""Intervals for miscalibration and discrimination, and for their differences between two models.

A bootstrap of these components misleads: it repeats the overfit of isotonic regression instead of
removing it, and never covers a miscalibration of 0. The bracket interval takes the raw component,
subtracts the overfit, once by each of its two estimates, and adds a standard error on either side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from scorereport.arrays import FloatArray

if TYPE_CHECKING:
    from scorereport.inference.measures import Measure
    from scorereport.inference.overfit import Overfit
    from scorereport.sampling import Units

COMPONENTS = ("miscalibration", "discrimination")
METHOD = "bracket: raw value less the overfit of isotonic regression, closed form and resampled"
#: With fewer events or non-events than this an interval says little.
FEW_EVENTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentEstimate:
    """A raw component, what is left without the overfit of the fit, and the interval of the true one.

    The raw values add up to the mean score; the interval is for the population and may exclude them.
    """

    measure: str
    component: str
    value: float
    corrected: float
    standard_error: float
    lower: float
    upper: float
    level: float
    overfit_closed: float
    overfit_resampled: float
    method: str = METHOD
    note: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class CaseLosses:
    """Losses of each case: of the forecast, of the recalibrated one and of the prevalence."""

    measure: str
    forecast: FloatArray
    recalibrated: FloatArray
    prevalence: FloatArray

    def gain(self, component: str) -> FloatArray:
        """What recalibration gains in each case, over the forecast or over the prevalence."""
        worse = self.forecast if component == "miscalibration" else self.prevalence
        return worse - self.recalibrated


def case_losses(
    measure: Measure, outcome: FloatArray, forecast: FloatArray, cep: FloatArray, prevalence: float
) -> CaseLosses:
    """Score the three forecasts of each case."""
    return CaseLosses(
        measure=measure.label,
        forecast=measure.loss(outcome, forecast),
        recalibrated=measure.loss(outcome, cep),
        prevalence=measure.loss(outcome, np.full(len(outcome), prevalence)),
    )


def component_interval(
    losses: CaseLosses,
    component: str,
    overfit: Overfit,
    units: Units,
    *,
    level: float,
    p_value: float,
    note: str,
) -> ComponentEstimate:
    """The bracket interval; it starts at 0 if the test of no miscalibration does not reject."""
    gain = losses.gain(component)
    less = overfit.constant if component == "discrimination" else 0.0
    raw = units.mean(gain)
    finite = bool(np.isfinite(raw))
    error = units.standard_error(gain) if finite else np.nan
    reach = float(ndtri((1 + level) / 2)) * error
    lower = max(0.0, raw - (overfit.most - less) - reach) if finite else np.nan
    if component == "miscalibration" and p_value > (1 - level) / 2:
        lower = 0.0 if finite else np.nan
    return ComponentEstimate(
        measure=losses.measure,
        component=component,
        value=raw,
        corrected=max(0.0, raw - (overfit.resampled - less)),
        standard_error=error,
        lower=lower,
        upper=max(0.0, raw - (overfit.least - less) + reach) if finite else np.nan,
        level=level,
        overfit_closed=overfit.closed - less,
        overfit_resampled=overfit.resampled - less,
        note=note if finite else "The score is infinite: there is no interval.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BracketDifference:
    """A paired difference of a component: value, error, interval and the p-value that agrees with it."""

    value: float
    standard_error: float = np.nan
    lower: float = np.nan
    upper: float = np.nan
    statistic: float = np.nan
    p_value: float = np.nan
    note: str = ""


def component_difference(
    first: CaseLosses,
    second: CaseLosses,
    component: str,
    overfits: tuple[Overfit, Overfit],
    units: Units,
    level: float,
) -> BracketDifference:
    """The bracket interval of first minus second on the same cases.

    Where both forecasts give the same fit, overfits cancel and no correction is made.
    """
    means = [units.mean(losses.gain(component)) for losses in (first, second)]
    if not np.isfinite(means).all():
        return BracketDifference(value=np.nan, note="A score is infinite: there is no difference to tell.")
    gain = first.gain(component) - second.gain(component)
    raw, error = units.mean(gain), units.standard_error(gain)
    least, most = _overfit_differences(first, second, overfits)
    reach = float(ndtri((1 + level) / 2)) * error
    distance = max(raw - most, 0.0) + min(raw - least, 0.0)  # of the bracket from 0
    statistic = distance / error if error > 0 else np.nan
    return BracketDifference(
        value=raw,
        standard_error=error,
        lower=raw - most - reach,
        upper=raw - least + reach,
        statistic=statistic,
        p_value=float(2 * ndtr(-abs(statistic))),
        note="" if error > 0 else "The difference is the same in every case: there is nothing to test.",
    )


def _overfit_differences(
    first: CaseLosses, second: CaseLosses, overfits: tuple[Overfit, Overfit]
) -> tuple[float, float]:
    """The smaller and the larger estimate of how much more the first fit overfits than the second."""
    if np.array_equal(first.recalibrated, second.recalibrated):
        return 0.0, 0.0
    a, b = overfits
    closed, resampled = a.closed - b.closed, a.resampled - b.resampled
    return min(closed, resampled), max(closed, resampled)


def warn_of_few_events(events: float, n: float) -> str:
    """A warning where events or non-events are too few for the interval to say much."""
    fewest = min(events, n - events)
    if fewest >= FEW_EVENTS:
        return ""
    what = "events" if events <= n - events else "non-events"
    return f"Only {fewest:g} {what}: with fewer than {FEW_EVENTS} this interval says little."
