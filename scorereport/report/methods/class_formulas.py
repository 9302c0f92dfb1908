"""Formulas and symbols of models of K classes, and of engines without all rows in memory."""

from __future__ import annotations

from scorereport.evaluation.engines.jackknife import EFRON_TIBSHIRANI
from scorereport.inference.calibration_tests import SPIEGELHALTER_1986, VAN_CALSTER_2019
from scorereport.inference.differences import OBUCHOWSKI
from scorereport.report.methods.notation import (
    COVERAGE_STUDY,
    EFRON_1987,
    HOROWITZ_MANSKI_2000,
    MANSKI_2003,
    SION_1958,
    SYMBOLS_OF_INTERVALS,
    Formula,
)
from scorereport.scores.registry import AHMADIAN_2025, DIMITRIADIS_2021, GALDRAN_2023, NELSON_2017

VAN_DER_VAART_1998 = "van der Vaart (1998), Asymptotic Statistics, ch. 3, doi:10.1017/CBO9780511802256"

#: Symbols of the formulas of models of K classes.
CLASS_SYMBOLS = {
    "p₁ … p_K, y": "the probabilities of the K classes in a case, which sum to one, and the observed class",
    "f": "the shares of the classes among the cases; f alone is the class-frequency forecast",
    "d": "the predicted class: the likeliest one, or the first of several equally likely ones",
    "n": "the number of cases",
    "S": "a score of one case; S(p), S(f) and S(y) are its means over all cases for the forecast, the "
    "class-frequency forecast and perfect foresight",
}

#: Further symbols with ordered classes.
ORDINAL_SYMBOLS = {
    "P_k, Y_k": (
        "p₁ + … + p_k, the probability of a class up to the k-th, and 1 if one of these was observed, else 0"
    ),
}

_EACH_VIEW = (
    "Each view has the decomposition of its Brier score: MCB = S(p) − S(ŷ), DSC = S(ȳ) − S(ŷ), UNC = S(ȳ), "
    "where ŷ is its recalibrated forecast and ȳ its share of cases. The sum is exact."
)

