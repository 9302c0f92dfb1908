"""Decision curves, and decisions at given thresholds: rates, net benefit and default policies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from scorereport._utils.arrays import FloatArray, read_only
from scorereport._utils.checks import check_interval, check_option, check_probability
from scorereport._utils.record_frames import array_frame
from scorereport._utils.representation import short_repr
from scorereport.curves.fit_or_arrays import accept_fit_keyword, as_fit
from scorereport.errors import UsageError
from scorereport.reliability.blocks import outcomes_before

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport.curves.fit_or_arrays import IsotonicFit


#: Between forecasts net benefit is smooth but not linear; these points approximate it there.
_SMOOTHING = np.linspace(0, 1, 101)
AXES = ("linear", "quadratic", "log")
#: Interventions avoided are given for this many cases.
_PER_HUNDRED = 100


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NetBenefitBand:
    """Pointwise intervals of net benefit at the thresholds of a curve, and just beyond each."""

    lower: FloatArray
    upper: FloatArray
    lower_beyond: FloatArray
    upper_beyond: FloatArray
    level: float
    method: str
    note: str = ""

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DecisionCurve:
    """Net benefit of deciding p >= threshold, of treating all and of treating none.

    `net_benefit` is the value at each threshold, `beyond` the limit from the right, which differs
    where forecasts equal the threshold. `band` holds the interval of each value, None without intervals.
    """

    threshold: FloatArray
    net_benefit: FloatArray
    beyond: FloatArray
    treat_all: FloatArray
    prevalence: float
    band: NetBenefitBand | None = None

    __repr__ = short_repr
    to_frame = array_frame

    @property
    def treat_none(self) -> FloatArray:
        """Net benefit of treating none: zero."""
        return np.zeros(len(self.threshold))

    @property
    def interventions_avoided(self) -> FloatArray:
        """Net reduction in interventions per 100 cases against treating all; NaN at a threshold of 0.

        References
        ----------
        Vickers, Elkin (2006), Med. Decis. Making 26, doi:10.1177/0272989X06295361
        """
        return interventions_avoided(self.net_benefit - self.treat_all, self.threshold)

    def position(self, axis: str = "linear") -> FloatArray:
        """Positions of the thresholds on a rescaled axis.

        On the "quadratic" axis, -(1 - t)²/2, the area between prevalence and net benefit is the
        integral of regret over costs, half the bounded Brier difference; on the "log" axis, log t, it is
        the integral over log-odds, the bounded log difference.

        References
        ----------
        Flores et al. (2025), Appendix E, doi:10.48550/arXiv.2504.04528
        """
        check_option(axis, "axis", AXES)
        if axis == "quadratic":
            return -((1 - self.threshold) ** 2) / 2
        with np.errstate(divide="ignore"):
            return self.threshold if axis == "linear" else np.log(self.threshold)


def interventions_avoided(over_treat_all: FloatArray, threshold: FloatArray) -> FloatArray:
    """Net reduction in interventions per 100 cases, from net benefit minus that of treating all.

    >>> interventions_avoided(np.array([0.05, 0.02]), np.array([0.2, 0.5]))
    array([20.,  2.])
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        per_case = over_treat_all * (1 - threshold) / threshold
    return np.where((threshold > 0) & (threshold < 1), _PER_HUNDRED * per_case, np.nan)


@accept_fit_keyword
def decision_curve(
    y_true: ArrayLike | IsotonicFit,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    lower: float = 0.0,
    upper: float = 0.99,
    thresholds: ArrayLike | None = None,
) -> DecisionCurve:
    """Compute net benefit at given thresholds, or at every forecast and percent from `lower` to `upper`.

    Parameters
    ----------
    y_true : outcomes 0 or 1, or a fit of `corp`, which replaces all three
    y_prob : probabilities
    sample_weight : not negative
    lower, upper : the ends of the thresholds, if none are given
    thresholds : the thresholds, each below 1

    >>> decision_curve([0, 1, 0, 1], [0.1, 0.6, 0.4, 0.8], thresholds=[0.2, 0.5]).net_benefit
    array([0.4375, 0.5   ])
    """
    fit = as_fit(y_true, y_prob, sample_weight)
    fit.require_events("A decision curve")
    if thresholds is None:
        check_interval(lower, upper, closed="left")
        candidates = np.concatenate([[lower, upper], _SMOOTHING, fit.distinct.x_min])
        t = np.unique(candidates[(candidates >= lower) & (candidates <= upper)])
    else:
        t = check_probability(thresholds, "thresholds")
        if t.max() == 1:
            raise UsageError("`thresholds` must be below 1, where net benefit is not defined.")
    odds = t / (1 - t)
    return DecisionCurve(
        threshold=read_only(t.copy()),
        net_benefit=read_only(_net_benefit(fit, t, odds, side="left")),
        beyond=read_only(_net_benefit(fit, t, odds, side="right")),
        treat_all=read_only(fit.prevalence - (1 - fit.prevalence) * odds),
        prevalence=fit.prevalence,
    )


