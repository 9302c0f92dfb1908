"""Measures of hard labels: the predicted class against the observed class.

`y_true` and `y_label` hold class indices 0..K-1. All of them follow from the confusion table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.checks import check_labels, check_same_length, check_weight
from scorereport.errors import UsageError
from scorereport.scores.registry import (
    COHEN_1968,
    GALDRAN_2023,
    SOKOLOVA_2009,
    Direction,
    Kind,
    Propriety,
    Reported,
    score,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray


@score(
    label="Accuracy",
    kind=Kind.LABELS,
    within=(0, 1),
    propriety=Propriety.NOT_A_RULE,
    references=(SOKOLOVA_2009,),
    direction=Direction.HIGHER,
    per_case=False,
    formula="accuracy = share of cases with d = y",
    convention=(
        "Its constant reference is the most frequent class. One minus it is the share of misclassified cases."
    ),
    column="accuracy",
    reported=Reported.ALWAYS,
    position=3,
    is_rate=True,
    counterpart="misclassification",
    other_names=("acc",),
)
def accuracy(
    y_true: ArrayLike, y_label: ArrayLike, *, n_classes: int, sample_weight: ArrayLike | None = None
) -> float:
    """Share of cases whose predicted class is the observed class.

    >>> accuracy([0, 1, 2, 2], [0, 1, 2, 1], n_classes=3)
    0.75
    """
    return float(accuracy_of(confusion_table(y_true, y_label, n_classes, sample_weight)))


@score(
    label="Macro F1",
    kind=Kind.LABELS,
    within=(0, 1),
    propriety=Propriety.NOT_A_RULE,
    references=(SOKOLOVA_2009,),
    direction=Direction.HIGHER,
    per_case=False,
    formula="F1 = mean over the classes of 2TP / (2TP + FP + FN)",
    convention=(
        "TP, FP and FN of each class against the rest. A class that was neither observed nor predicted is "
        "left out. A choice by macro F1 does not reward honest probabilities."
    ),
    column="macro F1",
    reported=Reported.ALWAYS,
    position=3,
    has_skill=False,
    is_over_classes=True,
    other_names=("f1", "f1_macro"),
)
def macro_f1(
    y_true: ArrayLike, y_label: ArrayLike, *, n_classes: int, sample_weight: ArrayLike | None = None
) -> float:
    """Mean over the classes of F1 = 2 TP/(2 TP + FP + FN), with the same weight for rare classes.

    A class that is neither observed nor predicted has no F1 and is left out.

    >>> macro_f1([0, 1, 2, 2], [0, 1, 2, 1], n_classes=3)
    0.7777777777777777
    """
    return float(macro_f1_of(confusion_table(y_true, y_label, n_classes, sample_weight)))


@score(
    label="Quadratic weighted kappa",
    kind=Kind.LABELS,
    within=(-1, 1),
    propriety=Propriety.NOT_A_RULE,
    references=(COHEN_1968, GALDRAN_2023),
    direction=Direction.HIGHER,
    per_case=False,
    formula="κ = 1 − Σ (i − j)² O_ij / Σ (i − j)² E_ij",
    convention=(
        "O counts cases of class i predicted as j; E is the expected count if predictions with the same "
        "totals were independent. 0 is chance, 1 perfect; 0/0 is not defined (n/d)."
    ),
    reported=Reported.ORDERED,
    position=3,
    has_skill=False,
    other_names=("kappa", "qwk", "weighted_kappa", "quadratic_kappa"),
)
def quadratic_weighted_kappa(
    y_true: ArrayLike, y_label: ArrayLike, *, n_classes: int, sample_weight: ArrayLike | None = None
) -> float:
    """1 - Σ w O / Σ w E with w = (i - j)², O the confusion table and E that of independent labels.

    NaN where both are the same constant (0/0).

    >>> quadratic_weighted_kappa([0, 1, 2, 2], [0, 1, 2, 1], n_classes=3)
    0.8
    """
    return float(kappa_of(confusion_table(y_true, y_label, n_classes, sample_weight)))


@score(
    label="Expected cost",
    kind=Kind.LABELS,
    within=(0, np.inf),
    propriety=Propriety.NOT_A_RULE,
    references=(GALDRAN_2023,),
    per_case=False,
    options=("cost",),
    formula="cost = mean of C_yd, C the cost matrix",
    convention=(
        "Its constant reference is the cost of the best single decision for all cases, the naive cost."
    ),
    reported=Reported.ALWAYS,
    position=3,
)
def expected_cost(
    y_true: ArrayLike,
    y_label: ArrayLike,
    *,
    n_classes: int,
    cost: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean of cost[observed, predicted]; by default ((i - j)/(K - 1))², which is in [0, 1].

    >>> expected_cost([0, 1, 2, 2], [0, 1, 2, 0], n_classes=3)
    0.25
    """
    confusion = confusion_table(y_true, y_label, n_classes, sample_weight)
    return float(cost_of(confusion, check_cost(cost, n_classes)))


