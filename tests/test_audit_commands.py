"""The commands `scorereport audit ...` at a terminal."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import sqlite3
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest
from audit_tools import make_scored, write_audit
from typer.testing import CliRunner

from scorereport._utils.clock import fixed_time
from scorereport.audit.run import run_audit
from scorereport.cli.application import app
from scorereport.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def call(*arguments):
    """Run a command in this process; errors of the package are raised unchanged."""
    result = CliRunner().invoke(app, ["audit", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module", autouse=True)
def _december():
    """Set the clock to a time after all periods of these tests."""
    with fixed_time("2026-12-15T06:00:00+00:00"):
        yield


@pytest.fixture(scope="module")
def audited(tmp_path_factory) -> Path:
    """Three audits, the last of which failed."""
    folder = tmp_path_factory.mktemp("audits")
    scores = make_scored("2026-09-01", 61, rows=5)
    scores.to_csv(folder / "scores.csv", index=False)
    config = write_audit(folder, "audit", limits={"brier": {"warn": 0.1, "fail": 0.5}})
    run_audit(config, as_of="2026-10-02")
    run_audit(config, as_of="2026-11-02")
    run_audit(config, as_of="2026-12-02")
    return folder


@pytest.fixture
def folder(audited, tmp_path) -> Path:
    """A copy that a test may change."""
    return shutil.copytree(audited, tmp_path / "copy")


@pytest.fixture
def config(audited) -> Path:
    return audited / "audit.toml"


def test_run_prints_status_record_and_files(folder):
    config = folder / "audit.toml"
    first = call("run", config, "--as-of", "2026-11-02", "--again")
    assert first.exit_code == ExitCode.DONE
    assert first.stdout.startswith("audit 2026-10: warn, record 4\n")
    assert "2026-10.2.json written." in first.stdout
    assert "Limits: 1 warn !" in first.stdout
    assert "\nWhat to do\n- " in first.stdout
    again = call("run", config, "--as-of", "2026-11-02")
    assert "record 4 (existing record; --again adds a new one)" in again.stdout
    assert call("run", config, "--as-of", "2026-11-02", "--strict").exit_code == ExitCode.WARNINGS
    answer = json.loads(call("run", config, "--as-of", "2026-11-02", "--json").stdout)
    assert (answer["id"], answer["status"]) == (4, "warn")
    failed = call("run", config, "--as-of", "2026-12-02")
    assert failed.exit_code == ExitCode.DATA_REFUSED
    assert failed.stderr.count("scorereport: ") == 1
    assert "2026-11-01" in failed.stderr


def test_history_is_a_table_or_json(config):
    lines = call("history", config).stdout.splitlines()
    assert len([line for line in lines if " audit " in line]) >= 3
    assert "failed: " in call("history", config).stdout
    records = json.loads(call("history", config, "--json").stdout)
    assert [record["status"] for record in records] == ["warn", "warn", "failed"]
    assert records[1]["previous"] == records[0]["sha256"]
    (last,) = json.loads(call("history", config, "--json", "--last", "1").stdout)
    assert last["id"] == 3


def test_show_prints_the_whole_record(config, monkeypatch):
    shown = call("show", "2", config).stdout
    assert shown.startswith("Record 2: audit, period 2026-10, attempt 1\n")
    assert "Brier score of logit" in shown
    assert "SHA-256 " in shown
    monkeypatch.chdir(config.parent)
    assert call("show", "2").stdout == shown  # audit.toml is the default configuration
    record = json.loads(call("show", "2", "--json").stdout)
    results = call("show", "2", "--results").stdout
    assert hashlib.sha256(results.encode()).hexdigest() == record["results_sha256"]
    with pytest.raises(UsageError, match="There is no record 9"):
        call("show", "9")
    with pytest.raises(UsageError, match="Record 3 has no results: its status is failed"):
        call("show", "3", "--results")


def test_verify_states_what_it_checked(config):
    found = call("verify", config)
    assert found.exit_code == ExitCode.DONE
    assert "3 records and 2 files: intact. Last record: " in found.stdout
    head = json.loads(call("history", config, "--json").stdout)[0]["sha256"]
    assert call("verify", config, "--head", head[:12]).exit_code == ExitCode.DONE
    assert call("verify", config, "--head", "0123456789ab").exit_code == ExitCode.LIMIT_BREACHED


def flip_byte(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def test_verify_names_a_report_in_which_a_byte_was_changed(folder):
    report = folder / "audits/reports/audit/2026-10.json"
    flip_byte(report, 1000)
    found = call("verify", folder / "audit.toml")
    assert found.exit_code == ExitCode.LIMIT_BREACHED
    assert "audit/2026-10.json" in found.stdout
    assert "2026-09" not in found.stdout
    report.unlink()
    assert "audit/2026-10.json" in call("verify", folder / "audit.toml").stdout
    (folder / "audits/reports/audit/2026-07.pdf").write_bytes(b"not ours")
    printed = call("verify", folder / "audit.toml", "--json").stdout
    assert printed.endswith("}\n")
    findings = json.loads(printed)["findings"]
    assert len(findings) == 2
    assert any("2026-07.pdf" in finding["sentence"] for finding in findings)


def test_a_staged_file_does_not_excuse_a_changed_one(folder):
    report = folder / "audits/reports/audit/2026-10.json"
    (report.parent / ".staging").mkdir()
    shutil.copy(report, report.parent / ".staging")
    flip_byte(report, 1000)
    found = call("verify", folder / "audit.toml")
    assert found.exit_code == ExitCode.LIMIT_BREACHED
    assert "audit/2026-10.json" in found.stdout
    report.unlink()
    assert call("verify", folder / "audit.toml").exit_code == ExitCode.DONE  # the next run moves it


def test_verify_names_a_record_in_which_a_byte_was_changed(folder):
    database = folder / "audits/history.db"
    with sqlite3.connect(database) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
    connection.close()
    place = database.read_bytes().index(b'"period":{"label":"2026-10"') + 20
    flip_byte(database, place)
    found = call("verify", folder / "audit.toml")
    assert found.exit_code == ExitCode.LIMIT_BREACHED
    assert "ecord 2" in found.stdout


def test_verify_names_a_file_that_is_not_a_database(folder):
    (folder / "audits/history.db").write_bytes(b"nothing of the kind" * 100)
    found = call("verify", folder / "audit.toml")
    assert found.exit_code == ExitCode.LIMIT_BREACHED
    assert "history.db" in found.stdout


def test_export_can_be_checked_by_hand(config, tmp_path):
    call("export", config, "-o", tmp_path / "audits.jsonl")
    lines = (tmp_path / "audits.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) == 3
    previous = "0" * 64
    for line in lines:
        assert json.loads(line)["previous"] == previous
        previous = hashlib.sha256(line).hexdigest()
    call("export", config, "-o", tmp_path / "audits.csv")
    with (tmp_path / "audits.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["measure"] for row in rows} >= {"brier", "prevalence"}
    call("export", config, "-o", tmp_path / "audits.zip")
    with ZipFile(tmp_path / "audits.zip") as archive:
        assert any(name.endswith("2026-10.json") for name in archive.namelist())
    with pytest.raises(UsageError, match=r"\.jsonl"):
        call("export", config, "-o", tmp_path / "audits.doc")


@pytest.mark.sweep
def test_site_is_written(config, tmp_path):
    printed = call("site", config, "-o", tmp_path / "site").stdout
    assert printed == f"{tmp_path / 'site' / 'index.html'} written.\n"
    assert "audit" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


def test_units_are_printed(folder):
    config = write_audit(folder, "nightly", schedule={"cron": "30 2 * * *"}, time_zone="Europe/Berlin")
    timer = call("units", config).stdout
    assert "OnCalendar=*-*-* 02:30:00 Europe/Berlin" in timer
    assert str(config) in timer
    line = call("units", config, "--kind", "cron").stdout
    assert "30 2 * * *" in line
    with pytest.raises(UsageError, match=r"`audit\.schedule\.cron` is missing"):
        call("units", folder / "audit.toml")


def test_reading_a_missing_history_creates_none(tmp_path):
    config = write_audit(tmp_path)
    for command in ("history", "verify", "export", "site"):
        with pytest.raises(UsageError, match="There is no history"):
            call(command, config)
    with pytest.raises(UsageError, match=r"There is no configuration 'nowhere\.toml'"):
        call("history", "nowhere.toml")
    assert [path.name for path in tmp_path.iterdir()] == ["loans.toml"]
