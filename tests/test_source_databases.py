"""Rows of an audit from databases."""

from __future__ import annotations

import re
import socket
import sqlite3
import sys
import traceback
from contextlib import closing
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from source_tools import ALL, BERLIN, exactly, read, sqlite_url_fixture, url_fixture

from scorereport.audit.databases import database_connection
from scorereport.audit.databases.database_connection import TimeLimit, explain_database_error
from scorereport.audit.databases.database_rows import find_source_database
from scorereport.configuration import parse_configuration
from scorereport.configuration.audit_tables import SourceTable
from scorereport.configuration.periods import Period
from scorereport.data.predictions import DroppedRows
from scorereport.errors import DataError, UsageError

sqlite_url = pytest.fixture(sqlite_url_fixture)


url = pytest.fixture(params=["sqlite", "postgresql"])(url_fixture)


# ---- databases ----

ODD = "x; drop table audits"


WRITES = "the query tries to write, and an audit only reads."


DOES_MORE = "the query, or a view it reads, does more than read tables of the file, and an audit only reads."


#: A case on either side of midnight in Berlin, at both ends of October.
ROWS = [
    (False, 0.1, "north", "2026-09-30", "2026-09-30T21:59:59Z", 1),
    (True, 0.6, "south", "2026-10-01", "2026-09-30T22:00:00Z", 2**60 + 1),
    (False, 0.4, "north", "2026-10-17", "2026-10-17T00:00:00Z", None),
    (True, 0.8, "it's", "2026-10-31", "2026-10-31T22:59:59Z", 3),
    (False, 0.3, "north", "2026-11-01", "2026-10-31T23:00:00Z", 3),
]


def open_engine(url):
    return sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"), poolclass=sa.NullPool)


def kind_of(url):
    return url.partition(":")[0]


def fill(url, rows=ROWS, *, table="scores", time=None):
    """Write rows into a new table; its times are texts in SQLite, otherwise they have a zone."""
    time = time or ("text" if kind_of(url) == "sqlite" else "timestamp with time zone")
    engine = open_engine(url)
    name = engine.dialect.identifier_preparer.quote_identifier(table)
    with engine.begin() as connection:
        connection.exec_driver_sql(
            f"CREATE TABLE {name} (y boolean, m numeric(6, 4), g text, d date, t {time}, n bigint)"
        )
        into = sa.table(sa.quoted_name(table, quote=True), *map(sa.column, "ymgdtn"))
        for row in rows:
            connection.execute(into.insert().values(row))
    return url


def count(url, table="scores"):
    with open_engine(url).connect() as connection:
        return connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()


def assert_refused(message, url, error=DataError, **given):
    """Refused in this one line; neither it nor the traceback contains any part of the address."""
    with pytest.raises(error, match=exactly(message)) as caught:
        read(url, **given)
    shown = "".join(traceback.format_exception(caught.value))
    parts = sa.make_url(url)
    for secret in (parts.password, str(parts.port), parts.database):
        assert not secret or secret == "None" or secret not in shown
    assert "\n" not in str(caught.value)


SOURCES = [
    {"table": "scores"},
    {"query": "SELECT * FROM scores"},
    {"query": "SELECT * FROM scores WHERE d >= :start AND d < :end;", "column": ""},
    {"query": "-- what's due; :not\nSELECT * FROM scores /* :x; */ WHERE ':y;' <> g OR 'a%' = g"},
    {"query": "WITH s AS (SELECT * FROM scores WHERE d < :end) SELECT * FROM s WHERE d >= :start"},
]


def test_queries_and_tables_give_the_rows_of_the_period(url):
    fill(url)
    for given in SOURCES:
        got = read(url, groups="g", cluster="n", missing="drop", **given)
        assert got.source == f"{'table scores' if 'table' in given else 'query'} on {kind_of(url)}"
        assert got.source_sha256 == ""
        p = got.predictions
        assert (p.source, p.file_sha256) == (got.source, "")
        rows = {*zip(p.outcome, p.forecasts["m"], p.groups["g"], p.cluster, strict=True)}
        assert rows == {(1, 0.6, "south", str(2**60 + 1)), (1, 0.8, "it's", "3")}
        assert p.row_flow.dropped[-1] == DroppedRows(reason="missing `n`", rows=1)
        outside = DroppedRows(reason="outside of 2026-10-01 to 2026-10-31", rows=2)
        has_read_others = ":start" not in given.get("query", ":start")
        assert p.row_flow.dropped[:-1] == ((outside,) if has_read_others else ())
        assert p.row_flow.read == (5 if has_read_others else 3)


