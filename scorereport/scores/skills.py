"""Skill: the position of a score between that of the prevalence (0) and of the perfect forecast (1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.checks import check_binary
from scorereport.errors import UsageError
from scorereport.scores.registry import Kind, get_score

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray
    from scorereport.scores.registry import Score


def skill(
    name: str, y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None, **options: Any
) -> float:
    """Compute (S_prevalence - S)/(S_prevalence - S_perfect) for a score of binary forecasts or the AUC.

    For a loss whose perfect value is 0 this is 1 - S/S_prevalence; for the AUC it is 2 AUC - 1.
    Options such as `lower=` and `upper=` are passed to the score. NaN where a constant forecast is perfect.

    References
    ----------
    Flores et al. (2025), doi:10.48550/arXiv.2504.04528

    >>> round(skill("brier", [0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    0.7
    """
    entry = get_score(name)
    if entry.kind not in {Kind.BINARY, Kind.RANKING}:
        raise UsageError(
            f'`name` must be a score of binary forecasts or "roc_auc"; {name!r} scores {entry.kind}.'
        )
    entry.check_options(options)
    y, p, weight = check_binary(y_true, y_prob, sample_weight)
    if weight is not None:  # a case of weight 0 does not count, even if its score is infinite
        y, p, weight = y[weight > 0], p[weight > 0], weight[weight > 0]
    prevalence = np.full(len(y), np.average(y, weights=weight))
    score, reference, perfect = (
        _mean(entry, y, forecast, weight, options) for forecast in (p, prevalence, y)
    )
    return relative_skill(score, reference, perfect)


def relative_skill(score: float, reference: float, perfect: float) -> float:
    """Return the gain over the reference as a share of the largest possible gain; NaN if that is 0."""
    return (reference - score) / (reference - perfect) if reference != perfect else np.nan


def _mean(
    entry: Score, y: FloatArray, p: FloatArray, weight: FloatArray | None, options: dict[str, Any]
) -> float:
    if entry.per_case:
        return float(np.average(entry.function(y, p, **options), weights=weight))
    return float(entry.function(y, p, sample_weight=weight, **options))
