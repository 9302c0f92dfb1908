"""`audit approve` and `approve_limits`: two people with a key each, and attacks that `verify` names."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from audit_tools import BRIEF, make_scored, write_audit
from typer.testing import CliRunner

from scorereport._utils.clock import fixed_time
from scorereport.audit.annulment import annul_record
from scorereport.audit.audit_status import read_audit_state
from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.limit_approval import approve_limits
from scorereport.audit.plan import read_plan
from scorereport.audit.run import run_audit
from scorereport.audit.signed_history import open_signed_history
from scorereport.cli.application import app
from scorereport.configuration.limit_changes import LimitChange
from scorereport.errors import UsageError
from scorereport.history.audit_record import AuditStatus, LimitApproval
from scorereport.history.signing_keys import create_signing_key
from scorereport.history.store import open_history
from scorereport.history.trusted_keys import add_trusted_key

if TYPE_CHECKING:
    from pathlib import Path

    from scorereport.history.audit_record import Record

NOW = "2026-12-15T06:00:00+00:00"
STRICT = {"brier": {"fail": 0.22}, "set_by": "Risk"}
LOOSE = {"brier": {"fail": 0.25}, "set_by": "Risk"}
LOOSER = "brier.fail from 0.22 to 0.25 (looser)"


@pytest.fixture(autouse=True)
def _december():
    with fixed_time(NOW):
        yield


class People:
    """Alice and Bob work with one folder; each has a key of their own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self._monkeypatch = folder, monkeypatch
        make_scored("2026-08-01", 122, rows=10).to_csv(folder / "scores.csv", index=False)
        self.config = self.write(limits=STRICT)
        self.keys = {name: self._add(name) for name in ("alice", "bob")}
        self.be("alice")

    def _add(self, name: str) -> str:
        self.be(name)
        plan = read_plan(self.config)
        key = create_signing_key(plan.signing_key)
        add_trusted_key(plan.trusted_keys, key.fingerprint, name)
        return key.fingerprint

    def be(self, name: str) -> None:
        self._monkeypatch.setenv("XDG_CONFIG_HOME", str(self.folder / name))

    def write(self, name: str = "loans", **tables) -> Path:
        return write_audit(self.folder, name, **({"report": BRIEF} | tables))

    def run(self, who: str, period: str, **options) -> Record:
        self.be(who)
        return run_audit(self.config, period=period, **options).record

    def approve(self, who: str, reason: str = "decided by the committee"):
        self.be(who)
        return approve_limits(self.config, reason=reason)

    def call(self, who: str, *arguments):
        self.be(who)
        return CliRunner().invoke(app, ["audit", *map(str, arguments)])

    def list_records(self) -> tuple[Record, ...]:
        plan = read_plan(self.config)
        with open_history(plan.database_url, head=plan.chain_head, create=False) as history:
            return history.records()

    def find_wrong(self) -> list[str]:
        return [finding.sentence for finding in verify_audit_history(read_plan(self.config)).findings]

    def forge(self, who: str, template: Record, **changes) -> Record:
        """Append a record with correct hashes and a correct signature, as the holder of a key can."""
        self.be(who)
        plan = read_plan(self.config)
        with open_signed_history(plan) as history:
            documents = {key: history.document(key) for key in template.documents}
            documents[plan.configuration.sha256] = plan.configuration.text.encode()
            named = {"configuration_sha256": plan.configuration.sha256} | changes
            kept = {named.get("results_sha256", template.results_sha256), named["configuration_sha256"]}
            forged = replace(template, documents=(), attempt=0, finished="", signature=None, **named)
            return history.append(forged, {key: documents[key] for key in kept if key})


@pytest.fixture
def people(tmp_path, monkeypatch) -> People:
    return People(tmp_path, monkeypatch)


def approved_first(people: People) -> Record:
    """Alice runs with limits that Bob has approved."""
    people.write(limits=STRICT, approve_limits=True)
    people.approve("bob")
    return people.run("alice", "2026-08")


