"""The history of audits: records are added, one after the other; whatever else happens to them is named."""

from __future__ import annotations

import csv
import errno
import hashlib
import io
import json
import os
import random
import sqlite3
import subprocess
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import fields, replace
from multiprocessing import get_context

import pytest
from sqlalchemy import text

from scorereport._utils.clock import fixed_time
from scorereport._utils.json_documents import dump
from scorereport.configuration.limit_verdicts import Judgement, LimitVerdict
from scorereport.configuration.periods import Period
from scorereport.errors import DataError, ScoreReportError, UsageError
from scorereport.history import database, database_schema
from scorereport.history.audit_record import CHAIN_START, AuditStatus, Record, RecordedFile
from scorereport.history.chain_head import ChainHead, advance_chain_head, check_chain_head, read_chain_head
from scorereport.history.document_check import find_anchor
from scorereport.history.export import export_history
from scorereport.history.record_rows import AlreadyRecorded
from scorereport.history.store import open_history, open_unchecked
from scorereport.history.trend.drift_records import Number, Snapshot, Trend
from scorereport.history.verification import verify_history
from scorereport.history.verification_findings import FindingKind
from scorereport.report.report_record import Report

HOSTILE = "x'; drop table audits; --"
NAN = float("nan")
#: Some time after the records, and the time at which histories are verified.
LATER = "2027-01-15T02:00:00+00:00"
NOW = "2027-02-01T00:00:00+00:00"


def make_draft(audit="claims", label="2026-10", **changes):
    """A record before it is appended."""
    given = {
        "audit": audit,
        "period": Period(label=label, start="2026-10-01", end="2026-11-01"),
        "as_of": "2026-11-01",
        "status": AuditStatus.PASS,
        "exit_code": 0,
        "started": "2026-11-01T02:00:00+00:00",
        "finished": "2026-11-01T02:01:00+00:00",
    }
    return Record(**given | changes)


def make_snapshot(draft, **changes):
    number = Number(
        model="logit",
        measure="brier_score",
        label="Brier score",
        value=0.25,
        corrected=0.25,
        lower=-0.5,
        upper=NAN,
        standard_error=NAN,
    )
    return Snapshot(
        period=draft.period,
        time=draft.finished,
        rows=100,
        size=90.5,
        level=0.95,
        main_score="brier_score",
        numbers=(replace(number, **changes), replace(number, model="", measure="prevalence", value=-1.5)),
    )


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def make_documents(*contents):
    return {sha256(content): content for content in contents}


@pytest.fixture
def place(tmp_path):
    """The folder of audits."""
    return tmp_path / "audits"


@pytest.fixture
def file_url(place):
    return f"sqlite:///{place}/history.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request):
    """A history that is not there yet, in either database."""
    return request.getfixturevalue("file_url" if request.param == "sqlite" else "postgres_url")


def fill(url, place, count=5, audit="claims"):
    """A history with reports on disk, a document and a head."""
    folder = place / "reports" / audit
    folder.mkdir(parents=True, exist_ok=True)
    with open_history(url, head=place / "head") as history:
        for number in range(1, count + 1):
            content = f"report {number} of {audit}".encode()
            filed = RecordedFile(name=f"{audit}/{number}.pdf", sha256=sha256(content), size=len(content))
            (folder / f"{number}.pdf").write_bytes(content)
            packed = random.Random(number).randbytes(700).hex().encode()  # in several pages, as real ones are
            draft = make_draft(audit, f"period {number}", files=(filed,), reason="Ein Grüß Gott.")
            history.append(draft, make_documents(packed))


def verify(url, place, **options):
    with open_unchecked(url, head=place / "head") as history, fixed_time(NOW):
        return verify_history(history, find_folder=lambda _: place / "reports", **options)


def find_subjects(verification):
    return {(str(finding.kind), finding.subject) for finding in verification.findings}


def assert_whole(url, place, records):
    verification = verify(url, place)
    assert verification.findings == ()
    assert verification.records == records


