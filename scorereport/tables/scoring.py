"""Mean scores and skills as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.formatting import common_decimals, format_number, format_percent
from scorereport.tables.table import Table, head_of, interval_text, percents_text, section_size

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scorereport.inference.ranks import Rank
    from scorereport.results import ModelScores, ScoreValue

    #: The rank of a model by a measure.
    Ranks = Mapping[tuple[str, str], Rank]


def score_table(models: Sequence[ModelScores], ranks: Ranks, level: str) -> Table:
    """Mean scores and skills of all models over all costs."""
    return _score_table(
        [(m.model, [s for s in m.scores if not _is_bounded(s)]) for m in models],
        ranks,
        f"Mean scores (lower is better; ↑ higher is better) and skill (0 % the prevalence forecast, 100 % "
        f"the perfect one), with {level} intervals",
    )


def bounded_table(
    models: Sequence[ModelScores], ranks: Ranks, level: str, lower: float, upper: float
) -> Table:
    """Mean regret and net benefit over an interval of costs, with skills."""
    return _score_table(
        [(m.model, [s for s in m.scores if _is_bounded(s)]) for m in models],
        ranks,
        f"Costs between {lower:g} and {upper:g}: mean regret (lower is better) and net benefit, with "
        f"{level} intervals",
    )


def _score_table(models: Sequence[tuple[str, list[ScoreValue]]], ranks: Ranks, caption: str) -> Table:
    has_intervals = models[0][1][0].interval is not None
    rows = []
    for of_score in zip(*(scores for _, scores in models), strict=True):
        decimals = common_decimals(score.value for score in of_score)
        for (model, _), score in zip(models, of_score, strict=True):
            numbers = [format_number(score.value, decimals), format_percent(score.skill)]
            if has_intervals:
                intervals = [interval_text(score.interval, decimals), percents_text(score.skill_interval)]
                numbers = [text for pair in zip(numbers, intervals, strict=True) for text in pair]
            place = [_rank(ranks[model, score.name])] if ranks else []
            rows.append((head_of(score.name), model, *numbers, *place))
    heads = ("mean", "interval", "skill", "interval") if has_intervals else ("mean", "skill")
    tied = "; = in the rank: the data cannot tell" if ranks else ""
    return Table(
        caption=f"{caption}{tied}" if has_intervals else caption.partition(", with")[0],
        heads=("score", "model", *heads, *(["rank"] if ranks else [])),
        rows=tuple(rows),
        n_labels=2,
        section=section_size(models),
    )


def _rank(rank: Rank) -> str:
    return f"{rank.rank}=" if rank.tied_with else f"{rank.rank} "


def _is_bounded(score: ScoreValue) -> bool:
    return score.name.startswith("bounded_")
