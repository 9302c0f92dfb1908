"""Merkle tree of RFC 6962, section 2.1: one hash that fixes a list of hashes in its order."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The bytes before what is hashed for a leaf and for a node, so that none can be taken for the other.
LEAF_PREFIX, NODE_PREFIX = b"\x00", b"\x01"
HASH_BYTES = 32


def hash_leaf(content: bytes) -> bytes:
    """Return the hash of a leaf."""
    return hashlib.sha256(LEAF_PREFIX + content).digest()


def find_root(leaves: Sequence[bytes] | bytes) -> str:
    """Return the root over the hashes of leaves, a list or all in one, in hexadecimal digits.

    The RFC divides n leaves at the largest power of two below n. To join neighbours level by level, and to
    pass an odd last one on as it is, gives the same tree.
    """
    level = leaves if isinstance(leaves, bytes) else b"".join(leaves)
    if not level:
        return hashlib.sha256(b"").hexdigest()
    while len(level) > HASH_BYTES:
        level = _join_neighbours(level)
    return level.hex()


def _join_neighbours(level: bytes) -> bytes:
    sha256, pair = hashlib.sha256, 2 * HASH_BYTES
    whole = len(level) - len(level) % pair
    joined = [sha256(NODE_PREFIX + level[at : at + pair]).digest() for at in range(0, whole, pair)]
    return b"".join([*joined, level[whole:]])
