"""Cases dealt into folds: what was drawn independently stays together, and outcomes have no say."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scorereport.inference.large_panels import are_many_alike
from scorereport.inference.panel import ForecastPanel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray, IntArray


class FoldAssignment(NamedTuple):
    """The cases of a panel and the fold of each."""

    panel: ForecastPanel
    fold: NDArray[np.integer]


def assign_folds(panel: ForecastPanel, folds: int, rng: np.random.Generator) -> FoldAssignment:
    """Deal what was drawn independently into folds of equal size.

    A row goes to one fold with its whole weight: of copies in two folds, one would betray the other's
    outcome to its map.
    """
    if panel.cluster is not None:
        return FoldAssignment(panel, (rng.permutation(int(panel.units.size)) % folds)[panel.cluster])
    if are_many_alike(panel):
        return FoldAssignment(panel, _assign_in_order(panel.only, folds, rng))
    if panel.weight is None or (panel.units.are_repeated_rows and (panel.weight == 1).all()):
        return _assign_repeated(panel, folds, rng)
    shuffled = np.lexsort([rng.random(len(panel.only)), panel.only])  # outcomes must not order ties
    fold = np.empty(len(shuffled), dtype=np.int64)
    fold[shuffled] = _shuffle_turns(-(-len(fold) // folds), folds, rng).ravel()[: len(fold)]
    return FoldAssignment(panel, fold)


def _assign_in_order(p: FloatArray, folds: int, rng: np.random.Generator) -> NDArray[np.integer]:
    """The folds of ascending forecasts; those that are the same are dealt in random order."""
    fold = _shuffle_turns(-(-len(p) // folds), folds, rng).ravel()[: len(p)]
    is_same = np.append(False, np.append(p[1:] == p[:-1], False))
    tied = np.flatnonzero(is_same[1:] | is_same[:-1])
    fold[tied[np.lexsort([rng.random(len(tied)), p[tied]])]] = fold[tied]
    return fold


def _shuffle_turns(turns: int, folds: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """All folds in random order, for each turn anew."""
    return rng.permuted(np.tile(np.arange(folds, dtype=np.int32), (turns, 1)), axis=1)


def _assign_repeated(panel: ForecastPanel, folds: int, rng: np.random.Generator) -> FoldAssignment:
    """Deal the cases of each distinct forecast, without writing them out: a row for each of its folds.

    No case has a weight: rows with the same forecast and outcome are different cases.
    """
    (name,) = panel.forecasts
    distinct, place = np.unique(panel.only, return_inverse=True)
    n = np.bincount(place)
    events = np.bincount(place, weights=panel.outcome).astype(np.int64)
    sizes = _assign_counts(n, folds, rng)
    of_events = _draw_events(sizes, events, rng)
    counts = np.stack([sizes - of_events, of_events], axis=1)  # by forecast, outcome and fold
    at, outcome, fold = np.nonzero(counts)
    count = counts[at, outcome, fold].astype(np.float64)
    dealt = ForecastPanel(
        outcome=outcome.astype(np.float64),
        forecasts={name: distinct[at]},
        weight=None if (count == 1).all() else count,
        weight_kind="frequency",
    )
    return FoldAssignment(dealt, fold)


def _assign_counts(n: IntArray, folds: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """How many of the first n, the next n, ... cases go to each fold.

    A turn gives one case to each fold. Only of turns that two forecasts share must the order be known.
    """
    turn, place = np.divmod(np.append(0, np.cumsum(n)).astype(np.int32), folds)  # rows are fewer than 2^31
    turns, which = np.unique(turn, return_inverse=True)
    place_of_fold = _shuffle_turns(len(turns), folds, rng)[which]
    return np.diff(turn[:, None] + (place_of_fold < place[:, None]), axis=0)


def _draw_events(sizes: NDArray[np.int32], events: IntArray, rng: np.random.Generator) -> NDArray[np.int32]:
    """How many of the events of each forecast are in each fold, any of its cases as likely as any other."""
    drawn = np.zeros_like(sizes)
    left, events_left = sizes.sum(axis=1), events.copy()
    for fold in range(sizes.shape[1]):
        drawn[:, fold] = rng.hypergeometric(events_left, left - events_left, sizes[:, fold])
        left, events_left = left - sizes[:, fold], events_left - drawn[:, fold]
    return drawn