def test_casts_are_not_parameters(postgres_url):
    query = "SELECT y, m::float8 AS m FROM scores WHERE t >= :start::timestamp AND d<:end AND ':y'::text<>g"
    assert len(read(fill(postgres_url), query=query, column="").predictions) == 3
    query = "SELECT y, m, $a$:b;$a$ || E'\\':c;' || (ARRAY[1, 2])[1:2]::text AS t FROM scores WHERE d>=:start"
    with pytest.raises(
        DataError, match=r"^`t` must hold dates such as 2026-11-15; got \":b;':c;\{1,2\}\" at row 0"
    ):
        read(postgres_url, query=query)


def test_times_of_a_table_may_have_any_type(postgres_url):
    for time in ("date", "timestamp", "timestamp with time zone", "text", "varchar(40)"):
        fill(postgres_url, table=time, time=time)
        got = read(postgres_url, table=time).predictions
        without_zone = time in ("date", "timestamp")  # then 22:00 is 22:00, on the last of September
        expected = [0.3, 0.4, 0.8] if without_zone else [0.4, 0.6, 0.8]
        assert sorted(got.forecasts["m"].tolist()) == expected
        assert len(got) == got.row_flow.read


def test_the_same_rows_in_another_order_are_the_same_data(url):
    rows = [
        (True, i % 7 / 10, "ab"[i % 2], "2026-10-01", f"2026-10-{i % 9 + 1:02}", i % 5 or None)
        for i in range(60)
    ]
    fill(url, rows, table="one")
    fill(url, rows[::-1][7:] + rows[::-1][:7], table="two")
    given = {"groups": "g", "time": "t", "missing": "drop"}
    one, two = (read(url, table=table, **given).predictions for table in ("one", "two"))
    query = "SELECT n, t, g, m, y, d FROM two ORDER BY d DESC, n"
    three = read(url, query=query, **given).predictions
    assert one.sha256 == two.sha256 == three.sha256
    assert one.forecasts["m"].tolist() == three.forecasts["m"].tolist() != sorted(one.forecasts["m"].tolist())
    fill(url, [*rows[:-1], (False, *rows[-1][1:])], table="other")
    assert read(url, table="other", **given).predictions.sha256 != one.sha256


def test_a_table_with_any_name_is_read_and_harms_nothing(url):
    fill(url, table="audits")
    message = (
        f"`audit.source.table` names '{ODD}', which the database does not have; "
        "similar tables and views: audits."
    )
    assert_refused(message, url, table=ODD)
    fill(url, table=ODD)
    fill(url, table='a"b.c:d%s')
    for table in (ODD, 'a"b.c:d%s'):
        assert len(read(url, table=table).predictions) == 3
    assert count(url, "audits") == 5


def put_into_schema(url, schema, table="scores"):
    """Move a table of PostgreSQL into a new schema."""
    engine = open_engine(url)
    quote = engine.dialect.identifier_preparer.quote_identifier
    with engine.begin() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {quote(schema)}")
        connection.exec_driver_sql(f"ALTER TABLE {quote(table)} SET SCHEMA {quote(schema)}")


@pytest.mark.parametrize("schema", ["risk", ODD, 'R."i":s%k'])
def test_a_table_lies_in_its_schema(postgres_url, schema):
    put_into_schema(fill(postgres_url), schema)
    fill(postgres_url, [], table="scores")
    got = read(postgres_url, table="scores", schema=schema)
    assert (got.source, len(got.predictions)) == (f"table {schema}.scores on postgresql", 3)
    december = Period(label="2026-12", start="2026-12-01", end="2027-01-01")
    message = "has a `t` of 2026-12-01 to 2026-12-31: its dates range from 2026-09-30 to 2026-11-01."
    assert_refused(
        f"No row of {got.source} {message}", postgres_url, table="scores", schema=schema, period=december
    )
    message = f"The table {schema}.scores has no column `p`; it has `y`, `m`, `g`, `d`, `t`, `n`."
    assert_refused(message, postgres_url, table="scores", schema=schema, forecasts=["p"])
    assert count(postgres_url) == 0


