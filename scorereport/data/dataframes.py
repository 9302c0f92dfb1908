"""Frames as sources: pandas, polars, pyarrow, DuckDB relations, and others that narwhals or Arrow reads."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scorereport._utils.checks import refuse_longdouble
from scorereport._utils.row_places import RowNames
from scorereport.data import source_kind
from scorereport.data.array_tables import ArrayTable
from scorereport.data.array_values import index_of
from scorereport.data.roles import check_columns
from scorereport.data.source_kind import SourceKind
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    import pandas as pd
    import pyarrow as pa

    from scorereport.data.raw_tables import NativeTable
    from scorereport.data.source_kind import RawBatches, SourceLocation


def _read(place: SourceLocation, numbers: Sequence[str], labels: Sequence[str]) -> NativeTable:
    return select_columns(place.source, [*numbers, *labels], place.name)


def select_columns(source: Any, columns: Sequence[str], where: str) -> NativeTable:
    """Columns of a frame of any library: pandas and arrays as they are, all others as an Arrow table."""
    frame = _open_frame(source)
    names = _name_columns(frame)
    check_columns(columns, names, where)
    if isinstance(frame, ArrayTable):
        return frame
    if _is_pandas(frame):
        found = frame.iloc[:, [names.index(name) for name in columns]]
        return found.set_axis(list(columns), axis="columns")
    return _collect(frame.select(*columns))


def _name_columns(frame: Any) -> list[str]:
    if isinstance(frame, ArrayTable):
        return list(frame.arrays)
    return [str(name) for name in frame.columns] if _is_pandas(frame) else frame.collect_schema().names()


def _is_pandas(frame: Any) -> bool:
    kinds = type(frame).__mro__
    return hasattr(frame, "iloc") and any(kind.__module__.partition(".")[0] == "pandas" for kind in kinds)


def _open_frame(source: Any) -> Any:
    """A frame of pandas or arrays as they are, any other in narwhals; a lazy frame has no rows yet."""
    if isinstance(source, ArrayTable) or _is_pandas(source):
        return source
    import narwhals as nw

    frame = nw.from_native(source, pass_through=True)
    if frame is source or frame.implementation.is_spark_like():  # Spark evaluates its frames itself
        return _convert_frame(source)
    return frame


def _convert_frame(source: Any) -> Any:
    """A frame that narwhals does not know, by a protocol of Arrow, by that of frames, or by pandas."""
    import narwhals as nw
    import pyarrow as pa

    if hasattr(source, "__arrow_c_stream__"):
        return nw.from_native(pa.RecordBatchReader.from_stream(source).read_all())
    if hasattr(source, "__dataframe__"):
        from pyarrow.interchange import from_dataframe

        return nw.from_native(from_dataframe(source))
    found = source.to_pandas() if hasattr(source, "to_pandas") else source
    if not _is_pandas(found):
        raise UsageError(f"Predictions must be a DataFrame or a file; got {type(source).__name__}.")
    return found


def _collect(frame: Any) -> NativeTable:
    """The rows of a frame in narwhals: a table of Arrow, or of pandas for Modin and for Python objects."""
    import narwhals as nw

    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    if nw.Object in eager.schema.values() or eager.implementation.is_pandas_like():
        return eager.to_pandas()
    return eager.to_arrow()


def _open_batches(
    place: SourceLocation, columns: Sequence[str], _: Mapping[str, str | int]
) -> AbstractContextManager[RawBatches]:
    return nullcontext(_cut(place, columns))


def _cut(place: SourceLocation, columns: Sequence[str]) -> RawBatches:
    """Slices of a frame: Arrow arrays if these can hold the values, otherwise lists."""
    table = select_columns(place.source, columns, place.name)
    if isinstance(table, ArrayTable):
        table = table.to_pandas()
    yield from (_cut_pandas if _is_pandas(table) else _cut_arrow)(table, columns)


def _cut_pandas(frame: pd.DataFrame, columns: Sequence[str]) -> RawBatches:
    rows = source_kind.ROWS_PER_BATCH
    for start in range(0, len(frame), rows):
        part = frame.iloc[start : start + rows]
        yield {name: _as_arrow(part[name], name) for name in columns}


def _cut_arrow(table: pa.Table, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    rows = source_kind.ROWS_PER_BATCH
    for start in range(0, len(table), rows):
        part = table.slice(start, rows)
        yield {name: part.column(name).combine_chunks() for name in columns}


def _as_arrow(column: Any, name: str) -> Any:
    import pyarrow as pa

    refuse_longdouble(column.dtype, name)
    if column.dtype.kind not in "biuf":
        return column.astype(object).where(column.notna(), None).tolist()
    found = pa.array(column, from_pandas=True)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _name_rows(place: SourceLocation, rows: Sequence[int]) -> RowNames | None:
    """Name rows by the labels of an index of pandas; None without one, or if these are the positions."""
    index = _find_index(place.source)
    if index is None:
        return None
    import pandas as pd

    if index.equals(pd.RangeIndex(len(index))):
        return None
    label = index[[rows[0]]].astype(object).tolist()[0]
    shown = label if isinstance(label, pd.Timestamp) else repr(label)
    names = RowNames.by_position(rows)
    return replace(names, first=f"{names.first}, index {shown}")


def _find_index(source: Any) -> Any:
    """The index of a frame of pandas, or of arrays among which is a series of pandas."""
    if isinstance(source, ArrayTable):
        found = (index_of(values) for values in source.arrays.values())
        return next((index for index in found if index is not None), None)
    return source.index if _is_pandas(source) else None


FRAME = SourceKind(
    name="a frame",
    name_rows=_name_rows,
    read=_read,
    open_batches=_open_batches,
    count_rows=lambda _: 0,  # it is in memory already
    list_columns=lambda place: _name_columns(_open_frame(place.source)),
)
