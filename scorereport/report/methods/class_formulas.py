"""Formulas and symbols of models of K classes, and of engines that never hold all rows in memory."""

from __future__ import annotations

from scorereport.evaluation.engines.jackknife import EFRON_TIBSHIRANI
from scorereport.inference.calibration_tests import SPIEGELHALTER_1986, VAN_CALSTER_2019
from scorereport.inference.differences import OBUCHOWSKI
from scorereport.report.methods.notation import COVERAGE_STUDY, EFRON_1987, SYMBOLS_OF_INTERVALS, Formula
from scorereport.scores.registry import AHMADIAN_2025, DIMITRIADIS_2021, GALDRAN_2023, NELSON_2017

VAN_DER_VAART_1998 = "van der Vaart (1998), Asymptotic Statistics, ch. 3, doi:10.1017/CBO9780511802256"

#: What stands for what, where there are K classes.
CLASS_SYMBOLS = {
    "p₁ … p_K, y": "the probabilities of the K classes in a case, which sum to one, and the class that came",
    "f": "the shares of the classes among the cases; f alone is the class-frequency forecast",
    "d": "the class decided for, the likeliest; the first of those that tie",
    "n": "the number of cases",
    "S": "a score of one case; S(p), S(f) and S(y) are its means over all cases for the forecast, the "
    "class-frequency forecast and perfect foresight",
}

#: The same of ordered classes.
ORDINAL_SYMBOLS = {
    "P_k, Y_k": "p₁ + … + p_k, the probability of a class up to the k-th, and 1 if one of these came, else 0",
}

#: Formula and convention of each score of K classes.
CLASS_SCORE_FORMULAS = {
    "multiclass_brier": (
        "S = Σ (p_k − 1[y = k])² over the classes",
        "The sum of the Brier scores of the classes; for two classes twice the binary score.",
    ),
    "multiclass_log_loss": (
        "S = −log p_y",
        "Natural logarithm. −log 0 = ∞ stays visible; no forecast is clipped.",
    ),
    "rps": (
        "S = Σ (P_k − Y_k)² / (K − 1) over the K − 1 thresholds",
        "The mean of the Brier scores of the thresholds; the plain sum, as some report it, is K − 1 times "
        "as large. It knows that near classes are less wrong. For two classes the binary Brier score.",
    ),
    "sa_rps": (
        "S = (Σ |P_k − Y_k| / (K − 1))²",
        "The square of the expected distance between a class drawn from p and the one that came, over the "
        "largest. Not proper for three or more classes: a model can gain by not saying what it believes, so "
        "it is shown and no model should be chosen by it. The published scale is K − 1 times as large.",
    ),
    "multiclass_spherical": (
        "S = 1 − p_y / √(Σ p_k²)",
        "Turned round from the usual orientation, so that 0 is perfect.",
    ),
    "penalized_brier": (
        "S = Σ (p_k − 1[y = k])² + (K − 1)/K · 1[d ≠ y]",
        "The penalty puts every right decision before every wrong one. Of ties the first class counts; with "
        "the published rule, by which ties are right, the score would not be proper.",
    ),
    "penalized_log_loss": (
        "S = −log p_y + log K · 1[d ≠ y]",
        "The penalty puts every right decision before every wrong one; ties as above.",
    ),
    "accuracy": (
        "accuracy = share of cases with d = y",
        "Its constant to beat is the most frequent class. One minus it is the share of misclassified cases.",
    ),
    "macro_f1": (
        "F1 = mean over the classes of 2TP / (2TP + FP + FN)",
        "TP, FP and FN of each class against the rest. A class that neither came nor was decided for is left "
        "out. Choosing by it does not reward honest probabilities.",
    ),
    "quadratic_weighted_kappa": (
        "κ = 1 − Σ (i − j)² O_ij / Σ (i − j)² E_ij",
        "O counts cases of class i decided for as j, E is what independent decisions with the same totals "
        "would give. 0 is chance, 1 perfect; 0/0 is not defined (n/d).",
    ),
    "expected_cost": (
        "cost = mean of C_yd, C the cost matrix",
        "Its constant to beat is the best single decision for all cases, the naive cost.",
    ),
}

