"""The table `[audit]` and those below it: source, window, schedule, output and notifications of an audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

#: Keys that nobody knows are refused, and values of another kind.
STRICT: dict[str, Any] = {"extra": "forbid", "strict": True}


CERTIFY = ("required", "optional", "off")
NEWEST = ("modified", "name")
#: Endings of files that are databases, of which a table is read.
DATABASE_FILES = (".duckdb", ".ddb")
CATCH_UP = ("latest", "all", "none")
FORMATS = ("pdf", "html", "json")
SECURITY = ("starttls", "tls", "none")
#: What an audit may come to, for `audit.notify.on`.
OUTCOMES = ("pass", "warn", "inconclusive", "fail", "done", "certificate failed", "failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTable:
    """`[audit.source]`: a file or folder, the newest of several, or a query or a table of a database.

    A table lies in its schema, if that is given; a database has so many seconds for its answer.
    """

    __pydantic_config__: ClassVar = STRICT

    file: str = ""
    newest: str = "modified"
    database: str = ""
    query: str = ""
    table: str = ""
    schema: str = ""
    seconds: int = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowTable:
    """`[audit.window]`: the column of dates, and which days of it an audit is about."""

    __pydantic_config__: ClassVar = STRICT

    column: str = ""
    period: str = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonTable:
    """`[audit.comparison]`: how many earlier audits are the measure, and how rare false alarms are."""

    __pydantic_config__: ClassVar = STRICT

    audits: int = 12
    alpha: float = 0.05
    looks: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTable:
    """`[audit.output]`: where the reports go, below `audit.folder`, and in which forms."""

    __pydantic_config__: ClassVar = STRICT

    folder: str = "reports"
    formats: tuple[str, ...] = FORMATS


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryTable:
    """`[audit.retention]`: after how many days files of reports go, and how many audits keep theirs."""

    __pydantic_config__: ClassVar = STRICT

    days: int | None = None
    keep: int = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleTable:
    """`[audit.schedule]`: when audits run, and what happens to those that were missed."""

    __pydantic_config__: ClassVar = STRICT

    cron: str = ""
    catch_up: str = "latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryTable:
    """`[audit.history]`: the database of all audits; a file in `audit.folder` unless given."""

    __pydantic_config__: ClassVar = STRICT

    database: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTable:
    """`[audit.notify.webhook]`: an address that is sent what an audit came to, as JSON."""

    __pydantic_config__: ClassVar = STRICT

    url: str
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailTable:
    """`[audit.notify.email]`: who gets an e-mail, through which server."""

    __pydantic_config__: ClassVar = STRICT

    host: str
    sender: str
    recipients: tuple[str, ...]
    port: int | None = None
    security: str = "starttls"
    user: str = ""
    password: str = ""
    attach: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyTable:
    """`[audit.notify]`: on which outcomes somebody is told, and how."""

    __pydantic_config__: ClassVar = STRICT

    on: tuple[str, ...] = ("warn", "inconclusive", "fail", "certificate failed", "failed")
    command: tuple[str, ...] = ()
    webhook: WebhookTable | None = None
    email: EmailTable | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditTable:
    """`[audit]`: what `scorereport audit` does with this configuration.

    `${NAME}` in an address, a header, a user or a password stands for an environment variable.
    """

    __pydantic_config__: ClassVar = STRICT

    name: str = ""
    folder: str = "audits"
    time_zone: str = "UTC"
    certify: str = "optional"
    source: SourceTable = field(default_factory=SourceTable)
    window: WindowTable = field(default_factory=WindowTable)
    comparison: ComparisonTable = field(default_factory=ComparisonTable)
    output: OutputTable = field(default_factory=OutputTable)
    retention: ExpiryTable = field(default_factory=ExpiryTable)
    schedule: ScheduleTable = field(default_factory=ScheduleTable)
    history: HistoryTable = field(default_factory=HistoryTable)
    notify: NotifyTable = field(default_factory=NotifyTable)
