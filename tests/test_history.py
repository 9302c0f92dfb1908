"""A history: appending, reading, opening, the chain head file."""

from __future__ import annotations

import errno
import os
import random
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from multiprocessing import get_context

import pytest
from history_tools import (
    assert_whole,
    copied_fixture,
    file_url_fixture,
    fill,
    find_subjects,
    make_documents,
    make_draft,
    make_snapshot,
    place_fixture,
    read_body,
    rewrite,
    sample_fixture,
    sha256,
    tamper,
    url_fixture,
    verify,
)
from sqlalchemy import text

from scorereport.errors import DataError, ScoreReportError, UsageError
from scorereport.history import database, database_schema
from scorereport.history.audit_record import CHAIN_START, AuditStatus
from scorereport.history.chain_head import ChainHead, advance_chain_head, check_chain_head, read_chain_head
from scorereport.history.record_rows import AlreadyRecorded
from scorereport.history.store import open_history, open_unchecked

place = pytest.fixture(place_fixture)


file_url = pytest.fixture(file_url_fixture)


url = pytest.fixture(params=["sqlite", "postgresql"])(url_fixture)


sample = pytest.fixture(scope="module")(sample_fixture)


copied = pytest.fixture(copied_fixture)


HOSTILE = "x'; drop table audits; --"


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


def test_a_record_has_the_same_hash_when_read_back(file_url):
    draft = make_draft(
        snapshot=make_snapshot(make_draft(), value=1, standard_error=0)
    )  # integers where records have floats
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


def test_invalid_text_is_refused(url):
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
                "CREATE FUNCTION edit() RETURNS trigger LANGUAGE plpgsql AS "
                "'BEGIN NEW.status = ''pass''; RETURN NEW; END'",
                "CREATE TRIGGER q BEFORE INSERT ON audits FOR EACH ROW EXECUTE FUNCTION edit()",
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
    "blob": "body = CAST(body AS BLOB)",
    "empty": "body = ''",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_record_that_was_changed_is_refused(copied, file_url, change):
    tamper(copied, f"UPDATE audits SET {change} WHERE id = 2")
    sentence = (
        rf"^Record 2 of the history {copied}/history\.db is not as it was recorded; `scorereport audit "
        r"verify` shows what was changed\.$"
    )
    with open_history(file_url) as history:
        for read in (history.records, lambda: history.get(2), lambda: history.find("claims", "period 2")):
            with pytest.raises(DataError, match=sentence):
                read()
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


def test_a_missing_record_is_refused(file_url, place):
    with open_history(file_url) as history:
        name = rf"^There is no record 7 in the history {place}/history\.db; "
        with pytest.raises(UsageError, match=f"{name}it has no records yet\\.$"):
            history.get(7)
        history.append(make_draft())
        with pytest.raises(UsageError, match=f"{name}its records are 1 to 1\\.$"):
            history.get(7)


# Concurrent writers


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
    """Call `append_at_once` in one process for each job, all at the same time."""
    context = get_context("fork")  # other methods would import everything eight times
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


def test_sqlite_uses_a_write_ahead_log_and_waits_for_locks(file_url):
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


def test_a_file_that_is_not_a_database_is_refused_and_unchanged(tmp_path):
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
def test_a_foreign_database_is_refused_and_unchanged(tmp_path, table, sentence):
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


def test_a_foreign_table_in_postgresql_is_refused_and_unchanged(postgres_url):
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE audits (id integer, who text)")
        with pytest.raises(
            UsageError, match=r"^The database postgresql://.+ is not a history of audits: its table"
        ):
            open_history(postgres_url)
        tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert tables == (1,)


def test_a_missing_history_is_refused_where_none_may_be_created(file_url, place):
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


def test_an_unreachable_server_is_refused():
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


def test_a_folder_that_cannot_be_created_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(
        UsageError, match=r"^The folder of the history .+ cannot be created: (Not a dir|File exists)"
    ):
        open_history(f"sqlite:///{tmp_path}/file/history.db")


def test_a_full_disk_is_reported_and_leaves_the_old_state(file_url, place):
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


# Protection of rows by the database


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


# The chain head file


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


def test_a_head_that_cannot_be_written_is_a_problem_and_keeps_the_record(file_url, place):
    (place / "head").mkdir(parents=True)
    with open_history(file_url, head=place / "head") as history:
        history.append(make_draft())
        history.append(make_draft(label="next"))
        assert history.last().id == 2
        reason = os.strerror(errno.EISDIR)
        assert history.problems == [
            f"The chain head file {place}/head, which names the last record, could not be written: {reason}."
        ]


def test_the_head_does_not_skip_an_unnoted_record(file_url, place):
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


def test_the_head_of_one_machine_skips_records_of_others(postgres_url, place):
    place.mkdir()
    with open_history(postgres_url, head=place / "head") as history:
        history.append(make_draft(home="here"))
        with open_history(postgres_url, head=place / "other head") as others:
            others.append(make_draft(label="there", home="there"))
        assert history.find_unnoted("here") == []
        last = history.append(make_draft(label="next", home="here"))
        assert history.problems == []
        assert read_chain_head(place / "head") == ChainHead(id=3, sha256=last.sha256)


def test_an_outdated_head_is_a_warning_and_an_invalid_head_a_finding(file_url, place):
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


def test_a_missing_head_is_a_finding_from_the_second_record_on(file_url, place):
    fill(file_url, place, 1)
    (place / "head").unlink()
    verification = verify(file_url, place)
    assert verification.findings == ()
    assert verification.notes == (f"There is no chain head file {place}/head; {UNDETECTED}",)
    fill(file_url, place, 2, audit="loans")  # the head file does not skip the first record
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


def test_a_history_that_does_not_match_its_head_is_refused(copied, file_url):
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


def test_a_history_without_a_readable_head_is_not_refused(copied, file_url):
    for content in (b"nothing", None):
        (copied / "head").write_bytes(content) if content else (copied / "head").unlink()
        with open_history(file_url, head=copied / "head") as history:
            check_chain_head(history)
    with open_history(file_url) as history:
        check_chain_head(history)
