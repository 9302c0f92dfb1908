"""Scores over checkpoints, and reading them from tables with a row for each checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport._utils.arrays import FloatArray, read_only
from scorereport._utils.checks import refuse_rows
from scorereport._utils.representation import short_repr
from scorereport._utils.row_places import name_some
from scorereport.data.columns import label_texts, read_number
from scorereport.data.reader import read_columns
from scorereport.data.sources import locate_source, rows_named
from scorereport.errors import DataError, UsageError
from scorereport.scores.registry import REGISTRY, Direction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from scorereport.data.raw_tables import RawColumn

#: The scores of every checkpoint, in the order of tables and figures.
CHECKPOINT_SCORES = (
    "multiclass_brier",
    "multiclass_log_loss",
    "penalized_brier",
    "penalized_log_loss",
    "macro_f1",
    "accuracy",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreTrack:
    """One score over the checkpoints, and the direction that is better."""

    score: str
    direction: Direction
    value: FloatArray

    __repr__ = short_repr

    @property
    def merit(self) -> FloatArray:
        """The score, negated if lower is better, so that higher is better."""
        return self.value if self.direction is Direction.HIGHER else -self.value


class Checkpoints(NamedTuple):
    """Checkpoints in order, with their scores; the numbers of cases and the classes if they are known."""

    labels: tuple[str, ...]
    tracks: tuple[ScoreTrack, ...]
    cases: tuple[int, ...] = ()
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def make_track(name: str, direction: Direction, values: Sequence[float] | FloatArray) -> ScoreTrack:
    """A score over the checkpoints, with read-only values."""
    return ScoreTrack(score=name, direction=direction, value=read_only(np.array(values, dtype=np.float64)))


def parse_numbers(labels: Sequence[str]) -> FloatArray | None:
    """Checkpoints as numbers; None if one of them is a name.

    >>> parse_numbers(["10", "9", "0.5"]), parse_numbers(["1", "last"])
    (array([10. ,  9. ,  0.5]), None)
    """
    try:
        numbers = np.array([float(label) for label in labels])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def order_checkpoints(labels: Iterable[str]) -> tuple[str, ...]:
    """Distinct checkpoints, in the order of their numbers; if some are names, of their first rows."""
    found = list(dict.fromkeys(labels))
    numbers = parse_numbers(found)
    return tuple(found if numbers is None else [found[k] for k in np.argsort(numbers, kind="stable")])


def read_scores(
    source: Any, score: str, checkpoint: str, directions: Mapping[str, str] | None
) -> Checkpoints:
    """Read the columns with names of known scores, and those that `directions` names."""
    with rows_named(source):
        return _read_scores(source, score, str(checkpoint), directions or {})


def _read_scores(source: Any, score: str, checkpoint: str, directions: Mapping[str, str]) -> Checkpoints:
    labels = label_texts(read_columns(source, [], [checkpoint])[checkpoint], checkpoint)
    _check_each_once(labels, checkpoint)
    place = locate_source(source)
    found = _find_scores(place.kind.list_columns(place), score, checkpoint, directions)
    frame = read_columns(source, list(found), [])
    ordered = order_checkpoints(labels.tolist())
    row_of = {label: row for row, label in enumerate(labels.tolist())}
    rows = [row_of[label] for label in ordered]
    return Checkpoints(
        labels=ordered,
        tracks=tuple(
            make_track(name, direction, _read_values(frame[name], name)[rows])
            for name, direction in found.items()
        ),
    )


def _check_each_once(labels: NDArray[Any], checkpoint: str) -> None:
    lacks = np.array([label is None for label in labels.tolist()])
    if lacks.any():
        refuse_rows(labels, lacks, f"`{checkpoint}` must not be missing")
    texts, counts = np.unique(labels.astype(str), return_counts=True)
    if counts.max() > 1:
        raise DataError(
            f"`{checkpoint}` must name each checkpoint once in a table of scores; got "
            f"{str(texts[counts.argmax()])!r} {counts.max()} times. If rows are cases, pass `outcome` and "
            "`forecasts`."
        )


def _find_scores(
    columns: Sequence[str], score: str, checkpoint: str, directions: Mapping[str, str]
) -> dict[str, Direction]:
    """Columns of scores with their directions: first usual scores, then other known ones, then the user's."""
    own = {name: _parse_direction(name, text) for name, text in directions.items()}
    known = [
        name
        for name in dict.fromkeys((*CHECKPOINT_SCORES, *REGISTRY))
        if name in columns and name != checkpoint
    ]
    found = {name: REGISTRY[name].direction for name in known} | own
    if score not in found:
        there = f"has {name_some([f'`{name}`' for name in found])}" if found else "has none"
        raise UsageError(
            f"`score` {score!r} is not a score of this table, which {there}. Name columns of your own in "
            '`directions`, such as {"val_loss": "lower"}; for predictions pass `outcome` and `forecasts`.'
        )
    return found


def _parse_direction(name: str, text: str) -> Direction:
    known = {"lower": Direction.LOWER, "higher": Direction.HIGHER}
    if text not in known:
        raise UsageError(f'`directions` must be "lower" or "higher" for `{name}`; got {text!r}.')
    if name in REGISTRY and REGISTRY[name].direction is not known[text]:
        raise UsageError(
            f"`directions` contradicts the direction of the score `{name}`: {REGISTRY[name].direction}."
        )
    return known[text]


def _read_values(column: RawColumn, name: str) -> FloatArray:
    """Read scores as numbers inside their range; they may be infinite, but not missing."""
    values = column.numbers(name)
    if values is None:
        values = np.array([read_number(item) for item in column.items()], dtype=np.float64)
    if np.isnan(values).any():
        refuse_rows(column.for_messages(), np.isnan(values), f"`{name}` must be a number in every row")
    if name in REGISTRY:
        score = REGISTRY[name]
        is_outside = (values < score.lower) | (values > score.upper)
        if is_outside.any():
            refuse_rows(values, is_outside, f"`{name}` must lie in {score.range}")
    return values
