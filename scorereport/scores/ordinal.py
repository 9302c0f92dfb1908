"""Scores for K ordered classes, of probabilities and of hard labels.

`y_true` and `y_label` hold class indices 0..K-1 in their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport.checks import check_classes, check_labels, check_option, check_same_length, check_weight
from scorereport.errors import UsageError
from scorereport.scores.references import COHEN_1968, EPSTEIN_1969, GALDRAN_2023
from scorereport.scores.registry import Direction, Kind, Propriety, score

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport.arrays import FloatArray, IntArray


@score(
    label="Ranked probability score",
    kind=Kind.ORDINAL,
    within=(0, 1),
    propriety=Propriety.STRICT,
    references=(EPSTEIN_1969, GALDRAN_2023),
    options=("scale",),
)
def rps(y_true: ArrayLike, y_prob: ArrayLike, *, scale: str = "unit") -> FloatArray:
    """Sum over the K - 1 thresholds of (P_k - 1[y <= k])², P_k cumulative, divided by K - 1.

    `scale="sum"` leaves the sum undivided, as some packages do. For two classes this is the binary
    Brier score, half of the K-class Brier score.

    Erratum: the example of equations 3 and 4 gives 9/32 and 9/16, not 1/8 and 1/4.

    >>> rps([0, 0], [[0.25, 0.75, 0.0], [0.25, 0.0, 0.75]])
    array([0.28125, 0.5625 ])
    """
    y, p, _ = check_classes(y_true, y_prob)
    thresholds = {"unit": p.shape[1] - 1, "sum": 1}[check_option(scale, "scale", ("unit", "sum"))]
    return (_cumulative_error(y, p) ** 2).sum(axis=1) / thresholds


@score(
    label="Squared absolute RPS",
    kind=Kind.ORDINAL,
    within=(0, 1),
    propriety=Propriety.IMPROPER,
    references=(GALDRAN_2023,),
    options=("scale",),
)
def sa_rps(y_true: ArrayLike, y_prob: ArrayLike, *, scale: str = "unit") -> FloatArray:
    """(Sum over the thresholds of |P_k - 1[y <= k]|)², divided by (K - 1)².

    The sum is the expected distance in grades between a class drawn from p and the true one.
    `scale="paper"` divides by K - 1 only.

    Errata: with the printed factor the range is [0, K - 1], not [0, 1]; and the score is called
    proper, but for K >= 3 it is not: if three classes are equally likely, naming the middle one
    for certain scores 1/6, the truth 11/54.

    >>> sa_rps([1, 1], [[0.3, 0.4, 0.3], [0.45, 0.5, 0.05]]).round(4)
    array([0.09  , 0.0625])
    """
    y, p, _ = check_classes(y_true, y_prob)
    thresholds = p.shape[1] - 1
    divisor = {"unit": thresholds**2, "paper": thresholds}[check_option(scale, "scale", ("unit", "paper"))]
    return np.abs(_cumulative_error(y, p)).sum(axis=1) ** 2 / divisor


@score(
    label="Quadratic weighted kappa",
    kind=Kind.LABELS,
    within=(-1, 1),
    propriety=Propriety.NOT_A_RULE,
    references=(COHEN_1968, GALDRAN_2023),
    direction=Direction.HIGHER,
    per_case=False,
)
def quadratic_weighted_kappa(
    y_true: ArrayLike, y_label: ArrayLike, *, n_classes: int, sample_weight: ArrayLike | None = None
) -> float:
    """1 - Σ w O / Σ w E with w = (i - j)², O the confusion table and E that of independent labels.

    NaN where both are the same constant (0/0).

    >>> quadratic_weighted_kappa([0, 1, 2, 2], [0, 1, 2, 1], n_classes=3)
    0.8
    """
    observed = _confusion(y_true, y_label, n_classes, sample_weight)
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / observed.sum()
    distance = _squared_distance(n_classes)
    by_chance = (distance * expected).sum()
    return float(1 - (distance * observed).sum() / by_chance) if by_chance > 0 else np.nan


@score(
    label="Expected cost",
    kind=Kind.LABELS,
    within=(0, np.inf),
    propriety=Propriety.NOT_A_RULE,
    references=(GALDRAN_2023,),
    per_case=False,
    options=("cost",),
)
def expected_cost(
    y_true: ArrayLike,
    y_label: ArrayLike,
    *,
    n_classes: int,
    cost: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean of cost[true, decided]; by default ((i - j)/(K - 1))², which lies in [0, 1].

    >>> expected_cost([0, 1, 2, 2], [0, 1, 2, 0], n_classes=3)
    0.25
    """
    confusion = _confusion(y_true, y_label, n_classes, sample_weight)
    return float((_check_cost(cost, n_classes) * confusion).sum() / confusion.sum())


def naive_expected_cost(
    y_true: ArrayLike,
    *,
    n_classes: int,
    cost: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Expected cost of the best constant decision: what a model must beat.

    References
    ----------
    Galdran (2023), MICCAI, doi:10.48550/arXiv.2309.08701

    >>> naive_expected_cost([0, 1, 2, 2], n_classes=3)
    0.1875
    """
    classes = _confusion(y_true, y_true, n_classes, sample_weight).sum(axis=1)
    return float((classes @ _check_cost(cost, n_classes)).min() / classes.sum())


def _cumulative_error(y: IntArray, p: FloatArray) -> FloatArray:
    """P_k - 1[y <= k] at the K - 1 thresholds between neighbouring classes."""
    thresholds = np.arange(p.shape[1] - 1)
    return np.cumsum(p[:, :-1], axis=1) - (y[:, None] <= thresholds)


def _confusion(
    y_true: ArrayLike, y_label: ArrayLike, n_classes: int, sample_weight: ArrayLike | None
) -> FloatArray:
    if n_classes < 2 or n_classes != int(n_classes):
        raise UsageError(f"`n_classes` must be a whole number, at least 2; got {n_classes!r}.")
    true, label = check_labels(y_true, "y_true", n_classes), check_labels(y_label, "y_label", n_classes)
    check_same_length(("y_true", true), ("y_label", label))
    weight = check_weight(sample_weight, len(true))
    cells = np.bincount(true * n_classes + label, weights=weight, minlength=n_classes**2)
    return cells.astype(np.float64).reshape(n_classes, n_classes)


def _squared_distance(n_classes: int) -> FloatArray:
    grade = np.arange(n_classes, dtype=np.float64)
    return (grade[:, None] - grade) ** 2


def _check_cost(cost: ArrayLike | None, n_classes: int) -> FloatArray:
    if cost is None:
        return _squared_distance(n_classes) / (n_classes - 1) ** 2
    try:
        matrix = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError("`cost` must hold numbers.") from error
    if matrix.shape != (n_classes, n_classes):
        raise UsageError(f"`cost` must have shape ({n_classes}, {n_classes}); got {matrix.shape}.")
    if not (np.isfinite(matrix).all() and (matrix >= 0).all()):
        raise UsageError("`cost` must hold finite numbers that are not negative.")
    return matrix
