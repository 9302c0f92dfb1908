"""Daily digests: outcomes that wait in files beside the locks, and are sent as one message for each channel.

An outcome is written to the file before its notification counts as sent, and removed after the digest was
sent, so that a process that is killed at any moment loses none. Configurations of one folder with the same
settings of a channel share its file, and so its message.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, cast, get_origin, get_type_hints

from scorereport._utils import json_documents
from scorereport._utils.files import make_folder, write_text
from scorereport.audit.delivery import redact_all, send_by_channel
from scorereport.audit.digest_texts import describe_digest, format_days, name_digest, sort_outcomes
from scorereport.channels.notification import (
    DailyDigest,
    Notification,
    Outcome,
    list_digest_variables,
)
from scorereport.history.audit_record import AuditStatus

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from datetime import date

    from scorereport.audit.plan import Plan
    from scorereport.configuration.audit_tables import NotifyTable
    from scorereport.history.audit_record import Record

#: Seconds to wait for another process that writes the file.
_LOCK_SECONDS = 60
#: The keys that an outcome must have when it is read back.
_REQUIRED = {
    key
    for key, kind in get_type_hints(Outcome, include_extras=True).items()
    if get_origin(kind) is not NotRequired
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestEntry:
    """An outcome that waits, the day on which its run ended, and its key: a run is noted once."""

    key: str
    day: str
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestFile:
    """The file of the outcomes that wait for the digest of one channel, a line of JSON each."""

    path: Path

    def add(self, entry: DigestEntry) -> None:
        """Add an outcome, completely or not at all; one that is there already is left."""
        make_folder(self.path.parent)
        with self._locked():
            entries = self.read()
            if entry.key not in {each.key for each in entries}:
                self._write([*entries, entry])

    def read(self) -> list[DigestEntry]:
        """Read the outcomes that wait, oldest first; a line that no run can have written is left out."""
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        return [entry for line in lines if (entry := _read_entry(line)) is not None]

    def remove(self, keys: Collection[str]) -> None:
        """Remove outcomes that were sent."""
        with self._locked():
            left = [entry for entry in self.read() if entry.key not in keys]
            if left:
                self._write(left)
            else:
                self.path.unlink(missing_ok=True)

    @contextmanager
    def sending(self) -> Iterator[bool]:
        """Hold the right to send this digest; yield False if another process sends it now."""
        from filelock import FileLock, Timeout

        if not self.path.exists():
            yield False
            return
        lock = FileLock(self.path.with_suffix(".sending"), mode=0o600)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        from filelock import FileLock

        with FileLock(self.path.with_suffix(".lock"), timeout=_LOCK_SECONDS, mode=0o600):
            yield

    def _write(self, entries: Sequence[DigestEntry]) -> None:
        lines = [json.dumps({"key": each.key, "day": each.day, "outcome": each.outcome}) for each in entries]
        write_text(self.path, "".join(f"{line}\n" for line in lines))


def _read_entry(line: str) -> DigestEntry | None:
    try:
        found = json.loads(line)
        outcome = found["outcome"]
        if outcome.keys() >= _REQUIRED:
            return DigestEntry(key=str(found["key"]), day=str(found["day"]), outcome=cast("Outcome", outcome))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    return None


def open_digest(plan: Plan, channel: str) -> DigestFile:
    """Return the file of a channel of the plan; channels with the same settings share it."""
    settings = json_documents.dump(plan.audit.notify.channels[channel])  # secrets are names of variables here
    name = hashlib.sha256(settings.encode()).hexdigest()[:12]
    return DigestFile(path=plan.locks / f"digest-{channel}-{name}.jsonl")


def is_delayed(table: NotifyTable, record: Record, alarms: Sequence[str]) -> bool:
    """Whether an outcome waits for the digest: failed runs, alarms and changed limits never do."""
    is_urgent = bool(alarms or record.limit_changes) or record.status is AuditStatus.FAILED
    return table.digest == "daily" and not is_urgent


def add_to_digests(plan: Plan, outcome: Outcome) -> None:
    """Add an outcome to the digest of each channel; secrets are removed before."""
    redacted = redact_all(outcome, plan.redactor)
    record = redacted["record"]
    key = f"{redacted['audit']} {redacted['period']['label']} {record['sha256'] if record else ''}"
    entry = DigestEntry(key=key, day=plan.now.date().isoformat(), outcome=redacted)
    for channel in plan.audit.notify.channels:
        open_digest(plan, channel).add(entry)


def has_due_digest(plan: Plan, today: date) -> bool:
    """Whether an outcome of an earlier day waits for a digest of the plan's channels."""
    _move_stale(plan)
    return any(_find_due(open_digest(plan, channel), today) for channel in plan.audit.notify.channels)


def _move_stale(plan: Plan) -> None:
    """Move outcomes of this audit that wait for channels with other settings, which were changed since."""
    own = {channel: open_digest(plan, channel) for channel in plan.audit.notify.channels}
    for path in set(plan.locks.glob("digest-*.jsonl")) - {file.path for file in own.values()}:
        stale = DigestFile(path=path)
        entries = [entry for entry in stale.read() if entry.outcome["audit"] == plan.name]
        channel = path.name.split("-")[1]
        targets = [own[channel]] if channel in own else list(own.values())
        for file in targets:
            for entry in entries:
                file.add(entry)
        if entries and targets:
            stale.remove({entry.key for entry in entries})


def _find_due(file: DigestFile, today: date | None) -> list[DigestEntry]:
    return [entry for entry in file.read() if today is None or entry.day < today.isoformat()]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentDigests:
    """How many outcomes were sent by each channel, and the problems, a sentence each."""

    counts: dict[str, int]
    problems: list[str]


def send_digests(plan: Plan, today: date | None = None) -> SentDigests:
    """Send the outcomes that wait for the plan's channels: those of days before `today`, or all of them.

    What a channel does not accept waits for the next attempt.
    """
    sent = SentDigests(counts={}, problems=[])
    _move_stale(plan)
    for channel in plan.audit.notify.channels:
        file = open_digest(plan, channel)
        with file.sending() as may_send:
            due = _find_due(file, today) if may_send else []
            if not due:
                continue
            problems = _send_digest(plan, channel, due)
            sent.problems.extend(problems)
            if not problems:
                file.remove({entry.key for entry in due})
                sent.counts[channel] = len(due)
    return sent


def _send_digest(plan: Plan, channel: str, entries: Sequence[DigestEntry]) -> list[str]:
    digest = redact_all(build_digest(entries), plan.redactor)
    message = Notification(outcome=digest, folder=plan.path.parent, variables=list_digest_variables(digest))
    return send_by_channel(
        channel, plan.audit.notify.channels[channel], message, redactor=plan.redactor, expand=plan.expand
    )


def build_digest(entries: Sequence[DigestEntry]) -> DailyDigest:
    """Combine outcomes to one message, the worst first."""
    outcomes = sort_outcomes([entry.outcome for entry in entries])
    days = [entry.day for entry in entries]
    return {
        "subject": name_digest(outcomes, days),
        "text": describe_digest(outcomes, days),
        "digest": format_days(days),
        "status": outcomes[0]["status"],
        "exit_code": outcomes[0]["exit_code"],
        "outcomes": outcomes,
    }
