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
#: Characters of an error that nobody foresaw: its text may hold a whole table.
_LONGEST = 1000
#: Causes of an error that are followed: a chain may lead back to where it began.
_LONGEST_CHAIN = 20


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out; pandas, pyarrow and NumPy have subclasses of MemoryError."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryException":  # that of DuckDB
        return True
    return not isinstance(error, ScoreReportError) and "std::bad_alloc" in _read(error)


def is_expected(error: BaseException) -> bool:
    """Whether an error needs no traceback, because its sentence says what to do."""
    if isinstance(error, InternalError):
        return False
    return isinstance(error, (ScoreReportError, OSError)) or is_out_of_memory(error)


def find_error_code(error: BaseException) -> ExitCode:
    """The exit code of an error."""
    if isinstance(error, ScoreReportError):
        return error.exit_code
    if isinstance(error, OSError):
        return ExitCode.USAGE
    return ExitCode.DATA_REFUSED if is_out_of_memory(error) else ExitCode.INTERNAL


def describe_error(error: BaseException) -> str:
    """An error as a sentence; one that nobody foresaw with the name of its kind.

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
    """The text of an error; some cannot even say what they are."""
    try:
        return str(error)
    except Exception:
        return ""


def format_exit_message(sentence: str, code: int) -> str:
    """What the command line says of an error."""
    if code != ExitCode.INTERNAL:
        return sentence
    return f"internal error, please report it: {sentence} (--debug shows where it happened)"


def redact_error(error: Exception, redact: Callable[[str], str]) -> ScoreReportError:
    """The same error without secrets, as one that the command line can show."""
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
    """Where an error happened; of one that is known by its sentence already, what it kept of that."""
    if isinstance(error, InternalError) and error.details:
        return error.details
    return "".join(traceback.format_exception(error))


def release_frames(error: BaseException) -> None:
    """Let go of the variables of all calls that an error passed, which may hold all rows."""
    seen: BaseException | None = error
    for _ in range(_LONGEST_CHAIN):
        if seen is None:
            return
        traceback.clear_frames(seen.__traceback__)
        seen = seen.__cause__ or seen.__context__