def test_a_change_of_limits_is_in_record_report_and_terminal(people) -> None:
    assert people.run("alice", "2026-08").limit_changes == ()
    people.write(limits=LOOSE)
    shown = people.call("alice", "run", people.config, "--period", "2026-09", "--quiet")
    assert f"Limits were changed since the audit of 2026-08: {LOOSER}." in shown.stdout
    assert "Check that the change of limits is justified" in shown.stdout
    record = people.list_records()[-1]
    assert record.limit_changes == (
        LimitChange(key="brier.fail", before="0.22", after="0.25", effect="looser"),
    )
    assert (
        f"Limit changed against those of the audit before: {LOOSER}"
        in people.call("alice", "show", record.id, people.config).stdout
    )
    document = json.loads((people.folder / "audits" / "reports" / record.files[0].name).read_text())
    assert document["limit_provenance"]["since"] == "2026-08"
    assert document["limit_provenance"]["record"] == 1
    assert people.run("alice", "2026-10").limit_changes == ()
    assert people.find_wrong() == []


def test_documents_without_a_change_have_no_field_for_it(people) -> None:
    record = people.run("alice", "2026-08")
    file = people.folder / "audits" / "reports" / record.files[0].name
    assert "limit_provenance" not in json.loads(file.read_text())
    assert "limit_changes" not in json.loads(record.to_json())


def test_limits_are_compared_with_the_last_run_that_counts(people) -> None:
    """Annulled and failed runs do not count; a run of an earlier period compares with the latest limits."""
    people.run("alice", "2026-09")
    people.write(limits=LOOSE)
    annulled = people.run("alice", "2026-10")
    annul_record(people.config, annulled.id, reason="wrong limits")
    failed = people.run("alice", "2026-02")
    assert failed.status is AuditStatus.FAILED
    people.write(limits=STRICT)
    assert people.run("alice", "2026-10").limit_changes == ()
    people.write(limits=LOOSE)
    assert [change.clause for change in people.run("alice", "2026-08").limit_changes] == [LOOSER]
    assert people.find_wrong() == []


def test_a_backfill_names_a_change_once(people) -> None:
    people.run("alice", "2026-08")
    people.write(limits=LOOSE)
    people.call("alice", "run", people.config, "--from", "2026-09", "--to", "2026-11", "--quiet")
    changes = [record.limit_changes for record in people.list_records()]
    assert [len(each) for each in changes] == [0, 1, 0, 0]
    assert people.find_wrong() == []


def test_a_second_person_approves_and_then_the_run_succeeds(people) -> None:
    people.run("alice", "2026-08")
    people.write(limits=LOOSE, approve_limits=True)
    failed = people.run("alice", "2026-09")
    assert failed.status is AuditStatus.FAILED
    assert f"no record approves them. Changed since record 1: {LOOSER}" in failed.reason
    assert f"scorereport audit approve {people.config} --reason" in failed.reason
    assert failed.limit_changes == ()

    shown = people.call("bob", "approve", people.config, "--reason", "decided on 2026-09-30")
    assert shown.exit_code == 0
    assert "brier.fail: 0.25" in shown.stdout
    assert f"Changed since record 1:\n  {LOOSER}\n" in shown.stdout
    approval = people.list_records()[-1]
    assert (approval.kind, approval.reason) == ("approval", "decided on 2026-09-30")
    assert approval.signature.fingerprint == people.keys["bob"]
    assert [change.key for change in approval.limit_changes] == ["brier.fail", "audit.approve_limits"]

    record = people.run("alice", "2026-09")
    assert record.status in (AuditStatus.PASS, AuditStatus.INCONCLUSIVE)
    assert "A second person approved them in record 3." in record.summary.findings[0]
    assert "Check that the change" not in " ".join(record.summary.actions)
    assert people.run("alice", "2026-10").status is record.status  # the approval stays in force
    assert people.find_wrong() == []


def test_the_first_limits_need_an_approval_too(people) -> None:
    people.write(limits=STRICT, approve_limits=True)
    assert "no record approves them." in people.run("alice", "2026-08").reason
    assert (
        "No run has used limits before."
        in people.call("bob", "approve", people.config, "--reason", "x").stdout
    )
    assert people.run("alice", "2026-08").status is not AuditStatus.FAILED
    assert people.find_wrong() == []


def test_an_approval_by_the_key_of_the_run_does_not_count(people) -> None:
    people.write(limits=STRICT, approve_limits=True)
    people.run("alice", "2026-08")
    shown = people.call("alice", "approve", people.config, "--reason", "mine")
    assert "The key of this approval has also signed the last run, record 1." in shown.stderr
    refused = people.run("alice", "2026-08")
    assert "record 2 approves them, but the key of the run has signed it" in refused.reason
    assert people.run("bob", "2026-08").status is not AuditStatus.FAILED  # Alice is Bob's second person
    assert people.find_wrong() == []


