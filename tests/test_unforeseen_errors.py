"""Unforeseen errors end in one sentence and exit code 70, never in 1, which means a breached limit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from audit_tools import make_scored, write_audit

import scorereport
from scorereport._utils import exits
from scorereport._utils.formatting import visible, visible_lines
from scorereport.audit import after_run, audit_report
from scorereport.audit import run as running
from scorereport.audit.outcomes import summarize_outcome
from scorereport.audit.run import run_audit
from scorereport.channels import notification
from scorereport.errors import DataError, ExitCode, InternalError, ScoreReportError
from scorereport.history.audit_record import AuditStatus
from scorereport.history.signing_keys import create_signing_key

AS_OF = "2026-10-02"
SCORE = ("score", "scores.csv", "--outcome", "y", "--forecast", "logit", "--resamples", "0")
#: Sets the window's title, rings the bell, colours what follows, reverses it.
STEERING = "a\x1b]0;owned\x07\x1b[31m\x9b2J\u202eb\u2066c\nd"
SHOWN = r"a\x1b]0;owned\x07\x1b[31m\x9b2J\u202eb\u2066c\nd"


class Speechless(Exception):  # noqa: N818  # of a library whose errors are broken
    """An error whose text cannot be read."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class OutOfMemoryException(Exception):  # noqa: N818  # as DuckDB calls it
    """What DuckDB raises, which is not a MemoryError."""


