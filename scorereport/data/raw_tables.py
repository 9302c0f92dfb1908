"""Tables as they were read, of pandas or Arrow or as arrays, whose columns are read in the same way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from scorereport.data.array_tables import ArrayTable
from scorereport.data.array_values import as_series
from scorereport.data.arrow_columns import ArrowColumn, convert_to_pandas, has_plain_type
from scorereport.data.pandas_columns import PandasColumn

if TYPE_CHECKING:
    from collections.abc import Sequence  # noqa: TC004  # the type of a field

    import pandas as pd
    import pyarrow as pa

    #: A table as a source gives it.
    NativeTable: TypeAlias = pd.DataFrame | pa.Table | ArrayTable

#: A column of any library.
RawColumn = PandasColumn | ArrowColumn


@dataclass(frozen=True, slots=True, eq=False)
class RawTable:
    """Columns of a table, by name."""

    native: NativeTable
    names: Sequence[str]

    def __len__(self) -> int:
        return len(self.native)

    def __getitem__(self, name: str) -> RawColumn:
        return wrap_column(self.native[name])

    def to_pandas(self) -> pd.DataFrame:
        """The columns as a frame of pandas with rows counted from 0."""
        found: Any = self.native
        if hasattr(found, "iloc"):
            return found[[*self.names]].reset_index(drop=True)
        if isinstance(found, ArrayTable):
            return found.to_pandas()[[*self.names]]
        return found.select([*self.names]).to_pandas(ignore_metadata=True)


def wrap_column(values: Any) -> RawColumn:
    """A column of pandas, polars, pyarrow or numpy; types that Arrow alone cannot read go through pandas."""
    is_arrow = type(values).__module__.partition(".")[0] in ("pyarrow", "polars")
    if not is_arrow or str(getattr(values, "dtype", "")) == "Object":  # Python objects in polars
        return PandasColumn(as_series(values))
    import pyarrow as pa

    arrow = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else values.to_arrow()
    chunked = pa.chunked_array([arrow], type=arrow.type) if isinstance(arrow, pa.Array) else arrow
    return ArrowColumn(chunked) if has_plain_type(chunked.type) else PandasColumn(convert_to_pandas(chunked))