def test_an_own_approval_hides_no_change_from_the_second_person(people) -> None:
    people.run("alice", "2026-08")
    people.write(limits=LOOSE, approve_limits=True)
    people.approve("alice")
    assert LOOSER in people.run("alice", "2026-09").reason
    assert LOOSER in people.call("bob", "approve", people.config, "--reason", "x").stdout
    assert people.find_wrong() == []


def test_changed_limits_need_a_new_approval_and_so_do_limits_that_were_replaced(people) -> None:
    approved_first(people)
    people.write(limits=LOOSE, approve_limits=True)
    assert LOOSER in people.run("alice", "2026-09").reason
    people.approve("bob")
    assert people.run("alice", "2026-09").status is not AuditStatus.FAILED
    people.write(limits=STRICT, approve_limits=True)
    reason = people.run("alice", "2026-10").reason
    assert "record 1 approved them, but record 4 has approved other limits since" in reason
    assert people.find_wrong() == []


def test_switching_the_approval_off_needs_one(people) -> None:
    approved_first(people)
    people.write(limits=STRICT)
    reason = people.run("alice", "2026-09").reason
    assert "audit.approve_limits from true to false (looser)" in reason
    people.approve("alice", "I want it off")
    assert people.run("alice", "2026-09").status is AuditStatus.FAILED
    people.approve("bob", "no longer needed")
    assert people.run("alice", "2026-09").status is not AuditStatus.FAILED
    people.write(limits=LOOSE)
    assert people.run("alice", "2026-10").status is not AuditStatus.FAILED  # now it is off
    assert people.find_wrong() == []


@pytest.mark.parametrize("who", ["alice", "bob"])
def test_one_person_cannot_switch_it_off_by_annulments(people, who) -> None:
    record = approved_first(people)
    people.be(who)
    annul_record(people.config, record.id, reason="gone")
    annul_record(people.config, 1, reason="gone")
    people.write(limits=STRICT)
    people.approve(who)
    assert "the key of the run has signed it" in people.run(who, "2026-09").reason
    assert people.find_wrong() == []


def test_an_annulled_approval_no_longer_counts(people) -> None:
    approved_first(people)
    people.be("bob")
    annul_record(people.config, 1, reason="decided too early")
    assert "record 1 approved them, but record 3 annuls it" in people.run("alice", "2026-09").reason
    assert people.find_wrong() == []  # record 2 was run before
    again = people.approve("bob")
    assert again.is_new
    assert people.run("alice", "2026-09").status is not AuditStatus.FAILED


def test_an_approval_of_another_audit_does_not_count(people) -> None:
    other = people.write("other", limits=STRICT, approve_limits=True)
    people.be("bob")
    approve_limits(other, reason="for the other one")
    people.write(limits=STRICT, approve_limits=True)
    assert "no record approves them" in people.run("alice", "2026-08").reason


def test_an_approval_is_added_once(people) -> None:
    people.write(limits=STRICT, approve_limits=True)
    first, second = people.approve("bob"), people.approve("bob", "again")
    assert (first.is_new, second.is_new, second.record.id) == (True, False, first.record.id)
    shown = people.call("bob", "approve", people.config, "--reason", "x", "--json")
    assert json.loads(shown.stdout)["id"] == first.record.id
    assert people.approve("alice").is_new
    assert people.approve("bob").is_new  # the last approval is of another key


def test_a_reason_is_needed(people) -> None:
    with pytest.raises(UsageError, match="`reason` must say why these limits are approved; got nothing"):
        approve_limits(people.config, reason="  ")
    shown = people.call("bob", "approve", people.config)
    assert isinstance(shown.exception, UsageError)
    assert "brier.fail: 0.22\n" in shown.stdout
    assert "No run has used limits before." in shown.stdout
    assert not (people.folder / "audits" / "history.db").exists()


def test_without_a_reason_the_limits_are_shown_and_not_approved(people) -> None:
    people.run("alice", "2026-08")
    people.write(limits=LOOSE)
    shown = people.call("bob", "approve", people.config)
    assert f"Changed since record 1:\n  {LOOSER}\n" in shown.stdout
    assert "`--reason` must say why these limits are approved" in str(shown.exception)
    assert len(people.list_records()) == 1


