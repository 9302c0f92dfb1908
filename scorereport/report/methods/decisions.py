"""Formulas of discrimination and of decisions at thresholds and costs."""

from __future__ import annotations

from scorereport.inference.decisions import ZOU_DONNER_2008
from scorereport.report.methods.notation import Formula
from scorereport.report.methods.works import ALTMAN_BLAND_1994, WILSON_1927, YOUDEN_1950
from scorereport.scores.references import EHM_2016, FLORES_2025, HANLEY_MCNEIL_1982, VICKERS_ELKIN_2006

#: Methods by the key under which the section asks for them.
DECISION_FORMULAS = {
    "roc": Formula(
        name="ROC curve, AR and KS",
        formula="TPR = TP / (TP + FN) against FPR = FP / (FP + TN); AR = 2 AUC − 1; KS = max (TPR − FPR)",
        convention="At every threshold; higher is better. The concave hull is the ROC curve of ŷ.",
        reference=f"{HANLEY_MCNEIL_1982}; {YOUDEN_1950}",
    ),
    "murphy": Formula(
        name="Elementary scores (Murphy diagram)",
        formula="S = 2θ if p > θ and y = 0; 2(1 − θ) if p < θ and y = 1; 2θ(1 − θ) if p = θ; else 0",
        convention="Mean over cases at each cost ratio θ; lower is better. Its integral over θ is the Brier "
        "score.",
        reference=EHM_2016,
    ),
    "regret": Formula(
        name="Regret",
        formula="R(c) = c FP + (1 − c) FN at the threshold c",
        convention="A false alarm costs c, a miss 1 − c. Lower is better, 0 is perfect foresight; half the "
        "elementary score but for ties, which decide for action.",
        reference=FLORES_2025,
    ),
    "net benefit": Formula(
        name="Net benefit (decision curve)",
        formula="NB(t) = TP − FP t / (1 − t) = ȳ − R(t) / (1 − t)",
        convention="Higher is better. Acting always: ȳ − (1 − ȳ) t / (1 − t); acting never: 0.",
        reference=VICKERS_ELKIN_2006,
    ),
    "thresholds": Formula(
        name="Decisions at thresholds",
        formula="sensitivity = TP / (TP + FN), specificity = TN / (TN + FP), PPV = TP / (TP + FP), "
        "NPV = TN / (TN + FN)",
        convention="Acted on: TP + FP. 0/0 is not defined (n/d).",
        reference=ALTMAN_BLAND_1994,
    ),
    "decision intervals": Formula(
        name="Intervals of rates and of net benefit",
        formula="NB: lower end NB − √(a² + b² − 2ρab), a = TP − lower(TP), b = w (upper(FP) − FP), "
        "w = t / (1 − t); upper end likewise with the other limits",
        convention="Rates, and the shares TP and FP of all cases, have Wilson’s limits; those of net benefit "
        "are combined from them, ρ = −√(TP FP / ((1 − TP)(1 − FP))) being the correlation of the shares. "
        "With sampling weights or clusters limits are on log-odds, and errors and ρ come from sums over rows "
        "or clusters. Each interval holds at its threshold alone.",
        reference=f"{WILSON_1927}; {ZOU_DONNER_2008}",
    ),
}
