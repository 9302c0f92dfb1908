"""Tables as text: labels, units and precision, for the terminal and for reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport._utils.formatting import common_decimals, format_interval, format_number
from scorereport.scores.registry import REGISTRY, Direction, Propriety, get_score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.inference.estimates import Estimate

#: More decimals than these beyond the usual ones tell no reader anything.
_MORE_DECIMALS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A caption, column heads and rows of text; the first `n_labels` columns are labels, the rest numbers.

    `section` is the number of rows that belong together; 0 if all do.
    """

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_labels: int = 1
    section: int = 0


def section_size(models: Sequence[object]) -> int:
    """How many rows belong together: one for each model, if there are several."""
    return len(models) if len(models) > 1 else 0


def interval_text(estimate: Estimate | None, decimals: int) -> str:
    """The interval of an estimate; empty if there is none."""
    return "" if estimate is None else format_interval(estimate.lower, estimate.upper, decimals)


def percent_interval_text(estimate: Estimate | None) -> str:
    """The interval of a share, in percent."""
    if estimate is None:
        return ""
    lower, upper = 100 * estimate.lower, 100 * estimate.upper
    return format_interval(lower, upper, distinct_decimals(lower, upper, 1))


def distinct_decimals(lower: float, upper: float, decimals: int) -> int:
    """So many decimals, or a few more if both ends of an interval of very many rows would look the same.

    >>> tell_apart(49.97, 50.03, 1), tell_apart(49.9, 50.1, 1), tell_apart(50.0, 50.0, 1)
    (2, 1, 1)
    """
    more = range(decimals, decimals + _MORE_DECIMALS)
    return next((n for n in more if format_number(lower, n) != format_number(upper, n)), decimals)


def score_label(name: str) -> str:
    """The name of a score in words; one that is not proper is never shown without saying so."""
    if name not in REGISTRY:
        return name
    entry = REGISTRY[name]
    return f"{entry.label} (not proper)" if entry.propriety is Propriety.IMPROPER else entry.label


def score_heading(name: str) -> str:
    """The name of a score in words, with an arrow if higher is better."""
    score = get_score(name)
    return f"{score.label} ↑" if score.direction is Direction.HIGHER else score.label


def format_columns(numbers: Sequence[Sequence[float]]) -> list[tuple[str, ...]]:
    """Numbers as text, with the same number of decimals down each column."""
    decimals = [common_decimals(column) for column in zip(*numbers, strict=True)]
    return [tuple(format_number(v, d) for v, d in zip(row, decimals, strict=True)) for row in numbers]