def test_a_schema_that_stands_in_the_name_of_the_table_is_recognised(postgres_url):
    put_into_schema(fill(postgres_url), "risk")
    prefix = "`audit.source.table` names 'risk.scores', which the database does not have;"
    message = 'set audit.source.schema to "risk" and table to "scores".'
    assert_refused(f"{prefix} {message}", postgres_url, table="risk.scores")
    message = "`audit.source.table` names 'score', which the schema 'risk' does not have; similar tables"
    assert_refused(f"{message} and views: scores.", postgres_url, table="score", schema="risk", column="")
    fill(postgres_url, table="risk.scores")
    assert len(read(postgres_url, table="risk.scores").predictions) == 3


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            'query = "select 1"\nschema = "risk"',
            "`audit.source.schema` needs a `table` in that schema.",
        ),
        (
            'table = "scores"\nseconds = 0',
            "`audit.source.seconds` must be a whole number of at least 1; got 0.",
        ),
    ],
)
def test_keys_of_databases_are_checked(keys, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        parse_configuration(f'[audit.source]\ndatabase = "sqlite:///scores.db"\n{keys}')
    source = parse_configuration('[audit.source]\ndatabase = "sqlite:///s.db"\ntable = "s"\nschema = "main"')
    assert (source.audit.source.schema, source.audit.source.seconds) == ("main", 3600)


#: Times around the night in which the clocks of Berlin are set back: two o'clock comes twice.
NIGHT = [
    (False, 0.1, "a", "2026-10-25", "2026-10-24T23:59:59Z", 1),
    (True, 0.6, "b", "2026-10-25", "2026-10-25T00:00:00Z", 2),
    (False, 0.4, "c", "2026-10-25", "2026-10-25T00:30:00Z", 3),
    (True, 0.8, "d", "2026-10-25", "2026-10-25T01:30:00Z", 4),
    (False, 0.3, "e", "2026-10-25", "2026-10-25T01:59:59Z", 5),
    (True, 0.2, "f", "2026-10-25", "2026-10-25T02:00:00Z", 6),
]
TWO_OCLOCK = Period(label="2026-10-25T02", start="2026-10-25T02:00", end="2026-10-25T03:00")


def test_an_hour_of_a_table_has_all_rows_of_its_local_time(url):
    fill(url, NIGHT)
    got = read(url, table="scores", groups="g", period=TWO_OCLOCK).predictions
    assert sorted(got.groups["g"]) == ["b", "c", "d", "e"]
    local = [(*row[:4], row[4].replace("Z", ""), row[5]) for row in NIGHT]
    fill(url, local, table="local", time="text" if kind_of(url) == "sqlite" else "timestamp")
    one = Period(label="2026-10-25T01", start="2026-10-25T01:00", end="2026-10-25T02:00")
    assert sorted(read(url, table="local", groups="g", period=one).predictions.groups["g"]) == ["d", "e"]
    noon = Period(label="2026-10-25T12", start="2026-10-25T12:00", end="2026-10-25T13:00")
    message = "has a `t` of 2026-10-25 12:00 to 2026-10-25 13:00: its times range from 2026-10-24 23:59 to "
    assert_refused(
        f"No row of table local on {kind_of(url)} {message}2026-10-25 02:00.", url, table="local", period=noon
    )


def test_parameters_of_a_query_are_bound_to_hours(url):
    local = [(*row[:4], row[4].replace("T", " ").replace("Z", ""), row[5]) for row in NIGHT]
    fill(url, local, time="text" if kind_of(url) == "sqlite" else "timestamp")
    query = "SELECT * FROM scores WHERE t >= :start AND t < :end"
    one = Period(label="2026-10-25T00", start="2026-10-25T00:00", end="2026-10-25T01:00")
    for column in ("", "t"):
        got = read(url, query=query, column=column, groups="g", period=one).predictions
        assert sorted(got.groups["g"]) == ["b", "c"]


def test_a_schema_that_is_not_there_is_refused(url):
    names = {"sqlite": "main", "postgresql": "public and information_schema"}[kind_of(url)]
    message = "`audit.source.schema` names 'pu', which the database does not have; similar schemas:"
    assert_refused(f"{message} {names}.", fill(url), table="scores", schema="pu")
    default = names.split()[0]
    assert len(read(url, table="scores", schema=default).predictions) == 3
    message = f"names '{default}.scores', which the database does not have; set audit.source.schema to"
    assert_refused(
        f'`audit.source.table` {message} "{default}" and table to "scores".', url, table=f"{default}.scores"
    )


def test_columns_of_a_table_are_named_if_one_is_missing(url):
    message = "The table scores has no column `p`; it has `y`, `m`, `g`, `d`, `t`, `n`."
    assert_refused(message, fill(url), table="scores", forecasts=["p"])
    message = f"The query on {kind_of(url)} has no column `p`; it has `y`, `m`."
    assert_refused(message, url, query="SELECT y, m FROM scores", forecasts=["p"], column="")


def test_a_window_without_rows_states_which_days_the_table_has(url):
    december = Period(label="2026-12", start="2026-12-01", end="2027-01-01")
    message = "has a `t` of 2026-12-01 to 2026-12-31: its dates range from 2026-09-30 to 2026-11-01."
    assert_refused(
        f"No row of table scores on {kind_of(url)} {message}", fill(url), table="scores", period=december
    )
    query = "SELECT * FROM scores"
    assert_refused(f"No row of query on {kind_of(url)} {message}", url, query=query, period=december)
    november = Period(label="2026-11", start="2026-11-02", end="2026-11-09")
    message = "has a `t` of 2026-11-02 to 2026-11-08: its dates range from 2026-09-30 to 2026-11-01."
    assert_refused(
        f"No row of table scores on {kind_of(url)} {message}", url, table="scores", period=november
    )
    fill(url, [], table="empty")
    message = "has a `t` of 2026-12-01 to 2026-12-31: there are no rows at all."
    assert_refused(f"No row of table empty on {kind_of(url)} {message}", url, table="empty", period=december)
    assert_refused(f"The table empty on {kind_of(url)} gave no rows.", url, table="empty", period=ALL)
    assert_refused(f"The query on {kind_of(url)} gave no rows.", url, query="SELECT * FROM empty", column="")


def test_missing_times_of_a_table_are_not_dropped_silently(url):
    fill(url, [*ROWS, (True, 0.5, "x", None, None, 1)])
    with pytest.raises(
        DataError, match=r"^`t` must not be missing; got nan at row \d \(1 of \d rows\)\. Fill"
    ):
        read(url, table="scores")
    flow = read(url, table="scores", missing="drop").predictions.row_flow
    assert flow.dropped == (DroppedRows(reason="missing `t`", rows=1),)


def test_days_are_those_of_the_audits_zone(url):
    fill(url)
    for zone, expected in (("UTC", [0.3, 0.4, 0.8]), ("Asia/Tokyo", [0.1, 0.4, 0.6])):
        got = read(url, table="scores", zone=ZoneInfo(zone)).predictions
        assert sorted(got.forecasts["m"].tolist()) == expected


def test_the_session_has_the_audits_zone(postgres_url):
    query = "SELECT y, m, current_setting('TimeZone') AS g FROM scores"
    p = read(fill(postgres_url), query=query, column="", groups="g").predictions
    assert set(p.groups["g"].tolist()) == {"Europe/Berlin"}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT 1; SELECT 2", "`audit.source.query` must be one statement; got 2."),
        ("SELECT ';' AS z; ; -- ;", None),
        ("  ", "`audit.source.query` must be one statement; got 0."),
        ("SELECT :begin", "`audit.source.query` may have the parameters :start and :end; got :begin."),
        ("SELECT ' WHERE t >= :x", "`audit.source.query` opens ' in line 1 and does not close it."),
        (
            "DELETE FROM scores",
            "`audit.source.query` must only read, so it must begin with SELECT or WITH; it begins with "
            "DELETE.",
        ),
        (
            "/* SELECT */ VACUUM INTO 'x.db'",
            "`audit.source.query` must only read, so it must begin with SELECT or WITH; it begins with "
            "VACUUM.",
        ),
        (
            "'SELECT'",
            "`audit.source.query` must only read, so it must begin with SELECT or WITH; it begins with '.",
        ),
    ],
)
def test_invalid_queries_are_refused(sqlite_url, query, message):
    fill(sqlite_url)
    if message is None:
        message, error = "The query on sqlite has no column `m`; it has `z`.", DataError
    else:
        error = UsageError
    assert_refused(message, sqlite_url, error, query=query, column="")


