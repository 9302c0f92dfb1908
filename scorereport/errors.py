"""The exceptions of scorereport and their exit codes."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the command line; scripts rely on these numbers."""

    DONE = 0
    LIMIT_BREACHED = 1
    USAGE = 2
    WARNINGS = 3
    DATA_REFUSED = 4
    CERTIFICATE_FAILED = 5
    INTERNAL = 70


class ScoreReportError(Exception):
    """Base class of all errors of this package, with a message of one sentence for the user."""

    exit_code = ExitCode.USAGE


class UsageError(ScoreReportError, ValueError):
    """An option, or a combination of options, is not valid."""


class DataError(ScoreReportError, ValueError):
    """The data break a rule; the message names column, rule, value, rows and count."""

    exit_code = ExitCode.DATA_REFUSED


class InternalError(ScoreReportError):
    """An unexpected error, as one sentence; `details` is its traceback, for `--debug`."""

    exit_code = ExitCode.INTERNAL

    def __init__(self, sentence: str, details: str = "") -> None:
        super().__init__(sentence)
        self.details = details
