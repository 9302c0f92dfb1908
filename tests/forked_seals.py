"""A program that seals and runs audits with anchors in forked processes, and kills them.

It reads a list of tasks in JSON, each the name of a function below and its arguments, and prints what was
seen as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from audit_tools import BRIEF, make_scored, write_audit
from forked_audits import end, fork, replace_by_kill

from scorereport.audit.anchors import find_anchor_files
from scorereport.audit.forecast_sealing import seal_forecasts
from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.plan import read_plan
from scorereport.audit.run import run_audit
from scorereport.history.signing_keys import read_signing_key
from scorereport.history.store import open_history
from scorereport.history.trusted_keys import read_trusted_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The scores have cases of these years.
FIRST_YEAR, YEARS = 2021, 5
FORMATS = ("pdf", "html", "json")
#: Seconds between two looks at the folder of an audit that is about to be killed.
_PAUSE = 0.002


def write_sealed_audit(place: Path, file: str = "loans", url: str = "", **tables) -> Path:
    """A configuration that seals, signs by a key of its own, and anchors, of the file scores.csv."""
    stamps = {"time_stamp": url, "authority": "tsa.pem"} if url else {}
    return write_audit(
        place,
        file,
        report=BRIEF,
        folder=f"of-{file}",
        output={"formats": list(FORMATS)},
        seal={"key": ["id"]},
        signing={"key": f"of-{file}-keys/key.pem"},
        anchors={"folder": f"of-{file}-anchors", **stamps},
        **tables,
    )


def write_scores(place: Path) -> None:
    """Scored cases of all periods, with a key for each."""
    frame = make_scored(f"{FIRST_YEAR}-01-01", 366 * YEARS, rows=1)
    frame.assign(id=range(len(frame))).to_csv(place / "scores.csv", index=False)


def seal(config: str, period: str) -> None:
    seal_forecasts(config, period=period)


def run(config: str, period: str) -> None:
    run_audit(config, period=period)


ACTIONS = {"seal": seal, "run": run}


def look(config: str) -> dict:
    """The state of an audit: verification, records, report files, keys and anchors."""
    plan = read_plan(config)
    state = {"exit": 0, "findings": [], "records": [], "files": [], "anchored": [], "stamped": []}
    state |= look_at_keys(plan)
    if not plan.history_file.exists():
        return state
    found = verify_audit_history(plan)
    state["findings"] = [finding.sentence for finding in found.findings]
    state["warnings"] = list(found.warnings)
    state["exit"] = 1 if found.findings else 3 if found.warnings else 0
    with suppress(FileNotFoundError):
        state["files"] = sorted(path.name for path in (plan.reports / plan.name).iterdir() if path.is_file())
    with open_history(plan.database_url, head=plan.chain_head) as history:
        records = history.records()
    for record in records:
        state["records"].append(f"{record.kind} {record.period.label} {record.status}")
        anchor = find_anchor_files(plan, record)
        state["anchored"] += [record.id] if anchor.attestation.exists() else []
        state["stamped"] += [record.id] if anchor.stamp.exists() else []
    return state


def look_at_keys(plan) -> dict:
    """Whether the key opens, who may read it, and whether it is the trusted one; errors are raised."""
    path = plan.signing_key
    if not path.exists():
        return {"key": "", "mode": "", "trusted": list(read_trusted_keys(plan.trusted_keys))}
    return {
        "key": read_signing_key(path).fingerprint,
        "mode": oct(path.stat().st_mode & 0o777),
        "trusted": list(read_trusted_keys(plan.trusted_keys)),
    }


@dataclass
class Lengths:
    """Seconds that an action takes in all, and from the moment when it stages its files."""

    whole: float
    tail: float

    def adapt(self, *, late: bool, killed: bool, recorded: bool) -> None:
        """Follow the load of the machine: shorter if the action ended first, longer if it was far from it."""
        factor = 0.8 if not killed else 1.0 if recorded else 1.1
        if late:
            self.tail *= factor
        else:
            self.whole *= factor


def measure(action: str, config: str, period: str) -> Lengths:
    begun = time.monotonic()
    child = fork(lambda: ACTIONS[action](config, period))
    staged = wait_for_staging(config, begun + 600, child)
    assert end(child) == 0
    ended = time.monotonic()
    return Lengths(ended - begun, ended - staged)


def wait_for_staging(config: str, until: float, child: int) -> float:
    """Wait until a run has files to be put in place, or ends; return the time."""
    plan = read_plan(config)
    staging = plan.reports / plan.name / ".staging"
    while time.monotonic() < until and is_running(child) and not staging.exists():
        time.sleep(_PAUSE)
    return time.monotonic()


def is_running(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def kill(action: str, config: str, period: str, seconds: float, *, late: bool) -> bool:
    """Start an action and kill it after some seconds; if late, after it has staged its files."""
    child = fork(lambda: ACTIONS[action](config, period))
    if late:
        wait_for_staging(config, time.monotonic() + 600, child)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return end(child) == -signal.SIGKILL


def kill_at_random(config: str, kills: int, seed: int) -> list[dict]:
    """For one period after the other: kill the sealing, seal, kill the run, run; look after each step.

    The first period is sealed and run to measure how long that takes. A process that ended before it was
    killed does not count. Every other run is killed after it has staged its files.
    """
    chance, periods = random.Random(seed), list_periods()
    first = next(periods)
    lengths = {action: measure(action, config, first) for action in ACTIONS}
    seen = []
    while sum(step["killed"] for step in seen) < kills:
        period = next(periods)
        for action in ACTIONS:
            late = action == "run" and chance.random() < 0.5
            length = lengths[action].tail if late else lengths[action].whole
            killed = kill(action, config, period, chance.uniform(0, length), late=late)
            after_kill = look(config)
            recorded = len(after_kill["records"]) > 2 + len(seen)
            lengths[action].adapt(late=late, killed=killed, recorded=recorded)
            code = do(config, action, period)
            step = {"action": action, "period": period, "killed": killed, "after_kill": after_kill}
            seen.append(step | {"code": code, "after_again": look(config)})
    return seen


def list_periods() -> Iterator[str]:
    """Months in order, from the first that the scores have."""
    return (f"{FIRST_YEAR + number // 12}-{number % 12 + 1:02d}" for number in range(12 * YEARS))


def do(config: str, action: str, period: str) -> int:
    """Do an action to its end; return the exit code of its process."""
    return end(fork(lambda: ACTIONS[action](config, period)))


def kill_at(config: str, action: str, period: str, place: str, call: int = 1) -> dict:
    """Do an action that is killed just before a call of a function, then do it again."""

    def work() -> None:
        replace_by_kill(place, call)
        ACTIONS[action](config, period)

    code = end(fork(work))
    after_kill = look(config)
    again = do(config, action, period)
    return {"code": code, "again": again, "after_kill": after_kill, "after_again": look(config)}


def warm_up() -> None:
    """Load everything that an audit needs by sealing and running one."""
    with TemporaryDirectory() as folder:
        write_scores(Path(folder))
        config = write_sealed_audit(Path(folder))
        for work in ACTIONS.values():
            work(config, next(list_periods()))
        verify_audit_history(read_plan(config))


TASKS = {"kill_at_random": kill_at_random, "kill_at": kill_at, "do": do}

if __name__ == "__main__":
    warm_up()
    sys.stdout.write(json.dumps([TASKS[name](*arguments) for name, *arguments in json.load(sys.stdin)]))
