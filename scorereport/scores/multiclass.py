"""Scoring rules for the probabilities of K unordered classes: one score per case, lower is better.

`y_true` holds class indices 0..K-1 and `y_prob` one row of K probabilities per case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.checks import check_classes, check_inside
from scorereport.scores.binary import surprise
from scorereport.scores.registry import (
    AHMADIAN_2025,
    BRIER_1950,
    GNEITING_RAFTERY_2007,
    GOOD_1952,
    Kind,
    Propriety,
    Reported,
    score,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from scorereport._utils.arrays import FloatArray, IntArray


@score(
    label="Brier score (K classes)",
    kind=Kind.MULTICLASS,
    within=(0, 2),
    propriety=Propriety.STRICT,
    references=(BRIER_1950, GNEITING_RAFTERY_2007),
    formula="S = Σ (p_k − 1[y = k])² over the classes",
    convention="The sum of the Brier scores of the classes; for two classes, twice the binary score.",
    meaning="The mean squared difference between forecast and outcome, summed over all classes.",
    column="Brier",
    reported=Reported.ALWAYS,
    is_decomposed=True,
    counterpart="brier",
    keeps_capital=True,
)
def multiclass_brier(y_true: ArrayLike, y_prob: ArrayLike) -> FloatArray:
    """Sum over the classes of (p_k - 1[y = k])²; for two classes twice the binary Brier score.

    >>> multiclass_brier([0, 1], [[0.3, 0.7], [0.1, 0.9]]).round(2)
    array([0.98, 0.02])
    """
    y, p, _ = check_classes(y_true, y_prob)
    return _brier(y, p)


@score(
    label="Log score (K classes)",
    kind=Kind.MULTICLASS,
    within=(0, np.inf),
    propriety=Propriety.STRICT,
    references=(GOOD_1952, GNEITING_RAFTERY_2007),
    options=("limit",),
    formula="S = −log p_y",
    convention="Natural logarithm. −log 0 = ∞ stays visible; no forecast is clipped.",
    meaning="The mean of minus the logarithm of the probability of the observed class.",
    column="log",
    reported=Reported.ALWAYS,
    counterpart="log_loss",
)
def multiclass_log_loss(y_true: ArrayLike, y_prob: ArrayLike, *, limit: float = 0.0) -> FloatArray:
    """Surprise in nats: -log of the probability of the observed class; infinity for 0.

    A precision `limit` raises that probability to at least the limit; the default is no limit.

    >>> multiclass_log_loss([0, 1], [[0.5, 0.5], [1.0, 0.0]]).round(3)
    array([0.693,   inf])
    """
    y, p, _ = check_classes(y_true, y_prob)
    limit = check_inside(limit, "limit", 0, 0.5, closed="left")
    return surprise(np.maximum(true_class_probability(y, p), limit))


@score(
    label="Spherical score (K classes)",
    kind=Kind.MULTICLASS,
    within=(0, 1),
    propriety=Propriety.STRICT,
    references=(GNEITING_RAFTERY_2007,),
    formula="S = 1 − p_y / √(Σ p_k²)",
    convention="Reversed from the usual orientation, so that 0 is perfect.",
    reported=Reported.ALWAYS,
    position=2,
    counterpart="spherical",
)
def multiclass_spherical(y_true: ArrayLike, y_prob: ArrayLike) -> FloatArray:
    """1 - p_y / ‖p‖, oriented so that 0 is perfect.

    >>> multiclass_spherical([0, 1], [[0.6, 0.4], [1.0, 0.0]]).round(3)
    array([0.168, 1.   ])
    """
    y, p, _ = check_classes(y_true, y_prob)
    return 1 - true_class_probability(y, p) / np.sqrt((p**2).sum(axis=1))


@score(
    label="Penalised Brier score",
    kind=Kind.MULTICLASS,
    within=(0, 3),
    propriety=Propriety.STRICT,
    references=(AHMADIAN_2025,),
    formula="S = Σ (p_k − 1[y = k])² + (K − 1)/K · 1[d ≠ y]",
    convention=(
        "The penalty makes every right decision score better than every wrong one. Among ties, the first "
        "class counts; with the published rule, by which ties are right, the score would not be proper."
    ),
    column="pen. Brier",
    reported=Reported.ALWAYS,
    position=2,
)
def penalized_brier(y_true: ArrayLike, y_prob: ArrayLike) -> FloatArray:
    """Brier score plus (K - 1)/K if the class with the largest probability is wrong.

    Every correct prediction then scores below every wrong one. Among tied largest probabilities
    the lowest index counts as the prediction: with the tie rule of the published Algorithm 1
    (ties are correct) the score is improper.

    Errata: Algorithm 2 returns this score divided by K; the proof of Theorem 5 sets
    S_PBS(Q, Q) = S_BS(Q, Q), which is false, though its conclusion is true with this tie rule.

    >>> penalized_brier([1, 1], [[0.33, 0.34, 0.33], [0.51, 0.49, 0.0]]).round(4)
    array([0.6534, 1.1869])
    """
    y, p, _ = check_classes(y_true, y_prob)
    k = p.shape[1]
    return _brier(y, p) + (k - 1) / k * is_wrong(y, p)


@score(
    label="Penalised log score",
    kind=Kind.MULTICLASS,
    within=(0, np.inf),
    propriety=Propriety.STRICT,
    references=(AHMADIAN_2025,),
    formula="S = −log p_y + log K · 1[d ≠ y]",
    convention="The penalty makes every right decision score better than every wrong one; ties as above.",
    column="pen. log",
    reported=Reported.ALWAYS,
    position=2,
)
def penalized_log_loss(y_true: ArrayLike, y_prob: ArrayLike) -> FloatArray:
    """Log score plus log K if the class with the largest probability is wrong; ties as in `penalized_brier`.

    Erratum: Algorithm 3 lacks the minus of the log score, so it mixes a gain with a penalty.

    >>> penalized_log_loss([0], [[0.4, 0.6]]).round(4)
    array([1.6094])
    """
    y, p, _ = check_classes(y_true, y_prob)
    return surprise(true_class_probability(y, p)) + np.log(p.shape[1]) * is_wrong(y, p)


def true_class_probability(y: IntArray, p: FloatArray) -> FloatArray:
    """Return the probability of the observed class."""
    return p[np.arange(len(y)), y]


def _brier(y: IntArray, p: FloatArray) -> FloatArray:
    error = p.copy()
    error[np.arange(len(y)), y] -= 1
    return (error**2).sum(axis=1)


def is_wrong(y: IntArray, p: FloatArray) -> NDArray[np.bool_]:
    """Whether the predicted class, the likeliest with the lowest index, is not the observed class."""
    return p.argmax(axis=1) != y
