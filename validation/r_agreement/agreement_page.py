"""Page docs/guide/r-packages.md, written from the lines of the agreement by `make docs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from validation.r_agreement.agreement_table import AGREEMENTS, NOT_COMPUTED, VERSIONS

if TYPE_CHECKING:
    from validation.r_agreement.agreement import Agreement, NotComputed

_HEAD = """# Agreement with R packages

This page compares numbers of scorereport with those of {count} R packages, on six binary samples (small, with
ties, with rare events, miscalibrated, in clusters, weighted), two of ordered classes and one stream of cases.
The answers were recorded with R 4.2.2 on 2026-11-16. A test compares every one of them: either both numbers
are equal, or their definitions differ. Then the test computes both formulas in plain arithmetic and confirms
that the answer of R follows from one and our number from the other. The page is written by `make docs` from
the lines that this test reads.

Where pROC, rms, survey, sandwich, clubSandwich or psych is installed, the
[validation study](validation-study.md) also compares with it on your machine.

"Tolerance" is the largest difference that the test accepts, absolute up to 1 and relative beyond. Answers
were recorded with 15 digits. The [glossary](../glossary.md) defines the terms.

"""
_COLUMNS = "| quantity | R package | scorereport | relation | tolerance |\n|---|---|---|---|---|\n"
_NOTES = """Numbers of R packages that scorereport does not compute, or that cannot be compared. "Confirmed"
means that the test computes them by the formula of the package.

| quantity | R package | reason | confirmed |
|---|---|---|---|
"""


def render_agreement_page() -> str:
    """Render the page as text."""
    equal = [line for line in AGREEMENTS if line.theirs is None]
    differing = [line for line in AGREEMENTS if line.theirs is not None]
    omitted = [line for line in NOT_COMPUTED if not line.is_input]
    versions = ", ".join(f"{package} {version}" for package, version in VERSIONS.items())
    return "".join(
        [
            _HEAD.format(count=len(VERSIONS)),
            f"Versions: {versions}.\n\n",
            f"## Equal numbers\n\n{_COLUMNS}",
            *map(_render_agreement, equal),
            f"\n## Differences of definition\n\n{_COLUMNS}",
            *map(_render_agreement, differing),
            f"\n## Not computed\n\n{_NOTES}",
            *map(_render_omission, omitted),
        ]
    )


def _render_agreement(line: Agreement) -> str:
    cells = (line.quantity, line.package, line.ours, line.relation, f"{line.tolerance:.0e}")
    return f"| {' | '.join(cells)} |\n"


def _render_omission(line: NotComputed) -> str:
    cells = (line.quantity, line.package, line.reason, "" if line.plain is None else "yes")
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    print(render_agreement_page(), end="")
