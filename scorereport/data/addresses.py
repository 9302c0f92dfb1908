"""What a command line names as its source: a path, or the address of a database without its secrets."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scorereport._utils.redaction import Redactor, expand, expand_address, find_literal_secret
from scorereport.errors import ScoreReportError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What begins like an address, or comes from the environment as a whole.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|\$\{")
_KEY = "FILE"


def is_address(text: str) -> bool:
    """Whether a text is the address of a database rather than a path.

    >>> is_address("postgresql://me@host/loans"), is_address("scores/2026-10.parquet")
    (True, False)
    """
    return _ADDRESS.match(text) is not None


@contextmanager
def opened(text: str) -> Iterator[str]:
    """A source for the block: a path as it is, an address with its variables put in.

    What goes wrong in the block is told without the values of these variables.
    """
    if not is_address(text):
        yield text
        return
    if find_literal_secret(text):
        raise UsageError(
            f"`{_KEY}` must not hold a password, because reports carry the command that made them: write "
            "${NAME} in its place, in single quotes, and set the environment variable NAME."
        )
    secrets = expand(text, key=_KEY)[1]
    with _hiding(Redactor(secrets)):
        yield expand_address(text, key=_KEY)


@contextmanager
def _hiding(redactor: Redactor) -> Iterator[None]:
    try:
        yield
    except ScoreReportError as error:
        error.args = (redactor.redact(str(error)),)
        error.__cause__ = error.__context__ = None
        raise
    except Exception as error:  # a driver may raise anything, with the address in it
        told = redactor.redact(f"{type(error).__name__}: {error}")
        raise ScoreReportError(f"The source cannot be read. {told}") from None
