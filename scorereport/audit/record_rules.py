"""Whether a run can have made a record, by what it says and by its configuration."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING

from scorereport.audit.statuses import find_exit_code
from scorereport.configuration.periods import find_period
from scorereport.errors import UsageError
from scorereport.history.audit_record import AuditStatus, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.audit.requests import AuditRequest

#: What a run leaves in a record once it has a report.
_RESULTS = ("rows", "data_sha256", "results_sha256", "templates_sha256", "files", "snapshot")
#: What it may leave there.
_MORE_RESULTS = ("source", "source_sha256", "certificate", "judgements", "drifts")


def check_record_contents(record: Record) -> Iterator[str]:
    """What is wrong with a record by itself, as the ends of sentences about it."""
    text = record.to_json()
    if json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":")) + "\n" != text:
        yield "is not written as runs write records"
    if record.kind == "retention":
        yield from _check_removal(record)
    elif record.status is AuditStatus.FAILED:
        yield from _check_failure(record)
    else:
        yield from _check_success(record)
    yield from _check_documents(record)


def _list_filled(record: Record, names: tuple[str, ...]) -> list[str]:
    return [name for name in names if getattr(record, name)]


def _check_removal(record: Record) -> Iterator[str]:
    found = _list_filled(record, (*_RESULTS, *_MORE_RESULTS, "reason"))
    if found or not record.removed:
        what = "names no file that was removed" if not record.removed else f"has {_join_names(found)}"
        yield f"is of a removal of files, and {what}"
    if (record.status, record.exit_code) != (AuditStatus.DONE, 0):
        yield (
            f"is of a removal of files, and its status is {record.status} with exit code {record.exit_code}, "
            "not done with 0"
        )


def _check_failure(record: Record) -> Iterator[str]:
    if found := _list_filled(record, (*_RESULTS, *_MORE_RESULTS)):
        yield f"says that the run failed, and has {_join_names(found)} all the same"
    if record.exit_code == 0:
        yield "says that the run failed, and its exit code is 0"


def _check_success(record: Record) -> Iterator[str]:
    present = _list_filled(record, _RESULTS)
    if lacking := [name for name in _RESULTS if name not in present]:
        yield f"says that the audit came to {record.status}, and lacks {_join_names(lacking)}"
    if record.reason:
        yield f"says that the audit came to {record.status}, and gives a reason for a failure"
    expected = find_exit_code(record.status)
    if record.exit_code != expected:
        yield f"has the exit code {record.exit_code}, and {record.status} has {int(expected)}"


def _check_documents(record: Record) -> Iterator[str]:
    if not record.configuration_sha256:
        yield "names no configuration"
    needed = {key for key in (record.results_sha256, record.configuration_sha256) if key}
    if tuple(sorted(needed)) != record.documents:
        yield "does not name exactly its results and its configuration as documents"


def check_record_request(record: Record, request: AuditRequest) -> Iterator[str]:
    """What is wrong with a record by the configuration that it names, as the ends of sentences about it."""
    if record.audit != request.name:
        yield f"is of the audit {record.audit}, and its configuration is of {request.name}"
    if record.kind == "retention":
        return
    yield from _check_period(record, request.window)
    if record.status is not AuditStatus.FAILED:
        yield from _check_files(record, request.formats)


def _check_period(record: Record, window: str) -> Iterator[str]:
    try:
        expected = find_period(window, datetime.fromisoformat(record.as_of))
    except (UsageError, ValueError, OverflowError):
        yield f"has no period that follows from `{window}` as of {record.as_of}"
        return
    if record.period != expected:
        yield (
            f"is of the period {_describe_record(record)}, and `{window}` as of {record.as_of} is {expected.label}, "
            f"{expected.describe()}"
        )


def _describe_record(record: Record) -> str:
    period = record.period
    return f"{period.label}, {period.start or 'the beginning'} up to, not including, {period.end}"


def _check_files(record: Record, formats: tuple[str, ...]) -> Iterator[str]:
    """A report in each form that was asked for, named by period and attempt; the JSON is the document."""
    label = record.period.label if record.attempt == 1 else f"{record.period.label}.{record.attempt}"
    expected = [f"{record.audit}/{label}.{form}" for form in formats]
    names = [file.name for file in record.files]
    if names != expected:
        yield f"has the files {_join_names(names) or 'none'}, and a run files {_join_names(expected)}"
    for file in record.files:
        if file.name.endswith(".json") and file.sha256 != record.results_sha256:
            yield f"has the file {file.name}, which is not its results document"


def _join_names(names: list[str]) -> str:
    return ", ".join(names)
