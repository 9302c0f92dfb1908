"""Frames as sources: DataFrames of pandas, polars and pyarrow."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scorereport._utils.checks import refuse_longdouble
from scorereport._utils.row_places import RowNames
from scorereport.data import source_kind
from scorereport.data.roles import check_columns
from scorereport.data.source_kind import SourceKind
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    import pandas as pd

    from scorereport.data.source_kind import RawBatches, SourceLocation


def as_pandas(source: Any) -> pd.DataFrame:
    """Convert a frame of any library to pandas, with text as column names."""
    import pandas as pd

    frame = source.to_pandas() if hasattr(source, "to_pandas") else source  # polars, pyarrow
    if not isinstance(frame, pd.DataFrame):
        raise UsageError(f"Predictions must be a DataFrame or a file; got {type(source).__name__}.")
    return frame.set_axis([str(column) for column in frame.columns], axis="columns")


def _read(place: SourceLocation, numbers: Sequence[str], labels: Sequence[str]) -> pd.DataFrame:
    frame = as_pandas(place.source)
    check_columns([*numbers, *labels], list(frame.columns), place.name)
    return frame


def _open_batches(
    place: SourceLocation, columns: Sequence[str], _: Mapping[str, str | int]
) -> AbstractContextManager[RawBatches]:
    return nullcontext(_cut(place, columns))


def _cut(place: SourceLocation, columns: Sequence[str]) -> RawBatches:
    """Slices of a frame: Arrow arrays if these can hold the values, otherwise lists."""
    frame = as_pandas(place.source)
    check_columns(columns, list(frame.columns), place.name)
    rows = source_kind.ROWS_PER_BATCH
    for start in range(0, len(frame), rows):
        part = frame.iloc[start : start + rows]
        yield {name: _as_arrow(part[name], name) for name in columns}


def _as_arrow(column: Any, name: str) -> Any:
    import pyarrow as pa

    refuse_longdouble(column.dtype, name)
    if column.dtype.kind not in "biuf":
        return column.astype(object).where(column.notna(), None).tolist()
    found = pa.array(column, from_pandas=True)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _list_columns(place: SourceLocation) -> list[str]:
    return [str(name) for name in getattr(place.source, "column_names", None) or place.source.columns]


def _name_rows(place: SourceLocation, rows: Sequence[int]) -> RowNames | None:
    """Name rows by the labels of the index of a pandas frame; None if these are the positions."""
    import pandas as pd

    frame = place.source
    if not isinstance(frame, pd.DataFrame) or frame.index.equals(pd.RangeIndex(len(frame))):
        return None
    label = frame.index[[rows[0]]].astype(object).tolist()[0]
    shown = label if isinstance(label, pd.Timestamp) else repr(label)
    names = RowNames.by_position(rows)
    return replace(names, first=f"{names.first}, index {shown}")


FRAME = SourceKind(
    name="a frame",
    name_rows=_name_rows,
    read=_read,
    open_batches=_open_batches,
    count_rows=lambda _: 0,  # it is in memory already
    list_columns=_list_columns,
)