def test_a_query_with_a_start_needs_a_period_with_a_start(sqlite_url):
    message = "`audit.source.query` has the parameter :start, but a period of all rows has no start."
    query = "SELECT * FROM scores WHERE t > :start"
    assert_refused(message, fill(sqlite_url), UsageError, query=query, period=ALL)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM nowhere", "no such table: nowhere."),
        ("SELECT nobody FROM scores", "no such column: nobody."),
        ("SELECT * FORM scores", 'near "FORM": syntax error.'),
        ("SELECT load_extension('private')", DOES_MORE),
        ("SELECT ?", "SQLite failed (ProgrammingError)."),
        ("SELECT y, CAST(x'ff' AS TEXT) AS m FROM scores", "a text in it is not UTF-8."),
        (
            "WITH x AS (SELECT 1) INSERT INTO scores SELECT * FROM scores RETURNING y, m",
            DOES_MORE,
        ),
    ],
)
def test_errors_of_sqlite_are_sentences(sqlite_url, query, message):
    fill(sqlite_url)
    assert_refused(f"The query on sqlite cannot be read: {message}", sqlite_url, query=query, column="")
    assert count(sqlite_url) == 5


POSTGRESQL_ERRORS = {
    "SELECT * FROM nowhere": 'relation "nowhere" does not exist.',
    "SELECT nobody FROM scores": 'column "nobody" does not exist.',
    "SELECT * FORM scores": 'syntax error at or near "FORM".',
    "SELECT $1": "it has a parameter such as $1; the only parameters allowed are :start and :end.",
    "SELECT g::integer AS y, m FROM scores": "PostgreSQL failed (invalid text representation).",
    "SELECT y, m / 0 AS m FROM scores": "PostgreSQL failed (division by zero).",
    "SELECT 'infinity'::date AS y, m FROM scores": "it holds a time that is infinite or after the year 9999.",
    "WITH x AS (DELETE FROM scores RETURNING *) SELECT * FROM x": WRITES,
    "SELECT y, m INTO copied FROM scores": "SELECT ... INTO is not allowed here.",
    "SELECT nextval('counter') AS y, 0.5 AS m": "permission denied for sequence counter.",
}


