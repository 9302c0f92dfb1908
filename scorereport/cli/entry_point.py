"""Entry point of the command line: every error becomes one line on standard error and an exit code."""

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

#: Exit codes by the convention of shells: for an interrupt, and for output that is no longer read.
_INTERRUPTED, _BROKEN_PIPE = 130, 141
#: Objects after which the garbage collector searches for cycles. Imports create hundreds of thousands that
#: stay, and the default of 700 searches them again and again.
_COLLECTOR_THRESHOLDS = (50_000, 20, 20)


def main() -> None:
    """Run the command line; an error becomes one line on standard error and an exit code."""
    with _rare_collections():
        code = _run()
    if "duckdb" in sys.modules:
        gc.collect()  # DuckDB prints errors if objects outlive it, such as the frames of a traceback
    else:
        atexit.register(gc.freeze)  # otherwise Python searches all objects several times when it exits
    sys.exit(code)


def _run() -> int:
    """Run the command in `sys.argv` and return its exit code; no error leaves this function."""
    try:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a terminal that lacks ↑ or ∞ still shows the numbers
        with stopped_by_signals(), _background_errors_shown():
            # Imported here, so that a failed import is handled like any other error.
            from scorereport.cli.deferred_imports import defer_imports
            from scorereport.cli.record_methods import make_methods_quickly

            defer_imports()
            make_methods_quickly()
            from scorereport.cli.application import run_command_line
            from scorereport.cli.argument_file import expand_arguments

            sys.argv[1:] = expand_arguments(sys.argv[1:])
            code = run_command_line()
            if sys.stdout is not None:
                sys.stdout.flush()  # otherwise a full disk or a closed pipe would show after the end only
    except Stopped as stop:
        _write(stop.sentence)
        atexit.register(_close_standard_error)
        return int(str(stop.code))
    except BaseException as error:
        try:
            release_frames(error)  # after a MemoryError, the frames may hold all memory
            return _conclude(error)
        except BaseException:  # the error cannot even be described
            _write_text("scorereport: internal error, please report it.\n")
            return ExitCode.INTERNAL
    return code


def _conclude(error: BaseException) -> int:
    """Print a sentence about an error and return its exit code."""
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
    """Whether the reader of the output has closed the pipe; some libraries turn that into exit code 1."""
    original = error.__context__ if isinstance(error, SystemExit) else error
    return isinstance(original, BrokenPipeError)


def _drop_output() -> None:
    """Discard buffered output, so that Python does not report the closed pipe when it exits."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _write(sentence: str) -> None:
    _write_text(f"scorereport: {visible(sentence)}\n")


def _write_text(text: str) -> None:
    with suppress(OSError, ValueError, AttributeError):  # there may be no standard error
        sys.stderr.write(text)
        sys.stderr.flush()


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Search for cycles of objects less often than by default."""
    before = gc.get_threshold()
    gc.set_threshold(*_COLLECTOR_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _background_errors_shown() -> Iterator[None]:
    """Show errors in threads and finalizers, which do not change the exit code, in one line each."""
    before = threading.excepthook, sys.unraisablehook
    are_default = before == (threading.__excepthook__, sys.__unraisablehook__)
    is_replaced = are_default and "--debug" not in sys.argv[1:]  # a calling program may have hooks of its own
    if is_replaced:
        threading.excepthook = sys.unraisablehook = _show_background_error
    try:
        yield
    finally:
        if is_replaced:
            threading.excepthook, sys.unraisablehook = before


def _show_background_error(problem: Any) -> None:
    """Print a sentence about an error in a thread or a finalizer."""
    error = problem.exc_value
    if error is not None and not isinstance(error, SystemExit):
        _write(f"in the background: {Redactor().redact(describe_error(error))}")


def _close_standard_error() -> None:
    """Close standard error at exit, where DuckDB would print errors about objects left after a signal."""
    if "duckdb" in sys.modules:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
