"""Where the rows of an audit come from: the newest file or a database, and of it the days of the period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scorereport.audit.databases.database import find_database
from scorereport.audit.rows.accepting import accept_rows
from scorereport.audit.rows.reading_rows import read_database, read_file
from scorereport.audit.rows.window import choose_rows
from scorereport.errors import UsageError
from scorereport.predictions import ClassPredictions, Predictions, check_class_names
from scorereport.reading import Roles, _columns_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from scorereport.configuration.audit_tables import SourceTable, WindowTable
    from scorereport.periods import Period

#: Parts beside outcomes and forecasts that columns may play.
_PARTS = ("weight", "group", "cluster", "grade", "time")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gathered:
    """The rows of an audit, what they were read from, and the hash of the file if it was one."""

    predictions: Predictions | ClassPredictions
    source: str
    source_sha256: str


def gather(
    source: SourceTable,
    window: WindowTable,
    period: Period,
    columns: Mapping[str, Any],
    *,
    folder: Path,
    zone: ZoneInfo,
    expand: Callable[[str, str], str],
) -> Gathered:
    """Read the rows that an audit of a period is about.

    Parameters
    ----------
    source, window : the tables of the configuration
    period : the days of the audit
    columns : which column plays which part, as `read_predictions` takes them
    folder : the folder of the configuration, which paths are relative to
    zone : the time zone in which days begin, and that of times which name none
    expand : puts environment variables into a text; what it returns is secret
    """
    _check_source(source)
    roles = _find_roles(columns)
    if source.file:
        read = read_file(source, window, period, roles, folder)
    else:
        database = find_database(source, folder=folder, zone=zone, expand=expand)
        read = read_database(database, window, period, roles)
    is_time, drop = window.column == roles.time, columns.get("missing") == "drop"
    chosen = choose_rows(read, window.column, period, zone, is_time=is_time, drop=drop)
    predictions = accept_rows(chosen, read, window.column, period, columns, roles)
    return Gathered(predictions=predictions, source=read.source, source_sha256=read.sha256)


def _check_source(source: SourceTable) -> None:
    """One source, and what belongs to it."""
    if bool(source.file) == bool(source.database):
        raise UsageError("`audit.source` must name either a `file` or a `database`, and not both.")
    if source.database and bool(source.query) == bool(source.table):
        raise UsageError("`audit.source.database` needs either a `query` or a `table`, and not both.")
    if source.file and (source.query or source.table):
        raise UsageError("`audit.source.file` has neither a `query` nor a `table`; these need a `database`.")


def _find_roles(columns: Mapping[str, Any]) -> Roles:
    """Which columns are needed, and for what."""
    classes = columns.get("classes")
    labels = None if classes is None else check_class_names(classes)
    parts = {part: columns.get(part) for part in _PARTS}
    return Roles.of(columns["outcome"], _columns_of(columns["forecasts"], labels), **parts)
