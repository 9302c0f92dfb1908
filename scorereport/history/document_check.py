"""Check of documents: whether they match their records, and whether the chain matches what reports state.

A report states the number and the hash of the last record before its own. To rewrite old records unnoticed,
one would have to rewrite all later reports as well, also the copies that were already sent to people.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from scorereport.history.chain_check import name_record
from scorereport.history.verification_findings import FindingKind, IntegrityFinding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from scorereport.history.chain_check import ChainLink
    from scorereport.history.chain_head import ChainHead
    from scorereport.history.stored_documents import StoredDocument


def check_anchors(
    links: Sequence[ChainLink], anchors: Mapping[str, ChainHead], known: Collection[str] = ()
) -> Iterator[IntegrityFinding]:
    """Find records that differ from those that reports name.

    `anchors` are the named records by the hash of the results document. Records in `known` already have a
    finding, and missing records are found as gaps of the chain.
    """
    named = [
        (link.id, anchors[link.record.results_sha256])
        for link in links
        if link.is_intact and link.record is not None and link.record.results_sha256 in anchors
    ]
    for number, anchor in named:
        if not 0 < anchor.id < number:
            yield _describe_order(number, anchor)
    hashes = defaultdict(set)
    for link in links:
        hashes[link.id].add(link.sha256)
    mismatches = [
        (number, anchor)
        for number, anchor in named
        if 0 < anchor.id < number
        and anchor.sha256 not in hashes.get(anchor.id, {anchor.sha256})
        and name_record(anchor.id) not in known
    ]
    if mismatches:
        yield _describe_mismatches(sorted(mismatches, key=lambda pair: (pair[1].id, pair[0])))


def _describe_order(number: int, anchor: ChainHead) -> IntegrityFinding:
    sentence = (
        f"The report of record {number} names record {anchor.id} as the last one before it: the report was "
        "changed, or its record was moved."
    )
    return IntegrityFinding(kind=FindingKind.CHANGED, subject=name_record(number), sentence=sentence)


def _describe_mismatches(mismatches: Sequence[tuple[int, ChainHead]]) -> IntegrityFinding:
    """Describe all mismatches in one finding: a rewritten record changes the hashes of all later ones."""
    (number, anchor), *more = mismatches
    sentence = (
        f"Record {anchor.id} is not the one that the report of record {number} names as the last before it, "
        f"which has the hash {anchor.sha256}: it or records before it were rewritten."
    )
    if more:
        others = ", ".join(str(other) for other, _ in more[:5]) + (" and others" if more[5:] else "")
        sentence += f" The reports of these later records also name rewritten records: {others}."
    return IntegrityFinding(kind=FindingKind.CHANGED, subject=name_record(anchor.id), sentence=sentence)


def check_documents(
    documents: Collection[StoredDocument], links: Collection[ChainLink], unreadable: Collection[str] = ()
) -> Iterator[IntegrityFinding]:
    """Find documents that are changed, missing, unreadable or not named by any of the stored records."""
    named = _find_named(links)
    present: set[Any] = set(unreadable)
    for key in unreadable:
        sentence = f"The document {_name_document(key)} cannot be read from the database."
        yield _document_finding(FindingKind.UNREADABLE, _name_document(key), sentence)
    for document in documents:
        key = document.key
        present |= {key, document.sha256}
        if not document.is_intact:
            yield _describe_change(key, document.sha256, named)
        elif key not in named and not _is_mentioned(key, links):
            yield _document_finding(
                FindingKind.UNKNOWN,
                _name_document(key),
                f"The document {_name_document(key)} belongs to no record.",
            )
    for key in sorted(named.keys() - present):
        sentence = f"The document {key} of record {named[key]} is missing in the database."
        yield _document_finding(FindingKind.MISSING, key, sentence)


def _document_finding(kind: FindingKind, key: str, sentence: str) -> IntegrityFinding:
    return IntegrityFinding(kind=kind, subject=f"document {key}", sentence=sentence)


def _name_document(key: Any) -> str:
    """Return the hash that a document is stored under, escaped if it is damaged and cannot be printed."""
    return key if isinstance(key, str) and key.isascii() and key.isprintable() else ascii(key)


def _find_named(links: Collection[ChainLink]) -> dict[str, int]:
    """Return the documents that intact records name, each with the first record that names it."""
    named: dict[str, int] = {}
    for link in links:
        if link.record is not None and link.is_intact:
            for key in link.record.documents:
                named.setdefault(key, link.id)
    return named


def _is_mentioned(key: Any, links: Collection[ChainLink]) -> bool:
    """Whether a changed record, which has a finding of its own, may have named the document."""
    return any(str(key).encode() in link.body for link in links if not link.is_intact or link.record is None)


def _describe_change(key: Any, actual: str | None, named: Mapping[str, int]) -> IntegrityFinding:
    if actual is not None and actual in named and key not in named:
        sentence = (
            f"The document {actual} of record {named[actual]} is stored under another hash, "
            f"{_name_document(key)}."
        )
        return _document_finding(FindingKind.CHANGED, actual, sentence)
    owner = f" of record {named[key]}" if key in named else ""
    sentence = f"The document {_name_document(key)}{owner} was changed in the database."
    return _document_finding(FindingKind.CHANGED, _name_document(key), sentence)
