"""Formulas of the methods: each text is restated in a few lines and compared with the engine."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from cluster_tools import dense_cr2
from method_tools import COSTS, RNG, P, Y, band
from scipy.optimize import brentq
from scipy.special import betaincinv, expit, logit, ndtr, ndtri
from scipy.stats import beta, binom
from scipy.stats import t as student

import scorereport as sr
from scorereport import scores
from scorereport.curves.fitted import RocCurve
from scorereport.inference import (
    auc_interval,
    bootstrap,
    calibration_errors,
    calibration_line,
    component_differences,
    component_intervals,
    delong_test,
    expected_calibration_error,
    hosmer_lemeshow_test,
    line_tests,
    mean_calibration_test,
    miscalibration_test,
    score_difference,
    spiegelhalter_test,
    threshold_intervals,
)
from scorereport.inference.estimates import holm
from scorereport.inference.grades import grade_test
from scorereport.inference.heterogeneity import cochran_q, group_calibration_test
from scorereport.inference.kolmogorov_smirnov import estimate_ks
from scorereport.inference.losses import resolve_measure
from scorereport.inference.miscalibration_bounds import tally_rows
from scorereport.inference.missing_outcomes import ObservedMean, bound_model
from scorereport.inference.panel import make_panel
from scorereport.inference.rates import rate_interval
from scorereport.inference.score_expansions import PanelMoments
from scorereport.reliability.asymptotic_bands import chernoff_quantile
from scorereport.reliability.sampling import SamplingUnits
from scorereport.report.methods.evidence_formulas import EVIDENCE_FORMULAS
from scorereport.report.methods.formula_catalogue import BINARY_CATALOGUE
from scorereport.report.methods.reference_formulas import REFERENCE_FORMULAS
from scorereport.scores.registry import Kind, Reported, list_reported

A_B = {"lower": COSTS[0], "upper": COSTS[1]}


OTHER = (0.5 * P + 0.5 * RNG.random(50)).round(2)


Z = float(ndtri(0.975))


def pull(values):
    return np.clip(values, *COSTS)


def shares(threshold, p=P):
    """TP, FP, FN, TN."""
    acts = p >= threshold
    return [
        float(np.mean(chosen))
        for chosen in (acts & (Y == 1), acts & (Y == 0), ~acts & (Y == 1), ~acts & (Y == 0))
    ]


def isotonic(p=P, y=Y):
    level = np.unique(p)
    fitted = [
        max(
            min(y[(p >= level[i]) & (p <= level[j])].mean() for j in range(k, len(level)))
            for i in range(k + 1)
        )
        for k in range(len(level))
    ]
    return np.array(fitted)[np.searchsorted(level, p)]


def placements():
    """V of events and of non-events."""
    above = (P[Y == 1][:, None] > P[Y == 0]) + (P[Y == 1][:, None] == P[Y == 0]) / 2
    return above.mean(axis=1), above.mean(axis=0)


#: A sample and a reference without equal forecasts, and without an empty tenth of the reference.
NOW, BEFORE = (np.arange(1, 60) / 60) ** 0.8, np.arange(1, 101) / 101


def compare_sample():
    frame = pd.DataFrame({"y": np.arange(59) % 2, "m": NOW})
    found = sr.evaluate(frame, outcome="y", forecasts=["m"], resamples=0, reference={"m": BEFORE})
    return found.stability[0].index


def stability_by_hand():
    bins = np.searchsorted(BEFORE[9:90:10], NOW, side="left")  # the tenths end at every tenth forecast
    a, b = np.bincount(bins, minlength=10) / 59, np.full(10, 0.1)
    index, by_a, by_b = ((a - b) * np.log(a / b)).sum(), np.log(a / b) + 1 - b / a, np.log(b / a) + 1 - a / b
    variance = sum(
        ((share * slope**2).sum() - (share * slope).sum() ** 2) / n
        for share, slope, n in ((a, by_a, 59), (b, by_b, 100))
    )
    centre, reach = max(0, index - 9 * (1 / 59 + 1 / 100)), Z * np.sqrt(variance)
    return [index, max(0, centre - reach), centre + reach]


#: A hull with its maximum in the middle corner.
CORNERS = RocCurve(
    fpr=np.array([0.0, 0.2, 1.0]),
    tpr=np.array([0.0, 0.7, 1.0]),
    threshold=np.array([1.0, 0.5, 0.0]),
    auc=0.75,
)


#: Two forecasts, of which the lower has a row without an outcome; best levels are multiples of 0.05.
PARTLY = tally_rows(
    np.array([1.0, 0, 0, 1, 1, 0, 0]), np.repeat([0.2, 0.8], [3, 4]), None, np.array([0.2]), None
)


def bounds_by_hand():
    levels = np.arange(21) / 20
    low, high = (c.ravel() for c in np.meshgrid(levels, levels, indexing="ij"))
    low, high = low[low <= high], high[low <= high]
    gain = 3 * (0.2**2 - low**2) + 2 * (low - 0.2) + 4 * (0.8**2 - high**2) + 2 * 2 * (high - 0.8)
    unknown = [0.2**2 - low**2 + 2 * np.minimum(low - 0.2, 0), 0.2**2 - low**2 + 2 * np.maximum(low - 0.2, 0)]
    brier = [(0.8**2 + 2 * 0.2**2 + 2 * 0.2**2 + 2 * 0.8**2 + end) / 8 for end in (0.2**2, 0.8**2)]
    return [*brier, *(float((gain + part).max()) / 8 for part in unknown)]


def bounds_by_engine():
    observed = ObservedMean(resolve_measure("brier", {}), (0.8**2 + 4 * 0.2**2 + 2 * 0.8**2) / 7)
    found = bound_model("m", PARTLY, [observed], 0.0)
    both = [found.find("brier"), found.find("brier", "miscalibration")]
    return [end for bounds in both for end in (bounds.lower, bounds.upper)]


def ks_by_hand():
    (l1, u1), (l0, u0) = (wilson(0.7, 40), wilson(0.2, 60))
    below, above = np.hypot(0.7 - l1, u0 - 0.2), np.hypot(u1 - 0.7, 0.2 - l0)
    left, right = below / 0.5, below / 0.5  # how far down each side of the hull, of height 0.5, that is
    sigma = np.sqrt((0.7 * left + 0.3 * right) / 40 + (0.2 * left + 0.8 * right) / 60)
    return [0.5 - below - sigma / 2, 0.5 + above]


def misclassify():
    wrong = ((P < 1 / 2) & (Y == 1)) | ((P > 1 / 2) & (Y == 0))
    return np.where(P == 1 / 2, 1 / 2, np.where(wrong, 1, 0))


def elementary(theta):
    return np.select(
        [theta == P, (theta < P) & (Y == 0), (theta > P) & (Y == 1)],
        [2 * theta * (1 - theta), 2 * theta, 2 * (1 - theta)],
    )


def bounded_benefit():
    a, b = COSTS
    of_none = (pull(P) - a - np.log((1 - a) / (1 - pull(P)))) / (b - a)
    return np.where(Y == 1, (pull(P) - a) / (b - a), of_none)


OF_SCORES = {
    "brier": ("S = (p − y)²", lambda: (P - Y) ** 2, lambda: scores.brier(Y, P)),
    "log_loss": (
        "S = −log p if y = 1, else −log(1 − p)",
        lambda: -np.log(np.where(Y == 1, P, 1 - P)),
        lambda: scores.log_loss(Y, P),
    ),
    "misclassification": (
        "S = 1 if p < 1/2 and y = 1, or p > 1/2 and y = 0; 1/2 if p = 1/2; else 0",
        misclassify,
        lambda: scores.misclassification(Y, P),
    ),
    "spherical": (
        "S = 1 − q / √(p² + (1 − p)²), q = p if y = 1, else 1 − p",
        lambda: 1 - np.where(Y == 1, P, 1 - P) / np.sqrt(P**2 + (1 - P) ** 2),
        lambda: scores.spherical(Y, P),
    ),
    "bounded_brier": (
        "S = ((y − p′)² − (y − y′)²) / (2(b − a)), p′ and y′ are p and y clipped to [a, b]",
        lambda: ((Y - pull(P)) ** 2 - (Y - pull(Y)) ** 2) / (2 * (COSTS[1] - COSTS[0])),
        lambda: scores.bounded_brier(Y, P, **A_B),
    ),
    "bounded_log_loss": (
        "S = log((1 − |y − y′|) / (1 − |y − p′|)) / (logit b − logit a), p′ and y′ as above",
        lambda: np.log((1 - abs(Y - pull(Y))) / (1 - abs(Y - pull(P)))) / (logit(COSTS[1]) - logit(COSTS[0])),
        lambda: scores.bounded_log_loss(Y, P, **A_B),
    ),
    "bounded_net_benefit": (
        "S = (p′ − a) / (b − a) if y = 1, else (p′ − a − log((1 − a) / (1 − p′))) / (b − a), p′ as above",
        bounded_benefit,
        lambda: scores.bounded_net_benefit(Y, P, **A_B),
    ),
    "roc_auc": (
        "AUC = P(p₁ > p₀) + P(p₁ = p₀) / 2, p₁ of a random event, p₀ of a random non-event",
        lambda: float(placements()[0].mean()),
        lambda: scores.roc_auc(Y, P),
    ),
}


@pytest.mark.parametrize("name", OF_SCORES)
def test_formula_of_a_score(name):
    text, by_formula, by_engine = OF_SCORES[name]
    assert scores.REGISTRY[name].formula == text
    np.testing.assert_allclose(by_formula(), by_engine(), rtol=1e-12, atol=1e-15)


def test_every_score_has_a_formula_that_is_checked():
    when, kinds = (Reported.ALWAYS, Reported.WITH_COSTS), (Kind.BINARY, Kind.RANKING)
    assert set(OF_SCORES) == set(list_reported(*when, kinds=kinds))


def line_log_likelihood(a, b):
    chance = expit(a + b * logit(P))
    return float(np.log(np.where(Y == 1, chance, 1 - chance)).sum())


def groups_of_ten():
    """Cases of each group of Hosmer and Lemeshow: it ends at the forecast that completes its tenth."""
    order = np.argsort(P, kind="stable")
    ends = P[order][[int(np.ceil(len(P) * k / 10)) - 1 for k in range(1, 10)]]
    return [P_in for P_in in (np.searchsorted(ends, P) == k for k in range(10)) if P_in.any()]


def hosmer_lemeshow():
    terms = [((Y[g] - P[g]).sum() ** 2 / (P[g].sum() * (1 - P[g].sum() / g.sum()))) for g in groups_of_ten()]
    return sum(terms)


def wilson(r=None, n=50):
    r = Y.mean() if r is None else r
    half = Z * np.sqrt(r * (1 - r) / n + Z**2 / (4 * n**2))
    return [(r + Z**2 / (2 * n) + sign * half) / (1 + Z**2 / n) for sign in (-1, 1)]


def ends_of(estimate):
    return [estimate.lower, estimate.upper]


def delong():
    of_events, of_others = placements()
    parts = [(values.var(ddof=1) / len(values), len(values) - 1) for values in (of_events, of_others)]
    variance = sum(v for v, _ in parts)
    return score_interval(variance, variance**2 / sum(v**2 / df for v, df in parts))


def score_interval(variance, df):
    """Where the score statistic is the quantile of t."""
    of_events, of_others = placements()
    auc, n1, n0 = of_events.mean(), len(of_events), len(of_others)

    def v(theta):
        shape = 1 + ((n1 + n0) / 2 - 1) * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return theta * (1 - theta) * shape / (n1 * n0)

    ratio, wrong = variance / v(auc), 4 * auc * (1 - auc) * min(n1, n0)
    ratio = ratio if ratio >= 1 else 1 - (1 - ratio) * wrong / (wrong + 5)

    def excess(theta):
        return abs(auc - theta) - student.ppf(0.975, df) * np.sqrt(ratio * v(theta))

    return [brentq(excess, *ends, xtol=1e-14) for ends in ((1e-9, auc), (auc, 1 - 1e-9))]


PERSON = np.arange(50) // 4


NEWCOMBE = (
    "v(θ) = θ(1 − θ)(1 + ((n₁ + n₀) / 2 − 1)((1 − θ) / (2 − θ) + θ / (1 + θ))) / (n₁n₀); V the share of "
    "the other class against which a case is ranked correctly"
)


CLUSTERED = SamplingUnits(rows=50, cluster=PERSON)


def delong_in_clusters():
    of_events, of_others = placements()
    columns, deviation = np.stack([Y, 1 - Y], axis=1), np.empty(50)
    deviation[Y == 1], deviation[Y == 0] = of_events - of_events.mean(), of_others - of_others.mean()
    covariance, df = dense_cr2(columns, np.ones(50), deviation, PERSON, np.ones(2))
    return score_interval(covariance.sum(), df)


def in_clusters(terms):
    sums, share = np.bincount(PERSON, weights=terms), np.bincount(PERSON) / len(PERSON)
    return sums.sum() / np.sqrt(((sums - share * sums.sum()) ** 2 / (1 - share)).sum())


def bootstrap_of_brier():
    drawn = bootstrap(Y, {"m": P}, scores=["brier"], resamples=200)
    return drawn, next(s.replicates for s in drawn.statistics if s.measure == "brier")


def rate_in_clusters():
    """The bias-reduced error of sums over clusters, and the quantile of t with degrees of freedom by them."""
    rate, ones = Y.mean(), np.ones((50, 1))
    covariance, df = dense_cr2(ones, np.ones(50), Y - rate, PERSON, np.ones(1))
    reach = student.ppf(0.975, df) * np.sqrt(covariance.item()) / (rate * (1 - rate))
    return expit([logit(rate) - reach, logit(rate) + reach])


def bca():
    _, replicates = bootstrap_of_brier()
    loss = (P - Y) ** 2
    bias = ndtri(((replicates < loss.mean()).mean() + (replicates <= loss.mean()).mean()) / 2)
    deviation = loss - loss.mean()
    a = (deviation**3).sum() / (6 * (deviation**2).sum() ** 1.5)
    levels = [ndtr(bias + (bias + z) / (1 - a * (bias + z))) for z in (-Z, Z)]
    return np.quantile(replicates, levels)


def expand_by_formula(w, b=0.0):
    """A mean of the 50 Brier scores: γ, κ and a from their moments, and no second-order term."""
    loss = (P - Y) ** 2
    deviation = loss - loss.mean()
    s, gamma = loss.std() / 50**0.5, (deviation**3).mean() / loss.std() ** 3 / 50**0.5
    kappa = ((deviation**4).mean() / loss.std() ** 4 - 3) / 50
    skewed = b + w + gamma * (w**2 - 1) / 6
    return loss.mean() + s * (skewed + kappa * (w**3 - 3 * w) / 24 - gamma**2 * (2 * w**3 - 5 * w) / 36)


def bca_by_influence():
    loss = (P - Y) ** 2
    a = ((loss - loss.mean()) ** 3).mean() / loss.std() ** 3 / 50**0.5 / 6
    return [expand_by_formula(a + (a + z) / (1 - a * (a + z))) for z in (-Z, Z)]


def expansion_of_brier():
    panel = make_panel(Y, {"m": P})
    return PanelMoments(panel=panel).expand("m", resolve_measure("brier", {})).score


def score_of(p):
    return np.mean((p - Y) ** 2)


def closed_overfit(p, fitted):
    """O₁ of the Brier score."""
    blocks = [fitted == value for value in np.unique(fitted)]
    parameters = [1 if len(np.unique(p[block])) == 1 else 1.5 for block in blocks]
    gains = [fitted[block][0] * (1 - fitted[block][0]) for block in blocks]
    return np.dot(parameters, gains) / len(p)


def bracket():
    """The interval from its pieces; O₁ by hand, O₂ as recorded."""
    mcb, dsc = component_intervals(sr.corp(Y, P), draws=20, resamples=40)
    fitted = isotonic()
    closed = closed_overfit(P, fitted)
    constant = Y.mean() * (1 - Y.mean()) / 50
    found = []
    for part, terms, less in (
        (mcb, (P - Y) ** 2 - (fitted - Y) ** 2, 0),
        (dsc, (Y.mean() - Y) ** 2 - (fitted - Y) ** 2, constant),
    ):
        first, second, reach = (
            max(closed - less, 0),
            part.overfit_resampled,
            Z * terms.std(ddof=1) / np.sqrt(50),
        )
        found += [
            max(terms.mean() - max(first, second) - reach, 0) if part is dsc else part.lower,
            max(terms.mean() - min(first, second) + reach, 0),
            max(terms.mean() - second, 0),
        ]
    return found


def bracket_of_difference():
    """That of MCB; O₁ by hand, O₂ as recorded."""
    of_models = []
    for p in (P, OTHER):
        fitted = isotonic(p)
        recorded = component_intervals(sr.corp(Y, p), draws=20, resamples=40)[0]
        gain = (p - Y) ** 2 - (fitted - Y) ** 2
        of_models.append((gain, closed_overfit(p, fitted), recorded.overfit_resampled))
    (first, *of_first), (second, *of_second) = of_models
    terms, overfit = first - second, np.subtract(of_first, of_second)
    reach = Z * terms.std(ddof=1) / np.sqrt(50)
    return [terms.mean() - overfit.max() - reach, terms.mean() - overfit.min() + reach]


def recorded_bracket():
    parts = component_intervals(sr.corp(Y, P), draws=20, resamples=40)
    return [number for part in parts for number in (part.lower, part.upper, part.corrected)]


def honest():
    """Bounds of every segment of distinct forecasts, at each of them."""
    level = np.unique(P)
    error = 0.1 / (len(level) * (len(level) + 1))
    lower, upper = np.zeros(len(level)), np.ones(len(level))
    for i, j in combinations_with_replacement(range(len(level)), 2):
        inside = (level[i] <= P) & (level[j] >= P)
        m, s = inside.sum(), Y[inside].sum()
        if s > 0:
            lower[j:] = np.maximum(lower[j:], betaincinv(s, m - s + 1, error))
        if s < m:
            upper[: i + 1] = np.minimum(upper[: i + 1], betaincinv(s + 1, m - s, 1 - error))
    return lower, upper


def discrete():
    level, m = np.unique(P, return_counts=True)
    reach = float(ndtri(0.95)) * np.sqrt(level * (1 - level) / m)
    return np.clip([level - reach, level + reach], 0, 1)


def continuous():
    x, width = np.linspace(0, 1, 101), 50 ** (-2 / 5)
    density = np.array([beta.pdf(P, t / width + 1, (1 - t) / width + 1).mean() for t in x])
    reach = chernoff_quantile(0.95) * np.cbrt(4 * x * (1 - x) / (50 * density))
    return np.clip([x - reach, x + reach], 0, 1)


def null_miscalibration():
    """The p-value by the formula, from draws of our own: the same but for chance."""
    rng = np.random.default_rng(3)

    def miscalibration(y):
        return np.mean((P - y) ** 2) - sr.corp(y, P).decompose("brier").recalibrated

    drawn = [miscalibration((rng.random(50) < P).astype(float)) for _ in range(400)]
    return (1 + sum(value >= miscalibration(Y) for value in drawn)) / 401


def group_ratio():
    half = np.arange(50) % 2

    def best(rows, y, p):
        line = calibration_line(y[rows], p[rows])
        chance = expit(line.intercept.value + line.slope.value * logit(p[rows]))
        return np.log(np.where(y[rows] == 1, chance, 1 - chance)).sum()

    return 2 * (best(half == 0, Y, P) + best(half == 1, Y, P) - best(half >= 0, Y, P))


def wald_distance(found):
    return found.value / found.standard_error


LINE = calibration_line(Y, P)


FIT = sr.corp(Y, P)


TABLED = (0.3, 0.5, 0.8)


def net_benefit_limits(t):
    """By the formula, with Wilson's limits of both shares."""
    tp, fp, _, _ = shares(t)
    (tp_lower, tp_upper), (fp_lower, fp_upper) = (wilson(share) for share in (tp, fp))
    odds, rho = t / (1 - t), -np.sqrt(tp * fp / ((1 - tp) * (1 - fp)))
    a, b = tp - tp_lower, odds * (fp_upper - fp)
    c, d = tp_upper - tp, odds * (fp - fp_lower)
    value = tp - fp * odds
    lower = value - np.sqrt(a * a + b * b - 2 * rho * a * b)
    return [lower, value + np.sqrt(c * c + d * d - 2 * rho * c * d)]