def tamper(place, *statements):
    """Change a SQLite history as somebody would who knows of the triggers, and puts them back."""
    with closing(sqlite3.connect(place / "history.db", isolation_level=None)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(*((statement,) if isinstance(statement, str) else statement))
        for _, sql in triggers:
            connection.execute(sql)


def read_body(place, number):
    with closing(sqlite3.connect(place / "history.db")) as connection:
        return connection.execute("SELECT body FROM audits WHERE id = ?", (number,)).fetchone()[0]


def forge(body, **changes):
    """The text of a record with other values, and its right hash."""
    forged = json.dumps({**json.loads(body), **changes}, ensure_ascii=False, separators=(",", ":")) + "\n"
    return forged, sha256(forged.encode())


# Appending and reading


def test_records_are_chained_and_read_back(url, place):
    with open_history(url, head=place / "head") as history:
        assert history.last() is None
        assert history.records() == history.summaries() == history.names() == ()
        documents = make_documents(b'{"a": 1}', b"[]")
        first = history.append(make_draft(snapshot=make_snapshot(make_draft())), documents)
        second = history.append(make_draft("loans"))
        third = history.append(make_draft(attempt=2, status=AuditStatus.FAILED))
        assert [record.id for record in (first, second, third)] == [1, 2, 3]
        assert [r.previous for r in (first, second, third)] == [CHAIN_START, first.sha256, second.sha256]
        assert first.documents == tuple(sorted(documents))
        assert [r.to_json() for r in history.records()] == [r.to_json() for r in (first, second, third)]
        assert history.bodies() == tuple(record.to_json() for record in (first, second, third))
        assert [record.id for record in history.records("claims")] == [1, 3]
        assert [record.id for record in history.records(last=2)] == [2, 3]
        assert history.records(kind="retention") == ()
        assert history.get(2) == second
        assert history.find("claims", "2026-10") == third
        assert history.find("claims", "2026-09") is None
        assert history.names() == ("claims", "loans")
        assert history.next_attempt("claims", "2026-10") == 3
        assert history.next_attempt("claims", "2026-10", "retention") == 1
        assert history.last() == ChainHead(id=3, sha256=third.sha256)
        assert {history.document(name) for name in documents} == {b'{"a": 1}', b"[]"}
        newest = history.summaries(last=1)[0]
        assert (newest.audit, newest.status, newest.attempt, newest.sha256) == (
            *("claims", "failed", 2),
            third.sha256,
        )
    with open_history(url, create=False) as history:
        assert history.get(3) == third
    assert_whole(url, place, 3)


def test_a_record_has_the_hash_it_is_read_back_with(file_url):
    draft = make_draft(
        snapshot=make_snapshot(make_draft(), value=1, standard_error=0)
    )  # integers, not floats
    with open_history(file_url) as history:
        appended = history.append(draft)
        assert appended.sha256 == history.get(1).sha256 == history.summaries()[0].sha256
        assert appended.snapshot.numbers[0].value == 1.0


def test_an_attempt_is_recorded_once(url):
    with open_history(url) as history:
        history.append(make_draft())
        with pytest.raises(
            AlreadyRecorded,
            match=r"^Attempt 1 of the audit claims for 2026-10 cannot be recorded: the next one is attempt 2",
        ):
            history.append(make_draft(), make_documents(b"left out"))
        with pytest.raises(UsageError, match=r"^There is no document "):
            history.document(sha256(b"left out"))
        assert history.append(make_draft(attempt=0)).attempt == 2
        assert history.append(make_draft(kind="retention")).attempt == 1


def test_documents_are_kept_once_and_under_their_own_hash(url):
    with open_history(url) as history:
        history.append(make_draft(), make_documents(b"same"))
        assert history.append(make_draft("loans"), make_documents(b"same")).documents == (sha256(b"same"),)
        with pytest.raises(
            UsageError, match=r"^`documents` must be named by the SHA-256 of their content; 'a' is"
        ):
            history.append(make_draft("other"), {"a": b"content"})
        assert history.last().id == 2


def test_names_are_data_and_never_sql(url, place):
    with open_history(url) as history:
        record = history.append(make_draft(HOSTILE, HOSTILE, reason=HOSTILE))
        assert history.names() == (HOSTILE,)
        assert history.find(HOSTILE, HOSTILE) == record
        assert history.records(f"{HOSTILE}' or '1'='1") == ()
    assert_whole(url, place, 1)


def test_text_that_is_none_is_refused(url):
    with open_history(url) as history:
        with pytest.raises(ScoreReportError):
            history.append(make_draft(reason="\ud800"))
        assert history.last() is None


def assert_nothing_recorded(url, place, what):
    with open_history(url, head=place / "head") as history:
        before = (place / "head").read_bytes()
        with pytest.raises(
            UsageError,
            match=rf"^The history .+ did not store {what} as it was written, so nothing was recorded: a "
            "rule, a trigger or a policy",
        ):
            history.append(make_draft("lost", status=AuditStatus.FAILED), make_documents(b"lost", b"too"))
        assert history.last().id == len(history.records()) == 2
        assert (place / "head").read_bytes() == before
        with pytest.raises(UsageError, match=r"^There is no document "):
            history.document(sha256(b"too"))


@pytest.mark.parametrize("table", ["audits", "documents"])
def test_a_record_that_sqlite_has_lost_is_not_recorded(file_url, place, table):
    fill(file_url, place, 2)
    condition = {"audits": "NEW.status = 'failed'", "documents": f"NEW.sha256 = '{sha256(b'lost')}'"}[table]
    tamper(
        place,
        f"CREATE TRIGGER quiet BEFORE INSERT ON {table} WHEN {condition} BEGIN SELECT RAISE(IGNORE); END",
    )
    lost = {"audits": "record 3", "documents": f"the document {sha256(b'lost')}"}[table]
    assert_nothing_recorded(file_url, place, lost)


@pytest.mark.parametrize(
    ("lost", "statements"),
    [
        ("record 3", ["CREATE RULE q AS ON INSERT TO audits WHERE NEW.status = 'failed' DO INSTEAD NOTHING"]),
        (
            "record 3",
            [
                "CREATE TABLE elsewhere (LIKE audits)",
                "CREATE RULE q AS ON INSERT TO audits DO INSTEAD INSERT INTO elsewhere VALUES (NEW.*)",
            ],
        ),
        (
            "record 3",
            [
                "CREATE FUNCTION mend() RETURNS trigger LANGUAGE plpgsql AS "
                "'BEGIN NEW.status = ''pass''; RETURN NEW; END'",
                "CREATE TRIGGER q BEFORE INSERT ON audits FOR EACH ROW EXECUTE FUNCTION mend()",
            ],
        ),
        (
            f"the document {min(sha256(b'lost'), sha256(b'too'))}",
            ["CREATE RULE q AS ON INSERT TO documents DO INSTEAD NOTHING"],
        ),
    ],
    ids=["lost", "elsewhere", "changed", "document"],
)
def test_a_record_that_postgresql_has_lost_is_not_recorded(postgres_url, place, lost, statements):
    import psycopg

    fill(postgres_url, place, 2)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
    assert_nothing_recorded(postgres_url, place, lost)


CHANGES = {
    "text": "body = replace(body, 'pass', 'fail')",
    "hash": f"sha256 = '{'a' * 64}'",
    "column": "status = 'fail'",
    "no text": "body = CAST(body AS BLOB)",
    "nothing": "body = ''",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_record_that_was_changed_is_refused(copied, file_url, change):
    tamper(copied, f"UPDATE audits SET {change} WHERE id = 2")
    sentence = (
        rf"^Record 2 of the history {copied}/history\.db is not as it was recorded; `scorereport audit "
        r"verify` shows what was changed\.$"
    )
    with open_history(file_url) as history:
        for ask in (history.records, lambda: history.get(2), lambda: history.find("claims", "period 2")):
            with pytest.raises(DataError, match=sentence):
                ask()
        assert history.get(1).id == 1
        assert [record.id for record in history.records(last=3)] == [3, 4, 5]


def test_records_that_were_swapped_are_refused(copied, file_url):
    bodies = [read_body(copied, number) for number in (2, 3)]
    tamper(
        copied,
        "UPDATE audits SET sha256 = id WHERE id IN (2, 3)",
        *(
            ("UPDATE audits SET body = ?, sha256 = ? WHERE id = ?", (body, sha256(body.encode()), number))
            for body, number in zip(bodies, (3, 2), strict=True)
        ),
    )
    with open_history(file_url) as history, pytest.raises(DataError, match=r"^Record 2 of the history "):
        history.records()


def test_asking_for_what_is_not_there(file_url, place):
    with open_history(file_url) as history:
        name = rf"^There is no record 7 in the history {place}/history\.db; "
        with pytest.raises(UsageError, match=f"{name}it has no records yet\\.$"):
            history.get(7)
        history.append(make_draft())
        with pytest.raises(UsageError, match=f"{name}its records are 1 to 1\\.$"):
            history.get(7)


# Many at once


_at_once = []


def wait_for_all(barrier):
    _at_once[:] = [barrier]


def append_at_once(arguments):
    url, head, audit = arguments
    _at_once[0].wait(60)
    try:
        with open_history(url, head=head) as history:
            return history.append(make_draft(audit), make_documents(b"shared", audit.encode())).id
    except AlreadyRecorded:
        return None


def run_processes(jobs):
    """Call `append_at_once` in as many processes as there are jobs, all at the same moment."""
    context = get_context("fork")  # others would import everything eight times
    with context.Pool(len(jobs), wait_for_all, (context.Barrier(len(jobs)),)) as pool:
        return pool.map(append_at_once, jobs, chunksize=1)


@pytest.mark.sweep(after=1)
def test_eight_processes_make_a_history_and_append_at_once(url, place):
    head = place / "head"
    place.mkdir(exist_ok=True)
    numbers = run_processes([(url, head, f"audit {number}") for number in range(8)])
    assert sorted(numbers) == list(range(1, 9))
    assert_whole(url, place, 8)
    assert read_chain_head(head).id == 8


def test_eight_processes_record_the_same_attempt_once(url, place):
    numbers = run_processes([(url, None, "the same")] * 8)
    assert sorted(filter(None, numbers)) == [1]
    assert_whole(url, place, 1)


def test_eight_threads_append_at_once(url, place):
    head = place / "head"
    with open_history(url, head=head) as history, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: history.append(make_draft(f"audit {number}")), range(8)))
        assert read_chain_head(head) == history.last()
    assert_whole(url, place, 8)


# Opening


def test_sqlite_writes_ahead_and_waits(file_url):
    with open_history(file_url) as history, history.reading() as connection:
        settings = ("journal_mode", "synchronous", "busy_timeout")
        assert [connection.execute(text(f"PRAGMA {name}")).scalar() for name in settings] == [
            "wal",
            2,
            60_000,
        ]


def test_a_history_of_version_1_is_migrated_with_its_records(url, place, monkeypatch):
    with monkeypatch.context() as older:
        older.setattr(database_schema, "MIGRATIONS", database_schema.MIGRATIONS[:1])
        older.setattr(database_schema, "CURRENT", 1)
        with open_history(url) as history:
            record = history.append(make_draft(), make_documents(b"kept"))
            with history.writing() as connection:  # no triggers yet
                connection.execute(text("UPDATE audits SET status = status"))
    assert_whole(url, place, 1)
    with open_history(url) as history:
        assert history.records() == (record,)
        assert history.document(sha256(b"kept")) == b"kept"
        with pytest.raises(UsageError, match=r"cannot be changed"), history.writing() as connection:
            connection.execute(text("UPDATE audits SET status = status"))
    assert_whole(url, place, 1)


def test_a_migration_that_fails_leaves_nothing_behind(url, monkeypatch):
    def fail(_):
        raise UsageError("The step fails.")

    with monkeypatch.context() as broken:
        broken.setattr(database_schema, "MIGRATIONS", (*database_schema.MIGRATIONS, ("fail", fail)))
        with pytest.raises(UsageError, match=r"^The step fails\.$"):
            open_history(url)
    with pytest.raises(UsageError, match=r"^There is no history in the database "):
        open_history(url, create=False)


def test_a_newer_history_is_refused(url):
    with open_history(url) as history, history.writing() as connection:
        connection.execute(text("INSERT INTO schema_versions VALUES (7, 'from the future')"))
    with pytest.raises(
        UsageError,
        match=r"^The history .+ has version 7 of its tables; this scorereport supports versions up to 2\. To "
        r"fix: use the newer scorereport that wrote it\.$",
    ):
        open_history(url)


