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
from scorereport.channels.channel import list_texts
from scorereport.configuration import Configuration, check_arguments, read_configuration
from scorereport.configuration.audit_rules import check_audit_name
from scorereport.configuration.messages import raise_problems
from scorereport.configuration.period_labels import find_label_start
from scorereport.configuration.schedules import Schedule, check_zone
from scorereport.data.roles import count_classes
from scorereport.errors import UsageError
from scorereport.evaluation.arguments import find_conflicts, name_key
from scorereport.history.database import describe_url, find_database_file, read_url
from scorereport.history.signing_keys import PASSWORD_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zoneinfo import ZoneInfo

    from sqlalchemy import URL

    from scorereport.configuration.audit_tables import AuditTable

_SQLITE_PREFIX = "sqlite:///"
_DATABASE_FILE = "history.db"
_KEY_FILE = "audit-key.pem"
#: The number of audits over which false alarms are to be rare, without a schedule: a year of monthly audits.
_LOOKS_ASSUMED = 12


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """An audit as its configuration describes it; folders are relative to that of the configuration."""

    path: Path
    name: str
    configuration: Configuration

    @property
    def audit(self) -> AuditTable:
        """The table `[audit]`."""
        return self.configuration.audit

    @cached_property
    def zone(self) -> ZoneInfo:
        """The time zone of days and of the schedule."""
        return check_zone(self.audit.time_zone)

    @property
    def schedule(self) -> Schedule | None:
        """The schedule of the audit; None if the configuration has none."""
        cron = self.audit.schedule.cron
        return Schedule(cron=cron, time_zone=self.audit.time_zone) if cron else None

    @property
    def folder(self) -> Path:
        """The folder of all files that audits write."""
        return self.path.parent / self.audit.folder

    @property
    def reports(self) -> Path:
        """The folder that holds a report folder for each audit."""
        return self.folder / self.audit.output.folder

    @property
    def base(self) -> Path:
        """The folder that paths in records are relative to.

        It is the folder of the history file, or of the audit if the history is on a server. So all
        configurations that share a history file find each other's reports, wherever they are.
        """
        return self.folder if self.history_file is None else self.history_file.parent

    @property
    def reports_folder(self) -> str:
        """The folder of reports as records name it: relative to `base`."""
        return Path(os.path.relpath(self.reports.resolve(), self.base.resolve())).as_posix()

    @property
    def locks(self) -> Path:
        """The folder of the lock files, which prevent two runs of an audit at the same time."""
        return self.folder / "locks"

    @property
    def chain_head(self) -> Path:
        """The file outside of the database that holds the chain head: id and hash of the last record."""
        if self.history_file is not None:
            return self.history_file.with_name(f"head-{self.history_file.name}")
        former = self._name_beside_server("head", self.database_url)
        return former if former.exists() else self._name_beside_server("head", self._server)

    @property
    def _server(self) -> URL:
        """The address of the history without the role, because several may write and read it."""
        return self.database_url._replace(username=None, password=None)  # `set` would leave them as they are

    def _name_beside_server(self, kind: str, server: URL) -> Path:
        name = describe_url(server)  # without the password: a new one is not a new history
        return self.folder / f"{kind}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"

    @property
    def trusted_keys(self) -> Path:
        """The file with the fingerprints of the keys whose records are accepted, beside the chain head."""
        if self.history_file is not None:
            return self.history_file.with_name(f"trusted-keys-{self.history_file.name}")
        return self._name_beside_server("trusted-keys", self._server)

    @property
    def signing_key(self) -> Path:
        """The file of the private key that signs records."""
        if self.audit.signing.key:
            return self.path.parent / Path(self.audit.signing.key).expanduser()
        folder = os.environ.get("XDG_CONFIG_HOME")
        return (Path(folder) if folder else Path.home() / ".config") / "scorereport" / _KEY_FILE

    @property
    def anchors(self) -> Path | None:
        """The folder of the anchors; None if records are not anchored."""
        folder = self.audit.anchors.folder
        return (self.path.parent / Path(folder).expanduser()).resolve() if folder else None

    @property
    def home(self) -> Path:
        """The file with the marker of this folder.

        Records of a history on a server carry the marker of the folder that holds their files.
        """
        return self.folder / "home"

    @property
    def marker(self) -> str:
        """The marker of this folder; empty if it has none yet, or if the history is a file."""
        has_marker = self.history_file is None and self.home.is_file()
        return self.home.read_text(encoding="utf-8").strip() if has_marker else ""

    def create_marker(self) -> str:
        """Return the marker of this folder; write one if the history is on a server and there is none yet."""
        if self.history_file is not None or self.marker:
            return self.marker
        if self.chain_head.exists():
            raise UsageError(
                f"The file {self.home}, which identifies this folder in the history, is missing or empty, "
                "though audits were run here. To fix: restore it; `audit history --json` shows its content "
                "as `home`."
            )
        make_folder(self.home.parent)
        write_text(self.home, f"{uuid4()}\n")
        return self.marker

    @property
    def documents(self) -> dict[str, bytes]:
        """The configuration as a document that the history keeps, by its SHA-256."""
        return {self.configuration.sha256: self.configuration.text.encode()}

    @property
    def now(self) -> datetime:
        """The present moment, in the time zone of the audit."""
        return datetime.fromisoformat(read_clock()).astimezone(self.zone)

    def resolve(self, folder: str) -> Path:
        """Return the path of a folder of reports that a record names."""
        return self.base / folder

    @property
    def database_url(self) -> URL:
        """The address of the history. It holds secrets: pass it to the database only."""
        from sqlalchemy import URL

        if self.history_file is not None:  # not from a text, in which a question mark would end the path
            return URL.create("sqlite", database=str(self.history_file))
        key = "audit.history.database"
        address = read_url(self.expand(self.audit.history.database, key))
        if find_database_file(address) is not None:
            raise UsageError(
                f"`{key}` must not contain environment variables if it is an SQLite file: the folder of the "
                "file is that of the history."
            )
        return address

    @property
    def history_file(self) -> Path | None:
        """The history file; None if the history is on a server."""
        address = self.audit.history.database
        if not address:
            return (self.folder / _DATABASE_FILE).resolve()
        if not address.startswith(_SQLITE_PREFIX):
            return None
        return (self.path.parent / address.removeprefix(_SQLITE_PREFIX)).resolve()

    def count_looks(self, as_of: datetime) -> int:
        """Return over how many audits false alarms are to be rare: by default, those of a year."""
        if self.audit.comparison.looks is not None:
            return self.audit.comparison.looks
        return _LOOKS_ASSUMED if self.schedule is None else self.schedule.count_in_year(as_of)

    @property
    def since(self) -> str:
        """The first day whose evidence counts; empty if all days count."""
        label = self.audit.comparison.since
        return find_label_start(label, name="audit.comparison.since") if label else ""

    def expand(self, text: str, key: str) -> str:
        """Return a text with its environment variables replaced by their values; never show the result."""
        is_address = key.endswith(".database")
        return expand_address(text, key=key) if is_address else expand_variables(text, key=key)[0]

    @cached_property
    def redactor(self) -> Redactor:
        """The redactor that removes the secrets of the configuration from texts."""
        names = dict.fromkeys(name for text in _list_texts(self.audit) for name in find_variables(text))
        return Redactor(
            tuple(value for name in [*names, PASSWORD_VARIABLE] if (value := os.environ.get(name)))
        )


