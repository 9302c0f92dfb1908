"""Intervals for miscalibration and discrimination, and for their differences between two models.

A bootstrap of these components misleads: it repeats the overfit of isotonic regression instead of
removing it, and never covers a miscalibration of 0. The bracket interval takes the raw component,
subtracts the overfit, once by each of its two estimates, and adds a standard error on either side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport.arrays import FloatArray
from scorereport.formatting import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport.inference.mean_errors import NormalOrT
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
    n: float
    method: str
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
    is_shown: bool,
    note: str,
) -> ComponentEstimate:
    """The bracket interval; that of miscalibration starts at 0 unless a test has shown some."""
    gain = losses.gain(component)
    raw = units.mean(gain)
    error = units.standard_error(gain) if np.isfinite(raw) else np.nan
    closed, resampled = _overfits(overfit, component)
    reach = units.critical_value(level) * error
    lower, upper = _cut(raw - max(closed, resampled) - reach), _cut(raw - min(closed, resampled) + reach)
    if component == "miscalibration" and not is_shown and np.isfinite(lower):
        lower = 0.0
    return ComponentEstimate(
        measure=losses.measure,
        component=component,
        value=raw,
        corrected=_cut(raw - resampled),
        standard_error=error,
        lower=lower,
        upper=upper,
        level=level,
        overfit_closed=closed,
        overfit_resampled=resampled,
        n=units.total,
        method=describe_bracket(overfit),
        note=_why_no_interval(raw, error, units) or note,
    )


def describe_bracket(overfit: Overfit) -> str:
    """Name the method, with its draws."""
    return f"{METHOD} ({overfit.drawn})" if overfit.drawn else METHOD


def _overfits(overfit: Overfit, component: str) -> tuple[float, float]:
    """Both estimates; for discrimination less that of the constant, which overfits as well."""
    less = overfit.constant if component == "discrimination" else 0.0
    return max(overfit.closed - less, 0.0), max(overfit.resampled - less, 0.0)


def _cut(bound: float) -> float:
    """A bound of what is never negative; NaN stays NaN."""
    return float(np.maximum(bound, 0.0))


def _why_no_interval(raw: float, error: float, units: Units) -> str:
    if not np.isfinite(raw):
        return "The score is infinite: there is no interval."
    return "" if np.isfinite(error) else f"One {units.unit} has no spread: there is no interval."


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
    errors: Callable[[FloatArray], tuple[float, NormalOrT]],
    level: float,
) -> BracketDifference:
    """The bracket interval of first minus second on the same cases.

    Where both forecasts give the same fit, overfits cancel and no correction is made. `errors` gives the
    standard error of a mean and the law of a mean over it.
    """
    means = [units.mean(losses.gain(component)) for losses in (first, second)]
    if not np.isfinite(means).all():
        value = np.nan if np.isinf(means).all() else means[0] - means[1]
        return BracketDifference(value=value, note="A score is infinite: there is no test.")
    gain = first.gain(component) - second.gain(component)
    raw = units.mean(gain)
    error, law = errors(gain)
    least, most = _overfit_differences(first, second, overfits)
    reach = law.critical_value(level) * error
    distance = max(raw - most, 0.0) + min(raw - least, 0.0)  # of the bracket from 0
    statistic = distance / error if error > 0 else np.nan
    return BracketDifference(
        value=raw,
        standard_error=error,
        lower=raw - most - reach,
        upper=raw - least + reach,
        statistic=statistic,
        p_value=law.p_value(statistic),
        note=_why_no_test(error, units),
    )


def _why_no_test(error: float, units: Units) -> str:
    if np.isnan(error):
        return f"One {units.unit} has no spread: there is no test."
    return "" if error > 0 else "The difference is the same in every case: there is nothing to test."


def _overfit_differences(
    first: CaseLosses, second: CaseLosses, overfits: tuple[Overfit, Overfit]
) -> tuple[float, float]:
    """The smaller and the larger estimate of how much more the first fit overfits than the second."""
    if np.array_equal(first.recalibrated, second.recalibrated):
        return 0.0, 0.0
    a, b = overfits
    closed, resampled = a.closed - b.closed, a.resampled - b.resampled
    return min(closed, resampled), max(closed, resampled)


def warn_of_few_events(events: float, n: float, case_weight: float = 1.0) -> str:
    """A warning where events or non-events are too few for the interval to say much."""
    fewest = min(events, n - events) / case_weight
    if fewest >= FEW_EVENTS:
        return ""
    what = "event" if events <= n - events else "non-event"
    return f"Only {counted(fewest, what)}: with fewer than {FEW_EVENTS} this interval says little."
