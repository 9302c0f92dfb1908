"""Intervals for miscalibration and discrimination, and for their differences between two models.

A bootstrap of these components misleads: it repeats the overfit of isotonic regression instead of
removing it, and never covers a miscalibration of 0. The bracket interval takes the raw component,
subtracts the overfit, once by each of its two estimates, and adds a standard error on either side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from scorereport._utils.arrays import FloatArray, row_chunks
from scorereport._utils.formatting import format_counted
from scorereport.inference.estimates import ComponentEstimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from scorereport.inference.losses import Measure
    from scorereport.inference.mean_errors import ErrorDistribution
    from scorereport.inference.overfit import Overfit
    from scorereport.reliability.blocks import Blocks
    from scorereport.reliability.sampling import SamplingUnits

COMPONENTS = ("miscalibration", "discrimination")
METHOD = "bracket: raw value less the overfit of isotonic regression, closed form and resampled"
#: With fewer events or non-events than this an interval says little.
FEW_EVENTS = 20
#: A number of cases this near to a whole number counts as whole.
_ROUNDING = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class CaseLosses:
    """Losses of each case: of the forecast, of the recalibrated forecast and of the prevalence."""

    measure: str
    forecast: FloatArray
    recalibrated: FloatArray
    prevalence: FloatArray

    def gain(self, component: str) -> FloatArray:
        """Loss of the forecast, or of the prevalence, minus that of the recalibrated forecast, by case."""
        worse = self.forecast if component == "miscalibration" else self.prevalence
        return worse - self.recalibrated

    def recalibrates_like(self, other: Self) -> bool:
        """Whether both fits give the same losses."""
        return np.array_equal(self.recalibrated, other.recalibrated)


class FittedLosses:
    """Losses of each case, computed from a fitted curve when needed: to keep them all would take memory.

    A recalibrated forecast has the loss of its block and outcome. `places` are those of `place_in_blocks`.
    """

    def __init__(
        self,
        measure: Measure,
        outcome: FloatArray,
        forecast: FloatArray,
        blocks: Blocks,
        places: NDArray[np.unsignedinteger],
    ) -> None:
        self.measure = measure.label
        self._loss, self._outcome, self._forecast = measure.loss, outcome, forecast
        self._kept: tuple[str, FloatArray] = ("", np.empty(0))
        self._places = places
        both = np.tile([0.0, 1.0], len(blocks))
        self._recalibrated = self._loss(both, np.repeat(blocks.mean, 2))
        prevalence = np.full(len(both), blocks.events.sum() / blocks.n.sum())
        with np.errstate(invalid="ignore"):  # ∞ - ∞ where rounding of weights loses an outcome
            self._discriminated = self._loss(both, prevalence) - self._recalibrated

    def gain(self, component: str) -> FloatArray:
        """Loss of the forecast, or of the prevalence, minus that of the recalibrated forecast, by case."""
        if self._kept[0] != component:
            self._kept = ("", np.empty(0))
            self._kept = (component, self._find_gain(component))
        return self._kept[1]

    def recalibrates_like(self, other: FittedLosses) -> bool:
        """Whether both fits give the same losses; chunk by chunk, as most differences show early."""
        parts = row_chunks(len(self._outcome))
        return all(
            np.array_equal(
                self._recalibrated.take(self._places[part]), other._recalibrated.take(other._places[part])
            )
            for part in parts
        )

    def _find_gain(self, component: str) -> FloatArray:
        gain = np.empty(len(self._outcome))
        is_discrimination = component == "discrimination"
        of_place = self._discriminated if is_discrimination else self._recalibrated
        for part in row_chunks(len(gain)):
            np.take(of_place, self._places[part], out=gain[part], mode="clip")  # else numpy buffers `out`
            if is_discrimination:
                continue
            worse = self._loss(self._outcome[part], self._forecast[part])
            with np.errstate(invalid="ignore"):
                np.subtract(worse, gain[part], out=gain[part])
        return gain


def place_in_blocks(
    outcome: FloatArray, forecast: FloatArray, blocks: Blocks, order: NDArray[np.integer] | None = None
) -> NDArray[np.unsignedinteger]:
    """Return twice the block of each row, plus 1 for an event; in two bytes if they are enough.

    With their `order`, if it is known, forecasts need not be searched for.
    """
    dtype: type[np.unsignedinteger] = np.uint16 if 2 * len(blocks) <= 1 << 16 else np.uint32
    places: NDArray[np.unsignedinteger] = np.empty(len(forecast), dtype=dtype)
    if order is not None:
        ends = np.searchsorted(forecast, blocks.x_max, side="right", sorter=order)
        places[order] = np.repeat(np.arange(0, 2 * len(blocks), 2, dtype=dtype), np.diff(ends, prepend=0))
    for part in row_chunks(len(forecast)):
        if order is None:
            places[part] = 2 * np.searchsorted(blocks.x_max, forecast[part])
        places[part] += outcome[part] == 1
    return places


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
    """Return the bracket interval; that of miscalibration starts at 0 unless a test shows miscalibration."""
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
    """Move the upper limit of a miscalibration over clusters to where it is on the square-root scale.

    Miscalibration is a mean square, whose error grows with it. In simulations with 8 to 20 clusters the plain
    limit is below the true value in 5 to 8 % of samples, this limit in 1.5 to 2.5 %. With few clusters the
    centre may be too small: it counts as at least a quarter of the reach.
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
    """Bracket a raw component: minus either estimate of its overfit, plus a standard error on each side."""
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
        note=join_notes(note, overfit.left_out if np.isfinite(reach) else ""),
    )


