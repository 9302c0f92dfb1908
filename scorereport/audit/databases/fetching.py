"""The rows that a statement gives, with the types of their values, in an order of their own."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.data.column_names import check_columns
from scorereport.data.columns import label_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    from numpy.typing import NDArray
    from sqlalchemy import Connection, CursorResult, Executable, Row


def fetch_rows(
    connection: Connection, statement: Executable, columns: Sequence[str], where: str
) -> pd.DataFrame:
    """The columns of all rows, with their types."""
    with connection.execute(statement) as result:
        places = _find_indices(result, columns, where)
        return _build_frame(result.fetchall(), places)


def fetch_batches(
    connection: Connection, statement: Executable, columns: Sequence[str], where: str, size: int
) -> Iterator[pd.DataFrame]:
    """The same, so many rows at a time; no more are asked of the server in advance."""
    with connection.execute(statement, execution_options={"yield_per": size}) as result:
        places = _find_indices(result, columns, where)
        for rows in result.partitions(size):
            yield _build_frame(rows, places)


def _find_indices(result: CursorResult[Any], columns: Sequence[str], where: str) -> dict[str, int]:
    names = list(map(str, result.keys()))
    check_columns(columns, names, where)
    return {name: names.index(name) for name in columns}


def _build_frame(rows: Sequence[Row[Any]], places: dict[str, int]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({name: infer_column([row[at] for row in rows]) for name, at in places.items()})


def infer_column(values: list[Any]) -> pd.Series[Any]:
    """A column of the type that its values have; decimal numbers become floating point.

    Beside missing values the others stay what they are: whole numbers would become floating point, too.
    """
    import pandas as pd

    items = [float(value) if isinstance(value, Decimal) else value for value in values]
    column = pd.Series(items, dtype=object)
    return column if None in items else column.infer_objects()


def sort_by_content(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows in an order that depends on nothing but what they hold: a database promises none."""
    if frame.empty:
        return frame
    keys = [_rank_values(frame[name]) for name in sorted(frame.columns, reverse=True)]
    return frame.iloc[np.lexsort(keys)].reset_index(drop=True)


def _rank_values(column: pd.Series[Any]) -> NDArray[Any]:
    """Numbers by which a column is sorted: texts by their place among all of them."""
    if column.dtype.kind in "biuf":
        return column.to_numpy()
    return column.map(label_text, na_action="ignore").factorize(sort=True)[0]
