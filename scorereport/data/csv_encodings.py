"""Encodings of CSV files: bytes of other encodings as UTF-8, and which encoding a file may have."""

from __future__ import annotations

import codecs
import io
from typing import IO, Any

#: The first bytes of text in UTF-16.
BYTE_ORDER_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: The share of zeros among the second bytes of English text in UTF-16, at least.
_MOSTLY = 0.9
#: Bytes that are decoded at a time.
_CHUNK = 1 << 16


class RecodedFile(io.RawIOBase):
    """Bytes in UTF-8 of a file in another encoding."""

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._waiting = b""

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer; 0 at the end."""
        is_over = False
        while not self._waiting and not is_over:
            chunk = self._file.read(_CHUNK)
            is_over = not chunk
            self._waiting = self._decoder.decode(chunk, final=is_over).encode()
        size = min(len(buffer), len(self._waiting))
        buffer[:size], self._waiting = self._waiting[:size], self._waiting[size:]
        return size

    def close(self) -> None:
        """Close the file as well."""
        self._file.close()
        super().close()


def describe_recoding(encoding: str) -> str:
    """What a file in UTF-16 holds, and how to read it."""
    return f'UTF-16 text; pass encoding="{encoding}" (--encoding {encoding})'


def guess_utf16(head: bytes) -> str:
    """The encoding of text whose every second byte is 0, as in English text in UTF-16; empty if it is not."""
    if len(head) % 2:
        return ""
    first, second = head[::2], head[1::2]
    for encoding, zeros, others in (("utf-16-le", second, first), ("utf-16-be", first, second)):
        if zeros.count(0) > _MOSTLY * len(zeros) and others.count(0) == 0:
            return encoding
    return ""


def guess_encoding(line: bytes) -> str:
    """Latin-1, or its extension by Windows if the line has characters of the latter."""
    return "cp1252" if any(0x80 <= byte <= 0x9F for byte in line) else "latin-1"
