"""Rows of an audit, loaded from the newest file or a database, or referenced for an engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scorereport.audit.databases.database_rows import find_source_database
from scorereport.audit.rows.mature_rows import Maturity
from scorereport.audit.rows.period_rows import check_period_rows, find_kept_times, without_format
from scorereport.audit.rows.period_window import choose_period_rows, remove_immature
from scorereport.audit.rows.row_hash_collector import HashedColumns, RowHashCollector
from scorereport.audit.rows.source_files import find_source_file
from scorereport.audit.rows.source_reference import (
    RowSelection,
    SourceCopy,
    SourceReference,
    copy_database_rows,
    copy_file_rows,
    use_decimal_points,
)
from scorereport.audit.rows.source_rows import (
    hash_while_unchanged,
    open_batches,
    read_source_database,
    read_source_file,
)
from scorereport.data.csv_format import CsvFormat
from scorereport.data.predictions import ClassPredictions, Predictions
from scorereport.data.roles import Roles, columns_of_models
from scorereport.data.sources import DATABASE_ENDINGS, PART_ENDINGS, describe_source, hash_file
from scorereport.errors import UsageError
from scorereport.evaluation.engines.engine_choice import choose_engine
from scorereport.history.row_hashes import RowHashes
from scorereport.history.trend.seal_records import SealCheck

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from scorereport.audit.rows.period_window import PeriodRows
    from scorereport.audit.rows.source_rows import SourceRows
    from scorereport.configuration.audit_tables import SourceTable, WindowTable
    from scorereport.configuration.periods import Period
    from scorereport.data.roles import Columns
    from scorereport.evaluation.arguments import Arguments
    from scorereport.results.evaluation import Evaluation

AUTO, MEMORY = "auto", "memory"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedRows:
    """The rows of an audit in memory, their source, and the hash of the source if it is a file.

    `times` are the local times of the rows, if there is a column of times for the window. All outcomes are
    final by `maturity`, if it is given. `hashes` are those of all rows of the period, if its forecasts were
    sealed, and `seal_check` what became of the sealed rows.
    """

    predictions: Predictions | ClassPredictions
    source: str
    source_sha256: str
    times: NDArray[np.datetime64] | None = field(default=None, repr=False)
    maturity: Maturity | None = None
    hashes: RowHashes | None = field(default=None, repr=False)
    seal_check: SealCheck | None = None

    @property
    def data_sha256(self) -> str:
        """The hash of the rows."""
        return self.predictions.sha256

    @property
    def immature(self) -> int | None:
        """The number of rows that are too young for a final outcome; None if every age is accepted."""
        return self.predictions.row_flow.immature_rows

    def evaluate(self, evaluate: Callable[..., Evaluation], settings: Arguments) -> Evaluation:
        """Evaluate the rows."""
        return evaluate(self.predictions, **settings)

    def close(self) -> None:
        """Do nothing: there are no temporary files."""


def load_rows(
    source: SourceTable,
    window: WindowTable,
    period: Period,
    columns: Columns,
    *,
    folder: Path,
    zone: ZoneInfo,
    expand: Callable[[str, str], str],
    work: Arguments | None = None,
    maturity: Maturity | None = None,
    hashed: HashedColumns | None = None,
) -> LoadedRows | SourceReference:
    """Load the rows of a period into memory, or return a reference to them if they need not fit into memory.

    Parameters
    ----------
    source, window : the tables of the configuration
    period : the days of the audit
    columns : the roles of columns, as arguments of `read_predictions`
    folder : the folder of the configuration, to which paths are relative
    zone : the time zone of days, and of times without a zone
    expand : replaces environment variables in a text; its result is secret
    work : the engine, its memory limit and its temporary folder, as arguments of `evaluate`
    maturity : the age at which outcomes are final, as of the moment of the audit; by default any
    hashed : the columns by which all rows of the period are hashed, also those that are not evaluated
    """
    _check_source(source)
    roles, work = find_roles(columns), work or {}
    choice = RowSelection(
        column=window.column,
        period=period,
        zone=zone,
        roles=roles,
        drop=columns.get("missing") == "drop",
        maturity=maturity,
        hashed=hashed,
    )
    more = () if hashed is None else hashed.names
    if source.file:
        path = find_source_file(source.file, period, folder, newest=source.newest, table=source.table)
        if _find_engine(path, source.table, columns, work) != MEMORY:
            return _reference_file(path, source.table, choice, columns, work)
        read = read_source_file(path, source.table, window, roles, CsvFormat.of(columns), more)
    else:
        database = find_source_database(source, folder=folder, zone=zone, expand=expand)
        if work.get("engine", AUTO) not in (AUTO, MEMORY):
            copy = copy_database_rows(database, choice, work.get("temporary_folder"))
            return _reference_copy(copy, database.source, "", columns, work)
        read = read_source_database(database, window, period, roles, more)
    return _choose_rows(read, choice, columns)


def _choose_rows(read: SourceRows, choice: RowSelection, columns: Columns) -> LoadedRows:
    """Choose the rows of the period from those that were read, and check them."""
    column, period, roles, maturity = choice.column, choice.period, choice.roles, choice.maturity
    is_time = column == roles.time
    with read.name_rows():
        chosen = choose_period_rows(read, column, period, choice.zone, is_time=is_time, drop=choice.drop)
    if maturity is not None:
        chosen = remove_immature(chosen, roles.outcome, maturity, read.source, column, period)
    predictions = check_period_rows(chosen, read, column, period, columns, roles)
    return LoadedRows(
        predictions=predictions,
        source=read.source,
        source_sha256=read.sha256,
        times=find_kept_times(predictions, chosen),
        maturity=maturity,
        hashes=None if choice.hashed is None else _hash_chosen(choice.hashed, read, chosen),
    )


def _hash_chosen(hashed: HashedColumns, read: SourceRows, chosen: PeriodRows) -> RowHashes:
    """Hash the rows of a period as they were read."""
    collector = RowHashCollector(hashed)
    collector.add({name: read.frame[name].iloc[chosen.rows] for name in hashed.names})
    return collector.finish()


def _hash_file_rows(
    path: Path, table: str, hashed: HashedColumns, csv_format: CsvFormat, sha256: str
) -> RowHashes:
    """Hash all rows of a file that is not copied, which must still have its hash."""
    collector, names = RowHashCollector(hashed), list(dict.fromkeys(hashed.names))
    with hash_while_unchanged(path, sha256), open_batches(path, table, names, csv_format) as batches:
        numbers = hashed.forecasts if csv_format.decimal == "," else ()
        for batch in use_decimal_points(batches, numbers):
            collector.add_table(batch)
    return collector.finish()


def _reference_file(
    path: Path, table: str, choice: RowSelection, columns: Columns, work: Arguments
) -> SourceReference:
    """Return a reference to the file itself, or, with a column of times, to a copy of the period's rows."""
    name = describe_source(path, table or None)
    if choice.column:
        copy, sha256 = copy_file_rows(
            path, table, choice, work.get("temporary_folder"), CsvFormat.of(columns)
        )
        return _reference_copy(copy, name, sha256, columns, work)
    sha256 = hash_file(path)
    return SourceReference(
        path=path,
        arguments={**columns, **work, **({"table": table} if table else {})},
        engine=_find_engine(path, table, columns, work),
        source=name,
        source_sha256=sha256,
        hashes=None
        if choice.hashed is None
        else _hash_file_rows(path, table, choice.hashed, CsvFormat.of(columns), sha256),
    )


