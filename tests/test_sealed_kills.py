"""Kills with PDF reports, seals, signatures, anchors and time stamps: nothing is lost, doubled or half."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from forked_seals import FORMATS, write_scores, write_sealed_audit
from time_stamp_tools import make_authority, serve_stamps

HERE = Path(__file__).parent
PERIOD = "2021-01"


@pytest.fixture(scope="module")
def authority():
    return make_authority()


@pytest.fixture
def stamping(tmp_path, authority):
    """A function that writes a configuration with a running time-stamp authority."""
    write_scores(tmp_path)
    (tmp_path / "tsa.pem").write_bytes(authority.pem)
    with serve_stamps(authority) as server:
        yield lambda name="loans": write_sealed_audit(tmp_path, name, server.url)


def run_forked(*tasks, seconds=3000):
    """Run tasks of the program forked_seals.py, and return what they observed."""
    done = subprocess.run(
        [sys.executable, str(HERE / "forked_seals.py")],
        input=json.dumps(tasks, default=str),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def assert_whole(state):
    """Verify has no findings, and the key is whole, private and the one that is trusted."""
    assert state["findings"] == []
    assert state["exit"] in (0, 3)
    assert state["mode"] in ("", "0o600")
    assert state["trusted"] in ([], [state["key"]])


def name_record(action, period):
    return f"{'audit' if action == 'run' else 'seal'} {period} done"


def list_files(records):
    """The files of the reports of these records."""
    periods = [record.split()[1] for record in records if record.startswith("audit")]
    return sorted(f"{period}.{form}" for period in periods for form in FORMATS)


@pytest.mark.sweep
@pytest.mark.parametrize("kills", [3, 50])
def test_kills_at_random_moments_harm_nothing(stamping, tmp_path, kills):
    config = stamping()
    (seen,) = run_forked(["kill_at_random", config, kills, 11])
    expected = [name_record(action, PERIOD) for action in ("seal", "run")]
    counts = Counter()
    for step in seen:
        before, after = step["after_kill"], step["after_again"]
        new = name_record(step["action"], step["period"])
        assert_whole(before)
        assert_whole(after)
        assert step["code"] == 0
        assert before["records"] in (expected, [*expected, new])  # nothing lost, nothing doubled
        assert set(list_files(expected)) <= set(before["files"]) <= set(list_files(before["records"]))
        counts[step["action"], step["killed"], len(before["records"]) - len(expected), before["exit"]] += 1
        expected.append(new)
        assert after["records"] == expected
        assert after["files"] == list_files(expected)
        assert after["exit"] == 0, after["warnings"]
        assert after["trusted"] == [after["key"]]
        assert after["anchored"] == after["stamped"] == list(range(1, len(expected) + 1))
    sys.stdout.write(f"(command, killed, records added, exit code of verify): {counts}\n")
    assert sum(step["killed"] for step in seen) >= kills
    assert not list(tmp_path.rglob(".staging"))
    if kills > 10:  # moments before and after the record were tried, of both commands
        tried = {(action, recorded) for action, killed, recorded, _ in counts if killed}
        assert tried == {("seal", 0), ("seal", 1), ("run", 0), ("run", 1)}


#: Functions before whose call a sealing, the first use of the key, is killed: the number of the call, and
#: whether the history has the record by then.
SEAL_STEPS = {
    ("scorereport.audit.signed_history:open_history", 1): False,
    ("scorereport.audit.signed_history:create_signing_key", 1): False,
    ("scorereport.history.signing_keys:_write_whole", 1): False,
    ("os:fsync", 1): False,
    ("os:link", 1): False,
    ("pathlib:Path.unlink", 1): False,
    ("scorereport.history.signing_keys:_open_key", 1): False,
    ("scorereport.audit.forecast_sealing:read_rows_to_seal", 1): False,
    ("scorereport.history.store:History.append", 1): False,
    ("scorereport.history.store:place_record", 1): False,
    ("scorereport.history.store:insert_documents", 1): False,
    ("scorereport.history.store:insert_record", 1): False,
    ("scorereport.history.store:check_written", 1): False,
    ("scorereport.history.store:advance_chain_head", 1): True,
    ("scorereport.history.chain_head:write_text", 1): True,
    ("scorereport._utils.files:_fill", 1): True,
    ("pathlib:Path.replace", 1): True,
    ("scorereport.audit.signed_history:add_trusted_key", 1): True,
    ("scorereport.history.trusted_keys:write_text", 1): True,
    ("scorereport.audit.signed_history:anchor_record", 1): True,
    ("scorereport.audit.anchors:attest_record", 1): True,
    ("scorereport.audit.anchors:write_bytes", 1): True,
    ("scorereport.audit.anchors:_request_stamp", 1): True,
    ("scorereport.audit.anchors:_post_in_time", 1): True,
    ("scorereport.audit.anchors:write_bytes", 2): True,
}


@pytest.mark.sweep
def test_a_sealing_killed_at_each_step_is_completed_by_the_next(stamping):
    configs = [stamping(f"audit-{number}") for number in range(len(SEAL_STEPS))]
    tasks = [
        ["kill_at", config, "seal", PERIOD, place, call]
        for config, (place, call) in zip(configs, SEAL_STEPS, strict=True)
    ]
    for step, seen in zip(SEAL_STEPS.items(), run_forked(*tasks), strict=True):
        (place, recorded), before, after = step, seen["after_kill"], seen["after_again"]
        assert (seen["code"], seen["again"]) == (-signal.SIGKILL, 0), place
        assert_whole(before)
        assert_whole(after)
        assert before["records"] == [name_record("seal", PERIOD)] * recorded, place
        assert after["records"] == [name_record("seal", PERIOD)], place
        assert after["exit"] == 0, place
        assert after["anchored"] == after["stamped"] == [1], place
        assert before["key"] in ("", after["key"]), place  # a key that was made is kept
        assert after["trusted"] == [after["key"]], place
    for config in configs:  # no second copy of a key, and none that was never used
        assert [path.name for path in (config.parent / f"of-{config.stem}-keys").iterdir()] == ["key.pem"]


#: The same for a run, whose period is sealed.
RUN_STEPS = {
    ("scorereport.history.store:History.append", 1): False,
    ("scorereport.history.store:insert_record", 1): False,
    ("scorereport.history.store:check_written", 1): False,
    ("scorereport.history.store:advance_chain_head", 1): True,
    ("scorereport.history.chain_head:write_text", 1): True,
    ("scorereport.audit.signed_history:anchor_record", 1): True,
    ("scorereport.audit.anchors:write_bytes", 1): True,
    ("scorereport.audit.anchors:_request_stamp", 1): True,
    ("scorereport.audit.anchors:write_bytes", 2): True,
    ("scorereport.audit.report_folder:ReportFolder.finalize", 1): True,
    ("scorereport.audit.after_run:send_notifications", 1): True,
}


@pytest.mark.sweep
def test_a_run_killed_at_each_step_is_completed_by_the_next(stamping):
    configs = [stamping(f"audit-{number}") for number in range(len(RUN_STEPS))]
    places = list(zip(configs, RUN_STEPS, strict=True))
    tasks = [["do", config, "seal", PERIOD] for config in configs]
    tasks += [["kill_at", config, "run", PERIOD, place, call] for config, (place, call) in places]
    records = [name_record("seal", PERIOD), name_record("run", PERIOD)]
    seen = run_forked(*tasks)[len(configs) :]
    for (place, recorded), one in zip(RUN_STEPS.items(), seen, strict=True):
        before, after = one["after_kill"], one["after_again"]
        assert (one["code"], one["again"]) == (-signal.SIGKILL, 0), place
        assert_whole(before)
        assert before["records"] == records[: 1 + recorded], place
        assert set(before["files"]) <= set(list_files(before["records"])), place
        assert after["exit"] == 0, place
        assert after["records"] == records, place
        assert after["files"] == list_files(records), place
        assert after["anchored"] == after["stamped"] == [1, 2], place
