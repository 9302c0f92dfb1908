"""How many forecasts lie in each of fixed bins, by bucket: what later audits compare with.

Bins are the same for every model and every audit, so that distributions can be added and compared without
the forecasts themselves. They have equal width on the log-odds, where 0.001 and 0.002 are as far apart as
0.5 and 0.67. No edge is at 0.5, which many models forecast exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from scorereport.arrays import FloatArray, IntArray
from scorereport.engines.records import BUCKETS

if TYPE_CHECKING:
    from scorereport.engines.records import Batch, Engine, Sums, Survey

#: Log-odds from −9.06 to 9.06 in steps of an eighth; the first and the last bin hold all beyond.
EDGES: FloatArray = expit((np.arange(-72, 74) - 0.5) / 8)
_BINS = len(EDGES) + 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tallies:
    """Weights by bucket, of the outcomes and, of each model, of the bins of its forecasts.

    `rows` is the number of independent rows if there are no clusters; `are_rows` tells that there are none,
    and that weights, if any, are frequencies. `means` are the mean forecasts.
    """

    rows: float
    are_rows: bool
    outcomes: FloatArray
    forecasts: Mapping[str, FloatArray]
    means: Mapping[str, float]


def find_bins(forecast: FloatArray) -> IntArray:
    """The number of the bin of each forecast."""
    return np.searchsorted(EDGES, forecast, side="right").astype(np.int64)


def tally_forecasts(engine: Engine) -> Tallies:
    """Count outcomes and forecasts of all models in one scan."""
    survey = engine.survey
    outcomes, sums, *bins = engine.reduce(_Tally(survey.models), "counting forecasts by bin")
    return Tallies(
        rows=_count_rows(survey),
        are_rows=survey.are_repeated_rows and survey.clusters is None,
        outcomes=outcomes.reshape(BUCKETS, 2),
        forecasts={m: found.reshape(BUCKETS, _BINS) for m, found in zip(survey.models, bins, strict=True)},
        means={m: float(total / survey.total) for m, total in zip(survey.models, sums, strict=True)},
    )


class _Tally:
    """Sums of a batch: outcomes by bucket, forecasts, and bins of each model by bucket; can be pickled."""

    def __init__(self, models: tuple[str, ...]) -> None:
        self._models = models

    def __call__(self, batch: Batch) -> Sums:
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight
        bucket = batch.bucket.astype(np.int64)
        forecasts = [batch.forecasts[model] for model in self._models]
        return (
            _count(2 * bucket + (batch.y > 0), weight, 2 * BUCKETS),
            np.array([float((weight * forecast).sum()) for forecast in forecasts]),
            *(_count(_BINS * bucket + find_bins(x), weight, _BINS * BUCKETS) for x in forecasts),
        )


def _count(place: IntArray, weight: FloatArray, size: int) -> FloatArray:
    return np.bincount(place, weights=weight, minlength=size).astype(np.float64)


def _count_rows(survey: Survey) -> float:
    """Rows that weights stand for: their sum, or Kish's number of sampling weights."""
    return float(survey.total if survey.are_repeated_rows else survey.total**2 / survey.squares)
