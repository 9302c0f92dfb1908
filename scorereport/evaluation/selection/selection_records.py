"""The records of a selection among checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scorereport._utils import json_documents
from scorereport._utils.files import write_text
from scorereport._utils.formatting import format_counted, format_plain, join_words
from scorereport._utils.overviews import Overview, overview_html, overview_repr
from scorereport._utils.representation import short_repr
from scorereport.errors import UsageError
from scorereport.evaluation.selection.score_tracks import ScoreTrack, parse_numbers
from scorereport.results.frames import record_frame
from scorereport.scores.registry import Direction

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from scorereport._utils.arrays import FloatArray

#: The measures by which choices are compared.
F1, ACCURACY = "macro_f1", "accuracy"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointValue:
    """The quality of a checkpoint: the score that chose it, and the quality of its predicted classes.

    `macro_f1_loss` is the best macro F1 of all checkpoints minus that of this one. Unknown values are NaN.
    """

    value: float
    macro_f1: float
    accuracy: float
    macro_f1_loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyStop(CheckpointValue):
    """Early stopping: training stops `at` a checkpoint, None if it runs to the last; one is `kept`."""

    at: str | None
    kept: str

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreChoice(CheckpointValue):
    """The checkpoint with the best value of a score, the first of equal ones, and early stopping."""

    score: str
    direction: Direction
    best: str
    stop: EarlyStop | None = None

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """The correlation of two scores over the checkpoints, both with signs such that higher is better.

    1 if they agree on which checkpoints are better, −1 if they contradict each other. NaN if a score is the
    same at all checkpoints; Pearson's also if one is infinite at some checkpoint.
    """

    first: str
    second: str
    pearson: float
    spearman: float

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Selection:
    """Scores over checkpoints, the choice of each score, and the correlations of the scores.

    `score` is the one that chooses. `correlations` are those of each score with macro F1, `pairwise` those of
    all pairs of scores. `cases` counts the rows of each checkpoint; `cases` and `classes` are empty if the
    data were scores instead of predictions. `column` names the column of checkpoints.
    """

    score: str
    patience: int | None
    column: str
    checkpoints: tuple[str, ...]
    tracks: tuple[ScoreTrack, ...]
    choices: tuple[ScoreChoice, ...]
    correlations: tuple[Correlation, ...] = ()
    pairwise: tuple[Correlation, ...] = ()
    cases: tuple[int, ...] = ()
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    source: str = ""
    file_sha256: str = ""

    __repr__ = overview_repr
    _repr_html_ = overview_html

    @property
    def chosen(self) -> ScoreChoice:
        """The choice of the score that chooses."""
        return self.choice(self.score)

    def choice(self, score: str) -> ScoreChoice:
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
        """The share of misclassified cases at each checkpoint; NaN if it is not known."""
        return 1 - values_of(self.tracks, ACCURACY, len(self.checkpoints))

    @property
    def frame(self) -> pd.DataFrame:
        """Scores: a row for each checkpoint, a column for each score and for the share misclassified."""
        import pandas as pd

        columns = {track.score: track.value for track in self.tracks}
        if ACCURACY in columns:
            columns["misclassified"] = self.misclassified
        return pd.DataFrame(columns, index=pd.Index(self.checkpoints, name=self.column))

    @property
    def choices_frame(self) -> pd.DataFrame:
        """Choices: a row for each score; early stopping has columns of its own."""
        plain = record_frame(self.choices).drop(columns="stop").set_index("score")
        first = ["direction", "best"]
        plain = plain[[*first, *(name for name in plain.columns if name not in first)]]
        if self.patience is None:
            return plain
        stops = record_frame([choice.stop for choice in self.choices])
        return plain.join(stops.add_prefix("stop_").set_axis(plain.index))

    @property
    def correlation_matrix(self) -> pd.DataFrame:
        """Pearson's correlations of all pairs of scores, with signs such that higher is better."""
        import pandas as pd

        names = [track.score for track in self.tracks]
        table = pd.DataFrame(np.eye(len(names)), index=names, columns=names)
        for pair in self.pairwise:
            table.loc[pair.first, pair.second] = table.loc[pair.second, pair.first] = pair.pearson
        return table

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the selection as a JSON document; if a path is given, also write it to a file."""
        text = json_documents.dump(self)
        if path is not None:
            write_text(path, text)
        return text

    @classmethod
    def from_json(cls, path: str | Path) -> Selection:
        """Read a selection from a JSON document; it equals the one that was written."""
        return json_documents.load(cls, Path(path).read_bytes(), str(path))

    def _describe(self) -> Overview:
        chosen, n = self.chosen, len(self.checkpoints)
        facts = [("chosen", f"{chosen.best}, with {self.score} {format_plain(chosen.value)}")]
        if chosen.stop is not None:
            facts.append(("early stopping", f"keeps {chosen.stop.kept} (patience {self.patience})"))
        if self.source:
            facts.append(("source", self.source))
        rows = tuple(
            (each.score, each.best, *map(format_plain, (each.value, each.macro_f1, each.macro_f1_loss)))
            for each in self.choices
        )
        return Overview(
            title=f"Selection among {format_counted(n, 'checkpoint')} ({self.column}) by {self.score}",
            facts=tuple(facts),
            columns=("score", "best", "value", "macro F1", "loss of macro F1"),
            rows=rows,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Selection) and json_documents.encode(self) == json_documents.encode(other)

    __hash__ = None  # type: ignore[assignment]


def values_of(tracks: Sequence[ScoreTrack], score: str, n: int) -> FloatArray:
    """A score at all checkpoints; NaN if it is not known."""
    return next((track.value for track in tracks if track.score == score), np.full(n, np.nan))
