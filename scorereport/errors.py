"""The exceptions of scorereport and the exit codes they lead to."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the command line answers to its caller; people build on these numbers."""

    DONE = 0
    LIMIT_BREACHED = 1
    USAGE = 2
    WARNINGS = 3
    DATA_REFUSED = 4
    CERTIFICATE_FAILED = 5
    INTERNAL = 70


class ScoreReportError(Exception):
    """Anything this package refuses, as one sentence for the person who asked."""

    exit_code = ExitCode.USAGE


class UsageError(ScoreReportError, ValueError):
    """An option or a combination of options makes no sense."""


class DataError(ScoreReportError, ValueError):
    """The data break a rule; the message names column, rule, value, rows and count."""

    exit_code = ExitCode.DATA_REFUSED


class InternalError(ScoreReportError):
    """An error that nobody foresaw, as a sentence; `details` is its traceback, for `--debug`."""

    exit_code = ExitCode.INTERNAL

    def __init__(self, sentence: str, details: str = "") -> None:
        super().__init__(sentence)
        self.details = details
