"""Exit codes and messages: one sentence and one code for any error, expected or not."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from scorereport.errors import ExitCode, InternalError, ScoreReportError

if TYPE_CHECKING:
    from collections.abc import Callable

#: A constant, because there may be no memory left to build a sentence.
OUT_OF_MEMORY = (
    'The machine ran out of memory: set `engine` to "duckdb", which works on disk within `memory_limit`, '
    "or use fewer rows, models or resamples."
)
#: The most characters of an unexpected error, whose text may hold a whole table.
_LONGEST = 1000
#: The most causes of an error that are followed, as a chain may be circular.
_LONGEST_CHAIN = 20


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory ran out; pandas, pyarrow and NumPy subclass MemoryError."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":  # DuckDB's
        return True
    return not isinstance(error, ScoreReportError) and "std::bad_alloc" in _read(error)


def is_expected(error: BaseException) -> bool:
    """Whether an error needs no traceback, because its message is enough to act on."""
    if isinstance(error, InternalError):
        return False
    return isinstance(error, (ScoreReportError, OSError)) or is_out_of_memory(error)


def find_error_code(error: BaseException) -> ExitCode:
    """Return the exit code of an error."""
    if isinstance(error, ScoreReportError):
        return error.exit_code
    if isinstance(error, OSError):
        return ExitCode.USAGE
    return ExitCode.DATA_REFUSED if is_out_of_memory(error) else ExitCode.INTERNAL


def describe_error(error: BaseException) -> str:
    """Return the message of an error; for an unexpected error with the name of its class.

    >>> describe_error(ScoreReportError("There are no rows.")), describe_error(ZeroDivisionError("division"))
    ('There are no rows.', 'ZeroDivisionError: division')
    """
    if is_out_of_memory(error):
        return OUT_OF_MEMORY
    text = _read(error)
    if isinstance(error, (ScoreReportError, OSError)):
        return text
    name = type(error).__name__
    return f"{name}: {text[:_LONGEST]}{'…' * (len(text) > _LONGEST)}" if text else name


def _read(error: BaseException) -> str:
    """The text of an error; empty if it cannot be formatted."""
    try:
        return str(error)
    except Exception:
        return ""


def format_exit_message(sentence: str, code: int) -> str:
    """Format the message of an error for the command line."""
    if code != ExitCode.INTERNAL:
        return sentence
    return f"internal error, please report it: {sentence} (--debug shows where it happened)"


def redact_error(error: Exception, redact: Callable[[str], str]) -> ScoreReportError:
    """Return the same error without secrets, as one that the command line can show."""
    sentence = redact(describe_error(error))
    if isinstance(error, ScoreReportError):
        error.args = (sentence,)
        return error
    if find_error_code(error) == ExitCode.INTERNAL:
        return InternalError(sentence, redact(format_traceback(error)))
    known = ScoreReportError(sentence)
    known.exit_code = find_error_code(error)
    return known


def format_traceback(error: BaseException) -> str:
    """Return the traceback of an error; for an `InternalError` the one that it holds."""
    if isinstance(error, InternalError) and error.details:
        return error.details
    return "".join(traceback.format_exception(error))


def release_frames(error: BaseException) -> None:
    """Release the local variables of all calls in the traceback, which may hold all rows."""
    seen: BaseException | None = error
    for _ in range(_LONGEST_CHAIN):
        if seen is None:
            return
        traceback.clear_frames(seen.__traceback__)
        seen = seen.__cause__ or seen.__context__
