"""Formulas of calibration: the curve and its bands, its decomposition, the line, indices and tests."""

from __future__ import annotations

from scorereport._utils.formatting import format_count
from scorereport.inference.binned_errors import KUMAR_2019, NAEINI_2015
from scorereport.inference.calibration_tests import HOSMER_LEMESHOW_1980, SPIEGELHALTER_1986, VAN_CALSTER_2019
from scorereport.inference.distances import CARPENTER_1999
from scorereport.inference.flexible_curves import VAN_CALSTER_2016
from scorereport.inference.grades import ECB_2019
from scorereport.inference.lowess import CLEVELAND_1979
from scorereport.inference.overfit_draws import MOST_CASES as OVERFIT_CASES
from scorereport.inference.recalibration_lines import COX_1958, HARRELL_2015
from scorereport.inference.smooth_calibration import AUSTIN_STEYERBERG_2019
from scorereport.inference.time_errors import LAZARUS_2018, LJUNG_BOX_1978
from scorereport.reliability.bands import MOST_CASES
from scorereport.reliability.clusters import PUSTEJOVSKY_TIPTON
from scorereport.report.methods.notation import COVERAGE_STUDY, DIMITRIADIS_2023, Formula
from scorereport.scores.registry import DIMITRIADIS_2021

#: How samples of many cases are drawn.
_IN_CELLS = (
    f"Samples of more than {format_count(MOST_CASES)} cases, but not of weighted rows in clusters, are drawn "
    "in cells of neighbouring forecasts."
)
#: Methods of calibration by key.
CALIBRATION_FORMULAS = {
    "isotonic": Formula(
        name="Reliability curve (CORP)",
        formula="ŷ at the k-th forecast = max over i ≤ k of min over j ≥ k of the mean y of cases from the "
        "i-th to the j-th forecast",
        convention="Isotonic regression by pooling adjacent violators, which requires no choice of bins. "
        "Distinct forecasts are numbered in ascending order, equal forecasts are pooled first, and equal "
        "neighbouring blocks are merged.",
        reference=DIMITRIADIS_2021,
    ),
    "corp": Formula(
        name="Decomposition into MCB, DSC and UNC",
        formula="S(p) = MCB − DSC + UNC; MCB = S(p) − S(ŷ), DSC = S(ȳ) − S(ŷ), UNC = S(ȳ)",
        convention="Miscalibration (lower is better), discrimination (higher is better) and uncertainty of "
        "the outcome. Raw values add up exactly; for net benefit, MCB and DSC have the opposite sign, so "
        "that they have the same meaning.",
        reference=DIMITRIADIS_2021,
    ),
    "overfit": Formula(
        name="Corrected MCB and corrected DSC, with intervals",
        formula="[C − max(O₁, O₂) − z se, C − min(O₁, O₂) + z se], cut at 0; corrected value: max(0, C − O₂)",
        convention="C is the raw MCB or DSC, and se = sd / √n of the contributions of the cases. The fit ŷ "
        "follows chance, which makes both too large; this overfit is estimated in two ways. O₁ = Σ w g(ŷ) / "
        "n over the blocks of the fit, w = 1 if a block has one distinct forecast, else 1.5; g(ŷ) = ŷ(1 − "
        "ŷ) for Brier, 1/2 for log, in general ŷ(1 − ŷ)/2 times the slope of S(p, 0) − S(p, 1) there, and 0 "
        "for misclassification. O₂ is the mean of S(q) − S(ŷ*) over outcomes drawn from q, the curve "
        f"without steps; those of more than {format_count(OVERFIT_CASES)} cases are drawn in "
        "cells of neighbouring forecasts of two sizes, and extrapolated to single forecasts. For DSC, both "
        "are reduced by g(ȳ)/n, the overfit of ȳ; neither is below 0. The "
        "interval of corrected MCB starts at 0 unless the test that MCB is 0 has p ≤ max((1 − ℓ)/2, 1/(B + "
        "1)). With clusters, its upper end u is raised to u + r²/(4 max(u − r, r/4)), r = z se. An interval "
        "may exclude the raw value.",
        reference=f"{DIMITRIADIS_2021}; {COVERAGE_STUDY}",
    ),
    "miscalibration test": Formula(
        name="Test that MCB is 0",
        formula="p-value = (1 + #{MCB* ≥ MCB}) / (B + 1), y* = 1 with probability p",
        convention="Forecasts are kept, and outcomes are drawn from them. The test detects any departure "
        f"from calibration, but has little power against a wrong slope alone. {_IN_CELLS} MCB* is then "
        "compared with the MCB of forecasts averaged in these cells.",
        reference=DIMITRIADIS_2021,
    ),
    "line": Formula(
        name="Calibration line",
        formula="logit P(y = 1) = a + b logit p; at slope 1: logit P(y = 1) = a + logit p; estimate ± z se",
        convention="Slope b = 1 and intercept a = 0 are ideal; b < 1: forecasts are spread too far overall. "
        "Maximum likelihood. With forecasts of exactly 0 or 1 the line is not defined (n/d).",
        reference=COX_1958,
    ),
    "ici": Formula(
        name="Distances to a smooth curve (ICI, E50, E90, Emax)",
        formula="ICI = mean |s(p) − p|, s a smooth curve of y over p; E50, E90, Emax: median, 90 % quantile "
        "and maximum of |s(p) − p|",
        convention="Lower is better. The curve is lowess, local lines of degree 1, cut to [0, 1]; Austin and "
        "Steyerberg, who proposed the measures, used loess of degree 2, which gives different values.",
        reference=f"{AUSTIN_STEYERBERG_2019}; {CLEVELAND_1979}",
    ),
    "ece": Formula(
        name="Expected calibration error (ECE)",
        formula="ECE = Σ (m / n) |mean y − mean p| over the bins, m cases in a bin",
        convention="Lower is better. A forecast on an edge belongs to the lower bin. The value depends on "
        "the bins.",
        reference=NAEINI_2015,
    ),
    "corrected ece": Formula(
        name="ECE corrected for noise",
        formula="max(0, 2 ECE − Σ (m / n) E|d + σX|), d = mean y − mean p, σ² = r(1 − r)/m, "
        "r = (m mean y + 1/2)/(m + 1), X standard normal",
        convention="The increase that noise adds to the observed distances estimates the increase that it "
        "has added to the true ones. With sampling weights or clusters, σ is the standard error over rows "
        "or clusters.",
        reference=KUMAR_2019,
    ),
    "distance interval": Formula(
        name="Intervals of ICI, E50, E90, Emax and ECE",
        formula="λ₁D to max(λ₂D, q): curves p + λ(s(p) − p) + noise are drawn B times; at λ₁ a share "
        "(1 − ℓ)/2 of their distances reaches D, at λ₂ that share is D or less; q is the quantile (1 + ℓ)/2 "
        "at λ = 1",
        convention="D is the observed distance. λ₁ = 0 if the share is larger already at λ = 0, a "
        "calibrated forecast. Noise is normal with the variance of the outcomes at the drawn curve or, with "
        "clusters, of the sums over clusters; curves are drawn for up to 60 cells of neighbouring "
        "forecasts. The upper end of ICI, Emax and ECE is at least the largest plausible distance between "
        "the prevalence and the mean forecast. Intervals are for the value of the same curve or bins in an "
        "infinite sample.",
        reference=f"{CARPENTER_1999}; {COVERAGE_STUDY}",
    ),
    "flexible": Formula(
        name="Flexible calibration curve",
        formula="logit P(y = 1) = β₀ + β₁x + Σ βₖ hₖ(x), x = logit p, hₖ terms of a restricted cubic spline; "
        "band: logit ± z se, transformed back",
        convention="Maximum likelihood; 5 knots at the quantiles 5, 27.5, 50, 72.5 and 95 % of the "
        "forecasts; 4, 3 or none if there are fewer than 10 events or non-events for each βₖ, k ≥ 1, or if "
        "knots coincide. Beyond the outer knots the curve is a line in log-odds. Forecasts of exactly 0 or "
        "1 are left out, which is then stated. With sampling weights or clusters, se is the sandwich error.",
        reference=f"{VAN_CALSTER_2016}; {HARRELL_2015}",
    ),
    "Spiegelhalter's z": Formula(
        name="Spiegelhalter’s z",
        formula="z = Σ (y − p)(1 − 2p) / √Σ (1 − 2p)² p(1 − p)",
        convention="It detects forecasts that are too extreme or too timid, but not all shifts.",
        reference=SPIEGELHALTER_1986,
    ),
    "Spiegelhalter's z in clusters": Formula(
        name="Spiegelhalter’s z",
        formula="t = Σ D / √Σ ((D − w Σ D)² / (1 − w)), D the sum of (y − p)(1 − 2p) over a cluster, w "
        "its share "
        "of the cases",
        convention="It detects forecasts that are too extreme or too timid, but not all shifts.",
        reference=f"{SPIEGELHALTER_1986}; {PUSTEJOVSKY_TIPTON}",
    ),
    "Spiegelhalter's z in time": Formula(
        name="Spiegelhalter’s z",
        formula="t = Σ d / √(2 Σ Λ² / B), d = (y − p)(1 − 2p), Λ = Σ D cos(π j (t − ½)/T), D the sums at "
        "each of T times, j = 1, …, B",
        convention="It detects forecasts that are too extreme or too timid, but not all shifts. B = "
        "¾ T^(1/3), at least 4; t with B degrees of freedom.",
        reference=f"{SPIEGELHALTER_1986}; {LAZARUS_2018}",
    ),
    "Calibration in the large in time": Formula(
        name="Calibration in the large",
        formula="t = Σ d / √(2 Σ Λ² / B), d = y − p, Λ and B as in Spiegelhalter’s z",
        convention="t > 0 if forecasts are too low on average. t with B degrees of freedom.",
        reference=f"{VAN_CALSTER_2019}; {LAZARUS_2018}",
    ),
    "Autocorrelation in time": Formula(
        name="Autocorrelation in time",
        formula="χ² = T(T + 2) Σ r² / (T − l), r the autocorrelations of the sums of y − ŷ at T times, "
        "l = 1, …, 5",
        convention="A small p: rows depend on each other in time, and intervals, bands and tests that treat "
        "them as independent are too confident.",
        reference=LJUNG_BOX_1978,
    ),
    "Calibration in the large": Formula(
        name="Calibration in the large",
        formula="z = Σ (y − p) / √Σ p(1 − p)",
        convention="z > 0 if forecasts are too low on average.",
        reference=VAN_CALSTER_2019,
    ),
    "Calibration in the large in clusters": Formula(
        name="Calibration in the large",
        formula="t = Σ D / √Σ ((D − w Σ D)² / (1 − w)), D the sum of y − p over a cluster, w its share of "
        "the "
        "cases",
        convention="t > 0 if forecasts are too low on average.",
        reference=f"{VAN_CALSTER_2019}; {PUSTEJOVSKY_TIPTON}",
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
        convention="From the calibration line with its slope fixed at 1.",
        reference=COX_1958,
    ),
    "Unreliability": Formula(
        name="Unreliability",
        formula="χ² = 2 (log L(a, b) − log L(0, 1)), L the likelihood of the calibration line",
        convention="Slope and intercept together.",
        reference=HARRELL_2015,
    ),
    "Unreliability in time": Formula(
        name="Unreliability",
        formula="F = (B − 1)/(2B) dᵀV⁻¹d, d = (a, b − 1), V their covariance by the B slowest cosines "
        "over time",
        convention="Slope and intercept together; F with 2 and B − 1 degrees of freedom.",
        reference=f"{HARRELL_2015}; {LAZARUS_2018}",
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
        formula="Jeffreys: P(θ ≤ m), θ ~ Beta(d + 1/2, n − d + 1/2); binomial: P(X ≥ d), X ~ Bin(n, m)",
        convention="n cases, d events and the mean forecast m of a grade. One-sided: small if the forecast "
        "is too low. Not adjusted for the number of grades.",
        reference=ECB_2019,
    ),
}


