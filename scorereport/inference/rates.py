"""Intervals of rates, such as the share of events among cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit, ndtri

from scorereport.inference.estimates import Estimate

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray
    from scorereport.reliability.sampling import SamplingUnits


def rate_interval(measure: str, happened: FloatArray, units: SamplingUnits, level: float) -> Estimate:
    """Compute the interval of a rate, from 0 or 1 for each row: Wilson's, or normal on log-odds.

    Wilson's is for independent cases. With clusters or fractional weights the standard error is transferred
    to the log-odds of the rate, so that the interval stays inside [0, 1]. A rate of 0 or 1 has no such error:
    the interval is then Wilson's with Kish's number of clusters or of cases.

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
        note="" if np.isfinite(lower) else f"One {units.unit} does not show how much rates vary.",
    )


def _interval(
    rate: float, error: float, units: SamplingUnits, level: float
) -> tuple[str, tuple[float, float]]:
    if units.cluster is None and units.are_repeated_rows:
        return "Wilson", _wilson(rate, units.total, level)
    what = "clusters" if units.cluster is not None else "weighted rows"
    if rate in {0.0, 1.0}:
        n = units.effective_size if units.cluster is not None else units.total / units.case_weight
        return f"Wilson, effective number of {what}", _wilson(rate, n, level)
    return f"normal on log-odds, errors over {what}", _on_log_odds(rate, error, units.critical_value(level))


def interval_of_rate(
    rate: float, n: float, level: float, reach: float | None
) -> tuple[str, tuple[float, float]]:
    """Return method and bounds of a rate of n cases: on log-odds if `reach` is given, else Wilson's."""
    if reach is None or rate in {0.0, 1.0} or not np.isfinite(reach):
        return "Wilson", _wilson(rate, n, level)
    return "normal on log-odds", _on_log_odds(rate, reach, 1.0)


def _wilson(rate: float, n: float, level: float) -> tuple[float, float]:
    lower, upper = wilson_limits(np.array([rate]), np.array([n]), level)
    return float(lower[0]), float(upper[0])


def _on_log_odds(rate: float, error: float, quantile: float) -> tuple[float, float]:
    lower, upper = log_odds_limits(np.array([rate]), np.array([error]), quantile)
    return float(lower[0]), float(upper[0])


def wilson_limits(rate: FloatArray, n: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's limits of several rates of n cases each; NaN where there are no cases."""
    lower, upper = (np.full(len(rate), np.nan) for _ in range(2))
    some = n > 0
    p, size, square = rate[some], n[some], float(ndtri((1 + level) / 2)) ** 2
    middle = (size * p + square / 2) / (size + square)
    reach = np.sqrt(square * (size * p * (1 - p) + square / 4)) / (size + square)
    lower[some], upper[some] = np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)
    lower[some & (rate == 0)], upper[some & (rate == 1)] = 0.0, 1.0  # exact despite rounding
    return lower, upper


@np.errstate(divide="ignore", invalid="ignore")
def log_odds_limits(rate: FloatArray, error: FloatArray, quantile: float) -> tuple[FloatArray, FloatArray]:
    """Return limits of several rates from their errors, transferred to log-odds; NaN at 0 and at 1."""
    reach = quantile * error / (rate * (1 - rate))
    return expit(logit(rate) - reach), expit(logit(rate) + reach)
