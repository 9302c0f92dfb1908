"""`select()`: which of several checkpoints or candidates each score would choose, and how scores agree."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport import document
from scorereport.checkpoints import score_predictions
from scorereport.checks import check_whole
from scorereport.errors import UsageError
from scorereport.files import write_text
from scorereport.formatting import counted, join_words
from scorereport.frames import record_frame
from scorereport.scores.registry import REGISTRY, Direction, get_score
from scorereport.sources import describe, hash_file
from scorereport.tracks import Checkpoints, Track, parse_numbers, read_scores

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from scorereport.arrays import FloatArray

#: What choices are compared by.
F1, ACCURACY = "macro_f1", "accuracy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What a checkpoint is worth: the score that chose it, and its labels.

    `macro_f1_loss` is what its macro F1 lacks of the best of all checkpoints. NaN is for what is not known.
    """

    value: float
    macro_f1: float
    accuracy: float
    macro_f1_loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(Worth):
    """Early stopping: training ends `at` a checkpoint, None if it goes on to the last, and one is `kept`."""

    at: str | None
    kept: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Worth):
    """The checkpoint with the best value of a score, the first of equal ones, and early stopping."""

    score: str
    direction: Direction
    best: str
    stop: Stop | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """How two scores go together over the checkpoints, both turned so that higher is better.

    1 if they agree on which checkpoints are better, −1 if they contradict each other. NaN where a score is
    the same everywhere, and Pearson's where one is infinite somewhere.
    """

    first: str
    second: str
    pearson: float
    spearman: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Selection:
    """Scores over checkpoints, the choice of each score, and the correlations of the scores.

    `score` is the one that was asked to choose. `correlations` are those of each score with macro F1,
    `pairwise` those of every two scores. `cases` counts the rows of each checkpoint; it is empty, as are
    `classes`, where scores were given instead of predictions. `column` names the column of checkpoints.
    """

    score: str
    patience: int | None
    column: str
    checkpoints: tuple[str, ...]
    tracks: tuple[Track, ...]
    choices: tuple[Choice, ...]
    correlations: tuple[Correlation, ...] = ()
    pairwise: tuple[Correlation, ...] = ()
    cases: tuple[int, ...] = ()
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    source: str = ""
    file_sha256: str = ""

    @property
    def chosen(self) -> Choice:
        """The choice of the score that was asked for."""
        return self.choice(self.score)

    def choice(self, score: str) -> Choice:
        """The choice of one of the scores."""
        found = next((choice for choice in self.choices if choice.score == score), None)
        if found is None:
            there = join_words([repr(choice.score) for choice in self.choices])
            raise UsageError(f"`score` must be one of {there}; got {score!r}.")
        return found

    @property
    def n(self) -> int | None:
        """The number of cases of each checkpoint; None if it is not known, or not the same for all."""
        return self.cases[0] if len(set(self.cases)) == 1 else None

    @property
    def numbers(self) -> FloatArray | None:
        """The checkpoints as numbers; None if they are names."""
        return parse_numbers(self.checkpoints)

    @property
    def misclassified(self) -> FloatArray:
        """The share of cases whose likeliest class did not come, at each checkpoint; NaN if not known."""
        return 1 - _values_of(self.tracks, ACCURACY, len(self.checkpoints))

    @property
    def frame(self) -> pd.DataFrame:
        """Scores: a row for each checkpoint, a column for each score, and the share misclassified."""
        import pandas as pd

        columns = {track.score: track.value for track in self.tracks}
        if ACCURACY in columns:
            columns["misclassified"] = self.misclassified
        return pd.DataFrame(columns, index=pd.Index(self.checkpoints, name=self.column))

    @property
    def choices_frame(self) -> pd.DataFrame:
        """Choices: a row for each score; what early stopping does has columns of its own."""
        plain = record_frame(self.choices).drop(columns="stop").set_index("score")
        first = ["direction", "best"]
        plain = plain[[*first, *(name for name in plain.columns if name not in first)]]
        if self.patience is None:
            return plain
        stops = record_frame([choice.stop for choice in self.choices])
        return plain.join(stops.add_prefix("stop_").set_axis(plain.index))

    @property
    def correlation_matrix(self) -> pd.DataFrame:
        """Pearson's correlation of every two scores, all turned so that higher is better."""
        import pandas as pd

        names = [track.score for track in self.tracks]
        table = pd.DataFrame(np.eye(len(names)), index=names, columns=names)
        for pair in self.pairwise:
            table.loc[pair.first, pair.second] = table.loc[pair.second, pair.first] = pair.pearson
        return table

    def to_json(self, path: str | Path | None = None) -> str:
        """The selection as a document, written to a file as well if a path is given."""
        text = document.dump(self)
        if path is not None:
            write_text(path, text)
        return text

    @classmethod
    def from_json(cls, path: str | Path) -> Selection:
        """Read a selection back; it equals the one that was written."""
        return document.load(cls, Path(path).read_bytes(), str(path))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Selection) and document.encode(self) == document.encode(other)

    __hash__ = None  # type: ignore[assignment]


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
    data : a DataFrame (pandas, polars or pyarrow), or the path of a .csv, .csv.gz or .parquet file; either
        predictions, a row for each checkpoint and case, or scores, a row for each checkpoint
    score : the score that chooses; of given scores the name of a column
    checkpoint : the column of checkpoints, numbers or names
    outcome : of predictions, the column of the classes that came
    forecasts, classes : of predictions, the columns of probabilities and the labels of their classes, in the
        same order; one column is the probability of an event, the outcome 1 or the second of two `classes`
    patience : stop training after so many checkpoints in a row without a better score; not at all if None
    weight : of predictions, a column of case weights
    normalize : of predictions, divide the probabilities of each row by their sum
    directions : of given scores, which way is better in columns that are not called like a score of
        `sr.scores`: "lower" or "higher" by name; columns called like one are found by themselves

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
        score = get_score(score).name  # from a short name
    return _select(checkpoints, score, str(checkpoint), patience, data)


