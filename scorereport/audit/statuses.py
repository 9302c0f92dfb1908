"""What an audit came to, and the exit code that says so: used to make records and to verify them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.configuration.judging import Light, exit_code
from scorereport.errors import ExitCode
from scorereport.history.audit_record import Status

if TYPE_CHECKING:
    from scorereport.report.report_record import Report


def find_status(report: Report) -> Status:
    """What the audit came to: a drift that is not small is a warning where limits say nothing worse."""
    certificate, trend = report.certificate, report.trend
    if certificate is not None and certificate.verdict == "failed":
        return Status.UNCERTIFIED
    verdict = report.verdict
    if verdict in (None, Light.PASS) and trend is not None and trend.is_alarming:
        return Status.WARN
    return Status.DONE if verdict is None else Status(verdict)


def find_exit_code(status: Status) -> ExitCode:
    """What the command line answers to this status, if it is not asked to be strict."""
    if status is Status.UNCERTIFIED:
        return ExitCode.CERTIFICATE_FAILED
    return exit_code(Light.FAIL if status is Status.FAIL else None, strict=False)