def join_notes(*notes: str) -> str:
    """Join the notes that are not empty."""
    return " ".join(note for note in notes if note)


def describe_bracket(overfit: Overfit) -> str:
    """Describe the method and its draws."""
    return f"{METHOD} ({overfit.drawn})" if overfit.drawn else METHOD


def _overfits(overfit: Overfit, component: str) -> tuple[float, float]:
    """Both estimates; for discrimination minus the overfit of the constant forecast, which overfits too."""
    constant = overfit.constant if component == "discrimination" else 0.0
    return max(overfit.closed - constant, 0.0), max(overfit.resampled - constant, 0.0)


def _cut(bound: float) -> float:
    """Cut a bound of a non-negative number at 0; NaN stays NaN."""
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
    """Return the bracket interval of first minus second on the same cases.

    Where both forecasts give the same fit, overfits cancel and no correction is made. `errors` returns the
    standard error of a mean, and the distribution of the mean divided by it.
    """
    means = [units.mean(losses.gain(component)) for losses in (first, second)]
    if not np.isfinite(means).all():
        return no_difference(*means)
    gain = first.gain(component) - second.gain(component)
    error, distribution = errors(gain)
    is_same = first.recalibrates_like(second)  # type: ignore[arg-type]  # both are of the same kind
    bounds = (0.0, 0.0) if is_same else overfit_difference(*overfits)
    return bound_difference(
        units.mean(gain),
        error,
        bounds,
        distribution=distribution,
        level=level,
        note=_why_no_test(error, units),
    )


def no_difference(first: float, second: float) -> BracketDifference:
    """Return the difference where a component is infinite: without interval or test."""
    value = np.nan if np.isinf([first, second]).all() else first - second
    return BracketDifference(value=value, note="A score is infinite: there is no test.")


def bound_difference(
    raw: float,
    error: float,
    overfits: tuple[float, float],
    *,
    distribution: ErrorDistribution,
    level: float,
    note: str,
) -> BracketDifference:
    """Bracket a raw difference by the smallest and the largest estimate of its overfit."""
    least, most = overfits
    reach = distribution.critical_value(level) * error
    distance = max(raw - most, 0.0) + min(raw - least, 0.0)  # of the bracket from 0
    statistic = distance / error if error > 0 else np.nan
    return BracketDifference(
        value=raw,
        standard_error=error,
        lower=raw - most - reach,
        upper=raw - least + reach,
        statistic=statistic,
        p_value=distribution.p_value(statistic),
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
    """Warn that events or non-events are too few for an informative interval; empty if they are enough.

    Effective numbers, and all that are not whole, are named as effective.
    """
    few = find_few_events(events, non_events, enough, are_effective=are_effective)
    return "" if few is None else few.warn()


def find_few_events(
    events: float, non_events: float, enough: int = FEW_EVENTS, *, are_effective: bool = False
) -> FewCases | None:
    """Events or non-events, whichever are fewer, if they are too few for an informative interval."""
    fewest = min(events, non_events)
    if fewest >= enough:
        return None
    noun = "event" if events <= non_events else "non-event"
    return FewCases(fewest, noun, enough=enough, are_effective=are_effective)


class FewCases(NamedTuple):
    """A number of cases below `enough`; `of_what` follows the noun."""

    cases: float
    noun: str
    of_what: str = ""
    enough: int = FEW_EVENTS
    are_effective: bool = False

    def warn(self, subject: str = "this interval says") -> str:
        """The warning about what says little: one interval, or all numbers of an evaluation."""
        return f"Only {self._counted}{self.of_what}: with fewer than {self.enough} {subject} little."

    @property
    def _counted(self) -> str:
        """The number, rounded down to one decimal, with a note if it is effective."""
        shown = np.floor(10 * self.cases + _ROUNDING) / 10
        is_whole = float(shown).is_integer() and not self.are_effective
        return format_counted(shown, self.noun) + ("" if is_whole else " (effective number of weighted rows)")
