"""Decisions at a few thresholds: how many cases are flagged, how often rightly, and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.checks import check_probability

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport.curves.curves_fitted import IsotonicFit


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdInterval:
    """The interval of a number at a threshold; NaN where the number is not defined, see the note."""

    measure: str
    value: float
    lower: float
    upper: float
    level: float
    method: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdResult:
    """Decisions p >= threshold: shares of the cases, and the mean net benefit and regret.

    `flagged` is the share of cases decided for. Rates are NaN where no case could count. Regret is at a
    cost of false positives equal to the threshold; net benefit is not defined at a threshold of 1.
    `intervals` are those of all these numbers, and of net benefit minus that of treating all; none if no
    level was given.
    """

    threshold: float
    flagged: float
    sensitivity: float
    specificity: float
    positive_predictive_value: float
    negative_predictive_value: float
    net_benefit: float
    regret: float
    intervals: tuple[ThresholdInterval, ...] = ()

    def interval(self, measure: str) -> ThresholdInterval | None:
        """The interval of a number by the name of its field; None if there is none."""
        return next((found for found in self.intervals if found.measure == measure), None)


def threshold_table(fit: IsotonicFit, *, thresholds: ArrayLike) -> tuple[ThresholdResult, ...]:
    """Decisions at each threshold, in the order given; with weights, shares are of their sum.

    >>> from scorereport import corp
    >>> (row,) = threshold_table(corp([0, 1, 0, 1], [0.1, 0.6, 0.4, 0.8]), thresholds=[0.4])
    >>> row.flagged, row.sensitivity, row.specificity, round(row.net_benefit, 4), row.regret
    (0.75, 1.0, 0.5, 0.3333, 0.1)
    """
    fit.require_events("A threshold table")
    t = check_probability(thresholds, "thresholds")
    distinct = fit.distinct
    first = np.searchsorted(distinct.x_min, t, side="left")
    missed = np.append(0, np.cumsum(distinct.events))  # events below each distinct forecast
    spared = np.append(0, np.cumsum(distinct.n - distinct.events))
    false_negative, true_negative = missed[first], spared[first]
    true_positive, false_positive = missed[-1] - false_negative, spared[-1] - true_negative
    flagged, total = true_positive + false_positive, missed[-1] + spared[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = {
            "threshold": t,
            "flagged": flagged / total,
            "sensitivity": true_positive / missed[-1],
            "specificity": true_negative / spared[-1],
            "positive_predictive_value": true_positive / flagged,
            "negative_predictive_value": true_negative / (true_negative + false_negative),
            "net_benefit": np.where(t < 1, true_positive - false_positive * t / (1 - t), np.nan) / total,
            "regret": (t * false_positive + (1 - t) * false_negative) / total,
        }
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    return tuple(ThresholdResult(**dict(zip(columns, row, strict=True))) for row in rows)
