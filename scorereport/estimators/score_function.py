"""The function inside a scorer: labels and the result of `predict_proba` become the mean of a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.checks import check_binary, check_classes, refuse_rows
from scorereport.errors import DataError, UsageError
from scorereport.scores.registry import Kind, get_score
from scorereport.scores.skills import mean_score, relative_skill

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from scorereport._utils.arrays import FloatArray, IntArray
    from scorereport.scores.registry import Score

#: Kinds of scores of the probability of one event; the others are of the probabilities of all classes.
OF_EVENTS = (Kind.BINARY, Kind.RANKING)
_Cases = tuple["FloatArray | IntArray", "FloatArray", "FloatArray | None"]


@dataclass(frozen=True)
class ScoreFunction:
    """A score or its skill, as one number for all cases; it can be pickled, as folds in parallel need."""

    name: str
    is_skill: bool = False

    @property
    def __name__(self) -> str:
        """The name that scikit-learn shows."""
        return f"{self.name}{'_skill' if self.is_skill else ''}"

    def __call__(
        self,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        labels: ArrayLike,
        pos_label: object = None,
        classes: Sequence[object] | None = None,
        sample_weight: ArrayLike | None = None,
        **options: Any,
    ) -> float:
        """Compute the mean score, or the skill.

        Parameters
        ----------
        y_true : labels of the observed classes
        y_prob : the probability of the event, or of the last of two classes; or K probabilities per case
        labels : the classes in the order of the columns, as in `estimator.classes_`
        pos_label, classes, options : see `Scorers.make`
        sample_weight : not negative
        """
        entry, columns = get_score(self.name), np.asarray(labels)
        code, p = _find_codes(y_true, columns), np.asarray(y_prob)
        if entry.kind in OF_EVENTS:
            event = len(columns) - 1 if pos_label is None else columns.tolist().index(pos_label)
            cases: _Cases = check_binary(code == event, _require_two(entry, p, columns), sample_weight)
        else:
            cases = check_classes(*_arrange(code, p, columns, classes), sample_weight)
        return _compute(entry, _drop_empty(cases), options, is_skill=self.is_skill)


def _find_codes(y_true: ArrayLike, labels: NDArray[Any]) -> IntArray:
    """The position of each observed label among the classes."""
    observed, place = np.asarray(y_true), {label: code for code, label in enumerate(labels.tolist())}
    if observed.ndim != 1:
        raise DataError(f"`y` must be one-dimensional; got shape {observed.shape}.")
    codes = np.array([place.get(label, -1) for label in observed.tolist()], dtype=np.int64)
    if (codes < 0).any():
        refuse_rows(observed, codes < 0, f"`y` must hold classes of the estimator, {_join(labels)}")
    return codes


def _require_two(entry: Score, p: FloatArray, labels: NDArray[Any]) -> FloatArray:
    if p.ndim != 1:
        other = f"; use `{entry.counterpart}`" if entry.counterpart else ""
        raise UsageError(f"`{entry.name}` scores two classes, and the estimator has {len(labels)}{other}.")
    return p


def _arrange(
    code: IntArray, p: FloatArray, labels: NDArray[Any], classes: Sequence[object] | None
) -> tuple[IntArray, FloatArray]:
    """The classes and their probabilities in the given order; of two classes, `p` is that of the last."""
    table = np.column_stack([1 - p, p]) if p.ndim == 1 else p
    if classes is None:
        return code, table
    columns = labels.tolist()
    if sorted(map(str, classes)) != sorted(map(str, columns)):
        raise UsageError(
            f"`classes` must list the classes of the estimator, {_join(columns)}; got {_join(classes)}."
        )
    order = np.array([list(map(str, columns)).index(str(label)) for label in classes])
    return np.argsort(order)[code], table[:, order]


def _join(labels: Iterable[object]) -> str:
    return ", ".join(map(str, labels))


def _drop_empty(cases: _Cases) -> _Cases:
    """Cases without those of weight 0, which do not count even if their score is infinite."""
    y, p, weight = cases
    return cases if weight is None else (y[weight > 0], p[weight > 0], weight[weight > 0])


def _compute(entry: Score, cases: _Cases, options: dict[str, Any], *, is_skill: bool) -> float:
    y, p, weight = cases
    score = mean_score(entry, y, p, weight, options)
    if not is_skill:
        return score
    perfect = y.astype(np.float64) if p.ndim == 1 else np.eye(p.shape[1])[y.astype(np.int64)]
    frequencies = np.broadcast_to(np.average(perfect, axis=0, weights=weight), p.shape)
    reference, best = (mean_score(entry, y, one, weight, options) for one in (frequencies, perfect))
    return relative_skill(score, reference, best)
