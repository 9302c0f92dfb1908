"""Model and source probabilities: those given to the observed classes, and their observed frequencies.

Formulas are those of Nelson (2017), with the corrections named below.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.arrays import FloatArray, read_only
from scorereport._utils.checks import check_binary, check_classes, check_inside
from scorereport._utils.representation import short_repr
from scorereport.errors import UsageError
from scorereport.scores.probability import ACCURACY, DECISIVENESS, ROBUSTNESS, power_mean

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleMean:
    """One generalised mean of the model's probabilities and of the source's, and their ratio."""

    exponent: float
    model: float
    source: float

    __repr__ = short_repr

    @property
    def divergence(self) -> float:
        """Model over source; NaN if the source is 0."""
        return self.model / self.source if self.source > 0 else np.nan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProbabilityScale:
    """Model against source probabilities over bins, and their three means."""

    decisiveness: ScaleMean
    accuracy: ScaleMean
    robustness: ScaleMean
    n: FloatArray
    events: FloatArray
    model: FloatArray
    source: FloatArray
    limit: float

    __repr__ = short_repr


def probability_scale(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    n_bins: int,
    limit: float = 0.0,
    sample_weight: ArrayLike | None = None,
) -> ProbabilityScale:
    """Compare a model's probabilities with the observed frequencies on Nelson's scale.

    All pairs (case, class) are sorted by probability and cut into `n_bins` of equal count. In each bin,
    `source` is the share of observed pairs, those whose class was observed, and `model` the geometric mean of
    their probabilities; the overall means weight bins by their observed pairs. Pairs with the same
    probability that do not fit into one bin are split between bins, all in the same proportions, so that
    neither the order of rows nor outcomes decide which pair is in which bin. `limit` clips probabilities to
    [limit, 1 - limit] first (the paper uses 0.01).

    Errata: weights 1/B in equations 18 and 19 contradict equations 2, 9 and 17; with the number of
    observed pairs the overall model mean equals that of `generalized_mean`, for any bins.

    References
    ----------
    Nelson (2017), Entropy 19, doi:10.3390/e19060286

    >>> scale = probability_scale([1, 0, 1, 0], [0.8, 0.3, 0.6, 0.1], n_bins=2)
    >>> round(scale.accuracy.model, 4), scale.accuracy.source
    (0.7416, 1.0)
    """
    is_observed, pairs, weight = _pairs(y_true, y_prob, sample_weight)
    limit = check_inside(limit, "limit", 0, 0.5, closed="left")
    if not 1 <= n_bins <= len(pairs) or n_bins != int(n_bins):
        raise UsageError(
            f"`n_bins` must be a whole number between 1 and the number of pairs, {len(pairs)}; got {n_bins}."
        )
    probability = np.clip(pairs, limit, 1 - limit)
    bins = equal_count_bins(probability, weight, n_bins)
    n, events = bins.sums(weight), bins.sums(weight * is_observed)
    source = event_shares(events, n)

    def mean(m: float) -> ScaleMean:
        model = power_mean(probability[is_observed], m, weight[is_observed])
        return ScaleMean(exponent=m, model=model, source=power_mean(source, m, events))

    return ProbabilityScale(
        decisiveness=mean(DECISIVENESS),
        accuracy=mean(ACCURACY),
        robustness=mean(ROBUSTNESS),
        n=read_only(n),
        events=read_only(events),
        model=read_only(bins.geometric_means(probability, weight * is_observed)),
        source=read_only(source),
        limit=limit,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScaleBins:
    """The cell of each pair, and the share of each cell in each bin; None if cells are the bins."""

    cell: NDArray[np.intp]
    n_cells: int
    share: FloatArray | None = None

    __repr__ = short_repr

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum of a value of each pair in each bin."""
        return self.of_cells(np.bincount(self.cell, values, self.n_cells).astype(np.float64))

    def of_cells(self, sums: FloatArray) -> FloatArray:
        """Sums in each bin, from those in each cell along the last axis."""
        return sums if self.share is None else np.einsum("...c,cb->...b", sums, self.share)

    def geometric_means(
        self, probability: FloatArray, weight: FloatArray, logs: FloatArray | None = None
    ) -> FloatArray:
        """Geometric mean of the probabilities in each bin, whose logs may be passed; NaN without weight."""
        is_zero = probability == 0
        if logs is None:
            logs = np.log(np.where(is_zero, 1.0, probability))
        total = self.sums(weight)
        mean = np.divide(self.sums(weight * logs), total, out=np.full(len(total), np.nan), where=total > 0)
        return np.where(self.sums(weight * is_zero) > 0, 0.0, np.exp(mean))


def equal_count_bins(probability: FloatArray, weight: FloatArray, n_bins: int) -> ScaleBins:
    """Cut pairs, in the order of their probabilities, into bins of equal weight.

    A cell has all probabilities that are wholly in the same bin, or one that is in several bins.
    """
    values, place = np.unique(probability, return_inverse=True)
    end = np.cumsum(np.bincount(place, weight, len(values)))
    start, edge = np.append(0.0, end[:-1]), np.cumsum([0.0, *split_evenly(end[-1], n_bins)])
    edge[-1] = end[-1]
    first, last = np.searchsorted(edge, start, "right") - 1, np.searchsorted(edge, end, "left") - 1
    alone = last > first
    opens = np.append(True, (first[1:] != first[:-1]) | alone[1:] | alone[:-1])
    closes = np.append(opens[1:], True)
    inside = np.minimum(end[closes][:, None], edge[1:]) - np.maximum(start[opens][:, None], edge[:-1])
    part = np.clip(inside, 0, None)
    whole = part.sum(axis=1, keepdims=True)
    share = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return ScaleBins(cell=(np.cumsum(opens) - 1)[place], n_cells=len(part), share=share)


def event_shares(events: FloatArray, n: FloatArray) -> FloatArray:
    """Return events over cases; 0 where there are no cases."""
    return np.divide(events, n, out=np.zeros_like(events), where=n > 0)


def _pairs(
    y_true: ArrayLike, y_prob: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[NDArray[np.bool_], FloatArray, FloatArray]:
    """All pairs of case and class: whether the class was observed, its probability, the case's weight."""
    if np.ndim(y_prob) == 1:
        y, p, given = check_binary(y_true, y_prob, sample_weight)
        label, table = y.astype(np.int64), np.column_stack([1 - p, p])
    else:
        label, table, given = check_classes(y_true, y_prob, sample_weight)
    is_observed = label[:, None] == np.arange(table.shape[1])
    weight = np.ones(len(label)) if given is None else given
    return is_observed.ravel(), table.ravel(), np.repeat(weight, table.shape[1])


def split_evenly(total: float, n_bins: int) -> FloatArray:
    """Return sizes as even as whole numbers allow, larger ones first; exactly even for a fractional total."""
    if total != np.floor(total):
        return np.full(n_bins, total / n_bins)
    return np.full(n_bins, total // n_bins) + (np.arange(n_bins) < total % n_bins)
