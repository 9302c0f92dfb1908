"""Texts of docs/coverage.md: a description of each study, and why some cells are off or differ."""

from __future__ import annotations

TEXTS = {
    "pointwise bands": "Consistency bands of calibrated forecasts (Fig. 4 of Dimitriadis, Gneiting, Jordan "
    "2021, distributions of its Appendix A): the share of rows at whose forecast the curve lies inside the "
    "band. The quick study draws 200 curves for each resampled band, which lowers the coverage by about 0.8 "
    "points.",
    "simultaneous bands": "How often a whole curve lies inside the band; for contrast also how often, or at "
    "what share of forecasts, it lies inside a pointwise band.",
    "drawn in cells": "Of more than 4,096 cases, but not of weighted rows in clusters, an evaluation draws "
    "samples in cells of neighbouring forecasts instead of case by case. Both ways on the same data: the "
    "share of forecasts at which a pointwise confidence band covers the true curve, how often the curve of a "
    "calibrated forecast lies inside the simultaneous band, and how often the test of miscalibration rejects "
    "at the 5 % level calibrated forecasts and departures from calibration. 199 draws each. The clusters "
    "have five rows, whose forecasts and outcomes correlate; weights have a gamma distribution of shape 2.",
    "component intervals": "Bracket intervals of miscalibration (MCB) and discrimination (DSC). Samples "
    "without any event, 2 % of the rare ones at n = 200, are included; the design document seems to have "
    "left them out.",
    "scores without resamples": "BCa intervals of mean scores and skills on the same samples: by the "
    "bootstrap, and as an evaluation reports them, from the influence of rows or clusters where that agrees "
    "with the bootstrap, else from draws of those with a large influence. At n = 1000 the former holds for "
    "some scores only, at n = 2500 for most scores of independent rows, except with rare events. The "
    "clusters have four rows with the same forecast; weights have a gamma distribution of shape 4.",
    "Murphy bands without resamples": "Bands of the difference of two Murphy curves that are the same: by "
    "the bootstrap, and as an evaluation reports them, from the covariance of the rows.",
    "difference intervals": "Bracket intervals of differences between two models on the same rows.",
    "test sizes": "How often tests at the 5 % level reject a true hypothesis.",
    "test power": "How often tests at the 5 % level reject a false hypothesis.",
    "AUC intervals": "The score interval of the AUC, the default. Scores are normal in both classes; the "
    "setting states the AUC and the numbers of events + non-events. Near an AUC of 1 and with few events it "
    "covers too often: it allows for wrongly ordered cases that were not drawn. DeLong's plain interval "
    "covers 73 to 91 % in the first four settings (3,000 samples each).",
    "paired AUCs": "Rejections at the 5 % level by DeLong's test of two models with the same AUC, whose "
    "scores have correlation 1/2 in each class. With few events, or an AUC near 1, it rejects less often "
    "than 5 %.",
    "few clusters": "Intervals over few clusters of 25 rows, or over 20 unequal ones; n is the number of "
    "clusters. Forecasts are calibrated, half of the variance of their log-odds lies between clusters, and "
    "outcomes correlate as under a random intercept of variance 0.5. Where one cluster has half of the "
    "rows, intervals cover too often, because such a cluster leaves few degrees of freedom.",
    "tests with few clusters": "Rejections of a true hypothesis at the 5 % level, in the same kind of "
    "samples; the paired models are the forecasts with two noises of the same size.",
    "few in groups": "Rejections at the 5 % level by tests over groups that do not differ: clusters of 25 "
    "rows that lie in one group each, as above, and independent rows with 4 % of events. Cochran's Q of "
    "scores is compared with Welch's distribution, and rejects less often than 5 % where a group has few "
    "events or clusters.",
    "weighted groups": "Rejections at the 5 % level by Cochran's Q over groups that do not differ, each "
    "with 5 events of weight 100 and 300 non-events of weight 1.",
    "equivalence over clusters": "How often a model whose miscalibration is exactly the limit is shown to "
    "be calibrated within it; 2.5 % of samples are allowed. Clusters have 25 rows, n is their number; the "
    "calibrated forecasts of the clusters above are shifted by 0.6 in log-odds.",
    "clusters": "Clusters of five rows; latent correlations within clusters are 0.5 for forecasts and 0.3 "
    "for outcomes given the forecasts. The design document did not examine these.",
    "class intervals": "Four ordered classes with probabilities drawn uniformly: BCa intervals of scores, "
    "kappa and F1, and bracket intervals of MCB and DSC of the RPS, summed over the thresholds. The truth "
    "is that of 400,000 cases. The design document did not examine these.",
    "class differences": "Paired differences, on the same rows, from a model whose forecasts are half noise.",
    "class tests": "Rejections at the 5 % level, of a true (calibrated) and of a false hypothesis.",
    "classes in cells": "Of more than 4,096 cases, an evaluation compares miscalibrations in cells of "
    "neighbouring forecasts, and draws retention curves of independent cases in groups of neighbours in the "
    "order by score. Both "
    "ways on the same data, four ordered classes: rejections at the 5 % level by the tests of all views "
    "together, 99 draws each, and at what share of the fractions 0, 0.1, 0.25 and 0.5 a pointwise band by "
    "299 resamples covers the curve of 1,000,000 cases. Cases are set aside by their RPS.",
    "scale intervals": "Probability scale of three classes with probabilities drawn uniformly; forecasts "
    "are these probabilities, their rescaled squares or roots, unrelated to the outcome, or 1 for the "
    "likeliest class. The true value is that of 400,000 cases: in ten bins, and of the isotonic fit. "
    "Intervals of the robustness are left out where the smallest probabilities dominate it; those are not "
    "counted as wrong, and the last line of each setting shows how often there was an interval. The design "
    "document did not examine these.",
    "scale verdicts": "How often the angle classifies a model as over- or under-confident, or as biased by "
    'class. In the setting "class bias", true probabilities are multiplied by 3, 1 and 1/3.',
    "decisions": "Calibrated forecasts with a beta distribution: rates, net benefit, its difference "
    "from treating all, and interventions avoided per 100 cases, which follow from this difference, at "
    "thresholds of half the prevalence (low), the prevalence (middle), and twice the prevalence (high; .8 "
    "for prevalence 0.5). Wilson's intervals are based on a discrete count: with few cases their coverage "
    "oscillates around the nominal one. At prevalence 0.02 and n = 100, with two events, the sensitivity at "
    "the low threshold is covered in 91 %. Rates without any case in the denominator are not counted as "
    "wrong. Clusters have five cases with the same forecast.",
    "decision bands": "How often the simultaneous 95 % band contains a whole curve: net benefit, and its "
    "difference from treating all, of calibrated forecasts with a beta distribution, at 31 thresholds from "
    "half the prevalence to twice the prevalence (.8 for prevalence 0.5). Clusters have five cases with the "
    "same forecast.",
    "decision differences": "How often any of 31 thresholds is said to have a better model, among two or "
    "three models that are equally good at every threshold; for three models, among all three pairs. Their "
    "forecasts are independent, and the event probability is the mean of them; 5 % is allowed.",
    "distances": "Test-inversion intervals of ICI, E50, E90 and Emax, for the curve that lowess has in an "
    "infinite sample and for the true curve, and of ECE. At and near calibration they are on the safe side: "
    "the upper end is the larger of two, and the lower end is 0 unless the data contradict it. Two cells of "
    "the setting sqrt are more than 3 points low: E50 at n = 200, whose draws take the direction of the "
    "deviation from few cases, and E90 of the true curve at n = 1000, which lowess flattens; the note "
    "beside the number states this.",
    "flexible curves": "The share of forecasts at which the band of the flexible calibration curve contains "
    "the true probability.",
    "separation": "Intervals of the Kolmogorov-Smirnov statistic. Scores are normal in both classes, or cut "
    "into grades of equal count; each sample has the stated share of events, at least ten. The upper end is "
    "on the safe side, because the maximum of a sample is too high. Clusters have five cases with the same "
    "noise and count as one case of each outcome.",
    "stability": "Intervals of the population stability index of normal forecasts, in ten bins of equal "
    "count of the reference; n is the size of the sample. The truth is the index over the tenths of the "
    "population.",
    "missing outcomes": "About one outcome in seven is missing: by chance alone, or most of those with a "
    "forecast above 0.4, or those of events three times as often as others. Bounds over all outcomes contain "
    "the score and the miscalibration of the complete sample in every run, whatever the reason. The interval "
    "of the observed rows is held against the expected score of all rows, which it covers as often as it "
    "should only if outcomes are missing by chance alone.",
    "event rate parts": "Intervals of the two parts of the change of the event rate since a reference "
    "sample: what follows from the shift of forecasts, and the change of calibration. Log-odds of forecasts "
    "are normal; n is the size of the sample. In the sample they are shifted, or the event is more likely at "
    "the same forecast (worse). In the setting slope .6 the model is miscalibrated in both samples.",
    "score changes": "Intervals of the change of a number since a reference sample, from the intervals of "
    "both samples.",
    "shift tests": "How often tests at the 5 % level of the same distribution in sample and reference "
    "reject, where it is the same.",
    "power of shift tests": "How often these tests reject where the sample is shifted, in standard "
    "deviations.",
    "few events": "Intervals of mean scores and of their skill where one case in fifty is an event: 1.2, 2, "
    "3, 5, 10, 20 and 50 events are expected in 60, 100, 150, 250, 500, 1000 and 2500 rows. Intervals from "
    "resamples alone, as in version 0.1.0, do not allow for events that were not observed. Below ten events "
    "the intervals are on the safe side: with no event or one they cannot both be short and cover. Samples "
    "without an event have no skill and are left out of its rows.",
    "limits with few events": "How often a limit on the Brier score at three quarters of the true score, "
    "which the model breaches, is passed; 2.5 % of samples are allowed. With fewer than ten events a "
    "verdict needs an exact bound.",
    "few distinct forecasts": "Intervals of miscalibration and discrimination of forecasts with 1 to 10 "
    "distinct values. With up to five values they are widened, with one value they are exact; they are on "
    "the safe side where the true miscalibration is near 0, as all bracket intervals are.",
    "equivalence": "How often a model whose miscalibration is exactly the limit is shown to be calibrated "
    "within it; 2.5 % of samples are allowed.",
    "recalibration gains": "Intervals of the mean gain, on new cases, of maps fitted to as many cases as "
    "each cross-fitted map. They are wider than needed where the gain is small: intervals of a square that "
    "may be 0 are combined with those of a mean.",
    "stated gains": "The sentence on the best map is stated only where its gain is significant, that is in "
    "samples where chance makes it large. The interval of the sentence allows for this, and starts at 0 "
    "where the gain is barely significant; the interval of the table does not, and covers a small gain too "
    "rarely in these samples.",
    "miscalibration parts": "Intervals of the parts of miscalibration: shift, slope, both (global) and what "
    "is left (local). The true parts are integrals over the population. The last setting is a sine wave in "
    "log-odds. Intervals of the global part, which has two parameters, and of the local part, which are "
    "brackets as those of miscalibration, are on the safe side.",
    "local test sizes": "How often the test that nothing is left after a line rejects at the 5 % level if "
    "the true curve is a line in log-odds.",
    "local test power": "How often the same test rejects where the true curve is not a line in log-odds.",
    "calibration in time": "One row a day for a year; the event happens if a stationary series stays below "
    "the normal quantile of the forecast, which is calibrated. Tests that take rows as independent reject "
    "too often, and page one does not state them as evidence where dependence in time is shown; the share "
    "of samples where it is shown is the power of that test.",
    "comparisons in time": "Two models with the same expected Brier score. Newey and West's errors with few "
    "lags, which are computed on request, are too small for series that move slowly.",
    "drift": "False alarms in a year of monthly audits of 600 rows; effects of days are stationary, with "
    "autocorrelation 0.9 and standard deviation 0.3 in log-odds. Against fewer than five earlier audits the "
    "variance between audits is not known, as each sentence states, and alarms are more frequent.",
    "evidence against calibration": "How often evidence against calibration ever reaches 20 to 1 in 24 "
    "audits, which has probability at most 5 %, and how often its detector of changes reaches 240 to 1, "
    "which has probability at most 10 % within 24 audits; n is the number of rows of each audit. Log-odds of "
    "forecasts are normal with mean -1 and standard deviation 1.2, and calibrated; with a tolerance, true "
    "log-odds lie at its upper bound. Outcomes of a cluster correlate by 0.3. Clusters that are taken as "
    "independent rows show that the study can fail: evidence of rows that depend on each other must not be "
    "multiplied. The tests of drift, which compare audits with earlier ones, allow false alarms in 5 % of "
    "years, 10 % of two years.",
    "evidence against a baseline": "How often evidence against the calibration curve of a baseline ever "
    "reaches 40 to 1 in 24 audits of n rows while nothing has changed, which has probability at most 5 %, "
    "and how often its detector reaches 240 to 1. The honest band of the curve misses it with probability at "
    "most 2.5 %. The model need not be calibrated: its log-odds may be 1/0.7 times too far from 0 in the "
    "baseline and in all audits. Clusters of 10 rows have outcomes that correlate by 0.3.",
    "population shift": "False alarms of prevalence, forecasts and groups in a year of monthly audits of 600 "
    "rows, against earlier audits or against a baseline of the year, or of one month, before the first "
    "audit, or of the first audits. Effects of days are stationary, with autocorrelation 0.9 and standard "
    "deviations of 0.3 for outcomes and 0.2 for forecasts and groups, in log-odds.",
    "audits to an alarm": "Median number of audits from a change to the alarm, with quartiles in brackets "
    "where they differ. A model is calibrated in 12 audits; after that its true log-odds are shifted, or "
    "flatter, for all forecasts. n is the number of rows of each audit. The tests of drift are applied to "
    "the same audits as the evidence beside them, with up to 12 earlier audits as reference.",
    "weights": "Sampling weights of mean 1 and variance 1/2 that do not depend on the outcome. The design "
    "document did not examine these.",
    "weights: tests": "Rejections at the 5 % level of calibrated forecasts whose rows have weights of "
    "several kinds: whole numbers from 1 to 100, log-normal weights (Kish's number of rows is 37 %), "
    "samples that keep one non-event in 9 or 3 events in 10, with weights that compensate for it, and "
    "frequencies of ten values.",
    "weights: bands": "Consistency bands of the same samples.",
    "weights: intervals": "Intervals under the same designs, where the slope is 0.8.",
    "needed cases": "How often a sample decides a limit if it has as many cases as a judgement states: those "
    "for an even chance, and those for a chance of 80 %. The limit lies beside the true value, which is the "
    "value that stays; the number of cases comes from the interval of a first sample, of n rows. Log-odds "
    "are normal, and forecasts overconfident with slope 0.7.",
    "limits over time": "24 audits of n rows each of a model whose expected Brier score is exactly the "
    "limit: how often the evidence against an upper and a lower limit ever reaches 20 to 1, and that for a "
    "change 480 to 1; 5 % is allowed for each. Clusters of 1 to 20 rows have lower scores where they are "
    "larger. For contrast, a test of the mean of all audits so far at the 5 % level, after each audit.",
    "breached limits": "Audits of n rows each. The expected Brier score is 5 % below the limit in 12 audits "
    "and then above it: how often the evidence for a change reaches 240 to 1 within some audits. More is "
    "better.",
    "confidence sequences": "24 audits of n rows each: how often all 24 intervals contain the mean of the "
    "expected Brier scores of the audits so far. For contrast, the intersection of all intervals and the "
    "last mean, and 95 % intervals for one look, by the normal distribution.",
    "models in the running": "24 audits of n rows each of three models that are equally good by the Brier "
    "score: how often any of them ever leaves the set. For contrast, paired tests after each audit, adjusted "
    "for three pairs.",
    "worse models": "One of three models has a standard deviation of 0.8 in log-odds around the true "
    "probability, the others 0.3: how often it leaves within some audits of n rows each. More is better, "
    "except in the last line.",
}

