"""The binary questions to R about models of K classes: each threshold, each class.

They are computed here from the predictions, independently of the engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport._utils.formatting import format_counted
from scorereport.results.class_records import CLASS, THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from scorereport.data.predictions import ClassPredictions

#: The number of views of each model whose bands R resamples, which takes seconds for each.
DRAWN_VIEWS = 2
_NAMES = {THRESHOLD: "up to", CLASS: "class"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BinaryView:
    """A binary question about a model: whether the class of a case is up to a threshold, or a given one.

    `is_drawn` is True if R resamples its bands.
    """

    model: str
    kind: str
    label: str
    y_true: FloatArray
    y_prob: FloatArray
    is_drawn: bool

    @property
    def subject(self) -> str:
        """The model and the question, in words."""
        return f"{self.model}, {name_view(self.kind, self.label)}"


def name_view(kind: str, label: str) -> str:
    """The short name of a view.

    >>> name_view("threshold", "mild"), name_view("class", "mild")
    ('up to mild', 'class mild')
    """
    return f"{_NAMES[kind]} {label}"


def find_views(subjects: Collection[str]) -> dict[str, tuple[str, str]]:
    """The model of each subject, and the kind of view that it is; "" if it is the model itself.

    >>> find_views(["a", "a, up to 2", "b, class x"])
    {'a': ('a', ''), 'a, up to 2': ('a', 'threshold'), 'b, class x': ('b, class x', '')}
    """
    return {subject: _find_view(subject, subjects) for subject in subjects}


def _find_view(subject: str, subjects: Collection[str]) -> tuple[str, str]:
    found = [
        (model, kind)
        for model in subjects
        for kind, name in _NAMES.items()
        if subject.startswith(f"{model}, {name} ")
    ]
    return min(found, key=lambda pair: len(pair[0]), default=(subject, ""))


def name_family(kind: str, views: int) -> str:
    """How all views of a kind are combined, in words.

    >>> name_family("threshold", 6), name_family("class", 7)
    ('mean over 6 thresholds', 'sum over 7 classes')
    """
    return (
        f"mean over {format_counted(views, 'threshold')}"
        if kind == THRESHOLD
        else f"sum over {views} classes"
    )


def list_views(predictions: ClassPredictions) -> dict[str, tuple[str, ...]]:
    """The labels of the views of each kind; the kind of the main score of K classes is first."""
    labels = predictions.classes
    return {THRESHOLD: labels[:-1], CLASS: labels} if predictions.ordered else {CLASS: labels}


def list_drawn(predictions: ClassPredictions) -> dict[str, tuple[str, ...]]:
    """The views whose bands R resamples: a few of the main kind, spread evenly."""
    kind, labels = next(iter(list_views(predictions).items()))
    places = np.unique((np.arange(DRAWN_VIEWS) + 0.5) * len(labels) // DRAWN_VIEWS).astype(np.intp)
    return {kind: tuple(labels[place] for place in places.tolist())}


def make_views(predictions: ClassPredictions) -> Iterator[BinaryView]:
    """All views of all models, kind by kind."""
    drawn = list_drawn(predictions)
    for model, p in predictions.forecasts.items():
        for kind, labels in list_views(predictions).items():
            below = np.zeros(len(p))
            for place, label in enumerate(labels):
                below = below + p[:, place]
                is_threshold = kind == THRESHOLD
                observed = predictions.outcome <= place if is_threshold else predictions.outcome == place
                yield BinaryView(
                    model=model,
                    kind=kind,
                    label=label,
                    y_true=observed.astype(np.float64),
                    y_prob=np.minimum(below, 1.0) if is_threshold else p[:, place] + 0.0,
                    is_drawn=label in drawn.get(kind, ()),
                )


def count_views(predictions: ClassPredictions) -> int:
    """The number of binary questions about all models."""
    return len(predictions.forecasts) * sum(map(len, list_views(predictions).values()))