def test_a_file_that_is_no_database_is_refused_and_left(tmp_path):
    foreign = tmp_path / "notes.txt"
    foreign.write_text("These are notes, " * 100, encoding="utf-8")
    with pytest.raises(
        UsageError, match=rf"^The history {foreign} cannot be used: file is not a database\.$"
    ):
        open_history(f"sqlite:///{foreign}")
    assert foreign.read_text(encoding="utf-8") == "These are notes, " * 100
    assert os.listdir(tmp_path) == ["notes.txt"]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (
            "audits (id integer, who text)",
            "its table `schema_versions` is missing, where a history has version,",
        ),
        ("schema_versions (number integer)", "its table `schema_versions` has the columns number, where"),
        ("schema_versions (version integer, step text)", "its table `audits` is missing, where"),
    ],
)
def test_a_foreign_database_is_refused_and_left(tmp_path, table, sentence):
    foreign = tmp_path / "other.db"
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute(f"CREATE TABLE {table}")
        connection.commit()
    before = foreign.read_bytes()
    with pytest.raises(UsageError) as refusal:
        open_history(f"sqlite:///{foreign}")
    assert str(refusal.value).startswith(f"The database {foreign} is not a history of audits: {sentence}")
    assert foreign.read_bytes() == before
    assert os.listdir(tmp_path) == ["other.db"]


def test_a_foreign_table_in_postgresql_is_refused_and_left(postgres_url):
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE audits (id integer, who text)")
        with pytest.raises(
            UsageError, match=r"^The database postgresql://.+ is not a history of audits: its table"
        ):
            open_history(postgres_url)
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert tables == (1,)


def test_a_history_that_must_be_there(file_url, place):
    sentence = rf"^There is no history {place}/history\.db; `scorereport audit run` creates one\.$"
    for opening in (lambda: open_history(file_url, create=False), lambda: open_unchecked(file_url)):
        with pytest.raises(UsageError, match=sentence):
            opening()
    assert not place.exists()


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("mysql://me:secret@here/db", r"must begin with sqlite:// or postgresql://; got mysql://\.$"),
        (
            "postgresql+asyncpg://me:secret@here/db",
            r"must begin with sqlite.+; got postgresql\+asyncpg://\.$",
        ),
        ("me:secret", r"the given value is not such an address\.$"),
        (
            "sqlite://",
            r"must name a file and nothing else, such as sqlite:///audits/history\.db; got sqlite://\.$",
        ),
        ("sqlite:///h.db?mode=ro", r"must name a file and nothing else"),
    ],
)
def test_addresses_that_are_refused(url, sentence):
    with pytest.raises(UsageError, match=sentence) as refusal:
        open_history(url)
    assert "secret" not in str(refusal.value)


def test_passwords_stay_out_of_messages(postgres_url):
    wrong = postgres_url.replace(postgres_url.split(":")[2].split("@")[0], "sec%40ret")
    with pytest.raises(UsageError, match=r"password authentication failed") as refusal:
        open_history(f"{wrong}?sslpassword=hidden")
    assert refusal.value.__cause__ is None
    assert refusal.value.__suppress_context__
    for secret in ("sec%40ret", "sec@ret", "hidden", "\n"):
        assert secret not in str(refusal.value)


def test_a_server_that_is_not_there():
    with pytest.raises(
        UsageError,
        match=r"^The history postgresql://me:\*\*\*@127\.0\.0\.1:1/db cannot be used: connection failed",
    ):
        open_history("postgresql://me:secret@127.0.0.1:1/db")


def test_a_missing_driver_is_named(monkeypatch):
    monkeypatch.setattr(database, "find_spec", lambda _: None)
    with pytest.raises(
        UsageError, match=r'needs the package psycopg: pip install "scorereport\[postgres\]"\.$'
    ):
        open_history("postgresql://me:secret@here/db")


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(
        UsageError, match=r"^The folder of the history .+ cannot be created: (Not a dir|File exists)"
    ):
        open_history(f"sqlite:///{tmp_path}/file/history.db")


def test_a_full_disk_is_told_and_leaves_the_old_state(file_url, place):
    fill(file_url, place, 2)
    with open_history(file_url, head=place / "head") as history:
        with history.reading() as connection:
            pages = connection.execute(text("PRAGMA page_count")).scalar()
            connection.execute(text(f"PRAGMA max_page_count = {pages + 2}"))
        large = random.Random(1).randbytes(50_000)
        with pytest.raises(
            UsageError, match=r"^The history .+/history\.db cannot be used: database or disk is full\.$"
        ):
            history.append(make_draft(), make_documents(large))
        assert history.last().id == 2
    assert_whole(file_url, place, 2)


# Rows are guarded by the database


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audits SET status = 'pass'",
        "DELETE FROM audits",
        "UPDATE documents SET checksum = ''",
        "DELETE FROM documents WHERE sha256 > ''",
    ],
)
def test_the_database_refuses_changes(url, place, statement):
    with open_history(url) as history:
        history.append(make_draft(), make_documents(b"kept"))
        with pytest.raises(UsageError, match=r"of a history cannot be (changed|removed)"):  # noqa: SIM117
            with history.writing() as connection:
                connection.execute(text(statement))
    assert_whole(url, place, 1)


@pytest.mark.parametrize("table", ["audits", "documents"])
def test_sqlite_refuses_to_replace_rows(file_url, place, table):
    fill(file_url, place, 2)
    with open_history(file_url) as history, pytest.raises(UsageError, match=r"cannot be replaced"):  # noqa: SIM117
        with history.writing() as connection:
            connection.execute(text(f"INSERT OR REPLACE INTO {table} SELECT * FROM {table} LIMIT 1"))
    assert_whole(file_url, place, 2)


@pytest.mark.parametrize("table", ["audits", "documents"])
def test_postgresql_refuses_to_empty_tables(postgres_url, place, table):
    with open_history(postgres_url) as history:
        history.append(make_draft(), make_documents(b"kept"))
        with pytest.raises(UsageError, match=r"cannot be changed or removed\.$"):  # noqa: SIM117
            with history.writing() as connection:
                connection.execute(text(f"TRUNCATE {table}"))
    assert_whole(postgres_url, place, 1)


# The file head


def test_the_head_advances_and_never_goes_back(file_url, place):
    head = place / "head"
    with open_history(file_url, head=head) as history:
        first = history.append(make_draft())
        assert head.read_text(encoding="utf-8") == f"1 {first.sha256}\n"
        second = history.append(make_draft("loans"))
        advance_chain_head(head, ChainHead(id=1, sha256=first.sha256), lambda _: second.sha256)
        assert read_chain_head(head) == ChainHead(id=2, sha256=second.sha256)


def test_the_head_stays_as_proof_if_records_were_cut_off(file_url, place):
    fill(file_url, place, 3)
    tamper(place, "DELETE FROM audits WHERE id = 3")
    proof = (place / "head").read_text(encoding="utf-8")
    with open_history(file_url, head=place / "head") as history:
        history.append(make_draft("forged"))
        history.append(make_draft("forged", "next"))
    assert (place / "head").read_text(encoding="utf-8") == proof
    assert ("changed", "record 3") in find_subjects(verify(file_url, place))


def test_a_head_that_cannot_be_written_does_not_undo_the_record_and_is_a_problem(file_url, place):
    (place / "head").mkdir(parents=True)
    with open_history(file_url, head=place / "head") as history:
        history.append(make_draft())
        history.append(make_draft(label="next"))
        assert history.last().id == 2
        reason = os.strerror(errno.EISDIR)
        assert history.problems == [
            f"The chain head file {place}/head, which names the last record, could not be written: {reason}."
        ]


def test_the_head_does_not_pass_over_a_record_that_was_not_noted(file_url, place):
    fill(file_url, place, 1)
    with open_history(file_url) as others:
        others.append(make_draft("inserted"))
    with open_history(file_url, head=place / "head") as history:
        assert history.find_unnoted("") == [2]
        history.append(make_draft("loans"))
        assert history.problems == [
            f"The chain head file {place}/head was not written because it lacks record 2, which was not "
            "appended by a run that ended; the next run verifies it."
        ]
        assert read_chain_head(place / "head").id == 1
        assert history.find_unnoted("") == [2, 3]
        history.note(history.get(3))
        assert history.find_unnoted("") == []
        history.append(make_draft("loans", "next"))
        assert read_chain_head(place / "head").id == 4


def test_the_head_of_one_machine_passes_over_records_of_others(postgres_url, place):
    place.mkdir()
    with open_history(postgres_url, head=place / "head") as history:
        history.append(make_draft(home="here"))
        with open_history(postgres_url, head=place / "other head") as others:
            others.append(make_draft(label="there", home="there"))
        assert history.find_unnoted("here") == []
        last = history.append(make_draft(label="next", home="here"))
        assert history.problems == []
        assert read_chain_head(place / "head") == ChainHead(id=3, sha256=last.sha256)