def _reference_copy(
    copy: SourceCopy, source: str, sha256: str, columns: Columns, work: Arguments
) -> SourceReference:
    """Return a reference to copied rows; those of one period may fit into memory if the source does not."""
    return SourceReference(
        path=copy.path,
        arguments={**without_format(columns), **work},
        engine=_find_engine(copy.path, "", without_format(columns), work),
        source=source,
        source_sha256=sha256,
        copy=copy,
        hashes=copy.hashes,
    )


def _find_engine(path: Path, table: str, columns: Columns, work: Arguments) -> str:
    """Return the engine for a source; models of several classes are evaluated in memory by default."""
    engine = work.get("engine", AUTO)
    if engine != AUTO:
        return engine
    if columns.get("classes") is not None or not path.exists():  # the reader raises the error
        return MEMORY
    roles = find_roles(columns)
    used = len(roles.numbers) + len(roles.labels)
    limit = work.get("memory_limit")
    return choose_engine(
        path, columns=used, memory_limit=limit, table=table or None, csv_format=CsvFormat.of(columns)
    )


def _check_source(source: SourceTable) -> None:
    """Refuse keys of `audit.source` that do not fit together."""
    if bool(source.file) == bool(source.database):
        raise UsageError("`audit.source` must name either a `file` or a `database`, and not both.")
    if source.database and bool(source.query) == bool(source.table):
        raise UsageError("`audit.source.database` needs either a `query` or a `table`, and not both.")
    if source.file and source.query:
        raise UsageError("`audit.source.file` has no `query`, which needs a `database`.")
    name = source.file.lower()
    is_wrong = bool(source.table) != name.endswith(DATABASE_ENDINGS) and not name.endswith(PART_ENDINGS)
    if source.file and is_wrong:
        raise UsageError(
            "`audit.source.table` is for a `database`, or for a `file` that ends in "
            f"{' or '.join(DATABASE_ENDINGS)}, which needs one."
        )


def find_roles(columns: Columns) -> Roles:
    """Return the columns that are needed, by role."""
    classes = columns.get("classes")
    labels = None if classes is None else tuple(map(str, classes))
    return Roles.of(columns, columns_of_models(columns["forecasts"], labels))
