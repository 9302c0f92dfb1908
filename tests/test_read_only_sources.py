"""Whatever a query, a view or a file contains, a source is only read, and nothing else is opened."""

from __future__ import annotations

import ast
import re
import secrets
import socket
import sqlite3
from contextlib import closing
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import pandas as pd
import psycopg
import pytest
import sqlalchemy as sa
from postgres_tools import USER, run_script

import scorereport as sr
from scorereport._utils.documentation import DocumentationPage, cite_page
from scorereport.audit.databases import database_connection
from scorereport.audit.databases.database_connection import connect_read_only, read_database_address
from scorereport.audit.databases.database_rows import fetch_rows, find_source_database
from scorereport.audit.databases.query import bind_period
from scorereport.audit.rows.source_rows import open_batches
from scorereport.configuration.audit_tables import SourceTable
from scorereport.configuration.periods import Period
from scorereport.data.database_sessions import connect_duckdb
from scorereport.data.database_tables import open_sql
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.engines.duck.duck_engine import open_duckdb

PACKAGE = Path(sr.__file__).parent
SCRIPT = Path(__file__).resolve().parents[1] / "docs" / "postgresql-reader.sql"
ALL = Period(label="all", start=None, end="2026-11-15")
COLUMNS = {"outcome": "y", "forecasts": ["m"]}
UTC = ZoneInfo("UTC")
SECRET = "s3cret-0f-another-f1le"
ROLE_REFUSED = (
    "its role is a superuser or may use files and programs of the server, which a session that only reads "
    f"cannot prevent; connect as a role that may only select ({cite_page(DocumentationPage.AUDITS)})."
)
DOES_MORE = "the query, or a view it reads, does more than read tables of the file, and an audit only reads."


def exactly(sentence):
    return f"^{re.escape(sentence)}$"


def read_source(url, **source):
    """Read a query or table as an audit does."""
    table = SourceTable(database=url, **source)
    database = find_source_database(table, folder=Path(), zone=UTC, expand=lambda text, _: text)
    return database.read_rows(["y", "m"], "", ALL)


def read_unchecked(url, query):
    """Hand the text of a query to the session itself, past all checks of the text."""
    with connect_read_only(read_database_address(url, Path()), UTC, "query", 60) as connection:
        return fetch_rows(connection, sa.text(query.replace(":", r"\:")), [], "The query")


def assert_only_reads(read, url, name, query):
    """Refuse in one sentence; or, where a query does no harm, give rows."""
    try:
        rows, sentence = read(url, query), ""
    except (DataError, UsageError) as error:
        rows, sentence = None, str(error)
    assert SECRET not in sentence
    if rows is None:
        assert re.fullmatch(r"[^\n]+\.", sentence), name
    else:
        assert name in HARMLESS or (read is read_unchecked and name in HARMLESS_TO_SESSIONS), name


def read_query(url, query):
    return read_source(url, query=query)


READERS = [pytest.param(read_query, id="source"), pytest.param(read_unchecked, id="session")]
#: A session accepts these; the check of the text refuses them.
HARMLESS_TO_SESSIONS = {"null character", "unclosed comment"}

# ---- PostgreSQL ----