def test_history_and_show_list_approvals(people) -> None:
    approved_first(people)
    assert "limits approved: decided by the committee" in people.call("bob", "history", people.config).stdout
    shown = people.call("bob", "show", 1, people.config).stdout
    assert re.search("Approves the limits with the SHA-256 [0-9a-f]{64}", shown)


def test_status_states_that_limits_still_need_an_approval(people) -> None:
    people.write(limits=STRICT, approve_limits=True)
    needed = "The limits need the approval of a second person: no record approves them"
    assert people.call("alice", "status", people.config).stdout.rstrip().endswith(needed)
    people.approve("bob")
    people.run("alice", "2026-11")
    assert read_audit_state(read_plan(people.config)).approval == ""
    people.write(limits=LOOSE, approve_limits=True)
    (state,) = json.loads(people.call("alice", "status", people.config, "--json").stdout)
    assert state["approval"] == needed


@pytest.mark.parametrize("on", [["failed"], ["failed", "pass", "inconclusive", "fail", "warn"]])
def test_a_change_is_notified_whatever_the_status_and_at_once(people, on) -> None:
    seen = people.folder / "seen.json"
    notify = {"on": on, "digest": "daily", "command": ["sh", "-c", f"cat > {seen}"]}
    people.write(limits=STRICT, notify=notify)
    people.run("alice", "2026-08")
    assert not seen.exists()
    people.write(limits=LOOSE, notify=notify)
    people.run("alice", "2026-09")
    sent = json.loads(seen.read_text())
    assert sent["limit_changes"] == [LOOSER]
    assert f"Limits changed since the audit before:\n- {LOOSER}" in sent["text"]
    assert " - limits changed" in sent["subject"]
    people.write(limits=LOOSE, approve_limits=True, notify=notify)
    people.run("alice", "2026-10")
    assert "need the approval of a second person" in json.loads(seen.read_text())["reason"]


def test_the_pages_show_changes_and_approval(people) -> None:
    """The last limit is removed, so that there is no verdict: the section on limits shows the change."""
    shown = {"report": {"omit": ["data", "trend"]}, "output": {"formats": ["html", "json"]}}
    people.write(limits=STRICT, approve_limits=True, **shown)
    people.approve("bob", "decided <b>today</b>")
    people.run("alice", "2026-08")
    people.write(approve_limits=True, **shown)
    people.approve("bob", "no limits any more.")
    record = people.run("alice", "2026-09")
    assert record.status is AuditStatus.DONE
    page = (people.folder / "audits" / "reports" / "loans" / "2026-09.html").read_text()
    section = page[page.index("No limits are set.") :]
    assert "Limits that differ from those of the audit of 2026-08 (record 2)" in section
    assert re.search(
        "A second person approved the limits on .* in record 3: no limits any more. The key", section
    )
    for text in ("brier.fail", "0.22", "none", "looser", people.keys["bob"]):
        assert text in section
    first = (people.folder / "audits" / "reports" / "loans" / "2026-08.html").read_text()
    assert "in record 1: decided &lt;b&gt;today&lt;/b&gt;. The key" in first
    assert "Limits that differ" not in first
    assert people.find_wrong() == []


def test_the_site_lists_changes_and_approvals(people) -> None:
    people.write(limits=STRICT, approve_limits=True)
    people.approve("bob", "first <limits>")
    people.run("alice", "2026-08")
    people.write(limits=LOOSE, approve_limits=True)
    people.approve("bob", "looser ones")
    people.run("alice", "2026-09")
    people.be("bob")
    annul_record(people.config, 3, reason="too early")
    site = people.folder / "site"
    assert people.call("alice", "site", people.config, "-o", site).exit_code == 0
    page = (site / "audits" / "loans.html").read_text()
    section = page[page.index('<section id="limits">') : page.index('<section id="runs">')]
    assert section.count(LOOSER) == 2
    assert "first &lt;limits&gt;" in section
    assert "looser ones. Annulled by record 5: too early" in section
    assert people.keys["bob"][:12] in section
    assert f"Limits were changed since the audit of 2026-08: {LOOSER}" in (site / "feed.xml").read_text()
    (audit,) = json.loads((site / "audits.json").read_text())["audits"]
    assert [(one["id"], one["kind"]) for one in audit["limits"]] == [
        (1, "approval"),
        (3, "approval"),
        (4, "audit"),
    ]
    assert audit["limits"][1]["signed_by"] == people.keys["bob"]


