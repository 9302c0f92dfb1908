"""Startup of `audit serve`: checks, lock and signals around the server."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from scorereport._utils.checks import check_whole
from scorereport._utils.files import remove_abandoned
from scorereport.audit.server.audit_server import NOTIFY_SECONDS, RETRY_SECONDS, AuditServer, ServerSettings
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LOCK_NAME = ".scorereport-serve.lock"
#: With `--once`, because a server on another machine may run the same audits.
_RUN_COMMAND = (sys.executable, "-m", "scorereport", "audit", "run", "--once")
#: A terminal that closes sends SIGHUP, which Windows does not have.
_STOP_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")


def serve_audits(
    folder: str | Path,
    *,
    log: IO[str] | None = None,
    poll_seconds: float = 5.0,
    grace_seconds: float = 300.0,
    longest_seconds: float = 6 * 3600.0,
    workers: int = 2,
    retry_seconds: Sequence[float] = RETRY_SECONDS,
    notify_seconds: float = NOTIFY_SECONDS,
    start_command: Sequence[str] | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> int:
    """Run the audits of a folder on their schedules until SIGTERM or SIGINT; return the exit code.

    Each run is a process of its own. The server notices configurations that are added, changed or removed. A
    second signal ends the audits that still run.

    Parameters
    ----------
    folder : the folder of configurations; those without `audit.schedule.cron` are passed over
    log : stream for events, one line of JSON each; by default standard error
    poll_seconds : seconds between two polls: checks of the folder for changes, with a new health file
    grace_seconds : how long running audits may continue after a signal to stop
    longest_seconds : how long an audit may run at most before it is ended
    workers : how many audits, of different configurations, may run at a time
    retry_seconds : after how long a run without a result is tried again, for each attempt
    notify_seconds : after how long without a result people are notified, by `[audit.notify]`
    start_command : the command that runs a configuration, by default
        `python -m scorereport audit run --once`
    clock : the function that returns the present moment
    """
    settings = ServerSettings(
        folder=_check_folder(Path(folder)),
        poll_seconds=_check_seconds(poll_seconds, "poll_seconds"),
        grace_seconds=_check_seconds(grace_seconds, "grace_seconds", may_be_zero=True),
        longest_seconds=_check_seconds(longest_seconds, "longest_seconds"),
        workers=check_whole(workers, "workers", smallest=1),
        retry_seconds=tuple(
            _check_seconds(each, "retry_seconds", may_be_zero=True) for each in retry_seconds
        ),
        notify_seconds=_check_seconds(notify_seconds, "notify_seconds"),
        start_command=tuple(start_command or _RUN_COMMAND),
    )
    remove_abandoned()
    with _hold_server_lock(settings.folder):
        server = AuditServer(settings, sys.stderr if log is None else log, clock)
        with _stop_signals_caught(server.request_stop):
            server.run()
    return 0


def _check_folder(folder: Path) -> Path:
    if not folder.is_dir():
        raise UsageError(f"`audit serve` needs a folder of configurations; {folder} is not a folder.")
    return folder.absolute()


def _check_seconds(seconds: float, name: str, *, may_be_zero: bool = False) -> float:
    if 0 < seconds < float("inf") or (may_be_zero and seconds == 0):
        return seconds
    rule = "a number of at least 0" if may_be_zero else "a number above 0"
    raise UsageError(f"`{name}` must be {rule}; got {seconds!r}.")


@contextmanager
def _hold_server_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder: two servers would run every audit twice."""
    from filelock import FileLock, Timeout

    lock = FileLock(folder / LOCK_NAME, timeout=0, mode=0o600)
    try:
        lock.acquire()
    except Timeout as error:
        raise UsageError(
            f"Another `scorereport audit serve` already runs on {folder}; stop it first, or serve another "
            "folder."
        ) from error
    except OSError as error:
        raise UsageError(
            f"`audit serve` cannot write its lock and its health file into {folder}: {error.strerror}."
        ) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _stop_signals_caught(request_stop: Callable[[], None]) -> Iterator[None]:
    """Call a function at each signal to stop; a signal that is ignored already, as under nohup, stays so."""
    known = [signal.Signals[name] for name in _STOP_SIGNALS if name in signal.Signals.__members__]
    caught = [number for number in known if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, lambda *_: request_stop()) for number in caught}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
