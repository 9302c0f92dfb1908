"""`audit run`: one record for each period and its data, done or failed, and the steps after it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from audit_tools import BRIEF, make_scored, write_audit

from scorereport._utils.clock import fixed_time
from scorereport._utils.json_documents import encode
from scorereport.audit import after_run, audit_report
from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.plan import read_plan
from scorereport.audit.report_folder import ReportFolder
from scorereport.audit.run import AuditRun, run_audit
from scorereport.channels import notification
from scorereport.configuration.periods import find_period, read_as_of
from scorereport.errors import ExitCode, UsageError
from scorereport.history.audit_record import CHAIN_START, AuditStatus, RecordedFile
from scorereport.history.store import open_history
from scorereport.history.trend.drift_records import Drift, Trend
from scorereport.reference import certification
from scorereport.reference.certification import PendingCertificate
from scorereport.report.report_record import read_report

if TYPE_CHECKING:
    from pathlib import Path

OCTOBER, NOVEMBER = "2026-11-02", "2026-12-02"


@pytest.fixture(autouse=True)
def _december():
    """Set the clock to a time after all periods of these tests."""
    with fixed_time("2026-12-15T06:00:00+00:00"):
        yield


@pytest.fixture
def folder(tmp_path) -> Path:
    make_scored("2026-08-01", 122, rows=10).to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path


def read_history(config):
    plan = read_plan(config)
    with open_history(plan.database_url, head=plan.chain_head, create=False) as history:
        return history.records()


def verify(config):
    return verify_audit_history(read_plan(config))


def assert_intact(config, *, records):
    found = verify(config)
    assert found.findings == ()
    assert found.records == records


def test_a_run_files_a_report_and_a_record(folder):
    config = write_audit(folder, limits={"brier": 0.3})
    outcome = run_audit(config, as_of=OCTOBER, command="scorereport audit run loans.toml")
    record = outcome.record
    assert outcome.is_new
    assert (record.id, record.previous, record.attempt) == (1, CHAIN_START, 1)
    assert (record.audit, record.period.label, record.rows) == ("loans", "2026-10", 310)
    assert (record.status, record.exit_code, record.reason) == (AuditStatus.PASS, 0, "")
    (file,) = outcome.files
    assert file == folder / "audits" / "reports" / "loans" / "2026-10.json"
    report = read_report(file)
    assert report.evaluation.data.row_flow.kept == 310
    assert report.evaluation.data.row_flow.read == 1220
    assert record.data_sha256 == report.evaluation.data.sha256
    assert encode(record.judgements) == encode(report.judgements)
    assert report.provenance.command == "scorereport audit run loans.toml"
    assert report.trend.reference == ()
    assert_intact(config, records=1)


def test_the_record_has_the_results_and_the_configuration(folder):
    config = write_audit(folder)
    record = run_audit(config, as_of=OCTOBER).record
    plan = read_plan(config)
    with open_history(plan.database_url) as history:
        results = json.loads(history.document(record.results_sha256))
        assert history.document(record.configuration_sha256) == config.read_bytes()
    assert results["evaluation"]["models"][0]["model"] == "logit"
    assert results["trend"]["snapshots"][0]["period"]["label"] == "2026-10"
    assert record.status is AuditStatus.DONE  # there are no limits


def test_a_second_run_returns_the_existing_record(folder):
    config = write_audit(folder, limits={"brier": 0.01})
    first = run_audit(config, as_of=OCTOBER)
    second = run_audit(config, as_of="2026-11-30T23:59")
    assert (first.is_new, second.is_new) == (True, False)
    assert second.record.sha256 == first.record.sha256
    assert second.files == first.files
    assert second.record.exit_code == ExitCode.LIMIT_BREACHED
    assert_intact(config, records=1)


@pytest.mark.sweep
def test_other_data_another_configuration_or_again_make_a_new_record(folder):
    config = write_audit(folder)
    run_audit(config, as_of=OCTOBER)
    again = run_audit(config, as_of=OCTOBER, again=True)
    assert (again.record.id, again.record.attempt, again.files[0].name) == (2, 2, "2026-10.2.json")
    scores = pd.read_csv(folder / "scores.csv")
    scores.loc[scores.day == "2026-10-05", "logit"] = 0.5
    scores.to_csv(folder / "scores.csv", index=False)
    assert run_audit(config, as_of=OCTOBER).record.attempt == 3
    write_audit(folder, limits={"brier": 0.3})
    assert run_audit(config, as_of=OCTOBER).record.attempt == 4
    assert not run_audit(config, as_of=OCTOBER).is_new
    assert_intact(config, records=4)


def test_rows_of_other_months_do_not_matter(folder):
    config = write_audit(folder)
    first = run_audit(config, as_of=OCTOBER).record
    scores = pd.read_csv(folder / "scores.csv")
    scores[scores.day >= "2026-09-01"].to_csv(folder / "scores.csv", index=False)
    second = run_audit(config, as_of=OCTOBER).record
    assert second.id == first.id


def test_an_audit_is_compared_with_those_before_it(folder):
    config = write_audit(folder, evaluation={"resamples": 50})
    for as_of in ("2026-09-01", "2026-10-01", "2026-12-01", OCTOBER):
        record = run_audit(config, as_of=as_of).record
    trend = read_report(folder / "audits/reports/loans/2026-10.json").trend
    assert record.period.label == "2026-10"
    assert [s.period.label for s in trend.snapshots] == ["2026-08", "2026-09", "2026-10"]
    assert trend.reference == ("2026-08", "2026-09")
    assert {(drift.measure, drift.kind) for drift in record.drifts} == {
        ("prevalence", "population"),
        ("forecasts", "population"),
    }
    assert not trend.has_drifted
    assert trend.looks == 12


@pytest.mark.sweep
def test_an_audit_is_not_compared_with_itself(folder):
    config = write_audit(folder)
    run_audit(config, as_of="2026-10-01")
    run_audit(config, as_of=OCTOBER)
    (file,) = run_audit(config, as_of=OCTOBER, again=True).files
    assert [s.period.label for s in read_report(file).trend.snapshots] == ["2026-09", "2026-10"]


def test_a_small_drift_is_reported_but_is_not_a_warning():
    drift = Drift(
        model="m",
        measure="brier",
        label="Brier score",
        value=0.2,
        reference=0.199,
        difference=0.001,
        lower=0.0005,
        upper=0.0015,
        statistic=5.0,
        p_value=1e-6,
        p_value_adjusted=1e-5,
        has_drifted=True,
        method="z",
        sentence="It rose.",
        size="small",
    )
    for size, status in (("small", AuditStatus.DONE), ("moderate", AuditStatus.WARN), ("", AuditStatus.WARN)):
        trend = Trend(snapshots=(), drifts=(replace(drift, size=size),))
        assert trend.has_drifted
        report = SimpleNamespace(certificate=None, trend=trend, verdict=None)
        assert audit_report.RenderedReport(report=report, snapshot=None, forms={}).status is status


@pytest.mark.sweep
def test_drift_is_a_warning(folder, call):
    old = make_scored("2026-08-01", 61, rows=30)
    new = make_scored("2026-10-01", 31, rows=30, seed=2)
    new["y"] = (new["logit"] < 0.5).astype(int)
    pd.concat([old, new]).to_csv(folder / "scores.csv", index=False)
    config = write_audit(folder, evaluation={"resamples": 50}, limits={"brier": 1.0})
    for as_of in ("2026-09-01", "2026-10-01"):
        assert run_audit(config, as_of=as_of).record.status is AuditStatus.PASS
    record = run_audit(config, as_of=OCTOBER).record
    assert record.status is AuditStatus.WARN
    assert record.exit_code == ExitCode.DONE
    assert any(drift.has_drifted for drift in record.drifts)
    assert call("audit", "run", config, "--as-of", OCTOBER, "--strict")[0] == ExitCode.WARNINGS


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    ("break_it", "code", "reason"),
    [
        (lambda folder: (folder / "scores.csv").unlink(), ExitCode.DATA_REFUSED, "scores.csv"),
        (
            lambda folder: (folder / "scores.csv").write_text("day,y,logit\n2026-10-03,0,1.5\n"),
            ExitCode.DATA_REFUSED,
            "`logit`",
        ),
        (
            lambda folder: (folder / "scores.csv").write_text("day,y,logit\n2026-01-03,0,0.5\n"),
            ExitCode.DATA_REFUSED,
            "2026-01-03",
        ),
    ],
)
def test_a_run_that_fails_is_a_record_and_blocks_nothing(folder, break_it, code, reason):
    config = write_audit(folder)
    scores = (folder / "scores.csv").read_bytes()
    break_it(folder)
    record = run_audit(config, as_of=OCTOBER).record
    assert (record.status, record.exit_code, record.files) == (AuditStatus.FAILED, code, ())
    assert reason in record.reason
    (folder / "scores.csv").write_bytes(scores)
    fixed = run_audit(config, as_of=OCTOBER).record
    assert (fixed.status, fixed.attempt) == (AuditStatus.DONE, 2)
    assert_intact(config, records=2)


def test_a_missing_required_certificate_is_a_failure(folder, monkeypatch):
    class Absent:
        current_verdict = "not checked"
        attempts = ()

    monkeypatch.setattr(certification, "_kinds", lambda _reference: ())
    monkeypatch.setattr(PendingCertificate, "complete", lambda *_: Absent())
    config = write_audit(folder, certify="required")
    record = run_audit(config, as_of=OCTOBER).record
    assert (record.status, record.exit_code) == (AuditStatus.FAILED, ExitCode.CERTIFICATE_FAILED)
    assert "requires a certificate" in record.reason


def test_an_unexpected_error_is_recorded_with_its_type(folder, monkeypatch):
    def fail(*_arguments, **_options):
        raise ZeroDivisionError("division by the secret hunter22")

    monkeypatch.setenv("HOOK", "hunter22")
    monkeypatch.setattr(audit_report, "evaluate", fail)
    config = write_audit(folder, notify={"on": ["pass"], "webhook": {"url": "http://127.0.0.1/${HOOK}"}})
    outcome = run_audit(config, as_of=OCTOBER)
    assert outcome.record.status is AuditStatus.FAILED
    assert outcome.record.reason == "ZeroDivisionError: division by the secret ***"
    assert "Traceback" in outcome.failure
    assert "hunter22" not in outcome.failure


def test_full_disk_leaves_a_record_and_nothing_else(folder, monkeypatch):
    config = write_audit(folder)
    run_audit(config, as_of="2026-09-02")
    before = sorted((folder / "audits" / "reports").rglob("*"))

    def fill(*_arguments):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("scorereport._utils.files._fill", fill)
    record = run_audit(config, as_of=OCTOBER).record
    monkeypatch.undo()
    assert record.status is AuditStatus.FAILED
    assert record.reason.endswith("audits/reports/loans cannot be written: No space left on device.")
    assert not list((folder / "audits").rglob(".staging"))
    run_audit(config, as_of=NOVEMBER)
    assert_intact(config, records=3)
    after = sorted((folder / "audits" / "reports").rglob("*"))
    assert [path for path in after if "2026-11" not in path.name] == before


@pytest.mark.sweep
def test_expired_files_are_removed_and_the_removal_is_recorded(folder):
    config = write_audit(folder, retention={"days": 30, "keep": 1})
    with fixed_time("2026-10-21T13:33:20+00:00"):
        run_audit(config, as_of="2026-09-02")
        run_audit(config, as_of="2026-10-02")
    run_audit(config, as_of=OCTOBER)
    assert [p.name for p in sorted((folder / "audits/reports/loans").iterdir())] == ["2026-10.json"]
    *_, removal = read_history(config)
    assert (removal.kind, removal.audit) == ("retention", "loans")
    assert [file.name for file in removal.removed] == ["loans/2026-08.json", "loans/2026-09.json"]
    assert_intact(config, records=4)
    assert not run_audit(config, as_of="2026-09-02").is_new  # its results are still in the history
    run_audit(config, as_of=NOVEMBER)
    assert_intact(config, records=5)


def test_a_removal_that_was_not_due_removes_nothing(folder):
    config = write_audit(folder)
    record = run_audit(config, as_of=OCTOBER).record
    plan = read_plan(config)
    with open_history(plan.database_url, head=plan.chain_head) as history:
        forged = replace(record, kind="retention", removed=record.files, files=(), attempt=0)
        history.append(forged)
    run_audit(config, as_of=NOVEMBER)
    assert (folder / "audits/reports/loans/2026-10.json").exists()
    assert verify(config).findings


def test_a_record_that_was_tampered_with_removes_nothing_else(folder):
    report_folder = ReportFolder(reports=folder / "reports", audit="loans")
    (folder / "reports" / "loans").mkdir(parents=True)
    (folder / "reports" / "other").mkdir()
    precious = [folder / "precious", folder / "reports" / "other" / "report.pdf"]
    ours = folder / "reports" / "loans" / "a.pdf"
    for path in (*precious, ours):
        path.write_bytes(b"x")
    names = [
        "../precious",
        str(folder / "precious"),
        "loans/../../precious",
        "other/report.pdf",
        "loans/a.pdf",
    ]
    sha256 = hashlib.sha256(b"x").hexdigest()
    report_folder.remove([RecordedFile(name=name, sha256="0" * 64, size=1) for name in names])
    assert ours.exists()  # its hash is not that of the record
    report_folder.remove([RecordedFile(name=name, sha256=sha256, size=1) for name in names])
    assert all(path.exists() for path in precious)
    assert not ours.exists()


@pytest.mark.sweep
def test_several_audits_share_a_history(folder):
    first = write_audit(folder, "first")
    second = write_audit(folder, "second", window={"column": "day", "period": "last 7 days"})
    assert run_audit(first, as_of=OCTOBER).record.id == 1
    record = run_audit(second, as_of=OCTOBER).record
    assert (record.id, record.period.label) == (2, "2026-10-26--2026-11-01")
    assert record.previous == read_history(first)[0].sha256
    assert_intact(first, records=2)


def test_problems_after_a_record_are_reported_without_secrets(folder, monkeypatch):
    def fail(*_arguments):
        raise UsageError("no way to hunter2222")

    monkeypatch.setenv("HOOK", "hunter2222")
    monkeypatch.setattr(after_run, "remove_expired_files", fail)
    config = write_audit(folder, notify={"on": ["fail"], "webhook": {"url": "http://127.0.0.1/${HOOK}"}})
    outcome = run_audit(config, as_of=OCTOBER)
    assert outcome.record.status is AuditStatus.DONE
    assert outcome.problems == ("Expired files could not be removed: no way to ***",)


@pytest.mark.sweep
def test_a_run_with_another_configuration_of_the_same_name_is_a_problem(folder):
    run_audit(write_audit(folder, "first", name="loans"), as_of=OCTOBER)
    outcome = run_audit(write_audit(folder, "second", name="loans"), as_of=NOVEMBER)
    (problem,) = outcome.problems
    assert problem.startswith(
        "The last run of the audit loans used the configuration first.toml, this run uses second.toml. "
    )
    assert run_audit(folder / "second.toml", as_of="2026-10-02").problems == ()


@pytest.mark.sweep
def test_a_name_that_differs_in_case_only_is_refused(folder):
    run_audit(write_audit(folder, "first", name="loans"), as_of=OCTOBER)
    second = write_audit(folder, "second", name="Loans")
    with pytest.raises(
        UsageError,
        match=r"^`audit\.name` must differ from 'loans', an audit of the same history, by more than upper "
        r"and lower case, which some systems do not distinguish; got 'Loans'\.$",
    ):
        run_audit(second, as_of=OCTOBER)
    assert_intact(second, records=1)


@pytest.mark.sweep
def test_models_of_several_classes_are_audited(tmp_path):
    rng = np.random.default_rng(3)
    forecasts = rng.dirichlet([2, 2, 2], 400).round(6)
    forecasts[:, 2] = 1 - forecasts[:, :2].sum(axis=1)
    frame = pd.DataFrame(forecasts, columns=["m_a", "m_b", "m_c"])
    frame["grade"] = [rng.choice(["a", "b", "c"], p=p / p.sum()) for p in forecasts]
    frame["day"] = np.repeat(["2026-09-10", "2026-10-10"], 200)
    frame.to_csv(tmp_path / "scores.csv", index=False)
    classes = {
        "outcome": "grade",
        "forecasts": ["m"],
        "classes": ["a", "b", "c"],
        "ordered": True,
        "resamples": 100,
    }
    config = write_audit(tmp_path, evaluation=classes, limits={"rps": 0.5})
    run_audit(config, as_of="2026-10-02")
    record = run_audit(config, as_of=OCTOBER).record
    assert record.status is AuditStatus.PASS
    assert {drift.measure for drift in record.drifts} == {"prevalence", "forecasts"}
    assert {each.hypothesis for each in record.evidence.evidence} >= {"calibration"}
    assert {bet.label for bet in record.evidence.evidence[0].bets} == set(record.snapshot.labels)
    assert_intact(config, records=2)


def test_a_configuration_that_is_wrong_makes_no_record(folder):
    config = write_audit(folder, limits={"brier": 3.0})
    with pytest.raises(UsageError, match=r"`limits\.brier\.fail` must lie in \[0, 1\]"):
        run_audit(config, as_of=OCTOBER)
    assert not (folder / "audits").exists()


def test_secrets_are_nowhere(folder, call, monkeypatch):
    monkeypatch.setattr(notification, "RETRY_PAUSES", ())
    secret = "correct-horse-battery"
    config = write_audit(
        folder,
        source={"database": "postgresql://me:${LOANS_PASSWORD}@127.0.0.1:9/x", "table": "loans"},
        notify={"on": ["failed"], "webhook": {"url": "http://127.0.0.1:9/${LOANS_PASSWORD}"}},
    )
    monkeypatch.setenv("LOANS_PASSWORD", secret)
    code, *printed = call("audit", "run", config, "--as-of", OCTOBER)
    assert code in (ExitCode.USAGE, ExitCode.DATA_REFUSED)
    (record,) = read_history_of(config, secret)
    assert record.status is AuditStatus.FAILED
    written = [p.read_bytes() for p in (folder / "audits").rglob("*") if p.is_file()]
    assert written
    assert secret.encode() not in b"".join([*written, *map(str.encode, printed)])


@pytest.mark.sweep
def test_secrets_are_in_no_report_either(folder, monkeypatch):
    monkeypatch.setattr(notification, "RETRY_PAUSES", ())
    secret = "correct-horse-battery"
    monkeypatch.setenv("HOOK", secret)
    config = write_audit(
        folder,
        report=BRIEF,
        output={"formats": ["html", "json", "pdf"]},
        notify={"on": ["done"], "webhook": {"url": "http://127.0.0.1:9/${HOOK}"}},
    )
    outcome = run_audit(config, as_of=OCTOBER)
    assert outcome.record.status is AuditStatus.DONE
    (problem,) = outcome.problems
    written = [path.read_bytes() for path in (folder / "audits").rglob("*") if path.is_file()]
    assert len(written) > 4
    assert secret.encode() not in b"".join([*written, problem.encode()])


@pytest.mark.sweep
def test_a_race_with_another_configuration_keeps_both_records(folder, monkeypatch):
    """Their folders, and so their locks, differ; only the history distinguishes them."""
    history = {"database": f"sqlite:///{folder}/shared.db"}
    slow = write_audit(folder, "slow", name="loans", folder="machine-1", history=history)
    right = audit_report.evaluate

    def wait_for_the_other(*arguments, **options):
        monkeypatch.setattr(audit_report, "evaluate", right)
        # Two audits are the same only if their configurations are: the other machine has the same text.
        text = slow.read_text().replace("machine-1", "machine-2")
        other = folder / "other.toml"
        other.write_text(text)
        assert run_audit(other, as_of=OCTOBER).is_new
        return right(*arguments, **options)

    monkeypatch.setattr(audit_report, "evaluate", wait_for_the_other)
    outcome = run_audit(slow, as_of=OCTOBER)
    records = read_history(slow)
    assert [record.attempt for record in records] == [1, 2]  # two configurations, so both records are kept
    assert outcome.record.id == 2
    assert_intact(slow, records=2)


@pytest.mark.sweep
def test_a_record_that_another_machine_made_meanwhile_is_returned(folder, monkeypatch):
    config = write_audit(folder)
    right, made = audit_report.evaluate, []

    def wait_for_the_other(*arguments, **options):
        monkeypatch.setattr(audit_report, "evaluate", right)
        plan = read_plan(config)
        run = AuditRun(plan=plan, moment=plan.now, period=find_period(plan.audit.window.period, plan.now))
        run = replace(run, moment=read_as_of(OCTOBER, plan.zone))
        run = replace(run, period=find_period(plan.audit.window.period, run.moment))
        with open_history(
            plan.database_url, head=plan.chain_head
        ) as history:  # without the lock, as on another machine
            made.append(run.perform(history, again=False))
        return right(*arguments, **options)

    monkeypatch.setattr(audit_report, "evaluate", wait_for_the_other)
    outcome = run_audit(config, as_of=OCTOBER)
    assert made[0].is_new
    assert not outcome.is_new
    assert outcome.record.id == made[0].record.id == 1
    assert not list((folder / "audits").rglob("*.untold"))
    assert not list((folder / "audits").rglob(".staging/*"))
    run_audit(config, as_of=NOVEMBER)
    assert len(read_history(config)) == 2


def test_a_run_killed_before_its_notification_is_notified_by_the_next(folder, monkeypatch):
    config = write_audit(
        folder,
        limits={"brier": 0.01},
        notify={
            "command": [sys.executable, "-c", "import sys; open('notified', 'a').write(sys.stdin.read())"]
        },
    )

    class Killed(BaseException):
        pass

    def die(*_arguments, **_options):
        raise Killed

    monkeypatch.setattr(after_run, "send_notifications", die)
    with pytest.raises(Killed):
        run_audit(config, as_of=OCTOBER)
    monkeypatch.undo()
    assert not (folder / "notified").exists()
    assert not run_audit(config, as_of=OCTOBER).is_new
    assert json.loads((folder / "notified").read_text())["status"] == "fail"
    run_audit(config, as_of=OCTOBER)
    json.loads((folder / "notified").read_text())  # one document: notified once


@pytest.mark.sweep
def test_a_pending_notification_without_a_record_is_removed(folder):
    config = write_audit(folder)
    run_audit(config, as_of=OCTOBER)
    pending = folder / "audits" / "locks" / "loans.untold"
    pending.write_text("7 2026-10\n")
    run_audit(config, as_of=OCTOBER)
    assert not pending.exists()


def test_a_failed_notification_is_sent_by_the_next_run(folder):
    command = [sys.executable, "-c", "import sys; sys.exit(0 if open('down').read() == 'up' else 1)"]
    config = write_audit(folder, limits={"brier": 0.01}, notify={"command": command})
    (folder / "down").write_text("down")
    assert len(run_audit(config, as_of=OCTOBER).problems) == 1
    assert len(run_audit(config, as_of=OCTOBER).problems) == 1
    (folder / "down").write_text("up")
    assert run_audit(config, as_of=OCTOBER).problems == ()
    (folder / "down").write_text("down")
    assert run_audit(config, as_of=OCTOBER).problems == ()


def test_a_failure_to_record_is_notified(folder, call, monkeypatch):
    monkeypatch.setenv("HISTORY", "postgresql://tokenuser9:hunter2222@127.0.0.1:9/hiddendb")
    config = write_audit(
        folder,
        history={"database": "${HISTORY}"},
        notify={
            "command": [sys.executable, "-c", "import sys; open('notified', 'w').write(sys.stdin.read())"]
        },
    )
    with pytest.raises(UsageError) as caught:
        run_audit(config, as_of=OCTOBER)
    notified = json.loads((folder / "notified").read_text())
    assert (notified["status"], notified["record"]) == ("failed", None)
    for text in (str(caught.value), json.dumps(notified)):
        assert not any(secret in text for secret in ("tokenuser9", "hunter2222", "hiddendb"))
    for command in ("history", "verify", "export", "site"):
        code, *printed = call("audit", command, config)
        assert code == ExitCode.USAGE
        assert not any(secret in "".join(printed) for secret in ("tokenuser9", "hunter2222", "hiddendb"))
    monkeypatch.setenv("HISTORY", "sqlite:///somewhere.db")
    with pytest.raises(UsageError, match="must not contain environment variables"):
        run_audit(config, as_of=OCTOBER)


def test_a_deleted_history_is_not_silently_started_again(folder):
    config = write_audit(folder)
    run_audit(config, as_of=OCTOBER)
    report = folder / "audits/reports/loans/2026-10.json"
    before = report.read_bytes()
    for path in (folder / "audits").glob("history.db*"):
        path.unlink()
    with pytest.raises(UsageError, match="does not match its chain head file"):
        run_audit(config, as_of=OCTOBER)
    assert report.read_bytes() == before
    assert verify(config).findings


def test_a_report_is_never_overwritten(folder):
    config = write_audit(folder)
    taken = folder / "audits/reports/loans/2026-10.json"
    taken.parent.mkdir(parents=True)
    taken.write_text("of somebody else")
    outcome = run_audit(config, as_of=OCTOBER)
    assert outcome.record.status is AuditStatus.DONE
    assert any("Another file is in the place of" in problem for problem in outcome.problems)
    assert taken.read_text() == "of somebody else"
    later = run_audit(config, as_of=NOVEMBER)
    assert later.files[0].exists()  # a file in the place of one report does not block another
    assert any("Another file is in the place of" in problem for problem in later.problems)


@pytest.mark.sweep
def test_a_folder_may_have_any_name(folder):
    odd = folder / "50% of what? #1 ä"
    odd.mkdir()
    shutil.copy(folder / "scores.csv", odd)
    config = write_audit(odd)
    run_audit(config, as_of=OCTOBER)
    assert (odd / "audits" / "history.db").is_file()
    assert_intact(config, records=1)


def test_a_period_is_audited_again_after_a_failure(folder):
    config, scores = write_audit(folder), (folder / "scores.csv").read_bytes()
    run_audit(config, as_of=OCTOBER)
    (folder / "scores.csv").unlink()
    assert run_audit(config, as_of=OCTOBER).record.status is AuditStatus.FAILED
    (folder / "scores.csv").write_bytes(scores)
    outcome = run_audit(config, as_of=OCTOBER)
    assert (outcome.is_new, outcome.record.status, outcome.record.attempt) == (True, AuditStatus.DONE, 3)
    assert not run_audit(config, as_of=OCTOBER).is_new


def test_leftover_staging_folders_block_nothing(folder):
    config = write_audit(folder)
    (folder / "audits/reports/loans/.staging/folder").mkdir(parents=True)
    assert run_audit(config, as_of=OCTOBER).problems == ()
    assert_intact(config, records=1)


@pytest.mark.sweep
def test_files_are_removed_from_the_folder_they_were_filed_in(folder):
    with fixed_time("2026-09-21T13:33:20+00:00"):
        run_audit(write_audit(folder, retention={"days": 30, "keep": 1}), as_of="2026-09-02")
    old = folder / "audits/reports/loans/2026-08.json"
    assert old.exists()
    elsewhere = {"formats": ["json"], "folder": "archive"}
    config = write_audit(folder, retention={"days": 30, "keep": 1}, output=elsewhere)
    run_audit(config, as_of=OCTOBER)
    assert not old.exists()
    assert (folder / "audits/archive/loans/2026-10.json").exists()
    assert_intact(config, records=3)


def test_a_report_names_its_audit_period_and_time(folder):
    config = write_audit(
        folder,
        time_zone="Europe/Berlin",
        output={"formats": ["html"]},
        report={**BRIEF, "title": "Monthly audit"},
    )
    (file,) = run_audit(config, as_of=OCTOBER).files
    page = file.read_text(encoding="utf-8")
    assert "<title>Monthly audit, 2026-10</title>" in page
    for text in ("loans", "2026-10-01 to 2026-10-31 (Europe/Berlin)", "2026-11-02T12:00:00+01:00"):
        assert text in page


@pytest.mark.sweep
def test_data_that_come_back_make_a_new_record(folder):
    config, first = write_audit(folder), (folder / "scores.csv").read_bytes()
    run_audit(config, as_of=OCTOBER)
    make_scored("2026-08-01", 122, rows=10, seed=9).to_csv(folder / "scores.csv", index=False)
    run_audit(config, as_of=OCTOBER)
    (folder / "scores.csv").write_bytes(first)
    assert run_audit(config, as_of=OCTOBER).record.attempt == 3


def read_history_of(config, secret):
    os.environ["LOANS_PASSWORD"] = secret
    try:
        return read_history(config)
    finally:
        del os.environ["LOANS_PASSWORD"]
