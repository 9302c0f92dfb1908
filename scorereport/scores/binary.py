"""Scoring rules for the probability of an event: one score per case, lower is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.checks import check_binary, check_inside
from scorereport.scores.registry import (
    BRIER_1950,
    DIMITRIADIS_2021,
    EHM_2016,
    GNEITING_RAFTERY_2007,
    GOOD_1952,
    Kind,
    Propriety,
    Reported,
    score,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray


def _brier(y: FloatArray, p: FloatArray) -> FloatArray:
    return (p - y) ** 2


def _log_loss(y: FloatArray, p: FloatArray, limit: float = 0.0) -> FloatArray:
    """Minus the logarithm of the probability q of the observed outcome, with all digits.

    For a non-event log(1 - p) is log q plus the rounding error of q = 1 - p, which is known exactly: together
    they are as accurate as `np.log1p`, which takes three times as long. Never y log p, which is NaN at 0.
    """
    p = np.clip(p, limit, 1 - limit) if limit else p
    q = probability_of_outcome(y, p)
    with np.errstate(divide="ignore"):
        score = np.log(q)
    np.subtract(1, q, out=q)
    q -= p
    q *= 1 - y
    score += q
    return np.subtract(0.0, score, out=score)


def _spherical(y: FloatArray, p: FloatArray) -> FloatArray:
    score, other = probability_of_outcome(y, p), 1 - p
    score /= np.sqrt(p * p + other * other)
    return np.subtract(1, score, out=score)


def _elementary(y: FloatArray, p: FloatArray, theta: float) -> FloatArray:
    at, missed, false_alarm = 2 * theta * (1 - theta), 2 * (1 - theta), 2 * theta
    # p below, at or above θ: of a non-event, then of an event
    costs = np.array([0.0, at, false_alarm, missed, at, 0.0])
    place = (p >= theta).view(np.int8) + (p > theta).view(np.int8) + 3 * (y == 1).view(np.int8)
    return costs[place]


def _misclassification(y: FloatArray, p: FloatArray) -> FloatArray:
    return _elementary(y, p, 0.5)


def surprise(probability: FloatArray) -> FloatArray:
    """Return -log p in nats, with infinity for 0 and +0 (never -0) for 1."""
    with np.errstate(divide="ignore"):
        return 0.0 - np.log(probability)


def probability_of_outcome(y: FloatArray, p: FloatArray) -> FloatArray:
    """Return the probability of the observed outcome: |1 - y - p| is p or 1 - p, without a branch per row."""
    q = np.subtract(1, y, dtype=np.float64)
    q -= p
    return np.abs(q, out=q)


@score(
    label="Brier score",
    short="Brier",
    kind=Kind.BINARY,
    within=(0, 1),
    propriety=Propriety.STRICT,
    references=(BRIER_1950, GNEITING_RAFTERY_2007),
    formula="S = (p − y)²",
    convention="The mean squared error of a probability.",
    meaning="The mean squared difference between forecast and outcome.",
    r_formula="(x - y)^2",
    reported=Reported.ALWAYS,
    overfit_weight=lambda p, _: p * (1 - p),
    kernel=_brier,
    counterpart="multiclass_brier",
    keeps_capital=True,
    other_names=("mse", "mean_squared_error", "quadratic"),
)
def brier(y_true: ArrayLike, y_prob: ArrayLike) -> FloatArray:
    """Squared error of a probability: (p - y)², for y in {0, 1} and p in [0, 1].

    >>> brier([1, 0], [0.7, 0.4]).round(2)
    array([0.09, 0.16])
    """
    y, p, _ = check_binary(y_true, y_prob)
    return _brier(y, p)


@score(
    label="Log score",
    short="log",
    kind=Kind.BINARY,
    within=(0, np.inf),
    propriety=Propriety.STRICT,
    references=(GOOD_1952, GNEITING_RAFTERY_2007),
    options=("limit",),
    formula="S = −log p if y = 1, else −log(1 − p)",
    convention="Natural logarithm. −log 0 = ∞ stays visible; no forecast is clipped.",
    meaning="The mean of minus the logarithm of the probability of the observed outcome.",
    r_formula="-log(outcome_probability(y, x))",
    reported=Reported.ALWAYS,
    overfit_weight=lambda p, o: np.where(np.minimum(p, 1 - p) >= o.get("limit", 0.0), 0.5, 0.0),
    kernel=_log_loss,
    counterpart="multiclass_log_loss",
    alias="log",
    other_names=("log", "logarithmic", "logloss", "cross_entropy", "crossentropy"),
)
def log_loss(y_true: ArrayLike, y_prob: ArrayLike, *, limit: float = 0.0) -> FloatArray:
    """Surprise in nats: -log p for an event, -log(1 - p) for a non-event, for p in [0, 1].

    A forecast of 0 for the observed outcome scores infinity, which is kept. A precision `limit` clips
    forecasts to [limit, 1 - limit] first; the default is no limit, and with one the score is proper, but no
    longer strictly.

    >>> log_loss([1, 0, 1], [0.5, 0.2, 0.0]).round(3)
    array([0.693, 0.223,   inf])
    """
    y, p, _ = check_binary(y_true, y_prob)
    return _log_loss(y, p, check_inside(limit, "limit", 0, 0.5, closed="left"))


@score(
    label="Misclassification",
    short="misclass.",
    kind=Kind.BINARY,
    within=(0, 1),
    propriety=Propriety.PROPER,
    references=(DIMITRIADIS_2021,),
    formula="S = 1 if p < 1/2 and y = 1, or p > 1/2 and y = 0; 1/2 if p = 1/2; else 0",
    convention=(
        "The half at p = 1/2 keeps the score proper; elsewhere decisions count p ≥ threshold as positive."
    ),
    r_formula="(x > 0.5) * (y == 0) + (x < 0.5) * (y == 1) + (x == 0.5) / 2",
    reported=Reported.ALWAYS,
    is_smooth=False,
    is_rate=True,
    kernel=_misclassification,
    counterpart="accuracy",
    other_names=("error_rate", "misclassification_rate", "classification_error", "zero_one"),
)
def misclassification(y_true: ArrayLike, y_prob: ArrayLike) -> FloatArray:
    """1 if the forecast is on the wrong side of 1/2, and 1/2 if it is exactly 1/2.

    The half at p = 1/2 keeps the score proper. It is the elementary score at θ = 1/2.

    >>> misclassification([1, 1, 0], [0.4, 0.5, 0.4])
    array([1. , 0.5, 0. ])
    """
    y, p, _ = check_binary(y_true, y_prob)
    return _misclassification(y, p)


@score(
    label="Spherical score",
    short="spherical",
    kind=Kind.BINARY,
    within=(0, 1),
    propriety=Propriety.STRICT,
    references=(GNEITING_RAFTERY_2007,),
    formula="S = 1 − q / √(p² + (1 − p)²), q = p if y = 1, else 1 − p",
    convention="Reversed from the usual orientation, so that 0 is perfect.",
    r_formula="1 - outcome_probability(y, x) / sqrt(x^2 + (1 - x)^2)",
    reported=Reported.ALWAYS,
    overfit_weight=lambda p, _: p * (1 - p) / (2 * np.hypot(p, 1 - p) ** 3),
    kernel=_spherical,
    counterpart="multiclass_spherical",
)
def spherical(y_true: ArrayLike, y_prob: ArrayLike) -> FloatArray:
    """1 - p_y / √(p² + (1 - p)²), where p_y is the probability of the observed outcome.

    The sign is the reverse of the usual orientation, so that lower is better and 0 is perfect.

    >>> spherical([1, 0], [0.6, 1.0]).round(3)
    array([0.168, 1.   ])
    """
    y, p, _ = check_binary(y_true, y_prob)
    return _spherical(y, p)


@score(
    label="Elementary score",
    kind=Kind.BINARY,
    within=(0, 2),
    propriety=Propriety.PROPER,
    references=(EHM_2016, DIMITRIADIS_2021),
    options=("theta",),
    is_smooth=False,
    kernel=_elementary,
)
def elementary(y_true: ArrayLike, y_prob: ArrayLike, *, theta: float) -> FloatArray:
    """Twice the cost of deciding by p at cost-loss ratio θ in [0, 1].

    2θ if p > θ and y = 0; 2(1 - θ) if p < θ and y = 1; 2θ(1 - θ) if p = θ; else 0.
    Its integral over θ is the Brier score, and every proper score is a mixture of these.

    >>> elementary([0, 1, 1], [0.3, 0.1, 0.2], theta=0.2)
    array([0.4 , 1.6 , 0.32])
    """
    y, p, _ = check_binary(y_true, y_prob)
    return _elementary(y, p, check_inside(theta, "theta", 0, 1))
