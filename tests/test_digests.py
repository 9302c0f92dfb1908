"""Daily digests: outcomes wait in a file, and are sent once, together, by each channel."""

from __future__ import annotations

import json
import math
import os
import signal
import stat
import sys
import time
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from audit_tools import BRIEF, make_scored, run_command, write_audit
from forked_audits import fork
from server_tools import at, write_configuration
from serving_tools import serving, wait_for
from test_notifications import Mailbox, judge, make_record, read_only_message, run_mailbox

from scorereport._utils.clock import fixed_time
from scorereport.audit import digests
from scorereport.audit.after_run import notify_by_plan
from scorereport.audit.digests import add_to_digests, has_due_digest, open_digest, send_digests
from scorereport.audit.outcomes import name_outcome, shorten, summarize_outcome
from scorereport.audit.plan import read_plan
from scorereport.audit.run import run_audit
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.errors import UsageError
from scorereport.history.audit_record import AuditStatus
from scorereport.history.trend.evidence_records import AuditEvidence, Evidence
from scorereport.results.summary_texts import SummaryTexts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scorereport.audit.plan import Plan
    from scorereport.history.audit_record import Record

SECRET = "geheim/42 wort"
TODAY = date(2026, 11, 16)


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TOKEN", SECRET)
    monkeypatch.setattr("socket.getfqdn", lambda *_: "localhost")
    with fixed_time("2026-11-15T12:00:00+00:00"):
        yield


def write_plan(folder: Path, name: str = "loans", **notify: Any) -> Plan:
    table = {"digest": "daily", "command": ["sh", "-c", "cat >> inbox; echo >> inbox"], **notify}
    return read_plan(write_audit(folder, name, notify=table))


def read_inbox(folder: Path) -> list[dict[str, Any]]:
    inbox = folder / "inbox"
    return [json.loads(line) for line in inbox.read_text().splitlines()] if inbox.exists() else []


def summarized(**changes: Any) -> Record:
    findings = tuple(f"Finding {number} of {changes.get('audit', 'loans')}." for number in range(1, 6))
    summary = SummaryTexts(verdict="One limit of three is breached.", findings=findings)
    return make_record(**{"audit": "loans", "summary": summary, **changes})


# --- subjects and links ---


def alarm(hypothesis: str, log_detector: float, **changes: Any) -> Evidence:
    values: dict[str, Any] = {
        "model": "boost",
        "hypothesis": hypothesis,
        "bets": (),
        "log_factor": 1.0,
        "log_product": 1.0,
        "log_detector": log_detector,
        "alarm_at": 240.0,
        "audits": 3,
        "is_alarm": True,
    }
    return Evidence(**{**values, **changes})


def test_the_subject_of_a_warning_names_the_strongest_evidence() -> None:
    evidence = (
        alarm("limit", 5.9, measure="brier"),
        alarm("calibration", math.log(520.5)),
        alarm("baseline", 5.0),
    )
    record = make_record(
        status=AuditStatus.WARN,
        evidence=AuditEvidence(
            alpha=0.05, looks=12, level=0.95, start=None, end="2026-11-01", evidence=evidence
        ),
    )
    assert name_outcome(record) == (
        "retail-default 2026-10: warn - evidence 520 to 1 against calibration (boost)"
    )


@pytest.mark.parametrize(
    ("changes", "subject"),
    [
        ({"status": AuditStatus.FAIL}, "fail - Brier score 0.2, limit 0.18 (logit)"),
        ({"status": AuditStatus.WARN}, "warn - The Brier score is too high"),
        (
            {"judgements": tuple(judge(LimitVerdict.FAIL, str(number)) for number in range(3))},
            "fail - Brier score 0.2, limit 0.18 (logit) and 2 more",
        ),
        ({"status": AuditStatus.UNCERTIFIED}, "certificate failed - the R certificate failed"),
        ({"status": AuditStatus.PASS, "judgements": (), "drifts": ()}, "pass"),
        (
            {"status": AuditStatus.FAILED, "reason": "The file x.csv is empty. To fix: write it."},
            "failed - The file x.csv is empty",
        ),
    ],
)
def test_the_subject_states_the_main_finding(changes: dict[str, Any], subject: str) -> None:
    assert name_outcome(make_record(**changes)) == f"retail-default 2026-10: {subject}"


