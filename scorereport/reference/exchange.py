"""Named vectors in a file, in a binary format that base R can read and write: no number becomes text.

Each vector is its name, its kind ("numbers" or "texts"), its length, and its values: strings end with a
zero byte, numbers are little-endian float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from scorereport._utils.arrays import FloatArray

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

#: A vector that was read.
Vector = FloatArray | list[str]
#: A vector to be written.
SentVector = FloatArray | Sequence[float] | Sequence[str]
_NUMBER = np.dtype("<f8")


class ExchangeError(Exception):
    """A file that is not in the format of vectors."""


def write_vectors(path: Path, vectors: Mapping[str, SentVector]) -> None:
    """Write vectors of numbers or texts to a file, which appears only when it is complete."""
    partial = path.with_suffix(f"{path.suffix}.part")
    with partial.open("wb") as file:
        for name, values in vectors.items():
            file.write(_encode([name, "texts" if _are_texts(values) else "numbers"]))
            file.write(np.float64(len(values)).astype(_NUMBER).tobytes())
            if _are_texts(values):
                file.write(_encode(values))
            else:
                file.write(np.ascontiguousarray(values, dtype=_NUMBER).data)
    partial.replace(path)


def _are_texts(values: SentVector) -> TypeGuard[Sequence[str]]:
    return len(values) > 0 and isinstance(values[0], str)


def read_vectors(path: Path) -> dict[str, Vector]:
    """Read vectors from a file; any other content is refused."""
    data = path.read_bytes()
    vectors: dict[str, Vector] = {}
    at = 0
    try:
        while at < len(data):
            (name, kind), at = _read_texts(data, at, 2)
            size = _read_size(data, at)
            vectors[name], at = _READERS[kind](data, at + _NUMBER.itemsize, size)
    except (ValueError, OverflowError, KeyError) as error:
        raise ExchangeError(f"not a file of vectors, from byte {at} on: {error}") from error
    return vectors


def _encode(texts: Sequence[str]) -> bytes:
    return b"".join(text.encode() + b"\0" for text in texts)


def _read_size(data: bytes, at: int) -> int:
    size = float(np.frombuffer(data, _NUMBER, 1, at)[0])
    if size < 0 or not size.is_integer():
        raise ValueError(f"a vector of length {size}")
    return int(size)


def _read_texts(data: bytes, at: int, size: int) -> tuple[list[str], int]:
    texts = []
    for _ in range(size):
        end = data.index(b"\0", at)
        texts.append(data[at:end].decode())
        at = end + 1
    return texts, at


def _read_numbers(data: bytes, at: int, size: int) -> tuple[FloatArray, int]:
    return np.frombuffer(data, _NUMBER, size, at).astype(np.float64), at + size * _NUMBER.itemsize


_READERS: dict[str, Callable[[bytes, int, int], tuple[Any, int]]] = {
    "texts": _read_texts,
    "numbers": _read_numbers,
}
