"""Standard errors of a mean over a panel: independent rows, clusters, or rows that depend in time.

References
----------
Newey, West (1987), Econometrica 55, doi:10.2307/1913610
Driscoll, Kraay (1998), Rev. Econ. Stat. 80, doi:10.1162/003465398557825
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from scorereport._utils.checks import check_inside, check_option, check_whole
from scorereport._utils.formatting import format_counted, format_fixed, format_plain
from scorereport.errors import UsageError
from scorereport.inference.time_errors import cosine_error, number_of_cosines

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray
    from scorereport.inference.panel import PanelRows
    from scorereport.reliability.sampling import SamplingUnits

ERRORS = ("auto", "iid", "hac", "cluster")
#: With fewer clusters or times than this, errors are approximate.
FEW_UNITS = 30
#: A standard error this small relative to the largest value comes from rounding of equal values.
_ROUNDING = 1e-14


class ErrorDistribution(NamedTuple):
    """The distribution of an estimate over its standard error: normal, or t for finite degrees of freedom."""

    degrees_of_freedom: float = np.inf

    def critical_value(self, level: float) -> float:
        """The two-sided quantile."""
        upper = (1 + level) / 2
        is_normal = np.isinf(self.degrees_of_freedom)
        return float(ndtri(upper) if is_normal else stdtrit(self.degrees_of_freedom, upper))

    @property
    def name_of_test(self) -> str:
        """The name of a test by this distribution."""
        df = self.degrees_of_freedom
        return (
            "normal test" if not np.isfinite(df) else f"t test with {format_fixed(df, 1)} degrees of freedom"
        )

    def p_value(self, statistic: float) -> float:
        """The two-sided p-value of a statistic."""
        tail, df = -abs(statistic), self.degrees_of_freedom
        return 2 * float(ndtr(tail) if np.isinf(df) else stdtr(df, tail))


_NORMAL = ErrorDistribution()


class WaldTest(NamedTuple):
    """A Wald interval and test of a number that is 0 under the null hypothesis."""

    standard_error: float
    lower: float
    upper: float
    statistic: float
    p_value: float


class ErrorChoice(NamedTuple):
    """How differences are tested: the level, and which rows may depend on each other.

    For rows that depend in time, `lags` are those of Newey and West, or None for cosines.
    """

    level: float
    errors: str
    lags: int | None


def choose_errors(
    panel: PanelRows, level: float, errors: str = "auto", lags: int | None = None
) -> ErrorChoice:
    """Check how a panel is to be compared, and resolve "auto" and the lags."""
    level = check_inside(level, "level", 0, 1, closed="neither")
    check_option(errors, "errors", ERRORS)
    if errors == "auto":
        errors = "iid" if panel.time is None else "hac"
        errors = errors if panel.cluster is None else "cluster"
    if errors == "hac" and panel.time is None:
        raise UsageError('`errors="hac"` needs `time`, which orders the rows.')
    if errors == "cluster" and panel.cluster is None:
        raise UsageError('`errors="cluster"` needs `cluster`.')
    if errors != "hac" and lags is not None:
        raise UsageError(f'`lags` are for `errors="hac"`; the errors are "{errors}".')
    return ErrorChoice(level, errors, _check_lags(panel, lags) if errors == "hac" else 0)


def wald_test(
    value: float, standard_error: float, level: float, distribution: ErrorDistribution = _NORMAL
) -> WaldTest:
    """Compute interval and test; without spread there is no test, and an interval only for the value 0."""
    if not standard_error > 0:
        bound = 0.0 if value == 0 and standard_error == 0 else np.nan
        return WaldTest(standard_error, bound, bound, np.nan, np.nan)
    half_width = distribution.critical_value(level) * standard_error
    statistic = value / standard_error
    return WaldTest(
        standard_error=standard_error,
        lower=value - half_width,
        upper=value + half_width,
        statistic=statistic,
        p_value=distribution.p_value(statistic),
    )


def error_distribution(panel: PanelRows, choice: ErrorChoice) -> ErrorDistribution:
    """Return the normal distribution for independent rows, or t with Satterthwaite's freedom for clusters.

    With times it is t with a degree of freedom for each cosine or, with lags, one less than the times.
    """
    if choice.errors == "iid":
        return _NORMAL
    if choice.errors == "cluster":
        freedom = panel.units.degrees_of_freedom
        return ErrorDistribution(1.0 if np.isnan(freedom) else freedom)
    if choice.lags is None:
        return ErrorDistribution(number_of_cosines(_number_of_times(panel)))
    return ErrorDistribution(max(_number_of_times(panel) - 1, 1))


def distribution_of_mean(panel: PanelRows, choice: ErrorChoice) -> ErrorDistribution:
    """Return the distribution of a mean over its error: t with n - 1 degrees for n independent rows."""
    return (
        ErrorDistribution(max(panel.units.size - 1, 1))
        if choice.errors == "iid"
        else error_distribution(panel, choice)
    )


def describe_few(panel: PanelRows, choice: ErrorChoice) -> str:
    """Describe that clusters or times are few; empty otherwise."""
    if choice.errors == "iid":
        return ""
    if choice.errors == "cluster":
        return describe_few_draws(panel.units)
    units = _number_of_times(panel)
    if units >= FEW_UNITS:
        return ""
    few = f"Only {format_counted(units, 'time')}: with fewer than {FEW_UNITS}"
    return f"{few} they are treated as independent of each other."


def describe_few_draws(units: SamplingUnits) -> str:
    """Describe that the clusters of a sample are few; empty otherwise, and without clusters."""
    return "" if units.cluster is None else describe_few_clusters(int(units.size), units.effective_size)


def describe_few_clusters(clusters: int, effective: float) -> str:
    """Describe that clusters are few, or so unequal that they count as few; empty otherwise.

    `effective` is the number of clusters of equal weight that carry as much information.
    """
    if effective >= FEW_UNITS:
        return ""
    few = f"with fewer than {FEW_UNITS} intervals and tests rest on few independent clusters"
    if clusters - effective < 0.1 * clusters:
        return f"Only {format_counted(clusters, 'cluster')}: {few}."
    equal = format_fixed(effective, 1)
    return f"{format_counted(clusters, 'cluster')} of unequal size count as {equal} equal ones: {few}."


def mean_error(panel: PanelRows, values: FloatArray, settings: ErrorChoice) -> float:
    """Compute the standard error of a mean by the errors chosen."""
    if settings.errors == "hac":
        error = time_error(panel, values, settings.lags)
    else:
        units = panel.units if settings.errors == "cluster" else replace(panel.units, cluster=None)
        error = units.standard_error(values)
    return without_rounding(error, values)


def time_error(panel: PanelRows, values: FloatArray, lags: int | None) -> float:
    """Compute the standard error of a mean of rows that depend in time, by lags if given, else by cosines."""
    return cosine_error(panel, values) if lags is None else hac_error(panel, values, lags)


def hac_error(panel: PanelRows, values: FloatArray, lags: int) -> float:
    """Compute Newey and West's standard error of the weighted mean, over the panel's times; NaN for one time.

    Sums are numpy's own: the last bits of those of statsmodels depend on the number of threads.
    """
    sums = _sums_by_time(panel, values)
    n = len(sums)
    if n <= 1:
        return np.nan
    spread = float((sums**2).sum())
    for lag in range(1, lags + 1):
        spread += 2 * (1 - lag / (lags + 1)) * float((sums[lag:] * sums[:-lag]).sum())
    return float(np.sqrt(max(spread, 0.0) * n / (n - 1)) / panel.units.total)


def without_rounding(error: float, values: FloatArray) -> float:
    """Return 0 for values that are equal up to rounding or all 0, which have no error; else the error."""
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    return 0.0 if largest == 0 or error <= _ROUNDING * largest else error


def describe_errors(panel: PanelRows, settings: ErrorChoice) -> str:
    """Describe the errors, as part of a method."""
    if settings.errors == "cluster":
        return f"cluster errors ({format_plain(panel.units.size)} clusters)"
    if settings.errors == "iid":
        return "iid errors"
    if settings.lags is None:
        times = _number_of_times(panel)
        return f"errors in time ({number_of_cosines(times)} cosines, {times} times)"
    return f"HAC errors (Bartlett, {settings.lags} lags, {_number_of_times(panel)} times)"


def _check_lags(panel: PanelRows, lags: int | None) -> int | None:
    times = _number_of_times(panel)
    if lags is None:  # few times do not show how they depend on each other
        return None if times >= FEW_UNITS else 0
    if check_whole(lags, "lags", 0) >= times:
        raise UsageError(f"`lags` must be fewer than the times; got {lags} for {times}.")
    return int(lags)


def _sums_by_time(panel: PanelRows, values: FloatArray) -> FloatArray:
    """Weighted sum of the deviations from the mean at each time."""
    _, position = np.unique(np.asarray(panel.time), return_inverse=True)
    deviation: FloatArray = (values - panel.units.mean(values)) * panel.units.row_weight
    return np.bincount(position, weights=deviation).astype(np.float64)


def _number_of_times(panel: PanelRows) -> int:
    return len(np.unique(np.asarray(panel.time)))
