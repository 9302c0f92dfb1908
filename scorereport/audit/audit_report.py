"""Report of an audit: the rows of a period evaluated, certified, judged, compared with the past, rendered."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from scorereport._utils.clock import fixed_time
from scorereport.audit.audit_evidence import RunEvidence, find_run_evidence
from scorereport.audit.record_rules import find_status
from scorereport.audit.rows.loaded_rows import MEMORY, LoadedRows
from scorereport.audit.rows.source_reference import SourceReference
from scorereport.errors import ExitCode, ScoreReportError
from scorereport.evaluation.dispatch import called_when_read, evaluate
from scorereport.history.trend.drift import find_drift
from scorereport.history.trend.drift_records import Snapshot
from scorereport.history.trend.evidence_records import AuditEvidence
from scorereport.history.trend.snapshot import take_snapshot
from scorereport.history.valid_records import list_counted
from scorereport.report.report_output import find_templates, prepare_report, render_report, select_checkpoint
from scorereport.report.report_record import Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from scorereport.audit.baseline_seal import BaselineInForce
    from scorereport.audit.plan import Plan
    from scorereport.configuration.limit_changes import LimitProvenance
    from scorereport.configuration.periods import Period
    from scorereport.history.audit_record import AuditStatus, Record
    from scorereport.history.chain_head import ChainHead
    from scorereport.history.trend.drift_records import Trend
    from scorereport.reference.certification import PendingCertificate
    from scorereport.reference.reference_documents import Certificate
    from scorereport.results.evaluation import Evaluation


#: What is said if a required certificate has one of these verdicts.
_NOT_SUFFICIENT = {
    "not checked": "`audit.certify` requires a certificate, but R gave none.",
    "confirmed": (
        "`audit.certify` requires the R package reliabilitydiag, which could not be used. Base R confirmed "
        "the numbers, which does not suffice."
    ),
}
#: Why there is no certificate for rows that are not in memory.
ROWS_NOT_IN_MEMORY = (
    "R needs all rows in memory, but the engine of this evaluation reads them in parts: set "
    '`evaluation.engine` to "memory" if the machine has enough memory.'
)


class CertificateError(ScoreReportError):
    """A certificate is required, but R could not give one."""

    exit_code = ExitCode.CERTIFICATE_FAILED


@dataclass(frozen=True, kw_only=True, eq=False)
class RenderedReport:
    """A report in all its formats, and the snapshot that later audits compare with."""

    report: Report
    snapshot: Snapshot
    forms: dict[str, bytes]
    evidence: AuditEvidence | None = None

    @cached_property
    def results(self) -> bytes:
        """The results document, which the history keeps."""
        return self.report.to_json().encode()

    @property
    def status(self) -> AuditStatus:
        """The status of the audit."""
        return find_status(self.report)


def render_audit_report(
    plan: Plan,
    rows: LoadedRows | SourceReference,
    period: Period,
    records: Sequence[Record],
    baseline: BaselineInForce,
    limits: LimitProvenance | None = None,
    *,
    as_of: datetime,
    last: ChainHead | None,
    time: str,
    command: str,
) -> RenderedReport:
    """Evaluate the rows of a period, and render the report in all formats that the configuration names.

    `records` are those of the audit so far, with that of the `baseline`; `limits` is what is to be stated
    about changes of the limits.
    """
    baseline = baseline.select(period)
    configuration = plan.configuration
    templates = find_templates(configuration)
    evaluation, certificate = _evaluate(plan, rows, time)
    snapshot = take_snapshot(evaluation, period, time=time, configuration=configuration.sha256)
    looks = plan.count_looks(as_of)
    found = find_run_evidence(plan, rows, evaluation, period, records, baseline.record, looks=looks)
    with fixed_time(time):
        report = prepare_report(
            evaluation,
            certificate,
            configuration,
            templates=templates,
            command=command,
            selection=select_checkpoint(
                configuration,
                classes=configuration.evaluation.given.get("classes"),
                normalize=configuration.evaluation.given.get("normalize", False),
            ),
            trend=replace(
                _compare_with_past(plan, snapshot, records, baseline, found, as_of, last),
                seal_check=rows.seal_check,
            ),
            limit_provenance=limits,
        )
    endings = [f".{form}" for form in plan.audit.output.formats]
    rendered = render_report(report, set(endings), templates=templates)
    return RenderedReport(
        report=report,
        snapshot=snapshot,
        forms={ending: rendered[ending] for ending in endings},
        evidence=found.evidence,
    )


def _evaluate(
    plan: Plan, rows: LoadedRows | SourceReference, time: str
) -> tuple[Evaluation, Certificate | None]:
    """Evaluate the rows while R answers about them, if it is asked."""
    how = plan.audit.certify
    check_certifiable(rows, how)
    with _open_certificate(how) as pending:
        evaluation = rows.evaluate(evaluate, plan.configuration.settings)
        with fixed_time(time):  # the time of the record, also if SOURCE_DATE_EPOCH is set
            return evaluation, None if pending is None else _certify(pending, evaluation, how)


def _compare_with_past(
    plan: Plan,
    snapshot: Snapshot,
    records: Sequence[Record],
    baseline: BaselineInForce,
    found: RunEvidence,
    as_of: datetime,
    last: ChainHead | None,
) -> Trend:
    """Compare an audit with those before it, and add the record that precedes it in the history."""
    table = plan.audit.comparison
    past = [
        record.snapshot
        for record in list_counted(records)
        if record.snapshot is not None and record.period.ends < snapshot.period.ends
    ]
    trend = find_drift(
        snapshot,
        past,
        audits=table.audits,
        alpha=table.alpha,
        looks=plan.count_looks(as_of),
        method=table.method,
        baseline=baseline.list_snapshots(records, like=snapshot),
        shifted=baseline.list_shifted(records),
    )
    return replace(
        trend,
        notes=(*trend.notes, *baseline.notes, *baseline.explain_missing_bands(snapshot), *found.notes),
        audit=plan.name,
        as_of=as_of.isoformat(timespec="seconds"),
        time_zone=plan.audit.time_zone,
        evidence=found.shown,
        last_id=0 if last is None else last.id,
        last_sha256="" if last is None else last.sha256,
    )


def check_certifiable(rows: LoadedRows | SourceReference, how: str) -> None:
    """Refuse, before the evaluation, rows that R cannot hold if a certificate is required."""
    if how == "required" and isinstance(rows, SourceReference) and rows.engine != MEMORY:
        raise CertificateError(
            f"`audit.certify` requires a certificate, but there can be none. {ROWS_NOT_IN_MEMORY}"
        )


@contextmanager
def _open_certificate(how: str) -> Iterator[PendingCertificate | None]:
    """Let R answer about the rows of an evaluation in the block while it runs; None if R is not asked."""
    if how == "off":
        yield None
        return
    from scorereport.reference.certification import PendingCertificate

    with PendingCertificate() as pending, called_when_read(pending.start):
        yield pending


def _certify(pending: PendingCertificate, evaluation: Evaluation, how: str) -> Certificate:
    """Return the certificate of an evaluation; raise an error if it is required and R cannot give one."""
    from scorereport.reference.certification import decline

    if evaluation.predictions is None:
        return decline(evaluation, ROWS_NOT_IN_MEMORY)
    certificate = pending.complete(evaluation)
    if how == "required" and certificate.current_verdict in _NOT_SUFFICIENT:
        raise CertificateError(_explain_missing(certificate))
    return certificate


def _explain_missing(certificate: Certificate) -> str:
    """State why a required certificate was not given, and the command that fixes it."""
    reasons = [f"{attempt.reference}: {attempt.reason}" for attempt in certificate.attempts]
    remedy = next((attempt.remedy for attempt in certificate.attempts if attempt.remedy), "")
    fix = [f"To fix: {remedy}"] if remedy else []
    return " ".join((_NOT_SUFFICIENT[certificate.current_verdict], *reasons, *fix))
