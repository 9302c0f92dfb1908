"""E-mail channel: the message with its attachments, sent through a configured server."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import one_line
from scorereport.audit.channels import notification
from scorereport.audit.channels.notification import describe_channel_error

if TYPE_CHECKING:
    import smtplib
    from collections.abc import Iterator
    from email.message import EmailMessage
    from pathlib import Path

    from scorereport.audit.channels.notification import Notification, SecretReader
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


_PORTS = {"starttls": 587, "tls": 465, "none": 25}


def send_email(table: EmailTable, news: Notification, vault: SecretReader) -> list[str]:
    """Send an e-mail with the sentences, and the files in the forms asked for."""
    host = vault.read(table.host, "audit.notify.email.host")
    user = vault.read(table.user, "audit.notify.email.user")
    password = vault.read_secret(table.password, "audit.notify.email.password") if table.password else ""
    message, problems = compose_email(table, news, vault)
    with _connect(host, table.port or _PORTS[table.security], table.security) as server:
        if user:
            server.login(user, password)
        refused = server.send_message(message)
    return [*problems, *(f"the server refused {one_line(address)} as a recipient." for address in refused)]


def _connect(host: str, port: int, security: str) -> smtplib.SMTP:
    import smtplib

    if security == "tls":
        context = ssl.create_default_context()
        return smtplib.SMTP_SSL(host, port, timeout=notification.SILENCE_LIMIT, context=context)
    server = smtplib.SMTP(host, port, timeout=notification.SILENCE_LIMIT)
    if security == "starttls":
        try:
            server.starttls(context=ssl.create_default_context())
        except BaseException:
            server.close()
            raise
    return server
