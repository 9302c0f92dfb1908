"""How to read a reliability diagram, in the place of a panel that is not needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level
from scorereport.plots.canvas import POINTS_PER_MM, Canvas
from scorereport.plots.reliability_panel import THICK, bands_of, outline_style
from scorereport.plots.style import HEADING, MUTED, QUIET, SMALL, ModelStyle, model_style
from scorereport.plots.text import wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.results.model_records import ModelResult


def write_guide(
    canvas: Canvas, corner: tuple[float, float], side: float, models: Sequence[ModelResult]
) -> None:
    """Say what is what, in the place of a panel that is not needed."""
    left, top = corner
    canvas.write(left + 4, top + 4, "How to read", va="bottom", size=HEADING, color=MUTED)
    entries = [(kind, wrap(text, (side - 17) * POINTS_PER_MM, lines=4)) for kind, text in _guide(models)]
    heights = [3.5 * len(lines) for _, lines in entries]
    apart = min((side - 8.0 - sum(heights)) / len(entries), 4.0)
    y = top + 8.0
    for (kind, lines), height in zip(entries, heights, strict=True):
        _draw_sample(canvas, left + 4, y + 1.6, kind, model_style(0))
        canvas.write(left + 16, y, "\n".join(lines), size=SMALL, color=MUTED)
        y += height + apart


def _guide(models: Sequence[ModelResult]) -> Iterator[tuple[str, str]]:
    yield "curve", "How often events occurred, by forecast; thick: forecasts that share one frequency"
    yield "diagonal", "Perfect calibration"
    for coverage, kind in (("pointwise", "band"), ("simultaneous", "outline")):
        found = bands_of(models[0], coverage)
        where = "at one forecast" if coverage == "pointwise" else "all along the curve"
        if found:
            yield kind, f"Range of chance for calibrated forecasts, {format_level(found[0].level)} {where}"
    yield "bars", "Distribution of the forecasts"
    yield "prevalence", "Share of events in the data"


def _draw_sample(canvas: Canvas, left: float, y: float, kind: str, look: ModelStyle) -> None:
    ends = ((left, y), (left + 8, y))
    if kind == "curve":
        canvas.line(*ends, color=look.colour, linewidth=THICK)
    elif kind == "band":
        canvas.line(*ends, color=look.tint, linewidth=7)
    elif kind == "diagonal":
        canvas.line((left, y + 1.5), (left + 8, y - 1.5), color=MUTED, linewidth=0.6)
    elif kind == "outline":
        canvas.line(*ends, **outline_style(look))
    elif kind == "bars":
        for bar, height in enumerate((0.8, 1.8, 2.6, 1.6, 0.6)):
            x = left + 2 + bar
            canvas.line((x, y + 1.3), (x, y + 1.3 - height), color=QUIET, linewidth=0.96 * POINTS_PER_MM)
    else:
        canvas.line((left + 4, y), (left + 4, y), marker=">", color=MUTED, markersize=3, mew=0)
