"""Retention curves with bootstrap bands, and the area under each with its interval.

Resamples only change the weights of rows, never the order in which scores set cases aside: the curve of a
resample has the same queue, cut at other positions. Many independent cases are drawn in groups of neighbours
in the queue (`grouped_queues`).

References
----------
Galdran (2023), MICCAI, doi:10.48550/arXiv.2309.08701
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport._utils.arrays import FloatArray, read_only
from scorereport._utils.checks import check_inside, check_whole
from scorereport._utils.choices import RETENTION_FRACTIONS, SEED
from scorereport._utils.machine import repeat
from scorereport._utils.record_frames import array_frame
from scorereport._utils.representation import short_repr
from scorereport.curves.retention import (
    check_fractions,
    name_choice,
    order_for_retention,
    resolve_metric,
)
from scorereport.errors import UsageError
from scorereport.inference.class_panel import ClassPanel, make_class_panel
from scorereport.inference.estimates import Estimate
from scorereport.inference.grouped_queues import GroupedQueue, RetainedTables
from scorereport.reliability.bands import MOST_CASES
from scorereport.reliability.sampling import SamplingUnits, random_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from scorereport.curves.retention import ClassScore, LabelMetric, RetentionCut, RetentionOrder


#: Weights in a chunk of resamples: few enough for the cache of a processor.
_CHUNK = 1 << 16
#: Key of the random streams of groups.
_KEY = 37


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RetentionBand:
    """A metric of the cases retained against the fraction set aside by a score, with its band.

    The band is pointwise, with the confidence level `level`. The area is over fractions in [0, 1]. Values are
    NaN where they are not defined, see the notes.
    """

    score: str
    metric: str
    fraction: FloatArray
    value: FloatArray
    lower: FloatArray
    upper: FloatArray
    n_retained: FloatArray
    area: Estimate
    level: float
    resamples: int
    seed: int
    note: str = ""

    __repr__ = short_repr
    to_frame = array_frame

    @property
    def area_percent(self) -> Estimate:
        """The area with the cases set aside in percent, 100 times `area`.

        Erratum: the paper must have used this axis, as it prints areas of 13 to 18 under curves that
        do not exceed 1.
        """
        area = self.area
        return replace(
            area,
            measure=f"{area.measure}, in percent",
            value=100 * area.value,
            standard_error=100 * area.standard_error,
            lower=100 * area.lower,
            upper=100 * area.upper,
        )


def retention_band(  # noqa: PLR0913
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    score: ClassScore = "rps",
    metric: LabelMetric = "quadratic_weighted_kappa",
    fractions: ArrayLike = RETENTION_FRACTIONS,
    cost: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 50,
    seed: int = SEED,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> RetentionBand:
    """Compute the retention curve with a percentile band from resampled rows or clusters.

    By default there are 50 resamples, as in the paper. Other arguments are those of `retention_curve`. A
    metric given as a function is called once for each fraction and resample: with `sample_weight=` if weights
    are given, else with cases repeated as they were drawn.

    References
    ----------
    Galdran (2023), MICCAI, doi:10.48550/arXiv.2309.08701

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> p = rng.dirichlet([2, 1, 1], 200)
    >>> y = (rng.random((200, 1)) > p.cumsum(axis=1)).sum(axis=1)
    >>> area = retention_band(y, p, metric="accuracy").area
    >>> area.method
    'percentile bootstrap, 50 resamples of rows, seed 2021'
    >>> area.lower < area.value < area.upper
    True
    """
    panel = make_class_panel(
        y_true, {"y_prob": y_prob}, sample_weight=sample_weight, weight_kind=weight_kind, cluster=cluster
    )
    (band,) = retain_panel(
        panel,
        "y_prob",
        scores=[score],
        metrics=[metric],
        fractions=fractions,
        cost=cost,
        level=level,
        resamples=resamples,
        seed=seed,
    )
    return band


def retain_panel(
    panel: ClassPanel,
    model: str,
    *,
    scores: Sequence[ClassScore],
    metrics: Sequence[LabelMetric],
    fractions: ArrayLike = RETENTION_FRACTIONS,
    cost: ArrayLike | None = None,
    level: float = 0.95,
    resamples: int = 50,
    seed: int = SEED,
    most_cases: float = MOST_CASES,
) -> tuple[RetentionBand, ...]:
    """Compute bands of one model for every score and metric, in the order of scores.

    `cost` is for the metric `expected_cost`. More than `most_cases` independent cases are drawn in groups.
    """
    level = check_inside(level, "level", 0, 1, closed="neither")
    resamples, seed = check_whole(resamples, "resamples", 0), check_whole(seed, "seed", 0)
    fraction = check_fractions(fractions)
    measures = _resolve(metrics, panel.n_classes, cost)
    y, p = panel.outcome, panel.forecasts[model]
    queues = [order_for_retention(y, p, score, weight=panel.weight, fraction=fraction) for score in scores]

    are_many = _are_alike(panel) and len(y) > most_cases and not any(map(callable, metrics))
    groups = [GroupedQueue.of(queue) for queue in queues] if are_many else []
    draw = (
        _draw_groups(groups, measures, seed)
        if are_many
        else _draw_rows(queues, measures, panel, resamples, seed)
    )
    (values,) = _values([queue.cut(panel.units.row_weight[None]) for queue in queues], measures)
    times = -(-resamples // draw.size)
    drawn = repeat(draw.chunk, times, rows=draw.rows, what="retention", resamples=resamples)
    replicates = np.concatenate([np.empty((0, *values.shape)), *drawn])[:resamples]
    run = _Run(
        units=panel.units,
        fraction=fraction,
        level=level,
        resamples=resamples,
        seed=seed,
        groups=max((queue.groups for queue in groups), default=0),
    )
    return tuple(
        run.band(queue, name_choice(score), name_choice(metric), values[i, j], replicates[:, i, j])
        for i, (score, queue) in enumerate(zip(scores, queues, strict=True))
        for j, metric in enumerate(metrics)
    )


def _resolve(
    metrics: Sequence[LabelMetric], n_classes: int, cost: ArrayLike | None
) -> list[Callable[[RetentionCut], FloatArray]]:
    if cost is not None and "expected_cost" not in metrics:
        names = ", ".join(repr(name_choice(metric)) for metric in metrics)
        raise UsageError(f'`cost` goes with the metric "expected_cost"; got {names}.')
    costs = [cost if metric == "expected_cost" else None for metric in metrics]
    return [resolve_metric(metric, n_classes, c) for metric, c in zip(metrics, costs, strict=True)]


def _values(
    cuts: Sequence[RetentionCut | RetainedTables], measures: Sequence[Callable[[Any], FloatArray]]
) -> FloatArray:
    """Values of the metrics, by resample, score, metric and fraction; there is a cut for each score."""
    return np.moveaxis(np.array([[measure(cut) for measure in measures] for cut in cuts]), 2, 0)


class _Draw(NamedTuple):
    """Draws the values of chunks of resamples: how many are in a chunk, and how many rows that takes."""

    chunk: Callable[[int], FloatArray]
    size: int
    rows: int


def _draw_rows(
    queues: Sequence[RetentionOrder],
    measures: Sequence[Callable[[Any], FloatArray]],
    panel: ClassPanel,
    resamples: int,
    seed: int,
) -> _Draw:
    """Draw rows, or clusters; all queues are cut under the same weights."""
    rows = len(panel.outcome)
    size = max(_CHUNK // rows, 1)

    def draw(chunk: int) -> FloatArray:
        numbers = range(chunk * size, min((chunk + 1) * size, resamples))
        weights = np.array([panel.units.draw(random_stream(seed, number)) for number in numbers])
        return _values([queue.cut(weights) for queue in queues], measures)

    return _Draw(draw, size, rows)


def _draw_groups(
    queues: Sequence[GroupedQueue], measures: Sequence[Callable[[Any], FloatArray]], seed: int
) -> _Draw:
    """Draw numbers of cases in groups, for each queue separately."""
    size = min(queue.resamples_of_a_chunk for queue in queues)

    def draw(chunk: int) -> FloatArray:
        streams = (random_stream(seed, chunk, place, _KEY) for place in range(len(queues)))
        cuts = [queue.draw(rng, size) for queue, rng in zip(queues, streams, strict=True)]
        return _values(cuts, measures)

    return _Draw(draw, size, size * max(len(queue.kinds) for queue in queues))


def _are_alike(panel: ClassPanel) -> bool:
    """Whether cases are independent and count alike, so that those of a group can be drawn together."""
    return panel.cluster is None and panel.units.are_repeated_rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Run:
    """Data and settings that all bands of a panel share; `groups` is 0 if rows are drawn one by one."""

    units: SamplingUnits
    fraction: FloatArray
    level: float
    resamples: int
    seed: int
    groups: int

    def band(
        self, queue: RetentionOrder, score: str, metric: str, value: FloatArray, replicates: FloatArray
    ) -> RetentionBand:
        """Make the band of a curve from its replicates, and the area under it."""
        bounds = [self._bounds(v, r) for v, r in zip(value, replicates.T, strict=True)]
        lower, upper = np.array(bounds).T
        lost = int((~np.isfinite(replicates)).sum(axis=0).max(initial=0))
        return RetentionBand(
            score=score,
            metric=metric,
            fraction=read_only(self.fraction.copy()),
            value=read_only(value.copy()),
            lower=read_only(lower.copy()),
            upper=read_only(upper.copy()),
            n_retained=read_only(queue.cut(queue.row_weight[None]).retained[0]),
            area=self._area(f"area under retention of {metric} by {score}", value, replicates),
            level=self.level,
            resamples=self.resamples,
            seed=self.seed,
            note=self._describe_gaps(value, lost),
        )

    def _area(self, measure: str, value: FloatArray, replicates: FloatArray) -> Estimate:
        areas = np.asarray(np.trapezoid(replicates, self.fraction, axis=-1))
        known = areas[np.isfinite(areas)]
        area = float(np.trapezoid(value, self.fraction))
        lower, upper = self._bounds(area, areas)
        drawn = f" in up to {self.groups} groups of neighbouring cases" if self.groups else ""
        return Estimate(
            measure=measure,
            value=area,
            standard_error=np.nan if np.isnan(lower) else float(known.std(ddof=1)),
            lower=lower,
            upper=upper,
            level=self.level,
            method=f"percentile bootstrap, {self.resamples} resamples of {self.units.describes}{drawn}, "
            f"seed {self.seed}",
            n=self.units.total,
            note=self._describe_area(area, len(areas) - len(known), has_interval=not np.isnan(lower)),
        )

    def _bounds(self, value: float, replicates: FloatArray) -> tuple[float, float]:
        """Quantiles of the finite replicates at the level; NaN if they are too few."""
        known = replicates[np.isfinite(replicates)]
        if not np.isfinite(value) or len(known) < 2 or self.units.size <= 1:
            return np.nan, np.nan
        lower, upper = np.quantile(known, [(1 - self.level) / 2, (1 + self.level) / 2])
        return float(lower), float(upper)

    def _describe_area(self, area: float, lost: int, *, has_interval: bool) -> str:
        if has_interval:
            return (
                f"Not defined in {lost} of {self.resamples} resamples, which were left out." if lost else ""
            )
        why = f"One {self.units.unit} has no spread" if self.units.size <= 1 else "Too few resamples"
        if not np.isfinite(area):
            why = "The metric is not defined at every fraction"
        return f"{why}: there is no interval."

    def _describe_gaps(self, value: FloatArray, lost: int) -> str:
        gaps, at_most = int((~np.isfinite(value)).sum()), f"up to {lost} of {self.resamples} resamples"
        parts = [
            f"The metric is not defined at {gaps} of {len(value)} fractions." if gaps else "",
            f"At some fractions it is not defined in {at_most}, which were left out there." if lost else "",
        ]
        return " ".join(part for part in parts if part)