_EACH_VIEW = (
    "Each view has the decomposition of its Brier score: MCB = S(p) − S(ŷ), DSC = S(ȳ) − S(ŷ), UNC = S(ȳ), "
    "ŷ its recalibrated forecast and ȳ its share of cases. The sum is exact."
)

#: Everything that is no score, by the key under which the section asks for it.
CLASS_CATALOGUE = {
    "class skill": Formula(
        name="Skill",
        formula="skill = (S(f) − S(p)) / (S(f) − S(y)); of the cost with the naive cost in place of S(f)",
        convention="0 % is the class-frequency forecast, of accuracy the most frequent class; 100 % is "
        "perfect; negative is worse. The shares are those of the same cases. Macro F1 has none.",
        reference=GALDRAN_2023,
    ),
    "class views": Formula(
        name="Reliability curves of K classes (CORP)",
        formula="isotonic regression of 1[y = k] on p_k for each class",
        convention="A case is asked a binary question: does this class come? By pooling adjacent violators: "
        "no bins to choose, equal forecasts are pooled first.",
        reference=DIMITRIADIS_2021,
    ),
    "ordinal views": Formula(
        name="Reliability curves of K classes (CORP)",
        formula="isotonic regression of 1[y = k] on p_k for each class; of Y_k on P_k for each threshold",
        convention="A case is asked a binary question: does this class come, or one up to this? By pooling "
        "adjacent violators: no bins to choose, equal forecasts are pooled first.",
        reference=DIMITRIADIS_2021,
    ),
    "class sums": Formula(
        name="Decomposition into MCB, DSC and UNC",
        formula="Brier = Σ (MCB − DSC + UNC) over the classes",
        convention=f"{_EACH_VIEW} Recalibrated probabilities, fitted apart, need not sum to one.",
        reference=DIMITRIADIS_2021,
    ),
    "ordinal sums": Formula(
        name="Decomposition into MCB, DSC and UNC",
        formula="Brier = Σ (MCB − DSC + UNC) over the classes; RPS = Σ (MCB − DSC + UNC) / (K − 1) over the "
        "thresholds",
        convention=f"{_EACH_VIEW} Recalibrated probabilities, fitted apart, need not sum to one, or rise "
        "from threshold to threshold.",
        reference=DIMITRIADIS_2021,
    ),
    "class overfit": Formula(
        name="MCB and DSC less overfit, with intervals",
        formula="[C − max(O₁, O₂) − z se, C − min(O₁, O₂) + z se], cut at 0; less overfit: max(0, C − O₂)",
        convention="C is the raw MCB or DSC of a view or of the sum, se = sd / √n of what each case adds to "
        "it. The overfit of the fit is estimated twice for each view and added up: O₁ = Σ w ŷ(1 − ŷ) / n "
        "over the blocks of the fit, w = 1 if a block has one distinct forecast, else 1.5; O₂ from outcomes "
        "drawn from the curve without steps. For DSC both are less by ȳ(1 − ȳ)/n. The interval of MCB starts "
        "at 0 unless its test has p ≤ max((1 − ℓ)/2, 1/(B + 1)).",
        reference=f"{DIMITRIADIS_2021}; {COVERAGE_STUDY}",
    ),
    "class miscalibration test": Formula(
        name="Test that MCB is 0",
        formula="p-value = (1 + #{MCB* ≥ MCB}) / (B + 1), classes y* drawn with the probabilities p₁ … p_K",
        convention="Forecasts are kept. One test for each model and score over all its views together; each "
        "view has one of its own, not adjusted for the number of views.",
        reference=DIMITRIADIS_2021,
    ),
    "delta method": Formula(
        name="Difference of measures of decisions",
        formula="D = value of the first − value of the second, D ± z se(D), test by D / se(D)",
        convention="Paired on the same cases. se is that of the mean of what each case adds to D to first "
        "order, from the slope of the measure in the shares of the confusion table: macro F1, "
        "and kappa where there is one.",
        reference=VAN_DER_VAART_1998,
    ),
    "retention": Formula(
        name="Retention curves",
        formula="M(f) = metric of the decisions that remain when the ⌊f n⌋ cases with the worst score are "
        "set aside; area = ∫ M df by trapezoids",
        convention="The score needs the class that came: the curve tells how well it finds the errors, and "
        "is no rule for use. Equal scores leave in an order set by class and decision. On a percent axis "
        "areas are 100 times as large, which the published ones must be.",
        reference=GALDRAN_2023,
    ),
    "scale": Formula(
        name="Probability scale",
        formula="M(m) = (mean of q^m)^(1/m), at m = 0 exp(mean log q), q the probability given to what came; "
        "decisiveness m = 1, accuracy m = 0, robustness m = −2/3",
        convention="Of the model q is its forecast, of the source the share of pairs of case and class that "
        "came true in the same bin; divergence = model / source. Accuracy is exp(−mean log score). In bins "
        "of equal count as published, and in the blocks of the isotonic fit, which need no choice. Bins "
        "count by their true pairs.",
        reference=NELSON_2017,
    ),
    "retention interval": Formula(
        name="Intervals of retention",
        formula="quantiles (1 − ℓ)/2 and (1 + ℓ)/2 of the B replicates",
        convention="Percentile bootstrap, quantiles of type 7; bands at each fraction by itself.",
        reference=EFRON_1987,
    ),
    "scale interval": Formula(
        name="Intervals of model probabilities",
        formula="quantiles (1 − ℓ)/2 and (1 + ℓ)/2 of the B replicates of M(m)",
        convention="Percentile bootstrap, quantiles of type 7. Robustness, and its divergence, have none if "
        "the tail index of q^(−2/3), by Hill’s estimator from the 2√n smallest q, is 2 or less: then the "
        "spread has no finite variance, and resamples do not show it.",
        reference=f"{EFRON_1987}; {COVERAGE_STUDY}",
    ),
    "source interval": Formula(
        name="Intervals of source and divergence",
        formula="source M: log M + (quantiles of log M* less their mean) − O; divergence D = model / source: "
        "log D + (quantiles of log D* less their mean) + O − b",
        convention="M* and D* are those of B resamples in the bins of the sample; b is by how much log M of "
        "the model is higher in resamples, on average. In equal-count bins O is the same of the source, and "
        "the interval is for the population’s value in these bins, held fixed. In CORP blocks it is for that "
        "of the true recalibration curve, and O is an overfit: the mean of log M of outcomes drawn from "
        "the fitted curve without its steps and fitted again, less log M of that curve; half of it counts "
        "for the upper end of the source, and the interval of D holds 1 if D lies in the ℓ-interval of draws "
        "in which the model is right. For the lower end of the robustness O counts twice. What moves an end "
        "of the source moves the opposite one of D. The value of the sample may lie outside. Where a "
        "probability of 0 makes a mean 0: plain quantiles.",
        reference=COVERAGE_STUDY,
    ),
    "angle": Formula(
        name="Angle of the marks",
        formula="arctan of (decisiveness − robustness of the model) / (the same of the source), in degrees",
        convention="Over-confident (under-confident): above (below) the ℓ-interval of the angles of draws in "
        "which the model is right, classes being drawn from its probabilities; the percentile interval of "
        "the angle lies beyond the median of these; and both still hold after each class has been "
        "multiplied by a number that makes its mean probability its share, else it is class bias. "
        "Contradictory: the interval of the divergence of the decisiveness lies on the other side of 1. No "
        "verdict if that median is above 55°. Cases drawn in clusters depend on each other as in the sample.",
        reference=f"{NELSON_2017}; {COVERAGE_STUDY}",
    ),
    "checkpoints": Formula(
        name="Choice of a checkpoint",
        formula="best: the first with the best mean score; early stopping: the best up to the first after "
        "which a given number of checkpoints brings no better one",
        convention="The choice is made on the data shown and is optimistic there; it must be confirmed on "
        "others.",
        reference=AHMADIAN_2025,
    ),
}


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
