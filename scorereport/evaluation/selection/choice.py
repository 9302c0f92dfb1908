"""`select()`: the checkpoint that each score chooses, early stopping, and how scores agree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from scorereport._utils import json_documents
from scorereport._utils.checks import check_whole
from scorereport._utils.formatting import format_counted, join_words
from scorereport._utils.rounding import documents_agree, exceeds, first_lowest
from scorereport.data.sources import describe_source, hash_file
from scorereport.errors import UsageError
from scorereport.evaluation.selection.checkpoint_scores import score_predictions
from scorereport.evaluation.selection.score_tracks import Checkpoints, ScoreTrack, parse_numbers, read_scores
from scorereport.evaluation.selection.selection_records import (
    ACCURACY,
    F1,
    Correlation,
    EarlyStop,
    ScoreChoice,
    Selection,
    values_of,
)
from scorereport.scores.registry import REGISTRY, get_score

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport._utils.arrays import FloatArray


def make_selection(
    found: Checkpoints, score: str, column: str, patience: int | None, source: Any
) -> Selection:
    """The choice of each score, and the agreement of scores, from the scores of all checkpoints."""
    tracks = found.tracks
    return Selection(
        score=score,
        patience=patience,
        column=column,
        checkpoints=found.labels,
        tracks=tracks,
        choices=tuple(_choose(track, found, patience) for track in tracks),
        correlations=tuple(_correlate_with_f1(tracks)),
        pairwise=tuple(_correlate(*pair) for pair in combinations(tracks, 2)),
        cases=found.cases,
        classes=found.classes,
        notes=(*found.notes, *_describe_tracks(found, patience)),
        source=describe_source(source),
        file_sha256=hash_file(source),
    )


def check_selection(selection: Selection) -> None:
    """Refuse a selection that does not follow from the scores of its checkpoints."""
    found = Checkpoints(
        labels=selection.checkpoints,
        tracks=selection.tracks,
        cases=selection.cases,
        classes=selection.classes,
        notes=(),
    )
    expected = make_selection(found, selection.score, selection.column, selection.patience, None)
    for part in ("choices", "correlations", "pairwise"):
        documents = (json_documents.encode(getattr(each, part)) for each in (expected, selection))
        if not documents_agree(*documents):
            raise UsageError(f"the {part} among checkpoints do not follow from their scores.")


def _choose(track: ScoreTrack, found: Checkpoints, patience: int | None) -> ScoreChoice:
    best = first_lowest(-track.merit)
    return ScoreChoice(
        score=track.score,
        direction=track.direction,
        best=found.labels[best],
        stop=None if patience is None else _stop_early(track, found, patience),
        **_values_at(track, found, best),
    )


def _stop_early(track: ScoreTrack, found: Checkpoints, patience: int) -> EarlyStop:
    """Stop at the first checkpoint that is the `patience`th in a row without a better score."""
    merit, best = track.merit, 0
    for place in range(1, len(merit)):
        if exceeds(merit[place], merit[best]):
            best = place
        elif place - best == patience:
            return EarlyStop(
                at=found.labels[place], kept=found.labels[best], **_values_at(track, found, best)
            )
    return EarlyStop(at=None, kept=found.labels[best], **_values_at(track, found, best))


class _Values(TypedDict):
    """The fields of `CheckpointValue` at a checkpoint."""

    value: float
    macro_f1: float
    accuracy: float
    macro_f1_loss: float


def _values_at(track: ScoreTrack, found: Checkpoints, place: int) -> _Values:
    n = len(found.labels)
    f1, accuracy = (values_of(found.tracks, name, n) for name in (F1, ACCURACY))
    return {
        "value": float(track.value[place]),
        "macro_f1": float(f1[place]),
        "accuracy": float(accuracy[place]),
        "macro_f1_loss": float(f1.max() - f1[place]),
    }


def _correlate_with_f1(tracks: Sequence[ScoreTrack]) -> Iterator[Correlation]:
    f1 = next((track for track in tracks if track.score == F1), None)
    if f1 is not None:
        yield from (_correlate(track, f1) for track in tracks if track is not f1)


def _correlate(first: ScoreTrack, second: ScoreTrack) -> Correlation:
    a, b = first.merit, second.merit
    return Correlation(
        first=first.score,
        second=second.score,
        pearson=_pearson(a, b),
        spearman=_pearson(_midranks(a), _midranks(b)),
    )


def _pearson(a: FloatArray, b: FloatArray) -> float:
    """Pearson's correlation; NaN for fewer than two values, for equal ones and for infinite ones."""
    if not (np.isfinite(a).all() and np.isfinite(b).all()) or np.ptp(a) == 0 or np.ptp(b) == 0:
        return np.nan
    a, b = (v / np.abs(v).max() for v in (a - a.mean(), b - b.mean()))
    r = float((a * b).sum()) / math.sqrt(float((a * a).sum()) * float((b * b).sum()))
    return min(max(r, -1.0), 1.0)


