"""Delivery of notifications to all channels, and pending notifications.

A failed notification does not fail the audit: it is returned as a sentence, without secrets.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, TypeVar, cast

from scorereport._utils.files import make_folder, write_text
from scorereport._utils.formatting import format_plain
from scorereport.audit.outcomes import summarize_outcome
from scorereport.channels import CHANNELS, notification
from scorereport.channels.notification import (
    Notification,
    SecretReader,
    describe_channel_error,
    list_variables,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scorereport._utils.redaction import Redactor
    from scorereport.audit.plan import Plan
    from scorereport.configuration.audit_tables import NotifyTable
    from scorereport.history.audit_record import Record


_MAX_PROBLEM_LENGTH = 1000


def send_notifications(
    table: NotifyTable,
    record: Record,
    *,
    files: Sequence[Path],
    redactor: Redactor,
    expand: Callable[[str, str], str],
    folder: Path | None = None,
    alarms: Sequence[str] = (),
) -> list[str]:
    """Notify people by all channels of the configuration, if its `on` lists the status of the audit.

    Alarms and changes of limits are sent whatever the status.

    Parameters
    ----------
    table
        `[audit.notify]` of the configuration.
    record
        The record of the audit.
    files
        The files of its report, which may be attached to an e-mail.
    redactor
        Removes the secrets that are known already; secrets read here are removed as well.
    expand
        Replaces environment variables in a text of the configuration; its second argument is the key.
    folder
        The folder in which a command runs; by default the working directory.
    alarms
        Sentences on the history, which are sent whatever the status.

    Returns
    -------
    list of str
        The problems, a sentence each.
    """
    if str(record.status) not in table.on and not alarms and not record.limit_changes:
        return []
    outcome = redact_all(summarize_outcome(record, files=files, alarms=alarms, site=table.site), redactor)
    message = Notification(outcome=outcome, files=files, folder=folder, variables=list_variables(outcome))
    problems: list[str] = []
    for key, value in table.channels.items():
        problems += send_by_channel(key, value, message, redactor=redactor, expand=expand)
    return problems


def send_by_channel(
    key: str,
    value: object,
    message: Notification,
    *,
    redactor: Redactor,
    expand: Callable[[str, str], str],
) -> list[str]:
    """Send a message by one channel, whose settings are `value`; return the problems, a sentence each."""
    reader = SecretReader(expand, f"audit.notify.{key}")
    found = _send_in_thread(partial(CHANNELS[key].send, value, message, reader))
    redact = redactor.adding(*reader.secrets).redact
    return [redact(f"`audit.notify.{key}`: {problem}")[:_MAX_PROBLEM_LENGTH] for problem in found]


_Structure = TypeVar("_Structure")


def redact_all(value: _Structure, redactor: Redactor) -> _Structure:
    """Return the same structure with secrets removed from every text in it."""
    return cast("_Structure", _redact_parts(value, redactor))


def _redact_parts(value: object, redactor: Redactor) -> object:
    if isinstance(value, dict):
        return {key: _redact_parts(part, redactor) for key, part in value.items()}
    if isinstance(value, list):
        return [_redact_parts(part, redactor) for part in value]
    return redactor.redact(value) if isinstance(value, str) else value


def _send_in_thread(send: Callable[[], list[str]]) -> list[str]:
    """Send a notification and return the problems; in a thread, because a server may answer endlessly."""
    results: list[list[str]] = []

    def work() -> None:
        try:
            results.append(send())
        except Exception as error:
            results.append([describe_channel_error(error)])

    thread = Thread(target=work, daemon=True, name="scorereport-notification")
    thread.start()
    thread.join(notification.TOTAL_LIMIT)
    if results:
        return results[0]
    return [f"this took longer than {format_plain(notification.TOTAL_LIMIT)} seconds and was given up."]


@dataclass(frozen=True, kw_only=True)
class PendingNotification:
    """The file of a notification that is not sent yet; it outlives a run that is killed before that."""

    path: Path

    def write(self, record: Record) -> None:
        """Note a record that is about to be appended."""
        make_folder(self.path.parent)
        write_text(self.path, f"{record.attempt} {record.period.label}\n")

    def read(self) -> tuple[str, int] | None:
        """Read the period and the attempt of the pending notification; None if there is none."""
        with suppress(OSError, ValueError):
            attempt, _, label = self.path.read_text(encoding="utf-8").strip().partition(" ")
            return label, int(attempt)
        return None

    @property
    def age(self) -> float:
        """Seconds since the file was written; infinite if there is none."""
        with suppress(OSError):
            return time.time() - self.path.stat().st_mtime
        return math.inf

    def remove(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)


def open_pending_notification(plan: Plan, audit: str = "") -> PendingNotification:
    """Return the pending notification of the plan's audit, or of another audit in the same folder."""
    return PendingNotification(path=plan.locks / f"{audit or plan.name}.untold")