#: Ends the transaction that reads, and deletes in another one.
ATTACK = "commit; begin read write; delete from victim; commit;"
PROGRAM = "copy (select 1) to program 'touch {marker}'"
POSTGRESQL = {
    "nested comment": f"select y, m from scores /* /* */ ' */ ; {ATTACK} --'",
    "nested comment, program": f"select y, m from scores /* /* */ ' */ ; commit; {PROGRAM}; --'",
    "carriage return": f"select y, m from scores -- \r; {ATTACK}",
    "odd dollar tag": f"select y, m, $€$ ' $€$ from scores; {ATTACK} -- '",
    "several statements": f"select y, m from scores; {ATTACK}",
    "statement after values": f"values (1, 2); {ATTACK}",
    "unclosed comment": f"select y, m from scores /* ; {ATTACK}",
    "unclosed quote": f"select y, m from scores where g = ' ; {ATTACK}",
    "unclosed dollar quote": f"select y, m from scores where g = $a$ ; {ATTACK}",
    "delete": "delete from victim returning y, m",
    "deleting expression": "with x as (delete from victim returning *) select y, m from x",
    "updating expression": "with x as (update victim set m = 0 returning *) select y, m from x",
    "inserting expression": "with x as (insert into victim select * from victim returning *) select * from x",
    "select into": "select y, m into copied from scores",
    "select into temporary": "select y, m into temporary copied from scores",
    "for update": "select y, m from scores for update",
    "nextval": "select nextval('counter') as y, 0.5 as m",
    "setval": "select setval('counter', 99) as y, 0.5 as m",
    "function that deletes": "select wipe() as y, 0.5 as m",
    "procedure": "call wipe_all()",
    "block": "do $$ begin delete from victim; end $$",
    "block that commits": "do $$ begin commit; delete from victim; commit; end $$",
    "copy to program": PROGRAM,
    "copy to file": "copy victim to '{marker}'",
    "copy from program": "copy victim from program 'touch {marker}'",
    "transaction made writing": "select set_config('transaction_read_only', 'off', true) as y, 0.5 as m",
    "set transaction": "set transaction read write",
    "set session": "set session characteristics as transaction read write",
    "set default": "set default_transaction_read_only = off",
    "commit": "commit",
    "rollback": "rollback",
    "begin": "begin read write",
    "prepared transaction": "prepare transaction 'x'",
    "prepared statement": "prepare x as delete from victim",
    "own cursor": "declare x cursor with hold for select * from victim",
    "create table": "create table made (y int)",
    "create temporary": "create temporary table made (y int)",
    "create as": "create table made as select * from victim",
    "create function": "create function made() returns int language sql as 'select 1'",
    "drop": "drop table victim",
    "truncate": "truncate victim",
    "alter": "alter table victim add column made int",
    "grant": "grant all on victim to public",
    "merge": "merge into victim using scores on true when matched then delete",
    "explain": "explain analyze delete from victim",
    "vacuum": "vacuum victim",
    "lock": "lock table victim",
    "notify": "notify audits, 'x'",
    "discard": "discard all",
    "load": "load 'plpgsql'",
    "server file": "select 1 as y, pg_read_file('{secret}') as m",
    "server folder": "select 1 as y, pg_ls_dir('/') as m",
    "import of a file": "select lo_import('{secret}') as y, 0.5 as m",
    "export to a file": "select lo_export(1, '{marker}') as y, 0.5 as m",
    "query to XML": "select query_to_xml('delete from victim', true, true, '') as y, 0.5 as m",
    "program to XML": "select query_to_xml('copy (select 1) to program ''touch {marker}''', true, true, '')",
    "other session": "select dblink_exec('host=127.0.0.1', 'delete from victim') as y, 0.5 as m",
    "null character": "select y, m from scores \0; delete from victim",
}
#: These give rows; nothing of them outlives the session.
HARMLESS = {
    "default made writing": "select 1 as y, set_config('default_transaction_read_only', 'off', false) as m",
    "large object": "select lo_from_bytea(0, 'x') as y, 0.5 as m",
    "advisory lock": "select 1 as y, pg_advisory_lock(1)::text as m",
    "notification": "select 1 as y, pg_notify('audits', 'x')::text as m",
    "role": "select 1 as y, set_config('role', session_user, false) as m",
}
#: All that a hostile query may try to change.
STATE = """
    select (select array_agg(v order by v) from victim v), (select last_value from counter),
           (select count(*) from pg_class), (select count(*) from pg_proc),
           (select count(*) from pg_largeobject_metadata),
           (select count(*) from pg_prepared_xacts where database = current_database()),
           (select relacl::text from pg_class where relname = 'victim')
"""


