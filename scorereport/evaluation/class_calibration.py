"""Tests of calibration of models of K classes, by the miscalibration of all binary views together.

Forecasts are kept and classes are drawn from them, all views of a case together. Of many rows, the rows of
each view are pooled in cells of neighbouring forecasts, and drawn and observed miscalibrations are compared
in cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorereport._utils.arrays import CountArray, FloatArray, IntArray
from scorereport._utils.machine import repeat
from scorereport.inference.calibration_null import find_p_value
from scorereport.inference.class_panel import ClassDistribution, DrawnClasses
from scorereport.inference.estimates import HypothesisTest
from scorereport.reliability.bands import MOST_CASES
from scorereport.reliability.cells import USUAL_SIZE, find_cells
from scorereport.reliability.draws import Redraws
from scorereport.reliability.marked_rows import MarkedRows, choose_samples
from scorereport.reliability.sampling import random_stream
from scorereport.results.class_records import THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scorereport.evaluation.class_views import Family, View
    from scorereport.inference.class_panel import ClassPanel

#: Rows, over all samples of a chunk.
_LABELS_OF_CHUNK = 1 << 24
_CORP_REFERENCE = "Dimitriadis, Gneiting, Jordan (2021), PNAS 118, doi:10.1073/pnas.2016191118"


def examine_class_calibration(
    panel: ClassPanel,
    families: Sequence[Family],
    model: str,
    *,
    resamples: int,
    seed: int,
    most_rows: float = MOST_CASES,
) -> tuple[HypothesisTest, ...]:
    """Test calibration by the miscalibration of each family of views.

    p = (1 + #{MCB* >= MCB})/(B + 1). More than `most_rows` are compared in cells of forecasts.
    """
    pooled = [_PooledFamily.of(family, model, most_rows) for family in families]
    distribution = ClassDistribution(given=panel.forecasts[model], outcome=panel.outcome, units=panel.units)
    size = choose_samples(len(panel.outcome), _LABELS_OF_CHUNK)
    counts_once = panel.weight is None

    def draw(chunk: int) -> FloatArray:
        samples, rng = min(size, resamples - chunk * size), random_stream(seed, chunk)
        if counts_once:
            events = _count_labels(pooled, distribution.draw_labels(rng, samples))
        else:
            events = _count_weights(pooled, (distribution.draw(rng) for _ in range(samples)), panel.n_classes)
        return _miscalibrations(pooled, events, panel.units.total)

    chunks = repeat(
        draw, -(-resamples // size), rows=len(panel.outcome), what="drawing classes", resamples=resamples
    )
    null = np.concatenate(list(chunks))
    observed = DrawnClasses(distribution.rows, panel.outcome, panel.units.row_weight)
    events = _count_weights(pooled, [observed], panel.n_classes)
    in_cells = _miscalibrations(pooled, events, panel.units.total)[0]
    dependence = "" if panel.cluster is None else ", dependent within clusters"
    return tuple(
        HypothesisTest(
            name=f"miscalibration ({family.score})",
            statistic=(value := family.decompose(model).miscalibration),
            p_value=find_p_value(null[:, place], value if of_family.cells is None else in_cells[place]),
            null_hypothesis="The forecast is calibrated: each class occurs as often as forecast.",
            method=f"{resamples} draws of classes from the forecast{dependence}{of_family.describe_cells()}, "
            f"seed {seed}; p = (1 + #)/(B + 1)",
            reference=_CORP_REFERENCE,
            n=panel.units.total,
            draws=resamples,
        )
        for place, (family, of_family) in enumerate(zip(families, pooled, strict=True))
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _PooledView:
    """The entry of each row of the panel in a view, with the mean forecast and the weight of each entry.

    Entries are distinct forecasts, or cells of neighbouring ones.
    """

    entry: NDArray[np.unsignedinteger[Any]]
    forecast: FloatArray
    weight: CountArray

    @classmethod
    def of(cls, view: View, model: str, most_rows: float) -> _PooledView:
        """Pool the rows of a view, by distinct forecast or, if they are many, in cells."""
        distinct = view.fits[model].distinct
        forecast, weight = distinct.x_min, distinct.n
        entry = np.searchsorted(distinct.x_min, view.forecasts[model] + 0.0)
        if len(entry) > most_rows:
            first = find_cells(np.bincount(entry, minlength=len(distinct)), USUAL_SIZE)
            entry = np.searchsorted(first, entry, side="right") - 1
            weight = np.add.reduceat(distinct.n, first)
            forecast = np.add.reduceat(distinct.n * distinct.x_min, first) / weight
        few_bits = np.min_scalar_type(len(weight))  # numbers of few bits are sorted faster
        return cls(entry=entry.astype(few_bits), forecast=forecast, weight=weight)

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        """The rows in the order of their entries."""
        return np.argsort(self.entry, kind="stable")

    @cached_property
    def _counted(self) -> MarkedRows:
        return MarkedRows(np.bincount(self.entry, minlength=len(self.weight)))

    def count_labels(
        self, labels: NDArray[np.unsignedinteger[Any]], are_events: Callable[..., object], label: int
    ) -> CountArray:
        """The events at each entry, a row for each sample, where `are_events` compares labels with one."""

        def mark(rows: slice, _: int, marks: NDArray[np.bool_]) -> None:
            are_events(labels.take(self._order[rows], axis=0), label, out=marks)

        return self._counted.count(labels.shape[1], mark)

    def gain(self, events: CountArray) -> FloatArray:
        """The gain of recalibrated forecasts over the forecasts, as a sum of Brier scores, of each sample."""
        fit = Redraws(self.weight, events).fit()
        of_events = np.einsum("be,e->b", events, 1 - 2 * self.forecast)  # not BLAS
        as_forecast = (self.weight * self.forecast**2).sum() + of_events
        return np.asarray(as_forecast - fit.sum_samples(fit.events * (1 - fit.mean)))


@dataclass(frozen=True, kw_only=True, eq=False)
class _PooledFamily:
    """The pooled rows of all views of a family, and the largest number of cells, if there are cells."""

    is_cumulative: bool
    divisor: int
    views: Sequence[_PooledView]
    cells: int | None

    @classmethod
    def of(cls, family: Family, model: str, most_rows: float) -> _PooledFamily:
        """Pool the rows of each view."""
        views = [_PooledView.of(view, model, most_rows) for view in family.views]
        are_in_cells = any(
            len(pooled.weight) < len(view.fits[model].distinct)
            for pooled, view in zip(views, family.views, strict=True)
        )
        return cls(
            is_cumulative=family.kind == THRESHOLD,
            divisor=family.divisor,
            views=views,
            cells=max(len(view.weight) for view in views) if are_in_cells else None,
        )

    def describe_cells(self) -> str:
        """The cells in which samples are compared, as a part of a method."""
        if self.cells is None:
            return ""
        return f", compared in up to {self.cells} cells of neighbouring forecasts of each view"

    def count_labels(self, labels: NDArray[np.unsignedinteger[Any]]) -> list[CountArray]:
        """The events of each view: rows of one class, or of all classes up to a threshold."""
        are_events = np.less_equal if self.is_cumulative else np.equal
        return [view.count_labels(labels, are_events, label) for label, view in enumerate(self.views)]

    def count_weights(self, sample: _ByClass) -> list[CountArray]:
        """The weight of the same events of one sample."""
        return [
            sample.count_at(view, slice(0 if self.is_cumulative else start, end))
            for view, (start, end) in zip(self.views, pairwise(sample.ends), strict=False)
        ]

    def miscalibration(self, events: Sequence[CountArray], total: float) -> FloatArray:
        """The miscalibration of samples with these events of each view: their sum over the divisor."""
        gains = [view.gain(of_view) for view, of_view in zip(self.views, events, strict=True)]
        return np.asarray(np.sum(gains, axis=0) / (self.divisor * total))


class _ByClass(NamedTuple):
    """The rows of a sample in the order of their classes, with the weight of each; and where classes end."""

    row: IntArray
    weight: FloatArray | None
    ends: Sequence[int]

    @classmethod
    def of(cls, drawn: DrawnClasses, n_classes: int) -> _ByClass:
        """Put the rows in the order of their classes; without a weight if each counts once."""
        label = drawn.label.astype(np.min_scalar_type(n_classes))  # numbers of few bits are sorted faster
        order = np.argsort(label, kind="stable")
        ends = np.cumsum(np.bincount(drawn.label, minlength=n_classes)).tolist()
        counts_once = drawn.weight.strides == (0,)
        return cls(drawn.row[order], None if counts_once else drawn.weight[order], [0, *ends])

    def count_at(self, view: _PooledView, rows: slice) -> CountArray:
        """The weight of some rows at each entry of a view."""
        weight = None if self.weight is None else self.weight[rows]
        events = np.bincount(view.entry.take(self.row[rows]), weight, len(view.weight))
        return np.minimum(events, view.weight)  # sums of fractional weights may differ in the last bit


def _count_labels(
    pooled: Sequence[_PooledFamily], labels: NDArray[np.unsignedinteger[Any]]
) -> list[list[CountArray]]:
    """The events of each view of each family, a row of a table for each sample of rows that count once."""
    return [family.count_labels(labels) for family in pooled]


def _count_weights(
    pooled: Sequence[_PooledFamily], drawn: Iterable[DrawnClasses], n_classes: int
) -> list[list[CountArray]]:
    """The same for samples of rows with weights; one sample is in memory at a time."""
    by_class = (_ByClass.of(sample, n_classes) for sample in drawn)
    found = zip(*([family.count_weights(sample) for family in pooled] for sample in by_class), strict=True)
    return [[np.array(of_view) for of_view in zip(*family, strict=True)] for family in found]


def _miscalibrations(
    pooled: Sequence[_PooledFamily], events: Sequence[Sequence[CountArray]], total: float
) -> FloatArray:
    """The miscalibration of each sample, a row for each, by family."""
    by_family = zip(pooled, events, strict=True)
    return np.column_stack([family.miscalibration(of_views, total) for family, of_views in by_family])
