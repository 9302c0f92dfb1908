"""`audit verify`: a record that no run can have made is named, even if its hashes are correct.

Forgers here may insert rows into the database, with all its triggers active; the chain of hashes is correct.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import sys
import zlib
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from audit_tools import BRIEF, make_scored, write_audit

from scorereport._utils.clock import fixed_time
from scorereport.audit import run
from scorereport.audit.delivery import open_pending_notification
from scorereport.audit.integrity import RecordExaminer, verify_audit_history
from scorereport.audit.plan import read_plan
from scorereport.audit.record_agreement import _is_equal, check_agreement, read_results
from scorereport.audit.record_rules import AuditRequest, check_attached_results
from scorereport.audit.run import run_audit
from scorereport.configuration.judgement import judge
from scorereport.configuration.limit_verdicts import Judgement, LimitVerdict
from scorereport.configuration.measure_limits import find_measure
from scorereport.configuration.periods import Period, find_period, read_as_of
from scorereport.errors import ExitCode, UsageError
from scorereport.history import verification
from scorereport.history.audit_record import AuditStatus, Record, RecordedFile
from scorereport.history.record_rows import describe_columns
from scorereport.history.record_signature import sign_record
from scorereport.history.signing_keys import read_signing_key
from scorereport.history.store import open_history
from scorereport.history.trend.evidence_records import GroupShares
from scorereport.history.trend.snapshot import list_numbers

if TYPE_CHECKING:
    from pathlib import Path

SEPTEMBER, OCTOBER, NOVEMBER = "2026-10-02", "2026-11-02", "2026-12-02"
NOW = "2026-12-15T06:00:00+00:00"


@pytest.fixture(autouse=True)
def _december():
    """All periods of these tests are over."""
    with fixed_time(NOW):
        yield


@pytest.fixture(scope="module")
def audited(tmp_path_factory) -> Path:
    """Two audits, of September and October, that breach a limit."""
    folder = tmp_path_factory.mktemp("made")
    make_scored("2026-09-01", 91, rows=6).to_csv(folder / "scores.csv", index=False)
    config = write_audit(folder, limits={"brier": {"fail": 0.1}})
    with fixed_time("2026-11-15T06:00:00+00:00"):
        run_audit(config, as_of=SEPTEMBER)
        assert run_audit(config, as_of=OCTOBER).record.status is AuditStatus.FAIL
    return folder


@pytest.fixture
def config(audited, tmp_path) -> Path:
    """A copy that a test may change."""
    return shutil.copytree(audited, tmp_path / "copy") / "loans.toml"


@dataclass(kw_only=True)
class Forgery:
    """A record with its documents, begun as a copy of the last one."""

    record: Record
    documents: dict[str, bytes]

    @property
    def results(self) -> bytes:
        return self.documents[self.record.results_sha256]

    def set(self, **changes) -> None:
        """Change fields of the record."""
        self.record = replace(self.record, **changes)

    def set_results(self, results: bytes) -> None:
        """Put another results document in place of the one there is."""
        del self.documents[self.record.results_sha256]
        sha256 = hashlib.sha256(results).hexdigest()
        self.documents[sha256] = results
        files = tuple(replace(file, sha256=sha256, size=len(results)) for file in self.record.files)
        self.set(results_sha256=sha256, documents=tuple(sorted(self.documents)), files=files)

    def set_report(self, report) -> None:
        """Put another report in place of the one there is, and adapt the record to it."""
        self.set_results(report.to_json().encode())
        self.set(
            judgements=report.judgements,
            drifts=report.trend.drifts,
            snapshot=report.trend.snapshots[-1],
            status=AuditStatus(report.verdict),
            exit_code=int(str(report.verdict) == "fail"),
        )


def read_last(config) -> tuple[Record, dict[str, bytes]]:
    plan = read_plan(config)
    with open_history(plan.database_url, create=False) as history:
        (record,) = history.records(last=1)
        return record, {key: history.document(key) for key in record.documents}


def begin_forgery(config, *, as_of=NOVEMBER) -> Forgery:
    """The last record once more, of another period: its document is still of the old one."""
    record, documents = read_last(config)
    plan = read_plan(config)
    moment = read_as_of(as_of, plan.zone)
    period = find_period(plan.audit.window.period, moment)
    draft = replace(
        record,
        id=record.id + 1,
        previous=record.sha256,
        period=period,
        as_of=moment.isoformat(timespec="seconds"),
        started=NOW,
        finished=NOW,
        status=AuditStatus.PASS,
        exit_code=0,
        files=tuple(replace(file, name=f"loans/{period.label}.json") for file in record.files),
    )
    return Forgery(record=draft, documents=documents)


def insert(config, forgery) -> Record:
    """Add a record as anyone can who may insert rows and has the key: it is signed, triggers are active."""
    record = sign_record(forgery.record, read_signing_key(read_plan(config).signing_key))
    row = {**describe_columns(record), "sha256": record.sha256, "body": record.to_json()}
    with closing(sqlite3.connect(read_plan(config).history_file)) as connection, connection:
        for key, content in forgery.documents.items():
            packed = zlib.compress(content)
            connection.execute(
                "INSERT INTO documents SELECT ?, ?, ? WHERE ? NOT IN (SELECT sha256 FROM documents)",
                (key, hashlib.sha256(packed).hexdigest(), packed, key),
            )
        names = ", ".join(row)
        connection.execute(
            f"INSERT INTO audits ({names}) VALUES ({', '.join('?' * len(row))})", [*row.values()]
        )
    return record


def move_report(forgery):
    """The report of a forgery, with the period and the times of its record."""
    record, report = forgery.record, read_results(forgery.results)
    *past, now = report.trend.snapshots
    previous = record.id - 1
    trend = replace(
        report.trend,
        snapshots=(*past, replace(now, period=record.period, time=record.started)),
        as_of=record.as_of,
        last_id=previous,
        last_sha256=record.previous,
    )
    provenance = replace(report.provenance, time=record.started)
    return replace(report, trend=trend, provenance=provenance)


def improve(report, *, is_careful=True):
    """The same report with a better score, and all that follows from it."""
    evaluation = json.loads(report.to_json())["evaluation"]
    for model in evaluation["models"]:
        for score in model["scores"]["scores"]:
            if score["name"] == "brier":
                score["value"] = 0.05
        for part in model["scores"]["decompositions"] if is_careful else ():
            if part["name"] == "brier":
                part["score"] = 0.05
    text = json.dumps({**json.loads(report.to_json()), "evaluation": evaluation}).encode()
    better = read_results(text)
    *past, now = better.trend.snapshots
    numbers = tuple(list_numbers(better.evaluation))
    return replace(
        better,
        judgements=judge(better.evaluation, better.configuration.limits),
        results_sha256=better.evaluation.sha256,
        trend=replace(better.trend, snapshots=(*past, replace(now, numbers=numbers))),
    )


def verify(config):
    return verify_audit_history(read_plan(config))


def list_sentences(config) -> list[str]:
    return [finding.sentence for finding in verify(config).findings]


# Forged records


def forge_copy(_forgery):
    """Nothing but the period, the status and the name of the file."""


def forge_again(forgery):
    """The same audit once more: a new attempt with the old document."""
    trend = read_results(forgery.results).trend
    files = tuple(replace(f, name=f"loans/{trend.period.label}.2.json") for f in forgery.record.files)
    forgery.set(period=trend.period, as_of=trend.as_of, attempt=2, files=files)
    forgery.set(status=AuditStatus.FAIL, exit_code=1, started="2026-11-15T06:00:00+00:00")


def forge_without_results(forgery):
    del forgery.documents[forgery.record.results_sha256]
    forgery.set(results_sha256="", documents=tuple(forgery.documents), files=(), snapshot=None, judgements=())


def forge_made_up_results(forgery):
    forgery.set_results(b'{"brier": 0.01}\n')


def forge_verdict(forgery):
    report = move_report(forgery)
    judgements = tuple(replace(each, verdict="pass") for each in report.judgements)
    forgery.set_report(replace(report, judgements=judgements))


def forge_status(forgery):
    forgery.set_report(move_report(forgery))
    forgery.set(status=AuditStatus.PASS, exit_code=0)


def forge_evidence(forgery):
    """The document shows less evidence than the record has."""
    report = move_report(forgery)
    first, *rest = report.trend.evidence.series
    *points, last = first.points
    less = replace(first, points=(*points, replace(last, log_detector=last.log_detector - 1)))
    evidence = replace(report.trend.evidence, series=(less, *rest))
    forgery.set_report(replace(report, trend=replace(report.trend, evidence=evidence)))


def forge_judgements(forgery):
    """The record states other verdicts than its document."""
    forgery.set_report(move_report(forgery))
    judgements = tuple(replace(each, verdict="pass", value=0.01) for each in forgery.record.judgements)
    forgery.set(judgements=judgements, status=AuditStatus.PASS, exit_code=0)


def forge_numbers_without_hash(forgery):
    report = move_report(forgery)
    forgery.set_report(replace(improve(report), results_sha256=report.results_sha256))


def forge_score(forgery):
    """A number of the document is changed, and all verdicts follow from it."""
    forgery.set_report(improve(move_report(forgery), is_careful=False))


def forge_snapshot(forgery):
    """Later audits would compare with other numbers."""
    report = move_report(forgery)
    *past, now = report.trend.snapshots
    better = replace(now, numbers=tuple(replace(number, value=0.01) for number in now.numbers))
    forgery.set_report(replace(report, trend=replace(report.trend, snapshots=(*past, better))))


def forge_past(forgery):
    report = move_report(forgery)
    past, now = report.trend.snapshots
    forgery.set_report(replace(report, trend=replace(report.trend, snapshots=(replace(past, rows=9), now))))


def forge_no_files(forgery):
    forgery.set_report(improve(move_report(forgery)))
    forgery.set(files=())


def forge_files_that_are_not_there(forgery):
    forgery.set_report(improve(move_report(forgery)))


def forge_exit_code(forgery):
    forgery.set_report(move_report(forgery))
    forgery.set(exit_code=0)


def forge_failure(forgery):
    forgery.set(status=AuditStatus.FAILED, exit_code=4, reason="No rows.")


def forge_attempt(forgery):
    forgery.set_report(move_report(forgery))
    names = (f"loans/{forgery.record.period.label}.3.json",)
    files = tuple(replace(file, name=name) for file, name in zip(forgery.record.files, names, strict=True))
    forgery.set(attempt=3, files=files)


def forge_period(forgery):
    forgery.set_report(move_report(forgery))
    forgery.set(period=replace(forgery.record.period, start="2026-11-20"))


def forge_name(forgery):
    forgery.set(
        audit="other", files=tuple(replace(f, name=f"other/{f.name[6:]}") for f in forgery.record.files)
    )


def forge_removal(forgery):
    forgery.set(kind="retention", status=AuditStatus.DONE, removed=forgery.record.files, files=())


def forge_documents(forgery):
    forgery.set(documents=(forgery.record.configuration_sha256,))


def forge_backdated(forgery):
    forgery.set_report(move_report(forgery))
    forgery.set(started="2026-10-05T06:00:00+00:00", finished="2026-10-05T06:00:00+00:00")


def forge_future(forgery):
    forgery.set_report(move_report(forgery))
    forgery.set(finished="2031-01-01T00:00:00+00:00")


def forge_reversed(forgery):
    forgery.set_report(move_report(forgery))
    forgery.set(started="2026-12-15T09:00:00+00:00")


def forge_times(forgery):
    forgery.set(started="yesterday")


UNLIKE = "Record 3 does not agree with its results document: "
FORGERIES = {
    forge_copy: f"{UNLIKE}`period` (2026-11, 2026-11-01 to 2026-11-30, not 2026-10, 2026-10-01 to "
    "2026-10-31), `as_of` (2026-12-02T12:00:00+00:00, not 2026-11-02T12:00:00+00:00), `status` (pass, not "
    "fail).",
    forge_again: "Record 3 has the results document of record 2.",
    forge_without_results: "Record 3 has the status pass, but lacks results_sha256, files, snapshot.",
    forge_made_up_results: "Record 3 has a results document that cannot be read: It is not a valid report "
    "document: evaluation: Field required (2 problems).",
    forge_verdict: "Record 3 has verdicts that do not follow from its numbers and limits.",
    forge_status: f"{UNLIKE}`status` (pass, not fail).",
    forge_evidence: "Record 3 has other evidence about logit than its results document.",
    forge_judgements: f"{UNLIKE}`status` (pass, not fail), `judgements`.",
    forge_numbers_without_hash: "Record 3 has a results document whose numbers do not have the hash that it "
    "states.",
    forge_score: "Record 3 has a results document with several values for one score: logit brier.",
    forge_snapshot: "Record 3 has a snapshot that does not match its results: `numbers`.",
    forge_past: "Record 3 compares with an audit of 2026-09 that is in no earlier record of loans.",
    forge_no_files: "Record 3 has the status pass, but lacks files.",
    forge_files_that_are_not_there: "The file {reports}/loans/2026-11.json of record 3 is missing.",
    forge_exit_code: "Record 3 has the exit code 0, but that of fail is 1.",
    forge_failure: "Record 3 has the status of a failed run, but has rows, data_sha256, results_sha256, "
    "templates_sha256, files, snapshot, source, source_sha256, judgements.",
    forge_attempt: "Record 3 is attempt 3 of its period, but the next one is 1.",
    forge_period: "Record 3 is of the period 2026-11, 2026-11-20 up to, not including, 2026-12-01, but "
    "`previous calendar month` as of 2026-12-02T12:00:00+00:00 is 2026-11, 2026-11-01 to 2026-11-30.",
    forge_name: "Record 3 is of the audit other, but its configuration is of loans.",
    forge_removal: "Record 3 is of a removal of files, but has rows, source, data_sha256, source_sha256, "
    "results_sha256, templates_sha256, judgements, snapshot, summary, evidence.",
    forge_documents: "Record 3 does not name exactly its results and its configuration as documents.",
    forge_backdated: "Record 3 ended at 2026-10-05T06:00:00+00:00, before record 2, which ended at "
    "2026-11-15T06:00:00+00:00: the clock was set, or one of the times is wrong.",
    forge_future: "Record 3 ended at 2031-01-01T00:00:00+00:00, but it is {now} now.",
    forge_reversed: "Record 3 ended at 2026-12-15T06:00:00+00:00, before it started at "
    "2026-12-15T09:00:00+00:00.",
    forge_times: "Record 3 has times that cannot be read, 'yesterday' and '2026-12-15T06:00:00+00:00'.",
}


@pytest.mark.sweep(after=10)
@pytest.mark.parametrize(
    ("forge", "sentence"), FORGERIES.items(), ids=[forge.__name__ for forge in FORGERIES]
)
def test_a_record_that_no_run_can_have_made_is_named(config, forge, sentence):
    forgery = begin_forgery(config)
    forge(forgery)
    insert(config, forgery)
    expected = sentence.format(reports=read_plan(config).reports, now=NOW)
    assert expected in list_sentences(config)


def test_an_inserted_record_is_named_at_the_terminal_and_no_run_goes_on_after_it(config, call):
    forgery = begin_forgery(config)
    insert(config, forgery)
    code, output, _ = call("audit", "verify", config)
    assert code == ExitCode.LIMIT_BREACHED
    assert FORGERIES[forge_copy] in output.splitlines()
    assert "NOT intact, " in output
    head = read_plan(config).chain_head.read_text()
    with pytest.raises(
        UsageError,
        match=r"^The history .* has records that are not noted in the file .*, and they are not valid: "
        r"Record 3 .* Nothing was recorded\. .* To accept the records as they are, write `3 [0-9a-f]{64}` "
        r"into the file\.$",
    ):
        run_audit(config, as_of=NOVEMBER)
    assert verify(config).records == 3
    assert read_plan(config).chain_head.read_text() == head


def test_an_inserted_record_is_still_named_after_an_honest_run(config, monkeypatch):
    insert(config, begin_forgery(config))
    monkeypatch.setattr(run, "update_chain_head", lambda *_: [])  # as versions before this did
    outcome = run_audit(config, as_of=NOVEMBER, again=True)
    assert outcome.record.id == 4
    assert outcome.problems == (
        f"The chain head file {read_plan(config).chain_head} was not written because it lacks record 3, "
        "which was not appended by a run that ended; the next run verifies it.",
    )
    assert FORGERIES[forge_copy] in list_sentences(config)
    assert verify(config).warnings


def test_two_honest_audits_are_intact(config):
    found = verify(config)
    assert (found.findings, found.warnings, found.notes) == ((), (), ())
    run_audit(config, as_of=NOVEMBER)
    run_audit(config, as_of=OCTOBER, again=True)  # of an earlier period, later
    assert run_audit(config, as_of="2025-01-02").record.status is AuditStatus.FAILED
    found = verify(config)
    assert (found.records, found.findings, found.warnings, found.notes) == (5, (), (), ())


def remove_evidence(forgery, *notes, **changes) -> None:
    """Leave out the evidence of a forgery, with other notes in its document."""
    report = read_results(forgery.results)
    forgery.set_report(replace(report, trend=replace(report.trend, evidence=None, notes=notes)))
    forgery.set(evidence=None, **changes)


NO_ROWS = "No evaluated row is of 2026-11-01 to 2026-11-30."
WITHOUT_EVIDENCE = (
    "Record 3 has no evidence, though its configuration asks for it, days of its period count in no earlier "
    "audit, and its results document gives no reason."
)


@pytest.mark.parametrize(
    ("notes", "expected"),
    [
        ((), [WITHOUT_EVIDENCE]),
        (("The clusters differ.", "No outcome of 2026-11 is final yet."), [WITHOUT_EVIDENCE]),
        ((NO_ROWS,), []),
    ],
    ids=["no note", "other notes", "no rows"],
)
def test_a_record_without_evidence_for_no_reason_is_named(notes, expected, config):
    forgery = begin_forgery(config)
    forge_files_that_are_not_there(forgery)
    remove_evidence(forgery, *notes)
    insert(config, forgery)
    (read_plan(config).reports / "loans" / "2026-11.json").write_bytes(forgery.results)
    assert list_sentences(config) == expected


def change_first(records, **changes):
    return (replace(records[0], **changes), *records[1:])


@pytest.mark.parametrize(
    "change",
    [
        lambda s: replace(s, size=s.size + 1e-9),
        lambda s: replace(s, rows=s.rows + 1),
        lambda s: replace(s, labels=("a",)),
        lambda s: replace(s, period=replace(s.period, end="2026-11-02")),
        lambda s: replace(s, numbers=s.numbers[1:]),
        lambda s: replace(s, numbers=change_first(s.numbers, overfit=-0.0)),
        lambda s: replace(s, numbers=change_first(s.numbers, label="another")),
        lambda s: replace(s, distributions=change_first(s.distributions, mean=0.5)),
        lambda s: replace(s, distributions=change_first(s.distributions, bins=(1,))),
        lambda s: replace(s, groups=(GroupShares(column="region", values=("n",), weights=(1.0,)),)),
    ],
)
def test_every_value_of_a_snapshot_is_compared_with_the_document(change, config):
    record, documents = read_last(config)
    results = documents[record.results_sha256]
    assert check_agreement(record, results, None).wrong == []
    changed = replace(record, snapshot=change(record.snapshot))
    assert "`snapshot`" in check_agreement(changed, results, None).wrong[0]


def test_a_record_of_another_version_without_evidence_is_not_named(config):
    forgery = begin_forgery(config)
    forge_files_that_are_not_there(forgery)
    report = read_results(forgery.results)
    software = {**report.provenance.software, "scorereport": "0.1.0"}
    forgery.set_report(replace(report, provenance=replace(report.provenance, software=software)))
    remove_evidence(forgery, software=software)
    insert(config, forgery)
    (read_plan(config).reports / "loans" / "2026-11.json").write_bytes(forgery.results)
    assert WITHOUT_EVIDENCE not in list_sentences(config)


@pytest.mark.sweep
def test_a_forgery_that_needs_keys_to_be_detected_leaves_a_lag(config, call):
    """A forger who may write everywhere and writes all that a run writes is revealed by the lag alone."""
    forgery = begin_forgery(config)
    forge_files_that_are_not_there(forgery)
    remove_evidence(forgery, NO_ROWS)  # evidence would have to fit the chain
    insert(config, forgery)
    (read_plan(config).reports / "loans" / "2026-11.json").write_bytes(forgery.results)
    assert verify(config).findings == ()
    code, output, _ = call("audit", "verify", config)
    lag = "The chain head file names record 2, but the history ends with record 3: "
    assert code == ExitCode.WARNINGS
    assert output.startswith(lag)
    assert "3 records and 3 files: intact." in output
    code, output, _ = call("audit", "verify", config, "--json")
    assert code == ExitCode.WARNINGS
    assert json.loads(output)["warnings"][0].startswith(lag)
    outcome = run_audit(config, as_of=OCTOBER, again=True)
    assert outcome.problems == (
        f"Record 3 was not noted in the file {read_plan(config).chain_head}, and no run is known to have "
        "been killed after it appended a record. Documents and files agree; make sure that somebody ran the "
        "audit.",
    )
    assert verify(config).warnings == ()


@pytest.mark.sweep
def test_a_forged_failure_that_states_nothing_wrong_leaves_a_lag(config, call):
    forgery = begin_forgery(config)
    kept = {forgery.record.configuration_sha256: forgery.documents[forgery.record.configuration_sha256]}
    draft = Record(
        **{name: getattr(forgery.record, name) for name in ("id", "previous", "audit", "period", "as_of")},
        **{
            name: getattr(forgery.record, name)
            for name in ("configuration", "configuration_sha256", "folder")
        },
        status=AuditStatus.FAILED,
        exit_code=4,
        reason="No rows.",
        started=NOW,
        finished=NOW,
        documents=tuple(kept),
    )
    insert(config, Forgery(record=draft, documents=kept))
    assert verify(config).findings == ()
    assert call("audit", "verify", config)[0] == ExitCode.WARNINGS
    (problem,) = run_audit(config, as_of=NOVEMBER).problems
    assert problem.startswith("Record 3 was not noted in the file ")


# The file `head`


def roll_back(config) -> None:
    """The file `head` as it was before the last record."""
    plan = read_plan(config)
    with open_history(plan.database_url) as history:
        first = history.get(1)
    plan.chain_head.write_text(f"1 {first.sha256}\n")


def test_a_run_that_was_killed_before_it_wrote_the_head_is_not_an_alarm(config):
    roll_back(config)
    record, _ = read_last(config)
    open_pending_notification(read_plan(config)).write(record)
    assert verify(config).warnings
    assert run_audit(config, as_of=NOVEMBER).problems == ()
    assert (verify(config).findings, verify(config).warnings) == ((), ())


def test_a_head_written_during_verification_leaves_no_lag(config, monkeypatch):
    """The first read of the file finds the head before the last run, the second one its own."""
    plan = read_plan(config)
    text = plan.chain_head.read_text()
    roll_back(config)
    read = verification.read_chain_head

    def read_and_write(path):
        head = read(path)
        path.write_text(text)
        return head

    monkeypatch.setattr(verification, "read_chain_head", read_and_write)
    found = verify(config)
    assert (found.findings, found.warnings) == ((), ())


def test_people_are_notified_of_records_that_were_not_noted(config, tmp_path):
    seen = tmp_path / "seen.json"
    program = f"import sys; open({str(seen)!r}, 'w').write(sys.stdin.read())"
    notify = {"on": ["pass"], "command": [sys.executable, "-c", program]}
    write_audit(config.parent, limits={"brier": {"fail": 0.1}}, notify=notify)
    roll_back(config)
    (problem,) = run_audit(config, as_of=NOVEMBER).problems
    assert problem.startswith("Record 2 was not noted in the file ")
    notification = json.loads(seen.read_text())
    assert (notification["status"], notification["alarms"]) == ("fail", [problem])


@pytest.mark.parametrize("kept", [True, False])
def test_a_missing_head_is_written_again_from_valid_records(config, kept):
    plan = read_plan(config)
    plan.chain_head.unlink()
    if not kept:
        (plan.reports / "loans" / "2026-09.json").unlink()
        with pytest.raises(
            UsageError, match=r"they are not valid: The file .*2026-09\.json of record 1 is missing"
        ):
            run_audit(config, as_of=NOVEMBER)
        assert not plan.chain_head.exists()
        return
    (problem,) = run_audit(config, as_of=NOVEMBER).problems
    assert problem.startswith("Records 1, 2 were not noted in the file ")
    assert plan.chain_head.read_text().startswith("3 ")


def test_a_head_that_cannot_be_written_is_a_problem_of_the_run(config, call):
    plan = read_plan(config)
    plan.chain_head.unlink()
    plan.chain_head.mkdir()
    code, _, stderr = call("audit", "run", config, "--as-of", NOVEMBER)
    assert code == ExitCode.LIMIT_BREACHED
    file = f"The chain head file {plan.chain_head}, which names the last record"
    assert f"scorereport: {file}, could not be written: " in stderr


# Times


def test_no_environment_variable_backdates_a_record(config, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1500000000")
    record = run_audit(config, as_of=NOVEMBER).record
    report = read_results((read_plan(config).reports / "loans" / "2026-11.json").read_bytes())
    assert {record.started, record.finished, report.provenance.time} == {NOW}
    assert verify(config).findings == ()


def make_record(number, **changes) -> Record:
    given = {
        "id": number,
        "audit": "loans",
        "period": Period(label=f"2026-{number:02}", start=None, end=f"2026-{number:02}-28"),
        "as_of": f"2026-{number:02}-27",
        "status": AuditStatus.FAILED,
        "exit_code": 2,
        "started": f"2026-{number:02}-28T00:00:00+00:00",
        "finished": f"2026-{number:02}-28T00:01:00+00:00",
        "machine": "Linux x86_64",
        "configuration_sha256": "c",
        "documents": ("c",),
    }
    return Record(**given | changes)


def examine(*records) -> RecordExaminer:
    examiner = RecordExaminer()
    examiner.start(records, is_complete=True, now=NOW)
    for place in range(len(records)):
        examiner.findings += examiner.examine(place).findings
    return examiner


BACK = {
    "as_of": "2026-01-01",
    "started": "2026-01-01T00:00:00+00:00",
    "finished": "2026-01-01T00:00:00+00:00",
}


def test_clocks_that_differ_a_little_are_not_a_finding():
    earlier = make_record(1, finished="2026-01-28T00:04:00+00:00")
    later = make_record(2, started="2026-01-28T00:00:10+00:00", finished="2026-01-28T00:00:00+00:00")
    assert examine(earlier, later).findings == []


@pytest.mark.parametrize("changes", [{"home": "there"}, {"machine": "Linux aarch64"}])
def test_a_time_that_runs_backwards_between_machines_is_a_note(changes):
    examiner = examine(make_record(1), make_record(2, **BACK, **changes), make_record(3))
    assert examiner.findings == []
    assert examiner.notes == [
        "No record is signed: an earlier version wrote them.",
        "Record 2 ended at 2026-01-01T00:00:00+00:00, before record 1 of another machine, which ended at "
        "2026-01-28T00:01:00+00:00: their clocks differ.",
    ]


def test_a_time_that_runs_backwards_on_a_machine_is_named_whatever_lies_between():
    between = make_record(2, home="there")
    (finding,) = examine(make_record(1), between, make_record(3, **BACK)).findings
    assert finding.subject == "record 3"
    assert finding.sentence.startswith("Record 3 ended at 2026-01-01T00:00:00+00:00, before record 1, which ")


def test_a_text_that_is_not_written_as_records_are_is_named():
    record = make_record(1)
    object.__setattr__(record, "_text", record.to_json().replace('"id":1', '"id": 1'))
    (finding,) = examine(record).findings
    assert finding.sentence == "Record 1 is not written as runs write records."


# The future


def test_a_day_of_the_future_makes_no_record_and_no_notification(config, call, tmp_path):
    seen = tmp_path / "seen"
    notify = {"command": [sys.executable, "-c", f"open({str(seen)!r}, 'w')"]}
    write_audit(config.parent, limits={"brier": {"fail": 0.1}}, notify=notify, time_zone="Europe/Berlin")
    code, _, stderr = call("audit", "run", config, "--as-of", "2030-01-01")
    assert code == ExitCode.USAGE
    assert stderr == (
        "scorereport: `as_of` must not lie in the future; got 2030-01-01, and it is 2026-12-15 now in "
        "Europe/Berlin.\n"
    )
    assert verify(config).records == 2
    assert not seen.exists()


def test_a_record_of_the_future_that_an_older_version_made_is_a_note(config, monkeypatch):
    monkeypatch.setattr(run, "check_not_ahead", lambda moment, _: moment)
    run_audit(config, as_of="2030-01-01")
    found = verify(config)
    assert (found.findings, found.warnings) == ((), ())
    assert found.notes == (
        "Record 3 is of the period 2029-12, which was in the future when it was written; earlier versions "
        "accepted this. Its status does not count on the site.",
    )


# Rules of other versions, and files


def test_verdicts_of_another_version_are_a_note(config):
    forgery = begin_forgery(config)
    forge_verdict(forgery)
    report = read_results(forgery.results)
    software = {**report.provenance.software, "scorereport": "0.0.1"}
    forgery.set_report(
        replace(
            report,
            provenance=replace(report.provenance, software=software),
            trend=replace(report.trend, evidence=None),  # an alarm would turn the verdict into a warning
        )
    )
    forgery.set(software=software, evidence=None)
    found = check_agreement(forgery.record, forgery.results, None)
    assert found.wrong == []
    assert found.unconfirmed == [
        "has verdicts that this version of scorereport would not give; it was written by 0.0.1"
    ]


def _state_raw(judgement):
    """A judgement as version 0.1 recorded it: the raw component beside the interval of the corrected one."""
    return replace(judgement, label=judgement.label.removeprefix("corrected "), value=judgement.value + 0.01)


def test_raw_components_of_version_0_1_are_not_a_finding():
    measure = find_measure("brier_miscalibration")
    now = Judgement(
        **{"model": "m", "group": "", "measure": measure.name, "label": measure.label, "value": 0.002},
        **{"lower": 0.0, "upper": 0.004, "level": 0.95, "warn_lower": None, "warn_upper": None},
        **{"fail_lower": None, "fail_upper": 0.1, "verdict": LimitVerdict.PASS, "sentence": ""},
    )
    assert _is_equal(now, _state_raw(now), is_same_version=False)
    assert not _is_equal(now, _state_raw(now), is_same_version=True)
    assert not _is_equal(now, replace(_state_raw(now), upper=0.005), is_same_version=False)
    assert not _is_equal(now, replace(now, value=0.5), is_same_version=False)


def test_last_digits_of_another_processor_are_not_a_finding(config):
    record, documents = read_last(config)
    report = read_results(documents[record.results_sha256])
    shifted = [replace(each, value=each.value * (1 + 1e-12)) for each in report.judgements]
    assert isinstance(shifted[0], Judgement)
    *past, now = report.trend.snapshots
    numbers = tuple(replace(number, value=number.value * (1 + 1e-12)) for number in now.numbers)
    other = replace(
        report,
        judgements=tuple(shifted),
        trend=replace(report.trend, snapshots=(*past, replace(now, numbers=numbers))),
    )
    forgery = Forgery(record=record, documents=documents)
    forgery.set_report(other)
    found = check_agreement(forgery.record, forgery.results, None)
    assert (found.wrong, found.unconfirmed) == ([], [])


def test_files_carry_the_results_of_their_record(audited, tmp_path):
    folder = shutil.copytree(audited, tmp_path / "forms")
    config = write_audit(folder, "forms", report=BRIEF, output={"formats": ["pdf", "html"]})
    outcome = run_audit(config, as_of=OCTOBER)
    assert verify(config).findings == ()
    other = replace(outcome.record, results_sha256="a" * 64)
    request = AuditRequest(name="forms", window="all", formats=(), states_hashes=True)
    claims = {file.suffix: list(check_attached_results(other, file, request)) for file in outcome.files}
    assert claims == {
        ".pdf": ["has the file 2026-10.pdf, to which other results are attached"],
        ".html": ["has the file 2026-10.html, which states the hash of other results"],
    }
    silent = replace(request, states_hashes=False)  # own templates, or a report without its provenance
    assert [list(check_attached_results(other, file, silent)) for file in outcome.files] == [
        claims[".pdf"],
        [],
    ]


def test_a_json_report_that_is_not_the_document_is_named(config):
    forgery = begin_forgery(config)
    forgery.set_report(move_report(forgery))
    forgery.set(files=(RecordedFile(name="loans/2026-11.json", sha256="a" * 64, size=1),))
    insert(config, forgery)
    assert "Record 3 has the file loans/2026-11.json, which is not its results document." in list_sentences(
        config
    )


# Machines that share a server


@pytest.mark.sweep
def test_records_of_other_machines_are_a_note_and_own_ones_a_warning(
    audited, tmp_path, postgres_url, monkeypatch
):
    folder = shutil.copytree(audited, tmp_path / "shared")
    shutil.rmtree(folder / "audits")
    monkeypatch.setenv("HISTORY", postgres_url)
    history = {"database": "${HISTORY}"}
    ours = write_audit(folder, "ours", folder="here", history=history)
    theirs = write_audit(folder, "theirs", folder="there", history=history)
    run_audit(ours, as_of=SEPTEMBER)
    before = read_plan(ours).chain_head.read_text()
    run_audit(theirs, as_of=SEPTEMBER)
    found = verify(ours)
    lag = "The chain head file names record 1, but the history ends with record"
    assert (found.findings, found.warnings) == ((), ())
    assert found.notes[0] == f"{lag} 2: others write to the history as well."
    assert run_audit(ours, as_of=OCTOBER).problems == ()
    read_plan(ours).chain_head.write_text(before)
    (warning,) = verify(ours).warnings
    assert warning.startswith(f"{lag} 3: a run was killed before it wrote the file, ")
    (problem,) = run_audit(ours, as_of=NOVEMBER).problems
    assert problem.startswith("Record 3 was not noted in the file ")
    for config in (ours, theirs):
        assert (verify(config).findings, verify(config).warnings) == ((), ())