@pytest.fixture(scope="module")
def server_folder(tmp_path_factory):
    """A folder that the server may write to, with a secret file."""
    folder = tmp_path_factory.mktemp("server")
    folder.chmod(0o777)
    for parent in folder.parents[:3]:
        parent.chmod(parent.stat().st_mode | 0o055)
    (folder / "secret").write_text(SECRET)
    return folder


@pytest.fixture(scope="module")
def loans(postgres_server):
    """A database of a role that may write to all its tables, and a function that reads what may change."""
    name, role = f"loans_{secrets.token_hex(6)}", f"writer_{secrets.token_hex(6)}"
    with psycopg.connect(postgres_server.url("postgres"), autocommit=True) as server:
        server.execute(f"create role {role} login password '{postgres_server.password}'")
        server.execute(f"create database {name} owner {role}")
        url = postgres_server.url(name).replace(f"://{USER}:", f"://{role}:")
        with psycopg.connect(url) as connection:
            connection.execute(
                """
                create table scores (y int, m float8, g text);
                insert into scores values (0, 0.25, 'a'), (1, 0.75, 'b');
                create table victim as select * from scores;
                create sequence counter;
                create function wipe() returns int language sql security definer
                    as 'delete from victim; select 1';
                create procedure wipe_all() language sql as 'delete from victim';
                """
            )
        with psycopg.connect(url, autocommit=True) as connection:
            yield url, lambda: connection.execute(STATE).fetchone()
        server.execute(f"drop database {name} with (force)")
        server.execute(f"drop role {role}")


def as_superuser(url):
    return re.sub(r"//\w+:", f"//{USER}:", url)


@pytest.mark.sweep
@pytest.mark.parametrize("read", READERS)
def test_no_query_changes_a_postgresql_database(loans, server_folder, read):
    url, look = loans
    before, marker = look(), server_folder / "marker"
    for name, query in (POSTGRESQL | HARMLESS).items():
        text = query.replace("{marker}", str(marker)).replace("{secret}", str(server_folder / "secret"))
        assert_only_reads(read, url, name, text)
        assert look() == before, name
        assert not marker.exists(), name


@pytest.mark.parametrize("name", ["nested comment", "nested comment, program", "odd dollar tag"])
def test_not_even_a_superuser_can_leave_the_session(loans, server_folder, monkeypatch, name):
    """Such a role is refused; here it is let in to show that a text can only be one SELECT."""
    monkeypatch.setattr(database_connection, "may_leave_session", lambda _: False)
    url, look = loans
    before, marker = look(), server_folder / "marker"
    query = POSTGRESQL[name].replace("{marker}", str(marker))
    with pytest.raises(DataError, match=r"cannot insert multiple commands into a prepared statement\.$"):
        read_unchecked(as_superuser(url), query)
    with pytest.raises(DataError, match=r'syntax error at or near "copy"\.$'):
        read_unchecked(as_superuser(url), PROGRAM.replace("{marker}", str(marker)))
    assert look() == before
    assert not marker.exists()


@pytest.mark.parametrize(
    "rights",
    [
        "superuser",
        "noinherit in role {superuser}",
        "in role pg_execute_server_program",
        "in role pg_write_server_files",
        "in role pg_read_server_files",
    ],
)
def test_roles_that_no_session_can_hold_are_refused(loans, postgres_server, rights):
    role = f"admin_{secrets.token_hex(6)}"
    url = re.sub(r"//\w+:", f"//{role}:", loans[0])
    with psycopg.connect(postgres_server.url("postgres"), autocommit=True) as server:
        given = rights.format(superuser=USER)
        server.execute(f"create role {role} login password '{postgres_server.password}' {given}")
        try:
            for source in ({"table": "scores"}, {"query": "select y, m from scores"}):
                what = "table scores" if "table" in source else "query"
                sentence = f"The {what} on postgresql cannot be read: {ROLE_REFUSED}"
                with pytest.raises(DataError, match=exactly(sentence)):
                    read_source(url, **source)
            with pytest.raises(DataError, match=re.escape(f"cannot be read: {ROLE_REFUSED}")) as refused:
                sr.read_predictions(url, **COLUMNS, table="scores")
            assert postgres_server.password not in str(refused.value)
        finally:
            server.execute(f"drop role {role}")


