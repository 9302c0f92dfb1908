"""Rules for the values of the tables of an audit."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from scorereport._utils.checks import check_inside, check_option, check_whole
from scorereport._utils.redaction import SECRET_REFUSED, find_literal_secret
from scorereport.channels import CHANNELS
from scorereport.channels.notification import FORMATS
from scorereport.channels.webhook import WebhookTable, find_address_problems
from scorereport.configuration.audit_tables import (
    CATCH_UP,
    CERTIFY,
    DIGESTS,
    METHODS,
    NEWEST,
    OUTCOMES,
    AuditTable,
)
from scorereport.configuration.messages import find_failure, join_key
from scorereport.configuration.outcome_maturity import check_mature_after
from scorereport.configuration.period_labels import find_label_start
from scorereport.configuration.periods import check_window_text
from scorereport.configuration.schedules import check_schedule, check_zone
from scorereport.data.sources import DATABASE_ENDINGS, PART_ENDINGS
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scorereport.configuration.audit_tables import BaselineTable, NotifyTable, SourceTable
    from scorereport.configuration.integrity_tables import AnchorsTable, SealTable

#: Names that are valid file names on every system.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
#: Names that no folder may have on Windows, with or without an ending.
_DEVICES = {"con", "prn", "aux", "nul", *(f"{kind}{digit}" for kind in ("com", "lpt") for digit in range(10))}

_FINGERPRINT = re.compile(r"[0-9a-f]{64}")

#: Checks of single values, by key.
_CHECKS: dict[str, Callable[[Any, str], object]] = {
    "certify": partial(check_option, allowed=CERTIFY),
    "time_zone": lambda zone, name: check_zone(zone, name=name),
    "source.newest": partial(check_option, allowed=NEWEST),
    "source.seconds": partial(check_whole, smallest=1),
    "window.period": lambda text, name: check_audit_window(text, name=name),
    "comparison.method": partial(check_option, allowed=METHODS),
    "comparison.tolerance": partial(check_inside, lower=0, upper=5),
    "comparison.since": lambda label, name: find_label_start(label, name=name) if label else "",
    "comparison.audits": partial(check_whole, smallest=1),
    "comparison.alpha": partial(check_inside, lower=0, upper=1, closed="neither"),
    "comparison.looks": partial(check_whole, smallest=1),
    "baseline.audits": partial(check_whole, smallest=1),
    "outcomes.mature_after": check_mature_after,
    "notify.digest": partial(check_option, allowed=DIGESTS),
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
    yield from find_failure(_check_site, table.notify.site, "audit.notify.site")
    yield from _check_cron(table)
    yield from _check_lists(table)
    yield from _check_fingerprints(table.signing.trusted)
    yield from _check_source(table.source)
    yield from _check_maturity(table)
    yield from _check_baseline(table.baseline)
    yield from _check_seal(table.seal)
    yield from _check_anchors(table.anchors)
    yield from _check_secrets(table)
    yield from _check_channels(table.notify)


def _check_site(address: str, key: str) -> None:
    if address and not re.fullmatch(r"(?i)https?://[^\s/@]+(/[^\s?#]*)?", address):
        raise UsageError(
            f"`{key}` must be an address such as https://audits.example.com/models, without user, query and "
            f"blanks; got {address!r}."
        )


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


def _check_options(value: str | tuple[str, ...], known: tuple[str, ...], key: str) -> Iterator[str]:
    """Check an option, or a list of options: only known options, each once."""
    chosen = (value,) if isinstance(value, str) else value
    for option in chosen:
        yield from find_failure(partial(check_option, allowed=known), option, key)
    if len(set(chosen)) < len(chosen):
        yield f"`{key}` must differ; got {', '.join(map(repr, chosen))}."


def _check_lists(table: AuditTable) -> Iterator[str]:
    yield from _check_options(table.output.formats, FORMATS, "audit.output.formats")
    yield from _check_options(table.notify.on, OUTCOMES, "audit.notify.on")
    if not table.output.formats:
        yield '`audit.output.formats` must name a format of the report, such as "pdf"; got an empty list.'


def _check_fingerprints(trusted: tuple[str, ...]) -> Iterator[str]:
    for fingerprint in trusted:
        if not _FINGERPRINT.fullmatch(fingerprint):
            yield (
                "`audit.signing.trusted` must list fingerprints of keys, 64 characters 0-9 and a-f each, as "
                f"`scorereport audit keys list` shows them; got {fingerprint!r}."
            )


def _check_baseline(baseline: BaselineTable) -> Iterator[str]:
    """Check that a baseline is defined in one way, and that its file is a single one."""
    used = [key for key in ("file", "period", "audits") if getattr(baseline, key)]
    if len(used) > 1:
        named = " and ".join(f"`{key}`" for key in used)
        yield f"`audit.baseline` must have only one of `file`, `period` and `audits`; got {named}."
    if any(sign in baseline.file for sign in "{}*?[]"):
        yield f"`audit.baseline.file` must be the name of one file; got {baseline.file!r}."


def _check_seal(seal: SealTable) -> Iterator[str]:
    """Check that the key columns have names and differ, and that an analysis plan has rows to belong to."""
    if not all(name.strip() for name in seal.key):
        yield "`audit.seal.key` must name columns; got an empty text."
    if len(set(seal.key)) < len(seal.key):
        yield f"`audit.seal.key` must differ; got {', '.join(map(repr, seal.key))}."
    if seal.plan and not seal.key:
        yield "`audit.seal.plan` needs `audit.seal.key`, the columns that identify a row."


def _check_anchors(anchors: AnchorsTable) -> Iterator[str]:
    """Check that stamps have a folder and certificates to check them by; the address follows webhooks."""
    for key in ("time_stamp", "authority"):
        if getattr(anchors, key) and not anchors.folder:
            yield f"`audit.anchors.{key}` needs `audit.anchors.folder`, in which anchors are kept."
    if not anchors.time_stamp:
        return
    if not anchors.authority:
        yield (
            "`audit.anchors.time_stamp` needs `audit.anchors.authority`, a .pem file with the certificates "
            "of the time-stamp authority."
        )
    for _, rule in find_address_problems(WebhookTable(url=anchors.time_stamp)):
        yield f"`audit.anchors.time_stamp` {rule}"


def _check_source(source: SourceTable) -> Iterator[str]:
    """Check that rows have a single source, and that a query or table has a database."""
    name = source.file.lower()
    if name.endswith(DATABASE_ENDINGS) or (source.table and name.endswith(PART_ENDINGS)):
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


def _check_maturity(table: AuditTable) -> Iterator[str]:
    """Check that rows have times, from which their ages are counted."""
    if table.outcomes.mature_after and not table.window.column:
        yield "`audit.outcomes.mature_after` needs `audit.window.column`, the column of times of the rows."


def _check_secrets(table: AuditTable) -> Iterator[str]:
    """Refuse secrets in the configuration, which reports contain; they belong in the environment."""
    addresses = {
        "audit.source.database": table.source.database,
        "audit.history.database": table.history.database,
    }
    for key, address in addresses.items():
        if find_literal_secret(address):
            yield f"`{key}` {SECRET_REFUSED}"


def _check_channels(notify: NotifyTable) -> Iterator[str]:
    for name, value in notify.channels.items():
        channel = CHANNELS[name]
        for key, options in channel.options.items():
            yield from _check_options(getattr(value, key), options, f"audit.notify.{name}.{key}")
        for path, rule in channel.find_problems(value):
            yield f"`{join_key(('audit', 'notify', name, *path))}` {rule}"
