"""Before and after: the recorded table against an earlier one, cell by cell."""

from __future__ import annotations

from dataclasses import replace
from math import hypot
from statistics import fmean
from typing import TYPE_CHECKING

from validation.coverage.record import ERRORS_ALLOWED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from validation.coverage.record import Row

_TEXT = """## Before and after

Cells of an earlier table that were simulated again after methods changed. A change is in points, and positive
if intervals and bands cover more often, or tests reject less often, than before. A cell is worse if it
changes by more than two Monte-Carlo errors of the difference to the unsafe side; chance alone makes 2.3 % of
the cells worse, and 0.1 % by more than three.
"""
_COLUMNS = ("study", "cells", "mean change", "worse", "by chance", "worse by more than three errors")
#: The probability that a normal number exceeds 2.
_WORSE_BY_CHANCE = 0.02275


def add_before(rows: Iterable[Row], earlier: Iterable[Row]) -> list[Row]:
    """Return the rows with the values of an earlier table, where it has the same cells."""
    known = {row.cell: row for row in earlier}
    found = ((row, known.get(row.cell)) for row in rows)
    return [
        row if old is None else replace(row, before=old.empirical, before_error=old.monte_carlo_error)
        for row, old in found
    ]


def find_change(row: Row) -> tuple[float, float]:
    """Return by how much a cell is safer than before, and the Monte-Carlo error of that."""
    if row.before is None or row.before_error is None:
        raise ValueError("The cell has no earlier value.")
    sign = 1 if row.nominal > 0.5 else -1  # levels of tests are small
    return sign * (row.empirical - row.before), hypot(row.monte_carlo_error, row.before_error)


def render_changes(rows: Sequence[Row]) -> Iterator[str]:
    """Render a line for each study with earlier values, and a sentence for each cell that is much worse."""
    compared = [row for row in rows if row.before is not None]
    if not compared:
        return
    yield _TEXT
    lines = [_COLUMNS, ("---",) * len(_COLUMNS)]
    for study in dict.fromkeys(row.study for row in compared):
        lines.append(_summarise(study, [find_change(row) for row in compared if row.study == study]))
    yield "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    for row in compared:
        change, error = find_change(row)
        if change < -ERRORS_ALLOWED * error:
            yield (
                f"Worse: {row.study}, {row.setting}, n = {row.n}, {row.method}: "
                f"{100 * (row.before or 0):.1f} before, {100 * row.empirical:.1f} after.\n"
            )


def _summarise(study: str, changes: Sequence[tuple[float, float]]) -> tuple[str, ...]:
    worse, much_worse = (
        sum(change < -errors * error for change, error in changes) for errors in (2, ERRORS_ALLOWED)
    )
    mean = fmean(change for change, _ in changes)
    error = hypot(*(error for _, error in changes)) / len(changes)
    return (
        study,
        str(len(changes)),
        f"{100 * mean:+.2f} ±{100 * error:.2f}",
        str(worse),
        f"{_WORSE_BY_CHANCE * len(changes):.1f}",
        str(much_worse),
    )
