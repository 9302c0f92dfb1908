"""The thresholds of the decision table, and the decisions of a binary model at each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.curves import threshold_table
from scorereport.inference.decisions import add_threshold_intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport._utils.arrays import FloatArray
    from scorereport.curves import ThresholdResult
    from scorereport.curves.fit_or_arrays import IsotonicFit
    from scorereport.inference.decision_tallies import DecisionTally
    from scorereport.results.settings import EvaluationSettings

_THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_THRESHOLDS_OF_INTERVAL = 5
#: Thresholds at which the net benefit of models is compared, closer together where thresholds are low.
_COMPARED = (
    *(0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.125, 0.15, 0.175, 0.2),
    *(0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95),
)
_COMPARED_OF_INTERVAL = 31


def decide_at_thresholds(
    fit: IsotonicFit, settings: EvaluationSettings, tally: DecisionTally | None = None
) -> tuple[ThresholdResult, ...]:
    """Decisions at the thresholds of the settings, else at those of `choose_thresholds`.

    With a tally of decisions, each number has an interval.
    """
    chosen = settings.thresholds or choose_thresholds(settings.cost_interval)
    found = threshold_table(fit, thresholds=chosen)
    return found if tally is None else add_threshold_intervals(found, tally)


def choose_thresholds(cost_interval: Sequence[float] | None) -> tuple[float, ...]:
    """Five thresholds, evenly spaced over an interval of costs with both its ends; without one, the tenths.

    >>> choose_thresholds((0.1, 0.4))
    (0.1, 0.175, 0.25, 0.325, 0.4)
    """
    if cost_interval is None:
        return _THRESHOLDS
    return _space_evenly(cost_interval, _THRESHOLDS_OF_INTERVAL)


def choose_compared_thresholds(settings: EvaluationSettings) -> FloatArray:
    """The thresholds at which the net benefit of models is compared, with those of the settings, ascending.

    They are evenly spaced over the interval of costs or, without one, those of a list over all thresholds.
    """
    costs = settings.cost_interval
    chosen = _COMPARED if costs is None else _space_evenly(costs, _COMPARED_OF_INTERVAL)
    return np.unique([*chosen, *(settings.thresholds or ())])


def _space_evenly(interval: Sequence[float], number: int) -> tuple[float, ...]:
    lower, upper = interval
    between = np.linspace(lower, upper, number)[1:-1]
    return (lower, *between.round(12).tolist(), upper)  # rounded, so that 0.3 equals a forecast of 0.3
