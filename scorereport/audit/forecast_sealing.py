"""Sealing of the forecasts of a period: their hashes, configuration and analysis plan are recorded."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from scorereport._utils.clock import read_clock
from scorereport._utils.formatting import conjugate, format_count, format_counted
from scorereport.audit.anchors import anchor_again
from scorereport.audit.audit_rows import hash_plan_file, name_hashed_columns
from scorereport.audit.event_recording import begin_event, open_for_event
from scorereport.audit.plan import Plan, read_plan
from scorereport.audit.rows.rows_to_seal import RowsToSeal, read_rows_to_seal
from scorereport.audit.run import DEFAULT_WAIT_SECONDS
from scorereport.configuration.audit_rules import check_portable_name
from scorereport.configuration.period_labels import find_labelled
from scorereport.configuration.periods import Period, find_period, read_as_of
from scorereport.errors import UsageError
from scorereport.history.audit_record import Record
from scorereport.history.forecast_seals import list_sealed, read_sealed_rows, trace_seals
from scorereport.history.row_hashes import RowHashes, compare_rows, is_new
from scorereport.history.trend.seal_records import ForecastSeal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from scorereport.history.store import History


@dataclass(frozen=True, kw_only=True, eq=False)
class SealResult:
    """The record of a seal, or the last one of the period if all rows of the source were sealed already.

    `is_new` states which. `notes` are sentences on rows that were sealed before, `problems` on failures.
    """

    record: Record
    is_new: bool
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def seal_forecasts(
    path: str | Path,
    *,
    as_of: str | None = None,
    period: str | None = None,
    wait: float = DEFAULT_WAIT_SECONDS,
    command: str = "",
) -> SealResult:
    """Seal the forecasts of a period: append a record of their hashes, before outcomes are known.

    Rows that an earlier seal of the period has are not sealed again; if there are no others, no record is
    appended.

    Parameters
    ----------
    path : the configuration of the audit, a TOML file, with `audit.seal.key`
    as_of : the day, or the moment, from which the period is counted; by default now
    period : the label of the period, such as "2026-06", instead of `as_of`; it need not be over
    wait : seconds to wait for a run of the same audit
    command : the command line, for the record
    """
    plan = read_plan(path)
    check_portable_name(plan.name, "audit.name")
    moment, chosen = _choose_period(plan, as_of, period)
    name_hashed_columns(plan, chosen)  # refused before a history is made
    sealing = _Sealing(plan=plan, period=chosen, moment=moment, started=read_clock(), command=command)
    with open_for_event(plan, wait=wait) as history:
        result = sealing.seal(history)
        if not result.is_new:  # the sealing that appended it may have been killed before it was anchored
            history.problems += anchor_again(plan, history)
    return replace(result, problems=tuple(map(plan.redactor.redact, history.problems)))


def _choose_period(plan: Plan, as_of: str | None, label: str | None) -> tuple[datetime, Period]:
    """Return the moment that the period is counted from, and the period, which may lie ahead."""
    window = plan.audit.window.period
    if label is None:
        moment = read_as_of(as_of, plan.zone)
        return moment, find_period(window, moment)
    if as_of is not None:
        raise UsageError("`as_of` and `period` must not be given together: both choose the period.")
    found = find_labelled(window, label, plan.zone, must_be_over=False)
    return found.as_of, found.period


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sealing:
    """The sealing of one period; the caller holds the lock of the audit."""

    plan: Plan
    period: Period
    moment: datetime
    started: str
    command: str

    def seal(self, history: History) -> SealResult:
        """Append a record of the rows that are not sealed yet; without such rows, return the last record."""
        plan = self.plan
        records = history.records(plan.name, period=self.period.label)
        seals = trace_seals(records, plan.name, self.period).records
        self._check_columns(seals)
        plan_sha256 = hash_plan_file(plan)
        rows = self._read_rows()
        before = read_sealed_rows(history, seals)
        notes = tuple(_describe_sealed_before(before, rows.hashes))
        added = is_new(rows.hashes, before)
        if not added.any():
            return SealResult(record=seals[-1], is_new=False, notes=notes)
        hashes = RowHashes(rows.hashes.rows[added])
        document = hashes.to_document()
        columns = name_hashed_columns(plan, self.period)
        seal = ForecastSeal(
            rows=len(hashes),
            keys=columns.keys,
            forecasts=columns.forecasts,
            merkle_root=hashes.merkle_root,
            hashes_sha256=hashlib.sha256(document).hexdigest(),
            outcomes=None if rows.has_outcome is None else int(rows.has_outcome[added].sum()),
            plan=plan.audit.seal.plan,
            plan_sha256=plan_sha256,
        )
        documents = {seal.hashes_sha256: document, **plan.documents}
        appended = history.append(self._begin(rows, seal), documents)
        return SealResult(record=appended, is_new=True, notes=notes)

    def _read_rows(self) -> RowsToSeal:
        plan = self.plan
        return read_rows_to_seal(
            plan.audit.source,
            plan.audit.window,
            self.period,
            plan.configuration.evaluation.columns,
            name_hashed_columns(plan, self.period),
            folder=plan.path.parent,
            zone=plan.zone,
            expand=plan.expand,
        )

    def _begin(self, rows: RowsToSeal, seal: ForecastSeal) -> Record:
        begun = begin_event(
            self.plan, "seal", self.period, self.moment, started=self.started, command=self.command
        )
        return replace(begun, source=rows.source, source_sha256=rows.source_sha256, seal=seal)

    def _check_columns(self, seals: Sequence[Record]) -> None:
        """Refuse other columns than those of an earlier seal: its rows could not be found again."""
        now = name_hashed_columns(self.plan, self.period)
        for record, seal in zip(seals, list_sealed(seals), strict=True):
            if (seal.keys, seal.forecasts) != (now.keys, now.forecasts):
                raise UsageError(
                    f"Record {record.id} seals {', '.join(seal.forecasts)} of {self.period.label} by "
                    f"{', '.join(seal.keys)}, but the configuration names {', '.join(now.forecasts)} and the "
                    f"key {', '.join(now.keys)}. To fix: keep the columns of a period that is sealed, or "
                    f"annul that record with `scorereport audit annul {record.id}`."
                )


def _describe_sealed_before(before: Sequence[RowHashes], rows: RowHashes) -> Iterator[str]:
    """Describe rows of earlier seals that the source no longer has as they were sealed."""
    counts = compare_rows(before, rows)
    if counts.changed or counts.missing:
        yield (
            f"Of {format_counted(counts.sealed, 'row')} sealed before, {format_count(counts.changed)} "
            f"{conjugate(counts.changed, 'have')} changed in the source since, and "
            f"{format_count(counts.missing)} {conjugate(counts.missing, 'are')} missing. The first seal of a "
            "row counts."
        )