def test_a_view_that_writes_is_refused_by_the_command_line_too(loans):
    url, look = loans
    before = look()
    with psycopg.connect(url) as connection:
        connection.execute("create view trap as select y, m, wipe() as w from scores")
    try:
        sentence = r"cannot be read: .*cannot execute DELETE in a read-only transaction\.$"
        for read in (sr.read_predictions, open_duckdb):
            with pytest.raises(DataError, match=sentence):
                read(url, outcome="y", forecasts=["m"], weight="w", table="trap")
        with pytest.raises(DataError, match=r"the query tries to write, and an audit only reads\.$"):
            read_source(url, query="select * from trap")
    finally:
        with psycopg.connect(url) as connection:
            connection.execute("drop view trap")
    assert look() == before


FORBIDDEN_TO_READERS = [
    "insert into risk.scored values (1, 0.5)",
    "update risk.scored set y = 1",
    "delete from risk.scored",
    "truncate risk.scored",
    "create table risk.made (y int)",
    "create table public.made (y int)",
    "create temporary table made (y int)",
    "create schema made",
    "create role made",
    "copy risk.scored to program 'true'",
    "copy (select 1) to '/tmp/made'",
    "select pg_read_file('/etc/hostname')",
    "select * from other.hidden",
]


@pytest.mark.sweep
def test_the_role_of_the_documentation_reads_its_schema_and_nothing_else(postgres_url, postgres_server):
    role = f"Auditor-{secrets.token_hex(4)}"
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute("create schema risk; create table risk.scored (y int, m float8)")
        server.execute("create schema other; create table other.hidden as select 1 as y, 0.5 as m")
        server.execute("insert into risk.scored values (0, 0.25), (1, 0.75)")
        for _ in range(2):  # what is there already is set anew
            done = run_script(postgres_url, SCRIPT, reader=role, schema="risk", owner=USER)
            assert (done.returncode, done.stderr) == (0, "")
        server.execute("create view risk.later as select * from risk.scored")
        server.execute(f"alter role \"{role}\" password '{postgres_server.password}'")
        url = sa.make_url(postgres_url).set(username=role).render_as_string(hide_password=False)
        try:
            for table in ("scored", "later"):
                assert read_source(url, table=table, schema="risk")["m"].tolist() == [0.25, 0.75]
            assert len(read_source(url, query="select * from risk.later")) == 2
            with psycopg.connect(url, autocommit=True) as reader:
                assert reader.execute("show default_transaction_read_only").fetchone() == ("on",)
                reader.execute("set default_transaction_read_only = off")
                for statement in FORBIDDEN_TO_READERS:
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        reader.execute(statement)
            assert server.execute("select count(*) from risk.scored").fetchone() == (2,)
        finally:
            server.execute(f'drop owned by "{role}"; drop role "{role}"')


def test_the_documentation_shows_the_role_script():
    shown = (SCRIPT.parent / "audits.md").read_text(encoding="utf-8")
    assert "](postgresql-reader.sql)" in shown
    assert "-v reader=loans_auditor -v schema=risk -v owner=risk_owner -f postgresql-reader.sql" in shown
    assert shown.count("psql -d loans") == SCRIPT.read_text(encoding="utf-8").count("psql -d loans") == 2


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("select 1 as y /* a /* b */ c", "`audit.source.query` opens /* in line 1 and does not close it."),
        ('select 1\nas "y', '`audit.source.query` opens " in line 2 and does not close it.'),
        ("select $a$ $b$", "`audit.source.query` opens $a$ in line 1 and does not close it."),
        ("select e'\\'", "`audit.source.query` opens e' in line 1 and does not close it."),
        ("select 1 /* /* */ ' */; delete from t --'", "`audit.source.query` must be one statement; got 2."),
        ("select 1 -- \r; delete from t", "`audit.source.query` must be one statement; got 2."),
        ("select $€$ ' $€$; delete from t -- '", "`audit.source.query` must be one statement; got 2."),
        ("select \0", "`audit.source.query` must not contain the character NUL."),
    ],
)
def test_a_query_that_is_not_understood_is_refused(query, sentence):
    with pytest.raises(UsageError, match=exactly(sentence)):
        bind_period(query, ALL, "postgresql")