#: "study | setting | method | safe or unsafe", as patterns -> why cells are more than three points off. The
#: first pattern that matches is used.
REASONS = {
    "power of shift tests | * | * | *": "These are rejections of a false hypothesis: more is better.",
    "evidence against calibration | clusters taken* | * | unsafe": "Rows of a cluster depend on each other; "
    "the settings with clusters show the evidence that allows for it.",
    "evidence against calibration | * | * | safe": "Evidence against a true hypothesis falls in most "
    "audits, faster with more rows; the bounds hold for any number of audits.",
    "evidence against a baseline | * | * | safe": "The band of a baseline is wide, because it holds at all "
    "forecasts at once and for any curve that does not fall.",
    "population shift | * | any alarm with* | unsafe": "With fewer than five earlier audits the variance "
    "between audits is not known, as each sentence states.",
    "population shift | * | * | *": "Alarms are adjusted for twelve looks and for all tests of an audit; "
    "effects of audits that lie in one direction have one degree of freedom.",
    "audits to an alarm | * | * | *": "These are alarms after a change: more is better.",
    "test power | * | * | *": "These are rejections of a false hypothesis: more is better.",
    "decision bands | * | * | unsafe": "These samples have 4 to 20 events or, with weights, about 33 "
    "effective ones, few of them below the low thresholds, and the band is symmetric: it is short there, as "
    "the section on methods states.",
    "decision differences | 3 equal* | * | safe": "The level is divided by the number of pairs, which "
    "depend on each other.",
    "local test power | * | * | *": "These are rejections of a false hypothesis: more is better.",
    "drawn in cells | wave* | * | *": "These are rejections of a false hypothesis: more is better.",
    "drawn in cells | intercept* | * | *": "These are rejections of a false hypothesis: more is better.",
    "drawn in cells | * | pointwise confidence* | safe": "The bootstrap of an isotonic fit varies more than "
    "the fit itself, in cells as case by case.",
    "class tests | overconfident | * | *": "These are rejections of a false hypothesis: more is better.",
    "classes in cells | slightly* | * | *": "These are rejections of a false hypothesis: more is better.",
    "scale verdicts | * | * | *": "These are verdicts on models for which they are true and on models for "
    "which they are false.",
    "calibration in time | * | dependence in time shown | *": "This is how often a dependence that exists "
    "is shown: more is better.",
    "* | * | *resamples alone | unsafe": "Resamples alone are shown for contrast: intervals and verdicts do "
    "not use them where events are few.",
    "* | * | *rows as independent | unsafe": "Tests that take rows as independent are shown for contrast: "
    "where dependence in time is shown, page one does not state them as evidence.",
    "test sizes | equal pair in * | Diebold-Mariano, iid* | unsafe": "Errors of independent rows are shown "
    "for contrast: the rows depend on each other, and the default errors allow for it.",
    "clusters | tests, calibrated | MCB Brier, clusters ignored | unsafe": "Shown for contrast: a test that "
    "ignores the clusters.",
    "comparisons in time | * | *lags* | unsafe": "Newey and West's errors with few lags, which are computed "
    "on request only, are too small for series that move slowly; the default errors come from cosines.",
    "comparisons in time | autocorrelation 0.95 | * | unsafe": "400 times with an autocorrelation of 0.95 "
    "count as about 10 independent ones; the note beside the test states that it rejects too often.",
    "test sizes | rare, cal. | Hosmer-Lemeshow | unsafe": "Most groups have fewer than 5 expected events; "
    "the note beside the test states that it rejects too often.",
    "test sizes | rare, cal. | groups: Cochran's Q of AUCs | *": "Groups have few events: here Q is "
    'computed with the errors of each group. Evaluations use errors at the common AUC, see "Few in '
    'groups".',
    "simultaneous bands | * | pointwise* | *": "A pointwise band is shown for contrast: it holds at each "
    "forecast by itself, not for a whole curve, as its note states.",
    "simultaneous bands | * | honest | safe": "The honest band holds for every sample size and every "
    "nondecreasing curve, which makes it wide.",
    "pointwise bands | * | discrete | safe": "Normal theory at each forecast ignores that pooling narrows "
    "the curve where forecasts have few cases; it is chosen only where they have many.",
    "pointwise bands | * | * | safe": "With few rows the curve has few steps, and quantiles of drawn curves "
    "are on the safe side.",
    "component intervals | * | MCB* | safe": "The lower end is 0 unless the test shows miscalibration, and "
    "the bracket allows for two estimates of the overfit.",
    "component intervals | flat (DSC=0) | DSC* | safe": "The true discrimination is 0, at the end of the "
    "possible values.",
    "component intervals | rare* | DSC* | unsafe": "With 4 expected events the interval gives little "
    "information, as its note states.",
    "difference intervals | * | MCB* | safe": "Both models are calibrated, or nearly so, and the bracket "
    "allows for two estimates of the overfit of each.",
    "simultaneous bands | * | Murphy* | safe": "With few rows the curve has few steps.",
    "component intervals | calibrated | DSC log | unsafe": "With 200 cases the interval is short, by as much "
    "as the design document measured.",
    "difference intervals | rare | MCB log | unsafe": "With 4 expected events the interval is short, by as "
    "much as the design document measured.",
    "component intervals | * | DSC* | safe": "The bracket allows for two estimates of the overfit.",
    "difference intervals | * | DSC* | safe": "The bracket allows for two estimates of the overfit.",
    "clusters | * | groups* | safe": "40 clusters in four groups leave few degrees of freedom.",
    "weights* | * | MCB* | safe": "Intervals of miscalibration start at 0 unless a test shows "
    "miscalibration.",
    "weights* | brackets* | * | safe": "Intervals of miscalibration start at 0 unless a test shows "
    "miscalibration.",
    "weights: bands | 3 in 10 events | * | safe": "With few rows the curve has few steps, and quantiles of "
    "drawn curves are on the safe side.",
    "weights: tests | 3 in 10 events | * | unsafe": "The sample has about 9 events: tests of the line are "
    "asymptotic, and a note beside them warns of few events.",
    "weights: intervals | 3 in 10 events | * | unsafe": "The sample has about 9 events, as the notes state.",
    "weights: tests | * | * | safe": "Outcomes of rows with sampling weights are drawn from their "
    "forecasts, and weights that depend on outcomes are only partly known from the sample.",
    "weights: intervals | * | * | safe": "The interval of the AUC is wider than needed where few rows carry "
    "most of the weight.",
    "clusters | brackets* | MCB* | safe": "Intervals of miscalibration start at 0 unless a test shows "
    "miscalibration.",
    "class intervals | * | MCB* | safe": "Intervals of miscalibration start at 0 unless a test shows "
    "miscalibration.",
    "class differences | * | * | safe": "Differences of miscalibration near 0 are on the safe side.",
    "scale intervals | * | intervals of* | *": "This is how often there is an interval: none is given where "
    "the smallest probabilities dominate the robustness.",
    "scale intervals | * | * | safe": "Intervals allow for the estimated overfit of bins and fits, which is "
    "not known exactly; where a model is calibrated, or nearly so, they are wider than needed.",
    "AUC intervals | * | * | safe": "The score interval is on the safe side where the AUC is near 1 or "
    "events are few: most of its variance is then assumed, not observed.",
    "AUC intervals | * | * | unsafe": "The plain and logit intervals are shown for contrast.",
    "paired AUCs | * | * | safe": "With few events there are few (Welch) degrees of freedom: the test "
    "detects large differences only, as its note states.",
    "few clusters | * | * | safe": "Few clusters, or one that holds most rows, leave few degrees of freedom.",
    "tests with few clusters | * | * | safe": "Few clusters, or one that holds most rows, leave few degrees "
    "of freedom.",
    "weighted groups | * | * | safe": "Five events in a group leave four degrees of freedom.",
    "few in groups | * | any, adjusted* | safe": "Holm's adjustment is on the safe side.",
    "few in groups | * | * | safe": "Few events or clusters in a group leave few degrees of freedom.",
    "few events | * | * | safe": "With no event or one, an interval cannot both be short and cover.",
    "limits with few events | * | * | safe": "With fewer than ten events only an exact bound passes a limit.",
    "few distinct forecasts | 10 values* | DSC* | unsafe": "Each of the ten values has about five cases; "
    "intervals are widened with up to five values, not with more.",
    "few distinct forecasts | * | * | safe": "With one value the interval is that of a count, exact; with "
    "up to five values it is the wider of two intervals.",
    "equivalence | * | * | safe": "The interval is on the safe side.",
    "recalibration gains | * | * | safe": "Gains are squares that may be 0: their interval is combined with "
    "that of a mean.",
    "stated gains | * | * | *": "The sentence is stated in few of the samples, those in which chance makes "
    "the gain large; its interval allows for that, the interval of the table does not.",
    "miscalibration parts | * | * | safe": "The lower limit of two parameters holds for both together, and "
    "the bracket allows for two estimates of the overfit.",
    "distances | * | * | safe": "The upper end is the larger of two, and the lower end is 0 unless the data "
    "contradict it.",
    "distances | sqrt | * | unsafe": "Draws take the direction of the deviation from few cases, and lowess "
    "flattens a steep curve; the note beside the number states that the interval is for the lowess curve.",
    "separation | * | * | safe": "The maximum of a sample is too high, which keeps the upper end safe; the "
    "lower end allows for the choice of the maximum.",
    "missing outcomes | * | observed rows* | unsafe": "Outcomes of some forecasts, or of events, are "
    "missing more often: the expected score of the observed rows is not that of all rows.",
    "stability | * | * | safe": "Near an index of 0 the lower end is 0, and the part that chance adds is "
    "subtracted from the value, not from the upper end where it would be negative.",
    "score changes | * | corrected MCB | safe": "Intervals of a miscalibration of 0 are on the safe side, "
    "and so is that of the change.",
    "decisions | * | * | *": "Wilson's interval is based on a discrete count: with two expected events its "
    "coverage oscillates around the nominal one.",
    "breached limits | * | * | *": "These are alarms of limits that are breached: more is better.",
    "worse models | * | worse* | *": "These are models that are worse: more is better.",
    "worse models | * | * | safe": "The bound holds for any dependence between models and at any time.",
    "limits over time | * | *for contrast | unsafe": "A test at the 5 % level rejects more often the more "
    "often it is repeated.",
    "models in the running | * | *for contrast | unsafe": "Tests at the 5 % level reject more often the more "
    "often they are repeated.",
    "confidence sequences | * | *one look, for contrast | unsafe": "Intervals for one look do not cover at "
    "24 looks together.",
    "confidence sequences | *drifts | intersection* | unsafe": "The mean of all audits so far moves, so the "
    "intervals are not intersected.",
    "confidence sequences | * | * | safe": "Intervals hold at all future audits too, of any number, for all "
    "distributions of scores.",
    "limits over time | * | * | safe": "The bound holds for all future audits too, and for all distributions "
    "of scores.",
    "models in the running | * | * | safe": "The bound holds for all future audits too, and for any "
    "dependence between models.",
    "drift | * | * | safe": "Alarms are adjusted for twelve looks, and the tests of one audit for each "
    "other.",
    "drift | * | * | unsafe": "Against fewer than five earlier audits the variance between audits is not "
    "known, as the sentence states.",
    "needed cases | brier_miscalibration* | * | *": "The overfit, for which the interval allows, shrinks "
    "faster than the rest of it: fewer cases are enough than stated.",
    "test sizes | * | * | safe": "Tests by grade and tests of rare events are based on discrete counts.",
}

#: (study, setting, n, method) -> why the recorded row differs from INTERVALS.md by more than chance.
DISAGREEMENTS: dict[tuple[str, str, int, str], str] = {
    ("component intervals", "rare, b=.7 a=-1.05", 200, "DSC log"): "Partly chance: 4,000 other samples gave "
    "90.0 ±0.5, and 91.9 ±0.4 without the 2 % that have no event.",
}