def test_long_findings_are_shortened() -> None:
    long = shorten("The miscalibration of a model " * 10)
    assert long.endswith(" …")
    assert len(long) <= 82
    assert shorten("x" * 200) == "x" * 80 + " …"


def test_the_link_is_the_page_of_the_site_or_the_report(tmp_path: Path) -> None:
    files = [tmp_path / "2026-10.json", tmp_path / "2026-10.html"]
    outcome = summarize_outcome(summarized(), files=files, site="https://audits.example.com/models/")
    assert outcome["link"] == "https://audits.example.com/models/audits/loans.html#r17"
    assert outcome["findings"] == ["Finding 1 of loans.", "Finding 2 of loans.", "Finding 3 of loans."]
    assert "2 more findings in the report." in outcome["text"]
    places = [outcome["text"].index(part) for part in ("One limit of", "Finding 1", "Report: https")]
    assert places == sorted(places)
    assert summarize_outcome(summarized(), files=files)["link"] == str(files[1])
    assert summarize_outcome(make_record(id=0), files=())["link"] == ""


def test_the_address_of_the_site_is_checked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"`audit\.notify\.site` must be an address such as https://"):
        write_plan(tmp_path, site="audits.example.com")


# --- digests ---


def test_outcomes_of_a_day_are_one_message_the_worst_first(tmp_path: Path) -> None:
    loans, cards = write_plan(tmp_path), write_plan(tmp_path, "cards")
    assert notify_by_plan(loans, summarized(status=AuditStatus.WARN)) == []
    assert notify_by_plan(cards, summarized(audit="cards", status=AuditStatus.FAIL)) == []
    assert notify_by_plan(cards, summarized(audit="cards", status=AuditStatus.FAIL)) == []  # noted once
    assert notify_by_plan(loans, summarized(status=AuditStatus.PASS)) == []  # not in `on`
    assert not has_due_digest(loans, date(2026, 11, 15))
    assert send_digests(loans, date(2026, 11, 15)).counts == {}
    assert read_inbox(tmp_path) == []
    assert has_due_digest(loans, TODAY)
    sent = send_digests(loans, TODAY)
    assert (sent.counts, sent.problems) == ({"command": 2}, [])
    (digest,) = read_inbox(tmp_path)
    assert digest["subject"] == "Audits of 2026-11-15: 1 fail, 1 warn"
    assert (digest["digest"], digest["status"], digest["exit_code"]) == ("2026-11-15", "fail", 1)
    assert [outcome["audit"] for outcome in digest["outcomes"]] == ["cards", "loans"]
    hashes = [outcome["record"]["sha256"] for outcome in digest["outcomes"]]
    assert digest["text"] == (
        "2 audit runs of 2026-11-15: cards and loans.\n\n"
        "cards 2026-10: fail - One limit of three is breached.\n"
        "- Finding 1 of cards.\n- Finding 2 of cards.\n- Finding 3 of cards.\n"
        f"Record 17, SHA-256 {hashes[0]}\n\n"
        "loans 2026-10: warn - One limit of three is breached.\n"
        "- Finding 1 of loans.\n- Finding 2 of loans.\n- Finding 3 of loans.\n"
        f"Record 17, SHA-256 {hashes[1]}\n"
    )
    assert not has_due_digest(cards, TODAY)
    assert send_digests(cards, TODAY).counts == {}
    assert len(read_inbox(tmp_path)) == 1


def test_failed_runs_and_alarms_are_not_delayed(tmp_path: Path) -> None:
    plan = write_plan(tmp_path)
    notify_by_plan(plan, make_record(status=AuditStatus.FAILED, reason="The database is away."))
    notify_by_plan(plan, make_record(status=AuditStatus.PASS), ["Record 17 was not noted."])
    assert [outcome["status"] for outcome in read_inbox(tmp_path)] == ["failed", "pass"]
    assert read_inbox(tmp_path)[1]["subject"] == "retail-default 2026-10: pass - the history needs attention"
    assert not has_due_digest(plan, TODAY)


def test_a_digest_that_a_channel_does_not_accept_waits(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, command=["sh", "-c", "test -e up && cat > inbox"])
    notify_by_plan(plan, summarized())
    assert send_digests(plan, TODAY).problems == [
        "`audit.notify.command`: the command ended with exit code 1 without an error message."
    ]
    with fixed_time("2026-11-16T12:00:00+00:00"):
        notify_by_plan(plan, summarized(id=18))
    (tmp_path / "up").touch()
    assert send_digests(plan).counts == {"command": 2}
    assert read_inbox(tmp_path)[0]["subject"] == "Audits of 2026-11-15 to 2026-11-16: 2 fail"


