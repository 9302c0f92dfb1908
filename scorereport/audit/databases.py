"""Rows of a database: of a query or a table, only ever read, without a word of its address.

The address holds secrets. Whatever goes wrong is told in a sentence of ours; of what a database says only
that is passed on which names tables, columns or words of the query.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.columns import label_text
from scorereport.errors import DataError, UsageError
from scorereport.formatting import join_words
from scorereport.sources import check_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date
    from zoneinfo import ZoneInfo

    import pandas as pd
    from numpy.typing import NDArray
    from sqlalchemy import URL, ColumnElement, Connection, Engine, Executable, TextClause
    from sqlalchemy.types import TypeEngine

    from scorereport.configuration.audit_tables import SourceTable
    from scorereport.periods import Period

_KEY = "audit.source.database"
_QUERY = "`audit.source.query`"
#: The kinds of databases that are known to be read without being written, and what talks to them.
_DRIVERS = {
    "sqlite": "sqlite+pysqlite",
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
}
#: Seconds that a server has to answer, and a locked SQLite file to become free.
PATIENCE = 15
#: Dates in texts may be those of other time zones: so many days around the window are read as well.
_MARGIN = timedelta(days=2)
_TABLES_NAMED = 5
#: What a query begins with that only reads.
_READING_WORDS = ("SELECT", "WITH", "VALUES", "TABLE")
#: Parts of a query in which a colon or a semicolon means something, or nothing at all.
_TOKEN = re.compile(
    r"""
    (?P<quoted>
        (?<![\w$])[eE]'(?:[^'\\]|\\.|'')*'
      | '(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*`
      | (?<![\w$])\$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$
    )
    | (?P<comment> --[^\n]* | /\*.*?\*/ )
    | (?P<cast> :: )
    | (?<!\w):(?P<parameter>[^\W\d]\w*)
    | (?P<colon> : )
    | (?P<end> ; )
    """,
    re.VERBOSE | re.DOTALL,
)


class Database:
    """A database and what is read of it; `table` is empty if it is a query."""

    def __init__(self, url: URL, zone: ZoneInfo, *, query: str, table: str) -> None:
        self._url, self._zone, self._query = url, zone, query
        self.table = table

    @property
    def kind(self) -> str:
        """The kind of database: sqlite or postgresql."""
        return self._url.get_backend_name()

    @property
    def source(self) -> str:
        """What is read, for records and messages."""
        return f"table {self.table} on {self.kind}" if self.table else f"query on {self.kind}"

    def read_rows(self, columns: Sequence[str], column: str, period: Period) -> pd.DataFrame:
        """Read columns of the query; of a table only the rows of the period, by its column of dates."""
        with self._connect() as connection:
            if self.table:
                statement = _select(connection, self.table, columns, column, period)
            else:
                statement = _bind(self._query, period)
            return _sort(_fetch(connection, statement, columns, f"The {self.source}"))

    def read_edges(self, column: str) -> pd.Series[Any]:
        """The first and the last time of a table."""
        import sqlalchemy as sa

        time: ColumnElement[Any] = sa.column(_quoted(column))
        edges = sa.select(sa.func.min(time).label("first"), sa.func.max(time).label("last"))
        with self._connect() as connection:
            frame = _fetch(
                connection, edges.select_from(sa.table(_quoted(self.table))), ["first", "last"], self.source
            )
        return _make_column([*frame["first"], *frame["last"]])

    @contextmanager
    def _connect(self) -> Iterator[Connection]:
        """A connection that can only read; what goes wrong with it is told without secrets."""
        from sqlalchemy.exc import SQLAlchemyError

        engine = _create_engine(self._url)
        try:
            with engine.connect() as connection:
                _forbid_writing(connection, self._zone)
                try:
                    yield connection
                finally:
                    connection.rollback()
        except (SQLAlchemyError, sqlite3.Error) as error:
            raise DataError(_explain(error, self.source, self.kind)) from None  # it may name the address
        finally:
            engine.dispose()


def find_database(
    source: SourceTable, *, folder: Path, zone: ZoneInfo, expand: Callable[[str, str], str]
) -> Database:
    """The database that `audit.source.database` names; SQLite files are relative to the folder."""
    url = _read_url(expand(source.database, _KEY))
    if url.get_backend_name() == "sqlite":
        url = url.set(database=str(_find_sqlite_file(url, folder)), query={})
    return Database(url, zone, query=source.query, table=source.table)


def _read_url(text: str) -> URL:
    """An address, of a kind that is known to be read without being written."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(text.strip())
    except (ArgumentError, ValueError):
        raise UsageError(
            f"`{_KEY}` must be an address such as sqlite:///scores.db or "
            f"postgresql://${{USER}}:${{PASSWORD}}@host/database; what came cannot be read as one."
        ) from None
    if url.get_backend_name() not in _DRIVERS:
        raise UsageError(f"`{_KEY}` must begin with sqlite: or postgresql:, the databases that are known.")
    return url.set(drivername=_DRIVERS[url.get_backend_name()])