def test_comments_nest_where_the_database_nests_them():
    text = "select /* a /* b */ : c */ 1 as y"
    assert str(bind_period(text, ALL, "postgresql")) == text
    text = "select /* a /* : */ 1 as y, [:b;], `;:c`, 'it''s :d' from e"
    assert str(bind_period(text, ALL, "sqlite")) == text


# ---- SQLite ----

SQLITE = {
    "delete": "delete from victim",
    "insert": "insert into victim values (1, 0.5)",
    "update": "update victim set m = 0",
    "replace": "replace into victim values (1, 0.5)",
    "inserting expression": "with x as (select 1) insert into victim select 1, 0.5 returning y, m",
    "deleting expression": "with x as (select 1) delete from victim returning y, m",
    "several statements": "select y, m from scores; delete from victim",
    "hidden statement": "select y, m from scores /* ' */; delete from victim --'",
    "unclosed comment": "select y, m from scores /* ; delete from victim",
    "create table": "create table made (y)",
    "create temporary": "create temporary table made (y)",
    "create trigger": "create trigger made after insert on victim begin delete from scores; end",
    "create view": "create view made as select 1",
    "create virtual": "create virtual table made using fts5(y)",
    "drop": "drop table victim",
    "alter": "alter table victim rename to made",
    "attach": "attach '{folder}/other.db' as other",
    "attach new": "attach '{folder}/new.db' as made",
    "detach": "detach main",
    "vacuum": "vacuum",
    "vacuum into": "vacuum into '{folder}/copy.db'",
    "journal": "pragma journal_mode = wal",
    "user version": "pragma user_version = 5",
    "query only": "pragma query_only = off",
    "writable schema": "pragma writable_schema = on",
    "trusted schema": "pragma trusted_schema = on",
    "read uncommitted": "pragma read_uncommitted = 1",
    "temporary folder": "pragma temp_store_directory = '{folder}'",
    "checkpoint": "pragma wal_checkpoint(truncate)",
    "selected pragma": "select 1 as y, user_version as m from pragma_user_version",
    "extension": "select load_extension('{folder}/other.db') as y, 0.5 as m",
    "tokenizer": "select fts3_tokenizer('simple', x'00') as y, 0.5 as m",
    "written file": "select writefile('{folder}/made', 'x') as y, 0.5 as m",
    "read file": "select readfile('{folder}/secret') as y, 0.5 as m",
    "editor": "select edit('x', 'touch {folder}/made') as y, 0.5 as m",
    "pages": "select pgno as y, data as m from sqlite_dbpage",
    "explain": "explain delete from victim",
    "reindex": "reindex",
    "analyze": "analyze",
    "begin": "begin immediate",
    "savepoint": "savepoint made",
    "null character": "select y, m from scores \0; delete from victim",
}


@pytest.fixture
def bank(tmp_path):
    """The address of a file of SQLite beside another one and a secret."""
    for name in ("bank.db", "other.db"):
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            connection.executescript(
                """
                create table scores (y, m);
                insert into scores values (0, 0.25), (1, 0.75);
                create table victim as select * from scores;
                """
            )
    (tmp_path / "secret").write_text(SECRET)
    return f"sqlite:///{tmp_path / 'bank.db'}"


