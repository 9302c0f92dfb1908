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
    "weights": "Fractional weights of mean 1 and variance 1/2. The document did not examine these.",
}

#: (study, setting, n, method) -> why the recorded row differs from the document by more than chance.
DISAGREEMENTS: dict[tuple[str, str, int, str], str] = {
    ("component intervals", "rare, b=.7 a=-1.05", 200, "DSC log"): "Partly chance: 4,000 other samples gave "
    "90.0 ±0.5, and 91.9 ±0.4 without the 2 % that have no event.",
}
