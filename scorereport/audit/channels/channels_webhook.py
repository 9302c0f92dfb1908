"""Telling by a webhook: an address of the configuration gets the outcome as JSON."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scorereport.audit.channels import limits
from scorereport.audit.channels.webhook import post_body
from scorereport.configuration.audit_rules import check_encryption
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from scorereport.audit.channels.news import Notification
    from scorereport.audit.channels.notification import SecretReader
    from scorereport.configuration.audit_tables import WebhookTable


def call_webhook(table: WebhookTable, news: Notification, vault: SecretReader) -> list[str]:
    """Send the outcome to an address; tried again if the server cannot be reached or is busy."""
    url = _check_url(vault.read_secret(table.url, "audit.notify.webhook.url"))
    check_encryption(url, table)
    headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "scorereport"}
    for name, value in table.headers.items():
        key = f"audit.notify.webhook.headers.{name}"
        headers[name] = _check_header(vault.read_secret(value, key), name, key)
    problem = ""
    for pause in (0.0, *limits.RETRY_PAUSES):
        time.sleep(pause)
        problem, may_try_again = post_body(url, headers, news.body)
        if not (problem and may_try_again):
            break
    return [problem] if problem else []


def _check_url(url: str) -> str:
    """The address, if it is one; no message shows it, as many addresses are secret."""
    try:
        parts = urlsplit(url)
        is_sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_sound = False
    if not is_sound or not re.fullmatch(r"[\x21-\x7e]+", url):
        raise UsageError(
            "the address must begin with http:// or https://, name a host, and have neither blanks nor "
            "letters beyond ASCII."
        )
    if "@" in parts.netloc:
        raise UsageError("the address must not hold a user or password; send them by a header.")
    return url


def _check_header(value: str, name: str, key: str) -> str:
    if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) or not re.fullmatch(r"[\x20-\x7e]*", value):
        raise UsageError(f"`{key}` must be a name and a value of ASCII characters on one line.")
    return value
