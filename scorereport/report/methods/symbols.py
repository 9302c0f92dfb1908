"""What the symbols of formulas stand for."""

#: What stands for what, in every formula.
SYMBOLS = {
    "p, y": "the forecast of a case and its outcome, 1 if the event happened, else 0",
    "n, ȳ": "the number of cases and the prevalence, the share of events",
    "ŷ": "the recalibrated forecast, the isotonic regression of outcomes on forecasts",
    "S": "a score of one case, also S(p, y); S(p), S(ŷ), S(ȳ) and S(y) are its means over all cases for "
    "the forecast, the recalibrated forecast, the constant prevalence and perfect foresight",
    "TP, FP, FN, TN": "shares of all cases: events with p ≥ threshold, non-events with p ≥ threshold, events "
    "and non-events with p < threshold",
    "logit p": "log(p / (1 − p)), the log-odds",
}
#: Symbols of every interval.
SYMBOLS_OF_INTERVALS = {
    "ℓ, z": "the level of an interval or band, and its two-sided normal quantile",
    "se, sd": "standard error and standard deviation",
}
#: Symbols of what is drawn and tested.
SYMBOLS_OF_INFERENCE = SYMBOLS_OF_INTERVALS | {"B, *": "the number of draws, and what was drawn"}
