"""Formulas of what is judged: limits, and the certificate."""

from __future__ import annotations

from scorereport.report.formulas.formula import Formula

#: Methods by the key under which the section asks for them.
VERDICTS = {
    "limits": Formula(
        name="Limits",
        formula="fail: the whole interval lies beyond the limit; inconclusive: a part of it; warn: none of "
        "it, but a part is beyond the warning limit; pass: none of it",
        convention="A number on a limit meets it. A number without an interval is judged alone; one that is "
        "not defined is inconclusive. MCB and DSC are judged on the interval less overfit.",
        reference="rule of this software; the limits are those of the configuration",
    ),
    "certificate": Formula(
        name="R certificate",
        formula="|ours − theirs| ≤ tolerance × max(1, |theirs|)",
        convention="",
        reference="",
    ),
}
