"""Sample retention: how a metric of hard labels improves as the worst-scored cases are set aside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.arrays import FloatArray, IntArray, read_only
from scorereport._utils.checks import check_classes, check_option, check_probability, refuse_rows
from scorereport._utils.choices import RETENTION_FRACTIONS
from scorereport._utils.formatting import format_plain
from scorereport._utils.record_frames import array_frame
from scorereport._utils.representation import short_repr
from scorereport._utils.rounding import are_equal, rank_ties
from scorereport._utils.rules import show_value
from scorereport.errors import UsageError
from scorereport.reliability.sampling import are_whole
from scorereport.scores.hard_labels import accuracy_of, check_cost, cost_of, kappa_of, macro_f1_of
from scorereport.scores.registry import Kind, get_score

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ClassScore = str | Callable[..., FloatArray]
LabelMetric = str | Callable[..., float]

#: Metrics known by name, each from a stack of confusion tables.
METRICS: dict[str, Callable[..., FloatArray]] = {
    "quadratic_weighted_kappa": kappa_of,
    "expected_cost": cost_of,
    "accuracy": accuracy_of,
    "macro_f1": macro_f1_of,
}
#: So that 0.29 of 100 cases are 29, though 0.29 * 100 is slightly less in floating point.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RetentionCurve:
    """A metric of the retained cases against the fraction removed, and the area under it."""

    fraction: FloatArray
    value: FloatArray
    n_retained: FloatArray
    score: str
    metric: str

    __repr__ = short_repr
    to_frame = array_frame

    @property
    def area(self) -> float:
        """Area by trapezoids, with fractions in [0, 1]."""
        return float(np.trapezoid(self.value, self.fraction))

    @property
    def area_percent(self) -> float:
        """Area with the cases removed in percent, 100 times `area`; the paper must have used this axis."""
        return 100 * self.area


def retention_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    score: ClassScore = "rps",
    metric: LabelMetric = "quadratic_weighted_kappa",
    fractions: ArrayLike = RETENTION_FRACTIONS,
    cost: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> RetentionCurve:
    """Compute a metric of the predicted classes after the cases with the worst scores are removed.

    A fraction f removes floor(f n) cases; whole weights are repeated cases, so that n is their sum and a
    case may be removed in part. With fractional weights, f removes that share of their sum.
    Cases with the same score are removed in an order set by their observed and predicted class, so that the
    order of rows does not matter. A metric given as a function takes (y_true, y_label) of the retained cases,
    and `sample_weight=` if weights are given. `cost` is the matrix of `metric="expected_cost"`.

    Erratum: the areas of 13 to 18 that the paper prints need a percent axis, see `area_percent`.

    References
    ----------
    Galdran (2023), MICCAI, doi:10.48550/arXiv.2309.08701

    >>> retention_curve([0, 1, 1], [[.9, .1], [.6, .4], [.2, .8]], metric="accuracy", fractions=[0, .4]).value
    array([0.66666667, 1.        ])
    """
    y, p, weight = check_classes(y_true, y_prob, sample_weight)
    measure = resolve_metric(metric, p.shape[1], cost)
    queue = order_for_retention(y, p, score, weight=weight, fraction=check_fractions(fractions))
    cut = queue.cut(queue.row_weight[None])
    return RetentionCurve(
        fraction=read_only(queue.fraction.copy()),
        value=read_only(measure(cut)[0]),
        n_retained=read_only(cut.retained[0]),
        score=name_choice(score),
        metric=name_choice(metric),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class RetentionOrder:
    """Cases in the order in which they are retained, the best scores first.

    The order is that of the scores; weights, such as those of a resample, only determine where it is cut.
    """

    order: NDArray[np.intp]
    y: IntArray
    label: IntArray
    n_classes: int
    fraction: FloatArray
    row_weight: FloatArray
    weighted: bool
    counted: bool

    @cached_property
    def cell(self) -> IntArray:
        """The cell of each case in the confusion table, row by row."""
        return self.y * self.n_classes + self.label

    def count_retained(self, total: FloatArray) -> FloatArray:
        """The weight that is retained of a total at each fraction."""
        removed = self.fraction * total
        return np.asarray(total - (np.floor(removed + _ROUNDING) if self.counted else removed))

    def cut(self, row_weights: FloatArray) -> RetentionCut:
        """Cut the queue at each fraction under some weights of the rows, which are in the input order.

        There is a row for each weighting.
        """
        weight = row_weights.take(self.order, axis=1)
        reach = np.cumsum(weight, axis=1)
        retained = self.count_retained(reach[:, -1:])
        last = np.array([np.searchsorted(*one) for one in zip(reach, retained, strict=True)])
        weightings = np.arange(len(last))[:, None]
        last = np.where((last > 0) & are_equal(reach[weightings, last - 1], retained), last - 1, last)
        before = np.where(last > 0, reach[weightings, last - 1], 0.0)
        is_whole = are_equal(reach[weightings, last], retained)
        part = np.where(is_whole, weight[weightings, last], retained - before)
        return RetentionCut(queue=self, weight=weight, retained=retained, last=last, part=part)


@dataclass(frozen=True, kw_only=True, eq=False)
class RetentionCut:
    """The weight retained, the last case and the part of its weight, for each weighting and fraction.

    `weight` has the weights of the cases, in the order of the queue.
    """

    queue: RetentionOrder
    weight: FloatArray
    retained: FloatArray
    last: NDArray[np.intp]
    part: FloatArray

    @cached_property
    def tables(self) -> FloatArray:
        """The confusion table of the cases retained, for each weighting and fraction.

        Cases are counted between the last cases of neighbouring fractions; larger tables add to smaller ones.
        """
        (weightings, fractions), cases = self.last.shape, self.weight.shape[1]
        size, cell = self.queue.n_classes**2, self.queue.cell
        between = np.diff(self.last[:, ::-1], axis=1, prepend=0, append=cases)
        code = np.repeat(np.arange(between.size) * size, between.ravel()).reshape(weightings, cases)
        code += cell
        counts = np.bincount(code.ravel(), self.weight.ravel(), between.size * size).astype(np.float64)
        counts = counts.reshape(weightings, fractions + 1, size)[:, :-1]
        tables = np.cumsum(counts, axis=1)[:, ::-1]
        weighting, fraction = np.indices(self.last.shape)
        tables[weighting, fraction, cell[self.last]] += self.part
        return tables.reshape(weightings, fractions, self.queue.n_classes, self.queue.n_classes)

    def labels(self) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Observed classes, predicted classes and weights of the cases retained, fraction by fraction."""
        for weight, *cuts in zip(self.weight, self.last, self.part, strict=True):
            for last, part in zip(*cuts, strict=True):
                kept = np.append(weight[:last], part)
                stays = np.flatnonzero(kept)
                yield self.queue.y[stays], self.queue.label[stays], kept[stays]