def test_a_head_behind_is_a_warning_and_one_that_is_none_is_found(file_url, place):
    fill(file_url, place, 1)
    with open_history(file_url) as history:
        history.append(make_draft("by others"))
    verification = verify(file_url, place)
    assert verification.findings == ()
    lag = "The chain head file names record 1, but the history ends with record 2"
    assert verification.notes == ()
    assert verification.warnings == (
        f"{lag}: a run was killed before it wrote the file, or could not write it, or records were "
        "inserted. The next run verifies the later records.",
    )
    elsewhere = verify(file_url, place, is_here=lambda _: False)
    assert elsewhere.notes == (f"{lag}: others write to the history as well.",)
    assert elsewhere.warnings == ()
    (place / "head").write_text("1 abc\n", encoding="utf-8")
    assert find_subjects(verify(file_url, place)) == {("changed", "file head")}


UNDETECTED = "without it, records cut off at the end cannot be detected."


def test_a_head_that_is_missing_is_found_from_the_second_record_on(file_url, place):
    fill(file_url, place, 1)
    (place / "head").unlink()
    verification = verify(file_url, place)
    assert verification.findings == ()
    assert verification.notes == (f"There is no chain head file {place}/head; {UNDETECTED}",)
    fill(file_url, place, 2, audit="loans")  # which does not pass over the first record
    (finding,) = verify(file_url, place).findings
    assert (finding.kind, finding.subject) == ("missing", "file head")
    assert finding.sentence == (
        f"The chain head file {place}/head, which names the last record, is missing; {UNDETECTED}"
    )


def test_a_head_on_another_machine_than_the_server_may_be_missing(postgres_url, place):
    fill(postgres_url, place, 3)
    (place / "head").unlink()
    verification = verify(postgres_url, place)
    assert verification.findings == ()
    assert verification.notes == (f"There is no chain head file {place}/head; {UNDETECTED}",)


def test_a_history_that_its_head_does_not_know_is_refused(copied, file_url):
    with open_history(file_url, head=copied / "head") as history:
        check_chain_head(history)
    last = sha256(read_body(copied, 5).encode())
    whole = (copied / "history.db").read_bytes()
    beginning = (
        f"The history {copied}/history.db does not match its chain head file {copied}/head, whose "
        f"record 5 has the hash {last}: "
    )
    tamper(copied, "DELETE FROM audits WHERE id > 3")
    assert_head_refused(
        file_url, copied, f"{beginning}the history ends with record 3. Records were removed or rewritten"
    )
    tamper(copied, "DELETE FROM audits")
    assert_head_refused(
        file_url, copied, f"{beginning}the history has no records. Records were removed or rewritten"
    )
    (copied / "history.db").write_bytes(whole)
    rewrite(copied, 5, status="fail")
    other = sha256(read_body(copied, 5).encode())
    assert_head_refused(
        file_url, copied, f"{beginning}in the history this record has the hash {other}. Records were removed"
    )


def assert_head_refused(url, place, beginning):
    with open_history(url, head=place / "head") as history:
        with pytest.raises(UsageError) as refusal:
            check_chain_head(history)
        assert str(refusal.value).startswith(beginning)
        assert str(refusal.value).endswith(f" remove the file {place}/head.")


def test_a_history_without_a_head_that_can_be_read_is_not_refused(copied, file_url):
    for content in (b"nothing", None):
        (copied / "head").write_bytes(content) if content else (copied / "head").unlink()
        with open_history(file_url, head=copied / "head") as history:
            check_chain_head(history)
    with open_history(file_url) as history:
        check_chain_head(history)


# Tampering


def test_nothing_is_found_where_nothing_was_done(url, place):
    fill(url, place)
    verification = verify(url, place)
    assert (verification.records, verification.files, verification.findings, verification.notes) == (
        5,
        5,
        (),
        (),
    )
    with open_history(url) as history:
        assert verification.head == history.last().sha256


def rewrite(place, number, *, cascade=False, **changes):
    """Give a record other values and the right hash for them; those after it are adapted if asked for."""
    body, digest = forge(read_body(place, number), **changes)
    column = "".join(
        f", {name} = '{value}'" for name, value in changes.items() if name in ("status", "previous")
    )
    tamper(place, (f"UPDATE audits SET body = ?, sha256 = ?{column} WHERE id = ?", (body, digest, number)))
    if cascade and number < 5:
        rewrite(place, number + 1, cascade=True, previous=digest)


def write_head(place):
    """Let the file say what the history of five records says now."""
    (place / "head").write_text(f"5 {sha256(read_body(place, 5).encode())}\n", encoding="utf-8")


