"""Rules for the values of the tables of an audit."""

from __future__ import annotations

import re
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from scorereport._utils.checks import check_inside, check_option, check_whole
from scorereport._utils.redaction import find_literal_secret, find_variables
from scorereport.configuration.audit_tables import (
    CATCH_UP,
    CERTIFY,
    DATABASE_FILES,
    FORMATS,
    NEWEST,
    OUTCOMES,
    SECURITY,
    AuditTable,
)
from scorereport.configuration.messages import find_failure, join_key
from scorereport.configuration.periods import check_window_text
from scorereport.configuration.schedules import check_schedule, check_zone
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport.configuration.audit_tables import EmailTable, NotifyTable, SourceTable, WebhookTable

#: Names that are valid file names on every system.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
#: Headers that hold no secrets.
_PLAIN_HEADERS = ("accept", "content-type", "user-agent")
#: Long parts of an address, and values in its query, are likely secrets.
_SECRET_PLACE = re.compile(
    r"://[^/?#]*/.*([A-Za-z0-9_-]{16}|\?.*=)|://[^/?#]*(slack|discord|office|azure)\.com(:[0-9]+)?/."
)
#: Text that precedes a secret in an argument of a command.
_SECRET_WORD = re.compile(r"(?i)bearer\s|basic\s|(?:password|passwd|token|secret|api[_-]?key)\s*[=:]")
#: Names that no folder may have on Windows, with or without an ending.
_DEVICES = {"con", "prn", "aux", "nul", *(f"{kind}{digit}" for kind in ("com", "lpt") for digit in range(10))}
_LARGEST_PORT = 65_535

#: Checks of single values, by key.
_CHECKS: dict[str, Callable[[Any, str], object]] = {
    "certify": partial(check_option, allowed=CERTIFY),
    "time_zone": lambda zone, name: check_zone(zone, name=name),
    "source.newest": partial(check_option, allowed=NEWEST),
    "source.seconds": partial(check_whole, smallest=1),
    "window.period": lambda text, name: check_audit_window(text, name=name),
    "comparison.audits": partial(check_whole, smallest=1),
    "comparison.alpha": partial(check_inside, lower=0, upper=1, closed="neither"),
    "comparison.looks": partial(check_whole, smallest=1),
    "retention.days": partial(check_whole, smallest=1),
    "retention.keep": partial(check_whole, smallest=1),
    "schedule.catch_up": partial(check_option, allowed=CATCH_UP),
}


def find_broken_audit(table: AuditTable) -> Iterator[str]:
    """A sentence for each invalid value of `[audit]`."""
    if table.name:
        yield from find_failure(check_audit_name, table.name, "audit.name")
    for key, check in _CHECKS.items():
        value = _find(table, key)
        if value is not None:
            yield from find_failure(check, value, f"audit.{key}")
    yield from _check_cron(table)
    yield from _check_lists(table)
    yield from _check_source(table.source)
    yield from _check_secrets(table)
    yield from _check_notify(table.notify)


