"""Formulas of the bands of a reliability curve."""

from __future__ import annotations

from scorereport.report.methods.notation import Formula
from scorereport.report.methods.works import COVERAGE_STUDY, DIMITRIADIS_2023
from scorereport.scores.references import DIMITRIADIS_2021

#: Bands by kind, coverage and method.
BAND_FORMULAS = {
    "consistency pointwise resampling": Formula(
        name="consistency band",
        formula="quantiles (1 − ℓ)/2 and (1 + ℓ)/2 of the curves of redrawn cases, y* = 1 with probability p",
        convention="Around the diagonal: where the curve of a calibrated forecast would lie at any one "
        "forecast. Quantiles of type 7.",
        reference=DIMITRIADIS_2021,
    ),
    "confidence pointwise resampling": Formula(
        name="confidence band",
        formula="quantiles (1 − ℓ)/2 and (1 + ℓ)/2 of the curves of redrawn cases, y* = 1 with probability ŷ",
        convention="Around the estimate: where the true curve may lie at any one forecast. Quantiles of type "
        "7; where the estimate is 0 or 1 an exact binomial bound widens it.",
        reference=DIMITRIADIS_2021,
    ),
    "consistency pointwise discrete": Formula(
        name="consistency band",
        formula="p ± z √(p(1 − p) / m), m the number of cases with this forecast",
        convention="Around the diagonal, for many cases on few forecasts; cut to [0, 1].",
        reference=DIMITRIADIS_2021,
    ),
    "consistency pointwise continuous": Formula(
        name="consistency band",
        formula="p ± q ∛(4p(1 − p) / (n f(p))), q the (1 + ℓ)/2 quantile of Chernoff’s law",
        convention="Around the diagonal, for many cases on many forecasts; f is the beta-kernel density of "
        "the forecasts with bandwidth n^(−2/5); exact quantiles; cut to [0, 1].",
        reference=f"{DIMITRIADIS_2021}; Chen (1999), doi:10.1016/S0167-9473(99)00010-9",
    ),
    "consistency simultaneous split resampling": Formula(
        name="consistency band",
        formula="m − c e₁ to m + c e₂, m the median of the drawn curves, e₁ and e₂ its distances to their "
        "0.5 % and 99.5 % quantiles",
        convention="The whole curve of a calibrated forecast stays inside with this probability. Half of the "
        "draws give m, e₁ and e₂ (at least a quarter of the usual width), the other half the factor c, so "
        "that the level is exact for independent rows.",
        reference=f"{DIMITRIADIS_2021}; {COVERAGE_STUDY}",
    ),
    "confidence simultaneous honest": Formula(
        name="confidence band",
        formula="lower(x) = max Beta(δ; s, m − s + 1) over stretches of forecasts up to x with m cases and s "
        "events; upper(x) = min Beta(1 − δ; s + 1, m − s) over stretches from x on; δ = (1 − ℓ) / (K(K + 1))",
        convention="The whole true curve, if it does not fall, stays inside with at least this probability, "
        "for every n. Beta(δ; …) is the δ quantile. K distinct forecasts, or 6 ∛n cells of about equal count "
        "if these are fewer.",
        reference=DIMITRIADIS_2023,
    ),
}
