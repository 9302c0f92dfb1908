"""Forecasts given as arrays: the columns of each model, one for an event or one for each class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scorereport._utils.row_places import name_some
from scorereport.data.array_values import (
    as_columns,
    as_series,
    frame_columns,
    is_array,
    is_frame,
    is_matrix,
    name_of,
)
from scorereport.data.column_rules import check_class_names, label_text
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The name of a model without a name.
_MODEL = "model"
_BINARY = 2


def list_models(
    forecasts: Any, outcome: Any, classes: Sequence[object] | None, positive: object
) -> dict[str, dict[str, Any]]:
    """The columns of each model by name: that of the model or, with K classes, MODEL_CLASS.

    Parameters
    ----------
    forecasts : one array, a mapping from models to arrays, or a frame
    outcome : the array of outcomes
    classes, positive : as `evaluate` takes them
    """
    if is_frame(forecasts) and classes is None:
        return {name: {name: column} for name, column in frame_columns(forecasts).items()}
    given = forecasts if isinstance(forecasts, Mapping) else {_name_model(forecasts): forecasts}
    models = {str(model): values for model, values in given.items()}
    if not models:
        raise UsageError("`forecasts` must hold at least one array; got an empty mapping.")
    if classes is None:
        return {
            model: {model: _find_event(model, values, outcome, positive)} for model, values in models.items()
        }
    labels = check_class_names(classes)
    return {model: _list_classes(model, values, labels) for model, values in models.items()}


def _name_model(forecasts: Any) -> str:
    return _MODEL if is_frame(forecasts) else name_of(forecasts, _MODEL)


def _find_event(model: str, values: Any, outcome: Any, positive: object) -> Any:
    """The probabilities of the event; of two columns, that of the label that counts as positive."""
    if is_frame(values):
        named = frame_columns(values)
        if positive is not None and label_text(positive) in named:
            return named[label_text(positive)]
        columns = list(named.values())
    elif is_array(values):
        columns = as_columns(values, model)
        if not is_matrix(values):
            return columns[0]
    else:
        raise UsageError(
            f"The forecasts of {model} must be an array of probabilities; got {type(values).__name__}."
        )
    return columns[_choose_column(model, len(columns), outcome, positive)]


def _choose_column(model: str, n_columns: int, outcome: Any, positive: object) -> int:
    """The column of the event among several; an error if it does not follow from what is given."""
    if n_columns == _BINARY:
        return _place_of_positive(model, outcome, positive)
    if n_columns == 1:
        raise UsageError(f"The forecasts of {model} must be one-dimensional; got one column: pass p[:, 0].")
    raise UsageError(
        f"The forecasts of {model} have {n_columns} columns: pass `classes`, the labels of the columns in "
        "their order, for a model of several classes."
    )


def _place_of_positive(model: str, outcome: Any, positive: object) -> int:
    """The column of the positive label, if columns are in the order of sorted labels, as in scikit-learn."""
    if positive is None:
        raise UsageError(
            f"The forecasts of {model} have 2 columns, as predict_proba returns them; pass the column of the "
            "event, p[:, 1] for the label that is last in estimator.classes_, or pass `positive`, its label."
        )
    found = as_series(as_columns(outcome, "outcome")[0]).dropna().unique().tolist()
    try:
        labels = [label_text(label) for label in sorted(found)]
    except TypeError:
        labels = []
    if len(labels) != _BINARY or label_text(positive) not in labels:
        raise UsageError(
            f"The forecasts of {model} have 2 columns, but which of them is that of {label_text(positive)!r} "
            "does not follow from the outcomes, which must hold two labels; pass one column."
        )
    return labels.index(label_text(positive))


def _list_classes(model: str, values: Any, labels: tuple[str, ...]) -> dict[str, Any]:
    """The columns of a model of K classes in the order of the classes."""
    if is_frame(values):
        columns = _order_by_name(model, frame_columns(values), labels)
    elif is_array(values) and is_matrix(values):
        columns = as_columns(values, model)
    else:
        raise UsageError(
            f"The forecasts of {model} must have two dimensions, with a column for each of the "
            f"{len(labels)} classes; got {_describe(values)}."
        )
    if len(columns) != len(labels):
        raise UsageError(
            f"The forecasts of {model} must have a column for each of the {len(labels)} classes; "
            f"got {len(columns)}."
        )
    return {f"{model}_{label}": column for label, column in zip(labels, columns, strict=True)}


def _describe(values: Any) -> str:
    return "one dimension" if is_array(values) else type(values).__name__


def _order_by_name(model: str, columns: dict[str, Any], labels: tuple[str, ...]) -> list[Any]:
    """The columns of a frame by the names of the classes; columns that are numbered from 0 are in order."""
    named = {label_text(name).removeprefix(f"{model}_"): column for name, column in columns.items()}
    if set(named) == set(labels):
        return [named[label] for label in labels]
    if list(columns) == [str(place) for place in range(len(columns))]:
        return list(columns.values())
    expected, got = name_some([repr(label) for label in labels]), name_some([repr(name) for name in columns])
    raise UsageError(f"The columns of {model} must be named by the classes {expected}; got {got}.")
