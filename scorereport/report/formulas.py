"""The catalogue of methods: what each measure, band, test and interval is, as a formula in plain text.

Symbols are explained once, in `SYMBOLS`. Whoever changes a kernel changes its formula here too; the tests
evaluate these formulas on small samples.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport.inference.binning import NAEINI_2015
from scorereport.inference.calibration import HOSMER_LEMESHOW_1980, SPIEGELHALTER_1986, VAN_CALSTER_2019
from scorereport.inference.differences import DELONG, DIEBOLD_MARIANO, OBUCHOWSKI
from scorereport.inference.grades import ECB_2019
from scorereport.inference.heterogeneity import COCHRAN, LIANG_ZEGER
from scorereport.inference.lines import COX_1958, HARRELL_2015
from scorereport.inference.smoothing import AUSTIN_STEYERBERG_2019
from scorereport.scores.references import (
    DIMITRIADIS_2021,
    EHM_2016,
    FLORES_2025,
    HANLEY_MCNEIL_1982,
    VICKERS_ELKIN_2006,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

ALTMAN_BLAND_1994 = "Altman, Bland (1994), BMJ 309, doi:10.1136/bmj.309.6947.102"
VERGOUWE_2005 = "Vergouwe et al. (2005), J. Clin. Epidemiol. 58, doi:10.1016/j.jclinepi.2004.06.017"
COLLINS_2024 = "Collins et al. (2024), TRIPOD+AI, BMJ 385, doi:10.1136/bmj-2023-078378"
COVERAGE_STUDY = "coverage study of this software, docs/coverage.md"
DIMITRIADIS_2023 = (
    "Dimitriadis, Duembgen, Henzi, Puke, Ziegel (2023), Biometrika 110, doi:10.1093/biomet/asac068"
)
EFRON_1987 = "Efron (1987), J. Am. Stat. Assoc. 82, doi:10.1080/01621459.1987.10478410"
HIGGINS_2002 = "Higgins, Thompson (2002), Stat. Med. 21, doi:10.1002/sim.1186"
HOLM_1979 = "Holm (1979), Scand. J. Stat. 6, 65–70"
MONTIEL_OLEA_2019 = "Montiel Olea, Plagborg-Møller (2019), J. Appl. Econom. 34, doi:10.1002/jae.2656"
NEWCOMBE_2006 = "Newcombe (2006), Stat. Med. 25, doi:10.1002/sim.2324"
SNELL_2021 = "Snell et al. (2021), J. Clin. Epidemiol. 135, doi:10.1016/j.jclinepi.2021.02.011"
STONE_1974 = "Stone (1974), J. R. Stat. Soc. B 36, doi:10.1111/j.2517-6161.1974.tb00994.x"
WILSON_1927 = "Wilson (1927), J. Am. Stat. Assoc. 22, doi:10.1080/01621459.1927.10502953"
YOUDEN_1950 = "Youden (1950), Cancer 3, doi:10.1002/1097-0142(1950)3:1<32::AID-CNCR2820030106>3.0.CO;2-3"


#: A work of the literature, by authors and year; more authors than these are et al.
_WORK = re.compile(r"(?P<authors>[^()]+) \((?P<year>\d{4})\), ")
_MOST_AUTHORS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """A method by name: its formula, what the software decided where there was a choice, and who says so."""

    name: str
    formula: str
    convention: str
    reference: str


#: What stands for what, in every formula.
SYMBOLS = {
    "p, y": "the forecast of a case and its outcome, 1 if the event happened, else 0",
    "n, ȳ": "the number of cases and the prevalence, the share of events",
    "ŷ": "the recalibrated forecast, the isotonic regression of outcomes on forecasts",
    "S": "a score of one case, also S(p, y); S(p), S(ŷ), S(ȳ) and S(y) are its means over all cases for "
    "the forecast, the recalibrated forecast, the constant prevalence and perfect foresight",
    "TP, FP, FN, TN": "shares of all cases: events with p ≥ threshold, non-events with p ≥ threshold, events "
    "and non-events with p < threshold",
    "logit p": "log(p / (1 − p)), the log-odds",
}
#: Symbols of what is drawn and tested.
SYMBOLS_OF_INFERENCE = {
    "ℓ, z": "the level of an interval or band, and its two-sided normal quantile",
    "se, sd": "standard error and standard deviation",
    "B, *": "the number of draws, and what was drawn",
}

#: Formula and convention of each score; references, range and direction are in the registry of scores.
SCORES = {
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

#: Everything that is no score, by the key under which the section asks for it.
CATALOGUE = {
    "skill": Formula(
        name="Skill",
        formula="skill = (S(ȳ) − S(p)) / (S(ȳ) − S(y)); of the AUC: 2 AUC − 1",
        convention="0 % is the prevalence forecast, 100 % the perfect one; negative is worse than the "
        "prevalence. The prevalence is that of the same cases.",
        reference=FLORES_2025,
    ),
    # calibration
    "isotonic": Formula(
        name="Reliability curve (CORP)",
        formula="ŷ at the k-th forecast = max over i ≤ k of min over j ≥ k of the mean y of cases from the "
        "i-th to the j-th forecast",
        convention="Isotonic regression by pooling adjacent violators: no bins to choose. Distinct forecasts "
        "are counted in ascending order, equal forecasts are pooled first, equal neighbouring blocks are "
        "one.",
        reference=DIMITRIADIS_2021,
    ),
    "corp": Formula(
        name="Decomposition into MCB, DSC and UNC",
        formula="S(p) = MCB − DSC + UNC; MCB = S(p) − S(ŷ), DSC = S(ȳ) − S(ŷ), UNC = S(ȳ)",
        convention="Miscalibration (lower is better), discrimination (higher is better) and uncertainty of "
        "the outcome. Raw values add up exactly; of net benefit MCB and DSC have the opposite sign, so that "
        "they mean the same.",
        reference=DIMITRIADIS_2021,
    ),
    "overfit": Formula(
        name="MCB and DSC less overfit, with intervals",
        formula="[C − max(O₁, O₂) − z se, C − min(O₁, O₂) + z se], cut at 0; less overfit: max(0, C − O₂)",
        convention="C is the raw MCB or DSC, and se = sd / √n of what each case adds to it. The fit ŷ "
        "follows chance, which makes both too large; this overfit is estimated twice. O₁ = Σ w g(ŷ) / n over "
        "the blocks of the fit, w = 1 if a block has one distinct forecast, else 1.5; g(ŷ) = ŷ(1 − ŷ) for "
        "Brier, 1/2 for log, in general ŷ(1 − ŷ)/2 times the slope of S(p, 0) − S(p, 1) there, and 0 for "
        "misclassification. O₂ is the mean of S(q) − S(ŷ*) over outcomes drawn from q, the curve without "
        "steps. For DSC both are less by g(ȳ)/n, the overfit of ȳ; neither is below 0. The interval of MCB "
        "starts at 0 unless its test has p ≤ max((1 − ℓ)/2, 1/(B + 1)). An interval may exclude the raw "
        "value.",
        reference=f"{DIMITRIADIS_2021}; {COVERAGE_STUDY}",
    ),
    "miscalibration test": Formula(
        name="Test that MCB is 0",
        formula="p-value = (1 + #{MCB* ≥ MCB}) / (B + 1), y* = 1 with probability p",
        convention="Forecasts are kept, outcomes are drawn from them. It sees any departure, but is weak "
        "against a mere slope.",
        reference=DIMITRIADIS_2021,
    ),
    "line": Formula(
        name="Calibration line",
        formula="logit P(y = 1) = a + b logit p; at slope 1: logit P(y = 1) = a + logit p; estimate ± z se",
        convention="Slope b = 1 and intercept a = 0 are ideal; b < 1: forecasts too extreme. Maximum "
        "likelihood. Forecasts of exactly 0 or 1 leave no line (n/d).",
        reference=COX_1958,
    ),
    "ici": Formula(
        name="Integrated calibration index (ICI)",
        formula="ICI = mean |s(p) − p|, s a smooth curve of y over p",
        convention="Lower is better. The curve is cut to [0, 1].",
        reference=AUSTIN_STEYERBERG_2019,
    ),
    "ece": Formula(
        name="Expected calibration error (ECE)",
        formula="ECE = Σ (m / n) |mean y − mean p| over the bins, m cases in a bin",
        convention="Lower is better. A forecast on an edge belongs to the lower bin. The value depends on "
        "the bins.",
        reference=NAEINI_2015,
    ),
    "Spiegelhalter's z": Formula(
        name="Spiegelhalter’s z",
        formula="z = Σ (y − p)(1 − 2p) / √Σ (1 − 2p)² p(1 − p)",
        convention="It sees forecasts that are too extreme or too timid, and is blind to some shifts.",
        reference=SPIEGELHALTER_1986,
    ),
    "Spiegelhalter's z in clusters": Formula(
        name="Spiegelhalter’s z",
        formula="z = Σ d / √Σ (Σ d)², d = (y − p)(1 − 2p), the inner sums over clusters",
        convention="It sees forecasts that are too extreme or too timid, and is blind to some shifts.",
        reference=SPIEGELHALTER_1986,
    ),
    "Calibration in the large": Formula(
        name="Calibration in the large",
        formula="z = Σ (y − p) / √Σ p(1 − p)",
        convention="z > 0 if forecasts are too low on average.",
        reference=VAN_CALSTER_2019,
    ),
    "Calibration in the large in clusters": Formula(
        name="Calibration in the large",
        formula="z = Σ d / √Σ (Σ d)², d = y − p, the inner sums over clusters",
        convention="z > 0 if forecasts are too low on average.",
        reference=VAN_CALSTER_2019,
    ),
    "Calibration slope": Formula(
        name="Test of the calibration slope",
        formula="z = (b − 1) / se(b)",
        convention="From the calibration line with both coefficients.",
        reference=COX_1958,
    ),
    "Calibration intercept at slope 1": Formula(
        name="Test of the calibration intercept",
        formula="z = a / se(a)",
        convention="From the calibration line with its slope held at 1.",
        reference=COX_1958,
    ),
    "Unreliability": Formula(
        name="Unreliability",
        formula="χ² = 2 (log L(a, b) − log L(0, 1)), L the likelihood of the calibration line",
        convention="Slope and intercept together.",
        reference=HARRELL_2015,
    ),
    "Unreliability by Wald": Formula(
        name="Unreliability",
        formula="χ² = dᵀV⁻¹d, d = (a, b − 1), V their covariance",
        convention="Slope and intercept together.",
        reference=HARRELL_2015,
    ),
    "Hosmer-Lemeshow": Formula(
        name="Hosmer-Lemeshow",
        formula="χ² = Σ (O − E)² / (E(1 − E/m)) over groups of m cases, O events, E = Σ p",
        convention="Groups of about equal size by forecast; equal forecasts stay together.",
        reference=HOSMER_LEMESHOW_1980,
    ),
    "grades": Formula(
        name="Tests by grade",
        formula="Jeffreys: P(θ ≤ m), θ with law Beta(d + 1/2, n − d + 1/2); binomial: P(X ≥ d), X with law "
        "Bin(n, m)",
        convention="n cases, d events and the mean forecast m of a grade. One-sided: small if the forecast "
        "is too low. Not adjusted for the number of grades.",
        reference=ECB_2019,
    ),
    # bands, by kind, coverage and method
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
    # discrimination
    "roc": Formula(
        name="ROC curve, AR and KS",
        formula="TPR = TP / (TP + FN) against FPR = FP / (FP + TN); AR = 2 AUC − 1; KS = max (TPR − FPR)",
        convention="At every threshold; higher is better. The concave hull is the ROC curve of ŷ.",
        reference=f"{HANLEY_MCNEIL_1982}; {YOUDEN_1950}",
    ),
    # decisions
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
        "elementary score but for ties, which decide for action.",
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
    # intervals, by the beginning of what the records call their method
    "BCa bootstrap": Formula(
        name="BCa bootstrap",
        formula="quantiles Φ(z₀ + (z₀ ± z) / (1 − a(z₀ ± z))) of the B replicates",
        convention="z₀ is the normal quantile of the share of replicates below the value (ties count half), "
        "a the acceleration, a sixth of the skewness. All models are scored on the same resamples.",
        reference=EFRON_1987,
    ),
    "percentile bootstrap": Formula(
        name="Percentile bootstrap",
        formula="quantiles (1 − ℓ)/2 and (1 + ℓ)/2 of the B replicates",
        convention="Quantiles of type 7. All models are scored on the same resamples.",
        reference=EFRON_1987,
    ),
    "Wilson": Formula(
        name="Wilson interval of a rate",
        formula="(r + z²/(2n) ± z √(r(1 − r)/n + z²/(4n²))) / (1 + z²/n)",
        convention="r is the rate.",
        reference=WILSON_1927,
    ),
    "normal on log-odds": Formula(
        name="Interval of a rate on log-odds",
        formula="logit r ± z se(r) / (r(1 − r)), carried back to r",
        convention="For rates r of clustered or weighted rows.",
        reference=LIANG_ZEGER,
    ),
    "DeLong": Formula(
        name="DeLong interval of the AUC",
        formula="AUC ± z √(var(V₁) / n₁ + var(V₀) / n₀), V the share of the other class that a case is "
        "ordered rightly against",
        convention="n₁ events, n₀ non-events; cut to [0, 1]. Where nothing varies the bounds are Newcombe’s.",
        reference=f"{DELONG}; {NEWCOMBE_2006}",
    ),
    "DeLong with Obuchowski": Formula(
        name="DeLong interval of the AUC, in clusters",
        formula="AUC ± z √(Σ s₁² + Σ s₀² + 2 Σ s₁s₀), s₁ the sum over a cluster’s events of V − mean V, over "
        "the number of events, s₀ the same of non-events; V the share of the other class that a case is "
        "ordered rightly against",
        convention="Each sum over G clusters is multiplied by G/(G − 1); cut to [0, 1]. Where nothing varies "
        "the bounds are Newcombe’s.",
        reference=f"{OBUCHOWSKI}; {NEWCOMBE_2006}",
    ),
    # comparison
    "Diebold-Mariano": Formula(
        name="Difference of scores",
        formula="D = mean (S of the first − S of the second), D ± z se(D), test by D / se(D)",
        convention="Paired on the same cases. Negative favours the first model where lower is better.",
        reference=DIEBOLD_MARIANO,
    ),
    "DeLong difference": Formula(
        name="Difference of AUCs",
        formula="D = AUC of the first − AUC of the second, D ± z se(D), test by D / se(D)",
        convention="Paired on the same cases. Positive favours the first model.",
        reference=DELONG,
    ),
    "bracket": Formula(
        name="Difference of MCB or DSC",
        formula="[D − max(ΔO₁, ΔO₂) − z se, D − min(ΔO₁, ΔO₂) + z se], ΔO the first fit’s overfit less the "
        "second’s",
        convention="Paired as above. If both models order the cases alike, ΔO is 0.",
        reference=f"{DIMITRIADIS_2021}; {COVERAGE_STUDY}",
    ),
    "murphy difference": Formula(
        name="Difference of Murphy curves",
        formula="D(θ) ± c s(θ), s the bootstrap deviation, c the ℓ quantile of max |D* − D| / s* over θ",
        convention="Simultaneous (sup-t); the pointwise band takes the quantile at each θ. c is at least z, "
        "and s² contains the square of what one more row would move.",
        reference=f"{EHM_2016}; {MONTIEL_OLEA_2019}",
    ),
    "holm": Formula(
        name="Holm’s p",
        formula="p of the k-th smallest of m: max over j ≤ k of min(1, (m − j + 1) p of the j-th smallest)",
        convention="",
        reference=HOLM_1979,
    ),
    "ranks": Formula(
        name="Ranks",
        formula="rank = 1 + number of models told to be better by this measure",
        convention="",
        reference=HOLM_1979,
    ),
    # groups and recalibration
    "groups": Formula(
        name="Subgroups and periods",
        formula="the same measures on the rows of each group alone",
        convention="",
        reference=COLLINS_2024,
    ),
    "Cochran's Q": Formula(
        name="Cochran’s Q",
        formula="Q = Σ (v − m)² / se², m = Σ (v / se²) / Σ (1 / se²); I² = max(0, 1 − df / Q)",
        convention="v is the score of a group. χ² with df = number of groups − 1.",
        reference=f"{COCHRAN}; {HIGGINS_2002}",
    ),
    "Calibration by group": Formula(
        name="Calibration by group",
        formula="χ² = 2 (Σ log L of each group’s line − log L of the common line)",
        convention="By the intercept at slope 1, and by intercept and slope.",
        reference=COX_1958,
    ),
    "Calibration by group by Wald": Formula(
        name="Calibration by group",
        formula="χ² = dᵀV⁻¹d, d the coefficients of the groups less those of the first, V their covariance",
        convention="By the intercept at slope 1, and by intercept and slope.",
        reference=f"{COX_1958}; {LIANG_ZEGER}",
    ),
    "recalibration": Formula(
        name="Recalibration tried",
        formula="intercept: logit p′ = a + logit p; logistic: logit p′ = a + b logit p; isotonic: p′ = ŷ; "
        "D = mean (S(p′, y) − S(p, y))",
        convention="",
        reference=f"{COX_1958}; {STONE_1974}",
    ),
    # verdicts
    "limits": Formula(
        name="Limits",
        formula="fail: the whole interval lies beyond the limit; inconclusive: a part of it; warn: none of "
        "it, but a part is beyond the warning limit; pass: none of it",
        convention="A number on a limit meets it. A number without an interval is judged alone; one that is "
        "not defined is inconclusive. MCB and DSC are judged on the interval less overfit.",
        reference="rule of this software; the limits are those of the configuration",
    ),
    "certificate": Formula(
        name="R certificate",
        formula="|ours − theirs| ≤ tolerance × max(1, |theirs|)",
        convention="",
        reference="",
    ),
}


def bind(formula: str) -> str:
    """A formula whose lines do not break at signs that hold two sides together.

    >>> [len(word) for word in bind("D / se(D) = a + b").split(" ")]
    [13, 1, 1]
    """
    return re.sub(r" ([/=<>≤≥±]) ", "\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", formula)


def cite(reference: str) -> str:
    """Authors and year of each work; what is no work of the literature stays as it is.

    >>> cite("Brier (1950), Rev. 78; Gneiting, Raftery (2007), doi:10.1; A, B, C (2021), X 1; a rule")
    'Brier (1950); Gneiting, Raftery (2007); A et al. (2021); a rule'
    """
    return "; ".join(_shorten(work) for work in reference.split("; "))


def _shorten(work: str) -> str:
    found = _WORK.match(work)
    if found is None:
        return work
    authors = found["authors"].split(", ")
    who = found["authors"] if len(authors) <= _MOST_AUTHORS else f"{authors[0]} et al."
    return f"{who} ({found['year']})"


def list_works(references: Iterable[str]) -> list[str]:
    """All works of the literature, each once, in the order of the alphabet."""
    works = {work for reference in references for work in reference.split("; ")}
    return sorted((work for work in works if _WORK.match(work)), key=str.casefold)
