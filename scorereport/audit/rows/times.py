"""Times of a column, as the clocks of a time zone show them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.checks import refuse_rows
from scorereport.data.columns import label_text
from scorereport.data.csv_files import MISSING_WORDS

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    import pandas as pd
    from numpy.typing import NDArray

#: What is asked of a column of times.
DATE_RULE = "must hold dates such as 2026-11-15"


def local_times(column: pd.Series[Any], name: str, zone: ZoneInfo) -> NDArray[np.datetime64]:
    """Times as the clocks of the zone show them: those that name no zone as they are, NaT for missing."""
    times, is_bad = parse_times(column, zone)
    if is_bad.any():
        refuse_rows(column.to_numpy(), is_bad, f"`{name}` {DATE_RULE}")
    return times


def parse_times(column: pd.Series[Any], zone: ZoneInfo) -> tuple[NDArray[np.datetime64], NDArray[np.bool_]]:
    """The same, and which values are no times, which are NaT as well."""
    if column.dtype.kind == "M":
        aware = column.dt.tz is not None
        local = column.dt.tz_convert(zone).dt.tz_localize(None) if aware else column
        return local.to_numpy(dtype="datetime64[us]"), np.zeros(len(column), dtype=np.bool_)
    codes, values = column.factorize()
    parsed = [_parse_time(label_text(value), zone) for value in values]
    is_bad = np.array([*(time is None for time in parsed), False])[codes]
    return np.array([*parsed, np.datetime64("NaT")], dtype="datetime64[us]")[codes], is_bad


def _parse_time(text: str, zone: ZoneInfo) -> datetime | np.datetime64 | None:
    """A time of the zone; NaT for a missing one, None for what is no time."""
    if text in MISSING_WORDS:
        return np.datetime64("NaT")
    try:
        time = datetime.fromisoformat(text)
        return time if time.tzinfo is None else time.astimezone(zone).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
