"""What the page says of each study, and why some rows differ from INTERVALS.md."""

from __future__ import annotations

TEXTS = {
    "pointwise bands": "Consistency bands of calibrated forecasts (Fig. 4 of Dimitriadis, Gneiting, Jordan "
    "2021, laws of its Appendix A): the share of cases at whose forecast the curve lies inside. The quick "
    "study draws 200 curves for each resampled band, which costs it about 0.8 points of coverage.",
    "simultaneous bands": "How often a whole curve stays inside; for contrast also how often, or at what "
    "share of forecasts, it stays inside a pointwise band.",
    "component intervals": "Bracket intervals of miscalibration (MCB) and discrimination (DSC). Samples "
    "without any event, 2 % of the rare ones at n = 200, count; the document seems to have left them out.",
    "difference intervals": "Bracket intervals of differences between two models on the same cases.",
    "test sizes": "Rejections at 5 % of what is true.",
    "test power": "Rejections at 5 % of what is false.",
    "AUC intervals": "The score interval of the AUC, the default. Scores are normal in both classes, with as "
    "many events + non-events as the setting says. Near an AUC of 1 and with few events it covers too often: "
    "it allows for cases that are ordered wrongly and were not drawn. DeLong's plain interval covers 73 to "
    "91 % in the first four settings (3,000 samples each).",
    "paired AUCs": "Rejections at 5 % by DeLong's test of two models with the same AUC, whose scores "
    "correlate by 1/2 in each class. With few events, or an AUC near 1, it rejects less often than it may.",
    "few clusters": "Intervals over few clusters of 25 rows, or over 20 unequal ones; n is the number of "
    "clusters. Forecasts are calibrated, half of the variance of their log-odds lies between clusters, and "
    "outcomes correlate as by a random intercept of variance 0.5. Where one cluster has half of the rows "
    "intervals cover too often, because such a cluster leaves only few degrees of freedom.",
    "tests with few clusters": "Rejections at 5 % of what is true, in the same kind of samples; the paired "
    "models are the forecasts with two noises of the same size.",
    "few in groups": "Rejections at 5 % by tests over groups that do not differ: clusters of 25 rows that "
    "lie in one group each, as above, and independent rows with 4 % of events. Cochran's Q of scores is "
    "compared with Welch's distribution, and rejects less often than it may where events or clusters of a "
    "group are few.",
    "weighted groups": "Rejections at 5 % by Cochran's Q over groups that do not differ, each with 5 events "
    "of weight 100 and 300 non-events of weight 1.",
    "equivalence over clusters": "How often a model whose miscalibration is exactly the limit is shown to be "
    "calibrated within it; one in forty may be. Clusters are of 25 rows, n is their number; the calibrated "
    "forecasts of the clusters above are moved by 0.6 in log-odds.",
    "clusters": "Clusters of five rows; latent correlations within them are 0.5 of forecasts and 0.3 of "
    "outcomes given these. The document did not examine these.",
    "class intervals": "Four ordered classes with probabilities drawn uniformly: BCa intervals of scores, "
    "kappa and F1, and bracket intervals of MCB and DSC of the RPS, summed over the thresholds. The truth is "
    "that of 400,000 cases. The document did not examine these.",
    "class differences": "Paired differences on the same cases from a model of which half is noise.",
    "class tests": "Rejections at 5 %, of what is true (calibrated) and of what is false.",
    "scale intervals": "Probability scale of three classes with probabilities drawn uniformly; forecasts are "
    "these, their squares or roots rescaled, without a say in what comes, or all on the likeliest class. The "
    "truth is that of 400,000 cases: in ten bins, and of the isotonic fit. Intervals of the robustness are "
    "left out where the smallest probabilities rule it; those are not counted as wrong, and the last line of "
    "each setting tells how often there was one. The document did not examine these.",
    "scale verdicts": "How often the angle calls a model over- or under-confident, or finds its classes "
    "biased. In the setting of that name true probabilities are multiplied by 3, 1 and 1/3.",
    "decisions": "Calibrated forecasts with a beta distribution: rates, net benefit, and its difference to "
    "treating all, at half the prevalence (low), at it (middle), and at twice of it (high; .8 for prevalence "
    "0.5). Wilson's intervals are of a discrete count: with few cases their coverage goes up and down about "
    "the nominal one. At prevalence 0.02 and n = 100, with two events, the sensitivity at the low threshold "
    "is covered in 91 %. Rates of which no case could count are not counted as wrong. Clusters are of five "
    "cases with the same forecast.",
    "distances": "Test-inversion intervals of ICI, E50, E90 and Emax, for the curve that lowess has in an "
    "endless sample and for the true curve, and of ECE. At and near calibration they are on the safe side: "
    "the upper end is the larger of two, and the lower end is 0 unless the data speak against it. Two cells "
    "of the root are more than 3 points low: E50 at n = 200, whose draws take the direction of the deviation "
    "from few cases, and E90 of the true curve at n = 1000, which lowess flattens; the note at the number "
    "says so.",
    "flexible curves": "The share of forecasts at which the band of the flexible calibration curve holds "
    "the true probability.",
    "few events": "Intervals of mean scores and of their skill where one case in fifty is an event: "
    "1.2, 2, 3, 5, 10, 20 and 50 events are expected in 60, 100, 150, 250, 500, 1000 and 2500 rows. "
    "Resamples alone, which intervals were before, hold no events that did not happen. Below ten events the "
    "intervals are on the safe side: without or with one event they cannot be both short and right. Samples "
    "without an event have no skill and are left out of its rows.",
    "limits with few events": "How often a limit on the Brier score at three quarters of the true one, which "
    "the model breaks, is passed; one in forty may be. With fewer than ten events a verdict takes an exact "
    "bound.",
    "few distinct forecasts": "Intervals of miscalibration and discrimination of forecasts with 1 to 10 "
    "distinct values. Up to five values they are widened, with one value exact; they are on the safe side "
    "where the true miscalibration is near 0, as brackets are.",
    "equivalence": "How often a model whose miscalibration is exactly the limit is shown to be calibrated "
    "within it; one in forty may be.",
    "recalibration gains": "Intervals of the mean gain, on new cases, of maps fitted to as many cases as "
    "each cross-fitted map was. They are wider than needed where the gain is small: intervals of a square "
    "that may be 0 are joined with those of a mean.",
    "stated gains": "The sentence on the best map is stated only where its gain is significant, in samples "
    "where chance makes it large. The interval of the sentence allows for that, and starts at 0 where the "
    "gain is barely shown; that of the table does not, and covers a small gain too rarely among them.",
    "calibration in time": "One row a day for a year; the event happens if a stationary series stays below "
    "the normal quantile of the forecast, which is calibrated. Tests of rows as independent reject too "
    "often, and page one does not state them as evidence where dependence in time is shown; the share of "
    "samples where it is shown is its power.",
    "comparisons in time": "Two models with the same expected Brier score. Newey and West's errors with few "
    "lags, which are kept for those who ask for them, are too small for series that move slowly.",
    "drift": "False alarms in a year of monthly audits of 600 rows; effects of days are stationary, with "
    "autocorrelation 0.9 and standard deviation 0.3 in log-odds. Against fewer than five earlier audits the "
    "variance between audits is not known, which each sentence says; alarms there are more frequent.",
    "weights": "Sampling weights of mean 1 and variance 1/2 that do not depend on the outcome. The document "
    "did not examine these.",
    "weights: tests": "Rejections at 5 % of calibrated forecasts whose rows carry weights of several kinds: "
    "whole numbers from 1 to 100, log-normal weights (Kish's number of rows is 37 %), samples that keep one "
    "non-event in 9 or 3 events in 10, with weights that make up for it, and frequencies of ten values.",
    "weights: bands": "Consistency bands of the same.",
    "weights: intervals": "Intervals under the same designs, where the slope is 0.8.",
}

