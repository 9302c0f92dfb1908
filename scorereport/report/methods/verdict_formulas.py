"""Formulas of verdicts: limits, the cases that decide them, and numbers that only limits use."""

from __future__ import annotations

from scorereport._utils.formatting import format_level
from scorereport.configuration.limit_evidence import FEWEST_CASES
from scorereport.inference.needed_cases import LIKELY
from scorereport.report.methods.notation import (
    CLOPPER_PEARSON_1934,
    COVERAGE_STUDY,
    HOEFFDING_1963,
    HOROWITZ_MANSKI_2000,
    JULIOUS_2004,
    MANSKI_2003,
    NEWCOMBE_1998,
    SION_1958,
    YURDAKUL_2020,
    Formula,
)

#: Methods by key.
VERDICT_FORMULAS = {
    "limits": Formula(
        name="Limits",
        formula="fail: the whole interval lies beyond the limit; inconclusive: a part of it does; warn: none "
        "of it does, but a part lies beyond the warning limit; pass: none of it lies beyond either",
        convention="A number equal to a limit meets it. A number without an interval is judged by its "
        "value; a number that is not defined is inconclusive. Corrected MCB and corrected DSC "
        "are judged; a limit on corrected MCB is a test of equivalence at (1 − ℓ)/2. With fewer than "
        f"{FEWEST_CASES} events or non-events (counted as clusters that contain some, or as the effective "
        "number of weighted rows), only an exact bound decides: that of a rate, or that of the mean of a "
        "score with a smallest and a largest value.",
        reference=f"rule of this software; {CLOPPER_PEARSON_1934}; {HOEFFDING_1963}",
    ),
    "needed": Formula(
        name="Cases that would decide a limit",
        formula="n (|T(e) − T(v)| / |T(limit) − T(v)|)² − n more cases, for the end e of the interval of v "
        f"on the side of the limit; for a probability of {format_level(LIKELY)}, the ratio times (z + "
        "z′) / z",
        convention="If the value v stays, the end of the interval lies on the limit at that number of cases, "
        "and half of such samples decide. T is the scale on which the error does not depend on v: √ for "
        "corrected MCB and PSI, arcsin √ for rates and the AUC, otherwise v itself; z′ is the normal "
        f"quantile of {format_level(LIKELY)}. At least {FEWEST_CASES} events and non-events are needed too. "
        "The rate of cases in time is that of the complete periods.",
        reference=f"{JULIOUS_2004}; {COVERAGE_STUDY}",
    ),
    "ks": Formula(
        name="Interval of the Kolmogorov-Smirnov statistic",
        formula="d = TPR − FPR at its maximum: d + √((u₁ − TPR)² + (FPR − l₀)²) above, "
        "d − √((TPR − l₁)² + (u₀ − FPR)²) − σ/2 below, σ² = Δ₁/n₁ + Δ₀/n₀",
        convention="l and u are the ends of Wilson intervals of the two rates, of n₁ events and n₀ "
        "non-events; Δ₁ and Δ₀ are the ranges of the rates where the ROC hull lies above the lower end "
        "without σ. The maximum of a sample is too large, the more so the flatter the curve. The lower end "
        "is never below that of the simultaneous band of both distributions. With weights or clusters, "
        "effective numbers of cases.",
        reference=f"{NEWCOMBE_1998}; {COVERAGE_STUDY}",
    ),
    "psi": Formula(
        name="Population stability index (PSI)",
        formula="PSI = Σ (a − b) log(a / b) over k bins; interval: max(0, PSI − (k − 1)(1/n + 1/m)) ± z se, "
        "cut at 0",
        convention="a and b are the shares of sample and reference in bins that hold equal shares of the "
        "reference, with equal forecasts in one bin; a count of 0 is taken as 1/2. Chance adds about "
        "(k − 1)(1/n + 1/m) for n and m rows, which the interval subtracts. se by the delta method for two "
        "multinomial samples. With weights or clusters, effective numbers of cases.",
        reference=f"{YURDAKUL_2020}; {COVERAGE_STUDY}",
    ),
    "missing outcomes": Formula(
        name="Bounds over missing outcomes",
        formula="mean score: S(p, y), where y is missing the smaller or larger of S(p, 0) and S(p, 1); MCB "
        "of the Brier score: max over nondecreasing c of the mean of p² − c² + 2y(c − p), where y is missing "
        "of p² − c² + 2 min(c − p, 0) or p² − c² + 2 max(c − p, 0)",
        convention="Rows that lack the outcome and nothing else. The lower bound of MCB is over outcomes "
        "between 0 and 1, by the minimax theorem; whole outcomes come within 2/n of it, with weights within "
        "twice the largest share of a row. The upper bound is found by dynamic programming over levels of c, "
        "and is exact with few distinct forecasts; the document states how far the highest MCB may be. "
        "Verdicts by the share q of events: the mean is linear in q, and its interval is moved with it, with "
        "distances that change with the standard deviation over rows and the number of rows.",
        reference=f"{MANSKI_2003}; {HOROWITZ_MANSKI_2000}; {SION_1958}",
    ),
    "certificate": Formula(
        name="R certificate",
        formula="|ours − theirs| ≤ tolerance × max(1, |theirs|)",
        convention="Another implementation recomputed scores, components, bins and bands.",
        reference="",
    ),
}
