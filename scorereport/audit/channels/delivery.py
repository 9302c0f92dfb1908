"""Delivery of notifications to all channels, with the command channel and pending notifications.

A failed notification does not fail the audit: it is returned as a sentence, without secrets.
"""

from __future__ import annotations

import math
import os
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from scorereport._utils.files import make_folder, write_text
from scorereport._utils.formatting import format_plain, one_line
from scorereport._utils.processes import kill_process_group
from scorereport.audit.channels import notification
from scorereport.audit.channels.mail import send_email
from scorereport.audit.channels.notification import Notification, SecretReader, describe_channel_error
from scorereport.audit.channels.webhook import call_webhook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from scorereport._utils.redaction import Redactor
    from scorereport.audit.plan import Plan
    from scorereport.configuration.audit_tables import NotifyTable
    from scorereport.history.audit_record import Record


_MAX_PROBLEM_LENGTH = 1000


def run_command(command: Sequence[str], message: Notification, folder: Path | None) -> list[str]:
    """Run a program, without a shell, that reads the outcome from its standard input; return problems."""
    # Files rather than pipes: a process that the program leaves behind could hold a pipe open for ever.
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
        stdin.write(message.body)
        stdin.seek(0)
        process = subprocess.Popen(
            command,
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env={**os.environ, **_list_environment(message.outcome)},
            cwd=folder,
            start_new_session=True,
        )
        try:
            code = process.wait(notification.COMMAND_LIMIT)
        except subprocess.TimeoutExpired:
            kill_process_group(process)
            process.wait()
            return [
                f"the command took longer than {format_plain(notification.COMMAND_LIMIT)} seconds and was "
                "stopped."
            ]
        stderr.seek(0)
        return [] if code == 0 else [_describe_exit(code, stderr.read())]


def _list_environment(outcome: dict[str, Any]) -> dict[str, str]:
    values = {
        "AUDIT": outcome["audit"],
        "STATUS": outcome["status"],
        "PERIOD": outcome["period"]["label"],
        "RECORD": str(outcome["record"]["id"]) if outcome["record"] else "",
        "EXIT_CODE": str(outcome["exit_code"]),
    }
    return {f"SCOREREPORT_{name}": value.replace("\0", "") for name, value in values.items()}


def _describe_exit(code: int, output: bytes) -> str:
    lines = [line for line in map(one_line, output.decode("utf-8", "replace").splitlines()) if line]
    ending = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
    return f"the command {ending}" + (f": {lines[-1]}" if lines else " without an error message.")


def summarize_outcome(record: Record, *, files: Sequence[Path], alarms: Sequence[str] = ()) -> dict[str, Any]:
    """Return the outcome of an audit as plain JSON, with a sentence for each limit not met and each drift.

    `record` is None for a failure that could not be recorded; `alarms` is present only if the history needs
    attention.
    """
    period = record.period
    outcome = {
        "audit": record.audit,
        "period": {"label": period.label, "start": period.start, "end": period.end},
        "as_of": record.as_of,
        "status": str(record.status),
        "exit_code": int(record.exit_code),
        "reason": record.reason,
        "judgements": [each.sentence for each in record.judgements if str(each.verdict) != "pass"],
        "drifts": [drift.sentence for drift in record.drifts if drift.has_drifted],
        "record": {"id": record.id, "sha256": record.sha256} if record.id else None,
        "files": [str(file) for file in files],
    }
    return {**outcome, "alarms": list(alarms)} if alarms else outcome


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
    if str(record.status) not in table.on and not alarms:
        return []
    outcome = _redact_all(summarize_outcome(record, files=files, alarms=alarms), redactor)
    message = Notification(outcome=outcome, files=files)
    problems: list[str] = []
    for key, send in _list_channels(table, message, folder):
        reader = SecretReader(expand)
        found = _send_in_thread(send, reader)
        redact = redactor.adding(*reader.secrets).redact
        problems += [redact(f"`audit.notify.{key}`: {problem}")[:_MAX_PROBLEM_LENGTH] for problem in found]
    return problems


def _list_channels(
    table: NotifyTable, message: Notification, folder: Path | None
) -> Iterator[tuple[str, Callable[[SecretReader], list[str]]]]:
    if table.command:
        yield "command", lambda _: run_command(table.command, message, folder)
    if (webhook := table.webhook) is not None:
        yield "webhook", lambda reader: call_webhook(webhook, message, reader)
    if (email := table.email) is not None:
        yield "email", lambda reader: send_email(email, message, reader)


def _redact_all(value: Any, redactor: Redactor) -> Any:
    """Return the same structure with secrets removed from every text in it."""
    if isinstance(value, dict):
        return {key: _redact_all(part, redactor) for key, part in value.items()}
    if isinstance(value, list):
        return [_redact_all(part, redactor) for part in value]
    return redactor.redact(value) if isinstance(value, str) else value


def _send_in_thread(send: Callable[[SecretReader], list[str]], reader: SecretReader) -> list[str]:
    """Send a notification and return the problems; in a thread, because a server may answer endlessly."""
    results: list[list[str]] = []

    def work() -> None:
        try:
            results.append(send(reader))
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
