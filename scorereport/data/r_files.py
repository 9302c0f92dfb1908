"""Files of R (.rds, .RData): a data frame or a matrix that `saveRDS` or `save` wrote, read without R.

The package `rdata` reads such files as well, but always all columns of all objects; a column of a million
texts takes it half a minute, dates become plain numbers if one is missing, and of a file that is cut off it
returns the part that is there. So files are read here, and only as far as a table needs it.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scorereport._utils.formatting import join_some
from scorereport._utils.row_places import RowNames
from scorereport._utils.suggestions import suggest_name
from scorereport.data.dataframes import FRAME
from scorereport.data.r_columns import RTable, find_table, read_column
from scorereport.data.r_objects import RList, RObject, RVector, scan_object
from scorereport.data.r_streams import UNREADABLE, DamagedError, is_r_data, open_r_stream
from scorereport.data.roles import check_columns
from scorereport.data.size_limits import check_memory
from scorereport.data.source_kind import SourceKind, unreadable_file
from scorereport.errors import DataError, ScoreReportError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    import pyarrow as pa

    from scorereport.data.r_streams import RStream  # noqa: TC004  # the type of a field
    from scorereport.data.source_kind import RawBatches, SourceLocation

_NAME = "R data"
_SHOWN = 10
_REMEDY = "In R, save the data frame of outcomes and forecasts with saveRDS()."
_VECTORS = {
    "logical": "a logical",
    "integer": "an integer",
    "double": "a numeric",
    "complex": "a complex",
    "string": "a character",
    "raw": "a raw",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OpenRFile:
    """An open file of R: what it holds, and the stream from which vectors are read."""

    content: RObject
    is_workspace: bool
    stream: RStream
    native: str

    def read(self, table: RTable, columns: Sequence[str]) -> pa.Table:
        """Columns of a table, read in the order of the file, because a packed file is read forwards."""
        import pyarrow as pa

        chosen = [column for column in table.columns if column.name in columns]
        found = {column.name: read_column(self.stream, column, table.rows, self.native) for column in chosen}
        return pa.table({name: found[name] for name in columns})


@contextmanager
def open_r_file(path: Path) -> Iterator[OpenRFile]:
    """Open a file of R and scan what it holds; what is damaged, also in the block, is a `DataError`."""
    try:
        with open_r_stream(path) as (stream, is_workspace):
            content, native = scan_object(stream)
            yield OpenRFile(content=content, is_workspace=is_workspace, stream=stream, native=native)
    except ScoreReportError:
        raise
    except (DamagedError, *UNREADABLE) as error:
        raise unreadable_file(path, _NAME, error if str(error) else type(error)()) from error


@contextmanager
def _open_table(place: SourceLocation) -> Iterator[tuple[OpenRFile, RTable]]:
    with open_r_file(place.files[0]) as opened:
        yield opened, _choose_table(opened, place)


def _choose_table(opened: OpenRFile, place: SourceLocation) -> RTable:
    """The only data frame of a file, or the one that `table` names; without one, the only matrix."""
    file, found = place.files[0].name, opened.content
    if not opened.is_workspace and (only := find_table(found)) is not None:
        if place.table:
            raise UsageError(f"{file} holds one table, which has no name: leave out `table` (--table).")
        return only
    objects = _list_objects(found)
    tables = {name: table for name, item in objects.items() if (table := find_table(item)) is not None}
    if place.table:
        return _find_named(place, objects, tables)
    frames = [name for name in tables if isinstance(objects[name], RList)] or [*tables]
    if not frames:
        raise DataError(f"{file} holds {_describe_all(found, objects)}, not a data frame. {_REMEDY}")
    if len(frames) > 1:
        raise UsageError(
            f"{file} has {len(frames)} data frames, {_join_names(frames)}: "
            "name one of them in `table` (--table)."
        )
    return tables[frames[0]]


def _list_objects(found: RObject) -> dict[str, RObject]:
    """Objects by name: those of a file that `save` wrote, or the elements of a list."""
    if not isinstance(found, RList) or found.classes:
        return {}
    return {name: item for name, item in zip(found.names, found.items, strict=True) if name}


def _find_named(
    place: SourceLocation, objects: Mapping[str, RObject], tables: Mapping[str, RTable]
) -> RTable:
    file, name = place.files[0].name, place.table
    if name in tables:
        return tables[name]
    if name in objects:
        raise DataError(
            f"{name!r} in {file} is {describe_object(objects[name])}, not a data frame. {_REMEDY}"
        )
    known = f"it has {_join_names(list(tables))}" if tables else "it has none"
    meant = suggest_name(name, list(tables))
    hint = f" Did you mean {meant!r}?" if meant else ""
    raise DataError(f"{file} has no data frame {name!r}; {known}.{hint}")


def _describe_all(found: RObject, objects: Mapping[str, RObject]) -> str:
    if not objects:
        return describe_object(found)
    return join_some([f"{name!r} ({describe_object(item)})" for name, item in objects.items()], _SHOWN)


def describe_object(found: RObject) -> str:
    """What an object is, for people who know R."""
    if found.classes:
        return f"an object of class {found.classes[0]}"
    if isinstance(found, RVector):
        values = "1 value" if found.length == 1 else f"{found.length:,} values"
        return f"{_VECTORS[found.kind]} vector of {values}"
    return found.what


def _join_names(names: Sequence[str]) -> str:
    return join_some([repr(name) for name in names], _SHOWN)


def _list_columns(place: SourceLocation) -> list[str]:
    with _open_table(place) as (_, table):
        return [name for name in table.names if name]


def _read(place: SourceLocation, numbers: Sequence[str], labels: Sequence[str]) -> pa.Table:
    columns = [*numbers, *labels]
    with _open_table(place) as (opened, table):
        if not table.columns:
            raise DataError(f"{place.name} holds a data frame without columns.")
        check_columns(columns, [name for name in table.names if name], place.name)
        check_memory(place.name, table.rows, len(columns), table.count_text_bytes(columns))
        return opened.read(table, columns)


def _name_rows(place: SourceLocation, rows: Sequence[int]) -> RowNames:
    """Name rows by their numbers in R, from 1."""
    shown = [row + 1 for row in rows]
    return RowNames(first=f"row {shown[0]} of {place.name}", shown=shown)


def _open_batches(
    place: SourceLocation, columns: Sequence[str], settings: Mapping[str, str | int]
) -> AbstractContextManager[RawBatches]:
    """Slices of the columns, which fit into memory, with factors as texts."""
    import pyarrow as pa

    table = _read(place, [], columns)
    for at, kind in enumerate(table.schema.types):
        if pa.types.is_dictionary(kind):
            table = table.set_column(at, table.column_names[at], table.column(at).cast(kind.value_type))
    return FRAME.open_batches(replace(place, kind=FRAME, source=table), columns, settings)


def _count_rows(place: SourceLocation) -> int:
    """The rows of the table; 0 if it cannot be read, which the reader explains."""
    try:
        with _open_table(place) as (_, table):
            return table.rows
    except ScoreReportError:
        return 0


R_DATA = SourceKind(
    name=_NAME,
    endings=(".rds", ".rdata", ".rda"),
    recognizes=is_r_data,
    part="data frame",
    read=_read,
    open_batches=_open_batches,
    count_rows=_count_rows,
    list_columns=_list_columns,
    name_rows=_name_rows,
)
