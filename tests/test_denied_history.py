"""One history with everything on, and each attack of the threat model on a copy of it, named offline.

The attacker can write database, reports, chain head and configuration, but has no key and not the anchors.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from audit_tools import BRIEF, make_scored, write_audit
from history_tools import tamper
from time_stamp_tools import make_authority, serve_stamps

from scorereport.audit.forecast_sealing import seal_forecasts
from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.key_changes import add_key
from scorereport.audit.limit_approval import approve_limits
from scorereport.audit.plan import read_plan
from scorereport.audit.run import run_audit
from scorereport.errors import UsageError

LIMITS = {"brier": {"fail": 0.24}}


@pytest.fixture(scope="module", name="built")
def built_fixture(tmp_path_factory):
    """A history with a baseline, a seal, an approval by a second person, reports, attestations and stamps."""
    place = tmp_path_factory.mktemp("denied")
    bank = place / "bank"
    bank.mkdir()
    loans = make_scored("2026-06-01", 61, rows=10)
    loans.insert(0, "loan", range(len(loans)))
    loans.to_csv(bank / "scores.csv", index=False)
    development = make_scored("2025-01-01", 30, rows=10, seed=2)
    development.to_csv(bank / "development.csv", index=False)
    authority = make_authority()
    (bank / "tsa.pem").write_bytes(authority.pem)
    with serve_stamps(authority) as server, pytest.MonkeyPatch.context() as patch:
        anchors = {"folder": "../anchors", "time_stamp": server.url, "authority": "tsa.pem"}
        config = write_audit(
            bank,
            report=BRIEF,
            limits=LIMITS,
            approve_limits=True,
            anchors=anchors,
            seal={"key": ["loan"]},
            baseline={"file": "development.csv"},
            output={"formats": ["pdf", "json"]},
        )
        patch.setenv("XDG_CONFIG_HOME", str(place / "alice"))
        seal_forecasts(config, period="2026-07")
        patch.setenv("XDG_CONFIG_HOME", str(place / "bob"))
        add_key(config, reason="Bob approves limits.")
        approve_limits(config, reason="Decided by the committee.")
        patch.setenv("XDG_CONFIG_HOME", str(place / "alice"))
        for period in ("2026-06", "2026-07"):
            assert run_audit(config, period=period).record.reason == ""
    return place


def refuse_network(*arguments, **_):
    raise AssertionError(f"The network is not available: {arguments}")


@pytest.fixture(name="bank")
def bank_fixture(built, tmp_path, monkeypatch):
    """A copy of it that an attacker may change; nothing reaches a network."""
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "alice"))
    for name in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, refuse_network)
    return tmp_path / "bank"


def find_findings(bank):
    found = verify_audit_history(read_plan(bank / "loans.toml"))
    return [finding.sentence for finding in found.findings]


def read_records(bank):
    with closing(sqlite3.connect(bank / "audits" / "history.db")) as connection:
        rows = connection.execute("SELECT body FROM audits ORDER BY id").fetchall()
    return [json.loads(body) for (body,) in rows]


def rewrite_all(bank, records):
    """Rewrite the chain and the chain head with correct hashes, as far as that is possible without a key."""
    statements, previous = ["DELETE FROM audits"], "0" * 64
    for record in records:
        record["previous"] = previous
        body = json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
        previous = hashlib.sha256(body.encode()).hexdigest()
        columns = [record[name] for name in ("id", "audit", "kind", "attempt", "status", "finished")]
        statements.append(
            (
                "INSERT INTO audits (id, audit, kind, attempt, status, finished, period, previous, sha256, "
                "body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [*columns, record["period"]["label"], record["previous"], previous, body],
            )
        )
    tamper(bank / "audits", *statements)
    (bank / "audits" / "head-history.db").write_text(f"{len(records)} {previous}\n")


def test_the_history_has_everything_and_is_intact(bank):
    records = read_records(bank)
    assert [record["kind"] for record in records] == [
        *("seal", "key", "approval", "baseline", "audit", "audit"),
    ]
    assert records[-1]["seal_check"]["unchanged"] == records[-1]["seal_check"]["sealed"] == 310
    assert len(list((bank.parent / "anchors").iterdir())) == 12
    found = verify_audit_history(read_plan(bank / "loans.toml"))
    assert (found.findings, found.warnings) == ((), ())


def test_a_rewritten_chain_without_a_key_is_the_same_if_nothing_changes(bank):
    """The attacks below are not named for how they are written."""
    rewrite_all(bank, read_records(bank))
    assert find_findings(bank) == []


def test_a_rollback_of_database_files_and_head_is_named(bank):
    """The last record, its document, its files and the chain head are taken back."""
    *records, last = read_records(bank)
    rewrite_all(bank, records)
    tamper(bank / "audits", ("DELETE FROM documents WHERE sha256 = ?", (last["results_sha256"],)))
    for path in (bank / "audits" / "reports" / "loans").glob("2026-07*"):
        path.unlink()
    (sentence,) = find_findings(bank)
    assert sentence.startswith("Record 6, loans 2026-07, which ended at ")
    assert "is missing" in sentence
    assert last["finished"] in sentence


def test_a_forged_record_is_named(bank):
    """A failed run is added, with all hashes correct."""
    records = read_records(bank)
    kept = {key: records[-1][key] for key in records[1] if key not in ("key", "kind", "reason", "signature")}
    failed = {
        "kind": "audit",
        "status": "failed",
        "exit_code": 4,
        "reason": "No rows.",
        "attempt": 2,
        "id": 7,
    }
    empty = dict.fromkeys(
        ("data_sha256", "source_sha256", "results_sha256", "templates_sha256", "source"), ""
    )
    lists = {"files": [], "judgements": [], "drifts": [], "rows": 0, "snapshot": None, "certificate": ""}
    documents = {"documents": [records[-1]["configuration_sha256"]]}
    rewrite_all(bank, [*records, kept | failed | empty | lists | documents])
    assert find_findings(bank) == [
        "Record 7 is not signed, though records are signed since record 1: a run did not write it."
    ]


def strip_signatures(bank):
    """Make all records unsigned, as those of version 0.1 are."""
    rewrite_all(
        bank, [{k: v for k, v in record.items() if k != "signature"} for record in read_records(bank)]
    )


def test_removed_signatures_are_named(bank):
    strip_signatures(bank)
    found = find_findings(bank)
    assert any(
        sentence.startswith("Record 6 is not signed, and no record before it is") for sentence in found
    )
    assert sum("has another SHA-256 in the history" in sentence for sentence in found) == 1


def test_removed_signatures_are_named_without_anchors(bank):
    """The file of trusted keys shows that there were signatures; a run must not hide that it has one."""
    config = remove_anchors(bank)
    strip_signatures(bank)
    found = find_findings(bank)
    assert any(
        sentence.startswith("Record 6 is not signed, and no record before it is") for sentence in found
    )
    with pytest.raises(UsageError, match=r"signatures were removed\. Nothing was recorded"):
        run_audit(config, period="2026-07", again=True)
    assert len(read_records(bank)) == 6


def remove_anchors(bank):
    """Remove the table of anchors from the configuration."""
    config = bank / "loans.toml"
    kept = [part for part in config.read_text().split("\n[") if not part.startswith("audit.anchors]")]
    config.write_text("\n[".join(kept))
    assert read_plan(config).anchors is None
    return config


def test_a_forged_stamp_is_named(bank):
    """Another authority of the same name stamps the hash of the record."""
    (stamp,) = (bank.parent / "anchors").glob("6-*.tsr")
    stamp.write_bytes(make_authority().stamp(read_hash(bank, 6)))
    (sentence,) = find_findings(bank)
    assert str(stamp) in sentence


def read_hash(bank, number):
    with closing(sqlite3.connect(bank / "audits" / "history.db")) as connection:
        return connection.execute("SELECT sha256 FROM audits WHERE id = ?", (number,)).fetchone()[0]


def test_a_swapped_baseline_is_named(bank):
    """Its events are halved, so that a model which has become worse looks as it did."""
    records = read_records(bank)
    (sealed,) = (record for record in records if record["kind"] == "baseline")
    for digest in sealed["baseline"]["digests"]:
        digest["events"] = [count / 2 for count in digest["events"]]
    rewrite_all(bank, records)
    found = find_findings(bank)
    number = sealed["id"]
    assert any(one.startswith(f"Record {number} has a signature that is not valid") for one in found)
    assert any(f"record {number}" in sentence.lower() and "attest" in sentence for sentence in found)


def test_a_changed_seal_is_named(bank):
    """The number of rows and the root are those of other forecasts."""
    records = read_records(bank)
    records[0]["seal"]["merkle_root"] = "ab" * 32
    rewrite_all(bank, records)
    found = find_findings(bank)
    assert any(sentence.startswith("Record 1 has a signature that is not valid") for sentence in found)
    assert any(sentence.startswith(f"Record 1 has the Merkle root {'ab' * 32}") for sentence in found)


def test_an_unapproved_limit_is_named(bank, monkeypatch):
    """The holder of the key runs the audit with a looser limit, by software that asks for no approval."""
    config = bank / "loans.toml"
    config.write_text(config.read_text().replace("0.24", "0.9").replace("time_stamp", "# time_stamp"))
    config.write_text(config.read_text().replace("authority", "# authority"))
    monkeypatch.setattr("scorereport.audit.run_limits._find_approval", lambda *_: None)
    assert run_audit(config, period="2026-07").record.reason == ""
    assert any(
        sentence.startswith("Record 7 was run with limits that no second person has approved")
        and "brier.fail from 0.24 to 0.9 (looser)" in sentence
        for sentence in find_findings(bank)
    )


def test_keys_and_passwords_are_in_no_file_but_their_own(built):
    keys = [path.read_bytes().splitlines()[1] for path in built.glob("*/scorereport/audit-key.pem")]
    assert len(keys) == 2
    others = [path for path in Path(built).rglob("*") if path.is_file() and path.name != "audit-key.pem"]
    assert len(others) > 20
    assert not any(key in path.read_bytes() for path in others for key in keys)
