"""Tests of calibration that need no fit: Spiegelhalter's z, the mean, and Hosmer and Lemeshow's χ²."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import chdtrc

from scorereport._utils.arrays import sum_over_parts
from scorereport._utils.checks import CheckedCases, check_whole
from scorereport._utils.formatting import format_plain
from scorereport._utils.rounding import find_reached
from scorereport.inference.estimates import HypothesisTest
from scorereport.inference.mean_errors import ErrorDistribution, describe_few_draws
from scorereport.inference.panel import ForecastPanel, make_panel
from scorereport.reliability.clusters import variance_of_sum
from scorereport.reliability.outcome_weights import weigh_outcomes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray, IntArray

SPIEGELHALTER_1986 = "Spiegelhalter (1986), Stat. Med. 5, doi:10.1002/sim.4780050506"
HOSMER_LEMESHOW_1980 = (
    "Hosmer, Lemeshow (1980), Commun. Stat. Theory Methods 9, doi:10.1080/03610928008827941"
)
VAN_CALSTER_2019 = (
    "Van Calster, McLernon, van Smeden, Wynants, Steyerberg (2019), BMC Med. 17, "
    "doi:10.1186/s12916-019-1466-7"
)
#: A group with fewer expected events or non-events than this is small for a χ² distribution.
_SMALL_COUNT = 5
#: The sum of a cluster is 0 if it is smaller than this, relative to its terms.
_ROUNDING = 1e-13


class SumTest(NamedTuple):
    """The name, null hypothesis and reference of a test by a sum over all cases."""

    name: str
    null_hypothesis: str
    reference: str


SPIEGELHALTER = SumTest(
    "Spiegelhalter's z",
    "The expected Brier score is what the forecasts, taken as true, imply.",
    SPIEGELHALTER_1986,
)
IN_THE_LARGE = SumTest(
    "Calibration in the large", "The mean forecast is the probability of an event.", VAN_CALSTER_2019
)


def spiegelhalter_test(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> HypothesisTest:
    """Test by the Brier score: z = Σ (y - p)(1 - 2p) / √Σ (1 - 2p)² p(1 - p), two-sided.

    Cases with p = 1/2 do not count, and forecasts below 1/2 that are too high can hide forecasts above 1/2
    that are too low. With clusters the variance is that of the cluster sums, bias-reduced (CR2), and the
    test is a t test with Satterthwaite's degrees of freedom.

    Parameters
    ----------
    y_true : outcomes 0 or 1
    y_prob : probabilities
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed
    cluster : a label per row; rows of a cluster may depend on each other

    References
    ----------
    Spiegelhalter (1986), Stat. Med. 5, doi:10.1002/sim.4780050506

    >>> test = spiegelhalter_test([0, 1, 0, 1, 1], [0.1, 0.3, 0.3, 0.6, 0.9])
    >>> round(test.statistic, 4), round(test.p_value, 4)
    (-0.1826, 0.8551)
    """
    panel = make_panel(
        y_true, {"y_prob": y_prob}, sample_weight=sample_weight, weight_kind=weight_kind, cluster=cluster
    )
    return _test_sum(panel, 1 - 2 * panel.only, SPIEGELHALTER)


def mean_calibration_test(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
    cluster: ArrayLike | None = None,
) -> HypothesisTest:
    """Test calibration in the large: z = Σ (y - p) / √Σ p(1 - p), two-sided; z > 0 if p is too low.

    With clusters the variance is that of the cluster sums, bias-reduced (CR2), and the test is a t test with
    Satterthwaite's degrees of freedom.

    Parameters
    ----------
    y_true : outcomes 0 or 1
    y_prob : probabilities
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed
    cluster : a label per row; rows of a cluster may depend on each other

    References
    ----------
    Van Calster et al. (2019), BMC Med. 17, doi:10.1186/s12916-019-1466-7

    >>> test = mean_calibration_test([0, 1, 1, 0], [0.2, 0.5, 0.5, 0.2])
    >>> round(test.statistic, 4), round(test.p_value, 4)
    (0.6626, 0.5076)
    """
    panel = make_panel(
        y_true, {"y_prob": y_prob}, sample_weight=sample_weight, weight_kind=weight_kind, cluster=cluster
    )
    return _test_sum(panel, np.ones_like(panel.only), IN_THE_LARGE)


def hosmer_lemeshow_test(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    groups: int = 10,
    in_sample: bool = False,
    sample_weight: ArrayLike | None = None,
    weight_kind: str = "sampling",
) -> HypothesisTest:
    """Compare events with forecasts in groups of about equal size: Σ (O - E)² / (n p̄(1 - p̄)).

    A group ends at the forecast that completes its share of the cases, so equal forecasts stay
    together and there may be fewer groups than requested. There is no such test for dependent rows.

    Parameters
    ----------
    y_true : outcomes 0 or 1
    y_prob : probabilities
    groups : number of groups
    in_sample : whether the forecasts were fitted to these outcomes by logistic regression, which
        costs two degrees of freedom
    sample_weight, weight_kind : not negative; "sampling" weights of rows that were drawn once, or
        "frequency", how often each row was observed

    References
    ----------
    Hosmer, Lemeshow (1980), Commun. Stat. Theory Methods 9, doi:10.1080/03610928008827941

    >>> test = hosmer_lemeshow_test([0, 1, 0, 1, 1, 1], [0.1, 0.1, 0.2, 0.2, 0.8, 0.8], groups=3)
    >>> round(test.statistic, 4), test.degrees_of_freedom, round(test.p_value, 4)
    (5.1806, 3, 0.159)
    >>> test.method
    'χ² of 3 groups, degrees of freedom = groups = 3 (out of sample)'
    """
    groups = check_whole(groups, "groups", 2)
    panel = make_panel(y_true, {"y_prob": y_prob}, sample_weight=sample_weight, weight_kind=weight_kind)
    return _test_groups(panel, _equal_groups(panel, groups), in_sample=bool(in_sample))


def examine_sums(panel: ForecastPanel) -> tuple[HypothesisTest, HypothesisTest]:
    """Test a panel's only forecast by Spiegelhalter's z and by calibration in the large."""
    by_brier = _test_sum(panel, 1 - 2 * panel.only, SPIEGELHALTER)
    return by_brier, _test_sum(panel, np.ones_like(panel.only), IN_THE_LARGE)


def examine_groups(panel: ForecastPanel) -> HypothesisTest:
    """Test a panel's only forecast in ten groups, after Hosmer and Lemeshow; rows must be independent."""
    return _test_groups(panel, _equal_groups(panel, 10), in_sample=False)


