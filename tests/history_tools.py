"""Histories and records that several test files share."""

from __future__ import annotations

import hashlib
import json
import random
import sqlite3
from contextlib import closing
from dataclasses import replace

from scorereport._utils.clock import fixed_time
from scorereport.configuration.periods import Period
from scorereport.history.audit_record import AuditStatus, Record, RecordedFile
from scorereport.history.store import open_history, open_unchecked
from scorereport.history.trend.drift_records import Number, Snapshot
from scorereport.history.verification import verify_history

NAN = float("nan")


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


def place_fixture(tmp_path):
    """The folder of audits."""
    return tmp_path / "audits"


def file_url_fixture(place):
    return f"sqlite:///{place}/history.db"


def url_fixture(request):
    """The address of a history that does not exist yet, in SQLite or PostgreSQL."""
    return request.getfixturevalue("file_url" if request.param == "sqlite" else "postgres_url")


def fill(url, place, count=5, audit="claims"):
    """Write a history with reports on disk, documents and a chain head."""
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
    """Change an SQLite history as an attacker would: drop the triggers, and restore them afterwards."""
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
    """The text of a record with other values, and its correct hash."""
    forged = json.dumps({**json.loads(body), **changes}, ensure_ascii=False, separators=(",", ":")) + "\n"
    return forged, sha256(forged.encode())


def rewrite(place, number, *, cascade=False, **changes):
    """Give a record other values and their correct hash; `cascade` adapts the records after it."""
    body, digest = forge(read_body(place, number), **changes)
    column = "".join(
        f", {name} = '{value}'" for name, value in changes.items() if name in ("status", "previous")
    )
    tamper(place, (f"UPDATE audits SET body = ?, sha256 = ?{column} WHERE id = ?", (body, digest, number)))
    if cascade and number < 5:
        rewrite(place, number + 1, cascade=True, previous=digest)


def find_document(place, number):
    return json.loads(read_body(place, number))["documents"][0]


def sample_fixture(tmp_path_factory):
    """The files of a history of five records, to be copied."""
    place = tmp_path_factory.mktemp("sample") / "audits"
    fill(f"sqlite:///{place}/history.db", place)
    return place


def copied_fixture(sample, place):
    """A history of five records that a test may change."""
    import shutil

    shutil.copytree(sample, place)
    return place
