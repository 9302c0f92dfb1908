"""Which of two models is nowhere worse: the extremes of the difference of their Murphy curves.

The curves are linear between forecasts, so that their limits at the forecasts decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import row_chunks
from scorereport.inference.murphy_bands import ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.panel import ForecastPanel

#: Lowest bits of a sort key, which hold the model and the outcome.
_TWO, _LOWEST_BITS = np.uint64(2), np.uint64(3)
#: By these bits: what a row adds to the events, and to the rows, of the first model minus the second.
_EVENTS_MOVED, _ROWS_MOVED = np.array([0.0, 1.0, 0.0, -1.0]), np.array([1.0, 1.0, -1.0, -1.0])


def find_dominant(panel: ForecastPanel, keys: NDArray[np.uint64] | None = None) -> str:
    """Find which model is nowhere worse; the curves are linear between forecasts, so limits there decide.

    `keys` are those of `sort_together`, for rows without weights, if they are known already.
    """
    if panel.weight is None:
        highest, lowest = _extreme_limits(panel, sort_together(panel) if keys is None else keys, ROUNDING)
    else:
        theta = np.unique(np.concatenate([[0.0, 1.0], *panel.forecasts.values()]))
        limits = np.concatenate(_limits(panel, theta))
        highest, lowest = limits.max(), limits.min()
    first_is, second_is = bool(highest <= ROUNDING), bool(lowest >= -ROUNDING)
    return {(True, False): "first", (False, True): "second", (True, True): "both"}.get(
        (first_is, second_is), "neither"
    )


def _extreme_limits(
    panel: ForecastPanel, keys: NDArray[np.uint64], enough: float = np.inf
) -> tuple[float, float]:
    """The highest and the lowest limit of the difference, of rows without weights.

    Limits beyond those that are further than `enough` from 0 on both sides are not sought.
    """
    n = len(panel.outcome)
    highest = lowest = 0.0  # the difference at costs of 0 and 1
    total = np.zeros(2)  # events, and rows, up to here: of the first model minus the second
    for part in row_chunks(len(keys)):
        theta, code = (keys[part] >> _TWO).view(np.float64), (keys[part] & _LOWEST_BITS).view(np.int64)
        sums = [
            np.cumsum(np.append(before, moves.take(code)))
            for before, moves in zip(total, (_EVENTS_MOVED, _ROWS_MOVED), strict=True)
        ]
        for chosen, at in zip(_ends_of_ties(keys, part), (slice(None, -1), slice(1, None)), strict=True):
            events, rows = (upto[at] for upto in sums)
            limit = events - theta * rows
            if chosen is not None:
                limit = limit[chosen]
            highest, lowest = max(highest, limit.max(initial=0.0)), min(lowest, limit.min(initial=0.0))
        if 2 * min(highest, -lowest) > n * enough:
            break
        total = np.array([upto[-1] for upto in sums])
    return 2 * highest / n, 2 * lowest / n


def _ends_of_ties(
    keys: NDArray[np.uint64], part: slice
) -> tuple[NDArray[np.bool_] | None, NDArray[np.bool_] | None]:
    """Which keys of a part are the first, and which the last, of their forecast; None if all are both."""
    around = keys[max(part.start - 1, 0) : part.stop + 1] >> _TWO
    changes = around[1:] != around[:-1]
    if changes.all():
        return None, None
    changes = np.append(changes, True)  # after each
    is_last = changes[bool(part.start) :][: part.stop - part.start]
    is_first = changes[: len(is_last)] if part.start else np.append(True, is_last[:-1])
    return is_first, is_last


def sort_together(panel: ForecastPanel) -> NDArray[np.uint64]:
    """Sort the forecasts of both models; the lowest two bits of a key hold the model and the outcome."""
    n, happened = len(panel.outcome), panel.outcome == 1
    keys = np.empty(2 * n, dtype=np.uint64)
    for model, p in enumerate(panel.forecasts.values()):
        part = keys[model * n : (model + 1) * n]
        np.left_shift(p.view(np.uint64), _TWO, out=part)
        part |= happened
        part |= np.uint64(2 * model)
    keys.sort()
    return keys


def forecasts_of(keys: NDArray[np.uint64]) -> FloatArray:
    """Return the sorted forecasts of both models; the keys are overwritten."""
    keys >>= _TWO
    return keys.view(np.float64)


def _limits(panel: ForecastPanel, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Limits of the difference from the left and from the right of costs that include all forecasts."""
    position = [np.searchsorted(theta, p) for p in panel.forecasts.values()]
    sums = []
    for of_class in (panel.outcome, 1 - panel.outcome):
        w = panel.units.row_weight * of_class
        first, second = (np.bincount(where, w, len(theta)) for where in position)
        sums.append(np.append(0.0, np.cumsum(first - second)))
    events, others = (total / panel.units.total for total in sums)
    left = 2 * ((1 - theta) * events[:-1] - theta * others[:-1])
    return left, 2 * ((1 - theta) * events[1:] - theta * others[1:])
