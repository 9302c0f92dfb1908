"""Work that this process shares with copies of itself: independent calls of one function, by number.

This process and its copies take the numbers of calls from one queue. What a copy took but did not answer,
because it failed or was killed, is called here: results do not depend on copies, and an error is raised where
it can be handled.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

from scorereport._utils.machine import are_worth_threads, collector_paused, count_threads
from scorereport._utils.process_copies import (
    can_copy,
    copy_process,
    receive_message,
    send_message,
    separate_copy,
)
from scorereport._utils.processes import is_own_program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_T = TypeVar("_T")
#: Length of a number in the queue, and the most numbers in it: a pipe holds 65,536 bytes.
_WIDTH, _LONGEST = 4, 8192


class SharedWork(Generic[_T]):
    """Calls of a function with 0, 1, ..., begun by copies of this process, if there are any."""

    def __init__(self, function: Callable[[int], _T], times: int, copies: int) -> None:
        self._function = function
        self._chunks = _divide(times)
        self._copies: list[tuple[int, socket.socket]] = []
        self._queue, filled = os.pipe()
        with os.fdopen(filled, "wb") as stream:
            stream.write(b"".join(place.to_bytes(_WIDTH) for place in range(len(self._chunks))))
        with suppress(OSError):  # the system refuses more processes
            while len(self._copies) < copies:
                self._start_copy()

    def collect(self) -> list[_T]:
        """Return all results in order, after this process has taken its share of the calls."""
        with collector_paused():
            found = self._answer_queue()
        for _, connection in self._copies:
            with suppress(OSError, EOFError, pickle.PickleError):
                found |= receive_message(connection)
        for place in range(len(self._chunks)):
            if place not in found:
                found[place] = self._answer(place)
        return [result for place in range(len(self._chunks)) for result in found[place]]

    def close(self) -> None:
        """End the copies."""
        os.close(self._queue)
        for number, connection in self._copies:
            connection.close()
            with suppress(OSError):
                os.kill(number, signal.SIGKILL)
            with suppress(OSError):
                os.waitpid(number, 0)

    def _start_copy(self) -> None:
        (ours, theirs), original = socket.socketpair(), os.getpid()
        with theirs:
            try:
                number = copy_process()
            except OSError:
                ours.close()
                raise
            if not number:
                self._serve(theirs, original)
        self._copies.append((number, ours))

    def _serve(self, connection: socket.socket, original: int) -> NoReturn:
        """Answer calls in a copy until none is left, or the original has ended; nothing of it is shown."""
        try:
            separate_copy(connection.fileno(), self._queue)
            with collector_paused():
                found = self._answer_queue(lambda: os.getppid() == original)
            send_message(connection, found)
        finally:
            os._exit(0)  # nothing that was registered by the original may run

    def _answer_queue(self, may_continue: Callable[[], bool] = lambda: True) -> dict[int, list[_T]]:
        found = {}
        while may_continue() and (taken := os.read(self._queue, _WIDTH)):
            place = int.from_bytes(taken)
            found[place] = self._answer(place)
        return found

    def _answer(self, place: int) -> list[_T]:
        return [self._function(number) for number in self._chunks[place]]


def _divide(times: int) -> Sequence[range]:
    """Divide calls into chunks, one for each number that fits into the queue."""
    size = -(-times // _LONGEST) or 1
    return [range(start, min(start + size, times)) for start in range(0, times, size)]


def count_worth(calls: int, rows: int) -> int:
    """Return how many processes are worth it for calls over this many rows: 1 for many rows.

    Calls over many rows use threads, and programs of others are not copied.
    """
    return calls if is_own_program() and not are_worth_threads(rows) else 1


@contextmanager
def sharing_work(function: Callable[[int], _T], times: int, *, worth: float) -> Iterator[SharedWork[_T]]:
    """Let copies of this process begin calls of a function, which depend on nothing that changes.

    Parameters
    ----------
    function : the results must be such that they can be sent to another process
    times : the number of calls
    worth : the number of processes, this one included, that the work is long enough for
    """
    copies = min(count_threads(), int(worth), times) - 1 if can_copy() else 0
    work = SharedWork(function, times, copies)
    try:
        yield work
    finally:
        work.close()