TAMPERING = {
    "text changed": (
        lambda place: tamper(place, "UPDATE audits SET body = replace(body, 'pass', 'fail') WHERE id = 2"),
        {("changed", "record 2")},
    ),
    "text and column changed": (
        lambda place: tamper(
            place, "UPDATE audits SET body = replace(body, 'pass', 'fail'), status = 'fail' WHERE id = 2"
        ),
        {("changed", "record 2")},
    ),
    "last text changed": (
        lambda place: tamper(place, "UPDATE audits SET body = replace(body, 'pass', 'fail') WHERE id = 5"),
        {("changed", "record 5")},
    ),
    "text is none": (
        lambda place: tamper(place, "UPDATE audits SET body = 'nothing' WHERE id = 2"),
        {("changed", "record 2"), ("unknown", "file claims/2.pdf"), ("unknown", "document 2")},
    ),
    "text is no text": (
        lambda place: tamper(place, "UPDATE audits SET body = CAST(body AS BLOB) WHERE id = 2"),
        {("changed", "record 2")},
    ),
    "text and hash changed": (
        lambda place: rewrite(place, 2, status="fail"),
        {("changed", "record 2")},
    ),
    "text and hash of the last but one changed": (
        lambda place: rewrite(place, 4, status="fail"),
        {("changed", "record 4")},
    ),
    "text and hash of the first changed": (
        lambda place: rewrite(place, 1, status="fail", previous="1" * 64),
        {("changed", "record 1")},
    ),
    "link changed": (
        lambda place: rewrite(place, 3, previous="1" * 64),
        {("changed", "record 3")},
    ),
    "all rewritten from the second on": (
        lambda place: rewrite(place, 2, status="fail", cascade=True),
        {("changed", "record 5")},
    ),
    "hash changed": (
        lambda place: tamper(place, f"UPDATE audits SET sha256 = '{'a' * 64}' WHERE id = 2"),
        {("changed", "record 2")},
    ),
    "column changed": (
        lambda place: tamper(place, "UPDATE audits SET status = 'fail' WHERE id = 2"),
        {("changed", "record 2")},
    ),
    "all columns changed": (
        lambda place: tamper(
            place,
            "UPDATE audits SET audit = 'a', period = 'b', kind = 'c', attempt = 9 WHERE id = 2",
            "UPDATE audits SET previous = 'd', finished = 'e' WHERE id = 2",
        ),
        {("changed", "record 2")},
    ),
    "record removed": (
        lambda place: tamper(place, "DELETE FROM audits WHERE id = 2"),
        {("missing", "record 2"), ("unknown", "file claims/2.pdf"), ("unknown", "document 2")},
    ),
    "record removed and others moved up": (
        lambda place: tamper(
            place,
            "DELETE FROM audits WHERE id = 3",
            "UPDATE audits SET id = 3 WHERE id = 4",
            "UPDATE audits SET id = 4 WHERE id = 5",
        ),
        {
            *(("missing", "record 3"), ("reordered", "record 4"), ("reordered", "record 5")),
            *(("unknown", "file claims/3.pdf"), ("unknown", "document 3")),
        },
    ),
    "records removed at the end": (
        lambda place: tamper(place, "DELETE FROM audits WHERE id > 3"),
        {
            ("cut off", "records 4 to 5"),
            *(("unknown", f"file claims/{number}.pdf") for number in (4, 5)),
            *(("unknown", f"document {number}") for number in (4, 5)),
        },
    ),
    "all records removed": (
        lambda place: tamper(place, "DELETE FROM audits", "DELETE FROM documents"),
        {("cut off", "records 1 to 5")},
    ),
    "records swapped": (
        lambda place: tamper(
            place,
            "UPDATE audits SET id = 99 WHERE id = 2",
            "UPDATE audits SET id = 2 WHERE id = 3",
            "UPDATE audits SET id = 3 WHERE id = 99",
        ),
        {("reordered", "record 2"), ("reordered", "record 3")},
    ),
    "record inserted": (
        lambda place: tamper(
            place,
            "UPDATE audits SET id = 6 WHERE id = 5",
            "UPDATE audits SET id = 5 WHERE id = 4",
            (
                "INSERT INTO audits SELECT 4, 'new', period, kind, attempt, status, finished, previous, ?, ? "
                "FROM audits WHERE id = 5",
                forge(read_body(place, 4), audit="new")[::-1],
            ),
        ),
        {("reordered", "record 4"), ("reordered", "record 5"), ("inserted", "record 4")},
    ),
    "record before the first": (
        lambda place: tamper(
            place,
            (
                "INSERT INTO audits SELECT 0, 'new', period, kind, attempt, status, finished, previous, ?, ? "
                "FROM audits WHERE id = 1",
                forge(read_body(place, 1), audit="new", id=0)[::-1],
            ),
        ),
        {("inserted", "record 0")},
    ),
    "record appended that does not follow": (
        lambda place: tamper(
            place,
            (
                "INSERT INTO audits SELECT 6, 'new', period, kind, attempt, status, finished, previous, ?, ? "
                "FROM audits WHERE id = 5",
                forge(read_body(place, 5), audit="new", id=6)[::-1],
            ),
        ),
        {("changed", "record 6")},
    ),
    "record that nobody can read": (
        lambda place: rewrite(place, 5, version=99),
        {("changed", "record 5"), ("unreadable", "record 5")},
    ),
    "document removed": (
        lambda place: tamper(place, f"DELETE FROM documents WHERE sha256 = '{find_document(place, 2)}'"),
        {("missing", "document 2")},
    ),
    "document changed": (
        lambda place: tamper(
            place,
            "UPDATE documents SET content = x'789c010000ffff00000001' "
            f"WHERE sha256 = '{find_document(place, 2)}'",
        ),
        {("changed", "document 2")},
    ),
    "document no longer packed": (
        lambda place: tamper(
            place, f"UPDATE documents SET content = x'00' WHERE sha256 = '{find_document(place, 2)}'"
        ),
        {("changed", "document 2")},
    ),
    "document stored as text": (
        lambda place: tamper(
            place,
            "UPDATE documents SET content = CAST(content AS TEXT) "
            f"WHERE sha256 = '{find_document(place, 2)}'",
        ),
        {("changed", "document 2")},
    ),
    "document with something behind it": (
        lambda place: tamper(
            place,
            f"UPDATE documents SET content = content || x'00' WHERE sha256 = '{find_document(place, 2)}'",
        ),
        {("changed", "document 2")},
    ),
    "document filed elsewhere": (
        lambda place: tamper(
            place, f"UPDATE documents SET sha256 = 'elsewhere' WHERE sha256 = '{find_document(place, 2)}'"
        ),
        {("changed", "document 2")},
    ),
    "table changed": (
        lambda place: tamper(place, "ALTER TABLE audits ADD COLUMN more TEXT"),
        {("database", "history")},
    ),
    "index removed": (lambda place: tamper(place, "DROP INDEX audits_by_name"), {("database", "history")}),
    "foreign trigger": (
        lambda place: tamper(
            place, "CREATE TRIGGER quiet BEFORE INSERT ON audits BEGIN SELECT RAISE(IGNORE); END"
        ),
        {("database", "history")},
    ),
    "version changed": (
        lambda place: tamper(place, "UPDATE schema_versions SET step = 'nothing' WHERE version = 2"),
        {("database", "history")},
    ),
}


def find_document(place, number):
    return json.loads(read_body(place, number))["documents"][0]


