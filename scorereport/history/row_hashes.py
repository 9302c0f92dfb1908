"""Hashes of rows: a short digest of the key of each row, and a hash of its key and forecasts.

The hash of a row is the SHA-256 of a byte 0x00, a salt of 32 bytes, the texts of the key columns, each after
its length in four bytes, and the forecasts as big-endian numbers of eight bytes. The salt is the SHA-256 of
the name of the audit and the label of the period, written as such texts. The digest of a key is the first
eight bytes of the SHA-256 of the salt and the texts.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scorereport.history.merkle_tree import HASH_BYTES, LEAF_PREFIX, find_root

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorereport._utils.arrays import FloatArray

#: The first bytes of a document of row hashes, with the version of its format.
HEADER = b"scorereport row hashes 1\n"
_KEY_BYTES = 8
_LENGTH_BYTES = 4
_ROW = np.dtype([("key", ">u8"), ("leaf", f"V{HASH_BYTES}")])


@dataclass(frozen=True, slots=True, eq=False)
class RowHashes:
    """The digests of keys and the hashes of rows, sorted by digest, then by hash."""

    rows: NDArray[np.void] = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def keys(self) -> NDArray[np.uint64]:
        """The digests of the keys."""
        return self.rows["key"].astype(np.uint64)

    @property
    def leaves(self) -> NDArray[np.void]:
        """The hashes of the rows."""
        return np.ascontiguousarray(self.rows["leaf"])

    @property
    def merkle_root(self) -> str:
        """The root of the Merkle tree over the hashes of the rows."""
        return find_root(self.leaves.tobytes())

    def to_document(self) -> bytes:
        """Return the document that the history stores: a header, and 40 bytes for each row."""
        return HEADER + self.rows.tobytes()


def build_salt(audit: str, period: str) -> bytes:
    """Return the salt of an audit and a period, so that hashes of two periods cannot be compared."""
    return hashlib.sha256(pack_text(audit) + pack_text(period)).digest()


def pack_text(text: str) -> bytes:
    """Return a text in UTF-8 after its length, so that two texts in a row cannot be taken for others."""
    return pack_texts([text])[0]


def pack_texts(texts: Sequence[str]) -> list[bytes]:
    """Pack each of many texts."""
    contents = [text.encode(errors="surrogatepass") for text in texts]
    sizes = {size: size.to_bytes(_LENGTH_BYTES, "big") for size in set(map(len, contents))}
    return [sizes[len(content)] + content for content in contents]


def hash_rows(salt: bytes, keys: Sequence[bytes], forecasts: FloatArray) -> NDArray[np.void]:
    """Return digest and hash of each row, in the order of the rows.

    `keys` are the packed texts of the key columns, `forecasts` a table with a column for each forecast.
    """
    values = np.where(np.isnan(forecasts), np.nan, forecasts) + 0.0  # one NaN, and one zero
    packed, width = values.astype(">f8").tobytes(), 8 * values.shape[1]
    sha256, before = hashlib.sha256, LEAF_PREFIX + salt
    digests = b"".join([sha256(salt + key).digest()[:_KEY_BYTES] for key in keys])
    places = range(0, len(packed), width)
    leaves = b"".join(
        [
            sha256(before + key + packed[at : at + width]).digest()
            for key, at in zip(keys, places, strict=True)
        ]
    )
    rows = np.empty(len(keys), dtype=_ROW)
    rows["key"] = np.frombuffer(digests, dtype=">u8")
    rows["leaf"] = np.frombuffer(leaves, dtype=_ROW["leaf"])
    return rows


def sort_hashes(parts: Iterable[NDArray[np.void]]) -> RowHashes:
    """Return the hashes of all rows in one order, whatever the order of the rows."""
    rows = _join(parts)
    return RowHashes(rows[find_order(rows)])


def _join(parts: Iterable[NDArray[np.void]]) -> NDArray[np.void]:
    return np.concatenate([np.empty(0, dtype=_ROW), *parts], dtype=_ROW)  # NumPy would change the byte order


def find_order(rows: NDArray[np.void]) -> NDArray[np.intp]:
    """Return the order of rows by the digests of their keys; rows with the same key by their hashes."""
    keys = rows["key"].astype(np.uint64)
    order = np.argsort(keys)
    if not find_repeats(keys[order]).any():
        return order
    parts = _view_numbers(rows["leaf"])
    return np.lexsort((*(parts[:, place] for place in reversed(range(parts.shape[1]))), keys))


def find_repeats(keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which of sorted digests are equal to the one before."""
    return np.concatenate([np.zeros(min(len(keys), 1), dtype=np.bool_), keys[1:] == keys[:-1]])


def _view_numbers(leaves: NDArray[np.void]) -> NDArray[np.uint64]:
    """Return hashes as four numbers each, which NumPy compares much faster than bytes."""
    return np.ascontiguousarray(leaves).view(">u8").reshape(-1, HASH_BYTES // 8).astype(np.uint64)


def read_hashes(document: bytes) -> RowHashes:
    """Read a document of row hashes; raise a ValueError if it is not one, or not in its order."""
    content = document.removeprefix(HEADER)
    if len(content) == len(document) or len(content) % _ROW.itemsize:
        raise ValueError("it is not a list of row hashes")
    found = RowHashes(np.frombuffer(content, dtype=_ROW))
    keys = found.keys
    if (keys[1:] <= keys[:-1]).any():
        raise ValueError("its keys are not in their order, each once")
    return found


def select_new(rows: RowHashes, sealed: Sequence[RowHashes]) -> RowHashes:
    """Return the rows whose keys no earlier seal has."""
    return RowHashes(rows.rows[is_new(rows, sealed)])


def is_new(rows: RowHashes, sealed: Sequence[RowHashes]) -> NDArray[np.bool_]:
    """Return which rows have a key that no seal has."""
    return ~_is_among(rows.keys, join_seals(sealed).keys)


def _is_among(keys: NDArray[np.uint64], known: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which keys are among known ones; both are sorted."""
    if not len(known):
        return np.zeros(len(keys), dtype=np.bool_)
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return known[places] == keys


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCounts:
    """How many rows were sealed, and what became of them; late rows were not sealed."""

    sealed: int
    unchanged: int
    changed: int
    missing: int
    late: int


def compare_rows(sealed: Sequence[RowHashes], rows: RowHashes) -> RowCounts:
    """Compare rows with the sealed ones; the first seal of a key counts.

    A key that several rows have counts as unchanged if one of them is; the others are late.
    """
    first = join_seals(sealed)
    before, now = first.keys, rows.keys
    is_known = _is_among(now, before)
    places = np.searchsorted(before, now[is_known])
    is_same = (_view_numbers(first.rows["leaf"])[places] == _view_numbers(rows.rows["leaf"])[is_known]).all(1)
    present, unchanged = _count_distinct(places), _count_distinct(places[is_same])
    return RowCounts(
        sealed=len(first),
        unchanged=unchanged,
        changed=present - unchanged,
        missing=len(first) - present,
        late=len(rows) - present,
    )


def _count_distinct(places: NDArray[np.intp]) -> int:
    """Count the distinct values of sorted ones."""
    return int((np.diff(places) != 0).sum()) + min(len(places), 1)


def join_seals(sealed: Sequence[RowHashes]) -> RowHashes:
    """Return the sealed rows of several seals: of each key, the row of the first seal that has it."""
    if len(sealed) == 1:
        return sealed[0]
    rows = _join(seal.rows for seal in sealed)
    rows = rows[np.argsort(rows["key"].astype(np.uint64), kind="stable")]
    return RowHashes(rows[~find_repeats(rows["key"].astype(np.uint64))])
