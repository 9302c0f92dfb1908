"""A command that is stopped, by the keyboard or by a scheduler, leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from audit_tools import make_scored, write_audit

from scorereport._utils import files
from scorereport._utils.files import write_together
from scorereport._utils.processes import Stopped, check_not_stopped, signals_deferred, stopped_by_signals
from scorereport._utils.progress import report_progress, steps
from scorereport.audit import audit_report
from scorereport.audit.run import run_audit
from scorereport.errors import UsageError
from scorereport.history.store import History
from scorereport.reference.r_session import Session

INTERRUPT, TERMINATE = signal.SIGINT, signal.SIGTERM
needs_signals = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows knows fewer signals")


def raise_signals(*numbers):
    for number in numbers:
        signal.raise_signal(number)


# ---- signals as exceptions ----


@needs_signals
@pytest.mark.parametrize(
    ("name", "code", "sentence"),
    [
        ("SIGINT", 130, "interrupted."),
        ("SIGTERM", 143, "terminated."),
        ("SIGHUP", 129, "terminated."),
    ],
)
def test_a_signal_is_an_exception_with_the_exit_code_of_shells(name, code, sentence):
    before = signal.getsignal(signal.Signals[name])
    with pytest.raises(Stopped) as stop, stopped_by_signals():
        raise_signals(signal.Signals[name])
    assert (stop.value.code, stop.value.sentence) == (code, sentence)
    assert signal.getsignal(signal.Signals[name]) is before


def test_a_second_signal_does_not_disturb_the_cleanup():
    cleaned_up = []

    def work():
        with stopped_by_signals():
            try:
                raise_signals(INTERRUPT)
            finally:
                raise_signals(INTERRUPT, TERMINATE)
                cleaned_up.append(True)

    with pytest.raises(Stopped) as stop:
        work()
    assert stop.value.code == 130
    assert cleaned_up == [True]


@needs_signals
def test_a_signal_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under nohup
    went_on = False
    try:
        with stopped_by_signals():
            raise_signals(signal.SIGHUP)
            went_on = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
    assert went_on


def test_a_block_with_deferred_signals_is_completed_first():
    done = []

    def work():
        with stopped_by_signals(), signals_deferred():
            with signals_deferred():
                raise_signals(TERMINATE)
                done.append("inner")
            done.append("outer")

    with pytest.raises(Stopped, match="143"):
        work()
    assert done == ["inner", "outer"]


def test_without_signal_handlers_nothing_changes():
    with signals_deferred():
        check_not_stopped()
    ran = []
    thread = Thread(target=lambda: ran.append(_run_in_block()))
    thread.start()
    thread.join()
    assert ran == ["ran"]


def _run_in_block():
    with stopped_by_signals(), signals_deferred():
        return "ran"


def _swallow():
    """Catch every exception, as some libraries do."""
    try:
        raise_signals(INTERRUPT)
    except BaseException:
        return


def test_an_error_after_a_swallowed_signal_is_the_signal():
    def work():
        with stopped_by_signals():
            _swallow()
            raise UsageError("The picture is broken.")

    with pytest.raises(Stopped, match="130"):
        work()


@pytest.mark.parametrize("what", ["steps", "report", "files"])
def test_a_swallowed_signal_ends_the_work_with_the_next_step(tmp_path, what):
    went_on = []

    def work():
        with stopped_by_signals():
            _swallow()
            if what == "steps":
                went_on.extend(steps([1, 2, 3], 3, "walking"))
            elif what == "report":
                report_progress("sorting", 1, 2)
            else:
                write_together({tmp_path / "report.html": b"broken"})

    with pytest.raises(Stopped, match="130"):
        work()
    assert went_on in ([], [1])
    assert list(tmp_path.iterdir()) == []


# ---- files ----


@pytest.mark.parametrize("moment", ["while filling", "before renaming", "while renaming"])
def test_files_are_written_together_or_not_at_all_whenever_a_signal_comes(tmp_path, monkeypatch, moment):
    old = {tmp_path / name: name.encode() for name in ("a", "b")}
    write_together(old)
    fill, rename = files._fill, Path.replace

    def filling(file, content):
        is_second = Path(file.name).name.startswith(".b")
        if moment == "while filling" and is_second:
            file.write(b"half")
            raise_signals(INTERRUPT)
        fill(file, content)
        if moment == "before renaming" and is_second:
            raise_signals(INTERRUPT)

    def renaming(path, target):
        if moment == "while renaming" and path.name.startswith(".a"):
            raise_signals(INTERRUPT)
        return rename(path, target)

    monkeypatch.setattr(files, "_fill", filling)
    monkeypatch.setattr(Path, "replace", renaming)
    with pytest.raises(Stopped, match="130"), stopped_by_signals():
        write_together(dict.fromkeys(old, b"new"))
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}
    expected = {b"new"} if moment == "while renaming" else {b"a", b"b"}
    assert {path.read_bytes() for path in old} == expected


def test_files_to_be_published_have_the_rights_that_others_have(tmp_path):
    (tmp_path / "other").touch()
    (path,) = write_together({tmp_path / "report": b""}, public=True)
    assert path.stat().st_mode == (tmp_path / "other").stat().st_mode


# ---- R ----


def test_an_interrupt_while_r_works_leaves_neither_process_nor_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    idle = [sys.executable, "-c", "import time; time.sleep(60)"]

    def ask():
        with stopped_by_signals(), Session(idle, [], time_limit=60) as session:
            started.append(session.process_id)
            Thread(target=lambda: (time.sleep(0.2), os.kill(os.getpid(), TERMINATE))).start()
            session.ask("hello")

    started = []
    with pytest.raises(Stopped, match="143"):
        ask()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(started[0], 0)


def test_an_interrupt_while_r_is_started_leaves_neither_process_nor_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    started, start = [], subprocess.Popen

    def slow(*arguments, **options):
        started.append(start(*arguments, **options))
        raise_signals(INTERRUPT)
        return started[0]

    monkeypatch.setattr("scorereport.reference.r_session.subprocess.Popen", slow)
    with pytest.raises(Stopped, match="130"), stopped_by_signals():
        Session([sys.executable, "-c", "import time; time.sleep(60)"], [], time_limit=60)
    assert list(tmp_path.iterdir()) == []
    assert started[0].poll() is not None


# ---- audits ----


@pytest.fixture
def folder(tmp_path):
    make_scored("2026-10-01", 31, rows=10).to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path


def list_files(folder):
    found = (path.relative_to(folder).as_posix() for path in (folder / "audits").rglob("*") if path.is_file())
    return sorted(name for name in found if "/locks/" not in f"/{name}" or name.endswith(".untold"))


def test_an_audit_that_is_stopped_while_it_evaluates_leaves_no_file(folder, monkeypatch):
    config = write_audit(folder)
    monkeypatch.setattr(audit_report, "evaluate", lambda *_, **__: raise_signals(TERMINATE))
    with pytest.raises(Stopped, match="143"), stopped_by_signals():
        run_audit(config, as_of="2026-11-02")
    assert [name for name in list_files(folder) if not name.endswith("history.db")] == []


def test_a_record_and_its_files_are_made_together(folder, monkeypatch):
    """A signal while the record is added is deferred until its report is in its place."""
    config = write_audit(folder)
    append = History.append

    def slow(*arguments, **options):
        raise_signals(INTERRUPT)
        return append(*arguments, **options)

    monkeypatch.setattr(History, "append", slow)
    with pytest.raises(Stopped, match="130"), stopped_by_signals():
        run_audit(config, as_of="2026-11-02")
    monkeypatch.undo()
    assert "audits/reports/loans/2026-10.json" in list_files(folder)
    assert not list(folder.rglob(".staging"))
    assert not run_audit(config, as_of="2026-11-02").is_new


# ---- commands ----


def start(arguments, folder, temporary):
    return subprocess.Popen(
        [sys.executable, "-m", "scorereport", *map(str, arguments)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(temporary)},
    )


def stop_after_something_temporary(arguments, folder, number, seconds):
    """Start a command, stop it so long after it has made something temporary, and see how it ends."""
    temporary = folder / "tmp"
    temporary.mkdir()
    process = start(arguments, folder, temporary)
    end = time.monotonic() + 60
    while not list(temporary.iterdir()) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
    time.sleep(seconds)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    return SimpleNamespace(code=process.returncode, stderr=stderr, left=list(temporary.iterdir()))


@pytest.mark.sweep
@needs_signals
@pytest.mark.parametrize("seconds", [0, 0.2, 0.4, 0.6])
@pytest.mark.parametrize(("number", "code"), [(INTERRUPT, 130), (TERMINATE, 143)])
def test_a_report_that_is_stopped_leaves_nothing(tmp_path, number, code, seconds):
    rng = np.random.default_rng(5)
    x = rng.random(50)
    pd.DataFrame({"y": (rng.random(50) < x).astype(int), "a": x}).to_csv(tmp_path / "p.csv", index=False)
    arguments = ["report", "p.csv", "--outcome", "y", "--forecast", "a", "--resamples", "0", "-o", "r.pdf"]
    ended = stop_after_something_temporary(arguments, tmp_path, number, seconds)
    sentence = "interrupted." if code == 130 else "terminated."
    assert (ended.code, ended.stderr, ended.left) == (code, f"scorereport: {sentence}\n", [])
    assert {path.name for path in tmp_path.iterdir()} == {"p.csv", "tmp"}
