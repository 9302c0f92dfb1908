"""A model on one sample of an engine: the fit of its digest, its sums by bucket, and its sampling units."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.formatting import format_counted
from scorereport._utils.rounding import are_equal
from scorereport.curves.segments import ForecastRanges
from scorereport.evaluation.engines.digest import SUMS, Digest, Knots
from scorereport.evaluation.engines.jackknife import BucketSums, split_classes, sum_by_bucket
from scorereport.inference.estimates import Estimate
from scorereport.inference.losses import Measure
from scorereport.inference.mean_errors import describe_few_clusters
from scorereport.inference.overfit import closed_overfit
from scorereport.reliability.blocks import Blocks
from scorereport.reliability.clusters import effective_number
from scorereport.reliability.decomposition import Decomposition, decompose_mean
from scorereport.reliability.fit import DISCRETE_GAP
from scorereport.results.model_records import IndependentCases

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import CountArray, FloatArray
    from scorereport.evaluation.engines.protocol import LabelCount, Survey
    from scorereport.inference.mean_errors import ErrorDistribution
    from scorereport.inference.overfit import Overfit


#: Differences of sums of fractions that are this small relative to the total are rounding.
_ROUNDING = 1e-13


@dataclass(frozen=True, kw_only=True, eq=False)
class DigestedFit:
    """The fit of a digest; with many distinct forecasts, only knots and the cells between them are known.

    Counts below and at each knot are then the same as those from all distinct forecasts.
    """

    digest: Digest
    late: Knots | None = None  # counted by a scan after the fit

    @property
    def is_complete(self) -> bool:
        """Whether all distinct forecasts are known."""
        return self.digest.distinct is not None

    @cached_property
    def knots(self) -> Knots:
        """All knots in ascending order, each once."""
        knots = self.digest.steps + self.digest.jumps
        knots = knots if self.late is None else knots + self.late
        return knots.select(np.unique(knots.x, return_index=True)[1])

    @cached_property
    def distinct(self) -> Blocks:
        """A block for each distinct forecast or, if they are many, for each knot and cell between knots."""
        return self.digest.distinct or _make_cells(self.knots, self.n, self.events)

    @property
    def blocks(self) -> Blocks:
        """The blocks of the isotonic fit."""
        return self.digest.blocks

    @cached_property
    def n(self) -> float:
        """Number of cases; with weights, their sum."""
        return self.blocks.n.sum().item()

    @cached_property
    def events(self) -> float:
        """Number of events; with weights, the sum of theirs."""
        return self.blocks.events.sum().item()

    @property
    def prevalence(self) -> float:
        """Share of events."""
        return self.events / self.n

    @property
    def auc(self) -> float:
        """The area under the ROC curve, NaN if a class is absent."""
        pairs = self.events * (self.n - self.events)
        if not pairs:
            return np.nan
        area = self.digest.pairs / (2 * pairs)
        is_rounded = isinstance(self.digest.pairs, float) and are_equal(area, round(area))
        return float(round(area)) if is_rounded else area  # 0 or 1 but for the rounding of fractions

    @property
    def forecast_type(self) -> str:
        """Either "discrete", if distinct forecasts all lie at least 0.01 apart, or "continuous"."""
        return "discrete" if self.digest.smallest_gap >= DISCRETE_GAP else "continuous"

    @property
    def corners(self) -> tuple[FloatArray, FloatArray]:
        """The reliability curve at both ends of each block."""
        return self.blocks.corners

    def require_events(self, what: str) -> None:
        """Does nothing: outcomes of a digest are always events and non-events."""

    def cep(self, x: FloatArray) -> FloatArray:
        """The recalibrated probability at forecasts: along the reliability curve, flat beyond its ends."""
        return np.interp(x, *self.corners)

    @cached_property
    def forecast_cells(self) -> ForecastRanges:
        """The distinct forecasts or, if they are many, the knots and the cells between, with their sums."""
        if self.digest.distinct is not None:
            return ForecastRanges.of(self.digest.distinct)
        knots = self.digest.steps
        at = knots.x * knots.n_at
        beyond = np.diff(knots.forecast_below, append=self.digest.forecast) - at
        n = _interleave(knots.n_at, _beyond(knots.n_below, knots.n_at, self.n))
        start = _interleave(knots.x, np.nextafter(knots.x, 2))
        end = _interleave(knots.x, np.nextafter(np.append(knots.x[1:], 2.0), 0))
        held = n > 0
        return ForecastRanges(start[held], end[held], n[held], _interleave(at, beyond)[held])

    @cached_property
    def mean_cells(self) -> Blocks:
        """The distinct forecasts or, if they are many, the knots and the cells between, each at its mean."""
        if self.digest.distinct is not None:
            return self.digest.distinct
        cells, sums = _make_cells(self.digest.steps, self.n, self.events), self.forecast_cells.forecast
        means = np.clip(sums / cells.n, cells.x_min, np.append(cells.x_min[1:], self.digest.x_max))
        x = np.where(np.isin(cells.x_min, self.digest.steps.x), cells.x_min, means)  # a knot keeps its value
        return Blocks(x_min=x, x_max=x, n=cells.n, events=cells.events)


def _make_cells(knots: Knots, total: float, events: float) -> Blocks:
    """A cell for each knot with cases, and one for all forecasts between two knots.

    The cell between two knots has the next float above the lower knot as its forecast, which is below every
    value that may be looked up.
    """
    n_beyond = _beyond(knots.n_below, knots.n_at, total)
    events_beyond = _beyond(knots.events_below, knots.events_at, events)
    x = _interleave(knots.x, np.nextafter(knots.x, 2))
    n, happened = _interleave(knots.n_at, n_beyond), _interleave(knots.events_at, events_beyond)
    holds_some = n > 0
    x = x[holds_some]
    return Blocks(x_min=x, x_max=x, n=n[holds_some], events=happened[holds_some])


def _beyond(below: CountArray, at: CountArray, total: float) -> NDArray[Any]:
    """The weight between each knot and the next; sums of fractions that are mere rounding are 0."""
    between = np.diff(below, append=total) - at
    return between if between.dtype.kind == "i" else np.where(between > _ROUNDING * total, between, 0.0)


def _interleave(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    return np.column_stack([first, second]).ravel()


@dataclass(frozen=True, kw_only=True, eq=False)
class BucketUnits:
    """The units that were assigned to buckets: rows or clusters, with the effective weight of a case.

    `class_weights` are the effective weights of an event and of a non-event.
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
        """The units in one word, for texts: "clusters" or "rows"."""
        return "clusters" if self.clustered else "rows"


