"""Intervals for miscalibration and discrimination, and for their differences between two models.

A bootstrap of these components misleads: it repeats the overfit of isotonic regression instead of
removing it, and never covers a miscalibration of 0. The bracket interval takes the raw component,
subtracts the overfit, once by each of its two estimates, and adds a standard error on either side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport._utils.formatting import format_counted
from scorereport.inference.large_panels import row_chunks

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport.inference.losses import Measure
    from scorereport.inference.mean_errors import ErrorDistribution
    from scorereport.inference.overfit import Overfit
    from scorereport.reliability.blocks import Blocks
    from scorereport.reliability.sampling import SamplingUnits

COMPONENTS = ("miscalibration", "discrimination")
METHOD = "bracket: raw value less the overfit of isotonic regression, closed form and resampled"
#: With fewer events or non-events than this an interval says little.
FEW_EVENTS = 20
#: A number of cases this near to a whole one is whole.
_ROUNDING = 1e-6


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

    def recalibrates_like(self, other: Self) -> bool:
        """Whether both fits give the same losses."""
        return np.array_equal(self.recalibrated, other.recalibrated)


class FittedLosses:
    """The same of a forecast with a fitted curve, found when asked for: of many rows all would take room."""

    def __init__(self, measure: Measure, outcome: FloatArray, forecast: FloatArray, blocks: Blocks) -> None:
        self.measure = measure.label
        self._loss, self._outcome, self._forecast = measure.loss, outcome, forecast
        self._corners, self._prevalence = blocks.corners, blocks.events.sum() / blocks.n.sum()
        self._kept: tuple[str, FloatArray] = ("", np.empty(0))

    def gain(self, component: str) -> FloatArray:
        """What recalibration gains in each case, over the forecast or over the prevalence."""
        if self._kept[0] != component:
            self._kept = ("", np.empty(0))
            self._kept = (component, self._find_gain(component))
        return self._kept[1]

    def recalibrates_like(self, other: FittedLosses) -> bool:
        """Whether both fits give the same losses; most that do not differ soon."""
        parts = row_chunks(len(self._outcome))
        return all(np.array_equal(self._recalibrated(part), other._recalibrated(part)) for part in parts)

    def _find_gain(self, component: str) -> FloatArray:
        gain = np.empty(len(self._outcome))
        for part in row_chunks(len(gain)):
            y = self._outcome[part]
            over_forecast = component == "miscalibration"
            worse = self._forecast[part] if over_forecast else np.full(len(y), self._prevalence)
            with np.errstate(invalid="ignore"):  # weights that lose an outcome to rounding leave ∞ - ∞
                np.subtract(self._loss(y, worse), self._recalibrated(part), out=gain[part])
        return gain

    def _recalibrated(self, part: slice) -> FloatArray:
        return self._loss(self._outcome[part], np.interp(self._forecast[part], *self._corners))


Losses = CaseLosses | FittedLosses


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
    losses: Losses,
    component: str,
    overfit: Overfit,
    units: SamplingUnits,
    *,
    level: float,
    is_shown: bool,
    note: str,
) -> ComponentEstimate:
    """The bracket interval; that of miscalibration starts at 0 unless a test has shown some."""
    gain = losses.gain(component)
    raw = units.mean(gain)
    error = units.standard_error(gain) if np.isfinite(raw) else np.nan
    bound = bound_component(
        losses.measure,
        component,
        raw=raw,
        error=error,
        overfit=overfit,
        quantile=units.critical_value(level),
        level=level,
        n=units.total,
        method=describe_bracket(overfit),
        note=_why_no_interval(raw, error, units) or note,
    )
    if component == "miscalibration" and units.cluster is not None:
        bound = reach_on_root_scale(bound, units.critical_value(level) * error)
    if component == "miscalibration" and not is_shown and np.isfinite(bound.lower):
        return replace(bound, lower=0.0)
    return bound


def reach_on_root_scale(bound: ComponentEstimate, reach: float) -> ComponentEstimate:
    """The upper end of a miscalibration over clusters, as far away as on the scale of its root.

    It is a mean square, whose error grows with it. By simulation with 8 to 20 clusters the plain end lies
    below the truth in 5 to 8 % of samples, this one in 1.5 to 2.5 %; few clusters hide a small centre, which
    counts as a quarter of the reach or more.
    """
    if not (reach > 0 and np.isfinite(bound.upper)):
        return bound
    centre = max(bound.upper - reach, reach / 4)
    return replace(bound, upper=bound.upper + reach**2 / (4 * centre))


def bound_component(
    measure: str,
    component: str,
    *,
    raw: float,
    error: float,
    overfit: Overfit,
    quantile: float,
    level: float,
    n: float,
    method: str,
    note: str,
) -> ComponentEstimate:
    """Put a bracket around a raw component: less either estimate of its overfit, and its error beyond."""
    closed, resampled = _overfits(overfit, component)
    reach = quantile * error
    return ComponentEstimate(
        measure=measure,
        component=component,
        value=raw,
        corrected=_cut(raw - resampled),
        standard_error=error,
        lower=_cut(raw - max(closed, resampled) - reach),
        upper=_cut(raw - min(closed, resampled) + reach),
        level=level,
        overfit_closed=closed,
        overfit_resampled=resampled,
        n=n,
        method=method,
        note=note,
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


def _why_no_interval(raw: float, error: float, units: SamplingUnits) -> str:
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
    first: Losses,
    second: Losses,
    component: str,
    overfits: tuple[Overfit, Overfit],
    units: SamplingUnits,
    errors: Callable[[FloatArray], tuple[float, ErrorDistribution]],
    level: float,
) -> BracketDifference:
    """The bracket interval of first minus second on the same cases.

    Where both forecasts give the same fit, overfits cancel and no correction is made. `errors` gives the
    standard error of a mean and the law of a mean over it.
    """
    means = [units.mean(losses.gain(component)) for losses in (first, second)]
    if not np.isfinite(means).all():
        return no_difference(*means)
    gain = first.gain(component) - second.gain(component)
    error, law = errors(gain)
    is_same = first.recalibrates_like(second)  # type: ignore[arg-type]  # both are of the same kind
    bounds = (0.0, 0.0) if is_same else overfit_difference(*overfits)
    return bound_difference(
        units.mean(gain), error, bounds, law=law, level=level, note=_why_no_test(error, units)
    )


def no_difference(first: float, second: float) -> BracketDifference:
    """What is left to say where a component is infinite."""
    value = np.nan if np.isinf([first, second]).all() else first - second
    return BracketDifference(value=value, note="A score is infinite: there is no test.")


def bound_difference(
    raw: float,
    error: float,
    overfits: tuple[float, float],
    *,
    law: ErrorDistribution,
    level: float,
    note: str,
) -> BracketDifference:
    """The bracket of a raw difference, from the least and the most that it overfits."""
    least, most = overfits
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
        note=note,
    )


def _why_no_test(error: float, units: SamplingUnits) -> str:
    if np.isnan(error):
        return f"One {units.unit} has no spread: there is no test."
    return "" if error > 0 else "The difference is the same in every case: there is nothing to test."


def overfit_difference(first: Overfit, second: Overfit) -> tuple[float, float]:
    """The smaller and the larger estimate of how much more the first fit overfits than the second."""
    closed, resampled = first.closed - second.closed, first.resampled - second.resampled
    return min(closed, resampled), max(closed, resampled)


def warn_of_few_events(
    events: float, non_events: float, enough: int = FEW_EVENTS, *, are_effective: bool = False
) -> str:
    """A warning where events or non-events are too few for the interval to say much.

    Numbers that are effective, as all that are not whole, are named so.
    """
    fewest = min(events, non_events)
    if fewest >= enough:
        return ""
    what = "event" if events <= non_events else "non-event"
    few = describe_few_cases(fewest, what, are_effective=are_effective)
    return f"Only {few}: with fewer than {enough} this interval says little."


def describe_few_cases(cases: float, noun: str, *, are_effective: bool) -> str:
    """A number of cases, rounded down to one decimal, and whether it is that of weighted rows."""
    shown = np.floor(10 * cases + _ROUNDING) / 10
    is_whole = float(shown).is_integer() and not are_effective
    return format_counted(shown, noun) + ("" if is_whole else " (effective number of weighted rows)")
