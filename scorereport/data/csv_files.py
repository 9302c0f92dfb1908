"""CSV files: read the rows at once or in batches; refuse rows of the wrong length and stray quotes."""

from __future__ import annotations

import csv
import re
import zlib
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from scorereport._utils.row_places import InvalidRowsError, RowsRefused
from scorereport.data.csv_lines import (
    CsvFile,
    describe_encoding,
    describe_open,
    find_open,
    hint_at_header,
    hint_at_separator,
    name_lines,
    read_header,
    survey_lines,
)
from scorereport.data.roles import check_columns
from scorereport.data.size_limits import check_memory
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
#: Texts of numbers with a decimal point, and with a decimal comma.
_WITH_POINT = r"^\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*$"
_WITH_COMMA = r"^(\s*[+-]?\d*),(\d+(?:[eE][+-]?\d+)?\s*)$"
_WRONG_LENGTH = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


def read_csv(file: CsvFile, numbers: Sequence[str], labels: Sequence[str]) -> pa.Table:
    """Read columns of a file with pyarrow: numbers are exact, rows of the wrong length are refused."""
    import pyarrow as pa

    with _explain_csv_errors(file):
        header, separator = read_header(file)
        _check_header([*numbers, *labels], header, file.name)
        lines = survey_lines(file, separator)
        check_memory(file.name, lines, len(numbers) + len(labels))
        table = _parse_csv(file, header, separator, numbers, labels)
    if any(pa.types.is_binary(column.type) for column in table.schema):
        raise describe_encoding(file)
    _check_lines(file, lines, len(table))
    if file.format.decimal == ",":
        for place, name in enumerate(numbers):
            table = table.set_column(place, name, use_points(table[name], name))
    return table


def _parse_csv(
    file: CsvFile, header: list[str], separator: str, numbers: Sequence[str], labels: Sequence[str]
) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv as pa_csv

    def parse(*, use_threads: bool) -> pa.Table:
        return pa_csv.read_csv(
            _open_input(file),
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
                decimal_point=file.format.decimal,
            ),
        )

    try:
        return parse(use_threads=True)
    except pa.ArrowInvalid:
        return parse(use_threads=False)  # fails again, but names the row


def _open_input(file: CsvFile) -> Any:
    import pyarrow as pa

    return pa.input_stream(file.path, compression="detect") if file.is_utf8 else pa.PythonFile(file.open())


def stream_csv(file: CsvFile, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Iterate over the rows of a CSV file in batches, all cells as text."""
    import pyarrow as pa
    from pyarrow import csv as pa_csv

    rows = 0
    with _explain_csv_errors(file):
        header, separator = read_header(file)
        _check_header(columns, header, file.name)
        lines = survey_lines(file, separator)
        batches = pa_csv.open_csv(
            _open_input(file),
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
        raise DataError(f"{file.name} holds no rows.")
    _check_lines(file, lines, rows)


def use_points(values: Any, name: str, before: int = 0) -> Any:
    """Write numbers with decimal commas with points; a point, which may separate thousands, is refused.

    Values that are not texts are unchanged. `before` is the number of rows before these.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_string(values.type):
        return values
    has_point = pc.fill_null(pc.match_substring_regex(values, _WITH_POINT), fill_value=False)
    if pc.any(has_point).as_py():
        row = pc.index(has_point, value=True).as_py()
        sentence = f'`{name}` must have decimal commas, because `decimal` is ","; got {values[row].as_py()!r}'
        after = ". Leave `decimal` (--decimal) out if decimals have points."
        raise InvalidRowsError.of(RowsRefused(before=sentence, rows=[row + before], count=1, after=after))
    return pc.replace_substring_regex(values, _WITH_COMMA, r"\1.\2")


def _check_header(columns: Sequence[str], header: list[str], name: str) -> None:
    """Check that the columns are there; a header of one column may have another separator."""
    try:
        check_columns(columns, header, name)
    except DataError as error:
        raise DataError(f"{error}{hint_at_separator(header) or hint_at_header(header)}") from error


def _list_columns(place: SourceLocation) -> list[str]:
    """Return the names of the columns of a CSV file."""
    file = _file_at(place)
    with _explain_csv_errors(file):
        return read_header(file)[0]


def _unique(header: list[str]) -> list[str]:
    """Rename repeated columns, so that pyarrow accepts the header; no role may refer to them."""
    first = {name: position for position, name in reversed(list(enumerate(header)))}
    return [
        name if first[name] == position else f"{name}\0{position}" for position, name in enumerate(header)
    ]


@contextmanager
def _explain_csv_errors(file: CsvFile) -> Iterator[None]:
    """Raise a `DataError` that states in one sentence why a file cannot be read as CSV."""
    import pyarrow as pa

    try:
        yield
    except (UnicodeError, pa.ArrowInvalid, csv.Error, OSError, EOFError, zlib.error) as error:
        if isinstance(error, UnicodeError) or "invalid UTF8" in str(error):
            raise describe_encoding(file) from error
        if isinstance(error, pa.ArrowInvalid) and (line := find_open(file)):
            raise describe_open(file, line) from error
        if found := _WRONG_LENGTH.search(str(error)):
            raise _describe_length(file, *map(int, found.groups())) from error
        raise unreadable_file(file.path, "CSV", error) from error


def _describe_length(file: CsvFile, row: int, expected: int, got: int) -> DataError:
    """Return the error for a row with more or fewer values than the header; the header is row 1."""
    line = name_lines(file, [row - 2]).shown[0]
    return DataError(
        f"Each line of {file.name} must have as many values as its header, {expected}; got {got} in line "
        f"{line}.{_hint_at_length(file) if got > expected else ''}"
    )


def _hint_at_length(file: CsvFile) -> str:
    """Why a line may have more values than the header."""
    if read_header(file)[1] == ",":
        return ' If decimals have commas, separate columns by semicolons and pass decimal="," (--decimal ,).'
    return " If a text holds the separator, write the text in double quotes."


def _check_lines(file: CsvFile, at_most: int, rows: int) -> None:
    """Refuse a file with fewer rows than lines: a stray quote would swallow rows unnoticed."""
    if at_most <= rows + 1:
        return
    with _explain_csv_errors(file), file.open() as opened:
        lines = sum(1 for line in opened if not line.isspace())
    if rows < lines - 1:
        if line := find_open(file):
            raise describe_open(file, line)
        raise DataError(f"{file.name} has {lines - 1} lines below the header but {rows} rows.")


def _file_at(place: SourceLocation) -> CsvFile:
    return CsvFile(place.files[0], place.csv_format)


def _open_batches(
    place: SourceLocation, columns: Sequence[str], _: Mapping[str, str | int]
) -> AbstractContextManager[RawBatches]:
    batches = stream_csv(_file_at(place), list(columns))
    return nullcontext(dict(zip(columns, batch.columns, strict=True)) for batch in batches)


def _estimate_rows(place: SourceLocation) -> int:
    """Estimate the rows of a file from its size and the number of columns of its header."""
    file = _file_at(place)
    size = file.path.stat().st_size * (_compression_ratio(file.path) if file.is_packed else 1)
    return int(size // (_CELL * max(len(_list_columns(place)), 1)))


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
    endings=(".csv", ".csv.gz", ".tsv", ".tsv.gz"),
    takes_format=True,
    read=lambda place, numbers, labels: read_csv(_file_at(place), numbers, labels),
    open_batches=_open_batches,
    count_rows=_estimate_rows,
    list_columns=_list_columns,
    name_rows=lambda place, rows: name_lines(_file_at(place), rows),
    engines=("memory", "duckdb", "spark"),
)
