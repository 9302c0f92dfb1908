"""CSV files: read the header, and the rows at once or in batches; refuse stray quotes."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from contextlib import contextmanager, nullcontext
from itertools import count, takewhile
from typing import IO, TYPE_CHECKING

from scorereport.data.roles import check_columns
from scorereport.data.size_limits import LONGEST_LINE, check_memory, check_unpacked
from scorereport.data.source_kind import SourceKind, unreadable_file
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import pyarrow as pa

    from scorereport.data.source_kind import RawBatches, SourceLocation

#: Text that stands for a missing number or outcome.
MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None")
#: Bytes of a cell on average, to estimate the rows of a file.
_CELL = 8
#: Bytes of a compressed file that are decompressed to estimate its compression ratio.
_SAMPLE = 1 << 16


def read_csv(path: Path, numbers: Sequence[str], labels: Sequence[str]) -> pa.Table:
    """Read columns of a file with pyarrow: numbers are exact, rows of the wrong length are refused."""
    import pyarrow as pa

    with _explain_csv_errors(path):
        header, separator = _csv_header(path)
        check_columns([*numbers, *labels], header, path.name)
        lines = _survey_lines(path, separator)
        check_memory(path.name, lines, len(numbers) + len(labels))
        table = _parse_csv(path, header, separator, numbers, labels)
    if any(pa.types.is_binary(column.type) for column in table.schema):
        raise DataError(f"{path.name} is not UTF-8 text.")
    _check_lines(path, lines, len(table))
    return table


def _parse_csv(
    path: Path, header: list[str], separator: str, numbers: Sequence[str], labels: Sequence[str]
) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv as pa_csv

    def parse(*, use_threads: bool) -> pa.Table:
        return pa_csv.read_csv(
            pa.input_stream(path, compression="detect"),
            read_options=pa_csv.ReadOptions(
                column_names=_unique(header), skip_rows=1, use_threads=use_threads
            ),
            parse_options=pa_csv.ParseOptions(delimiter=separator),
            convert_options=pa_csv.ConvertOptions(
                include_columns=[*numbers, *labels],
                column_types=dict.fromkeys(labels, pa.string()),
                null_values=MISSING_WORDS,
                true_values=[],  # "true" is not a probability
                false_values=[],
            ),
        )

    try:
        return parse(use_threads=True)
    except pa.ArrowInvalid:
        return parse(use_threads=False)  # fails again, but names the row


def stream_csv(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Iterate over the rows of a CSV file in batches, all cells as text."""
    import pyarrow as pa
    from pyarrow import csv as pa_csv

    rows = 0
    with _explain_csv_errors(path):
        header, separator = _csv_header(path)
        check_columns(columns, header, path.name)
        lines = _survey_lines(path, separator)
        batches = pa_csv.open_csv(
            pa.input_stream(path, compression="detect"),
            read_options=pa_csv.ReadOptions(column_names=_unique(header), skip_rows=1, use_threads=False),
            parse_options=pa_csv.ParseOptions(delimiter=separator),
            convert_options=pa_csv.ConvertOptions(
                include_columns=columns, column_types=dict.fromkeys(columns, pa.string())
            ),
        )
        for batch in batches:
            rows += len(batch)
            yield batch
    if rows == 0:
        raise DataError(f"{path.name} holds no rows.")
    _check_lines(path, lines, rows)


def read_header(path: Path) -> list[str]:
    """Return the names of the columns of a CSV file."""
    with _explain_csv_errors(path):
        return _csv_header(path)[0]


def _csv_header(path: Path) -> tuple[list[str], str]:
    """Return the column names, and the separator: comma, semicolon or tab, the most frequent there."""
    with _open_binary(path) as file:
        raw = file.readline(LONGEST_LINE + 1)
    if len(raw) > LONGEST_LINE:
        raise DataError(
            f"{path.name} must begin with its header; its first line has more than {LONGEST_LINE:,} bytes."
        )
    line = raw.decode("utf-8-sig")
    if not line.strip():
        raise DataError(f"{path.name} must begin with its header; the first line is empty.")
    separator = max(",;\t", key=line.count)
    if _is_open(re.sub(f"({separator}|^) +", r"\1", line).encode(), separator):
        raise _describe_open(path, 1)
    header = next(csv.reader([line], delimiter=separator, skipinitialspace=True))
    return [name.strip() for name in header], separator


