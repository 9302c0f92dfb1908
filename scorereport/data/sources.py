"""Sources of tables: frames, files, folders and databases; their kind, location, address and SHA-256."""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scorereport._utils.redaction import Redactor, expand_address, expand_variables, find_literal_secret
from scorereport.data.database_tables import scan_parquet
from scorereport.errors import DataError, ScoreReportError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from threading import Event

    TableKind = Literal["CSV", "Parquet"]

_ENDINGS: dict[str, TableKind] = {".csv": "CSV", ".csv.gz": "CSV", ".parquet": "Parquet"}
_GZIP = b"\x1f\x8b"
#: First bytes of files of other kinds, so that a message can name what a file with a wrong ending holds.
_SIGNATURES = {
    b"PAR1": "Parquet",
    b"PK\x03\x04": "a zip archive or spreadsheet",
    _GZIP: "gzip",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}
#: Files with these endings are databases, of which a table is read.
_DATABASES = (".duckdb", ".ddb")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
#: A text that begins like an address, or takes all of it from the environment.
_COMMAND_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|\$\{")
_ARGUMENT = "FILE"
_WILD = re.compile(r"[*?\[]")
#: Bytes that are hashed at a time.
_CHUNK = 1 << 20


def check_table_file(path: Path) -> TableKind:
    """Return the kind of a table file; refuse one that is absent, empty, or not what its ending says."""
    if not path.is_file():
        raise UsageError(f"{path} is not a file.")
    if path.stat().st_size == 0:
        raise DataError(f"{path.name} is empty.")
    kind, found = _kind_by_ending(path), _kind_by_content(path)
    if kind != found:
        raise DataError(f"{path.name} is named like {kind} but holds {found}.")
    return kind


def _kind_by_ending(path: Path) -> TableKind:
    kind = next((kind for ending, kind in _ENDINGS.items() if path.name.lower().endswith(ending)), None)
    if kind is None:
        raise UsageError(f"{path.name} must end in {', '.join(_ENDINGS)}.")
    return kind


def _kind_by_content(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(4096)
    if path.name.lower().endswith(".gz"):
        return "CSV" if head.startswith(_GZIP) else "no gzip data"
    known = next((kind for start, kind in _SIGNATURES.items() if head.startswith(start)), None)
    return known or ("binary data" if b"\0" in head else "CSV")


def unreadable_file(path: Path, kind: TableKind, error: Exception) -> DataError:
    """Return the error for a file that cannot be read as its kind, with the first line of the cause."""
    reason = str(error).splitlines()[0].removeprefix("CSV parse error: ").rstrip(".")
    return DataError(f"{path.name} cannot be read as {kind}: {reason}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLocation:
    """Where a table is: the kind of source, its name for messages, and its files below a folder."""

    kind: Literal["frame", "CSV", "Parquet", "folder", "duckdb", "sql"]
    name: str
    files: tuple[Path, ...] = ()
    folder: Path = Path()

    @property
    def parquet(self) -> tuple[Path, ...]:
        """The files that `scan` reads, if they are Parquet."""
        return self.files if self.kind in ("Parquet", "folder") else ()

    @property
    def scan(self) -> str:
        """SQL that scans the Parquet files."""
        below = (file.relative_to(self.folder) for file in self.files) if self.kind == "folder" else ()
        return scan_parquet(self.files, hive=any("=" in part for path in below for part in path.parts[:-1]))


def describe_source(source: Any, table: str | None = None) -> str:
    """Return the name of a source for messages: file, folder, pattern, database and table, or "The frame"."""
    if not isinstance(source, (str, Path)):
        return "The frame"
    if not is_address(source):
        return Path(source).name if table is None else f"{Path(source).name}: {table}"
    from sqlalchemy import make_url

    return f"{Path(make_url(str(source)).database or 'database').name}: {table}"


def is_address(source: Any) -> bool:
    """Whether a source is the address of a database."""
    return isinstance(source, str) and _ADDRESS.match(source) is not None


def locate_source(source: Any, table: str | None = None) -> SourceLocation:
    """Return the kind, name and files of a source, which must exist."""
    is_path = isinstance(source, (str, Path))
    if isinstance(source, str) and not source.strip():
        raise UsageError(f"Predictions must be a DataFrame or a file; got {source!r}.")
    if is_address(source) or (is_path and Path(source).suffix.lower() in _DATABASES):
        return _locate_database(source, table)
    if table is not None:
        raise UsageError(
            f"`table` is for a database file ({', '.join(_DATABASES)}) or the address of a database; "
            f"{describe_source(source)} is neither."
        )
    if not is_path:
        return SourceLocation(kind="frame", name="The frame")
    path = Path(source)
    if path.is_dir():
        files = sorted(_visible_parquet(path), key=lambda file: file.relative_to(path).as_posix())
        return _locate_several(path.name or str(path), files, path, f"{path} holds no .parquet file.")
    if _WILD.search(str(path)) and not path.exists():
        return _locate_pattern(path)
    return SourceLocation(kind=check_table_file(path), name=path.name, files=(path,))


def _locate_database(source: Any, table: str | None) -> SourceLocation:
    if table is None:
        raise UsageError("`table` must name the table or view of the database that is to be read.")
    if is_address(source):
        return SourceLocation(kind="sql", name=describe_source(source, table))
    path = Path(source)
    if not path.is_file():
        raise UsageError(f"{path} is not a file.")
    return SourceLocation(kind="duckdb", name=describe_source(path, table), files=(path,))


def _visible_parquet(folder: Path) -> Iterator[Path]:
    """Parquet files at any depth; names that begin with a dot or underscore mean work in progress."""
    for file in folder.rglob("*.parquet"):
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
        if check_table_file(file) != "Parquet":
            raise UsageError(f"Several files must all be Parquet; got {file.name}.")
    return SourceLocation(kind="folder", name=name, files=tuple(files), folder=folder)


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
