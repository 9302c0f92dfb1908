"""Sentences that refuse rows of Spark, which have values but no numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from scorereport._utils.checks import name_some
from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence


def refuse_values(
    rule: str,
    examples: Sequence[tuple[object, int]],
    rows: int,
    way_out: str = "",
    odd_rows: int | None = None,
) -> NoReturn:
    """Refuse some values, each with its number of rows, out of so many rows."""
    first = examples[0][0]
    odd = sum(n for _, n in examples) if odd_rows is None else odd_rows
    others = f": {name_some([repr(value) for value, _ in examples])}" if len(examples) > 1 else ""
    raise DataError(f"{rule}; got {first!r} ({odd} of {rows} rows{others}).{way_out}")


def refuse_missing(name: str, odd: int, rows: int) -> NoReturn:
    """Refuse rows that lack a value."""
    raise DataError(
        f"`{name}` must not be missing; got no value in {odd} of {rows} rows. "
        'Fill them, or pass missing="drop" (--missing drop) to leave these rows out.'
    )
