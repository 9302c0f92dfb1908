"""Intervals of the results of decisions at thresholds: rates, net benefit and regret.

All of them follow from four sums of weights: true and false positives, false and true negatives. Rates have
Wilson's interval; net benefit and regret are sums of two shares of all cases, and their limits are combined
from those of the shares. With sampling weights or clusters the covariance of the four sums is estimated over
the sampling units.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import read_only
from scorereport._utils.checks import check_inside
from scorereport.curves.decision import (
    DecisionCurve,
    NetBenefitBand,
    ThresholdInterval,
    ThresholdResult,
    threshold_table,
)
from scorereport.inference.decision_tallies import (
    OVER_TREAT_ALL,
    RATES,
    DecisionLimits,
    Decisions,
    DecisionTally,
    tally_rows,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport.reliability.fit import Corp

ZOU_DONNER_2008 = "Zou, Donner (2008), Stat. Med. 27, doi:10.1002/sim.3095"


def threshold_intervals(
    fit: Corp, *, thresholds: ArrayLike, level: float = 0.95
) -> tuple[ThresholdResult, ...]:
    """Compute decisions at each threshold with intervals of rates, net benefit and regret.

    Rates have Wilson's interval. Net benefit and regret are sums of shares of all cases; their limits are
    combined from Wilson's limits of the shares. With clusters or sampling weights limits are on log-odds.

    Parameters
    ----------
    fit : a fit of outcomes 0 and 1
    thresholds : in [0, 1]; a case is flagged if its forecast is at least the threshold
    level : confidence level of each interval, at its threshold alone

    References
    ----------
    Wilson (1927), J. Am. Stat. Assoc. 22, doi:10.1080/01621459.1927.10502953
    Zou, Donner (2008), Stat. Med. 27, doi:10.1002/sim.3095

    >>> from scorereport import corp
    >>> (row,) = threshold_intervals(corp([0, 1, 0, 1], [0.1, 0.6, 0.4, 0.8]), thresholds=[0.4])
    >>> found = row.interval("sensitivity")
    >>> found.value, round(found.lower, 4), found.upper, found.method
    (1.0, 0.3424, 1.0, 'Wilson')
    """
    level = check_inside(level, "level", 0, 1, closed="neither")
    return add_threshold_intervals(threshold_table(fit, thresholds=thresholds), tally_rows(fit, level))


def add_threshold_intervals(
    results: tuple[ThresholdResult, ...], tally: DecisionTally
) -> tuple[ThresholdResult, ...]:
    """Add intervals of all numbers to the rows of a threshold table."""
    t = np.array([result.threshold for result in results])
    found = tally(t, "left")
    with np.errstate(divide="ignore"):
        odds = np.where(t < 1, t / (1 - t), np.nan)
    limits = {measure: found.rate(measure) for measure in RATES} | {
        "net_benefit": found.net_benefit(odds),
        OVER_TREAT_ALL: found.over_treat_all(odds),
        "regret": found.regret(t),
        "interventions_avoided": found.interventions_avoided(t),
    }
    return tuple(
        replace(result, intervals=tuple(_describe(m, at, place, found) for m, at in limits.items()))
        for place, result in enumerate(results)
    )


def _describe(measure: str, limits: DecisionLimits, place: int, found: Decisions) -> ThresholdInterval:
    value, lower, upper = (float(column[place]) for column in limits)
    combined = "" if measure in RATES else "limits of two shares combined (Zou, Donner): "
    missing = "" if np.isfinite(value) else "The denominator has no cases: there is no interval."
    return ThresholdInterval(
        measure=measure,
        value=value,
        lower=lower,
        upper=upper,
        level=found.level,
        method=f"{combined}{found.method}",
        note=missing or found.note,
    )


def add_decision_band(curve: DecisionCurve, tally: DecisionTally) -> DecisionCurve:
    """Add pointwise intervals of net benefit to a decision curve."""
    odds = curve.threshold / (1 - curve.threshold)
    at, beyond = (tally(curve.threshold, side) for side in ("left", "right"))
    here, there = at.net_benefit(odds), beyond.net_benefit(odds)
    band = NetBenefitBand(
        lower=read_only(here.lower),
        upper=read_only(here.upper),
        lower_beyond=read_only(there.lower),
        upper_beyond=read_only(there.upper),
        level=at.level,
        method=f"pointwise; limits of two shares combined (Zou, Donner): {at.method}",
        note=at.note,
    )
    return replace(curve, band=band)