def naive_expected_cost(
    y_true: ArrayLike,
    *,
    n_classes: int,
    cost: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Expected cost of the best constant decision, which a model must beat.

    References
    ----------
    Galdran (2023), MICCAI, doi:10.48550/arXiv.2309.08701

    >>> naive_expected_cost([0, 1, 2, 2], n_classes=3)
    0.1875
    """
    classes = confusion_table(y_true, y_true, n_classes, sample_weight).sum(axis=1)
    return float(naive_cost_of(classes, check_cost(cost, n_classes)))


def accuracy_of(confusion: FloatArray) -> FloatArray:
    """Return the accuracy of each confusion table of a stack."""
    right = np.trace(confusion, axis1=-2, axis2=-1)
    wrong = (confusion * (1 - np.eye(confusion.shape[-1]))).sum(axis=(-2, -1))
    return right / (right + wrong)  # never above 1, despite rounding of weights


def macro_f1_of(confusion: FloatArray) -> FloatArray:
    """Return the macro F1 of each confusion table of a stack."""
    both = confusion.sum(axis=-1) + confusion.sum(axis=-2)  # 2 TP + FP + FN
    right = 2 * np.diagonal(confusion, axis1=-2, axis2=-1)
    is_met = both > 0
    by_class = np.divide(right, both, out=np.zeros_like(both), where=is_met)
    return by_class.sum(axis=-1) / is_met.sum(axis=-1)


def kappa_of(confusion: FloatArray) -> FloatArray:
    """Return the quadratic weighted kappa of each confusion table of a stack; NaN where it is 0/0."""
    total = confusion.sum(axis=(-2, -1), keepdims=True)
    expected = confusion.sum(axis=-1, keepdims=True) * confusion.sum(axis=-2, keepdims=True) / total
    distance = _squared_distance(confusion.shape[-1])
    by_chance = (distance * expected).sum(axis=(-2, -1))
    ratio = np.divide(
        (distance * confusion).sum(axis=(-2, -1)),
        by_chance,
        out=np.full(by_chance.shape, np.nan),
        where=by_chance > 0,
    )
    return 1 - ratio


def cost_of(confusion: FloatArray, cost: FloatArray) -> FloatArray:
    """Return the mean cost of each confusion table of a stack."""
    return (cost * confusion).sum(axis=(-2, -1)) / confusion.sum(axis=(-2, -1))


def naive_cost_of(classes: FloatArray, cost: FloatArray) -> FloatArray:
    """Return the mean cost of the best constant decision, for each row of class weights of a stack."""
    of_label = (classes[..., :, None] * cost).sum(axis=-2)
    return of_label.min(axis=-1) / classes.sum(axis=-1)


def confusion_table(
    y_true: ArrayLike, y_label: ArrayLike, n_classes: int, sample_weight: ArrayLike | None
) -> FloatArray:
    """Return the weight of each pair of observed class, in rows, and predicted class, in columns."""
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


def check_cost(cost: ArrayLike | None, n_classes: int, name: str = "cost") -> FloatArray:
    """Check a cost matrix of observed and predicted classes; the default is the scaled squared distance."""
    if cost is None:
        return _squared_distance(n_classes) / (n_classes - 1) ** 2
    try:
        matrix = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"`{name}` must hold numbers.") from error
    if matrix.shape != (n_classes, n_classes):
        raise UsageError(f"`{name}` must have shape ({n_classes}, {n_classes}); got {matrix.shape}.")
    if not (np.isfinite(matrix).all() and (matrix >= 0).all()):
        raise UsageError(f"`{name}` must hold finite numbers that are not negative.")
    return matrix
