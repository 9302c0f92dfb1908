"""Roles of PostgreSQL for histories: the script separates them, and each role can do its part and no more."""

from __future__ import annotations

import hashlib
import re
import secrets
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from audit_tools import make_scored, write_audit
from history_tools import forge, make_draft
from postgres_tools import USER, run_script

from scorereport._utils.clock import fixed_time
from scorereport.audit.annulment import annul_record
from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.plan import read_plan
from scorereport.audit.run import run_audit
from scorereport.errors import UsageError
from scorereport.history import database_schema
from scorereport.history.audit_record import AuditStatus
from scorereport.history.database_check import check_database
from scorereport.history.database_roles import ROLE_SCRIPT
from scorereport.history.store import open_history
from validation.role_script import render_role_script

DOCS = Path(__file__).resolve().parents[1] / "docs"
SCRIPT = DOCS / "postgresql-history.sql"
READER_SCRIPT = DOCS / "postgresql-reader.sql"
AS_OF = "2026-11-02"


@dataclass(frozen=True)
class Roles:
    """A database, its administrator's address, and the names of the three roles."""

    admin: str
    owner: str
    writer: str
    reader: str
    schema: str = "history"

    def url(self, role: str) -> str:
        return sa.make_url(self.admin).set(username=role).render_as_string(hide_password=False)

    def separate(self, **changes):
        names = ("owner", "writer", "reader", "schema")
        return run_script(self.admin, SCRIPT, **{name: getattr(self, name) for name in names} | changes)

    def let_in(self, *roles: str) -> None:
        password = sa.make_url(self.admin).password
        with psycopg.connect(self.admin, autocommit=True) as server:
            for role in roles:
                server.execute(f"alter role \"{role}\" password '{password}'")


def assert_done(done):
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.fixture
def roles(postgres_url):
    """Names of roles that do not exist yet; they are dropped afterwards."""
    word = secrets.token_hex(4)
    made = Roles(postgres_url, *(f"{kind}-{word}" for kind in ("Owner", "Writer", "Reader")))
    yield made
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(f"alter database {sa.make_url(postgres_url).database} owner to {USER}")
        found = server.execute("select rolname from pg_roles where rolname like %s", [f"%{word}"])
        for (role,) in found.fetchall():
            server.execute(f'drop owned by "{role}" cascade; drop role "{role}"')


@pytest.fixture
def separated(roles):
    """The roles of the script in an empty database."""
    assert_done(roles.separate())
    roles.let_in(roles.writer, roles.reader)
    return roles


def write_loans(folder, **tables):
    make_scored("2026-09-01", 61, rows=5).to_csv(folder / "scores.csv", index=False)
    return write_audit(folder, history={"database": "${HISTORY}"}, **tables)


def describe_tables(url, schema):
    """Columns, constraints, indexes, triggers and functions of a history, without the names of owners."""
    query = """
        SELECT table_name::text, column_name::text, data_type, is_nullable, column_default
        FROM information_schema.columns
        WHERE table_schema = %(schema)s
        UNION ALL SELECT conrelid::regclass::text, conname::text, pg_get_constraintdef(oid), '', ''
        FROM pg_constraint
        WHERE connamespace = %(schema)s::regnamespace
        UNION ALL SELECT indrelid::regclass::text, pg_get_indexdef(indexrelid), '', '', '' FROM pg_index
        WHERE indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = %(schema)s::regnamespace)
        UNION ALL SELECT tgrelid::regclass::text, pg_get_triggerdef(oid), tgenabled::text, '', ''
        FROM pg_trigger
        WHERE tgrelid IN (SELECT oid FROM pg_class WHERE relnamespace = %(schema)s::regnamespace)
        UNION ALL SELECT '', pg_get_functiondef(oid)::text, '', '', '' FROM pg_proc
        WHERE pronamespace = %(schema)s::regnamespace
        ORDER BY 1, 2, 3"""
    with psycopg.connect(url) as connection:
        connection.execute("SELECT set_config('search_path', %s, false)", [schema])
        found = connection.execute(query, {"schema": schema}).fetchall()
        found += connection.execute("SELECT * FROM schema_versions ORDER BY version").fetchall()
    return [[str(value).replace(f"{schema}.", "") for value in row] for row in found]


