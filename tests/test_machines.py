"""Several machines with one history in PostgreSQL: one run at a time, one record, one chain."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from audit_tools import BRIEF, make_scored, start_audit, write_audit
from forked_audits import fork
from postgres_tools import halt_server, resume_server, start_server, stop_server
from server_tools import at
from serving_tools import Serving, wait_for

from scorereport.audit import audit_report
from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.plan import read_plan
from scorereport.audit.run import hold_audit_lock, run_audit
from scorereport.audit.site.publication import publish_site
from scorereport.cli.audit_commands import run
from scorereport.data.database_sessions import UnreachableError
from scorereport.errors import UsageError
from scorereport.history import database, store
from scorereport.history.audit_lock import hold_database_lock
from scorereport.history.audit_record import AuditStatus
from scorereport.history.database import read_url
from scorereport.history.export import export_history
from scorereport.history.store import History, open_history

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from postgres_tools import Server

    from scorereport.history.audit_record import Record

MOMENT = "2020-02-03T03:00:00+00:00"
RUN = [sys.executable, "-m", "scorereport", "audit", "run", "--once"]


@pytest.fixture
def history(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HISTORY", postgres_url)
    return postgres_url


def add_machine(place: Path, name: str, *audits: str, **tables: object) -> list[Path]:
    """A folder as another machine has it, with its own copy of configurations and data."""
    folder = place / name
    folder.mkdir(parents=True)
    make_scored("2020-01-01", 31, rows=10).to_csv(folder / "scores.csv", index=False)
    shared = {
        "history": {"database": "${HISTORY}"},
        "schedule": {"cron": "0 3 3 * *"},
        "report": BRIEF,
        **tables,
    }
    return [write_audit(folder, audit, **shared) for audit in audits or ("loans",)]


def read_records(url: str) -> tuple[Record, ...]:
    with open_history(url, create=False) as opened:
        return opened.records()


def assert_intact(*configs: Path) -> None:
    for config in configs:
        found = verify_audit_history(read_plan(config))
        assert (found.findings, found.warnings) == ((), ())


# --- the lock ---


def test_one_machine_at_a_time_holds_the_lock_of_an_audit(history: str) -> None:
    address = read_url(history)
    with hold_database_lock(address, "loans", wait=0):
        with hold_database_lock(address, "cards", wait=0):
            pass
        with (
            pytest.raises(
                UsageError,
                match=r"^Another run of the audit loans, on this or another machine that shares the history "
                r"postgresql://scorereport:\*\*\*@127\.0\.0\.1:\d+/\w+, did not end within 0\.05 seconds\.$",
            ),
            hold_database_lock(address, "loans", wait=0.05),
        ):
            pass
    with hold_database_lock(address, "loans", wait=0):
        pass


def test_the_lock_of_a_process_that_is_killed_is_free(history: str) -> None:
    address = read_url(history)
    reader, writer = os.pipe()

    def hold() -> None:
        with hold_database_lock(address, "loans", wait=0):
            os.write(writer, b"held")
            signal.pause()

    child = fork(hold)
    assert os.read(reader, 4) == b"held"
    with pytest.raises(UsageError, match="did not end within"), hold_database_lock(address, "loans", wait=0):
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with hold_database_lock(address, "loans", wait=20):
        pass
    os.close(reader)
    os.close(writer)


def test_a_run_on_another_machine_is_waited_for(
    history: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here,), (there,) = add_machine(tmp_path, "here"), add_machine(tmp_path, "there")
    with (
        hold_audit_lock(read_plan(there)),
        pytest.raises(UsageError, match="Another run of the audit loans, on this or another machine"),
    ):
        run_audit(here, as_of=MOMENT, wait=0.05)
    first, second = run_audit(here, as_of=MOMENT), run_audit(there, as_of=MOMENT)
    assert (first.is_new, second.is_new, len(read_records(history))) == (True, False, 1)
    with open(there.with_name("scores.csv"), "a") as file:  # later outcomes, or a file that differs
        file.write("2020-01-31,1,0.5\n")
    monkeypatch.setattr(audit_report, "evaluate", None)
    assert run_audit(there, as_of=MOMENT, once=True).record.sha256 == first.record.sha256
    assert len(read_records(history)) == 1
    assert_intact(here, there)


@pytest.mark.sweep
def test_a_failed_run_is_tried_on_the_other_machine(history: str, tmp_path: Path) -> None:
    (here,), (there,) = add_machine(tmp_path, "here"), add_machine(tmp_path, "there")
    here.with_name("scores.csv").unlink()
    assert run_audit(here, as_of=MOMENT, once=True).record.status is AuditStatus.FAILED
    assert run_audit(there, as_of=MOMENT, once=True).record.status is AuditStatus.DONE
    assert run_audit(here, as_of=MOMENT, once=True).record.id == 2
    assert len(read_records(history)) == 2
    assert_intact(here, there)


def test_once_and_again_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="`--once` and `--again` exclude each other"):
        run(tmp_path / "audit.toml", once=True, again=True)


@pytest.mark.sweep
def test_a_copy_of_the_folder_of_another_machine_is_named(history: str, tmp_path: Path) -> None:
    (here,) = add_machine(tmp_path, "here")
    make_scored("2019-12-01", 62, rows=10).to_csv(here.with_name("scores.csv"), index=False)
    run_audit(here, as_of="2020-01-10")
    shutil.copytree(here.parent, tmp_path / "there")
    there = tmp_path / "there" / here.name
    run_audit(there, as_of=MOMENT)
    with pytest.raises(UsageError, match=r"If another machine works with a copy of this folder, both have"):
        run_audit(here, as_of=MOMENT, again=True)
    for name in ("home", read_plan(there).chain_head.name, "reports"):
        path = there.parent / "audits" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    run_audit(there, as_of=MOMENT, again=True)
    assert len({record.home for record in read_records(history)}) == 2


@pytest.mark.sweep
def test_site_and_export_of_a_machine_lack_the_files_of_others(history: str, tmp_path: Path) -> None:
    (here,), (there,) = add_machine(tmp_path, "here"), add_machine(tmp_path, "there", "cards")
    run_audit(here, as_of=MOMENT)
    run_audit(there, as_of=MOMENT)
    plan = read_plan(here)
    with open_history(history) as opened:
        publish_site(plan, opened, tmp_path / "site")
        export_history(
            opened, tmp_path / "all.zip", find_folder=lambda record: plan.resolve(record.folder), audit=None
        )
    reports = sorted(path.parent.name for path in (tmp_path / "site" / "reports").rglob("*.json"))
    assert reports == ["loans"]
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert [name for name in archive.namelist() if "reports/" in name] == ["reports/loans/2020-01.json"]
        assert "are kept on another machine" in archive.read("README.txt").decode()
        assert "cards/2020-01.json" in archive.read("README.txt").decode()
    assert "Files of cards are kept elsewhere: verify them there." in verify_audit_history(plan).notes


# --- processes ---


@pytest.mark.sweep
def test_runs_of_two_machines_at_the_same_time_make_one_record_of_each_audit(
    history: str, tmp_path: Path
) -> None:
    configs = [
        config for name in ("here", "there") for config in add_machine(tmp_path, name, "loans", "cards")
    ]
    started = [start_audit("run", config, "--once", "--as-of", MOMENT) for config in configs]
    ends = [(*process.communicate(timeout=300), process.returncode) for process in started]
    assert [code for *_, code in ends] == [0] * 4, ends
    records = read_records(history)
    assert sorted(record.audit for record in records) == ["cards", "loans"]
    assert_intact(*configs)


@contextmanager
def serving_machines(place: Path, now: str, *names: str) -> Iterator[list[Serving]]:
    """Servers that are started by the test, each in its own folder."""
    servers = [Serving(place / name, now) for name in names]
    try:
        yield servers
    finally:
        for server in servers:
            if server.process is not None and server.process.poll() is None:
                server.stop(signal.SIGKILL)


@pytest.mark.sweep
def test_servers_of_two_machines_record_each_scheduled_time_once(history: str, tmp_path: Path) -> None:
    with serving_machines(tmp_path, "2020-02-03 02:59:59", "here", "there") as servers:
        for server in servers:
            server.folder.rmdir()
            add_machine(server.folder.parent, "audits", "loans", "cards")
            server.start(start_command=RUN)
        for server in servers:
            wait_for(lambda server=server: len(server.find("audit.scheduled")) == 2)
        for server in servers:
            server.set_clock("2020-02-03 03:00:00")
        for server in servers:
            wait_for(lambda server=server: len(server.find("audit.finished", exit_code=0)) == 2, 300)
            assert server.stop() == 0
        records = read_records(history)
        assert sorted((record.audit, at(record.as_of[:19])) for record in records) == [
            ("cards", at("2020-02-03 03:00")),
            ("loans", at("2020-02-03 03:00")),
        ]
        assert_intact(*(server.folder / "loans.toml" for server in servers))


# --- a database that goes away ---


@pytest.fixture
def own_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that a test may halt; its tests use `postgres_server`, which skips where there is none."""
    server = start_server()
    monkeypatch.setenv("HISTORY", server.url("postgres"))
    try:
        yield server
    finally:
        stop_server(server)


