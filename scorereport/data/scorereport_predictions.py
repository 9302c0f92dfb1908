"""Outcomes with the forecasts of one or more models for the same rows: of an event, or of K classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.arrays import FloatArray, IntArray
from scorereport._utils.checks import (
    LONGEST_TEXT,
    check_distribution,
    check_labels,
    check_outcome,
    check_probability,
)
from scorereport.data.columns import label_text
from scorereport.data.predictions import Cases
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

FEWEST_CLASSES = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predictions(Cases):
    """Binary outcomes with the forecasts of one or more models for the same rows; checked when built."""

    outcome: FloatArray
    forecasts: Mapping[str, FloatArray]
    positive: str = "1"

    def __post_init__(self) -> None:
        _check_forecasts(self.forecasts)
        outcome = check_outcome(self.outcome, self.outcome_name)
        self._keep(outcome, {name: check_probability(p, name) for name, p in self.forecasts.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class RescaledRows:
    """The probabilities of a model that were divided by their sum: how many rows, and the sum most off."""

    model: str
    rows: int
    furthest_sum: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassPredictions(Cases):
    """Classes that came, as indices, with the probabilities of all K classes; checked when built.

    The classes stand in a stated order, in which they are `ordered` or not; some may never have come.
    """

    outcome: IntArray
    forecasts: Mapping[str, FloatArray]
    classes: tuple[str, ...]
    ordered: bool = False
    rescaled: tuple[RescaledRows, ...] = ()

    def __post_init__(self) -> None:
        _check_forecasts(self.forecasts)
        classes = check_class_names(self.classes)
        outcome = check_labels(self.outcome, self.outcome_name, len(classes))
        forecasts = {name: check_distribution(p, name) for name, p in self.forecasts.items()}
        for name, p in forecasts.items():
            if p.shape[1] != len(classes):
                raise UsageError(
                    f"`{name}` must have a column for each of the {len(classes)} classes; got {p.shape[1]}."
                )
        self._keep(outcome, forecasts)
        self._set(classes=classes)

    def _numbers(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Class indices, and the probabilities of each model and class."""
        yield self.outcome_name, self.outcome
        for model, p in self.forecasts.items():
            for label, column in zip(self.classes, np.ascontiguousarray(p.T), strict=True):
                yield f"{model}\0{label}", column


def _check_forecasts(forecasts: Mapping[str, Any]) -> None:
    if not forecasts:
        raise UsageError("`forecasts` must name at least one forecast.")


def check_class_names(classes: Any) -> tuple[str, ...]:
    """At least two names of classes, each once."""
    is_list = isinstance(classes, Iterable) and not isinstance(classes, str)
    names = tuple(map(label_text, classes)) if is_list else ()
    if len(names) < FEWEST_CLASSES:
        raise UsageError(f"`classes` must be a list of at least two labels; got {classes!r}.")
    if "" in names:
        raise UsageError("`classes` must be labels that are not empty; got an empty text.")
    if longest := [name for name in names if len(name) > LONGEST_TEXT]:
        raise UsageError(
            f"`classes` must be labels of at most {LONGEST_TEXT:,} characters; "
            f"got one of {len(longest[0]):,} characters."
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"`classes` must differ; got {twice!r} twice.")
    return names
