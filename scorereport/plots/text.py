"""Text of plots: names and numbers shortened to fit, and shared phrases of descriptions."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_interval, format_number, join_words
from scorereport.plots.fonts import replace_missing
from scorereport.plots.style import HEAVY, SMALL, current_families, heavy_weight, register_fonts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorereport.reliability.decomposition import Decomposition
    from scorereport.results.model_records import ModelScores, ScoreValue


ELLIPSIS = "…"
#: Optional word breaks, which a figure would show as empty boxes.
_UNSEEN = {ord("\u00ad"): None, ord("\u200b"): None}


def clean_text(text: str) -> str:
    """Return a text from data on one line, with visible replacements for characters without a glyph."""
    return replace_missing(" ".join(text.translate(_UNSEEN).split()))


def format_short(value: float, decimals: int = 6) -> str:
    """Format a number as on an axis: no zero before the decimal point, none at the end.

    >>> [format_short(value) for value in (0.0, 0.25, 1.0, -0.05, 10.0)]
    ['0', '.25', '1', '−.05', '10']
    """
    text = format_number(value, decimals)
    return drop_zero(text.rstrip("0").rstrip(".") if "." in text else text) or "0"


def drop_zero(text: str) -> str:
    """Remove the zero before the decimal point of a written number.

    >>> drop_zero("0.0150"), drop_zero("−0.5"), drop_zero("10.5")
    ('.0150', '−.5', '10.5')
    """
    return text.replace("0.", ".", 1) if text.lstrip("−").startswith("0.") else text


def text_width(text: str, size: float = SMALL, weight: int = 400) -> float:
    """Return the width of a line of text in points, in the fonts in which it is drawn now."""
    drawn = heavy_weight() if weight >= HEAVY else weight
    return _measure_text(text, size, drawn, current_families())


@lru_cache(maxsize=4096)
def _measure_text(text: str, size: float, weight: int, families: tuple[str, ...]) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    register_fonts()  # Matplotlib would remember a family that is not found
    properties = FontProperties(family=list(families), size=size, weight=weight)
    return float(text_to_path.get_text_width_height_descent(text, properties, ismath=False)[0])


def wrap(text: str, width: float, *, lines: int = 3, size: float = SMALL, weight: int = 400) -> list[str]:
    """Break a name into lines of a width in points; if it does not fit, its middle is left out."""
    name = clean_text(text)
    broken = _break(name, width, size, weight)
    if len(broken) <= lines:
        return broken
    fewest, most = 1, len(name)
    while most - fewest > 1:
        kept = (fewest + most) // 2
        fits = len(_break(_without_middle(name, kept), width, size, weight)) <= lines
        fewest, most = (kept, most) if fits else (fewest, kept)
    return _break(_without_middle(name, fewest), width, size, weight)[:lines]


def shorten_text(text: str, width: float, *, size: float = SMALL, weight: int = 400) -> str:
    """Return a name on one line, without its middle if it is wider than `width` points."""
    return wrap(text, width, lines=1, size=size, weight=weight)[0]


def _without_middle(text: str, kept: int) -> str:
    head, tail = text[: (kept + 1) // 2], text[len(text) - kept // 2 :]
    return f"{head.rstrip()}{ELLIPSIS}{tail.lstrip()}"


def _break(text: str, width: float, size: float, weight: int) -> list[str]:
    """Break a text into lines between words; words wider than a line are cut."""
    lines: list[str] = []
    current = ""
    for word in text.split(" "):
        longer = f"{current} {word}" if current else word
        if text_width(longer, size, weight) <= width:
            current = longer
            continue
        if current:
            lines.append(current)
        *full, current = _cut(word, width, size, weight)
        lines += full
    return [*lines, current]


def _cut(word: str, width: float, size: float, weight: int) -> list[str]:
    pieces = [""]
    for character in word:
        if pieces[-1] and text_width(pieces[-1] + character, size, weight) > width:
            pieces.append("")
        pieces[-1] += character
    return pieces


def join_sentences(texts: Iterable[str]) -> str:
    """Join sentences with spaces, without empty ones."""
    return " ".join(text for text in texts if text)


def format_probability(value: float) -> str:
    """Format a probability with two decimals, or four if it is small."""
    return format_number(value, 2 if value == 0 or abs(value) >= 0.1 else 4)


def find_decomposition(scores: ModelScores, name: str = "brier") -> Decomposition:
    """Return the decomposition of one score of a model."""
    found = next((part for part in scores.decompositions if part.name == name), None)
    if found is None:
        from scorereport.errors import UsageError

        known = join_words([f"{part.name!r}" for part in scores.decompositions])
        raise UsageError(f"`score` must be one that was evaluated, {known}; got {name!r}.")
    return found


def find_score(scores: ModelScores, name: str) -> ScoreValue | None:
    """Return one score of a model; None if it was not evaluated."""
    return next((score for score in scores.scores if score.name == name), None)


def score_interval_text(score: ScoreValue | None, decimals: int) -> str:
    """Format the interval of a score, to follow its value; empty if there is none."""
    if score is None or score.interval is None:
        return ""
    text = format_interval(score.interval.lower, score.interval.upper, decimals)
    return f" {text}" if text else ""