def find_plain_subjects(verification, place, documents):
    """Subjects with the number of its record for a document and a word for the database."""
    names = {f"document {name}": f"document {number}" for number, name in documents.items()}
    names[f"{place}/history.db"] = "history"
    return {(kind, names.get(subject, subject)) for kind, subject in find_subjects(verification)}


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The files of a history of five records, to be copied."""
    place = tmp_path_factory.mktemp("sample") / "audits"
    fill(f"sqlite:///{place}/history.db", place)
    return place


@pytest.fixture
def copied(sample, place):
    """A history of five records that a test may do anything to."""
    import shutil

    shutil.copytree(sample, place)
    return place


@pytest.mark.parametrize(("change", "expected"), TAMPERING.values(), ids=TAMPERING.keys())
def test_tampering_is_named(copied, file_url, change, expected):
    documents = {number: find_document(copied, number) for number in range(1, 6)}
    change(copied)
    assert find_plain_subjects(verify(file_url, copied), copied, documents) == expected


def test_another_database_in_its_place_is_named(copied, file_url):
    (copied / "history.db").unlink()
    with closing(sqlite3.connect(copied / "history.db")) as connection:
        connection.execute("CREATE TABLE other (id)")
    sentences = [finding.sentence for finding in verify(file_url, copied).findings]
    assert f"The history {copied}/history.db cannot be used: no such table: audits." in sentences
    assert "Records 1 to 5 are missing at the end: the chain head file names record 5." in sentences
    assert "The table `documents` is missing in the database." in sentences


def test_a_dropped_trigger_is_named(copied, file_url):
    with closing(sqlite3.connect(copied / "history.db")) as connection:
        connection.execute("DROP TRIGGER audits_not_removed")
    (finding,) = verify(file_url, copied).findings
    assert finding.kind is FindingKind.DATABASE
    assert finding.sentence == "The trigger `audits_not_removed` is missing in the database."


def test_a_record_that_belongs_to_no_chain_is_told_from_its_neighbour_by_hashes_kept_outside(
    copied, file_url
):
    before = json.loads(read_body(copied, 5))["previous"]
    rewrite(copied, 5, previous="1" * 64)
    (copied / "head").unlink()
    missing = ("missing", "file head")
    assert find_subjects(verify(file_url, copied)) == {  # or 5, as the sentence says
        ("changed", "record 4"),
        missing,
    }
    assert find_subjects(verify(file_url, copied, heads=[before[:12]])) == {("changed", "record 5"), missing}


def test_hashes_kept_outside_must_be_in_the_chain(copied, file_url):
    last = sha256(read_body(copied, 5).encode())
    assert verify(file_url, copied, heads=[last, last[:12].upper()]).findings == ()
    rewrite(copied, 2, status="fail", cascade=True)
    write_head(copied)
    assert verify(file_url, copied).findings == ()  # written anew to the end: nothing in it disagrees
    (finding,) = verify(file_url, copied, heads=[last]).findings
    assert (finding.kind, finding.subject) == ("missing", f"hash {last}")
    for wrong in ("abc", "g" * 12, "a" * 65):
        with pytest.raises(UsageError, match=r"^`head` must be the hash of a record, 12 to 64 characters"):
            verify(file_url, copied, heads=[wrong])


def test_a_kept_hash_of_a_record_that_is_named_already_says_nothing_new(copied, file_url):
    kept = sha256(read_body(copied, 2).encode())
    tamper(copied, "UPDATE audits SET body = replace(body, 'pass', 'fail') WHERE id = 2")
    assert find_subjects(verify(file_url, copied, heads=[kept])) == {("changed", "record 2")}


# What reports say of the history


def render_results(last_id, last_sha256):
    """A results document, as far as it matters here."""
    trend = Trend(snapshots=(), last_id=last_id, last_sha256=last_sha256)
    return dump({"evaluation": "x" * 500, "trend": trend})


def append_report(history, label, last=None):
    """An audit whose report names the last record, as real ones do."""
    last = last or history.last() or ChainHead(id=0, sha256="")
    results = render_results(last.id, last.sha256).encode()
    draft = make_draft(label=label, results_sha256=sha256(results))
    return history.append(draft, make_documents(results))


@pytest.fixture
def reported(file_url, place):
    """A history of five records with results."""
    with open_history(file_url, head=place / "head") as history:
        for number in range(1, 6):
            append_report(history, f"period {number}")
    return place


def test_what_a_report_says_of_the_history_is_found_at_its_end():
    expected = ChainHead(id=12, sha256="ab" * 32)
    document = render_results(12, "ab" * 32)
    assert [field.name for field in fields(Trend)][-2:] == ["last_id", "last_sha256"]
    assert fields(Report)[-1].name == "trend"
    assert find_anchor(document.encode()) == expected
    assert find_anchor(json.dumps(json.loads(document), indent=1).encode()) == expected
    assert find_anchor(render_results(0, "").encode()) is None
    assert find_anchor(dump({"trend": None, "note": document}).encode()) is None
    for nothing in (
        b"",
        b"[audit]",
        b'{"last_sha256": 1}',
        b'"last_sha256"',
        b'{"trend": {"last_sha256": 1}}',
    ):
        assert find_anchor(nothing) is None


def test_a_history_that_is_written_anew_to_its_end_does_not_fit_its_reports(reported, file_url):
    assert_whole(file_url, reported, 5)
    old = sha256(read_body(reported, 2).encode())
    rewrite(reported, 2, status="fail", cascade=True)
    write_head(reported)
    (finding,) = verify(file_url, reported).findings
    assert (finding.kind, finding.subject) == ("changed", "record 2")
    assert finding.sentence == (
        "Record 2 is not the one that the report of record 3 names as the last before it, which has the "
        f"hash {old}: it or records before it were rewritten. The reports of these later records also name "
        "rewritten records: 4, 5."
    )


def test_reports_say_nothing_new_of_records_that_are_named_already(reported, file_url):
    tamper(reported, "UPDATE audits SET body = replace(body, 'pass', 'fail') WHERE id = 2")
    (finding,) = verify(file_url, reported).findings
    assert (finding.kind, finding.subject) == ("changed", "record 2")
    tamper(reported, "UPDATE audits SET body = replace(body, 'fail', 'pass') WHERE id = 2")
    assert_whole(file_url, reported, 5)
    rewrite(reported, 3, status="fail")
    (finding,) = verify(file_url, reported).findings
    assert (finding.kind, finding.subject) == ("changed", "record 3")


def test_a_missing_record_is_named_once_though_a_report_names_it(reported, file_url):
    tamper(reported, "DELETE FROM audits WHERE id = 2")
    assert {
        finding.subject for finding in verify(file_url, reported).findings if "record" in finding.subject
    } == {"record 2"}


@pytest.mark.parametrize("number", [3, 4])
def test_a_report_cannot_name_its_own_record_or_a_later_one(file_url, place, number):
    with open_history(file_url, head=place / "head") as history:
        history.append(make_draft("loans"))
        history.append(make_draft("loans", "next"))
        append_report(history, "forged", ChainHead(id=number, sha256="a" * 64))
        history.append(make_draft("loans", "last"))
    (finding,) = verify(file_url, place).findings
    assert (finding.kind, finding.subject) == ("changed", "record 3")
    assert finding.sentence == (
        f"The report of record 3 names record {number} as the last one before it: the report was changed, or "
        "its record was moved."
    )


def test_a_report_may_name_any_earlier_record(file_url, place):
    """Eight audits that run at once all see the same last record."""
    with open_history(file_url, head=place / "head") as history:
        first = append_report(history, "first")
        for label in ("second", "third"):
            append_report(history, label, ChainHead(id=1, sha256=first.sha256))
    assert_whole(file_url, place, 3)


def test_tampering_in_postgresql_is_named(postgres_url, place):
    import psycopg

    fill(postgres_url, place)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("ALTER TABLE audits DISABLE TRIGGER audits_not_changed")
        connection.execute("UPDATE audits SET status = 'fail' WHERE id = 2")
        connection.execute("UPDATE audits SET body = replace(body, 'pass', 'fail') WHERE id = 4")
        connection.execute("ALTER TABLE audits ADD COLUMN more TEXT")
        connection.execute("DROP TRIGGER documents_not_emptied ON documents")
    verification = verify(postgres_url, place)
    assert [finding.sentence for finding in verification.findings] == [
        "Columns of record 2 were changed, its text was not: `status` ('fail', not 'pass').",
        "Record 4 was changed: its text does not have the hash that is stored with it.",
        "The trigger `audits_not_changed` in the database was changed.",
        "The trigger `documents_not_emptied` is missing in the database.",
        "The table `audits` in the database was changed.",
    ]


@pytest.mark.parametrize(
    ("statements", "sentences"),
    [
        (
            ["CREATE RULE quiet AS ON INSERT TO audits WHERE NEW.status = 'failed' DO INSTEAD NOTHING"],
            ["The rule `quiet` of the table `audits` does not belong to a history."],
        ),
        (
            [
                "ALTER TABLE documents ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY few ON documents USING (sha256 > '1')",
            ],
            [
                "The policy `few` of the table `documents` does not belong to a history.",
                "The table `documents` has row security, which hides rows; a history has none.",
            ],
        ),
        (
            ["CREATE TABLE more () INHERITS (audits)"],
            ["The part `more` of the table `audits` does not belong to a history."],
        ),
        (
            [
                "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
                "CREATE TRIGGER lose BEFORE INSERT ON audits FOR EACH ROW EXECUTE FUNCTION lose()",
            ],
            ["The trigger `lose` in the database does not belong to a history."],
        ),
    ],
    ids=["rule", "row security", "inheritance", "trigger"],
)
def test_what_hides_or_swallows_rows_in_postgresql_is_named(postgres_url, place, statements, sentences):
    import psycopg

    fill(postgres_url, place, 2)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
    assert [finding.sentence for finding in verify(postgres_url, place).findings] == sentences


# One byte


#: Of the header of the file: counters of changes, and the version of SQLite that wrote last.
COUNTERS = {*range(24, 28), *range(40, 44), *range(92, 100)}


def test_any_byte_that_is_flipped_is_named(copied, file_url):
    """But for free space, in which no row, index or table lies: what stands there is never read."""
    path = copied / "history.db"
    original = path.read_bytes()
    candidates = [place for place, byte in enumerate(original) if byte and place not in COUNTERS]
    chosen = [18, 59, 71, *random.Random(7).sample(candidates, 45)]
    for number, position in enumerate(chosen):
        flipped = bytearray(original)
        flipped[position] ^= (1, 32, 255)[number % 3]
        path.write_bytes(flipped)
        assert verify(file_url, copied).findings, f"nobody sees byte {position}"
        for rest in ("history.db-wal", "history.db-shm"):
            (copied / rest).unlink(missing_ok=True)


@pytest.mark.parametrize("part", ["text", "columns", "content", "key"])
def test_a_byte_of_a_record_or_a_document_names_it(copied, file_url, part):
    path = copied / "history.db"
    original = path.read_bytes()
    key = find_document(copied, 3)
    with closing(sqlite3.connect(path)) as connection:
        row = connection.execute("SELECT previous, sha256, body FROM audits WHERE id = 3").fetchone()
        query = "SELECT checksum, content FROM documents WHERE sha256 = ?"
        checksum, packed = connection.execute(query, (key,)).fetchone()
    piece, subject = {
        "text": (row[2][:90].encode(), "record 3"),
        "columns": ("".join(row[:2]).encode(), "record 3"),
        "content": (packed[:90], f"document {key}"),
        "key": (f"{key}{checksum}".encode(), f"document {key}"),
    }[part]
    assert original.count(piece) == 1
    for offset in range(0, len(piece), 9):
        flipped = bytearray(original)
        flipped[original.index(piece) + offset] ^= (1, 128)[offset % 2]
        path.write_bytes(flipped)
        assert ("changed", subject) in find_subjects(verify(file_url, copied))


@pytest.mark.parametrize("kept", [0, 50, 5000, 20_000])
def test_a_database_that_cannot_be_read_is_a_finding(copied, file_url, kept):
    path = copied / "history.db"
    path.write_bytes(path.read_bytes()[:kept])
    kinds = {finding.kind for finding in verify(file_url, copied).findings}
    assert FindingKind.UNREADABLE in kinds


def test_records_beside_a_damaged_page_are_still_read(file_url, place):
    fill(file_url, place, 40)
    path = place / "history.db"
    content = bytearray(path.read_bytes())
    page = content.index(b'"period":{"label":"period 20"') // 4096 * 4096
    content[page : page + 8] = b"\xff" * 8
    path.write_bytes(content)
    verification = verify(file_url, place)
    assert 20 < verification.records < 40
    assert ("unreadable", "record 20") in find_subjects(verification)


# Files of reports


def test_files_that_are_not_as_recorded_are_named(copied, file_url):
    folder = copied / "reports" / "claims"
    (folder / "1.pdf").write_bytes(b"another report")
    (folder / "2.pdf").unlink()
    (folder / "more").mkdir()
    (folder / "more" / "extra.pdf").touch()
    (folder / "link").symlink_to(copied)
    (folder / ".3.pdf.tmp").touch()
    verification = verify(file_url, copied)
    assert [(str(finding.kind), finding.subject) for finding in verification.findings] == [
        *(("changed", "file claims/1.pdf"), ("missing", "file claims/2.pdf")),
        *(("unknown", "file claims/link"), ("unknown", "file claims/more/extra.pdf")),
    ]
    assert verification.findings[0].sentence == (
        f"The file {folder}/1.pdf of record 1 was changed, or cannot be read."
    )
    assert verify(file_url, copied, is_here=lambda record: record.audit == "another").findings == ()


def test_a_run_without_files_lays_claim_to_no_folder(file_url, place):
    with open_history(file_url) as history:
        history.append(make_draft("reports", status=AuditStatus.FAILED))
    (place / "reports" / "reports").mkdir(parents=True)
    (place / "reports" / "reports" / "notes.txt").touch()
    assert verify(file_url, place).findings == ()


def test_files_may_be_staged_still(copied, file_url):
    folder = copied / "reports" / "claims"
    (folder / ".staging").mkdir()
    (folder / "5.pdf").rename(folder / ".staging" / "5.pdf")
    (folder / ".staging" / "9.pdf").touch()
    assert verify(file_url, copied).findings == ()
    (folder / ".staging" / "5.pdf").write_bytes(b"another report")
    assert find_subjects(verify(file_url, copied)) == {("missing", "file claims/5.pdf")}


def append_removal(place, removed, *, table="days = 30\nkeep = 2", ran=True, kept=True, **changes):
    """Append what a run does that finds files to remove: the record of an audit, and that of the removal."""
    content = f"[audit.retention]\n{table}\n".encode()
    documents = make_documents(content) if kept else {}
    given = {"attempt": 0, "started": LATER, "finished": LATER, "configuration_sha256": sha256(content)}
    with open_history(f"sqlite:///{place}/history.db", head=place / "head") as history:
        if ran:
            history.append(make_draft(status=AuditStatus.FAILED, **given), documents)
        removal = make_draft(kind="retention", removed=removed, status=AuditStatus.DONE)
        return history.append(replace(removal, **given | changes), documents)


def find_filed(place, *numbers):
    with open_history(f"sqlite:///{place}/history.db") as history:
        return tuple(file for number in numbers for file in history.get(number).files)


def test_files_may_be_removed_if_a_later_record_says_so(copied, file_url):
    append_removal(copied, find_filed(copied, 1, 2))
    (copied / "reports" / "claims" / "1.pdf").unlink()
    verification = verify(file_url, copied)
    assert verification.findings == ()
    assert verification.notes == (
        f"The file {copied}/reports/claims/2.pdf still exists, though record 7 states that it was removed: "
        "the run was killed or could not remove it, or somebody has put the file back.",
    )
    (copied / "reports" / "claims" / "2.pdf").write_bytes(b"another report")
    assert find_subjects(verify(file_url, copied)) == {("changed", "file claims/2.pdf")}


def test_a_removal_excuses_no_later_file(copied, file_url):
    filed = find_filed(copied, 1)
    append_removal(copied, filed)
    with open_history(file_url, head=copied / "head") as history:
        history.append(make_draft(label="again", files=filed))
    assert verify(file_url, copied).notes == ()
    (copied / "reports" / "claims" / "1.pdf").unlink()
    (finding,) = verify(file_url, copied).findings
    assert finding.sentence.endswith("1.pdf of record 8 is missing.")


def test_the_same_file_may_be_removed_by_two_machines_at_once(copied, file_url):
    filed = find_filed(copied, 1)
    append_removal(copied, filed)
    append_removal(copied, filed)
    (copied / "reports" / "claims" / "1.pdf").unlink()
    assert verify(file_url, copied).findings == ()


NOT_DUE = "was removed, which was not due: its configuration keeps files for"
REMOVALS = {
    "too early": (
        {"started": "2026-11-30T02:00:00+00:00"},
        f"the file claims/1.pdf {NOT_DUE} 30 days, and in",
    ),
    "among the latest": (
        {"table": "days = 30\nkeep = 5"},
        f"the file claims/1.pdf {NOT_DUE} 30 days, and in any case those of the latest 5 audits.",
    ),
    "among the latest twelve": ({"table": "days = 30"}, f"the file claims/1.pdf {NOT_DUE} 30 days, and in"),
    "for ever": (
        {"table": "keep = 1"},
        "the file claims/1.pdf was removed, which was not due: its configuration removes no files.",
    ),
    "in the future": (
        {"table": "days = 300000\nkeep = 1", "started": "2999-01-01T00:00:00+00:00"},
        f"the file claims/1.pdf {NOT_DUE} 300,000 days, and in",
    ),
    "for aeons": (
        {"table": f"days = {10**12}\nkeep = 1"},
        f"the file claims/1.pdf {NOT_DUE} {10**12:,} days,",
    ),
    "no time": (
        {"started": "soon"},
        "the file claims/1.pdf was removed, but the times of the records do not show whether the removal was "
        "due.",
    ),
    "no zone": (
        {"started": "2027-01-15T02:00:00"},
        "the file claims/1.pdf was removed, but the times of the records do not show whether the removal was "
        "due.",
    ),
    "another audit": (
        {"audit": "loans", "ran": False},
        "files were removed, by a configuration with which the audit loans was never run before.",
    ),
    "configuration made up": (
        {"ran": False},
        "files were removed, by a configuration with which the audit claims was never run before.",
    ),
    "configuration not kept": (
        {"kept": False},
        "files were removed, by a configuration that the history does not have.",
    ),
    "configuration that is none": (
        {"table": "days = "},
        "files were removed, by a configuration that cannot be read.",
    ),
    "no such number": (
        {"table": f"days = {10**400}"},
        "files were removed, by a configuration that cannot be read.",
    ),
    "no numbers": (
        {"table": "days = 'few'"},
        "files were removed, by a configuration that cannot be read.",
    ),
    "no table": (
        {"table": "[[audit.more]]\n[audit.more.x]\n[other]\n[[audit2]]\nx = 1\n[audit3]\ny = [" + "[" * 5000},
        "files were removed, by a configuration that cannot be read.",
    ),
    "an audit": (
        {"kind": "audit"},
        "files were removed, but it is the record of an audit, and audits remove no files.",
    ),
}


@pytest.mark.sweep(after=7)
@pytest.mark.parametrize(("how", "claim"), REMOVALS.values(), ids=REMOVALS.keys())
def test_a_removal_that_was_not_due_is_named_and_excuses_nothing(copied, file_url, how, claim):
    removal = append_removal(copied, find_filed(copied, 1), **how)
    (copied / "reports" / "claims" / "1.pdf").unlink()
    finding, missing = verify(file_url, copied).findings
    assert (finding.kind, finding.subject) == ("changed", f"record {removal.id}")
    assert finding.sentence.startswith(f"Record {removal.id} states that {claim}")
    assert (missing.kind, missing.subject) == ("missing", "file claims/1.pdf")


@pytest.mark.parametrize(
    "changes", [{"name": "/etc/passwd"}, {"name": "../../etc/passwd"}, {"sha256": "0" * 64}]
)
def test_only_files_that_were_filed_can_have_been_removed(copied, file_url, changes):
    filed, other = find_filed(copied, 1, 2)
    forged = replace(filed, **changes)
    append_removal(copied, (forged, other))
    (copied / "reports" / "claims" / "2.pdf").unlink()
    (finding,) = verify(file_url, copied).findings
    assert finding.sentence == (
        f"Record 7 states that the file {forged.name} was removed, which no earlier record of the audit "
        "claims filed."
    )


def test_files_of_another_audit_cannot_be_removed(copied, file_url):
    fill(file_url, copied, 3, audit="loans")
    append_removal(copied, find_filed(copied, 6))
    (finding,) = verify(file_url, copied).findings
    assert "which no earlier record of the audit claims filed" in finding.sentence


def test_a_removal_is_not_blamed_for_what_is_wrong_with_others(copied, file_url):
    append_removal(copied, find_filed(copied, 1, 2), table="days = 30\nkeep = 3")
    for number in (1, 2):
        (copied / "reports" / "claims" / f"{number}.pdf").unlink()
    assert verify(file_url, copied).findings == ()
    tamper(copied, "UPDATE audits SET body = replace(body, 'pass', 'fail') WHERE id IN (1, 4)")
    assert find_subjects(verify(file_url, copied)) == {("changed", "record 1"), ("changed", "record 4")}
    key = sha256(b"[audit.retention]\ndays = 30\nkeep = 3\n")
    tamper(copied, f"UPDATE documents SET content = x'00' WHERE sha256 = '{key}'")
    assert ("changed", f"document {key}") in find_subjects(verify(file_url, copied))
    assert ("changed", "record 7") not in find_subjects(verify(file_url, copied))


def test_each_machine_that_shares_a_server_keeps_files_of_its_own(copied, file_url):
    """Four of five records are of other machines, and one audit keeps its files."""
    filed = find_filed(copied, 1)
    table = "days = 30\nkeep = 1"
    with open_history(file_url, head=copied / "head") as history:
        history.append(make_draft(label="here", home="here", files=(replace(filed[0], name="claims/h.pdf"),)))
        here = history.get(6).files
    (copied / "reports" / "claims" / "h.pdf").write_bytes(
        (copied / "reports" / "claims" / "1.pdf").read_bytes()
    )
    append_removal(copied, here, table=table, home="here")
    (finding,) = verify(file_url, copied).findings
    assert finding.sentence.startswith(f"Record 8 states that the file claims/h.pdf {NOT_DUE} 30 days")
    append_removal(copied, here, table=table, home="there")
    sentences = [finding.sentence for finding in verify(file_url, copied).findings]
    assert "which no earlier record of the audit claims filed" in sentences[1]


def test_names_that_leave_the_folder_are_named(copied, file_url):
    filed = RecordedFile(name="../../etc/passwd", sha256="0" * 64, size=1)
    with open_history(file_url, head=copied / "head") as history:
        history.append(make_draft(files=(filed,)))
    assert find_subjects(verify(file_url, copied)) == {("changed", "file ../../etc/passwd")}


def test_files_of_a_run_during_the_verification_are_no_strangers(copied, file_url):
    content = b"report of now"
    filed = RecordedFile(name="claims/now.pdf", sha256=sha256(content), size=len(content))
    calls = []

    def find_folder(_):
        if not calls:
            with open_history(file_url, head=copied / "head") as other:
                other.append(make_draft(label="now", files=(filed,)))
            (copied / "reports" / filed.name).write_bytes(content)
        calls.append(1)
        return copied / "reports"

    with open_unchecked(file_url, head=copied / "head") as history:
        assert verify_history(history, find_folder=find_folder).findings == ()
    assert (copied / "reports" / filed.name).exists()


# Export


def export(url, place, target, **options):
    with open_history(url, create=False) as history:
        return export_history(history, target, find_folder=lambda _: place / "reports", **options)


def test_lines_of_the_export_have_the_hashes_of_the_chain(url, place, tmp_path):
    fill(url, place, 3)
    lines = export(url, place, tmp_path / "history.jsonl").read_bytes().splitlines(keepends=True)
    with open_history(url) as history:
        assert [sha256(line) for line in lines] == [row.sha256 for row in history.summaries()]
        assert tuple(line.decode() for line in lines) == history.bodies()
    assert [json.loads(line)["previous"] for line in lines[1:]] == [sha256(line) for line in lines[:-1]]


def test_numbers_are_exported_without_formulas(file_url, place, tmp_path):
    draft = make_draft("=1+1", "+period")
    judgement = Judgement(
        model="@model",
        group="",
        measure="brier_score",
        label="Brier score",
        value=0.25,
        lower=NAN,
        upper=NAN,
        level=NAN,
        warn_lower=None,
        warn_upper=0.3,
        fail_lower=None,
        fail_upper=None,
        verdict=LimitVerdict.PASS,
        sentence="Good.",
    )
    with open_history(file_url) as history:
        record = history.append(
            replace(draft, snapshot=make_snapshot(draft, model="@model"), judgements=(judgement,))
        )
        history.append(make_draft("failed", status=AuditStatus.FAILED))
        history.append(make_draft("removal", kind="retention"))
    content = export(file_url, place, tmp_path / "numbers.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(content)))
    first = rows[0]
    assert [row["audit"] for row in rows] == ["'=1+1", "'=1+1", "failed"]
    assert (first["period"], first["model"], first["measure"]) == ("'+period", "'@model", "brier_score")
    assert (first["value"], first["lower"], first["upper"]) == ("0.25", "-0.5", "")
    assert (first["start"], first["end"], first["attempt"], first["status"]) == (
        *("2026-10-01", "2026-11-01"),
        *("1", "pass"),
    )
    assert (first["verdict"], rows[1]["verdict"], first["sha256"]) == ("pass", "", record.sha256)
    assert (rows[1]["measure"], rows[1]["value"], rows[2]["measure"]) == ("prevalence", "-1.5", "")


def test_the_archive_can_be_checked_by_hand(copied, file_url, tmp_path):
    (copied / "reports" / "claims" / "2.pdf").unlink()
    target = export(file_url, copied, tmp_path / "history.zip")
    first = target.read_bytes()
    assert export(file_url, copied, tmp_path / "again.zip").read_bytes() == first
    with zipfile.ZipFile(target) as archive:
        archive.extractall(tmp_path / "opened")
    opened = tmp_path / "opened"
    for document in (opened / "documents").iterdir():
        assert sha256(document.read_bytes()) == document.stem
    assert sorted(path.name for path in (opened / "reports" / "claims").iterdir()) == [
        f"{number}.pdf" for number in (1, 3, 4, 5)
    ]
    readme = (opened / "README.txt").read_text(encoding="utf-8")
    assert readme.endswith("are not as recorded:\n\n    claims/2.pdf\n")
    script = readme[readme.index("    expected=") : readme.index("If only one fingerprint")]
    last = sha256(read_body(copied, 5).encode())
    assert run_script(script, opened) == f"{last}\n"
    records = (opened / "records.jsonl").read_text(encoding="utf-8")
    (opened / "records.jsonl").write_text(records.replace("period 2", "period 7"), encoding="utf-8")
    assert run_script(script, opened).startswith(
        'This record does not link to the one before: {"version":1,"id":3,'
    )


def test_configurations_are_exported_as_what_they_are(file_url, place, tmp_path):
    results, configuration = b"{}", b"[audit]\n"
    with open_history(file_url) as history:
        draft = make_draft(configuration_sha256=sha256(configuration), results_sha256=sha256(results))
        history.append(draft, make_documents(results, configuration))
    with zipfile.ZipFile(export(file_url, place, tmp_path / "history.zip")) as archive:
        names = {name for name in archive.namelist() if name.startswith("documents/")}
        assert names == {f"documents/{sha256(results)}.json", f"documents/{sha256(configuration)}.toml"}


def run_script(script, folder):
    done = subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def test_the_export_of_one_audit_says_what_it_is(copied, file_url, tmp_path):
    fill(file_url, copied, 2, audit="loans")
    target = export(file_url, copied, tmp_path / "loans.zip", audit="loans")
    with zipfile.ZipFile(target) as archive:
        names = archive.namelist()
        assert archive.read("records.jsonl").count(b"\n") == 2
        assert (
            b"This archive has the records of one audit, loans. The history has records of other audits"
            in archive.read("README.txt")
        )
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert [name for name in names if name.startswith("reports")] == [
        "reports/loans/1.pdf",
        "reports/loans/2.pdf",
    ]


def test_an_export_is_whole_or_not_at_all(copied, file_url, tmp_path):
    key = find_document(copied, 5)
    tamper(copied, f"UPDATE documents SET content = x'00' WHERE sha256 = '{key}'")
    target = tmp_path / "out" / "history.zip"
    target.parent.mkdir()
    target.write_bytes(b"as before")
    with pytest.raises(
        DataError, match=rf"^The document {key} of the history .+ is not as it was recorded; "
    ):
        export(file_url, copied, target)
    assert [path.name for path in target.parent.iterdir()] == ["history.zip"]
    assert target.read_bytes() == b"as before"
    with pytest.raises(
        UsageError, match=r"^The name of an exported file must end in one of \.jsonl, \.csv, \.zip; got"
    ):
        export(file_url, copied, tmp_path / "history.xlsx")
    for name in ("a.csv", "a.zip"):
        with pytest.raises(
            UsageError, match=r"^The history cannot be exported to .+: No such file or directory\.$"
        ):
            export(file_url, copied, tmp_path / "none" / name)
