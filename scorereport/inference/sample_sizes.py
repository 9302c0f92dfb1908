"""How many cases a validation needs before there are any: sizes at which intervals are narrow enough.

Each criterion is the width of an interval: of the ratio of observed and expected events, of the calibration
slope, of the AUC, and of the standardized net benefit at a threshold. The forecasts are taken as calibrated.

References
----------
Riley, Debray, Collins, Archer, Ensor, van Smeden, Snell (2021), Stat. Med. 40, doi:10.1002/sim.9025
Newcombe (2006), Stat. Med. 25, doi:10.1002/sim.2324, on the error of the AUC
"""

from __future__ import annotations

from dataclasses import dataclass
from math import asinh, ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit, ndtri

from scorereport._utils.checks import check_inside, check_probability
from scorereport._utils.formatting import format_plain
from scorereport._utils.representation import short_repr
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray

RILEY_2021 = (
    "Riley, Debray, Collins, Archer, Ensor, van Smeden, Snell (2021), Stat. Med. 40, doi:10.1002/sim.9025"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeCriterion:
    """A number whose interval has a given width at a number of cases; its expected value and its error."""

    measure: str
    value: float
    width: float
    standard_error: float
    cases: int

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePlan:
    """The cases that a validation needs by each criterion; `cases` and `events` are the largest numbers."""

    prevalence: float
    auc: float
    level: float
    criteria: tuple[SizeCriterion, ...]
    reference: str = RILEY_2021

    __repr__ = short_repr

    @property
    def cases(self) -> int:
        """The number of cases that meets all criteria."""
        return max(criterion.cases for criterion in self.criteria)

    @property
    def events(self) -> int:
        """The number of events to expect among them."""
        return ceil(self.cases * self.prevalence)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row for each criterion."""
        import pandas as pd

        columns = ("measure", "value", "width", "standard_error", "cases")
        return pd.DataFrame([{name: getattr(one, name) for name in columns} for one in self.criteria])


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalWidths:
    """The widths that intervals must not exceed."""

    ratio: float
    slope: float
    auc: float
    net_benefit: float


def plan_sample_size(
    y_prob: ArrayLike,
    *,
    prevalence: float | None = None,
    auc: float | None = None,
    thresholds: Sequence[float] = (),
    ratio_width: float = 0.2,
    slope_width: float = 0.2,
    auc_width: float = 0.1,
    net_benefit_width: float = 0.2,
    level: float = 0.95,
) -> SamplePlan:
    """Compute how many cases the validation of a binary model needs, before outcomes are known.

    Parameters
    ----------
    y_prob : forecasts as they are expected in the validation, for example those of the development sample
    prevalence : the expected share of events; unless given, the mean of the forecasts
    auc : the expected AUC; unless given, that of these forecasts if they are calibrated
    thresholds : thresholds at which the standardized net benefit must be precise
    ratio_width, slope_width, auc_width, net_benefit_width : the widths of the intervals of observed over
        expected events, calibration slope, AUC, and net benefit divided by the prevalence
    level : confidence level of the intervals

    References
    ----------
    Riley et al. (2021), Stat. Med. 40, doi:10.1002/sim.9025
    Newcombe (2006), Stat. Med. 25, doi:10.1002/sim.2324, on the error of the AUC

    >>> from scipy.special import expit
    >>> from scipy.stats import norm
    >>> forecasts = expit(norm(-5, 2.5).ppf((np.arange(100_000) + 0.5) / 100_000))
    >>> plan = plan_sample_size(forecasts, prevalence=0.018, auc=0.8, ratio_width=1)
    >>> plan.to_frame()[["measure", "cases"]]  # an example of Riley et al.
                   measure  cases
    0  observed / expected    906
    1    calibration slope   4554
    2                  AUC   4252
    """
    p = check_probability(y_prob, "y_prob")
    if np.unique(p[(p > 0) & (p < 1)]).size < 2:
        raise UsageError("`y_prob` must have at least two different forecasts between 0 and 1.")
    share = float(p.mean()) if prevalence is None else prevalence
    area = _imply_auc(p) if auc is None else auc
    widths = IntervalWidths(
        ratio=_check_width(ratio_width, "ratio_width"),
        slope=_check_width(slope_width, "slope_width"),
        auc=_check_width(auc_width, "auc_width"),
        net_benefit=_check_width(net_benefit_width, "net_benefit_width"),
    )
    share = check_inside(share, "prevalence", 0, 1, closed="neither")
    area = check_inside(area, "auc", 0, 1, closed="neither")
    level = check_inside(level, "level", 0, 1, closed="neither")
    at = [check_inside(t, "thresholds", 0, 1, closed="neither") for t in thresholds]
    criteria = tuple(_list_criteria(p, share, area, at, widths, float(ndtri((1 + level) / 2))))
    return SamplePlan(prevalence=share, auc=area, level=level, criteria=criteria)


def _check_width(width: float, name: str) -> float:
    return check_inside(width, name, 0, np.inf, closed="neither")


def _list_criteria(
    p: FloatArray, share: float, area: float, thresholds: Sequence[float], widths: IntervalWidths, z: float
) -> Iterator[SizeCriterion]:
    error = asinh(widths.ratio / 2) / z  # of the logarithm of the ratio, whose interval is symmetric
    cases = (1 - share) / (share * error**2)
    yield _criterion("observed / expected", 1.0, widths.ratio, error, cases)
    error = widths.slope / (2 * z)
    yield _criterion("calibration slope", 1.0, widths.slope, error, _slope_variance(p) / error**2)
    error = widths.auc / (2 * z)
    yield _criterion("AUC", area, widths.auc, error, _cases_for_auc(share, area, error))
    error = widths.net_benefit / (2 * z)
    for threshold in thresholds:
        rates = _imply_rates(p, threshold)
        value, variance = _standardized_net_benefit(share, *rates, threshold)
        name = f"net benefit / prevalence at {format_plain(threshold)}"
        yield _criterion(name, value, widths.net_benefit, error, variance / error**2)


def _criterion(measure: str, value: float, width: float, error: float, cases: float) -> SizeCriterion:
    found = ceil(cases * (1 - 1e-9))  # a whole number up to rounding stays
    return SizeCriterion(measure=measure, value=value, width=width, standard_error=error, cases=found)


def _slope_variance(p: FloatArray) -> float:
    """The variance of the calibration slope times the number of cases, at intercept 0 and slope 1."""
    is_inside = (p > 0) & (p < 1)
    x, weight = logit(p[is_inside]), p[is_inside] * (1 - p[is_inside])
    n, mean = len(p), float((weight * x).sum() / weight.sum())
    return n / float((weight * (x - mean) ** 2).sum())


def _cases_for_auc(share: float, area: float, error: float) -> float:
    """The root in n of Newcombe's variance C(1 - C)(1 + (n/2 - 1)k) / (n² φ(1 - φ)) = error²."""
    factor = (1 - area) / (2 - area) + area / (1 + area)
    scale = error**2 * share * (1 - share) / (area * (1 - area))
    half = factor / 4  # scale n² - 2 half n - (1 - factor) = 0
    return (half + sqrt(half**2 + scale * (1 - factor))) / scale


def _standardized_net_benefit(
    share: float, sensitivity: float, specificity: float, threshold: float
) -> tuple[float, float]:
    """Net benefit over prevalence, and its variance times the number of cases."""
    odds = (1 - share) / share * threshold / (1 - threshold)
    value = sensitivity - odds * (1 - specificity)
    variance = (
        sensitivity * (1 - sensitivity) / share
        + odds**2 * specificity * (1 - specificity) / (1 - share)
        + odds**2 * (1 - specificity) ** 2 / (share * (1 - share))
    )
    return value, variance


def _imply_rates(p: FloatArray, threshold: float) -> tuple[float, float]:
    """Sensitivity and specificity at a threshold, if the forecasts are calibrated."""
    is_flagged = p >= threshold
    return float(p[is_flagged].sum() / p.sum()), float((1 - p[~is_flagged]).sum() / (1 - p).sum())


def _imply_auc(p: FloatArray) -> float:
    """The AUC of forecasts that are calibrated; a tie counts half."""
    distinct, count = np.unique(p, return_counts=True)
    events, others = distinct * count, (1 - distinct) * count
    below = np.cumsum(others) - others / 2
    return float((events * below).sum() / (events.sum() * others.sum()))
