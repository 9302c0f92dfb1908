"""Lines of a CSV file: its bytes as UTF-8, its header, quotes that are not closed, and lines by number."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from dataclasses import dataclass, field
from itertools import count, takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from scorereport._utils.row_places import RowNames
from scorereport.data.csv_encodings import BYTE_ORDER_MARKS, RecodedFile, describe_recoding, guess_encoding
from scorereport.data.csv_format import UTF_8, CsvFormat
from scorereport.data.size_limits import LONGEST_LINE, check_unpacked
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Separators that are found without being named.
_SEPARATORS = ",;\t"


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A CSV file, packed with gzip or not, and its format."""

    path: Path
    format: CsvFormat = field(default_factory=CsvFormat)

    @property
    def name(self) -> str:
        """The name of the file, for messages."""
        return self.path.name

    @property
    def is_packed(self) -> bool:
        """Whether it is packed with gzip."""
        return self.name.lower().endswith(".gz")

    @property
    def is_utf8(self) -> bool:
        """Whether its bytes are read as they are."""
        return codecs.lookup(self.format.encoding).name in (UTF_8, "utf-8-sig")

    def open(self) -> IO[bytes]:
        """Open the file as bytes in UTF-8."""
        file: Any = gzip.GzipFile(self.path) if self.is_packed else self.path.open("rb")
        return file if self.is_utf8 else io.BufferedReader(RecodedFile(file, self.format.encoding))

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines that are not empty, with their numbers from 1, up to an overlong line."""
        with self.open() as file:
            raw = takewhile(bool, (file.readline(LONGEST_LINE) for _ in count()))
            number = 0
            for line in takewhile(lambda line: len(line) < LONGEST_LINE, raw):
                for part in line.splitlines():
                    number += 1
                    if part:
                        yield number, part


def read_header(file: CsvFile) -> tuple[list[str], str]:
    """Return the column names, and the separator: the given one, or the most frequent in the header."""
    with file.open() as opened:
        raw = opened.readline(LONGEST_LINE + 1)
    if len(raw) > LONGEST_LINE:
        raise DataError(
            f"{file.name} must begin with its header; its first line has more than {LONGEST_LINE:,} bytes."
        )
    line = raw.decode("utf-8-sig")
    if not line.strip():
        raise DataError(f"{file.name} must begin with its header; the first line is empty.")
    separator = file.format.separator or _find_separator(file, line)
    if _is_open(re.sub(f"({re.escape(separator)}|^) +", r"\1", line).encode(), separator):
        raise describe_open(file, 1)
    header = next(csv.reader([line], delimiter=separator, skipinitialspace=separator != " "))
    return [name.strip() for name in header], separator


def _find_separator(file: CsvFile, header: str) -> str:
    """Return the most frequent separator of a header; that of a file named .tsv is a tab."""
    is_tabbed = "tsv" in file.name.lower().split(".") and "\t" in header
    return "\t" if is_tabbed else max(_SEPARATORS, key=header.count)


def hint_at_separator(header: Sequence[str]) -> str:
    """How to name the separator of a file whose header was read as a single column."""
    if len(header) != 1:
        return ""
    for sign, name in ((";", ";"), ("\t", "tab"), (",", ","), ("|", "|"), (":", ":"), (" ", " ")):
        if sign in header[0]:
            return (
                f' If its columns are separated by "{name}", pass separator="{name}" (--separator "{name}").'
            )
    return ""


def hint_at_header(header: Sequence[str]) -> str:
    """What to do if the first line holds numbers instead of names."""
    if all(re.fullmatch(r"[+-]?[\d.]+([eE][+-]?\d+)?", name) for name in header):
        return " Write the names of the columns in the first line."
    return ""


def survey_lines(file: CsvFile, separator: str) -> int:
    """Return an upper bound of the lines; refuse a file that expands too far or ends in a quoted field."""
    newlines, expanded, before, last = 0, 0, b"", b""
    packed = file.path.stat().st_size if file.is_packed else None
    with file.open() as opened:
        while chunk := opened.read(LONGEST_LINE):
            before, last = last, chunk
            newlines += chunk.count(b"\n")
            expanded += len(chunk)
            if packed is not None:
                check_unpacked(file.name, packed, expanded)
    end = next((line for line in reversed((before + last).splitlines()) if line.strip()), b"")
    if _is_open(end, separator) and (line := find_open(file)):
        raise describe_open(file, line)
    return newlines + (last[-1:] != b"\n")


def name_lines(file: CsvFile, rows: Sequence[int]) -> RowNames:
    """Name rows by their lines; a row is a line, because a quoted field ends in its line."""
    wanted = {row + 1 for row in rows}
    found = {}
    for position, (number, _) in enumerate(file.lines()):
        if position in wanted:
            found[position - 1] = number
            if len(found) == len(wanted):
                break
    lines = [found.get(row, row + 2) for row in rows]
    return RowNames(first=f"line {lines[0]} of {file.name}", shown=lines, unit="lines ")


def find_open(file: CsvFile) -> int:
    """Find the first line, from 1, that ends in a quoted field; 0 if none before an overlong line does."""
    separator = read_header(file)[1]
    return next((at for at, line in file.lines() if at > 1 and _is_open(line, separator)), 0)


def _is_open(line: bytes, separator: str) -> bool:
    """Whether a line ends inside a quoted field; as in pyarrow, a quote opens only as first character.

    >>> _is_open(b'1,"5 inch', ","), _is_open(b'1,"5"" inch",5"', ",")
    (True, False)
    """
    start, last = 0, line.rfind(b'"')
    while start <= last:
        if line[start : start + 1] == b'"':
            start = _find_closing(line, start + 1)
            if start < 0:
                return True
        start = line.find(separator.encode(), start) + 1
        if start == 0:
            return False
    return False


def _find_closing(line: bytes, start: int) -> int:
    """The position after the quote that closes a field, -1 if there is none; a double quote is one quote."""
    while (start := line.find(b'"', start)) >= 0:
        if line[start + 1 : start + 2] != b'"':
            return start + 1
        start += 2
    return -1


def describe_open(file: CsvFile, line: int) -> DataError:
    """Return the error for a quoted field that is not closed in its line."""
    return DataError(
        f"{file.name} must close each quoted field in its line; the quote that opens in line {line} is not "
        "closed there. Close it, or write a quote that is part of a text twice."
    )


def describe_encoding(file: CsvFile) -> DataError:
    """Return the error for a file that is not text of its encoding, with the encoding that it may have."""
    if not file.is_utf8:
        return DataError(
            f"{file.name} is not text in the encoding {file.format.encoding!r}; pass another `encoding` "
            "(--encoding), or none for UTF-8."
        )
    for number, line in file.lines():
        if number == 1 and line.startswith(BYTE_ORDER_MARKS):
            return DataError(f"{file.name} must be UTF-8 text; got {describe_recoding('utf-16')}.")
        try:
            line.decode(UTF_8)
        except UnicodeDecodeError as error:
            byte = line[error.start]
            name = guess_encoding(line)
            shown = bytes([byte]).decode(name, errors="replace")
            return DataError(
                f"{file.name} must be UTF-8 text; got the byte 0x{byte:02X} in line {number}. If it stands "
                f'for {shown!r}, pass encoding="{name}" (--encoding {name}).'
            )
    return DataError(f"{file.name} is not UTF-8 text.")
