"""`audit run`: one record for each period and its data, done or failed, and what follows from it."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from audit_tools import make_scored, run_command, write_audit

from scorereport.audit import making
from scorereport.audit.filing import Shelf
from scorereport.audit.inspecting import verify_plan
from scorereport.audit.planning import read_plan
from scorereport.audit.running import run_audit
from scorereport.document import encode
from scorereport.errors import ExitCode, UsageError
from scorereport.history.records import BEGINNING, FiledFile, Status
from scorereport.history.store import open_history
from scorereport.report.record import read_report

if TYPE_CHECKING:
    from pathlib import Path

OCTOBER, NOVEMBER = "2026-11-02", "2026-12-02"


@pytest.fixture
def folder(tmp_path) -> Path:
    make_scored("2026-08-01", 122, rows=10).to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path


def read_history(config):
    plan = read_plan(config)
    with open_history(plan.database_url, head=plan.head, create=False) as history:
        return history.records()


def verify(config):
    plan = read_plan(config)
    with open_history(plan.database_url, head=plan.head, create=False) as history:
        return verify_plan(plan, history)


def assert_intact(config, *, records):
    found = verify(config)
    assert found.findings == ()
    assert found.records == records


def test_a_run_files_a_report_and_a_record(folder):
    config = write_audit(folder, limits={"brier": 0.3})
    outcome = run_audit(config, as_of=OCTOBER, command="scorereport audit run loans.toml")
    record = outcome.record
    assert outcome.is_new
    assert (record.id, record.previous, record.attempt) == (1, BEGINNING, 1)
    assert (record.audit, record.period.label, record.rows) == ("loans", "2026-10", 310)
    assert (record.status, record.exit_code, record.reason) == (Status.PASS, 0, "")
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
    assert record.status is Status.DONE  # there are no limits


def test_a_second_run_answers_from_the_record(folder):
    config = write_audit(folder, limits={"brier": 0.01})
    first = run_audit(config, as_of=OCTOBER)
    second = run_audit(config, as_of="2026-11-30T23:59")
    assert (first.is_new, second.is_new) == (True, False)
    assert second.record.sha256 == first.record.sha256
    assert second.files == first.files
    assert second.record.exit_code == ExitCode.LIMIT_BREACHED
    assert_intact(config, records=1)


def test_other_data_another_configuration_or_a_wish_make_a_new_record(folder):
    config = write_audit(folder)
    run_audit(config, as_of=OCTOBER)
    again = run_audit(config, as_of=OCTOBER, again=True)
    assert (again.record.id, again.record.attempt, again.files[0].name) == (2, 2, "2026-10-2.json")
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
    assert {drift.measure for drift in record.drifts} == {
        "brier",
        "brier_miscalibration",
        "prevalence",
        "forecasts",
    }
    assert not trend.has_drifted
    assert trend.looks == 12


def test_drift_is_a_warning(folder):
    old = make_scored("2026-08-01", 61, rows=30)
    new = make_scored("2026-10-01", 31, rows=30, seed=2)
    new["y"] = (new["logit"] < 0.5).astype(int)
    pd.concat([old, new]).to_csv(folder / "scores.csv", index=False)
    config = write_audit(folder, evaluation={"resamples": 50}, limits={"brier": 1.0})
    for as_of in ("2026-09-01", "2026-10-01"):
        assert run_audit(config, as_of=as_of).record.status is Status.PASS
    record = run_audit(config, as_of=OCTOBER).record
    assert record.status is Status.WARN
    assert record.exit_code == ExitCode.DONE
    assert any(drift.has_drifted for drift in record.drifts)
    assert run_command("run", config, "--as-of", OCTOBER, "--strict").returncode == ExitCode.WARNINGS


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
    assert (record.status, record.exit_code, record.files) == (Status.FAILED, code, ())
    assert reason in record.reason
    (folder / "scores.csv").write_bytes(scores)
    mended = run_audit(config, as_of=OCTOBER).record
    assert (mended.status, mended.attempt) == (Status.DONE, 2)
    assert_intact(config, records=2)


def test_a_required_certificate_that_cannot_be_had_is_a_failure(folder, monkeypatch):
    class Absent:
        verdict = "not certified"
        attempts = ()

    monkeypatch.setattr("scorereport.reference.certifying.certify", lambda _evaluation: Absent())
    config = write_audit(folder, certify="required")
    record = run_audit(config, as_of=OCTOBER).record
    assert (record.status, record.exit_code) == (Status.FAILED, ExitCode.CERTIFICATE_FAILED)
    assert "requires a certificate" in record.reason


def test_an_error_that_nobody_foresaw_is_recorded_with_its_kind(folder, monkeypatch):
    def stumble(*_arguments, **_options):
        raise ZeroDivisionError("division by the secret hunter22")

    monkeypatch.setenv("HOOK", "hunter22")
    monkeypatch.setattr(making, "evaluate", stumble)
    config = write_audit(folder, notify={"on": ["pass"], "webhook": {"url": "http://127.0.0.1/${HOOK}"}})
    outcome = run_audit(config, as_of=OCTOBER)
    assert outcome.record.status is Status.FAILED
    assert outcome.record.reason == "ZeroDivisionError: division by the secret ***"
    assert "Traceback" in outcome.failure
    assert "hunter22" not in outcome.failure


def test_full_disk_leaves_a_record_and_nothing_else(folder, monkeypatch):
    config = write_audit(folder)
    run_audit(config, as_of="2026-09-02")
    before = sorted((folder / "audits" / "reports").rglob("*"))

    def fill(*_arguments):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("scorereport.files._fill", fill)
    record = run_audit(config, as_of=OCTOBER).record
    monkeypatch.undo()
    assert record.status is Status.FAILED
    assert record.reason.endswith("audits/reports/loans cannot be written: No space left on device.")
    assert not list((folder / "audits").rglob(".staging"))
    run_audit(config, as_of=NOVEMBER)
    assert_intact(config, records=3)
    after = sorted((folder / "audits" / "reports").rglob("*"))
    assert [path for path in after if "2026-11" not in path.name] == before


def test_files_that_were_kept_long_enough_go_and_the_history_says_so(folder, monkeypatch):
    config = write_audit(folder, retention={"days": 30, "keep": 1})
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")  # 2026-09-21
    run_audit(config, as_of="2026-09-02")
    run_audit(config, as_of="2026-10-02")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1797000000")  # 2026-12-11
    run_audit(config, as_of=OCTOBER)
    assert [p.name for p in sorted((folder / "audits/reports/loans").iterdir())] == ["2026-10.json"]
    *_, removal = read_history(config)
    assert (removal.kind, removal.audit) == ("retention", "loans")
    assert [file.name for file in removal.removed] == ["loans/2026-08.json", "loans/2026-09.json"]
    assert_intact(config, records=4)
    assert not run_audit(config, as_of="2026-09-02").is_new  # its results are in the history still
    run_audit(config, as_of=NOVEMBER)
    assert_intact(config, records=5)


def test_a_record_that_was_tampered_with_removes_nothing_else(folder):
    shelf = Shelf(reports=folder / "reports", audit="loans")
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
    shelf.remove([FiledFile(name=name, sha256="0" * 64, size=1) for name in names])
    assert ours.exists()  # what was changed since is no more the file that was filed
    shelf.remove([FiledFile(name=name, sha256=sha256, size=1) for name in names])
    assert all(path.exists() for path in precious)
    assert not ours.exists()


def test_several_audits_share_a_history(folder):
    first = write_audit(folder, "first")
    second = write_audit(folder, "second", window={"column": "day", "period": "last 7 days"})
    assert run_audit(first, as_of=OCTOBER).record.id == 1
    record = run_audit(second, as_of=OCTOBER).record
    assert (record.id, record.period.label) == (2, "2026-10-26--2026-11-01")
    assert record.previous == read_history(first)[0].sha256
    assert_intact(first, records=2)


def test_two_configurations_of_one_name_are_told_apart(folder):
    run_audit(write_audit(folder, "first", name="loans"), as_of=OCTOBER)
    outcome = run_audit(write_audit(folder, "second", name="loans"), as_of=NOVEMBER)
    (problem,) = outcome.problems
    assert problem.startswith("The audit loans was last run by first.toml, and now by second.toml: ")
    assert run_audit(folder / "second.toml", as_of="2026-10-02").problems == ()


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
    assert record.status is Status.PASS
    assert {drift.measure for drift in record.drifts} >= {"rps", "forecasts"}


def test_a_configuration_that_is_wrong_makes_no_record(folder):
    config = write_audit(folder, limits={"brier": 3.0})
    with pytest.raises(UsageError, match=r"`limits\.brier\.fail` must lie in \[0, 1\]"):
        run_audit(config, as_of=OCTOBER)
    assert not (folder / "audits").exists()


def test_secrets_are_nowhere(folder):
    secret = "correct-horse-battery"
    config = write_audit(
        folder,
        source={"database": "postgresql://me:${LOANS_PASSWORD}@127.0.0.1:9/x", "table": "loans"},
        notify={"on": ["failed"], "webhook": {"url": "http://127.0.0.1:9/${LOANS_PASSWORD}"}},
    )
    done = run_command("run", config, "--as-of", OCTOBER, LOANS_PASSWORD=secret)
    assert done.returncode in (ExitCode.USAGE, ExitCode.DATA_REFUSED)
    (record,) = read_history_of(config, secret)
    assert record.status is Status.FAILED
    written = [p.read_bytes() for p in (folder / "audits").rglob("*") if p.is_file()]
    assert written
    assert secret.encode() not in b"".join([*written, done.stdout.encode(), done.stderr.encode()])


def read_history_of(config, secret):
    os.environ["LOANS_PASSWORD"] = secret
    try:
        return read_history(config)
    finally:
        del os.environ["LOANS_PASSWORD"]
