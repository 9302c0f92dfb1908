"""Formulas of methods for decisions: interventions avoided, and differences of net benefit."""

from __future__ import annotations

from scorereport.report.methods.notation import MONTIEL_OLEA_2019, Formula
from scorereport.scores.registry import VICKERS_ELKIN_2006

VICKERS_2019 = "Vickers, van Calster, Steyerberg (2019), Diagn. Progn. Res. 3, doi:10.1186/s41512-019-0064-7"
PFEIFFER_GAIL_2020 = "Pfeiffer, Gail (2020), Biom. J. 62, doi:10.1002/bimj.201800240"

#: Methods by key.
DECISION_GAIN_FORMULAS = {
    "interventions avoided": Formula(
        name="Net reduction in interventions",
        formula="100 (TN − FN (1 − t) / t) = 100 (NB(t) − NB of acting always) (1 − t) / t",
        convention="Interventions avoided per 100 cases, compared with acting on all, without a change in "
        "the number of treated events. Higher is better; its interval is that of the difference of net "
        "benefit, rescaled.",
        reference=f"{VICKERS_ELKIN_2006}; {VICKERS_2019}",
    ),
    "decision differences": Formula(
        name="Difference of net benefit",
        formula="D(t) = NB₁(t) − NB₂(t) = (R₂(t) − R₁(t)) / (1 − t); D ± c s",
        convention="The band is that of a difference of Murphy curves, rescaled, and holds at all thresholds "
        "compared together; of several pairs of models, c is that of the level 1 − (1 − ℓ) / pairs "
        "(Bonferroni). A model is better where the band lies above 0; elsewhere the two are not "
        "distinguishable. With fewer than about 50 events, bands are somewhat too narrow. Acting always and "
        "never are compared as forecasts of 1 and 0: the band of D against acting never is the simultaneous "
        "band of net benefit itself.",
        reference=f"{MONTIEL_OLEA_2019}; {PFEIFFER_GAIL_2020}",
    ),
}