def test_the_file_holds_no_secrets_and_is_for_its_owner(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, webhook={"url": "https://hooks.example/${TOKEN}"})
    notify_by_plan(plan, summarized(reason=f"It ended with {SECRET}."))
    files = [path for path in plan.locks.iterdir() if path.suffix == ".jsonl"]
    assert len(files) == 2
    for path in plan.locks.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert "geheim" not in path.read_text()
    assert stat.S_IMODE(plan.locks.stat().st_mode) == 0o700
    assert "It ended with ***." in files[0].read_text()


def test_a_digest_is_an_email(tmp_path: Path) -> None:
    with run_mailbox(Mailbox()) as mailbox:
        plan = write_plan(
            tmp_path,
            command=[],
            site="https://audits.example.com",
            email={
                "host": "127.0.0.1",
                "port": mailbox.port,
                "security": "none",
                "sender": "scorereport@example.org",
                "recipients": ["risk@example.org"],
                "attach": ["pdf"],
            },
        )
        notify_by_plan(plan, summarized())
        assert send_digests(plan, TODAY).counts == {"email": 1}
    message = read_only_message(mailbox)
    assert message["Subject"] == "Audits of 2026-11-15: 1 fail"
    assert "Report: https://audits.example.com/audits/loans.html#r17" in message.get_content()


@pytest.mark.parametrize("channel", ["command", "webhook"])
def test_outcomes_do_not_wait_for_settings_that_were_changed(tmp_path: Path, channel: str) -> None:
    old = {"command": ["false"], "webhook": {"url": "https://hooks.example/in"}}[channel]
    before = write_plan(tmp_path, **{"command": [], channel: old})
    notify_by_plan(before, summarized())
    other = write_plan(tmp_path, "cards", **{"command": [], channel: old})
    notify_by_plan(other, summarized(audit="cards"))
    plan = write_plan(tmp_path)
    assert has_due_digest(plan, TODAY)
    assert send_digests(plan, TODAY).counts == {"command": 1}
    assert [outcome["audit"] for outcome in read_inbox(tmp_path)[0]["outcomes"]] == ["loans"]
    assert [entry.outcome["audit"] for entry in open_digest(other, channel).read()] == ["cards"]


def test_a_damaged_line_loses_no_other(tmp_path: Path) -> None:
    plan = write_plan(tmp_path)
    notify_by_plan(plan, summarized())
    file = open_digest(plan, "command")
    file.path.write_text('{"key": 1}\n[]\nnot json\n' + file.path.read_text())
    assert [entry.outcome["audit"] for entry in file.read()] == ["loans"]
    assert send_digests(plan).counts == {"command": 1}


def test_a_digest_that_cannot_be_written_is_sent_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(digests, "write_text", fail)
    assert notify_by_plan(write_plan(tmp_path), summarized()) == []
    assert read_inbox(tmp_path)[0]["status"] == "fail"


