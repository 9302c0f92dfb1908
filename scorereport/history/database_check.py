"""Check of the database: its file, tables and triggers. Rows are read one by one if the file is damaged."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import LargeBinary, cast, func, inspect, select, text

from scorereport.data.database_sessions import create_scratch
from scorereport.errors import UsageError
from scorereport.history.database_schema import (
    CURRENT,
    GUARD_FUNCTION,
    GUARD_SOURCE,
    GUARDED,
    METADATA,
    MIGRATIONS,
    VERSIONS,
)
from scorereport.history.verification_findings import FindingKind, IntegrityFinding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Column, ColumnElement, Connection, Row, Table

    from scorereport.history.store import History

_OBJECTS = text("SELECT type, name, tbl_name, sql, rootpage > 0 FROM sqlite_master")
_TRIGGERS = text(
    """SELECT tgname::text, tgrelid::regclass::text, tgtype::integer, proname::text, prosrc,
        pronamespace = relnamespace AND lanname = 'plpgsql' AND tgqual IS NULL AS is_whole,
        tgenabled::text IN ('O', 'A') AS is_enabled
    FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid JOIN pg_language ON pg_language.oid = prolang
    JOIN pg_class ON pg_class.oid = tgrelid
    WHERE NOT tgisinternal AND tgrelid IN (to_regclass('audits'), to_regclass('documents'))"""
)
#: Other objects that could change, hide or drop rows: rules, row policies, and inheriting tables.
_FOREIGN_OBJECTS = text(
    """SELECT 'rule', rulename::text, ev_class::regclass::text FROM pg_rewrite
    WHERE ev_class IN (to_regclass('audits'), to_regclass('documents'))
    UNION ALL SELECT 'policy', polname::text, polrelid::regclass::text FROM pg_policy
    WHERE polrelid IN (to_regclass('audits'), to_regclass('documents'))
    UNION ALL SELECT 'part', inhrelid::regclass::text, inhparent::regclass::text FROM pg_inherits
    WHERE inhparent IN (to_regclass('audits'), to_regclass('documents'))
    ORDER BY 1, 2, 3"""
)
_ROW_SECURITY = text(
    """SELECT relname::text FROM pg_class WHERE relrowsecurity
    AND oid IN (to_regclass('audits'), to_regclass('documents')) ORDER BY relname"""
)
#: Bytes of the header with the write and read version of the file format: 2 means a write-ahead log.
_LOG_MODE_BYTES = slice(18, 20)
_HEADER_SIZE = 100
#: Constant bytes in the header of a SQLite file, by position: the write-ahead log and fixed parameters; the
#: schema format and the encoding, UTF-8, of four bytes each; unused bytes.
_HEADER = {
    18: b"\2\2\0\x40\x20\x20",
    44: bytes([0, 0, 0, 4]) + bytes(8) + bytes([0, 0, 0, 1]),
    60: bytes(32),
}
#: Trigger types as PostgreSQL encodes them: FOR EACH ROW 1, BEFORE 2, DELETE 8, UPDATE 16, TRUNCATE 32.
_CHANGED, _EMPTIED = 1 + 2 + 8 + 16, 2 + 32


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRows:
    """Rows by column name, the keys of rows that cannot be read, and the error message of the database.

    If no row can be read, the keys are not known either and `unreadable` is empty.
    """

    rows: tuple[dict[str, Any], ...]
    unreadable: tuple[Any, ...] = ()
    error: str = ""


def run_query(history: History, connection: Connection, query: Any) -> list[Row[Any]]:
    """Return all rows of a query; an error is a UsageError, after which the transaction still works."""
    from scorereport.history.database import translate_errors

    # SQLite continues a transaction after an error, and cannot roll back to a savepoint in a damaged file.
    savepoint = nullcontext() if history.file is not None else connection.begin_nested()
    with translate_errors(history.address), savepoint:
        return list(connection.execute(query))


def read_stored_rows(
    history: History, connection: Connection, table: Table, keys: Iterable[Any] = ()
) -> StoredRows:
    """Read all rows of a table; if that fails, one by one, among them those with the given keys."""
    key = table.primary_key.columns[0]
    # Without ORDER BY: SQLite would take values from an index, which may differ from those in the table.
    query = select(*_as_stored(table, connection))
    try:
        return StoredRows(rows=tuple(_decode(row, table) for row in run_query(history, connection, query)))
    except UsageError as error:
        rows, unreadable = _read_rows_singly(
            history, connection, table, {*keys, *_find_keys(history, connection, key)}
        )
        return StoredRows(rows=rows, unreadable=unreadable if rows else (), error=str(error))


def _read_rows_singly(
    history: History, connection: Connection, table: Table, keys: Iterable[Any]
) -> tuple[tuple[dict[str, Any], ...], tuple[Any, ...]]:
    rows, unreadable = [], []
    for value in sorted(keys, key=str):
        query = select(*_as_stored(table, connection)).where(table.primary_key.columns[0] == value)
        try:
            rows += [_decode(row, table) for row in run_query(history, connection, query)]
        except UsageError:
            unreadable.append(value)
    return tuple(rows), tuple(unreadable)


def _find_keys(history: History, connection: Connection, key: Column[Any]) -> list[Any]:
    """Return the keys that can still be read, for example from an index."""
    try:
        return [row[0] for row in run_query(history, connection, select(key))]
    except UsageError:
        return []


def _as_stored(table: Table, connection: Connection) -> list[ColumnElement[Any]]:
    """Return the columns as bytes, with the type of each value, for SQLite.

    SQLite stores a type with every value and does not check that text is valid; a server checks both.
    """
    if connection.dialect.name != "sqlite":
        return list(table.columns)
    bare = [cast(column, LargeBinary).label(column.name) for column in table.columns]
    return [*bare, *(func.typeof(column).label(f"type of {column.name}") for column in table.columns)]


def _decode(row: Row[Any], table: Table) -> dict[str, Any]:
    found = dict(row._mapping)
    return {name: _decode_value(found[name], found.get(f"type of {name}")) for name in table.c.keys()}  # noqa: SIM118


def _decode_value(value: Any, kind: str | None) -> Any:
    """Decode text, also if damaged, and integers; a value of another type differs from every expected one."""
    if kind == "text":
        return value.decode(errors="surrogateescape")
    return int(value) if kind == "integer" else value


def check_database(history: History, connection: Connection) -> Iterator[IntegrityFinding]:
    """Find what is wrong with the database itself, apart from the rows stored in it."""
    checks = [
        _check_versions,
        *([_check_file, _check_objects, _check_header] if history.file else [_check_tables, _check_rules]),
    ]
    for check in checks:
        try:
            yield from check(history, connection)
        except UsageError as error:
            yield IntegrityFinding(kind=FindingKind.UNREADABLE, subject=history.name, sentence=str(error))


def _database_finding(history: History, sentence: str) -> IntegrityFinding:
    return IntegrityFinding(kind=FindingKind.DATABASE, subject=history.name, sentence=sentence)


def _check_versions(history: History, connection: Connection) -> Iterator[IntegrityFinding]:
    steps = [
        tuple(row) for row in run_query(history, connection, select(VERSIONS).order_by(VERSIONS.c.version))
    ]
    expected = [(number, step) for number, (step, _) in enumerate(MIGRATIONS, start=1)]
    if not steps or steps != expected[: len(steps)]:
        yield _database_finding(
            history, "The table `schema_versions` does not contain what this software writes to it."
        )


def _find_version(history: History, connection: Connection) -> int:
    """Return the version of the tables; the current one if it is not known."""
    try:
        return min(len(run_query(history, connection, select(VERSIONS.c.version))), CURRENT) or CURRENT
    except UsageError:
        return CURRENT


def _check_file(history: History, connection: Connection) -> Iterator[IntegrityFinding]:
    messages = [str(row[0]) for row in run_query(history, connection, text("PRAGMA integrity_check(20)"))]
    if messages != ["ok"]:
        shown = "; ".join(" ".join(message.split()) for message in messages[:3])
        more = f"; and {len(messages) - 3} more" if len(messages) > 3 else ""
        yield _database_finding(history, f"SQLite reports that the file is damaged: {shown}{more}.")
    if history.file is not None and not _has_log(history.file):
        yield _database_finding(
            history, "The file no longer uses a write-ahead log, which every history does."
        )


def _has_log(file: Path) -> bool:
    """Whether the header states a write-ahead log; SQLite itself does not report it to a read-only user."""
    with file.open("rb") as content:
        return content.read(_LOG_MODE_BYTES.stop)[_LOG_MODE_BYTES] == b"\x02\x02"


def _check_header(history: History, connection: Connection) -> Iterator[IntegrityFinding]:
    """Compare header bytes that SQLite does not check; in a file with other tables they may differ."""
    is_shared = any(row.tbl_name not in METADATA.tables for row in run_query(history, connection, _OBJECTS))
    log = Path(f"{history.file}-wal")
    if history.file is None or is_shared or (log.exists() and log.stat().st_size):
        return  # part of the header may still be in the log
    with history.file.open("rb") as file:
        found = file.read(_HEADER_SIZE)
    for place, expected in _HEADER.items():
        if found[place : place + len(expected)] != expected:
            yield _database_finding(
                history, f"The header of the file was changed, at byte {place} or just after it."
            )


def _check_objects(history: History, connection: Connection) -> Iterator[IntegrityFinding]:
    ours = METADATA.tables.keys()
    found = {tuple(row) for row in run_query(history, connection, _OBJECTS) if row.tbl_name in ours}
    expected = _expected_objects(_find_version(history, connection))
    yield from _compare_objects(history, _name_objects(found), _name_objects(expected))


@cache
def _expected_objects(version: int) -> frozenset[tuple[Any, ...]]:
    engine = create_scratch()
    try:
        with engine.connect() as connection:
            for _, apply in MIGRATIONS[:version]:
                apply(connection)
            return frozenset(tuple(row) for row in connection.execute(_OBJECTS))
    finally:
        engine.dispose()


def _name_objects(objects: Iterable[tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    return {f"{row[0]} `{row[1]}`": row for row in objects}


def _compare_objects(
    history: History, found: dict[str, tuple[Any, ...]], expected: dict[str, tuple[Any, ...]]
) -> Iterator[IntegrityFinding]:
    for name in sorted(found.keys() | expected.keys()):
        if name not in found:
            yield _database_finding(history, f"The {name} is missing in the database.")
        elif name not in expected:
            yield _database_finding(history, f"The {name} in the database does not belong to a history.")
        elif found[name] != expected[name]:
            yield _database_finding(history, f"The {name} in the database was changed.")


def _check_tables(history: History, connection: Connection) -> Iterator[IntegrityFinding]:
    triggers = run_query(history, connection, _TRIGGERS)
    found = _name_objects({("trigger", *row[:-1]) for row in triggers})
    for row in triggers:
        if not row.is_enabled:
            yield _database_finding(history, f"The trigger `{row.tgname}` in the database is disabled.")
    expected = _expected_triggers() if _find_version(history, connection) >= 2 else set()
    yield from _compare_objects(history, found, _name_objects(expected))
    inspector = inspect(connection)
    for table in METADATA.tables.values():
        columns = {column["name"]: column["type"].python_type for column in inspector.get_columns(table.name)}
        if columns != {column.name: column.type.python_type for column in table.columns}:
            yield _database_finding(history, f"The table `{table.name}` in the database was changed.")


def _check_rules(history: History, connection: Connection) -> Iterator[IntegrityFinding]:
    for row in run_query(history, connection, _FOREIGN_OBJECTS):
        kind, name, table = tuple(row)
        yield _database_finding(
            history, f"The {kind} `{name}` of the table `{table}` does not belong to a history."
        )
    for table in (row[0] for row in run_query(history, connection, _ROW_SECURITY)):
        yield _database_finding(
            history, f"The table `{table}` has row security, which hides rows; a history has none."
        )


def _expected_triggers() -> set[tuple[Any, ...]]:
    kinds = {"not_changed": _CHANGED, "not_emptied": _EMPTIED}
    return {
        ("trigger", f"{table.name}_{name}", table.name, kind, GUARD_FUNCTION, GUARD_SOURCE, True)
        for table in GUARDED
        for name, kind in kinds.items()
    }
