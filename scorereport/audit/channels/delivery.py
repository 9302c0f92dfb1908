"""Telling people what an audit came to: by a command, a webhook or an e-mail.

No failure of these is one of the audit: it comes back as a sentence, without secrets.
"""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, Any

from scorereport.audit.channels import limits
from scorereport.audit.channels.channels_mail import send_email
from scorereport.audit.channels.channels_webhook import call_webhook
from scorereport.audit.channels.command import run_command
from scorereport.audit.channels.news import Notification
from scorereport.audit.channels.notification import SecretReader
from scorereport.audit.channels.problems import describe_channel_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from scorereport._utils.redaction import Redactor
    from scorereport.configuration.audit_tables import NotifyTable
    from scorereport.history.audit_record import Record

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
    thread.join(limits.TOTAL_LIMIT)
    return (
        answers[0] if answers else [f"this took longer than {limits.TOTAL_LIMIT:g} seconds and was given up."]
    )
