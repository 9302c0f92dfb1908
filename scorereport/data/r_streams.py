"""Bytes of files that R saved: how they are compressed, and the numbers and texts of which objects consist.

R writes objects as a sequence of numbers and texts (R Internals, section "Serialization Formats"): in binary,
with the highest byte first unless asked otherwise, or as lines of text. A file is scanned once, without
keeping its vectors; those that are needed are then read by their places in it.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from scorereport.data.size_limits import check_unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray  # noqa: TC004  # the type of a field

#: First bytes of compressed files, and what opens them.
_PACKINGS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
#: First line of a file of several named objects, as `save` writes it; of their values, and of one object.
WORKSPACES = (b"RDX2\n", b"RDX3\n", b"RDA2\n", b"RDA3\n", b"RDB2\n", b"RDB3\n")
FORMATS = (b"X\n", b"A\n", b"B\n")
#: Bytes that are read or skipped at a time.
_CHUNK = 1 << 20
#: How vectors of numbers are stored.
_STORED = {"logical": "i4", "integer": "i4", "double": "f8", "complex": "c16", "raw": "u1"}
#: What stands for missing numbers of 32 bits.
MISSING_INTEGER = -(2**31)
#: A text and a missing text before their flags of encodings.
_TEXT_TYPE = 9
_BYTES, _LATIN1, _UTF8, _ASCII = 1 << 13, 1 << 14, 1 << 15, 1 << 18
_TOO_SHORT = "it ends too early"
#: What reading a damaged file raises.
UNREADABLE = (OSError, EOFError, lzma.LZMAError, zlib.error)


class DamagedError(Exception):
    """Bytes that R does not write; the message says in a few words what is wrong."""


@dataclass(frozen=True, slots=True, eq=False)
class RTexts:
    """Texts as bytes, one after the other, with the length and flags of each; a missing one has length -1."""

    data: NDArray[np.uint8]
    lengths: NDArray[np.int32]
    flags: NDArray[np.int64]
    native: str

    @property
    def is_missing(self) -> NDArray[np.bool_]:
        """Which texts are missing."""
        return self.lengths < 0

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each text begins, and the end of the last one."""
        return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.maximum(self.lengths, 0))])

    @property
    def are_utf8(self) -> bool:
        """Whether every text is in UTF-8, of which ASCII is a part."""
        marked = (self.flags & (_UTF8 | _ASCII)) != 0
        is_other = (self.flags & (_LATIN1 | _BYTES)) != 0
        unmarked_is_utf8 = self.native.replace("-", "").lower() == "utf8"
        return bool((self.is_missing | marked | (unmarked_is_utf8 & ~is_other)).all())

    def to_list(self) -> list[str | None]:
        """The texts, None for missing."""
        whole, ends = self.data.tobytes(), self.offsets.tolist()
        known: dict[tuple[int, bytes], str] = {}
        found: list[str | None] = []
        for start, end, length, flags in zip(
            ends, ends[1:], self.lengths.tolist(), self.flags.tolist(), strict=False
        ):
            key = (flags, whole[start:end])
            if length >= 0 and key not in known:
                known[key] = decode_text(key[1], flags, self.native)
            found.append(known[key] if length >= 0 else None)
        return found


def decode_text(text: bytes, flags: int, native: str) -> str:
    """A text in the encoding that it is marked with; R takes Latin-1 for that of Windows."""
    encodings: tuple[str, ...]
    if flags & _LATIN1:
        encodings = ("cp1252", "latin-1")
    elif flags & (_UTF8 | _ASCII):
        encodings = ("utf-8",)
    else:
        encodings = (native, "latin-1")
    for encoding in encodings:
        try:
            return text.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    raise DamagedError(f"it has the text {text[:20]!r}, which is not {encodings[0].upper()}")


class RStream(Protocol):
    """Numbers and texts, one after the other, and vectors of them by their places."""

    def at(self) -> int:
        """The place of what is next."""

    def integer(self) -> int:
        """The next whole number of 32 bits."""

    def text(self) -> tuple[bytes, int]:
        """The next bytes, whose number is stored before them, and that number."""

    def skip_numbers(self, kind: str, length: int) -> None:
        """Pass over a vector of numbers, which must be there."""

    def skip_texts(self, length: int) -> NDArray[np.int32]:
        """Pass over a vector of texts, which must be there; return the number of bytes of each."""

    def read_numbers(self, kind: str, length: int, at: int) -> NDArray[Any]:
        """A vector of numbers at a place."""

    def read_texts(self, lengths: NDArray[np.int32], at: int, native: str) -> RTexts:
        """A vector of texts at a place."""


