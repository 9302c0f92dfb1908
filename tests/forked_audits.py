"""A program that runs audits in forked processes, so that modules are loaded only once.

It reads a list of tasks in JSON, each the name of a function below and its arguments, and prints the results
of the tasks as JSON.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from importlib import import_module
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from audit_tools import BRIEF, make_scored, write_audit

from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.plan import read_plan
from scorereport.audit.run import run_audit


def fork(action) -> int:
    """Start a process that runs an action and exits."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        action()
        code = 0
    finally:
        os._exit(code)


def look(config: str) -> dict:
    """The number of records, the findings of verification, and the report files."""
    plan = read_plan(config)
    if not plan.history_file.exists():
        return {"records": 0, "findings": [], "files": []}
    found, reports = verify_audit_history(plan), plan.reports
    files = sorted(p.relative_to(reports).as_posix() for p in reports.rglob("*") if p.is_file())
    return {
        "records": found.records,
        "findings": [finding.sentence for finding in found.findings],
        "files": [name for name in files if "/." not in name],
    }


def end(child: int) -> int:
    """Wait for a process and return its exit code, or minus the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_at_random(config: str, periods: int, seed: int) -> list[dict]:
    """For each period: start an audit, kill it, inspect the history, and audit the period to the end."""
    chance = random.Random(seed)
    begun = time.monotonic()
    end(fork(lambda: run_audit(config, as_of="2020-01-15")))
    length = time.monotonic() - begun
    seen = []
    for number in range(1, periods + 1):
        as_of = f"{2020 + number // 12}-{number % 12 + 1:02d}-15"
        child = fork(lambda as_of=as_of: run_audit(config, as_of=as_of))
        time.sleep(chance.uniform(0, length))
        os.kill(child, signal.SIGKILL)
        killed = end(child) == -signal.SIGKILL
        after_kill = look(config)
        end(fork(lambda as_of=as_of: run_audit(config, as_of=as_of)))
        seen.append({"killed": killed, "after_kill": after_kill, "after_run": look(config)})
    return seen


def kill_at(config: str, as_of: str, place: str) -> dict:
    """Run an audit that is killed just before a function is called, then run it again."""
    code = end(fork(lambda: run_until(place, config, as_of)))
    after_kill = look(config)
    end(fork(lambda: run_audit(config, as_of=as_of)))
    return {"code": code, "after_kill": after_kill, "after_run": look(config)}


def run_until(place: str, config: str, as_of: str) -> None:
    """Run an audit that is killed just before a function is called."""
    replace_by_kill(place)
    run_audit(config, as_of=as_of)


def replace_by_kill(place: str, call: int = 1) -> None:
    """Kill this process just before a call of a function: the first one, or a later one."""
    module, _, name = place.partition(":")
    owner = import_module(module)
    *path, last = name.split(".")
    for part in path:
        owner = getattr(owner, part)
    original, calls = getattr(owner, last), count(1)

    def die(*arguments, **options):
        if next(calls) == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*arguments, **options)

    setattr(owner, last, die)


def run_and_record(config: str, as_of: str, file: Path) -> None:
    """Run an audit, and write the id of its record and whether it is new to a file."""
    outcome = run_audit(config, as_of=as_of)
    file.write_text(json.dumps({"id": outcome.record.id, "is_new": outcome.is_new}))


def run_together(as_of: str, *configs: str) -> list[dict]:
    """Run audits at the same time, each in its own process."""
    files = [Path(config).with_suffix(f".{number}.json") for number, config in enumerate(configs)]
    children = [
        fork(lambda config=config, file=file: run_and_record(config, as_of, file))
        for config, file in zip(configs, files, strict=True)
    ]
    codes = [end(child) for child in children]
    return [{"code": code, **json.loads(file.read_text())} for code, file in zip(codes, files, strict=True)]


def warm_up() -> None:
    """Load everything that an audit needs by running one."""
    with TemporaryDirectory() as folder:
        make_scored("2026-10-01", 31, rows=2).to_csv(Path(folder, "scores.csv"), index=False)
        run_audit(write_audit(Path(folder), output={"formats": ["html"]}, report=BRIEF), as_of="2026-11-02")


TASKS = {"kill_at_random": kill_at_random, "kill_at": kill_at, "run_together": run_together}

if __name__ == "__main__":
    warm_up()
    seen = [TASKS[name](*arguments) for name, *arguments in json.load(sys.stdin)]
    sys.stdout.write(json.dumps(seen))
