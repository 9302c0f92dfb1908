"""The roles of columns in a table, and checks of the columns that a caller names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from scorereport._utils.suggestions import suggest_name
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from scorereport.data.column_declarations import Columns, Forecasts

#: Columns that a message lists.
_COLUMNS_SHOWN = 12


class Roles(NamedTuple):
    """The column of each role; `forecasts` are the columns of all models."""

    outcome: str
    forecasts: tuple[str, ...]
    weight: str | None
    groups: tuple[str, ...]
    cluster: str | None
    grade: str | None
    time: str | None
    weight_kind: str = "sampling"

    @classmethod
    def of(cls, columns: Columns, columns_of: Mapping[str, Sequence[str]] | None = None) -> Roles:
        """Make roles from checked columns; `columns_of` has those of each model, by default its name."""
        models = columns_of or {model: (model,) for model in columns["forecasts"]}
        return cls(
            outcome=columns["outcome"],
            forecasts=tuple(column for of_model in models.values() for column in of_model),
            weight=columns.get("weight"),
            groups=tuple(columns.get("groups") or ()),
            cluster=columns.get("cluster"),
            grade=columns.get("grade"),
            time=columns.get("time"),
            weight_kind=columns.get("weight_kind", "sampling"),
        )

    @property
    def numbers(self) -> list[str]:
        """Columns that must hold numbers."""
        return [*self.forecasts, *([self.weight] if self.weight is not None else [])]

    @property
    def labels(self) -> list[str]:
        """Columns whose text must be kept as it is."""
        return [self.outcome, *self.texts, *([self.time] if self.time is not None else [])]

    @property
    def texts(self) -> list[str]:
        """Columns of labels: groups, clusters and grades."""
        return [*self.groups, *(name for name in (self.cluster, self.grade) if name is not None)]


def columns_of_models(forecasts: Forecasts, classes: tuple[str, ...] | None) -> dict[str, tuple[str, ...]]:
    """Return the columns of each model: one for an event, or one for each class."""
    if classes is None:
        return {str(name): (str(name),) for name in forecasts}
    if not isinstance(forecasts, Mapping):
        return {str(model): tuple(f"{model}_{label}" for label in classes) for model in forecasts}
    named = {}
    for model, columns in forecasts.items():
        if isinstance(columns, str) or len(columns) != len(classes):
            got = repr(columns) if isinstance(columns, str) else len(columns)
            raise UsageError(
                f"`forecasts` must name a column for each of the {len(classes)} classes; "
                f"got {got} for {model}."
            )
        named[str(model)] = tuple(map(str, columns))
    return named


def check_columns(columns: Sequence[str], present: Sequence[str], where: str) -> None:
    """Check that a table has each column once, and that each is named once."""
    named, there = Counter(columns), Counter(present)
    for name in columns:
        if named[name] > 1:
            raise UsageError(f"`{name}` is named {named[name]} times; a column has one role.")
        if there[name] == 0:
            raise DataError(
                f"{where} has no column `{name}`; it has {_name_some(present)}.{_hint(name, present)}"
            )
        if there[name] > 1:
            raise DataError(f"{where} has {there[name]} columns named `{name}`; names must differ.")


def _name_some(columns: Sequence[str]) -> str:
    shown = ", ".join(f"`{column}`" for column in columns[:_COLUMNS_SHOWN])
    more = len(columns) - _COLUMNS_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _hint(name: str, columns: Sequence[str]) -> str:
    meant = suggest_name(name, [str(column) for column in columns])
    return f" Did you mean `{meant}`?" if meant else ""
