"""Formulas of methods for binary outcomes: scores, decisions, comparisons, groups, intervals, verdicts."""

from __future__ import annotations

from scorereport._utils.formatting import format_count, format_level
from scorereport.inference.decisions import ZOU_DONNER_2008
from scorereport.inference.differences import DELONG, DIEBOLD_MARIANO, OBUCHOWSKI
from scorereport.inference.drawn_sums import LARGE
from scorereport.inference.expansions import FEWEST_UNITS, LARGEST_SHARE
from scorereport.inference.few_values import MOST_VALUES
from scorereport.inference.heterogeneity import COCHRAN, LIANG_ZEGER, WELCH
from scorereport.inference.local_miscalibration import BRAUER_2025
from scorereport.inference.rare_cases import FEW_CASES
from scorereport.inference.recalibration_lines import COX_1958
from scorereport.reliability.clusters import PUSTEJOVSKY_TIPTON
from scorereport.report.methods.calibration_formulas import BAND_FORMULAS, CALIBRATION_FORMULAS
from scorereport.report.methods.decision_formulas import DECISION_GAIN_FORMULAS
from scorereport.report.methods.evidence_formulas import EVIDENCE_FORMULAS
from scorereport.report.methods.notation import (
    ALTMAN_BLAND_1994,
    BATES_2024,
    BESAG_CLIFFORD_1991,
    BRUEMMER_2013,
    CLOPPER_PEARSON_1934,
    COLLINS_2024,
    COVERAGE_STUDY,
    EFRON_1987,
    HALL_1992,
    HIGGINS_2002,
    HOLM_1979,
    KENT_HAINSWORTH_1995,
    KORN_GRAUBARD_1998,
    MONTIEL_OLEA_2019,
    NEWCOMBE_2006,
    STONE_1974,
    TAKEUCHI_1976,
    WILSON_1927,
    YOUDEN_1950,
    Formula,
)
from scorereport.report.methods.reference_formulas import REFERENCE_FORMULAS
from scorereport.report.methods.verdict_formulas import VERDICT_FORMULAS
from scorereport.scores.registry import (
    DIMITRIADIS_2021,
    EHM_2016,
    FLORES_2025,
    HANLEY_MCNEIL_1982,
    VICKERS_ELKIN_2006,
)

#: Skill: scores compared with that of the prevalence.
SKILL_FORMULAS = {
    "skill": Formula(
        name="Skill",
        formula="skill = (S(ȳ) − S(p)) / (S(ȳ) − S(y)); for the AUC: 2 AUC − 1",
        convention="0 % is the prevalence forecast, 100 % the perfect one; a negative skill is worse than "
        "the prevalence forecast. The prevalence is that of the same cases.",
        reference=FLORES_2025,
    ),
}


#: Methods by key.
DECISION_FORMULAS = {
    "roc": Formula(
        name="ROC curve, AR and KS",
        formula="TPR = TP / (TP + FN) against FPR = FP / (FP + TN); AR = 2 AUC − 1; KS = max (TPR − FPR)",
        convention="At every threshold; higher is better. The concave hull is the ROC curve of ŷ. The "
        "cumulative accuracy profile (CAP) is TPR against the share of cases acted on; AR is the area "
        "between it and the diagonal, relative to that of a perfect ranking.",
        reference=f"{HANLEY_MCNEIL_1982}; {YOUDEN_1950}",
    ),
    "murphy": Formula(
        name="Elementary scores (Murphy diagram)",
        formula="S = 2θ if p > θ and y = 0; 2(1 − θ) if p < θ and y = 1; 2θ(1 − θ) if p = θ; else 0",
        convention="Mean over cases at each cost ratio θ; lower is better. Its integral over θ is the Brier "
        "score.",
        reference=EHM_2016,
    ),
    "regret": Formula(
        name="Regret",
        formula="R(c) = c FP + (1 − c) FN at the threshold c",
        convention="A false alarm costs c, a miss 1 − c. Lower is better, 0 is perfect foresight; half the "
        "elementary score except at ties, where the decision is to act.",
        reference=FLORES_2025,
    ),
    "net benefit": Formula(
        name="Net benefit (decision curve)",
        formula="NB(t) = TP − FP t / (1 − t) = ȳ − R(t) / (1 − t)",
        convention="Higher is better. Acting always: ȳ − (1 − ȳ) t / (1 − t); acting never: 0.",
        reference=VICKERS_ELKIN_2006,
    ),
    "thresholds": Formula(
        name="Decisions at thresholds",
        formula="sensitivity = TP / (TP + FN), specificity = TN / (TN + FP), PPV = TP / (TP + FP), "
        "NPV = TN / (TN + FN)",
        convention="Acted on: TP + FP. 0/0 is not defined (n/d).",
        reference=ALTMAN_BLAND_1994,
    ),
    "decision intervals": Formula(
        name="Intervals of rates and of net benefit",
        formula="NB: lower end NB − √(a² + b² − 2ρab), a = TP − lower(TP), b = w (upper(FP) − FP), "
        "w = t / (1 − t); upper end likewise, with the opposite limits",
        convention="Rates, and the shares TP and FP of all cases, have Wilson’s limits; those of net "
        "benefit combine them, where ρ = −√(TP FP / ((1 − TP)(1 − FP))) is the correlation of the shares. "
        "With sampling weights or clusters, limits are computed on log-odds, and errors and ρ from sums "
        "over rows or clusters. Each interval holds at its own threshold only.",
        reference=f"{WILSON_1927}; {ZOU_DONNER_2008}",
    ),
}


