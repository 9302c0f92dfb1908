"""Tampering with a history is found: by byte, by record, and by the reports that name its records."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing
from dataclasses import fields

import pytest
from history_tools import (
    assert_whole,
    copied_fixture,
    file_url_fixture,
    fill,
    find_document,
    find_subjects,
    forge,
    make_documents,
    make_draft,
    place_fixture,
    read_body,
    rewrite,
    sample_fixture,
    sha256,
    tamper,
    url_fixture,
    verify,
)

from scorereport._utils.json_documents import dump
from scorereport.errors import UsageError
from scorereport.history.chain_head import ChainHead
from scorereport.history.store import open_history
from scorereport.history.stored_documents import find_anchor
from scorereport.history.trend.drift_records import Trend
from scorereport.history.verification_findings import FindingKind
from scorereport.report.report_record import Report

place = pytest.fixture(place_fixture)


file_url = pytest.fixture(file_url_fixture)


url = pytest.fixture(params=["sqlite", "postgresql"])(url_fixture)


sample = pytest.fixture(scope="module")(sample_fixture)


copied = pytest.fixture(copied_fixture)


# Tampering


def test_an_unchanged_history_has_no_findings(url, place):
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


def write_head(place):
    """Write the head of a history of five records, as it is now, to the chain head file."""
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
    "text is not a record": (
        lambda place: tamper(place, "UPDATE audits SET body = 'nothing' WHERE id = 2"),
        {("changed", "record 2"), ("unknown", "file claims/2.pdf"), ("unknown", "document 2")},
    ),
    "text is a blob": (
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
    "record of an unknown version": (
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


def find_plain_subjects(verification, place, documents):
    """Subjects in which documents have the numbers of their records, and the database is `history`."""
    names = {f"document {name}": f"document {number}" for number, name in documents.items()}
    names[f"{place}/history.db"] = "history"
    return {(kind, names.get(subject, subject)) for kind, subject in find_subjects(verification)}


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


def test_hashes_kept_outside_identify_the_record_that_breaks_the_chain(copied, file_url):
    before = json.loads(read_body(copied, 5))["previous"]
    rewrite(copied, 5, previous="1" * 64)
    (copied / "head").unlink()
    missing = ("missing", "file head")
    assert find_subjects(verify(file_url, copied)) == {  # or record 5, as the sentence states
        ("changed", "record 4"),
        missing,
    }
    assert find_subjects(verify(file_url, copied, heads=[before[:12]])) == {("changed", "record 5"), missing}


def test_hashes_kept_outside_must_be_in_the_chain(copied, file_url):
    last = sha256(read_body(copied, 5).encode())
    assert verify(file_url, copied, heads=[last, last[:12].upper()]).findings == ()
    rewrite(copied, 2, status="fail", cascade=True)
    write_head(copied)
    assert verify(file_url, copied).findings == ()  # rewritten to the end, so it is consistent
    (finding,) = verify(file_url, copied, heads=[last]).findings
    assert (finding.kind, finding.subject) == ("missing", f"hash {last}")
    for wrong in ("abc", "g" * 12, "a" * 65):
        with pytest.raises(UsageError, match=r"^`head` must be the hash of a record, 12 to 64 characters"):
            verify(file_url, copied, heads=[wrong])


def test_a_kept_hash_of_a_record_with_a_finding_adds_none(copied, file_url):
    kept = sha256(read_body(copied, 2).encode())
    tamper(copied, "UPDATE audits SET body = replace(body, 'pass', 'fail') WHERE id = 2")
    assert find_subjects(verify(file_url, copied, heads=[kept])) == {("changed", "record 2")}


# Records that reports name


def render_results(last_id, last_sha256):
    """A results document, reduced to what verification reads."""
    trend = Trend(snapshots=(), last_id=last_id, last_sha256=last_sha256)
    return dump({"evaluation": "x" * 500, "trend": trend})


def append_report(history, label, last=None):
    """Append an audit whose report names the last record."""
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


def test_the_record_that_a_report_names_is_found_at_its_end():
    expected = ChainHead(id=12, sha256="ab" * 32)
    document = render_results(12, "ab" * 32)
    assert [field.name for field in fields(Trend)][-2:] == ["last_id", "last_sha256"]
    assert fields(Report)[-1].name == "trend"
    assert find_anchor(document.encode()) == expected
    assert find_anchor(json.dumps(json.loads(document), indent=1).encode()) == expected
    assert find_anchor(render_results(0, "").encode()) is None
    assert find_anchor(dump({"trend": None, "note": document}).encode()) is None
    for content in (
        b"",
        b"[audit]",
        b'{"last_sha256": 1}',
        b'"last_sha256"',
        b'{"trend": {"last_sha256": 1}}',
    ):
        assert find_anchor(content) is None


def test_a_history_rewritten_to_its_end_does_not_match_its_reports(reported, file_url):
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


def test_reports_add_no_finding_to_records_that_have_one(reported, file_url):
    tamper(reported, "UPDATE audits SET body = replace(body, 'pass', 'fail') WHERE id = 2")
    (finding,) = verify(file_url, reported).findings
    assert (finding.kind, finding.subject) == ("changed", "record 2")
    tamper(reported, "UPDATE audits SET body = replace(body, 'fail', 'pass') WHERE id = 2")
    assert_whole(file_url, reported, 5)
    rewrite(reported, 3, status="fail")
    (finding,) = verify(file_url, reported).findings
    assert (finding.kind, finding.subject) == ("changed", "record 3")


def test_a_missing_record_is_a_finding_once_though_a_report_names_it(reported, file_url):
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
        "The trigger `audits_not_changed` in the database is disabled.",
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
def test_objects_that_hide_or_drop_rows_in_postgresql_are_named(postgres_url, place, statements, sentences):
    import psycopg

    fill(postgres_url, place, 2)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
    assert [finding.sentence for finding in verify(postgres_url, place).findings] == sentences


# One byte


#: Bytes of the file header: counters of changes, and the version of SQLite that wrote last.
COUNTERS = {*range(24, 28), *range(40, 44), *range(92, 100)}


def test_any_byte_that_is_flipped_is_named(copied, file_url):
    """Except in free space, which holds no row, index or table and is never read."""
    path = copied / "history.db"
    original = path.read_bytes()
    candidates = [place for place, byte in enumerate(original) if byte and place not in COUNTERS]
    chosen = [18, 59, 71, *random.Random(7).sample(candidates, 45)]
    for number, position in enumerate(chosen):
        flipped = bytearray(original)
        flipped[position] ^= (1, 32, 255)[number % 3]
        path.write_bytes(flipped)
        assert verify(file_url, copied).findings, f"byte {position} is not found"
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
