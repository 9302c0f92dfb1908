"""Bounds of numbers of K classes over all classes that rows without an outcome may have.

The score of a row lies between the smallest and the largest of its scores for each class, and every row may
have any class. So the bounds of mean scores are attained. The miscalibration of the Brier score and of the
ranked probability score is a sum over binary views, each of which is bounded by `miscalibration_bounds`. The
sums of these bounds hold, but the views share their rows, so that they need not be attained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport.inference.miscalibration_bounds import (
    PartlyObserved,
    bound_miscalibration,
    measure_miscalibration,
    merge_observed,
)
from scorereport.inference.missing_outcomes import (
    MEAN,
    MISCALIBRATION,
    SHARE,
    ClassOutcomeBounds,
    sum_products,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scorereport._utils.arrays import FloatArray, IntArray


class ObservedClassMean(NamedTuple):
    """A score of class indices and probabilities, its name, and its mean over the observed rows."""

    name: str
    score: Callable[[IntArray, FloatArray], FloatArray]
    value: float


class UnknownClasses(NamedTuple):
    """Rows without an outcome: probabilities of K classes, and weights divided by the weight of all rows.

    `observed` has the share of each class in the observed rows.
    """

    forecast: FloatArray
    weight: FloatArray
    observed: FloatArray

    @property
    def known(self) -> float:
        """The share of the observed rows in the weight of all rows."""
        return 1 - float(self.weight.sum())


def bound_class_mean(mean: ObservedClassMean, rows: UnknownClasses) -> ClassOutcomeBounds:
    """Bound a mean score: in each row, it is that of one of the classes.

    >>> rows = UnknownClasses(np.array([[0.5, 0.3, 0.2]]), np.array([0.1]), np.array([0.5, 0.5, 0.0]))
    >>> hits = ObservedClassMean("accuracy", lambda y, p: (p.argmax(axis=1) == y) * 1.0, 0.6)
    >>> found = bound_class_mean(hits, rows)
    >>> [round(value, 4) for value in (found.lower, found.upper, found.as_observed)]
    [0.54, 0.64, 0.59]
    """
    n, n_classes = rows.forecast.shape
    lowest, highest = np.full(n, np.inf), np.full(n, -np.inf)
    before = mean.value * rows.known
    as_observed = as_forecast = before
    for place in range(n_classes):
        score = mean.score(np.full(n, place), rows.forecast)
        lowest, highest = np.minimum(lowest, score), np.maximum(highest, score)
        as_observed += sum_products(rows.weight * rows.observed[place], score)
        as_forecast += sum_products(rows.weight * rows.forecast[:, place], score)
    return ClassOutcomeBounds(
        measure=mean.name,
        number=MEAN,
        observed=mean.value,
        lower=before + sum_products(rows.weight, lowest),
        upper=before + sum_products(rows.weight, highest),
        as_observed=as_observed,
        as_forecast=as_forecast,
    )


def bound_class_shares(rows: UnknownClasses, labels: Sequence[str]) -> Iterator[ClassOutcomeBounds]:
    """Bound the share of each class: none of the rows without an outcome has it, or all of them have."""
    missing = float(rows.weight.sum())
    for label, share, forecast in zip(labels, rows.observed.tolist(), rows.forecast.T, strict=True):
        before = share * rows.known
        yield ClassOutcomeBounds(
            measure=f"share of {label}",
            number=SHARE,
            observed=share,
            lower=before,
            upper=before + missing,
            as_observed=share,
            as_forecast=before + sum_products(rows.weight, forecast),
        )


def bound_views(
    score: str, views: Sequence[PartlyObserved], divisor: int, observed: float
) -> ClassOutcomeBounds:
    """Bound the MCB of a score, given with that of the observed rows: a sum over views, over the divisor."""
    merged = [merge_observed(view) for view in views]
    bounds = [bound_miscalibration(view) for view in merged]
    rates = [float(view.events.sum()) / float(view.observed.sum()) for view in views]
    return ClassOutcomeBounds(
        measure=score,
        number=MISCALIBRATION,
        observed=observed,
        lower=sum(found.lower for found in bounds) / divisor,
        upper=sum(found.upper for found in bounds) / divisor,
        as_observed=sum(
            measure_miscalibration(view, rate * view.unknown)
            for view, rate in zip(merged, rates, strict=True)
        )
        / divisor,
        as_forecast=sum(measure_miscalibration(view, view.forecast * view.unknown) for view in merged)
        / divisor,
    )
