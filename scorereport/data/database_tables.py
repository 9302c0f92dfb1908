"""Tables in several files or in a database: their columns, and their rows in batches."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorereport._utils.checks import LONGEST_TEXT
from scorereport._utils.redaction import Redactor, find_passwords
from scorereport.data.database_sessions import ROLE_REFUSED, connect_duckdb, create_reader, may_leave_session
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd
    import pyarrow as pa
    from duckdb import DuckDBPyConnection
    from sqlalchemy import URL, Engine

#: Rows of a batch, which are in memory at a time while a table is streamed.
BATCH_ROWS = 1 << 16
_WILD = re.compile(r"[*?\[]")
_OUTSIDE = "it needs files, the network or extensions outside the source, which are not allowed."


def quote_name(name: str) -> str:
    """Quote a name for SQL, whatever characters it has."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Quote a text for SQL, whatever characters it has."""
    return "'" + text.replace("'", "''") + "'"


def scan_parquet(files: Sequence[Path], *, hive: bool = False) -> str:
    """Return SQL that scans Parquet files in order; if `hive`, folders such as `region=01` become columns."""
    names = ", ".join(quote_text(_escape_pattern(file)) for file in files)
    by_name = "true" if len(files) > 1 else "false"
    return (
        f"read_parquet([{names}], union_by_name={by_name}, hive_partitioning={str(hive).lower()}, "
        f"hive_types_autocast=false, binary_as_string=true)"
    )


def _escape_pattern(file: Path) -> str:
    """Escape a path so that DuckDB does not read it as a pattern that matches other files."""
    name = file.as_posix()
    if _WILD.search(name) and "\\" in name:  # to DuckDB this ends a folder's name
        raise DataError(f"{file} cannot be read: rename it without a backslash, or without *, ? and [.")
    return _WILD.sub(r"[\g<0>]", name)


def scannable(files: Sequence[Path]) -> list[str]:
    """Return the names by which `scan_parquet` and DuckDB refer to files, for `connect_duckdb`."""
    return sorted({name for file in files for name in (file.as_posix(), _escape_pattern(file))})


def columns_of(connection: DuckDBPyConnection, relation: str) -> dict[str, str]:
    """Return the names and types of the columns of anything that SQL can select from."""
    rows = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    return {name: kind for name, kind, *_ in rows}


@contextmanager
def explain_read_errors(name: str, what: str) -> Iterator[None]:
    """Raise a `DataError` that states in one sentence what DuckDB cannot read."""
    import duckdb

    try:
        yield
    except (duckdb.Error, OSError) as error:
        # Errors of Arrow, which pass on those of DuckDB, have no errno.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataError(f"{name} cannot be read as {what}: {_explain(error)}") from error


def _explain(error: Exception) -> str:
    """The first line of an error of DuckDB; Arrow passes such errors on as text."""
    line = _first_line(error)
    return _OUTSIDE if line.startswith("Permission Error") else line


def read_relation(relation: str, files: Sequence[Path], columns: Sequence[str]) -> pa.Table:
    """Read columns of a relation that scans these files as one table."""
    with connect_duckdb(files=scannable(files)) as connection:
        return _select(connection, relation, columns)


def _select(connection: DuckDBPyConnection, relation: str, columns: Sequence[str]) -> pa.Table:
    names = ", ".join(map(quote_name, columns))
    return connection.sql(f"SELECT {names} FROM {relation}").to_arrow_table()


def select_batches(
    connection: DuckDBPyConnection, relation: str, columns: Sequence[str], rows: int, *, name: str, what: str
) -> Iterator[dict[str, object]]:
    """Iterate over columns of a relation in batches of Arrow arrays; errors name the source and its kind."""
    names = ", ".join(map(quote_name, columns))
    with explain_read_errors(name, what):
        for batch in connection.sql(f"SELECT {names} FROM {relation}").to_arrow_reader(rows):
            yield dict(zip(columns, batch.columns, strict=True))


@contextmanager
def open_duckdb_table(
    path: Path, table: str, name: str, settings: Mapping[str, str | int] | None = None
) -> Iterator[tuple[DuckDBPyConnection, str]]:
    """Open a DuckDB file read-only: the connection, and the table as SQL names it."""
    with explain_read_errors(name, "a DuckDB database"):
        connection = connect_duckdb(path, read_only=True, settings=settings)
    try:
        with explain_read_errors(name, "a table"):
            relation = _find_duckdb_table(connection, table, path.name)
        yield connection, relation
    finally:
        connection.close()


def _find_duckdb_table(connection: DuckDBPyConnection, table: str, where: str) -> str:
    """The table as SQL names it: that of the main schema, else the only one with that name or full name."""
    found = connection.execute(
        "SELECT table_name, table_schema FROM information_schema.tables ORDER BY ALL"
    ).fetchall()
    full = {(name, schema): f"{schema}.{name}" for name, schema in found}
    matching = [key for key in full if table in (key[0], full[key])]
    check_table(table, [table] if matching else [], [name for name, _ in found], where)
    name, schema = (table, "main") if (table, "main") in matching else matching[0]
    if len(matching) > 1 and (name, schema) != (table, "main"):
        shown = ", ".join(f"`{full[key]}`" for key in matching)
        raise DataError(f"{where} has {len(matching)} tables `{table}`; name one of {shown}.")
    return f"{quote_name(schema)}.{quote_name(name)}"