def corrected_ece():
    """By the formula, with the mean of |d + σX| by numerical integration."""
    x = np.linspace(-9, 9, 200_001)
    density = np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * (x[1] - x[0])
    total = 0.0
    for k in range(10):
        inside = (k / 10 < P) & ((k + 1) / 10 >= P)
        m = int(inside.sum())
        if m:
            d, r = Y[inside].mean() - P[inside].mean(), (Y[inside].sum() + 0.5) / (m + 1)
            drawn = float((np.abs(d + np.sqrt(r * (1 - r) / m) * x) * density).sum())
            total += m / len(Y) * (2 * abs(d) - drawn)
    return max(total, 0.0)


def tabled(*names):
    from scorereport.curves import threshold_table

    return [[getattr(row, name) for name in names] for row in threshold_table(FIT, thresholds=TABLED)]


def rates(t):
    tp, fp, fn, tn = shares(t)
    return [tp / (tp + fn), tn / (tn + fp), tp / (tp + fp), tn / (tn + fn)]


#: The formula, its restatement in a few lines, and the engine's result.
OF_METHODS = {
    "skill": (
        "skill = (S(ȳ) − S(p)) / (S(ȳ) − S(y)); for the AUC: 2 AUC − 1",
        lambda: (score_of(Y.mean()) - score_of(P)) / (score_of(Y.mean()) - score_of(Y)),
        lambda: sr.skill("brier", Y, P),
    ),
    "isotonic": (
        "ŷ at the k-th forecast = max over i ≤ k of min over j ≥ k of the mean y of cases from the i-th to "
        "the j-th forecast",
        isotonic,
        lambda: sr.corp(Y, P).cep,
    ),
    "corp": (
        "S(p) = MCB − DSC + UNC; MCB = S(p) − S(ŷ), DSC = S(ȳ) − S(ŷ), UNC = S(ȳ)",
        lambda: [
            score_of(P) - score_of(isotonic()),
            score_of(Y.mean()) - score_of(isotonic()),
            score_of(Y.mean()),
        ],
        lambda: [
            getattr(sr.corp(Y, P).decompose("brier"), name)
            for name in ("miscalibration", "discrimination", "uncertainty")
        ],
    ),
    "overfit": (
        "[C − max(O₁, O₂) − z se, C − min(O₁, O₂) + z se], cut at 0; corrected value: max(0, C − O₂)",
        bracket,
        recorded_bracket,
    ),
    "line": (
        "logit P(y = 1) = a + b logit p; at slope 1: logit P(y = 1) = a + logit p; estimate ± z se",
        lambda: [
            LINE.slope.value - Z * LINE.slope.standard_error,
            LINE.slope.value + Z * LINE.slope.standard_error,
        ],
        lambda: ends_of(LINE.slope),
    ),
    "ece": (
        "ECE = Σ (m / n) |mean y − mean p| over the bins, m cases in a bin",
        lambda: sum(
            inside.mean() * abs(Y[inside].mean() - P[inside].mean())
            for inside in ((k / 10 < P) & ((k + 1) / 10 >= P) for k in range(10))
            if inside.any()
        ),
        lambda: expected_calibration_error(Y, P).value,
    ),
    "corrected ece": (
        "max(0, 2 ECE − Σ (m / n) E|d + σX|), d = mean y − mean p, σ² = r(1 − r)/m, "
        "r = (m mean y + 1/2)/(m + 1), X standard normal",
        corrected_ece,
        lambda: expected_calibration_error(Y, P).corrected,
    ),
    "decision intervals": (
        "NB: lower end NB − √(a² + b² − 2ρab), a = TP − lower(TP), b = w (upper(FP) − FP), "
        "w = t / (1 − t); upper end likewise, with the opposite limits",
        lambda: [net_benefit_limits(t) for t in TABLED],
        lambda: [ends_of(row.interval("net_benefit")) for row in threshold_intervals(FIT, thresholds=TABLED)],
    ),
    "Spiegelhalter's z": (
        "z = Σ (y − p)(1 − 2p) / √Σ (1 − 2p)² p(1 − p)",
        lambda: ((Y - P) * (1 - 2 * P)).sum() / np.sqrt(((1 - 2 * P) ** 2 * P * (1 - P)).sum()),
        lambda: spiegelhalter_test(Y, P).statistic,
    ),
    "Spiegelhalter's z in clusters": (
        "t = Σ D / √Σ ((D − w Σ D)² / (1 − w)), D the sum of (y − p)(1 − 2p) over a cluster, w its share "
        "of the "
        "cases",
        lambda: in_clusters((Y - P) * (1 - 2 * P)),
        lambda: spiegelhalter_test(Y, P, cluster=PERSON).statistic,
    ),
    "Calibration in the large": (
        "z = Σ (y − p) / √Σ p(1 − p)",
        lambda: (Y - P).sum() / np.sqrt((P * (1 - P)).sum()),
        lambda: mean_calibration_test(Y, P).statistic,
    ),
    "Calibration in the large in clusters": (
        "t = Σ D / √Σ ((D − w Σ D)² / (1 − w)), D the sum of y − p over a cluster, w its share of the cases",
        lambda: in_clusters(Y - P),
        lambda: mean_calibration_test(Y, P, cluster=PERSON).statistic,
    ),
    "Calibration slope": (
        "z = (b − 1) / se(b)",
        lambda: (LINE.slope.value - 1) / LINE.slope.standard_error,
        lambda: line_tests(Y, P)[0].statistic,
    ),
    "Calibration intercept at slope 1": (
        "z = a / se(a)",
        lambda: wald_distance(LINE.intercept_at_slope_one),
        lambda: line_tests(Y, P)[1].statistic,
    ),
    "Unreliability": (
        "χ² = 2 (log L(a, b) − log L(0, 1)), L the likelihood of the calibration line",
        lambda: 2 * (line_log_likelihood(LINE.intercept.value, LINE.slope.value) - line_log_likelihood(0, 1)),
        lambda: line_tests(Y, P)[2].statistic,
    ),
    "Hosmer-Lemeshow": (
        "χ² = Σ (O − E)² / (E(1 − E/m)) over groups of m cases, O events, E = Σ p",
        hosmer_lemeshow,
        lambda: hosmer_lemeshow_test(Y, P).statistic,
    ),
    "grades": (
        "Jeffreys: P(θ ≤ m), θ ~ Beta(d + 1/2, n − d + 1/2); binomial: P(X ≥ d), X ~ Bin(n, m)",
        lambda: [beta.cdf(0.1, 3 + 0.5, 12 - 3 + 0.5), binom.sf(2, 12, 0.1)],
        lambda: [(t := grade_test(12, 3, 0.1)).jeffreys_p_value, t.binomial_p_value],
    ),
    "consistency pointwise discrete": (
        "p ± z √(p(1 − p) / m), m the number of cases with this forecast",
        discrete,
        lambda: band("consistency", method="discrete"),
    ),
    "consistency pointwise continuous": (
        "p ± q ∛(4p(1 − p) / (n f(p))), q the (1 + ℓ)/2 quantile of Chernoff’s distribution",
        continuous,
        lambda: band("consistency", method="continuous"),
    ),
    "confidence simultaneous honest": (
        "lower(x) = max Beta(δ; s, m − s + 1) over segments of forecasts up to x with m cases and s events; "
        "upper(x) = min Beta(1 − δ; s + 1, m − s) over segments from x on; δ = (1 − ℓ) / (K(K + 1))",
        honest,
        lambda: band("confidence", coverage="simultaneous"),
    ),
    "roc": (
        "TPR = TP / (TP + FN) against FPR = FP / (FP + TN); AR = 2 AUC − 1; KS = max (TPR − FPR)",
        lambda: max(tp / (tp + fn) - fp / (fp + tn) for tp, fp, fn, tn in map(shares, P)),
        lambda: np.max((hull := sr.curves.roc_hull(FIT)).tpr - hull.fpr),
    ),
    "murphy": (
        "S = 2θ if p > θ and y = 0; 2(1 − θ) if p < θ and y = 1; 2θ(1 − θ) if p = θ; else 0",
        lambda: elementary(0.5),
        lambda: scores.elementary(Y, P, theta=0.5),
    ),
    "regret": (
        "R(c) = c FP + (1 − c) FN at the threshold c",
        lambda: [[t * shares(t)[1] + (1 - t) * shares(t)[2]] for t in TABLED],
        lambda: tabled("regret"),
    ),
    "net benefit": (
        "NB(t) = TP − FP t / (1 − t) = ȳ − R(t) / (1 − t)",
        lambda: [[shares(t)[0] - shares(t)[1] * t / (1 - t)] for t in TABLED],
        lambda: tabled("net_benefit"),
    ),
    "interventions avoided": (
        "100 (TN − FN (1 − t) / t) = 100 (NB(t) − NB of acting always) (1 − t) / t",
        lambda: [[100 * (shares(t)[3] - shares(t)[2] * (1 - t) / t)] for t in TABLED],
        lambda: tabled("interventions_avoided"),
    ),
    "thresholds": (
        "sensitivity = TP / (TP + FN), specificity = TN / (TN + FP), PPV = TP / (TP + FP), NPV = TN / (TN + "
        "FN)",
        lambda: [rates(t) for t in TABLED],
        lambda: tabled(
            "sensitivity", "specificity", "positive_predictive_value", "negative_predictive_value"
        ),
    ),
    "BCa bootstrap": (
        "quantiles Φ(z₀ + (z₀ ± z) / (1 − a(z₀ ± z))) of the B replicates",
        bca,
        lambda: ends_of(bootstrap_of_brier()[0].interval("m", "brier", allow_for_rare=False)),
    ),
    "BCa from the influence": (
        "value + s(b + w + γ(w² − 1)/6 + κ(w³ − 3w)/24 − γ²(2w³ − 5w)/36), w = z₀ + (z₀ ± z) / "
        "(1 − a(z₀ ± z)), z₀ = γ/6 − b",
        bca_by_influence,
        lambda: expansion_of_brier().bounds(0.95, "bca"),
    ),
    "percentile from the influence": (
        "value + s(b ± z + γ(z² − 1)/6 ± κ(z³ − 3z)/24 ∓ γ²(2z³ − 5z)/36)",
        lambda: [expand_by_formula(z) for z in (-Z, Z)],
        lambda: expansion_of_brier().bounds(0.95, "percentile"),
    ),
    "Wilson": (
        "(r + z²/(2n) ± z √(r(1 − r)/n + z²/(4n²))) / (1 + z²/n)",
        wilson,
        lambda: ends_of(rate_interval("rate", Y, SamplingUnits(rows=50), 0.95)),
    ),
    "percentile bootstrap": (
        "quantiles (1 − ℓ)/2 and (1 + ℓ)/2 of the B replicates",
        lambda: np.quantile(bootstrap_of_brier()[1], [0.025, 0.975]),
        lambda: ends_of(
            bootstrap_of_brier()[0].interval("m", "brier", method="percentile", allow_for_rare=False)
        ),
    ),
    "normal on log-odds": (
        "logit r ± z se(r) / (r(1 − r)), transformed back to r",
        rate_in_clusters,
        lambda: ends_of(rate_interval("rate", Y, CLUSTERED, 0.95)),
    ),
    "bracket": (
        "[D − max(ΔO₁, ΔO₂) − z se, D − min(ΔO₁, ΔO₂) + z se], ΔO the first fit’s overfit minus the second’s",
        bracket_of_difference,
        lambda: ends_of(component_differences(Y, P, OTHER, draws=20)[0]),
    ),
    "DeLong": (
        f"all θ with |AUC − θ| ≤ t √(s v(θ)), s = (var(V₁) / n₁ + var(V₀) / n₀) / v(AUC), {NEWCOMBE}",
        delong,
        lambda: ends_of(auc_interval(Y, P)),
    ),
    "DeLong with bias-reduced": (
        f"all θ with |AUC − θ| ≤ t √(s v(θ)), s = se² / v(AUC), {NEWCOMBE}",
        delong_in_clusters,
        lambda: ends_of(auc_interval(Y, P, cluster=PERSON)),
    ),
    "Diebold-Mariano": (
        "D = mean (S of the first − S of the second), D ± z se(D), test by D / se(D)",
        lambda: [(d := (P - Y) ** 2 - (OTHER - Y) ** 2).mean(), d.mean() / (d.std(ddof=1) / np.sqrt(50))],
        lambda: [(found := score_difference(Y, P, OTHER)).value, found.statistic],
    ),
    "DeLong difference": (
        "D = AUC of the first − AUC of the second, D ± t se(D), test by D / se(D)",
        lambda: scores.roc_auc(Y, P) - scores.roc_auc(Y, OTHER),
        lambda: delong_test(Y, P, OTHER).value,
    ),
    "holm": (
        "p of the k-th smallest of m: max over j ≤ k of min(1, (m − j + 1) p of the j-th smallest)",
        lambda: [max(min(1, (4 - j) * (0.01, 0.02, 0.021, 0.5)[j]) for j in range(k + 1)) for k in range(4)],
        lambda: holm([0.01, 0.02, 0.021, 0.5]),
    ),
    "Cochran's Q": (
        "Q = Σ (v − m)² / se², m = Σ (v / se²) / Σ (1 / se²); I² = max(0, 1 − df / Q)",
        lambda: (
            (0.2 - (m := (0.2 / 0.01 + 0.3 / 0.04) / (1 / 0.01 + 1 / 0.04))) ** 2 / 0.01
            + (0.3 - m) ** 2 / 0.04
        ),
        lambda: cochran_q([0.2, 0.3], [0.1, 0.2]).statistic,
    ),
    "psi": (
        "PSI = Σ (a − b) log(a / b) over k bins; interval: max(0, PSI − (k − 1)(1/n + 1/m)) ± z se, cut at 0",
        stability_by_hand,
        lambda: [(found := compare_sample()).value, found.lower, found.upper],
    ),
    "missing outcomes": (
        "mean score: S(p, y), where y is missing the smaller or larger of S(p, 0) and S(p, 1); MCB of the "
        "Brier score: max over nondecreasing c of the mean of p² − c² + 2y(c − p), where y is missing of "
        "p² − c² + 2 min(c − p, 0) or p² − c² + 2 max(c − p, 0)",
        bounds_by_hand,
        bounds_by_engine,
    ),
    "ks": (
        "d = TPR − FPR at its maximum: d + √((u₁ − TPR)² + (FPR − l₀)²) above, d − √((TPR − l₁)² + "
        "(u₀ − FPR)²) − σ/2 below, σ² = Δ₁/n₁ + Δ₀/n₀",
        ks_by_hand,
        lambda: [(found := estimate_ks(CORNERS, events=40, non_events=60, level=0.95)).lower, found.upper],
    ),
    "Calibration by group": (
        "χ² = 2 (Σ log L of each group’s line − log L of the common line)",
        group_ratio,
        lambda: group_calibration_test(Y, P, np.arange(50) % 2)[1].statistic,
    ),
}


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("key", OF_METHODS)
def test_formula_of_a_method(key):
    text, by_formula, by_engine = OF_METHODS[key]
    assert BINARY_CATALOGUE[key].formula == text
    np.testing.assert_allclose(by_formula(), by_engine(), rtol=1e-8, atol=1e-12)