#: All methods of class models except scores, by key.
CLASS_CATALOGUE = {
    "class skill": Formula(
        name="Skill",
        formula="skill = (S(f) − S(p)) / (S(f) − S(y)); for the cost, with the naive cost in place of S(f)",
        convention="0 % is the class-frequency forecast (for accuracy, the most frequent class); 100 % is "
        "perfect; a negative skill is worse than 0 %. The shares are those of the same cases. Macro F1 has "
        "no skill.",
        reference=GALDRAN_2023,
    ),
    "class views": Formula(
        name="Reliability curves of K classes (CORP)",
        formula="isotonic regression of 1[y = k] on p_k for each class",
        convention="Each class against the rest is a binary view. Pooling adjacent violators requires no "
        "choice of bins; equal forecasts are pooled first.",
        reference=DIMITRIADIS_2021,
    ),
    "ordinal views": Formula(
        name="Reliability curves of K classes (CORP)",
        formula="isotonic regression of 1[y = k] on p_k for each class; of Y_k on P_k for each threshold",
        convention="Each class against the rest, and the classes up to each threshold against those above "
        "it, are binary views. Pooling adjacent violators requires no choice of bins; equal forecasts are "
        "pooled first.",
        reference=DIMITRIADIS_2021,
    ),
    "class sums": Formula(
        name="Decomposition into MCB, DSC and UNC",
        formula="Brier = Σ (MCB − DSC + UNC) over the classes",
        convention=f"{_EACH_VIEW} Recalibrated probabilities are fitted separately and need not sum to one.",
        reference=DIMITRIADIS_2021,
    ),
    "ordinal sums": Formula(
        name="Decomposition into MCB, DSC and UNC",
        formula="Brier = Σ (MCB − DSC + UNC) over the classes; RPS = Σ (MCB − DSC + UNC) / (K − 1) over the "
        "thresholds",
        convention=f"{_EACH_VIEW} Recalibrated probabilities are fitted separately and need neither sum to "
        "one nor increase from threshold to threshold.",
        reference=DIMITRIADIS_2021,
    ),
    "class overfit": Formula(
        name="Corrected MCB and corrected DSC, with intervals",
        formula="[C − max(O₁, O₂) − z se, C − min(O₁, O₂) + z se], cut at 0; corrected value: max(0, C − O₂)",
        convention="C is the raw MCB or DSC of a view or of the sum, se = sd / √n of the contributions of "
        "the cases. The overfit of the fit is estimated in two ways for each view and summed: O₁ = Σ w ŷ(1 "
        "− ŷ) / n over the blocks of the fit, w = 1 if a block has one distinct forecast, else 1.5; O₂ from "
        "outcomes drawn from the curve without steps. For DSC, both are reduced by ȳ(1 − ȳ)/n. The interval "
        "of corrected MCB starts at 0 unless the test that MCB is 0 has p ≤ max((1 − ℓ)/2, 1/(B + 1)).",
        reference=f"{DIMITRIADIS_2021}; {COVERAGE_STUDY}",
    ),
    "class miscalibration test": Formula(
        name="Test that MCB is 0",
        formula="p-value = (1 + #{MCB* ≥ MCB}) / (B + 1), classes y* drawn with the probabilities p₁ … p_K",
        convention="Forecasts are kept. There is one test for each model and score over all its views "
        "together; each view also has its own test, not adjusted for the number of views. With more than "
        "4,096 rows, MCB* is compared with the MCB of forecasts averaged in cells of neighbouring forecasts.",
        reference=DIMITRIADIS_2021,
    ),
    "delta method": Formula(
        name="Difference of measures of decisions",
        formula="D = value of the first − value of the second, D ± z se(D), test by D / se(D)",
        convention="Paired on the same cases. se is that of the mean of the first-order contributions of "
        "the cases to D, from the derivative of the measure with respect to the shares of the confusion "
        "matrix: for macro F1, and kappa where there is one.",
        reference=VAN_DER_VAART_1998,
    ),
    "retention": Formula(
        name="Retention curves",
        formula="M(f) = metric of the decisions that remain when the ⌊f n⌋ cases with the worst score are "
        "set aside; area = ∫ M df by trapezoids",
        convention="The score requires the observed class: the curve shows how well the score identifies "
        "errors, and is not a rule for use. Cases with equal scores are set aside in an order given by "
        "class and decision. With a percent axis, areas are 100 times as large; the published areas must be "
        "of this kind.",
        reference=GALDRAN_2023,
    ),
    "scale": Formula(
        name="Probability scale",
        formula="M(m) = (mean of q^m)^(1/m), at m = 0 exp(mean log q), q the probability given to the "
        "observed outcome; decisiveness m = 1, accuracy m = 0, robustness m = −2/3",
        convention="For the model, q is its forecast; for the source, it is the share of pairs of case and "
        "class in the same bin whose class was observed; divergence = model / source. Accuracy is exp(−mean "
        "log score). Bins have equal counts, as published, or are the blocks of the isotonic fit, which "
        "require no choice. Bins are weighted by their number of pairs whose class was observed.",
        reference=NELSON_2017,
    ),
    "retention interval": Formula(
        name="Intervals of retention",
        formula="quantiles (1 − ℓ)/2 and (1 + ℓ)/2 of the B replicates",
        convention="Percentile bootstrap, quantiles of type 7; bands are pointwise, at each fraction "
        "separately. More than 4,096 independent cases are drawn in groups of neighbouring cases, which are "
        "small around each fraction.",
        reference=EFRON_1987,
    ),
    "scale interval": Formula(
        name="Intervals of model probabilities",
        formula="quantiles (1 − ℓ)/2 and (1 + ℓ)/2 of the B replicates of M(m)",
        convention="Percentile bootstrap, quantiles of type 7. Robustness and its divergence have no "
        "interval if the tail index of q^(−2/3), by Hill’s estimator from the 2√n smallest q, is 2 or less: "
        "the variance is then infinite, and resamples do not show the spread.",
        reference=f"{EFRON_1987}; {COVERAGE_STUDY}",
    ),
    "source interval": Formula(
        name="Intervals of source and divergence",
        formula="source M: log M + (quantiles of log M* minus their mean) − O; divergence D = model / "
        "source: log D + (quantiles of log D* minus their mean) + O − b",
        convention="M* and D* are those of B resamples in the bins of the sample; b is the mean increase of "
        "log M of the model in resamples. In equal-count bins, O is the same increase for the source, and "
        "the interval is for the population value in these bins, held fixed. In CORP blocks, the interval "
        "is for the value of the true recalibration curve, and O is an overfit: the mean of log M of "
        "outcomes drawn from the fitted curve without its steps and fitted again, minus log M of that "
        "curve; half of it is used for the upper end of the source, and the interval of D contains 1 if D "
        "lies in the ℓ-interval of draws in which the model is correct. For the lower end of the "
        "robustness, O is used twice. A shift of one end of the source shifts the opposite end of D. The "
        "sample value may lie outside. Where a probability of 0 makes a mean 0, plain quantiles are used.",
        reference=COVERAGE_STUDY,
    ),
    "angle": Formula(
        name="Angle of the probability scale",
        formula="arctan of (decisiveness − robustness of the model) / (the same of the source), in degrees",
        convention="Over-confident (under-confident): the angle lies above (below) the ℓ-interval of the "
        "angles of draws in which the model is correct, that is, classes are drawn from its probabilities; "
        "the percentile interval of the angle lies beyond the median of these; and both still hold after "
        "the probabilities of each class have been multiplied by a factor that makes their mean equal to "
        "the share of the class, otherwise the verdict is class bias. Contradictory: the interval of the "
        "divergence of the decisiveness lies on the other side of 1. No verdict if the median is above 55°. "
        "Cases drawn in clusters depend on each other as in the sample.",
        reference=f"{NELSON_2017}; {COVERAGE_STUDY}",
    ),
    "missing classes": Formula(
        name="Bounds over missing classes",
        formula="mean score: S(p, y), where y is missing the smallest or largest of S(p, 1), …, S(p, K); "
        "MCB: Σ of the lowest or highest MCB of each view",
        convention="Rows that lack the outcome and nothing else. Some classes attain the bounds of a mean "
        "score. Each view is a binary outcome, whose lowest and highest MCB are found as for binary models; "
        "as all views have the same rows, the sum need not be attained. The MCB of the RPS is divided by "
        "K − 1.",
        reference=f"{MANSKI_2003}; {HOROWITZ_MANSKI_2000}; {SION_1958}",
    ),
    "checkpoints": Formula(
        name="Choice of a checkpoint",
        formula="best: the first checkpoint with the best mean score; early stopping: the best checkpoint "
        "before a given number of checkpoints in a row without a better one",
        convention="The choice is made on the data shown and is optimistic there; confirm it on other data.",
        reference=AHMADIAN_2025,
    ),
}