# ---- Attacks ----


def find_about(people: People, record: Record) -> str:
    found = [wrong for wrong in people.find_wrong() if wrong.startswith(f"Record {record.id} ")]
    return " ".join(found)


def test_a_run_with_unapproved_limits_is_named(people) -> None:
    """The holder of a trusted key changes limits, and appends a record of a run without an approval."""
    record = approved_first(people)
    path = people.write(limits=LOOSE, approve_limits=True)
    plan = read_plan(path)
    people.be("alice")
    change = LimitChange(key="brier.fail", before="0.22", after="0.25", effect="looser")
    forged = people.forge("alice", record, limit_changes=(change,))
    wrong = find_about(people, forged)
    assert "was run with limits that no second person has approved: no record approves them." in wrong
    assert f"Changed: {LOOSER}." in wrong
    kinds = {finding.kind for finding in verify_audit_history(plan).findings}
    assert "unapproved" in kinds


def test_a_run_that_is_approved_by_its_own_key_is_named(people) -> None:
    people.write(limits=STRICT, approve_limits=True)
    people.approve("alice")
    record = people.run("bob", "2026-08")
    forged = people.forge("alice", record)
    assert "record 1 approves them, but the key of the run has signed it" in find_about(people, forged)


def test_a_run_after_the_approval_was_annulled_is_named(people) -> None:
    record = approved_first(people)
    people.be("bob")
    annul_record(people.config, 1, reason="withdrawn")
    forged = people.forge("alice", record)
    assert "record 1 approved them, but record 3 annuls it" in find_about(people, forged)
    assert "no second person" not in find_about(people, record)


def test_an_approval_after_the_run_does_not_count(people) -> None:
    record = approved_first(people)
    people.write(limits=LOOSE, approve_limits=True)
    forged = people.forge("alice", record)
    approval = people.approve("bob").record
    assert approval.id > forged.id
    assert "no second person has approved: no record approves them" in find_about(people, forged)


def test_a_run_that_switches_the_approval_off_is_named(people) -> None:
    record = approved_first(people)
    people.write(limits=STRICT)
    forged = people.forge("alice", record)
    assert "audit.approve_limits from true to false (looser)" in find_about(people, forged)


def test_an_approval_of_another_audit_is_not_accepted_by_verify(people) -> None:
    people.write(limits=STRICT, approve_limits=True)
    people.approve("bob")
    record = people.run("alice", "2026-08")
    people.forge("alice", record, audit="other")
    assert any("no second person has approved: no record approves them" in w for w in people.find_wrong())


def test_an_approval_by_a_stranger_does_not_count(people) -> None:
    """An INSERT of an approval that nobody trusted has signed: the run refuses, and verify names both."""
    people.write(limits=STRICT, approve_limits=True)
    template = people.approve("bob").record
    annul_record(people.config, template.id, reason="withdrawn")
    plan = read_plan(people.config)
    with open_history(plan.database_url, head=plan.chain_head) as history:
        history.key = create_signing_key(people.folder / "stranger.pem")
        documents = {plan.configuration.sha256: plan.configuration.text.encode()}
        history.append(replace(template, documents=(), attempt=0, finished="", signature=None), documents)
    assert "record 1 approved them, but record 2 annuls it" in people.run("alice", "2026-08").reason
    assert any("which is not trusted here" in wrong for wrong in people.find_wrong())


