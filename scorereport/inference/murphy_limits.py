"""Which of two models is nowhere worse: limits of the difference of their Murphy curves at all forecasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.inference.large_panels import row_chunks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.panel import ForecastPanel

#: Elementary scores lie in [0, 2]; differences this small are rounding.
ROUNDING = 1e-12
_TWO = np.uint64(2)


def find_dominant(panel: ForecastPanel) -> str:
    """Who is nowhere worse: the curves are straight between forecasts, so their limits there decide."""
    if panel.weight is None:
        highest, lowest = _extreme_limits(panel)
    else:
        theta = np.unique(np.concatenate([[0.0, 1.0], *panel.forecasts.values()]))
        limits = np.concatenate(_limits(panel, theta))
        highest, lowest = limits.max(), limits.min()
    first_is, second_is = bool(highest <= ROUNDING), bool(lowest >= -ROUNDING)
    return {(True, False): "first", (False, True): "second", (True, True): "both"}.get(
        (first_is, second_is), "neither"
    )


def _extreme_limits(panel: ForecastPanel) -> tuple[float, float]:
    """The highest and the lowest limit of the difference, of rows without weights."""
    keys, n = _sort_together(panel), len(panel.outcome)
    highest = lowest = 0.0  # as at costs of 0 and 1
    total = np.zeros((2, 1))  # others and events up to here, of the first model less of the second
    for part in row_chunks(len(keys)):
        theta, code = (keys[part] >> _TWO).view(np.float64), keys[part].astype(np.int64) & 3
        moved = (1 - (code & 2)) * ((code & 1) == [[0], [1]])
        upto = np.concatenate([total, total + np.cumsum(moved, axis=1)], axis=1)
        others, events = upto / n
        around = keys[max(part.start - 1, 0) : part.stop + 1] >> _TWO
        changes = np.append(around[1:] != around[:-1], True)  # of forecasts, after each
        is_last = changes[bool(part.start) :][: len(theta)]
        is_first = changes[: len(theta)] if part.start else np.append(True, is_last[:-1])
        for chosen, at in ((is_first, slice(None, -1)), (is_last, slice(1, None))):
            t = theta[chosen]
            limit = 2 * ((1 - t) * events[at][chosen] - t * others[at][chosen])
            highest, lowest = max(highest, limit.max(initial=0.0)), min(lowest, limit.min(initial=0.0))
        total = upto[:, -1:]
    return highest, lowest


def _sort_together(panel: ForecastPanel) -> NDArray[np.uint64]:
    """The forecasts of both models in order, with whose they are and what happened in bits that are free."""
    n, happened = len(panel.outcome), panel.outcome == 1
    keys = np.empty(2 * n, dtype=np.uint64)
    for model, p in enumerate(panel.forecasts.values()):
        part = keys[model * n : (model + 1) * n]
        np.left_shift(p.view(np.uint64), _TWO, out=part)
        part |= happened
        part |= np.uint64(2 * model)
    keys.sort()
    return keys


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
