"""Formulas of subgroups and periods, and of recalibration."""

from __future__ import annotations

from scorereport.inference.heterogeneity import COCHRAN, WELCH
from scorereport.inference.recalibration_lines import COX_1958
from scorereport.reliability.clusters import PUSTEJOVSKY_TIPTON
from scorereport.report.methods.notation import Formula
from scorereport.report.methods.works import BATES_2024, COLLINS_2024, HIGGINS_2002, STONE_1974

#: Methods by the key under which the section asks for them.
GROUP_FORMULAS = {
    "groups": Formula(
        name="Subgroups and periods",
        formula="the same measures on the rows of each group alone",
        convention="",
        reference=COLLINS_2024,
    ),
    "Cochran's Q": Formula(
        name="Cochran’s Q",
        formula="Q = Σ (v − m)² / se², m = Σ (v / se²) / Σ (1 / se²); I² = max(0, 1 − df / Q)",
        convention="v is the score of a group. χ² with df = number of groups − 1 for AUCs, whose errors are "
        "taken at the common AUC; else, and over clusters, Welch’s F, with the degrees of freedom of each "
        "error "
        "(cases of the rarest class less 1, or those of its clusters).",
        reference=f"{COCHRAN}; {HIGGINS_2002}; {WELCH}",
    ),
    "Calibration by group": Formula(
        name="Calibration by group",
        formula="χ² = 2 (Σ log L of each group’s line − log L of the common line)",
        convention="By the intercept at slope 1, and by intercept and slope.",
        reference=COX_1958,
    ),
    "Calibration by group by Wald": Formula(
        name="Calibration by group",
        formula="T² = dᵀV⁻¹d, d the coefficients of the groups less those of the first, V their covariance",
        convention="By the intercept at slope 1, and by intercept and slope. V is bias-reduced (CR2).",
        reference=f"{COX_1958}; {PUSTEJOVSKY_TIPTON}",
    ),
    "recalibration": Formula(
        name="Recalibration tried",
        formula="intercept: logit p′ = a + logit p; logistic: logit p′ = a + b logit p; isotonic: p′ = ŷ; "
        "D = mean (S(p′, y) − S(p, y)); interval of −D: the wider end of that of the mean and of "
        "u (√(G/u) ± c)² − u k F/(F − 1)",
        convention="G is the gain of the map fitted to all cases, k its parameters (1 or 2), u = tr(HV)/(2k) "
        "with H the curvature of the expected score and V the covariance of the fit, F the folds; c is the "
        "root of the quantile of χ² with k degrees of freedom below, the normal quantile above. Isotonic: "
        "the variance of D plus 2 O²/K, O the closed form of the overfit and K its parameters.",
        reference=f"{COX_1958}; {STONE_1974}; {BATES_2024}",
    ),
}