class BinaryRStream:
    """Numbers and texts in binary, with the highest or the lowest byte first."""

    def __init__(self, file: Any, path: Path, *, is_packed: bool, order: str) -> None:
        self._file, self._name, self._is_packed, self._order = file, path.name, is_packed, order
        self._size = path.stat().st_size
        self._integer, self._head = struct.Struct(f"{order}i"), struct.Struct(f"{order}ii")

    def at(self) -> int:
        """The place of the next byte."""
        return self._file.tell()

    def integer(self) -> int:
        """The next whole number of 32 bits."""
        found = self._file.read(4)
        if len(found) < 4:
            raise DamagedError(_TOO_SHORT)
        return self._integer.unpack(found)[0]

    def text(self) -> tuple[bytes, int]:
        """The next bytes, whose number is stored before them, and that number."""
        length = self.integer()
        if length > _CHUNK:
            raise DamagedError("it has a name of more than a megabyte")
        return self._read(max(length, 0)), length

    def _read(self, count: int) -> bytes:
        """The next bytes; of a wrong count no more are taken than are there."""
        parts = []
        while count > 0:
            parts.append(self._file.read(min(count, _CHUNK)))
            if not parts[-1]:
                raise DamagedError(_TOO_SHORT)
            count -= len(parts[-1])
        return b"".join(parts)

    def _skip(self, count: int) -> None:
        if not self._is_packed:
            if count > self._size - self.at():
                raise DamagedError(_TOO_SHORT)
            self._file.seek(count, io.SEEK_CUR)
            return
        while count > 0:
            count -= len(self._read(min(count, _CHUNK)))
            check_unpacked(self._name, self._size, self.at(), "save it with compress = FALSE")

    def skip_numbers(self, kind: str, length: int) -> None:
        """Pass over a vector of numbers, which must be there."""
        self._skip(np.dtype(_STORED[kind]).itemsize * length)

    def skip_texts(self, length: int) -> NDArray[np.int32]:
        """Pass over a vector of texts, which must be there; return the number of bytes of each."""
        lengths: list[int] = []
        read_head = self._head.unpack_from
        while len(lengths) < length:
            block, at = self._file.peek(8), 0
            last = len(block) - 8
            while at <= last and len(lengths) < length:
                size = read_head(block, at)[1]
                lengths.append(size)
                at += 8 + size if size > 0 else 8
            if at == 0:  # less than the head of a text is left in the buffer of the file
                lengths.append(self._head.unpack(self._read(8))[1])
                at = max(lengths[-1], 0)
            self._skip(at)
        return _check_lengths(np.array(lengths, dtype=np.int32))

    def read_numbers(self, kind: str, length: int, at: int) -> NDArray[Any]:
        """A vector of numbers at a place."""
        stored = np.empty(length, dtype=f"{self._order}{_STORED[kind]}")
        self._file.seek(at)
        _fill(self._file, stored)
        native = stored.dtype.newbyteorder("=")
        return stored if stored.dtype == native else stored.byteswap(inplace=True).view(native)

    def read_texts(self, lengths: NDArray[np.int32], at: int, native: str) -> RTexts:
        """A vector of texts at a place: the heads before the texts are cut out."""
        sizes = np.maximum(lengths, 0)
        heads = np.cumsum(sizes + 8) - sizes - 8
        whole = np.empty(int(sizes.sum()) + 8 * len(sizes), dtype=np.uint8)
        self._file.seek(at)
        _fill(self._file, whole)
        is_text = np.ones(len(whole), dtype=bool)
        flags = np.zeros(len(sizes), dtype=np.int64)
        for place in range(8):
            is_text[heads + place] = False
        for place in range(4):
            shift = 8 * (3 - place if self._order == ">" else place)
            flags |= whole[heads + place].astype(np.int64) << shift
        if ((flags & 0x3FF) != _TEXT_TYPE).any():
            raise DamagedError("it has something else where a text should be")
        return RTexts(whole[is_text], lengths, flags, native)


def _fill(file: Any, values: NDArray[Any]) -> None:
    """Read the bytes of an array."""
    there, rest = 0, memoryview(values.view(np.uint8).data)
    while there < values.nbytes:
        count = file.readinto(rest[there:])
        if not count:
            raise DamagedError("it changed while it was read")
        there += count


def _check_lengths(lengths: NDArray[np.int32]) -> NDArray[np.int32]:
    if (lengths < -1).any():
        raise DamagedError("it has a text of a negative length")
    return lengths


