"""Theorems of Flores et al. (2025) on regret and bounded scores, checked on a seeded sample."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit

from scorereport import scores
from scorereport._utils.choices import SEED
from scorereport.reliability.fit import corp
from scorereport.reliability.sampling import random_stream
from scorereport.study.papers.paper_numerics import integral
from scorereport.study.papers.printed_numbers import FLORES as PAPER
from scorereport.study.papers.printed_numbers import compare_formula

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.reference.comparison_records import Comparison

#: Bounds of the costs in theorems about some of them.
LOWER, UPPER = 0.2, 0.7
#: The regret is smooth between these: all forecasts that occur, and those within the bounds.
_CUTS = np.arange(21) / 20
_CUTS_INSIDE = np.arange(4, 15) / 20


def compare_flores_theorems() -> Iterator[Comparison]:
    """Compare the values of the formulas in the theorems with those of the engine."""
    yield from _theorems_of_mixtures()
    yield from _theorems_of_bounds()
    yield from _theorems_of_curves()
    yield from _theorems_of_fixed_numbers()
    yield from _theorems_of_ranking()


def _compare(
    place: str,
    quantity: str,
    printed: float,
    engine: float,
    corrected: float | None = None,
    reason: str = "",
) -> Comparison:
    return compare_formula(f"{PAPER}, {place}", quantity, printed, engine, corrected=corrected, reason=reason)


@cache
def sample(*, balanced: bool = False) -> tuple[FloatArray, FloatArray]:
    """Draw outcomes, on request half of them events, and informative forecasts in steps of .05."""
    rng = random_stream(SEED)
    x = rng.integers(1, 20, 60) / 20
    liking = x**1.5 - rng.random(60)
    return (liking > (np.median(liking) if balanced else 0.0)).astype(np.float64), x


def _regret(c: float, threshold: float | None = None) -> float:
    return float(scores.regret(*sample(), cost=c, threshold=threshold).mean())


def _net_benefit_shortfall(c: float) -> float:
    """Prevalence minus the net benefit of the forecast."""
    y, p = sample()
    return float(y.mean() - scores.net_benefit(y, p, threshold=c).mean())


def _theorems_of_mixtures() -> Iterator[Comparison]:
    y, p = sample()
    right = float(((p >= 0.4) == (y == 1)).mean())
    yield _compare("Theorem C.2", "accuracy as 1 - 2 regret at cost 1/2", right, 1 - 2 * _regret(0.5, 0.4))
    brier, mean_regret = scores.brier(y, p).mean(), integral(_regret, _CUTS)
    reason = "E1: the Brier score is twice the mean regret."
    yield _compare("Theorem 2.4", "Brier score as mean regret", mean_regret, brier, 2 * mean_regret, reason)
    weighted = integral(lambda c: _regret(c) / (c * (1 - c)), _CUTS)
    log_loss = scores.log_loss(y, p).mean()
    yield _compare("Theorem 2.5", "log score as weighted integral of regret", weighted, log_loss)
    benefit = scores.net_benefit(y, p, threshold=0.3).mean()
    yield _compare("Theorem E.1", "net benefit by regret", y.mean() - _regret(0.3) / 0.7, benefit)
    whole = scores.bounded_brier(y, p, lower=0, upper=1, scale="paper").mean()
    yield _compare("Theorem 3.3", "right-hand side on [0, 1] as Brier score", brier, whole)
    uniform = 2 * scores.beta_regret(y, p, a=1, b=1).mean()
    yield _compare("Appendix G", "Brier score as twice the regret under Beta(1, 1)", brier, uniform)


def _theorems_of_bounds() -> Iterator[Comparison]:
    y, p = sample()
    a, b, log_width = LOWER, UPPER, logit(UPPER) - logit(LOWER)
    forecast, best = np.clip(p, a, b), np.clip(y, a, b)
    printed = ((y - forecast) ** 2 - (y - best) ** 2).mean() / (b - a)
    engine = scores.bounded_brier(y, p, lower=a, upper=b).mean()
    corrected = integral(_regret, _CUTS_INSIDE) / (b - a)
    reason = "E2: the right-hand side is twice the mean regret."
    yield _compare("Theorem 3.3", "mean regret on [.2, .7]", printed, engine, corrected, reason)
    printed = (np.log(1 - np.abs(y - forecast)) - np.log(1 - np.abs(y - best))).mean() / log_width
    engine = scores.bounded_log_loss(y, p, lower=a, upper=b).mean()
    corrected = integral(lambda c: _regret(c) / (c * (1 - c)), _CUTS_INSIDE) / log_width
    reason = "E3: the right-hand side has the wrong sign."
    yield _compare("Theorem 3.4", "mean regret, uniform in log-odds", printed, engine, corrected, reason)
    worse, least = (np.where(y == 1, s, 1 - s - np.log(1 - s)) for s in (forecast, best))
    printed = y.mean() - (worse - least).mean() / (b - a)
    engine = scores.bounded_net_benefit(y, p, lower=a, upper=b).mean()
    corrected = y.mean() - integral(_net_benefit_shortfall, _CUTS_INSIDE) / (b - a)
    reason = "E5: the loss of an event must be 1 - s, not s."
    yield _compare("Theorem 3.7", "mean net benefit on [.2, .7]", printed, engine, corrected, reason)


def _theorems_of_curves() -> Iterator[Comparison]:
    """Areas above a decision curve on rescaled axes."""
    y, p = sample()
    area = integral(lambda x: _net_benefit_shortfall(1 - math.sqrt(-2 * x)), -((1 - _CUTS_INSIDE) ** 2) / 2)
    engine = scores.bounded_brier(y, p, lower=LOWER, upper=UPPER).mean()
    yield _compare("Theorem E.3", "area on the quadratic axis", area / (UPPER - LOWER), engine)
    area = integral(lambda x: _net_benefit_shortfall(math.exp(x)), np.log(_CUTS_INSIDE))
    engine = scores.bounded_log_loss(y, p, lower=LOWER, upper=UPPER).mean()
    yield _compare("Theorem E.4", "area on the log axis", area / (logit(UPPER) - logit(LOWER)), engine)


def _theorems_of_fixed_numbers() -> Iterator[Comparison]:
    """Check decisions for the K highest forecasts: their cost, and that all measures rank alike."""
    y, p = sample()
    distinct = p + np.arange(len(p)) / 1e4
    found = y[np.argsort(-distinct)[:15]].sum()
    cost = 0.3 * (15 - found) + 0.7 * (y.sum() - found)
    engine = scores.top_k(y, distinct, k=15, cost=0.3).cost
    yield _compare("Appendix H", "cost of 15 decisions", cost, engine)
    results = [scores.top_k(y, random_stream(SEED, i).random(len(y)), k=15, cost=0.3) for i in range(20)]
    ranks = [
        np.unique([getattr(result, name) for result in results], return_inverse=True)[1]
        for name in ("precision", "recall", "net_benefit")
    ]
    apart = sum(int((rank != ranks[0]).sum()) for rank in ranks)
    yield _compare("Appendix H", "forecasts of 20 that measures of 15 decisions rank differently", 0, apart)


def _theorems_of_ranking() -> Iterator[Comparison]:
    """Check theorems on calibrated forecasts: for forecasts recalibrated in the sample they hold exactly."""
    y, x = sample()
    s, prevalence = corp(y, x).cep, float(y.mean())
    inside = (s >= LOWER) & (s <= UPPER)
    below = [np.array([(s[y == outcome] < t).mean() for t in s]) for outcome in (0, 1)]
    regret = np.array([scores.regret(y, s, cost=c).mean() for c in s])
    part = scores.partial_auc(y, s, lower=LOWER, upper=UPPER)
    unit = prevalence * (1 - prevalence) / inside.mean()

    best = min(scores.regret(y, s, cost=0.3, threshold=t).mean() for t in (*s, 0.0, 1.0))
    at_cost = scores.regret(y, s, cost=0.3).mean()
    yield _compare("Theorem 2.1", "least regret over thresholds at cost .3", at_cost, best)
    plus = (prevalence * (1 - s) * (1 - below[1]))[inside].mean()
    yield _compare("Lemma I.3", "pAUC+ as mean over scores", plus, unit * part.plus)
    minus = ((1 - prevalence) * s * below[0])[inside].mean()
    yield _compare("Lemma I.4", "pAUC- as mean over scores", minus, unit * part.minus)
    both = prevalence - regret[inside].mean() + (1 - 2 * prevalence) * y[inside].mean()
    yield _compare("Theorem I.5", "both parts by regret", both, unit * (part.plus + part.minus))
    area = 1 - regret.mean() / (2 * prevalence * (1 - prevalence))
    yield _compare("Theorem I.6", "AUC by regret", area, scores.roc_auc(y, s))
    width = sum(inside[y == outcome].mean() for outcome in (0, 1))
    simple = (plus + minus) / unit / width
    yield _compare("Lemma I.10", "balanced average accuracy", simple, part.balanced_average_accuracy)
    yield _balanced_average_accuracy()


def _balanced_average_accuracy() -> Comparison:
    y, x = sample(balanced=True)
    s = corp(y, x).cep
    regret = np.array([scores.regret(y, s, cost=c).mean() for c in s[(s >= LOWER) & (s <= UPPER)]])
    engine = scores.partial_auc(y, s, lower=LOWER, upper=UPPER).balanced_average_accuracy
    quantity = "balanced average accuracy by regret, prevalence 1/2"
    return _compare("Theorem I.11", quantity, 1 - 2 * regret.mean(), engine)