def _refuse_parts_of_predictions(
    forecasts: object, classes: object, weight: object, *, normalize: bool
) -> None:
    parts = {"forecasts": forecasts, "classes": classes, "weight": weight, "normalize": normalize or None}
    given = [f"`{name}`" for name, value in parts.items() if value is not None]
    if given:
        raise UsageError(
            f"{join_words(given)} cannot be used without `outcome`: name the column of the classes that came."
        )


def _select(found: Checkpoints, score: str, column: str, patience: int | None, source: Any) -> Selection:
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
        source=describe(source),
        file_sha256=hash_file(source),
    )


def check_selection(selection: Selection) -> None:
    """Refuse a choice that does not follow from the scores of its checkpoints."""
    found = Checkpoints(
        labels=selection.checkpoints,
        tracks=selection.tracks,
        cases=selection.cases,
        classes=selection.classes,
        notes=(),
    )
    made = _select(found, selection.score, selection.column, selection.patience, None)
    for part in ("choices", "correlations", "pairwise"):
        if document.encode(getattr(made, part)) != document.encode(getattr(selection, part)):
            raise UsageError(f"the {part} among checkpoints do not follow from their scores.")


def _choose(track: Track, found: Checkpoints, patience: int | None) -> Choice:
    best = int(track.merit.argmax())  # the first of equal ones
    return Choice(
        score=track.score,
        direction=track.direction,
        best=found.labels[best],
        stop=None if patience is None else _stop_early(track, found, patience),
        **_weigh(track, found, best),
    )


def _stop_early(track: Track, found: Checkpoints, patience: int) -> Stop:
    """Stop at the first checkpoint that is the `patience`th in a row without a better score."""
    merit, best = track.merit, 0
    for place in range(1, len(merit)):
        if merit[place] > merit[best]:
            best = place
        elif place - best == patience:
            return Stop(at=found.labels[place], kept=found.labels[best], **_weigh(track, found, best))
    return Stop(at=None, kept=found.labels[best], **_weigh(track, found, best))


def _weigh(track: Track, found: Checkpoints, place: int) -> dict[str, float]:
    """The fields of `Worth` at a checkpoint."""
    n = len(found.labels)
    f1, accuracy = (_values_of(found.tracks, name, n) for name in (F1, ACCURACY))
    return {
        "value": float(track.value[place]),
        "macro_f1": float(f1[place]),
        "accuracy": float(accuracy[place]),
        "macro_f1_loss": float(f1.max() - f1[place]),
    }


def _values_of(tracks: Sequence[Track], score: str, n: int) -> FloatArray:
    """A score at all checkpoints; NaN if it is not known."""
    return next((track.value for track in tracks if track.score == score), np.full(n, np.nan))


def _correlate_with_f1(tracks: Sequence[Track]) -> Iterator[Correlation]:
    f1 = next((track for track in tracks if track.score == F1), None)
    if f1 is not None:
        yield from (_correlate(track, f1) for track in tracks if track is not f1)


def _correlate(first: Track, second: Track) -> Correlation:
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
    """Ranks from 1; equal values share the mean of theirs."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


def _describe_tracks(found: Checkpoints, patience: int | None) -> Iterator[str]:
    """What a reader must know of the scores and their order."""
    n = len(found.labels)
    if n == 1:
        yield "There is one checkpoint: nothing to choose, and no correlation."
    for infinite, labels in _group_infinite(found.tracks).items():
        yield (
            f"{join_words(labels)}: infinite at {infinite} of {counted(n, 'checkpoint')}, so that Pearson's "
            "correlation is not defined."
        )
    if F1 not in (track.score for track in found.tracks):
        yield "Macro F1 is not known: choices are not compared by it."
    if patience is not None and n > 1 and parse_numbers(found.labels) is None:
        yield "Checkpoints are names: early stopping takes them in the order of their first rows."


def _group_infinite(tracks: Sequence[Track]) -> dict[int, list[str]]:
    """Scores that are infinite somewhere, by the number of checkpoints where they are."""
    found: dict[int, list[str]] = {}
    for track in tracks:
        infinite = int(np.isinf(track.value).sum())
        if infinite:
            label = REGISTRY[track.score].label if track.score in REGISTRY else track.score
            found.setdefault(infinite, []).append(label)
    return found
