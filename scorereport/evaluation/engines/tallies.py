"""Count in one scan how many forecasts of each model lie in each of the fixed bins, by bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.evaluation.engines.protocol import BUCKETS
from scorereport.results.tallies import EDGES, Tallies, find_bins

if TYPE_CHECKING:
    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.evaluation.engines.protocol import Batch, Engine, Sums, Survey

_BINS = len(EDGES) + 1


def tally_forecasts(engine: Engine) -> Tallies:
    """Count outcomes and forecasts of all models in one scan."""
    survey = engine.survey
    outcomes, sums, *bins = engine.reduce(_Tally(survey.models), "counting forecasts by bin")
    return Tallies(
        rows=_count_independent_rows(survey),
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
            _count_by_bin(2 * bucket + (batch.y > 0), weight, 2 * BUCKETS),
            np.array([float((weight * forecast).sum()) for forecast in forecasts]),
            *(_count_by_bin(_BINS * bucket + find_bins(x), weight, _BINS * BUCKETS) for x in forecasts),
        )


def _count_by_bin(place: IntArray, weight: FloatArray, size: int) -> FloatArray:
    return np.bincount(place, weights=weight, minlength=size).astype(np.float64)


def _count_independent_rows(survey: Survey) -> float:
    """Rows that weights stand for: their sum, or Kish's number of sampling weights."""
    return float(survey.total if survey.are_repeated_rows else survey.total**2 / survey.squares)
