"""Formulas of intervals."""

from __future__ import annotations

from scorereport.inference.differences import DELONG, OBUCHOWSKI
from scorereport.inference.heterogeneity import LIANG_ZEGER
from scorereport.report.formulas.formula import Formula
from scorereport.report.formulas.works import EFRON_1987, NEWCOMBE_2006, WILSON_1927

#: Intervals by the beginning of what the records call their method.
INTERVALS = {
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
}
