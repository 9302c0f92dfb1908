"""Declaration of a kind of data source: how it is recognised, read, counted and streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorereport._utils.choices import EngineName
from scorereport._utils.row_places import RowNames
from scorereport.data.csv_format import CsvFormat
from scorereport.data.database_tables import scan_parquet
from scorereport.errors import DataError

if TYPE_CHECKING:
    from scorereport.data.raw_tables import NativeTable  # noqa: TC004  # the type of a field

#: Rows of a source in batches: the values of each column, as Arrow arrays or lists.
RawBatches = Iterator[Mapping[str, Any]]
#: Rows of a batch, except of those from SQLAlchemy.
ROWS_PER_BATCH = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SourceKind:
    """A kind of data source; `scorereport.data.sources` lists all of them."""

    #: Its name in messages.
    name: str
    #: Reads columns, those of numbers and those of labels, as a table of Arrow or pandas, in which others may
    #: be as well; refuses columns that are absent.
    read: Callable[[SourceLocation, Sequence[str], Sequence[str]], NativeTable]
    #: Opens the rows in batches, for data larger than memory; the settings are for DuckDB, if it is used.
    open_batches: Callable[
        [SourceLocation, Sequence[str], Mapping[str, str | int]], AbstractContextManager[RawBatches]
    ]
    #: Counts or estimates the rows that would be read into memory; 0 for a source that cannot be read.
    count_rows: Callable[[SourceLocation], int]
    list_columns: Callable[[SourceLocation], list[str]]
    #: Endings of its files, in lower case, and the first bytes of each file.
    endings: tuple[str, ...] = ()
    signature: bytes = b""
    #: Whether a file is of this kind, where its first bytes do not decide.
    recognizes: Callable[[Path], bool] | None = None
    #: Whether it holds several tables, so that `table` must name one.
    takes_table: bool = False
    #: What `table` may name in it, such as a sheet of a workbook with several; empty for nothing.
    part: str = ""
    #: Whether DuckDB scans its files in place, as Parquet; others are copied in batches.
    is_scanned: bool = False
    #: Whether it is text with a separator, a decimal sign and an encoding, which a caller may give.
    takes_format: bool = False
    #: Names rows, given by their positions, as people find them in the source; None for these positions.
    name_rows: Callable[[SourceLocation, Sequence[int]], RowNames | None] | None = None
    #: The engines that read it.
    engines: tuple[EngineName, ...] = ("memory", "duckdb")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLocation:
    """Where a table is: the kind of source, its name for messages, and its files below a folder.

    `source` is what the caller passed, a frame, path or address, and `table` the table of a database.
    """

    kind: SourceKind
    name: str
    source: Any
    table: str = ""
    files: tuple[Path, ...] = ()
    folder: Path = Path()
    csv_format: CsvFormat = field(default_factory=CsvFormat)

    @property
    def scanned(self) -> tuple[Path, ...]:
        """The files that `scan` reads in place."""
        return self.files if self.kind.is_scanned else ()

    @property
    def scan(self) -> str:
        """SQL that scans the Parquet files; folders such as `region=01` are columns."""
        below = [file.relative_to(self.folder) for file in self.files]
        has_columns = any("=" in part for path in below for part in path.parts[:-1])
        return scan_parquet(self.files, hive=has_columns)


def unreadable_file(path: Path, kind: str, error: Exception) -> DataError:
    """Return the error for a file that cannot be read as its kind, with the first line of the cause."""
    reason = str(error).splitlines()[0].removeprefix("CSV parse error: ").rstrip(".")
    return DataError(f"{path.name} cannot be read as {kind}: {reason}.")
