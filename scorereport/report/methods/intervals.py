"""Formulas of intervals."""

from __future__ import annotations

from scorereport.inference.differences import DELONG, OBUCHOWSKI
from scorereport.inference.few_values import MOST_VALUES
from scorereport.inference.heterogeneity import LIANG_ZEGER
from scorereport.inference.rare_cases import FEW_CASES
from scorereport.reliability.clusters import PUSTEJOVSKY_TIPTON
from scorereport.report.methods.notation import Formula
from scorereport.report.methods.works import (
    CLOPPER_PEARSON_1934,
    COVERAGE_STUDY,
    EFRON_1987,
    KENT_HAINSWORTH_1995,
    KORN_GRAUBARD_1998,
    NEWCOMBE_2006,
    WILSON_1927,
    ZOU_DONNER_LIMITS_2008,
)

_NEWCOMBE = (
    "v(θ) = θ(1 − θ)(1 + ((n₁ + n₀) / 2 − 1)((1 − θ) / (2 − θ) + θ / (1 + θ))) / (n₁n₀); V the share of "
    "the other "
    "class that a case is ordered rightly against"
)
_SMALL_RATIO = (
    "If s is below 1, it is 1 − (1 − s)w / (w + 5) instead, w = 4 AUC(1 − AUC) min(n₁, n₀). Where nothing "
    "varies "
    "s is 1, which is Newcombe’s interval."
)
#: Intervals by the beginning of what the records call their method.
INTERVAL_FORMULAS = {
    "BCa bootstrap": Formula(
        name="BCa bootstrap",
        formula="quantiles Φ(z₀ + (z₀ ± z) / (1 − a(z₀ ± z))) of the B replicates",
        convention="z₀ is the normal quantile of the share of replicates below the value (ties count half), "
        "a the acceleration, a sixth of the skewness. All models are scored on the same resamples. Over "
        "clusters both bounds are moved away from the value by t se / (z s), s the deviation of the "
        "replicates "
        "and se the bias-reduced error, and at least to those of t; on the log scale of a score or of 1 − "
        "skill.",
        reference=EFRON_1987,
    ),
    "percentile bootstrap": Formula(
        name="Percentile bootstrap",
        formula="quantiles (1 − ℓ)/2 and (1 + ℓ)/2 of the B replicates",
        convention="Quantiles of type 7. All models are scored on the same resamples.",
        reference=EFRON_1987,
    ),
    "rare cases": Formula(
        name="Rare events, non-events and surprises",
        formula="value − √((m(π) − m(π₁))² + z²(se² − e²)) and value + √((m(π₂) − m(π))² + z²(se² − e²)), "
        "m(π) = π m₁ + (1 − π) m₀",
        convention=f"Where fewer than {FEW_CASES} cases are events, non-events, or on the other side of 1/2 "
        "than their forecasts, the interval of a mean score reaches at least that far. π is the share of "
        "these cases, [π₁, π₂] its exact interval, m₁ and m₀ the mean scores of these and of the others with "
        "one more case at the mean of what it would score, e the part of the standard error that comes from "
        "π. Weighted and clustered rows count by effective number. A skill reaches as far as its error "
        "would if forecasts were the probabilities of events.",
        reference=f"{CLOPPER_PEARSON_1934}; {KORN_GRAUBARD_1998}; {ZOU_DONNER_LIMITS_2008}; {COVERAGE_STUDY}",
    ),
    "few values": Formula(
        name="Components of few distinct forecasts",
        formula="P(a χ²(f, λ) ≤ Σ s d(x, r)) = (1 − ℓ)/2 at the upper end MCB = a λ",
        convention=f"For forecasts with 2 to {MOST_VALUES} distinct values x; s are shares of the cases, r "
        "event rates, d what x loses against r in the mean, a and f scale and degrees of freedom after "
        "Satterthwaite. With one value MCB = d(x, q) has the exact interval of the rate q. DSC in the same "
        "way, with the prevalence for x. Intervals reach at least that far.",
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
        formula="logit r ± z se(r) / (r(1 − r)), carried back to r",
        convention="For rates r of clustered or weighted rows. With clusters se is bias-reduced (CR2), "
        "and z the "
        "quantile of t with Satterthwaite’s degrees of freedom.",
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
