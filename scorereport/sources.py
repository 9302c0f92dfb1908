"""Tables from files, folders, databases and frames: their columns, with raw values, as pandas columns."""

from __future__ import annotations

import csv
import gzip
import hashlib
import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from scorereport.databases import (
    columns_of,
    open_duckdb_table,
    open_sql,
    read_duckdb_table,
    read_relation,
    read_sql_table,
    reading,
    scan_parquet,
    sql_columns,
)
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from threading import Event

    import pandas as pd
    import pyarrow as pa

#: Text that stands for a missing number or outcome.
MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None")

_COLUMNS_NAMED = 12
#: Bytes that are hashed at a time.
_CHUNK = 1 << 20
_ENDINGS = {".csv": "CSV", ".csv.gz": "CSV", ".parquet": "Parquet"}
#: Files of these endings are databases, of which a table is read.
_DATABASES = (".duckdb", ".ddb")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_WILD = re.compile(r"[*?\[]")
#: How files of other kinds begin, so that a wrong ending can be told by name.
_GZIP = b"\x1f\x8b"
_SIGNATURES = {
    b"PAR1": "Parquet",
    b"PK\x03\x04": "a zip archive or spreadsheet",
    _GZIP: "gzip",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a table is: the kind of source, its name for messages, and its files below a folder."""

    kind: Literal["frame", "CSV", "Parquet", "folder", "duckdb", "sql"]
    name: str
    files: tuple[Path, ...] = ()
    folder: Path = Path()

    @property
    def scan(self) -> str:
        """SQL that scans the Parquet files."""
        below = (file.relative_to(self.folder) for file in self.files) if self.kind == "folder" else ()
        return scan_parquet(self.files, hive=any("=" in part for path in below for part in path.parts[:-1]))


def read_columns(
    source: Any, numbers: Sequence[str], labels: Sequence[str], table: str | None = None
) -> pd.DataFrame:
    """Read the named columns of a frame, file, folder or table; in CSV files labels stay text."""
    columns = [*numbers, *labels]
    place = locate(source, table)
    if place.kind == "CSV":
        frame = _read_csv(place.files[0], numbers, labels)
    elif place.kind == "Parquet":
        frame = _read_parquet(place.files[0], numbers, labels)
    elif place.kind == "frame":
        frame = as_pandas(source)
        check_columns(columns, list(frame.columns), place.name)
    else:
        frame = _read_stored(source, table or "", place, columns)
    if frame.empty:
        raise DataError(f"{place.name} holds no rows.")
    return frame[columns].reset_index(drop=True)


def _read_stored(source: Any, table: str, place: Place, columns: list[str]) -> pd.DataFrame:
    """Columns of a folder or of a table of a database."""
    if place.kind == "sql":
        with open_sql(str(source)) as engine:
            check_columns(columns, sql_columns(engine, table, place.name), place.name)
            return read_sql_table(engine, table, columns)
    if place.kind == "duckdb":
        path = place.files[0]
        with open_duckdb_table(path, table, place.name) as (connection, relation):
            with reading(place.name, "a table"):
                there = list(columns_of(connection, relation))
            check_columns(columns, there, place.name)
        return read_duckdb_table(path, table, place.name, columns)
    check_parquet_files(place, columns)
    with reading(place.name, "Parquet"):
        return read_relation(place.scan, columns)


def check_parquet_files(place: Place, columns: Sequence[str]) -> dict[str, str]:
    """The columns of a folder of Parquet files with their types, as DuckDB names them."""
    import duckdb

    with reading(place.name, "Parquet"), duckdb.connect() as connection:
        there = columns_of(connection, place.scan)
    check_columns(columns, list(there), place.name)
    return there


def describe(source: Any, table: str | None = None) -> str:
    """Name a source for messages: a file, folder or pattern, a database and its table, or "The frame"."""
    if not isinstance(source, (str, Path)):
        return "The frame"
    if not is_address(source):
        return Path(source).name if table is None else f"{Path(source).name}: {table}"
    from sqlalchemy import make_url

    return f"{Path(make_url(str(source)).database or 'database').name}: {table}"


def is_address(source: Any) -> bool:
    """Whether a source is the address of a database."""
    return isinstance(source, str) and _ADDRESS.match(source) is not None


def locate(source: Any, table: str | None = None) -> Place:
    """Find out what a source is; whatever it is must be there."""
    is_path = isinstance(source, (str, Path))
    if isinstance(source, str) and not source.strip():
        raise UsageError(f"Predictions must be a DataFrame or a file; got {source!r}.")
    if is_address(source) or (is_path and Path(source).suffix.lower() in _DATABASES):
        return _locate_database(source, table)
    if table is not None:
        raise UsageError(
            f"`table` is for a database file ({', '.join(_DATABASES)}) or the address of a database; "
            f"{describe(source)} is neither."
        )
    if not is_path:
        return Place(kind="frame", name="The frame")
    path = Path(source)
    if path.is_dir():
        files = sorted(_visible_parquet(path), key=lambda file: file.relative_to(path).as_posix())
        return _several(path.name or str(path), files, path, f"{path} holds no .parquet file.")
    if _WILD.search(str(path)) and not path.exists():
        return _locate_pattern(path)
    kind: Any = _ENDINGS[_ending(check_file(path))]
    return Place(kind=kind, name=path.name, files=(path,))


def _locate_database(source: Any, table: str | None) -> Place:
    if table is None:
        raise UsageError("`table` must name the table or view of the database that is to be read.")
    if is_address(source):
        return Place(kind="sql", name=describe(source, table))
    path = Path(source)
    if not path.is_file():
        raise UsageError(f"{path} is not a file.")
    return Place(kind="duckdb", name=describe(path, table), files=(path,))


def _visible_parquet(folder: Path) -> Iterator[Path]:
    """Parquet files at any depth; what begins with a dot or an underscore is somebody's work in progress."""
    for file in folder.rglob("*.parquet"):
        if file.is_file() and not any(part[0] in "._" for part in file.relative_to(folder).parts):
            yield file


def _locate_pattern(path: Path) -> Place:
    fixed = 0
    while not _WILD.search(path.parts[fixed]):
        fixed += 1
    folder = Path(*path.parts[:fixed])
    found = folder.glob("/".join(path.parts[fixed:]))
    files = sorted((file for file in found if file.is_file()), key=lambda f: f.relative_to(folder).as_posix())
    return _several(path.name, files, folder, f"{path} matches no file.")


def _several(name: str, files: list[Path], folder: Path, if_none: str) -> Place:
    if not files:
        raise UsageError(if_none)
    for file in files:
        if _ENDINGS[_ending(check_file(file))] != "Parquet":
            raise UsageError(f"Several files must all be Parquet; got {file.name}.")
    return Place(kind="folder", name=name, files=tuple(files), folder=folder)


def hash_file(source: Any, table: str | None = None, *, is_over: Event | None = None) -> str:
    """SHA-256 of a file, as `sha256sum` prints it; empty for what is none.

    Of several files it is that of the lines that `sha256sum` prints for them, with their paths below the
    folder, or below the part of a pattern without wildcards, in ascending order. Once `is_over` is set
    nobody waits for the result, and the rest is not read.
    """
    if not isinstance(source, (str, Path)):
        return ""
    if Path(source).is_file():
        return _hash(Path(source), is_over)
    place = locate(source, table)
    lines = (f"{_hash(file, is_over)}  {file.relative_to(place.folder).as_posix()}\n" for file in place.files)
    return hashlib.sha256("".join(lines).encode()).hexdigest() if place.files else ""


def _hash(path: Path, is_over: Event | None) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while (chunk := file.read(_CHUNK)) and not (is_over and is_over.is_set()):
            digest.update(chunk)
    return digest.hexdigest()


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


def as_pandas(source: Any) -> pd.DataFrame:
    """A frame of any kind as that of pandas, its columns named by text."""
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

    with _parsing(path):
        header, separator = _csv_header(path)
        check_columns([*numbers, *labels], header, path.name)
        table = _parse_csv(path, header, separator, numbers, labels)
    if any(pa.types.is_binary(column.type) for column in table.schema):
        raise DataError(f"{path.name} is not UTF-8 text.")
    _check_lines(path, len(table))
    return table.to_pandas()


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


@contextmanager
def _parsing(path: Path) -> Iterator[None]:
    """Tell in one sentence why a file is no CSV."""
    import pyarrow as pa

    try:
        yield
    except (UnicodeDecodeError, pa.ArrowInvalid, csv.Error, OSError, EOFError) as error:
        if isinstance(error, UnicodeDecodeError) or "invalid UTF8" in str(error):
            raise DataError(f"{path.name} is not UTF-8 text.") from error
        raise DataError(f"{path.name} cannot be read as CSV: {_first_line(error)}") from error


def _check_lines(path: Path, rows: int) -> None:
    """As many rows as lines, else a stray quote would swallow rows unseen."""
    with _parsing(path):
        lines = _count_lines(path, expected=rows + 1)
    if rows < lines - 1:
        raise DataError(
            f"{path.name} has {lines - 1} lines below the header but {rows} rows: "
            f"a quote is not closed, or a quoted field spans lines."
        )


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
