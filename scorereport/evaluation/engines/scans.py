"""Scans of all rows in any order: counts at values, logistic regression, and forecasts by bin.

Newton's method starts from the fit to cells of forecasts, which is so near the fit to all rows that two or
three scans suffice. One scan serves all models.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from scorereport._utils.arrays import FloatArray
from scorereport.evaluation.engines.digest import Knots
from scorereport.evaluation.engines.protocol import BUCKETS
from scorereport.results.tallies import EDGES, Tallies, find_bins

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from scorereport._utils.arrays import IntArray
    from scorereport.evaluation.engines.protocol import Batch, Engine, Sums, Survey


#: Newton's method stops after a step this small: the next would be about its square.
_LAST_STEP = 1e-8
#: A likelihood has fallen only if it is lower by more than this, relative to its size.
_ROUNDING = 1e-10
#: The last step may move log-odds by this much, as the root mean square weighted by the information.
_BALANCE = 1e-6
_MOST_SCANS = 30
#: Slopes and intercepts beyond this diverge to infinity.
_FAR = 1e6
#: Bins of forecasts in tallies.
_BINS = len(EDGES) + 1


def count_at(engine: Engine, values: Mapping[str, FloatArray]) -> dict[str, Knots]:
    """Exact counts of each model's forecasts below and at ascending values."""

    def count(batch: Batch) -> Sums:
        return tuple(_count_batch(batch, model, at) for model, at in values.items())

    found = engine.reduce(count, "counting forecasts")
    return {model: _make_knots(at, sums) for (model, at), sums in zip(values.items(), found, strict=True)}


