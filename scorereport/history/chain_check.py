"""Check of the chain: whether all records are present, in order, and as they were written.

The hash of a record is available from three places: it is computed from the text, it is stored in a column,
and the next record contains it. Where these disagree, the records before and after show which was changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scorereport.errors import DataError
from scorereport.history.audit_record import CHAIN_START, Record, read_audit_record
from scorereport.history.record_rows import describe_columns
from scorereport.history.verification_findings import FindingKind, IntegrityFinding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from scorereport.history.chain_head import ChainHead


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainLink:
    """A record as it is stored: `sha256` is computed from its text, `filed` is the hash in the column.

    `id` is the number in the text if that is intact, otherwise the number in the column. `record` is None if
    the text cannot be read.
    """

    id: int
    columns: Mapping[str, Any]
    body: bytes
    sha256: str
    record: Record | None

    @property
    def filed(self) -> Any:
        """The hash stored in the column."""
        return self.columns["sha256"]

    @property
    def is_intact(self) -> bool:
        """Whether the text has the hash that is stored with it."""
        return self.sha256 == self.filed and isinstance(self.columns["body"], str)

    @property
    def previous(self) -> str | None:
        """The hash of the record before, as the text states it; None if the text cannot be read."""
        return None if self.record is None else self.record.previous


def read_chain_link(columns: Mapping[str, Any]) -> ChainLink:
    """Read a record, intact or not, from a stored row."""
    content = _read_bytes(columns["body"])
    sha256 = hashlib.sha256(content).hexdigest()
    record = _try_record(content)
    number = record.id if record is not None and sha256 == columns["sha256"] else columns["id"]
    return ChainLink(id=number, columns=columns, body=content, sha256=sha256, record=record)


def _read_bytes(body: Any) -> bytes:
    if isinstance(body, str):
        return body.encode(errors="surrogateescape")
    return body if isinstance(body, bytes) else b""


def _try_record(content: bytes) -> Record | None:
    try:
        return read_audit_record(content, "")
    except DataError:
        return None


def check_chain(
    links: Iterable[ChainLink],
    *,
    head: ChainHead | None = None,
    kept: Collection[str] = (),
    unreadable: Collection[int] = (),
) -> list[IntegrityFinding]:
    """Find everything that is wrong with the records, one finding for each record.

    `kept` are hashes, or their first characters, that were kept outside of the database; `unreadable` are the
    numbers of records that the database cannot read.
    """
    stored = list(links)
    chain, duplicates = _arrange(stored)
    findings = {link.id: finding for link in chain.values() for finding in _check_link(link, chain)}
    trusted = _TrustedHashes(head, kept)
    for number, finding in _check_neighbours(chain, trusted):
        findings.setdefault(number, finding)
    return [
        *(findings[number] for number in sorted(findings)),
        *(_describe_duplicate_number(link) for link in duplicates),
        *_check_gaps(chain, head, unreadable),
        *_check_head(chain, head, findings),
        *_check_kept_hashes(stored, kept),
    ]


def name_record(number: int) -> str:
    """Return the name of a record in findings."""
    return f"record {number}"


def _record_finding(kind: FindingKind, number: int, sentence: str) -> IntegrityFinding:
    return IntegrityFinding(kind=kind, subject=name_record(number), sentence=sentence)


class _TrustedHashes:
    """Hashes that were kept outside of the database."""

    def __init__(self, head: ChainHead | None, kept: Collection[str]) -> None:
        self.beginnings = (*kept, *([] if head is None else [head.sha256]))

    def __contains__(self, sha256: str) -> bool:
        return sha256.startswith(self.beginnings) if self.beginnings else False


def _arrange(links: list[ChainLink]) -> tuple[dict[int, ChainLink], list[ChainLink]]:
    """Return the records by number, and those whose number is impossible or belongs to another record."""
    carried = {link.previous for link in links}
    chain: dict[int, ChainLink] = {}
    duplicates = []
    for link in links:
        rival = chain.setdefault(link.id, link)
        if rival is not link:
            worse, chain[link.id] = sorted((rival, link), key=lambda one: _rank_claim(one, carried))
            duplicates.append(worse)
    duplicates += [chain.pop(number) for number in sorted(chain) if number < 1]
    return chain, duplicates


def _rank_claim(link: ChainLink, carried: Collection[str | None]) -> tuple[bool, bool]:
    """Rank the claim to a number: records that another record links to first, then those in their place."""
    return link.sha256 in carried, link.columns["id"] == link.id


def _describe_duplicate_number(link: ChainLink) -> IntegrityFinding:
    place = link.columns["id"]
    return _record_finding(
        FindingKind.INSERTED,
        place,
        f"The record in place {place} was inserted: it claims to be record {link.id}, but it is not.",
    )


def _check_link(link: ChainLink, chain: Mapping[int, ChainLink]) -> Iterator[IntegrityFinding]:
    after = chain.get(link.id + 1)
    if not link.is_intact:
        if after is not None and after.previous == link.sha256:
            sentence = (
                f"The hash or the type stored with record {link.id} was changed; its text is unchanged."
            )
        else:
            sentence = (
                f"Record {link.id} was changed: its text does not have the hash that is stored with it."
            )
        yield _record_finding(FindingKind.CHANGED, link.id, sentence)
    elif link.record is None:
        yield _record_finding(
            FindingKind.UNREADABLE, link.id, f"Record {link.id} is not a record that this software can read."
        )
    else:
        yield from _check_columns(link, describe_columns(link.record))


def _check_columns(link: ChainLink, expected: Mapping[str, Any]) -> Iterator[IntegrityFinding]:
    differing = [name for name, value in expected.items() if link.columns[name] != value]
    if differing == ["id"]:
        yield _record_finding(
            FindingKind.REORDERED,
            link.id,
            f"Record {link.id} was moved: it is now in place {link.columns['id']}.",
        )
    elif differing:
        named = ", ".join(
            f"`{name}` ({link.columns[name]!a:.80}, not {expected[name]!r})" for name in differing
        )
        sentence = f"Columns of record {link.id} were changed, its text was not: {named}."
        yield _record_finding(FindingKind.CHANGED, link.id, sentence)


def _check_neighbours(
    chain: Mapping[int, ChainLink], trusted: _TrustedHashes
) -> Iterator[tuple[int, IntegrityFinding]]:
    for number in sorted(chain):
        link, before = chain[number], chain.get(number - 1)
        if number == 1:
            if link.previous not in (CHAIN_START, None):
                yield (
                    1,
                    _record_finding(
                        FindingKind.CHANGED, 1, "Record 1 was changed: it links to a record before it."
                    ),
                )
        elif before is not None and not _is_explained(before, link):
            yield _find_changed_record(before, link, chain.get(number + 1), trusted)


def _is_explained(before: ChainLink, link: ChainLink) -> bool:
    """Whether two records link to each other, or would if one of them had not been found to be changed."""
    if link.previous in (None, before.sha256):
        return True
    if not before.is_intact and link.previous == before.filed:
        return True
    return not link.is_intact and link.columns["previous"] == before.sha256


def _find_changed_record(
    before: ChainLink, link: ChainLink, after: ChainLink | None, trusted: _TrustedHashes
) -> tuple[int, IntegrityFinding]:
    """Find which of two records that do not link was changed: the one that no third hash confirms."""
    is_confirmed = link.sha256 in trusted or (after is not None and after.previous == link.sha256)
    pair = f"record {link.id} contains a hash that is not the hash of record {before.id}"
    if is_confirmed:
        return before.id, _record_finding(
            FindingKind.CHANGED,
            before.id,
            f"Record {before.id} was changed or replaced, with its hash: {pair}.",
        )
    if before.sha256 in trusted or (after is not None and after.previous is not None):
        return link.id, _record_finding(
            FindingKind.CHANGED, link.id, f"Record {link.id} was changed, replaced or inserted: {pair}."
        )
    return before.id, _record_finding(
        FindingKind.CHANGED,
        before.id,
        f"Record {before.id}, or else record {link.id}, the last one, was changed or replaced: {pair}.",
    )


def _check_gaps(
    chain: Mapping[int, ChainLink], head: ChainHead | None, unreadable: Collection[int]
) -> Iterator[IntegrityFinding]:
    present = sorted({*chain, *unreadable})
    for number in sorted(unreadable):
        yield _record_finding(
            FindingKind.UNREADABLE, number, f"Record {number} cannot be read from the database."
        )
    for low, high in zip([0, *present], present, strict=False):
        if high > low + 1:
            yield _describe_gap(FindingKind.MISSING, low + 1, high - 1, "")
    last = present[-1] if present else 0
    if head is not None and head.id > last:
        reason = f" at the end: the chain head file names record {head.id}"
        yield _describe_gap(FindingKind.CUT_OFF, last + 1, head.id, reason)


def _describe_gap(kind: FindingKind, first: int, last: int, reason: str) -> IntegrityFinding:
    if first == last:
        return _record_finding(kind, first, f"Record {first} is missing{reason}.")
    subject = f"records {first} to {last}"
    return IntegrityFinding(kind=kind, subject=subject, sentence=f"R{subject[1:]} are missing{reason}.")


def _check_head(
    chain: Mapping[int, ChainLink], head: ChainHead | None, known: Mapping[int, IntegrityFinding]
) -> Iterator[IntegrityFinding]:
    link = None if head is None else chain.get(head.id)
    if head is None or link is None or link.sha256 == head.sha256:
        return
    if link.id in known and link.filed == head.sha256:
        return
    yield _record_finding(
        FindingKind.CHANGED,
        link.id,
        f"Record {link.id} is not the one that the chain head file names, which has the hash {head.sha256}: "
        "it or records before it were rewritten.",
    )


def _check_kept_hashes(links: Collection[ChainLink], kept: Collection[str]) -> Iterator[IntegrityFinding]:
    hashes = [link.sha256 for link in links] + [str(link.filed) for link in links if not link.is_intact]
    for beginning in kept:
        if not any(sha256.startswith(beginning) for sha256 in hashes):
            yield IntegrityFinding(
                kind=FindingKind.MISSING,
                subject=f"hash {beginning}",
                sentence=f"No record has the hash {beginning}, which was kept outside: its record was "
                "removed or rewritten.",
            )
