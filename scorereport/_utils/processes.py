"""Signals that stop this process, raised as exceptions, and termination of process groups."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager, suppress
from threading import current_thread, main_thread
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from types import FrameType

#: Sent by the keyboard, by a scheduler, and by a terminal that closes; Windows does not have the last.
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
#: Shells add this to the number of a signal for the exit code of a process that it ended.
_SIGNAL_EXIT_BASE = 128
#: For this many seconds after a signal, further signals are ignored so that they do not disturb the clean-up.
_GRACE_SECONDS = 3.0


class Stopped(SystemExit):
    """A signal that stops the program; the code is that of shells for this signal.

    It is not a KeyboardInterrupt, which Python treats specially: the exit code would depend on where it was
    raised.
    """

    @property
    def sentence(self) -> str:
        """The message of the command line."""
        return "interrupted." if self.code == _SIGNAL_EXIT_BASE + signal.SIGINT else "terminated."


class _Listener:
    """Signal handler that raises an exception, at once or at the end of a deferred block."""

    def __init__(self) -> None:
        self.first: Stopped | None = None
        self.depth = 0
        self._last_signal = -_GRACE_SECONDS
        self._waiting: Stopped | None = None

    def __call__(self, number: int, _: FrameType | None) -> None:
        if monotonic() - self._last_signal < _GRACE_SECONDS:
            return
        self._last_signal = monotonic()
        stop = Stopped(_SIGNAL_EXIT_BASE + number)
        self.first = self.first or stop
        if self.depth:
            self._waiting = stop
        else:
            raise stop

    def catch_up(self) -> None:
        """Raise the exception of a signal that was deferred, if any."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            raise waiting


_listener: _Listener | None = None


def is_own_program() -> bool:
    """Whether this process runs a command of scorereport, and not a program of others that imports it."""
    return _listener is not None


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP end the block by `Stopped`; a signal that is ignored stays ignored.

    Any other exception after a signal is taken as its consequence, and becomes `Stopped` as well: some
    libraries catch every exception.
    """
    global _listener  # noqa: PLW0603  # signals concern the whole process
    if current_thread() is not main_thread():
        yield
        return
    known = [signal.Signals[name] for name in _SIGNALS if name in signal.Signals.__members__]
    handled = [number for number in known if signal.getsignal(number) is not signal.SIG_IGN]
    outer, listener = _listener, _Listener()
    before = {number: signal.signal(number, listener) for number in handled}
    _listener = listener
    try:
        yield
    except Exception as error:
        if listener.first is not None:
            raise listener.first from error
        raise
    finally:
        _listener = outer
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def signals_deferred() -> Iterator[None]:
    """Defer signals until the end of the block, which is short and must run completely or not at all."""
    listener = _listener
    if listener is None or current_thread() is not main_thread():
        yield
        return
    listener.depth += 1
    try:
        yield
    finally:
        listener.depth -= 1
    if not listener.depth:
        listener.catch_up()


def check_not_stopped() -> None:
    """Raise `Stopped` if a library caught the exception of a signal: results since then may be incomplete."""
    if _listener is not None and _listener.first is not None and not _listener.depth:
        raise _listener.first


def kill_process_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that leads its own group, and all processes that it started."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
