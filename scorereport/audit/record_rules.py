"""Rules that the records of runs follow: status, contents, configuration, attached results, order in time.

Of a configuration, only the values of an `AuditRequest` are read: the rest may be of a version with other
rules.

A run reads its end time from the clock while no other run can append, so the end times of one clock are in
order. The clocks of several machines may differ a little, and so may one clock that is set.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
import zlib
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from scorereport.audit.annulment_rules import check_annulment
from scorereport.audit.approval_rules import check_approval_contents
from scorereport.audit.baseline_rules import check_baseline_contents, read_baseline_name
from scorereport.audit.event_rules import check_event, check_no_event
from scorereport.audit.seal_rules import check_seal_contents, check_seal_fields, check_seal_request
from scorereport.configuration.audit_tables import AuditTable, OutputTable, WindowTable
from scorereport.configuration.limit_verdicts import LimitVerdict, verdict_exit_code
from scorereport.configuration.periods import find_period, is_ahead
from scorereport.errors import ExitCode, UsageError
from scorereport.history.audit_record import AuditStatus, Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from scorereport.history.trend.drift_records import Trend
    from scorereport.report.report_record import Report


#: By how much clocks may differ. Runs of earlier versions read the time before they waited for each other.
CLOCK_SKEW = timedelta(minutes=5)
#: The fields that a run with a report fills in its record.
_RESULTS = ("rows", "data_sha256", "results_sha256", "templates_sha256", "files", "snapshot")
#: The fields that such a run may fill.
_MORE_RESULTS = ("source", "source_sha256", "certificate", "judgements", "drifts", "limit_changes")
#: The start of an attachment in a PDF. Our PDFs are not encrypted and use no other compression.
_ATTACHMENT = re.compile(rb"/Type\s*/EmbeddedFile\b[^\x00]{0,400}?>>\s*stream\r?\n")
#: How many bytes are unpacked at a time.
_CHUNK_BYTES = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """What a configuration says about records: name, window, formats, baseline, and stated hashes.

    `zone` is the name of the time zone, which the hours of a window depend on.
    """

    name: str
    window: str
    formats: tuple[str, ...]
    states_hashes: bool
    zone: str = "UTC"
    baseline: str = ""
    seal_key: tuple[str, ...] = ()
    seal_plan: str = ""


def read_audit_request(content: bytes, file_name: str) -> AuditRequest:
    """Read an audit request from a TOML configuration; raise a ValueError if its values cannot be read."""
    tables = tomllib.loads(content.decode("utf-8-sig"))
    audit, report = _find_table(tables, "audit"), _find_table(tables, "report")
    formats = _find_table(audit, "output").get("formats", OutputTable().formats)
    if not isinstance(formats, list | tuple):
        raise ValueError("`audit.output.formats` is not a list")
    return AuditRequest(
        name=str(audit.get("name") or PurePath(file_name).stem),
        window=str(_find_table(audit, "window").get("period", WindowTable().period)),
        zone=str(audit.get("time_zone", AuditTable().time_zone)),
        formats=tuple(map(str, formats)),
        states_hashes=not report.get("templates") and "provenance" not in report.get("omit", ()),
        baseline=read_baseline_name(_find_table(audit, "baseline")),
        seal_key=_read_texts(_find_table(audit, "seal"), "key"),
        seal_plan=str(_find_table(audit, "seal").get("plan", "")),
    )


def _read_texts(table: dict[str, Any], key: str) -> tuple[str, ...]:
    found = table.get(key, [])
    if not isinstance(found, list):
        raise ValueError(f"`{key}` is not a list")
    return tuple(map(str, found))


def _find_table(table: dict[str, Any], name: str) -> dict[str, Any]:
    found = table.get(name, {})
    if not isinstance(found, dict):
        raise ValueError(f"`{name}` is not a table")
    return found


def find_status(report: Report) -> AuditStatus:
    """Return the status of an audit.

    A drift that is not small, and forecasts that are not as they were sealed, turn `done` and `pass` into
    `warn`.
    """
    certificate, trend = report.certificate, report.trend
    if certificate is not None and certificate.current_verdict == "failed":
        return AuditStatus.UNCERTIFIED
    verdict = report.verdict
    if verdict in (None, LimitVerdict.PASS) and trend is not None and _needs_attention(trend):
        return AuditStatus.WARN
    return AuditStatus.DONE if verdict is None else AuditStatus(verdict)


def _needs_attention(trend: Trend) -> bool:
    return trend.is_alarming or (trend.seal_check is not None and trend.seal_check.is_broken)


def find_exit_code(status: AuditStatus) -> ExitCode:
    """Return the exit code of the command line for a status, without the option `--strict`."""
    if status is AuditStatus.UNCERTIFIED:
        return ExitCode.CERTIFICATE_FAILED
    return verdict_exit_code(LimitVerdict.FAIL if status is AuditStatus.FAIL else None, strict=False)


def check_record_contents(record: Record) -> Iterator[str]:
    """Check a record by itself; yield what is wrong as ends of sentences about it."""
    text = record.to_json()
    if json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":")) + "\n" != text:
        yield "is not written as runs write records"
    yield from _CONTENT_RULES.get(record.kind, _check_run)(record)
    yield from check_seal_fields(record)
    yield from _check_documents(record)


def _list_filled(record: Record, names: tuple[str, ...]) -> list[str]:
    return [name for name in names if getattr(record, name)]


def _check_removal(record: Record) -> Iterator[str]:
    yield from check_event(record)
    if not record.removed:
        yield "is of a removal of files, but names no file that was removed"


def _check_key(record: Record) -> Iterator[str]:
    yield from check_event(record)
    if record.key is None:
        yield "is of a change of keys, but names no key"


def _check_run(record: Record) -> Iterator[str]:
    yield from check_no_event(record)
    yield from _check_failure(record) if record.status is AuditStatus.FAILED else _check_success(record)


def _check_failure(record: Record) -> Iterator[str]:
    if found := _list_filled(record, (*_RESULTS, *_MORE_RESULTS)):
        yield f"has the status of a failed run, but has {_join_names(found)}"
    if record.exit_code == 0:
        yield "has the status of a failed run, but its exit code is 0"


def _check_success(record: Record) -> Iterator[str]:
    present = _list_filled(record, _RESULTS)
    if lacking := [name for name in _RESULTS if name not in present]:
        yield f"has the status {record.status}, but lacks {_join_names(lacking)}"
    if record.reason:
        yield f"has the status {record.status}, but gives a reason for a failure"
    expected = find_exit_code(record.status)
    if record.exit_code != expected:
        yield f"has the exit code {record.exit_code}, but that of {record.status} is {int(expected)}"


#: The rules of records that are not of runs, by their kind.
_CONTENT_RULES = {
    "retention": _check_removal,
    "annulment": check_annulment,
    "baseline": check_baseline_contents,
    "approval": check_approval_contents,
    "seal": check_seal_contents,
    "key": _check_key,
}


def _check_documents(record: Record) -> Iterator[str]:
    if not record.configuration_sha256:
        yield "names no configuration"
    hashes = "" if record.seal is None else record.seal.hashes_sha256
    needed = {key for key in (record.results_sha256, record.configuration_sha256, hashes) if key}
    if tuple(sorted(needed)) != record.documents:
        what = "its results and its configuration" if not hashes else "its configuration and its row hashes"
        yield f"does not name exactly {what} as documents"


def check_record_request(record: Record, request: AuditRequest) -> Iterator[str]:
    """Check a record against the configuration that it names; yield ends of sentences about it."""
    if record.audit != request.name:
        yield f"is of the audit {record.audit}, but its configuration is of {request.name}"
    if record.kind in ("retention", "annulment", "key"):
        return
    yield from _check_period(record, request)
    if record.kind == "approval":
        return
    if record.kind == "baseline":
        if record.baseline is not None and record.baseline.source != request.baseline:
            yield f"seals {record.baseline.source}, but its configuration names {request.baseline or 'none'}"
        return
    if record.kind == "seal":
        yield from check_seal_request(record, request.seal_key, request.seal_plan)
        return
    if record.status is not AuditStatus.FAILED:
        yield from _check_files(record, request.formats)


def _check_period(record: Record, request: AuditRequest) -> Iterator[str]:
    window = request.window
    try:
        expected = find_period(window, read_local_time(record.as_of, request.zone))
    except (UsageError, ValueError, OverflowError):
        yield f"has a period that cannot be checked: `{window}` as of {record.as_of} gives none"
        return
    if record.period != expected:
        yield (
            f"is of the period {_describe_period(record)}, but `{window}` as of {record.as_of} is "
            f"{expected.label}, {expected.describe()}"
        )


def read_local_time(text: str, zone: str) -> datetime:
    """Read a time in the zone of the audit if that has the recorded offset; its rules may have changed."""
    moment = datetime.fromisoformat(text)
    try:
        local = moment.astimezone(ZoneInfo(zone))
    except (LookupError, ValueError, OSError):
        return moment
    return local if local.utcoffset() == moment.utcoffset() else moment


def _describe_period(record: Record) -> str:
    period = record.period
    return f"{period.label}, {period.start or 'the beginning'} up to, not including, {period.end}"


def _check_files(record: Record, formats: tuple[str, ...]) -> Iterator[str]:
    """Check that there is a file for each format, named by period and attempt; the JSON is the document."""
    label = record.period.label if record.attempt == 1 else f"{record.period.label}.{record.attempt}"
    expected = [f"{record.audit}/{label}.{form}" for form in formats]
    names = [file.name for file in record.files]
    if names != expected:
        yield f"has the files {_join_names(names) or 'none'}, but a run writes {_join_names(expected)}"
    for file in record.files:
        if file.name.endswith(".json") and file.sha256 != record.results_sha256:
            yield f"has the file {file.name}, which is not its results document"


def _join_names(names: list[str]) -> str:
    return ", ".join(names)


def check_attempts(records: Sequence[Record]) -> Iterator[tuple[Record, str]]:
    """Find records whose attempt is not the next of their audit and period; no record may be missing."""
    counts: dict[tuple[str, str, str], int] = defaultdict(int)
    for record in records:
        key = (record.audit, record.period.label, record.kind)
        if record.attempt != counts[key] + 1:
            yield record, f"is attempt {record.attempt} of its period, but the next one is {counts[key] + 1}"
        counts[key] = max(counts[key], record.attempt)


def check_run_times(records: Sequence[Record], now: str) -> Iterator[tuple[Record, str]]:
    """Find records with impossible times: unreadable, an end before the start, or an end after now."""
    latest = datetime.fromisoformat(now) + CLOCK_SKEW
    for record in records:
        times = read_run_times(record)
        if times is None:
            yield record, f"has times that cannot be read, {record.started!a:.40} and {record.finished!a:.40}"
            continue
        started, finished = times
        if started > finished + CLOCK_SKEW:
            yield record, f"ended at {record.finished}, before it started at {record.started}"
        if finished > latest:
            yield record, f"ended at {record.finished}, but it is {now} now"


def find_times_backwards(records: Sequence[Record], *, by_one_clock: bool) -> Iterator[tuple[Record, Record]]:
    """Find records that ended before an earlier record; yield the earlier record, then the later one.

    With `by_one_clock`, a record is compared with the last one of the same folder on a machine of the same
    kind; otherwise with the record right before it, if that is of another folder or machine.
    """
    last: dict[tuple[str, str], tuple[Record, datetime]] = {}
    previous: tuple[Record, datetime] | None = None
    for record in records:
        times, clock = read_run_times(record), (record.home, record.machine)
        if times is None:
            continue
        is_other = previous is not None and clock != (previous[0].home, previous[0].machine)
        before = last.get(clock) if by_one_clock else previous if is_other else None
        if before is not None and times[1] < before[1] - CLOCK_SKEW:
            yield before[0], record
        last[clock] = previous = (record, times[1])


def find_future_periods(records: Sequence[Record]) -> Iterator[Record]:
    """Find records of a period that was in the future when they were written, as earlier versions allowed."""
    return (record for record in records if record.kind == "audit" and is_ahead(record.as_of, record.started))


def read_run_times(record: Record) -> tuple[datetime, datetime] | None:
    """Read when a run started and ended; None if that cannot be read."""
    try:
        started, finished = map(datetime.fromisoformat, (record.started, record.finished))
    except ValueError:
        return None
    return None if started.tzinfo is None or finished.tzinfo is None else (started, finished)


def check_attached_results(record: Record, path: Path, request: AuditRequest | None) -> Iterator[str]:
    """Check that a file with the recorded hash holds the recorded results; yield ends of sentences."""
    if not record.results_sha256 or path.suffix not in (".pdf", ".html"):
        return
    try:
        content = path.read_bytes()
    except OSError:  # it was removed a moment ago
        return
    if path.suffix == ".pdf" and record.results_sha256 not in _hash_attachments(content):
        yield f"has the file {path.name}, to which other results are attached"
    states_hashes = request is not None and request.states_hashes
    if path.suffix == ".html" and states_hashes and record.results_sha256.encode() not in content:
        yield f"has the file {path.name}, which states the hash of other results"


def _hash_attachments(pdf: bytes) -> Iterator[str]:
    """Compute the SHA-256 of each file attached to a PDF."""
    for found in _ATTACHMENT.finditer(pdf):
        engine, digest, rest = zlib.decompressobj(), hashlib.sha256(), pdf[found.end() :]
        try:
            while rest and not engine.eof:  # in chunks: a small PDF may hold a very large file
                digest.update(engine.decompress(rest, _CHUNK_BYTES))
                rest = engine.unconsumed_tail
        except zlib.error:
            continue
        yield digest.hexdigest()
