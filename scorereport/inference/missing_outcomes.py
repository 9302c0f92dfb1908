"""Bounds of numbers over all outcomes that rows without an outcome may have, with values under assumptions.

A mean score is bounded row by row: it is that of an event or that of a non-event. The miscalibration of the
Brier score is bounded by `miscalibration_bounds`.

References
----------
Manski (2003), Partial Identification of Probability Distributions, doi:10.1007/b97478, chapter 1
Horowitz, Manski (2000), J. Am. Stat. Assoc. 95, doi:10.1080/01621459.2000.10473902
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from scorereport._utils.arrays import FloatArray, read_only
from scorereport._utils.formatting import format_counted
from scorereport._utils.representation import short_repr
from scorereport.inference.miscalibration_bounds import (
    PartlyObserved,
    bound_miscalibration,
    measure_deviation,
    measure_miscalibration,
    merge_observed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorereport.inference.losses import Measure

MEAN, MISCALIBRATION, SHARE = "mean", "miscalibration", "share"
#: The score whose miscalibration is bounded.
DECOMPOSED = "brier"
#: Shares of events among the missing outcomes at which miscalibration is computed; fewer for many forecasts.
_SHARES, _FEW_SHARES, _MANY_FORECASTS = 101, 21, 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeBounds:
    """A number of the observed rows, and of all rows: its bounds, and its value under four assumptions.

    No choice of the missing outcomes leads to a number below `lower` or above `upper`; some choice comes
    within `lower_slack` and `upper_slack` of them. The assumptions are that no missing outcome is an event,
    that as many are as in the observed rows, that as many are as was forecast, and that all are. A share of
    events is the same in each row. The deviations are standard deviations of the number over rows: of the
    observed rows, and of all rows without and with all missing events; those of miscalibration are NaN.
    """

    measure: str
    number: str
    observed: float
    lower: float
    upper: float
    no_events: float
    as_observed: float
    as_forecast: float
    all_events: float
    observed_deviation: float
    no_events_deviation: float
    all_events_deviation: float
    lower_slack: float = 0.0
    upper_slack: float = 0.0

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelBounds:
    """Bounds of the numbers of a model, and its MCB of the Brier score by the share of missing events.

    `mean_forecast` is that of the rows without an outcome. `deviation` is the standard deviation of the gain
    of recalibration over rows, whose mean is MCB, at each share.
    """

    model: str
    mean_forecast: float
    bounds: tuple[OutcomeBounds, ...]
    shares: FloatArray
    miscalibration: FloatArray
    deviation: FloatArray

    __repr__ = short_repr

    def find(self, measure: str, number: str = MEAN) -> OutcomeBounds | None:
        """The bounds of a number; None if there are none."""
        return next((b for b in self.bounds if (b.measure, b.number) == (measure, number)), None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MissingOutcomes:
    """Rows that lack the outcome and nothing else, their share of the weight of all rows, and the bounds.

    Of these, `immature` rows are too young for a final outcome: their outcomes are not used, whatever they
    are now. It is None if there are none.
    """

    rows: int
    share: float
    models: tuple[ModelBounds, ...]
    immature: int | None = None

    OPTIONAL: ClassVar = ("immature",)

    __repr__ = short_repr

    @property
    def kind(self) -> str:
        """What the outcomes are, in words: missing, immature, or both."""
        if not self.immature:
            return "missing"
        return "immature" if self.immature == self.rows else "missing and immature"

    @property
    def counted(self) -> str:
        """The number of outcomes, in words."""
        return format_counted(self.rows, f"{self.kind} outcome")


def bound_model(
    model: str, cases: PartlyObserved, means: Iterable[ObservedMean], miscalibration: float
) -> ModelBounds:
    """Bound the mean scores of a model, given with those of the observed rows, its MCB and the prevalence."""
    merged = merge_observed(cases)
    shares = np.linspace(0.0, 1.0, _FEW_SHARES if len(merged.forecast) > _MANY_FORECASTS else _SHARES)
    along, deviation = np.array([measure_deviation(merged, q * merged.unknown) for q in shares]).T
    return ModelBounds(
        model=model,
        mean_forecast=_sum_products(cases.unknown, cases.forecast) / float(cases.unknown.sum()),
        bounds=(
            *(_bound_mean(observed, cases) for observed in means),
            _bound_component(merged, miscalibration, along),
            _bound_prevalence(cases),
        ),
        shares=read_only(shares),
        miscalibration=read_only(along),
        deviation=read_only(deviation),
    )


class ObservedMean(NamedTuple):
    """A score and its mean over the observed rows."""

    measure: Measure
    value: float


def _bound_mean(known: ObservedMean, cases: PartlyObserved) -> OutcomeBounds:
    """Bound a mean score: in each row, it is that of an event or that of a non-event."""
    score, x = known.measure.score, cases.forecast
    of_none, of_event = score(np.zeros(len(x)), x), score(np.ones(len(x)), x)
    return _bound_values(
        known.measure.name,
        cases,
        of_none,
        of_event,
        number=MEAN,
        observed=known.value,
    )


def _bound_prevalence(cases: PartlyObserved) -> OutcomeBounds:
    ones = np.ones(len(cases.forecast))
    rate = _observed_rate(cases)
    return _bound_values("prevalence", cases, 0 * ones, ones, number=SHARE, observed=rate)


def _bound_values(
    measure: str,
    cases: PartlyObserved,
    of_none: FloatArray,
    of_event: FloatArray,
    *,
    number: str,
    observed: float,
) -> OutcomeBounds:
    """Bound the mean of values that rows have without and with an event."""
    weight, x = cases.unknown, cases.forecast
    total = 1 - float(weight.sum())
    known = observed * total
    no_events, all_events = known + _sum_products(weight, of_none), known + _sum_products(weight, of_event)
    squares = _sum_products(cases.observed - cases.events, of_none**2)
    squares += _sum_products(cases.events, of_event**2)
    no_squares, all_squares = (squares + _sum_products(weight, value**2) for value in (of_none, of_event))
    return OutcomeBounds(
        measure=measure,
        number=number,
        observed=observed,
        lower=known + _sum_products(weight, np.minimum(of_none, of_event)),
        upper=known + _sum_products(weight, np.maximum(of_none, of_event)),
        no_events=no_events,
        as_observed=interpolate_share(_observed_rate(cases), no_events, all_events),
        as_forecast=known + _sum_products(weight * (1 - x), of_none) + _sum_products(weight * x, of_event),
        all_events=all_events,
        observed_deviation=find_deviation(squares / total, observed),
        no_events_deviation=find_deviation(no_squares, no_events),
        all_events_deviation=find_deviation(all_squares, all_events),
    )


def interpolate_share(share: float, no_events: float, all_events: float) -> float:
    """Return a mean at a share of events among the missing outcomes, from its values at 0 and at 1.

    >>> interpolate_share(0.25, 0.1, 0.5), interpolate_share(0.0, 0.1, np.inf)
    (0.2, 0.1)
    """
    if share in (0.0, 1.0):
        return all_events if share else no_events
    return no_events + share * (all_events - no_events) if np.isfinite(no_events) else no_events


def find_deviation(mean_square: float, mean: float) -> float:
    """Return the standard deviation of values with this mean square and mean; NaN if these are infinite."""
    return float(np.sqrt(max(mean_square - mean**2, 0.0))) if np.isfinite(mean_square) else np.nan


def _bound_component(cases: PartlyObserved, observed: float, along: FloatArray) -> OutcomeBounds:
    found = bound_miscalibration(cases)
    return OutcomeBounds(
        measure=DECOMPOSED,
        number=MISCALIBRATION,
        observed=observed,
        lower=found.lower,
        upper=found.upper,
        no_events=float(along[0]),
        as_observed=measure_miscalibration(cases, _observed_rate(cases) * cases.unknown),
        as_forecast=measure_miscalibration(cases, cases.forecast * cases.unknown),
        all_events=float(along[-1]),
        observed_deviation=np.nan,
        no_events_deviation=np.nan,
        all_events_deviation=np.nan,
        lower_slack=found.lower_slack,
        upper_slack=found.upper_slack,
    )


def _observed_rate(cases: PartlyObserved) -> float:
    return float(cases.events.sum()) / float(cases.observed.sum())


def _sum_products(weight: FloatArray, values: FloatArray) -> float:
    """The sum of weighted values; a value without weight does not count, even if it is infinite."""
    counts = weight > 0
    return float((weight[counts] * values[counts]).sum())