#: Bands by kind, coverage and method.
BAND_FORMULAS = {
    "consistency pointwise resampling": Formula(
        name="consistency band",
        formula="quantiles (1 − ℓ)/2 and (1 + ℓ)/2 of the curves of redrawn cases, y* = 1 with probability p",
        convention="Around the diagonal: the range of the curve of a calibrated model at any one forecast. "
        f"Quantiles of type 7. {_IN_CELLS}",
        reference=DIMITRIADIS_2021,
    ),
    "confidence pointwise resampling": Formula(
        name="confidence band",
        formula="quantiles (1 − ℓ)/2 and (1 + ℓ)/2 of the curves of redrawn cases, y* = 1 with probability ŷ",
        convention="Around the estimate: the range of the true curve at any one forecast. Quantiles of type "
        "7; where the estimate is 0 or 1, an exact binomial bound widens the band. "
        f"{_IN_CELLS}",
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
        formula="p ± q ∛(4p(1 − p) / (n f(p))), q the (1 + ℓ)/2 quantile of Chernoff’s distribution",
        convention="Around the diagonal, for many cases on many forecasts; f is the beta-kernel density of "
        "the forecasts with bandwidth n^(−2/5); exact quantiles; cut to [0, 1].",
        reference=f"{DIMITRIADIS_2021}; Chen (1999), doi:10.1016/S0167-9473(99)00010-9",
    ),
    "consistency simultaneous split resampling": Formula(
        name="consistency band",
        formula="m − c e₁ to m + c e₂, m the median of the drawn curves, e₁ and e₂ its distances to their "
        "0.5 % and 99.5 % quantiles",
        convention="The whole curve of a calibrated model stays inside with this probability. Half of the "
        "draws give m, e₁ and e₂ (at least a quarter of the usual width), the other half the factor c, so "
        f"that the level is exact for independent rows. {_IN_CELLS}",
        reference=f"{DIMITRIADIS_2021}; {COVERAGE_STUDY}",
    ),
    "confidence simultaneous honest": Formula(
        name="confidence band",
        formula="lower(x) = max Beta(δ; s, m − s + 1) over segments of forecasts up to x with m cases and s "
        "events; upper(x) = min Beta(1 − δ; s + 1, m − s) over segments from x on; δ = (1 − ℓ) / (K(K + 1))",
        convention="The whole true curve, if it is nondecreasing, stays inside with at least this "
        "probability, for every n. Beta(δ; …) is the δ quantile. K distinct forecasts, or 6 ∛n cells of "
        "about equal count if these are fewer.",
        reference=DIMITRIADIS_2023,
    ),
}