def test_the_script_is_current():
    assert SCRIPT.read_text(encoding="utf-8") == render_role_script(), "run `make docs`"


def test_the_documentation_shows_the_script():
    shown = (DOCS / "audits.md").read_text(encoding="utf-8")
    assert "](postgresql-history.sql)" in shown
    command = (
        SCRIPT.read_text(encoding="utf-8").split("--     psql", 1)[1].split("-f postgresql-history.sql")[0]
    )
    words = command.replace("--", " ").split()
    assert f"psql {' '.join(words)} -f postgresql-history.sql" in " ".join(shown.split())


def test_the_script_creates_what_a_run_creates(separated, postgres_server):
    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(postgres_server.url("postgres"), autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        try:
            open_history(postgres_server.url(name)).close()
            expected = describe_tables(postgres_server.url(name), "public")
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")
    assert len(expected) > 30
    assert describe_tables(separated.admin, "history") == expected
    assert_done(separated.separate())  # again, and nothing changes
    assert describe_tables(separated.admin, "history") == expected


#: What the writer and the reader may do, as PostgreSQL lists it.
RIGHTS = """
    SELECT relname::text, privilege_type::text FROM pg_class, aclexplode(relacl)
    WHERE relnamespace = %(schema)s::regnamespace AND grantee = %(role)s::regrole
    UNION ALL SELECT 'schema', privilege_type FROM pg_namespace, aclexplode(nspacl)
    WHERE nspname = %(schema)s::text AND grantee = %(role)s::regrole
    UNION ALL SELECT 'database', privilege_type FROM pg_database, aclexplode(datacl)
    WHERE datname = current_database() AND grantee = %(role)s::regrole
    UNION ALL SELECT 'column', privilege_type FROM pg_attribute, aclexplode(attacl)
    WHERE grantee = %(role)s::regrole
    UNION ALL SELECT 'default', privilege_type FROM pg_default_acl, aclexplode(defaclacl)
    WHERE grantee = %(role)s::regrole
    UNION ALL SELECT 'member', roleid::regrole::text FROM pg_auth_members WHERE member = %(role)s::regrole
    UNION ALL SELECT 'owner', pg_describe_object(classid, objid, objsubid) FROM pg_shdepend
    WHERE deptype = 'o' AND refobjid = %(role)s::regrole
"""
READER_RIGHTS = {
    ("audits", "SELECT"),
    ("documents", "SELECT"),
    ("schema_versions", "SELECT"),
    ("schema", "USAGE"),
    ("database", "CONNECT"),
}
WRITER_RIGHTS = READER_RIGHTS | {("audits", "INSERT"), ("documents", "INSERT")}


def list_rights(roles, role):
    with psycopg.connect(roles.admin) as connection:
        rows = connection.execute(RIGHTS, {"schema": roles.schema, "role": f'"{role}"'}).fetchall()
    return set(rows)


def test_the_roles_have_exactly_their_rights(separated):
    assert list_rights(separated, separated.writer) == WRITER_RIGHTS
    assert list_rights(separated, separated.reader) == READER_RIGHTS
    with psycopg.connect(separated.admin) as connection:
        query = """SELECT rolname, rolcanlogin, rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication
            OR rolbypassrls OR rolinherit AND rolcanlogin FROM pg_roles WHERE rolname = ANY(%s) ORDER BY 1"""
        names = [separated.owner, separated.writer, separated.reader]
        assert connection.execute(query, [names]).fetchall() == [
            (separated.owner, False, False),
            (separated.reader, True, False),
            (separated.writer, True, False),
        ]
        owners = """SELECT pg_get_userbyid(relowner) FROM pg_class
            WHERE relnamespace = 'history'::regnamespace
            UNION SELECT pg_get_userbyid(proowner) FROM pg_proc WHERE pronamespace = 'history'::regnamespace
            UNION SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = 'history'"""
        assert connection.execute(owners).fetchall() == [(separated.owner,)]


#: Statements with which a writer might change or hide records, or leave its place; {owner} is the owner.
FORBIDDEN = [
    "update audits set status = status",
    "update audits set status = 'pass' where false",
    "delete from audits",
    "delete from documents where false",
    "update documents set content = ''",
    "truncate audits",
    "truncate documents cascade",
    "insert into audits select * from audits on conflict (id) do update set status = 'pass'",
    "merge into audits using documents on true when matched then delete",
    "select * from audits for update",
    "lock table audits in access exclusive mode",
    "drop trigger audits_not_changed on audits",
    "alter table audits disable trigger audits_not_changed",
    "alter table audits disable trigger all",
    "alter trigger audits_not_changed on audits rename to x",
    "create trigger x before insert on audits for each row execute function scorereport_refuse()",
    "create rule x as on insert to audits do instead nothing",
    "create policy x on audits using (false)",
    "alter table audits enable row level security",
    "alter table audits add column x text",
    "alter table audits rename to x",
    "alter table audits set schema public",
    'alter table audits owner to "{writer}"',
    "alter table audits set logged",
    "drop table audits",
    "drop table documents, audits, schema_versions cascade",
    "drop index audits_by_name",
    "drop schema history cascade",
    "alter schema history rename to x",
    "create or replace function scorereport_refuse() returns trigger language plpgsql as 'begin end'",
    "alter function scorereport_refuse() rename to x",
    "drop function scorereport_refuse() cascade",
    "create table x (y int)",
    "create table public.x (y int)",
    "create temporary table audits (id int)",
    "create view x as select * from audits",
    "create function x() returns int language sql as 'select 1'",
    "create schema x",
    "create extension dblink",
    "create event trigger x on ddl_command_start execute function scorereport_refuse()",
    "create table x () inherits (audits)",
    "create table x (id int references audits)",
    "insert into schema_versions values (3, 'x')",
    "update schema_versions set version = 9",
    "delete from schema_versions",
    'grant "{owner}" to "{writer}"',
    "set session_replication_role = replica",
    "select set_config('session_replication_role', 'replica', false)",
    'alter role "{writer}" superuser',
    'alter role "{writer}" set session_replication_role = replica',
    'set role "{owner}"',
    'set session authorization "{owner}"',
    f"set role {USER}",
    'reassign owned by "{owner}" to "{writer}"',
    "copy audits from program 'true'",
    "copy audits to program 'true'",
    "copy audits from '/etc/hostname'",
    "copy (select 1) to '/tmp/made'",
    "select pg_read_file('/etc/hostname')",
    "select lo_import('/etc/hostname')",
    "alter system set session_replication_role = replica",
    "alter database {database} set session_replication_role = replica",
    "drop database {database}",
]


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("kind", ["writer", "reader"])
def test_no_statement_of_a_role_changes_or_removes_a_record(separated, tmp_path, monkeypatch, kind):
    monkeypatch.setenv("HISTORY", separated.url(separated.writer))
    config = write_loans(tmp_path)
    run_audit(config, as_of=AS_OF)
    before = describe_tables(separated.admin, "history"), read_rows(separated)
    role = getattr(separated, kind)
    names = {"owner": separated.owner, "writer": role, "database": sa.make_url(separated.admin).database}
    with psycopg.connect(separated.url(role), autocommit=True) as session:
        session.execute("set default_transaction_read_only = off")
        for statement in FORBIDDEN:
            try_out(session, statement.format(**names))
        session.execute(f'grant all on audits to "{role}"')  # a warning: nothing was granted
    assert list_rights(separated, role) == (WRITER_RIGHTS if kind == "writer" else READER_RIGHTS)
    assert (describe_tables(separated.admin, "history"), read_rows(separated)) == before
    assert verify_audit_history(read_plan(config)).findings == ()


def try_out(session, statement):
    block = session.transaction() if statement.startswith("lock") else nullcontext()
    try:
        with block:
            session.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        return
    pytest.fail(f"not refused: {statement}")


def read_rows(roles):
    with psycopg.connect(roles.admin) as connection:
        connection.execute("SELECT set_config('search_path', %s, false)", [roles.schema])
        tables = ("audits", "documents", "schema_versions")
        return [connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables]


@pytest.mark.sweep
def test_the_writer_runs_annuls_and_expires(separated, tmp_path, monkeypatch):
    """Every statement that audits issue is one that the writer may issue."""
    monkeypatch.setenv("HISTORY", separated.url(separated.writer))
    config = write_loans(tmp_path, retention={"days": 30, "keep": 1})
    with fixed_time("2026-10-03T06:00:00+00:00"):
        assert run_audit(config, as_of="2026-10-02").record.status is AuditStatus.DONE
    assert run_audit(config, as_of=AS_OF).record.status is AuditStatus.DONE
    annul_record(config, 2, reason="The source was not complete.")
    assert run_audit(config, as_of=AS_OF).record.status is AuditStatus.DONE
    with open_history(separated.url(separated.writer)) as history:
        kinds = [record.kind for record in history.records()]
    assert sorted(kinds) == ["annulment", "audit", "audit", "audit", "retention"]
    found = verify_audit_history(read_plan(config))
    assert found.findings == found.warnings == ()
    assert [note for note in found.notes if "role" in note] == []


@pytest.mark.sweep
def test_the_reader_can_do_all_that_only_reads(separated, tmp_path, monkeypatch, call):
    monkeypatch.setenv("HISTORY", separated.url(separated.writer))
    config = write_loans(tmp_path)
    run_audit(config, as_of=AS_OF)
    rows = read_rows(separated)
    monkeypatch.setenv("HISTORY", separated.url(separated.reader))
    code, out, error = call("audit", "verify", config)
    assert (code, error) == (0, ""), out
    assert "1 record and 1 file: intact." in out
    assert "could remove" not in out
    assert call("audit", "history", config)[1].count("2026-10") == 1
    assert call("audit", "show", "1", config)[0] == 0
    assert call("audit", "status", config)[0] in (0, 3)
    for command, target in (("site", "site"), ("export", "audits.zip"), ("export", "audits.jsonl")):
        code, _, error = call("audit", command, config, "-o", tmp_path / target)
        assert (code, error) == (0, ""), command
    assert (tmp_path / "site" / "index.html").is_file()
    assert read_rows(separated) == rows


def test_files_beside_the_history_do_not_depend_on_the_role(tmp_path):
    """A reader, or a writer with a new name, finds the chain head and the trusted keys of earlier runs."""

    def plan_as(login, database="audits"):
        address = f"postgresql://{login}@db.example.com/{database}"
        return read_plan(write_audit(tmp_path, history={"database": address}))

    writer, reader = plan_as("history_writer"), plan_as("history_reader")
    assert writer.chain_head == reader.chain_head
    assert writer.trusted_keys == reader.trusted_keys
    other = plan_as("history_writer", "others")
    assert other.chain_head != writer.chain_head
    assert other.trusted_keys != writer.trusted_keys
    name = hashlib.sha256(b"postgresql://history_writer@db.example.com/audits").hexdigest()[:12]
    former = writer.chain_head.with_name(f"head-{name}")  # as earlier versions named it
    former.parent.mkdir(parents=True)
    former.touch()
    assert (writer.chain_head, writer.trusted_keys) == (former, reader.trusted_keys)
    assert reader.chain_head != former


def test_a_reader_does_not_begin_a_run(separated, tmp_path, monkeypatch):
    monkeypatch.setenv("HISTORY", separated.url(separated.reader))
    config = write_loans(tmp_path)
    with pytest.raises(UsageError) as refused:
        run_audit(config, as_of=AS_OF)
    assert re.fullmatch(  # parts of an address in a variable are secrets
        r"The role `.+` may not add records to the history postgresql://.+\. Nothing was recorded\. To fix: "
        f"connect as the role that writes it, which {re.escape(ROLE_SCRIPT)} creates\\.",
        str(refused.value),
    )
    assert read_rows(separated)[:2] == [[], []]
    assert not list((tmp_path / "audits").rglob("*.json"))


def show_url(url):
    return sa.make_url(url).render_as_string()


def test_a_forged_record_of_the_writer_is_stored_and_named(separated, tmp_path, monkeypatch):
    """Rights cannot keep a writer from inserting; the signature does not come with them."""
    monkeypatch.setenv("HISTORY", separated.url(separated.writer))
    config = write_loans(tmp_path)
    first = run_audit(config, as_of="2026-10-02").record
    run_audit(config, as_of=AS_OF)
    with psycopg.connect(separated.url(separated.writer)) as session:
        columns = ("id", "audit", "period", "kind", "attempt", "status", "finished", "previous")
        query = f"SELECT {', '.join(columns)}, sha256, body FROM audits ORDER BY id DESC LIMIT 1"
        *values, last, body = session.execute(query).fetchone()
        row = dict(zip(columns, values, strict=True)) | {"id": 3, "attempt": 2, "previous": last}
        forged, digest = forge(body, id=3, attempt=2, previous=last)
        names = ", ".join([*row, "sha256", "body"])
        session.execute(
            f"INSERT INTO audits ({names}) VALUES ({', '.join(['%s'] * 10)})", [*row.values(), digest, forged]
        )
    found = verify_audit_history(read_plan(config))
    assert first.id == 1
    assert [(finding.kind, finding.subject) for finding in found.findings if finding.kind == "forged"] == [
        ("forged", "record 3")
    ]


@pytest.mark.sweep
def test_an_existing_history_gets_the_roles_and_keeps_its_rows(roles, tmp_path, monkeypatch):
    """The role that ran audits owned everything before, even the database, and others could change rows."""
    word = roles.owner.partition("-")[2]
    database, other = sa.make_url(roles.admin).database, f"Other-{word}"
    with psycopg.connect(roles.admin, autocommit=True) as server:
        server.execute(f'CREATE ROLE "{roles.writer}" LOGIN CREATEDB CREATEROLE IN ROLE pg_read_all_data')
        server.execute(f'CREATE ROLE "{other}" LOGIN')
        server.execute(f'ALTER DATABASE {database} OWNER TO "{roles.writer}"')
    roles.let_in(roles.writer, other)
    monkeypatch.setenv("HISTORY", roles.url(roles.writer))
    config = write_loans(tmp_path)
    run_audit(config, as_of="2026-10-02")
    with psycopg.connect(roles.url(roles.writer)) as connection:
        connection.execute(f'GRANT SELECT, INSERT, UPDATE, DELETE ON audits TO "{other}" WITH GRANT OPTION')
        connection.execute(f'GRANT UPDATE (content) ON documents TO "{other}"')
        connection.execute("GRANT ALL ON documents TO PUBLIC")
    public = replace(roles, schema="public")
    before = describe_tables(roles.admin, "public"), read_rows(public)
    notes = verify_audit_history(read_plan(config)).notes
    assert any(note.startswith(f"The role `{roles.writer}` owns the tables") for note in notes)
    assert any(f"`{other}` has rights on the tables that no audit needs: DELETE, UPDATE." in n for n in notes)
    assert any(note.startswith("The role `PUBLIC` has rights") for note in notes)
    assert_done(public.separate())
    assert (describe_tables(roles.admin, "public"), read_rows(public)) == before
    assert list_rights(public, roles.writer) == WRITER_RIGHTS
    assert list_rights(public, roles.reader) == READER_RIGHTS
    assert list_rights(public, other) == {("audits", "SELECT"), ("audits", "INSERT")}
    assert run_audit(config, as_of=AS_OF).record.id == 2
    found = verify_audit_history(read_plan(config))
    assert found.findings == ()
    assert [note for note in found.notes if "ole" in note] == []
    with psycopg.connect(roles.url(roles.writer)) as connection:
        for statement in FORBIDDEN[:6]:
            with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
                connection.execute(statement)


def test_a_second_writer_leaves_the_first_its_rights(separated):
    other = separated.writer.replace("Writer", "Second")
    assert_done(separated.separate(writer=other))
    assert list_rights(separated, separated.writer) == list_rights(separated, other) == WRITER_RIGHTS


def test_the_script_migrates_a_history_of_version_1(roles, monkeypatch):
    with monkeypatch.context() as older:
        older.setattr(database_schema, "MIGRATIONS", database_schema.MIGRATIONS[:1])
        older.setattr(database_schema, "CURRENT", 1)
        with open_history(roles.admin) as history:
            record = history.append(make_draft())
    assert_done(roles.separate(schema="public"))
    roles.let_in(roles.writer)
    with open_history(roles.url(roles.writer), create=False) as history:
        assert history.records() == (record,)
        assert list(check_database_of(history)) == []


def check_database_of(history):
    with history.reading() as connection:
        return list(check_database(history, connection))


@pytest.mark.parametrize("version", [0, 1])
def test_a_role_that_may_not_create_tables_names_who_can(roles, monkeypatch, version):
    with psycopg.connect(roles.admin, autocommit=True) as server:
        server.execute(f'CREATE ROLE "{roles.writer}" LOGIN')
        if version:
            with monkeypatch.context() as older:
                older.setattr(database_schema, "MIGRATIONS", database_schema.MIGRATIONS[:1])
                older.setattr(database_schema, "CURRENT", 1)
                open_history(roles.admin).close()
            server.execute(f'GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO "{roles.writer}"')
        server.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    roles.let_in(roles.writer)
    state = "has tables of version 1, not 2" if version else "has no tables of a history yet"
    with pytest.raises(UsageError) as refused:
        open_history(roles.url(roles.writer))
    assert str(refused.value) == (
        f"The history {show_url(roles.url(roles.writer))} cannot be used: permission denied for schema "
        f"public. The database {state}, and this role has no right to create them. To fix: let an "
        f"administrator of the database run {ROLE_SCRIPT}."
    )


def test_sources_and_histories_do_not_see_each_other(separated, tmp_path, monkeypatch):
    source = separated.reader.replace("Reader", "Source")
    with psycopg.connect(separated.admin, autocommit=True) as server:
        server.execute("CREATE SCHEMA risk; CREATE TABLE risk.scored (day text, y int, logit float8)")
        frame = make_scored("2026-09-01", 61, rows=5)
        with server.cursor() as cursor, cursor.copy("COPY risk.scored FROM STDIN") as copy:
            for row in frame.itertuples(index=False):
                copy.write_row((row.day, int(row.y), float(row.logit)))
    assert_done(run_script(separated.admin, READER_SCRIPT, reader=source, schema="risk", owner=USER))
    separated.let_in(source)
    for role in (separated.writer, separated.reader):
        with (
            psycopg.connect(separated.url(role)) as session,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            session.execute("SELECT * FROM risk.scored")
    for table in ("audits", "documents", "schema_versions"):
        with (
            psycopg.connect(separated.url(source)) as session,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            session.execute(f"SELECT * FROM history.{table}")
    with pytest.raises(UsageError, match=r"^There is no history in the database "):
        open_history(separated.url(source), create=False)
    monkeypatch.setenv("HISTORY", separated.url(separated.writer))
    monkeypatch.setenv("SOURCE", separated.url(source))
    config = write_loans(tmp_path, source={"database": "${SOURCE}", "table": "scored", "schema": "risk"})
    assert run_audit(config, as_of=AS_OF).record.status is AuditStatus.DONE
    assert verify_audit_history(read_plan(config)).findings == ()


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ({"writer": "same", "reader": "same"}, "owner, writer and reader must be three roles"),
        ({"owner": USER}, f"the role {USER} is a superuser"),
        ({"writer": USER}, f"the role {USER} is a superuser"),
        ({"owner": "reader"}, "the role reader can log in"),
    ],
)
def test_roles_that_cannot_be_separated_are_refused(roles, names, sentence):
    done = roles.separate(**names)
    assert done.returncode == 3
    assert f"ERROR:  {sentence}" in done.stderr
    with psycopg.connect(roles.admin) as connection:
        assert connection.execute("SELECT to_regnamespace('history')").fetchone() == (None,)
        assert connection.execute(
            "SELECT count(*) FROM pg_roles WHERE rolname = ANY(%s)",
            [[roles.owner, roles.writer, roles.reader]],
        ).fetchone() == (0,)


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("CREATE TABLE history.audits (id int)", "the table history.audits is not that of a history"),
        (
            "CREATE VIEW history.schema_versions AS SELECT 1",
            "the table history.audits is not that of a history",
        ),
        (
            'CREATE TABLE risk (y int); ALTER TABLE risk OWNER TO "{writer}"',
            'the role "{writer}" owns table public.risk',
        ),
    ],
    ids=["other table", "view", "object of the writer"],
)
def test_a_database_that_is_used_otherwise_is_refused(roles, statement, sentence):
    with psycopg.connect(roles.admin, autocommit=True) as server:
        server.execute(f'CREATE ROLE "{roles.writer}"; CREATE SCHEMA history')
        server.execute(statement.format(writer=roles.writer))
    done = roles.separate()
    assert done.returncode == 3
    assert sentence.format(writer=roles.writer) in done.stderr
    with psycopg.connect(roles.admin) as connection:
        found = connection.execute(
            "SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'history'"
        )
        assert found.fetchone() == (USER,)