def test_an_approval_without_a_signature_does_not_count(people) -> None:
    """Records before the first signed one are those of earlier versions, which had no approvals."""
    people.write(limits=STRICT, approve_limits=True)
    template, plan = people.approve("bob").record, read_plan(people.config)
    for path in (plan.history_file, plan.chain_head, plan.trusted_keys):
        path.unlink()
    with open_history(plan.database_url, head=plan.chain_head) as history:
        documents = {plan.configuration.sha256: plan.configuration.text.encode()}
        history.append(replace(template, documents=(), attempt=0, finished="", signature=None), documents)
    assert "no record approves them" in people.run("alice", "2026-08").reason


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"approval": LimitApproval(limits_sha256="0" * 64)},
            "approves other limits than those of its configuration",
        ),
        ({"approval": None}, "is an approval, but names no limits"),
        ({"reason": ""}, "is an approval, but gives no reason"),
        ({"rows": 3, "annuls": 1}, "is an approval, but has rows, annuls"),
        ({"status": AuditStatus.PASS}, "is an approval, but its status is pass with exit code 0"),
        (
            {"limit_changes": (LimitChange(key="brier.fail", before="1", after="2"),)},
            "states the changes of limits brier.fail from 1 to 2, but since record 1 its configuration has",
        ),
        ({"kind": "baseline"}, "is of a baseline, but has reason, approval"),
    ],
)
def test_forged_approvals_are_named(people, changes, expected) -> None:
    people.write(limits=STRICT, approve_limits=True)
    template = people.approve("bob").record
    forged = people.forge("bob", template, **changes)
    assert expected in find_about(people, forged)


@pytest.mark.parametrize("stated", [(), (LimitChange(key="brier.fail", before="0.24", after="0.25"),)])
def test_forged_changes_of_limits_are_named(people, stated) -> None:
    people.run("alice", "2026-08")
    people.write(limits=LOOSE)
    record = people.run("alice", "2026-09")
    people.write(limits=STRICT)
    forged = people.forge("alice", record, limit_changes=stated)
    wrong = find_about(people, forged)
    assert (
        "but since record 2 its configuration has the changes of limits brier.fail from 0.25 to 0.22" in wrong
    )
    assert re.search("does not agree with its results document: .*`limit_changes`", wrong)


def test_a_failed_run_has_no_changes(people) -> None:
    failed = people.run("alice", "2026-02")
    forged = people.forge("alice", failed, limit_changes=(LimitChange(key="a", before="1", after="2"),))
    assert "has the status of a failed run, but has limit_changes" in find_about(people, forged)


def test_old_records_without_changes_are_no_finding(people) -> None:
    """Versions that did not sign did not record changes either."""
    plan = read_plan(people.config)
    record = people.run("alice", "2026-08")
    people.write(limits=LOOSE)
    plan = read_plan(people.config)
    with open_history(plan.database_url, head=plan.chain_head) as history:
        documents = {key: history.document(key) for key in record.documents}
        documents[plan.configuration.sha256] = plan.configuration.text.encode()
        old = replace(
            record,
            documents=(),
            attempt=0,
            finished="",
            signature=None,
            configuration_sha256=plan.configuration.sha256,
        )
        history.append(
            old, {key: documents[key] for key in (record.results_sha256, plan.configuration.sha256)}
        )
    wrong = people.find_wrong()
    assert any("is not signed" in each for each in wrong)
    assert not any("changes of limits" in each for each in wrong)


def test_limits_of_another_version_are_a_note(people) -> None:
    record = people.run("alice", "2026-08")
    people.write(limits=LOOSE)
    plan = read_plan(people.config)
    with open_signed_history(plan) as history:
        text = plan.configuration.text.replace("[limits]", "[limits]\nlater_measure = 3").encode()
        sha256 = hashlib.sha256(text).hexdigest()
        results = history.document(record.results_sha256)
        other = replace(
            record,
            documents=(),
            attempt=0,
            finished="",
            signature=None,
            configuration_sha256=sha256,
            software=record.software | {"scorereport": "9.0"},
        )
        history.append(other, {sha256: text, record.results_sha256: results})
    new = people.run("alice", "2026-09")
    assert new.limit_changes == ()
    document = json.loads((people.folder / "audits" / "reports" / new.files[0].name).read_text())
    assert document["limit_provenance"]["note"] == (
        "The limits of record 2 cannot be compared: this version cannot read them."
    )
    assert find_about(people, new) == ""


def test_no_key_is_in_any_output(people) -> None:
    secret = (people.folder / "bob" / "scorereport" / "audit-key.pem").read_text().splitlines()[1]
    people.write(limits=STRICT, approve_limits=True)
    shown = people.call("bob", "approve", people.config, "--reason", "x")
    assert secret not in shown.output + "".join(record.to_json() for record in people.list_records())
    assert os.environ["XDG_CONFIG_HOME"].endswith("bob")
