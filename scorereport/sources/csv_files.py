"""CSV files: their header, and their rows at once or in lots; none is lost to a stray quote."""

from __future__ import annotations

import csv
import gzip
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from scorereport.errors import DataError
from scorereport.sources.column_names import check_columns
from scorereport.sources.file_kinds import unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

#: Text that stands for a missing number or outcome.
MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None")


def read_csv(path: Path, numbers: Sequence[str], labels: Sequence[str]) -> pd.DataFrame:
    """Columns of a file, parsed by pyarrow: numbers to the last bit, rows of the wrong length refused."""
    import pyarrow as pa

    with _parsing(path):
        header, separator = _csv_header(path)
        check_columns([*numbers, *labels], header, path.name)
        table = _parse_csv(path, header, separator, numbers, labels)
    if any(pa.types.is_binary(column.type) for column in table.schema):
        raise DataError(f"{path.name} is not UTF-8 text.")
    _check_lines(path, len(table))
    return table.to_pandas()


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
                true_values=[],  # "true" is no probability
                false_values=[],
            ),
        )

    try:
        return parse(use_threads=True)
    except pa.ArrowInvalid:
        return parse(use_threads=False)  # fails again, but names the row


def stream_csv(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The rows of a CSV file in lots, all cells as text."""
    import pyarrow as pa
    from pyarrow import csv as pa_csv

    rows = 0
    with _parsing(path):
        header, separator = _csv_header(path)
        check_columns(columns, header, path.name)
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
    _check_lines(path, rows)


def read_header(path: Path) -> list[str]:
    """Names of the columns of a CSV file."""
    with _parsing(path):
        return _csv_header(path)[0]


def _csv_header(path: Path) -> tuple[list[str], str]:
    """Column names, and the separator: whichever of comma, semicolon and tab the header has most of."""
    with _open_binary(path) as file:
        line = file.readline().decode("utf-8-sig")
    if not line.strip():
        raise DataError(f"{path.name} must begin with its header; the first line is empty.")
    separator = max(",;\t", key=line.count)
    header = next(csv.reader([line], delimiter=separator, skipinitialspace=True))
    return [name.strip() for name in header], separator


def _unique(header: list[str]) -> list[str]:
    """Other names for repeated columns, which nobody asked for."""
    first = {name: position for position, name in reversed(list(enumerate(header)))}
    return [
        name if first[name] == position else f"{name}\0{position}" for position, name in enumerate(header)
    ]


@contextmanager
def _parsing(path: Path) -> Iterator[None]:
    """Tell in one sentence why a file is no CSV."""
    import pyarrow as pa

    try:
        yield
    except (UnicodeDecodeError, pa.ArrowInvalid, csv.Error, OSError, EOFError) as error:
        if isinstance(error, UnicodeDecodeError) or "invalid UTF8" in str(error):
            raise DataError(f"{path.name} is not UTF-8 text.") from error
        raise unreadable(path, "CSV", error) from error


def _check_lines(path: Path, rows: int) -> None:
    """As many rows as lines, else a stray quote would swallow rows unseen."""
    with _parsing(path):
        lines = _count_lines(path, expected=rows + 1)
    if rows < lines - 1:
        raise DataError(
            f"{path.name} has {lines - 1} lines below the header but {rows} rows: "
            f"a quote is not closed, or a quoted field spans lines."
        )


def _count_lines(path: Path, expected: int) -> int:
    """Lines with something on them; the quick count of all lines decides where it can."""
    newlines, last = 0, b""
    with _open_binary(path) as file:
        while chunk := file.read(1 << 20):
            newlines, last = newlines + chunk.count(b"\n"), chunk[-1:]
    at_most = newlines + (last != b"\n")
    if at_most <= expected:
        return at_most
    with _open_binary(path) as file:
        return sum(1 for line in file if not line.isspace())


def _open_binary(path: Path) -> IO[bytes] | gzip.GzipFile:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rb")
    return path.open("rb")
