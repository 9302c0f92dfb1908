"""Rules that records of sealed forecasts follow, and audits of sealed periods."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from scorereport.audit.event_rules import check_event
from scorereport.history.audit_record import AuditStatus
from scorereport.history.forecast_seals import describe_seals, has_results, list_sealed, trace_seals
from scorereport.history.row_hashes import read_hashes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.configuration.periods import Period
    from scorereport.history.audit_record import Record
    from scorereport.history.forecast_seals import PeriodSeals
    from scorereport.history.trend.seal_records import ForecastSeal, SealCheck

_SHA256 = re.compile(r"[0-9a-f]{64}")


def check_seal_contents(record: Record) -> Iterator[str]:
    """Check the record of a seal by itself; yield what is wrong as ends of sentences about it."""
    yield from check_event(record)
    if not record.source:
        yield "seals forecasts, but names no source"
    if record.seal is None:
        yield "seals forecasts, but has no seal"
    else:
        yield from _check_seal(record.seal)


def _check_seal(seal: ForecastSeal) -> Iterator[str]:
    if seal.rows < 1 or not seal.keys or not seal.forecasts:
        yield "seals no rows, or names no columns of keys or forecasts"
    if not all(map(_SHA256.fullmatch, (seal.merkle_root, seal.hashes_sha256))):
        yield "seals forecasts, but its Merkle root and the hash of its row hashes are not both SHA-256"
    if seal.outcomes is not None and not 0 <= seal.outcomes <= seal.rows:
        yield f"seals {seal.rows} rows, of which {seal.outcomes} cannot have had an outcome"
    if bool(seal.plan) != bool(_SHA256.fullmatch(seal.plan_sha256)):
        yield "does not name both an analysis plan and its hash"


def check_seal_fields(record: Record) -> Iterator[str]:
    """Check that only audits compare rows with sealed forecasts, and their counts."""
    if record.seal_check is None:
        return
    if record.kind != "audit" or record.status is AuditStatus.FAILED:
        yield "compares rows with sealed forecasts, but is not an audit with results"
    yield from _check_counts(record.seal_check, record.rows)


def _check_counts(check: SealCheck, evaluated: int) -> Iterator[str]:
    parts = (check.unchanged, check.changed, check.missing)
    if check.sealed != sum(parts) or min(*parts, check.late) < 0 or not check.sealed:
        yield (
            f"counts {check.sealed} sealed rows, but {check.unchanged} unchanged, {check.changed} changed "
            f"and {check.missing} missing ones"
        )
    present = check.unchanged + check.changed + check.late
    if present < evaluated:
        yield f"evaluates {evaluated} rows, but compares only {present} with sealed forecasts"


def check_seal_request(record: Record, key: tuple[str, ...], plan: str) -> Iterator[str]:
    """Check a seal against the configuration that its record names."""
    seal = record.seal
    if seal is not None and seal.keys != key:
        named = ", ".join(key) or "none"
        yield f"seals rows by {', '.join(seal.keys)}, but the key of its configuration is {named}"
    if seal is not None and seal.plan != plan:
        yield f"seals the plan {seal.plan or 'none'}, but its configuration names {plan or 'none'}"


def check_sealed_rows(record: Record, document: bytes) -> Iterator[str]:
    """Check a seal against the document of its row hashes: the number of rows, and the Merkle root."""
    if record.seal is None:
        return
    try:
        rows = read_hashes(document)
    except ValueError as error:
        yield f"seals forecasts by a document that cannot be used: {error}"
        return
    if len(rows) != record.seal.rows:
        yield f"seals {record.seal.rows} rows, but its document has the hashes of {len(rows)}"
    if rows.merkle_root != record.seal.merkle_root:
        yield f"has the Merkle root {record.seal.merkle_root}, but that of its rows is {rows.merkle_root}"


def check_seals(records: Sequence[Record]) -> Iterator[tuple[Record, str]]:
    """Find audits that do not compare their rows with exactly the seals that were valid before them.

    `records` are all of the history, in order.
    """
    earlier: dict[tuple[str, Period], list[Record]] = defaultdict(list)
    for record in records:
        before = earlier[record.audit, record.period]
        if record.seal is not None or has_results(record):
            found = trace_seals(before, record.audit, record.period)
            claims = (
                _check_named(record.seal_check, found)
                if record.seal is None
                else _check_columns(record, found)
            )
            yield from ((record, claim) for claim in claims)
        before.append(record)


def _check_columns(sealing: Record, earlier: PeriodSeals) -> Iterator[str]:
    """Check that a seal has the columns of those before it in the same period."""
    (seal,) = list_sealed([sealing])
    for record, other in zip(earlier.records, list_sealed(earlier.records), strict=True):
        if (seal.keys, seal.forecasts) != (other.keys, other.forecasts):
            yield f"seals other columns of this period than record {record.id}, which is valid"
            return


def _check_named(check: SealCheck | None, found: PeriodSeals) -> Iterator[str]:
    """Check what an audit says about the seals of its period."""
    seals = found.records
    if check is None:
        if seals:
            numbers = ", ".join(str(seal.id) for seal in seals)
            yield f"is of a period that record {numbers} seals, but does not compare its rows with the seal"
        return
    if check.seals != tuple(seal.sha256 for seal in seals):
        numbers = ", ".join(str(seal.id) for seal in seals) or "none"
        yield f"compares its rows with other seals than those that were valid before it: {numbers}"
        return
    if not seals:
        yield "compares its rows with seals, but there is no valid seal of its period"
        return
    stated = describe_seals(found)
    if check.annulled != stated["annulled"]:
        numbers = ", ".join(str(seal.record) for seal in found.annulled) or "none"
        yield f"states other facts of annulled seals of its period than those of the records: {numbers}"
    expected = {
        "sealed": sum(seal.rows for seal in list_sealed(seals)),
        **{name: stated[name] for name in ("first", "last", "outcomes", "after_audit")},
    }
    for name, value in expected.items():
        if getattr(check, name) != value:
            yield f"states {getattr(check, name)} as `{name}` of the seals of its period, but it is {value}"
