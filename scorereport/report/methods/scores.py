"""Formulas of scores of an event, and of their skill."""

from __future__ import annotations

from scorereport.report.methods.notation import Formula
from scorereport.scores.references import FLORES_2025

#: Formula and convention of each score; references, range and direction are in the registry of scores.
SCORE_FORMULAS = {
    "brier": ("S = (p − y)²", "The mean squared error of a probability."),
    "log_loss": (
        "S = −log p if y = 1, else −log(1 − p)",
        "Natural logarithm. −log 0 = ∞ stays visible; no forecast is clipped.",
    ),
    "misclassification": (
        "S = 1 if p < 1/2 and y = 1, or p > 1/2 and y = 0; 1/2 if p = 1/2; else 0",
        "The half at p = 1/2 keeps the score proper; elsewhere decisions count p ≥ threshold as positive.",
    ),
    "spherical": (
        "S = 1 − q / √(p² + (1 − p)²), q = p if y = 1, else 1 − p",
        "Turned round from the usual orientation, so that 0 is perfect.",
    ),
    "bounded_brier": (
        "S = ((y − p′)² − (y − y′)²) / (2(b − a)), p′ and y′ being p and y pulled into [a, b]",
        "The mean regret if the cost is uniform between a and b; half of what the paper prints.",
    ),
    "bounded_log_loss": (
        "S = log((1 − |y − y′|) / (1 − |y − p′|)) / (logit b − logit a), p′ and y′ as above",
        "The mean regret if the log-odds of the cost are uniform between those of a and b.",
    ),
    "bounded_net_benefit": (
        "S = (p′ − a) / (b − a) if y = 1, else (p′ − a − log((1 − a) / (1 − p′))) / (b − a), p′ as above",
        "The mean net benefit if the threshold is uniform between a and b.",
    ),
    "roc_auc": (
        "AUC = P(p₁ > p₀) + P(p₁ = p₀) / 2, p₁ of a random event, p₀ of a random non-event",
        "A tie counts half. Not defined (n/d) if all outcomes are the same. Its skill is the accuracy ratio.",
    ),
}

#: How scores are compared with that of the prevalence.
SKILL_FORMULAS = {
    "skill": Formula(
        name="Skill",
        formula="skill = (S(ȳ) − S(p)) / (S(ȳ) − S(y)); of the AUC: 2 AUC − 1",
        convention="0 % is the prevalence forecast, 100 % the perfect one; negative is worse than the "
        "prevalence. The prevalence is that of the same cases.",
        reference=FLORES_2025,
    ),
}
