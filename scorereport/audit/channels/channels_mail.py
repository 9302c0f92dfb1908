"""Telling by e-mail, through a server of the configuration."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from scorereport._utils.formatting import one_line
from scorereport.audit.channels import limits
from scorereport.audit.channels.mail import compose_email

if TYPE_CHECKING:
    import smtplib

    from scorereport.audit.channels.news import Notification
    from scorereport.audit.channels.notification import SecretReader
    from scorereport.configuration.audit_tables import EmailTable

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
        return smtplib.SMTP_SSL(host, port, timeout=limits.SILENCE_LIMIT, context=context)
    server = smtplib.SMTP(host, port, timeout=limits.SILENCE_LIMIT)
    if security == "starttls":
        try:
            server.starttls(context=ssl.create_default_context())
        except BaseException:
            server.close()
            raise
    return server
