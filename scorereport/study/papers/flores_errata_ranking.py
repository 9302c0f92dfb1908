"""Errata of Flores et al. (2025) about the AUC and its parts (Appendix I and section 5)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from scorereport import scores
from scorereport.study.papers.printed_numbers import Erratum, ErratumResult, is_near

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
        "Four cases with both rates 1/2 and both areas 1/4: an accuracy of 2 is none; products give 1/2.",
    ),
    (
        "E11: brackets missing in the proof of Theorem I.11",
        _find_brackets,
        "An event and a non-event at 1/2 have regret 1/4: the factor 2 must also take the prevalence.",
    ),
    (
        "E12: the AUC is no average of regret without calibration (section 5)",
        _find_area,
        "Outcomes 0, 0, 1, 1 at .4, .45, .48, .49 are ordered without fault, yet forecast near 1/2.",
    ),
)