def test_errors_of_postgresql_are_sentences(postgres_url):
    fill(postgres_url)
    with open_engine(postgres_url).begin() as connection:
        connection.exec_driver_sql("CREATE SEQUENCE counter")
    for query, message in POSTGRESQL_ERRORS.items():
        assert_refused(
            f"The query on postgresql cannot be read: {message}", postgres_url, query=query, column=""
        )
    assert count(postgres_url) == 5


ENDLESS = {
    "sqlite": "WITH c(m) AS (SELECT 0 UNION ALL SELECT m + 1 FROM c) SELECT count(*) AS y, m FROM c",
    "postgresql": "SELECT y, m, pg_sleep(60) FROM scores",
}


@pytest.mark.sweep(after=1)
def test_a_query_that_takes_too_long_is_ended(url):
    message = "cannot be read: it took longer than 1 second, the limit that `audit.source.seconds` sets."
    query = ENDLESS[kind_of(url)]
    assert_refused(f"The query on {kind_of(url)} {message}", fill(url), query=query, column="", seconds=1)


def test_a_server_may_end_a_query_earlier(postgres_url):
    """A limit of its administrators stays, and a longer one is cut to the largest that the server accepts."""
    fill(postgres_url)
    short = sa.make_url(postgres_url).update_query_dict({"options": "-c statement_timeout=100"})
    message = "the query was cancelled on the server before the time limit of `audit.source.seconds`."
    assert_refused(
        f"The query on postgresql cannot be read: {message}",
        short.render_as_string(hide_password=False),
        query=ENDLESS["postgresql"],
        column="",
    )
    query = "SELECT y, m, current_setting('statement_timeout') AS g FROM scores"
    for seconds, expected in ((3600, "1h"), (10**9, "2147483647ms")):
        p = read(postgres_url, query=query, column="", groups="g", seconds=seconds).predictions
        assert set(p.groups["g"].tolist()) == {expected}


@pytest.mark.sweep
def test_a_server_that_cannot_be_reached_gives_nothing_away(postgres_url, monkeypatch):
    monkeypatch.setattr(database_connection, "TIMEOUT_SECONDS", 2)
    good = sa.make_url(postgres_url)
    with socket.socket() as free, socket.socket() as mute:
        free.bind(("127.0.0.1", 0))
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        key = "`audit.source.database`"
        cases = {
            good.set(password="wr0ng"): f"the server refuses the user or the password of {key}.",
            good.set(database="privatedb"): f"the server has no database or no user of the name in {key}.",
            good.set(port=free.getsockname()[1]): f"no server answers at the address of {key}.",
            good.set(
                port=mute.getsockname()[1]
            ): f"no server answered within 15 seconds at the address of {key}.",
            good.set(host="private.invalid"): f"the host that {key} names is not known.",
        }
        for url, message in cases.items():
            address = url.render_as_string(hide_password=False)
            assert_refused(
                f"The table scores on postgresql cannot be read: {message}", address, table="scores"
            )


