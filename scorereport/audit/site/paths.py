"""Paths of drawings, written with steps from point to point: a year of daily audits stays small."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def join_lines(points: Iterable[tuple[int, int] | None]) -> str:
    """Lines through points, with a gap where there is none.

    >>> join_lines([(0, 5), (10, 2), None, (30, 4)])
    'M0 5l10-3M30 4'
    """
    stretches = groupby(points, key=lambda point: point is not None)
    return "".join(
        _draw_line([point for point in stretch if point is not None])
        for is_there, stretch in stretches
        if is_there
    )


def draw_band(stretch: Sequence[tuple[int, int, int]]) -> str:
    """Along the upper ends, and back along the lower ones."""
    there = [(x, upper) for x, upper, _ in stretch]
    back = [(x, lower) for x, _, lower in reversed(stretch)]
    return f"{_draw_line([*there, *back])}z"


def draw_dots(points: Iterable[tuple[int, int]]) -> str:
    """Points as lines without length, which round ends make dots whatever the chart is stretched to."""
    return "".join(f"M{x} {y}h0" for x, y in points)


def _draw_line(points: Sequence[tuple[int, int]]) -> str:
    steps = "".join(_step(x2 - x1, y2 - y1) for (x1, y1), (x2, y2) in pairwise(points))
    return f"M{points[0][0]} {points[0][1]}{'l' if steps else ''}{steps.lstrip()}"


def _step(x: int, y: int) -> str:
    """One step of a path; a minus sign parts numbers as well as a space."""
    return f"{'' if x < 0 else ' '}{x}{'' if y < 0 else ' '}{y}"
