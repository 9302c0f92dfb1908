"""Words that the descriptions of several figures share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_interval, format_number, join_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorereport.reliability.decomposition import Decomposition
    from scorereport.results.model_records import ModelScores, ScoreValue


def join_sentences(texts: Iterable[str]) -> str:
    """Sentences one after the other; empty ones are left out."""
    return " ".join(text for text in texts if text)


def format_probability(value: float) -> str:
    """A probability to two decimals, to more if it is small."""
    return format_number(value, 2 if value == 0 or abs(value) >= 0.1 else 4)


def find_decomposition(scores: ModelScores, name: str = "brier") -> Decomposition:
    """The decomposition of one score of a model."""
    found = next((part for part in scores.decompositions if part.name == name), None)
    if found is None:
        from scorereport.errors import UsageError

        there = join_words([f"{part.name!r}" for part in scores.decompositions])
        raise UsageError(f"`score` must be one that was evaluated, {there}; got {name!r}.")
    return found


def find_score(scores: ModelScores, name: str) -> ScoreValue | None:
    """One score of a model; None if it was not evaluated."""
    return next((score for score in scores.scores if score.name == name), None)


def score_interval_text(score: ScoreValue | None, decimals: int) -> str:
    """The interval of a score after its value; empty if there is none."""
    if score is None or score.interval is None:
        return ""
    text = format_interval(score.interval.lower, score.interval.upper, decimals)
    return f" {text}" if text else ""
