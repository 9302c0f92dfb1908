"""Regret of decisions at a cost, and scores that average it over an interval of costs.

A decision is positive if and only if p >= threshold; a false positive costs c and a false
negative 1 - c. Formulas are those of Flores et al., with the corrections named in each docstring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betainc, betaln, xlog1py, xlogy

from scorereport._utils.checks import check_binary, check_inside, check_interval, check_option
from scorereport._utils.formatting import shortest
from scorereport.errors import UsageError
from scorereport.scores.registry import (
    FLORES_2025,
    HAND_2009,
    VICKERS_ELKIN_2006,
    Direction,
    Kind,
    Propriety,
    Reported,
    score,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from scorereport._utils.arrays import FloatArray

#: "regret": mean regret over the interval; "paper": the paper's factor; "difference": undivided.
SCALES = ("regret", "paper", "difference")


@score(
    label="Regret",
    kind=Kind.BINARY,
    within=(0, 1),
    propriety=Propriety.PROPER,
    references=(FLORES_2025,),
    options=("cost", "threshold"),
    improper_options=("threshold",),
    is_smooth=False,
)
def regret(
    y_true: ArrayLike, y_prob: ArrayLike, *, cost: float, threshold: float | None = None
) -> FloatArray:
    """Cost of the decision: c for a false positive, 1 - c for a false negative, else 0.

    The default threshold is the cost; with another threshold the score is not proper;
    `1 - 2 * regret(..., cost=0.5, threshold=t)` is the accuracy of decisions at t.

    >>> regret([0, 1, 0], [0.3, 0.1, 0.1], cost=0.2)
    array([0.2, 0.8, 0. ])
    """
    y, p, _ = check_binary(y_true, y_prob)
    cost = check_inside(cost, "cost", 0, 1)
    decided = p >= (cost if threshold is None else check_inside(threshold, "threshold", 0, 1))
    return np.where(y == 1, (1 - cost) * ~decided, cost * decided)


@score(
    label="Net benefit",
    kind=Kind.BINARY,
    within=(-np.inf, 1),
    propriety=Propriety.PROPER,
    references=(VICKERS_ELKIN_2006, FLORES_2025),
    direction=Direction.HIGHER,
    options=("threshold",),
    is_smooth=False,
)
def net_benefit(y_true: ArrayLike, y_prob: ArrayLike, *, threshold: float) -> FloatArray:
    """1 for a true positive, -t/(1 - t) for a false positive, at threshold t in [0, 1).

    The mean equals prevalence - mean regret / (1 - t).

    >>> net_benefit([1, 0, 1], [0.3, 0.3, 0.1], threshold=0.2)
    array([ 1.  , -0.25,  0.  ])
    """
    y, p, _ = check_binary(y_true, y_prob)
    threshold = check_inside(threshold, "threshold", 0, 1, closed="left")
    return np.where(p >= threshold, np.where(y == 1, 1.0, 0.0 - threshold / (1 - threshold)), 0.0)


@score(
    label="Bounded Brier score",
    short="Brier",
    kind=Kind.BINARY,
    within=(0, 1),
    propriety=Propriety.PROPER,
    references=(FLORES_2025,),
    options=("lower", "upper", "scale"),
    formula="S = ((y − p′)² − (y − y′)²) / (2(b − a)), p′ and y′ are p and y clipped to [a, b]",
    convention="The mean regret if the cost is uniform between a and b; half of the value in the paper.",
    r_formula="((y - clip(x))^2 - (y - clip(y))^2) / (2 * (b - a))",
    reported=Reported.WITH_COSTS,
    overfit_weight=lambda p, o: _inside(p, o, p * (1 - p) / _brier_scale(o)),
)
def bounded_brier(
    y_true: ArrayLike, y_prob: ArrayLike, *, lower: float, upper: float, scale: str = "regret"
) -> FloatArray:
    """Mean regret for a cost uniform on [a, b]: D/(2(b - a)), D = (y - clip p)² - (y - clip y)².

    `clip` is to [a, b], 0 <= a < b <= 1. `scale="paper"` gives D/(b - a), twice the mean
    regret, and `scale="difference"` D itself; on [0, 1] both are the Brier score.

    Erratum: Theorems 2.4 and 3.3 print the Brier score as the mean regret; it is twice that.

    >>> bounded_brier([1], [0.3], lower=0.2, upper=0.6).round(4)
    array([0.4125])
    """
    y, p, _ = check_binary(y_true, y_prob)
    a, b = check_interval(lower, upper)
    forecast, best = np.clip(p, a, b), np.clip(y, a, b)
    difference = np.abs(best - forecast) * np.abs(2 * y - forecast - best)  # factored: nothing cancels
    return difference / {"regret": 2 * (b - a), "paper": b - a, "difference": 1.0}[_check_scale(scale)]


@score(
    label="Bounded log score",
    short="log",
    kind=Kind.BINARY,
    within=(0, 1),
    propriety=Propriety.PROPER,
    references=(FLORES_2025,),
    options=("lower", "upper", "scale"),
    formula="S = log((1 − |y − y′|) / (1 − |y − p′|)) / (logit b − logit a), p′ and y′ as above",
    convention="The mean regret if the log-odds of the cost are uniform between those of a and b.",
    r_formula=(
        "(-log(outcome_probability(y, clip(x))) + log(outcome_probability(y, clip(y)))) / (stats::qlogis(b)"
        " - stats::qlogis(a))"
    ),
    reported=Reported.WITH_COSTS,
    overfit_weight=lambda p, o: _inside(p, o, 0.5 / _bounded_scale(o, _log_odds_width(o))),
)
def bounded_log_loss(
    y_true: ArrayLike, y_prob: ArrayLike, *, lower: float, upper: float, scale: str = "regret"
) -> FloatArray:
    """Mean regret for a log-odds of cost uniform between those of a and b, 0 < a < b < 1.

    `D/(logit b - logit a)` with `D = -log(1 - |y - clip p|) + log(1 - |y - clip y|)`. The paper's
    factor is the same, so `scale="paper"` changes nothing; `scale="difference"` gives D, which
    tends to the log score as the interval grows (the mean regret does not: it tends to 0).

    Erratum: Theorem 3.4 prints the opposite sign, which makes the right-hand side negative.

    >>> bounded_log_loss([1], [0.3], lower=0.2, upper=0.6).round(5)
    array([0.38685])
    """
    y, p, _ = check_binary(y_true, y_prob)
    a, b = check_interval(lower, upper, closed="neither")
    forecast, best = np.clip(p, a, b), np.clip(y, a, b)
    difference = np.log1p(np.abs(best - forecast) / (1 - np.abs(y - forecast)))
    width = np.log1p((b - a) / (a * (1 - b)))  # logit b - logit a
    return difference / (1.0 if _check_scale(scale) == "difference" else width)


@score(
    label="Bounded net benefit",
    short="net benefit",
    kind=Kind.BINARY,
    within=(-np.inf, 1),
    propriety=Propriety.PROPER,
    references=(FLORES_2025,),
    direction=Direction.HIGHER,
    options=("lower", "upper", "scale"),
    formula="S = (p′ − a) / (b − a) if y = 1, else (p′ − a − log((1 − a) / (1 − p′))) / (b − a), p′ as above",
    convention="The mean net benefit if the threshold is uniform between a and b.",
    r_formula=(
        "((1 - clip(x)) - (y == 0) * log(1 - clip(x)) - ((1 - clip(y)) - (y == 0) * log(1 - clip(y)))) / (b"
        " - a) - y"
    ),
    reported=Reported.WITH_COSTS,
    overfit_weight=lambda p, o: _inside(p, o, p / (2 * _bounded_scale(o, o["upper"] - o["lower"]))),
)
def bounded_net_benefit(
    y_true: ArrayLike, y_prob: ArrayLike, *, lower: float, upper: float, scale: str = "regret"
) -> FloatArray:
    """Mean net benefit for a threshold uniform on [a, b], 0 <= a < b < 1.

    y - D/(b - a) with D = L(clip p, y) - L(clip y, y), L(s, 1) = 1 - s and
    L(s, 0) = (1 - s) - log(1 - s). `scale="difference"` gives the integral over [a, b], not the
    mean; the paper's factor is that of the mean.

    Erratum: Theorem 3.7 prints L(s, 1) = s, which has the wrong sign.

    >>> bounded_net_benefit([1], [0.3], lower=0.2, upper=0.6).round(4)
    array([0.25])
    """
    y, p, _ = check_binary(y_true, y_prob)
    a, b = check_interval(lower, upper, closed="left")
    above = np.clip(p, a, b) - a  # thresholds at which the decision is positive
    harm = np.log1p(above / (1 - a - above)) - above
    integral = np.where(y == 1, above, 0.0 - harm)
    return integral / (1.0 if _check_scale(scale) == "difference" else b - a)


@score(
    label="Shifted Brier score",
    kind=Kind.BINARY,
    within=(0, 1),
    propriety=Propriety.IMPROPER,
    references=(FLORES_2025,),
    options=("mu",),
)
def shifted_brier(y_true: ArrayLike, y_prob: ArrayLike, *, mu: float) -> FloatArray:
    """(y - M(p, μ))² with M(p, μ) = p(1 - μ)/(p(1 - μ) + (1 - p)μ), which moves μ to 1/2.

    It is 2 E R(cost c, threshold M(c, 1 - μ)) for c uniform: the decision no longer matches the
    cost, so the score is proper for M(p, μ), not for p. Use `mode_shifted` to score p.

    Errata: Definition D.7 prints a decreasing M; Theorem D.10 calls this score proper.

    >>> shifted_brier([1], [0.3], mu=0.2).round(6)
    array([0.135734])
    """
    y, p, _ = check_binary(y_true, y_prob)
    mu = check_inside(mu, "mu", 0, 1, closed="neither")
    return (y - p * (1 - mu) / (p * (1 - mu) + (1 - p) * mu)) ** 2


@score(
    label="Mode-shifted score",
    kind=Kind.BINARY,
    within=(0, 1),
    propriety=Propriety.STRICT,
    references=(FLORES_2025,),
    options=("mu",),
    overfit_weight=lambda p, o: (
        p * (1 - p) * o["mu"] * (1 - o["mu"]) / (2 * (o["mu"] + (1 - 2 * o["mu"]) * p) ** 2)
    ),
)
def mode_shifted(y_true: ArrayLike, y_prob: ArrayLike, *, mu: float) -> FloatArray:
    """Mean regret when the cost is M(c, 1 - μ) for c uniform: costs concentrate around μ in (0, 1).

    With k = 1 - 2μ and d = μ + k p: L(p, 0) = μ(1 - μ)/k² (log(d/μ) + μ/d - 1), which is p²/2 at
    μ = 1/2, and L(p, 1) is the same with 1 - p and 1 - μ. This is the proper form of Theorem D.10's score.

    >>> mode_shifted([1], [0.3], mu=0.2).round(6)
    array([0.160366])
    """
    y, p, _ = check_binary(y_true, y_prob)
    mu = check_inside(mu, "mu", 0, 1, closed="neither")
    return np.where(y == 1, _mode_shifted_of_no_event(1 - p, 1 - mu), _mode_shifted_of_no_event(p, mu))


@score(
    label="Beta-weighted regret",
    kind=Kind.BINARY,
    within=(0, 1),
    propriety=Propriety.STRICT,
    references=(HAND_2009, FLORES_2025),
    options=("a", "b"),
    overfit_weight=lambda p, o: np.exp(xlogy(o["a"], p) + xlog1py(o["b"], -p) - betaln(o["a"], o["b"])) / 2,
)
def beta_regret(y_true: ArrayLike, y_prob: ArrayLike, *, a: float, b: float) -> FloatArray:
    """Mean regret for a cost with a Beta(a, b) prior, a, b > 0, as the H-measure averages it.

    E[c; c <= p] if y = 0 and E[1 - c; c > p] if y = 1, by incomplete beta functions.
    Beta(1, 1) gives half the Brier score.

    >>> beta_regret([1, 0], [0.3, 0.5], a=1, b=1)
    array([0.245, 0.125])
    """
    y, p, _ = check_binary(y_true, y_prob)
    if not (0 < a < np.inf and 0 < b < np.inf):
        raise UsageError(f"`a` and `b` must be positive and finite; got {shortest(a)} and {shortest(b)}.")
    false_alarm = a / (a + b) * betainc(a + 1, b, p)
    missed = b / (a + b) * betainc(b + 1, a, 1 - p)
    return np.where(y == 1, missed, false_alarm)


def _check_scale(scale: str) -> str:
    return check_option(scale, "scale", SCALES)


def _mode_shifted_of_no_event(p: FloatArray, mu: float) -> FloatArray:
    """μ(1-μ)/k² (u - log1p(u)) with u = μ/d - 1 = -k p/d: no cancellation between large terms."""
    k = 1 - 2 * mu
    d = mu + k * p
    u = -k * p / d
    return mu * (1 - mu) * (p / d) ** 2 * _log_remainder(u)


def _log_remainder(u: FloatArray) -> FloatArray:
    """(u - log(1 + u)) / u², by its series where the difference would cancel; 1/2 at 0."""
    series = 1 / 2 - u * (1 / 3 - u * (1 / 4 - u * (1 / 5 - u * (1 / 6 - u / 7))))
    near = np.abs(u) < 1e-3
    safe = np.where(near, 1.0, u)
    return np.where(near, series, (safe - np.log1p(safe)) / safe**2)


def _inside(p: FloatArray, options: Mapping[str, Any], value: FloatArray | float) -> FloatArray:
    return np.where((p > options["lower"]) & (p < options["upper"]), value, 0.0)


def _bounded_scale(options: Mapping[str, Any], width: float) -> float:
    return 1.0 if options.get("scale") == "difference" else width


def _brier_scale(options: Mapping[str, Any]) -> float:
    width = options["upper"] - options["lower"]
    return {"regret": 2 * width, "paper": width, "difference": 1.0}[options.get("scale", "regret")]


def _log_odds_width(options: Mapping[str, Any]) -> float:
    a, b = options["lower"], options["upper"]
    return float(np.log1p((b - a) / (a * (1 - b))))
