"""Columns that are asked for by name, held against those that a table has."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scorereport._utils.suggestions import suggest_name
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

_COLUMNS_NAMED = 12


def check_columns(wanted: Sequence[str], present: Sequence[str], where: str) -> None:
    """Columns that are there, once each, and asked for once each."""
    asked, there = Counter(wanted), Counter(present)
    for name in wanted:
        if asked[name] > 1:
            raise UsageError(f"`{name}` is asked for {asked[name]} times; a column has one role.")
        if there[name] == 0:
            raise DataError(
                f"{where} has no column `{name}`; it has {_name_some(present)}.{_hint(name, present)}"
            )
        if there[name] > 1:
            raise DataError(f"{where} has {there[name]} columns named `{name}`; names must differ.")


def _name_some(columns: Sequence[str]) -> str:
    shown = ", ".join(f"`{column}`" for column in columns[:_COLUMNS_NAMED])
    more = len(columns) - _COLUMNS_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _hint(name: str, columns: Sequence[str]) -> str:
    meant = suggest_name(name, [str(column) for column in columns])
    return f" Did you mean `{meant}`?" if meant else ""
