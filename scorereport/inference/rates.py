"""Intervals of rates: the share of cases in which something happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit, ndtri

from scorereport.inference.outcomes import Estimate

if TYPE_CHECKING:
    from scorereport.arrays import FloatArray
    from scorereport.sampling import Units


def rate_interval(measure: str, happened: FloatArray, units: Units, level: float) -> Estimate:
    """The interval of a rate, from 0 or 1 for each row: Wilson's, or on log-odds where rows differ.

    Wilson's is for independent cases. Clusters and fractional weights have a standard error of their
    own, which is carried to the log-odds of the rate, so that the interval stays inside [0, 1].

    References
    ----------
    Wilson (1927), J. Am. Stat. Assoc. 22, doi:10.1080/01621459.1927.10502953
    """
    rate, error = units.mean(happened), units.standard_error(happened)
    if units.cluster is None and units.are_repeated_rows:
        method, (lower, upper) = "Wilson", _wilson(rate * units.total, units.total, level)
    else:
        what = "cluster" if units.cluster is not None else "weighted"
        method, (lower, upper) = f"normal on log-odds, {what} errors", _on_log_odds(rate, error, level)
    return Estimate(
        measure=measure,
        value=rate,
        standard_error=error,
        lower=lower,
        upper=upper,
        level=level,
        method=method,
        note="" if np.isfinite(lower) else "All cases are the same: these errors give no interval.",
    )


def _wilson(happened: float, n: float, level: float) -> tuple[float, float]:
    from statsmodels.stats.proportion import proportion_confint

    lower, upper = proportion_confint(round(happened), round(n), alpha=1 - level, method="wilson")
    return float(lower), float(upper)


def _on_log_odds(rate: float, error: float, level: float) -> tuple[float, float]:
    if not 0 < rate < 1:
        return np.nan, np.nan
    reach = float(ndtri((1 + level) / 2)) * error / (rate * (1 - rate))
    return float(expit(logit(rate) - reach)), float(expit(logit(rate) + reach))
