"""Records that the file `head` should remember and does not: verified before a run goes on after them.

An honest one is left by a run that was killed right after it had appended the record, or that could not
write the file. Anyone who can insert rows into the database leaves the same trace, so no run removes it
without looking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.audit.channels.reminders import open_pending_notification
from scorereport.audit.inspecting import verify_audit_history
from scorereport.errors import UsageError
from scorereport.history.chain_check import name_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.audit.plan import Plan
    from scorereport.history.audit_record import Record
    from scorereport.history.store import History


def update_chain_head(plan: Plan, history: History) -> list[str]:
    """Let the file `head` remember records that it lacks, if they hold; gives what people should look at.

    Of a history on a server, only records that were made here are noted in the file of this folder.
    """
    if plan.history_file is None and not plan.mark:
        return []
    records = [history.get(number) for number in history.find_unnoted(plan.mark)]
    if not records:
        return []
    _check_new_records(plan, history, records)
    history.note(records[-1])
    unexplained = [record for record in records if not _is_explained(plan, record)]
    return [_describe_new_records(plan, unexplained)] if unexplained else []


def _check_new_records(plan: Plan, history: History, records: Sequence[Record]) -> None:
    """Refuse records that do not agree with their documents and files."""
    subjects = {subject for record in records for subject in _list_subjects(record)}
    findings = [finding for finding in verify_audit_history(plan).findings if finding.subject in subjects]
    if findings:
        last = records[-1]
        raise UsageError(
            f"The history {history.name} has records that the file {plan.head} does not remember, and they "
            f"do not hold: {findings[0].sentence} Nothing was recorded. `scorereport audit verify` lists all "
            "findings; restore the database from a copy. To accept the records as they are, write "
            f"`{last.id} {last.sha256}` into the file."
        )


def _list_subjects(record: Record) -> Iterator[str]:
    yield name_record(record.id)
    yield from (f"document {key}" for key in record.documents)
    yield from (f"file {file.name}" for file in record.files)


def _is_explained(plan: Plan, record: Record) -> bool:
    """Whether a run noted, before it appended the record, that people are to be notified of it.

    That note goes when they were, after the file `head` was written. Removals of files are recorded between.
    """
    noted = open_pending_notification(plan, record.audit).read()
    return noted is not None and (
        record.kind == "retention" or noted == (record.period.label, record.attempt)
    )


def _describe_new_records(plan: Plan, records: Sequence[Record]) -> str:
    numbers = ", ".join(str(record.id) for record in records[:5]) + (" and others" if records[5:] else "")
    named = f"Record {numbers} was" if len(records) == 1 else f"Records {numbers} were"
    return (
        f"{named} not noted in the file {plan.head} and appended by no run that is known to have been "
        "killed. Documents and files agree; make sure that somebody ran the audit."
    )
