"""Outcomes and forecasts given as arrays: they become the columns of a table, and arguments name these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.checks import check_same_length
from scorereport.data.array_forecasts import list_models
from scorereport.data.array_values import (
    as_one_column,
    as_series,
    frame_columns,
    index_of,
    is_array,
    is_fractional,
    is_frame,
    is_matrix,
    is_of_texts,
    name_of,
)
from scorereport.data.categories import supply_classes, supply_classes_of_arrays
from scorereport.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

#: Arguments that are one column; an array without a name has that of its role.
_ROLES = ("weight", "cluster", "time", "grade")
_EXAMPLE = 'evaluate(y, {"logit": p})'


@dataclass(frozen=True, slots=True, eq=False)
class ArrayTable:
    """Arrays of the same length as columns of a table, by name."""

    arrays: Mapping[str, object]

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))  # type: ignore[arg-type]

    def __getitem__(self, name: str) -> Any:
        return self.arrays[name]

    def to_pandas(self) -> pd.DataFrame:
        """The arrays as a frame; those of numbers are not copied."""
        import pandas as pd

        return pd.DataFrame({name: as_series(values) for name, values in self.arrays.items()}, copy=False)


def take_arrays(data: Any, given: Mapping[str, object]) -> tuple[Any, dict[str, object]]:
    """Return data that are a table, and arguments that name its columns.

    If the data are an array of outcomes, the table has a column for each array among the arguments. All other
    data are returned as they are, and arrays among the arguments are refused. Classes that are not given are
    taken from the categories of the outcomes, if these have more than two and the models are of classes.
    """
    if not is_array(data):
        _refuse_arrays(data, given)
        return data, supply_classes(data, given)
    _refuse_names(data, given)
    given = supply_classes_of_arrays(data, given)
    models = list_models(given["forecasts"], data, given.get("classes"), given.get("positive"))
    outcome = _name_outcome(data, given)
    by_role = {
        "outcome": {outcome: as_one_column(data, "outcome")},
        "forecasts": {name: values for columns in models.values() for name, values in columns.items()},
        **{role: _list_arrays(given[role], role) for role in _ROLES if given.get(role) is not None},
        "groups": _list_groups(given.get("groups")),
    }
    table = _unite(by_role.values())
    _check_indices(data, outcome, given)
    _refuse_swapped(by_role["outcome"][outcome], by_role["forecasts"].values())
    named: dict[str, object] = {role: next(iter(columns)) for role, columns in by_role.items() if columns}
    named |= {"forecasts": list(models), "groups": list(by_role["groups"]) or None}
    return table, {**given, **named}


def _name_outcome(data: Any, given: Mapping[str, Any]) -> str:
    """The name of the outcomes: `outcome`, or that of the series."""
    outcome = given.get("outcome")
    if outcome is not None and not isinstance(outcome, str):
        raise UsageError("The outcomes are given twice, as first argument and as `outcome`; pass them once.")
    return outcome or name_of(data, "outcome")


def _list_arrays(values: Any, role: str) -> dict[str, Any]:
    """One array, by its name or that of its role."""
    return {name_of(values, role): as_one_column(values, role)}


def _list_groups(groups: Any) -> dict[str, Any]:
    """The columns of groups: one array, a mapping from names to arrays, or a frame."""
    if groups is None:
        return {}
    if is_frame(groups):
        return frame_columns(groups)
    if isinstance(groups, Mapping):
        return {str(name): as_one_column(values, f"groups[{name!r}]") for name, values in groups.items()}
    if is_matrix(groups):
        raise UsageError("`groups` must be an array, or a mapping from names to arrays; got several arrays.")
    return {name_of(groups, "group"): as_one_column(groups, "groups")}


def _unite(parts: Iterable[Mapping[str, Any]]) -> ArrayTable:
    """A table of all columns, whose names must differ and whose lengths must be equal."""
    named = [item for part in parts for item in part.items()]
    names = [name for name, _ in named]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(
                f"The names of arrays must differ; got {name!r} {names.count(name)} times. Pass forecasts "
                "and groups as mappings with other names, or `outcome` as the name of the outcomes."
            )
    check_same_length(*named)
    if len(named[0][1]) == 0:
        raise DataError("The arrays hold no rows.")
    return ArrayTable(dict(named))


# ---- checks ----


def _refuse_names(data: Any, given: Mapping[str, Any]) -> None:
    """Refuse names of columns where the data are an array of outcomes."""
    forecasts = given.get("forecasts")
    if forecasts is None:
        raise UsageError(
            f"`forecasts` is missing: pass the forecasts after the outcomes, as in {_EXAMPLE}, or a table "
            "and the names of its columns."
        )
    if isinstance(forecasts, str) or (is_array(forecasts) and is_of_texts(forecasts)):
        raise UsageError(
            f"`forecasts` names columns, but the data are an array ({type(data).__name__}); pass a table "
            f"that has these columns, or arrays, as in {_EXAMPLE}."
        )
    for role in (*_ROLES, "groups"):
        if isinstance(given.get(role), str):
            raise UsageError(
                f"`{role}` names the column {given[role]!r}, but the data are arrays; pass its values, one "
                "for each outcome."
            )
    if given.get("table") is not None:
        raise UsageError("`table` is for a database, but the data are arrays; leave it out.")


def _refuse_arrays(data: Any, given: Mapping[str, Any]) -> None:
    """Refuse arrays where arguments name the columns of a frame."""
    for role in ("outcome", "forecasts", *_ROLES, "groups"):
        if is_frame(data) and _holds_values(given.get(role)):
            raise UsageError(
                f"`{role}` must name columns, because the data are a frame; got values. Add them to the "
                f"table as columns, or pass arrays only, as in {_EXAMPLE}."
            )


def _holds_values(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_holds_values, value.values()))
    return is_frame(value) or (is_array(value) and is_fractional(value))


def _refuse_swapped(outcome: Any, forecasts: Iterable[Any]) -> None:
    """Refuse outcomes that are probabilities beside forecasts that are 0 and 1."""
    numbers = _as_numbers(outcome)
    if numbers is None or not ((numbers > 0) & (numbers < 1)).any():
        return
    if all(numbers is not None and np.isin(numbers, (0, 1)).all() for numbers in map(_as_numbers, forecasts)):
        raise UsageError(
            "The arguments look swapped: the first holds probabilities and the second holds 0 and 1; pass "
            f"the outcomes first, as in {_EXAMPLE}."
        )


def _as_numbers(values: Any) -> Any:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _check_indices(data: Any, outcome: str, given: Mapping[str, Any]) -> None:
    """Refuse series of pandas with different indices: whether their rows correspond is not known."""
    arrays = {outcome: data, **_name_arrays(given)}
    indices = {name: index for name, value in arrays.items() if (index := index_of(value)) is not None}
    for name, index in indices.items():
        first, of_first = next(iter(indices.items()))
        if not index.equals(of_first):
            raise DataError(
                f"`{name}` and `{first}` have different indices, and rows are not aligned by index. Reorder "
                f"`{name}`, such as by .loc[{first}.index], or pass .to_numpy() if rows are in the same "
                "order."
            )


def _name_arrays(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays and frames among the arguments, by the names that messages give them."""
    found: dict[str, Any] = {}
    for argument in ("forecasts", *_ROLES, "groups"):
        value = given.get(argument)
        if isinstance(value, Mapping):
            found |= {str(name): one for name, one in value.items()}
        elif value is not None:
            found[name_of(value, argument)] = value
    return found
