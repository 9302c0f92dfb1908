"""Jackknife intervals from sums by bucket, each bucket left out in turn.

Rows, or whole clusters of rows, are assigned to buckets at random. One pass over the rows then gives the
standard error of every function of sums. This includes differences between models, because a row is in the
same bucket for every model.
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
#: An error this small relative to the estimate is rounding of equal values.
_ROUNDING = 1e-13


@dataclass(frozen=True, kw_only=True, eq=False)
class BucketSums:
    """The sums of a model over each bucket with rows: a value or row per bucket, a column per measure."""

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
    def error_distribution(self) -> ErrorDistribution:
        """The distribution of an estimate over its error: t with one degree of freedom less than buckets."""
        return ErrorDistribution(float(max(len(self.n) - 1, 1)))

    def distribution_over_clusters(self, case_weight: float) -> ErrorDistribution:
        """The distribution of an estimate over its error if buckets hold clusters, which may be unequal."""
        if len(self.n) < 2:
            return ErrorDistribution(1.0)
        sums = sums_of_mean(self.n.astype(np.float64), np.zeros(len(self.n)), case_weight)
        freedom = sums.degrees_of_freedom(np.ones(1))
        # NaN if one bucket has all the weight
        return ErrorDistribution(1.0 if np.isnan(freedom) else freedom)

    def error(self, estimate: Callable[[LeaveOneOut], FloatArray]) -> float:
        """Jackknife standard error of an estimate, a function of the sums without each bucket.

        It is NaN for one bucket.
        """
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
        """The influence of the events and of the non-events of each bucket on the AUC: two rows of sum 0."""
        others = self.n - self.events
        of_events = (self.events_win - self.auc * self.events) / self.events.sum()
        return np.stack([of_events, (self.non_events_win - self.auc * others) / others.sum()])

    @property
    def classes(self) -> FloatArray:
        """The weights of events and of non-events in each bucket: two rows."""
        return split_classes(self.n, self.events)


class LeaveOneOut:
    """Sums over all rows except those of one bucket, for each bucket in turn."""

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
        """The mean of one measure, from the sums with this name."""
        return np.asarray(getattr(self, name)[:, measure] / self.n)


class AucSpread(NamedTuple):
    """Standard error of an AUC, or of a difference of two, and the distribution of estimate over error."""

    error: float
    distribution: ErrorDistribution


def split_classes(n: FloatArray, events: FloatArray) -> FloatArray:
    """The weights of events and of non-events, two rows, from those of all cases and of events."""
    others = n - events
    return np.stack([events, np.where(others > _ROUNDING * n, others, 0.0)])


def spread_of_auc(influence: FloatArray, classes: FloatArray, case_weight: float | None) -> AucSpread:
    """The standard error of an AUC, or of a difference of two, from the influence of each bucket.

    If rows are independent, events and non-events vary independently, each class over the buckets that hold
    it, with Welch's degrees of freedom. With buckets of clusters, for which `case_weight` is given, the error
    is that of both class means together, bias-reduced, with Satterthwaite's degrees of freedom. The error is
    NaN if all cases of a class are in one bucket, which does not show how much the class varies.
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
    """The sums of a digest by bucket, with the scores of its recalibrated forecasts and of the prevalence."""
    by_bucket = fold_buckets(digest.bucket_sums, digest.block_counts.shape[1])
    used = by_bucket[:, SUMS.index("n")] > 0
    sums = dict(zip(SUMS, by_bucket[used].T, strict=False))
    counts = digest.block_counts[:, used].astype(np.float64)
    n, events = counts[..., 0], counts[..., 1]
    rate, prevalence = digest.blocks.mean, sums["events"].sum() / sums["n"].sum()
    return BucketSums(
        n=sums["n"],
        events=sums["events"],
        events_win=sums["events_win"],
        non_events_win=sums["non_events_win"],
        forecast=sums["forecast"],
        spiegelhalter=sums["spiegelhalter"],
        surprises=sums["surprises"],
        score=by_bucket[used, len(SUMS) :],
        recalibrated=np.column_stack([_score_at(m, rate, n, events) for m in measures]),
        constant=np.column_stack(
            [_score_at(m, np.array([prevalence]), sums["n"][None], sums["events"][None]) for m in measures]
        ),
    )


def _score_at(measure: Measure, rate: FloatArray, n: FloatArray, events: FloatArray) -> FloatArray:
    """The sum of scores in each bucket if the forecast of each block is its event rate."""
    of_event = np.where(rate == 0, 0.0, measure.score(np.ones(len(rate)), rate))
    of_none = np.where(rate == 1, 0.0, measure.score(np.zeros(len(rate)), rate))
    return np.asarray((events * of_event[:, None] + (n - events) * of_none[:, None]).sum(axis=0))


def leave_one_out_skills(without: LeaveOneOut, measures: list[Measure], at: int) -> FloatArray:
    """The skill by one measure without each bucket."""
    reference = expected_score(measures[at], without.prevalence, without.prevalence)
    perfect = expected_score(measures[at], without.prevalence, None)
    return np.asarray((reference - without.mean("score", at)) / (reference - perfect))