#: Methods by key.
COMPARISON_FORMULAS = {
    "Diebold-Mariano": Formula(
        name="Difference of scores",
        formula="D = mean (S of the first − S of the second), D ± z se(D), test by D / se(D)",
        convention="Paired on the same cases. A negative value favours the first model where lower is "
        "better.",
        reference=DIEBOLD_MARIANO,
    ),
    "DeLong difference": Formula(
        name="Difference of AUCs",
        formula="D = AUC of the first − AUC of the second, D ± t se(D), test by D / se(D)",
        convention="Paired on the same cases. A positive value favours the first model.",
        reference=DELONG,
    ),
    "bracket": Formula(
        name="Difference of MCB or DSC",
        formula="[D − max(ΔO₁, ΔO₂) − z se, D − min(ΔO₁, ΔO₂) + z se], ΔO the first fit’s overfit minus the "
        "second’s",
        convention="Paired as above. If both models rank the cases identically, ΔO is 0.",
        reference=f"{DIMITRIADIS_2021}; {COVERAGE_STUDY}",
    ),
    "murphy difference": Formula(
        name="Difference of Murphy curves",
        formula="D(θ) ± c s(θ), s the deviation over resamples, c the ℓ quantile of max |D* − D| / s* over θ",
        convention="Simultaneous (sup-t); the pointwise band uses the quantile at each θ. c is at least z, "
        "and s² includes the squared effect of one additional row. D* are resamples or, with many "
        "independent rows, curves drawn with the covariance that rows give to resamples; rows are then "
        "drawn one by one only at costs at which the models disagree on few of them.",
        reference=f"{EHM_2016}; {MONTIEL_OLEA_2019}",
    ),
    "holm": Formula(
        name="Holm’s p",
        formula="p of the k-th smallest of m: max over j ≤ k of min(1, (m − j + 1) p of the j-th smallest)",
        convention="The probability of any false rejection among the m tests is at most their level.",
        reference=HOLM_1979,
    ),
    "ranks": Formula(
        name="Ranks",
        formula="rank = 1 + number of models that are significantly better by this measure",
        convention="Models that do not differ significantly are tied (=).",
        reference=HOLM_1979,
    ),
}


