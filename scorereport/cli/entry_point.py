"""Entry point of the command line: every error ends here, as one line and an exit code."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from scorereport._utils.exits import (
    describe_error,
    find_error_code,
    format_exit_message,
    format_traceback,
    is_expected,
    release_frames,
)
from scorereport._utils.formatting import visible, visible_lines
from scorereport._utils.processes import Stopped, stopped_by_signals
from scorereport._utils.redaction import Redactor
from scorereport.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What shells have for an interrupt, and for output that nobody reads any more.
_INTERRUPTED, _BROKEN_PIPE = 130, 141


def main() -> None:
    """Run the command line; what goes wrong is one line on standard error and an exit code."""
    code = _run()
    gc.collect()  # DuckDB complains of what outlives it, such as the frames of an error
    sys.exit(code)


def _run() -> int:
    """The exit code of the command that was given; no error leaves this function."""
    try:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a terminal without ↑ or ∞ still gets its numbers
        with stopped_by_signals(), _background_errors_shown():
            # Here, because a package that cannot be imported is an error like any other.
            from scorereport.cli.application import run_command_line

            code = run_command_line()
            if sys.stdout is not None:
                sys.stdout.flush()  # a full disk or a reader that left would else be noticed after the end
    except Stopped as stop:
        _write(stop.sentence)
        atexit.register(_close_standard_error)
        return int(str(stop.code))
    except BaseException as error:
        try:
            release_frames(error)  # which may hold all the memory there was
            return _conclude(error)
        except BaseException:  # not even that can be said
            _write_text("scorereport: internal error, please report it.\n")
            return ExitCode.INTERNAL
    return code


def _conclude(error: BaseException) -> int:
    """Say what went wrong; its exit code."""
    if isinstance(error, KeyboardInterrupt):
        _write("interrupted.")
        return _INTERRUPTED
    if _is_broken_pipe(error):
        _drop_output()
        return _BROKEN_PIPE
    code = find_error_code(error)
    sentence = describe_error(error)
    if not is_expected(error):
        sentence = Redactor().redact(sentence)
        if "--debug" in sys.argv[1:]:
            _write_text(Redactor().redact(visible_lines(format_traceback(error))))
    _write(format_exit_message(sentence, code))
    return code


def _is_broken_pipe(error: BaseException) -> bool:
    """Whether nobody reads our output any more; libraries make an exit with code 1 of it."""
    seen = error.__context__ if isinstance(error, SystemExit) else error
    return isinstance(seen, BrokenPipeError)


def _drop_output() -> None:
    """Send what is still to be written nowhere, so that Python has nothing to complain of at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _write(sentence: str) -> None:
    _write_text(f"scorereport: {visible(sentence)}\n")


def _write_text(text: str) -> None:
    with suppress(OSError, ValueError, AttributeError):  # there may be no standard error
        sys.stderr.write(text)
        sys.stderr.flush()


@contextmanager
def _background_errors_shown() -> Iterator[None]:
    """Say in one line what goes wrong in threads and finalizers, which no exit code shows."""
    before = threading.excepthook, sys.unraisablehook
    is_ours = before == (threading.__excepthook__, sys.__unraisablehook__) and "--debug" not in sys.argv[1:]
    if is_ours:  # and not one of a program that calls us
        threading.excepthook = sys.unraisablehook = _show_background_error
    try:
        yield
    finally:
        if is_ours:
            threading.excepthook, sys.unraisablehook = before


def _show_background_error(problem: Any) -> None:
    """Say what went wrong in a thread or a finalizer."""
    error = problem.exc_value
    if error is not None and not isinstance(error, SystemExit):
        _write(f"in the background: {Redactor().redact(describe_error(error))}")


def _close_standard_error() -> None:
    """Close standard error at the very end: DuckDB complains there of what a signal left to Python."""
    if "duckdb" in sys.modules:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