def test_only_these_formulas_are_not_computed_again():
    assert set(BINARY_CATALOGUE) - set(OF_METHODS) == {
        "rare cases",  # in test_few_cases.py, as the next
        "few values",
        "miscalibration test",  # below, up to chance
        "ici",  # below
        "distance interval",  # test_decision_intervals.py
        "flexible",  # test_decision_intervals.py
        "Unreliability by Wald",
        "Unreliability in time",  # these four in test_time_errors
        "Spiegelhalter's z in time",
        "Calibration in the large in time",
        "Autocorrelation in time",
        "Calibration by group by Wald",
        "consistency pointwise resampling",
        "confidence pointwise resampling",
        "consistency simultaneous split resampling",
        "murphy difference",
        "decision differences",  # in test_decision_differences.py
        "ranks",
        "groups",
        "miscalibration parts",  # test_miscalibration_parts.py
        "recalibration",
        "limits",
        "needed",  # test_needed_cases.py
        "certificate",
        *REFERENCE_FORMULAS,  # test_reference_comparison.py
        *EVIDENCE_FORMULAS,  # test_evidence_formulas.py
    }


@pytest.mark.sweep
def test_formula_of_the_miscalibration_test_up_to_chance():
    engine = miscalibration_test(sr.corp(Y, P), resamples=1500).p_value
    assert null_miscalibration() == pytest.approx(engine, abs=0.08)


def test_formula_of_ici():
    from statsmodels.nonparametric.smoothers_lowess import lowess

    forecast, outcome = RNG.random(60), RNG.integers(0, 2, 60)
    curve = np.clip(lowess(outcome, forecast, frac=2 / 3, it=0, xvals=forecast), 0, 1)
    assert calibration_errors(outcome, forecast).ici == pytest.approx(np.mean(np.abs(curve - forecast)))


def test_net_benefit_is_prevalence_less_regret():
    for t in TABLED:
        tp, fp, fn, _ = shares(t)
        regret = t * fp + (1 - t) * fn
        assert tp - fp * t / (1 - t) == pytest.approx(Y.mean() - regret / (1 - t))
