"""Sources of tables: their kinds, and how the location, address and SHA-256 of a source are found."""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorereport._utils.redaction import Redactor, expand_address, expand_variables, find_literal_secret
from scorereport._utils.row_places import ROWS_TO_FIND, InvalidRowsError
from scorereport.data.array_tables import ArrayTable
from scorereport.data.csv_encodings import BYTE_ORDER_MARKS, describe_recoding, guess_utf16
from scorereport.data.csv_files import CSV
from scorereport.data.csv_format import CsvFormat
from scorereport.data.dataframes import FRAME
from scorereport.data.excel_files import EXCEL
from scorereport.data.parquet_files import PARQUET, PARQUET_FILES
from scorereport.data.r_files import R_DATA
from scorereport.data.source_kind import SourceLocation
from scorereport.data.stored_tables import DUCKDB, SQL
from scorereport.errors import DataError, ScoreReportError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from threading import Event

    from scorereport.data.source_kind import SourceKind

#: Kinds of sources that are a single file. A new kind is added here; frames, several Parquet files and the
#: addresses of databases are recognised by other means than an ending.
FILE_KINDS = (CSV, PARQUET, EXCEL, R_DATA, DUCKDB)
#: Endings of files that are one table, and of databases, of which a table is read.
TABLE_ENDINGS = tuple(ending for kind in FILE_KINDS if not kind.takes_table for ending in kind.endings)
DATABASE_ENDINGS = tuple(ending for kind in FILE_KINDS if kind.takes_table for ending in kind.endings)
#: Endings of files of which a part may be named, such as a sheet of a workbook.
PART_ENDINGS = tuple(ending for kind in FILE_KINDS if kind.part for ending in kind.endings)
_GZIP = b"\x1f\x8b"
#: First bytes of files of other kinds, so that a message can name what a file with a wrong ending holds.
_SIGNATURES = {
    **{kind.signature: kind.name for kind in FILE_KINDS if kind.signature},
    b"PK\x03\x04": "a zip archive",
    b"\xd0\xcf\x11\xe0": "an old or encrypted Office file; save it as .xlsx without a password",
    _GZIP: "gzip",
    **{mark: describe_recoding("utf-16") for mark in BYTE_ORDER_MARKS},
}
#: What to save files of other programs as, by their endings.
_INSTEAD = {
    **dict.fromkeys((".xls", ".xlsb", ".xlsm", ".ods", ".numbers"), ".xlsx or .csv"),
    **dict.fromkeys((".sas7bdat", ".sav", ".dta", ".feather", ".pkl"), ".csv or .parquet"),
    **dict.fromkeys((".txt", ".dat"), ".csv"),
}
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
#: A text that begins like an address, or takes all of it from the environment.
_COMMAND_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|\$\{")
_ARGUMENT = "FILE"
_WILD = re.compile(r"[*?\[]")
#: Bytes that are hashed at a time.
_CHUNK = 1 << 20


def check_table_file(path: Path, csv_format: CsvFormat | None = None) -> SourceKind:
    """Return the kind of a table file; refuse one that is absent, empty, or not what its ending says."""
    if not path.is_file():
        raise UsageError(f"{path} is not a file.")
    if path.stat().st_size == 0:
        raise DataError(f"{path.name} is empty.")
    kind, found = find_file_kind(path), _kind_by_content(path)
    if kind is None or kind.takes_table:
        raise UsageError(f"{path.name} must end in {', '.join(TABLE_ENDINGS)}.{_hint_at_ending(path)}")
    is_recoded = kind.takes_format and csv_format is not None and "encoding" in csv_format.given
    if kind.name != found and not is_recoded:
        raise DataError(f"{path.name} is named like {kind.name} but holds {found}.")
    return kind


def _hint_at_ending(path: Path) -> str:
    """What to do with a file that other programs write."""
    other = path.suffix.lower()
    return f" Save it as {_INSTEAD[other]}." if other in _INSTEAD else ""


def find_file_kind(path: str | Path) -> SourceKind | None:
    """Return the kind of a file by its ending; None if no kind has it."""
    name = Path(path).name.lower()
    return next((kind for kind in FILE_KINDS if name.endswith(kind.endings)), None)


def _kind_by_content(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(4096)
    if path.name.lower().endswith(".gz"):
        return CSV.name if head.startswith(_GZIP) else "no gzip data"
    named = next((kind.name for kind in FILE_KINDS if kind.recognizes and kind.recognizes(path)), None)
    known = named or next((kind for start, kind in _SIGNATURES.items() if head.startswith(start)), None)
    if known is None and b"\0" in head:
        encoding = guess_utf16(head)
        return describe_recoding(encoding) if encoding else "binary data"
    return known or CSV.name


def describe_source(source: Any, table: str | None = None) -> str:
    """Return the name of a source for messages: file, folder, pattern, database and table, or "The frame"."""
    if not isinstance(source, (str, Path)):
        return "arrays" if isinstance(source, ArrayTable) else "The frame"
    if not is_address(source):
        return Path(source).name if table is None else f"{Path(source).name}: {table}"
    from sqlalchemy import make_url

    return f"{Path(make_url(str(source)).database or 'database').name}: {table}"


def is_address(source: Any) -> bool:
    """Whether a source is the address of a database."""
    return isinstance(source, str) and _ADDRESS.match(source) is not None


def locate_source(
    source: Any, table: str | None = None, csv_format: CsvFormat | None = None
) -> SourceLocation:
    """Return the kind, name and files of a source, which must exist."""
    place = _locate(source, table, csv_format or CsvFormat())
    if csv_format is None or not csv_format.given:
        return place
    if not place.kind.takes_format:
        name = csv_format.given[0]
        raise UsageError(f"`{name}` is for {CSV.name} files; {place.name} is not one. Leave it out.")
    return replace(place, csv_format=csv_format)


@contextmanager
def rows_named(source: Any, table: str | None = None, csv_format: CsvFormat | None = None) -> Iterator[None]:
    """Name rows that are refused in the block as people find them in the source, such as by lines."""
    try:
        yield
    except InvalidRowsError as error:
        if error.refused is None:
            raise
        place = locate_source(source, table, csv_format)
        rows = [int(row) for row in error.refused.rows[:ROWS_TO_FIND]]
        names = place.kind.name_rows(place, rows) if place.kind.name_rows else None
        if names is None:
            raise
        raise error.named(names) from error


def _locate(source: Any, table: str | None, csv_format: CsvFormat) -> SourceLocation:
    is_path = isinstance(source, (str, Path))
    if isinstance(source, str) and not source.strip():
        raise UsageError(f"Predictions must be a DataFrame or a file; got {source!r}.")
    kind = SQL if is_address(source) else find_file_kind(source) if is_path else FRAME
    if kind is not None and kind.takes_table:
        return _locate_database(source, table, kind)
    if table is not None and not (kind is not None and kind.part):
        parts = [f"{kind.name} ({', '.join(kind.endings)})" for kind in FILE_KINDS if kind.part]
        raise UsageError(
            f"`table` is for a database file ({', '.join(DATABASE_ENDINGS)}), the address of a database, "
            f"{' or '.join(parts)}; {describe_source(source)} is none of them."
        )
    if not is_path:
        return SourceLocation(kind=FRAME, name=describe_source(source), source=source)
    path = Path(source)
    if path.is_dir():
        files = sorted(_visible_parquet(path), key=lambda file: file.relative_to(path).as_posix())
        return _locate_several(path.name or str(path), files, path, f"{path} holds no .parquet file.")
    if _WILD.search(str(path)) and not path.exists():
        return _locate_pattern(path)
    return SourceLocation(
        kind=check_table_file(path, csv_format),
        name=describe_source(source, table),
        source=source,
        table=table or "",
        files=(path,),
        folder=path.parent,
    )


def _locate_database(source: Any, table: str | None, kind: SourceKind) -> SourceLocation:
    if table is None:
        raise UsageError("`table` must name the table or view of the database that is to be read.")
    name = describe_source(source, table)
    if is_address(source):
        return SourceLocation(kind=kind, name=name, source=source, table=table)
    path = Path(source)
    if not path.is_file():
        raise UsageError(f"{path} is not a file.")
    return SourceLocation(kind=kind, name=name, source=source, table=table, files=(path,), folder=path.parent)


def _visible_parquet(folder: Path) -> Iterator[Path]:
    """Parquet files at any depth; names that begin with a dot or underscore mean work in progress."""
    for file in (found for ending in PARQUET.endings for found in folder.rglob(f"*{ending}")):
        if file.is_file() and not any(part[0] in "._" for part in file.relative_to(folder).parts):
            yield file


def _locate_pattern(path: Path) -> SourceLocation:
    fixed = 0
    while not _WILD.search(path.parts[fixed]):
        fixed += 1
    folder = Path(*path.parts[:fixed])
    found = folder.glob("/".join(path.parts[fixed:]))
    files = sorted((file for file in found if file.is_file()), key=lambda f: f.relative_to(folder).as_posix())
    return _locate_several(path.name, files, folder, f"{path} matches no file.")


def _locate_several(name: str, files: list[Path], folder: Path, if_none: str) -> SourceLocation:
    if not files:
        raise UsageError(if_none)
    for file in files:
        if check_table_file(file) is not PARQUET:
            raise UsageError(f"Several files must all be Parquet; got {file.name}.")
    return SourceLocation(kind=PARQUET_FILES, name=name, source=folder, files=tuple(files), folder=folder)


def is_command_address(text: str) -> bool:
    """Whether a text is the address of a database rather than a path.

    >>> is_command_address("postgresql://me@host/loans"), is_command_address("scores/2026-10.parquet")
    (True, False)
    """
    return _COMMAND_ADDRESS.match(text) is not None


@contextmanager
def open_command_source(text: str) -> Iterator[str]:
    """Provide a source for the block: a path unchanged, an address with its variables expanded.

    Errors raised in the block do not show the values of these variables.
    """
    if not is_command_address(text):
        yield text
        return
    if find_literal_secret(text):
        raise UsageError(
            f"`{_ARGUMENT}` must not hold a password, because reports carry the command that made them: "
            "write ${NAME} in its place, in single quotes, and set the environment variable NAME."
        )
    secrets = expand_variables(text, key=_ARGUMENT)[1]
    with _redacted_errors(Redactor(secrets)):
        yield expand_address(text, key=_ARGUMENT)


@contextmanager
def _redacted_errors(redactor: Redactor) -> Iterator[None]:
    try:
        yield
    except ScoreReportError as error:
        error.args = (redactor.redact(str(error)),)
        error.__cause__ = error.__context__ = None
        raise
    except Exception as error:  # a driver may raise anything, with the address in it
        reason = redactor.redact(f"{type(error).__name__}: {error}")
        raise ScoreReportError(f"The source cannot be read. {reason}") from None


def hash_file(source: Any, table: str | None = None, *, is_over: Event | None = None) -> str:
    """Return the SHA-256 of a file, as `sha256sum` prints it; empty for a source that is not a file.

    For several files it is the SHA-256 of the lines that `sha256sum` prints for them, with their paths below
    the folder, or below the part of a pattern without wildcards, in ascending order. Once `is_over` is set
    the result is not needed, and the rest is not read.
    """
    if not isinstance(source, (str, Path)):
        return ""
    if Path(source).is_file():
        return _hash(Path(source), is_over)
    place = locate_source(source, table)
    lines = (f"{_hash(file, is_over)}  {file.relative_to(place.folder).as_posix()}\n" for file in place.files)
    return hashlib.sha256("".join(lines).encode()).hexdigest() if place.files else ""


def _hash(path: Path, is_over: Event | None) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while (chunk := file.read(_CHUNK)) and not (is_over and is_over.is_set()):
            digest.update(chunk)
    return digest.hexdigest()
