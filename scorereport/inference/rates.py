"""Intervals of rates: the share of cases in which something happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from scorereport.inference.outcomes import Estimate

if TYPE_CHECKING:
    from scorereport.arrays import FloatArray
    from scorereport.sampling import Units


def rate_interval(measure: str, happened: FloatArray, units: Units, level: float) -> Estimate:
    """The interval of a rate, from 0 or 1 for each row: Wilson's, or on log-odds where rows differ.

    Wilson's is for independent cases. Clusters and fractional weights have a standard error of their
    own, which is carried to the log-odds of the rate, so that the interval stays inside [0, 1]. Where it
    is 0 or 1 there is none, and Wilson's interval counts clusters, or Kish's number of cases.

    References
    ----------
    Wilson (1927), J. Am. Stat. Assoc. 22, doi:10.1080/01621459.1927.10502953
    """
    rate, error = units.mean(happened), units.standard_error(happened)
    method, (lower, upper) = _interval(rate, error, units, level)
    return Estimate(
        measure=measure,
        value=rate,
        standard_error=error,
        lower=lower,
        upper=upper,
        level=level,
        method=method,
        n=units.total,
        note="" if np.isfinite(lower) else f"One {units.unit} cannot tell how much rates vary.",
    )


def _interval(rate: float, error: float, units: Units, level: float) -> tuple[str, tuple[float, float]]:
    if units.cluster is None and units.are_repeated_rows:
        return "Wilson", _wilson(rate, units.total, level)
    what = "clusters" if units.cluster is not None else "weighted rows"
    if rate in {0.0, 1.0}:
        n = units.size if units.cluster is not None else units.total / units.case_weight
        return f"Wilson, effective number of {what}", _wilson(rate, n, level)
    return f"normal on log-odds, errors over {what}", _on_log_odds(rate, error, units.critical_value(level))


def interval_of_rate(
    rate: float, n: float, level: float, reach: float | None
) -> tuple[str, tuple[float, float]]:
    """Method and bounds of a rate of n cases; on log-odds if it reaches so far by an error of its own."""
    if reach is None or rate in {0.0, 1.0} or not np.isfinite(reach):
        return "Wilson", _wilson(rate, n, level)
    return "normal on log-odds", _on_log_odds(rate, reach, 1.0)


def _wilson(rate: float, n: float, level: float) -> tuple[float, float]:
    from statsmodels.stats.proportion import proportion_confint

    lower, upper = proportion_confint(rate * n, n, alpha=1 - level, method="wilson")
    return float(max(lower, 0.0)), float(min(upper, 1.0))


def _on_log_odds(rate: float, error: float, quantile: float) -> tuple[float, float]:
    reach = quantile * error / (rate * (1 - rate))
    return float(expit(logit(rate) - reach)), float(expit(logit(rate) + reach))
