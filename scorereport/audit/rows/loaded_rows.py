"""Rows of an audit, loaded from the newest file or a database, or referenced for an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scorereport.audit.databases.database_rows import find_source_database
from scorereport.audit.rows.period_rows import check_period_rows
from scorereport.audit.rows.period_window import choose_period_rows
from scorereport.audit.rows.source_files import find_source_file
from scorereport.audit.rows.source_reference import (
    RowSelection,
    SourceCopy,
    SourceReference,
    copy_database_rows,
    copy_file_rows,
)
from scorereport.audit.rows.source_rows import read_source_database, read_source_file
from scorereport.configuration.audit_tables import DATABASE_FILES
from scorereport.data.predictions import ClassPredictions, Predictions, check_class_names
from scorereport.data.roles import Roles, columns_of_models
from scorereport.data.sources import describe_source, hash_file
from scorereport.errors import UsageError
from scorereport.evaluation.engines.engine_choice import choose_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from scorereport.configuration.audit_tables import SourceTable, WindowTable
    from scorereport.configuration.periods import Period
    from scorereport.results.evaluation import Evaluation

#: Parts beside outcomes and forecasts that columns may play.
_OPTIONAL_ROLES = ("weight", "group", "cluster", "grade", "time")
AUTO, MEMORY = "auto", "memory"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedRows:
    """The rows of an audit, what they were read from, and the hash of the file if it was one."""

    predictions: Predictions | ClassPredictions
    source: str
    source_sha256: str

    @property
    def data_sha256(self) -> str:
        """What tells these rows from all others."""
        return self.predictions.sha256

    def evaluate(self, evaluate: Callable[..., Evaluation], settings: Mapping[str, Any]) -> Evaluation:
        """Evaluate the rows."""
        return evaluate(self.predictions, **settings)

    def close(self) -> None:
        """There is nothing to be removed."""


def load_rows(
    source: SourceTable,
    window: WindowTable,
    period: Period,
    columns: Mapping[str, Any],
    *,
    folder: Path,
    zone: ZoneInfo,
    expand: Callable[[str, str], str],
    work: Mapping[str, Any] | None = None,
) -> LoadedRows | SourceReference:
    """Read the rows that an audit of a period is about, or find them where they need not fit into memory.

    Parameters
    ----------
    source, window : the tables of the configuration
    period : the days of the audit
    columns : which column plays which part, as `read_predictions` takes them
    folder : the folder of the configuration, which paths are relative to
    zone : the time zone in which days begin, and that of times which name none
    expand : puts environment variables into a text; what it returns is secret
    work : the engine, its memory limit and its temporary folder, as `evaluate` takes them
    """
    _check_source(source)
    roles, asked = _find_roles(columns), dict(work or {})
    drop = columns.get("missing") == "drop"
    choice = RowSelection(column=window.column, period=period, zone=zone, roles=roles, drop=drop)
    if source.file:
        path = find_source_file(source.file, period, folder, newest=source.newest, table=source.table)
        if _find_engine(path, source.table, columns, asked) != MEMORY:
            return _reference_file(path, source.table, choice, columns, asked)
        read = read_source_file(path, source.table, window, roles)
    else:
        database = find_source_database(source, folder=folder, zone=zone, expand=expand)
        if asked.get("engine", AUTO) not in (AUTO, MEMORY):
            copy = copy_database_rows(database, choice, asked.get("temporary_folder"))
            return _reference_copy(copy, database.source, "", columns, asked)
        read = read_source_database(database, window, period, roles)
    is_time = window.column == roles.time
    chosen = choose_period_rows(read, window.column, period, zone, is_time=is_time, drop=drop)
    predictions = check_period_rows(chosen, read, window.column, period, columns, roles)
    return LoadedRows(predictions=predictions, source=read.source, source_sha256=read.sha256)


def _reference_file(
    path: Path, table: str, choice: RowSelection, columns: Mapping[str, Any], work: Mapping[str, Any]
) -> SourceReference:
    """All rows of a source where they are, or a copy of those of the period."""
    name = describe_source(path, table or None)
    if choice.column:
        copy, sha256 = copy_file_rows(path, table, choice, work.get("temporary_folder"))
        return _reference_copy(copy, name, sha256, columns, work)
    return SourceReference(
        path=path,
        arguments={**columns, **work, **({"table": table} if table else {})},
        engine=_find_engine(path, table, columns, work),
        source=name,
        source_sha256=hash_file(path),
    )


def _reference_copy(
    copy: SourceCopy, source: str, sha256: str, columns: Mapping[str, Any], work: Mapping[str, Any]
) -> SourceReference:
    """The rows of the period, which may well fit into memory though those of all days do not."""
    return SourceReference(
        path=copy.path,
        arguments={**columns, **work},
        engine=_find_engine(copy.path, "", columns, work),
        source=source,
        source_sha256=sha256,
        copy=copy,
    )


def _find_engine(path: Path, table: str, columns: Mapping[str, Any], work: Mapping[str, Any]) -> str:
    """What will do the work: models of several classes are evaluated in memory unless asked otherwise."""
    engine = work.get("engine", AUTO)
    if engine != AUTO:
        return str(engine)
    if columns.get("classes") is not None or not path.exists():  # the reader says why it cannot be read
        return MEMORY
    roles = _find_roles(columns)
    used = len(roles.numbers) + len(roles.labels)
    limit = work.get("memory_limit")
    return choose_engine(path, columns=used, memory_limit=limit, table=table or None)


def _check_source(source: SourceTable) -> None:
    """One source, and what belongs to it."""
    if bool(source.file) == bool(source.database):
        raise UsageError("`audit.source` must name either a `file` or a `database`, and not both.")
    if source.database and bool(source.query) == bool(source.table):
        raise UsageError("`audit.source.database` needs either a `query` or a `table`, and not both.")
    if source.file and source.query:
        raise UsageError("`audit.source.file` has no `query`, which needs a `database`.")
    if source.file and bool(source.table) != source.file.lower().endswith(DATABASE_FILES):
        raise UsageError(
            "`audit.source.table` is for a `database`, or for a `file` that ends in "
            f"{' or '.join(DATABASE_FILES)}, which needs one."
        )


def _find_roles(columns: Mapping[str, Any]) -> Roles:
    """Which columns are needed, and for what."""
    classes = columns.get("classes")
    labels = None if classes is None else check_class_names(classes)
    parts: dict[str, Any] = {part: columns.get(part) for part in _OPTIONAL_ROLES}
    return Roles.of(columns["outcome"], columns_of_models(columns["forecasts"], labels), **parts)
