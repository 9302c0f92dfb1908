"""A process beside this one that renders a report while this process evaluates what it shows.

The process is a copy of this one, started before the evaluation and before the imports for it. Until there
is something to render, it loads what pages need: sections, templates and Matplotlib. If it cannot be started,
or fails in any way, the report is rendered here: it is the same bytes, and an error is raised where it can be
handled.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NoReturn

from scorereport._utils.files import TemporaryFolder
from scorereport._utils.process_copies import (
    can_copy,
    copy_process,
    receive_message,
    receive_messages,
    send_message,
    send_messages,
    separate_copy,
)
from scorereport._utils.processes import signals_deferred
from scorereport.report.output_formats import find_format

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from scorereport.report.report_record import Report


@contextmanager
def preparing_pages(paths: Sequence[Path]) -> Iterator[None]:
    """Get ready to render the pages of these files while the block evaluates what they show.

    The block may start threads, but there must be none yet: a process beside threads cannot be copied.
    """
    if not any(find_format(path).has_figures for path in paths):
        yield
        return
    with rendering_ahead():
        yield


@contextmanager
def rendering_ahead() -> Iterator[None]:
    """Start a process for the report that is rendered inside the block; it does not outlive the block."""
    with ExitStack() as ending:
        # A signal must not arrive between starting the process and registering its end.
        with signals_deferred():
            process = _PageProcess.start() if can_copy() else None
            if process is not None:
                ending.callback(process.close)
                ending.callback(_started.reset, _started.set(process))
        yield


def order_pages(report: Report, templates: Path | None, endings: Sequence[str]) -> Iterator[bytes]:
    """Let the process that was started render a report in these formats; iterate over what it renders.

    The iterator ends early if there is no process, or if it fails.
    """
    process = _started.get()
    return iter(()) if process is None else process.ask((report, templates, endings))


class _PageProcess:
    """A copy of this process that renders one report.

    Its temporary files are in a folder of this process, because it may be killed while it makes one.
    """

    def __init__(self, number: int, connection: socket.socket, folder: TemporaryFolder) -> None:
        self._number = number
        self._connection = connection
        self._folder = folder

    @classmethod
    def start(cls) -> _PageProcess | None:
        """Start the process; None if the system refuses."""
        try:
            folder = TemporaryFolder("pages-")
        except OSError:
            return None
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                number = copy_process()
            except OSError:
                ours.close()
                folder.close()
                return None
            if not number:
                _serve(theirs, folder.path)
            with suppress(OSError):  # the process may have done so itself, or have ended
                os.setpgid(number, number)
        return cls(number, ours, folder)

    def ask(self, request: Any) -> Iterator[bytes]:
        """Send what is to be rendered, which is possible once, and return an iterator over the answers."""
        try:
            send_message(self._connection, request)
        except (OSError, pickle.PickleError, AttributeError, TypeError):
            return iter(())
        return receive_messages(self._connection)

    def close(self) -> None:
        """End the process; copies of it end when they find that it has ended."""
        self._connection.close()
        with suppress(OSError):
            os.killpg(self._number, signal.SIGKILL)
        with suppress(OSError):
            os.waitpid(self._number, 0)
        self._folder.close()


_started: ContextVar[_PageProcess | None] = ContextVar("page_process", default=None)


def _serve(connection: socket.socket, folder: Path) -> NoReturn:
    """Render the report that is received, in a copy of the process that asks for it.

    Nothing of this process is shown. It ends when the other end of the connection is closed.
    """
    try:
        separate_copy(connection.fileno())
        tempfile.tempdir = str(folder)
        from scorereport.report.renderer import Renderer, load_renderer

        load_renderer()
        report, templates, endings = receive_message(connection)
        renderer = Renderer(report, templates)
        send_messages(connection, map(renderer.render, endings))
    finally:
        os._exit(0)  # nothing that was registered by the original may run
