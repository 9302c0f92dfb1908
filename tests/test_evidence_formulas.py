"""Formulas of evidence in the methods of a report: each is restated in a few lines and compared."""

from __future__ import annotations

from itertools import combinations
from math import log
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, gamma, gammainc, lambertw, logit

from scorereport.history.trend.evidence_chain import FoldedEvidence, find_alarm_line
from scorereport.inference.baseline_bands import find_baseline_band
from scorereport.inference.calibration_bets import (
    BinnedOutcomes,
    calibration_evidence,
    combine_evidence,
    fit_calibration_bets,
    tolerance_bounds,
)
from scorereport.inference.confidence_sequences import find_confidence_sequence
from scorereport.inference.model_set import adjust_pairs
from scorereport.inference.score_bets import (
    ScoreSums,
    difference_evidence,
    fit_difference_bets,
    fit_score_bets,
    score_evidence,
    sum_scores,
)
from scorereport.reliability.sampling import SamplingUnits
from scorereport.report.methods.evidence_formulas import EVIDENCE_FORMULAS

RNG = np.random.default_rng(27)
P = RNG.uniform(0.05, 0.95, 60)
Y = (RNG.random(60) < P).astype(float)
OTHER = expit(logit(P) + RNG.normal(0, 0.5, 60))
UNITS = SamplingUnits(rows=60)
BETS = fit_calibration_bets(
    [
        BinnedOutcomes(
            log_odds=np.array([-2.0, 0.0, 2.0]),
            weights=np.array([50.0, 60, 40]),
            events=np.array([10.0, 35, 33]),
        )
    ]
)


def likelihood_ratio(lower, upper):
    products = []
    for bet in BETS:
        q = bet.probability(P)
        r = np.clip(q, lower, upper)
        products.append(np.prod((q / r) ** Y * ((1 - q) / (1 - r)) ** (1 - Y)))
    return np.average(products, weights=[bet.weight for bet in BETS])


def by_calibration():
    delta = 0.1
    return likelihood_ratio(expit(logit(P) - delta), expit(logit(P) + delta))


def engine_of_calibration():
    logs = calibration_evidence(P, Y, UNITS, BETS, *tolerance_bounds(P, 0.1))
    return np.exp(combine_evidence(logs, [bet.weight for bet in BETS]))


BAND = find_baseline_band(
    np.array([0.3, 0.6]), np.array([500.0, 300, 200]), np.array([50.0, 120, 160]), level=0.95
)


def engine_of_baseline():
    logs = calibration_evidence(P, Y, UNITS, BETS, *BAND.bounds(P))
    return np.exp(combine_evidence(logs, [bet.weight for bet in BETS]))


SUMS = ScoreSums(count=500, count_squares=500, total=110, total_squares=110, squares=40)


def by_limit():
    m, x = 0.2, (P - Y) ** 2
    bets = fit_score_bets([SUMS], m, is_upper=True)
    assert max(bet.fraction for bet in bets) <= 1 / (2 * m)
    assert bets[0].fraction == pytest.approx((110 - 0.2 * 500) / (40 - 2 * 0.2 * 110 + 0.04 * 500))
    return sum(bet.weight * np.prod(1 + bet.fraction * (x - m)) for bet in bets)


def engine_of_limit():
    bets = fit_score_bets([SUMS], 0.2, is_upper=True)
    logs = score_evidence((P - Y) ** 2, UNITS, bets, 0.2, is_upper=True)
    return np.exp(combine_evidence(logs, [bet.weight for bet in bets]))


def list_scores():
    return [(p - Y) ** 2 for p in (P, OTHER, np.full(60, 0.5))]


def by_models():
    bets, scores = fit_difference_bets([]), list_scores()
    assert max(bet.fraction for bet in bets) == 1 / 2
    evidence = [
        np.mean(
            [
                sum(bet.weight * np.prod(1 + bet.fraction * (one - other)) for bet in bets)
                for k, other in enumerate(scores)
                if k != i
            ]
        )
        for i, one in enumerate(scores)
    ]
    sets = [chosen for size in (1, 2, 3) for chosen in combinations(range(3), size)]
    return [min(np.mean([evidence[k] for k in chosen]) for chosen in sets if i in chosen) for i in range(3)]