def read_duckdb_table(path: Path, table: str, name: str, columns: Sequence[str]) -> pa.Table:
    """Read columns of a table of a DuckDB file."""
    with open_duckdb_table(path, table, name) as (connection, relation), explain_read_errors(name, "a table"):
        return _select(connection, relation, columns)


def count_duckdb_rows(path: Path, table: str, name: str) -> int:
    """Count the rows of a table of a DuckDB file."""
    with open_duckdb_table(path, table, name) as (connection, relation), explain_read_errors(name, "a table"):
        found = connection.execute(f"SELECT count(*) FROM {relation}").fetchone()
    return int(found[0]) if found else 0


def count_sql_rows(address: str, table: str) -> int:
    """Count the rows of a table or view at an address."""
    from sqlalchemy import func, select
    from sqlalchemy import table as sql_table

    with open_sql(address) as engine:
        sql_columns(engine, table, table)
        schema, name = _split(engine, table)
        with engine.connect() as connection:
            query = select(func.count()).select_from(sql_table(name, schema=schema))
            return int(connection.execute(query).scalar_one())


def check_table(table: str, known: Sequence[str], shown: Sequence[str], where: str) -> None:
    """Refuse a table or view that the database does not have."""
    if table not in known:
        has = f"it has {', '.join(f'`{name}`' for name in shown[:12])}" if shown else "it has none"
        raise DataError(f"{where} has no table `{table}`; {has}.")


@contextmanager
def open_sql(address: str) -> Iterator[Engine]:
    """Open a database at an SQLAlchemy address for reading; messages do not show its login."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import SQLAlchemyError

    try:
        url = make_url(address)
        engine = create_reader(url)
    except (SQLAlchemyError, ImportError, ValueError) as error:
        raise _refuse(address, _first_line(error)) from None
    try:
        _check_sqlite_file(url)
        _check_role(engine, address)
        yield engine
    except SQLAlchemyError as error:
        raise _refuse(address, _first_line(error)) from None
    finally:
        engine.dispose()


def _check_sqlite_file(url: URL) -> None:
    if url.get_backend_name() != "sqlite":
        return
    name = url.database or ""
    if name in ("", ":memory:") or name.startswith("file:"):
        raise UsageError(
            f"The address of a SQLite source must name a file, such as sqlite:///scores.db; got {name!r}."
        )
    if not Path(name).is_file():
        raise UsageError(f"{name} is not a file.")


def _check_role(engine: Engine, address: str) -> None:
    if engine.dialect.name != "postgresql":
        return
    with engine.connect() as connection:
        if may_leave_session(connection):
            raise _refuse(address, ROLE_REFUSED)


def _refuse(address: str, reason: str) -> DataError:
    redactor = Redactor(find_passwords(address))
    return DataError(redactor.redact(f"{address} cannot be read: {reason}"))


def sql_columns(engine: Engine, table: str, where: str) -> list[str]:
    """Return the names of the columns of a table or view."""
    from sqlalchemy import inspect

    schema, name = _split(engine, table)
    found = inspect(engine)
    known = [*found.get_table_names(schema), *found.get_view_names(schema)]
    check_table(name, known, sorted(known), where)
    return [column["name"] for column in found.get_columns(name, schema)]


def stream_sql(
    engine: Engine, table: str, columns: Sequence[str], rows: int = BATCH_ROWS
) -> Iterator[dict[str, list[Any]]]:
    """Iterate over the rows of a table in batches, by a server-side cursor: one batch is in memory."""
    from sqlalchemy import select
    from sqlalchemy import table as sql_table

    schema, name = _split(engine, table)
    shortened = _shorten_texts(engine, name, schema, columns)
    query: Any = select(*shortened).select_from(sql_table(name, schema=schema))
    with engine.connect() as connection:
        result = connection.execution_options(stream_results=True, yield_per=rows).execute(query)
        for batch in result.partitions(rows):
            yield dict(zip(columns, map(list, zip(*batch, strict=True)), strict=True))


def _shorten_texts(engine: Engine, table: str, schema: str | None, columns: Sequence[str]) -> list[Any]:
    """Select expressions that send at most one character more of a text than a label may have."""
    import sqlalchemy as sa

    types = {found["name"]: found["type"] for found in sa.inspect(engine).get_columns(table, schema)}
    shortened = []
    for name in columns:
        column: Any = sa.column(name)
        part, kind = sa.func.substr(column, 1, LONGEST_TEXT + 1), types.get(name)
        if engine.dialect.name == "sqlite":  # values may differ from the type of their column
            column = sa.case((sa.func.typeof(column).in_(["text", "blob"]), part), else_=column)
        elif isinstance(kind, (sa.String, sa.LargeBinary)) and not isinstance(kind, sa.Enum):
            column = part
        shortened.append(column.label(name))
    return shortened


def _split(engine: Engine, table: str) -> tuple[str | None, str]:
    """Schema and name of a table, whose name may contain a dot."""
    from sqlalchemy import inspect

    schema, _, name = table.rpartition(".")
    return (None, table) if not schema or inspect(engine).has_table(table) else (schema, name)


def read_sql_table(engine: Engine, table: str, columns: Sequence[str]) -> pd.DataFrame:
    """Read columns of a table or view as a frame."""
    import pandas as pd

    loaded: dict[str, list[Any]] = {name: [] for name in columns}
    for batch in stream_sql(engine, table, columns):
        for name, values in batch.items():
            loaded[name] += values
    return pd.DataFrame(loaded)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".") + "."
