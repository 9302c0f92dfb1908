"""The R certificate: what another implementation says of the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.report.document_context import describe_certificate
from scorereport.report.section_parts import SectionContent

if TYPE_CHECKING:
    from scorereport.reference.certificate import Certificate
    from scorereport.report.report_record import Report


_BY_VIEWS = (
    "It was asked whether each class comes and, if classes are ordered, whether the outcome lies up to each "
    "of them; these are binary questions, which together make the scores of all classes."
)


def describe_certificate_section(report: Report) -> SectionContent | None:
    """The certificate: what differs in full, what agrees in a summary; None if nobody was asked."""
    if report.certificate is None:
        return None
    described = describe_certificate(report.certificate)
    tables = [described.pop(name) for name in ("unexpected", "views", "expected", "summary")]
    parts = {
        f"certificate_{place}": {"kind": "table", **table}
        for place, table in enumerate(filter(None, tables), start=1)
    }
    return SectionContent(
        name="certificate",
        title="R certificate",
        parts=parts,
        content={
            "certificate": described,
            "keys": list(parts),
            "introduction": _introduce(
                report.certificate, has_classes=report.evaluation.data.classes is not None
            ),
        },
    )


def _introduce(certificate: Certificate, *, has_classes: bool) -> str:
    """What was done, and no more."""
    if certificate.verdict == "not certified":
        return (
            "No other software has computed the numbers of this report on these data; this section says why."
        )
    told = (
        "Other software has computed scores, components, bins and bands of this report again, on the same "
        "data; what it has not looked at is named below."
    )
    return f"{told} {_BY_VIEWS}" if has_classes else told
