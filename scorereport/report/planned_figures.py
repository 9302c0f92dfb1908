"""Figures that are planned first and then drawn together, in commands by this process and copies of it.

Copies begin to draw while this process renders the page. What they do not draw, because they cannot be
started or fail, is drawn here: figures are the same bytes, and an error is raised where it can be handled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scorereport._utils.machine import count_threads
from scorereport._utils.process_copies import can_copy
from scorereport._utils.processes import is_own_program
from scorereport._utils.progress import parts, report_stage, steps
from scorereport._utils.shared_work import SharedWork
from scorereport._utils.work_plan import Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

_MM_PER_INCH = 25.4


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnFigure:
    """A figure as SVG, with its size in millimetres."""

    svg: str
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlannedFigure:
    """A figure that is not drawn yet: the function that draws it, and what it draws."""

    plot: Callable[..., Any]
    data: tuple[Any, ...]
    options: Mapping[str, Any]

    def draw(self) -> DrawnFigure:
        """Draw the figure in this process."""
        from scorereport.plots.canvas import render_svg

        figure = self.plot(*self.data, **self.options)
        width, height = (_MM_PER_INCH * inches for inches in figure.get_size_inches())
        return DrawnFigure(svg=render_svg(figure), width=width, height=height)


class FigureOrder:
    """Figures that copies of this process have begun to draw, if there are any; others are not copied."""

    def __init__(self, figures: Sequence[PlannedFigure]) -> None:
        self._figures = figures
        self._work: SharedWork[DrawnFigure] | None = None
        if len(figures) > 1 and is_own_program() and can_copy():
            from scorereport.plots.canvas import load_matplotlib

            load_matplotlib()  # copies have what this process has loaded
            copies = min(count_threads(), len(figures)) - 1
            self._work = SharedWork(lambda place: figures[place].draw(), len(figures), copies)

    def collect(self) -> list[DrawnFigure]:
        """Return the figures in their order, once."""
        report_stage(Stage.FIGURES)
        if self._work is not None:
            try:
                return self._work.collect()
            finally:
                self._work.close()
        count = len(self._figures)
        return [figure.draw() for figure in parts(steps(self._figures, count, "drawing"), count)]


def draw_figures(figures: Sequence[PlannedFigure]) -> list[DrawnFigure]:
    """Draw figures together."""
    return FigureOrder(figures).collect()
