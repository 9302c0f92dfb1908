"""`ForecastSummary`: the range, mean and quantiles of a model's forecasts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport.curves.fitted import quantiles_of
from scorereport.reliability.sampling import are_whole
from scorereport.results.model_records import ForecastSummary, Quantile

if TYPE_CHECKING:
    from scorereport.reliability.blocks import Blocks
    from scorereport.reliability.fit import Corp

#: Levels of the quantiles of forecasts that are reported.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
#: Digits to which counts from fractional weights are rounded.
_DIGITS = 9


def describe_forecasts(fit: Corp) -> ForecastSummary:
    """A summary of the distribution of forecasts: range, mean and quantiles."""
    distinct = fit.distinct
    return ForecastSummary(
        forecast_type=fit.forecast_type,
        n_distinct=len(distinct),
        minimum=float(distinct.x_min[0]),
        mean=float((distinct.x_min * distinct.n).sum() / fit.n),
        maximum=float(distinct.x_max[-1]),
        quantiles=find_quantiles(_counted(fit)),
    )


def find_quantiles(counted: Blocks) -> tuple[Quantile, ...]:
    """The quantiles of distinct forecasts with counts of cases."""
    values = quantiles_of(counted, QUANTILES)
    return tuple(Quantile(level=at, value=value) for at, value in zip(QUANTILES, values, strict=True))


def _counted(fit: Corp) -> Blocks:
    """Distinct forecasts with counts of cases; fractional weights are divided by the weight of a case."""
    units, distinct = fit.sample.units, fit.distinct
    return distinct if are_whole(units.weight) else count_weighted_cases(distinct, units.case_weight)


def count_weighted_cases(distinct: Blocks, case_weight: float) -> Blocks:
    """Sums of weights as counts of cases, up to rounding."""
    return replace(distinct, n=np.round(distinct.n / case_weight, _DIGITS))