def _find_sqlite_file(url: URL, folder: Path) -> Path:
    if not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise UsageError(f"`{_KEY}` must name a file of SQLite, such as sqlite:///scores.db.")
    path = folder / url.database
    if not path.is_file():
        raise DataError(
            f"`{_KEY}` names a file of SQLite that is not there; "
            f"a relative one is looked for in {folder.resolve()}."
        )
    return path.resolve()


def _create_engine(url: URL) -> Engine:
    """Connections that are opened once, and do not show what is sent in messages."""
    from sqlalchemy import NullPool, create_engine

    if url.get_backend_name() == "sqlite":
        address = f"{Path(url.database or '').as_uri()}?mode=ro"
        return create_engine(
            "sqlite://",
            creator=lambda: sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None),
            poolclass=NullPool,
            hide_parameters=True,
        )
    try:
        return create_engine(
            url,
            connect_args={"connect_timeout": PATIENCE, "application_name": "scorereport"},
            poolclass=NullPool,
            hide_parameters=True,
        )
    except ModuleNotFoundError:
        raise UsageError(
            "PostgreSQL needs the package psycopg: pip install 'scorereport[postgres]'."
        ) from None


def _forbid_writing(connection: Connection, zone: ZoneInfo) -> None:
    """All that follows is one transaction that reads, with the days of the zone."""
    from sqlalchemy import text

    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA query_only = ON")
        connection.exec_driver_sql("BEGIN")
        return
    connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
    # For transactions after this one, should a query manage to end it.
    connection.execute(text("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"))
    connection.execute(text("SELECT set_config('TimeZone', :zone, false)"), {"zone": zone.key})


# ---- statements ----


def _bind(query: str, period: Period) -> TextClause:
    """The query with the days of the period bound to :start and :end, as far as it asks for them."""
    import sqlalchemy as sa

    _check_query(query)
    days = {"start": period.first_day, "end": period.day_after}
    names = {match["parameter"] for match in _TOKEN.finditer(query)} - {None}
    for name in sorted(names):
        if name not in days:
            raise UsageError(f"{_QUERY} may have the parameters :start and :end; got :{name}.")
        if days[name] is None:
            raise UsageError(f"{_QUERY} asks for :start, but a period of all rows has none.")
    bound = [sa.bindparam(name, days[name], sa.Date()) for name in sorted(names)]
    return sa.text(_TOKEN.sub(_escape, query)).bindparams(*bound)


def _escape(match: re.Match[str]) -> str:
    """A backslash tells SQLAlchemy that a colon begins no parameter; the end needs no semicolon."""
    if match["end"]:
        return " "
    return match[0] if match["parameter"] else match[0].replace(":", r"\:")