# Sums over all cases


def _test_sum(panel: ForecastPanel, factor: FloatArray, about: SumTest) -> HypothesisTest:
    """Standardise Σ factor (y - p) by the variance it has if the forecasts are true."""
    total, variance = _sum_and_variance(panel, factor)
    z = total / variance**0.5 if variance > 0 else np.nan
    distribution = ErrorDistribution(panel.units.degrees_of_freedom)
    return HypothesisTest(
        name=about.name,
        statistic=z,
        p_value=distribution.p_value(z),
        null_hypothesis=about.null_hypothesis,
        method=f"two-sided {distribution.name_of_test}, {_describe_variance(panel)}",
        reference=about.reference,
        n=panel.units.total,
        note=_join(
            _why_no_variance(panel, variance) or describe_few_draws(panel.units), _note_impossible(panel)
        ),
    )


def _sum_and_variance(panel: ForecastPanel, factor: FloatArray) -> tuple[float, float]:
    """Σ w factor (y - p) and its variance: by the forecasts, or bias-reduced over clusters (NaN for one)."""
    p, units = panel.only, panel.units
    if units.cluster is None:
        return _sum_rows(panel, factor)
    terms = units.row_weight * factor * (panel.outcome - p)
    sums, sizes = _sums(units.cluster, terms), _sums(units.cluster, np.abs(terms))
    sums[np.abs(sums) <= _ROUNDING * sizes] = 0
    if units.size <= 1:
        return float(sums.sum()), np.nan
    rounding = _ROUNDING * (sizes + units.cluster_weight / units.total * sizes.sum())
    return float(sums.sum()), variance_of_sum(sums, units.cluster_weight, rounding)


def _sum_rows(panel: ForecastPanel, factor: FloatArray) -> tuple[float, float]:
    """The sum and its variance by the forecasts, of independent rows."""
    y, p, weight, squares = panel.outcome, panel.only, panel.units.row_weight, _squared_weight(panel)
    every = slice(0, len(p))
    return (
        sum_over_parts(lambda rows: weight[rows] * factor[rows] * (y[rows] - p[rows]), every),
        sum_over_parts(lambda rows: squares[rows] * factor[rows] ** 2 * p[rows] * (1 - p[rows]), every),
    )


