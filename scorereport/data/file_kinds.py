"""Files of tables: what their endings say they are, and whether they begin like it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    TableKind = Literal["CSV", "Parquet"]

_ENDINGS: dict[str, TableKind] = {".csv": "CSV", ".csv.gz": "CSV", ".parquet": "Parquet"}
#: How files of other kinds begin, so that a wrong ending can be told by name.
_GZIP = b"\x1f\x8b"
_SIGNATURES = {
    b"PAR1": "Parquet",
    b"PK\x03\x04": "a zip archive or spreadsheet",
    _GZIP: "gzip",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
}


def check_table_file(path: Path) -> TableKind:
    """The kind of a file that exists, holds something, and is what its ending says."""
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
    """The refusal of a file that only looked like its kind, with what its reader says first."""
    told = str(error).splitlines()[0].removeprefix("CSV parse error: ").rstrip(".")
    return DataError(f"{path.name} cannot be read as {kind}: {told}.")
