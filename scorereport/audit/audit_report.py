"""Report of an audit: the rows of a period evaluated, certified, judged, compared with the past, rendered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from scorereport._utils.clock import fixed_time
from scorereport.audit.record_rules import find_status
from scorereport.audit.rows.loaded_rows import MEMORY, LoadedRows
from scorereport.audit.rows.source_reference import SourceReference
from scorereport.errors import ExitCode, ScoreReportError
from scorereport.evaluation.dispatch import evaluate
from scorereport.history.trend.drift import find_drift
from scorereport.history.trend.drift_records import Snapshot
from scorereport.history.trend.snapshot import take_snapshot
from scorereport.report.report_output import find_templates, prepare_report, render_report, select_checkpoint
from scorereport.report.report_record import Report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from scorereport.audit.plan import Plan
    from scorereport.configuration.periods import Period
    from scorereport.history.audit_record import AuditStatus
    from scorereport.history.chain_head import ChainHead
    from scorereport.history.trend.drift_records import Trend
    from scorereport.reference.reference_documents import Certificate
    from scorereport.results.evaluation import Evaluation


#: Why R is not asked about rows that are not in memory.
ROWS_NOT_IN_MEMORY = (
    "R needs all rows in memory, and these are left to an engine that does not: set `evaluation.engine` to "
    '"memory" if the machine has room for them.'
)


class CertificateError(ScoreReportError):
    """A certificate was required, and R could not give one."""

    exit_code = ExitCode.CERTIFICATE_FAILED


@dataclass(frozen=True, kw_only=True, eq=False)
class RenderedReport:
    """A report, the same in each of its forms, and the snapshot that later audits compare with."""

    report: Report
    snapshot: Snapshot
    forms: dict[str, bytes]

    @cached_property
    def results(self) -> bytes:
        """The results document, which the history keeps."""
        return self.report.to_json().encode()

    @property
    def status(self) -> AuditStatus:
        """What the audit came to."""
        return find_status(self.report)


def render_audit_report(
    plan: Plan,
    gathered: LoadedRows | SourceReference,
    period: Period,
    past: Sequence[Snapshot],
    *,
    as_of: datetime,
    last: ChainHead | None,
    time: str,
    command: str,
) -> RenderedReport:
    """Evaluate the rows of a period, and make the report that is to be filed."""
    configuration = plan.configuration
    templates = find_templates(configuration)
    check_certifiable(gathered, plan.audit.certify)
    evaluation = gathered.evaluate(evaluate, configuration.evaluation.settings)
    snapshot = take_snapshot(evaluation, period, time=time, configuration=configuration.sha256)
    with fixed_time(time):  # that of the record, whatever SOURCE_DATE_EPOCH says
        report = prepare_report(
            evaluation,
            _certify(evaluation, plan.audit.certify),
            configuration,
            templates=templates,
            command=command,
            selection=select_checkpoint(
                configuration,
                classes=configuration.evaluation.classes,
                normalize=bool(configuration.evaluation.normalize),
            ),
            trend=_compare_with_past(plan, snapshot, past, as_of, last),
        )
    endings = [f".{form}" for form in plan.audit.output.formats]
    rendered = render_report(report, set(endings), templates=templates)
    return RenderedReport(
        report=report, snapshot=snapshot, forms={ending: rendered[ending] for ending in endings}
    )


def _compare_with_past(
    plan: Plan, snapshot: Snapshot, past: Sequence[Snapshot], as_of: datetime, last: ChainHead | None
) -> Trend:
    """The audit among those before it, and its place in the history."""
    asked = plan.audit.comparison
    trend = find_drift(snapshot, past, audits=asked.audits, alpha=asked.alpha, looks=plan.count_looks(as_of))
    return replace(
        trend,
        audit=plan.name,
        as_of=as_of.isoformat(timespec="seconds"),
        time_zone=plan.audit.time_zone,
        last_id=0 if last is None else last.id,
        last_sha256="" if last is None else last.sha256,
    )


def check_certifiable(gathered: LoadedRows | SourceReference, how: str) -> None:
    """Refuse, before the work, to audit rows that R cannot hold where a certificate is required."""
    if how == "required" and isinstance(gathered, SourceReference) and gathered.engine != MEMORY:
        raise CertificateError(
            f"`audit.certify` requires a certificate, and there can be none. {ROWS_NOT_IN_MEMORY}"
        )


def _certify(evaluation: Evaluation, how: str) -> Certificate | None:
    """The certificate of an evaluation; one that is required and cannot be had is an error."""
    if how == "off":
        return None
    from scorereport.reference.certification import certify, decline

    if evaluation.predictions is None:
        return decline(evaluation, ROWS_NOT_IN_MEMORY)
    certificate = certify(evaluation)
    if how == "required" and certificate.verdict == "not certified":
        reasons = " ".join(f"{attempt.reference}: {attempt.reason}" for attempt in certificate.attempts)
        raise CertificateError(f"`audit.certify` requires a certificate, and R gave none. {reasons}".strip())
    return certificate
