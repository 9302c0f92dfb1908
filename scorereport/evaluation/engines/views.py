"""A digest seen as a fit: what curves, tables and bands read, from exact counts at the marks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.rounding import are_equal
from scorereport.evaluation.engines.digest import Digest, Knots
from scorereport.reliability.blocks import Blocks
from scorereport.reliability.fit import DISCRETE_GAP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import CountArray, FloatArray

#: Differences of sums of fractions this small against all are rounding.
_ROUNDING = 1e-13


@dataclass(frozen=True, kw_only=True, eq=False)
class DigestedFit:
    """The fit of a digest. Where distinct forecasts are many, only marked ones are, and cells between.

    Counts below and at any marked forecast are then the same as those of all distinct forecasts.
    """

    digest: Digest
    late: Knots | None = None  # counted in a scan after the fit

    @property
    def is_complete(self) -> bool:
        """Whether all distinct forecasts are known."""
        return self.digest.distinct is not None

    @cached_property
    def knots(self) -> Knots:
        """All marked forecasts in ascending order, each once."""
        knots = self.digest.steps + self.digest.jumps
        knots = knots if self.late is None else knots + self.late
        return knots.select(np.unique(knots.x, return_index=True)[1])

    @cached_property
    def distinct(self) -> Blocks:
        """One block for each distinct forecast or, where they are many, for each mark and what is between."""
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
        return float(round(area)) if is_rounded else area  # 0 or 1 up to sums of fractions

    @property
    def forecast_type(self) -> str:
        """Either "discrete", if distinct forecasts all lie at least 0.01 apart, or "continuous"."""
        return "discrete" if self.digest.smallest_gap >= DISCRETE_GAP else "continuous"

    @property
    def corners(self) -> tuple[FloatArray, FloatArray]:
        """The reliability curve at both ends of each block."""
        return self.blocks.corners

    def require_events(self, what: str) -> None:
        """Digests are of events always."""

    def cep(self, x: FloatArray) -> FloatArray:
        """Recalibrated probability at forecasts: along the curve, flat beyond its ends."""
        return np.interp(x, *self.corners)

    @cached_property
    def mean_cells(self) -> Blocks:
        """The distinct forecasts or, where they are many, marked ones and cells between at their mean."""
        if self.digest.distinct is not None:
            return self.digest.distinct
        knots = self.digest.steps
        at = knots.x * knots.n_at
        beyond = np.diff(knots.forecast_below, append=self.digest.forecast) - at
        cells = _make_cells(knots, self.n, self.events)
        sums = _interleave(at, beyond)[
            _interleave(knots.n_at, _beyond(knots.n_below, knots.n_at, self.n)) > 0
        ]
        means = np.clip(sums / cells.n, cells.x_min, np.append(cells.x_min[1:], self.digest.x_max))
        x = np.where(np.isin(cells.x_min, knots.x), cells.x_min, means)  # a mark stays where it is
        return Blocks(x_min=x, x_max=x, n=cells.n, events=cells.events)


def _make_cells(knots: Knots, total: float, events: float) -> Blocks:
    """A cell for each mark that is a forecast, and one for all forecasts between two marks.

    What is between stands right behind the lower mark: below every value that may be asked for.
    """
    n_beyond = _beyond(knots.n_below, knots.n_at, total)
    events_beyond = _beyond(knots.events_below, knots.events_at, events)
    x = _interleave(knots.x, np.nextafter(knots.x, 2))
    n, happened = _interleave(knots.n_at, n_beyond), _interleave(knots.events_at, events_beyond)
    holds_some = n > 0
    x = x[holds_some]
    return Blocks(x_min=x, x_max=x, n=n[holds_some], events=happened[holds_some])


def _beyond(below: CountArray, at: CountArray, total: float) -> NDArray[Any]:
    """What lies above each mark and below the next; of fractions, more than rounding leaves."""
    between = np.diff(below, append=total) - at
    return between if between.dtype.kind == "i" else np.where(between > _ROUNDING * total, between, 0.0)


def _interleave(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    return np.column_stack([first, second]).ravel()
