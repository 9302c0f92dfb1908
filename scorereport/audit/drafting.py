"""Records before they are in the history: of any run, and of one that made a report."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport.audit.statuses import find_exit_code
from scorereport.errors import ExitCode
from scorereport.history.audit_record import AuditStatus, Record
from scorereport.report.provenance import trace_provenance

if TYPE_CHECKING:
    from datetime import datetime

    from scorereport.audit.audit_report import RenderedReport
    from scorereport.audit.plan import Plan
    from scorereport.audit.rows.loaded_rows import LoadedRows
    from scorereport.audit.rows.referring import SourceReference
    from scorereport.configuration.periods import Period
    from scorereport.history.audit_record import RecordedFile


def begin_record(plan: Plan, period: Period, moment: datetime, *, started: str, command: str) -> Record:
    """What is known of any run from its beginning; as it stands, a failure whose reason is not known yet."""
    provenance = trace_provenance(command=command)
    return Record(
        audit=plan.name,
        period=period,
        attempt=0,  # the next that is free
        as_of=moment.isoformat(timespec="seconds"),
        status=AuditStatus.FAILED,
        exit_code=ExitCode.USAGE,
        started=started,
        finished="",  # when it is appended
        configuration=plan.configuration.name,
        configuration_sha256=plan.configuration.sha256,
        folder=plan.reports_folder,
        home=plan.mark,
        command=plan.redactor.redact(command),
        machine=provenance.machine,
        software=provenance.software,
    )


def complete_record(
    draft: Record,
    gathered: LoadedRows | SourceReference,
    made: RenderedReport,
    files: tuple[RecordedFile, ...],
) -> Record:
    """The record of an audit whose report is made."""
    certificate, trend = made.report.certificate, made.report.trend
    return replace(
        draft,
        status=made.status,
        exit_code=find_exit_code(made.status),
        source=gathered.source,
        rows=made.report.evaluation.data.row_flow.kept,
        data_sha256=made.report.evaluation.data.sha256,
        source_sha256=gathered.source_sha256,
        templates_sha256=made.report.provenance.templates_sha256,
        results_sha256=hashlib.sha256(made.results).hexdigest(),
        certificate="" if certificate is None else certificate.verdict,
        files=files,
        judgements=made.report.judgements,
        snapshot=made.snapshot,
        drifts=() if trend is None else trend.drifts,
    )