def engine_of_models():
    bets, scores = fit_difference_bets([]), list_scores()
    weights = [bet.weight for bet in bets]
    pairs = [
        [combine_evidence(difference_evidence(one - other, UNITS, bets), weights) for other in scores]
        for one in scores
    ]
    return np.exp(adjust_pairs(np.array(pairs)))


def by_sequence():
    """Both ends after two audits, by quadrature and bisection of the mixture."""
    audits, alpha = [(P - Y) ** 2, (OTHER - Y) ** 2], 0.05
    x, gamma_ = np.concatenate(audits), np.repeat([0.0, audits[0].mean()], 60)
    spread = ((x - gamma_) ** 2).sum()
    a = 0.03 * 60 / (-lambertw(-((alpha / 2) ** 2) / np.e, -1).real - 1)
    share = gammainc(a, a) * gamma(a)

    def mixture(s):
        def integrand(z):  # z = 1 - lambda
            return np.exp((1 - z) * s + spread * (1 - z + np.log(z)) - a * z) * z ** (a - 1) * a**a / share

        return quad(integrand, 0, 1, limit=400)[0]

    low, high = 0.0, 60.0
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (middle, high) if mixture(middle) < 2 / alpha else (low, middle)
    return [x.mean() - low / 120, x.mean() + low / 120]


def engine_of_sequence():
    found = find_confidence_sequence([sum_scores(s, UNITS) for s in ((P - Y) ** 2, (OTHER - Y) ** 2)], 0.95)
    return [found[-1].lower, found[-1].upper]


FACTORS = (0.7, 3.0, 12.0)


def by_detector():
    detector = 0.0
    for e in FACTORS:
        detector = e * (1 + detector)
    return [detector, 2 * 12 / 0.05]


def engine_of_detector():
    folded = FoldedEvidence()
    for factor in FACTORS:
        folded = folded.add(log(factor))
    tested = [SimpleNamespace(hypothesis="calibration"), SimpleNamespace(hypothesis="limit")]
    return [np.exp(folded.detector), find_alarm_line(tested, 0.05, 12)["limit"]]


OF_EVIDENCE = {
    "evidence": (
        "e = weighted mean over bets q of Π (q / r)^y ((1 − q) / (1 − r))^(1 − y), r = q cut to [l, u], "
        "logit l = logit p − δ, logit u = logit p + δ",
        by_calibration,
        engine_of_calibration,
    ),
    "baseline evidence": (
        "e as against calibration, with [l, u] the band of the baseline at p",
        lambda: likelihood_ratio(*BAND.bounds(P)),
        engine_of_baseline,
    ),
    "limit evidence": (
        "e = weighted mean over bets λ of Π (1 + v λ (x − m)), x = S / B, m = limit / B, 0 ≤ λ ≤ 1 / (2m)",
        by_limit,
        engine_of_limit,
    ),
    "model set": (
        "E = mean over other models of Π weighted mean over bets λ of Π (1 + v λ d), d = (S − S of the "
        "other) / B, 0 ≤ λ ≤ 1/2; E* = least mean of E over all sets of models with this one",
        by_models,
        engine_of_models,
    ),
    "detector": (
        "R = e (1 + R of the audit before), R = 0 before the first; alarm: R ≥ A = k L / α",
        by_detector,
        engine_of_detector,
    ),
    "confidence sequence": (
        "all μ with m(V, ±Σ v(x − μ)) < 2/α, V = Σ v²(x − γ)², m(V, s) = mixture over 0 < λ < 1 of "
        "exp(λs + V(λ + log(1 − λ)))",
        by_sequence,
        engine_of_sequence,
    ),
}


@pytest.mark.parametrize("key", OF_EVIDENCE)
def test_formula_of_evidence(key):
    text, by_formula, by_engine = OF_EVIDENCE[key]
    assert EVIDENCE_FORMULAS[key].formula == text
    np.testing.assert_allclose(by_formula(), by_engine(), rtol=1e-7)


def test_every_formula_of_evidence_is_computed_again():
    assert set(OF_EVIDENCE) == set(EVIDENCE_FORMULAS)
