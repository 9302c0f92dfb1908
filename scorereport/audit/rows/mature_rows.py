"""Rows whose outcome is final: those that are old enough as of the moment of a run."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from scorereport.configuration.outcome_maturity import MaturityAge, read_maturity_age
from scorereport.data.predictions import ImmatureRows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scorereport.configuration.periods import Period

_DAY = np.timedelta64(1, "D")
_DAYS = {"day": 1, "week": 7}


@dataclass(frozen=True, slots=True)
class Maturity:
    """The age at which outcomes are final, and the moment of the run, in the time zone of the audit.

    Hours are hours that have passed. Days, weeks and months are those of the local calendar: a row of the
    last day of a month is as many months old on the same day of a later month, or on its last day if that
    month is shorter.
    """

    age: MaturityAge
    moment: datetime

    def is_final(self, times: NDArray[np.datetime64]) -> NDArray[np.bool_]:
        """Return which local times are old enough."""
        end = _to_local(self._find_end())
        is_final = times <= end
        if self.age.unit == "month":  # months differ in length by up to three days
            is_near = ~is_final & (times < end + 4 * _DAY)
            is_final[is_near] = self._add_age(times[is_near]) <= _to_local(self.moment)
        return is_final

    def find_final_day(self, time: np.datetime64) -> str:
        """Return the first day on which, as of its noon or later, the outcome of a local time is final.

        An audit as of a day without a time is as of its noon.
        """
        final = self._add_age(np.array([time]))[0]
        day = final.astype("datetime64[D]")
        return str(day if final <= day + np.timedelta64(12, "h") else day + _DAY)

    def find_final_part(self, period: Period) -> Period | None:
        """Return the part of a period whose outcomes are all final; None if no minute of it is over.

        Rows of the rest may count as evidence later: of overlapping periods, in an audit of another period.
        """
        end = self._find_end().replace(tzinfo=None).isoformat(timespec="minutes")
        first, last = (f"{text}T00:00"[: len(end)] for text in (period.start or "", period.end))
        if period.start is not None and end <= first:
            return None
        return period if end >= last else replace(period, end=end)

    def _find_end(self) -> datetime:
        """A moment before which all rows have final outcomes: by months, not always the latest one."""
        if self.age.unit == "hour":
            before = self.moment.astimezone(UTC) - timedelta(hours=self.age.count)
            return before.astimezone(self.moment.tzinfo)
        if self.age.unit != "month":
            return self.moment - timedelta(days=self.age.count * _DAYS[self.age.unit])
        year, month = divmod(self.moment.year * 12 + self.moment.month - 1 - self.age.count, 12)
        day = min(self.moment.day, monthrange(year, month + 1)[1])
        return self.moment.replace(year=year, month=month + 1, day=day)

    def describe(self, rows: int, latest: np.datetime64 | None) -> ImmatureRows:
        """Describe immature rows, given the latest of their local times if there are any."""
        final_on = "" if latest is None else self.find_final_day(latest)
        return ImmatureRows(rows=rows, mature_after=str(self.age), final_on=final_on)

    def _add_age(self, times: NDArray[np.datetime64]) -> NDArray[np.datetime64]:
        times = times.astype("datetime64[us]")
        if self.age.unit == "hour":
            return times + np.timedelta64(self.age.count, "h")
        if self.age.unit != "month":
            return times + self.age.count * _DAYS[self.age.unit] * _DAY
        month = times.astype("datetime64[M]")
        later = month + self.age.count
        passed = times - month.astype("datetime64[us]")
        days = passed.astype("timedelta64[D]")
        last = (later + 1).astype("datetime64[D]") - later.astype("datetime64[D]") - _DAY
        return later.astype("datetime64[us]") + np.minimum(days, last) + (passed - days)


def find_maturity(mature_after: str, moment: datetime) -> Maturity | None:
    """Return the maturity of outcomes as of a moment; None if the configuration sets no age."""
    return Maturity(read_maturity_age(mature_after), moment) if mature_after else None


def _to_local(moment: datetime) -> np.datetime64:
    return np.datetime64(moment.replace(tzinfo=None), "us")


def describe_immature_period(
    source: str, column: str, period: Period, maturity: Maturity, ends: tuple[np.datetime64, np.datetime64]
) -> str:
    """State that no outcome of a period is final, when the first and all of them are, and what to do then."""
    first, last = (maturity.find_final_day(time) for time in ends)
    rest = "" if first == last else f", and all of them from {last}"
    again = f"--as-of {first}" if period.start is None else f"--period {period.label}"
    return (
        f"No outcome of {period.describe()} in {source} is final as of {maturity.moment:%Y-%m-%d %H:%M}: by "
        f"`{column}`, all rows are younger than {maturity.age} (`audit.outcomes.mature_after`). The first "
        f"outcomes are final from {first}{rest}. To fix: run `scorereport audit run {again}` on that day or "
        "later, or set an `audit.window.period` that reaches further back."
    )
