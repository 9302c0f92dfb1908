"""Signals that stop this process, raised as exceptions, and the ending of process groups."""

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


#: From the keyboard, from a scheduler, from a terminal that closes; Windows does not have the last.
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
#: Shells add this to the number of a signal for the exit code of what it ended.
_SIGNAL_EXIT_BASE = 128
#: For so many seconds after a signal no other one disturbs the tidying up.
_GRACE_SECONDS = 3.0


class Stopped(SystemExit):
    """A signal asked the program to stop; the code is the one that shells have for it.

    It is no KeyboardInterrupt, which Python never forgets: the exit code would depend on where it struck.
    """

    @property
    def sentence(self) -> str:
        """What is told of it."""
        return "interrupted." if self.code == _SIGNAL_EXIT_BASE + signal.SIGINT else "terminated."


class _Listener:
    """Raises an exception for a signal, at once or after what must not be disturbed."""

    def __init__(self) -> None:
        self.first: Stopped | None = None
        self.depth = 0
        self._heard = -_GRACE_SECONDS
        self._waiting: Stopped | None = None

    def __call__(self, number: int, _: FrameType | None) -> None:
        if monotonic() - self._heard < _GRACE_SECONDS:
            return
        self._heard = monotonic()
        stop = Stopped(_SIGNAL_EXIT_BASE + number)
        self.first = self.first or stop
        if self.depth:
            self._waiting = stop
        else:
            raise stop

    def catch_up(self) -> None:
        """Raise what waited for the end of what must not be disturbed."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            raise waiting


_listener: _Listener | None = None


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Let SIGINT, SIGTERM and SIGHUP end the block by `Stopped`; a signal that is ignored stays so.

    Whatever else the block ends with after a signal is a consequence of it, and `Stopped` as well: there
    are libraries that catch every exception.
    """
    global _listener  # noqa: PLW0603  # signals are those of the whole process
    if current_thread() is not main_thread():
        yield
        return
    known = [signal.Signals[name] for name in _SIGNALS if name in signal.Signals.__members__]
    heard = [number for number in known if signal.getsignal(number) is not signal.SIG_IGN]
    outer, listener = _listener, _Listener()
    before = {number: signal.signal(number, listener) for number in heard}
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
    """Let signals wait until the block is over: one that is short, and must be done whole or not at all."""
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
    """Raise `Stopped` if a signal came and somebody swallowed it: what is made since may be broken."""
    if _listener is not None and _listener.first is not None and not _listener.depth:
        raise _listener.first


def kill_process_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a group of its own, and all that it started, at once."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
