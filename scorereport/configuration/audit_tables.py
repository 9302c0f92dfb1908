"""The table `[audit]` and its sub-tables: source, window, schedule, output and notifications of an audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

#: Unknown keys, and values of another type, are refused.
STRICT: dict[str, Any] = {"extra": "forbid", "strict": True}

CERTIFY = ("required", "optional", "off")
NEWEST = ("modified", "name")
#: Endings of files that are databases, from which a table is read.
DATABASE_FILES = (".duckdb", ".ddb")
CATCH_UP = ("latest", "all", "none")
FORMATS = ("pdf", "html", "json")
SECURITY = ("starttls", "tls", "none")
#: Outcomes of an audit, for `audit.notify.on`.
OUTCOMES = ("pass", "warn", "inconclusive", "fail", "done", "certificate failed", "failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTable:
    """`[audit.source]`: a file or folder, the newest of several, or a query or a table of a database.

    `schema` is the schema of the table; `seconds` is the time limit for the answer of a database.
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
    """`[audit.window]`: the column of dates, and the period of days that an audit covers."""

    __pydantic_config__: ClassVar = STRICT

    column: str = ""
    period: str = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonTable:
    """`[audit.comparison]`: the number of reference audits, and the probability of a false alarm."""

    __pydantic_config__: ClassVar = STRICT

    audits: int = 12
    alpha: float = 0.05
    looks: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTable:
    """`[audit.output]`: the folder of reports, below `audit.folder`, and their formats."""

    __pydantic_config__: ClassVar = STRICT

    folder: str = "reports"
    formats: tuple[str, ...] = FORMATS


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryTable:
    """`[audit.retention]`: the days after which report files expire, and how many audits keep theirs."""

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
    """`[audit.history]`: the database of all audits; by default a file in `audit.folder`."""

    __pydantic_config__: ClassVar = STRICT

    database: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTable:
    """`[audit.notify.webhook]`: an address to which the outcome of an audit is sent as JSON."""

    __pydantic_config__: ClassVar = STRICT

    url: str
    headers: dict[str, str] = field(default_factory=dict)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyTable:
    """`[audit.notify]`: the outcomes that are notified, and the channels."""

    __pydantic_config__: ClassVar = STRICT

    on: tuple[str, ...] = ("warn", "inconclusive", "fail", "certificate failed", "failed")
    command: tuple[str, ...] = ()
    webhook: WebhookTable | None = None
    email: EmailTable | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditTable:
    """`[audit]`: the settings of `scorereport audit`.

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
