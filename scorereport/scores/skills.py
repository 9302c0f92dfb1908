"""Skill: the position of a score between that of the prevalence (0) and of the perfect forecast (1)."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np

from scorereport._utils.checks import check_binary
from scorereport.errors import UsageError
from scorereport.scores.registry import Kind, get_score

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.scores.registry import Score


class _Skill(Protocol):
    """The two orders of arguments of `skill`."""

    @overload
    def __call__(
        self,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        score: str = ...,
        *,
        sample_weight: ArrayLike | None = ...,
        **options: Any,
    ) -> float: ...

    @overload
    def __call__(
        self,
        name: str,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        sample_weight: ArrayLike | None = ...,
        **options: Any,
    ) -> float: ...


def _accept_name_first(function: Callable[..., float]) -> _Skill:
    """Accept `skill("brier", y_true, y_prob)` as well, which was the only form."""

    @wraps(function)
    def call(*args: Any, **named: Any) -> float:
        if args and isinstance(args[0], str):
            return function(*args[1:], score=args[0], **named)
        if "name" in named:
            return function(*args, score=named.pop("name"), **named)
        return function(*args, **named)

    return call


@_accept_name_first
def skill(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    score: str = "brier",
    *,
    sample_weight: ArrayLike | None = None,
    **options: Any,
) -> float:
    """Compute (S_prevalence - S)/(S_prevalence - S_perfect) for a score of binary forecasts or the AUC.

    For a loss whose perfect value is 0 this is 1 - S/S_prevalence; for the AUC it is 2 AUC - 1.
    NaN where a constant forecast is perfect. `skill("brier", y_true, y_prob)` is the same as
    `skill(y_true, y_prob, score="brier")`.

    Parameters
    ----------
    y_true : outcomes 0 or 1
    y_prob : probabilities
    score : the name of a score of binary forecasts, or "roc_auc"
    sample_weight : not negative
    options : passed on to the score, such as `lower=` and `upper=` of "bounded_brier"

    References
    ----------
    Flores et al. (2025), doi:10.48550/arXiv.2504.04528

    >>> round(skill([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], score="brier"), 3)
    0.7
    """
    entry = get_score(score)
    if entry.kind not in {Kind.BINARY, Kind.RANKING}:
        raise UsageError(
            f'`score` must be a score of binary forecasts or "roc_auc"; {score!r} scores {entry.kind}.'
        )
    entry.check_options(options)
    y, p, weight = check_binary(y_true, y_prob, sample_weight)
    if weight is not None:  # a case of weight 0 does not count, even if its score is infinite
        y, p, weight = y[weight > 0], p[weight > 0], weight[weight > 0]
    prevalence = np.full(len(y), np.average(y, weights=weight))
    mean, reference, perfect = (mean_score(entry, y, one, weight, options) for one in (p, prevalence, y))
    return relative_skill(mean, reference, perfect)


def relative_skill(score: float, reference: float, perfect: float) -> float:
    """Return the gain over the reference as a share of the largest possible gain; NaN if that is 0."""
    return (reference - score) / (reference - perfect) if reference != perfect else np.nan


def mean_score(
    entry: Score,
    y: FloatArray | IntArray,
    p: FloatArray,
    weight: FloatArray | None,
    options: Mapping[str, object],
) -> float:
    """Compute the mean of a score over the cases, or a measure of all cases."""
    if entry.per_case:
        return float(np.average(entry.function(y, p, **options), weights=weight))
    return float(entry.function(y, p, sample_weight=weight, **options))
