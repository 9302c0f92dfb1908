"""Bands of a difference of Murphy curves from one pass over the rows, without resamples of them.

At a cost on which the models disagree for many rows, the difference in a resample is nearly normal, and its
covariance with other costs follows from counts of rows by the cells of both forecasts. Where they disagree
for few rows, it is not normal: those rows are drawn, each with a Poisson number of copies, which for many
rows is the distribution of a resample. The sum of both parts has the covariance of resamples at every cost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from scorereport._utils.arrays import FloatArray, row_chunks
from scorereport._utils.machine import repeat
from scorereport.inference.drawn_sums import find_root
from scorereport.inference.murphy_bands import (
    ROUNDING,
    MurphyCells,
    change_by_one_row,
    find_cells,
    sum_of_differences,
    sum_of_squares,
    widen_for_pairs,
)
from scorereport.inference.resampled_weights import BATCH, is_quantile_precise
from scorereport.reliability.precision import list_batches
from scorereport.reliability.sampling import random_stream

if TYPE_CHECKING:
    from scorereport.inference.panel import ForecastPanel

#: From this many units on, bands come from draws of this module.
FEWEST_UNITS = 1000
#: At costs with fewer rows on which the models disagree, these rows are drawn.
_FEW_ROWS = 100
#: Curves that are drawn at first (both bounds of a normal 95 % interval take 565), and before their precision
#: is judged again.
_FIRST_DRAWS, _MORE_DRAWS = 600, 200
#: Key of the random streams.
_KEY = 23


class DrawnBand(NamedTuple):
    """The differences at each cost, the pointwise and simultaneous half-widths, and the number of draws."""

    difference: FloatArray
    pointwise: FloatArray
    simultaneous: FloatArray
    draws: int
    method: str = ""


def is_drawable(panel: ForecastPanel) -> bool:
    """Whether rows are independent and enough for normal differences, none with much of the weight (Kish)."""
    units = panel.units
    return units.cluster is None and units.total / units.case_weight >= FEWEST_UNITS


def draw_band(
    panel: ForecastPanel, theta: FloatArray, level: float, seed: int, *, pairs: int = 1
) -> DrawnBand:
    """Compute the band of the difference of two models at these costs.

    With several `pairs` of models, simultaneous bands hold for all pairs together.
    """
    curve = _DrawnCurve.of(panel, theta)
    ratio = np.empty((0, len(theta)))
    for batch in list_batches(_FIRST_DRAWS, _MORE_DRAWS):
        draw = partial(curve.draw_batch, batch.start // BATCH, seed)
        times = len(batch) // BATCH
        what, rows = "drawing Murphy curves", len(panel.outcome)
        more = repeat(draw, times, rows=rows, what=what, resamples=len(batch))
        ratio = np.concatenate([ratio, *more])
        largest = ratio.max(axis=1)
        if is_quantile_precise(largest, level) and is_quantile_precise(ratio[:, curve.is_rare], level):
            break
    least, reach = float(ndtri((1 + level) / 2)), np.hypot(curve.spread, curve.row)
    pointwise = np.full(len(theta), least)
    if curve.is_rare.any():
        pointwise[curve.is_rare] = np.quantile(ratio[:, curve.is_rare], level, axis=0)
    simultaneous = max(float(np.quantile(largest, level)), least)
    return DrawnBand(
        curve.difference,
        np.maximum(pointwise, least) * reach,
        widen_for_pairs(simultaneous, pairs) * reach,
        len(ratio),
        method="covariance over rows, sup-t",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Kinds:
    """Rows that differ in nothing but their number: by both cells and the outcome, if the cells differ.

    `weight` is the total weight of the rows of each kind, `square` that of their squared influence, and
    `count` their number; `all_squares` is the sum of `square` over all rows, also those with equal cells.
    """

    cells: MurphyCells
    code: NDArray[np.intp]
    weight: FloatArray
    square: FloatArray
    count: FloatArray
    all_squares: float

    @classmethod
    def of(cls, panel: ForecastPanel, theta: FloatArray) -> _Kinds:
        """Count the rows of a panel in one pass."""
        size, units = 2 * len(theta) + 1, panel.units
        weights: list[FloatArray | None] = [units.weight]
        weights += [] if units.are_repeated_rows else [units.row_weight**2, None]
        tables = np.zeros((len(weights), 2 * size**2))
        for part in row_chunks(len(panel.outcome)):
            code = _code(panel, theta, part)
            for at, weight in enumerate(weights):
                tables[at] += np.bincount(code, None if weight is None else weight[part], 2 * size**2)
        kept = np.flatnonzero(tables[-1])
        pair, happened = np.divmod(kept, 2)
        first, second = np.divmod(pair, size)
        differ = first != second
        of_kind = tables[:, kept[differ]]
        return cls(
            cells=MurphyCells.where_different(
                theta, np.arange(differ.sum()), first[differ], second[differ], happened[differ] == 1
            ),
            code=kept[differ],
            weight=of_kind[0],
            square=of_kind[min(1, len(weights) - 1)],
            count=of_kind[-1],
            all_squares=float(tables[min(1, len(weights) - 1)].sum()),
        )

    @cached_property
    def lower(self) -> NDArray[np.intp]:
        """The cell of the lower forecast."""
        return self.cells.lower % self.cells.size

    @cached_property
    def upper(self) -> NDArray[np.intp]:
        """The cell of the upper forecast."""
        return self.cells.upper % self.cells.size

    @cached_property
    def happened(self) -> NDArray[np.bool_]:
        """Whether the outcome is an event."""
        return (self.cells.lower // self.cells.size) % 2 == 1

    def find_rare(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Find costs at which the models disagree on few events or few non-events, and the kinds of these.

        A kind disagrees at the costs from its lower to its upper forecast.
        """
        is_rare, is_atom = np.zeros(len(self.cells.theta), bool), np.zeros(len(self.count), bool)
        for happened in (False, True):
            chosen = self.happened == happened
            disagreeing = self._count_disagreeing(chosen)
            few = (disagreeing > 0) & (disagreeing < _FEW_ROWS)
            before = np.append(0, np.cumsum(few))
            is_atom |= chosen & (before[(self.upper + 1) // 2] > before[self.lower // 2])
            is_rare |= few
        return is_rare, is_atom

    def sum_differences(self, weight: FloatArray) -> FloatArray:
        """Sums of the differences at each cost, for a weight of each kind."""
        return sum_of_differences(self.cells.theta, *self.cells.count(weight))

    def sum_squares(self, weight: FloatArray) -> FloatArray:
        """Sums of the squared differences at each cost."""
        return sum_of_squares(self.cells.theta, *self.cells.count(weight))

    def _count_disagreeing(self, chosen: NDArray[np.bool_]) -> FloatArray:
        """The number of rows among some kinds on which the models disagree, at each cost."""
        count, size = self.count[chosen], self.cells.size
        starts = np.cumsum(np.bincount(self.lower[chosen], count, size))
        ends = np.cumsum(np.bincount(self.upper[chosen], count, size))
        return np.asarray(starts[1::2] - ends[:-1:2], dtype=np.float64)

    def sum_products(self, weight: FloatArray) -> FloatArray:
        """Sums of the products of the differences at every two costs.

        Both differences are not 0 if the lower forecast is at most the lower cost and the upper forecast at
        least the higher cost: products are those of two constants, by outcome and whether one is equal.
        """
        t = self.cells.theta
        products = np.zeros((len(t), len(t)))
        tie = 2 * t * (1 - t)
        for happened in (False, True):
            across = -2 * (1 - t) if happened else 2 * t
            of_lower, of_upper = (-tie, tie + across) if happened else (across - tie, tie)
            chosen = self.happened == happened
            products += _sum_across(
                self._tabulate(weight, chosen), np.stack([across, of_lower]), np.stack([across, of_upper])
            )
        np.fill_diagonal(products, self.sum_squares(weight))
        return products

    def _tabulate(self, weight: FloatArray, chosen: NDArray[np.bool_]) -> FloatArray:
        size = self.cells.size
        place = self.lower[chosen] * size + self.upper[chosen]
        return np.bincount(place, weight[chosen], size**2).astype(np.float64, copy=False).reshape(size, size)


def _code(panel: ForecastPanel, theta: FloatArray, part: slice) -> NDArray[np.intp]:
    first, second = (find_cells(p[part], theta) for p in panel.forecasts.values())
    return (first * (2 * len(theta) + 1) + second) * 2 + (panel.outcome[part] == 1)


def _sum_across(table: FloatArray, at_lower: FloatArray, at_upper: FloatArray) -> FloatArray:
    """Sums of products at every two different costs, from rows by lower and upper cell.

    The constants are those of a forecast beyond a cost, and of one at it.
    """
    beyond = np.cumsum(table[:, ::-1], axis=1)[:, ::-1]  # by lower cell, and at least the upper
    upto, both = np.cumsum(table, axis=0), np.cumsum(beyond, axis=0)
    at, below, above = slice(1, None, 2), slice(0, -1, 2), slice(2, None, 2)  # cells: a cost, and next to it
    sums = (
        at_lower[0][:, None] * at_upper[0] * both[below, above]
        + at_lower[1][:, None] * at_upper[0] * beyond[at, above]
        + at_lower[0][:, None] * at_upper[1] * upto[below, at]
        + at_lower[1][:, None] * at_upper[1] * table[at, at]
    )
    ordered = np.triu(sums, 1)
    return ordered + ordered.T


class _Atoms(NamedTuple):
    """Rows that are drawn: their cells, the mean number of copies of each, and its weight."""

    cells: MurphyCells
    mean: FloatArray
    weight: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class _DrawnCurve:
    """What draws of a difference need: its spread, the atoms, and a root of the covariance of other rows.

    `variance` is that of one row, `row` the change by one more row, `expected` the sum over the atoms, and
    `other_squares` the sum of squares over all others.
    """

    difference: FloatArray
    spread: FloatArray
    variance: FloatArray
    other_squares: FloatArray
    row: FloatArray
    is_rare: NDArray[np.bool_]
    atoms: _Atoms
    expected: FloatArray
    root: FloatArray
    total: float

    @classmethod
    def of(cls, panel: ForecastPanel, theta: FloatArray) -> _DrawnCurve:
        kinds, total = _Kinds.of(panel, theta), panel.units.total
        difference = kinds.sum_differences(kinds.weight) / total
        is_rare, is_atom = kinds.find_rare()
        atoms = _find_atoms(panel, kinds, is_atom)
        square = kinds.sum_squares(kinds.weight) / total
        whole = kinds.sum_squares(kinds.square) - 2 * difference * kinds.sum_differences(kinds.square)
        whole = np.maximum(whole + kinds.all_squares * difference**2, 0)
        others = np.where(is_atom, 0.0, kinds.square)
        rest = kinds.all_squares - float(kinds.square[is_atom].sum())
        return cls(
            difference=difference,
            spread=np.sqrt(whole) / total,
            variance=np.maximum(square - difference**2, ROUNDING),
            other_squares=kinds.sum_squares(np.where(is_atom, 0.0, kinds.weight)),
            row=change_by_one_row(panel, theta),
            is_rare=is_rare,
            atoms=atoms,
            expected=sum_of_differences(theta, *atoms.cells.count(atoms.mean * atoms.weight)),
            # from coarse to fine, each cost is between two others, and rounding does not grow
            root=find_root(_covariance(kinds, others, difference, rest), whole, _coarse_to_fine(len(theta))),
            total=total,
        )

    def draw_batch(self, first: int, seed: int, number: int) -> FloatArray:
        """Draw a batch of curves, by its number after the first."""
        return self.draw(random_stream(seed, first + number, _KEY))

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Draw curves; return their distances from the difference over their own spread, a row for each."""
        theta, (cells, mean, weight) = self.atoms.cells.theta, self.atoms
        normal = np.einsum(
            "bk,jk->bj", rng.standard_normal((BATCH, self.root.shape[1])), self.root
        )  # not BLAS
        copies = rng.poisson(mean, (BATCH, len(mean))) * weight
        lower, upper = cells.count_many(copies)
        more = copies.sum(axis=1) - (mean * weight).sum()
        away = sum_of_differences(theta, lower, upper)
        away += normal - self.expected - self.difference * more[:, None]
        away /= self.total
        own_spread = np.broadcast_to(np.hypot(self.spread, self.row), away.shape).copy()
        own_spread[:, self.is_rare] = self._own_spread(sum_of_squares(theta, lower, upper), away)
        return np.divide(np.abs(away), own_spread, out=np.zeros_like(away), where=own_spread > ROUNDING)

    def _own_spread(self, squares: FloatArray, away: FloatArray) -> FloatArray:
        """The spread of each draw at the rare costs, from the mean square difference of the draw itself."""
        rare = self.is_rare
        mean_square = (squares[:, rare] + self.other_squares[rare]) / self.total
        variance = mean_square - (self.difference[rare] + away[:, rare]) ** 2
        share = np.sqrt(np.maximum(variance, 0) / self.variance[rare])
        return np.hypot(self.spread[rare] * share, self.row[rare])


def _find_atoms(panel: ForecastPanel, kinds: _Kinds, is_atom: NDArray[np.bool_]) -> _Atoms:
    """The chosen kinds, whose rows are alike; with sampling weights each row of them."""
    if panel.units.are_repeated_rows:
        return _Atoms(
            _select(kinds.cells, np.flatnonzero(is_atom)), kinds.count[is_atom], np.ones(is_atom.sum())
        )
    chosen, weights = [], []
    for part in row_chunks(len(panel.outcome)):
        place = np.searchsorted(kinds.code, code := _code(panel, kinds.cells.theta, part))
        place = np.minimum(place, len(kinds.code) - 1)
        is_chosen = (kinds.code[place] == code) & is_atom[place]
        chosen.append(place[is_chosen])
        weights.append(panel.units.row_weight[part][is_chosen])
    rows = np.concatenate(chosen)
    return _Atoms(_select(kinds.cells, rows), np.ones(len(rows)), np.concatenate(weights))


def _select(cells: MurphyCells, rows: NDArray[np.intp]) -> MurphyCells:
    return replace(cells, rows=np.arange(len(rows)), lower=cells.lower[rows], upper=cells.upper[rows])


def _covariance(kinds: _Kinds, square: FloatArray, difference: FloatArray, total: float) -> FloatArray:
    """The covariance of sums over rows with these sums of squares by kind, and in all."""
    sums = kinds.sum_differences(square)
    mixed = np.outer(difference, sums)
    return kinds.sum_products(square) - mixed - mixed.T + total * np.outer(difference, difference)


def _coarse_to_fine(n: int) -> list[int]:
    """Both ends, then the middle of each gap, and so on."""
    order, gaps = [0, n - 1] if n > 1 else [0], [(0, n - 1)]
    for start, end in gaps:
        middle = (start + end) // 2
        if middle > start:
            order.append(middle)
            gaps += [(start, middle), (middle, end)]
    return order
