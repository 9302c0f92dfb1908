"""Robustness of audits: killed runs, eight runs at once, a full disk, a read-only folder."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from audit_tools import BRIEF, make_scored, run_command, write_audit

from scorereport._utils.clock import fixed_time
from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.plan import read_plan
from scorereport.audit.run import run_audit
from scorereport.errors import ExitCode
from scorereport.history.audit_record import AuditStatus
from scorereport.history.store import open_history

HERE = Path(__file__).parent
AS_OF = "2026-11-02"
EIGHT = 8


@pytest.fixture
def folder(tmp_path) -> Path:
    make_scored("2026-09-01", 61, rows=5).to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path


def verify(config):
    plan = read_plan(config)
    with open_history(plan.database_url, head=plan.chain_head, create=False) as history:
        return verify_audit_history(plan), history.records()


def run_forked(*tasks):
    """Run tasks of the program forked_audits.py, and return what they observed."""
    done = subprocess.run(
        [sys.executable, str(HERE / "forked_audits.py")],
        input=json.dumps(tasks, default=str),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.sweep
def test_thirty_runs_killed_at_random_moments_harm_nothing(tmp_path):
    make_scored("2019-12-01", 31 * 33, rows=2).to_csv(tmp_path / "scores.csv", index=False)
    config = write_audit(tmp_path, output={"formats": ["html", "json"]}, report=BRIEF)
    (seen,) = run_forked(["kill_at_random", config, 30, 7])
    assert len(seen) == 30
    for number, step in enumerate(seen, start=1):
        before, after = step["after_kill"], step["after_run"]
        assert before["findings"] == after["findings"] == []
        assert before["records"] in (number, number + 1)
        assert len(before["files"]) in range(2 * number, 2 * before["records"] + 1)
        assert after["records"] == number + 1  # nothing lost, nothing doubled
        assert len(after["files"]) == 2 * (number + 1)
    assert sum(step["killed"] for step in seen) >= 15  # else nothing was tried
    assert sum(step["after_kill"]["records"] == number for number, step in enumerate(seen, start=1)) >= 10
    assert not list((tmp_path / "audits").rglob(".staging"))


#: The function before which a run is killed, and whether the run has a record by then.
STEPS = {
    "scorereport.audit.run:load_audit_rows": False,
    "scorereport._utils.files:_fill": False,
    "pathlib:Path.replace": False,
    "scorereport.history.store:History.append": False,
    "scorereport.history.store:insert_record": False,
    "scorereport.history.store:advance_chain_head": True,
    "scorereport.audit.report_folder:ReportFolder.finalize": True,
    "scorereport.audit.after_run:send_notifications": True,
}


@pytest.mark.sweep
def test_a_run_killed_at_each_step_is_completed_by_the_next(folder):
    configs = [write_audit(folder, f"audit-{number}", folder=f"of-{number}") for number in range(len(STEPS))]
    for config in configs:
        run_audit(config, as_of="2026-10-02")
    tasks = [["kill_at", config, AS_OF, place] for config, place in zip(configs, STEPS, strict=True)]
    for config, (place, recorded), seen in zip(configs, STEPS.items(), run_forked(*tasks), strict=True):
        assert seen["code"] == -signal.SIGKILL, place
        assert seen["after_kill"]["findings"] == [], place
        assert seen["after_kill"]["records"] == (2 if recorded else 1), place
        assert seen["after_run"] == {
            "records": 2,
            "findings": [],
            "files": [f"{config.stem}/2026-09.json", f"{config.stem}/2026-10.json"],
        }, place


@pytest.mark.sweep
def test_eight_processes_run_the_same_audit_at_once(folder):
    config = write_audit(folder)
    (answers,) = run_forked(["run_together", AS_OF, *[config] * EIGHT])
    assert [answer["code"] for answer in answers] == [0] * EIGHT
    assert [answer["id"] for answer in answers] == [1] * EIGHT
    assert sum(answer["is_new"] for answer in answers) == 1
    found, records = verify(config)
    assert found.findings == ()
    assert len(records) == 1


@pytest.mark.sweep
@pytest.mark.parametrize("where", ["sqlite", "postgresql"])
def test_eight_audits_at_once_share_a_history(folder, where, request, monkeypatch):
    history = {}
    if where == "postgresql":
        monkeypatch.setenv("HISTORY", request.getfixturevalue("postgres_url"))
        history["database"] = "${HISTORY}"
    configs = [write_audit(folder, f"audit-{number}", history=history) for number in range(EIGHT)]
    (answers,) = run_forked(["run_together", AS_OF, *configs])
    assert [answer["code"] for answer in answers] == [0] * EIGHT
    assert sorted(answer["id"] for answer in answers) == list(range(1, EIGHT + 1))
    found, records = verify(configs[0])
    assert found.findings == ()
    assert [record.id for record in records] == list(range(1, EIGHT + 1))
    assert {record.audit for record in records} == {config.stem for config in configs}


@pytest.mark.sweep
def test_a_read_only_folder_is_reported_in_one_line(folder):
    config = write_audit(folder)
    run_audit(config, as_of="2026-10-02")
    before = {p: p.read_bytes() for p in (folder / "audits").rglob("*") if p.is_file()}
    done = run_read_only(folder, "run", config, "--as-of", AS_OF)
    assert done.returncode == ExitCode.USAGE, done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("scorereport: ")
    assert "denied" in line.lower() or "read-only" in line.lower() or "readonly" in line.lower()
    assert {p: p.read_bytes() for p in before} == before
    found, records = verify(config)
    assert found.findings == ()
    assert len(records) == 1


def run_read_only(folder: Path, *arguments) -> subprocess.CompletedProcess:
    """Run a command as a user who may only read the folder; root gives up the right to write everywhere."""
    command = [sys.executable, "-m", "scorereport", "audit", *map(str, arguments)]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may write everywhere, and setpriv is not there to give that up")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    paths = [folder, *folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in paths}
    try:
        for path in paths:
            path.chmod(modes[path] & ~0o222)
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    finally:
        for path in paths:
            path.chmod(modes[path])


@pytest.mark.sweep
def test_a_full_disk_is_reported_and_leaves_the_old_state(folder):
    """No file may grow beyond a limit, which the database and the report would exceed."""
    config = write_audit(folder)
    run_audit(config, as_of="2026-10-02")
    command = [sys.executable, "-m", "scorereport", "audit", "run", str(config), "--as-of", AS_OF]
    limited = f"ulimit -f 8; exec {' '.join(command)}"  # blocks of 1,024 bytes
    done = subprocess.run(
        ["bash", "-c", f"trap '' XFSZ; {limited}"], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == ExitCode.USAGE, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("scorereport: ")
    found, records = verify(config)
    assert found.findings == ()
    assert next(record.status for record in records) is AuditStatus.DONE
    assert run_command("run", config, "--as-of", AS_OF).returncode == 0
    assert verify(config)[0].findings == ()


@pytest.mark.sweep
def test_a_user_who_may_only_read_can_verify(folder):
    """An auditor, or anyone who has the history on a read-only disk."""
    config = write_audit(folder)
    run_audit(config, as_of="2026-10-02")
    done = run_read_only(folder, "verify", config)
    assert done.returncode == 0, done.stderr
    assert "1 record and 1 file: intact." in done.stdout
    assert run_read_only(folder, "history", config).stdout.count("2026-09") == 1
    (folder / "audits" / "history.db").chmod(0)
    assert run_read_only(folder, "verify", config).returncode == ExitCode.USAGE


@pytest.mark.sweep
def test_machines_that_share_a_server_keep_their_own_files(folder, postgres_url, monkeypatch):
    monkeypatch.setenv("HISTORY", postgres_url)
    history = {"database": "${HISTORY}"}
    ours = write_audit(folder, "ours", folder="here", history=history)
    theirs = write_audit(folder, "theirs", folder="there", history=history)
    assert run_audit(ours, as_of="2026-01-02").record.status is AuditStatus.FAILED  # without rows
    for config in (ours, theirs):
        assert run_audit(config, as_of=AS_OF).record.status is AuditStatus.DONE
    found, records = verify(ours)
    assert found.findings == ()
    assert found.files == 1
    assert any("Files of theirs are kept elsewhere" in note for note in found.notes)
    assert len({record.home for record in records}) == 2
    marker, head = (folder / "here" / "home").read_text(), read_plan(ours).chain_head
    remembered = head.read_text()
    head.unlink()
    assert any(
        "records may be missing at the end" in finding.sentence for finding in verify(ours)[0].findings
    )
    head.write_text(remembered)
    (folder / "here" / "home").write_text("of another folder")
    assert any(
        "was changed: no record has this marker" in finding.sentence for finding in verify(ours)[0].findings
    )
    (folder / "here" / "home").unlink()
    assert any("is missing or empty" in finding.sentence for finding in verify(ours)[0].findings)
    lost = run_audit(ours, as_of=AS_OF, again=True).record
    assert lost.status is AuditStatus.FAILED
    assert "is missing or empty, though audits were run here. To fix: restore it" in lost.reason
    (folder / "here" / "home").write_text(marker)
    never = write_audit(folder, "never", folder="nowhere", history=history)
    assert verify(never)[0].findings == ()  # nothing was ever run there
    shutil.rmtree(folder / "here" / "reports")
    assert [finding.kind for finding in verify(ours)[0].findings] == ["missing"]
    assert verify(theirs)[0].findings == ()


@pytest.mark.sweep
def test_a_machine_removes_and_records_only_what_it_keeps(folder, postgres_url, monkeypatch):
    monkeypatch.setenv("HISTORY", postgres_url)
    common = {"name": "loans", "history": {"database": "${HISTORY}"}, "retention": {"days": 30, "keep": 1}}
    theirs = write_audit(folder, "theirs", folder="there", **common)
    with fixed_time("2026-10-03T06:00:00+00:00"):
        run_audit(theirs, as_of="2026-10-02")
    ours = write_audit(folder, "ours", folder="here", **common)
    run_audit(ours, as_of=AS_OF)
    assert [record.kind for record in verify(ours)[1]] == ["audit", "audit"]
    assert (folder / "there/reports/loans/2026-09.json").exists()
    run_audit(theirs, as_of=AS_OF, again=True)
    assert [record.kind for record in verify(ours)[1]] == ["audit", "audit", "audit", "retention"]
    assert not (folder / "there/reports/loans/2026-09.json").exists()
    assert verify(ours)[0].findings == verify(theirs)[0].findings == ()
