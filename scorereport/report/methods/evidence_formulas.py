"""Formulas of sequential evidence: bets of an audit, the detector of changes, and confidence sequences."""

from __future__ import annotations

from scorereport._utils.formatting import join_words, shortest
from scorereport.history.trend.evidence_rows import CUT_AT
from scorereport.inference.baseline_bets import MEAN_SHARE
from scorereport.inference.calibration_bets import (
    AUDITS_FITTED,
    ISOTONIC_SHARE,
    LOGISTIC_SHARE,
    RIDGE,
    SHIFTS,
    SLOPES,
)
from scorereport.report.methods.notation import (
    COVERAGE_STUDY,
    DIMITRIADIS_2023,
    Formula,
)

_ARNOLD_2023 = "Arnold, Henzi, Ziegel (2023), Ann. Appl. Stat. 17, doi:10.1214/22-AOAS1697"
_ARNOLD_2026 = "Arnold, Gavrilopoulos, Schulz, Ziegel (2026), J. R. Stat. Soc. B, doi:10.1093/jrsssb/qkag066"
_CHOE_RAMDAS_2024 = "Choe, Ramdas (2024), Oper. Res. 72, doi:10.1287/opre.2021.0792"
_HENZI_ZIEGEL_2022 = "Henzi, Ziegel (2022), Biometrika 109, doi:10.1093/biomet/asab047"
_HOWARD_2021 = "Howard, Ramdas, McAuliffe, Sekhon (2021), Ann. Stat. 49, doi:10.1214/20-AOS1991"
_SHIN_2024 = "Shin, Ramdas, Rinaldo (2024), New Engl. J. Stat. Data Sci. 2, doi:10.51387/23-NEJSDS51"
_VOVK_WANG_2021 = "Vovk, Wang (2021), Ann. Stat. 49, doi:10.1214/20-AOS2020"
_WAUDBY_SMITH_2024 = "Waudby-Smith, Ramdas (2024), J. R. Stat. Soc. B 86, doi:10.1093/jrsssb/qkad009"

#: Shifts in both directions.
_SHIFTS = join_words(f"±{shortest(shift)}" for shift in SHIFTS if shift > 0)
#: Methods by key.
EVIDENCE_FORMULAS = {
    "evidence": Formula(
        name="Evidence against calibration",
        formula="e = weighted mean over bets q of Π (q / r)^y ((1 − q) / (1 − r))^(1 − y), r = q cut to "
        "[l, u], logit l = logit p − δ, logit u = logit p + δ",
        convention="The statement: given all that was known before, the log-odds of the event differ from "
        "those of the forecast by at most the tolerance δ. If it is true, e is at most 1 on average. Bets "
        "are fixed before the outcomes: a logistic recalibration of the last "
        f"{AUDITS_FITTED} audits with a ridge of {shortest(RIDGE)} (weight {shortest(LOGISTIC_SHARE)}), "
        f"their isotonic curve mixed with p ({shortest(ISOTONIC_SHARE)}), and log-odds shifted by {_SHIFTS} "
        f"or multiplied by {join_words(map(shortest, SLOPES))} (the rest; all of it in the first audit). "
        "Rows are multiplied, clusters too, each with the mean of its rows; a sampling weight w of at most "
        "1 replaces a row’s e by 1 + w(e − 1). With K classes, each class has its bets. Evidence of audits "
        "is multiplied; rows that an earlier audit counted are left out.",
        reference=f"{_HENZI_ZIEGEL_2022}; {_ARNOLD_2023}; {COVERAGE_STUDY}",
    ),
    "baseline evidence": Formula(
        name="Evidence against the baseline",
        formula="e as against calibration, with [l, u] the band of the baseline at p",
        convention="The band contains the calibration curve of the baseline at all forecasts with its stated "
        "level: exact binomial bounds of all runs of neighbouring bins, the error shared among them. "
        f"A share of {shortest(MEAN_SHARE)} of the weight is on bets that the mean outcome of the audit is "
        "beyond what any curve allows that does not fall and agrees with the baseline in runs of an eighth "
        "or more of its cases; they are as those against a limit. The baseline is sealed in the history, "
        "and later audits never join it.",
        reference=f"{DIMITRIADIS_2023}; {_HENZI_ZIEGEL_2022}",
    ),
    "limit evidence": Formula(
        name="Evidence against a limit",
        formula="e = weighted mean over bets λ of Π (1 + v λ (x − m)), x = S / B, m = limit / B, "
        "0 ≤ λ ≤ 1 / (2m)",
        convention="The statement: the mean score is at most the limit; for a lower limit with 1 − x and "
        "1 − m. B is the largest value of the score, v a weight of at most 1; a score without a "
        f"largest value is cut at B = {shortest(CUT_AT)}, which makes its mean no larger. Bets are the "
        "growth-optimal one of earlier audits, Σ v(x − m) / Σ v²(x − m)², and a fixed grid.",
        reference=f"{_WAUDBY_SMITH_2024}; {COVERAGE_STUDY}",
    ),
    "model set": Formula(
        name="Models in the running",
        formula="E = mean over other models of Π weighted mean over bets λ of Π (1 + v λ d), d = (S − "
        "S of the other) / B, 0 ≤ λ ≤ 1/2; E* = least mean of E over all sets of models with this one",
        convention="Evidence that others have the lower mean score; a product over rows, then over audits. "
        "A model leaves for good when E* reaches 1/α: the probability that one as good as the best ever "
        "leaves is at most α.",
        reference=f"{_ARNOLD_2026}; {_VOVK_WANG_2021}; {COVERAGE_STUDY}",
    ),
    "detector": Formula(
        name="Detector and alarm line",
        formula="R = e (1 + R of the audit before), R = 0 before the first; alarm: R ≥ A = k L / α",
        convention="Evidence for a change at some audit so far. k is the number of statements that can raise "
        "an alarm, L the number of audits that α refers to: if all statements are true, the mean number of "
        "audits to the first alarm is at least L / α.",
        reference=f"{_SHIN_2024}; {COVERAGE_STUDY}",
    ),
    "confidence sequence": Formula(
        name="Confidence sequence of a mean score",
        formula="all μ with m(V, ±Σ v(x − μ)) < 2/α, V = Σ v²(x − γ)², m(V, s) = mixture over 0 < λ < 1 of "
        "exp(λs + V(λ + log(1 − λ)))",
        convention="It contains the mean of the expected scores of all audits so far, at all audits at once. "
        "x = S / B, γ is the mean of the audits before, 0 in the first; the mixture is a gamma distribution "
        "of 1 − λ cut at 1, which makes the interval shortest when V is 3 % of the cases of the first audit.",
        reference=f"{_CHOE_RAMDAS_2024}; {_HOWARD_2021}; {COVERAGE_STUDY}",
    ),
}