@pytest.mark.parametrize(
    "address",
    ["", "p4ssword", "postgresql://u:p4ssword@h:port/x", "http://p4ssword@h", "mysql://u:p4ssword@h/x"],
)
def test_invalid_addresses_are_refused_without_being_shown(address):
    with pytest.raises(UsageError, match=r"^`audit\.source\.database` must be") as caught:
        read(address, table="scores")
    assert "p4ssword" not in "".join(traceback.format_exception(caught.value))


def test_a_file_of_sqlite_is_found_beside_the_configuration_and_never_created(tmp_path):
    fill(f"sqlite:///{tmp_path}/scores.db")
    assert len(read("sqlite:///scores.db", table="scores", folder=tmp_path).predictions) == 3
    message = (
        "`audit.source.database` names an SQLite file that does not exist; relative paths are resolved "
        f"in {tmp_path}."
    )
    with pytest.raises(DataError, match=exactly(message)):
        read("sqlite:///none.db", table="scores", folder=tmp_path)
    assert not (tmp_path / "none.db").exists()
    for address in ("sqlite://", "sqlite:///:memory:", "sqlite:///file:scores.db?uri=true&mode=rw"):
        with pytest.raises(UsageError, match=r"^`audit\.source\.database` must name an SQLite file, such as"):
            read(address, table="scores", folder=tmp_path)


def test_a_file_of_sqlite_is_not_touched(tmp_path):
    path = tmp_path / "scores.db"
    fill(f"sqlite:///{path}")
    before = path.read_bytes()
    read(f"sqlite:///{path}", table="scores")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["scores.db"]


def test_files_that_sqlite_cannot_read_are_refused(tmp_path, sqlite_url, monkeypatch):
    monkeypatch.setattr(database_connection, "TIMEOUT_SECONDS", 0.1)
    (tmp_path / "p.db").write_bytes(b"y,m,t\n" * 1000)
    prefix = "The table scores on sqlite cannot be read:"
    message = f"{prefix} the file that `audit.source.database` names is not an SQLite file."
    assert_refused(message, f"sqlite:///{tmp_path}/p.db", table="scores")
    fill(sqlite_url)
    with closing(sqlite3.connect(sa.make_url(sqlite_url).database, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        message = "another program kept the file locked for 15 s; run the audit again later."
        assert_refused(f"{prefix} {message}", sqlite_url, table="scores")


def test_a_database_that_is_written_meanwhile_is_read(sqlite_url):
    fill(sqlite_url)
    with closing(sqlite3.connect(sa.make_url(sqlite_url).database, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM scores")
        assert len(read(sqlite_url, table="scores").predictions) == 3


def test_values_of_any_type_in_one_column_of_sqlite_have_an_order(sqlite_url):
    rows = [(1, 0.5, value, "2026-10-01", "2026-10-01", 1) for value in ("b", "1", 1.0, 2, b"x", "", "a")]
    fill(sqlite_url, rows, table="one")
    fill(sqlite_url, rows[::-1], table="two")
    hashes = {
        read(sqlite_url, table=t, groups="g", missing="drop").predictions.sha256 for t in ("one", "two")
    }
    assert len(hashes) == 1


def test_a_column_of_numbers_is_not_a_time(postgres_url):
    message = "`n` must hold dates; the type of the column is BIGINT."
    assert_refused(message, fill(postgres_url), table="scores", column="n")


def test_without_psycopg_the_fix_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    message = "PostgreSQL needs the package psycopg: pip install 'scorereport[postgres]'."
    with pytest.raises(UsageError, match=exactly(message)):
        read("postgresql://u:p4ssword@127.0.0.1/x", table="scores")


def test_nothing_of_the_address_is_in_the_representation(sqlite_url):
    fill(sqlite_url)
    source = SourceTable(database=sqlite_url, table="scores")
    database = find_source_database(source, folder=Path(), zone=BERLIN, expand=lambda text, _: text)
    assert "private" not in repr(database) + str(database)


def test_a_read_only_folder_is_distinguished_from_a_query_that_writes():
    error = sqlite3.OperationalError("attempt to write a readonly database")
    error.sqlite_errorname = "SQLITE_READONLY_DIRECTORY"  # as SQLite calls it in WAL mode
    message = "SQLite needs to write beside the file, which is in WAL mode, and may not write in its folder."
    assert explain_database_error(error, "table s on sqlite", "sqlite", TimeLimit(3600)).endswith(
        f"cannot be read: {message}"
    )
