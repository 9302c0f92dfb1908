"""Delivery of notifications to all channels, with the command channel and pending notifications.

No failure of these is one of the audit: it comes back as a sentence, without secrets.
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
from scorereport._utils.formatting import one_line
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


def run_command(command: Sequence[str], news: Notification, folder: Path | None) -> list[str]:
    """Run a program, without a shell, that reads the outcome from its standard input."""
    # Files rather than pipes: programs that it leaves behind could hold a pipe open for ever.
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
        given.write(news.body)
        given.seek(0)
        process = subprocess.Popen(
            command,
            stdin=given,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env={**os.environ, **_list_environment(news.outcome)},
            cwd=folder,
            start_new_session=True,
        )
        try:
            code = process.wait(notification.COMMAND_LIMIT)
        except subprocess.TimeoutExpired:
            kill_process_group(process)
            process.wait()
            return [f"the command took longer than {notification.COMMAND_LIMIT:g} seconds and was stopped."]
        said.seek(0)
        return [] if code == 0 else [_describe_exit(code, said.read())]


def _list_environment(outcome: dict[str, Any]) -> dict[str, str]:
    values = {
        "AUDIT": outcome["audit"],
        "STATUS": outcome["status"],
        "PERIOD": outcome["period"]["label"],
        "RECORD": str(outcome["record"]["id"]) if outcome["record"] else "",
        "EXIT_CODE": str(outcome["exit_code"]),
    }
    return {f"SCOREREPORT_{name}": value.replace("\0", "") for name, value in values.items()}


def _describe_exit(code: int, said: bytes) -> str:
    lines = [line for line in map(one_line, said.decode("utf-8", "replace").splitlines()) if line]
    ending = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
    return f"the command {ending}" + (f": {lines[-1]}" if lines else " and said nothing.")


_MAX_PROBLEM_LENGTH = 1000


def summarize_outcome(record: Record, *, files: Sequence[Path], alarms: Sequence[str] = ()) -> dict[str, Any]:
    """What an audit came to, as plain JSON: the sentences are of limits not met and numbers that drifted.

    There is no record of a failure that could not be recorded, and there are no `alarms` unless the history
    needs a look.
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
    """Tell those whom the configuration names, if the outcome is one of those they want to hear of.

    Parameters
    ----------
    table
        `[audit.notify]` of the configuration.
    record
        The audit.
    files
        The files of its report, which an e-mail may carry.
    redactor
        Hides the secrets that are known already; those read here are hidden as well.
    expand
        Puts environment variables into a text of the configuration, whose key it is told.
    folder
        Where a command runs; by default where this program does.
    alarms
        Sentences on the history that people are to read whatever the outcome.

    Returns
    -------
    list of str
        What went wrong, a sentence each.
    """
    if str(record.status) not in table.on and not alarms:
        return []
    outcome = _redact_all(summarize_outcome(record, files=files, alarms=alarms), redactor)
    news = Notification(outcome=outcome, files=files)
    problems: list[str] = []
    for key, send in _list_channels(table, news, folder):
        vault = SecretReader(expand)
        found = _send_in_thread(send, vault)
        hide = redactor.adding(*vault.secrets).redact
        problems += [hide(f"`audit.notify.{key}`: {problem}")[:_MAX_PROBLEM_LENGTH] for problem in found]
    return problems


def _list_channels(
    table: NotifyTable, news: Notification, folder: Path | None
) -> Iterator[tuple[str, Callable[[SecretReader], list[str]]]]:
    if table.command:
        yield "command", lambda _: run_command(table.command, news, folder)
    if (webhook := table.webhook) is not None:
        yield "webhook", lambda vault: call_webhook(webhook, news, vault)
    if (email := table.email) is not None:
        yield "email", lambda vault: send_email(email, news, vault)


def _redact_all(value: Any, redactor: Redactor) -> Any:
    """The same structure with every text in it redacted."""
    if isinstance(value, dict):
        return {key: _redact_all(part, redactor) for key, part in value.items()}
    if isinstance(value, list):
        return [_redact_all(part, redactor) for part in value]
    return redactor.redact(value) if isinstance(value, str) else value


def _send_in_thread(send: Callable[[SecretReader], list[str]], vault: SecretReader) -> list[str]:
    """What went wrong; in a thread, for a server may send a byte now and then for ever."""
    answers: list[list[str]] = []

    def work() -> None:
        try:
            answers.append(send(vault))
        except Exception as error:
            answers.append([describe_channel_error(error)])

    thread = Thread(target=work, daemon=True, name="scorereport-telling")
    thread.start()
    thread.join(notification.TOTAL_LIMIT)
    return (
        answers[0]
        if answers
        else [f"this took longer than {notification.TOTAL_LIMIT:g} seconds and was given up."]
    )


@dataclass(frozen=True, kw_only=True)
class PendingNotification:
    """The file that outlives a run which is killed before anybody was told."""

    path: Path

    def write(self, record: Record) -> None:
        """Remember a record that is about to be added."""
        make_folder(self.path.parent)
        write_text(self.path, f"{record.attempt} {record.period.label}\n")

    def read(self) -> tuple[str, int] | None:
        """The period and the attempt of which people are to be told still; None if there is none."""
        with suppress(OSError, ValueError):
            attempt, _, label = self.path.read_text(encoding="utf-8").strip().partition(" ")
            return label, int(attempt)
        return None

    @property
    def age(self) -> float:
        """How many seconds ago it was written; infinitely many if there is none."""
        with suppress(OSError):
            return time.time() - self.path.stat().st_mtime
        return math.inf

    def remove(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)


def open_pending_notification(plan: Plan, audit: str = "") -> PendingNotification:
    """The reminder of an audit; of another one in the same folder if its name is given."""
    return PendingNotification(path=plan.locks / f"{audit or plan.name}.untold")
