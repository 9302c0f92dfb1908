"""The costs at which two Murphy curves are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.inference.large_panels import row_chunks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.panel import ForecastPanel


def choose_costs(panel: ForecastPanel, points: int) -> FloatArray:
    """Half of the costs evenly on [0, 1], half evenly among the distinct forecasts."""
    knots = np.concatenate(list(panel.forecasts.values()))
    knots.sort()
    is_first = np.append(True, knots[1:] != knots[:-1])
    distinct = int(np.count_nonzero(is_first))
    chosen = np.linspace(0, distinct - 1, min(points // 2, distinct)).round().astype(np.intp)
    return np.unique(np.append(np.linspace(0, 1, points - points // 2), knots[_places(is_first, chosen)]))


def _places(chosen: NDArray[np.bool_], numbers: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where the places with these numbers, counted among those that are chosen, stand among all."""
    parts = row_chunks(len(chosen))
    before = np.cumsum([0, *(np.count_nonzero(chosen[part]) for part in parts)])
    part = np.searchsorted(before, numbers, side="right") - 1
    found = [
        parts[at].start + np.flatnonzero(chosen[parts[at]])[numbers[part == at] - before[at]]
        for at in np.unique(part).tolist()
    ]
    return np.concatenate(found)
