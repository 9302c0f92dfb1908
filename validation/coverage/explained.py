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
    "weights": "Fractional weights of mean 1 and variance 1/2. The document did not examine these.",
}

#: (study, setting, n, method) -> why the recorded row differs from the document by more than chance.
DISAGREEMENTS: dict[tuple[str, str, int, str], str] = {
    ("component intervals", "rare, b=.7 a=-1.05", 200, "DSC log"): "Partly chance: 4,000 other samples gave "
    "90.0 ±0.5, and 91.9 ±0.4 without the 2 % that have no event.",
}