@pytest.mark.parametrize("place", ["write_text", "send_by_channel", "remove"])
def test_a_kill_loses_no_outcome(tmp_path: Path, place: str) -> None:
    """A real kill -9 before the outcome is written, before it is sent, and before it is removed."""
    plan = write_plan(tmp_path)

    def die(*_arguments: object, **_options: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def work(target: str) -> None:
        owner: Any = digests.DigestFile if target == "remove" else digests
        if target:
            setattr(owner, target, die)
        add_to_digests(plan, summarize_outcome(summarized(), files=()))
        send_digests(plan)

    for target in (place, ""):
        child = fork(partial(work, target))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code == (-signal.SIGKILL if target else 0)
    # Once, or at least once if it was killed between sending and removing.
    assert len(read_inbox(tmp_path)) == (2 if place == "remove" else 1)
    assert open_digest(plan, "command").read() == []


def test_two_processes_do_not_send_a_digest_twice(tmp_path: Path) -> None:
    plan = write_plan(tmp_path)
    notify_by_plan(plan, summarized())
    with open_digest(plan, "command").sending() as may_send:
        assert may_send
        assert send_digests(plan).counts == {}
    assert send_digests(plan).counts == {"command": 1}


# --- runs, the command and the server ---


@pytest.fixture
def audited(tmp_path: Path) -> Path:
    """A configuration whose limit is breached."""
    make_scored("2026-09-01", 61, rows=10).to_csv(tmp_path / "scores.csv", index=False)
    table = {"digest": "daily", "command": ["sh", "-c", "cat >> inbox; echo >> inbox"]}
    return write_audit(tmp_path, limits={"brier": 0.01}, notify=table, report=BRIEF)


def test_the_first_run_of_a_later_day_sends_the_digest(audited: Path) -> None:
    with fixed_time("2026-11-02T12:00:00+00:00"):
        run_audit(audited, as_of="2026-10-02")
        run_audit(audited, as_of="2026-11-02")
        assert not list(read_plan(audited).locks.glob("*.untold"))
    assert read_inbox(audited.parent) == []
    with fixed_time("2026-11-03T12:00:00+00:00"):
        assert run_audit(audited, as_of="2026-11-02").problems == ()
    (digest,) = read_inbox(audited.parent)
    assert digest["subject"] == "Audits of 2026-11-02: 2 fail"
    assert [outcome["period"]["label"] for outcome in digest["outcomes"]] == ["2026-09", "2026-10"]
    assert digest["outcomes"][0]["link"].endswith("reports/loans/2026-09.json")


@pytest.mark.sweep
def test_the_command_sends_what_waits(tmp_path: Path) -> None:
    plan = write_plan(tmp_path)
    notify_by_plan(plan, summarized())
    done = run_command("notify", plan.path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 outcome sent by command.\n", "")
    assert len(read_inbox(tmp_path)) == 1
    again = run_command("notify", plan.path)
    assert (again.returncode, again.stdout) == (0, "Nothing waits for a digest.\n")
    broken = write_plan(tmp_path, "broken", command=["false"])
    notify_by_plan(broken, summarized())
    failed = run_command("notify", broken.path)
    assert failed.returncode == 2
    assert "`audit.notify.command`: the command ended with exit code 1" in failed.stderr


@pytest.mark.sweep
def test_a_server_sends_the_digest_when_the_day_is_over_in_the_time_zone(tmp_path: Path) -> None:
    with serving(tmp_path, "2026-11-15 22:59:50") as server:  # 23:59:50 in Berlin
        command = json.dumps([sys.executable, "-c", "import sys; open('inbox', 'a').write(sys.stdin.read())"])
        path = write_configuration(server.folder, cron="0 3 1 * *")
        path.write_text(path.read_text() + f'[audit.notify]\ndigest = "daily"\ncommand = {command}\n')
        plan = read_plan(path)
        with fixed_time("2026-11-15T12:00:00+00:00"):
            notify_by_plan(plan, summarized(audit="churn"))
        server.start()
        wait_for(lambda: server.find("audit.scheduled"))
        server.let_polls_pass()
        assert not server.find("digest.sent")
        server.set_clock("2026-11-15 23:00:05")
        wait_for(lambda: server.find("digest.sent", outcomes={"command": 1}, problems=[]))
        server.let_polls_pass()
        assert server.stop() == 0
        (digest,) = read_inbox(server.folder)
        assert digest["subject"] == "Audits of 2026-11-15: 1 fail"
        assert len(server.find("digest.sent")) == 1


def test_a_digest_that_fails_is_tried_again_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from scorereport.audit.server import digest_sender

    plan = write_plan(tmp_path, command=["sh", "-c", "echo >> tries; false"])
    notify_by_plan(plan, summarized())
    seen: list[list[str]] = []
    sender = digest_sender.DigestSender(lambda _plan, sent: seen.append(sent.problems))
    sender.send_due([plan], at("2026-11-16 12:00"))
    wait_for(lambda: seen)
    time.sleep(0.05)
    sender.send_due([plan], at("2026-11-16 12:00"))
    time.sleep(0.1)
    assert len(seen) == 1
    monkeypatch.setattr(digest_sender, "RETRY_SECONDS", 0.0)
    sender._not_before.clear()
    sender.send_due([plan], at("2026-11-16 12:00"))
    wait_for(lambda: len(seen) == 2)
    assert (tmp_path / "tries").read_text() == "\n\n"
