"""Formulas of what is judged: limits, and the certificate."""

from __future__ import annotations

from scorereport.configuration.limit_evidence import FEWEST_CASES
from scorereport.report.methods.notation import Formula
from scorereport.report.methods.works import CLOPPER_PEARSON_1934, HOEFFDING_1963

#: Methods by the key under which the section asks for them.
VERDICT_FORMULAS = {
    "limits": Formula(
        name="Limits",
        formula="fail: the whole interval lies beyond the limit; inconclusive: a part of it; warn: none of "
        "it, but a part is beyond the warning limit; pass: none of it",
        convention="A number on a limit meets it. A number without an interval is judged alone; one that is "
        "not defined is inconclusive. MCB and DSC are judged on the overfit-corrected interval; a limit on "
        f"MCB is a test of equivalence at (1 − ℓ)/2. With fewer than {FEWEST_CASES} events or non-events "
        "(clusters that have some, or the effective number of weighted rows) only an exact bound settles a "
        "limit: that of a rate, or that of the mean of scores with a least and a largest value.",
        reference=f"rule of this software; {CLOPPER_PEARSON_1934}; {HOEFFDING_1963}",
    ),
    "certificate": Formula(
        name="R certificate",
        formula="|ours − theirs| ≤ tolerance × max(1, |theirs|)",
        convention="",
        reference="",
    ),
}