def _check_query(query: str) -> None:
    """One statement, of those that read."""
    bare = _TOKEN.sub(lambda match: "''" if match["quoted"] else " " if match["comment"] else match[0], query)
    statements = [statement for statement in bare.split(";") if statement.strip()]
    if len(statements) != 1:
        raise UsageError(f"{_QUERY} must be one statement; got {len(statements)}.")
    word = re.match(r"[\s(]*(\w*)", statements[0])
    if word is None or word[1].upper() not in _READING_WORDS:
        got = word[1] if word and word[1] else statements[0].strip()[:1]
        raise UsageError(f"{_QUERY} must only read, and so begin with SELECT or WITH; it begins with {got}.")


def _select(
    connection: Connection, table: str, columns: Sequence[str], column: str, period: Period
) -> Executable:
    """Select columns of a table, and of its rows those of the period and those without a time."""
    import sqlalchemy as sa

    types = _find_types(connection, table)
    check_columns(columns, list(types), f"The table {table}")
    selected: list[ColumnElement[Any]] = [sa.column(_quoted(name)) for name in columns]
    statement = sa.select(*selected).select_from(sa.table(_quoted(table)))
    if not column or period.first_day is None:
        return statement
    days = (period.first_day, period.day_after)
    return statement.where(_is_between(*days, column, types[column], connection.dialect.name))


def _find_types(connection: Connection, table: str) -> dict[str, TypeEngine[Any]]:
    """The types of the columns of a table or a view."""
    import sqlalchemy as sa
    from sqlalchemy.exc import NoSuchTableError

    inspector = sa.inspect(connection)
    try:
        return {column["name"]: column["type"] for column in inspector.get_columns(_quoted(table))}
    except NoSuchTableError:
        names = sorted({*inspector.get_table_names(), *inspector.get_view_names()})
    near = get_close_matches(table, names, n=_TABLES_NAMED, cutoff=0) or ["none"]
    raise DataError(
        f"`audit.source.table` names {table!r}, which the database does not have; "
        f"its tables and views nearest to it are {join_words(near)}."
    )


def _is_between(
    first: date, after: date, column: str, kind: TypeEngine[Any], dialect: str
) -> ColumnElement[bool]:
    """Whether a time lies in the window or is missing; days are bound, never written into the statement."""
    import sqlalchemy as sa

    time: ColumnElement[Any] = sa.column(_quoted(column))
    is_missing = time.is_(None)
    bounds: list[ColumnElement[Any]]
    if dialect == "sqlite" or isinstance(kind, sa.String):
        texts = ((first - _MARGIN).isoformat(), (after + _MARGIN).isoformat())
        bounds = [sa.bindparam(None, text, sa.String()) for text in texts]
        time = time if dialect == "sqlite" else time.collate("C")
    elif isinstance(kind, (sa.Date, sa.DateTime)):
        bounds = [sa.bindparam(None, day, sa.Date()) for day in (first, after)]
    else:
        raise DataError(f"`{column}` must hold dates; the type of the column is {kind}.")
    return sa.or_(is_missing, sa.and_(time >= bounds[0], time < bounds[1]))


def _quoted(name: str) -> str:
    """A name that is quoted in a statement, whatever it holds."""
    from sqlalchemy.sql import quoted_name

    return quoted_name(name, quote=True)


# ---- rows ----


def _fetch(connection: Connection, statement: Executable, columns: Sequence[str], where: str) -> pd.DataFrame:
    """The columns of all rows, with their types."""
    import pandas as pd

    result = connection.execute(statement)
    names = list(map(str, result.keys()))
    check_columns(columns, names, where)
    places = [names.index(name) for name in columns]
    rows = result.fetchall()
    return pd.DataFrame(
        {name: _make_column([row[at] for row in rows]) for name, at in zip(columns, places, strict=True)}
    )


def _make_column(values: list[Any]) -> pd.Series[Any]:
    """A column of the type that its values have; decimal numbers become floating point.

    Beside missing values the others stay what they are: whole numbers would become floating point, too.
    """
    import pandas as pd

    items = [float(value) if isinstance(value, Decimal) else value for value in values]
    column = pd.Series(items, dtype=object)
    return column if None in items else column.infer_objects()


