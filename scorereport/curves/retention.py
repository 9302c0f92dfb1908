"""Sample retention: how a metric of hard labels improves as the worst-scored cases are set aside."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from scorereport.arrays import FloatArray, IntArray, read_only
from scorereport.checks import check_classes, check_option, check_probability
from scorereport.errors import UsageError
from scorereport.scores.ordinal import expected_cost, quadratic_weighted_kappa
from scorereport.scores.registry import Kind, get_score

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

_DEFAULT_FRACTIONS = tuple(step / 100 for step in range(0, 51, 5))
_METRICS = ("quadratic_weighted_kappa", "expected_cost", "accuracy")
#: Lets 0.29 of 100 cases be 29, though 0.29 * 100 falls just short of it.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RetentionCurve:
    """A metric of the retained cases against the fraction removed, and the area under it."""

    fraction: FloatArray
    value: FloatArray
    n_retained: FloatArray
    score: str
    metric: str

    @property
    def area(self) -> float:
        """Area by trapezoids, with fractions in [0, 1]; times 100 on a percent axis."""
        return float(np.trapezoid(self.value, self.fraction))


def retention_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    score: str | Callable[..., FloatArray] = "rps",
    metric: str | Callable[..., float] = "quadratic_weighted_kappa",
    fractions: ArrayLike = _DEFAULT_FRACTIONS,
    sample_weight: ArrayLike | None = None,
) -> RetentionCurve:
    """Remove the fraction of cases with the worst scores, take the likeliest class of the rest.

    A fraction f removes floor(f n) cases; with weights n is their sum, and a case may leave in part.
    Cases with the same score leave in an order set by their class and label, so that the order of
    rows does not matter. A metric given as a function takes (y_true, y_label) of the retained cases,
    and `sample_weight=` if weights are given.

    Erratum: the areas of 13 to 18 that the paper prints need a percent axis.

    References
    ----------
    Galdran (2023), MICCAI, doi:10.48550/arXiv.2309.08701

    >>> retention_curve([0, 1, 1], [[.9, .1], [.6, .4], [.2, .8]], metric="accuracy", fractions=[0, .4]).value
    array([0.66666667, 1.        ])
    """
    y, p, weight = check_classes(y_true, y_prob, sample_weight)
    fraction = check_probability(fractions, "fractions")
    if (np.diff(fraction) <= 0).any():
        raise UsageError("`fractions` must rise.")
    label = p.argmax(axis=1)
    per_case = np.asarray((_class_score(score) if isinstance(score, str) else score)(y, p))
    order = np.lexsort((label, y, per_case))
    w = np.ones(len(y)) if weight is None else weight[order]
    retained = w.sum() - np.floor(fraction * w.sum() + _ROUNDING)
    if retained.min() == 0:
        raise UsageError(f"`fractions` must leave a case; {fraction.max():g} of {w.sum():g} leaves none.")
    measure = _metric(metric, p.shape[1])
    kept = [np.clip(k - (np.cumsum(w) - w), 0, w) for k in retained]
    options = [{} if weight is None else {"sample_weight": part[part > 0]} for part in kept]
    value = np.array(
        [measure(y[order][k > 0], label[order][k > 0], **o) for k, o in zip(kept, options, strict=True)]
    )
    return RetentionCurve(
        fraction=read_only(fraction.copy()),
        value=read_only(value),
        n_retained=read_only(retained),
        score=_name(score),
        metric=_name(metric),
    )


def _class_score(name: str) -> Callable[..., FloatArray]:
    entry = get_score(name)
    if entry.kind not in {Kind.MULTICLASS, Kind.ORDINAL}:
        raise UsageError(
            f"`score` must score class probabilities case by case; {name!r} scores {entry.kind}."
        )
    return entry.function


def _metric(metric: str | Callable[..., float], n_classes: int) -> Callable[..., float]:
    if callable(metric):
        return metric
    check_option(metric, "metric", _METRICS)
    if metric == "accuracy":
        return _accuracy
    of_labels = {"quadratic_weighted_kappa": quadratic_weighted_kappa, "expected_cost": expected_cost}
    return partial(of_labels[metric], n_classes=n_classes)


def _accuracy(y_true: IntArray, y_label: IntArray, *, sample_weight: FloatArray | None = None) -> float:
    return float(np.average(y_true == y_label, weights=sample_weight))


def _name(choice: object) -> str:
    return choice if isinstance(choice, str) else getattr(choice, "__name__", "callable")
