"""Memory that R needs for one question, and the rows of the continuous band, which needs most of it.

Measured with R 4.2.2 on x86_64: the largest resident memory of its process, in MB, with distinct forecasts
(tied ones need less) and 100 draws of 1,000 cases.

| rows | package | package, band on 1,000 rows | base R |
|---|---|---|---|
| 1,000 | 171 | 171 | 96 |
| 200,000 | 1,461 | 340 | 203 |
| 400,000 | 2,985 | 390 | 330 |
| 1,000,000 | 7,269 | 2,898 with 400,000 | 505 |

`bde::density`, which the package uses, holds several numbers for each row at each of 101 points; base R goes
through the points one after the other. The formulas are straight lines above these numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10

from scorereport._utils.formatting import format_count, format_gigabytes
from scorereport._utils.machine import physical_memory
from scorereport.reference.questions import MOST_REDRAWN
from scorereport.reference.r_installation import Unavailable

#: Bytes that are needed before a certificate mentions the memory of R.
_WORTH_MENTIONING = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class RMemory:
    """Bytes that R needs at the start, for each row, and for each row of the continuous band in addition."""

    start: int
    row: int
    band_row: int

    def find_needed(self, rows: int, band_rows: int) -> int:
        """Return the bytes for a question about some rows, with some of them in the continuous band."""
        return self.start + self.row * rows + self.band_row * band_rows

    def choose_band_rows(self, rows: int) -> int:
        """Return how many rows the continuous band may have: all, or a round number that fits.

        R may use half of the memory of this machine, because the evaluation runs beside it.
        """
        room = find_room()
        if self.find_needed(rows, rows) <= room:
            return rows
        fitting = (room - self.find_needed(rows, 0)) // self.band_row
        return min(rows, max(_round_down(fitting), MOST_REDRAWN))

    def require(self, rows: int) -> None:
        """Raise `Unavailable` if a question does not fit even into the whole memory of this machine."""
        needed, there = self.find_needed(rows, min(rows, MOST_REDRAWN)), physical_memory()
        if needed > there:
            raise Unavailable(
                f"R needs about {format_gigabytes(needed)} of memory "
                f"for {format_count(rows)} rows; this machine has {format_gigabytes(there)}.",
                "",
            )

    def describe(self, rows: int) -> str:
        """State the memory that R needs, and the rows of the band if not all fit; empty if it is little."""
        needed, band_rows = self.find_needed(rows, rows), self.choose_band_rows(rows)
        if band_rows == rows and needed < _WORTH_MENTIONING:
            return ""
        stated = (
            f"For all {format_count(rows)} rows, R needs about {format_gigabytes(needed)} of memory; it may "
            f"use {format_gigabytes(find_room())}, half of that of the machine."
        )
        if band_rows == rows:
            return stated
        return (
            f"{stated} The continuous consistency band is therefore compared on {format_count(band_rows)} of "
            f"{format_count(rows)} rows, spread evenly in the order of forecasts; all else is on all rows."
        )


#: The memory of the R package, and of base R.
_PACKAGE = RMemory(start=170_000_000, row=900, band_row=6_300)
_BASE = RMemory(start=100_000_000, row=550, band_row=100)


def find_r_memory(*, is_package: bool) -> RMemory:
    """Return the memory that the R package, or base R, needs."""
    return _PACKAGE if is_package else _BASE


def find_room() -> int:
    """Return the bytes that R may use: half of the memory of this machine or container."""
    return physical_memory() // 2


def _round_down(count: int) -> int:
    """Round down to one significant digit, so that machines of about the same size choose the same rows.

    >>> _round_down(517_204), _round_down(-3)
    (500000, 0)
    """
    if count < 1:
        return 0
    unit = 10 ** floor(log10(count))
    return int(count // unit * unit)
