"""How sampling weights go with outcomes among rows of similar forecasts.

A sample is often drawn by its outcomes: all events and one non-event in ten, with weights that make up for
it. The weight of a row then depends on its outcome, and two things follow for a hypothesis that gives an
event the probability p. The share of events among sampled rows is not p but

    q = p ω₀ / (p ω₀ + (1 - p) ω₁),

where ω₁ and ω₀ are the mean weights of sampled events and non-events; and a row whose outcome is drawn anew
has a weight of that outcome. Both are taken from cells of rows with similar forecasts.

References
----------
Manski, Lerman (1977), Econometrica 45, doi:10.2307/1914121
Pfeffermann (1993), Int. Stat. Rev. 61, doi:10.2307/1403631
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scorereport.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from scorereport.checks import Cases

#: A cell has at least this many rows of either outcome, and there are at most this many cells.
_FEWEST_ROWS = 20
_MOST_CELLS = 200


@dataclass(frozen=True, kw_only=True, eq=False)
class OutcomeWeights:
    """Weights of rows by cell and outcome; `is_event` and `cell` are those of each row.

    `mean` and `mean_square` have a row for each cell and columns for non-events and events. `pool` holds the
    weights of all rows by cell and outcome: `size` of each, from `first` on.
    """

    is_event: NDArray[np.bool_]
    cell: IntArray
    mean: FloatArray
    mean_square: FloatArray
    weight: FloatArray
    pool: FloatArray
    first: IntArray
    size: IntArray

    def share_of_events(self, p: FloatArray, rows: IntArray | slice = slice(None)) -> FloatArray:
        """The probability of an event in some sampled rows, if it is p in the population."""
        of_other, of_event = self.mean[self.cell[rows]].T
        weighted = p * of_other
        return weighted / (weighted + (1 - p) * of_event)

    def expected_squares(self, p: FloatArray) -> FloatArray:
        """For each row E[w² (y - p)²]/(p (1 - p)): its squared weight, if weights do not go with outcomes."""
        of_other, of_event = self.mean[self.cell].T
        square_of_other, square_of_event = self.mean_square[self.cell].T
        weighted = (1 - p) * of_other * square_of_event + p * of_event * square_of_other
        return weighted / (p * of_other + (1 - p) * of_event)

    def draw(self, rng: np.random.Generator, rows: IntArray, happens: NDArray[np.bool_]) -> FloatArray:
        """Weights for the outcomes drawn: of the row itself, or of its cell where the outcome is another."""
        weight = self.weight[rows].copy()
        changed = np.flatnonzero(happens != self.is_event[rows])
        key = 2 * self.cell[rows[changed]] + happens[changed]
        place = self.first[key] + (rng.random(len(changed)) * self.size[key]).astype(np.int64)
        weight[changed] = self.pool[place]
        return weight


def weigh_outcomes(cases: Cases) -> OutcomeWeights:
    """The weights of ordered cases by cell and outcome; one cell if an outcome is rare, or absent."""
    weight = np.ones(len(cases.y_true)) if cases.weight is None else cases.weight
    is_event = cases.y_true == 1
    cell = _cut_into_cells(cases.y_prob, is_event)
    key = 2 * cell + is_event
    cells = int(cell[-1]) + 1
    size, total, square = (
        np.bincount(key, weights=values, minlength=2 * cells)
        for values in (np.ones(len(key)), weight, weight**2)
    )
    first = (np.cumsum(size) - size).astype(np.int64)
    if not size.all():  # one outcome only: nothing else is known of weights of the other
        first = np.zeros_like(first)
        size, total, square = (np.full(2, values.sum()) for values in (size, total, square))
    return OutcomeWeights(
        is_event=is_event,
        cell=cell,
        mean=(total / size).reshape(cells, 2),
        mean_square=(square / size).reshape(cells, 2),
        weight=weight,
        pool=weight[np.argsort(key, kind="stable")],
        first=first,
        size=size.astype(np.int64),
    )


def _cut_into_cells(forecast: FloatArray, is_event: NDArray[np.bool_]) -> IntArray:
    """The number of the cell of each row, from 0: enough rows of both outcomes, and no forecast in two."""
    fewest = max(_FEWEST_ROWS, -(-len(forecast) // (2 * _MOST_CELLS)))
    events, others = np.flatnonzero(is_event), np.flatnonzero(~is_event)
    starts = [0]
    while True:
        last_event = np.searchsorted(events, starts[-1]) + fewest - 1
        last_other = np.searchsorted(others, starts[-1]) + fewest - 1
        if last_event >= len(events) or last_other >= len(others):
            break
        last = max(events[last_event], others[last_other])
        starts.append(int(np.searchsorted(forecast, forecast[last], side="right")))
    cuts = starts[1:-1]  # the rows after the last full cell belong to it
    return np.searchsorted(np.array(cuts, dtype=np.int64), np.arange(len(forecast)), side="right")
