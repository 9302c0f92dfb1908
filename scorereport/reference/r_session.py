"""A separate process for R, started and supervised by this package.

Every failure in it (a crash, a hang, unexpected output, an invalid answer) becomes a `ReferenceFailure` with
a sentence. Questions and answers are files in a folder that is removed with the process. On standard output,
a line with a secret token announces an answer; all other lines are other output of R.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
from collections import deque
from contextlib import suppress
from threading import TIMEOUT_MAX, Event, Timer
from typing import IO, TYPE_CHECKING, Self, cast

from scorereport._utils.files import TemporaryFolder
from scorereport._utils.formatting import format_plain, one_line
from scorereport._utils.processes import Stopped, kill_process_group, signals_deferred
from scorereport.reference.exchange import ExchangeError, SentVector, Vector, read_vectors, write_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

#: Lines of other output that are kept for the sentence about a failure, and characters that it quotes.
_LAST_LINES, _QUOTED = 20, 400
#: Bytes after which a line of output is cut, to limit memory.
_LONGEST_LINE = 1 << 16
#: Seconds within which a process may end by itself.
_GRACE = 5.0


class ReferenceFailure(Exception):  # noqa: N818  # a finding about R, not an error of ours
    """A reference gave no usable answer; the message is a sentence with the reason."""

    def __init__(
        self, sentence: str, answer: Mapping[str, Vector] | None = None, *, is_late: bool = False
    ) -> None:
        super().__init__(sentence)
        self.answer = dict(answer or {})
        self.is_late = is_late


class Session:
    """A running reference: `ask` it, and `close` it (or use it in a `with` block).

    `program` is called with a folder, a token and the `sources`, and with the `environment` added to that of
    this process; every answer must arrive within `time_limit` seconds. `on_output` receives the lines that
    are no answer.
    """

    def __init__(
        self,
        program: Sequence[str],
        sources: Sequence[Path],
        *,
        time_limit: float,
        environment: Mapping[str, str] | None = None,
        on_output: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._token = secrets.token_hex(16)
        self.time_limit = time_limit
        self._environment = dict(environment or {})
        self._on_output = on_output
        self._requests = 0
        self._output: deque[str] = deque(maxlen=_LAST_LINES)
        try:
            with signals_deferred():  # an interrupt in between would leave a folder or a process behind
                self._start([*program], list(map(str, sources)))
        except Stopped as stop:
            self.__exit__(type(stop))
            raise

    def _start(self, program: list[str], sources: list[str]) -> None:
        try:
            self._folder = TemporaryFolder("r-")
        except OSError as error:
            raise ReferenceFailure(f"A folder to exchange data with R cannot be made: {error}.") from error
        try:
            self._process = subprocess.Popen(
                [*program, str(self._folder.path), self._token, *sources],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=self._folder.path,  # has no .Rprofile and no .RData
                env={
                    **os.environ,
                    **self._environment,
                    "LANGUAGE": "en",
                    "TMPDIR": str(self._folder.path),
                },
                start_new_session=True,  # Ctrl-C does not reach R; its children can be ended with it
                pass_fds=() if self._folder.lock is None else (self._folder.lock,),  # R may outlive us
            )
        except OSError as error:
            self._folder.close()
            raise ReferenceFailure(f"R could not be started: {error}.") from error

    @property
    def process_id(self) -> int:
        """The number of the process."""
        return self._process.pid

    def ask(self, what: str, **vectors: SentVector) -> dict[str, Vector]:
        """Request an operation; returns its answer as named vectors."""
        self._requests += 1
        timed_out = Event()
        watchdog = Timer(min(self.time_limit, TIMEOUT_MAX), self._end, args=(timed_out,))
        watchdog.daemon = True  # an interrupt must not wait for it
        try:
            watchdog.start()
            answer = _clean(self._exchange(what, vectors))
        except EOFError as error:
            watchdog.cancel()
            is_late = timed_out.is_set()
            raise ReferenceFailure(self._describe_end(is_late=is_late), is_late=is_late) from error
        except OSError as error:
            raise ReferenceFailure(f"Files could not be exchanged with R: {error}.") from error
        except ExchangeError as error:
            raise ReferenceFailure(f"R answered with something other than numbers ({error}).") from error
        finally:
            watchdog.cancel()
        if "error" in answer:
            raise ReferenceFailure(f"R refused: {text_of(answer['error'])}", answer)
        return answer

    def end(self) -> None:
        """End the process at once, from any thread: `ask` then fails."""
        if self._process.poll() is None:
            self._end()

    def close(self) -> None:
        """End the process, at first by closing its input, and remove its files."""
        try:
            for stream in (self._stdin, self._stdout):
                with suppress(OSError):
                    stream.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE)
        finally:  # also after an interrupt
            self._end()  # also processes that it started
            self._process.wait()
            self._folder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._end()
        self.close()

    @property
    def _stdin(self) -> IO[bytes]:
        return cast("IO[bytes]", self._process.stdin)

    @property
    def _stdout(self) -> IO[bytes]:
        return cast("IO[bytes]", self._process.stdout)

    def _exchange(self, what: str, vectors: Mapping[str, SentVector]) -> dict[str, Vector]:
        request, answer = (self._folder.path / f"{self._requests}.{kind}" for kind in ("request", "answer"))
        write_vectors(request, {"what": [what], **vectors})
        with suppress(BrokenPipeError):  # its last output is still to be read
            self._stdin.write(f"{self._requests}\n".encode())
            self._stdin.flush()
        self._await_answer()
        found = read_vectors(answer)
        for file in (request, answer):
            file.unlink()
        return found

    def _await_answer(self) -> None:
        """Wait for the line that announces the answer; keep the last lines of other output."""
        awaited = f"{self._token} {self._requests}"
        while line := self._stdout.readline(_LONGEST_LINE):
            text = line.decode(errors="replace").strip()
            if text == awaited:
                return
            if text:
                self._output.append(text)
                self._on_output(text)
        raise EOFError

    def _end(self, timed_out: Event | None = None) -> None:
        """End the process, and all processes that it started, at once."""
        if timed_out is not None:
            timed_out.set()
        kill_process_group(self._process)

    def _describe_end(self, *, is_late: bool) -> str:
        if is_late:
            return f"R gave no answer within {format_plain(self.time_limit)} seconds and was ended."
        try:
            code = self._process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            return f"R closed its output without an answer.{self._quote_output()}"
        if code < 0:
            return f"R was ended by signal {-code}{_signal_name(-code)}.{self._quote_output()}"
        return f"R ended with exit code {code} before it answered.{self._quote_output()}"

    def _quote_output(self) -> str:
        text = one_line(" ".join(self._output))[-_QUOTED:]
        return f" Its last output: {text}" if text else ""


def _signal_name(number: int) -> str:
    try:
        return f" ({signal.Signals(number).name})"
    except ValueError:  # real-time signals have no names
        return ""


def text_of(vector: Vector) -> str:
    """The values of a vector as one line of text."""
    return one_line(" ".join(str(value) for value in vector))


def _clean(answer: Mapping[str, Vector]) -> dict[str, Vector]:
    """The answer, with names and texts that can be shown: each is one line."""
    return {
        one_line(name): [one_line(text) for text in vector] if isinstance(vector, list) else vector
        for name, vector in answer.items()
    }