def _unique(header: list[str]) -> list[str]:
    """Rename repeated columns, so that pyarrow accepts the header; no role may refer to them."""
    first = {name: position for position, name in reversed(list(enumerate(header)))}
    return [
        name if first[name] == position else f"{name}\0{position}" for position, name in enumerate(header)
    ]


@contextmanager
def _explain_csv_errors(path: Path) -> Iterator[None]:
    """Raise a `DataError` that states in one sentence why a file cannot be read as CSV."""
    import pyarrow as pa

    try:
        yield
    except (UnicodeDecodeError, pa.ArrowInvalid, csv.Error, OSError, EOFError, zlib.error) as error:
        if isinstance(error, UnicodeDecodeError) or "invalid UTF8" in str(error):
            raise DataError(f"{path.name} is not UTF-8 text.") from error
        if isinstance(error, pa.ArrowInvalid) and (line := _find_open(path)):
            raise _describe_open(path, line) from error
        raise unreadable_file(path, "CSV", error) from error


def _survey_lines(path: Path, separator: str) -> int:
    """Return an upper bound of the lines; refuse a file that expands too far or ends in a quoted field."""
    newlines, expanded, before, last = 0, 0, b"", b""
    packed = path.stat().st_size if _is_packed(path) else None
    with _open_binary(path) as file:
        while chunk := file.read(LONGEST_LINE):
            before, last = last, chunk
            newlines += chunk.count(b"\n")
            expanded += len(chunk)
            if packed is not None:
                check_unpacked(path.name, packed, expanded)
    end = next((line for line in reversed((before + last).splitlines()) if line.strip()), b"")
    if _is_open(end, separator) and (line := _find_open(path)):
        raise _describe_open(path, line)
    return newlines + (last[-1:] != b"\n")


def _check_lines(path: Path, at_most: int, rows: int) -> None:
    """Refuse a file with fewer rows than lines: a stray quote would swallow rows unnoticed."""
    if at_most <= rows + 1:
        return
    with _explain_csv_errors(path), _open_binary(path) as file:
        lines = sum(1 for line in file if not line.isspace())
    if rows < lines - 1:
        if line := _find_open(path):
            raise _describe_open(path, line)
        raise DataError(f"{path.name} has {lines - 1} lines below the header but {rows} rows.")


def _find_open(path: Path) -> int:
    """Find the first line, from 1, that ends in a quoted field; 0 if none before an overlong line does."""
    separator = _csv_header(path)[1]
    with _open_binary(path) as file:
        lines = takewhile(bool, (file.readline(LONGEST_LINE) for _ in count()))
        short = enumerate(takewhile(lambda line: len(line) < LONGEST_LINE, lines), 1)
        parts = ((at, part) for at, line in short if at > 1 for part in line.splitlines())
        return next((at for at, part in parts if _is_open(part, separator)), 0)


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


def _describe_open(path: Path, line: int) -> DataError:
    return DataError(
        f"{path.name} must close each quoted field in its line; the quote that opens in line {line} is not "
        "closed there. Close it, or write a quote that is part of a text twice."
    )


def _is_packed(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def _open_binary(path: Path) -> IO[bytes] | gzip.GzipFile:
    return gzip.open(path, "rb") if _is_packed(path) else path.open("rb")


def _open_batches(
    place: SourceLocation, columns: Sequence[str], _: Mapping[str, str | int]
) -> AbstractContextManager[RawBatches]:
    batches = stream_csv(place.files[0], list(columns))
    return nullcontext(dict(zip(columns, batch.columns, strict=True)) for batch in batches)


def _estimate_rows(place: SourceLocation) -> int:
    """Estimate the rows of a file from its size and the number of columns of its header."""
    path = place.files[0]
    size = path.stat().st_size * (_compression_ratio(path) if _is_packed(path) else 1)
    return int(size // (_CELL * max(len(read_header(path)), 1)))


def _compression_ratio(path: Path) -> float:
    """Decompressed bytes per byte at the beginning of a gzip file."""
    with path.open("rb") as file:
        packed = file.read(_SAMPLE)
    try:
        return len(zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(packed)) / len(packed)
    except zlib.error:
        return 1  # the reader reports why it cannot be read


CSV = SourceKind(
    name="CSV",
    endings=(".csv", ".csv.gz"),
    read=lambda place, numbers, labels: read_csv(place.files[0], numbers, labels),
    open_batches=_open_batches,
    count_rows=_estimate_rows,
    list_columns=lambda place: read_header(place.files[0]),
    engines=("memory", "duckdb", "spark"),
)