def _sort(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows in an order that depends on nothing but what they hold: a database promises none."""
    if frame.empty:
        return frame
    keys = [_rank(frame[name]) for name in sorted(frame.columns, reverse=True)]
    return frame.iloc[np.lexsort(keys)].reset_index(drop=True)


def _rank(column: pd.Series[Any]) -> NDArray[Any]:
    """Numbers by which a column is sorted: texts by their place among all of them."""
    if column.dtype.kind in "biuf":
        return column.to_numpy()
    return column.map(label_text, na_action="ignore").factorize(sort=True)[0]


# ---- what went wrong ----


def _explain(error: Exception, source: str, kind: str) -> str:
    """What a database says, in a sentence that gives away neither its address nor any data."""
    cause = getattr(error, "orig", None) or error
    told = _explain_sqlite(cause) if kind == "sqlite" else _explain_postgresql(cause)
    return f"The {source} cannot be read: {told}"


#: What SQLite says of a query, which names nothing but parts of it.
_SQLITE_QUERY = re.compile(
    r'(no such (table|column|function|collation sequence): .*|near ".*": syntax error'
    r"|ambiguous column name: .*|unrecognized token: .*|incomplete input|misuse of .*|wrong number of arg.*)",
    re.DOTALL,
)
_SQLITE = {
    "readonly database": "the query tries to write, and an audit only reads.",
    "database is locked": f"another program kept the file locked for {PATIENCE} s; run the audit later.",
    "not a database": f"the file that `{_KEY}` names is none of SQLite.",
    "unable to open": "the file cannot be opened; look at the permissions of the file and of its folder.",
    "malformed": "the file is damaged.",
    "decode to UTF-8": "a text in it is not UTF-8.",
}


def _explain_sqlite(cause: BaseException) -> str:
    said = str(cause)
    if getattr(cause, "sqlite_errorname", "").startswith("SQLITE_READONLY_"):
        return "SQLite needs to write beside the file, which is in WAL mode, and may not write in its folder."
    if _SQLITE_QUERY.fullmatch(said):
        return f"{' '.join(said.split())}."
    known = next((told for part, told in _SQLITE.items() if part in said), None)
    return known or f"SQLite failed ({type(cause).__name__})."


_POSTGRESQL = {
    "password authentication failed": f"the server refuses the user or the password of `{_KEY}`.",
    "no password supplied": f"the server asks for a password, and `{_KEY}` has none.",
    "Connection refused": f"no server answers at the address of `{_KEY}`.",
    "No such file or directory": f"no server answers at the address of `{_KEY}`.",
    "timeout": f"no server answered within {PATIENCE} seconds at the address of `{_KEY}`.",
    "resolve host": f"the host that `{_KEY}` names is not known.",
    "translate host name": f"the host that `{_KEY}` names is not known.",
    "does not exist": f"the server has no database or no user of the name in `{_KEY}`.",
    "server closed the connection": "the server ended the connection; run the audit again.",
    "connection is lost": "the server ended the connection; run the audit again.",
    "too large": "it holds a time that is infinite or after the year 9999.",
    "too small": "it holds a time before the year 1.",
}


def _explain_postgresql(cause: BaseException) -> str:
    state: str = getattr(cause, "sqlstate", None) or ""
    if state == "25006":
        return "the query tries to write, and an audit only reads."
    if state.startswith("57P"):
        return "the server ended the connection; run the audit again."
    if state.startswith("42"):  # errors of the query, which name its words, and rights that are lacking
        return f"{' '.join(str(cause.diag.message_primary).split())}."  # type: ignore[attr-defined]
    known = next((told for part, told in _POSTGRESQL.items() if not state and part in str(cause)), None)
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(cause).__name__).lower()
    return known or f"PostgreSQL failed ({words})."