def _sums(group: IntArray, values: FloatArray) -> FloatArray:
    return np.bincount(group, values).astype(np.float64)


def _squared_weight(panel: ForecastPanel) -> FloatArray:
    """What each row adds to a variance: its count if rows are repeated, else its weight squared.

    Where weights depend on outcomes, it is the square under which a calibrated forecast has its variance.
    """
    if panel.units.are_repeated_rows:
        return panel.units.row_weight
    cases = CheckedCases(panel.outcome, panel.only, panel.weight)
    return weigh_outcomes(cases).squares


def _describe_variance(panel: ForecastPanel) -> str:
    if panel.cluster is not None:
        return f"bias-reduced variance over {format_plain(panel.units.size)} clusters"
    return "variance under the null hypothesis" + _describe_weight(panel)


def _describe_weight(panel: ForecastPanel) -> str:
    return "" if panel.units.are_repeated_rows else ", each row drawn once and weighted"


def _why_no_variance(panel: ForecastPanel, variance: float) -> str:
    if np.isnan(variance):
        return "There is only one cluster, so the variance of the sum is not known."
    if variance == 0:
        given = "clusters" if panel.cluster is not None else "forecasts"
        return f"With these {given} the sum has no variance, so there is nothing to compare it with."
    return ""


def note_impossible(count: int) -> str:
    """Describe how many rows have an outcome of forecast probability 0; empty if none."""
    rows = "1 row" if count == 1 else f"{count} rows"
    return f"In {rows} an outcome with probability 0 occurred, which alone refutes calibration." * (count > 0)


def _note_impossible(panel: ForecastPanel) -> str:
    return note_impossible(int(np.count_nonzero(panel.only == 1 - panel.outcome)))


# Groups


def _equal_groups(panel: ForecastPanel, groups: int) -> IntArray:
    """The first row of each group of the sorted forecasts."""
    p = panel.only
    last = p[find_reached(np.cumsum(panel.units.row_weight), np.arange(1, groups) / groups)]
    start = np.unique(np.append(0, np.searchsorted(p, last, side="right")))
    return start[start < len(p)]


def _test_groups(panel: ForecastPanel, start: IntArray, *, in_sample: bool) -> HypothesisTest:
    p, weight = panel.only, panel.units.row_weight
    excess = np.add.reduceat(weight * (panel.outcome - p), start)
    expected, opposite = np.add.reduceat(weight * p, start), np.add.reduceat(weight * (1 - p), start)
    squared = np.add.reduceat(_squared_weight(panel), start)
    terms = _chi_square_terms(excess, squared * expected * opposite / (expected + opposite) ** 2)
    freedom = int(np.count_nonzero(terms >= 0)) - 2 * in_sample
    statistic = float(np.nansum(terms)) if freedom > 0 else np.nan
    return HypothesisTest(
        name="Hosmer-Lemeshow",
        statistic=statistic,
        p_value=float(chdtrc(freedom, statistic)) if freedom > 0 else np.nan,
        null_hypothesis="In every group the mean forecast is the probability of an event.",
        method=_describe_groups(freedom, in_sample=in_sample) + _describe_weight(panel),
        reference=HOSMER_LEMESHOW_1980,
        n=panel.units.total,
        degrees_of_freedom=freedom,
        note=_join(_note_groups(terms, np.minimum(expected, opposite), freedom), _note_impossible(panel)),
    )


def _chi_square_terms(excess: FloatArray, variance: FloatArray) -> FloatArray:
    """One term per group; without variance NaN if all outcomes are as forecast, else infinity."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return excess**2 / variance


def _describe_groups(freedom: int, *, in_sample: bool) -> str:
    count, rule = freedom + 2 * in_sample, "groups - 2" if in_sample else "groups"
    where = "in sample" if in_sample else "out of sample"
    return f"χ² of {count} groups, degrees of freedom = {rule} = {freedom} ({where})"


def _note_groups(terms: FloatArray, smaller: FloatArray, freedom: int) -> str:
    certain = int(np.count_nonzero(np.isnan(terms)))
    small = int(np.count_nonzero((smaller < _SMALL_COUNT) & ~np.isnan(terms)))
    return _join(
        f"{certain} groups whose forecasts are certain and correct do not count." * (certain > 0),
        "There are too few groups for a test." * (freedom <= 0),
        f"In {small} of {len(terms)} groups fewer than {_SMALL_COUNT} events or non-events are "
        "expected; the χ² distribution is inexact there and the test rejects too often." * (small > 0),
    )


def _join(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
