"""Plan of an audit: its configuration, folders, clock and secrets, checked before it starts."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from scorereport._utils.clock import read_clock
from scorereport._utils.files import make_folder, write_text
from scorereport._utils.redaction import Redactor, expand_address, expand_variables, find_variables
from scorereport.configuration import Configuration, check_arguments, read_configuration
from scorereport.configuration.audit_rules import check_audit_name
from scorereport.configuration.messages import raise_problems
from scorereport.configuration.schedules import Schedule, check_zone
from scorereport.errors import UsageError
from scorereport.history.database import describe_url, find_database_file, read_url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zoneinfo import ZoneInfo

    from sqlalchemy import URL

    from scorereport.configuration.audit_tables import AuditTable

_SQLITE_PREFIX = "sqlite:///"
_DATABASE_FILE = "history.db"
#: A year of monthly audits: over how many of them false alarms are rare, if no schedule tells.
_LOOKS_ASSUMED = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """An audit as its configuration asks for it; all folders are beside the configuration."""

    path: Path
    name: str
    configuration: Configuration

    @property
    def audit(self) -> AuditTable:
        """The table `[audit]`."""
        return self.configuration.audit

    @cached_property
    def zone(self) -> ZoneInfo:
        """The time zone in which days begin and the clock of the schedule runs."""
        return check_zone(self.audit.time_zone)

    @property
    def schedule(self) -> Schedule | None:
        """When audits run, if anything is said of it."""
        cron = self.audit.schedule.cron
        return Schedule(cron=cron, time_zone=self.audit.time_zone) if cron else None

    @property
    def folder(self) -> Path:
        """The folder of all that audits leave behind."""
        return self.path.parent / self.audit.folder

    @property
    def reports(self) -> Path:
        """The folder of reports."""
        return self.folder / self.audit.output.folder

    @property
    def base(self) -> Path:
        """The folder that records name others from: that of the history, or of the audit if a server has it.

        So all configurations that share a file of records find each other's reports, wherever they lie.
        """
        return self.folder if self.history_file is None else self.history_file.parent

    @property
    def reports_folder(self) -> str:
        """The folder of reports, as records name it."""
        return Path(os.path.relpath(self.reports.resolve(), self.base.resolve())).as_posix()

    @property
    def locks(self) -> Path:
        """The folder of the files that keep two audits of one model apart."""
        return self.folder / "locks"

    @property
    def head(self) -> Path:
        """The file that remembers the last record of this history, outside of the database."""
        if self.history_file is not None:
            return self.history_file.with_name(f"head-{self.history_file.name}")
        server = describe_url(self.database_url)  # a new password is no new history
        return self.folder / f"head-{hashlib.sha256(server.encode()).hexdigest()[:12]}"

    @property
    def home(self) -> Path:
        """The file with the mark of this folder, by which a shared history tells whose files are where."""
        return self.folder / "home"

    @property
    def mark(self) -> str:
        """The mark of this folder; empty if it has none yet, or where all share a file of records."""
        has_mark = self.history_file is None and self.home.is_file()
        return self.home.read_text(encoding="utf-8").strip() if has_mark else ""

    def make_mark(self) -> str:
        """The mark of this folder, made where it is needed and there is none yet."""
        if self.history_file is not None or self.mark:
            return self.mark
        if self.head.exists():
            raise UsageError(
                f"The file {self.home}, by which the history knows whose files are kept here, is gone or "
                "empty, though audits were run here: restore it; `audit history --json` shows it as `home`."
            )
        make_folder(self.home.parent)
        write_text(self.home, f"{uuid4()}\n")
        return self.mark

    @property
    def now(self) -> datetime:
        """Now, in the time zone of the audit."""
        return datetime.fromisoformat(read_clock()).astimezone(self.zone)

    def resolve(self, folder: str) -> Path:
        """A folder of reports that a record names."""
        return self.base / folder

    @property
    def database_url(self) -> URL:
        """The address of the history, with its secrets: for the database alone."""
        from sqlalchemy import URL

        if self.history_file is not None:  # as a text, a folder with a question mark would end the path
            return URL.create("sqlite", database=str(self.history_file))
        key = "audit.history.database"
        address = read_url(self.expand(self.audit.history.database, key))
        if find_database_file(address) is not None:
            raise UsageError(
                f"`{key}` must be written out, without variables, where it is a file of SQLite: its folder "
                "is that of the history."
            )
        return address

    @property
    def history_file(self) -> Path | None:
        """The file of the history; None if a server has it."""
        given = self.audit.history.database
        if not given:
            return (self.folder / _DATABASE_FILE).resolve()
        if not given.startswith(_SQLITE_PREFIX):
            return None
        return (self.path.parent / given.removeprefix(_SQLITE_PREFIX)).resolve()

    def count_looks(self, as_of: datetime) -> int:
        """Over how many audits false alarms are to be rare: those of a year, unless given."""
        if self.audit.comparison.looks is not None:
            return self.audit.comparison.looks
        return _LOOKS_ASSUMED if self.schedule is None else self.schedule.count_in_year(as_of)

    def expand(self, text: str, key: str) -> str:
        """A text with its environment variables put in: never to be shown."""
        is_address = key.endswith(".database")
        return expand_address(text, key=key) if is_address else expand_variables(text, key=key)[0]

    @cached_property
    def redactor(self) -> Redactor:
        """What takes the secrets out of any text that others may read."""
        names = dict.fromkeys(name for text in _list_texts(self.audit) for name in find_variables(text))
        return Redactor(tuple(value for name in names if (value := os.environ.get(name))))


def read_plan(path: str | Path) -> Plan:
    """Read the configuration of an audit, and refuse one that lacks what an audit needs."""
    file = Path(path)
    configuration = read_configuration(file)
    name = configuration.audit.name or file.stem
    raise_problems(configuration.name, list(_find_missing(configuration)))
    check_audit_name(name, "audit.name")
    check_arguments(configuration, configuration.evaluation.arguments)
    return Plan(path=file, name=name, configuration=configuration)


def _find_missing(configuration: Configuration) -> Iterator[str]:
    """Keys that a report can do without, and an audit cannot."""
    audit, evaluation = configuration.audit, configuration.evaluation
    if not (audit.source.file or audit.source.query or audit.source.table):
        yield "`audit.source` is missing: name a `file`, or a `database` with a `query` or a `table`."
    if evaluation.engine == "spark":
        yield '`evaluation.engine` must be "auto", "memory" or "duckdb" in an audit; got "spark".'
    if evaluation.outcome is None:
        yield "`evaluation.outcome` is missing: name the column of outcomes."
    if not evaluation.forecasts:
        yield "`evaluation.forecasts` is missing: name the columns of probabilities."
    if evaluation.weight_kind == "frequency" and evaluation.weight is None:
        yield (
            "`evaluation.weight_kind` is given, but there is no column of weights; name one with "
            "`evaluation.weight`."
        )
    if audit.window.period != "all" and not (audit.window.column or _asks_for_days(audit.source.query)):
        query = ", or ask for them by :start and :end in the query" if audit.source.query else ""
        yield f"`audit.window.column` is missing: name the column of dates that the period is about{query}."


def _asks_for_days(query: str) -> bool:
    """Whether a query chooses the rows of the period itself."""
    return all(re.search(rf"(?<!:):{name}\b", query) for name in ("start", "end"))


def _list_texts(audit: AuditTable) -> Iterator[str]:
    """The texts that may name environment variables."""
    yield from (audit.source.database, audit.history.database)
    if audit.notify.webhook:
        yield audit.notify.webhook.url
        yield from audit.notify.webhook.headers.values()
    if audit.notify.email:
        email = audit.notify.email
        yield from (email.host, email.user, email.password)
