"""Anchors of an audit: each new record is attested and time-stamped in a folder outside of the history.

A failure to anchor never fails a run: it is a problem of the run, and the anchor of a later record covers all
records before it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from scorereport._utils.files import make_folder, write_bytes
from scorereport._utils.formatting import format_plain
from scorereport.audit.record_rules import CLOCK_SKEW
from scorereport.channels.notification import describe_channel_error
from scorereport.channels.webhook import ServerAnswer, WebhookTable, check_address, post_body
from scorereport.errors import ScoreReportError, UsageError
from scorereport.history.anchor_check import find_untrusted, read_anchor
from scorereport.history.attestations import ATTESTATION_ENDING, attest_record, name_anchor, read_attestation
from scorereport.history.record_signature import has_valid_signature
from scorereport.history.signature_check import find_replaced
from scorereport.history.time_stamps import (
    MAX_STAMP_BYTES,
    NOT_INSTALLED,
    QUERY_HEADERS,
    STAMP_ENDING,
    StampError,
    build_stamp_query,
    can_check_stamps,
    describe_stamp,
    open_stamp_check,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from scorereport.audit.plan import Plan
    from scorereport.history.attestations import Attestation
    from scorereport.history.audit_record import Record
    from scorereport.history.signing_keys import SigningKey
    from scorereport.history.store import History
    from scorereport.history.time_stamps import StampCheck

#: How long an authority may take for a stamp, in seconds.
STAMP_SECONDS = 30.0
_UNCHECKED = (
    "This run could not check whether the history is complete. If the folder is on a share, check that the "
    "share is mounted."
)
_URL_KEY = "audit.anchors.time_stamp"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorFiles:
    """The files of the anchor of a record: its attestation and its stamp, which may not exist."""

    attestation: Path
    stamp: Path


def find_anchor_files(plan: Plan, record: Record) -> AnchorFiles | None:
    """Return the files of the anchor of a record; None if the configuration names no folder of anchors."""
    if plan.anchors is None:
        return None
    name = name_anchor(record.id, record.sha256)
    return AnchorFiles(
        attestation=plan.anchors / f"{name}{ATTESTATION_ENDING}", stamp=plan.anchors / f"{name}{STAMP_ENDING}"
    )


def anchor_record(plan: Plan, record: Record, key: SigningKey) -> list[str]:
    """Write the attestation and the stamp of a record if they do not exist; return problems."""
    files = find_anchor_files(plan, record)
    if files is None:
        return []
    try:
        _attest(record, key, files.attestation)
        if plan.audit.anchors.time_stamp and not files.stamp.exists():
            write_bytes(files.stamp, _request_stamp(plan, record))
    except (StampError, ScoreReportError) as error:
        reason = f"Record {record.id} was not time-stamped: {error}"
    except OSError as error:
        reason = f"The anchor of record {record.id} could not be written to {plan.anchors}: "
        reason += str(error.strerror or error)
    except Exception as error:  # the record is stored: no error may say otherwise
        reason = f"Record {record.id} could not be anchored: {describe_channel_error(error)}"
    else:
        return []
    return [f"{plan.redactor.redact(reason).rstrip('.')}."]


def _attest(record: Record, key: SigningKey, path: Path) -> None:
    make_folder(path.parent)
    if not path.exists():
        write_bytes(path, attest_record(record, key))


def anchor_again(plan: Plan, history: History) -> list[str]:
    """Anchor the last record that the key of this run signed, if its anchor is not complete."""
    key = history.key
    if plan.anchors is None or key is None:
        return []
    own = [each for each in history.records(plan.name, last=1) if _is_signed_by(each, key)]
    return [problem for record in own for problem in anchor_record(plan, record, key)]


def _is_signed_by(record: Record, key: SigningKey) -> bool:
    """Whether this key signed a record; others who share the history may write records as well."""
    signature = record.signature
    is_own = signature is not None and signature.fingerprint == key.fingerprint
    return is_own and has_valid_signature(record)


def _request_stamp(plan: Plan, record: Record) -> bytes:
    """Return the answer of the authority, checked as `verify` checks it."""
    check, address = open_plan_check(plan), plan.audit.anchors.time_stamp
    url = check_address(plan.expand(address, _URL_KEY).strip(), WebhookTable(url=address), _URL_KEY)
    query = build_stamp_query(record.sha256)
    answer = _post_in_time(url, query.content)
    if answer.problem:
        raise StampError(f"`{_URL_KEY}`: {plan.redactor.adding(url).redact(answer.problem)}")
    try:
        stamp = check.check(answer.content, record.sha256, query.nonce)
    except StampError as error:
        raise StampError(f"the answer {error}") from error
    ended = datetime.fromisoformat(record.finished)
    if stamp.time < ended - CLOCK_SKEW:
        raise StampError(f"the stamp is of {stamp.describe()}, before the record ended at {record.finished}")
    return answer.content


def open_plan_check(plan: Plan) -> StampCheck:
    """Open the trusted certificates of the configuration; a `StampError` says why that failed."""
    if not can_check_stamps():
        raise StampError(f"this {NOT_INSTALLED}")
    if not plan.audit.anchors.authority:
        raise StampError("`audit.anchors.authority` names no certificates of a time-stamp authority")
    try:
        return open_stamp_check(plan.path.parent / Path(plan.audit.anchors.authority).expanduser())
    except StampError as error:
        raise StampError(f"`audit.anchors.authority`: {error}") from error


def _post_in_time(url: str, query: bytes) -> ServerAnswer:
    """Post a request; in a thread, because a server may answer endlessly."""
    answers: list[ServerAnswer] = []

    def work() -> None:
        headers = {**QUERY_HEADERS, "User-Agent": "scorereport"}
        answers.append(post_body(url, headers, query, limit=MAX_STAMP_BYTES))

    thread = Thread(target=work, daemon=True, name="scorereport-time-stamp")
    thread.start()
    thread.join(STAMP_SECONDS)
    too_long = f"this took longer than {format_plain(STAMP_SECONDS)} seconds and was given up."
    return answers[0] if answers else ServerAnswer(problem=too_long)


def describe_anchor(plan: Plan, record: Record) -> str:
    """Describe the anchor of a record for the terminal; "" if it has none."""
    files = find_anchor_files(plan, record)
    if files is None or not files.attestation.exists():
        return ""
    stamped = ""
    with suppress(ValueError, ImportError):
        stamped = f", time-stamped {describe_stamp(read_anchor(files.stamp)).describe()}"
    return f"Anchored: {files.attestation}{stamped}"


def list_anchors(plan: Plan) -> list[Path]:
    """List the files of the folder of anchors, but for hidden ones, which a run is about to write.

    A missing folder has none; one that cannot be read is an error.
    """
    if plan.anchors is None:
        return []
    try:
        return sorted(path for path in plan.anchors.iterdir() if not path.name.startswith("."))
    except FileNotFoundError:
        return []
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"The folder of anchors {plan.anchors} cannot be read: {reason}.") from error


def check_anchored(plan: Plan, history: History, trusted: Collection[str]) -> None:
    """Refuse a history that lacks a record which an attestation by a trusted key names.

    Appending to it would hide that it was restored to an older copy. Files whose names agree with the history
    are left to `verify`, and so are those that no trusted key signed: anyone can put them there. A folder
    that is missing or cannot be read is a problem: a share may not be mounted.
    """
    try:
        files = [path for path in list_anchors(plan) if path.name.endswith(ATTESTATION_ENDING)]
    except UsageError as error:
        history.problems.append(f"{error} {_UNCHECKED}")
        return
    if plan.anchors is not None and not plan.anchors.exists() and history.last() is not None:
        history.problems.append(f"The folder of anchors {plan.anchors} does not exist. {_UNCHECKED}")
    _compare_names(history, files, trusted)


def _compare_names(history: History, files: Sequence[Path], trusted: Collection[str]) -> None:
    if not files:
        return
    known = {f"{name_anchor(row.id, row.sha256)}{ATTESTATION_ENDING}" for row in history.summaries()}
    replaced = find_replaced(history.records(kind="key"), trusted)
    for path in files:
        found = None if path.name in known else _read_trusted(path, trusted, replaced)
        if found is not None and history.find_hash(found.record) != found.sha256:
            _refuse(history, path, found)


def _read_trusted(path: Path, trusted: Collection[str], replaced: dict[str, int]) -> Attestation | None:
    with suppress(ValueError):
        found = read_attestation(read_anchor(path))
        return None if find_untrusted(found, trusted, replaced) else found
    return None


def _refuse(history: History, path: Path, found: Attestation) -> None:
    last, stored = history.last(), history.find_hash(found.record)
    if stored is not None:
        instead = f"in the history this record has the hash {stored}"
    else:
        instead = "the history has no records" if last is None else f"the history ends with record {last.id}"
    raise UsageError(
        f"The history {history.name} was restored to an older copy or rewritten: the anchor {path}, signed "
        f"by a trusted key, names record {found.record} ({found.audit} {found.period}, ended at "
        f"{found.finished}) with the hash {found.sha256}, but {instead}. Nothing was recorded. To fix: "
        "restore the newest copy of the database. If the history was started again on purpose, or this is "
        f"another history, use another `audit.anchors.folder` than {path.parent}."
    )
