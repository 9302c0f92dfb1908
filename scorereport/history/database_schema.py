"""Tables of a history, and the migrations that bring an older database to the current version.

Rows are only ever added: from version 2 on, triggers of the database refuse to change or to remove a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import (
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    func,
    insert,
    inspect,
    select,
    text,
)

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

METADATA = MetaData()
AUDITS = Table(
    "audits",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("audit", Text, nullable=False),
    Column("period", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("status", Text, nullable=False),
    Column("finished", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("sha256", Text, nullable=False, unique=True),
    Column("body", Text, nullable=False),
    UniqueConstraint("audit", "period", "kind", "attempt"),
    Index("audits_by_name", "audit", "id"),
)
#: `checksum` is the hash of the compressed bytes, so that a change of any bit of them is detected.
DOCUMENTS = Table(
    "documents",
    METADATA,
    Column("sha256", Text, primary_key=True),
    Column("checksum", Text, nullable=False),
    Column("content", LargeBinary, nullable=False),
)
VERSIONS = Table(
    "schema_versions",
    METADATA,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("step", Text, nullable=False),
)
#: Tables whose rows can be neither changed nor removed.
GUARDED = (AUDITS, DOCUMENTS)


def _create_tables(connection: Connection) -> None:
    METADATA.create_all(connection, checkfirst=False)


def _guard_tables(connection: Connection) -> None:
    statements = _SQLITE_GUARDS if connection.dialect.name == "sqlite" else _POSTGRESQL_GUARDS
    for statement in statements:
        connection.execute(text(statement))


#: INSERT OR REPLACE in SQLite does not fire DELETE triggers, hence the triggers on INSERT.
_SQLITE_GUARDS = (
    """CREATE TRIGGER audits_not_changed BEFORE UPDATE ON audits
    BEGIN SELECT RAISE(ABORT, 'records of a history cannot be changed'); END""",
    """CREATE TRIGGER audits_not_removed BEFORE DELETE ON audits
    BEGIN SELECT RAISE(ABORT, 'records of a history cannot be removed'); END""",
    """CREATE TRIGGER audits_not_replaced BEFORE INSERT ON audits
    WHEN EXISTS (SELECT 1 FROM audits WHERE id = NEW.id OR sha256 = NEW.sha256
        OR (audit = NEW.audit AND period = NEW.period AND kind = NEW.kind AND attempt = NEW.attempt))
    BEGIN SELECT RAISE(ABORT, 'records of a history cannot be replaced'); END""",
    """CREATE TRIGGER documents_not_changed BEFORE UPDATE ON documents
    BEGIN SELECT RAISE(ABORT, 'documents of a history cannot be changed'); END""",
    """CREATE TRIGGER documents_not_removed BEFORE DELETE ON documents
    BEGIN SELECT RAISE(ABORT, 'documents of a history cannot be removed'); END""",
    """CREATE TRIGGER documents_not_replaced BEFORE INSERT ON documents
    WHEN EXISTS (SELECT 1 FROM documents WHERE sha256 = NEW.sha256)
    BEGIN SELECT RAISE(ABORT, 'documents of a history cannot be replaced'); END""",
)
#: The function of PostgreSQL that the triggers execute, and its source.
GUARD_FUNCTION = "scorereport_refuse"
GUARD_SOURCE = "BEGIN RAISE EXCEPTION 'rows of a history cannot be changed or removed'; END"
_QUOTED_SOURCE = GUARD_SOURCE.replace("'", "''")
_POSTGRESQL_GUARDS = (
    f"""CREATE FUNCTION {GUARD_FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS
    '{_QUOTED_SOURCE}'""",
    f"""CREATE TRIGGER audits_not_changed BEFORE UPDATE OR DELETE ON audits
    FOR EACH ROW EXECUTE FUNCTION {GUARD_FUNCTION}()""",
    f"""CREATE TRIGGER audits_not_emptied BEFORE TRUNCATE ON audits
    FOR EACH STATEMENT EXECUTE FUNCTION {GUARD_FUNCTION}()""",
    f"""CREATE TRIGGER documents_not_changed BEFORE UPDATE OR DELETE ON documents
    FOR EACH ROW EXECUTE FUNCTION {GUARD_FUNCTION}()""",
    f"""CREATE TRIGGER documents_not_emptied BEFORE TRUNCATE ON documents
    FOR EACH STATEMENT EXECUTE FUNCTION {GUARD_FUNCTION}()""",
)

#: The migration to each version, beginning with an empty database, and its name in `schema_versions`.
MIGRATIONS: tuple[tuple[str, Callable[[Connection], None]], ...] = (
    ("create tables", _create_tables),
    ("guard rows", _guard_tables),
)
#: The version that this software writes.
CURRENT = len(MIGRATIONS)


def read_version(connection: Connection, name: str) -> int:
    """Return the version of a database, 0 if it has no history; refuse a newer or an unrelated one."""
    present = METADATA.tables.keys() & set(inspect(connection).get_table_names())
    if not present:
        return 0
    _check_own(connection, VERSIONS, name)
    version = connection.execute(select(func.max(VERSIONS.c.version))).scalar() or 0
    if version > CURRENT:
        raise UsageError(
            f"The history {name} has version {version} of its tables; this scorereport supports versions up "
            f"to {CURRENT}. To fix: use the newer scorereport that wrote it."
        )
    for table in GUARDED:
        _check_own(connection, table, name)
    return version


def _check_own(connection: Connection, table: Table, name: str) -> None:
    inspector = inspect(connection)
    columns = (
        [c["name"] for c in inspector.get_columns(table.name)] if inspector.has_table(table.name) else []
    )
    if columns == table.columns.keys():
        return
    found = f"has the columns {', '.join(columns)}" if columns else "is missing"
    raise UsageError(
        f"The database {name} is not a history of audits: its table `{table.name}` {found}, where a history "
        f"has {', '.join(table.columns.keys())}. Nothing was changed; give another database for the history."
    )


def migrate(connection: Connection, name: str) -> None:
    """Migrate a database to the current version; the caller holds the lock and ends the transaction."""
    version = read_version(connection, name)
    for number, (step, apply) in enumerate(MIGRATIONS[version:], start=version + 1):
        apply(connection)
        connection.execute(insert(VERSIONS).values(version=number, step=step))
