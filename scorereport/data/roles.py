"""The roles of columns in a table, and checks of the columns that a caller names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from scorereport._utils.checks import WEIGHT_KINDS, check_option
from scorereport._utils.suggestions import suggest_name
from scorereport.errors import DataError, UsageError

#: A column for each model or, with K classes, the columns of each model.
Forecasts = Sequence[str] | Mapping[str, Sequence[str]]
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
    def of(
        cls,
        outcome: str,
        columns_of: Mapping[str, Sequence[str]],
        weight: str | None,
        group: str | Sequence[str] | None,
        cluster: str | None,
        grade: str | None,
        time: str | None,
        weight_kind: str = "sampling",
    ) -> Roles:
        """Make roles from the names that a caller passes; a name that is a number becomes text."""
        groups = [group] if isinstance(group, (str, int)) else list(group or [])
        cluster, grade, time = (None if name is None else str(name) for name in (cluster, grade, time))
        weight = None if weight is None else str(weight)
        forecasts = tuple(column for columns in columns_of.values() for column in columns)
        check_option(weight_kind, "weight_kind", WEIGHT_KINDS)
        if weight is None and weight_kind == "frequency":
            raise UsageError(
                "`weight_kind` is given, but there is no column of weights; name one with `weight`."
            )
        return cls(
            str(outcome), forecasts, weight, tuple(map(str, groups)), cluster, grade, time, weight_kind
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


def check_forecasts(forecasts: Forecasts) -> None:
    """Check that at least one model is named, each once."""
    if isinstance(forecasts, str) or len(forecasts) == 0:
        raise UsageError(f"`forecasts` must be a list of at least one column; got {forecasts!r}.")
    for name, times in Counter(map(str, forecasts)).items():
        if times > 1:
            raise UsageError(f"`{name}` is named {times} times; a column has one role.")


def check_kind(
    classes: tuple[str, ...] | None,
    forecasts: Forecasts,
    *,
    positive: object,
    grade: str | None,
    ordered: bool,
    normalize: bool,
) -> None:
    """Refuse arguments that belong to the other kind of predictions, binary or of classes."""
    if classes is None and (isinstance(forecasts, Mapping) or ordered or normalize):
        raise UsageError(
            "`classes` must name the classes, in the order of their columns, where a model has several."
        )
    for name, flag in (("ordered", ordered), ("normalize", normalize)):
        if not isinstance(flag, (bool, np.bool_)):
            raise UsageError(f"`{name}` must be True or False; got {flag!r}.")
    if classes is not None and positive is not None:
        raise UsageError("`positive` is for two outcomes; `classes` names all of them.")
    if classes is not None and grade is not None:
        raise UsageError("`grade` is for rating grades of a binary outcome, not for classes.")


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