#: Methods by key.
GROUP_FORMULAS = {
    "groups": Formula(
        name="Subgroups and periods",
        formula="the same measures on the rows of each group alone",
        convention="A group has the rows that share a label, a period those of a range of times.",
        reference=COLLINS_2024,
    ),
    "Cochran's Q": Formula(
        name="Cochran’s Q",
        formula="Q = Σ (v − m)² / se², m = Σ (v / se²) / Σ (1 / se²); I² = max(0, 1 − df / Q)",
        convention="v is the score of a group. χ² with df = number of groups − 1 for AUCs, whose errors are "
        "computed at the common AUC; otherwise, and with clusters, Welch’s F, with the degrees of freedom of "
        "each error (cases of the rarest class minus 1, or those of its clusters).",
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
        formula="T² = dᵀV⁻¹d, d the coefficients of the groups minus those of the first, V their covariance",
        convention="By the intercept at slope 1, and by intercept and slope. V is bias-reduced (CR2).",
        reference=f"{COX_1958}; {PUSTEJOVSKY_TIPTON}",
    ),
    "miscalibration parts": Formula(
        name="Parts of miscalibration",
        formula="MCB = [S(p) − S(p₁)] + [S(p₁) − S(p₂)] + [S(p₂) − S(ŷ)], logit p₁ = a + logit p and "
        "logit p₂ = a + b logit p, b ≥ 0, with the lowest mean score; corrected: less u k and, for the "
        "last, less O − 2u; interval of the first two: u (√(G/u) ± c s)²",
        convention="The first two parts are global, the last is local. No part is negative, because ŷ has "
        "the lowest score of all nondecreasing maps. G is a part, k its number of parameters, u k = "
        "½ tr(JH⁻¹) with H the curvature of the score and J the covariance of its gradient, c as in "
        "recalibration tried, s the larger of 1 and se(G)/(2 √(uG)); O and the interval of the local part "
        "are those of MCB. The local test draws outcomes from p₂ of maximum likelihood: its statistic is "
        "S(p₂) − S(ŷ), and draws end early if the p-value is large. The line is an addition: in the "
        "reference, the global part is the gain of a correction of the level.",
        reference=f"{BRAUER_2025}; {BRUEMMER_2013}; {TAKEUCHI_1976}; {BESAG_CLIFFORD_1991}",
    ),
    "recalibration": Formula(
        name="Recalibration tried",
        formula="intercept: logit p′ = a + logit p; logistic: logit p′ = a + b logit p; isotonic: p′ = ŷ; D "
        "= mean (S(p′, y) − S(p, y)); interval of −D: at each end, the wider of the interval of the mean "
        "and of u (√(G/u) ± c)² − u k F/(F − 1)",
        convention="G is the gain of the map fitted to all cases, k the number of its parameters (1 or 2), "
        "u = tr(HV)/(2k) with H the curvature of the expected score and V the covariance of the fit, F the "
        "number of folds; c is, at the lower end, the square root of the quantile of χ² with k degrees of "
        "freedom, at the upper end the normal quantile. Isotonic: the variance of D plus 2 O²/K, O the "
        "overfit in closed form and K its number of parameters.",
        reference=f"{COX_1958}; {STONE_1974}; {BATES_2024}",
    ),
}