def _count_batch(batch: Batch, model: str, at: FloatArray) -> NDArray[np.float64]:
    """Weights of cases, and of events, as two rows: even columns lie between values, odd ones at values."""
    x = batch.forecasts[model]
    place = 2 * np.searchsorted(at, x, side="right")
    place -= at[place // 2 - 1] == x  # odd places are for the values themselves
    weight = np.ones(len(batch)) if batch.weight is None else batch.weight
    size = 2 * len(at) + 1
    return np.stack(
        [np.bincount(place, weights=w, minlength=size) for w in (weight, weight * batch.y)]
    ).astype(np.float64)


def _make_knots(at: FloatArray, sums: NDArray[np.float64]) -> Knots:
    below = np.cumsum(sums, axis=1) - sums
    n, events = sums[:, 1::2]
    n_below, events_below = below[:, 1::2]
    return Knots(
        x=at,
        n_below=n_below,
        events_below=events_below,
        forecast_below=np.full(len(at), np.nan),
        n_at=n,
        events_at=events,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class StreamedFit:
    """A logistic regression: coefficients, and information and scores by bucket at them.

    `log_likelihood` is that of the fit, `of_forecasts` that of the original forecasts.
    """

    value: FloatArray
    information: FloatArray
    bucket_scores: FloatArray
    log_likelihood: float
    of_forecasts: float


#: The start of each fit, by model and kind of fit: an intercept and a slope, or an intercept alone.
Starts = dict[tuple[str, str], FloatArray]


def fit_logistic(engine: Engine, starts: Starts, buckets: int) -> dict[tuple[str, str], StreamedFit]:
    """Fit logistic regressions of outcomes on log-odds, all by the same scans.

    A fit that has converged or diverged is left out of the next scan; one that diverges is not returned.
    """
    searches = {key: _Search(at=start) for key, start in starts.items()}
    for scan in range(1, _MOST_SCANS + 1):
        at = {key: search.at for key, search in searches.items() if search.goes_on}
        if not at:
            break
        sums = engine.reduce(_likelihood_sums(at, buckets), f"fitting calibration lines, scan {scan}")
        for key, fit in _collect(at, sums).items():
            searches[key] = searches[key].advance(fit)
    return {key: search.converged for key, search in searches.items() if search.converged is not None}


@dataclass(frozen=True, kw_only=True, eq=False)
class _Search:
    """The state of Newton's method; a step that lowers the likelihood is halved."""

    at: FloatArray
    step: FloatArray | None = None
    before: float = -np.inf
    converged: StreamedFit | None = None

    @property
    def goes_on(self) -> bool:
        is_sane = bool(np.isfinite(self.at).all() and np.abs(self.at).max() <= _FAR)
        return is_sane and self.converged is None

    def advance(self, fit: StreamedFit) -> _Search:
        """The search after a scan of all rows."""
        if self.step is not None and fit.log_likelihood < self.before - _ROUNDING * abs(self.before):
            half = self.step / 2
            return replace(self, at=self.at - half, step=half)
        step = _step(fit)
        at = fit.value + step
        is_last = (np.abs(step) <= _LAST_STEP * (1 + np.abs(fit.value))).all() and _is_maximum(fit, step)
        converged = replace(fit, value=at) if is_last else None
        return _Search(at=at, step=step, before=fit.log_likelihood, converged=converged)


def _is_maximum(fit: StreamedFit, step: FloatArray) -> bool:
    """Whether the score equations hold: the step that they require moves log-odds by a negligible amount."""
    moved = float(fit.bucket_scores.sum(axis=0) @ step)
    return bool(abs(moved) <= _BALANCE**2 * fit.information[0, 0])


def _likelihood_sums(at: Starts, buckets: int) -> Callable[[Batch], Sums]:
    fits = dict(at)

    def sums(batch: Batch) -> Sums:
        weight = np.ones(len(batch)) if batch.weight is None else batch.weight
        log_odds = {model: logit(batch.forecasts[model]) for model, _ in fits}
        found = (
            _sums_of_fit(log_odds[model], batch, weight, value, buckets) for (model, _), value in fits.items()
        )
        return tuple(part for parts in found for part in parts)

    return sums


def _sums_of_fit(
    x: FloatArray, batch: Batch, weight: FloatArray, value: FloatArray, buckets: int
) -> list[NDArray[np.float64]]:
    """Log-likelihoods, information and scores by bucket; a single value is the intercept at slope 1."""
    log_odds = value[0] + (value[1] if len(value) == 2 else 1.0) * x
    sign = 1 - 2 * batch.y
    likelihood, of_forecasts = (-float((weight * np.logaddexp(0, sign * eta)).sum()) for eta in (log_odds, x))
    probability = expit(log_odds)
    spread, excess = weight * probability * (1 - probability), weight * (batch.y - probability)
    columns = [np.ones_like(x), x][: len(value)]
    information = np.array([[(spread * one * other).sum() for other in columns] for one in columns])
    scores = np.stack(
        [np.bincount(batch.bucket, weights=excess * one, minlength=buckets) for one in columns], axis=1
    )
    return [np.array([likelihood, of_forecasts]), information, scores.astype(np.float64)]


def _collect(at: Starts, sums: Sums) -> dict[tuple[str, str], StreamedFit]:
    """The fits, from three sums for each."""
    found = zip(sums[::3], sums[1::3], sums[2::3], strict=True)
    return {
        key: StreamedFit(
            value=value,
            information=information,
            bucket_scores=scores,
            log_likelihood=float(likelihoods[0]),
            of_forecasts=float(likelihoods[1]),
        )
        for (key, value), (likelihoods, information, scores) in zip(at.items(), found, strict=True)
    }


def _step(fit: StreamedFit) -> FloatArray:
    try:
        return np.asarray(np.linalg.solve(fit.information, fit.bucket_scores.sum(axis=0)))
    except np.linalg.LinAlgError:
        return np.full(len(fit.value), np.nan)


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
    """A function that sums a batch: outcomes by bucket, forecasts, and bins of each model by bucket.

    It is a class so that it can be pickled.
    """

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
    """The number of rows that weights stand for: their sum or, for sampling weights, Kish's number."""
    return float(survey.total if survey.are_repeated_rows else survey.total**2 / survey.squares)
