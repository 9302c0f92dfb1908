"""The e-mail that tells an outcome: its words, and the files that go with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import one_line
from scorereport.audit.channels.problems import describe_channel_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import EmailMessage
    from pathlib import Path

    from scorereport.audit.channels.news import Notification
    from scorereport.audit.channels.notification import SecretReader
    from scorereport.configuration.audit_tables import EmailTable

_MEDIA_TYPES = {".pdf": ("application", "pdf"), ".html": ("text", "html"), ".json": ("application", "json")}


def compose_email(
    table: EmailTable, news: Notification, vault: SecretReader
) -> tuple[EmailMessage, list[str]]:
    """The e-mail, and what is wrong with the files that could not be attached."""
    from email.message import EmailMessage
    from email.policy import SMTP
    from email.utils import format_datetime, localtime

    outcome = news.outcome
    message = EmailMessage(policy=SMTP)
    subject = f"scorereport: {outcome['audit']} {outcome['period']['label']}: {outcome['status']}"
    message["Subject"] = one_line(subject)
    message["From"] = vault.read(table.sender, "audit.notify.email.sender")
    recipients = [vault.read(each, "audit.notify.email.recipients") for each in table.recipients]
    message["To"] = ", ".join(recipients)
    message["Date"] = format_datetime(localtime())
    message["Auto-Submitted"] = "auto-generated"
    message.set_content("\n\n".join(_list_paragraphs(outcome)) + "\n")
    problems = [
        _attach(message, file) for file in news.files if file.suffix.removeprefix(".") in table.attach
    ]
    return message, [problem for problem in problems if problem]


def _list_paragraphs(outcome: dict[str, Any]) -> Iterator[str]:
    label = outcome["period"]["label"]
    yield f"The audit {outcome['audit']} of the period {label} came to: {outcome['status']}."
    if outcome["reason"]:
        yield outcome["reason"]
    yield from outcome.get("alarms", ())
    yield from outcome["judgements"]
    yield from outcome["drifts"]
    if outcome["files"]:
        yield "\n".join(["Files:", *outcome["files"]])
    if outcome["record"] is None:
        yield "There is no record of this."
    else:
        yield f"Record {outcome['record']['id']}, SHA-256 {outcome['record']['sha256']}."


def _attach(message: EmailMessage, file: Path) -> str:
    """Attach a file; a sentence if it cannot be read, for the words are to arrive all the same."""
    try:
        content = file.read_bytes()
    except OSError as error:
        return f"{file.name} could not be attached: {describe_channel_error(error)}"
    main, sub = _MEDIA_TYPES.get(file.suffix, ("application", "octet-stream"))
    message.add_attachment(content, maintype=main, subtype=sub, filename=one_line(file.name))
    return ""
