"""Window of an audit: local times of rows, and the rows that fall into the period."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport._utils.checks import refuse_rows
from scorereport._utils.mistakes import hint_at_dates
from scorereport.audit.rows.mature_rows import describe_immature_period
from scorereport.data.column_rules import label_text
from scorereport.data.columns import DATE_RULE
from scorereport.data.csv_files import MISSING_WORDS
from scorereport.errors import DataError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    import pandas as pd
    from numpy.typing import NDArray

    from scorereport._utils.arrays import IntArray
    from scorereport.audit.rows.mature_rows import Maturity
    from scorereport.audit.rows.source_rows import SourceRows
    from scorereport.configuration.periods import Period
    from scorereport.data.predictions import ImmatureRows


#: Advice for rows without a time.
MISSING_TIME_ADVICE = ' Fill them, or pass missing="drop" (--missing drop) to leave these rows out.'
#: A month without a day, which counts as its first day, as a time of an evaluation does.
_MONTH = re.compile(r"\d{4}-\d{2}", re.ASCII)


def local_times(column: pd.Series[Any], name: str, zone: ZoneInfo) -> NDArray[np.datetime64]:
    """Return local times of the zone; times without a zone are kept, missing ones are NaT."""
    times, is_bad = parse_times(column, zone)
    if is_bad.any():
        refuse_rows(column.to_numpy(), is_bad, f"`{name}` {DATE_RULE}", hint_at_dates(column[is_bad]))
    return times


def parse_times(column: pd.Series[Any], zone: ZoneInfo) -> tuple[NDArray[np.datetime64], NDArray[np.bool_]]:
    """Return local times of the zone, and which values are not times; these and missing ones are NaT."""
    if column.dtype.kind == "M":
        aware = column.dt.tz is not None
        local = column.dt.tz_convert(zone).dt.tz_localize(None) if aware else column
        return local.to_numpy(dtype="datetime64[us]"), np.zeros(len(column), dtype=np.bool_)
    codes, values = column.factorize()
    parsed = [_parse_time(label_text(value), zone) for value in values]
    is_bad = np.array([*(time is None for time in parsed), False])[codes]
    return np.array([*parsed, np.datetime64("NaT")], dtype="datetime64[us]")[codes], is_bad


def _parse_time(text: str, zone: ZoneInfo) -> datetime | np.datetime64 | None:
    """Parse a local time of the zone; NaT if it is missing, None if the text is not a time."""
    if text in MISSING_WORDS:
        return np.datetime64("NaT")
    try:
        time = datetime.fromisoformat(f"{text}-01" if _MONTH.fullmatch(text) else text)
        return time if time.tzinfo is None else time.astimezone(zone).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


class PeriodRows(NamedTuple):
    """The rows of a period, their indices in the source, and counts of rows.

    The counts are of rows read, rows of other times, and rows without a time. `times` are local times of the
    rows. The outcomes of rows that are `immature` are removed; `is_immature` marks these rows.
    """

    frame: pd.DataFrame
    rows: IntArray
    read: int
    others: int = 0
    without_time: int = 0
    times: NDArray[np.datetime64] | None = None
    immature: ImmatureRows | None = None
    is_immature: NDArray[np.bool_] | None = None


def choose_period_rows(
    read: SourceRows, column: str, period: Period, zone: ZoneInfo, *, is_time: bool, drop: bool
) -> PeriodRows:
    """Select the rows of the period; all rows if there is no column of times."""
    if not column:
        return PeriodRows(frame=read.frame, rows=np.arange(len(read.frame)), read=len(read.frame))
    times = local_times(read.frame[column], column, zone)
    frame = read.frame.assign(**{column: times}) if is_time else read.frame
    is_missing, is_in = np.isnat(times), is_in_period(times, period)
    if is_missing.any() and not drop:
        refuse_rows(
            np.full(len(times), np.nan), is_missing, f"`{column}` must not be missing", MISSING_TIME_ADVICE
        )
    if not is_in.any():
        known = local_times(read.find_times(), column, zone)
        raise DataError(describe_empty_period(read.source, column, period, known))
    without, inside = int(is_missing.sum()), int(is_in.sum())
    others = len(times) - without - inside if read.counts_others else 0
    return PeriodRows(
        frame=frame[is_in].reset_index(drop=True),
        rows=np.flatnonzero(is_in),
        read=inside + without + others,
        others=others,
        without_time=without,
        times=times[is_in],
    )


def remove_immature(
    chosen: PeriodRows, outcome: str, maturity: Maturity, source: str, column: str, period: Period
) -> PeriodRows:
    """Remove the outcomes of rows that are too young, whatever these say; refuse rows that are all so."""
    if chosen.times is None:
        return chosen
    is_young = ~maturity.is_final(chosen.times)
    if is_young.all():
        ends = (chosen.times.min(), chosen.times.max())
        raise DataError(describe_immature_period(source, column, period, maturity, ends))
    young = chosen.times[is_young]
    immature = maturity.describe(len(young), young.max() if len(young) else None)
    if not len(young):
        return chosen._replace(immature=immature)
    frame = chosen.frame.assign(**{outcome: chosen.frame[outcome].mask(is_young)})
    return chosen._replace(frame=frame, immature=immature, is_immature=is_young)


def is_in_period(times: NDArray[np.datetime64], period: Period) -> NDArray[np.bool_]:
    """Return which times are in the period."""
    start = np.datetime64("NaT" if period.start is None else period.start)
    return (np.isnat(start) | (times >= start)) & (times < np.datetime64(period.end))


def describe_empty_period(source: str, column: str, period: Period, known: NDArray[np.datetime64]) -> str:
    """State that a source has no rows of the period, and the days or times that it has."""
    sentence = f"No row of {source} has a `{column}` of {period.describe()}"
    times = known[~np.isnat(known)].astype("datetime64[m]" if period.is_hourly else "datetime64[D]")
    if not len(times):
        return f"{sentence}: there are no rows at all."
    first, last = (str(time).replace("T", " ") for time in (times.min(), times.max()))
    if period.is_hourly:
        return f"{sentence}: its times range from {first} to {last}."
    return f"{sentence}: its dates range from {first} to {last}."
