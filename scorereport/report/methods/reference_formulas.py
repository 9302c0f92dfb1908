"""Formulas of the comparison with a reference sample: tests of equal distribution, and changes."""

from __future__ import annotations

from scorereport.inference.sample_changes import CASES_PER_BIN, MOST_BINS
from scorereport.report.methods.notation import COVERAGE_STUDY, Formula

_KITAGAWA_1955 = "Kitagawa (1955), J. Am. Stat. Assoc. 50, doi:10.1080/01621459.1955.10501299"
_PEARSON_1900 = "Pearson (1900), Philos. Mag. 50, doi:10.1080/14786440009463897"
_SMIRNOV_1948 = "Smirnov (1948), Ann. Math. Stat. 19, doi:10.1214/aoms/1177730256"
_ZOU_DONNER_2008 = "Zou, Donner (2008), Stat. Med. 27, doi:10.1002/sim.3095"

REFERENCE_FORMULAS = {
    "shift tests": Formula(
        name="Tests of equal distribution",
        formula="χ² = Σ (O − E)² / E over the bins of both samples, with k − 1 degrees of freedom; "
        "KS = max |F − G| with the p-value of Kolmogorov’s distribution at KS √(n m / (n + m))",
        convention="O are the counts of the bins of the PSI, E those expected if shares are equal; F and G "
        "are the distribution functions of the forecasts of sample and reference. With weights or clusters, "
        "effective numbers of cases, which is safe; with equal forecasts the p-value of KS is too large.",
        reference=f"{_PEARSON_1900}; {_SMIRNOV_1948}; {COVERAGE_STUDY}",
    ),
    "change": Formula(
        name="Change since a reference sample",
        formula="d = v − v′, [d − √((v − l)² + (u′ − v′)²), d + √((u − v)² + (v′ − l′)²)]",
        convention="v is the number in the sample with the interval [l, u], v′ that in the reference with "
        "[l′, u′]; the samples are independent. Of MCB and DSC, corrected values are compared. The p-value "
        "is that of a normal test, with the reach of the interval toward 0 in place of z se.",
        reference=f"{_ZOU_DONNER_2008}; {COVERAGE_STUDY}",
    ),
    "rate change": Formula(
        name="Parts of the change of the event rate",
        formula="r(x) = x + c, c = mean (y − x) over the bin of x in the reference; shift of forecasts: "
        "mean r(x) − mean y′; change of calibration: mean (y − r(x))",
        convention="Means are over the sample, y′ are the outcomes of the reference. The parts add up to the "
        f"change of the event rate. There are up to {MOST_BINS} bins with equal sums of x (1 − x), with at "
        f"least {CASES_PER_BIN} events and {CASES_PER_BIN} non-events of the reference in each on average; "
        "few distinct forecasts have a bin each. Beyond the forecasts of the reference, the nearest bin "
        "counts. Standard errors by the delta method over both samples.",
        reference=f"{_KITAGAWA_1955}; {COVERAGE_STUDY}",
    ),
}
