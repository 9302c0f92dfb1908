"""Copies of this process that compute beside it, and the messages by which they answer.

A copy is made only while this process has no other thread, which could hold a lock at this moment. The caller
must be able to do the work itself: a system may refuse a copy, and a copy may be killed at any time.
"""

from __future__ import annotations

import itertools
import os
import pickle
import signal
import socket
import sys
import threading
import warnings
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from scorereport._utils.files import find_temporary_folder
from scorereport._utils.machine import count_threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def can_copy() -> bool:
    """Whether a copy of this process can work: no other thread of Python may hold a lock at this moment."""
    return sys.platform == "linux" and count_threads() > 1 and threading.active_count() == 1


def copy_process() -> int:
    """Copy this process; threads of libraries that compute, which Python warns of, end before the copy.

    The folder for temporary files is known before: a copy that is killed while it tests one leaves a file.
    """
    find_temporary_folder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def separate_copy(*kept: int) -> None:
    """Give up signal handlers, terminal and files of the original, except for some file descriptors."""
    os.setpgid(0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    bounds = [2, *sorted(kept), os.sysconf("SC_OPEN_MAX")]
    for before, after in itertools.pairwise(bounds):
        os.closerange(before + 1, after)


def send_message(connection: socket.socket, message: object) -> None:
    """Send the only message of this end."""
    connection.sendall(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
    connection.shutdown(socket.SHUT_WR)


def send_messages(connection: socket.socket, messages: Iterable[object]) -> None:
    """Send messages one after the other, each as soon as it is made."""
    with connection.makefile("wb") as stream:
        for message in messages:
            pickle.dump(message, stream, pickle.HIGHEST_PROTOCOL)
            stream.flush()


def receive_messages(connection: socket.socket) -> Iterator[Any]:
    """Receive messages until the other end has sent all of them, or has ended; both are of one program."""
    with connection.makefile("rb") as stream, suppress(OSError, EOFError, pickle.PickleError):
        while True:
            yield pickle.load(stream)


def receive_message(connection: socket.socket) -> Any:
    """Return what the other end sent; both ends are copies of one program."""
    with closing(connection.makefile("rb")) as stream:
        return pickle.loads(stream.read())
