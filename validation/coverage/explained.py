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
    "weights": "Fractional weights of mean 1 and variance 1/2. The document did not examine these.",
}

#: (study, setting, n, method) -> why the recorded row differs from the document by more than chance.
DISAGREEMENTS: dict[tuple[str, str, int, str], str] = {
    ("component intervals", "rare, b=.7 a=-1.05", 200, "DSC log"): "Partly chance: 4,000 other samples gave "
    "90.0 ±0.5, and 91.9 ±0.4 without the 2 % that have no event.",
}