def test_a_record_whose_confirmation_was_lost_is_stored_once(
    history: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (config,) = add_machine(tmp_path, "here")
    writing, calls = History.writing, []

    @contextmanager
    def lose_connection(self: History) -> Iterator[object]:
        calls.append(None)
        with writing(self) as connection:
            yield connection
        if len(calls) == 1:
            raise UnreachableError("The connection is lost after the commit.")

    run_audit(config, as_of="2020-01-10")  # creates the tables
    monkeypatch.setattr(History, "writing", lose_connection)
    outcome = run_audit(config, as_of=MOMENT)
    assert (len(calls), outcome.is_new, outcome.record.id) == (2, True, 2)
    assert outcome.files[0].exists()
    assert [record.id for record in read_records(history)] == [1, 2]
    assert_intact(config)


@pytest.mark.usefixtures("history")
def test_a_history_that_stays_away_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (config,) = add_machine(tmp_path, "here")
    run_audit(config, as_of="2020-01-10")
    monkeypatch.setattr(store, "RECOVERY_SECONDS", 0.2)
    monkeypatch.setattr(database, "_RECOVERY_PAUSE", 0.05)
    right = audit_report.evaluate

    def lose_database(*arguments: object, **options: object) -> object:
        monkeypatch.setattr("sqlalchemy.engine.Engine.connect", raise_lost)
        return right(*arguments, **options)

    monkeypatch.setattr(audit_report, "evaluate", lose_database)
    with pytest.raises(
        UsageError,
        match=r"^The history postgresql://\S+ cannot be used: .*Connection refused.* "
        r"This failure could not be recorded: The history ",
    ):
        run_audit(config, as_of=MOMENT)


def raise_lost(_: object) -> None:
    from psycopg import OperationalError
    from sqlalchemy.exc import OperationalError as Wrapped

    raise Wrapped("SELECT 1", {}, OperationalError("connection failed: Connection refused"))


@pytest.mark.sweep
@pytest.mark.usefixtures("postgres_server")
def test_a_restart_of_the_database_during_a_run_makes_one_record(
    own_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (config,) = add_machine(tmp_path, "here")
    right = audit_report.evaluate

    def restart(*arguments: object, **options: object) -> object:
        halt_server(own_server)
        resume_server(own_server)
        return right(*arguments, **options)

    monkeypatch.setattr(audit_report, "evaluate", restart)
    outcome = run_audit(config, as_of=MOMENT)
    assert (outcome.is_new, outcome.record.status, outcome.problems) == (True, AuditStatus.DONE, ())
    assert len(read_records(own_server.url("postgres"))) == 1
    assert_intact(config)


@pytest.mark.sweep
@pytest.mark.usefixtures("postgres_server")
def test_a_server_outlives_a_database_that_is_away_and_records_once(
    own_server: Server, tmp_path: Path
) -> None:
    with serving_machines(tmp_path, "2020-02-03 02:59:59", "here") as (server,):
        server.folder.rmdir()
        (config,) = add_machine(server.folder.parent, "audits")
        run_audit(config, as_of="2020-01-10")
        server.start(start_command=RUN, retry_seconds=[0.5] * 20)
        wait_for(lambda: server.find("audit.scheduled"))
        halt_server(own_server)
        server.set_clock("2020-02-03 03:00:00")
        wait_for(lambda: server.find("audit.finished", exit_code=2), 300)
        resume_server(own_server)
        wait_for(lambda: server.find("audit.finished", exit_code=0), 300)
        server.let_polls_pass()
        assert server.stop() == 0
        line = server.find("audit.finished", exit_code=2)[0]["last_line"]
        assert "cannot be used: connection failed" in line
        assert "Connection refused" in line
        assert own_server.password not in server.log.read_text()
        statuses = [str(record.status) for record in read_records(os.environ["HISTORY"])]
        assert statuses == ["failed", "done"]  # the first has no rows
        assert_intact(config)