def read_plan(path: str | Path) -> Plan:
    """Read the configuration of an audit; raise an error if it lacks a key that an audit needs."""
    file = Path(path)
    configuration = read_configuration(file)
    name = configuration.audit.name or file.stem
    raise_problems(configuration.name, list(_find_missing(configuration)))
    check_audit_name(name, "audit.name")
    check_arguments(configuration, configuration.arguments)
    return Plan(path=file, name=name, configuration=configuration)


def _find_missing(configuration: Configuration) -> Iterator[str]:
    """Find keys that are missing: required for an audit, though optional for a report."""
    audit, evaluation = configuration.audit, configuration.evaluation
    if not (audit.source.file or audit.source.query or audit.source.table):
        yield "`audit.source` is missing: name a `file`, or a `database` with a `query` or a `table`."
    if evaluation.given.get("engine") == "spark":
        yield '`evaluation.engine` must be "auto", "memory" or "duckdb" in an audit; got "spark".'
    if "outcome" not in evaluation.given:
        yield "`evaluation.outcome` is missing: name the column of outcomes."
    if "forecasts" not in evaluation.given:
        yield "`evaluation.forecasts` is missing: name the columns of probabilities."
    yield from find_conflicts(evaluation.given, count_classes(evaluation.columns), name_key)
    if audit.window.period != "all" and not (audit.window.column or _selects_period(audit.source.query)):
        query = ", or select the rows by :start and :end in the query" if audit.source.query else ""
        yield f"`audit.window.column` is missing: name the column of dates that the period refers to{query}."


def _selects_period(query: str) -> bool:
    """Whether a query selects the rows of the period itself."""
    return all(re.search(rf"(?<!:):{name}\b", query) for name in ("start", "end"))


def _list_texts(audit: AuditTable) -> Iterator[str]:
    """List the texts of the configuration that may name environment variables."""
    yield from (audit.source.database, audit.history.database, audit.anchors.time_stamp)
    for value in audit.notify.channels.values():
        yield from list_texts(value)
