"""Cells of the study in words that a reader of a report understands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_count

if TYPE_CHECKING:
    from validation.coverage.record import Row

#: Settings, as they are named in tables, in words: whole names first, then parts of names.
_SETTINGS = {
    r"^bands, |^brackets, |^tests, ": "",
    r"^sqrt\b": "event probability the square root of the forecast",
    r"^step$": "event probability in three steps",
    r"^weak$": "event probability from 25 to 35 % only",
    r"^flat \(DSC=0\)$": "event probability that does not depend on the forecast",
    r"^rare, b=(\.\d) a=-(\S+)$": r"2 % events, slope 0\1 and intercept −\2",
    r"^rare, cal\.(?=$|, )": "2 % events, calibrated",
    r"^rare$": "two models, 2 % events",
    r"^equal$|^equal pair": "two equally good models",
    r"^skill$": "two models, one better",
    r"^miscal$": "two models, one miscalibrated",
    r"^(\d) equal, ": r"\1 models, ",
    r"^cont-disc$": "two models, one with ten values",
    r"\bcal\.": "calibrated",
    r"^(\d+ values), (\.\d+)$": r"\1, slope \2",
    r"^(\d+) values": r"\1 distinct forecasts",
    r"^1 value": "1 distinct forecast",
    r"^rating grades$": "",
    r", k = (\d+)$": r" distribution, \1 distinct forecasts",
    r"^(uniform|linear|beta mixture), continuous$": r"\1 distribution of forecasts",
    r"(?<!calibration )slope (?=\.|0\.)": "calibration slope ",
    r"^intercept \+\.": "calibration intercept 0.",
    r"^one with half of the rows$": "one cluster with half of the rows",
    r"^5 to 80 rows$": "clusters of 5 to 80 rows",
    r"^binormal ": "AUC ",
    r"^both ": "both AUCs ",
    r"(\d+) \+ (\d+)": r"\1 events and \2 non-events",
    r"^AUC \.": "AUC 0.",
    r"(0\.\d+) events": r"share of events \1",
    r"^calibrated − blurred$": "a calibrated model and a blurred one",
    r"(?<= )\.(?=\d)": "0.",
    r", (clusters|weights)$": "",
    r"^calibrated, autocorrelation": "autocorrelation",
}
#: Methods in words, where a line of the summary has several: parts of names.
_METHODS = {
    r"^(MCB|DSC) |^retention, ": "",
    r"^rps( miscalibration)?$|^joint test, RPS$|^RPS$": "",
    r"^multiclass_brier$|^Brier$|^Brier score$": "Brier score",
    r", (bootstrap|reported|in cells|in groups|in time|iid|share)\b": "",
    r"^log$": "log score",
    r"^log skill": "skill by the log score",
    r"^Brier skill": "skill by the Brier score",
    r"^Diebold-Mariano(, cosines)?": "",
    r"^ici$": "ICI",
    r"^ece$": "ECE",
    r"^e(50|90|max)$": r"E\1",
    r"^macro_f1$": "macro F1",
    r"^quadratic_weighted_kappa$": "kappa",
    r"^expected_cost$": "expected cost",
    r"^net_benefit_over_treat_all": "net benefit over acting always",
    r"^net_benefit": "net benefit",
    r"^interventions_avoided": "interventions avoided",
    r"^any threshold$|^any model left$|^all intervals$": "",
    r"^(positive|negative)_predictive_value": r"\1 predictive value",
    r"^groups: |^any alarm in a year ": "",
    r"^Cochran's Q \((\w+)\)$": r"\1",
    r"^miscalibration \((\w+)\)": r"\1",
    r"^brier$": "Brier score",
    r"^log_loss$": "log score",
    r", brier$": ", Brier score",
    r", log_loss$": ", log score",
    r"^roc_auc$": "AUC",
    r"^mean calibration$": "calibration in the large",
    r"^Spiegelhalter$": "Spiegelhalter’s z",
    r"^(resampling|discrete|continuous|split resampling|honest|pointwise|simultaneous)$": "",
    r"^(score|KS|PSI|DeLong|verdict)$": "",
    r"^(evidence of [24]0 to 1|alarm) in any of 24 audits$|^any alarm in a year$": "",
    r"^share of forecasts$|^Murphy difference, sup-t$|^sup-t$|^pointwise confidence$": "",
    r"^shown within its own MCB$|^paired .*|^dependence in time shown$|^Hosmer-Lemeshow$|^slope$|^AUC$": "",
}


def describe_cell(row: Row, unit: str) -> str:
    """Describe a cell: its setting, the measure if the line has several, and the size of the sample."""
    setting, method = row.setting, row.method
    for pattern, words in _SETTINGS.items():
        setting = re.sub(pattern, words, setting)
    for pattern, words in _METHODS.items():
        method = re.sub(pattern, words, method)
    has_size = " events and " in setting or "n = " in method
    size = "" if has_size else f"{format_count(row.n)} {unit}"
    return ", ".join(filter(None, (setting, method, size)))
