"""The table `[audit]` and its sub-tables: source, window, schedule, output and notifications of an audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, TypeVar

from scorereport.channels import CHANNELS, channel
from scorereport.channels.notification import FORMATS
from scorereport.configuration.documented_keys import Help
from scorereport.configuration.integrity_tables import AnchorsTable, SealTable, SigningTable

_T = TypeVar("_T")

#: Unknown keys, and values of another type, are refused.
STRICT = channel.STRICT

CERTIFY = ("required", "optional", "off")
NEWEST = ("modified", "name")
CATCH_UP = ("latest", "all", "none")
METHODS = ("evidence", "tests")
DIGESTS = ("none", "daily")
#: Outcomes of an audit, for `audit.notify.on`.
OUTCOMES = ("pass", "warn", "inconclusive", "fail", "done", "certificate failed", "failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTable:
    """`[audit.source]`: a file or folder, the newest of several, or a query or a table of a database.

    `schema` is the schema of the table; `seconds` is the time limit for the answer of a database.
    """

    __pydantic_config__: ClassVar = STRICT

    file: Annotated[
        str,
        Help(
            "a file such as .csv, .csv.gz, .parquet, .xlsx or .rds, relative to the configuration, or a "
            "pattern such as `scores/*.parquet`, of which the newest file is read. `{period}`, `{start}` and "
            "`{end}` stand for the label of the period (see [labels of periods](#labels-of-periods)), its"
            " first day, and the day after its last: `scores/{period}.csv`; hours are written 2026-11-15T06."
            " With a slash at its end, as "
            "in `scores/{period}/`, or a name that ends in .parquet, it may be a folder of Parquet files,"
            " which are all read. A .duckdb file needs a `table`. `separator`, `decimal` and `encoding` "
            "of a CSV file are keys of `[evaluation]`"
        ),
    ] = ""
    newest: Annotated[
        str,
        Help(
            'how the newest file is determined: by "modified" (default), the time of its last change, or '
            'by "name"'
        ),
    ] = "modified"
    database: Annotated[
        str,
        Help(
            "an address in the form of SQLAlchemy: `sqlite:///loans.db`, "
            "`postgresql://user:${PASSWORD}@host/name`"
        ),
    ] = ""
    query: Annotated[
        str,
        Help(
            "one SELECT; without a `column`, it must select the days itself: `:start` and `:end` are "
            "bound to the first day of the period and the day after the last, or to local times for hours"
            " (in SQLite, to texts such as 2026-11-15 06:00)"
        ),
    ] = ""
    table: Annotated[
        str,
        Help(
            "the name of a table or a view, in the `database` or in a .duckdb file; its columns are "
            "selected by name. Of an .xlsx file with several sheets, the sheet; "
            "of an .RData file with several data frames, the data frame"
        ),
    ] = ""
    schema: Annotated[
        str,
        Help(
            "the schema of the `table`; by default the one that the database searches first. "
            '`risk.scores` is `schema = "risk"` and `table = "scores"`'
        ),
    ] = ""
    seconds: Annotated[
        int, Help("the time limit of the database query, after which the run fails; 3600 by default")
    ] = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowTable:
    """`[audit.window]`: the column of dates or times, and the period that an audit covers."""

    __pydantic_config__: ClassVar = STRICT

    column: Annotated[
        str,
        Help(
            "the column of dates or times; times without a zone are in `time_zone`, and a month such as "
            "2026-05 counts as its first day"
        ),
    ] = ""
    period: Annotated[
        str,
        Help(
            '"last 30 days" (or hours, weeks, months), "previous calendar month" (or hour, day, week, '
            'quarter, year), or "all" (default): all rows, up to the day of the audit if there is a `column`.'
            ' A period consists of whole days, or hours, that are over: "last 30 days" on 15 November are 16 '
            "October to 14 November"
        ),
    ] = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonTable:
    """`[audit.comparison]`: how audits are compared over time, and how rare false alarms are."""

    __pydantic_config__: ClassVar = STRICT

    method: Annotated[
        str,
        Help(
            '"evidence" (default): evidence that adds up over all audits and may be looked at any time; '
            '"tests": tests against the latest audits with adjusted p-values, as in version 0.1, which the '
            "next version removes"
        ),
    ] = "evidence"
    tolerance: Annotated[
        float,
        Help(
            "the miscalibration that is tolerated, in log-odds: with 0.1 (default) the odds of the event may "
            "differ from those of the forecast by about 10 %; 0 is exact calibration"
        ),
    ] = 0.1
    since: Annotated[
        str,
        Help(
            "the first period, or day, whose evidence counts, such as the first one of a new version of the "
            "model; by default that of the first audit"
        ),
    ] = ""
    audits: Annotated[int, Help("the number of earlier audits to compare with; 12 by default")] = 12
    alpha: Annotated[
        float,
        Help(
            "how rare false alarms are: for evidence, on average at most `alpha` of them in `looks` audits; "
            "for tests, the probability of any of them in `looks` audits in a row; 0.05 by default"
        ),
    ] = 0.05
    looks: Annotated[
        int | None,
        Help(
            "the number of audits that `alpha` refers to; by default those of the schedule in a year, and"
            " 12 without a schedule"
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineTable:
    """`[audit.baseline]`: the fixed sample that audits are compared with; sealed in the history once."""

    __pydantic_config__: ClassVar = STRICT

    file: Annotated[
        str,
        Help(
            "a file with the columns of the audit, such as the development sample, relative to the "
            "configuration"
        ),
    ] = ""
    period: Annotated[str, Help("the label of a period whose audit is in the history, such as 2026-01")] = ""
    audits: Annotated[
        int | None, Help("the number of audits, from the first, that together are the baseline")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomesTable:
    """`[audit.outcomes]`: when outcomes are final."""

    __pydantic_config__: ClassVar = STRICT

    mature_after: Annotated[
        str,
        Help(
            'how long after the time of its row an outcome is final: "90 days" (or hours, weeks, months). '
            "Younger rows are not evaluated; they are counted, and the report bounds their effect"
        ),
    ] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTable:
    """`[audit.output]`: the folder of reports, below `audit.folder`, and their formats."""

    __pydantic_config__: ClassVar = STRICT

    folder: Annotated[
        str, Help('the report folder, relative to the folder of the audit; "reports" by default')
    ] = "reports"
    formats: Annotated[tuple[str, ...], Help('"pdf", "html", "json"; all three by default')] = FORMATS


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryTable:
    """`[audit.retention]`: the days after which report files expire, and how many audits keep theirs."""

    __pydantic_config__: ClassVar = STRICT

    days: Annotated[
        int | None,
        Help(
            "the number of days after which files are removed; never by default. The history records what"
            " was removed"
        ),
    ] = None
    keep: Annotated[
        int, Help("this many of the latest audits keep their files in any case; 12 by default")
    ] = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleTable:
    """`[audit.schedule]`: when audits run, and what happens to those that were missed."""

    __pydantic_config__: ClassVar = STRICT

    cron: Annotated[
        str, Help("minute, hour, day of month, month, day of week, in the time zone of the audit")
    ] = ""
    catch_up: Annotated[
        str, Help('which missed runs are made up for: the "latest" (default), "all" in order, or "none"')
    ] = "latest"


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryTable:
    """`[audit.history]`: the database of all audits; by default a file in `audit.folder`."""

    __pydantic_config__: ClassVar = STRICT

    database: Annotated[
        str,
        Help(
            "an address as in `[audit.source]`, for a history that a team shares; by default a SQLite "
            "file in the folder of the audit"
        ),
    ] = ""


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

    on: Annotated[
        tuple[str, ...],
        Help(
            'the outcomes that are notified: "pass", "warn", "inconclusive", "fail", "done" (no limits), '
            '"certificate failed", "failed" (the run itself); all but "pass" and "done" by default'
        ),
    ] = ("warn", "inconclusive", "fail", "certificate failed", "failed")
    digest: Annotated[
        str,
        Help(
            '"none" (default): one notification for each run; "daily": one for all runs of a day, sent by '
            "`audit serve` at the end of the day, with the first run of a later day, or by `audit notify`. "
            "Failed runs, alarms on the history and changes of limits are sent at once"
        ),
    ] = "none"
    site: Annotated[
        str,
        Help(
            "the address of the web site of `audit site`, such as https://audits.example.com, for links in "
            "notifications and feeds; without it notifications name the path of the report"
        ),
    ] = ""

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

    name: Annotated[
        str,
        Help(
            "the name of the audit in the history and of its folder; by default the name of the file "
            "without its ending. A name is refused if Windows reserves it for a device (`CON`, `nul.x`), "
            "if it ends in a dot, or if it differs from another audit of the history in case only"
        ),
    ] = ""
    folder: Annotated[
        str,
        Help(
            'folder of history, reports and locks, relative to the configuration; "audits" by default. '
            "Configurations that name the same folder share its history"
        ),
    ] = "audits"
    time_zone: Annotated[str, Help('the time zone of days and schedule; "UTC" by default')] = "UTC"
    certify: Annotated[
        str,
        Help(
            '"optional" (default): compare with R, and report if R is not available; "required": the run '
            'fails unless the R package reliabilitydiag has certified the numbers; "off"'
        ),
    ] = "optional"
    approve_limits: Annotated[
        bool,
        Help(
            "true: a run needs an approval of its limits (`audit approve`) that is signed by another key "
            "than the run; false by default"
        ),
    ] = False
    source: SourceTable = field(default_factory=SourceTable)
    window: WindowTable = field(default_factory=WindowTable)
    comparison: ComparisonTable = field(default_factory=ComparisonTable)
    baseline: BaselineTable = field(default_factory=BaselineTable)
    outcomes: OutcomesTable = field(default_factory=OutcomesTable)
    output: OutputTable = field(default_factory=OutputTable)
    retention: ExpiryTable = field(default_factory=ExpiryTable)
    schedule: ScheduleTable = field(default_factory=ScheduleTable)
    history: HistoryTable = field(default_factory=HistoryTable)
    signing: SigningTable = field(default_factory=SigningTable)
    seal: SealTable = field(default_factory=SealTable)
    anchors: AnchorsTable = field(default_factory=AnchorsTable)
    notify: NotifyTable = field(default_factory=NotifyTable)