#: "study | setting | method | safe or unsafe", as patterns -> why cells are more than three points off. The
#: first that matches counts.
REASONS = {
    "test power | * | * | *": "These are rejections of what is false: the more the better.",
    "class tests | overconfident | * | *": "These are rejections of what is false: the more the better.",
    "scale verdicts | * | * | *": "These are verdicts on models that are and are not what they say.",
    "calibration in time | * | dependence in time shown | *": "This is how often a dependence that is there "
    "is shown: the more the better.",
    "* | * | *resamples alone | unsafe": "Resamples alone are shown for contrast: intervals and verdicts do "
    "not use them where events are few.",
    "* | * | *rows as independent | unsafe": "Tests that take rows as independent are shown for contrast: "
    "where dependence in time is shown, page one does not state them as evidence.",
    "test sizes | equal pair in * | Diebold-Mariano, iid* | unsafe": "Errors of independent rows are shown "
    "for contrast: the rows depend on each other, and the default errors allow for it.",
    "clusters | tests, calibrated | MCB Brier, clusters ignored | unsafe": "Shown for contrast: a test that "
    "is not given the clusters.",
    "comparisons in time | * | *lags* | unsafe": "Newey and West's errors with few lags, which must be asked "
    "for, are too small for series that move slowly; the default errors come from cosines.",
    "comparisons in time | autocorrelation 0.95 | * | unsafe": "400 times with an autocorrelation of 0.95 "
    "count as about 10 independent ones; the note at the test says that it rejects too often.",
    "test sizes | rare, cal. | Hosmer-Lemeshow | unsafe": "Most groups have fewer than 5 expected events; "
    "the note at the test says that it rejects too often.",
    "test sizes | rare, cal. | groups: Cochran's Q of AUCs | *": "Groups have few events: here Q is computed "
    "with the errors of each group. Evaluations take errors at the common AUC, see few in groups.",
    "simultaneous bands | * | pointwise* | *": "A pointwise band is shown for contrast: it holds at each "
    "forecast by itself, not for a whole curve, and its note says so.",
    "simultaneous bands | * | honest | safe": "The honest band holds for every sample size and every curve "
    "that does not fall, which makes it wide.",
    "pointwise bands | * | discrete | safe": "Normal theory at each forecast ignores that pooling narrows "
    "the curve where forecasts have few cases; it is chosen only where they have many.",
    "pointwise bands | * | * | safe": "With few cases the curve has few steps, and quantiles of drawn curves "
    "are on the safe side.",
    "component intervals | * | MCB* | safe": "The lower end is 0 unless the test shows miscalibration, and "
    "the bracket allows for two estimates of the overfit.",
    "component intervals | flat (DSC=0) | DSC* | safe": "The true discrimination is 0, at the end of the "
    "possible values.",
    "component intervals | rare* | DSC* | unsafe": "With 4 expected events the interval says little, and its "
    "note says so.",
    "difference intervals | * | MCB* | safe": "Both models are calibrated, or nearly so, and the bracket "
    "allows for two estimates of the overfit of each.",
    "simultaneous bands | * | Murphy* | safe": "Bands of few cases are of a curve with few steps.",
    "component intervals | * | DSC* | safe": "The bracket allows for two estimates of the overfit.",
    "difference intervals | * | DSC* | safe": "The bracket allows for two estimates of the overfit.",
    "clusters | * | groups* | safe": "40 clusters in four groups leave few degrees of freedom.",
    "weights* | * | MCB* | safe": "Intervals of miscalibration start at 0 unless a test shows some.",
    "weights* | brackets* | * | safe": "Intervals of miscalibration start at 0 unless a test shows some.",
    "weights: bands | 3 in 10 events | * | safe": "With few cases the curve has few steps, and quantiles of "
    "drawn curves are on the safe side.",
    "weights: tests | 3 in 10 events | * | unsafe": "The sample has some 9 events: tests of the line are "
    "asymptotic, and a note on few events stands beside them.",
    "weights: intervals | 3 in 10 events | * | unsafe": "The sample has some 9 events, which the notes say.",
    "weights: tests | * | * | safe": "Outcomes of rows with sampling weights are drawn from their forecasts, "
    "and weights that go with outcomes are only partly known from the sample.",
    "weights: intervals | * | * | safe": "The interval of the AUC is wider than needed where few rows carry "
    "most of the weight.",
    "clusters | brackets* | MCB* | safe": "Intervals of miscalibration start at 0 unless a test shows some.",
    "class intervals | * | MCB* | safe": "Intervals of miscalibration start at 0 unless a test shows some.",
    "class differences | * | * | safe": "Differences of miscalibration near 0 are on the safe side.",
    "scale intervals | * | intervals of* | *": "This is how often there is an interval: none is given where "
    "the smallest probabilities rule the robustness.",
    "scale intervals | * | * | safe": "Intervals allow for the estimated overfit of bins and fits, which is "
    "not known; where a model is right, or nearly so, they are wider than needed.",
    "AUC intervals | * | * | safe": "The score interval is on the safe side where the AUC is near 1 or "
    "events are few: most of its variance is then assumed, not seen.",
    "AUC intervals | * | * | unsafe": "The plain and logit intervals are shown for contrast.",
    "paired AUCs | * | * | safe": "With few events Welch's degrees of freedom are few: the test detects "
    "large differences only, and its note says so.",
    "few clusters | * | * | safe": "Few clusters, or one that holds most rows, leave few degrees of freedom.",
    "tests with few clusters | * | * | safe": "Few clusters, or one that holds most rows, leave few degrees "
    "of freedom.",
    "weighted groups | * | * | safe": "Five events of a group leave four degrees of freedom.",
    "few in groups | * | any, adjusted* | safe": "Holm's adjustment is on the safe side.",
    "few in groups | * | * | safe": "Few events or clusters of a group leave few degrees of freedom.",
    "few events | * | * | safe": "Without or with one event an interval cannot be both short and right.",
    "limits with few events | * | * | safe": "With fewer than ten events only an exact bound passes a limit.",
    "few distinct forecasts | 10 values* | DSC* | unsafe": "Some five cases stand at each of ten values; "
    "intervals are widened up to five values, not beyond.",
    "few distinct forecasts | * | * | safe": "One value has an exact interval of a count; up to five values "
    "have the wider of two intervals.",
    "equivalence | * | * | safe": "The interval is on the safe side.",
    "recalibration gains | * | * | safe": "Gains are squares that may be 0: their interval is joined with "
    "that of a mean.",
    "stated gains | * | * | *": "The sentence is stated in few of the samples, those in which chance makes "
    "the gain large; its interval allows for that, the interval of the table does not.",
    "distances | * | * | safe": "The upper end is the larger of two, and the lower end is 0 unless the data "
    "speak against it.",
    "distances | sqrt | * | unsafe": "Draws take the direction of the deviation from few cases, and lowess "
    "flattens a steep curve; the note at the number says that the curve of lowess is meant.",
    "decisions | * | * | *": "Wilson's interval is of a discrete count: with two expected events its "
    "coverage goes up and down about the nominal one.",
    "drift | * | * | safe": "Alarms are adjusted for twelve looks, and the tests of one audit for each "
    "other.",
    "drift | * | * | unsafe": "Against fewer than five earlier audits the variance between audits is not "
    "known, which the sentence says.",
    "test sizes | * | * | safe": "Tests by grade and of rare events are of discrete counts.",
}

#: (study, setting, n, method) -> why the recorded row differs from the document by more than chance.
DISAGREEMENTS: dict[tuple[str, str, int, str], str] = {
    ("component intervals", "rare, b=.7 a=-1.05", 200, "DSC log"): "Partly chance: 4,000 other samples gave "
    "90.0 ±0.5, and 91.9 ±0.4 without the 2 % that have no event.",
}