def look_at_files(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("read", READERS)
def test_no_query_changes_a_file_of_sqlite(bank, tmp_path, read):
    before = look_at_files(tmp_path)
    for name, query in SQLITE.items():
        assert_only_reads(read, bank, name, query.replace("{folder}", str(tmp_path)))
        assert look_at_files(tmp_path) == before, name


@pytest.mark.parametrize(
    "view",
    [
        "select load_extension('x') as y, 0.5 as m",
        "select fts3_tokenizer('simple', x'00') as y, 0.5 as m",
        "select 1 as y, user_version as m from pragma_user_version",
        "select pgno as y, data as m from sqlite_dbpage",
    ],
)
def test_views_in_a_hostile_file_of_sqlite_do_nothing(bank, tmp_path, view):
    with closing(sqlite3.connect(tmp_path / "bank.db")) as connection:
        connection.execute(f"create view trap as {view}")
    before = look_at_files(tmp_path)
    refused = "does more than read|no such table|no such function|not authorized|prohibited|unsafe use"
    for read in (sr.read_predictions, open_duckdb):
        with pytest.raises(DataError, match=refused):
            read(bank, **COLUMNS, table="trap")
    for source in ({"table": "trap"}, {"query": "select * from trap"}):
        with pytest.raises(DataError, match=refused):
            read_source(bank, **source)
    assert look_at_files(tmp_path) == before


def test_the_session_of_sqlite_names_what_it_refuses(bank):
    sentence = f"The query on sqlite cannot be read: {DOES_MORE}"
    with pytest.raises(DataError, match=exactly(sentence)):
        read_source(bank, query="with x as (select 1) delete from victim returning y, m")
    with open_sql(bank) as engine, engine.connect() as connection:
        for statement in ("attach 'x.db' as x", "delete from victim", "pragma query_only = off"):
            with pytest.raises(sa.exc.DatabaseError, match="not authorized"):
                connection.exec_driver_sql(statement)


def test_a_file_of_sqlite_that_is_missing_is_not_created(tmp_path, monkeypatch, call):
    monkeypatch.chdir(tmp_path)
    options = ("--outcome", "y", "--forecast", "m", "--table", "scores")
    code, _, sentence = call("score", "sqlite:///new.db", *options)
    assert (code, sentence) == (2, "scorereport: new.db is not a file.\n")
    for engine in ("memory", "duckdb"):
        with pytest.raises(UsageError, match=exactly("new.db is not a file.")):
            sr.evaluate("sqlite:///new.db", **COLUMNS, table="scores", engine=engine)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["", ":memory:", "file:new.db?uri=true&mode=rwc"])
