"""E-mail channel: the message with its attachments, sent through a configured server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from scorereport._utils.formatting import one_line
from scorereport._utils.redaction import find_variables
from scorereport.channels import notification
from scorereport.channels.channel import STRICT, Channel
from scorereport.channels.notification import FORMATS, describe_channel_error

if TYPE_CHECKING:
    import smtplib
    from collections.abc import Iterator
    from email.message import EmailMessage
    from pathlib import Path

    from scorereport.channels.channel import Problem
    from scorereport.channels.notification import Notification, SecretReader

_PORTS = {"starttls": 587, "tls": 465, "none": 25}
_LARGEST_PORT = 65_535
_MEDIA_TYPES = {".pdf": ("application", "pdf"), ".html": ("text", "html"), ".json": ("application", "json")}


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailTable:
    """`[audit.notify.email]`: the recipients of an e-mail, and the server that sends it."""

    __pydantic_config__: ClassVar = STRICT

    host: str
    sender: str
    recipients: tuple[str, ...]
    port: int | None = None
    security: str = "starttls"
    user: str = ""
    password: str = ""
    attach: tuple[str, ...] = ()


def _find_problems(email: EmailTable) -> Iterator[Problem]:
    if not email.recipients:
        yield ("recipients",), "must name at least one recipient; got an empty list."
    if email.port is not None and not 1 <= email.port <= _LARGEST_PORT:
        yield ("port",), f"must be a whole number from 1 to {_LARGEST_PORT}; got {email.port}."
    if email.password and email.password != f"${{{''.join(find_variables(email.password))}}}":
        yield ("password",), "must come from the environment, as ${NAME}; got plain text."
    if bool(email.user) != bool(email.password):
        yield (), "must have both `user` and `password`, or neither."
    if email.password and email.security == "none":
        yield ("security",), 'must be "starttls" or "tls" if there is a password; got "none".'


def compose_email(
    table: EmailTable, message: Notification, reader: SecretReader
) -> tuple[EmailMessage, list[str]]:
    """Compose the e-mail; also return a problem for each file that could not be attached."""
    from email.message import EmailMessage
    from email.policy import SMTP
    from email.utils import format_datetime, localtime

    email = EmailMessage(policy=SMTP)
    email["Subject"] = one_line(message.outcome["subject"])
    email["From"] = reader.read(table.sender, "sender")
    recipients = [reader.read(each, "recipients") for each in table.recipients]
    email["To"] = ", ".join(recipients)
    email["Date"] = format_datetime(localtime())
    email["Auto-Submitted"] = "auto-generated"
    email.set_content(message.outcome["text"])
    problems = [
        _attach(email, file) for file in message.files if file.suffix.removeprefix(".") in table.attach
    ]
    return email, [problem for problem in problems if problem]


def _attach(email: EmailMessage, file: Path) -> str:
    """Attach a file; if it cannot be read, return the problem, so that the e-mail is sent without it."""
    try:
        content = file.read_bytes()
    except OSError as error:
        return f"{file.name} could not be attached: {describe_channel_error(error)}"
    main, sub = _MEDIA_TYPES.get(file.suffix, ("application", "octet-stream"))
    email.add_attachment(content, maintype=main, subtype=sub, filename=one_line(file.name))
    return ""


def send_email(table: EmailTable, message: Notification, reader: SecretReader) -> list[str]:
    """Send an e-mail with the outcome and the report files that the table attaches; return problems."""
    host = reader.read(table.host, "host")
    user = reader.read(table.user, "user")
    password = reader.read_secret(table.password, "password") if table.password else ""
    email, problems = compose_email(table, message, reader)
    with _connect(host, table.port or _PORTS[table.security], table.security) as server:
        if user:
            server.login(user, password)
        refused = server.send_message(email)
    return [*problems, *(f"the server refused {one_line(address)} as a recipient." for address in refused)]


def _connect(host: str, port: int, security: str) -> smtplib.SMTP:
    import smtplib
    import ssl

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


CHANNEL = Channel(
    name="email",
    help=(
        'a table: `host`, `port`, `security` ("starttls" by default, "tls", "none"), `user`, `password`, '
        "`sender`, `recipients`, and `attach` for the formats of the report to attach"
    ),
    table=EmailTable,
    options={"security": tuple(_PORTS), "attach": FORMATS},
    find_problems=_find_problems,
    send=send_email,
    rank=3,
)
