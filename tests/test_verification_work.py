"""The work of a verification: processes share it, and it grows no faster than the number of records."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import sys
import threading
import zlib
from contextlib import closing
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest
from audit_tools import BRIEF, make_scored, write_audit
from history_tools import make_draft, make_snapshot, tamper

from scorereport._utils import shared_work
from scorereport._utils.clock import fixed_time
from scorereport.audit.integrity import RecordExaminer, verify_audit_history
from scorereport.audit.plan import read_plan
from scorereport.audit.run import run_audit
from scorereport.configuration.periods import Period
from scorereport.history import examination
from scorereport.history.audit_record import AuditStatus
from scorereport.history.counted_evidence import EvidenceLedger, list_steps
from scorereport.history.trend.evidence_records import AuditEvidence, BetResult, Evidence

if TYPE_CHECKING:
    from pathlib import Path

NOW = "2026-12-15T06:00:00+00:00"
OVER = ["2026-10-02", "2026-11-02", "2026-12-02"]


def verify(config):
    with fixed_time(NOW):
        return verify_audit_history(read_plan(config))


# Shared among processes


@pytest.fixture(scope="module")
def audited(tmp_path_factory) -> Path:
    """Three audits, of September to November."""
    folder = tmp_path_factory.mktemp("made")
    make_scored("2026-09-01", 91, rows=6).to_csv(folder / "scores.csv", index=False)
    config = write_audit(folder, limits={"brier": {"fail": 0.1}}, report=BRIEF)
    with fixed_time(NOW):
        for as_of in OVER:
            run_audit(config, as_of=as_of)
    return folder


@pytest.fixture
def config(audited, tmp_path) -> Path:
    """A copy that a test may change."""
    return shutil.copytree(audited, tmp_path / "copy") / "loans.toml"


def list_results(config):
    """The hashes of the results documents, in the order of the chain."""
    with closing(sqlite3.connect(read_plan(config).history_file)) as connection:
        bodies = connection.execute("SELECT body FROM audits ORDER BY id").fetchall()
    return [body.partition('"results_sha256":"')[2][:64] for (body,) in bodies]


def change_nothing(config):
    pass


def change_document(config):
    """A document with another digit, compressed again, with the right checksum."""
    key = list_results(config)[1]
    with closing(sqlite3.connect(read_plan(config).history_file)) as connection:
        (packed,) = connection.execute("SELECT content FROM documents WHERE sha256 = ?", (key,)).fetchone()
    content = zlib.decompress(packed)
    packed = zlib.compress(content.replace(b"0.1", b"0.2", 1))
    checksum = hashlib.sha256(packed).hexdigest()
    change = "UPDATE documents SET content = ?, checksum = ? WHERE sha256 = ?"
    tamper(read_plan(config).history_file.parent, (change, (packed, checksum, key)))


def change_checksum(config):
    change = "UPDATE documents SET checksum = ? WHERE sha256 = ?"
    place = read_plan(config).history_file.parent
    tamper(place, (change, ("0" * 64, list_results(config)[2])))


def remove_document(config):
    place = read_plan(config).history_file.parent
    tamper(place, ("DELETE FROM documents WHERE sha256 = ?", (list_results(config)[0],)))


def change_record(config):
    place = read_plan(config).history_file.parent
    tamper(place, "UPDATE audits SET body = replace(body, '\"rows\":', '\"rows\":1') WHERE id = 2")


def change_file(config):
    """A file with another digit, of the same size."""
    path = read_plan(config).reports / "loans" / "2026-10.json"
    path.chmod(0o600)
    path.write_bytes(path.read_bytes().replace(b"0.1", b"0.2", 1))


def lengthen_file(config):
    path = read_plan(config).reports / "loans" / "2026-11.json"
    path.chmod(0o600)
    path.write_bytes(path.read_bytes() + b"\n")


def remove_file(config):
    (read_plan(config).reports / "loans" / "2026-09.json").unlink()


CHANGES = {
    change_nothing: set(),
    change_document: {"changed"},
    change_checksum: {"changed"},
    remove_document: {"missing"},
    change_record: {"changed"},
    change_file: {"changed"},
    lengthen_file: {"changed"},
    remove_file: {"missing"},
}


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_several_processes_find_what_one_finds(change, config, monkeypatch):
    change(config)
    monkeypatch.setenv("SCOREREPORT_THREADS", "1")
    alone = verify(config)
    assert {str(finding.kind) for finding in alone.findings} == CHANGES[change]
    copies, copy = [], shared_work.copy_process
    monkeypatch.setattr(shared_work, "copy_process", lambda: copies.append(copy()) or copies[-1])
    monkeypatch.setattr(examination, "_BYTES_WORTH_A_PROCESS", 1)
    monkeypatch.setattr(threading, "active_count", lambda: 1)  # those of the test runner hold no lock
    monkeypatch.setenv("SCOREREPORT_THREADS", "3")
    assert verify(config) == alone
    assert len(copies) == 2


def test_no_process_is_started_for_a_small_history(config, monkeypatch):
    monkeypatch.setenv("SCOREREPORT_THREADS", "8")
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(shared_work, "copy_process", lambda: pytest.fail("a process was started"))
    assert verify(config).findings == ()


# No growth faster than the number of records


def count_calls(function, *arguments, **options):
    """Count the calls of functions, in Python and in C, that a call leads to."""
    count = 0

    def notice(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(notice)
    try:
        function(*arguments, **options)
    finally:
        sys.setprofile(None)
    return count


def make_days(count, *, again=1):
    """Records of daily audits with evidence, each day run `again` times."""
    records = []
    for number in range(count * again):
        start = date(2020, 1, 1) + timedelta(days=number // again)
        end = start + timedelta(days=1)
        evidence = Evidence(
            model="logit",
            hypothesis="calibration",
            bets=(BetResult(name="shift", parameters=(0.5,), weight=1.0, log_evidence=0.1),),
            log_factor=0.1,
            log_product=0.1,
            log_detector=0.1,
            alarm_at=240.0,
            audits=1,
            is_alarm=False,
        )
        draft = make_draft(
            label=str(start),
            period=Period(label=str(start), start=str(start), end=str(end)),
            id=number + 1,
            attempt=number % again + 1,
            evidence=AuditEvidence(
                start=str(start), end=str(end), alpha=0.05, looks=12, level=0.95, evidence=(evidence,)
            ),
        )
        records.append(replace(draft, snapshot=make_snapshot(draft)))
    return records


@pytest.mark.parametrize("again", [1, 2])
def test_calls_to_plan_and_multiply_evidence_are_proportional_to_the_records(again):
    def start(records):
        RecordExaminer().start(records, is_complete=True, now=NOW)

    start(make_days(3))  # what is imported and computed once
    short, long = (count_calls(start, make_days(days, again=again)) for days in (60, 240))
    assert long < 4.4 * short  # 16 times if each record were compared with all before it


@pytest.mark.sweep
def test_calls_of_a_verification_are_proportional_to_the_records(tmp_path, monkeypatch):
    """After the first audits, which are compared with fewer, each day takes the same number of calls."""
    monkeypatch.setenv("SCOREREPORT_THREADS", "1")
    make_scored("2026-09-01", 40, rows=8).to_csv(tmp_path / "scores.csv", index=False)
    window = {"column": "day", "period": "previous calendar day"}
    config = write_audit(tmp_path, report=BRIEF, window=window, limits={"brier": {"fail": 0.3}})
    counts, first = [], date(2026, 9, 2)
    with fixed_time(NOW):
        for day in range(36):
            run_audit(config, as_of=str(first + timedelta(days=day)))
            if day + 1 in (14, 25, 36):
                verify(config)
                counts.append(count_calls(verify, config))
    early, late = counts[1] - counts[0], counts[2] - counts[1]
    assert late < 1.03 * early


def test_the_ledger_has_the_steps_of_the_definition():
    """After each record: runs again, annulments, windows that overlap, and a later start."""
    drafts = make_days(6, again=2)
    annulment = {"kind": "annulment", "snapshot": None, "evidence": None, "status": AuditStatus.DONE}
    wide = replace(drafts[3].evidence, start="2020-01-02", end="2020-01-05")
    chain = [
        *drafts[:5],
        replace(drafts[4], period=replace(drafts[4].period, label="wide"), evidence=wide),
        replace(drafts[0], **annulment, annuls=2),
        *drafts[5:8],
        replace(drafts[2], evidence=None),
        replace(drafts[0], **annulment, annuls=1),
        drafts[0],
        *drafts[8:],
        replace(drafts[0], **annulment, annuls=6),
    ]
    ledger, records = EvidenceLedger(), []
    for number, record in enumerate(chain, start=1):
        records.append(replace(record, id=number))
        ledger.add(records[-1])
        for since in ("", "2020-01-03"):
            assert ledger.list_others("", since) == list_steps(records, since)
            left = [step for step in list_steps(records, since) if step.period != "2020-01-03"]
            assert ledger.list_others("2020-01-03", since) == left
