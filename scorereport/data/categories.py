"""Classes that follow from the type of the outcomes: a Categorical of pandas or an Enum of polars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from scorereport._utils.rules import list_items
from scorereport.data.array_values import is_frame, is_matrix
from scorereport.data.column_rules import label_text

_BINARY = 2


class Categories(NamedTuple):
    """The labels of a categorical type, and whether their order has a meaning."""

    labels: tuple[str, ...]
    ordered: bool


def categories_of(dtype: Any) -> Categories | None:
    """The categories of a type of pandas or polars; None for other types.

    A Categorical of polars holds texts in the order in which they were first seen, so it has no order and no
    complete list of labels.
    """
    if type(dtype).__name__ not in ("CategoricalDtype", "Enum"):
        return None
    labels = tuple(label_text(label) for label in list(dtype.categories))
    return Categories(labels=labels, ordered=bool(getattr(dtype, "ordered", True)))


def supply_classes(data: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Take classes that are not given from the outcomes of a frame, if its forecasts are of classes."""
    found = _find_categories(data, given) if is_frame(data) else None
    models = given.get("forecasts")
    if found is None or models is None or _has_column_per_model(data, models, found.labels):
        return dict(given)
    return _add_classes(given, found)


def supply_classes_of_arrays(outcome: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Take classes that are not given from an array of outcomes, if forecasts have several columns."""
    found = categories_of(getattr(outcome, "dtype", None))
    if found is None or not _are_needed(given, found) or not _has_matrix(given["forecasts"]):
        return dict(given)
    return _add_classes(given, found)


def _add_classes(given: Mapping[str, Any], found: Categories) -> dict[str, Any]:
    return {**given, "classes": found.labels, "ordered": given.get("ordered") or found.ordered}


def _are_needed(given: Mapping[str, Any], found: Categories) -> bool:
    is_given = given.get("classes") is not None or given.get("positive") is not None
    return not is_given and len(found.labels) > _BINARY


def _find_categories(frame: Any, given: Mapping[str, Any]) -> Categories | None:
    """The categories of the outcomes in a frame, if classes are not given."""
    found = categories_of(_type_of(frame, given.get("outcome")))
    return found if found is not None and _are_needed(given, found) else None


def _type_of(frame: Any, name: Any) -> Any:
    """The type of a column of pandas or polars; None if there is none."""
    types = getattr(frame, "dtypes", None) if hasattr(frame, "iloc") else _schema_of(frame)
    try:
        return types.get(name)  # type: ignore[union-attr]
    except (AttributeError, TypeError):
        return None


def _schema_of(frame: Any) -> Any:
    """The types of the columns of a frame of polars, by name; those of a LazyFrame are not at hand."""
    if type(frame).__module__.partition(".")[0] != "polars":
        return None
    return frame.collect_schema()


def _has_column_per_model(frame: Any, models: Any, labels: tuple[str, ...]) -> bool:
    """Whether each model is itself a column, and is not followed by columns of classes: it is of an event."""
    names = None if isinstance(models, Mapping) else list_items(models)
    if names is None:
        return False
    there = {str(name) for name in frame.columns} if hasattr(frame, "iloc") else set(frame.collect_schema())
    of_classes = {f"{name}_{label}" for name in names for label in labels}
    return {str(name) for name in names} <= there and not of_classes <= there


def _has_matrix(forecasts: Any) -> bool:
    """Whether a model has several columns."""
    if isinstance(forecasts, Mapping):
        return any(is_frame(values) or is_matrix(values) for values in forecasts.values())
    return is_frame(forecasts) or is_matrix(forecasts)
