"""Tests of calibration of models of K classes, by the miscalibration of all binary views together.

Forecasts are kept and classes are drawn from them, all views of a case together. Of many rows, the rows of
each view are pooled in cells of neighbouring forecasts, and drawn and observed miscalibrations are compared
in cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport._utils.machine import repeat
from scorereport.inference.calibration_null import find_p_value
from scorereport.inference.class_panel import ClassDistribution, DrawnClasses
from scorereport.inference.estimates import HypothesisTest
from scorereport.reliability.bands import MOST_CASES
from scorereport.reliability.cells import USUAL_SIZE, find_cells
from scorereport.reliability.draws import Redraws
from scorereport.reliability.sampling import random_stream
from scorereport.results.class_records import THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorereport._utils.arrays import CountArray, FloatArray, IntArray
    from scorereport.evaluation.class_views import Family, View
    from scorereport.inference.class_panel import ClassPanel

#: Events of a view in a chunk of drawn samples: few enough for the cache of a processor.
_CHUNK = 1 << 16
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
    size = max(_CHUNK // max(family.size for family in pooled), 1)

    def draw(chunk: int) -> FloatArray:
        numbers = range(chunk * size, min((chunk + 1) * size, resamples))
        drawn = (distribution.draw(random_stream(seed, number)) for number in numbers)
        return _miscalibrations(pooled, drawn, panel)

    chunks = repeat(draw, -(-resamples // size), rows=len(panel.outcome), what="drawing classes")
    null = np.concatenate(list(chunks))
    observed = DrawnClasses(distribution.rows, panel.outcome, panel.units.row_weight)
    in_cells = _miscalibrations(pooled, [observed], panel)[0]
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


class _PooledView(NamedTuple):
    """The entry of each row of the panel in a view, with the mean forecast and the weight of each entry.

    Entries are distinct forecasts, or cells of neighbouring ones.
    """

    entry: IntArray
    forecast: FloatArray
    weight: CountArray

    @classmethod
    def of(cls, view: View, model: str, most_rows: float) -> _PooledView:
        """Pool the rows of a view, by distinct forecast or, if they are many, in cells."""
        distinct = view.fits[model].distinct
        entry = np.searchsorted(distinct.x_min, view.forecasts[model] + 0.0)
        if len(entry) <= most_rows:
            return cls(entry, distinct.x_min, distinct.n)
        first = find_cells(np.bincount(entry, minlength=len(distinct)), USUAL_SIZE)
        weight = np.add.reduceat(distinct.n, first)
        forecast = np.add.reduceat(distinct.n * distinct.x_min, first) / weight
        return cls(np.searchsorted(first, entry, side="right") - 1, forecast, weight)

    def gain(self, events: FloatArray) -> FloatArray:
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

    @property
    def size(self) -> int:
        """The largest number of entries of a view."""
        return max(len(view.weight) for view in self.views)

    def describe_cells(self) -> str:
        """The cells in which samples are compared, as a part of a method."""
        if self.cells is None:
            return ""
        return f", compared in up to {self.cells} cells of neighbouring forecasts of each view"

    def count_events(self, sample: _ByClass) -> list[CountArray]:
        """The events at the entries of each view: rows of one class, or of all classes up to a threshold."""
        return [
            sample.count_at(view, slice(0 if self.is_cumulative else start, end))
            for view, (start, end) in zip(self.views, pairwise(sample.ends), strict=False)
        ]

    def miscalibration(self, events: Sequence[Sequence[CountArray]], total: float) -> FloatArray:
        """The miscalibration of samples with these events: the sum over the views, over the divisor."""
        by_view = zip(self.views, zip(*events, strict=True), strict=True)
        gains = [view.gain(np.array(of_view)) for view, of_view in by_view]
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


def _miscalibrations(
    pooled: Sequence[_PooledFamily], drawn: Iterable[DrawnClasses], panel: ClassPanel
) -> FloatArray:
    """The miscalibration of each sample, a row for each, by family; one sample is in memory at a time."""
    by_class = (_ByClass.of(sample, panel.n_classes) for sample in drawn)
    events = [[family.count_events(sample) for family in pooled] for sample in by_class]
    by_family = zip(pooled, zip(*events, strict=True), strict=True)
    return np.column_stack([family.miscalibration(found, panel.units.total) for family, found in by_family])