SHAO_WU_1989 = "Shao, Wu (1989), Ann. Stat. 17, doi:10.1214/aos/1176347263"

#: Symbols of intervals of engines, which resample no rows.
SYMBOLS_OF_BUCKETS = SYMBOLS_OF_INTERVALS | {
    "G, −g": "the number of buckets, and a value computed without the g-th of them",
}

#: Methods of engines by key.
ENGINE_CATALOGUE = {
    "duckdb": Formula(
        name="Rows sorted on disk (DuckDB)",
        formula="fit(A and B) = pool(fit(A), fit(B)), if all forecasts of A lie below all of B",
        convention="DuckDB sorted the rows of each model by forecast, on disk where memory did not suffice, "
        "and they were read once in that order, in chunks; equal forecasts are never separated. Each chunk "
        "was pooled into blocks, and blocks of neighbouring chunks were pooled again, which gives exactly "
        "the isotonic fit of all rows.",
        reference=DIMITRIADIS_2021,
    ),
    "spark": Formula(
        name="Rows sorted on a cluster (Spark)",
        formula="fit(A and B) = pool(fit(A), fit(B)), if all forecasts of A lie below all of B",
        convention="Spark distributed the rows of each model to its workers by ranges of forecasts; equal "
        "forecasts are never separated. Each worker sorted and read its rows once and pooled them into "
        "blocks, and blocks of neighbouring ranges were pooled again, which gives exactly the isotonic fit "
        "of all rows.",
        reference=DIMITRIADIS_2021,
    ),
    "grouped jackknife": Formula(
        name="Grouped jackknife over buckets",
        formula="T ± z se, se² = (G − 1)/G Σ (T₋g − mean T₋g)², T₋g the value T from all buckets except "
        "the g-th",
        convention="A hash assigns rows, or whole clusters, to buckets: as if at random, but identically in "
        "every run and for all models; sums by bucket are from a single pass over the rows. z is a quantile "
        "of t with G − 1 degrees of freedom. For the AUC, se² = Σ k/(k − 1) Σ u² over both classes, u the "
        "sum of (V − AUC)/m over the cases of a class in one of the k buckets that contain it, V the share "
        "of the other class against which a case is ranked correctly, m the number of cases of the class; "
        "with clusters, it is the bias-reduced variance of both class means together. Its interval is cut "
        "to [0, 1]; where buckets show no variation, it is Newcombe’s.",
        reference=f"{EFRON_TIBSHIRANI}; {SHAO_WU_1989}; {OBUCHOWSKI}",
    ),
    "jackknife difference": Formula(
        name="Difference of scores or AUCs",
        formula="D = T of the first − T of the second, D ± z se(D), test by D / se(D)",
        convention="Paired: se by the grouped jackknife of D, because the same rows are in the same bucket "
        "for all models; for AUCs, by the differences of u. A negative value favours the first model where "
        "lower is better.",
        reference=EFRON_TIBSHIRANI,
    ),
    "jackknife bracket": Formula(
        name="Difference of MCB or DSC",
        formula="D − ΔO ± z se(D), test by (D − ΔO) / se(D), ΔO the first fit’s overfit minus the second’s",
        convention="Paired as above, with both fits and the prevalence held fixed; O in closed form. If both "
        "models rank the cases identically, ΔO is 0.",
        reference=f"{DIMITRIADIS_2021}; {EFRON_TIBSHIRANI}",
    ),
    "closed overfit": Formula(
        name="Corrected MCB and corrected DSC, with intervals",
        formula="C − O ± z se, cut at 0; corrected value: max(0, C − O)",
        convention="C is the raw MCB or DSC, and se is by the grouped jackknife with the fit and the "
        "prevalence held fixed. The fit ŷ follows chance, which makes both too large; O estimates this "
        "overfit in closed form only. O = Σ w g(ŷ) / n over the blocks of the fit, w = 1 if a block has one "
        "distinct forecast, else 1.5; g(ŷ) = ŷ(1 − ŷ) for Brier, 1/2 for log, in general ŷ(1 − ŷ)/2 times "
        "the slope of S(p, 0) − S(p, 1) there. Misclassification has no such slope: O is 0 for it, and its "
        "intervals lie somewhat too high. For DSC, O is reduced by g(ȳ)/n, the overfit of ȳ, and is not "
        "below 0. An interval may exclude the raw value; that of corrected MCB starts at 0 unless a test of "
        "calibration rejects on one side: the test of MCB or, where there is none, the test of slope and "
        "intercept or that of Hosmer and Lemeshow, adjusted for their number; in groups it always starts "
        "at 0.",
        reference=f"{DIMITRIADIS_2021}; {EFRON_TIBSHIRANI}",
    ),
    "Spiegelhalter's z in buckets": Formula(
        name="Spiegelhalter’s z",
        formula="t = Σ D / √Σ ((D − w Σ D)² / (1 − w)), D the sum of (y − p)(1 − 2p) over a bucket, w its "
        "share "
        "of the cases",
        convention="It detects forecasts that are too extreme or too timid, but not all shifts.",
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
