"""Tables of checkpoints: the checkpoint that each score selects, and correlations of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_counted, format_number
from scorereport.report.tables.table import Table, score_label
from scorereport.scores.registry import REGISTRY, Direction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.evaluation.selection.selection_records import CheckpointValue, ScoreChoice, Selection

#: Column heads of a table of choices, after the score and the checkpoint.
_CHOICE_HEADINGS = ("value", "macro F1", "accuracy", "F1 lost")
_DECIMALS = 4
#: Most scores in a matrix that fits on a page.
_WIDEST_MATRIX = 8
_SIGN = "with the opposite sign where lower is better: near 1 if both favour the same checkpoints"


def choice_table(selection: Selection) -> Table:
    """Table of the checkpoint that each score selects, its F1 and accuracy, and what early stopping keeps."""
    caption = (
        "Checkpoint that each score selects, value of the score there (lower is better; ↑ higher is better), "
        "and loss in macro F1 compared with the best of all checkpoints"
    )
    if selection.patience is None:
        return Table(
            caption=caption,
            heads=("score", "checkpoint", *_CHOICE_HEADINGS),
            rows=tuple((_name(choice), choice.best, *_format_worth(choice)) for choice in selection.choices),
            n_labels=2,
        )
    return Table(
        caption=f"{caption}. Early stopping ends training after "
        f"{format_counted(selection.patience, 'checkpoint')} in a row without a better score and keeps the "
        "best so far",
        heads=("score", "rule", "checkpoint", "stops at", *_CHOICE_HEADINGS),
        rows=tuple(row for choice in selection.choices for row in _rules(choice)),
        n_labels=4,
        section=2,
    )


def _rules(choice: ScoreChoice) -> Iterator[tuple[str, ...]]:
    yield _name(choice), "best of all", choice.best, "", *_format_worth(choice)
    if choice.stop is not None:
        ends = "the last" if choice.stop.at is None else choice.stop.at
        yield _name(choice), "early stopping", choice.stop.kept, ends, *_format_worth(choice.stop)


def _name(choice: ScoreChoice) -> str:
    return (
        f"{score_label(choice.score)} ↑"
        if choice.direction is Direction.HIGHER
        else score_label(choice.score)
    )


def _head(name: str) -> str:
    """Return the name of a score as head of a narrow column."""
    return (REGISTRY[name].column if name in REGISTRY else "") or score_label(name)


def _format_worth(worth: CheckpointValue) -> tuple[str, ...]:
    numbers = (worth.value, worth.macro_f1, worth.accuracy, worth.macro_f1_loss)
    return tuple(format_number(number, _DECIMALS) for number in numbers)


def correlation_table(selection: Selection) -> Table | None:
    """Table of the correlations between scores or, if there are many, of each score with macro F1.

    None if there is nothing to correlate.
    """
    if len(selection.checkpoints) == 1 or len(selection.tracks) == 1:
        return None
    if len(selection.tracks) <= _WIDEST_MATRIX:
        return _matrix(selection)
    if not selection.correlations:
        return None
    return Table(
        caption=f"Correlation of each score with macro F1 over the checkpoints, {_SIGN}. Pearson: of values; "
        "Spearman: of ranks",
        heads=("score", "Pearson", "Spearman"),
        rows=tuple(
            (score_label(pair.first), format_number(pair.pearson, 3), format_number(pair.spearman, 3))
            for pair in selection.correlations
        ),
    )


def _matrix(selection: Selection) -> Table:
    """Table of Pearson's correlations and, in the last column, Spearman's with macro F1 if it is known."""
    names = [track.score for track in selection.tracks]
    pearson = {(pair.first, pair.second): pair.pearson for pair in selection.pairwise}
    pearson |= {(second, first): value for (first, second), value in pearson.items()}
    ranks = {pair.first: format_number(pair.spearman, 3) for pair in selection.correlations}
    last = " and, in the last column, Spearman's rank correlation with macro F1" if ranks else ""
    return Table(
        caption=f"Pearson's correlation of each pair of scores over the checkpoints{last}, {_SIGN}",
        heads=(
            "score",
            *(_head(name) for name in names),
            *(["ranks"] if ranks else []),
        ),
        rows=tuple(
            (
                score_label(name),
                *(format_number(pearson[name, other], 3) if name != other else "1" for other in names),
                *([ranks.get(name, "1")] if ranks else []),
            )
            for name in names
        ),
    )
