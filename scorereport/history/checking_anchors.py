"""Whether the history is the one that its reports were made from.

A report names the last record of then and its hash. Whoever writes old records anew would have to render all
later reports anew as well, and those that people have in their mailboxes still say what they said.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from scorereport.history.chain_check import name_record
from scorereport.history.chain_head import ChainHead
from scorereport.history.verification_findings import FindingKind, IntegrityFinding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from scorereport.history.chain_check import ChainLink

_HASH_FIELD = b'"last_sha256"'
#: How a report that was written by this software ends; nothing in a string looks so, for its quotes would
#: have backslashes.
_ANCHOR = re.compile(rb'"last_id":([0-9]{1,18}),"last_sha256":"([0-9a-f]*)"\}\}\n?\Z')
_MAX_ANCHOR_LENGTH = 150


def find_anchor(results: bytes) -> ChainHead | None:
    """The record that a results document names as the last before its own; None if it names none.

    It stands at the end, where it is found without reading all of what may be megabytes.
    """
    end = _ANCHOR.search(results[-_MAX_ANCHOR_LENGTH:])
    if end is not None:
        number, sha256 = int(end[1]), end[2].decode()
    else:
        number, sha256 = _read_trend(results) if _HASH_FIELD in results else (0, "")
    return ChainHead(id=number, sha256=sha256) if number or sha256 else None


def _read_trend(results: bytes) -> tuple[int, str]:
    """The same by reading the document, whatever its form; nothing if it is not one of ours."""
    try:
        trend = json.loads(results)["trend"]
        return int(trend["last_id"]), str(trend["last_sha256"])
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return 0, ""


def check_anchors(
    links: Sequence[ChainLink], anchors: Mapping[str, ChainHead], known: Collection[str] = ()
) -> Iterator[IntegrityFinding]:
    """Records that are not those which reports name; `anchors` are by the hashes of results documents.

    What is wrong with records that are `known` is said already, and missing ones leave gaps.
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
    unlike = [
        (number, anchor)
        for number, anchor in named
        if 0 < anchor.id < number
        and anchor.sha256 not in hashes.get(anchor.id, {anchor.sha256})
        and name_record(anchor.id) not in known
    ]
    if unlike:
        yield _describe_mismatches(sorted(unlike, key=lambda pair: (pair[1].id, pair[0])))


def _describe_order(number: int, anchor: ChainHead) -> IntegrityFinding:
    sentence = (
        f"The report of record {number} names record {anchor.id} as the last before it: it was changed, or "
        "its record was moved."
    )
    return IntegrityFinding(kind=FindingKind.CHANGED, subject=name_record(number), sentence=sentence)


def _describe_mismatches(unlike: Sequence[tuple[int, ChainHead]]) -> IntegrityFinding:
    """One sentence for all: whoever rewrites a record has to rewrite those after it, too."""
    (number, anchor), *more = unlike
    sentence = (
        f"Record {anchor.id} is not the one that the report of record {number} names as the last before it, "
        f"of the hash {anchor.sha256}: it or records before it were written anew."
    )
    if more:
        others = ", ".join(str(other) for other, _ in more[:5]) + (" and others" if more[5:] else "")
        sentence += f" Reports of later records name such records, too: {others}."
    return IntegrityFinding(kind=FindingKind.CHANGED, subject=name_record(anchor.id), sentence=sentence)
