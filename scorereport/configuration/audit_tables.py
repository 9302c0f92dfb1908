"""The table `[audit]` and its sub-tables: source, window, schedule, output and notifications of an audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from scorereport.channels import CHANNELS, channel
from scorereport.channels.notification import FORMATS

_T = TypeVar("_T")

#: Unknown keys, and values of another type, are refused.
STRICT = channel.STRICT

CERTIFY = ("required", "optional", "off")
NEWEST = ("modified", "name")
CATCH_UP = ("latest", "all", "none")
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


def _add_channels(table: type[_T]) -> type[_T]:
    """Add a key for each channel to a class, before it becomes a dataclass."""
    for name, added in CHANNELS.items():
        table.__annotations__[name] = added.annotation
        setattr(table, name, added.default)
    return table


@dataclass(frozen=True, slots=True, kw_only=True)
@_add_channels
class NotifyTable:
    """`[audit.notify]`: the outcomes that are notified, and the channels."""

    __pydantic_config__: ClassVar = STRICT

    on: tuple[str, ...] = ("warn", "inconclusive", "fail", "certificate failed", "failed")

    @property
    def channels(self) -> dict[str, object]:
        """The channels that are used: their values in the configuration, by key."""
        return {name: value for name in CHANNELS if (value := getattr(self, name))}


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
