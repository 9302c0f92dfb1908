"""Seals of the forecasts of a period: which records count, and what an audit finds of their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.errors import DataError
from scorereport.history.row_hashes import compare_rows, read_hashes
from scorereport.history.trend.seal_records import ForecastSeal, SealCheck
from scorereport.history.valid_records import find_annulled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorereport.configuration.periods import Period
    from scorereport.history.audit_record import Record
    from scorereport.history.row_hashes import RowHashes
    from scorereport.history.store import History


def list_seals(records: Iterable[Record], audit: str, period: Period) -> list[Record]:
    """List the valid records that seal forecasts of an audit in a period, in the order of the chain."""
    records = tuple(records)
    annulled = find_annulled(records)
    return [
        record
        for record in records
        if record.kind == "seal"
        and record.seal is not None
        and (record.audit, record.period) == (audit, period)
        and record.id not in annulled
    ]


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
    seals: Sequence[Record],
    sealed: Sequence[RowHashes],
    rows: RowHashes,
    *,
    evaluated: Sequence[str],
    changes: Sequence[str] = (),
) -> SealCheck:
    """Compare the rows of an audit with those that records seal; `evaluated` are columns of forecasts."""
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
        first=seals[0].finished,
        last=seals[-1].finished,
        outcomes=count_known(seals),
        changes=tuple(changes),
        unsealed=tuple(name for name in evaluated if name not in declared[0].forecasts),
    )


def count_known(seals: Sequence[Record]) -> int:
    """Count the sealed rows whose outcomes were in the source already."""
    return sum(seal.outcomes or 0 for seal in list_sealed(seals))
