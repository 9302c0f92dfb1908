"""`select()`: which of several checkpoints or candidates each score would choose, and how scores agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scorereport._utils.checks import check_whole
from scorereport._utils.formatting import join_words
from scorereport.errors import UsageError
from scorereport.evaluation.selection.checkpoint_scores import score_predictions
from scorereport.evaluation.selection.choice import make_selection
from scorereport.evaluation.selection.score_tracks import read_scores
from scorereport.scores.registry import get_score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.evaluation.selection.selection_records import Selection


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
    return make_selection(checkpoints, score, str(checkpoint), patience, data)


def _refuse_parts_of_predictions(
    forecasts: object, classes: object, weight: object, *, normalize: bool
) -> None:
    parts = {"forecasts": forecasts, "classes": classes, "weight": weight, "normalize": normalize or None}
    given = [f"`{name}`" for name, value in parts.items() if value is not None]
    if given:
        raise UsageError(
            f"{join_words(given)} cannot be used without `outcome`: name the column of the classes that came."
        )
