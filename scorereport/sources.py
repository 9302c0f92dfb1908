"""Tables from files and frames: which columns there are, and their raw values as pandas columns."""

from __future__ import annotations

import csv
import gzip
import hashlib
from collections import Counter
from difflib import get_close_matches
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    import pyarrow as pa

#: Text that stands for a missing number or outcome.
MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None")

_COLUMNS_NAMED = 12
_ENDINGS = {".csv": "CSV", ".csv.gz": "CSV", ".parquet": "Parquet"}
#: How files of other kinds begin, so that a wrong ending can be told by name.
_GZIP = b"\x1f\x8b"
_SIGNATURES = {
    b"PAR1": "Parquet",
    b"PK\x03\x04": "a zip archive or spreadsheet",
    _GZIP: "gzip",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}


def read_columns(source: Any, numbers: Sequence[str], labels: Sequence[str]) -> pd.DataFrame:
    """Read the named columns of a DataFrame, a CSV or a Parquet file; in CSV files labels stay text."""
    columns = [*numbers, *labels]
    if isinstance(source, (str, Path)):
        path = check_file(Path(source))
        read = {"CSV": _read_csv, "Parquet": _read_parquet}[_ENDINGS[_ending(path)]]
        frame = read(path, numbers, labels)
    else:
        frame = _as_pandas(source)
        check_columns(columns, list(frame.columns), "The frame")
    if frame.empty:
        raise DataError(f"{describe(source)} holds no rows.")
    return frame[columns].reset_index(drop=True)


def describe(source: Any) -> str:
    """Name a source for messages: the file's name, or "The frame"."""
    return Path(source).name if isinstance(source, (str, Path)) else "The frame"


def hash_file(source: Any) -> str:
    """SHA-256 of a file, as `sha256sum` prints it; empty for what is none."""
    if not isinstance(source, (str, Path)):
        return ""
    with Path(source).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_file(path: Path) -> Path:
    """A file that exists, holds something, and is what its ending says."""
    if not path.is_file():
        raise UsageError(f"{path} is not a file.")
    if path.stat().st_size == 0:
        raise DataError(f"{path.name} is empty.")
    kind, found = _ENDINGS[_ending(path)], _kind_by_content(path)
    if kind != found:
        raise DataError(f"{path.name} is named like {kind} but holds {found}.")
    return path


def check_columns(wanted: Sequence[str], present: Sequence[str], where: str) -> None:
    """Columns that are there, once each, and asked for once each."""
    asked, there = Counter(wanted), Counter(present)
    for name in wanted:
        if asked[name] > 1:
            raise UsageError(f"`{name}` is asked for {asked[name]} times; a column has one role.")
        if there[name] == 0:
            raise DataError(
                f"{where} has no column `{name}`; it has {_name_some(present)}.{_hint(name, present)}"
            )
        if there[name] > 1:
            raise DataError(f"{where} has {there[name]} columns named `{name}`; names must differ.")


def _name_some(columns: Sequence[str]) -> str:
    shown = ", ".join(f"`{column}`" for column in columns[:_COLUMNS_NAMED])
    more = len(columns) - _COLUMNS_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _hint(name: str, columns: Sequence[str]) -> str:
    close = get_close_matches(name, [str(column) for column in columns], n=1)
    return f" Did you mean `{close[0]}`?" if close else ""


def _ending(path: Path) -> str:
    ending = next((known for known in _ENDINGS if path.name.lower().endswith(known)), None)
    if ending is None:
        raise UsageError(f"{path.name} must end in {', '.join(_ENDINGS)}.")
    return ending


def _kind_by_content(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(4096)
    if path.name.lower().endswith(".gz"):
        return "CSV" if head.startswith(_GZIP) else "no gzip data"
    known = next((kind for start, kind in _SIGNATURES.items() if head.startswith(start)), None)
    return known or ("binary data" if b"\0" in head else "CSV")


def _as_pandas(source: Any) -> pd.DataFrame:
    import pandas as pd

    frame = source.to_pandas() if hasattr(source, "to_pandas") else source  # polars, pyarrow
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"Predictions must be a DataFrame or a file; got {type(source).__name__}.")
    return frame.set_axis([str(column) for column in frame.columns], axis="columns")


def _read_parquet(path: Path, numbers: Sequence[str], labels: Sequence[str]) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        columns = [*numbers, *labels]
        check_columns(columns, pq.read_schema(path).names, path.name)
        return pq.read_table(path, columns=columns).to_pandas(ignore_metadata=True)
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(f"{path.name} cannot be read as Parquet: {_first_line(error)}") from error


def _read_csv(path: Path, numbers: Sequence[str], labels: Sequence[str]) -> pd.DataFrame:
    """Parse by pyarrow: numbers to the last bit, rows of the wrong length refused, on all cores."""
    import pyarrow as pa

    try:
        header, separator = _csv_header(path)
        check_columns([*numbers, *labels], header, path.name)
        table = _parse_csv(path, header, separator, numbers, labels)
        lines = _count_lines(path, expected=len(table) + 1)
    except (UnicodeDecodeError, pa.ArrowInvalid, csv.Error, OSError, EOFError) as error:
        if isinstance(error, UnicodeDecodeError) or "invalid UTF8" in str(error):
            raise DataError(f"{path.name} is not UTF-8 text.") from error
        raise DataError(f"{path.name} cannot be read as CSV: {_first_line(error)}") from error
    if any(pa.types.is_binary(column.type) for column in table.schema):
        raise DataError(f"{path.name} is not UTF-8 text.")
    if len(table) < lines - 1:  # else a stray quote would swallow rows unseen
        raise DataError(
            f"{path.name} has {lines - 1} lines below the header but {len(table)} rows: "
            f"a quote is not closed, or a quoted field spans lines."
        )
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


def _csv_header(path: Path) -> tuple[list[str], str]:
    """Column names, and the separator: whichever of comma, semicolon and tab the header has most of."""
    with _open_binary(path) as file:
        line = file.readline().decode("utf-8-sig")
    if not line.strip():
        raise DataError(f"{path.name} must begin with its header; the first line is empty.")
    separator = max(",;\t", key=line.count)
    header = next(csv.reader([line], delimiter=separator, skipinitialspace=True))
    return [name.strip() for name in header], separator


def _open_binary(path: Path) -> IO[bytes] | gzip.GzipFile:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rb")
    return path.open("rb")


def _unique(header: list[str]) -> list[str]:
    """Other names for repeated columns, which nobody asked for."""
    first = {name: position for position, name in reversed(list(enumerate(header)))}
    return [
        name if first[name] == position else f"{name}\0{position}" for position, name in enumerate(header)
    ]


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].removeprefix("CSV parse error: ").rstrip(".") + "."
