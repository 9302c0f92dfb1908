"""Child processes that run audits, isolated so that the server survives their failure."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import deque
from dataclasses import dataclass
from threading import Thread
from time import monotonic
from typing import IO, TYPE_CHECKING

from scorereport._utils.progress import PROGRESS_PREFIX
from scorereport.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_EXIT_CODE_TEXTS = {
    ExitCode.DONE: "done",
    ExitCode.LIMIT_BREACHED: "limit breached",
    ExitCode.USAGE: "refused",
    ExitCode.WARNINGS: "warnings",
    ExitCode.DATA_REFUSED: "data refused",
    ExitCode.CERTIFICATE_FAILED: "certificate failed",
    ExitCode.INTERNAL: "internal error",
}
#: All others may be of a database that was down, a disk that was full, or a process that was killed.
_WITH_RESULT = frozenset(ExitCode) - {ExitCode.USAGE, ExitCode.INTERNAL}
#: Of a line that never ends, so much is kept.
_MAX_LINE_LENGTH = 2_000
#: A program that an audit has left behind may hold its error stream open; nobody waits for it.
_LAST_OUTPUT_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnd:
    """How a process ended: its exit code (minus the signal that killed it), its time, its last line."""

    exit_code: int | None
    seconds: float
    last_line: str = ""

    @property
    def status(self) -> str:
        """The exit code in words."""
        return describe_exit_code(self.exit_code)

    @property
    def is_settled(self) -> bool:
        """Whether the audit came to a result, be it a bad one, and need not be tried again."""
        return self.exit_code in _WITH_RESULT


class AuditProcess:
    """A process that leads a group of its own, so that a Ctrl-C in the terminal of the server spares it."""

    def __init__(
        self,
        command: Sequence[str],
        tell: Callable[[ProcessEnd], None],
        tell_progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._began = monotonic()
        self._tell, self._tell_progress = tell, tell_progress
        self._last_lines: deque[str] = deque(maxlen=1)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        Thread(target=self._wait, daemon=True, name=f"audit {self.pid}").start()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return monotonic() - self._began

    def ask_to_end(self) -> None:
        """Send SIGTERM to the process and to those it has started."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL to the process and to those it has started."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):  # all of them are gone, or going
            return

    def _wait(self) -> None:
        reader = Thread(target=self._read, daemon=True)
        reader.start()
        code = self._process.wait()
        reader.join(_LAST_OUTPUT_SECONDS)
        last_line = self._last_lines[-1] if self._last_lines else ""
        self._tell(ProcessEnd(exit_code=code, seconds=self.seconds, last_line=last_line))

    def _read(self) -> None:
        stream: IO[bytes] | None = self._process.stderr
        if stream is None:
            return
        with stream:
            while line := stream.readline(_MAX_LINE_LENGTH):
                text = line.decode(errors="replace").strip()
                if text.startswith(PROGRESS_PREFIX):
                    self._tell_progress(text.removeprefix(PROGRESS_PREFIX))
                elif text:
                    self._last_lines.append(text)


def describe_exit_code(code: int | None) -> str:
    """An exit code in words; a negative one is that of the signal that killed the process.

    >>> describe_exit_code(1), describe_exit_code(-9), describe_exit_code(77), describe_exit_code(None)
    ('limit breached', 'killed by signal 9', 'exit code 77', 'not started')
    """
    if code is None:
        return "not started"
    if code < 0:
        return f"killed by signal {-code}"
    return _EXIT_CODE_TEXTS[ExitCode(code)] if code in set(ExitCode) else f"exit code {code}"
