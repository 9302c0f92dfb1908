"""Formulas of differences between models, and of ranks."""

from __future__ import annotations

from scorereport.inference.differences import DELONG, DIEBOLD_MARIANO
from scorereport.report.methods.notation import Formula
from scorereport.report.methods.works import COVERAGE_STUDY, HOLM_1979, MONTIEL_OLEA_2019
from scorereport.scores.references import DIMITRIADIS_2021, EHM_2016

#: Methods by the key under which the section asks for them.
COMPARISON_FORMULAS = {
    "Diebold-Mariano": Formula(
        name="Difference of scores",
        formula="D = mean (S of the first − S of the second), D ± z se(D), test by D / se(D)",
        convention="Paired on the same cases. Negative favours the first model where lower is better.",
        reference=DIEBOLD_MARIANO,
    ),
    "DeLong difference": Formula(
        name="Difference of AUCs",
        formula="D = AUC of the first − AUC of the second, D ± t se(D), test by D / se(D)",
        convention="Paired on the same cases. Positive favours the first model.",
        reference=DELONG,
    ),
    "bracket": Formula(
        name="Difference of MCB or DSC",
        formula="[D − max(ΔO₁, ΔO₂) − z se, D − min(ΔO₁, ΔO₂) + z se], ΔO the first fit’s overfit less the "
        "second’s",
        convention="Paired as above. If both models order the cases alike, ΔO is 0.",
        reference=f"{DIMITRIADIS_2021}; {COVERAGE_STUDY}",
    ),
    "murphy difference": Formula(
        name="Difference of Murphy curves",
        formula="D(θ) ± c s(θ), s the bootstrap deviation, c the ℓ quantile of max |D* − D| / s* over θ",
        convention="Simultaneous (sup-t); the pointwise band takes the quantile at each θ. c is at least z, "
        "and s² contains the square of what one more row would move.",
        reference=f"{EHM_2016}; {MONTIEL_OLEA_2019}",
    ),
    "holm": Formula(
        name="Holm’s p",
        formula="p of the k-th smallest of m: max over j ≤ k of min(1, (m − j + 1) p of the j-th smallest)",
        convention="",
        reference=HOLM_1979,
    ),
    "ranks": Formula(
        name="Ranks",
        formula="rank = 1 + number of models told to be better by this measure",
        convention="",
        reference=HOLM_1979,
    ),
}