@pytest.fixture(scope="module", autouse=True)
def signing_key():
    """The key that signs records is there already: the first audit of all says that it makes it."""
    path = Path(os.environ["XDG_CONFIG_HOME"]) / "scorereport" / "audit-key.pem"
    if not path.exists():
        create_signing_key(path)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    make_scored("2026-09-01", 30, rows=3).to_csv(tmp_path / "scores.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stumble_with(error):
    def stumble(*_arguments, **_options):
        raise error

    return stumble


def is_plain(text):
    """Whether a text holds nothing that steers a terminal."""
    return all(line.isprintable() for line in text.split("\n"))


# --- the command line ---

UNFORESEEN = [
    ValueError("one\ntwo \x1b[2J"),
    KeyError("logit"),
    EOFError(),
    RecursionError("maximum recursion depth exceeded"),
    ImportError("No module named 'numpy.core'"),
    SystemExit(1),
    AssertionError(),
    Speechless(),
]


@pytest.mark.sweep(after=1)
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("error", UNFORESEEN, ids=lambda error: type(error).__name__)
def test_an_unforeseen_error_is_one_sentence_and_exit_code_70(monkeypatch, call, error):
    monkeypatch.setattr("scorereport.evaluation.dispatch.evaluate", stumble_with(error))
    code, out, stderr = call(*SCORE)
    assert (code, out) == (ExitCode.INTERNAL, "")
    (line,) = filter(None, stderr.split("\n"))
    assert line.startswith(f"scorereport: internal error, please report it: {type(error).__name__}")
    assert line.endswith("(--debug shows where it happened)")
    assert is_plain(stderr)


@pytest.mark.usefixtures("folder")
def test_a_failure_of_the_error_handler_is_an_internal_error(monkeypatch, call):
    monkeypatch.setattr("scorereport.evaluation.dispatch.evaluate", stumble_with(ValueError()))
    monkeypatch.setattr("scorereport.cli.entry_point.format_exit_message", stumble_with(MemoryError()))
    assert call(*SCORE) == (ExitCode.INTERNAL, "", "scorereport: internal error, please report it.\n")


@pytest.mark.usefixtures("folder")
def test_debug_shows_where_it_happened(monkeypatch, call):
    monkeypatch.setattr("scorereport.evaluation.dispatch.evaluate", stumble_with(ValueError("\x1b[2J")))
    code, _, stderr = call("--debug", *SCORE)
    assert code == ExitCode.INTERNAL
    assert "Traceback (most recent call last)" in stderr
    assert "in stumble" in stderr
    assert is_plain(stderr)


@pytest.mark.usefixtures("folder")
def test_an_unforeseen_error_does_not_show_a_password(monkeypatch, call):
    error = RuntimeError("no route to postgresql://me:hunter22@host/data")
    monkeypatch.setattr("scorereport.evaluation.dispatch.evaluate", stumble_with(error))
    _, _, stderr = call("--debug", *SCORE)
    assert "hunter22" not in stderr
    assert "postgresql://***@host/data" in stderr


OUT_OF_MEMORY = [
    MemoryError(),
    type("ArrowMemoryError", (MemoryError,), {})("malloc of size 17179869184 failed"),
    OutOfMemoryException("failed to allocate"),
    RuntimeError("std::bad_alloc"),
]


@pytest.mark.sweep(after=1)
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("error", OUT_OF_MEMORY, ids=lambda error: type(error).__name__)
def test_running_out_of_memory_is_foreseen(monkeypatch, call, error):
    monkeypatch.setattr("scorereport.evaluation.dispatch.evaluate", stumble_with(error))
    code, out, stderr = call(*SCORE)
    assert (code, out, stderr) == (ExitCode.DATA_REFUSED, "", f"scorereport: {exits.OUT_OF_MEMORY}\n")


@pytest.mark.usefixtures("folder")
def test_an_interrupt_and_an_error_of_the_system_end_as_before(monkeypatch, call):
    monkeypatch.setattr("scorereport.evaluation.dispatch.evaluate", stumble_with(KeyboardInterrupt()))
    assert call(*SCORE) == (130, "", "scorereport: interrupted.\n")
    monkeypatch.setattr(
        "scorereport.evaluation.dispatch.evaluate", stumble_with(OSError(28, "No space left"))
    )
    assert call(*SCORE) == (ExitCode.USAGE, "", "scorereport: [Errno 28] No space left\n")


def test_in_python_errors_stay_what_they_are(monkeypatch):
    monkeypatch.setattr(
        "scorereport.evaluation.dispatch.read_checked", stumble_with(ZeroDivisionError("division"))
    )
    with pytest.raises(ZeroDivisionError, match=r"^division$"):
        scorereport.evaluate(make_scored("2026-09-01", 2), outcome="y", forecasts=["logit"])


def run(*arguments, code="", **options):
    """The program in a process of its own, after lines of Python that spoil it."""
    probe = f"{code}\nimport sys; from scorereport.cli import main; sys.argv[0] = 'scorereport'; main()"
    command = [sys.executable, "-c", probe, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("module", ["typer", "rich.console", "numpy", "scorereport.cli.audit_commands"])
def test_a_package_that_cannot_be_imported_is_an_internal_error(folder, module):
    done = run(*SCORE, code=f"import sys; sys.modules[{module!r}] = None", cwd=folder)
    assert done.returncode == ExitCode.INTERNAL
    assert done.stderr.startswith("scorereport: internal error, please report it: ModuleNotFoundError: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.sweep
def test_a_closed_pipe_is_not_an_error(folder):
    """As in `scorereport ... | head`: shells expect the exit code of SIGPIPE."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "scorereport", *SCORE]
    done = subprocess.run(
        command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=120, check=False, cwd=folder
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


def test_output_on_a_full_disk_is_an_error_of_the_system():
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full on this machine")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "scorereport", "--version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == ExitCode.USAGE
    assert done.stderr == "scorereport: [Errno 28] No space left on device\n"


def test_what_fails_in_a_thread_or_a_finalizer_is_one_line():
    code = (
        "import threading, scorereport.cli.application as commands\n"
        "class Broken:\n"
        "    def __del__(self): raise ValueError('in a\\nfinalizer')\n"
        "def work(): raise ValueError('in a \\x1b thread')\n"
        "def run():\n"
        "    thread = threading.Thread(target=work); thread.start(); thread.join()\n"
        "    broken = Broken(); del broken\n"
        "    return 0\n"
        "commands.run_command_line = run\n"
    )
    done = run(code=code)
    assert done.returncode == ExitCode.DONE
    assert done.stderr.splitlines() == [
        r"scorereport: in the background: ValueError: in a \x1b thread",
        r"scorereport: in the background: ValueError: in a\nfinalizer",
    ]


@pytest.mark.sweep
@pytest.mark.parametrize("command", ["score", "audit"])
def test_memory_that_really_runs_out_ends_in_a_sentence(folder, command):
    """The limit leaves room for the program, and none for a list that grows without end."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("only Linux reports how much memory the program already uses")
    module = "scorereport.evaluation.dispatch" if command == "score" else "scorereport.audit.audit_report"
    code = (
        f"import resource, {module} as module\n"
        "def evaluate(*_, **__):\n"
        "    used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20), resource.RLIM_INFINITY))\n"
        "    hoard = []\n"
        "    while True:\n"
        "        hoard.append(bytearray(1 << 20))\n"
        "module.evaluate = evaluate\n"
    )
    audit = ("audit", "run", write_audit(folder), "--as-of", AS_OF)
    done = run(*(SCORE if command == "score" else audit), code=code, cwd=folder)
    assert done.stderr == f"scorereport: {exits.OUT_OF_MEMORY}\n"
    assert done.returncode == ExitCode.DATA_REFUSED
    assert ("loans 2026-09: failed, record 1" in done.stdout) is (command == "audit")


# --- documents that are nested too deeply ---

DEEP = "[" * 100_000


def test_results_that_are_nested_too_deeply_are_refused(tmp_path, call):
    (tmp_path / "deep.json").write_text(DEEP)
    code, _, stderr = call("report", "--from", tmp_path / "deep.json", "-o", tmp_path / "x.html")
    assert code == ExitCode.DATA_REFUSED
    deep = tmp_path / "deep.json"
    assert stderr == f"scorereport: {deep} cannot be read: its lists and objects are nested too deeply.\n"


def test_a_configuration_that_is_nested_too_deeply_is_refused_everywhere(tmp_path, call):
    from scorereport.audit.server.configuration_folder import ConfigurationFolder
    from scorereport.history.expiry import read_expiry_terms

    (tmp_path / "deep.toml").write_text(f"a = {DEEP}")
    code, _, stderr = call("audit", "run", tmp_path / "deep.toml")
    assert code == ExitCode.USAGE
    assert stderr.count("\n") == 1
    (refused,) = ConfigurationFolder(tmp_path).update()
    assert refused.reason == "deep.toml is not a TOML file: maximum recursion depth exceeded."
    with pytest.raises(ValueError, match=r"^its lists are nested too deeply$"):
        read_expiry_terms(f"a = {DEEP}".encode())


# --- audits ---


@pytest.fixture
def heard(folder):
    """The configuration of an audit whose notifications go to a file, and what arrived there."""
    inbox = folder / "inbox"
    config = write_audit(folder, notify={"command": ["sh", "-c", f"cat >> {inbox}; echo >> {inbox}"]})

    def read():
        return [json.loads(line) for line in inbox.read_text().splitlines()] if inbox.exists() else []

    return config, read


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (ZeroDivisionError("division"), ExitCode.INTERNAL, "ZeroDivisionError: division"),
        (RecursionError("too deep"), ExitCode.INTERNAL, "RecursionError: too deep"),
        (MemoryError(), ExitCode.DATA_REFUSED, exits.OUT_OF_MEMORY),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_audit_with_an_unforeseen_error_is_recorded_and_people_are_notified(
    heard, monkeypatch, call, error, code, reason
):
    config, read = heard
    monkeypatch.setattr(audit_report, "evaluate", stumble_with(error))
    found, out, stderr = call("audit", "run", config, "--as-of", AS_OF)
    assert found == code
    assert "loans 2026-09: failed, record 1" in out
    is_internal = code == ExitCode.INTERNAL
    (line,) = stderr.splitlines()
    assert line.startswith("scorereport: internal error, please report it: ") is is_internal
    assert reason in line
    (outcome,) = read()
    assert (outcome["status"], outcome["exit_code"], outcome["reason"]) == ("failed", code, reason)
    assert outcome["record"]["id"] == 1


@pytest.mark.sweep
def test_debug_before_or_after_the_command_shows_the_traceback_of_an_audit(heard, monkeypatch, call):
    config, _ = heard
    monkeypatch.setattr(audit_report, "evaluate", stumble_with(ZeroDivisionError("division")))
    for arguments in (["--debug", "audit", "run", config], ["audit", "run", config, "--debug"]):
        _, _, stderr = call(*arguments, "--as-of", AS_OF)
        assert "Traceback (most recent call last)" in stderr


def test_rows_are_released_before_a_failure_is_recorded(heard, monkeypatch):
    class Rows:
        pass

    kept = []

    def hoard(*_arguments, **_options):
        rows = Rows()
        kept.append(weakref.ref(rows))
        raise MemoryError

    def begin_record(self):
        assert kept[0]() is None, "the rows are still in memory"
        return before(self)

    before = running.AuditRun._begin_record
    monkeypatch.setattr(audit_report, "evaluate", hoard)
    monkeypatch.setattr(running.AuditRun, "_begin_record", begin_record)
    assert run_audit(heard[0], as_of=AS_OF).record.exit_code == ExitCode.DATA_REFUSED


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("place", ["open_signed_history", "check_chain_head", "complete_run"])
def test_an_unforeseen_error_outside_of_the_run_is_notified_too(heard, monkeypatch, call, place):
    config, read = heard
    monkeypatch.setenv("TOKEN", "hunter22")
    monkeypatch.setattr(notification, "RETRY_PAUSES", ())
    config.write_text(config.read_text() + '[audit.notify.webhook]\nurl = "http://127.0.0.1:9/${TOKEN}"\n')
    monkeypatch.setattr(running, place, stumble_with(ZeroDivisionError("by hunter22")))
    code, _, stderr = call("--debug", "audit", "run", config, "--as-of", AS_OF)
    assert code == ExitCode.INTERNAL
    assert "scorereport: internal error, please report it: ZeroDivisionError: by ***" in stderr
    assert "hunter22" not in stderr
    last = read()[-1]
    assert (last["status"], last["exit_code"]) == ("failed", ExitCode.INTERNAL)
    assert last["record"] is None


def test_a_notifier_that_fails_hides_nothing(heard, monkeypatch, call):
    config, _ = heard
    monkeypatch.setattr(after_run, "send_notifications", stumble_with(TypeError("a bug of the notifier")))
    code, _, stderr = call("audit", "run", config, "--as-of", AS_OF)
    assert code == ExitCode.INTERNAL
    assert "TypeError: a bug of the notifier" in stderr


def test_an_unforeseen_error_that_cannot_be_recorded_keeps_its_exit_code(heard, monkeypatch, call):
    config, read = heard
    monkeypatch.setattr(audit_report, "evaluate", stumble_with(ZeroDivisionError("division")))
    monkeypatch.setattr(
        "scorereport.history.store.History.append", stumble_with(ScoreReportError("The disk is full."))
    )
    code, _, stderr = call("audit", "run", config, "--as-of", AS_OF)
    assert code == ExitCode.INTERNAL
    assert "ZeroDivisionError: division This failure could not be recorded: The disk is full." in stderr
    assert [outcome["record"] for outcome in read()] == [None]


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("command", ["verify", "history", "export", "site"])
def test_an_unforeseen_error_of_verify_does_not_mean_changed(heard, monkeypatch, call, command):
    config, _ = heard
    run_audit(config, as_of=AS_OF)
    monkeypatch.setattr("scorereport.history.store.open_history", stumble_with(KeyError("sha256")))
    monkeypatch.setattr("scorereport.audit.integrity.open_unchecked", stumble_with(KeyError("sha256")))
    code, _, stderr = call("audit", command, config)
    assert code == ExitCode.INTERNAL
    assert stderr.startswith("scorereport: internal error, please report it: KeyError: 'sha256'")


def test_an_email_about_a_failure_without_a_record_can_be_written():
    from scorereport.channels.mail import EmailTable, compose_email
    from scorereport.channels.notification import Notification, SecretReader
    from scorereport.configuration.periods import Period
    from scorereport.history.audit_record import Record

    record = Record(
        audit="loans",
        period=Period(label="2026-09", start=None, end="2026-09-30"),
        as_of=AS_OF,
        status=AuditStatus.FAILED,
        exit_code=70,
        started=AS_OF,
        finished=AS_OF,
        reason="The database is gone.",
    )
    table = EmailTable(host="mail", sender="a@b.example", recipients=("c@d.example",))
    failure_notification = Notification(outcome=summarize_outcome(record, files=()), files=())
    message, problems = compose_email(table, failure_notification, SecretReader(lambda text, _key: text))
    assert problems == []
    assert "The database is gone." in message.get_content()
    assert "There is no record of this run." in message.get_content()


# --- escape sequences ---


def test_what_steers_a_terminal_is_shown_by_its_code():
    assert visible(STEERING) == SHOWN
    assert visible("Größe ∞ − 日本\u00a0x") == "Größe ∞ − 日本\u00a0x"
    assert visible("\ud800") == r"\ud800"
    assert visible_lines("a\nb\x1b") == "a\nb\\x1b"


@pytest.mark.sweep
def test_names_of_files_columns_and_values_do_not_steer_the_terminal(folder, call):
    name = STEERING.replace("\n", "").replace("/", "")
    (folder / f"{name}.csv").write_text(f"y,{name}\n0,0.5\n1,2.5\n")
    for arguments in (
        ["score", "scores.csv", "--outcome", name, "--forecast", "logit"],
        ["score", f"{name}.csv", "--outcome", "y", "--forecast", name],
        ["score", f"{name}.parquet", "--outcome", "y", "--forecast", name],
        [f"--{name}"],
    ):
        code, out, stderr = call(*arguments)
        assert code in (ExitCode.USAGE, ExitCode.DATA_REFUSED)
        assert out == ""
        assert r"\x1b" in stderr
        assert is_plain(stderr)


def test_tables_do_not_steer_the_terminal(folder, call):
    frame = make_scored("2026-09-01", 30, rows=3)
    name = STEERING.replace("\n", "")
    frame["g"] = ["\x1b[2Jred", "\u202egreen"] * 45
    frame.rename(columns={"logit": name}).to_csv(folder / "odd.csv", index=False)
    given = ["score", "odd.csv", "--outcome", "y", "--forecast", name, "--group", "g", "--resamples", "0"]
    for shown in ([], ["--show", "all"]):
        code, out, stderr = call(*given, *shown)
        assert code == ExitCode.DONE, stderr
        assert (r"\x1b[2Jred" in out) is bool(shown)
        assert is_plain(out)


def test_progress_does_not_steer_the_terminal():
    from scorereport._utils.progress import Step
    from scorereport.cli.progress_display import Progress

    progress = Progress()
    progress.pace.take(Step(f"reading {STEERING}", 1, 2, "rows"))
    assert SHOWN in progress.describe()


def test_every_unforeseen_kind_has_an_exit_code_of_its_own():
    assert {int(code) for code in ExitCode} == {0, 1, 2, 3, 4, 5, 70}
    assert (
        exits.find_error_code(InternalError("x")) == exits.find_error_code(ValueError()) == ExitCode.INTERNAL
    )
    assert exits.find_error_code(DataError("x")) == ExitCode.DATA_REFUSED
    assert exits.describe_error(ValueError("x" * 5000)) == f"ValueError: {'x' * 1000}…"