def test_an_address_of_sqlite_names_a_file(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    sentence = r"^The address of a SQLite source must name a file, such as sqlite:///scores\.db; got '.*'\.$"
    with pytest.raises(UsageError, match=sentence):
        sr.read_predictions(f"sqlite:///{name}", **COLUMNS, table="scores")
    assert list(tmp_path.iterdir()) == []


# ---- DuckDB ----

#: What a view in a .duckdb file may hold; all can be created while the file that they name is there.
TRAPS = {
    "csv": "select 1 as y, column0 as m from read_csv('{secret}', header = false)",
    "text": "select 1 as y, content as m from read_text('{secret}')",
    "blob": "select 1 as y, content as m from read_blob('{secret}')",
    "glob": "select 1 as y, file as m from glob('{folder}/*')",
    "replacement": "select 1 as y, m from '{folder}/other.csv'",
    "parquet": "select y, m from read_parquet('{folder}/other.parquet')",
    "metadata": "select 1 as y, file_name as m from parquet_metadata('{folder}/other.parquet')",
    "json": "select 1 as y, json as m from read_json_objects('{folder}/other.json')",
    "sniffed": "select 1 as y, Prompt as m from sniff_csv('{folder}/other.csv')",
    "other database": "select y, m from read_duckdb('{folder}/other.duckdb', table_name = 'scores')",
    "query": "select 1 as y, content as m from query('select * from read_text(''{secret}'')')",
    "macro": "select 1 as y, content as m from stolen()",
    "subquery": "select 1 as y, (select content from read_text('{secret}')) as m",
    "above": "select 1 as y, content as m from read_text('{folder}/trap.duckdb.tmp/../secret')",
}
OUTSIDE = "it needs files, the network or extensions outside the source, which are not allowed."
STATEMENTS = {
    **{name: view for name, view in TRAPS.items() if name != "macro"},
    "network": "select * from read_csv('http://127.0.0.1:{port}/x.csv')",
    "bucket": "select * from read_parquet('s3://bucket/x.parquet')",
    "extension function": "select stem('running', 'english')",
    "install": "install fts",
    "load": "load fts",
    "load file": "load '{folder}/x.duckdb_extension'",
    "attach": "attach '{folder}/other.duckdb' as other",
    "attach new": "attach '{folder}/new.duckdb' as made",
    "attach server": "attach 'host=127.0.0.1 port={port}' as server (type postgres)",
    "copy": "copy (select 1) to '{folder}/made.csv'",
    "copy from": "copy scores from '{folder}/other.csv'",
    "export": "export database '{folder}/made'",
    "import": "import database '{folder}'",
    "access": "set enable_external_access = true",
    "unlock": "set lock_configuration = false",
    "reset": "reset enable_external_access",
    "allowed": "set allowed_directories = ['/']",
    "autoload": "set autoload_known_extensions = true",
    "temporary": "set temp_directory = '{folder}/made'",
    "profile": "pragma profile_output = '{folder}/made'",
    "log": "call enable_logging(storage = 'file', storage_config = {'path': '{folder}/made'})",
    "secret": "create persistent secret s (type http)",
    "environment": "select getenv('HOME')",
    "variable": "select * from private_frame",
    "delete": "delete from scores",
    "drop": "drop table scores",
    "create": "create table made (y int)",
    "update": "update scores set m = 0",
}


@pytest.fixture(scope="module")
def trap_folder(tmp_path_factory):
    """A folder with a hostile DuckDB file, whose views read all that lies beside it."""
    folder = tmp_path_factory.mktemp("vault")
    (folder / "secret").write_text(f"{SECRET}\n")
    (folder / "other.csv").write_text(f"y,m\n1,{SECRET}\n")
    (folder / "other.json").write_text(f'{{"m": "{SECRET}"}}\n')
    pd.DataFrame({"y": [0, 1], "m": [0.25, 0.75]}).to_parquet(folder / "other.parquet")
    for name in ("other", "trap"):
        with duckdb.connect(folder / f"{name}.duckdb") as connection:
            connection.execute("create table scores as from (values (0, 0.25), (1, 0.75)) t(y, m)")
            (folder / "trap.duckdb.tmp").mkdir(exist_ok=True)
            if name == "trap":
                stolen = f"select content from read_text('{folder / 'secret'}')"
                connection.execute(f"create macro stolen() as table {stolen}")
                for view, text in TRAPS.items():
                    connection.execute(f'create view "{view}" as {put_in(text, folder)}')
    return folder


def put_in(text, folder, port=0):
    for name, value in {"folder": folder, "secret": folder / "secret", "port": port}.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def look_at_tree(folder):
    return {path.relative_to(folder): path.is_file() and path.read_bytes() for path in folder.rglob("*")}


def read_batches(path, table):
    with open_batches(path, table, ["y", "m"]) as batches:
        return list(batches)


@pytest.mark.sweep(after=2)
@pytest.mark.parametrize("view", TRAPS)
def test_a_view_of_a_duckdb_file_reads_no_other_file(trap_folder, view):
    before = look_at_tree(trap_folder)
    for read in (
        lambda path: sr.read_predictions(path, **COLUMNS, table=view),
        lambda path: open_duckdb(path, **COLUMNS, table=view),
        lambda path: read_batches(path, view),
    ):
        with pytest.raises(DataError) as refused:
            read(trap_folder / "trap.duckdb")
        sentence = str(refused.value)
        assert re.fullmatch(r"[^\n]+\.", sentence)
        assert SECRET not in sentence
        if view != "replacement":  # there the file name is read as the name of a missing table
            assert sentence == f"trap.duckdb: {view} cannot be read as a table: {OUTSIDE}"
    assert look_at_tree(trap_folder) == before


@pytest.mark.parametrize("files", [False, True], ids=["none named", "one named"])
def test_no_statement_leaves_a_duckdb_session(trap_folder, files):
    private_frame = pd.DataFrame({"y": [1]})
    before = look_at_tree(trap_folder)
    named = [str(trap_folder / "named.parquet")] if files else []
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(0)
        with connect_duckdb(trap_folder / "trap.duckdb", files=named, read_only=True) as connection:
            for name, text in STATEMENTS.items():
                with pytest.raises((duckdb.Error, OSError)) as refused:
                    connection.execute(put_in(text, trap_folder, listener.getsockname()[1])).fetchall()
                assert SECRET not in str(refused.value), name
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert look_at_tree(trap_folder) == before
    assert len(private_frame) == 1


ODD_NAMES = ("it's", 'a "b"', "a, b", "é€", "[1]", "a*b?", "%41")


@pytest.mark.sweep
def test_named_files_are_read_whatever_their_names(tmp_path, monkeypatch):
    frame = pd.DataFrame({"y": [0, 1, 1], "m": [0.25, 0.5, 0.75]})
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "other").mkdir()
    for name in ODD_NAMES:
        frame.to_parquet(tmp_path / "real" / f"{name}.parquet")
        (tmp_path / "other" / f"{name}.parquet").symlink_to(tmp_path / "real" / f"{name}.parquet")
    monkeypatch.chdir(tmp_path)
    for source in (tmp_path / "link", "other/../real/*.parquet"):
        assert sr.read_predictions(source, **COLUMNS).row_flow.kept == 3 * len(ODD_NAMES)
        with open_duckdb(source, **COLUMNS) as engine:
            assert engine.survey.rows == 3 * len(ODD_NAMES)
    for name in ODD_NAMES[::3]:
        with open_duckdb(Path("other") / f"{name}.parquet", **COLUMNS) as engine:
            assert engine.survey.sha256 == sr.read_predictions(frame, **COLUMNS).sha256


