"""Seals of the forecasts of a period: which records count, and what an audit finds of their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from scorereport.errors import DataError
from scorereport.history.audit_record import AuditStatus, Record
from scorereport.history.row_hashes import compare_rows, read_hashes
from scorereport.history.trend.seal_records import AnnulledSeal, ForecastSeal, SealCheck
from scorereport.history.valid_records import find_annulled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorereport.configuration.periods import Period
    from scorereport.history.row_hashes import RowHashes
    from scorereport.history.store import History


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodSeals:
    """The seals of a period: the records that count, in the order of the chain, and annulled ones.

    `after_audit` is the number of rows that were sealed after an audit of the period had results, also if
    that audit was annulled: their outcomes may have been known.
    """

    records: tuple[Record, ...] = ()
    annulled: tuple[AnnulledSeal, ...] = ()
    after_audit: int = 0


def trace_seals(records: Iterable[Record], audit: str, period: Period) -> PeriodSeals:
    """Trace the seals of the forecasts of an audit in a period; `records` are in the order of the chain."""
    own = [record for record in records if (record.audit, record.period) == (audit, period)]
    annulments = find_annulled(own)
    seals = [record for record in own if record.kind == "seal" and record.seal is not None]
    valid = [record for record in seals if record.id not in annulments]
    audited = next((one.id for one in own if has_results(one)), None)
    late = [] if audited is None else [record for record in valid if record.id > audited]
    return PeriodSeals(
        records=tuple(valid),
        annulled=tuple(
            _describe_annulled(record, annulments[record.id]) for record in seals if record.id in annulments
        ),
        after_audit=sum(seal.rows for seal in list_sealed(late)),
    )


def has_results(record: Record) -> bool:
    """Whether a record is of a run that evaluated its rows."""
    return record.kind == "audit" and record.status is not AuditStatus.FAILED


def _describe_annulled(record: Record, annulment: Record) -> AnnulledSeal:
    return AnnulledSeal(
        record=record.id,
        rows=sum(seal.rows for seal in list_sealed([record])),
        time=record.finished,
        annulled=annulment.finished,
        reason=annulment.reason,
    )


def list_sealed(seals: Sequence[Record]) -> list[ForecastSeal]:
    """List what records seal."""
    return [record.seal for record in seals if record.seal is not None]


def read_sealed_rows(history: History, seals: Sequence[Record]) -> list[RowHashes]:
    """Read the hashes of the rows that each of the records seals."""
    return [_read(history, record) for record in seals]


def _read(history: History, record: Record) -> RowHashes:
    sealed = list_sealed([record])[0]
    try:
        return read_hashes(history.document(sealed.hashes_sha256))
    except ValueError as error:
        raise DataError(
            f"The document {sealed.hashes_sha256} of record {record.id}, which seals forecasts, cannot be "
            f"used: {error}. `scorereport audit verify` shows what was changed."
        ) from error


def check_rows(
    found: PeriodSeals,
    sealed: Sequence[RowHashes],
    rows: RowHashes,
    *,
    evaluated: Sequence[str],
    changes: Sequence[str] = (),
) -> SealCheck:
    """Compare the rows of an audit with those that records seal; `evaluated` are columns of forecasts."""
    seals = found.records
    counts, declared = compare_rows(sealed, rows), list_sealed(seals)
    is_whole = counts.unchanged == counts.sealed == len(rows)
    if is_whole and len(declared) == 1 and rows.merkle_root != declared[0].merkle_root:
        raise DataError(
            f"The Merkle root of record {seals[0].id} is not that of its rows. `scorereport audit verify` "
            "shows what was changed."
        )
    return SealCheck(
        seals=tuple(record.sha256 for record in seals),
        sealed=counts.sealed,
        unchanged=counts.unchanged,
        changed=counts.changed,
        missing=counts.missing,
        late=counts.late,
        **describe_seals(found),
        changes=tuple(changes),
        unsealed=tuple(name for name in evaluated if name not in declared[0].forecasts),
    )


class SealTimes(TypedDict):
    """What an audit states of the seals themselves: their times, and what casts doubt on them."""

    first: str
    last: str
    outcomes: int
    after_audit: int
    annulled: tuple[AnnulledSeal, ...]


def describe_seals(found: PeriodSeals) -> SealTimes:
    """Describe the seals of a period, of which one counts at least, as the check of an audit states them."""
    return {
        "first": found.records[0].finished,
        "last": found.records[-1].finished,
        "outcomes": sum(seal.outcomes or 0 for seal in list_sealed(found.records)),
        "after_audit": found.after_audit,
        "annulled": found.annulled,
    }
