"""Places of rows in messages: a row counted from 0, a line of a file, a row of a sheet, or an index label.

Checks know rows by their positions. A reader that knows the source replaces these by what a person looks for,
and only if a row is refused, so that rows which are fine cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from scorereport.errors import DataError

_ROWS_SHOWN = 5
#: How many rows that break a rule must be found: one more than are shown.
ROWS_TO_FIND = _ROWS_SHOWN + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RowNames:
    """The place of the first row, such as "line 3 of p.csv", and short names of it and of the next ones."""

    first: str
    shown: Sequence[object] | NDArray[Any]
    #: What the short names are, if not rows.
    unit: str = ""

    @classmethod
    def by_position(cls, rows: Sequence[int] | NDArray[Any]) -> RowNames:
        """Rows counted from 0."""
        return cls(first=f"row {rows[0]}", shown=rows)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowsRefused:
    """A message around the places of rows: the value before them, how many they are, and what to do."""

    before: str
    rows: Sequence[int] | NDArray[Any]
    count: int
    after: str
    #: How many rows were looked at; 0 if the message does not say it.
    total: int = 0

    def describe(self, names: RowNames) -> str:
        """The message with the names of the rows."""
        which = f": {names.unit}{name_some(names.shown)}" if self.count > 1 else ""
        counted = f" ({self.count} of {self.total} rows{which})" if self.total else ""
        return f"{self.before} at {names.first}{counted}{self.after}"


class InvalidRowsError(DataError):
    """Rows that break a rule; `refused` has their positions until a reader has named them."""

    refused: RowsRefused | None = None

    @classmethod
    def of(cls, refused: RowsRefused) -> InvalidRowsError:
        """The error that names rows by their positions."""
        error = cls(refused.describe(RowNames.by_position(refused.rows)))
        error.refused = refused
        return error

    def named(self, names: RowNames) -> InvalidRowsError:
        """The same error with other names of the rows, which are final."""
        if self.refused is None:
            return self
        return InvalidRowsError(self.refused.describe(names))


def names_positions(error: DataError) -> bool:
    """Whether an error names rows by their positions."""
    return isinstance(error, InvalidRowsError) and error.refused is not None


def name_some(items: Sequence[object] | NDArray[Any]) -> str:
    """Format the first few rows or labels as a list."""
    return ", ".join(str(item) for item in items[:_ROWS_SHOWN]) + (
        ", ..." if len(items) > _ROWS_SHOWN else ""
    )


@contextmanager
def positions_restored(find_rows: Callable[[Sequence[int]], Sequence[int]]) -> Iterator[None]:
    """Give rows that are refused in the block, some of a source, their positions in the source."""
    try:
        yield
    except InvalidRowsError as error:
        if error.refused is None:
            raise
        places = find_rows([int(row) for row in error.refused.rows[:ROWS_TO_FIND]])
        error.refused = replace(error.refused, rows=places)
        raise