def _net_benefit(
    fit: IsotonicFit, t: FloatArray, odds: FloatArray, *, side: Literal["left", "right"]
) -> FloatArray:
    table = fit.distinct
    first = np.searchsorted(table.x_min, t, side=side)
    true, false = (before[-1] - before[:-1] for before in outcomes_before(table.n, table.events, first))
    return (true - false * odds) / fit.n


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

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdResult:
    """Decisions p >= threshold: shares of the cases, and the mean net benefit and regret.

    `flagged` is the share of cases with a positive decision. Rates are NaN where their denominator has no
    cases. Regret is for a cost of false positives equal to the threshold; net benefit is not defined at a
    threshold of 1. The four counts are sums of weights. `interventions_avoided` is the net reduction in
    interventions per 100 cases against treating all, without a change in the number of treated events; NaN
    at thresholds of 0 and 1. `intervals` are those of shares, net benefit, regret and this reduction, and of
    net benefit minus that of treating all; empty if no level was given. Counts and reduction are None in
    documents of versions that did not have them.
    """

    OPTIONAL: ClassVar = (
        "true_positives",
        "false_positives",
        "false_negatives",
        "true_negatives",
        "interventions_avoided",
    )

    threshold: float
    flagged: float
    sensitivity: float
    specificity: float
    positive_predictive_value: float
    negative_predictive_value: float
    net_benefit: float
    regret: float
    intervals: tuple[ThresholdInterval, ...] = ()
    true_positives: float | None = None
    false_positives: float | None = None
    false_negatives: float | None = None
    true_negatives: float | None = None
    interventions_avoided: float | None = None

    __repr__ = short_repr

    def interval(self, measure: str) -> ThresholdInterval | None:
        """Return the interval of a number by the name of its field; None if there is none."""
        return next((found for found in self.intervals if found.measure == measure), None)


@accept_fit_keyword
def threshold_table(
    y_true: ArrayLike | IsotonicFit,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    thresholds: ArrayLike,
) -> tuple[ThresholdResult, ...]:
    """Compute the results of decisions at each threshold, in the given order; shares are by weight.

    Parameters
    ----------
    y_true : outcomes 0 or 1, or a fit of `corp`, which replaces all three
    y_prob : probabilities
    sample_weight : not negative
    thresholds : a decision is positive if the forecast is at least the threshold

    >>> (row,) = threshold_table([0, 1, 0, 1], [0.1, 0.6, 0.4, 0.8], thresholds=[0.4])
    >>> row.flagged, row.sensitivity, row.specificity, round(row.net_benefit, 4), row.regret
    (0.75, 1.0, 0.5, 0.3333, 0.1)
    """
    fit = as_fit(y_true, y_prob, sample_weight)
    fit.require_events("A threshold table")
    t = check_probability(thresholds, "thresholds")
    distinct = fit.distinct
    first = np.searchsorted(distinct.x_min, t, side="left")
    missed, spared = outcomes_before(distinct.n, distinct.events, first)
    false_negative, true_negative = missed[:-1], spared[:-1]
    true_positive, false_positive = missed[-1] - false_negative, spared[-1] - true_negative
    flagged, total = true_positive + false_positive, missed[-1] + spared[-1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        columns = {
            "threshold": t,
            "flagged": flagged / total,
            "sensitivity": true_positive / missed[-1],
            "specificity": true_negative / spared[-1],
            "positive_predictive_value": true_positive / flagged,
            "negative_predictive_value": true_negative / (true_negative + false_negative),
            "net_benefit": np.where(t < 1, true_positive - false_positive * t / (1 - t), np.nan) / total,
            "regret": (t * false_positive + (1 - t) * false_negative) / total,
            "true_positives": true_positive,
            "false_positives": false_positive,
            "false_negatives": false_negative,
            "true_negatives": true_negative,
            "interventions_avoided": _PER_HUNDRED
            * np.where((t > 0) & (t < 1), true_negative - false_negative * (1 - t) / t, np.nan)
            / total,
        }
    rows = zip(*(values.astype(np.float64).tolist() for values in columns.values()), strict=True)
    return tuple(ThresholdResult(**dict(zip(columns, row, strict=True))) for row in rows)
