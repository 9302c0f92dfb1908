"""Child processes that run audits, isolated so that the server survives their failure."""

from __future__ import annotations

import os
import signal
import subprocess
from collections import deque
from dataclasses import dataclass
from pathlib import Path
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
#: Exit codes of runs with a result. After any other, the database may have been down, the disk full, or the
#: process killed.
_WITH_RESULT = frozenset(ExitCode) - {ExitCode.USAGE, ExitCode.INTERNAL}
#: The number of bytes that are read of a line; it may never end.
_MAX_LINE_LENGTH = 2_000
#: How long to wait for the last output: a program that the audit left behind may hold the error stream open.
_LAST_OUTPUT_SECONDS = 1.0
#: Places in /proc/PID/stat, after the name of the program: state, and start in ticks since the system booted.
_STATE, _START = 0, 19
#: States of processes that have ended.
_ENDED = ("Z", "X", "x")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnd:
    """How a process ended: exit code (negative: the signal that killed it), duration, last line of output.

    `note` states how it ended if it has no exit code, though it was started.
    """

    exit_code: int | None
    seconds: float
    last_line: str = ""
    note: str = ""

    @property
    def status(self) -> str:
        """The exit code in words."""
        return self.note or describe_exit_code(self.exit_code)

    @property
    def has_result(self) -> bool:
        """Whether the audit has a result, good or bad, and need not be tried again."""
        return self.exit_code in _WITH_RESULT


class AuditProcess:
    """A process in its own process group, so that a Ctrl-C in the terminal of the server does not reach it.

    When it ends, `on_end` is called; for each line of progress, `on_progress`. Both run in other threads.
    """

    def __init__(
        self,
        command: Sequence[str],
        on_end: Callable[[ProcessEnd], None],
        on_progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._started = monotonic()
        self._on_end, self._on_progress = on_end, on_progress
        self._last_lines: deque[str] = deque(maxlen=1)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.identity = identify_process(self.pid)
        Thread(target=self._wait, daemon=True, name=f"audit {self.pid}").start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def seconds(self) -> float:
        """How long the process has run."""
        return monotonic() - self._started

    def terminate(self) -> None:
        """Send SIGTERM to the process and to all processes that it started."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL to the process and to all processes that it started."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):  # all of them have ended, or are about to
            return

    def _wait(self) -> None:
        reader = Thread(target=self._read, daemon=True)
        reader.start()
        code = self._process.wait()
        reader.join(_LAST_OUTPUT_SECONDS)
        last_line = self._last_lines[-1] if self._last_lines else ""
        self._on_end(ProcessEnd(exit_code=code, seconds=self.seconds, last_line=last_line))

    def _read(self) -> None:
        stream: IO[bytes] | None = self._process.stderr
        if stream is None:
            return
        with stream:
            while line := stream.readline(_MAX_LINE_LENGTH):
                text = line.decode(errors="replace").strip()
                if text.startswith(PROGRESS_PREFIX):
                    self._on_progress(text.removeprefix(PROGRESS_PREFIX))
                elif text:
                    self._last_lines.append(text)


def identify_process(pid: int) -> str:
    """Return the start of a process as text: boot of the system and ticks since; empty if it is not known.

    >>> identify_process(os.getpid()) == identify_process(os.getpid()), identify_process(2**30)
    (True, '')
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
        state, start = (fields.split()[place] for place in (_STATE, _START))
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except (OSError, IndexError):
        return ""
    return "" if state in _ENDED else f"{boot} {start}"


def describe_exit_code(code: int | None) -> str:
    """Describe an exit code in words; a negative one is that of the signal that killed the process.

    >>> describe_exit_code(1), describe_exit_code(-9), describe_exit_code(77), describe_exit_code(None)
    ('limit breached', 'killed by signal 9', 'exit code 77', 'not started')
    """
    if code is None:
        return "not started"
    if code < 0:
        return f"killed by signal {-code}"
    return _EXIT_CODE_TEXTS[ExitCode(code)] if code in set(ExitCode) else f"exit code {code}"
