"""Records as DataFrames: arrays of equal length as columns, or chosen numbers as one row.

A record class of a curve takes `to_frame = array_frame`; it names the arrays in `COLUMNS` if not all of them
are columns. pandas is imported when a table is asked for.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    from numpy.typing import NDArray


def array_frame(record: Any) -> pd.DataFrame:
    """Return the points as a table: a row for each, and a column for each array of the record, by its name.

    Arrays of a nested record, such as a band, follow those of the record itself. Single numbers and texts are
    not in the table; they are fields of the record.
    """
    import pandas as pd

    return pd.DataFrame(dict(_list_arrays(record)))


def _list_arrays(record: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    import numpy as np

    names = getattr(record, "COLUMNS", None) or [field.name for field in fields(record)]
    values = [(name, getattr(record, name)) for name in names]
    yield from ((name, value) for name, value in values if isinstance(value, np.ndarray))
    for _, value in values:
        if is_dataclass(value):
            yield from _list_arrays(value)


def record_row(record: Any, names: Sequence[str]) -> pd.DataFrame:
    """Return these numbers and texts of a record as a table with one row."""
    import pandas as pd

    return pd.DataFrame([{name: getattr(record, name) for name in names}])
