"""What an audit came to, and the exit code that says so: used to make records and to verify them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.configuration.judging import LimitVerdict, verdict_exit_code
from scorereport.errors import ExitCode
from scorereport.history.audit_record import AuditStatus

if TYPE_CHECKING:
    from scorereport.report.report_record import Report


def find_status(report: Report) -> AuditStatus:
    """What the audit came to: a drift that is not small is a warning where limits say nothing worse."""
    certificate, trend = report.certificate, report.trend
    if certificate is not None and certificate.verdict == "failed":
        return AuditStatus.UNCERTIFIED
    verdict = report.verdict
    if verdict in (None, LimitVerdict.PASS) and trend is not None and trend.is_alarming:
        return AuditStatus.WARN
    return AuditStatus.DONE if verdict is None else AuditStatus(verdict)


def find_exit_code(status: AuditStatus) -> ExitCode:
    """What the command line answers to this status, if it is not asked to be strict."""
    if status is AuditStatus.UNCERTIFIED:
        return ExitCode.CERTIFICATE_FAILED
    return verdict_exit_code(LimitVerdict.FAIL if status is AuditStatus.FAIL else None, strict=False)
