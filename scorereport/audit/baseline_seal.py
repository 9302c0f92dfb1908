"""Sealing of the baseline that a configuration names: once, before the audit that needs it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_counted
from scorereport.audit.begun_record import begin_record
from scorereport.audit.rows.counted_rows import open_source_rows
from scorereport.audit.rows.loaded_rows import LoadedRows, load_rows
from scorereport.configuration.audit_tables import SourceTable, WindowTable
from scorereport.configuration.periods import Period
from scorereport.data.sources import hash_file
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.dispatch import evaluate
from scorereport.history.audit_record import AuditStatus, Record
from scorereport.history.sealed_baselines import build_from_audits, choose_baseline_audits, find_baseline
from scorereport.history.trend.baselines import (
    BASELINE,
    build_baseline,
    describe_as_snapshot,
    explain_missing_band,
    find_band_level,
    list_bands,
    name_baseline,
    overlaps_baseline,
)
from scorereport.history.trend.evidence_factors import digest_outcomes
from scorereport.history.trend.evidence_parts import digest_panels
from scorereport.history.trend.snapshot import find_panel, take_snapshot
from scorereport.history.valid_records import list_counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from scorereport.audit.plan import Plan
    from scorereport.audit.rows.source_reference import SourceReference
    from scorereport.configuration.audit_tables import BaselineTable
    from scorereport.history.store import History
    from scorereport.history.trend.drift_records import Snapshot
    from scorereport.history.trend.evidence_records import OutcomeDigest, SealedBaseline
    from scorereport.results.evaluation import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineInForce:
    """The record of the baseline that an audit is compared with, if any, and notes for the report."""

    record: Record | None = None
    notes: tuple[str, ...] = ()

    @property
    def sealed(self) -> SealedBaseline | None:
        """The baseline."""
        return None if self.record is None else self.record.baseline

    def select(self, period: Period) -> BaselineInForce:
        """Return the baseline for an audit of a period; none if rows of the period are part of it."""
        if self.sealed is None or not overlaps_baseline(self.sealed, period):
            return self
        part = f"Days of {period.label} are part of the baseline, with which they are not compared."
        return BaselineInForce(notes=(*self.notes, part))

    def list_snapshots(self, records: Sequence[Record], like: Snapshot) -> list[Snapshot]:
        """Return the audits of the baseline as snapshots, or a file as one, to compare `like` with."""
        if self.sealed is None:
            return []
        named = [record.snapshot for record in records if record.sha256 in self.sealed.records]
        return [s for s in named if s is not None] or [describe_as_snapshot(self.sealed, like)]

    def list_shifted(self, records: Sequence[Record]) -> set[str]:
        """Return the periods whose population differs from that of the baseline, by their records."""
        first = 0 if self.record is None else self.record.id
        return {
            record.period.label
            for record in list_counted(records)
            if record.id > first and any(d.has_drifted and d.against == BASELINE for d in record.drifts)
        }

    def explain_missing_bands(self, snapshot: Snapshot) -> list[str]:
        """Explain why there is no evidence against the baseline for models of an audit, once for each."""
        if self.sealed is None:
            return []
        bands = {model for model, _ in list_bands(self.sealed, 2 * (1 - self.sealed.level))}
        models = dict.fromkeys(number.model for number in snapshot.numbers if number.model)
        missing = [explain_missing_band(self.sealed, model) for model in models if model not in bands]
        return list(dict.fromkeys(missing))


def ensure_baseline(
    plan: Plan, history: History, period: Period, moment: datetime, *, started: str, command: str = ""
) -> BaselineInForce:
    """Return the baseline in force; seal the one that the configuration names if there is none yet.

    Parameters
    ----------
    plan, history : of the audit
    period, moment, started, command : of the run, for the record of a new baseline
    """
    table = plan.audit.baseline
    if not name_baseline(table):
        return BaselineInForce()
    records = history.records(plan.name)
    known = find_baseline(records, table)
    if known is not None:
        return BaselineInForce(record=known, notes=tuple(_find_changes(plan, known)))
    if table.file:
        sealed, rows = _evaluate_file(plan, period)
        source, sha256 = rows.source, rows.source_sha256
    else:
        audits = choose_baseline_audits(records, table)
        if reason := _explain_unsealed(table, audits):
            return BaselineInForce(notes=(reason,))
        level = find_band_level(plan.audit.comparison.alpha)
        sealed, source, sha256 = build_from_audits(name_baseline(table), audits, level=level), "", ""
    record = replace(
        begin_record(plan, period, moment, started=started, command=command),
        kind="baseline",
        status=AuditStatus.DONE,
        exit_code=0,
        source=source,
        source_sha256=sha256,
        baseline=sealed,
    )
    appended = history.append(record, plan.documents)
    return BaselineInForce(record=appended, notes=tuple(_describe_new(records, appended)))


def _explain_unsealed(table: BaselineTable, audits: Sequence[Record]) -> str:
    """Explain why audits cannot be sealed as a baseline yet; "" if they can."""
    if not audits and table.period:
        return f"There is no audit of {table.period} yet, so that there is no baseline to compare with."
    if not audits:
        return (
            f"The baseline is the first {format_counted(table.audits or 0, 'audit')}. There are not that "
            "many yet that share no day, so that there is no baseline to compare with."
        )
    if without := [audit.period.label for audit in audits if audit.evidence is None]:
        return (
            f"The audit of {without[0]} has no outcomes by forecast in the history, which earlier versions "
            "did not record, so that there is no baseline to compare with. To fix: run it again with "
            "`--again`."
        )
    return ""


def _find_changes(plan: Plan, known: Record) -> Iterator[str]:
    """Yield a note if the file of a sealed baseline has changed; the sealed one stays in force."""
    file = plan.audit.baseline.file
    path = plan.path.parent / file
    if not file or not path.is_file():
        return
    if hash_file(path) != known.source_sha256:
        yield (
            f"The file {file} has changed since the baseline was sealed in record {known.id}; the sealed "
            "baseline stays in force. To seal the new file, annul that record, or give the file another name."
        )


def _describe_new(records: Sequence[Record], sealed: Record) -> Iterator[str]:
    name = "" if sealed.baseline is None else sealed.baseline.source
    before = [record for record in records if record.baseline is not None]
    again = ", and evidence against the baseline starts anew" if before else ""
    yield f"The baseline, {name}, is sealed in record {sealed.id} with this audit{again}."


def _evaluate_file(plan: Plan, period: Period) -> tuple[SealedBaseline, LoadedRows | SourceReference]:
    """Evaluate the rows of a file, without intervals; they need no dates and count as older than the run."""
    table, past = plan.audit.baseline, Period(label=BASELINE, start=None, end=period.end)
    try:
        rows = _load_file(plan, past)
        try:
            evaluation = rows.evaluate(evaluate, {**plan.configuration.settings, "resamples": 0})
            digests = _digest_rows(evaluation, rows)
        finally:
            rows.close()
    except (UsageError, DataError) as error:
        raise type(error)(f"The baseline, `audit.baseline.file`, cannot be evaluated. {error}") from error
    snapshot = take_snapshot(evaluation, past, time="")
    sealed = build_baseline(
        name_baseline(table),
        [snapshot],
        [digests],
        level=find_band_level(plan.audit.comparison.alpha),
        data_sha256=evaluation.data.sha256,
    )
    return sealed, rows


def _load_file(plan: Plan, period: Period) -> LoadedRows | SourceReference:
    evaluation = plan.configuration.evaluation
    columns = evaluation.columns.copy()
    columns.pop("time", None)
    return load_rows(
        SourceTable(file=plan.audit.baseline.file),
        WindowTable(),
        period,
        columns,
        folder=plan.path.parent,
        zone=plan.zone,
        expand=plan.expand,
        work=plan.configuration.work,
    )


def _digest_rows(evaluation: Evaluation, rows: LoadedRows | SourceReference) -> tuple[OutcomeDigest, ...]:
    """Return the outcomes by forecast, of rows in memory or in the file."""
    if evaluation.predictions is not None or isinstance(rows, LoadedRows):
        classes = evaluation.data.classes
        return digest_outcomes(find_panel(evaluation), () if classes is None else classes.labels)
    with open_source_rows(rows, joins_clusters=False) as found:
        return digest_panels(found.panels)
