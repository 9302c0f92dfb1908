"""What a command line names as its source: a path, or the address of a database without its secrets."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scorereport._utils.redaction import Redactor, expand_address, expand_variables, find_literal_secret
from scorereport.errors import ScoreReportError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What begins like an address, or comes from the environment as a whole.
_COMMAND_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|\$\{")
_ARGUMENT = "FILE"


def is_command_address(text: str) -> bool:
    """Whether a text is the address of a database rather than a path.

    >>> is_address("postgresql://me@host/loans"), is_address("scores/2026-10.parquet")
    (True, False)
    """
    return _COMMAND_ADDRESS.match(text) is not None


@contextmanager
def open_command_source(text: str) -> Iterator[str]:
    """A source for the block: a path as it is, an address with its variables put in.

    What goes wrong in the block is told without the values of these variables.
    """
    if not is_command_address(text):
        yield text
        return
    if find_literal_secret(text):
        raise UsageError(
            f"`{_ARGUMENT}` must not hold a password, because reports carry the command that made them: write "
            "${NAME} in its place, in single quotes, and set the environment variable NAME."
        )
    secrets = expand_variables(text, key=_ARGUMENT)[1]
    with _redacted_errors(Redactor(secrets)):
        yield expand_address(text, key=_ARGUMENT)


@contextmanager
def _redacted_errors(redactor: Redactor) -> Iterator[None]:
    try:
        yield
    except ScoreReportError as error:
        error.args = (redactor.redact(str(error)),)
        error.__cause__ = error.__context__ = None
        raise
    except Exception as error:  # a driver may raise anything, with the address in it
        told = redactor.redact(f"{type(error).__name__}: {error}")
        raise ScoreReportError(f"The source cannot be read. {told}") from None
