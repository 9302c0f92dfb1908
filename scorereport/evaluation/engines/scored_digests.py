"""A model on one sample of an engine: its digest as a fit, its sums by bucket, and how rows were drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.formatting import format_counted
from scorereport.evaluation.engines.digest import SUMS, Digest, Knots
from scorereport.evaluation.engines.jackknife import BucketSums, split_classes, sum_by_bucket
from scorereport.evaluation.engines.views import DigestedFit
from scorereport.inference.estimates import Estimate
from scorereport.inference.losses import Measure
from scorereport.inference.mean_errors import describe_few_clusters
from scorereport.inference.overfit import closed_overfit
from scorereport.reliability.clusters import effective_number
from scorereport.reliability.decomposition import Decomposition, decompose_mean
from scorereport.results.model_records import IndependentCases

if TYPE_CHECKING:
    from scorereport.evaluation.engines.protocol import LabelCount, Survey
    from scorereport.inference.mean_errors import ErrorDistribution
    from scorereport.inference.overfit import Overfit


@dataclass(frozen=True, kw_only=True, eq=False)
class BucketUnits:
    """What was dealt out to buckets: rows or clusters, what a case weighs, whether rows are repeated.

    `class_weights` are what an event and a non-event weigh.
    """

    clustered: bool
    are_repeated_rows: bool
    case_weight: float
    class_weights: tuple[float, float]

    @property
    def are_independent(self) -> bool:
        """Whether each case was drawn by itself."""
        return self.are_repeated_rows and not self.clustered

    @property
    def what(self) -> str:
        """What is dealt out, in a word."""
        return "clusters" if self.clustered else "rows"


def bucket_units_of(survey: Survey, counts: Survey | LabelCount) -> BucketUnits:
    """How the rows of a survey, or those of a label of it, were drawn."""
    return BucketUnits(
        clustered=survey.clusters is not None,
        are_repeated_rows=survey.are_repeated_rows,
        case_weight=survey.weigh_case(counts),
        class_weights=survey.weigh_classes(counts),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredDigest:
    """A model on one sample: its digest as a fit, and the measures it was scored by."""

    name: str
    digest: Digest
    measures: list[Measure]
    units: BucketUnits
    level: float
    late: Knots | None = None  # counted in a scan after the fit

    @cached_property
    def fit(self) -> DigestedFit:
        """The digest as a fit."""
        return DigestedFit(digest=self.digest, late=self.late)

    @cached_property
    def buckets(self) -> BucketSums:
        """Sums by bucket."""
        return sum_by_bucket(self.digest, self.measures)

    @cached_property
    def law(self) -> ErrorDistribution:
        """The law of an estimate over its jackknife error."""
        buckets, units = self.buckets, self.units
        return buckets.law_over_clusters(units.case_weight) if units.clustered else buckets.law

    @property
    def warning(self) -> str:
        """A warning where buckets of clusters count as few; empty otherwise."""
        if not self.units.clustered:
            return ""
        return describe_few_clusters(len(self.buckets.n), self.effective_buckets)

    @property
    def effective_buckets(self) -> float:
        """As many buckets of equal weight would say as much as those that there are."""
        return effective_number(self.buckets.n)

    @property
    def auc_case(self) -> float | None:
        """What a case of clusters weighs; None for rows, whose classes vary apart."""
        return self.units.case_weight if self.units.clustered else None

    @property
    def method(self) -> str:
        """How intervals are made."""
        return f"grouped jackknife, {format_counted(len(self.buckets.n), 'bucket')} of {self.units.what}"

    @cached_property
    def means(self) -> list[float]:
        """The mean of each score."""
        return [float(total / self.fit.n) for total in self.digest.sums[len(SUMS) :]]

    @property
    def counts(self) -> tuple[float, float]:
        """Events and non-events, as numbers of cases: Kish's of each class if they carry sampling weights."""
        (event, other), fit = self.units.class_weights, self.fit
        return fit.events / event, (fit.n - fit.events) / other

    @property
    def cases(self) -> float:
        """Number of independent cases: Kish's, and of clusters no more than buckets of equal weight."""
        kish = float(self.fit.n) / self.units.case_weight
        return min(kish, self.clusters.total) if self.units.clustered else kish

    @cached_property
    def clusters(self) -> IndependentCases:
        """Clusters as many as buckets of equal weight: all, those with events, and those with non-events.

        Clusters of a bucket count as one, so that no number is too large.
        """
        n, events = (self.digest.bucket_sums[:, SUMS.index(name)] for name in ("n", "events"))
        total, of_events, of_others = (
            effective_number(of) if of.any() else 0.0 for of in (n, *split_classes(n, events))
        )
        return IndependentCases(unit="cluster", total=total, events=of_events, non_events=of_others)

    def overfit(self, at: int) -> Overfit:
        """The overfit of the fit under one measure, in closed form."""
        return closed_overfit(self.digest.blocks, self.measures[at], self.units.case_weight)

    def decompose(self, at: int) -> Decomposition:
        """The decomposition of the mean of one score."""
        measure = self.measures[at]
        return decompose_mean(
            measure.name,
            measure.score,
            self.means[at],
            self.digest.blocks,
            infinite_cases=float(self.digest.infinite[at]),
            higher_is_better=measure.sign < 0,
        )

    def estimate(self, measure: str, value: float, error: float, note: str = "") -> Estimate:
        """A number with the interval that its error gives."""
        reach = self.law.critical_value(self.level) * error
        why = "" if np.isfinite(value) else "The score is infinite: there is no interval."
        if np.isfinite(value) and np.isnan(error):
            why = "Without some bucket it is not defined: there is no interval."
        return Estimate(
            measure=measure,
            value=value,
            standard_error=error,
            lower=value - reach,
            upper=value + reach,
            level=self.level,
            method=self.method,
            n=float(self.fit.n),
            degrees_of_freedom=self.law.degrees_of_freedom,
            note=note or why or self.warning,
        )
