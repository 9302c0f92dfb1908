"""The relation of sampling weights to outcomes among rows with similar forecasts.

A sample is often drawn by its outcomes: all events and one non-event in ten, with weights that compensate for
it. If the outcome of a row is drawn anew, its weight must change too. Its weights as an event and as a
non-event, w₁ and w₀, have the ratio of the mean weights of events and non-events in its cell of similar
forecasts; the weight for its observed outcome is its own. If an event has the probability p in the
population, its probability in a sampled row is

    q = p w₀ / (p w₀ + (1 - p) w₁),

so that the weighted outcome has mean p, and E[w² (y - p)²] = w₀ w₁ p (1 - p). Where weights do not depend on
outcomes, w₀ = w₁ and q = p; a ratio that chance explains is taken as 1.

References
----------
Manski, Lerman (1977), Econometrica 45, doi:10.2307/1914121
Pfeffermann (1993), Int. Stat. Rev. 61, doi:10.2307/1403631
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import FloatArray

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import IntArray
    from scorereport._utils.checks import CheckedCases

#: A cell has at least this many rows of either outcome, and there are at most this many cells.
_FEWEST_ROWS = 50
_MOST_CELLS = 200


@dataclass(frozen=True, kw_only=True, eq=False)
class OutcomeWeights:
    """The weight of each row as an event and as a non-event, and their ratio.

    The ratio is that of a cell of rows: it is the same at equal forecasts.
    """

    of_event: FloatArray
    of_other: FloatArray
    ratio: FloatArray

    @property
    def are_fixed(self) -> bool:
        """Whether no weight depends on the outcome of its row."""
        return bool((self.of_event == self.of_other).all())

    @property
    def squares(self) -> FloatArray:
        """E[w² (y - p)²]/(p (1 - p)) of each row, for any p: its squared weight if the weight is fixed."""
        return self.of_event * self.of_other

    def share_of_events(self, p: FloatArray) -> FloatArray:
        """The probability of an event in each sampled row, if it is p in the population."""
        weighted = p * self.of_other
        return np.where(self.of_event == self.of_other, p, weighted / (weighted + (1 - p) * self.of_event))

    def draw(self, rows: IntArray, happens: NDArray[np.bool_]) -> FloatArray:
        """Weights of some rows for these outcomes."""
        return np.where(happens, self.of_event[rows], self.of_other[rows])


def weigh_outcomes(cases: CheckedCases) -> OutcomeWeights:
    """Estimate the weights of ordered cases for either outcome."""
    weight = np.ones(len(cases.y_true)) if cases.weight is None else cases.weight
    is_event = cases.y_true == 1
    cell = _cut_into_cells(cases.y_prob, is_event)
    ratio = _find_ratios(weight, is_event, cell)[cell]
    return OutcomeWeights(
        of_event=np.where(is_event, weight, weight * ratio),
        of_other=np.where(is_event, weight / ratio, weight),
        ratio=ratio,
    )


def _cut_into_cells(forecast: FloatArray, is_event: NDArray[np.bool_]) -> IntArray:
    """The cell of each row, from 0; cells have enough rows of both outcomes, and split no tie."""
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


def _find_ratios(weight: FloatArray, is_event: NDArray[np.bool_], cell: IntArray) -> FloatArray:
    """Mean weight of events over that of non-events in each cell, shrunk as far as chance explains it.

    The logarithm of the ratio is shrunk towards 0 by its squared standard error (James and Stein's
    positive part); where an outcome is absent, or has one row, the ratio is not known and taken as 1.
    """
    key, cells = 2 * cell + is_event, int(cell[-1]) + 1
    size, total, square = (
        np.bincount(key, weights=values, minlength=2 * cells).reshape(cells, 2)
        for values in (np.ones(len(key)), weight, weight**2)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / size
        error = ((square / size - mean**2) / mean**2 / (size - 1)).sum(axis=1)
        logarithm = np.log(mean[:, 1] / mean[:, 0])
        kept = np.where(logarithm == 0, 0.0, np.maximum(1 - np.maximum(error, 0.0) / logarithm**2, 0.0))
    return np.where(np.isfinite(kept) & np.isfinite(logarithm), np.exp(np.nan_to_num(logarithm * kept)), 1.0)
