"""What went wrong with telling, in words that give nothing away."""

from __future__ import annotations

from scorereport._utils.formatting import one_line
from scorereport.errors import DataError, UsageError


def describe_channel_error(error: BaseException) -> str:
    """An error on one line; those of our own need no name."""
    said = one_line(str(error))
    if isinstance(error, UsageError | DataError):
        return said
    if isinstance(error, UnicodeError):  # which quotes what it stumbles over
        return "a name, an address or a password has letters that cannot be sent."
    return f"{type(error).__name__}: {said}" if said else f"{type(error).__name__}."