def check_audit_name(name: str, key: str) -> str:
    """Check that a name can be that of a folder on every system."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"`{key}` must have only letters, digits, hyphens, dots and underscores, at most 64, and begin "
            f"with a letter or a digit; got {name!r}."
        )
    return name


def check_portable_name(name: str, key: str) -> str:
    """Check that a name is a valid folder name on Windows; names in older histories may not be."""
    if name.partition(".")[0].lower() in _DEVICES:
        raise UsageError(f"`{key}` must not be a name that Windows reserves for a device; got {name!r}.")
    if name.endswith("."):
        raise UsageError(f"`{key}` must not end in a dot, which Windows removes; got {name!r}.")
    return name


def check_audit_window(text: str, *, name: str) -> str:
    """Check the text of a window; an error names the key."""
    try:
        return check_window_text(text)
    except UsageError as error:
        raise UsageError(f"`{name}`: {error}") from error


def _find(table: AuditTable, key: str) -> Any:
    value: Any = table
    for part in key.split("."):
        value = getattr(value, part)
    return value


def _check_cron(table: AuditTable) -> Iterator[str]:
    if table.schedule.cron:
        yield from find_failure(
            lambda cron, name: check_schedule(cron, "UTC", name=name),
            table.schedule.cron,
            "audit.schedule.cron",
        )


def _check_lists(table: AuditTable) -> Iterator[str]:
    """Check lists of options: only known options, each once."""
    email = table.notify.email
    lists = {
        "output.formats": (table.output.formats, FORMATS),
        "notify.on": (table.notify.on, OUTCOMES),
        "notify.email.attach": (email.attach if email else (), FORMATS),
    }
    for key, (options, known) in lists.items():
        for option in options:
            yield from find_failure(partial(check_option, allowed=known), option, f"audit.{key}")
        if len(set(options)) < len(options):
            yield f"`audit.{key}` must differ; got {', '.join(map(repr, options))}."
    if not table.output.formats:
        yield '`audit.output.formats` must name a format of the report, such as "pdf"; got an empty list.'


def _check_source(source: SourceTable) -> Iterator[str]:
    """Check that rows have a single source, and that a query or table has a database."""
    if source.file.lower().endswith(DATABASE_FILES):
        yield from _check_stored(source)
        return
    used = [key for key in ("file", "query", "table") if getattr(source, key)]
    if len(used) > 1:
        named = " and ".join(f"`{key}`" for key in used)
        yield f"`audit.source` must have one of `file`, `query` and `table`; got {named}."
    if source.database and not (source.query or source.table):
        yield "`audit.source.database` needs a `query` or a `table`."
    if (source.query or source.table) and not source.database:
        yield f"`audit.source.{used[-1]}` needs a `database`."
    if source.schema and not source.table:
        yield "`audit.source.schema` needs a `table` in that schema."


def _check_stored(source: SourceTable) -> Iterator[str]:
    """Check a database file: it needs a table, whose name may begin with that of its schema."""
    if not source.table:
        yield "`audit.source.file` names a database, and needs a `table`."
    for key in ("database", "query", "schema"):
        if getattr(source, key):
            yield f"`audit.source.{key}` cannot be used with a `file`, even one that is a database."


def _check_secrets(table: AuditTable) -> Iterator[str]:
    """Refuse secrets in the configuration, which reports contain; they belong in the environment."""
    webhook = table.notify.webhook
    addresses = {
        "audit.source.database": table.source.database,
        "audit.history.database": table.history.database,
        "audit.notify.webhook.url": webhook.url if webhook else "",
    }
    for key, address in addresses.items():
        is_hook = key.endswith(".url") and not find_variables(address)
        if find_literal_secret(address) or (is_hook and _SECRET_PLACE.search(address)):
            yield (
                f"`{key}` must not hold a password or a token, because reports contain their configuration: "
                "write ${NAME} instead, and set the environment variable NAME."
            )
    if webhook:
        yield from _check_headers(webhook)
        yield from find_failure(
            lambda url, _: check_encryption(url, webhook), webhook.url, "audit.notify.webhook.url"
        )


def check_encryption(url: str, webhook: WebhookTable) -> None:
    """Refuse to send secrets over http, except to this machine.

    The address may hold variables or their values; a host that is a variable is checked later.
    """
    host = re.match(r"(?i)http://(?:[^/?#]*@)?(\[[^\]/?#]*\]|[^:/?#]*)", url)
    is_secret = bool(find_variables(webhook.url)) or any(map(find_variables, webhook.headers.values()))
    if host and is_secret and not find_variables(host[1]) and not _is_loopback(host[1].strip("[]")):
        raise UsageError(
            "`audit.notify.webhook.url` must begin with https:// if the address or a header holds a secret; "
            "got http://, which is not encrypted. Only localhost may be reached by http://."
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _check_headers(webhook: WebhookTable) -> Iterator[str]:
    for name, value in webhook.headers.items():
        if name.lower() not in _PLAIN_HEADERS and not find_variables(value):
            key = join_key(("audit", "notify", "webhook", "headers", name))
            yield f"`{key}` must take its secret from the environment, as ${{NAME}}; got plain text."


def _check_notify(notify: NotifyTable) -> Iterator[str]:
    if notify.command and not notify.command[0].strip():
        yield "`audit.notify.command` must begin with a program; got an empty text."
    for argument in notify.command:
        if find_variables(argument):
            yield (
                "`audit.notify.command` is run without substitution of variables, in the whole environment; "
                f"got {argument!r}: read the variable in the program."
            )
        elif _SECRET_WORD.search(argument):
            yield (
                "`audit.notify.command` must hold no secrets, because reports contain their configuration: "
                "read them from the environment in the program."
            )
    if notify.webhook and not re.match(r"(?i)https?://|\$\{", notify.webhook.url):
        yield f"`audit.notify.webhook.url` must begin with https:// or http://; got {notify.webhook.url!r}."
    if notify.email:
        yield from _check_email(notify.email)


def _check_email(email: EmailTable) -> Iterator[str]:
    key = "audit.notify.email"
    yield from find_failure(partial(check_option, allowed=SECURITY), email.security, f"{key}.security")
    if not email.recipients:
        yield f"`{key}.recipients` must name at least one recipient; got an empty list."
    if email.port is not None and not 1 <= email.port <= _LARGEST_PORT:
        yield f"`{key}.port` must be a whole number from 1 to {_LARGEST_PORT}; got {email.port}."
    if email.password and email.password != f"${{{''.join(find_variables(email.password))}}}":
        yield f"`{key}.password` must come from the environment, as ${{NAME}}; got plain text."
    if bool(email.user) != bool(email.password):
        yield f"`{key}` must have both `user` and `password`, or neither."
    if email.password and email.security == "none":
        yield f'`{key}.security` must be "starttls" or "tls" if there is a password; got "none".'
