"""Sources as tables that DuckDB can scan repeatedly: Parquet files in place, other sources copied once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from scorereport._utils.progress import report_progress
from scorereport.data import source_kind
from scorereport.data.database_tables import quote_name
from scorereport.data.parquet_files import (
    PARQUET,
    check_footers,
    check_parquet_files,
    explain_parquet_errors,
    list_parquet_columns,
)
from scorereport.data.roles import check_columns
from scorereport.data.size_limits import check_texts
from scorereport.errors import DataError
from scorereport.evaluation.engines.duck.column_conversion import Converter, InvalidValues, columns_in_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from scorereport.data.roles import Roles
    from scorereport.data.source_kind import RawBatches, SourceLocation
    from scorereport.evaluation.engines.duck.workspace import Workspace

_WHOLE = {f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "", "BIG")}
_WHOLE = _WHOLE - {"INT", "UINT"} | {"INTEGER", "UINTEGER"}
_FLOATS = {"FLOAT", "DOUBLE"}
_NUMBERS = {*_WHOLE, *_FLOATS, "BOOLEAN"}
_LABELS = {*_NUMBERS, "VARCHAR"}
_TIMES = {"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"}
#: Names of columns that DuckDB adds to a file; a column of the source with such a name would hide it.
_OWN_NAMES = {"file_row_number", "file_index", "filename"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannableRows:
    """Rows that can be scanned: the relation, SQL for the row's number, and names and types in SQL.

    If rows were copied, `bad` has the values that are not numbers or dates, and `shown` the original values
    of outcomes by their texts.
    """

    name: str
    relation: str
    number: str
    count: int
    columns: Mapping[str, str]
    types: Mapping[str, str]
    bad: Mapping[str, InvalidValues] = field(default_factory=dict)
    shown: Mapping[str, object] = field(default_factory=dict)


def open_rows(workspace: Workspace, place: SourceLocation, roles: Roles) -> ScannableRows:
    """The rows of a source: scanned in place if possible, otherwise copied."""
    if place.kind.is_scanned:
        types = _parquet_types(place, [*roles.numbers, *roles.labels])
        check_footers(place.files, [*roles.numbers, *roles.labels], place.name)
        if _can_be_scanned(types, roles):
            return _scan(workspace, place, types, roles)
    rows = _copy(workspace, place, roles)
    if rows.count == 0:
        raise DataError(f"{place.name} holds no rows.")
    return rows


def _parquet_types(place: SourceLocation, columns: Sequence[str]) -> dict[str, str]:
    if place.kind is not PARQUET:
        return check_parquet_files(place, columns)
    check_columns(columns, list_parquet_columns(place.files[0]), place.name)
    return check_parquet_files(place, [])


def _can_be_scanned(types: Mapping[str, str], roles: Roles) -> bool:
    """Whether all columns have types that need no parsing, and names that SQL distinguishes."""
    names = {name.lower() for name in types}
    if len(names) < len(types) or names & _OWN_NAMES or not {*roles.numbers, *roles.labels} <= set(types):
        return False
    return (
        all(types[name] in _NUMBERS for name in roles.numbers)
        and all(types[name] in _LABELS for name in (roles.outcome, *roles.texts))
        and (roles.time is None or types[roles.time] in _TIMES)
    )


def _scan(
    workspace: Workspace, place: SourceLocation, types: Mapping[str, str], roles: Roles
) -> ScannableRows:
    import pyarrow.parquet as pq

    counts = []
    for file in place.files:
        with explain_parquet_errors(file):
            counts.append(pq.read_metadata(file).num_rows)
    if sum(counts) == 0:
        raise DataError(f"{place.name} holds no rows.")
    number = "file_row_number"
    if len(counts) > 1:
        starts = ", ".join(map(str, accumulate(counts[:-1], initial=0)))
        number = f"(file_row_number + list_extract([{starts}]::BIGINT[], file_index::BIGINT + 1))"
    columns = _short_names(roles)
    labels = [name for name in (roles.outcome, *roles.texts) if types[name] in _FLOATS]
    values = {name: _with_one_zero(workspace, place.scan, name, number) for name in labels}
    renamed = ", ".join(f"{values.get(name, quote_name(name))} AS {short}" for name, short in columns.items())
    relation = f"(SELECT {renamed}, {number} AS row_number FROM {place.scan})"
    check_texts(partial(_few_rows, workspace), relation, columns, types)
    return ScannableRows(
        name=place.name,
        relation=relation,
        number="row_number",
        count=sum(counts),
        columns=columns,
        types={name: types[name] for name in columns},
    )


def _few_rows(workspace: Workspace, query: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in workspace.table(query).to_pylist()]


def _with_one_zero(workspace: Workspace, scan: str, name: str, number: str) -> str:
    """A column of labels in which 0 and -0 are the same label: that of the first row, as in memory."""
    column = quote_name(name)
    source = f"FROM {scan} WHERE {column} = 0"
    if not workspace.row(f"SELECT count(*) AS n {source} AND signbit({column})")["n"]:
        return column
    first = workspace.row(f"SELECT arg_min({column}, {number}) AS first {source}")["first"]
    return f"CASE WHEN {column} = 0 THEN '{first}'::DOUBLE ELSE {column} END"


def _short_names(roles: Roles) -> dict[str, str]:
    """Short names for columns, which cannot conflict with names of the source."""
    return {name: f"c{place}" for place, name in enumerate(columns_in_order(roles))}


def _copy(workspace: Workspace, place: SourceLocation, roles: Roles) -> ScannableRows:
    """Copy the cleaned columns into a table of the workspace; its row identifiers count rows from 0."""
    converter, columns = Converter(roles, place.csv_format.decimal), _short_names(roles)
    kinds = dict.fromkeys(columns, "VARCHAR") | dict.fromkeys(roles.numbers, "DOUBLE")
    types = kinds if roles.time is None else kinds | {roles.time: "TIMESTAMP"}
    fields = ", ".join(f"{short} {types[name]}" for name, short in columns.items())
    workspace.execute(f"CREATE TABLE source_rows ({fields})")
    wanted, settings = [*roles.numbers, *roles.labels], workspace.settings("source")
    with place.kind.open_batches(place, wanted, settings) as batches:
        workspace.fill("source_rows", _join_batches(batches, converter, place.name))
    return ScannableRows(
        name=place.name,
        relation="source_rows",
        number="rowid",
        count=converter.rows,
        columns=columns,
        types=types,
        bad=converter.bad,
        shown=converter.shown,
    )


def _join_batches(batches: RawBatches, converter: Converter, name: str) -> Iterator[pa.Table]:
    """Converted batches, joined until they have enough rows to write."""
    import pyarrow as pa

    waiting: list[pa.Table] = []
    for batch in batches:
        waiting.append(converter.convert(batch))
        if sum(map(len, waiting)) >= source_kind.ROWS_PER_BATCH:
            report_progress(f"reading {name}", converter.rows, 0, unit="rows")
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)
