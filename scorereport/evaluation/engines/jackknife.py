"""Jackknife intervals from sums by bucket, each bucket left out in turn.

Rows, or whole clusters of them, are dealt out to buckets at random. So one pass over the rows gives the
errors of everything that is a function of sums, of differences between models as well, for the same rows
are in the same bucket whatever the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport.evaluation.engines.digest import SUMS, fold_buckets
from scorereport.inference.losses import expected_score
from scorereport.inference.mean_errors import ErrorDistribution
from scorereport.reliability.clusters import ClusterSums, sums_of_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport.evaluation.engines.digest import Digest
    from scorereport.inference.losses import Measure

EFRON_TIBSHIRANI = "Efron, Tibshirani (1993), An Introduction to the Bootstrap, doi:10.1201/9780429246593"
#: An error this small against the estimate is rounding of equal values.
_ROUNDING = 1e-13


@dataclass(frozen=True, kw_only=True, eq=False)
class BucketSums:
    """The sums of a model over each bucket that has rows: a row per bucket, a column per measure."""

    n: FloatArray
    events: FloatArray
    events_win: FloatArray
    non_events_win: FloatArray
    forecast: FloatArray
    spiegelhalter: FloatArray
    surprises: FloatArray
    score: FloatArray
    recalibrated: FloatArray
    constant: FloatArray

    @property
    def law(self) -> ErrorDistribution:
        """The law of an estimate over its error: of t with one degree of freedom less than buckets."""
        return ErrorDistribution(max(len(self.n) - 1, 1))

    def law_over_clusters(self, case_weight: float) -> ErrorDistribution:
        """That of estimates over buckets of clusters, which may be unequal."""
        if len(self.n) < 2:
            return ErrorDistribution(1.0)
        sums = sums_of_mean(self.n.astype(np.float64), np.zeros(len(self.n)), case_weight)
        freedom = sums.degrees_of_freedom(np.ones(1))
        return ErrorDistribution(
            1.0 if np.isnan(freedom) else freedom
        )  # NaN where one bucket has all the weight

    def error(self, estimate: Callable[[LeaveOneOut], FloatArray]) -> float:
        """Standard error of what a function makes of the sums without each bucket; NaN for one bucket."""
        if len(self.n) < 2:
            return np.nan
        with np.errstate(invalid="ignore", divide="ignore"):
            left = estimate(self.without)
            spread = float(((left - left.mean()) ** 2).sum() * (len(left) - 1) / len(left))
        error = spread**0.5
        return 0.0 if error <= _ROUNDING * float(np.abs(left).max()) else error

    @cached_property
    def without(self) -> LeaveOneOut:
        """The sums without each bucket."""
        return LeaveOneOut(self)

    @cached_property
    def auc(self) -> float:
        """The area under the ROC curve."""
        events = self.events.sum()
        return min(float(self.events_win.sum() / events), 1.0) if 0 < events < self.n.sum() else np.nan

    @cached_property
    def auc_influence(self) -> FloatArray:
        """How much the events, and the non-events, of each bucket move the AUC: two rows that sum to 0."""
        others = self.n - self.events
        of_events = (self.events_win - self.auc * self.events) / self.events.sum()
        return np.stack([of_events, (self.non_events_win - self.auc * others) / others.sum()])

    @property
    def classes(self) -> FloatArray:
        """The weight of events, and of non-events, in each bucket: two rows."""
        return split_classes(self.n, self.events)


class LeaveOneOut:
    """Sums over all rows but those of one bucket, for each bucket in turn."""

    def __init__(self, buckets: BucketSums) -> None:
        self._buckets = buckets

    def __getattr__(self, name: str) -> FloatArray:
        sums: FloatArray = getattr(self._buckets, name)
        total = sums.sum(axis=0)
        left = total - sums
        return np.where(np.abs(left) <= _ROUNDING * np.abs(total), 0.0, left)

    @property
    def prevalence(self) -> FloatArray:
        """Share of events."""
        return self.share("events")

    def share(self, name: str) -> FloatArray:
        """The share of a kind of cases."""
        return np.clip(getattr(self, name) / self.n, 0, 1)

    def mean(self, name: str, measure: int) -> FloatArray:
        """The mean of one column of some sums."""
        return np.asarray(getattr(self, name)[:, measure] / self.n)


class AucSpread(NamedTuple):
    """Standard error of an AUC, or of a difference of two, and the distribution of its ratio to it."""

    error: float
    distribution: ErrorDistribution


def split_classes(n: FloatArray, events: FloatArray) -> FloatArray:
    """Weights of events and of non-events, two rows, from those of all cases and of events."""
    others = n - events
    return np.stack([events, np.where(others > _ROUNDING * n, others, 0.0)])


def spread_of_auc(influence: FloatArray, classes: FloatArray, case_weight: float | None) -> AucSpread:
    """How much an AUC varies, or a difference of two, from how much each bucket moves it.

    Events and non-events that were drawn apart vary apart, each class over the buckets that hold it, with
    Welch's degrees of freedom. Over buckets of clusters, whose cases have a weight, the error is that of
    both class means together, bias-reduced, with Satterthwaite's degrees of freedom. NaN if a class is in
    one bucket only, which cannot show how much it varies.
    """
    sizes = (classes > 0).sum(axis=1)
    if sizes.min() < 2:
        return AucSpread(np.nan, ErrorDistribution())
    if case_weight is not None:
        return _spread_over_clusters(influence, classes, case_weight)
    variances = (influence**2).sum(axis=1) * sizes / (sizes - 1)
    variance = float(variances.sum())
    if variance == 0:
        return AucSpread(0.0, ErrorDistribution())
    freedom = variance**2 / float((variances**2 / (sizes - 1)).sum())
    return AucSpread(variance**0.5, ErrorDistribution(freedom))


def _spread_over_clusters(influence: FloatArray, classes: FloatArray, case_weight: float) -> AucSpread:
    score = influence * classes.sum(axis=1, keepdims=True)
    information = classes.T[:, :, None] * np.eye(2)
    sums = ClusterSums(information=information, score=score.T, common=np.ones(2), case=case_weight)
    both = np.ones(2)
    freedom = sums.degrees_of_freedom(both)
    if not freedom > 0:
        return AucSpread(np.nan, ErrorDistribution())
    return AucSpread(float(both @ sums.covariance @ both) ** 0.5, ErrorDistribution(freedom))


def sum_by_bucket(digest: Digest, measures: list[Measure]) -> BucketSums:
    """The sums of a digest, and those of its recalibrated forecasts and of the prevalence."""
    by_bucket = fold_buckets(digest.bucket_sums, digest.block_counts.shape[1])
    used = by_bucket[:, SUMS.index("n")] > 0
    sums = dict(zip(SUMS, by_bucket[used].T, strict=False))
    counts = digest.block_counts[:, used].astype(np.float64)
    n, events = counts[..., 0], counts[..., 1]
    rate, prevalence = digest.blocks.mean, sums["events"].sum() / sums["n"].sum()
    return BucketSums(
        **sums,
        score=by_bucket[used, len(SUMS) :],
        recalibrated=np.column_stack([_score_at(m, rate, n, events) for m in measures]),
        constant=np.column_stack(
            [_score_at(m, np.array([prevalence]), sums["n"][None], sums["events"][None]) for m in measures]
        ),
    )


def _score_at(measure: Measure, rate: FloatArray, n: FloatArray, events: FloatArray) -> FloatArray:
    """Sum of scores in each bucket where all forecasts of a block are its rate."""
    of_event = np.where(rate == 0, 0.0, measure.score(np.ones(len(rate)), rate))
    of_none = np.where(rate == 1, 0.0, measure.score(np.zeros(len(rate)), rate))
    return np.asarray((events * of_event[:, None] + (n - events) * of_none[:, None]).sum(axis=0))


def leave_one_out_skills(without: LeaveOneOut, measures: list[Measure], at: int) -> FloatArray:
    """The skill by one measure without each bucket."""
    reference = expected_score(measures[at], without.prevalence, without.prevalence)
    perfect = expected_score(measures[at], without.prevalence, None)
    return np.asarray((reference - without.mean("score", at)) / (reference - perfect))
