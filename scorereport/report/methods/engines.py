"""Formulas and symbols of rows that are never in memory together."""

from __future__ import annotations

from scorereport.evaluation.engines.jackknife import EFRON_TIBSHIRANI
from scorereport.inference.calibration_tests import SPIEGELHALTER_1986, VAN_CALSTER_2019
from scorereport.inference.differences import OBUCHOWSKI
from scorereport.report.methods.notation import Formula
from scorereport.report.methods.symbols import SYMBOLS_OF_INTERVALS
from scorereport.scores.references import DIMITRIADIS_2021

SHAO_WU_1989 = "Shao, Wu (1989), Ann. Stat. 17, doi:10.1214/aos/1176347263"

#: Symbols of intervals for which nothing is drawn.
SYMBOLS_OF_BUCKETS = SYMBOLS_OF_INTERVALS | {
    "G, −g": "the number of buckets, and what is left without the g-th of them",
}

#: Methods by the key under which the section asks for them.
ENGINE_CATALOGUE = {
    "duckdb": Formula(
        name="Rows sorted on disk (DuckDB)",
        formula="fit(A and B) = pool(fit(A), fit(B)), if all forecasts of A lie below all of B",
        convention="DuckDB sorted the rows of each model by forecast, on disk where memory did not suffice, "
        "and they were read once in that order, a stretch at a time; equal forecasts never part. Each "
        "stretch was pooled into blocks, and blocks of neighbouring stretches were pooled again: that gives "
        "the isotonic fit of all rows, exactly.",
        reference=DIMITRIADIS_2021,
    ),
    "spark": Formula(
        name="Rows sorted on a cluster (Spark)",
        formula="fit(A and B) = pool(fit(A), fit(B)), if all forecasts of A lie below all of B",
        convention="Spark dealt the rows of each model out to its workers by ranges of forecasts; equal "
        "forecasts never part. Each worker sorted and read its rows once and pooled them into blocks, and "
        "blocks of neighbouring ranges were pooled again: that gives the isotonic fit of all rows, exactly.",
        reference=DIMITRIADIS_2021,
    ),
    "grouped jackknife": Formula(
        name="Grouped jackknife over buckets",
        formula="T ± z se, se² = (G − 1)/G Σ (T₋g − mean T₋g)², T₋g the number T from all buckets but the "
        "g-th",
        convention="A hash deals out rows, or whole clusters, to buckets as if at random but the same in "
        "every run, and for all models alike; sums by bucket come from the one reading. z is a quantile of t "
        "with G − 1 degrees of freedom. For the AUC se² = Σ k/(k − 1) Σ u² over both classes, u the sum "
        "of (V − AUC)/m over the cases of a class in one of the k buckets that hold it, V the share of "
        "the other class that a case is ordered rightly against, m all cases of the class; with "
        "clusters it is the bias-reduced variance of both class means together. Its interval is cut to "
        "[0, 1], and Newcombe’s where buckets cannot tell.",
        reference=f"{EFRON_TIBSHIRANI}; {SHAO_WU_1989}; {OBUCHOWSKI}",
    ),
    "jackknife difference": Formula(
        name="Difference of scores or AUCs",
        formula="D = T of the first − T of the second, D ± z se(D), test by D / se(D)",
        convention="Paired: se by the grouped jackknife of D, for the same rows are in the same bucket "
        "whatever the model; of AUCs by the differences of u. Negative favours the first model where lower "
        "is better.",
        reference=EFRON_TIBSHIRANI,
    ),
    "jackknife bracket": Formula(
        name="Difference of MCB or DSC",
        formula="D − ΔO ± z se(D), test by (D − ΔO) / se(D), ΔO the first fit’s overfit less the second’s",
        convention="Paired as above, with both fits and the prevalence held; O in closed form. If both "
        "models order the cases alike, ΔO is 0.",
        reference=f"{DIMITRIADIS_2021}; {EFRON_TIBSHIRANI}",
    ),
    "closed overfit": Formula(
        name="MCB and DSC less overfit, with intervals",
        formula="C − O ± z se, cut at 0; less overfit: max(0, C − O)",
        convention="C is the raw MCB or DSC, and se by the grouped jackknife with the fit and the prevalence "
        "held. The fit ŷ follows chance, which makes both too large; O estimates this overfit in closed form "
        "alone. O = Σ w g(ŷ) / n over the blocks of the fit, w = 1 if a block has one distinct forecast, "
        "else 1.5; g(ŷ) = ŷ(1 − ŷ) for Brier, 1/2 for log, in general ŷ(1 − ŷ)/2 times the slope of "
        "S(p, 0) − S(p, 1) there. Misclassification has no such slope: O is 0 for it, and its intervals lie "
        "somewhat too high. For DSC O is less by g(ȳ)/n, the overfit of ȳ, and not below 0. An interval "
        "may exclude the raw value; that of MCB starts at 0 unless the test of slope and intercept, or "
        "Hosmer and Lemeshow’s, rejects on one side, adjusted for their number; in groups always.",
        reference=f"{DIMITRIADIS_2021}; {EFRON_TIBSHIRANI}",
    ),
    "Spiegelhalter's z in buckets": Formula(
        name="Spiegelhalter’s z",
        formula="t = Σ D / √Σ ((D − w Σ D)² / (1 − w)), D the sum of (y − p)(1 − 2p) over a bucket, w its "
        "share "
        "of the cases",
        convention="It sees forecasts that are too extreme or too timid, and is blind to some shifts.",
        reference=SPIEGELHALTER_1986,
    ),
    "Calibration in the large in buckets": Formula(
        name="Calibration in the large",
        formula="t = Σ D / √Σ ((D − w Σ D)² / (1 − w)), D the sum of y − p over a bucket, w its share of "
        "the cases",
        convention="t > 0 if forecasts are too low on average.",
        reference=VAN_CALSTER_2019,
    ),
}