class TextRStream:
    """Numbers and texts as lines of text."""

    def __init__(self, file: Any, path: Path, *, is_packed: bool) -> None:
        self._file, self._name, self._is_packed = file, path.name, is_packed
        self._size = path.stat().st_size

    def at(self) -> int:
        """The place of the next line."""
        return self._file.tell()

    def _line(self) -> bytes:
        line = self._file.readline(_CHUNK)
        if not line.endswith(b"\n"):
            raise DamagedError(_TOO_SHORT)
        return line[:-1]

    def _lines(self, count: int) -> list[bytes]:
        found = [self._line() for _ in range(count)]
        if self._is_packed:
            check_unpacked(self._name, self._size, self.at(), "save it with compress = FALSE")
        return found

    def integer(self) -> int:
        """The next whole number of 32 bits."""
        return int(_parse([self._line()], "integer")[0])

    def text(self) -> tuple[bytes, int]:
        """The next bytes, whose number is stored before them, and that number."""
        length = self.integer()
        text = _unescape(self._line()) if length >= 0 else b""
        if len(text) != max(length, 0):
            raise DamagedError("it has a text of another length than stated")
        return text, length

    def skip_numbers(self, kind: str, length: int) -> None:
        """Pass over a vector of numbers, which must be there."""
        for _ in range(length * (2 if kind == "complex" else 1)):
            self._line()

    def skip_texts(self, length: int) -> NDArray[np.int32]:
        """Pass over a vector of texts, which must be there; return the number of bytes of each."""
        lengths = []
        for _ in range(length):
            self._line()
            lengths.append(self.text()[1])
        return _check_lengths(np.array(lengths, dtype=np.int32))

    def read_numbers(self, kind: str, length: int, at: int) -> NDArray[Any]:
        """A vector of numbers at a place."""
        self._file.seek(at)
        if kind == "complex":
            return _parse(self._lines(2 * length), "double").view(np.complex128)
        return _parse(self._lines(length), kind)

    def read_texts(self, lengths: NDArray[np.int32], at: int, native: str) -> RTexts:
        """A vector of texts at a place."""
        self._file.seek(at)
        flags, texts = [], []
        for _ in range(len(lengths)):
            flags.append(self.integer())
            texts.append(self.text()[0])
        data = np.frombuffer(b"".join(texts), dtype=np.uint8)
        return RTexts(data, lengths, np.array(flags, dtype=np.int64), native)


_WORDS = {b"NA": "nan", b"NaN": "nan", b"Inf": "inf", b"-Inf": "-inf"}


def _parse(lines: list[bytes], kind: str) -> NDArray[Any]:
    """Numbers from lines; R writes doubles in decimals, or in hexadecimals if asked to lose nothing."""
    try:
        if kind == "raw":
            return np.array([int(line, 16) for line in lines], dtype=np.uint8)
        if kind != "double":
            return np.array([MISSING_INTEGER if line == b"NA" else int(line) for line in lines], dtype="i4")
        texts = [_WORDS.get(line) or line.decode("ascii") for line in lines]
        return np.array([float.fromhex(text) if "x" in text else float(text) for text in texts])
    except (ValueError, OverflowError) as error:
        raise DamagedError(f"it has no number where one should be ({error})") from error


_ESCAPES = {ord("n"): 10, ord("t"): 9, ord("v"): 11, ord("b"): 8, ord("r"): 13, ord("f"): 12, ord("a"): 7}


def _unescape(line: bytes) -> bytes:
    """A text from its line, in which signs are written as letters or octal numbers after a backslash."""
    found, at = bytearray(), 0
    while (next_escape := line.find(b"\\", at)) >= 0:
        found += line[at:next_escape]
        digits = line[next_escape + 1 : next_escape + 4]
        octal = digits[: len(digits) - len(digits.lstrip(b"01234567"))]
        if octal:
            found.append(int(octal, 8) & 0xFF)
        elif digits:
            found.append(_ESCAPES.get(digits[0], digits[0]))
        at = next_escape + 1 + max(len(octal), 1)
    return bytes(found + line[at:])


@contextmanager
def open_r_stream(path: Path) -> Iterator[tuple[RStream, bool]]:
    """Open a file of R behind its first lines; say whether it holds several named objects."""
    with _open_unpacked(path) as (file, is_packed):
        is_workspace = file.peek(5)[:5] in WORKSPACES
        if is_workspace:
            file.read(5)
        form = file.read(2)
        if form == b"A\n":
            yield TextRStream(file, path, is_packed=is_packed), is_workspace
        elif form in (b"X\n", b"B\n"):
            order = ">" if form == b"X\n" else "<"
            yield BinaryRStream(file, path, is_packed=is_packed, order=order), is_workspace
        else:
            raise DamagedError("it does not begin as R begins its files")


@contextmanager
def _open_unpacked(path: Path) -> Iterator[tuple[Any, bool]]:
    """Open a file, unpacked if it is compressed; say whether it is."""
    with path.open("rb") as file:
        head = file.read(6)
    opener = next((opener for start, opener in _PACKINGS.items() if head.startswith(start)), None)
    if opener is None:
        with path.open("rb", buffering=_CHUNK) as file:
            yield file, False
        return
    with opener(path) as unpacked:
        yield io.BufferedReader(unpacked, _CHUNK), True


def is_r_data(path: Path) -> bool:
    """Whether a file begins as R begins the files that it saves."""
    try:
        with _open_unpacked(path) as (file, _):
            return file.read(5).startswith((*WORKSPACES, *FORMATS))
    except UNREADABLE:
        return False
