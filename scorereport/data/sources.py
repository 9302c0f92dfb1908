"""What a source is: a frame, a file, a folder or pattern of files, or a table of a database."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scorereport.data.database_tables import scan_parquet
from scorereport.data.file_kinds import check_table_file
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Files of these endings are databases, of which a table is read.
_DATABASES = (".duckdb", ".ddb")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_WILD = re.compile(r"[*?\[]")


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


def locate_source(source: Any, table: str | None = None) -> SourceLocation:
    """Find out what a source is; whatever it is must be there."""
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
    """Parquet files at any depth; what begins with a dot or an underscore is somebody's work in progress."""
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
