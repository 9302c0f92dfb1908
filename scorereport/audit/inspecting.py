"""Whether the history of an audit is intact, and the files that are kept beside its configuration."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport._utils.formatting import join_words
from scorereport.audit.integrity import RecordExaminer
from scorereport.history.audit_record import CHAIN_START
from scorereport.history.store import open_unchecked
from scorereport.history.verification import verify_history
from scorereport.history.verification_findings import FindingKind, IntegrityFinding, Verification

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.audit.plan import Plan
    from scorereport.history.audit_record import Record


def verify_audit_history(plan: Plan, *, heads: Sequence[str] = ()) -> Verification:
    """Verify the whole history, and all files that are kept here.

    A history on a server may be shared by people who keep their files elsewhere; a note names their audits.
    """
    if plan.history_file is not None and not plan.history_file.exists() and plan.head.exists():
        return _report_missing_history(plan)
    elsewhere: set[str] = set()
    marks: set[str] = set()
    mark = plan.mark
    has_lost_mark = not mark and plan.reports.exists()  # then none of the files is let off

    def is_here(record: Record) -> bool:
        marks.add(record.home)
        here = record.home in ("", mark) or has_lost_mark
        if record.files and not here:
            elsewhere.add(record.audit)
        return here

    with open_unchecked(plan.database_url, head=plan.head) as history:
        found = verify_history(
            history,
            find_folder=lambda record: plan.resolve(record.folder),
            heads=heads,
            is_here=is_here,
            examiner=RecordExaminer(),
        )
    found = replace(found, findings=(*found.findings, *_find_missing_markers(plan, mark, marks)))
    if not elsewhere:
        return found
    note = f"Files of {join_words(sorted(elsewhere))} are kept elsewhere: verify them there."
    return replace(found, notes=(*found.notes, note))


def _find_missing_markers(plan: Plan, mark: str, marks: set[str]) -> Iterator[IntegrityFinding]:
    """Where audits were run with the history of a server, a mark and a head are left; both, or neither."""
    if plan.history_file is not None:
        return
    has_head = plan.head.exists()
    if not mark and has_head:
        sentence = f"The file {plan.home} is gone or empty, though audits were run here."
        yield IntegrityFinding(kind=FindingKind.MISSING, subject=f"file {plan.home}", sentence=sentence)
    if mark and marks and mark not in marks and has_head:
        sentence = f"The file {plan.home} was changed: no record has its mark, though audits were run here."
        yield IntegrityFinding(kind=FindingKind.CHANGED, subject=f"file {plan.home}", sentence=sentence)
    if mark and mark in marks and not has_head:
        sentence = f"The file {plan.head} is missing, though audits were run here: records may be cut off."
        yield IntegrityFinding(kind=FindingKind.MISSING, subject=f"file {plan.head}", sentence=sentence)


def _report_missing_history(plan: Plan) -> Verification:
    """A history that is gone, though a file remembers it."""
    sentence = f"The history {plan.history_file} is gone, and the file {plan.head.name} remembers it."
    finding = IntegrityFinding(kind=FindingKind.UNREADABLE, subject=str(plan.history_file), sentence=sentence)
    return Verification(records=0, files=0, head=CHAIN_START, findings=(finding,))