def _midranks(values: FloatArray) -> FloatArray:
    """Ranks from 1; equal values have the mean of their ranks."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


def _describe_tracks(found: Checkpoints, patience: int | None) -> Iterator[str]:
    """Notes on the scores and on the order of checkpoints."""
    n = len(found.labels)
    if n == 1:
        yield "There is one checkpoint: nothing to choose, and no correlation."
    for infinite, labels in _group_infinite(found.tracks).items():
        yield (
            f"{join_words(labels)}: infinite at {infinite} of {format_counted(n, 'checkpoint')}, so "
            "Pearson's correlation is not defined."
        )
    if F1 not in (track.score for track in found.tracks):
        yield "Macro F1 is not known: choices are not compared by it."
    if patience is not None and n > 1 and parse_numbers(found.labels) is None:
        yield "Checkpoints are names: early stopping uses the order of their first rows."


def _group_infinite(tracks: Sequence[ScoreTrack]) -> dict[int, list[str]]:
    """Scores that are infinite at some checkpoints, by the number of these."""
    found: dict[int, list[str]] = {}
    for track in tracks:
        infinite = int(np.isinf(track.value).sum())
        if infinite:
            label = REGISTRY[track.score].label if track.score in REGISTRY else track.score
            found.setdefault(infinite, []).append(label)
    return found


def select(
    data: Any,
    *,
    score: str = "penalized_brier",
    checkpoint: str = "checkpoint",
    outcome: str | None = None,
    forecasts: str | Sequence[str] | None = None,
    classes: Sequence[object] | None = None,
    patience: int | None = None,
    weight: str | None = None,
    normalize: bool = False,
    directions: Mapping[str, str] | None = None,
) -> Selection:
    """Choose among checkpoints of a model, or candidates, by a score on validation data.

    Every checkpoint gets the Brier, log, penalised Brier and penalised log score, macro F1 and accuracy.
    Checkpoints are in the order of their numbers or, if some are names, of their first rows.

    Parameters
    ----------
    data : a DataFrame (pandas, polars or pyarrow), or the path of a file such as .csv or .parquet; either
        predictions, a row for each checkpoint and case, or scores, a row for each checkpoint
    score : the score that chooses; if the data are scores, the name of a column
    checkpoint : the column of checkpoints, numbers or names
    outcome : for predictions, the column of observed classes
    forecasts, classes : for predictions, the columns of probabilities and the labels of their classes, in the
        same order; a single column is the probability of an event, which is the outcome 1 or the second of
        two `classes`
    patience : stop training after this many checkpoints in a row without a better score; None: do not stop
    weight : for predictions, a column of case weights
    normalize : for predictions, divide the probabilities of each row by their sum
    directions : for columns of scores whose names are not those of scores in `sr.scores`, the direction that
        is better by column, "lower" or "higher"; columns with names of known scores need none

    >>> import pandas as pd
    >>> frame = pd.DataFrame({
    ...     "epoch": [1, 2, 3, 4],
    ...     "penalized_brier": [0.9, 0.7, 0.8, 0.6],
    ...     "macro_f1": [0.4, 0.6, 0.7, 0.65],
    ... })
    >>> found = select(frame, checkpoint="epoch", patience=1)
    >>> found.chosen.best, found.chosen.stop.at, found.chosen.stop.kept
    ('4', '3', '2')
    """
    patience = None if patience is None else check_whole(patience, "patience", 1)
    if outcome is None:
        _refuse_parts_of_predictions(forecasts, classes, weight, normalize=normalize)
        if not isinstance(directions, Mapping | None):
            raise UsageError(f"`directions` must map columns to directions; got {directions!r}.")
        checkpoints = read_scores(data, score, checkpoint, directions)
    else:
        if directions:
            raise UsageError("`directions` is for columns of scores; predictions are scored by known scores.")
        checkpoints = score_predictions(
            data,
            score,
            checkpoint,
            outcome=outcome,
            forecasts=forecasts,
            classes=classes,
            weight=weight,
            normalize=normalize,
        )
        score = get_score(score).name  # the full name of a short one
    return make_selection(checkpoints, score, str(checkpoint), patience, data)


def _refuse_parts_of_predictions(
    forecasts: object, classes: object, weight: object, *, normalize: bool
) -> None:
    parts = {"forecasts": forecasts, "classes": classes, "weight": weight, "normalize": normalize or None}
    used = [f"`{name}`" for name, value in parts.items() if value is not None]
    if used:
        raise UsageError(
            f"{join_words(used)} cannot be used without `outcome`: name the column of the observed classes."
        )
