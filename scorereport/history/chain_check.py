"""Check of the chain: whether the records are those that were written, all of them, in order.

The hash of a record is known in three ways: it can be computed from its text, it is filed in a column, and
the next record carries it. Where these disagree, what is known of the neighbours tells which was changed.
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
    """A record as it is stored: `sha256` is computed from its text, `filed` stands in the column.

    `id` is what the text says if it is intact, else where it stands. There is no record if the text cannot
    be read.
    """

    id: int
    columns: Mapping[str, Any]
    body: bytes
    sha256: str
    record: Record | None

    @property
    def filed(self) -> Any:
        """The hash that the column says."""
        return self.columns["sha256"]

    @property
    def is_intact(self) -> bool:
        """Whether the text has the hash that was filed with it."""
        return self.sha256 == self.filed and isinstance(self.columns["body"], str)

    @property
    def previous(self) -> str | None:
        """The hash of the record before, as the text says."""
        return None if self.record is None else self.record.previous


def read_chain_link(columns: Mapping[str, Any]) -> ChainLink:
    """Take a stored row for a record."""
    content = _read_bytes(columns["body"])
    sha256 = hashlib.sha256(content).hexdigest()
    record = _try_record(content)
    is_sure = record is not None and sha256 == columns["sha256"]
    number = record.id if record is not None and is_sure else columns["id"]
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
    """All that is wrong with the records, each named once.

    `kept` are hashes, or their beginnings, that somebody kept outside; `unreadable` are the numbers of
    records that the database cannot read.
    """
    stored = list(links)
    chain, strangers = _arrange(stored)
    findings = {link.id: finding for link in chain.values() for finding in _check_link(link, chain)}
    trusted = _TrustedHashes(head, kept)
    for number, finding in _check_neighbours(chain, trusted):
        findings.setdefault(number, finding)
    return [
        *(findings[number] for number in sorted(findings)),
        *(_describe_duplicate_number(link) for link in strangers),
        *_check_gaps(chain, head, unreadable),
        *_check_head(chain, head, findings),
        *_check_kept_hashes(stored, kept),
    ]


def name_record(number: int) -> str:
    """How a record is called in findings."""
    return f"record {number}"


def _record_finding(kind: FindingKind, number: int, sentence: str) -> IntegrityFinding:
    return IntegrityFinding(kind=kind, subject=name_record(number), sentence=sentence)


class _TrustedHashes:
    """Hashes that are known from outside the database."""

    def __init__(self, head: ChainHead | None, kept: Collection[str]) -> None:
        self.beginnings = (*kept, *([] if head is None else [head.sha256]))

    def __contains__(self, sha256: str) -> bool:
        return sha256.startswith(self.beginnings) if self.beginnings else False


def _arrange(links: list[ChainLink]) -> tuple[dict[int, ChainLink], list[ChainLink]]:
    """Records by their numbers, and those that claim a number which another one has with more right."""
    carried = {link.previous for link in links}
    chain: dict[int, ChainLink] = {}
    strangers = []
    for link in links:
        rival = chain.setdefault(link.id, link)
        if rival is not link:
            worse, chain[link.id] = sorted((rival, link), key=lambda one: _rank_claim(one, carried))
            strangers.append(worse)
    strangers += [chain.pop(number) for number in sorted(chain) if number < 1]
    return chain, strangers


def _rank_claim(link: ChainLink, carried: Collection[str | None]) -> tuple[bool, bool]:
    return link.sha256 in carried, link.columns["id"] == link.id


def _describe_duplicate_number(link: ChainLink) -> IntegrityFinding:
    place = link.columns["id"]
    return _record_finding(
        FindingKind.INSERTED,
        place,
        f"The record in place {place} was inserted: it says that it is record {link.id}, which it is not.",
    )


def _check_link(link: ChainLink, chain: Mapping[int, ChainLink]) -> Iterator[IntegrityFinding]:
    after = chain.get(link.id + 1)
    if not link.is_intact:
        if after is not None and after.previous == link.sha256:
            sentence = f"The hash or the type filed with record {link.id} was changed; its text is as it was."
        else:
            sentence = (
                f"Record {link.id} was changed: its text does not have the hash that was filed with it."
            )
        yield _record_finding(FindingKind.CHANGED, link.id, sentence)
    elif link.record is None:
        yield _record_finding(
            FindingKind.UNREADABLE, link.id, f"Record {link.id} is no record that this software can read."
        )
    else:
        yield from _check_columns(link, describe_columns(link.record))


def _check_columns(link: ChainLink, expected: Mapping[str, Any]) -> Iterator[IntegrityFinding]:
    differing = [name for name, value in expected.items() if link.columns[name] != value]
    if differing == ["id"]:
        yield _record_finding(
            FindingKind.REORDERED,
            link.id,
            f"Record {link.id} was moved: it stands in place {link.columns['id']}.",
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
                        FindingKind.CHANGED, 1, "Record 1 was changed: it is not the first of a history."
                    ),
                )
        elif before is not None and not _is_explained(before, link):
            yield _find_changed_record(before, link, chain.get(number + 1), trusted)


def _is_explained(before: ChainLink, link: ChainLink) -> bool:
    """Whether two records fit together, or would but for a change of one that is known already."""
    if link.previous in (None, before.sha256):
        return True
    if not before.is_intact and link.previous == before.filed:
        return True
    return not link.is_intact and link.columns["previous"] == before.sha256


def _find_changed_record(
    before: ChainLink, link: ChainLink, after: ChainLink | None, trusted: _TrustedHashes
) -> tuple[int, IntegrityFinding]:
    """Say which of two records that do not fit was changed: the one that nobody else confirms."""
    is_confirmed = link.sha256 in trusted or (after is not None and after.previous == link.sha256)
    pair = f"record {link.id} carries another hash of record {before.id} than that has"
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
        f"Record {before.id} was changed or replaced, or else record {link.id}, the last one, was: {pair}.",
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
        reason = f" at the end: the file `head` remembers record {head.id}"
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
        f"Record {link.id} is not the one that the file `head` remembers, of the hash {head.sha256}: it or "
        "records before it were written anew.",
    )


def _check_kept_hashes(links: Collection[ChainLink], kept: Collection[str]) -> Iterator[IntegrityFinding]:
    hashes = [link.sha256 for link in links] + [str(link.filed) for link in links if not link.is_intact]
    for beginning in kept:
        if not any(sha256.startswith(beginning) for sha256 in hashes):
            yield IntegrityFinding(
                kind=FindingKind.MISSING,
                subject=f"hash {beginning}",
                sentence=f"No record has the hash {beginning}, which was kept outside: its record was "
                "removed or written anew.",
            )
