"""Rules that records of sealed baselines follow; what no run can have written is a finding."""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING

import numpy as np

from scorereport.audit.event_rules import check_event
from scorereport.configuration.audit_tables import BaselineTable
from scorereport.history.sealed_baselines import build_from_audits, choose_baseline_audits, find_sealed
from scorereport.history.trend.baselines import name_baseline
from scorereport.history.valid_records import find_annulled
from scorereport.results.tallies import EDGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from scorereport.history.audit_record import Record
    from scorereport.history.trend.evidence_records import OutcomeDigest, SealedBaseline

#: The relative tolerance within which sums on different processors count as equal.
_RELATIVE = 1e-9


def read_baseline_name(table: dict[str, Any]) -> str:
    """Return the definition of a baseline in a configuration; raise ValueError if it cannot be read."""
    file, period, audits = (table.get(name) for name in ("file", "period", "audits"))
    if not (
        isinstance(file, str | None) and isinstance(period, str | None) and isinstance(audits, int | None)
    ):
        raise ValueError("`audit.baseline` has values of a wrong type")
    return name_baseline(BaselineTable(file=file or "", period=period or "", audits=audits))


def check_baseline_contents(record: Record) -> Iterator[str]:
    """Check the record of a baseline by itself; yield what is wrong as ends of sentences about it."""
    yield from check_event(record)
    if record.baseline is None:
        yield "is of a baseline, but has none"
    else:
        yield from _check_numbers(record.baseline)


def _check_numbers(sealed: SealedBaseline) -> Iterator[str]:
    """Check that shares, sizes and counts can be those of a sample."""
    shares, lengths = sealed.shares, {len(sealed.digests), len(sealed.means), len(sealed.sizes)}
    is_sample = (
        sealed.rows > 0
        and 0 < sealed.size <= sealed.rows * (1 + _RELATIVE) + _count_repeats(sealed)
        and 0 < sealed.level < 1
        and len(shares) == max(len(sealed.labels), 2)
        and isclose(sum(shares), 1, rel_tol=1e-6)
        and min(shares) >= 0
        and len(lengths) == 1
    )
    if not is_sample:
        yield "has a baseline whose rows, size or shares are not those of a sample"
    if not all(map(_is_count, sealed.digests)):
        yield "has a baseline whose outcomes by forecast are not counts in bins"


def _count_repeats(sealed: SealedBaseline) -> float:
    """Return the cases beyond the rows, which frequency weights make."""
    return max((sum(digest.weights) for digest in sealed.digests), default=float("inf"))


def _is_count(digest: OutcomeDigest) -> bool:
    bins, weights, events = (np.array(column) for column in (digest.bins, digest.weights, digest.events))
    if not len(bins) == len(weights) == len(events) > 0:
        return False
    is_placed = bool((np.diff(bins) > 0).all()) and bins[0] >= 0 and bins[-1] <= len(EDGES)
    return is_placed and bool(((weights > 0) & (events >= 0) & (events <= weights * (1 + _RELATIVE))).all())


def check_baselines(records: Sequence[Record]) -> Iterator[tuple[Record, str]]:
    """Find baselines that the records before them do not give; `records` are all of the history, in order."""
    for place, record in enumerate(records):
        if record.kind == "baseline" and record.baseline is not None:
            earlier = [other for other in records[:place] if other.audit == record.audit]
            yield from ((record, claim) for claim in _check_against(record, record.baseline, earlier))
    annulled = find_annulled(records)
    for record in records:
        seal = "" if record.evidence is None else record.evidence.baseline
        if seal and not _is_known_seal(record, seal, records, annulled):
            yield record, "has evidence against a baseline that no valid record before it seals"


def _is_known_seal(record: Record, seal: str, records: Sequence[Record], annulled: dict[int, Record]) -> bool:
    return any(
        other.kind == "baseline"
        and other.audit == record.audit
        and other.id < record.id
        and other.sha256 == seal
        and (other.id not in annulled or annulled[other.id].id > record.id)
        for other in records
    )


def _check_against(record: Record, sealed: SealedBaseline, earlier: Sequence[Record]) -> Iterator[str]:
    known = find_sealed(earlier, sealed.source)
    if known is not None:
        yield f"seals the baseline {sealed.source} again, though record {known.id} seals it and is valid"
    if not sealed.records:
        if not (record.source and record.source_sha256):
            yield "seals a file as a baseline, but does not name it and its hash"
        return
    by_hash = {other.sha256: other for other in earlier}
    named = [by_hash.get(sha256) for sha256 in sealed.records]
    audits = [other for other in named if other is not None]
    table = _find_table(sealed)
    if len(audits) < len(named) or table is None or choose_baseline_audits(earlier, table) != audits:
        yield f"seals other records as {sealed.source} than those before it"
    elif not _are_same(build_from_audits(sealed.source, audits, level=sealed.level), sealed):
        yield "has a baseline whose numbers are not those of the records that it names"


def _find_table(sealed: SealedBaseline) -> BaselineTable | None:
    """Return the table of the configuration that names these audits; None if there is none."""
    tables = (
        BaselineTable(period=sealed.source.removeprefix("the audit of ")),
        BaselineTable(audits=len(sealed.records)),
    )
    return next((table for table in tables if name_baseline(table) == sealed.source), None)


def _are_same(one: SealedBaseline, other: SealedBaseline) -> bool:
    """Whether two baselines are equal, numbers up to rounding."""
    return _are_close(_list_values(one), _list_values(other))


def _list_values(sealed: SealedBaseline) -> list[Any]:
    from scorereport._utils.json_documents import encode

    return list(_flatten(encode(sealed)))


def _flatten(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _flatten(item)
    elif isinstance(value, list):
        yield len(value)
        for item in value:
            yield from _flatten(item)
    else:
        yield value


def _are_close(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return len(one) == len(other) and all(
        isclose(a, b, rel_tol=_RELATIVE) if isinstance(a, float) and isinstance(b, float | int) else a == b
        for a, b in zip(one, other, strict=True)
    )
