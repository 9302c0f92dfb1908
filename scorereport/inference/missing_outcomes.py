"""Bounds of numbers over all outcomes that rows without an outcome may have, with values under assumptions.

A mean score is bounded row by row: it is that of an event or that of a non-event. So sums over rows suffice,
which batches of rows can add up. The miscalibration of the Brier score is bounded by `miscalibration_bounds`,
which needs all rows. Models of K classes are bounded by `class_outcome_bounds`.

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
    observed rows, and of all rows without and with all missing events; those of miscalibration are NaN, and
    those of mean scores if the observed rows were not in memory.
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
    of recalibration over rows, whose mean is MCB, at each share. Rows that were not in memory have no MCB:
    `miscalibration` and `deviation` are empty.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassOutcomeBounds:
    """A number of the observed rows, and of all rows: its bounds, and its value under two assumptions.

    No choice of the missing classes leads to a number below `lower` or above `upper`. Some choice attains
    each bound of a mean score or of the share of a class; bounds of miscalibration need not be attained. The
    assumptions are that the missing classes have the shares of the observed rows, whatever the forecast, and
    those of the forecasts.
    """

    measure: str
    number: str
    observed: float
    lower: float
    upper: float
    as_observed: float
    as_forecast: float

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassModelBounds:
    """Bounds of the mean scores and the MCB of a model of K classes, and of the shares of the classes."""

    model: str
    bounds: tuple[ClassOutcomeBounds, ...]

    __repr__ = short_repr

    def find(self, measure: str, number: str = MEAN) -> ClassOutcomeBounds | None:
        """The bounds of a number; None if there are none."""
        return next((b for b in self.bounds if (b.measure, b.number) == (measure, number)), None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MissingOutcomes:
    """Rows that lack the outcome and nothing else, their share of the weight of all rows, and the bounds.

    Of these, `immature` rows are too young for a final outcome: their outcomes are not used, whatever they
    are now. It is None if there are none. Binary models are in `models`, models of K classes in
    `class_models`.
    """

    rows: int
    share: float
    models: tuple[ModelBounds, ...] = ()
    immature: int | None = None
    class_models: tuple[ClassModelBounds, ...] = ()

    OPTIONAL: ClassVar = ("immature", "class_models")

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

    @property
    def results(self) -> tuple[ModelBounds, ...] | tuple[ClassModelBounds, ...]:
        """All models, binary or of K classes."""
        return self.models or self.class_models

    @property
    def has_miscalibration(self) -> bool:
        """Whether MCB is bounded."""
        return any(bounds.number == MISCALIBRATION for model in self.results for bounds in model.bounds)


def bound_model(
    model: str, cases: PartlyObserved, means: Iterable[ObservedMean], miscalibration: float
) -> ModelBounds:
    """Bound the mean scores of a model, given with those of the observed rows, its MCB and the prevalence."""
    merged = merge_observed(cases)
    shares = np.linspace(0.0, 1.0, _FEW_SHARES if len(merged.forecast) > _MANY_FORECASTS else _SHARES)
    along, deviation = np.array([measure_deviation(merged, q * merged.unknown) for q in shares]).T
    known = _Known(share=1 - float(cases.unknown.sum()), rate=_observed_rate(cases))
    return ModelBounds(
        model=model,
        mean_forecast=sum_products(cases.unknown, cases.forecast) / float(cases.unknown.sum()),
        bounds=(
            *(_bound_mean(observed, cases, known) for observed in means),
            _bound_component(merged, miscalibration, along),
            _bound_prevalence(cases.unknown, cases.forecast, known),
        ),
        shares=read_only(shares),
        miscalibration=read_only(along),
        deviation=read_only(deviation),
    )


class ObservedMean(NamedTuple):
    """A score and its mean over the observed rows."""

    measure: Measure
    value: float


class OutcomeSums(NamedTuple):
    """Weighted sums of a score over rows without an outcome, which are added over batches of rows.

    They are sums of the score of a non-event, of an event, of the smaller and of the larger of both, and of
    their squares. `forecast_none` and `forecast_event` sum the parts of the score that is expected by the
    forecast.
    """

    none: float
    event: float
    lowest: float
    highest: float
    forecast_none: float
    forecast_event: float
    none_squares: float
    event_squares: float

    def add(self, other: OutcomeSums) -> OutcomeSums:
        """Return the sums over the rows of both."""
        return OutcomeSums._make(one + another for one, another in zip(self, other, strict=True))

    def divide(self, total: float) -> OutcomeSums:
        """Return the sums divided by a total."""
        return OutcomeSums._make(value / total for value in self)


def sum_outcomes(weight: FloatArray, forecast: FloatArray, measure: Measure) -> OutcomeSums:
    """Sum a score over rows without an outcome.

    >>> from scorereport.inference.losses import resolve_measure
    >>> found = sum_outcomes(np.ones(2), np.array([0.0, 0.5]), resolve_measure("brier", {}))
    >>> found.none, found.event, found.lowest, found.highest, found.forecast_none + found.forecast_event
    (0.25, 1.25, 0.25, 1.25, 0.25)
    """
    zeros = np.zeros(len(forecast))
    return _sum_values(weight, forecast, measure.score(zeros, forecast), measure.score(zeros + 1, forecast))


def _sum_values(
    weight: FloatArray, forecast: FloatArray, of_none: FloatArray, of_event: FloatArray
) -> OutcomeSums:
    return OutcomeSums(
        none=sum_products(weight, of_none),
        event=sum_products(weight, of_event),
        lowest=sum_products(weight, np.minimum(of_none, of_event)),
        highest=sum_products(weight, np.maximum(of_none, of_event)),
        forecast_none=sum_products(weight * (1 - forecast), of_none),
        forecast_event=sum_products(weight * forecast, of_event),
        none_squares=sum_products(weight, of_none**2),
        event_squares=sum_products(weight, of_event**2),
    )


class SummedMean(NamedTuple):
    """The name of a score, its mean over the observed rows, and its sums over the others."""

    measure: str
    value: float
    sums: OutcomeSums


def bound_summed_model(
    model: str, means: Iterable[SummedMean], *, forecast: float, missing: float, total: float, rate: float
) -> ModelBounds:
    """Bound the mean scores of a model and the prevalence, by sums over the rows without an outcome.

    `forecast` sums their forecasts and `missing` their weights; `total` is the weight of all rows, and `rate`
    the prevalence of the observed ones.
    """
    known = _Known(share=1 - missing / total, rate=rate)
    mean_forecast = forecast / missing
    whole, mean = np.array([missing / total]), np.array([mean_forecast])
    return ModelBounds(
        model=model,
        mean_forecast=mean_forecast,
        bounds=(
            *(_bound_values(each.measure, each.sums.divide(total), each.value, known) for each in means),
            _bound_prevalence(whole, mean, known),
        ),
        shares=read_only(np.linspace(0.0, 1.0, _SHARES)),
        miscalibration=read_only(np.empty(0)),
        deviation=read_only(np.empty(0)),
    )


class _Known(NamedTuple):
    """The share of the observed rows in the weight of all rows, and their prevalence."""

    share: float
    rate: float


def _bound_mean(observed: ObservedMean, cases: PartlyObserved, known: _Known) -> OutcomeBounds:
    """Bound a mean score: in each row, it is that of an event or that of a non-event."""
    score, x = observed.measure.score, cases.forecast
    of_none, of_event = score(np.zeros(len(x)), x), score(np.ones(len(x)), x)
    squares = sum_products(cases.observed - cases.events, of_none**2)
    squares += sum_products(cases.events, of_event**2)
    sums = _sum_values(cases.unknown, x, of_none, of_event)
    return _bound_values(observed.measure.name, sums, observed.value, known, squares=squares)


def _bound_prevalence(weight: FloatArray, forecast: FloatArray, known: _Known) -> OutcomeBounds:
    sums = _sum_values(weight, forecast, np.zeros(len(weight)), np.ones(len(weight)))
    squares = known.rate * known.share
    return _bound_values("prevalence", sums, known.rate, known, number=SHARE, squares=squares)


def _bound_values(
    measure: str,
    sums: OutcomeSums,
    observed: float,
    known: _Known,
    *,
    number: str = MEAN,
    squares: float = np.nan,
) -> OutcomeBounds:
    """Bound a mean by sums over the rows without an outcome, divided by the weight of all rows.

    `squares` is the sum of squares over the observed rows, divided by the same weight.
    """
    before = observed * known.share
    no_events, all_events = before + sums.none, before + sums.event
    return OutcomeBounds(
        measure=measure,
        number=number,
        observed=observed,
        lower=before + sums.lowest,
        upper=before + sums.highest,
        no_events=no_events,
        as_observed=interpolate_share(known.rate, no_events, all_events),
        as_forecast=before + sums.forecast_none + sums.forecast_event,
        all_events=all_events,
        observed_deviation=find_deviation(squares / known.share, observed),
        no_events_deviation=find_deviation(squares + sums.none_squares, no_events),
        all_events_deviation=find_deviation(squares + sums.event_squares, all_events),
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


def sum_products(weight: FloatArray, values: FloatArray) -> float:
    """Return the sum of weighted values; a value without weight does not count, even if it is infinite.

    >>> sum_products(np.array([2.0, 0.0]), np.array([1.5, np.inf]))
    3.0
    """
    counts = weight > 0
    return float((weight[counts] * values[counts]).sum())