_NEWCOMBE = (
    "v(θ) = θ(1 − θ)(1 + ((n₁ + n₀) / 2 − 1)((1 − θ) / (2 − θ) + θ / (1 + θ))) / (n₁n₀); V the share of "
    "the other class against which a case is ranked correctly"
)
_SMALL_RATIO = (
    "If s is below 1, it is replaced by 1 − (1 − s)w / (w + 5), w = 4 AUC(1 − AUC) min(n₁, n₀). Where "
    "nothing varies, s is 1, which gives Newcombe’s interval."
)
#: Intervals by the beginning of their method in records.
INTERVAL_FORMULAS = {
    "BCa bootstrap": Formula(
        name="BCa bootstrap",
        formula="quantiles Φ(z₀ + (z₀ ± z) / (1 − a(z₀ ± z))) of the B replicates",
        convention="z₀ is the normal quantile of the share of replicates below the value (ties count half), "
        "a the acceleration, a sixth of the skewness. All models are scored on the same resamples. Of "
        f"{format_count(FEWEST_UNITS)} units or more, those with an influence above {format_level(LARGE)} of "
        "the spread are drawn, and the sum over the others is normal with their covariance. With "
        "clusters, the distances of both bounds from the value are multiplied by t se / (z s), s the "
        "standard deviation of the replicates and se the bias-reduced error, and both bounds reach at least "
        "as far as those of t; on the log scale of a score or of 1 − skill.",
        reference=EFRON_1987,
    ),
    "BCa from the influence": Formula(
        name="BCa without resamples",
        formula="value + s(b + w + γ(w² − 1)/6 + κ(w³ − 3w)/24 − γ²(2w³ − 5w)/36), w = z₀ + (z₀ ± z) / "
        "(1 − a(z₀ ± z)), z₀ = γ/6 − b",
        convention="The BCa bootstrap of many rows, its quantiles by Cornish and Fisher’s expansion: s, γ, "
        "κ are the standard deviation, skewness and excess kurtosis of the statistic over resamples, from "
        "the influence of each row or cluster, a a sixth of the skewness of the influence. Skills and "
        "weighted means are functions of means: b is the bias of their second-order term over s, and γ "
        f"includes its skewness. Used from {format_count(FEWEST_UNITS)} units on if, relative to the root of "
        f"the sum of squares, no influence exceeds {format_level(2 * LARGEST_SHARE)} and their root mean "
        f"square, weighted by squares, {format_level(LARGEST_SHARE)}, and if terms that are left out are "
        "below a tenth of s; else resamples are drawn until the error of both ends is below 2 % of the "
        "width. With clusters, widened as the bootstrap.",
        reference=f"{EFRON_1987}; {HALL_1992}",
    ),
    "percentile from the influence": Formula(
        name="Percentile interval without resamples",
        formula="value + s(b ± z + γ(z² − 1)/6 ± κ(z³ − 3z)/24 ∓ γ²(2z³ − 5z)/36)",
        convention="The percentile bootstrap of many rows: its quantiles by Cornish and Fisher’s expansion, "
        "with the cumulants of the statistic over resamples, as in BCa without resamples.",
        reference=HALL_1992,
    ),
    "percentile bootstrap": Formula(
        name="Percentile bootstrap",
        formula="quantiles (1 − ℓ)/2 and (1 + ℓ)/2 of the B replicates",
        convention="Quantiles of type 7. All models are scored on the same resamples, as for BCa.",
        reference=EFRON_1987,
    ),
    "rare cases": Formula(
        name="Rare events, non-events and surprises",
        formula="value − √((m(π) − m(π₁))² + z²(se² − e²)) and value + √((m(π₂) − m(π))² + z²(se² − e²)), "
        "m(π) = π m₁ + (1 − π) m₀",
        convention=f"Where fewer than {FEW_CASES} cases are events, are non-events, or have an outcome on "
        "the other side of 1/2 than their forecast, the interval of a mean score reaches at least this far. "
        "π is the share of these cases, [π₁, π₂] its exact interval, m₁ and m₀ the mean scores of these and "
        "of the other cases, each with one additional case at its expected score, e the part of the "
        "standard error that is due to π. Weighted and clustered rows count by their effective number. The "
        "interval of a skill reaches at least as far as with the error that holds if the forecasts are the "
        "true probabilities.",
        reference=f"{CLOPPER_PEARSON_1934}; {KORN_GRAUBARD_1998}; {ZOU_DONNER_2008}; {COVERAGE_STUDY}",
    ),
    "few values": Formula(
        name="Components of few distinct forecasts",
        formula="P(a χ²(f, λ) ≤ Σ s d(x, r)) = (1 − ℓ)/2 at the upper end MCB = a λ",
        convention=f"For forecasts with 2 to {MOST_VALUES} distinct values x; s are shares of the cases, r "
        "event rates, d the mean loss of x compared with r, a and f scale and degrees of freedom after "
        "Satterthwaite. With one value, MCB = d(x, q) has the exact interval of the rate q. DSC likewise, "
        "with the prevalence for x. Intervals reach at least this far.",
        reference=f"{CLOPPER_PEARSON_1934}; {KENT_HAINSWORTH_1995}; {COVERAGE_STUDY}",
    ),
    "Wilson": Formula(
        name="Wilson interval of a rate",
        formula="(r + z²/(2n) ± z √(r(1 − r)/n + z²/(4n²))) / (1 + z²/n)",
        convention="r is the rate.",
        reference=WILSON_1927,
    ),
    "normal on log-odds": Formula(
        name="Interval of a rate on log-odds",
        formula="logit r ± z se(r) / (r(1 − r)), transformed back to r",
        convention="For rates r of clustered or weighted rows. With clusters, se is bias-reduced (CR2), and "
        "z is the quantile of t with Satterthwaite’s degrees of freedom.",
        reference=f"{LIANG_ZEGER}; {PUSTEJOVSKY_TIPTON}",
    ),
    "DeLong": Formula(
        name="DeLong interval of the AUC",
        formula=f"all θ with |AUC − θ| ≤ t √(s v(θ)), s = (var(V₁) / n₁ + var(V₀) / n₀) / v(AUC), "
        f"{_NEWCOMBE}",
        convention=f"n₁ events, n₀ non-events; t with Welch’s degrees of freedom. {_SMALL_RATIO}",
        reference=f"{DELONG}; {NEWCOMBE_2006}",
    ),
    "DeLong with bias-reduced": Formula(
        name="DeLong interval of the AUC, in clusters",
        formula=f"all θ with |AUC − θ| ≤ t √(s v(θ)), s = se² / v(AUC), {_NEWCOMBE}",
        convention="se is the bias-reduced error (CR2) over clusters of mean V of events plus mean V of "
        f"non-events, t with Satterthwaite’s degrees of freedom. {_SMALL_RATIO}",
        reference=f"{OBUCHOWSKI}; {NEWCOMBE_2006}; {PUSTEJOVSKY_TIPTON}",
    ),
}


#: All methods except scores, by key.
BINARY_CATALOGUE = (
    SKILL_FORMULAS
    | CALIBRATION_FORMULAS
    | BAND_FORMULAS
    | DECISION_FORMULAS
    | DECISION_GAIN_FORMULAS
    | INTERVAL_FORMULAS
    | COMPARISON_FORMULAS
    | GROUP_FORMULAS
    | VERDICT_FORMULAS
    | REFERENCE_FORMULAS
    | EVIDENCE_FORMULAS
)
