"""Errata of Flores et al. (2025), each with its proof or counterexample, computed."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from scorereport import scores
from scorereport.study.papers.flores import fits_treating_none, ratios_of_treating_none
from scorereport.study.papers.paper_numerics import integral
from scorereport.study.papers.printed_numbers import FLORES as PAPER
from scorereport.study.papers.printed_numbers import Erratum, ErratumResult, is_near, judge_errata

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.reference.comparison_records import Comparison


#: Four cases, of which an event and a non-event lie between the thresholds.
_OUTCOMES, _SCORES, _THRESHOLDS = np.array([0, 1, 1, 0]), np.array([0.2, 0.3, 0.7, 0.5]), (0.25, 0.6)


def _find_sign_of_rates() -> ErratumResult:
    at_lower, at_upper = (float((_SCORES[_OUTCOMES == 1] >= t).mean()) for t in _THRESHOLDS)
    correct = scores.partial_auc(_OUTCOMES, _SCORES, lower=0.25, upper=0.6).delta_tpr
    return at_upper - at_lower, correct, is_near(correct, at_lower - at_upper)


def _find_products() -> ErratumResult:
    rate, area = Fraction(1, 2), Fraction(1, 4)
    correct = scores.partial_auc(_OUTCOMES, _SCORES, lower=0.25, upper=0.6).balanced_average_accuracy
    return (
        2 * (rate / (rate + rate) + area / rate),
        correct,
        is_near(correct, 2 * (rate / (rate + rate) * area / rate)),
    )


def _find_brackets() -> ErratumResult:
    regret = float(scores.regret([0, 1], [0.5, 0.5], cost=0.5).mean())
    correct = scores.partial_auc([0, 1], [0.5, 0.5], lower=0.4, upper=0.6).balanced_average_accuracy
    return 2 * -regret + 0.5, correct, is_near(correct, 2 * (-regret + 0.5))


def _find_area() -> ErratumResult:
    y, s = np.array([0, 0, 1, 1]), np.array([0.4, 0.45, 0.48, 0.49])
    regret = float(np.mean([scores.regret(y, s, cost=c).mean() for c in s]))
    correct = scores.roc_auc(y, s)
    return 1 - regret / (2 * 0.5 * 0.5), correct, is_near(correct, (s[y == 1][:, None] > s[y == 0]).mean())


ERRATA_OF_RANKING: tuple[Erratum, ...] = (
    (
        "E11: sign of ΔTPR in Definition I.8",
        _find_sign_of_rates,
        "Fewer events lie above the upper threshold: of those at .3 and .7 both above .25, one above .6.",
    ),
    (
        "E11: sums in place of products in Definition I.9",
        _find_products,
        "Four cases with both rates 1/2 and both areas 1/4: an accuracy of 2 is impossible; products give "
        "1/2.",
    ),
    (
        "E11: brackets missing in the proof of Theorem I.11",
        _find_brackets,
        "An event and a non-event at 1/2 have regret 1/4: the factor 2 must also take the prevalence.",
    ),
    (
        "E12: the AUC is not an average of regret without calibration (section 5)",
        _find_area,
        "Outcomes 0, 0, 1, 1 at .4, .45, .48, .49 are ordered perfectly, yet forecast near 1/2.",
    ),
)


def _find_range() -> ErratumResult:
    stated, as_odds = ratios_of_treating_none()
    return stated, as_odds, fits_treating_none(as_odds) and not fits_treating_none(stated)


def _find_mean_forecast() -> ErratumResult:
    node, weight = np.polynomial.hermite_e.hermegauss(80)

    def mean(intercept: float, slope: float) -> float:
        """Mean forecast expit(intercept + slope z) of the simulated patients, a fifth of them ill."""
        healthy, ill = (weight @ expit(intercept + slope * (node + shift)) for shift in (0.0, 0.95))
        return float((0.8 * healthy + 0.2 * ill) / weight.sum())

    printed, correct = mean(-0.9, 1.0), mean(math.log(0.2 / 0.8) - 0.95**2 / 2, 0.95)
    return printed, correct, abs(correct - 0.2) < 1e-6 and abs(printed - 0.2) > 0.1


def _find_deviation() -> ErratumResult:
    nothing, event = scores.bounded_brier([0, 1], [0, 0], lower=0.05, upper=0.20, scale="paper")
    exact = (Fraction(19, 20) ** 2 - Fraction(4, 5) ** 2) / Fraction(3, 20)
    deviation = float(event - nothing) * math.sqrt(0.2 * 0.8 / 1e6)
    return 0.00035, deviation, is_near(event - nothing, exact) and deviation > 0.000355


ERRATA_OF_EXPERIMENTS: tuple[Erratum, ...] = (
    (
        "E14: Table 2 is not on 1.66 %-3 % but on odds of 1.66 and 3 to 100; ratio of its last two lines",
        _find_range,
        "If none are treated, the ratio of the scores depends on the interval alone.",
    ),
    (
        'E15: the "well calibrated" forecast is not calibrated; its mean, and that of the calibrated one',
        _find_mean_forecast,
        "A fifth are ill; the marker shifted by .95 has log-odds -1.8375 + .95 z, not -.9 + z.",
    ),
    (
        "E15: largest standard deviation of a cell in Appendix F",
        _find_deviation,
        "Assume all negative, Brier 5%-20%, is 7/4 of the prevalence of a million drawn outcomes.",
    ),
)


#: The case of most counterexamples: an event with this forecast, and costs in this interval.
_S, _A, _B = Fraction(3, 10), Fraction(1, 5), Fraction(3, 5)


def errata_flores() -> Iterator[Comparison]:
    """Compare each erratum: the printed claim, the correct value, and whether the computation confirms it."""
    return judge_errata(PAPER, _ERRATA)


def _of_event(score: Callable[..., FloatArray], s: Fraction = _S, **options: str) -> float:
    """A bounded score of the case, or of an event with another forecast."""
    return float(score([1], [float(s)], lower=float(_A), upper=float(_B), **options)[0])


def _mean_regret_of_event(s: Fraction, a: Fraction, b: Fraction) -> Fraction:
    """Mean of 1 - c over costs c in [a, b] above the forecast s of an event: there it is missed."""
    low = max(a, min(s, b))
    return (b - low) * (1 - (b + low) / 2) / (b - a)


def _find_brier() -> ErratumResult:
    regret = _mean_regret_of_event(_S, Fraction(0), Fraction(1))
    brier = float(scores.brier([1], [float(_S)])[0])
    return regret, brier, is_near(brier, 2 * regret)


def _find_bounded_brier() -> ErratumResult:
    printed = ((1 - _S) ** 2 - (1 - _B) ** 2) / (_B - _A)
    correct = _of_event(scores.bounded_brier)
    return printed, correct, is_near(correct, _mean_regret_of_event(_S, _A, _B))


def _find_bounded_log_loss() -> ErratumResult:
    width = math.log(_B / (1 - _B)) - math.log(_A / (1 - _A))
    correct = _of_event(scores.bounded_log_loss)
    regret = integral(lambda c: (1 - c) / (c * (1 - c)), np.array([float(_S), float(_B)])) / width
    return math.log(_S / _B) / width, correct, is_near(correct, regret)


def _find_limit() -> ErratumResult:
    mean, undivided = (
        float(scores.bounded_log_loss([1], [float(_S)], lower=1e-9, upper=1 - 1e-9, scale=scale)[0])
        for scale in ("regret", "difference")
    )
    log_loss = -math.log(_S)
    return mean, undivided, mean < log_loss / 10 and abs(undivided - log_loss) < 1e-6


def _find_bounded_net_benefit() -> ErratumResult:
    correct = _of_event(scores.bounded_net_benefit)
    return 1 - (_S - _B) / (_B - _A), correct, is_near(correct, (_S - _A) / (_B - _A))


def _find_rankings() -> ErratumResult:
    """The better of two forecasts by mean regret and by mean net benefit, confirmed on a grid."""
    y, bounds = [0, 0, 1, 1], (0.1, 0.9)
    forecasts = {"first": [0.05, 0.05, 0.15, 0.15], "second": [0.7, 0.45, 0.95, 0.05]}
    grid = bounds[0] + np.diff(bounds) * (np.arange(1000) + 0.5) / 1000

    def is_average(p: list[float]) -> bool:
        average = np.mean([scores.net_benefit(y, p, threshold=float(t)).mean() for t in grid])
        return abs(_mean_of(scores.bounded_net_benefit, y, p, bounds) - float(average)) < 1e-2

    by_regret = min(forecasts, key=lambda name: _mean_of(scores.bounded_brier, y, forecasts[name], bounds))
    by_benefit = max(
        forecasts, key=lambda name: _mean_of(scores.bounded_net_benefit, y, forecasts[name], bounds)
    )
    return by_regret, by_benefit, all(is_average(p) for p in forecasts.values())


def _mean_of(
    score: Callable[..., FloatArray], y: list[int], p: list[float], bounds: tuple[float, float]
) -> float:
    return float(score(y, p, lower=bounds[0], upper=bounds[1]).mean())


def _shift(s: Fraction, mu: Fraction) -> Fraction:
    return s * (1 - mu) / (s * (1 - mu) + (1 - s) * mu)


def _engine_shift(s: Fraction, mu: Fraction) -> float:
    """The adjusted forecast of the package: the root of its score for a non-event."""
    return math.sqrt(scores.shifted_brier([0], [float(s)], mu=float(mu))[0])


def _find_adjustment() -> ErratumResult:
    low, high, mu = Fraction(1, 5), Fraction(4, 5), Fraction(3, 10)

    def printed(s: Fraction) -> Fraction:
        return 1 / (1 + s / (1 - s) / (mu / (1 - mu)))

    correct = _engine_shift(low, mu)
    rises = is_near(correct, _shift(low, mu)) and correct < _engine_shift(high, mu)
    return printed(low), correct, rises and printed(low) > printed(high)


def _find_inverse() -> ErratumResult:
    s, mu = Fraction(1, 5), Fraction(3, 10)
    moved = _shift(s, mu)
    correct = _engine_shift(moved, 1 - mu)
    return _shift(moved, -mu), correct, is_near(correct, s)


def _find_shifted_brier() -> ErratumResult:
    mu = Fraction(1, 5)
    costs = np.array([float(_shift(_S, 1 - mu)), 1.0])  # the cost above which the event is missed
    printed = integral(lambda c: 1 - float(_shift(Fraction(c), mu)), costs)
    correct = float(scores.shifted_brier([1], [float(_S)], mu=float(mu))[0])
    return (
        printed,
        correct,
        is_near(correct, 2 * _mean_regret_of_event(_shift(_S, mu), Fraction(0), Fraction(1))),
    )


def _expected(score: Callable[..., FloatArray], s: Fraction, q: Fraction) -> float:
    """Expected score of the forecast s where events have probability q."""
    of_nothing, of_event = score([0, 1], [float(s), float(s)])
    return float((1 - float(q)) * of_nothing + float(q) * of_event)


def _find_best_forecast() -> ErratumResult:
    mu = Fraction(1, 5)
    score = partial(scores.shifted_brier, mu=float(mu))
    best = _shift(_S, 1 - mu)
    is_least = is_near(_expected(score, best, _S), _S * (1 - _S))
    return _S, best, is_least and _expected(score, _S, _S) > _expected(score, best, _S) + 1e-3


def _find_tie() -> ErratumResult:
    bounded = partial(scores.bounded_brier, lower=float(_A), upper=float(_B))
    unbounded = partial(scores.bounded_brier, lower=0, upper=1)
    lost, lost_unbounded = (
        _expected(score, _A / 2, _A) - _expected(score, _A, _A) for score in (bounded, unbounded)
    )
    return "more than 0", lost, is_near(lost, 0.0) and lost_unbounded > 1e-3


def _find_outer_limits() -> ErratumResult:
    """The loss of an event below the interval, integrated over forecasts from a on and over all."""
    s = _A / 2
    loss = (1 - _A) ** 2 - (1 - _B) ** 2
    correct = _of_event(scores.bounded_brier, s, scale="difference")
    return loss if s >= _A else Fraction(0), correct, is_near(correct, loss)


def _find_log_odds() -> ErratumResult:
    """Regret of the case integrated over the log-odds of the cost, and its Brier score."""
    uniform = integral(lambda c: (1 - c) / (c * (1 - c)), (float(_S), 1.0))
    brier, log = (float(score([1], [float(_S)])[0]) for score in (scores.brier, scores.log_loss))
    is_uniform_in_cost = is_near(brier, 2 * _mean_regret_of_event(_S, Fraction(0), Fraction(1)))
    return uniform, brier, is_near(log, uniform) and is_uniform_in_cost


_ERRATA: tuple[Erratum, ...] = (
    (
        "E1: factor 2 missing in Theorem 2.4",
        _find_brier,
        "An event forecast .3: the mean of 1 - c over c in (.3, 1] is .245, the Brier score .49.",
    ),
    (
        "E2: factor 1/2 missing in Theorems 3.3 and D.5",
        _find_bounded_brier,
        "An event forecast .3, costs in [.2, .6]: mean regret 33/80; the proof of D.5 ends with twice that.",
    ),
    (
        "E3: wrong sign in Theorems 3.4 and D.6",
        _find_bounded_log_loss,
        "An event forecast .3, costs in [.2, .6]: no mean of regrets is negative; log(1 - x) falls.",
    ),
    (
        "E4: the bounded log loss of Theorem 3.4 does not become log loss on (0, 1)",
        _find_limit,
        "The divisor logit b - logit a grows without limit; only the undivided difference converges.",
    ),
    (
        "E5: wrong loss of an event in Theorems 3.7 and E.2",
        _find_bounded_net_benefit,
        "An event forecast .3 is acted on at a quarter of the thresholds in [.2, .6]; no mean exceeds 1.",
    ),
    (
        "E6: bounded Brier is not averaged net benefit (section 5); the better of two forecasts by each",
        _find_rankings,
        "Outcomes 0, 0, 1, 1 on [.1, .9]: net benefit weighs regret by 1/(1 - c), which can change the "
        "ranking.",
    ),
    (
        "E7: the adjustment M of Definition D.7 falls with the forecast; M(.2, .3)",
        _find_adjustment,
        "M(.2, .3) = 12/19 but M(.8, .3) = 3/31; with the opposite sign it is 7/19 and rises.",
    ),
    (
        "E8: Proposition D.8 inverts M(., μ) by -μ, which is not a probability; M(M(.2, .3), .)",
        _find_inverse,
        "With -.3 the result is above 1; with 1 - .3 it is .2 again.",
    ),
    (
        "E9: Theorem D.10 moves cost and threshold, and lacks a factor 2",
        _find_shifted_brier,
        "An event forecast .3, μ = .2: the squared error is 2 E R(cost c, threshold M(c, 1 - μ)).",
    ),
    (
        "E9: the shifted Brier score is not proper; best forecast of an event of probability .3",
        _find_best_forecast,
        "At μ = .2 it is least, p(1 - p), where M(s, μ) = .3, that is at s = 3/31.",
    ),
    (
        "E10: the minimum in Proposition D.4 is not unique at q = a; what a lower forecast loses",
        _find_tie,
        "On [.2, .6] with q = .2 forecasts .1 and .2 are clipped alike; on [0, 1] the rule is strict.",
    ),
    *ERRATA_OF_RANKING,
    (
        "E13: outer limits in the proof of Lemma D.1 leave out forecasts below a",
        _find_outer_limits,
        "An event forecast .1, below [.2, .6], has the loss 12/25; from .2 on there is nothing to integrate.",
    ),
    (
        "E13: log loss is uniform over log-odds unlike the Brier score, not like it (after Theorem 2.5)",
        _find_log_odds,
        "An event forecast .3: over log-odds its regret integrates to -log .3; the Brier score is uniform "
        "in costs.",
    ),
    *ERRATA_OF_EXPERIMENTS,
)