def bucket_units_of(survey: Survey, counts: Survey | LabelCount) -> BucketUnits:
    """The sampling units of a survey, or of one of its labels."""
    return BucketUnits(
        clustered=survey.clusters is not None,
        are_repeated_rows=survey.are_repeated_rows,
        case_weight=survey.weigh_case(counts),
        class_weights=survey.weigh_classes(counts),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredDigest:
    """A model on one sample: its digest, the measures by which it is scored, and the sampling units."""

    name: str
    digest: Digest
    measures: list[Measure]
    units: BucketUnits
    level: float
    late: Knots | None = None  # counted by a scan after the fit

    @cached_property
    def fit(self) -> DigestedFit:
        """The digest as a fit."""
        return DigestedFit(digest=self.digest, late=self.late)

    @cached_property
    def buckets(self) -> BucketSums:
        """Sums by bucket."""
        return sum_by_bucket(self.digest, self.measures)

    @cached_property
    def error_distribution(self) -> ErrorDistribution:
        """The distribution of an estimate divided by its jackknife error."""
        buckets, units = self.buckets, self.units
        if units.clustered:
            return buckets.distribution_over_clusters(units.case_weight)
        return buckets.error_distribution

    @property
    def warning(self) -> str:
        """A warning where buckets of clusters count as few; empty otherwise."""
        if not self.units.clustered:
            return ""
        return describe_few_clusters(len(self.buckets.n), self.effective_buckets)

    @property
    def effective_buckets(self) -> float:
        """The effective number of buckets: that many buckets of equal weight hold as much information."""
        return effective_number(self.buckets.n)

    @property
    def auc_case(self) -> float | None:
        """The effective weight of a case in clusters; None for rows, whose classes vary independently."""
        return self.units.case_weight if self.units.clustered else None

    @property
    def method(self) -> str:
        """The method of the intervals, for texts."""
        return f"grouped jackknife, {format_counted(len(self.buckets.n), 'bucket')} of {self.units.what}"

    @cached_property
    def means(self) -> list[float]:
        """The mean of each score."""
        return [float(total / self.fit.n) for total in self.digest.sums[len(SUMS) :]]

    @property
    def counts(self) -> tuple[float, float]:
        """Numbers of events and of non-events: Kish's number of each class if they carry sampling weights."""
        (event, other), fit = self.units.class_weights, self.fit
        return fit.events / event, (fit.n - fit.events) / other

    @property
    def cases(self) -> float:
        """Number of independent cases: Kish's; for clusters, at most the effective number of buckets."""
        kish = float(self.fit.n) / self.units.case_weight
        return min(kish, self.clusters.total) if self.units.clustered else kish

    @cached_property
    def clusters(self) -> IndependentCases:
        """Effective numbers of clusters: all, those with events, and those with non-events.

        They are effective numbers of buckets: all clusters of a bucket count as one, so that no number is too
        large.
        """
        n, events = (self.digest.bucket_sums[:, SUMS.index(name)] for name in ("n", "events"))
        total, of_events, of_others = (
            effective_number(of) if of.any() else 0.0 for of in (n, *split_classes(n, events))
        )
        return IndependentCases(unit="cluster", total=total, events=of_events, non_events=of_others)

    def overfit(self, at: int) -> Overfit:
        """The overfit of the isotonic fit under one measure, in closed form."""
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
        """An estimate with the interval that follows from its standard error."""
        reach = self.error_distribution.critical_value(self.level) * error
        why = "" if np.isfinite(value) else "The score is infinite: there is no interval."
        if np.isfinite(value) and np.isnan(error):
            why = "It is not defined without some of the buckets: there is no interval."
        return Estimate(
            measure=measure,
            value=value,
            standard_error=error,
            lower=value - reach,
            upper=value + reach,
            level=self.level,
            method=self.method,
            n=float(self.fit.n),
            degrees_of_freedom=self.error_distribution.degrees_of_freedom,
            note=note or why or self.warning,
        )
