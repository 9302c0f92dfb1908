"""Names of models with their markers, side by side above a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.plots.canvas import POINTS_PER_MM
from scorereport.plots.style import SMALL, model_style
from scorereport.plots.text import shorten_text, text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.plots.canvas import Canvas

_ROW, _MARKER, _BETWEEN = 4.3, 3.5, 6.0


def draw_key(canvas: Canvas, names: Sequence[str], width: float) -> None:
    """Write the names of models with their markers, from the upper left corner on."""
    for row, of_row in enumerate(_key_rows(names, width)):
        y = (row + 0.5) * _ROW
        for left, place, name in of_row:
            look = model_style(place)
            at = (left + 1.0, y + 0.25)
            canvas.line(at, at, color=look.colour, marker=look.marker, markersize=4.2, markeredgewidth=0)
            canvas.write(left + _MARKER, y, name, va="center_baseline", size=SMALL)


def key_height(names: Sequence[str], width: float) -> float:
    """Millimetres that the names need."""
    return len(_key_rows(names, width)) * _ROW


def _key_rows(names: Sequence[str], width: float) -> list[list[tuple[float, int, str]]]:
    """Where each name begins, row by row."""
    rows: list[list[tuple[float, int, str]]] = [[]]
    left = 0.0
    for place, name in enumerate(names):
        text = shorten_text(name, (width - _MARKER) * POINTS_PER_MM)
        needed = _MARKER + text_width(text) / POINTS_PER_MM
        if rows[-1] and left + needed > width:
            rows.append([])
            left = 0.0
        rows[-1].append((left, place, text))
        left += needed + _BETWEEN
    return rows
