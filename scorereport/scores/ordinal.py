"""Scoring rules for the probabilities of K ordered classes: one score per case, lower is better.

`y_true` holds class indices 0..K-1 in their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.checks import check_classes, check_option
from scorereport.scores.registry import EPSTEIN_1969, GALDRAN_2023, Kind, Propriety, Reported, score

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray, IntArray


@score(
    label="Ranked probability score",
    short="RPS",
    kind=Kind.ORDINAL,
    within=(0, 1),
    propriety=Propriety.STRICT,
    references=(EPSTEIN_1969, GALDRAN_2023),
    options=("scale",),
    formula="S = Σ (P_k − Y_k)² / (K − 1) over the K − 1 thresholds",
    convention=(
        "The mean of the Brier scores of the thresholds; the plain sum, as sometimes reported, is K − 1 "
        "times as large. It penalises errors to near classes less. For two classes, it is the binary Brier "
        "score."
    ),
    meaning="The mean squared difference between cumulative forecast and outcome, over the ordered classes.",
    reported=Reported.ORDERED,
    position=1,
    is_decomposed=True,
    counterpart="brier",
    other_names=("ranked_probability",),
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
    short="sa-RPS, not proper",
    kind=Kind.ORDINAL,
    within=(0, 1),
    propriety=Propriety.IMPROPER,
    references=(GALDRAN_2023,),
    options=("scale",),
    formula="S = (Σ |P_k − Y_k| / (K − 1))²",
    convention=(
        "The square of the expected distance between a class drawn from p and the observed class, relative "
        "to the largest distance. Not proper for three or more classes: a model can gain by forecasting "
        "probabilities other than the true ones; the score is shown, but no model should be chosen by it. "
        "The published scale is K − 1 times as large."
    ),
    reported=Reported.ORDERED,
    position=1,
)
def sa_rps(y_true: ArrayLike, y_prob: ArrayLike, *, scale: str = "unit") -> FloatArray:
    """Square of the sum over the thresholds of `|P_k - 1[y <= k]|`, divided by (K - 1)².

    The sum is the expected distance, in classes, between a class drawn from p and the observed class.
    `scale="paper"` divides by K - 1 only.

    Errata: with the printed factor the range is [0, K - 1], not [0, 1]; and the score is called
    proper, but for K >= 3 it is not: if three classes are equally likely, a forecast that is certain
    of the middle class scores 1/6, the true forecast 11/54.

    >>> sa_rps([1, 1], [[0.3, 0.4, 0.3], [0.45, 0.5, 0.05]]).round(4)
    array([0.09  , 0.0625])
    """
    y, p, _ = check_classes(y_true, y_prob)
    thresholds = p.shape[1] - 1
    divisor = {"unit": thresholds**2, "paper": thresholds}[check_option(scale, "scale", ("unit", "paper"))]
    return np.abs(_cumulative_error(y, p)).sum(axis=1) ** 2 / divisor


def _cumulative_error(y: IntArray, p: FloatArray) -> FloatArray:
    """P_k - 1[y <= k] at the K - 1 thresholds between neighbouring classes."""
    thresholds = np.arange(p.shape[1] - 1)
    return cumulative(p) - (y[:, None] <= thresholds)


def cumulative(p: FloatArray) -> FloatArray:
    """The probability of a class up to each of the K - 1 thresholds.

    Rows that sum to 1 within a tolerance, or by rounding, must not add up to more than 1.
    """
    return np.minimum(np.cumsum(p[:, :-1], axis=1), 1.0)
