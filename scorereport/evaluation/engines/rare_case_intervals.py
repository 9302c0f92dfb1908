"""Intervals from digests that allow for rare cases, which may not be observed: see `inference.rare_cases`.

Cases are split by outcome, and by whether outcome and forecast lie on different sides of 1/2 (a surprise).
The sums by kind of case are those of the digest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scorereport.evaluation.engines.digest import CASE_KINDS, SCORED_AS, SUMS
from scorereport.inference.rare_cases import (
    WIDENED,
    RareSkill,
    WeightedForecasts,
    bound_mean,
    clip_to_range,
    effective_cases,
    limit_cases,
    split_cases,
    widen,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray
    from scorereport.evaluation.engines.scored_digests import ScoredDigest
    from scorereport.inference.estimates import Estimate
    from scorereport.inference.rare_cases import CaseSplit

_SIDE, _OUTCOME = np.array(CASE_KINDS).T
#: For each split, the outcome with which a case of each kind belongs to it, and which kinds belong to it.
_AS_EVENT = np.ones(len(CASE_KINDS), dtype=np.intp)
_AS_SURPRISE = (_SIDE < 0).astype(np.intp)
_SPLITS = {
    "events": (_AS_EVENT, _OUTCOME == 1),
    "surprises": (_AS_SURPRISE, (_OUTCOME == _AS_SURPRISE) & (_SIDE != 0)),
}


def widen_score_interval(model: ScoredDigest, interval: Estimate, at: int) -> Estimate:
    """The interval of a mean score, widened for rare cases and cut to the range of the score."""
    if not np.isfinite(interval.value) or np.isnan(interval.lower):
        return interval
    rare = bound_mean(
        interval.value,
        interval.standard_error,
        _split_all(model, at),
        quantile=model.error_distribution.critical_value(model.level),
        level=model.level,
    )
    bounds = clip_to_range((interval.lower, interval.upper), model.measures[at])
    return _widen(interval, bounds, clip_to_range(rare, model.measures[at]))


def widen_skill_interval(model: ScoredDigest, interval: Estimate, at: int) -> Estimate:
    """The interval of a skill, widened for rare cases and cut at 1."""
    if not np.isfinite(interval.value) or np.isnan(interval.lower):
        return interval
    bounds = interval.lower, min(interval.upper, 1.0)
    if not (splits := _split_all(model, at)):
        return replace(interval, upper=bounds[1])
    cells = model.fit.mean_cells
    forecasts = WeightedForecasts(cells.x_min, cells.n.astype(np.float64))
    rare = RareSkill(model.measures[at], interval.value, forecasts, *splits)
    quantile = model.error_distribution.critical_value(model.level)
    return _widen(interval, bounds, rare.bound(quantile, model.level))


def _widen(interval: Estimate, bounds: tuple[float, float], rare: tuple[float, float]) -> Estimate:
    lower, upper = widen(bounds, rare)
    method = interval.method if (lower, upper) == bounds else f"{interval.method}, {WIDENED}"
    return replace(interval, lower=lower, upper=upper, method=method)


def _split_all(model: ScoredDigest, at: int) -> list[CaseSplit]:
    """The cases split by outcome and by surprise; empty if there are enough of every kind."""
    is_known = not np.isnan(model.digest.kind_sums).any()
    return [_split(model, name, at) for name in _SPLITS] if is_known else []


def _split(model: ScoredDigest, name: str, at: int) -> CaseSplit:
    """The cases of a split and all others, with their mean scores by one measure."""
    outcome, chosen = _SPLITS[name]
    share, error = find_share(model, name)
    sums = model.digest.kind_sums[at]
    return split_cases(
        share=share,
        share_error=error,
        cases=count_independent_cases(model, share, error),
        means=(_mean_of(sums, chosen), _mean_of(sums, ~chosen)),
        typical=(_score_as(sums, outcome), _score_as(sums, 1 - outcome)),
    )


def _mean_of(sums: FloatArray, chosen: NDArray[np.bool_]) -> float:
    """The mean score of some kinds of cases; 0 if there are none."""
    total, weight = (sums[chosen, SCORED_AS.index(name)].sum() for name in ("is", "is_weight"))
    return float(total / weight) if weight > 0 else 0.0


def _score_as(sums: FloatArray, outcome: NDArray[np.intp]) -> float:
    """The mean of finite scores with the given outcome for each kind of cases; infinite if there are none."""
    is_so = outcome == _OUTCOME
    total, weight = (
        np.where(is_so, sums[:, SCORED_AS.index(f"is{end}")], sums[:, SCORED_AS.index(f"other{end}")]).sum()
        for end in ("", "_weight")
    )
    return float(total / weight) if weight > 0 else np.inf


def find_share(model: ScoredDigest, name: str = "events") -> tuple[float, float]:
    """The share of a kind of cases with its error: binomial for independent cases, else by jackknife."""
    share = float(np.clip(model.digest.sums[SUMS.index(name)] / float(model.fit.n), 0, 1))
    share = model.fit.prevalence if name == "events" else share
    if model.units.are_independent:
        return share, binomial_error(share, model.fit.n)
    return share, model.buckets.error(lambda without: without.share(name))


def binomial_error(rate: float, n: float) -> float:
    """Standard error of a rate among n independent cases; NaN for one."""
    return float(np.sqrt(rate * (1 - rate) / (n - 1))) if n > 1 else np.nan


def count_independent_cases(model: ScoredDigest, share: float, error: float) -> float:
    """The number of independent cases behind a share; if all cases are alike, that of the sample."""
    if model.units.are_independent:
        return model.cases
    kish = float(model.fit.n) / model.units.case_weight
    return effective_cases(
        share,
        error,
        most=kish if model.units.clustered else limit_cases(share, error, kish),
        alike=model.cases,
        quantile=model.error_distribution.critical_value(model.level),
        level=model.level,
    )
