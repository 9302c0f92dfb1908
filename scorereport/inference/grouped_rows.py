"""Many rows grouped by neighbouring log-odds, for fits of smooth functions of log-odds.

Log-odds are cut into cells of equal width. The events of a cell, and its non-events, are represented by two
points with the same total weight, mean, variance and third moment: the nodes of Gauss's quadrature. A sum
over the points differs from that over the rows by a fourth power of the width: with 4,096 cells, fits agree
with those to the rows to about eleven digits.

References
----------
Golub, Welsch (1969), Math. Comput. 23, doi:10.2307/2004418
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import logit

from scorereport._utils.arrays import FloatArray, row_chunks

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Fewer rows than this are not grouped.
MANY_CASES = 20_000
#: Number of cells.
_CELLS = 4096
#: A cell is one point if its standard deviation is below this share of its width.
_ONE_POINT = 1e-4
#: Cells represent their rows if fitted log-odds differ within a cell by at most this.
_MOST_WITHIN = 1 / 16


class GroupedRows(NamedTuple):
    """Points that stand for the events or the non-events of a cell: log-odds, outcome and weight."""

    x: FloatArray
    y: FloatArray
    weight: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class CellSums:
    """Sums of weights and of powers of deviations from the middle of the cell, by fold, cell and outcome.

    `moments` holds the sums of powers 0 to 3.
    """

    lowest: float
    width: float
    moments: FloatArray

    def represent(self, slope: float) -> bool:
        """Whether cells are narrow enough for a line with this slope."""
        return bool(abs(slope) * self.width <= _MOST_WITHIN)

    def without(self, fold: int | None = None) -> GroupedRows:
        """Points of all rows, or of those outside a fold."""
        folds = self.moments.shape[1]
        total, *powers = self.moments[:, [k for k in range(folds) if k != fold]].sum(axis=1)
        cell, outcome = np.nonzero(total > 0)
        weight = total[cell, outcome]
        low, high = _nodes(*(power[cell, outcome] / weight for power in powers), width=self.width)
        middle = self.lowest + (cell + 0.5) * self.width
        both = np.stack([middle + low.x, middle + high.x], axis=1)
        shares = np.stack([weight * low.share, weight * high.share], axis=1)
        kept = shares > 0
        return GroupedRows(both[kept], np.repeat(outcome[:, None] * 1.0, 2, axis=1)[kept], shares[kept])


class _Node(NamedTuple):
    """Distance of a point from the middle of its cell, and its share of the cell's weight."""

    x: FloatArray
    share: FloatArray


@np.errstate(divide="ignore", invalid="ignore")
def _nodes(mean: FloatArray, square: FloatArray, cube: FloatArray, *, width: float) -> tuple[_Node, _Node]:
    """The two points that have these means of deviations, of their squares and of their cubes."""
    variance = square - mean**2
    spread = np.sqrt(np.maximum(variance, 0))
    skewness = (cube - 3 * mean * variance - mean**3) / spread**3
    is_wide = spread > _ONE_POINT * width
    root = np.sqrt(skewness**2 + 4)
    low = np.where(is_wide, mean + spread * (skewness - root) / 2, mean)
    high = np.where(is_wide, mean + spread * (skewness + root) / 2, mean)
    share = np.where(is_wide, (1 + skewness / root) / 2, 1.0)
    return _Node(low, share), _Node(high, 1 - share)


def group_rows(
    p: FloatArray,
    y: FloatArray,
    weight: FloatArray,
    fold: NDArray[np.integer] | None = None,
    folds: int = 1,
) -> CellSums:
    """Sum rows over cells, by outcome and fold; forecasts must be ascending, none of them 0 or 1."""
    lowest, highest = logit(p[0]), logit(p[-1])
    width = float(highest - lowest) / _CELLS or 1.0
    moments = np.zeros((4, folds * _CELLS * 2))
    for part in row_chunks(len(p)):
        place = (logit(p[part]) - lowest) / width
        cell = np.clip(place.astype(np.int64), 0, _CELLS - 1)
        away = (place - cell - 0.5) * width
        code = 2 * cell + (y[part] == 1)
        if fold is not None:
            code += 2 * _CELLS * fold[part].astype(np.int64)
        power = weight[part]
        for degree in range(4):
            moments[degree] += np.bincount(code, power, moments.shape[1])
            power = power * away
    return CellSums(float(lowest), width, moments.reshape(4, folds, _CELLS, 2))