def test_a_closed_session_still_sorts_on_disk(tmp_path):
    settings = {"memory_limit": "40MB", "temp_directory": str(tmp_path / "spilled"), "threads": 1}
    with connect_duckdb(tmp_path / "rows.duckdb", settings=settings) as connection:
        rows = "select hash(i)::varchar as h from range(1500000) t(i)"
        reader = connection.sql(f"select h from ({rows}) order by h").to_arrow_reader(1000)
        first = next(iter(reader))
        assert sum(file.stat().st_size for file in (tmp_path / "spilled").iterdir()) > 1_000_000
        assert first.column(0).to_pylist() == sorted(first.column(0).to_pylist())


# ---- one place ----

OPENERS = {
    "duckdb.connect": {"data/database_sessions.py"},
    "sqlite3.connect": {"data/database_sessions.py"},
    "create_engine": {"data/database_sessions.py"},
    "psycopg.connect": set(),
    "engine_from_config": set(),
    "create_async_engine": set(),
}


def name_calls(path):
    text = path.read_text(encoding="utf-8")
    if re.search("duckdb|sqlite3|psycopg|engine", text):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
                yield ast.unparse(node.func)


def test_databases_are_opened_in_one_place():
    found = {opener: set() for opener in OPENERS}
    for path in PACKAGE.rglob("*.py"):
        for name in name_calls(path):
            for opener, homes in found.items():
                if f".{name}".endswith(f".{opener}"):
                    homes.add(path.relative_to(PACKAGE).as_posix())
            # Other functions of the module use a connection of the whole process, open to everything.
            assert not name.startswith("duckdb.") or name == "duckdb.connect", f"{path}: {name}"
    assert found == OPENERS
