"""Scores of checkpoints, from one table with the predictions of all checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from scorereport._utils.formatting import format_counted, format_number, join_words
from scorereport._utils.row_places import name_some
from scorereport.data.column_rules import check_class_names, label_text
from scorereport.data.columns import class_indices
from scorereport.data.predictions import ClassPredictions
from scorereport.data.reader import read_columns, read_predictions
from scorereport.data.sources import rows_named
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.selection.score_tracks import (
    CHECKPOINT_SCORES,
    Checkpoints,
    make_track,
    order_checkpoints,
)
from scorereport.scores.registry import REGISTRY, Kind, Score, get_score

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.data.predictions import Predictions

#: Scores whose function takes the probabilities of all classes.
_OF_CLASSES = (Kind.MULTICLASS, Kind.ORDINAL)
#: Scores whose function takes the probability of one event.
_OF_EVENTS = (Kind.BINARY, Kind.RANKING)
#: The name of the model, for messages.
_MODEL = "all checkpoints"


class _Cases(NamedTuple):
    """Observed classes, as indices, with the probabilities of all classes and the weights."""

    outcome: IntArray
    forecast: FloatArray
    weight: FloatArray | None

    def at(self, rows: NDArray[np.intp]) -> _Cases:
        """Some of the cases, without those of weight 0, in an order that does not depend on the table."""
        weight = None if self.weight is None else self.weight[rows]
        cases = _Cases(self.outcome[rows], self.forecast[rows], weight)
        if weight is None:  # counts and sorted sums do not depend on the order
            return cases
        order = np.lexsort((*cases.forecast.T, cases.outcome, weight))
        order = order[weight[order] > 0]
        return _Cases(cases.outcome[order], cases.forecast[order], weight[order])


def score_predictions(
    source: Any,
    score: str,
    checkpoint: str,
    *,
    outcome: str,
    forecasts: str | Sequence[str] | None,
    classes: Sequence[object] | None,
    weight: str | None,
    normalize: bool,
) -> Checkpoints:
    """Score the predictions of each checkpoint, from a table with a row for each checkpoint and case."""
    predictions = _read_cases(source, checkpoint, outcome, forecasts, classes, weight, normalize=normalize)
    cases, names = _unite(predictions, classes)
    scores = _list_scores(score, len(names))
    labels, rows = _split(predictions.groups[str(checkpoint)])
    _check_weights(cases, labels, rows, str(weight))
    members = [cases.at(of_one) for of_one in rows]
    values = [[_evaluate(entry, of_one) for of_one in members] for entry in scores]
    _refuse_undefined(scores, values, labels)
    return Checkpoints(
        labels=labels,
        tracks=tuple(make_track(s.name, s.direction, v) for s, v in zip(scores, values, strict=True)),
        cases=tuple(len(of_one.outcome) for of_one in members),
        classes=names,
        notes=(*_describe_rescaled(predictions), *_describe_cases(members, labels, names)),
    )


class _SharedColumns(TypedDict):
    outcome: str
    weight: str | None
    groups: str
    missing: str


def _read_cases(
    source: Any,
    checkpoint: str,
    outcome: str,
    forecasts: str | Sequence[str] | None,
    classes: Sequence[object] | None,
    weight: str | None,
    *,
    normalize: bool,
) -> Predictions | ClassPredictions:
    """Read all rows, with the checkpoint as their group."""
    if isinstance(forecasts, Mapping):
        raise UsageError("`forecasts` must list the columns of the one model whose checkpoints these are.")
    columns = [forecasts] if isinstance(forecasts, str) else list(forecasts or [])
    shared: _SharedColumns = {"outcome": outcome, "weight": weight, "groups": checkpoint, "missing": "drop"}
    if len(columns) == 1:
        positive = None if classes is None else _name_event(classes)
        if normalize:
            raise UsageError("`normalize` is for a column for each class; there is one column of an event.")
        predictions = read_predictions(source, forecasts=columns, positive=positive, **shared)
        if classes is not None:
            with rows_named(source):
                labels = read_columns(source, [], [outcome])[outcome]
                class_indices(labels, outcome, check_class_names(classes))
    elif classes is None or not columns:
        raise UsageError(
            "`forecasts` must list the columns of probabilities, and `classes` their classes in the same "
            "order; a single column is the probability of an event and needs no `classes`."
        )
    else:
        predictions = read_predictions(
            source, forecasts={_MODEL: columns}, classes=classes, normalize=normalize, **shared
        )
    _refuse_incomplete(predictions)
    return predictions


def _name_event(classes: Sequence[object]) -> object:
    if isinstance(classes, str) or len(classes) != 2:
        raise UsageError(
            f"`classes` must be two labels, that of the event last, where there is one column of "
            f"probabilities; got {classes!r}."
        )
    return classes[1]


def _refuse_incomplete(predictions: Predictions | ClassPredictions) -> None:
    flow = predictions.row_flow
    if flow.dropped and predictions.rows is not None:
        lacking = np.setdiff1d(np.arange(flow.read), predictions.rows)
        what = join_words([f"{drop.reason} in {format_counted(drop.rows, 'row')}" for drop in flow.dropped])
        raise DataError(
            f"Every row must be complete; got {what} ({name_some(lacking)}). Fill them, or leave these cases "
            "out at every checkpoint."
        )


def _unite(
    predictions: Predictions | ClassPredictions, classes: Sequence[object] | None
) -> tuple[_Cases, tuple[str, ...]]:
    """Cases and names of classes; an event and its non-event are two classes, the event last."""
    forecast = next(iter(predictions.forecasts.values()))
    if isinstance(predictions, ClassPredictions):
        return _Cases(predictions.outcome, forecast, predictions.weight), predictions.classes
    both = np.column_stack([1 - forecast, forecast])
    names = tuple(map(label_text, classes)) if classes is not None else ("0", "1")
    return _Cases(predictions.outcome.astype(np.int64), both, predictions.weight), names


def _list_scores(name: str, n_classes: int) -> list[Score]:
    """The usual scores and, if it is another, the score by which checkpoints are chosen."""
    entry = get_score(name)
    allowed = (*_OF_CLASSES, Kind.LABELS, *(_OF_EVENTS if n_classes == 2 else ()))
    if entry.kind not in allowed:
        raise UsageError(
            f"`score` must be one of class probabilities or of labels; {entry.name!r} is of the {entry.kind}."
        )
    entry.check_options({"n_classes": n_classes} if entry.kind is Kind.LABELS else {})
    return [REGISTRY[name] for name in dict.fromkeys((*CHECKPOINT_SCORES, entry.name))]


def _split(labels: NDArray[Any]) -> tuple[tuple[str, ...], list[NDArray[np.intp]]]:
    """Checkpoints in their order, and the rows of each."""
    found = order_checkpoints(labels.tolist())
    place = {label: number for number, label in enumerate(found)}
    codes = np.array([place[label] for label in labels.tolist()])
    ends = np.cumsum(np.bincount(codes))[:-1]
    return found, np.split(np.argsort(codes, kind="stable"), ends)


def _check_weights(cases: _Cases, labels: Sequence[str], rows: Sequence[NDArray[np.intp]], name: str) -> None:
    if cases.weight is not None:
        empty = [label for label, of_one in zip(labels, rows, strict=True) if not cases.weight[of_one].any()]
        if empty:
            raise DataError(f"`{name}` must not be all zero at a checkpoint; it is at {name_some(empty)}.")


def _evaluate(score: Score, cases: _Cases) -> float:
    """The mean of a score, or the measure, at one checkpoint."""
    y, p, weight = cases
    if score.kind is Kind.LABELS:
        label = p.argmax(axis=1)  # the lowest index among ties, as in the penalised scores
        return float(score.function(y, label, n_classes=p.shape[1], sample_weight=weight))
    forecast = p if score.kind in _OF_CLASSES else p[:, 1]
    if not score.per_case:
        return float(score.function(y, forecast, sample_weight=weight))
    return _mean(score.function(y, forecast), weight)


def _refuse_undefined(
    scores: Sequence[Score], values: Sequence[Sequence[float]], labels: Sequence[str]
) -> None:
    for score, of_score in zip(scores, values, strict=True):
        undefined = [label for label, value in zip(labels, of_score, strict=True) if np.isnan(value)]
        if undefined:
            raise DataError(
                f"`score` {score.name!r} is not defined at {name_some(undefined)}; choose another score."
            )


def _mean(values: FloatArray, weight: FloatArray | None) -> float:
    """The mean, which does not depend on the order of the cases, not even in its last bit."""
    if weight is None:
        return float(np.sort(values).sum() / len(values))
    return float(np.sort(weight * values).sum() / np.sort(weight).sum())


def _describe_rescaled(predictions: Predictions | ClassPredictions) -> Iterator[str]:
    for rescaled in getattr(predictions, "rescaled", ()):
        if rescaled.rows:
            yield (
                f"The probabilities of {format_counted(rescaled.rows, 'row')} did not sum to 1 and were "
                "divided by their sum; the sum furthest from 1 was "
                f"{format_number(rescaled.furthest_sum, 6)}."
            )


def _describe_cases(
    members: Sequence[_Cases], labels: Sequence[str], classes: Sequence[str]
) -> Iterator[str]:
    """Notes on what makes checkpoints less comparable, or their scores unusual."""
    sizes = [len(of_one.outcome) for of_one in members]
    counts = np.array([np.bincount(of_one.outcome, minlength=len(classes)) for of_one in members])
    if min(sizes) < max(sizes):
        fewest, most = (labels[sizes.index(end(sizes))] for end in (min, max))
        yield (
            f"Checkpoints have different numbers of cases, from {min(sizes)} ({fewest}) to {max(sizes)} "
            f"({most}): their scores are not of the same cases."
        )
    elif (counts != counts[0]).any():
        yield "Checkpoints have different numbers of cases of each class: their cases are not the same."
    if len(classes) == 2:
        yield "The Brier scores are those of both classes: twice that of the event alone."
    absent = [name for name, n in zip(classes, counts.sum(axis=0), strict=True) if n == 0]
    if absent:
        yield (
            f"No case of {name_some(absent)}: macro F1 leaves such a class out where it is not predicted, "
            "and counts it as 0 where it is."
        )
