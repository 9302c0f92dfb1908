"""Columns of pandas as numpy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.checks import refuse_longdouble
from scorereport.data.column_rules import label_text

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray


class PandasColumn:
    """A series of pandas, of any type."""

    def __init__(self, values: pd.Series[Any]) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def for_messages(self) -> NDArray[Any]:
        """The values as messages show them."""
        return self._values.to_numpy()

    def numbers(self, name: str) -> FloatArray | None:
        """Numbers as float64, NaN for missing; None if the type is not one of numbers."""
        refuse_longdouble(self._values.dtype, name)
        if self._values.dtype.kind not in "biuf":
            return None
        return self._values.to_numpy(dtype=np.float64, na_value=np.nan)

    def items(self) -> list[Any]:
        """The values as Python objects, None for missing."""
        return self._values.astype(object).where(self._values.notna(), None).tolist()

    def factorize(self) -> tuple[NDArray[np.intp], list[Any]]:
        """The place of each value among the distinct ones, -1 if missing; raises TypeError for lists."""
        codes, values = self._values.factorize()
        return codes, list(values)

    def dates(self) -> tuple[NDArray[np.datetime64], NDArray[np.bool_]]:
        """Dates and times in UTC, NaT for missing or invalid values, and which values are invalid."""
        return read_dates(self._values)


def _date_text(value: object) -> str:
    """The text of a date; pandas would read words such as "now" as the present time, so they are left out."""
    text = label_text(value)
    return text if text[:1].isdigit() else "no date"


def read_dates(column: pd.Series[Any]) -> tuple[NDArray[np.datetime64], NDArray[np.bool_]]:
    """Return dates and times, NaT for missing or invalid values, and which values are invalid."""
    import pandas as pd

    is_date = pd.api.types.is_datetime64_any_dtype(column)
    text = column if is_date else column.map(_date_text, na_action="ignore")
    dates = pd.to_datetime(text, errors="coerce", utc=True, format=None if is_date else "ISO8601")
    is_bad = (dates.isna() & column.notna()).to_numpy()
    return dates.dt.tz_localize(None).to_numpy(dtype="datetime64[us]"), is_bad