def order_for_retention(
    y: IntArray,
    p: FloatArray,
    score: ClassScore,
    *,
    weight: FloatArray | None,
    fraction: FloatArray,
) -> RetentionOrder:
    """Make the retention order of the cases by their scores."""
    label, per_case = p.argmax(axis=1), _score_cases(score, y, p)
    if np.isnan(per_case).any():
        refuse_rows(per_case, np.isnan(per_case), "`score` must give every case a number")
    row_weight = np.ones(len(y)) if weight is None else weight
    order = np.lexsort((row_weight, label, y, rank_ties(per_case)))
    queue = RetentionOrder(
        order=order,
        y=y[order],
        label=label[order],
        n_classes=p.shape[1],
        fraction=fraction,
        row_weight=row_weight,
        weighted=weight is not None,
        counted=are_whole(weight),
    )
    if queue.cut(row_weight[None]).retained.min() == 0:
        raise UsageError(
            f"`fractions` must leave a case; {format_plain(fraction.max())} of "
            f"{format_plain(row_weight.sum())} leaves none."
        )
    return queue


def check_fractions(fractions: ArrayLike) -> FloatArray:
    """Check fractions of cases to remove, which must increase."""
    fraction = check_probability(fractions, "fractions")
    if (np.diff(fraction) <= 0).any():
        raise UsageError(f"`fractions` must increase; got {show_value(fraction)}.")
    return fraction


def resolve_metric(
    metric: LabelMetric, n_classes: int, cost: ArrayLike | None = None
) -> Callable[[Any], FloatArray]:
    """Return the function that computes the metric for each weighting and fraction of a cut."""
    if cost is not None and metric != "expected_cost":
        raise UsageError(f'`cost` goes with `metric="expected_cost"`; got {name_choice(metric)!r}.')
    if callable(metric):
        return partial(_call, metric)
    of_tables = METRICS[check_option(metric, "metric", METRICS)]
    options = {"cost": check_cost(cost, n_classes)} if metric == "expected_cost" else {}
    return lambda cut: of_tables(cut.tables, **options)


def name_choice(choice: object) -> str:
    """Return the name of a score or metric that was given by name or as a function."""
    return choice if isinstance(choice, str) else getattr(choice, "__name__", "callable")


def _call(metric: Callable[..., float], cut: RetentionCut) -> FloatArray:
    """Call the metric once for each fraction; without sample weights, cases drawn twice are repeated."""
    if cut.queue.weighted:
        values = [float(metric(y, label, sample_weight=w)) for y, label, w in cut.labels()]
    else:
        parts = ((y, label, w.astype(np.int64)) for y, label, w in cut.labels())
        values = [float(metric(np.repeat(y, n), np.repeat(label, n))) for y, label, n in parts]
    return np.array(values).reshape(cut.last.shape)


def _score_cases(score: ClassScore, y: IntArray, p: FloatArray) -> FloatArray:
    per_case = np.asarray((_class_score(score) if isinstance(score, str) else score)(y, p))
    if per_case.shape != y.shape:
        raise UsageError(
            f"`score` must return one value per case; got shape {per_case.shape} for {len(y)} cases."
        )
    return per_case


def _class_score(name: str) -> Callable[..., FloatArray]:
    entry = get_score(name)
    if entry.kind not in {Kind.MULTICLASS, Kind.ORDINAL}:
        other = (
            f" Did you mean `{entry.counterpart}`?" if entry.kind is Kind.BINARY and entry.counterpart else ""
        )
        raise UsageError(
            f"`score` must score class probabilities case by case; {name!r} scores {entry.kind}.{other}"
        )
    return entry.function