def test_a_history_of_a_newer_version_is_left_alone(separated):
    with psycopg.connect(separated.admin, autocommit=True) as server:
        server.execute("INSERT INTO history.schema_versions VALUES (9, 'later')")
    done = separated.separate()
    assert done.returncode == 3
    assert "the history was written by a newer scorereport: use its script" in done.stderr


@pytest.mark.sweep
def test_superusers_owners_and_guards_that_do_nothing_are_named(separated, tmp_path, monkeypatch):
    monkeypatch.setenv("HISTORY", separated.url(separated.writer))
    config = write_loans(tmp_path)
    run_audit(config, as_of=AS_OF)

    def verify_after(*statements):
        with psycopg.connect(separated.admin, autocommit=True) as server:
            server.execute("SET search_path = history")
            for statement in statements:
                server.execute(statement.format(writer=separated.writer, owner=separated.owner))
        found = verify_audit_history(read_plan(config))
        return [finding.sentence for finding in found.findings], found.notes

    assert verify_after() == ([], ())
    whole_guard = [
        f"The trigger `{table}_not_{what}` in the database was changed."
        for table in ("audits", "documents")
        for what in ("changed", "emptied")
    ]
    for way, back in (("DISABLE", "ENABLE"), ("ENABLE REPLICA", "ENABLE")):
        found = verify_after(f"ALTER TABLE audits {way} TRIGGER audits_not_changed")
        assert found == (["The trigger `audits_not_changed` in the database is disabled."], ())
        assert verify_after(f"ALTER TABLE audits {back} TRIGGER audits_not_changed") == ([], ())
    source = "RETURNS trigger LANGUAGE plpgsql AS"
    weak = f"CREATE OR REPLACE FUNCTION scorereport_refuse() {source} 'BEGIN RETURN OLD; END'"
    assert verify_after(weak) == (whole_guard, ())
    strong = database_schema.GUARD_SOURCE.replace("'", "''")
    whole = f"CREATE OR REPLACE FUNCTION scorereport_refuse() {source} '{strong}'"
    assert verify_after(whole) == ([], ())
    (note,) = verify_after('ALTER FUNCTION scorereport_refuse() OWNER TO "{writer}"')[1]
    assert note == (
        f"The role `{separated.writer}` owns the tables of this history, their schema or the function of "
        "their triggers, can log in, and could remove the triggers that protect the records. To fix: use the "
        f"roles of {ROLE_SCRIPT}."
    )
    assert verify_after('ALTER FUNCTION scorereport_refuse() OWNER TO "{owner}"') == ([], ())
    assert len(verify_after('GRANT "{owner}" TO "{writer}"')[1]) == 1
    assert verify_after('REVOKE "{owner}" FROM "{writer}"') == ([], ())
    monkeypatch.setenv("HISTORY", f"{separated.admin}?options=-csearch_path%3Dhistory")
    findings, (note,) = verify_after()
    assert findings == []
    assert note == (
        f"The role `{USER}`, as which this history is read, is a superuser: it could remove the triggers "
        f"that protect the records. To fix: use the roles of {ROLE_SCRIPT}."
    )
